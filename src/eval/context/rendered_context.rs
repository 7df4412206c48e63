//! The rendered context of an agent, as expectations examine it.

use crate::context::assemble::Assembly;
use crate::context::request::Files;
use crate::eval::prepared::SeenContext;
use crate::eval::verdict::ResultPlace;
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::Disposition;
use crate::kernel::context::{Origin, TracedText};
use crate::rules::scenario::cx::Tasks as _;
use crate::rules::scenario::shown::ReceivableNames;
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
    match &account.fate {
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
    let Disposition::Shortened { left_out } = &account.fate else {
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
