//! `ctxc fmt`: formats templates in place, shows a diff, or only checks them.

use crate::base::source::LineIndex;
use crate::cli::findings;
use crate::cli::prelude::*;
use crate::cli::rewrite::{self, Change, Written};
use crate::cli::selection::{Selection, no_such_path, stdin_of};
use crate::format::{Broken, format};
use crate::project::config::Config;
use crate::registry::compile::Chosen;
use crate::registry::workspace::files::{self, File, Where};
use crate::rules::input::read_fault::reason;
use crate::syntax::decode;
use std::borrow::Cow;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc fmt\n  ctxc fmt --check\n  ctxc fmt templates/triage.xml --diff\n  \
    cat templates/triage.xml | ctxc fmt -\n\n\
    Texts, comments, the order of attributes and the registry's hashes stay as they are. Width and indentation are set in \
    `[fmt]` of ctxc.toml; `<?ctxc fmt off?>` … `<?ctxc fmt on?>` leaves a part unformatted.\n\n\
    Exit codes: 0 all formatted, 1 a file was left alone, or would change with --check or --diff, 2 wrong usage or project \
    file, 3 a file cannot be written, 5 no template found."
)]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Write nothing, list the files that would change; exit 1 if there are any
    #[arg(long)]
    check: bool,
    /// Write nothing, show what would change; exit 1 if anything would
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The outcome for a file.
#[derive(Debug)]
enum Disposition {
    /// The file is already formatted.
    Laid,
    /// The file was changed, or would be: its bytes before and after, if they are shown.
    Changed(Option<(Vec<u8>, Vec<u8>)>),
    /// The file was left alone, with the reason.
    Left(String),
    /// The file could not be written.
    Failed(CliError),
}

/// Formats the files and prints the changes.
pub(crate) fn run(args: &FmtArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?
        .without_errors()?
        .limited(&args.limits);
    let selection = Selection::new(&project.root, &args.paths)?;
    selection.note(&project, cx);
    if let Some(name) = selection.stdin() {
        return stdin(args, name, &stdin_of(&project)?, &project.config, cx);
    }
    let place = Where {
        root: &project.root,
        config: &project.config,
        given: &args.paths.paths,
        threads: cx.options.threads,
    };
    let take = |file: &File<'_>| fate(args, file, &project.config);
    let fates = files::each(place, &take).map_err(|missing| no_such_path(&missing.0))?;
    if fates.is_empty() && !args.paths.allow_empty {
        return Err(findings::nothing(&selection.whereabouts(&project), 0));
    }
    report(args, fates, cx)
}

/// Formats one file, on any thread. `None` for a found file that is no template.
fn fate(args: &FmtArgs, file: &File<'_>, config: &Config) -> Option<Disposition> {
    let before = match &file.bytes {
        Ok(bytes) => *bytes,
        Err(error) => {
            return Some(Disposition::Left(format!(
                "cannot be read: {}",
                reason(error)
            )));
        }
    };
    let after = match laid_out(before, config) {
        Ok(after) => after,
        Err(Left::Foreign) if file.chosen == Chosen::Found => return None,
        Err(left) => return Some(Disposition::Left(left.words())),
    };
    let Some(after) = after else {
        return Some(Disposition::Laid);
    };
    if args.diff {
        return Some(Disposition::Changed(Some((before.to_vec(), after))));
    }
    if args.check {
        return Some(Disposition::Changed(None));
    }
    Some(
        match rewrite::write(&Change {
            name: file.name,
            path: file.path,
            before,
            after: &after,
        }) {
            Ok(Written::Yes) => Disposition::Changed(None),
            Ok(Written::Overtaken) => {
                Disposition::Left("somebody else changed it meanwhile".to_owned())
            }
            Err(error) => Disposition::Failed(error),
        },
    )
}

/// The reason why a file is left alone.
enum Left {
    Foreign,
    /// The line and column of the first syntax error.
    Broken(u32, u32),
    NoText(String),
}

