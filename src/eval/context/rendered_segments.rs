//! The segments of a rendered context as expectations examine them: which one a selector selects,
//! its retained text, its place and its origin.

use crate::base::suggest;
use crate::context::assemble::Assembly;
use crate::context::request::Files;
use crate::eval::prepared_case::SeenContext;
use crate::eval::verdict::{Reason, ResultPlace};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::Disposition;
use crate::kernel::context::{Origin, TracedText};
use crate::rules::scenario::cx::Tasks as _;
use crate::rules::scenario::shown::ReceivableNames;
use crate::scenario::expect::segments::collapse_ids;
use crate::scenario::model::SegmentSelector;
use std::borrow::Cow;
use std::ops::Range;

impl SeenContext<'_> {
    /// Returns true if the selected segment can exist for this task and situation; the absence of
    /// one that cannot exist proves nothing.
    pub(super) fn can_exist(&self, which: &SegmentSelector) -> bool {
        let case = self.case;
        let Some(takes) = case.forest.registry.signature(case.receiver.task) else {
            return true;
        };
        let files = case.read.overlay_files(case.run.live);
        let exists = |path: &str| files.text(path).is_ok();
        ReceivableNames {
            takes: &takes,
            situation: &case.input.case.situation,
            exists: &exists,
        }
        .could_exist(which)
    }
}

/// The byte range of a segment's text that was retained.
pub(super) fn retained_range(account: &SegmentReport) -> Range<usize> {
    match &account.disposition {
        Disposition::Kept | Disposition::Shortened { .. } => 0..account.segment.text.text().len(),
        Disposition::Cut { range, .. } => range.clone(),
        Disposition::Dropped => 0..0,
    }
}

/// The place of the retained part of a segment.
pub(super) fn segment_place(account: &SegmentReport) -> ResultPlace {
    let range = retained_range(account);
    ResultPlace {
        segment: Some(account.segment.id.clone()),
        origin: segment_origin(account, range.start),
        range: Some(range),
        file: None,
    }
}

/// The retained text of a segment.
pub(super) fn retained_text(account: &SegmentReport) -> Cow<'_, str> {
    let text = account.segment.text.text();
    let Disposition::Shortened { left_out } = &account.disposition else {
        return Cow::Borrowed(text.get(retained_range(account)).unwrap_or(""));
    };
    // Omitted parts are replaced by blanks, so that offsets stay valid.
    let mut text = text.as_bytes().to_vec();
    for range in left_out {
        text.get_mut(range.clone()).unwrap_or_default().fill(b' ');
    }
    Cow::Owned(String::from_utf8(text).unwrap_or_default())
}

/// The origin of a segment's text at a byte.
pub(super) fn segment_origin(account: &SegmentReport, at: usize) -> Option<Origin> {
    text_origin(&account.segment.text, at)
}

/// The origin of a text at a byte.
pub(super) fn text_origin(text: &TracedText, at: usize) -> Option<Origin> {
    let stretch = text
        .stretches()
        .iter()
        .find(|stretch| stretch.range.contains(&at))?;
    let skipped = text.text().get(stretch.range.start..at).unwrap_or("");
    Some(
        stretch
            .origin
            .clone()
            .shifted_by_lines(memchr::memchr_iter(b'\n', skipped.as_bytes()).count() as u32),
    )
}

/// The ids of all retained segments, in their order.
pub(in crate::eval) fn retained_ids(assembly: &Assembly) -> Vec<&str> {
    let mut stays: Vec<(usize, &str)> = assembly
        .report
        .segments
        .iter()
        .filter_map(|account| Some((account.position?, account.segment.id.as_str())))
        .collect();
    stays.sort_unstable();
    stays.into_iter().map(|(_, id)| id).collect()
}

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
        Origin::History | Origin::Conversation | Origin::Generated => None,
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
