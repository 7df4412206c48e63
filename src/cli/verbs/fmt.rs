//! `ctxc fmt`: formats templates in place, shows a diff, or only checks them.

use crate::base::source::LineIndex;
use crate::cli::findings;
use crate::cli::prelude::*;
use crate::cli::rewrite::{self, FileChange, RewriteOutcome};
use crate::cli::selection::{TemplateSelection, no_such_path, read_all_stdin};
use crate::format::{FormatError, format};
use crate::project::config::Config;
use crate::registry::compile::CompileReason;
use crate::registry::workspace::files::{self, FileSelection, SelectedFile};
use crate::rules::input::read_fault::describe_io_error;
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
    /// Write nothing, show the changes that formatting would make; exit 1 if there are any
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The outcome for a file.
#[derive(Debug)]
enum FormatOutcome {
    /// The file is already formatted.
    Unchanged,
    /// The file was changed, or would be: its bytes before and after, if they are shown.
    Changed(Option<(Vec<u8>, Vec<u8>)>),
    /// The file was left alone, with the reason.
    Left(String),
    /// The file could not be written.
    Failed(CliError),
}

/// Formats the files and prints the changes.
pub(crate) fn run_fmt(args: &FmtArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?
        .require_no_errors()?
        .with_limits(&args.limits);
    let selection = TemplateSelection::new(&project.root, &args.paths)?;
    if selection.is_all() {
        project.require_project()?;
    }
    selection.note_missing_project(&project, cx);
    if let Some(name) = selection.stdin() {
        return format_stdin(args, name, &read_all_stdin(&project)?, &project.config, cx);
    }
    let place = FileSelection {
        root: &project.root,
        config: &project.config,
        given: &args.paths.paths,
        threads: cx.options.threads,
    };
    let take = |file: &SelectedFile<'_>| format_file(args, file, &project.config);
    let outcomes = files::map_files(place, &take).map_err(|missing| no_such_path(&missing.0))?;
    if outcomes.is_empty() && !args.paths.allow_empty {
        return Err(findings::no_template(
            &selection.describe_places(&project),
            0,
        ));
    }
    print_outcomes(args, outcomes, cx)
}

/// Formats one file, on any thread. `None` for a found file that is no template.
fn format_file(args: &FmtArgs, file: &SelectedFile<'_>, config: &Config) -> Option<FormatOutcome> {
    let before = match &file.bytes {
        Ok(bytes) => *bytes,
        Err(error) => {
            return Some(FormatOutcome::Left(format!(
                "cannot be read: {}",
                describe_io_error(error)
            )));
        }
    };
    let after = match format_bytes(before, config) {
        Ok(after) => after,
        Err(FormatRefusal::Foreign) if file.chosen == CompileReason::Found => return None,
        Err(left) => return Some(FormatOutcome::Left(left.describe())),
    };
    let Some(after) = after else {
        return Some(FormatOutcome::Unchanged);
    };
    if args.diff {
        return Some(FormatOutcome::Changed(Some((before.to_vec(), after))));
    }
    if args.check {
        return Some(FormatOutcome::Changed(None));
    }
    Some(
        match rewrite::write_change(&FileChange {
            name: file.name,
            path: file.path,
            before,
            after: &after,
        }) {
            Ok(RewriteOutcome::Done) => FormatOutcome::Changed(None),
            Ok(RewriteOutcome::Overtaken) => {
                FormatOutcome::Left("somebody else changed it meanwhile".to_owned())
            }
            Err(error) => FormatOutcome::Failed(error),
        },
    )
}

/// The reason why a file is left alone.
enum FormatRefusal {
    Foreign,
    /// The line and column of the first syntax error.
    Broken(u32, u32),
    NoText(String),
}

impl FormatRefusal {
    fn describe(&self) -> String {
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
fn format_bytes(
    before: &[u8],
    config: &Config,
) -> std::result::Result<Option<Vec<u8>>, FormatRefusal> {
    let text: Cow<'_, str> =
        decode::decode(before).map_err(|fault| FormatRefusal::NoText(fault.to_string()))?;
    match format(&text, &config.limits, config.format) {
        Ok(after) => Ok((after != *text).then(|| decode::encode_like(&after, before))),
        Err(FormatError::Foreign) => Err(FormatRefusal::Foreign),
        Err(FormatError::Syntax(span)) => {
            let at = LineIndex::new(&text).position(&text, span.start);
            Err(FormatRefusal::Broken(at.line, at.column))
        }
    }
}

/// Formats standard input to standard output. A text that cannot be formatted is printed unchanged,
/// so that nothing is lost.
fn format_stdin(
    args: &FmtArgs,
    name: &str,
    input: &[u8],
    config: &Config,
    cx: &mut Cx,
) -> Result<Exit> {
    let (after, exit) = match format_bytes(input, config) {
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
            cx.print_note(&format!(
                "{}: left alone: {}",
                escape_line(name),
                left.describe()
            ));
            (input.to_vec(), Exit::Findings)
        }
    };
    if args.diff {
        rewrite::print_diff(
            &FileChange {
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

fn print_outcomes(
    args: &FmtArgs,
    outcomes: Vec<(String, FormatOutcome)>,
    cx: &mut Cx,
) -> Result<Exit> {
    let mut unchanged = 0;
    let mut changed = 0;
    let mut left_alone = 0;
    let is_preview = args.check || args.diff;
    let mut failed = Vec::new();
    for (name, outcome) in outcomes {
        match outcome {
            FormatOutcome::Unchanged => unchanged += 1,
            FormatOutcome::Changed(shown) => {
                changed += 1;
                match shown {
                    Some((before, after)) => {
                        rewrite::print_diff(
                            &FileChange {
                                name: &name,
                                path: Path::new(&name),
                                before: &before,
                                after: &after,
                            },
                            cx,
                        )?;
                    }
                    None => cx.print_line(&format!(
                        "{} {}",
                        if is_preview {
                            "would format"
                        } else {
                            "formatted"
                        },
                        escape_line(&name)
                    ))?,
                }
            }
            FormatOutcome::Left(why) => {
                left_alone += 1;
                cx.print_note(&format!(
                    "{}: left alone: {}",
                    escape_line(&name),
                    escape_line(&why)
                ));
            }
            FormatOutcome::Failed(error) => failed.push(error),
        }
    }
    let others = if left_alone > 0 {
        format!(", {} left alone", pluralize(left_alone, "file"))
    } else {
        String::new()
    };
    let doing = if is_preview {
        "would change"
    } else {
        "formatted"
    };
    let closing = format!(
        "{doing} {}, {unchanged} laid out already{others}",
        pluralize(changed, "file")
    );
    if args.diff {
        cx.print_note(&closing);
    } else if cx.options.prints_notes() {
        let paint = if left_alone > 0 || (is_preview && changed > 0) {
            Paint::Warning
        } else {
            Paint::Good
        };
        let line = cx.options.screen.paint(paint, &closing);
        cx.print_line(&line)?;
    }
    if let Some(error) = CliError::combine(failed) {
        return Err(error);
    }
    Ok(if left_alone > 0 || (is_preview && changed > 0) {
        Exit::Findings
    } else {
        Exit::Success
    })
}
