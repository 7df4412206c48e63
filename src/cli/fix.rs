//! `ctxc check --fix`: applies fixes and reports the remaining findings. Nothing is written before
//! everything was checked again with its fixes.

use super::project::{self, PROJECT_FILE};
use super::render::report::CheckReport;
use super::render::{concise, escape::escape_line};
use super::rewrite::{self, FileChange, RewriteMode, RewriteOutcome};
use super::scenarios::ScenarioCheck;
use super::selection::{FindingRetention, TemplateSelection};
use super::{findings, suppress};
use crate::base::diagnostic::Diagnostic;
use crate::cli::prelude::*;
use crate::project::suppressions::{SUPPRESSIONS_FILE as SUPPRESSIONS, Suppressions};
use crate::registry::scenarios::FixedScenario;
use crate::registry::workspace::fix::{FixFilter, FixOutcome, FixedFile};
use crate::registry::workspace::project_check::CheckOutput;
use crate::registry::workspace::request::{CheckGoal, FileOverlay};
use crate::rules::apply::{self, FixSelection, FixedText, InitialFindings};
use crate::syntax::decode;
use crate::syntax::limits::XmlLimits;

/// The arguments of `check --fix`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixArgs<'a> {
    pub(super) selection: FixSelection,
    pub(super) output: RewriteMode,
    pub(super) result: &'a OutputArgs<FindingFormat>,
    pub(super) paths: &'a PathArgs,
    pub(super) limits: &'a LimitArgs,
}

/// Rejects a scenario on standard input: it is checked alone, so that the effect of a fix on other
/// files would not be seen.
fn refuse_stdin(selection: &TemplateSelection) -> Result<()> {
    let Some(name) = selection.stdin_scenario() else {
        return Ok(());
    };
    Err(CliError::usage(format!(
        "{name} on standard input is checked, and not fixed"
    ))
    .with_hint("`ctxc check --fix` fixes the file"))
}

