//! Completion and hover in scenarios and in the project file.

use super::offer::Offer;
use super::spot::{self, Spot};
use super::{config, scenario};
use crate::base::span::Span;
use crate::lsp::features::completion_cx::Place;
use crate::lsp::state::buffer::Buffer;
use crate::lsp::state::project::{PROJECT, ProjectState};
use gen_lsp_types::CompletionItem;

fn spot<'t>(name: &str, text: &'t str, offset: u32) -> Option<Spot<'t>> {
    if name == PROJECT { spot::toml(text, offset as usize) } else { spot::yaml(text, offset as usize) }
}

/// What can be written at the place, whose word is that of YAML or TOML.
pub(in crate::lsp) fn items(project: &ProjectState, name: &str, place: &Place<'_>) -> Vec<CompletionItem> {
    let Some(spot) = spot(name, place.text, place.offset) else { return Vec::new() };
    let offers = if name == PROJECT { config::offers(project, &spot) } else { scenario::offers(project, place.text, &spot) };
    let before = place.text.get(..spot.word.start as usize).unwrap_or("");
    let is_quoted = before.ends_with(['"', '\'']);
    let place = Place { word: spot.word, start: spot.word.start, ..*place };
    let has_value = place.rest().trim_start_matches(['"', '\'', ' ']).starts_with([':', '=']);
    let one = |offer: Offer| {
        let insert = if is_quoted { offer.label.trim_matches('"') } else { &offer.insert };
        let separator = if has_value || is_quoted { "" } else { offer.separator };
        place.item(&offer.label, offer.kind, &offer.about, &format!("{insert}{separator}"))
    };
    offers.into_iter().map(one).collect()
}

/// What the key at an offset is for.
pub(in crate::lsp) fn hover(name: &str, buffer: &Buffer, offset: u32) -> Option<(String, Span)> {
    let text = &buffer.text;
    let word = spot(name, text, offset)?.word;
    let spot = spot(name, text, word.start)?;
    let key = word.slice(text);
    let rest = text.get(word.end as usize..)?.trim_start_matches(['"', '\'', ' ']);
    let is_key = spot.key.is_none() && rest.starts_with([':', '=']);
    let about = if name == PROJECT { config::about(&spot, key) } else { scenario::about(text, &spot, key) };
    is_key.then_some((format!("`{key}` — {}", about?), word))
}
