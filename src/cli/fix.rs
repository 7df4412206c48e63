//! `ctxc check --fix`: applies fixes and reports the remaining findings. Nothing is written before
//! everything was checked again with its fixes.

use super::findings;
use super::project::{self, FILE};
use super::render::report::Report;
use super::render::{concise, escape::escape};
use super::rewrite::{self, Change, Output, Written};
use super::scenarios::Scenarios;
use super::selection::{Keep, Selection};
use super::suppress;
use crate::base::diagnostic::Diagnostic;
use crate::cli::prelude::*;
use crate::project::suppressions::{FILE as SUPPRESSIONS, Suppressions};
use crate::registry::scenarios::FixedScenario;
use crate::registry::workspace::check::CheckOutput;
use crate::registry::workspace::fix::{FixFilter, FixOutcome, FixedFile};
use crate::registry::workspace::request::{Goal, Overlay};
use crate::rules::apply::{self, Beginning, Fixed, Which};
use crate::syntax::decode;
use crate::syntax::limits::Limits;

/// The arguments of `check --fix`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixArgs<'a> {
    pub(super) which: Which,
    pub(super) output: Output,
    pub(super) result: &'a OutputArgs<FindingFormat>,
    pub(super) paths: &'a PathArgs,
    pub(super) limits: &'a LimitArgs,
}

/// Rejects a scenario on standard input: it is checked alone, so that the effect of a fix on other
/// files would not be seen.
fn refuse_stdin(selection: &Selection) -> Result<()> {
    let Some(name) = selection.stdin_scenario() else {
        return Ok(());
    };
    Err(CliError::usage(format!(
        "{name} on standard input is checked, and not fixed"
    ))
    .hint("`ctxc check --fix` fixes the file"))
}

/// Applies the fixes, writes the files, and reports the remaining findings.
pub(super) fn run(asked: FixArgs<'_>, cx: &mut Cx) -> Result<Exit> {
    let mut project = Project::load(&cx.options)?.tested();
    let selection = Selection::new(&project.root, asked.paths)?;
    selection.note(&project, cx);
    refuse_stdin(&selection)?;
    let mut changed = Vec::new();
    let mut fixed = 0;
    let mut own = if selection.stdin().is_none() {
        ProjectFile::read(&project)?
    } else {
        None
    };
    let mut brought = None;
    if let Some(own) = own
        .as_mut()
        .filter(|_| is_fixable(&project.findings, asked.which))
    {
        let root = project.root.clone();
        let announced = Beginning::of(
            &selection
                .check(&project, Goal::Findings, Keep::ALL, cx)?
                .report
                .diagnostics,
        );
        let found = std::mem::take(&mut project.findings);
        fixed = own.fix(&found, asked.which, &mut |text| {
            Project::with_text(root.clone(), text).findings
        });
        project.findings = found;
        if own.is_fixed {
            project = Project::with_text(root, &own.text).tested();
            let mut found = selection
                .check(&project, Goal::Findings, Keep::ALL, cx)?
                .report
                .diagnostics;
            found.retain(|finding| !announced.has(finding));
            brought = Some(Beginning::of(&found));
        }
    }
    project.config.limits = asked.limits.resolve(&project.config.limits);
    let recorded = suppress::load(&project.root)?;
    // Findings in other files that appear only through a fix of the project file were not
    // announced: they are reported, not fixed.
    let wanted = |finding: &Diagnostic| {
        !brought.as_ref().is_some_and(|brought| brought.has(finding))
            && recorded
                .as_ref()
                .is_none_or(|(_, recorded)| !recorded.holds(finding))
    };
    // Findings of templates in the project file are fixed there, and all templates are checked
    // again.
    let in_templates = |finding: &Diagnostic| *finding.path != *FILE && wanted(finding);
    let filter = FixFilter {
        which: asked.which,
        wanted: &in_templates,
    };
    let (mut outcome, mut input) = if selection.is_scenarios() {
        (
            FixOutcome {
                files: Vec::new(),
                fixed: 0,
                left: CheckOutput::default(),
            },
            Vec::new(),
        )
    } else {
        selection.fix(&project, filter, cx)?
    };
    if let Some(own) = &mut own {
        let before = own.text.clone();
        fixed += own.fix(&outcome.left.diagnostics, asked.which, &mut |text| {
            let mut tried = Project::with_text(project.root.clone(), text);
            tried.config.limits = asked.limits.resolve(&tried.config.limits);
            let found = selection.check(&tried, Goal::Findings, Keep::ALL, cx);
            tried
                .findings
                .into_iter()
                .chain(found.map_or(Vec::new(), |checked| checked.report.diagnostics))
                .collect()
        });
        if own.text != before {
            project = Project::with_text(project.root.clone(), &own.text).tested();
            project.config.limits = asked.limits.resolve(&project.config.limits);
            (outcome, input) = selection.fix(&project, filter, cx)?;
        }
    }
    changed.extend(own.and_then(ProjectFile::changed));
    let FixOutcome {
        files,
        fixed: in_files,
        left,
    } = outcome;
    fixed += in_files;
    let mut report = Report {
        diagnostics: left.diagnostics,
        files: left.files,
        skipped: left.skipped,
        ..Report::default()
    };
    let scenarios = Scenarios::new(&project, &selection);
    let overlay: Overlay = files
        .iter()
        .map(|file| (file.name.clone(), file.after.clone()))
        .collect();
    let fixed_scenarios = scenarios.fix(
        &project,
        &selection,
        (asked.which, &wanted),
        &overlay,
        &mut report,
        cx,
    )?;
    fixed += fixed_scenarios.iter().map(|file| file.fixed).sum::<usize>();
    let changed_scenario = |FixedScenario {
                                name,
                                before,
                                after,
                                ..
                            }| FixedFile {
        name,
        before,
        after,
    };
    changed.extend(fixed_scenarios.into_iter().map(changed_scenario));
    report.add(&project.findings);
    if let Some((text, recorded)) = &recorded {
        let prune = selection.stdin().is_none();
        fixed += suppressions(
            &project,
            &selection,
            &mut report,
            (text, recorded),
            prune.then_some(&mut changed),
        );
    }
    report.fixed = Some(fixed);
    report.tried = Some(asked.which);
    if let Some(name) = selection.stdin() {
        if !asked.result.format.all().all(FindingFormat::is_for_people) {
            return Err(CliError::usage(
                "the fixed text goes to standard output: findings in a format for programs have no place there",
            )
            .hint("fix first, then check the result: `ctxc check - --fix < in.xml | ctxc check - --format json`"));
        }
        let after = files.first().map_or(&*input, |file| &file.after);
        return stdin(
            &asked,
            &Change {
                name,
                path: name.as_ref(),
                before: &input,
                after,
            },
            &report,
            cx,
        );
    }
    changed.extend(files);
    if report.files == 0 && !asked.paths.allow_empty && findings::verdict(&report) == Exit::Success
    {
        return Err(findings::nothing(
            &selection.whereabouts(&project),
            report.skipped,
        ));
    }
    match asked.output {
        Output::Diff => diff(&changed, &report, &project, cx),
        Output::Write => write(asked.result, &changed, &report, &project, cx),
    }
}