/// Applies the fixes, writes the files, and reports the remaining findings.
pub(super) fn run_fix(args: FixArgs<'_>, cx: &mut Cx) -> Result<Exit> {
    let mut project = Project::load(&cx.options)?.with_tested_agents();
    let selection = TemplateSelection::new(&project.root, args.paths)?;
    selection.note_missing_project(&project, cx);
    refuse_stdin(&selection)?;
    let mut changed = Vec::new();
    let mut fixed = 0;
    let mut own = if selection.stdin().is_none() {
        FixedProjectFile::load(&project)?
    } else {
        None
    };
    let mut brought = None;
    if let Some(own) = own.as_mut() {
        (fixed, brought) = own.fix_announced(&mut project, &selection, args.selection, cx)?;
    }
    project.config.limits = args.limits.resolve(&project.config.limits);
    let recorded = suppress::load_suppressions(&project.root)?;
    // Findings in other files that appear only through a fix of the project file were not
    // announced: they are reported, not fixed.
    let wanted = |finding: &Diagnostic| {
        !brought
            .as_ref()
            .is_some_and(|brought| brought.contains(finding))
            && recorded
                .as_ref()
                .is_none_or(|(_, recorded)| !recorded.contains(finding))
    };
    // Findings of templates in the project file are fixed there, and all templates are checked
    // again.
    let in_templates = |finding: &Diagnostic| *finding.path != *PROJECT_FILE && wanted(finding);
    let filter = FixFilter {
        selection: args.selection,
        is_wanted: &in_templates,
    };
    let (mut outcome, mut input) = if selection.is_scenarios_only() {
        (
            FixOutcome {
                files: Vec::new(),
                fixed: 0,
                left: CheckOutput::default(),
            },
            Vec::new(),
        )
    } else {
        selection.fix_templates(&project, filter, cx)?
    };
    if let Some(own) = &mut own {
        let before = own.text.clone();
        fixed += own.apply_fixes(&outcome.left.diagnostics, args.selection, &mut |text| {
            let mut tried = Project::with_text(project.root.clone(), text);
            tried.config.limits = args.limits.resolve(&tried.config.limits);
            let found =
                selection.check_templates(&tried, CheckGoal::Findings, FindingRetention::ALL, cx);
            tried
                .findings
                .into_iter()
                .chain(found.map_or(Vec::new(), |checked| checked.report.diagnostics))
                .collect()
        });
        if own.text != before {
            project = Project::with_text(project.root.clone(), &own.text).with_tested_agents();
            project.config.limits = args.limits.resolve(&project.config.limits);
            (outcome, input) = selection.fix_templates(&project, filter, cx)?;
        }
    }
    changed.extend(own.and_then(FixedProjectFile::into_changed_file));
    let FixOutcome {
        files,
        fixed: in_files,
        left,
    } = outcome;
    fixed += in_files;
    let mut report = CheckReport {
        diagnostics: left.diagnostics,
        files: left.files,
        skipped: left.skipped,
        ..CheckReport::default()
    };
    let scenarios = ScenarioCheck::new(&project, &selection);
    let overlay: FileOverlay = files
        .iter()
        .map(|file| (file.name.clone(), file.after.clone()))
        .collect();
    let fixed_scenarios = scenarios.fix_files(
        &project,
        &selection,
        FixFilter {
            selection: args.selection,
            is_wanted: &wanted,
        },
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
    report.add_findings(&project.findings);
    if let Some((text, recorded)) = &recorded {
        let prune = selection.stdin().is_none();
        fixed += apply_suppressions(
            &project,
            &selection,
            &mut report,
            SuppressionsFile { text, recorded },
            prune.then_some(&mut changed),
        );
    }
    report.fixed = Some(fixed);
    report.tried = Some(args.selection);
    if let Some(name) = selection.stdin() {
        if !args
            .result
            .format
            .formats()
            .all(FindingFormat::is_for_people)
        {
            return Err(CliError::usage(
                "the fixed text goes to standard output: findings in a format for programs have no place there",
            )
            .with_hint("fix first, then check the result: `ctxc check - --fix < in.xml | ctxc check - --format json`"));
        }
        let after = files.first().map_or(&*input, |file| &file.after);
        return print_fixed_stdin(
            &args,
            &FileChange {
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
    if report.files == 0
        && !args.paths.allow_empty
        && project.config.workspace.is_none()
        && findings::report_verdict(&report) == Exit::Success
    {
        return Err(findings::no_template(
            &selection.describe_places(&project),
            report.skipped,
        ));
    }
    match args.output {
        RewriteMode::Diff => print_diffs(&changed, &report, &project, cx),
        RewriteMode::Write => write_files(args.result, &changed, &report, &project, cx),
    }
}

fn is_in_project_file(finding: &Diagnostic) -> bool {
    *finding.path == *PROJECT_FILE
}

/// Returns true if one of the findings has a fix in the project file.
fn has_project_file_fix(found: &[Diagnostic], which: FixSelection) -> bool {
    found
        .iter()
        .any(|finding| is_in_project_file(finding) && apply::eligible_fix(finding, which).is_some())
}

/// The project file while it is fixed.
struct FixedProjectFile {
    before: Vec<u8>,
    text: String,
    is_fixed: bool,
}

impl FixedProjectFile {
    /// Reads the project file; `None` if there is none.
    fn load(project: &Project) -> Result<Option<Self>> {
        let path = project.root.join(PROJECT_FILE);
        Ok(project::read_bytes(&path)?.map(|(before, text)| Self {
            before,
            text,
            is_fixed: false,
        }))
    }

    /// Applies the fixes of the project's own findings, and reads the project again. Returns the
    /// number of fixes, and the findings in other files that only these fixes brought.
    fn fix_announced(
        &mut self,
        project: &mut Project,
        selection: &TemplateSelection,
        which: FixSelection,
        cx: &Cx,
    ) -> Result<(usize, Option<InitialFindings>)> {
        if !has_project_file_fix(&project.findings, which) {
            return Ok((0, None));
        }
        let check = |project: &Project| {
            selection
                .check_templates(project, CheckGoal::Findings, FindingRetention::ALL, cx)
                .map(|checked| checked.report.diagnostics)
        };
        let root = project.root.clone();
        let announced = InitialFindings::count_findings(&check(project)?);
        let fixed = self.apply_fixes(&project.findings, which, &mut |text| {
            Project::with_text(root.clone(), text).findings
        });
        if !self.is_fixed {
            return Ok((fixed, None));
        }
        *project = Project::with_text(root, &self.text).with_tested_agents();
        let mut found = check(project)?;
        found.retain(|finding| !announced.contains(finding));
        Ok((fixed, Some(InitialFindings::count_findings(&found))))
    }

    /// Applies the fixes of some findings and returns their number. `check` returns the findings
    /// for another text of the file.
    fn apply_fixes(
        &mut self,
        found: &[Diagnostic],
        selection: FixSelection,
        check: &mut dyn FnMut(&str) -> Vec<Diagnostic>,
    ) -> usize {
        if !has_project_file_fix(found, selection) {
            return 0;
        }
        let FixedText { text, fixed, .. } = apply::fix_text(
            &self.text,
            selection,
            &XmlLimits::default(),
            &is_in_project_file,
            &mut |text| check(text),
        );
        if text != self.text {
            (self.text, self.is_fixed) = (text, true);
        }
        fixed
    }

    /// Returns the file to write, if it was changed.
    fn into_changed_file(self) -> Option<FixedFile> {
        let Self {
            before,
            text,
            is_fixed,
        } = self;
        let after = decode::encode_like(&text, &before);
        is_fixed.then(|| FixedFile {
            name: PROJECT_FILE.to_owned(),
            before,
            after,
        })
    }
}

/// The suppressions file: its text, and the suppressions that it records.
#[derive(Clone, Copy)]
struct SuppressionsFile<'a> {
    text: &'a str,
    recorded: &'a Suppressions,
}

/// Removes suppressed findings from the report. If `changed` is given, also removes stale entries
/// from the suppressions file; returns their number.
fn apply_suppressions(
    project: &Project,
    selection: &TemplateSelection,
    report: &mut CheckReport,
    file: SuppressionsFile<'_>,
    changed: Option<&mut Vec<FixedFile>>,
) -> usize {
    let SuppressionsFile { text, recorded } = file;
    let Some(changed) = changed else {
        suppress::apply_suppressions(report, text, recorded, |path| selection.contains(path));
        return 0;
    };
    let applied = recorded.apply(&mut report.diagnostics, |path| selection.contains(path));
    report.suppressed = applied.suppressed;
    if applied.stale.is_empty() {
        return 0;
    }
    let mut pruned = recorded.clone();
    pruned.prune_stale(&applied.stale);
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
fn print_fixed_stdin(
    args: &FixArgs<'_>,
    change: &FileChange<'_>,
    report: &CheckReport,
    cx: &mut Cx,
) -> Result<Exit> {
    match args.output {
        RewriteMode::Write => cx.print(|out| out.write_all(change.after))?,
        RewriteMode::Diff => rewrite::print_diff(change, cx)?,
    }
    cx.flush()?;
    if cx.options.prints_notes() {
        let mut left = Vec::new();
        let plain = super::render::screen::Screen {
            color: cx.options.stderr_color,
            ..cx.options.screen
        };
        concise::write_concise(&mut left, report, cx.options.report_detail(), plain)
            .map_err(|err| CliError::stdout_failed(&err))?;
        let left = String::from_utf8_lossy(&left);
        let fixed = pluralize(report.fixed.unwrap_or(0), "finding");
        let line = match args.output {
            RewriteMode::Write => format!("{left}fixed {fixed}; {} left", report.diagnostics.len()),
            RewriteMode::Diff => format!(
                "{left}would fix {fixed}; {} would be left",
                report.diagnostics.len()
            ),
        };
        cx.print_note(&line);
    }
    let would_change = args.output == RewriteMode::Diff && change.before != change.after;
    Ok(if would_change {
        Exit::Findings
    } else {
        findings::report_verdict(report)
    })
}

fn print_diffs(
    changed: &[FixedFile],
    report: &CheckReport,
    project: &Project,
    cx: &mut Cx,
) -> Result<Exit> {
    for file in changed {
        rewrite::print_diff(&file_change(file, &project.root.join(&file.name)), cx)?;
    }
    let fixed = pluralize(report.fixed.unwrap_or(0), "finding");
    cx.print_note(&format!(
        "would fix {fixed} in {}; {} would be left",
        pluralize(changed.len(), "file"),
        report.diagnostics.len()
    ));
    let would_change = if changed.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    };
    Ok(findings::report_verdict(report).graver_of(would_change))
}

fn write_files(
    args: &OutputArgs<FindingFormat>,
    changed: &[FixedFile],
    report: &CheckReport,
    project: &Project,
    cx: &mut Cx,
) -> Result<Exit> {
    let mut overtaken = Vec::new();
    let mut failed = Vec::new();
    for file in changed {
        match rewrite::write_change(&file_change(file, &project.root.join(&file.name))) {
            Ok(RewriteOutcome::Done) => {}
            Ok(RewriteOutcome::Overtaken) => overtaken.push(file.name.as_str()),
            // The other files are still written.
            Err(error) => failed.push(error),
        }
    }
    let mut sources = project.sources();
    cx.emit_result(args, |format, cx| {
        findings::print_report(cx, report, format, &project.root, &mut sources)
    })?;
    if !args.format.result_format().is_for_people() {
        cx.print_note(&format!(
            "fixed {} in {}",
            pluralize(report.fixed.unwrap_or(0), "finding"),
            pluralize(changed.len(), "file")
        ));
    }
    if let Some(error) = CliError::combine(failed) {
        return Err(error);
    }
    if overtaken.is_empty() {
        return Ok(findings::report_verdict(report));
    }
    let names: Vec<_> = overtaken.into_iter().map(escape_line).collect();
    Err(CliError::new(
        CliErrorKind::Infrastructure,
        format!(
            "changed by somebody else while they were being fixed: {}",
            names.join(", ")
        ),
    )
    .with_hint("these files are as they were left; run `ctxc check --fix` again"))
}

fn file_change<'f>(file: &'f FixedFile, path: &'f Path) -> FileChange<'f> {
    FileChange {
        name: &file.name,
        path,
        before: &file.before,
        after: &file.after,
    }
}
