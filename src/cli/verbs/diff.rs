//! `ctxc diff OLD NEW`: the differences between two registries, text changes and resolved changes
//! apart.

use crate::base::fs;
use crate::cli::prelude::*;
use crate::cli::request;
use crate::registry::diff::{self, Diff, NameChanges, ResolvedChange, SettingCause};
use crate::registry::{ReadError, Registry};
use crate::rules::input::read_fault::describe_io_error;
use crate::template::setting::Word;
use std::io;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc diff registry.json registry.json\n  ctxc diff registry.json registry.json --json\n\n\
    Name a recording by `@NAME`, `@NAME#3`, or its file or folder; a file with the body of a request is one call. \
    A session of a coding agent (`@claude`, `@codex`, `@pi`, `@gemini`, a file) stands for its last call, which has no messages from before its last compaction, `@claude#3` for its third (in `compaction`, for its third compaction). \
    Calls are matched by content and compared segment by segment. A resolved change with cause `default` is a setting that changed although no text of its task did."
)]
pub(crate) struct DiffArgs {
    /// The old registry, recording or session
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new registry, recording or session
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// Advice for a file that is no registry.
const REGISTRY_HINT: &str = "`ctxc build` writes a registry; by default it is called registry.json";
/// The maximum size of a registry in bytes, enough for a million tasks.
const MAX_REGISTRY_BYTES: u64 = 8 << 30;

/// Prints the differences.
pub(crate) fn run_diff(args: &DiffArgs, cx: &mut Cx) -> Result<Exit> {
    if request::holds_request(&args.old) || request::holds_request(&args.new) {
        let subject = |path: &Path| path.to_string_lossy().into_owned();
        return request::recording_diff::diff_recordings(
            &subject(&args.old),
            &subject(&args.new),
            &args.output,
            cx,
        );
    }
    let old = read_registry(&args.old)?;
    let new = read_registry(&args.new)?;
    let diff =
        diff::compare_registries(&old, &new).map_err(|err| unusable_error(&args.new, &err))?;
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&diff),
        DataFormat::Text => print_diff(&diff, cx),
    })?;
    Ok(Exit::Success)
}

/// Reads a registry. A missing file is wrong usage, an unreadable one a finding, one of a newer
/// schema a system error.
pub(super) fn read_registry(path: &Path) -> Result<Registry> {
    let mut bytes = Vec::new();
    if let Err(err) = fs::read_into(path, MAX_REGISTRY_BYTES, &mut bytes) {
        let kind = if err.kind() == io::ErrorKind::NotFound {
            CliErrorKind::Usage
        } else {
            CliErrorKind::Findings
        };
        return Err(CliError::new(
            kind,
            format!(
                "{} cannot be read: {}",
                path.display(),
                describe_io_error(&err)
            ),
        )
        .with_hint(REGISTRY_HINT));
    }
    Registry::read(bytes).map_err(|err| unusable_error(path, &err))
}

fn unusable_error(path: &Path, err: &ReadError) -> CliError {
    let error = CliError::new(
        CliErrorKind::from(err),
        format!("{}: {err}", path.display()),
    );
    match err {
        ReadError::Other { .. } => error.with_hint(REGISTRY_HINT),
        // These messages need no hint.
        ReadError::NotText { .. }
        | ReadError::Damaged { .. }
        | ReadError::Newer { .. }
        | ReadError::Twice { .. }
        | ReadError::TooDeep { .. } => error,
    }
}

pub(in crate::cli) fn print_diff(diff: &Diff, cx: &mut Cx) -> Result<()> {
    if diff.is_empty() {
        return cx.print_line("the registries are equal");
    }
    print_names(cx, "added", "task", &diff.added)?;
    print_names(cx, "removed", "task", &diff.removed)?;
    if !diff.text.is_empty() {
        print_heading(
            cx,
            &format!("{} with changed text", pluralize(diff.text.len(), "task")),
        )?;
        for change in &diff.text {
            cx.print_line(&format!(
                "  {}  {}",
                escape_line(&change.task),
                escape_line(&change.path)
            ))?;
        }
    }
    print_resolved(
        cx,
        "with another value because the text changed",
        &diff.resolved,
        SettingCause::Text,
    )?;
    print_resolved(
        cx,
        "with another value because a default moved",
        &diff.resolved,
        SettingCause::Default,
    )?;
    print_names(
        cx,
        "changed through something they refer to",
        "task",
        &diff.referenced,
    )?;
    for (
        kind,
        NameChanges {
            added,
            removed,
            changed,
        },
    ) in [("template", &diff.templates), ("fragment", &diff.fragments)]
    {
        print_names(cx, "added", kind, added)?;
        print_names(cx, "removed", kind, removed)?;
        print_names(cx, "changed", kind, changed)?;
    }
    Ok(())
}

fn print_heading(cx: &mut Cx, text: &str) -> Result<()> {
    let text = cx.options.screen.paint(Paint::Strong, text);
    cx.print_line(&text)
}

fn print_names(cx: &mut Cx, what: &str, kind: &str, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    print_heading(cx, &format!("{} {what}", pluralize(names.len(), kind)))?;
    for name in names {
        cx.print_line(&format!("  {}", escape_line(name)))?;
    }
    Ok(())
}

fn print_resolved(
    cx: &mut Cx,
    what: &str,
    changes: &[ResolvedChange],
    cause: SettingCause,
) -> Result<()> {
    let changes: Vec<_> = changes
        .iter()
        .filter(|change| change.cause == cause)
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    print_heading(
        cx,
        &format!("{} {what}", pluralize(changes.len(), "setting")),
    )?;
    for change in changes {
        let node = if change.node == "/" { "" } else { &change.node };
        let from = change.from.as_str();
        let to = change.to.as_str();
        cx.print_line(&format!(
            "  {}{}.{}  {from} → {to}",
            escape_line(&change.task),
            escape_line(node),
            change.setting.word()
        ))?;
    }
    Ok(())
}