fn is_own(finding: &Diagnostic) -> bool {
    *finding.path == *FILE
}

/// Returns true if one of the findings has a fix in the project file.
fn is_fixable(found: &[Diagnostic], which: Which) -> bool {
    found
        .iter()
        .any(|finding| is_own(finding) && apply::eligible(finding, which).is_some())
}

/// The project file while it is fixed.
struct ProjectFile {
    before: Vec<u8>,
    text: String,
    is_fixed: bool,
}

impl ProjectFile {
    /// Reads the project file; `None` if there is none.
    fn read(project: &Project) -> Result<Option<Self>> {
        let path = project.root.join(FILE);
        Ok(project::read_bytes(&path)?.map(|(before, text)| Self {
            before,
            text,
            is_fixed: false,
        }))
    }

    /// Applies the fixes of some findings and returns their number. `check` returns the findings
    /// for another text of the file.
    fn fix(
        &mut self,
        found: &[Diagnostic],
        which: Which,
        check: &mut dyn FnMut(&str) -> Vec<Diagnostic>,
    ) -> usize {
        if !is_fixable(found, which) {
            return 0;
        }
        let Fixed { text, fixed, .. } = apply::fix(
            &self.text,
            which,
            &Limits::default(),
            &is_own,
            &mut |text| check(text),
        );
        if text != self.text {
            (self.text, self.is_fixed) = (text, true);
        }
        fixed
    }

    /// Returns the file to write, if it was changed.
    fn changed(self) -> Option<FixedFile> {
        let Self {
            before,
            text,
            is_fixed,
        } = self;
        let after = decode::encode_like(&text, &before);
        is_fixed.then(|| FixedFile {
            name: FILE.to_owned(),
            before,
            after,
        })
    }
}

