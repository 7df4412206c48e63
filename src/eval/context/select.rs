//! Selects the segments that an expectation refers to, and describes missing ones.

use super::rendered_context::retained_ids;
use crate::base::suggest;
use crate::context::assemble::Assembly;
use crate::eval::verdict::Reason;
use crate::kernel::assembler::SegmentReport;
use crate::kernel::context::Origin;
use crate::scenario::expect::segments::collapse_ids;
use crate::scenario::model::SegmentSelector;

/// The maximum number of listed ids.
const MAX_LISTED_IDS: usize = 12;

/// The segments that a selector matches, retained or not.
pub(super) fn select_segments<'a>(
    assembly: &'a Assembly,
    which: &SegmentSelector,
) -> Vec<&'a SegmentReport> {
    let is_meant = |account: &&SegmentReport| {
        let segment = &account.segment;
        match which {
            SegmentSelector::Id(id) => segment.id == id.value,
            SegmentSelector::Kind(kind) => segment.kind == kind.value,
            SegmentSelector::Source(name) => segment
                .text
                .stretches()
                .iter()
                .any(|stretch| source_name(&stretch.origin) == Some(&name.value)),
        }
    };
    assembly.report.segments.iter().filter(is_meant).collect()
}

/// The name of a text's source.
pub(in crate::eval) fn source_name(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Template { task, .. } => Some(task),
        Origin::Fragment { name, .. } | Origin::Input { name } | Origin::Result { name } => {
            Some(name)
        }
        Origin::File { path, .. } | Origin::Schema { path } => Some(path),
        Origin::Parent { id } | Origin::Match { id } => Some(id),
        Origin::History | Origin::Conversation | Origin::Frame => None,
    }
}

/// The reason for a selector without matches: the existing segments, and the one that was probably
/// meant.
pub(super) fn missing_reason(
    assembly: &Assembly,
    which: &SegmentSelector,
    expected: String,
) -> Reason {
    let mut reason = Reason::new(expected, "none");
    if let SegmentSelector::Id(id) = which
        && let Some(late) = assembly.report.late.iter().find(|late| late.id == id.value)
    {
        return reason.with_advice(late.reason());
    }
    let accounts = &assembly.report.segments;
    match which {
        SegmentSelector::Id(id) => {
            let ids = || accounts.iter().map(|account| account.segment.id.as_str());
            // An id without its kind, or a file without its folder, is a more frequent mistake than
            // a misspelling.
            let part = |other: &&str| other.rsplit([':', '/']).next() == Some(id.value.as_str());
            let near = ids()
                .find(part)
                .or_else(|| suggest::nearest_candidate(&id.value, ids()));
            // A dropped segment with exactly this id exists, so that it is not a suggestion.
            let near = near.filter(|near| *near != id.value);
            if let Some(near) = near {
                reason = reason.with_advice(format!("did you mean `{near}`?"));
            }
        }
        SegmentSelector::Kind(_) => {}
        SegmentSelector::Source(name) => {
            let stretches = accounts
                .iter()
                .flat_map(|account| account.segment.text.stretches());
            let names = stretches.filter_map(|stretch| source_name(&stretch.origin));
            if let Some(near) = suggest::nearest_candidate(&name.value, names) {
                reason = reason.with_advice(format!("did you mean `{near}`?"));
            }
        }
    }
    reason.with_advice(describe_segments(assembly))
}

/// Describes the existing segments.
pub(super) fn describe_segments(assembly: &Assembly) -> String {
    let ids = collapse_ids(retained_ids(assembly));
    let more = ids.len().saturating_sub(MAX_LISTED_IDS);
    let listed = ids
        .iter()
        .take(MAX_LISTED_IDS)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match (ids.is_empty(), more) {
        (true, _) => "there are no segments here".to_owned(),
        (false, 0) => format!("segments here: {listed}"),
        (false, more) => format!("segments here: {listed}, and {more} more"),
    }
}
