//! The differences between two requests, segment by segment.

use super::segments::RequestSegment;
use crate::base::lines::diff_lines;
use std::collections::BTreeMap;

/// A difference of one segment, with its index in the later or earlier request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentDifference {
    /// The segment was added, at this index of the later request.
    Added(usize),
    /// The segment was removed, from this index of the earlier request.
    Removed(usize),
    /// The text changed: earlier and later index.
    Changed(usize, usize),
    /// The position changed but not the text: earlier and later index.
    Moved(usize, usize),
}

/// Returns the differences in the order of the later request; removed segments appear at their
/// earlier position.
pub fn differences(before: &[RequestSegment], after: &[RequestSegment]) -> Vec<SegmentDifference> {
    let line = |segment: &RequestSegment| format!("{:?} {}", segment.speaker, segment.wire);
    let (old, new): (Vec<String>, Vec<String>) = (
        before.iter().map(line).collect(),
        after.iter().map(line).collect(),
    );
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.iter().map(String::as_str).collect(),
        new.iter().map(String::as_str).collect(),
    );
    let runs = diff_lines(&old, &new);
    let mut removed: Vec<usize> = runs
        .iter()
        .flat_map(|(removed, _)| removed.clone())
        .collect();
    let mut found = Vec::new();
    for at in runs.into_iter().flat_map(|(_, came)| came) {
        let Some(own) = after.get(at) else { continue };
        let same = |old: &&usize| {
            before
                .get(**old)
                .is_some_and(|old| old.wire == own.wire && old.speaker == own.speaker)
        };
        let alike = |old: &&usize| {
            before
                .get(**old)
                .is_some_and(|old| old.name() == own.name() && old.speaker == own.speaker)
        };
        let exact = |old: &&usize| {
            before
                .get(**old)
                .is_some_and(|old| old.id == own.id && old.speaker == own.speaker)
        };
        let pair = removed.iter().find(same).map(|old| (*old, true));
        let pair = pair.or_else(|| {
            removed
                .iter()
                .find(exact)
                .or_else(|| removed.iter().find(alike))
                .map(|old| (*old, false))
        });
        match pair {
            Some((old, is_same)) => {
                removed.retain(|other| *other != old);
                found.push((
                    at,
                    if is_same {
                        SegmentDifference::Moved(old, at)
                    } else {
                        SegmentDifference::Changed(old, at)
                    },
                ));
            }
            None => found.push((at, SegmentDifference::Added(at))),
        }
    }
    found.extend(
        removed
            .into_iter()
            .map(|old| (old, SegmentDifference::Removed(old))),
    );
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, change)| change).collect()
}

/// Returns the distance between two requests: the number of segments that only one of them has.
pub fn distance(before: &[RequestSegment], after: &[RequestSegment]) -> usize {
    let mut counts: BTreeMap<&str, isize> = BTreeMap::new();
    for segment in before {
        *counts.entry(&segment.wire).or_default() += 1;
    }
    for segment in after {
        *counts.entry(&segment.wire).or_default() -= 1;
    }
    counts.values().map(|count| count.unsigned_abs()).sum()
}
