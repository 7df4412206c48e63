//! Selects the segments that an expectation refers to, and describes missing ones.

use super::rendered_context::standing;
use crate::base::suggest;
use crate::context::assemble::Assembly;
use crate::eval::verdict::Reason;
use crate::kernel::assembler::SegmentReport;
use crate::kernel::context::Origin;
use crate::scenario::expect::segments::ranges;
use crate::scenario::model::Selector;

/// The maximum number of listed ids.
const LISTED: usize = 12;

/// The segments that a selector matches, retained or not.
pub(super) fn select<'a>(assembly: &'a Assembly, which: &Selector) -> Vec<&'a SegmentReport> {
    let is_meant = |account: &&SegmentReport| {
        let segment = &account.segment;
        match which {
            Selector::Id(id) => segment.id == id.value,
            Selector::Kind(kind) => segment.kind == kind.value,
            Selector::Source(name) => segment
                .text
                .stretches()
                .iter()
                .any(|stretch| source(&stretch.origin) == Some(&name.value)),
        }
    };
    assembly.report.segments.iter().filter(is_meant).collect()
}

/// The name of a text's source.
pub(in crate::eval) fn source(origin: &Origin) -> Option<&str> {
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
pub(super) fn nothing(assembly: &Assembly, which: &Selector, expected: String) -> Reason {
    let mut reason = Reason::new(expected, "none");
    if let Selector::Id(id) = which
        && let Some(late) = assembly.report.late.iter().find(|late| late.id == id.value)
    {
        return reason.hint(late.reason());
    }
    let accounts = &assembly.report.segments;
    match which {
        Selector::Id(id) => {
            let ids = || accounts.iter().map(|account| account.segment.id.as_str());
            // An id without its kind, or a file without its folder, is a more frequent mistake than
            // a misspelling.
            let part = |other: &&str| other.rsplit([':', '/']).next() == Some(id.value.as_str());
            let near = ids()
                .find(part)
                .or_else(|| suggest::nearest(&id.value, ids()));
            // A dropped segment with exactly this id exists, so that it is not a suggestion.
            let near = near.filter(|near| *near != id.value);
            if let Some(near) = near {
                reason = reason.hint(format!("did you mean `{near}`?"));
            }
        }
        Selector::Kind(_) => {}
        Selector::Source(name) => {
            let stretches = accounts
                .iter()
                .flat_map(|account| account.segment.text.stretches());
            let names = stretches.filter_map(|stretch| source(&stretch.origin));
            if let Some(near) = suggest::nearest(&name.value, names) {
                reason = reason.hint(format!("did you mean `{near}`?"));
            }
        }
    }
    reason.hint(here(assembly))
}

/// Describes the existing segments.
pub(super) fn here(assembly: &Assembly) -> String {
    let ids = ranges(standing(assembly));
    let more = ids.len().saturating_sub(LISTED);
    let listed = ids
        .iter()
        .take(LISTED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match (ids.is_empty(), more) {
        (true, _) => "there are no segments here".to_owned(),
        (false, 0) => format!("segments here: {listed}"),
        (false, more) => format!("segments here: {listed}, and {more} more"),
    }
}
