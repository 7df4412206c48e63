//! Completion and hover in scenarios and in the project file.

use super::offer::Offer;
use super::spot::{self, DataCursor};
use super::{config, scenario, toml_spot};
use crate::base::span::Span;
use crate::lsp::features::completion_cx::CompletionPlace;
use crate::lsp::state::open_documents::DocumentBuffer;
use crate::lsp::state::project::{PROJECT_FILE, ProjectState};
use gen_lsp_types::CompletionItem;

fn cursor_at<'t>(name: &str, text: &'t str, offset: u32) -> Option<DataCursor<'t>> {
    if name == PROJECT_FILE {
        toml_spot::toml_cursor(text, offset as usize)
    } else {
        spot::yaml_cursor(text, offset as usize)
    }
}

/// Returns the completions at a place, whose word is that of YAML or TOML.
pub(in crate::lsp) fn completion_items(
    project: &ProjectState,
    name: &str,
    place: &CompletionPlace<'_>,
) -> Vec<CompletionItem> {
    let Some(spot) = cursor_at(name, place.text, place.offset) else {
        return Vec::new();
    };
    let is_quoted = spot.word != spot.outer
        || place
            .text
            .get(..spot.word.start as usize)
            .unwrap_or("")
            .ends_with(['"', '\'']);
    let inside = CompletionPlace {
        word: spot.word,
        start: spot.word.start,
        ..*place
    };
    let around = CompletionPlace {
        word: spot.outer,
        start: spot.outer.start,
        ..*place
    };
    let takes_files = if name == PROJECT_FILE {
        is_quoted && config::takes_files(&spot)
    } else {
        scenario::takes_files(place.text, &spot)
    };
    if takes_files {
        return inside.file_items(
            project,
            Span::new(spot.word.start, place.offset).slice(place.text),
            name,
            "",
        );
    }
    let offers = if name == PROJECT_FILE {
        config::offers(project, place.text, &spot)
    } else {
        scenario::offers(project, place.text, &spot)
    };
    let line = around.text_after().lines().next().unwrap_or("");
    let behind = line.trim_start_matches(['"', '\'', ' ']);
    // The text after the word already contains the separator.
    let has_more =
        behind.starts_with([':', '=', '.']) || spot.header.is_some() && line.contains(']');
    let has_value =
        spot.header.is_none() && !behind.is_empty() && !behind.starts_with([',', '}', ']', '#']);
    let one = |offer: Offer| {
        let plain = offer.insert.trim_matches('"');
        let is_inside = is_quoted
            && plain == offer.label
            && (offer.insert.starts_with('"') || spot.word == spot.outer);
        let end = match offer.separator.find(['"', '$', '[', '{']) {
            _ if has_more || is_inside => "",
            Some(end) if has_value => offer.separator.get(..end).unwrap_or(""),
            _ => &offer.separator,
        };
        let end = if place.client.supports_snippets {
            end.to_owned()
        } else {
            end.replace("$0", "")
        };
        let missing = spot
            .missing
            .filter(|_| is_inside)
            .map(String::from)
            .unwrap_or_default();
        let (place, insert) = if is_inside {
            (&inside, plain)
        } else {
            (&around, &*offer.insert)
        };
        place.item(
            &offer.label,
            offer.kind,
            &offer.about,
            &format!("{insert}{end}{missing}"),
        )
    };
    offers
        .into_iter()
        .filter(|offer| !spot.used_names.contains(&&*offer.label))
        .map(one)
        .collect()
}

/// Returns the description of the key at an offset.
pub(in crate::lsp) fn key_hover(
    name: &str,
    buffer: &DocumentBuffer,
    offset: u32,
) -> Option<(String, Span)> {
    let text = &buffer.text;
    let word = cursor_at(name, text, offset)?.word;
    let spot = cursor_at(name, text, word.start)?;
    let key = word.slice(text);
    let rest = text
        .get(word.end as usize..)?
        .trim_start_matches(['"', '\'', ' ']);
    let is_key = spot.header.is_some() || spot.key.is_none() && rest.starts_with([':', '=', '.']);
    let about = if name == PROJECT_FILE {
        config::key_description(&spot, key)
    } else {
        scenario::key_description(text, &spot, key)
    };
    is_key.then_some((format!("`{key}` — {}", about?), word))
}
