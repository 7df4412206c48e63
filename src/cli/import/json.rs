//! The report of `ctxc import` for programs: `ctxc/import/1`.

use super::run::{Fate, Told};
use super::show::{message, title};
use super::suggest::suggestion;
use crate::import::Note;
use crate::schema::json::names::IMPORT;
use serde_json::{Value, json};

/// The document.
pub(super) fn document(told: &Told<'_>) -> Value {
    let made = told.batch.made.iter().zip(told.fates).map(|(made, fate)| {
        let is_refused = *fate == Fate::Refused;
        let files: Vec<&String> = made.system.iter().chain([&made.path]).collect();
        json!({
            "files": files,
            "format": made.format.word(),
            "state": state(*fate),
            "task": (!is_refused).then_some(&made.name),
            "template": (!is_refused).then_some(&made.output),
            "parts": made.imported.parts,
            "notes": made.imported.notes.iter().map(note).collect::<Vec<_>>(),
        })
    });
    let parts = told.batch.parts.iter().map(|(path, whole)| json!({"path": path, "whole": whole}));
    let unreadable = told.found.unreadable.iter().map(|(path, reason)| json!({"path": path, "reason": reason}));
    let samples = told.verdict.map(|(_, verdict)| {
        let differences = verdict.differences.iter().map(|difference| {
            let words: Vec<String> = std::iter::once(title(difference)).chain(message(difference)).collect();
            json!({"line": difference.line, "template": difference.template, "message": words.join("\n")})
        });
        json!({"total": verdict.samples, "equal": verdict.samples - verdict.differences.len(), "differences": differences.collect::<Vec<_>>()})
    });
    json!({
        "schema": IMPORT,
        "prompts": made.collect::<Vec<_>>(),
        "parts": parts.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
        "plain": told.found.plain,
        "samples": samples,
        "suggestion": suggestion(&told.batch.made),
    })
}

fn note(note: &Note) -> Value {
    json!({"path": note.path, "line": note.line, "severity": note.kind.weight().word(), "message": note.kind.to_string()})
}

const fn state(fate: Fate) -> &'static str {
    match fate {
        Fate::Written => "written",
        Fate::Dry => "dry",
        Fate::There => "there",
        Fate::Same => "same",
        Fate::Refused => "refused",
    }
}
