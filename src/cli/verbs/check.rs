//! `ctxc check`: findings of files, folders or standard input.

use crate::base::rule_meta::Severity;
use crate::cli::context::contracts::check_contract_files;
use crate::cli::context::crowded_budgets;
use crate::cli::fix::{self, FixArgs};
use crate::cli::member_folders::{list_project_files, nested_projects};
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::render::report::CheckReport;
use crate::cli::rewrite::RewriteMode;
use crate::cli::rule_filter::RuleFilterArgs;
use crate::cli::scenarios::{self, PartialRegistry, ScenarioCheck};
use crate::cli::selection::{
    FindingRetention, SelectionResult, TemplateSelection, pattern_root_exists,
};
use crate::cli::workspace_reach::WorkspaceReach;
use crate::cli::{findings, request, suppress};
use crate::project::glob::Globs;
use crate::project::suppressions::SUPPRESSIONS_FILE;
use crate::registry::workspace::request::CheckGoal;
use crate::rules::apply::{self, FixSelection};
use crate::rules::check::Fingerprints;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc check\n  ctxc check templates\n  ctxc check templates/triage.xml --format concise\n  \
    cat templates/triage.xml | ctxc check - --stdin-path templates/triage.xml\n  ctxc check calls.jsonl\n  ctxc check session.jsonl\n  ctxc check --suppress-existing\n  ctxc check --diff\n  ctxc check --fix\n\n\
    `ctxc check @claude` checks the newest session of Claude Code in this folder (also `@codex`, `@pi`, `@gemini`): its requests are put together again, \
    as far as the session holds them, and checked before each compaction and at the end; `@claude#3` is its third call (in `compaction`, its third compaction)."
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
    /// Returns the part of a workspace that the command line is about.
    pub(crate) fn workspace_reach(&self) -> WorkspaceReach {
        let paths = &self.paths.paths;
        if paths
            .iter()
            .any(|path| path == Path::new("-") || request::looks_like_request(path))
        {
            return WorkspaceReach::Folder;
        }
        if !paths.is_empty() {
            return WorkspaceReach::Paths(paths.clone());
        }
        let format = &self.output.format;
        let output = self.output.output.as_deref();
        let form = findings::printed_form(format.result_format(), output);
        let reports = format.reports().iter().map(|report| &*report.path);
        WorkspaceReach::members(
            form,
            reports.chain(output.filter(|path| path.is_absolute())),
        )
    }

    /// Returns the same arguments with other paths.
    pub(crate) fn with_paths(&self, paths: Vec<PathBuf>) -> Self {
        let mut args = self.clone();
        args.paths.paths = paths;
        args
    }

    fn fix_args(&self) -> FixArgs<'_> {
        FixArgs {
            selection: if self.unsafe_fixes {
                FixSelection::Suggested
            } else {
                FixSelection::Safe
            },
            output: if self.diff {
                RewriteMode::Diff
            } else {
                RewriteMode::Write
            },
            result: &self.output,
            paths: &self.paths,
            limits: &self.limits,
        }
    }
}

/// The number of errors from which a repository counts as old.
const OLD_REPOSITORY_ERRORS: usize = 10;

/// Prints advice for a repository with many findings.
fn advise_old_repository(report: &CheckReport, cx: &mut Cx) {
    let errors = || {
        report
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
    };
    if errors().take(OLD_REPOSITORY_ERRORS).count() < OLD_REPOSITORY_ERRORS {
        return;
    }
    let is_fixable = report
        .diagnostics
        .iter()
        .any(|finding| apply::eligible_fix(finding, FixSelection::Safe).is_some());
    let first = if is_fixable {
        "`ctxc check --fix`, then "
    } else {
        ""
    };
    if errors().any(|finding| !finding.rule.locked) {
        cx.print_note(&format!("an old repository? {first}`ctxc check --suppress-existing`: from then on only new findings fail"));
    } else if is_fixable {
        cx.print_note("an old repository? `ctxc check --fix` fixes what needs no decision");
    }
}

