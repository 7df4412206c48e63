//! `ctxc build [PATH…]`: writes the resolved, hashed registry, or reports every error that prevents
//! it.

use crate::base::fs;
use crate::cli::args::FormatArgs;
use crate::cli::findings;
use crate::cli::overwrite;
use crate::cli::prelude::*;
use crate::cli::selection::{Checked, Keep, Selection};
use crate::cli::suppress;
use crate::registry::build::{self, State};
use crate::registry::workspace::request::Goal;
use crate::registry::{ReadError, read};
use crate::rules::check::Identity;

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
    const fn goal(&self) -> build::Goal {
        if self.check {
            build::Goal::Compare
        } else {
            build::Goal::Write
        }
    }
}

/// Checks the templates, writes the registry, prints the report.
pub(crate) fn run(args: &BuildArgs, cx: &mut Cx) -> Result<Exit> {
    Cx::ensure_places(&args.format, None)?;
    let project = Project::load(&cx.options)?.tested().limited(&args.limits);
    let selection = Selection::new(&project.root, &args.paths)?;
    selection.note(&project, cx);
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| project.root.join("registry.json"));
    if args.output.is_none() {
        overwrite::refuse_links(&project.root, "registry.json")?;
    }
    refuse_others(&output, args.check)?;
    let recorded = suppress::load(&project.root)?;
    let format = args.format.resolve();
    // Formats for programs are complete, and suppressions are compared with all findings.
    let is_shown = format.is_for_people() && recorded.is_none();
    let keep = if is_shown {
        Keep {
            identity: Identity::Unwanted,
            least: cx.options.shown().least,
        }
    } else {
        Keep::ALL
    };
    // With errors in the project file, the correct registry is unknown.
    let goal = if project.is_broken() {
        Goal::Findings
    } else {
        Goal::Registry
    };
    let Checked {
        mut report,
        mut sources,
        registry,
        ..
    } = selection.check(&project, goal, keep, cx)?;
    let state = match registry {
        Some(bytes) if report.files > 0 || args.paths.allow_empty => {
            build::put(&output, &bytes, args.goal())
        }
        Some(_) | None => State::Untouched,
    };
    let files = report.files;
    let skipped = report.skipped;
    report.add(&project.findings);
    if let Some((text, known)) = recorded {
        suppress::apply(&mut report, &text, &known, |path| selection.holds(path));
    }
    let verdict = findings::verdict(&report);
    let is_nothing = files == 0 && !args.paths.allow_empty && verdict == Exit::Success;
    if !(is_nothing && format.is_for_people() && report.diagnostics.is_empty()) {
        cx.emit_formats(&args.format, |format, cx| {
            findings::print(cx, &report, format, &project.root, &mut sources)
        })?;
    }
    if is_nothing {
        return Err(findings::nothing(&selection.whereabouts(&project), skipped));
    }
    // Not dropped, because the process ends here, as in `check`.
    std::mem::forget(report);
    end(args, &output, state, verdict, cx)
}

/// Bytes at the head of a file that identify a registry.
const HEAD: u64 = 256;

/// Returns an error if the output is a registry of a newer version or another kind of file.
fn refuse_others(output: &Path, is_check: bool) -> Result<()> {
    let Ok(Some(head)) = fs::head(output, HEAD) else {
        return Ok(());
    };
    match read::declared(&head) {
        Some(schema) if read::is_newer(schema) => {
            let newer = ReadError::Newer {
                found: schema.to_owned(),
            };
            Err(CliError::new(
                Kind::Infrastructure,
                format!("{}: {newer}", output.display()),
            ))
        }
        _ if is_check => Ok(()),
        declared => overwrite::refuse_others(output, "registry", declared.is_some()),
    }
}

/// Prints the last line and returns the exit.
fn end(args: &BuildArgs, output: &Path, state: State, verdict: Exit, cx: &mut Cx) -> Result<Exit> {
    let near = fs::current_dir()
        .ok()
        .and_then(|here| output.strip_prefix(here).ok())
        .unwrap_or(output)
        .display();
    match state {
        State::Untouched if verdict == Exit::Success => {
            // A suppressed error is not fixed: the files of such findings have no entries in the
            // registry.
            cx.note("findings of error severity are suppressed; `check` ignores them, but a registry cannot be built with them");
            Ok(Exit::Findings)
        }
        State::Untouched => {
            if fs::exists(output) && !args.check {
                cx.note(&format!("{} is left as it was", output.display()));
            }
            Ok(verdict)
        }
        State::Current => {
            say(args, cx, &format!("{near} is up to date"))?;
            Ok(verdict)
        }
        State::Stale => {
            let state = if fs::exists(output) {
                "is out of date"
            } else {
                "does not exist"
            };
            say(args, cx, &format!("{near} {state}; `ctxc build` writes it"))?;
            Ok(Exit::Findings)
        }
        State::Written(bytes) => {
            say(
                args,
                cx,
                &format!("wrote {near} ({} bytes)", thousands(bytes as usize)),
            )?;
            Ok(verdict)
        }
        State::Failed(error) => Err(CliError::write(output, &error)),
    }
}

/// Prints a line for people. In the formats for programs it becomes a note.
fn say(args: &BuildArgs, cx: &mut Cx, line: &str) -> Result<()> {
    if !args.format.resolve().is_for_people() {
        cx.note(line);
        return Ok(());
    }
    if cx.options.is_chatty() {
        cx.line(line)
    } else {
        Ok(())
    }
}
