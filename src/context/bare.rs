//! The profile `bare`: the author's text and nothing else. It has no fences, so no text of it may
//! contain an untrusted value.

use super::answer_format::{self, AnswerForm};
use super::fence_marker;
use super::fill::Faults;
use super::render::target::RenderTarget;
use super::request::Request;
use super::scope::{Destination, place_in, refusals};
use super::segments::draft_segment::DraftSegment;
use super::task_graph::ChainLink;
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Origin, Trust};
use crate::registry::body::AuthorText;

/// Removes the description of the answer's form if the target has a field for it, and returns a
/// fault for every value that another profile would fence.
pub(super) fn apply_bare_profile(
    segments: &mut Vec<DraftSegment>,
    link: &ChainLink<'_>,
    request: &Request<'_>,
    target: Option<&RenderTarget>,
) -> Faults {
    let mut faults = Faults::new();
    let format = link.node.body.output_format.as_ref();
    let answer = format
        .and_then(|format| answer_format::answer_form(format, &link.tree.path, request.files).ok());
    let is_left = |(target, answer): (&RenderTarget, AnswerForm)| {
        target.has_answer_field(&answer)
            && !(target.json_mode_needs_word
                && answer == AnswerForm::Json
                && !segments.iter().any(mentions_json))
    };
    if target.zip(answer).is_some_and(is_left) {
        segments.retain(|drafted| drafted.segment.kind != Kind::OutputFormat);
    }
    for drafted in segments.iter() {
        let segment = &drafted.segment;
        let whole = if segment.title.is_empty() {
            segment.kind.as_str()
        } else {
            &segment.title
        };
        // The message of a turn is itself a border.
        let is_whole = segment.trust == Trust::Untrusted && segment.turns.is_empty();
        let fences = fence_marker::fence_names(&segment.text);
        // For a text that a parent has fenced, only the presence of untrusted values is known, not
        // their names.
        let is_fenced_before =
            segment.has_untrusted_values && segment.turns.is_empty() && fences.is_empty();
        let names = if is_whole || is_fenced_before {
            vec![whole]
        } else {
            fences
        };
        let is_input = |name: &Option<AuthorText<'_>>| name.as_deref() == Some(&segment.title);
        let number = link
            .node
            .body
            .inputs
            .iter()
            .position(|input| segment.kind == Kind::Input && is_input(&input.name));
        let field = number.map_or_else(
            || segment.kind.as_str().to_owned(),
            |number| format!("inputs/{number}"),
        );
        faults.extend(refusals(
            Destination::Unfenced,
            &place_in(link, &link.node.id, &field),
            names,
        ));
    }
    faults
}

/// Returns true if the author's part of a segment that is never cut contains the word JSON.
fn mentions_json(drafted: &DraftSegment) -> bool {
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
