//! `ctxc fmt`: files laid out, or what laying them out would change.

use super::args::{LimitArgs, PathArgs};
use super::cx::Cx;
use super::error::{CliError, Kind, Result};
use super::exit::Exit;
use super::findings;
use super::project::Project;
use super::put::{self, Change, Written};
use super::render::escape::escape;
use super::render::summary::plural;
use super::selection::no_such_path;
use crate::base::fs;
use crate::base::source::LineIndex;
use crate::format::{Broken, format};
use crate::registry::inspect::{self, Selected};
use crate::rules::input::read_fault::reason;
use crate::syntax::decode;
use clap::Args;
use std::io::Read;
use std::path::Path;

/// Lay templates out: white space between elements and inside tags, and the order of settings
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc fmt\n  ctxc fmt --check\n  ctxc fmt templates/triage.xml --diff\n  \
    cat templates/triage.xml | ctxc fmt -\n\n\
    Texts for the agent, comments and the order of attributes stay; so does every hash of the registry. Between\n\
    `<?ctxc fmt off?>` and `<?ctxc fmt on?>` everything stays. `[fmt]` in ctxc.toml has `width` and `indent`.\n\n\
    Exit codes: 0 laid out, 1 something would change with --check or --diff, or a file is not well-formed, 2 wrong\n\
    usage or project file, 3 a file cannot be read or written, 5 no template found.")]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Write nothing; name the files that would change, and exit 1 when there are any
    #[arg(long, conflicts_with = "diff")]
    check: bool,
    /// Write nothing; show what would change, and exit 1 when anything would
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// What came of the files.
#[derive(Default)]
struct Done {
    changed: usize,
    unchanged: usize,
    /// Left alone since they are not well-formed.
    broken: usize,
    skipped: usize,
}

/// Lays out, writes, says what was done.
pub(crate) fn run(args: &FmtArgs, cx: &mut Cx) -> Result<Exit> {
    let mut project = Project::load(&cx.options)?.sound()?;
    project.config.limits = args.limits.resolve(&project.config.limits);
    if args.paths.paths.iter().any(|path| path == Path::new("-")) {
        return stdin(args, &project, cx);
    }
    let files = inspect::selected(&project.root, &project.config, &args.paths.paths).map_err(|path| no_such_path(&path))?;
    let mut done = Done::default();
    for file in &files {
        one(file, args, &project, &mut done, cx)?;
    }
    if done.changed + done.unchanged + done.broken == 0 && !args.paths.allow_empty {
        return Err(findings::nothing("the paths that were given", done.skipped));
    }
    let verb = if args.check || args.diff { "would format" } else { "formatted" };
    let broken = if done.broken == 0 {
        String::new()
    } else {
        format!("; {} left as it was, not well-formed", plural(done.broken, "file"))
    };
    cx.note(&format!("{verb} {}, {} unchanged{broken}", plural(done.changed, "file"), done.unchanged));
    let would_change = done.changed > 0 && (args.check || args.diff);
    Ok(if would_change || done.broken > 0 { Exit::Findings } else { Exit::Success })
}

fn one(file: &Selected, args: &FmtArgs, project: &Project, done: &mut Done, cx: &mut Cx) -> Result<()> {
    let mut before = Vec::new();
    fs::read_into(&file.path, project.config.limits.file, &mut before)
        .map_err(|err| CliError::new(Kind::Infrastructure, format!("{} cannot be read: {}", file.name, reason(&err))))?;
    let Some(after) = laid_out(&file.name, file.named, &before, project, done, cx) else { return Ok(()) };
    if after == before {
        done.unchanged += 1;
        return Ok(());
    }
    done.changed += 1;
    let change = Change { name: &file.name, path: &file.path, before: &before, after: &after };
    match (args.check, args.diff) {
        (true, _) => cx.line(&escape(&file.name)),
        (_, true) => put::diff(&change, cx),
        (false, false) => match put::write(&change)? {
            Written::Yes => Ok(()),
            Written::Overtaken => Err(CliError::new(
                Kind::Infrastructure,
                format!("{} was changed by somebody else while it was being laid out", escape(&file.name)),
            )
            .hint("it is as they left it; run `ctxc fmt` again")),
        },
    }
}

/// The bytes of a file laid out, in its own encoding; `None` where it is left alone.
fn laid_out(name: &str, named: bool, before: &[u8], project: &Project, done: &mut Done, cx: &mut Cx) -> Option<Vec<u8>> {
    let broken = |cx: &mut Cx, done: &mut Done, why: &str| {
        done.broken += 1;
        cx.note(&format!("{}: left as it is: {why}", escape(name)));
    };
    let text = match decode::decode(before) {
        Ok(text) => text,
        Err(fault) => {
            broken(cx, done, &fault.to_string());
            return None;
        }
    };
    match format(&text, &project.config.limits, project.config.format) {
        Ok(after) => Some(decode::encode_like(&after, before)),
        Err(Broken::Foreign) if !named => {
            done.skipped += 1;
            None
        }
        Err(error @ Broken::Foreign) => {
            broken(cx, done, &error.to_string());
            None
        }
        Err(error @ Broken::Syntax(span)) => {
            let at = LineIndex::new(&text).position(&text, span.start);
            broken(cx, done, &format!("{error} (line {}, column {}); `ctxc check` says what to do", at.line, at.column));
            None
        }
    }
}

fn stdin(args: &FmtArgs, project: &Project, cx: &mut Cx) -> Result<Exit> {
    if args.paths.paths.len() > 1 {
        return Err(CliError::usage("`-` (standard input) stands together with other paths")
            .hint("lay standard input out by itself: `ctxc fmt -`"));
    }
    let mut before = Vec::new();
    let limit = project.config.limits.file;
    std::io::stdin()
        .lock()
        .take(limit.saturating_add(1))
        .read_to_end(&mut before)
        .map_err(|err| CliError::new(Kind::Infrastructure, format!("standard input cannot be read: {}", reason(&err))))?;
    let mut done = Done::default();
    let name = args.paths.stdin_path.clone();
    let after = laid_out(&name, true, &before, project, &mut done, cx);
    let changes = after.as_ref().is_some_and(|after| *after != before);
    let after = after.unwrap_or_else(|| before.clone());
    match (args.check, args.diff) {
        (true, _) => {}
        (_, true) => put::diff(&Change { name: &name, path: Path::new(&name), before: &before, after: &after }, cx)?,
        (false, false) => cx.print(|out| out.write_all(&after))?,
    }
    let failed = done.broken > 0 || (changes && (args.check || args.diff));
    Ok(if failed { Exit::Findings } else { Exit::Success })
}
