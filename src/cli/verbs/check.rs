//! `ctxc check`: findings of files, folders or standard input.

use crate::base::fs;
use crate::base::rule_meta::Severity;
use crate::cli::context::crowded_budgets;
use crate::cli::findings;
use crate::cli::fix::{self, FixArgs};
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use crate::cli::render::report::Report;
use crate::cli::request;
use crate::cli::rewrite::Output;
use crate::cli::rule_filter::RuleFilterArgs;
use crate::cli::scenarios::{self, Scenarios};
use crate::cli::selection::{Checked, Keep, Selection, leads_somewhere};
use crate::cli::suppress;
use crate::project::glob::Globs;
use crate::project::suppressions::FILE as SUPPRESSIONS;
use crate::registry::workspace::request::Goal;
use crate::rules::apply::{self, Which};
use crate::rules::check::Identity;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc check\n  ctxc check templates\n  ctxc check templates/triage.xml --format concise\n  \
    cat templates/triage.xml | ctxc check - --stdin-path templates/triage.xml\n  ctxc check calls.jsonl\n  ctxc check --suppress-existing\n  ctxc check --diff\n  ctxc check --fix"
)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag as it is written"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Record today's findings in ctxc.suppressions.toml: from then on only new findings count
    #[arg(long, conflicts_with_all = ["fix", "diff", "select", "ignore"])]
    suppress_existing: bool,
    /// Apply safe fixes, then report what is left
    #[arg(long, conflicts_with_all = ["select", "ignore"])]
    fix: bool,
    /// With --fix or --diff: also apply suggested fixes, the first one of each finding
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show what --fix would change, and write nothing; exit 1 if it would change something
    #[arg(long, conflicts_with_all = ["format", "json", "report", "output", "select", "ignore"])]
    diff: bool,
    #[command(flatten)]
    rules: RuleFilterArgs,
    #[command(flatten)]
    output: OutputArgs<FindingFormat>,
    #[command(flatten)]
    limits: LimitArgs,
}

impl CheckArgs {
    fn fixes(&self) -> FixArgs<'_> {
        FixArgs {
            which: if self.unsafe_fixes {
                Which::Suggested
            } else {
                Which::Safe
            },
            output: if self.diff {
                Output::Diff
            } else {
                Output::Write
            },
            result: &self.output,
            paths: &self.paths,
            limits: &self.limits,
        }
    }
}

/// The number of errors from which a repository counts as old.
const MANY: usize = 10;

/// Prints advice for a repository with many findings.
fn old_repository(report: &Report, cx: &mut Cx) {
    let errors = || {
        report
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
    };
    if errors().take(MANY).count() < MANY {
        return;
    }
    let is_fixable = report
        .diagnostics
        .iter()
        .any(|finding| apply::eligible(finding, Which::Safe).is_some());
    let first = if is_fixable {
        "`ctxc check --fix`, then "
    } else {
        ""
    };
    if errors().any(|finding| !finding.rule.locked) {
        cx.note(&format!("an old repository? {first}`ctxc check --suppress-existing`: from then on only new findings fail"));
    } else if is_fixable {
        cx.note("an old repository? `ctxc check --fix` fixes what needs no decision");
    }
}

/// Prints a note for each project file inside this project, whose settings are not used here.
fn note_nested_projects(root: &Path, report: &Report, cx: &mut Cx) {
    let folders = |path: &Arc<str>| {
        Path::new(&**path)
            .ancestors()
            .skip(1)
            .map(Path::to_path_buf)
            .collect::<Vec<_>>()
    };
    let folders: BTreeSet<PathBuf> = report.paths.iter().flat_map(folders).collect();
    let is_below = |folder: &PathBuf| folder.is_relative() && !folder.as_os_str().is_empty();
    for nested in folders
        .into_iter()
        .filter(|folder| is_below(folder) && fs::exists(&root.join(folder).join(FILE)))
    {
        let nested = escape(&nested.to_string_lossy()).into_owned();
        cx.note(&format!(
            "{nested}/{FILE} is not read: its templates are checked as those of this project. `ctxc check --project {nested}` checks it, and \
             `[templates] exclude = [\"{nested}\"]` leaves it out here"
        ));
    }
}

/// Checks recorded requests.
fn of_requests(args: &CheckArgs, requests: usize, cx: &mut Cx) -> Result<Exit> {
    let paths = &args.paths.paths;
    if requests < paths.len() {
        return Err(
            CliError::usage("requests cannot be checked together with other files")
                .hint("check requests by themselves"),
        );
    }
    if args.fix || args.diff || args.suppress_existing {
        return Err(CliError::usage(
            "a request that was sent cannot be fixed, and its findings cannot be suppressed",
        )
        .hint("fix the program that sends it"));
    }
    let subjects: Vec<String> = paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    request::check::run(&subjects, &args.rules.resolve()?, &args.output, cx)
}

