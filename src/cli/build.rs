//! `ctxc build [PATH…]`: the resolved, hashed registry, or every reason why there is none.

use super::args::{FindingFormat, FindingFormatArgs, LimitArgs, PathArgs};
use super::cx::Cx;
use super::error::{CliError, Kind, Result};
use super::exit::Exit;
use super::findings;
use super::project::Project;
use super::render::summary::thousands;
use super::selection::{Checked, Selection};
use super::suppress;
use crate::base::fs;
use crate::registry::survey::Goal;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};

/// Held while a registry is built.
const LOCK: &str = ".ctxc/build.lock";

/// Build the registry: every task with its settings resolved, so that nothing is resolved at run time
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc build\n  ctxc build --check\n  ctxc build templates -o built.json\n\n\
    With an error anywhere no registry is written, and the one that was there stays.")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Where the registry goes [default: registry.json in the project's folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing; exit 1 when the registry on disk is out of date
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: FindingFormatArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Builds, reports, writes.
pub(crate) fn run(args: &BuildArgs, cx: &mut Cx) -> Result<Exit> {
    let mut project = Project::load(&cx.options)?;
    project.config.limits = args.limits.resolve(&project.config.limits);
    let selection = Selection::new(&project.root, &args.paths)?;
    let _lock = if args.check { None } else { lock(&project.root)? };
    let Checked { mut report, mut sources, registry } = selection.check(&project, Goal::Registry, cx)?;
    let (files, skipped) = (report.files, report.skipped);
    report.add(&project.findings);
    if let Some((text, known)) = suppress::load(&project.root)? {
        suppress::apply(&mut report, &text, &known, |path| selection.holds(path));
    }
    findings::print(cx, &report, args.format.resolve(), &mut sources)?;
    let output = args.output.clone().unwrap_or_else(|| project.root.join("registry.json"));
    let verdict = findings::verdict(&report);
    let (Exit::Success, Some(bytes)) = (verdict, registry) else {
        if verdict == Exit::Success {
            // Suppressed is not mended: the files of those findings have no entries.
            cx.note("findings of error severity are suppressed; `check` passes over them, a registry cannot be built with them");
            return Ok(Exit::Findings);
        }
        if fs::exists(&output) && !args.check {
            cx.note(&format!("{} is left as it was", output.display()));
        }
        return Ok(verdict);
    };
    if files == 0 && !args.paths.allow_empty {
        return Err(findings::nothing(&selection.whereabouts(), skipped));
    }
    let current = is_current(&output, &bytes)?;
    let near = fs::current_dir().ok().and_then(|here| output.strip_prefix(here).ok()).unwrap_or(&output);
    let shown = near.display();
    if current {
        say(args, cx, &format!("{shown} is up to date"))?;
        return Ok(Exit::Success);
    }
    if args.check {
        let state = if fs::exists(&output) { "is out of date" } else { "does not exist" };
        say(args, cx, &format!("{shown} {state}; `ctxc build` writes it"))?;
        return Ok(Exit::Findings);
    }
    fs::write_atomic(&output, &bytes).map_err(|err| CliError::write(&output, &err))?;
    say(args, cx, &format!("wrote {shown} ({} bytes)", thousands(bytes.len())))?;
    Ok(Exit::Success)
}

/// One build of a project at a time. A folder that takes no lock takes no registry either, which is said when it is written;
/// with `-o` elsewhere there is nothing to share.
fn lock(root: &Path) -> Result<Option<fs::Lock>> {
    match fs::try_lock(&root.join(LOCK)) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(CliError::new(Kind::Infrastructure, "another `ctxc build` is at work in this project")
            .hint("wait until it is done, then run this one again; `ctxc check` needs no lock")),
        Err(_) => Ok(None),
    }
}

/// A line for people; formats for programs stay what they are.
fn say(args: &BuildArgs, cx: &mut Cx, line: &str) -> Result<()> {
    match args.format.resolve() {
        FindingFormat::Full | FindingFormat::Concise if cx.options.is_chatty() => cx.line(line),
        FindingFormat::Full | FindingFormat::Concise => Ok(()),
        FindingFormat::Json | FindingFormat::Jsonl => {
            cx.note(line);
            Ok(())
        }
    }
}

/// Whether the file holds exactly these bytes.
fn is_current(path: &Path, bytes: &[u8]) -> Result<bool> {
    if !fs::is_file(path) && !fs::is_dir(path) {
        // Nothing there yet, or a pipe, which nobody could compare with.
        return Ok(false);
    }
    let mut old = Vec::new();
    match fs::read_into(path, bytes.len() as u64, &mut old) {
        Ok(_) => Ok(old == bytes),
        Err(err) if err.kind() == io::ErrorKind::IsADirectory => Err(CliError::write(path, &err)),
        // Missing, larger, or not to be read: it is not what it should be, and writing says the rest.
        Err(_) => Ok(false),
    }
}
