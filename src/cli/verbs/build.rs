//! `ctxc build [PATH…]`: writes the resolved, hashed registry, or reports every error that prevents
//! it.

use crate::base::fs;
use crate::cli::prelude::*;
use crate::cli::selection::{FindingRetention, SelectionResult, TemplateSelection};
use crate::cli::shared_args::FormatArgs;
use crate::cli::workspace_reach::WorkspaceReach;
use crate::cli::{findings, overwrite, suppress};
use crate::registry::build::{self, WriteOutcome};
use crate::registry::workspace::request::CheckGoal;
use crate::registry::{ReadError, read};
use crate::rules::check::Fingerprints;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc build\n  ctxc build --check\n  ctxc build templates -o built.json\n\n\
    If there is any error, no registry is written, and the existing one stays.\n\n\
    Exit codes: 0 written or unchanged, 1 errors or out of date with --check, 2 wrong usage or project file, \
    3 the output cannot be written, 5 no template found."
)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Output file [default: registry.json in the project's folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing; exit 1 if the registry on disk is out of date
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: FormatArgs<FindingFormat>,
    #[command(flatten)]
    limits: LimitArgs,
}

impl BuildArgs {
    /// Returns the part of a workspace that the command line is about.
    pub(crate) fn workspace_reach(&self) -> WorkspaceReach {
        if self.paths.paths.is_empty() {
            let form = findings::printed_form(self.format.result_format(), None);
            let reports = self.format.reports().iter().map(|report| &*report.path);
            WorkspaceReach::members(form, reports.chain(self.output.as_deref()))
        } else {
            WorkspaceReach::Paths(self.paths.paths.clone())
        }
    }

    const fn build_goal(&self) -> build::WriteMode {
        if self.check {
            build::WriteMode::Compare
        } else {
            build::WriteMode::Write
        }
    }
}

/// Checks the templates, writes the registry, prints the report.
pub(crate) fn run_build(args: &BuildArgs, cx: &mut Cx) -> Result<Exit> {
    Cx::check_output_paths(&args.format, None)?;
    let project = Project::load(&cx.options)?
        .with_tested_agents()
        .with_limits(&args.limits);
    let selection = TemplateSelection::new(&project.root, &args.paths)?;
    selection.note_missing_project(&project, cx);
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| project.root.join("registry.json"));
    if args.output.is_none() {
        overwrite::reject_links(&project.root, "registry.json")?;
    }
    check_output(&output, args.check)?;
    let recorded = suppress::load_suppressions(&project.root)?;
    let format = args.format.result_format();
    // Formats for programs are complete, and suppressions are compared with all findings.
    let is_shown = format.is_for_people() && recorded.is_none();
    let keep = if is_shown {
        FindingRetention {
            identity: Fingerprints::Omitted,
            min_severity: cx.options.report_detail().min_severity,
        }
    } else {
        FindingRetention::ALL
    };
    // With errors in the project file, the correct registry is unknown.
    let goal = if project.has_errors() {
        CheckGoal::Findings
    } else {
        CheckGoal::Registry
    };
    let SelectionResult {
        mut report,
        mut sources,
        registry,
        ..
    } = selection.check_templates(&project, goal, keep, cx)?;
    let state = match registry {
        Some(bytes) if report.files > 0 || args.paths.allow_empty => {
            build::write_registry(&output, &bytes, args.build_goal())
        }
        Some(_) | None => WriteOutcome::Untouched,
    };
    let files = report.files;
    let skipped = report.skipped;
    report.add_findings(&project.findings);
    if let Some((text, known)) = recorded {
        suppress::apply_suppressions(&mut report, &text, &known, |path| selection.contains(path));
    }
    let verdict = findings::report_verdict(&report);
    let is_nothing = files == 0 && !args.paths.allow_empty && verdict == Exit::Success;
    if !(is_nothing && format.is_for_people() && report.diagnostics.is_empty()) {
        cx.emit_formats(&args.format, |format, cx| {
            findings::print_report(cx, &report, format, &project.root, &mut sources)
        })?;
    }
    if is_nothing {
        return Err(findings::no_template(
            &selection.describe_places(&project),
            skipped,
        ));
    }
    // Not dropped, because the process ends here, as in `check`.
    std::mem::forget(report);
    finish(args, &output, state, verdict, cx)
}

/// Bytes at the head of a file that identify a registry.
const HEAD_BYTES: u64 = 256;

/// Returns an error if the output is a registry of a newer version or another kind of file.
fn check_output(output: &Path, is_check: bool) -> Result<()> {
    let Ok(Some(head)) = fs::read_head(output, HEAD_BYTES) else {
        return Ok(());
    };
    match read::declared_schema(&head) {
        Some(schema) if read::is_newer(schema) => {
            let newer = ReadError::Newer {
                found: schema.to_owned(),
            };
            Err(CliError::new(
                CliErrorKind::Infrastructure,
                format!("{}: {newer}", output.display()),
            ))
        }
        None if !is_check => overwrite::check_foreign_file(output, "registry"),
        Some(_) | None => Ok(()),
    }
}

/// Prints the last line and returns the exit.
fn finish(
    args: &BuildArgs,
    output: &Path,
    state: WriteOutcome,
    verdict: Exit,
    cx: &mut Cx,
) -> Result<Exit> {
    let near = fs::current_dir()
        .ok()
        .and_then(|here| output.strip_prefix(here).ok())
        .unwrap_or(output)
        .display();
    match state {
        WriteOutcome::Untouched if verdict == Exit::Success => {
            // A suppressed error is not fixed: the files of such findings have no entries in the
            // registry.
            cx.print_note("findings of error severity are suppressed; `check` ignores them, but a registry cannot be built with them");
            Ok(Exit::Findings)
        }
        WriteOutcome::Untouched => {
            if fs::exists(output) && !args.check {
                cx.print_note(&format!("{} is left as it was", output.display()));
            }
            Ok(verdict)
        }
        WriteOutcome::Current => {
            print_status(args, cx, &format!("{near} is up to date"))?;
            Ok(verdict)
        }
        WriteOutcome::Stale => {
            let state = if fs::exists(output) {
                "is out of date"
            } else {
                "does not exist"
            };
            print_status(args, cx, &format!("{near} {state}; `ctxc build` writes it"))?;
            Ok(Exit::Findings)
        }
        WriteOutcome::Written(bytes) => {
            print_status(
                args,
                cx,
                &format!("wrote {near} ({} bytes)", format_thousands(bytes as usize)),
            )?;
            Ok(verdict)
        }
        WriteOutcome::Failed(error) => Err(CliError::write_failed(output, &error)),
    }
}

/// Prints a line for people. In the formats for programs it becomes a note.
fn print_status(args: &BuildArgs, cx: &mut Cx, line: &str) -> Result<()> {
    if !args.format.result_format().is_for_people() {
        cx.print_note(line);
        return Ok(());
    }
    if cx.options.prints_notes() {
        cx.print_line(line)
    } else {
        Ok(())
    }
}
