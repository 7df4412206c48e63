//! Reasons why a package is not packed: hidden text, and values that masks would replace. Also
//! describes its recorded answers.

use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::eval::compile_masks;
use crate::package::release::find_hidden_text;
use crate::package::{PackedFile, is_recording};
use crate::project::config::RecordedContent;
use crate::record::file::RecordingFile;
use crate::record::mask::CallMask;
use crate::record::recording::Recording;
use crate::store::secret;
use std::collections::BTreeSet;

/// The two ways out of hidden text.
pub(super) const HIDDEN_TEXT_HINT: &str = "remove it; or, if the package needs it, pack it with `--allow-hidden REASON`, which the package states. A text that `check` reads needs `hidden-text = \"off\"` in `[lints]`, too: otherwise the package's check and scenarios fail wherever it is verified";

/// Returns an error for characters that a model reads and no editor displays.
pub(super) fn check_hidden_text(files: &[PackedFile], reason: Option<&str>) -> Result<()> {
    if reason.is_some_and(|reason| reason.trim().is_empty()) {
        return Err(CliError::usage("--allow-hidden is empty")
            .with_hint("say in a few words why the package may have hidden characters"));
    }
    match find_hidden_text(files) {
        Some(place) if reason.is_none() => Err(CliError::new(
            CliErrorKind::Findings,
            format!("{place}: models read this character, and no editor displays it"),
        )
        .with_hint(HIDDEN_TEXT_HINT)),
        _ => Ok(()),
    }
}

/// Returns an error if a recording holds a value that the masks of the project would replace.
pub(super) fn check_masks(files: &[PackedFile], project: &CompiledProject) -> Result<()> {
    let mask = CallMask::new(
        secret::stored_secret().unwrap_or_default(),
        project.known_secrets(),
        RecordedContent::Redacted,
    )
    .with_patterns(&compile_masks(&project.config.record.mask));
    for file in recordings(files) {
        let unmasked = read_calls(file)?.into_iter().find(|(_, call)| {
            let text = |call: &Recording| serde_json::to_string(call).ok();
            let mut masked = mask.mask_call(call.clone());
            masked.redacted.clone_from(&call.redacted);
            text(&masked) != text(call)
        });
        if let Some((line, _)) = unmasked {
            return Err(CliError::new(
                CliErrorKind::Findings,
                format!(
                    "{}:{line}: the masks of this project would replace a value here",
                    file.path
                ),
            )
            .with_hint("`ctxc eval --record` records the answer anew, with its masks"));
        }
    }
    Ok(())
}

/// Describes the recorded answers, a line for each file.
pub(super) fn describe_recordings(files: &[PackedFile]) -> Result<String> {
    let mut lines = vec!["recorded answers in the package:".to_owned()];
    for file in recordings(files) {
        let calls = read_calls(file)?;
        let models: BTreeSet<&str> = calls.iter().map(|(_, call)| call.model.as_str()).collect();
        let masked: usize = calls.iter().map(|(_, call)| call.redacted.len()).sum();
        lines.push(format!(
            "  {}  {} of {}, {} bytes, {} masked",
            escape_line(&file.path),
            pluralize(calls.len(), "call"),
            escape_line(&models.into_iter().collect::<Vec<_>>().join(", ")),
            format_thousands(file.bytes.len()),
            pluralize(masked, "value")
        ));
    }
    Ok(lines.join("\n"))
}

fn recordings(files: &[PackedFile]) -> impl Iterator<Item = &PackedFile> {
    files.iter().filter(|file| is_recording(&file.path))
}

/// Reads the calls of a recording, each with its line.
fn read_calls(file: &PackedFile) -> Result<Vec<(usize, Recording)>> {
    let unreadable = |why: String| {
        CliError::new(CliErrorKind::Findings, format!("{}: {why}", file.path))
            .with_hint("a package holds recordings of calls only: remove the file")
    };
    let text = std::str::from_utf8(&file.bytes).map_err(|why| unreadable(why.to_string()))?;
    let read = RecordingFile::parse(text).map_err(|why| unreadable(why.to_string()))?;
    Ok(read.lines.into_iter().zip(read.calls).collect())
}