/// Prints a warning for the project files inside this project, whose settings are not used here.
fn warn_about_nested_projects(project: &Project, report: &CheckReport, cx: &mut Cx) {
    let exclude = &project.config.templates.exclude;
    let mut nested = nested_projects(&project.root, &BTreeMap::new());
    nested.retain(|folder| !exclude.matches(folder));
    let is_checked = |folder: &String| {
        let below = format!("{folder}/");
        report.paths.iter().any(|path| path.starts_with(&below))
    };
    let (checked, others): (Vec<String>, Vec<String>) = nested.into_iter().partition(is_checked);
    for nested in checked {
        let nested = escape_line(&nested);
        cx.print_note(&format!(
            "warning: {nested}/{PROJECT_FILE} is not read: its templates are checked as those of this project. `ctxc check --project {nested}` checks it, \
             `[workspace] members` in a {PROJECT_FILE} above makes it a project beside others, and `[templates] exclude = [\"{nested}\"]` leaves it out here"
        ));
    }
    if !others.is_empty() {
        cx.print_note(&format!(
            "warning: not read here: {}. `ctxc check --project DIR` checks one, `[workspace] members` in a {PROJECT_FILE} above makes them projects beside \
             others, and `[templates] exclude` leaves them out",
            list_project_files(&others)
        ));
    }
}

/// Checks recorded requests.
fn check_requests(args: &CheckArgs, requests: usize, cx: &mut Cx) -> Result<Exit> {
    let paths = &args.paths.paths;
    if requests < paths.len() {
        return Err(
            CliError::usage("requests cannot be checked together with other files")
                .with_hint("check requests by themselves"),
        );
    }
    if args.fix || args.diff || args.suppress_existing {
        return Err(CliError::usage(
            "a request that was sent cannot be fixed, and its findings cannot be suppressed",
        )
        .with_hint("fix the program that sends it"));
    }
    let subjects: Vec<String> = paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    request::request_findings::run_request_check(
        &subjects,
        &args.rules.resolve_rules()?,
        &args.output,
        cx,
    )
}