impl Left {
    fn words(&self) -> String {
        match self {
            Self::Foreign => {
                "it is not a template: its root is not task, template or library".to_owned()
            }
            Self::Broken(line, column) => {
                format!("it has a syntax error at {line}:{column}; `ctxc check` says which")
            }
            Self::NoText(fault) => format!("it is not text: {fault}"),
        }
    }
}

/// Returns the formatted bytes of a template; `None` if it is already formatted.
fn laid_out(before: &[u8], config: &Config) -> std::result::Result<Option<Vec<u8>>, Left> {
    let text: Cow<'_, str> =
        decode::decode(before).map_err(|fault| Left::NoText(fault.to_string()))?;
    match format(&text, &config.limits, config.format) {
        Ok(after) => Ok((after != *text).then(|| decode::encode_like(&after, before))),
        Err(Broken::Foreign) => Err(Left::Foreign),
        Err(Broken::Syntax(span)) => {
            let at = LineIndex::new(&text).position(&text, span.start);
            Err(Left::Broken(at.line, at.column))
        }
    }
}

/// Formats standard input to standard output. A text that cannot be formatted is printed unchanged,
/// so that nothing is lost.
fn stdin(args: &FmtArgs, name: &str, input: &[u8], config: &Config, cx: &mut Cx) -> Result<Exit> {
    let (after, exit) = match laid_out(input, config) {
        Ok(None) => (input.to_vec(), Exit::Success),
        Ok(Some(after)) => (
            after,
            if args.check || args.diff {
                Exit::Findings
            } else {
                Exit::Success
            },
        ),
        Err(left) => {
            cx.note(&format!("{}: left alone: {}", escape(name), left.words()));
            (input.to_vec(), Exit::Findings)
        }
    };
    if args.diff {
        rewrite::diff(
            &Change {
                name,
                path: Path::new(name),
                before: input,
                after: &after,
            },
            cx,
        )?;
    } else if !args.check {
        cx.print(|out| out.write_all(&after))?;
    }
    Ok(exit)
}

fn report(args: &FmtArgs, fates: Vec<(String, Disposition)>, cx: &mut Cx) -> Result<Exit> {
    let mut laid = 0;
    let mut changed = 0;
    let mut left = 0;
    let dry = args.check || args.diff;
    let mut failed = Vec::new();
    for (name, fate) in fates {
        match fate {
            Disposition::Laid => laid += 1,
            Disposition::Changed(shown) => {
                changed += 1;
                match shown {
                    Some((before, after)) => {
                        rewrite::diff(
                            &Change {
                                name: &name,
                                path: Path::new(&name),
                                before: &before,
                                after: &after,
                            },
                            cx,
                        )?;
                    }
                    None => cx.line(&format!(
                        "{} {}",
                        if dry { "would format" } else { "formatted" },
                        escape(&name)
                    ))?,
                }
            }
            Disposition::Left(why) => {
                left += 1;
                cx.note(&format!("{}: left alone: {}", escape(&name), escape(&why)));
            }
            Disposition::Failed(error) => failed.push(error),
        }
    }
    let others = if left > 0 {
        format!(", {} left alone", plural(left, "file"))
    } else {
        String::new()
    };
    let doing = if dry { "would change" } else { "formatted" };
    let closing = format!(
        "{doing} {}, {laid} laid out already{others}",
        plural(changed, "file")
    );
    if args.diff {
        cx.note(&closing);
    } else if cx.options.is_chatty() {
        let paint = if left > 0 || (dry && changed > 0) {
            Paint::Warning
        } else {
            Paint::Good
        };
        let line = cx.options.screen.paint(paint, &closing);
        cx.line(&line)?;
    }
    if let Some(error) = CliError::all(failed) {
        return Err(error);
    }
    Ok(if left > 0 || (dry && changed > 0) {
        Exit::Findings
    } else {
        Exit::Success
    })
}