/// Runs the check, prints the report, and returns the verdict.
pub(crate) fn run(args: &CheckArgs, cx: &mut Cx) -> Result<Exit> {
    Cx::ensure_places(&args.output.format, args.output.output.as_deref())?;
    let requests = args
        .paths
        .paths
        .iter()
        .filter(|path| request::looks_like_request(path))
        .count();
    if requests > 0 {
        return of_requests(args, requests, cx);
    }
    if args.fix || args.diff {
        return fix::run(args.fixes(), cx);
    }
    if args.unsafe_fixes {
        return Err(
            CliError::usage("`--unsafe-fixes` says which fixes, not what to do with them")
                .hint("add `--fix` to apply them, or `--diff` to look at them first"),
        );
    }
    let filter = args.rules.resolve()?;
    let project = Project::load(&cx.options)?.tested().limited(&args.limits);
    let selection = Selection::new(&project.root, &args.paths)?;
    let format = args.output.format.resolve();
    if format.is_for_people() {
        selection.note(&project, cx);
    }
    let suppressions = suppress::load(&project.root)?;
    let nameless = args.output.format.all().all(FindingFormat::is_for_people)
        && suppressions.is_none()
        && !args.suppress_existing;
    let shown = Keep {
        identity: Identity::Unwanted,
        least: cx.options.shown().least,
    };
    let keep = if nameless { shown } else { Keep::ALL };
    let tested = Scenarios::new(&project, &selection);
    let Checked {
        mut report,
        mut sources,
        registry,
        excluded,
    } = if let Some(name) = selection.stdin_scenario() {
        scenarios::check_stdin(&project, name, cx)?
    } else if selection.is_scenarios() {
        Checked {
            report: Report::default(),
            sources: project.sources(),
            registry: None,
            excluded: Vec::new(),
        }
    } else {
        let goal = if crowded_budgets::is_asked(&project, &selection) {
            Goal::Partial
        } else {
            tested.goal(&project)
        };
        selection.check(&project, goal, keep, cx)?
    };
    let crowded = match registry
        .as_deref()
        .filter(|_| crowded_budgets::is_asked(&project, &selection))
    {
        Some(registry) => crowded_budgets::check(&project, registry, cx)?,
        None => Vec::new(),
    };
    // If `include` matches no template, errors of scenarios would only be consequences.
    let is_bare = report.files == 0
        && args.paths.paths.is_empty()
        && project.config.templates.include.is_some();
    if !is_bare || args.paths.allow_empty {
        tested.check(
            &project,
            &selection,
            registry.map(|bytes| (bytes, excluded)),
            &mut report,
            cx,
        )?;
    }
    let empty = report.files == 0 && !args.paths.allow_empty;
    report.add(&project.findings);
    report.add(&crowded);
    let mut recorded = None;
    if args.suppress_existing {
        recorded = Some(suppress::record(&project.root, &mut report, |path| {
            selection.holds(path)
        })?);
    } else if let Some((text, known)) = suppressions {
        suppress::apply(&mut report, &text, &known, |path| selection.holds(path));
    }
    let left_out = filter.apply(&mut report);
    let is_empty_screen = empty && format.is_for_people() && report.diagnostics.is_empty();
    if is_empty_screen {
        return Err(findings::nothing(
            &selection.whereabouts(&project),
            report.skipped,
        ));
    }
    cx.emit(&args.output, |format, cx| {
        findings::print(cx, &report, format, &project.root, &mut sources)
    })?;
    if left_out > 0 {
        cx.note(&format!(
            "{} of other rules not reported",
            plural(left_out, "finding")
        ));
    }
    if nameless && args.paths.paths.is_empty() {
        old_repository(&report, cx);
    }
    if format.is_for_people() {
        note_nested_projects(&project.root, &report, cx);
    }
    for pattern in project
        .config
        .context
        .include
        .iter()
        .flat_map(Globs::written)
    {
        if !leads_somewhere(&project.root, pattern) {
            cx.note(&format!("[context] include: there is nothing at `{pattern}`, so fresh context finds nothing there"));
        }
    }
    if let Some(recorded) = recorded
        && format.is_for_people()
    {
        let line = format!(
            "recorded {} in {SUPPRESSIONS}; {} left",
            plural(recorded.findings, "finding"),
            report.diagnostics.len()
        );
        let line = cx.options.screen.paint(Paint::Good, &line);
        cx.line(&line)?;
    }
    let verdict = findings::verdict(&report);
    let skipped = report.skipped;
    // The program ends here: dropping tens of thousands of findings takes longer than printing
    // them.
    std::mem::forget(report);
    // Findings take precedence over an empty selection.
    if empty && verdict == Exit::Success {
        Err(findings::nothing(&selection.whereabouts(&project), skipped))
    } else {
        Ok(verdict)
    }
}