/// Runs the check, prints the report, and returns the verdict.
pub(crate) fn run_check(args: &CheckArgs, cx: &mut Cx) -> Result<Exit> {
    Cx::check_output_paths(&args.output.format, args.output.output.as_deref())?;
    let requests = args
        .paths
        .paths
        .iter()
        .filter(|path| request::looks_like_request(path))
        .count();
    if requests > 0 {
        return check_requests(args, requests, cx);
    }
    if args.fix || args.diff {
        return fix::run_fix(args.fix_args(), cx);
    }
    if args.unsafe_fixes {
        return Err(
            CliError::usage("`--unsafe-fixes` says which fixes, not what to do with them")
                .with_hint("add `--fix` to apply them, or `--diff` to look at them first"),
        );
    }
    let filter = args.rules.resolve_rules()?;
    let project = Project::load(&cx.options)?
        .with_tested_agents()
        .with_limits(&args.limits);
    let selection = TemplateSelection::new(&project.root, &args.paths)?;
    let format = args.output.format.result_format();
    if format.is_for_people() {
        selection.note_missing_project(&project, cx);
    }
    let suppressions = suppress::load_suppressions(&project.root)?;
    let nameless = args
        .output
        .format
        .formats()
        .all(FindingFormat::is_for_people)
        && suppressions.is_none()
        && !args.suppress_existing;
    let shown = FindingRetention {
        identity: Fingerprints::Omitted,
        min_severity: cx.options.report_detail().min_severity,
    };
    let keep = if nameless {
        shown
    } else {
        FindingRetention::ALL
    };
    let is_root = selection.is_all() && project.config.workspace.is_some();
    let tested = ScenarioCheck::new(&project, &selection);
    let SelectionResult {
        mut report,
        mut sources,
        registry,
        excluded,
    } = if let Some(name) = selection.stdin_scenario() {
        scenarios::check_stdin(&project, name, cx)?
    } else if selection.is_scenarios_only() {
        SelectionResult {
            report: CheckReport::default(),
            sources: project.sources(),
            registry: None,
            excluded: Vec::new(),
        }
    } else {
        let goal = if crowded_budgets::is_enabled(&project, &selection) {
            CheckGoal::Partial
        } else {
            tested.template_goal(&project)
        };
        selection.check_templates(&project, goal, keep, cx)?
    };
    let crowded = match registry
        .as_deref()
        .filter(|_| crowded_budgets::is_enabled(&project, &selection))
    {
        Some(registry) => crowded_budgets::check_registry(&project, registry, cx)?,
        None => Vec::new(),
    };
    // If `include` matches no template, errors of scenarios would only be consequences.
    let is_bare = is_root
        || (report.files == 0
            && args.paths.paths.is_empty()
            && project.config.templates.include.is_some());
    if !is_bare || args.paths.allow_empty {
        tested.check_files(
            &project,
            &selection,
            registry.map(|bytes| PartialRegistry { bytes, excluded }),
            &mut report,
            cx,
        )?;
    }
    if selection.stdin().is_none() && !project.has_errors() {
        let contracts = check_contract_files(&project, &|path| selection.contains(path));
        report.files += contracts.paths.len();
        report.paths.extend(contracts.paths);
        report.paths.sort();
        report.add_findings(&contracts.diagnostics);
    }
    let empty = report.files == 0 && !args.paths.allow_empty && !is_root;
    report.add_findings(&project.findings);
    report.add_findings(&crowded);
    let mut recorded = None;
    if args.suppress_existing {
        recorded = Some(suppress::record_findings(
            &project.root,
            &mut report,
            |path| selection.contains(path),
        )?);
    } else if let Some((text, known)) = suppressions {
        suppress::apply_suppressions(&mut report, &text, &known, |path| selection.contains(path));
    }
    let left_out = filter.filter_report(&mut report);
    let is_empty_screen = empty && format.is_for_people() && report.diagnostics.is_empty();
    if is_empty_screen {
        return Err(findings::no_template(
            &selection.describe_places(&project),
            report.skipped,
        ));
    }
    cx.emit_result(&args.output, |format, cx| {
        findings::print_report(cx, &report, format, &project.root, &mut sources)
    })?;
    if left_out > 0 {
        cx.print_note(&format!(
            "{} of other rules not reported",
            pluralize(left_out, "finding")
        ));
    }
    if nameless && args.paths.paths.is_empty() {
        advise_old_repository(&report, cx);
    }
    if selection.is_all() && !is_root {
        warn_about_nested_projects(&project, &report, cx);
    }
    for pattern in project
        .config
        .context
        .include
        .iter()
        .flat_map(Globs::patterns)
    {
        if !pattern_root_exists(&project.root, pattern) {
            cx.print_note(&format!("[context] include: there is nothing at `{pattern}`, so fresh context finds nothing there"));
        }
    }
    if let Some(recorded) = recorded
        && format.is_for_people()
    {
        let line = format!(
            "recorded {} in {SUPPRESSIONS_FILE}; {} left",
            pluralize(recorded.findings, "finding"),
            report.diagnostics.len()
        );
        let line = cx.options.screen.paint(Paint::Good, &line);
        cx.print_line(&line)?;
    }
    let verdict = findings::report_verdict(&report);
    let skipped = report.skipped;
    // The program ends here: dropping tens of thousands of findings takes longer than printing
    // them.
    std::mem::forget(report);
    // Findings take precedence over an empty selection.
    if empty && verdict == Exit::Success {
        Err(findings::no_template(
            &selection.describe_places(&project),
            skipped,
        ))
    } else {
        Ok(verdict)
    }
}
