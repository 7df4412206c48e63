//! `ctxc diff OLD NEW`: the differences between two registries, text changes and resolved changes
//! apart.

use crate::base::fs;
use crate::cli::prelude::*;
use crate::cli::request;
use crate::registry::diff::{self, Cause, Diff, Names, ResolvedChange};
use crate::registry::{ReadError, Registry};
use crate::rules::input::read_fault::reason;
use crate::template::setting::Word;
use std::io;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc diff registry.json registry.json\n  ctxc diff registry.json registry.json --json\n\n\
    Name a recording by `@NAME`, `@NAME#3`, or its file or folder; a file with the body of a request is one call. \
    Calls are matched by content and compared segment by segment. A resolved change with cause `default` is a setting that changed although no text of its task did."
)]
pub(crate) struct DiffArgs {
    /// The old registry or recording
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new registry or recording
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// Advice for a file that is no registry.
const WHENCE: &str = "`ctxc build` writes a registry; by default it is called registry.json";
/// The maximum size of a registry in bytes, enough for a million tasks.
const LIMIT: u64 = 8 << 30;

/// Prints the differences.
pub(crate) fn run(args: &DiffArgs, cx: &mut Cx) -> Result<Exit> {
    if request::holds_request(&args.old) || request::holds_request(&args.new) {
        let subject = |path: &Path| path.to_string_lossy().into_owned();
        return request::recording_diff::run(
            &subject(&args.old),
            &subject(&args.new),
            &args.output,
            cx,
        );
    }
    let old = read(&args.old)?;
    let new = read(&args.new)?;
    let diff = diff::diff(&old, &new).map_err(|err| unusable(&args.new, &err))?;
    cx.emit(&args.output, |format, cx| match format {
        DataFormat::Json => cx.json(&diff),
        DataFormat::Text => text(&diff, cx),
    })?;
    Ok(Exit::Success)
}

/// Reads a registry. A missing file is wrong usage, an unreadable one a finding, one of a newer
/// schema a system error.
pub(super) fn read(path: &Path) -> Result<Registry> {
    let mut bytes = Vec::new();
    if let Err(err) = fs::read_into(path, LIMIT, &mut bytes) {
        let kind = if err.kind() == io::ErrorKind::NotFound {
            Kind::Usage
        } else {
            Kind::Findings
        };
        return Err(CliError::new(
            kind,
            format!("{} cannot be read: {}", path.display(), reason(&err)),
        )
        .hint(WHENCE));
    }
    Registry::read(bytes).map_err(|err| unusable(path, &err))
}

fn unusable(path: &Path, err: &ReadError) -> CliError {
    let error = CliError::new(Kind::from(err), format!("{}: {err}", path.display()));
    match err {
        ReadError::Other { .. } => error.hint(WHENCE),
        // These messages need no hint.
        ReadError::NotText { .. }
        | ReadError::Damaged { .. }
        | ReadError::Newer { .. }
        | ReadError::Twice { .. }
        | ReadError::TooDeep { .. } => error,
    }
}

fn text(diff: &Diff, cx: &mut Cx) -> Result<()> {
    if diff.is_empty() {
        return cx.line("the registries are equal");
    }
    names(cx, "added", "task", &diff.added)?;
    names(cx, "removed", "task", &diff.removed)?;
    if !diff.text.is_empty() {
        heading(
            cx,
            &format!("{} with changed text", plural(diff.text.len(), "task")),
        )?;
        for change in &diff.text {
            cx.line(&format!(
                "  {}  {}",
                escape(&change.task),
                escape(&change.path)
            ))?;
        }
    }
    resolved(
        cx,
        "with another value because the text changed",
        &diff.resolved,
        Cause::Text,
    )?;
    resolved(
        cx,
        "with another value because a default moved",
        &diff.resolved,
        Cause::Default,
    )?;
    names(
        cx,
        "changed through something they refer to",
        "task",
        &diff.referenced,
    )?;
    for (
        kind,
        Names {
            added,
            removed,
            changed,
        },
    ) in [("template", &diff.templates), ("fragment", &diff.fragments)]
    {
        names(cx, "added", kind, added)?;
        names(cx, "removed", kind, removed)?;
        names(cx, "changed", kind, changed)?;
    }
    Ok(())
}

fn heading(cx: &mut Cx, text: &str) -> Result<()> {
    let text = cx.options.screen.paint(Paint::Strong, text);
    cx.line(&text)
}

fn names(cx: &mut Cx, what: &str, kind: &str, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    heading(cx, &format!("{} {what}", plural(names.len(), kind)))?;
    for name in names {
        cx.line(&format!("  {}", escape(name)))?;
    }
    Ok(())
}

fn resolved(cx: &mut Cx, what: &str, changes: &[ResolvedChange], cause: Cause) -> Result<()> {
    let changes: Vec<_> = changes
        .iter()
        .filter(|change| change.cause == cause)
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    heading(cx, &format!("{} {what}", plural(changes.len(), "setting")))?;
    for change in changes {
        let node = if change.node == "/" { "" } else { &change.node };
        let from = change.from.word();
        let to = change.to.word();
        cx.line(&format!(
            "  {}{}.{}  {from} → {to}",
            escape(&change.task),
            escape(node),
            change.setting.word()
        ))?;
    }
    Ok(())
}
