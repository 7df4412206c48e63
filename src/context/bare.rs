//! The profile `bare`: the author's text and nothing else. It has no fences, so no text of it may
//! contain an untrusted value.

use super::answer_format::{self, Answer};
use super::fence_marker;
use super::fill::Faults;
use super::render::target::Target;
use super::request::Request;
use super::scope::{Destination, place, refusals};
use super::segments::draft::DraftSegment;
use super::task_graph::Link;
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Origin, Trust};
use crate::registry::body::Word;

/// Removes the description of the answer's form if the target has a field for it, and reports every
/// value that another profile would fence.
pub(super) fn keep_to_words(
    segments: &mut Vec<DraftSegment>,
    link: &Link<'_>,
    request: &Request<'_>,
    (target, faults): (Option<&Target>, &mut Faults),
) {
    let format = link.node.body.output_format.as_ref();
    let answer = format
        .and_then(|format| answer_format::answer(format, &link.tree.path, request.files).ok());
    let is_left = |(target, answer): (&Target, Answer)| {
        target.carries(&answer)
            && !(target.json_word && answer == Answer::Json && !segments.iter().any(says_json))
    };
    if target.zip(answer).is_some_and(is_left) {
        segments.retain(|drafted| drafted.segment.kind != Kind::OutputFormat);
    }
    for drafted in segments.iter() {
        let segment = &drafted.segment;
        let whole = if segment.title.is_empty() {
            segment.kind.word()
        } else {
            &segment.title
        };
        // The message of a turn is itself a border.
        let is_whole = segment.trust == Trust::Untrusted && segment.turns.is_empty();
        let fences = fence_marker::names(&segment.text);
        // For a text that a parent has fenced, only the presence of untrusted values is known, not
        // their names.
        let is_fenced_before =
            segment.has_untrusted_values && segment.turns.is_empty() && fences.is_empty();
        let names = if is_whole || is_fenced_before {
            vec![whole]
        } else {
            fences
        };
        let is_input = |name: &Option<Word<'_>>| name.as_deref() == Some(&segment.title);
        let number = link
            .node
            .body
            .inputs
            .iter()
            .position(|input| segment.kind == Kind::Input && is_input(&input.name));
        let field = number.map_or_else(
            || segment.kind.word().to_owned(),
            |number| format!("inputs/{number}"),
        );
        faults.extend(refusals(
            Destination::Unfenced,
            &place(link, &link.node.id, &field),
            names,
        ));
    }
}

/// Returns true if the author's part of a segment that is never cut contains the word JSON.
fn says_json(drafted: &DraftSegment) -> bool {
    let segment = &drafted.segment;
    let is_there = segment.kind != Kind::OutputFormat && segment.priority() < FIRST_EXPENDABLE;
    let mut own = segment.text.stretches().iter().filter(|stretch| {
        matches!(
            stretch.origin,
            Origin::Template { .. } | Origin::Fragment { .. }
        )
    });
    let words = |range: &std::ops::Range<usize>| {
        segment
            .text
            .text()
            .get(range.clone())
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    is_there && own.any(|stretch| words(&stretch.range).contains("json"))
}