/// Removes suppressed findings from the report. If `changed` is given, also removes stale entries
/// from the suppressions file; returns their number.
fn suppressions(
    project: &Project,
    selection: &Selection,
    report: &mut Report,
    recorded: (&str, &Suppressions),
    changed: Option<&mut Vec<FixedFile>>,
) -> usize {
    let (text, recorded) = recorded;
    let Some(changed) = changed else {
        suppress::apply(report, text, recorded, |path| selection.holds(path));
        return 0;
    };
    let applied = recorded.apply(&mut report.diagnostics, |path| selection.holds(path));
    report.suppressed = applied.suppressed;
    if applied.stale.is_empty() {
        return 0;
    }
    let mut pruned = recorded.clone();
    pruned.prune(&applied.stale);
    let path = project.root.join(SUPPRESSIONS);
    // If the file disappeared meanwhile, its write is refused like any other overtaken one.
    let before = project::read_bytes(&path)
        .ok()
        .flatten()
        .map_or_else(|| text.as_bytes().to_vec(), |(bytes, _)| bytes);
    let after = decode::encode_like(&pruned.render(), &before);
    changed.push(FixedFile {
        name: SUPPRESSIONS.to_owned(),
        before,
        after,
    });
    applied.stale.len()
}

/// Prints the fixed text or its diff to standard output, and the remaining findings to standard
/// error.
fn stdin(asked: &FixArgs<'_>, change: &Change<'_>, report: &Report, cx: &mut Cx) -> Result<Exit> {
    match asked.output {
        Output::Write => cx.print(|out| out.write_all(change.after))?,
        Output::Diff => rewrite::diff(change, cx)?,
    }
    cx.flush()?;
    if cx.options.is_chatty() {
        let mut left = Vec::new();
        let plain = super::render::screen::Screen {
            color: cx.options.stderr_color,
            ..cx.options.screen
        };
        concise::write(&mut left, report, cx.options.shown(), plain)
            .map_err(|err| CliError::stdout(&err))?;
        let left = String::from_utf8_lossy(&left);
        let fixed = plural(report.fixed.unwrap_or(0), "finding");
        let line = match asked.output {
            Output::Write => format!("{left}fixed {fixed}; {} left", report.diagnostics.len()),
            Output::Diff => format!(
                "{left}would fix {fixed}; {} would be left",
                report.diagnostics.len()
            ),
        };
        cx.note(&line);
    }
    let would_change = asked.output == Output::Diff && change.before != change.after;
    Ok(if would_change {
        Exit::Findings
    } else {
        findings::verdict(report)
    })
}

fn diff(changed: &[FixedFile], report: &Report, project: &Project, cx: &mut Cx) -> Result<Exit> {
    for file in changed {
        rewrite::diff(&change(file, &project.root.join(&file.name)), cx)?;
    }
    let fixed = plural(report.fixed.unwrap_or(0), "finding");
    cx.note(&format!(
        "would fix {fixed} in {}; {} would be left",
        plural(changed.len(), "file"),
        report.diagnostics.len()
    ));
    let would_change = if changed.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    };
    Ok(findings::verdict(report).and(would_change))
}

fn write(
    args: &OutputArgs<FindingFormat>,
    changed: &[FixedFile],
    report: &Report,
    project: &Project,
    cx: &mut Cx,
) -> Result<Exit> {
    let mut overtaken = Vec::new();
    let mut failed = Vec::new();
    for file in changed {
        match rewrite::write(&change(file, &project.root.join(&file.name))) {
            Ok(Written::Yes) => {}
            Ok(Written::Overtaken) => overtaken.push(file.name.as_str()),
            // The other files are still written.
            Err(error) => failed.push(error),
        }
    }
    let mut sources = project.sources();
    cx.emit(args, |format, cx| {
        findings::print(cx, report, format, &project.root, &mut sources)
    })?;
    if !args.format.resolve().is_for_people() {
        cx.note(&format!(
            "fixed {} in {}",
            plural(report.fixed.unwrap_or(0), "finding"),
            plural(changed.len(), "file")
        ));
    }
    if let Some(error) = CliError::all(failed) {
        return Err(error);
    }
    if overtaken.is_empty() {
        return Ok(findings::verdict(report));
    }
    let names: Vec<_> = overtaken.into_iter().map(escape).collect();
    Err(CliError::new(
        Kind::Infrastructure,
        format!(
            "changed by somebody else while they were being fixed: {}",
            names.join(", ")
        ),
    )
    .hint("these files are as they were left; run `ctxc check --fix` again"))
}

fn change<'f>(file: &'f FixedFile, path: &'f Path) -> Change<'f> {
    Change {
        name: &file.name,
        path,
        before: &file.before,
        after: &file.after,
    }
}
