//! Merge conflicts: both sides of one are markup cut in two, so ours is read, theirs passed over, and nothing else is
//! said about the region.

use super::fault::FaultKind;
use super::reader::{Pass, Stopped};
use crate::base::span::Span;

/// Both sides of a merge conflict: ours is read, theirs is passed over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    /// Where the middle marker begins.
    pub(super) middle: usize,
    /// Behind the last marker.
    pub(super) end: usize,
}

impl Pass<'_, '_> {
    /// Marks of a merge conflict at the place: reports it and says that ours is read from here.
    pub(super) fn enter_conflict(&mut self) -> Result<bool, Stopped> {
        let start = self.scan.at;
        let line_start = start.checked_sub(1).is_none_or(|before| matches!(self.scan.bytes.get(before), Some(b'\n' | b'\r')));
        if !line_start || self.conflict.is_some() || !self.scan.starts_with(b"<<<<<<<") {
            return Ok(false);
        }
        let marks = &self.scratch.marks;
        let Some(last) = self.conflict_end.find(self.scan.bytes, &marks.conflict_end, start) else { return Ok(false) };
        let middle = self.conflict_middle.find(self.scan.bytes, &marks.conflict_middle, start).filter(|&at| at < last);
        let Some(middle) = middle.map(|at| at + 1) else { return Ok(false) };
        let line = self.scan.bytes.get(last + 1..).and_then(|rest| memchr::memchr(b'\n', rest));
        let end = line.map_or(self.scan.bytes.len(), |line| last + 1 + line);
        self.fault(FaultKind::MergeConflict, Span::of(start, end), Some(Span::of(middle, middle + 7)))?;
        self.damage_open();
        self.conflict = Some(Conflict { middle, end });
        Ok(true)
    }

    /// Passes over theirs once ours is read.
    pub(super) fn leave_conflict(&mut self) {
        if let Some(conflict) = self.conflict.filter(|conflict| self.scan.at >= conflict.middle) {
            self.conflict = None;
            self.scan.at = self.scan.at.max(conflict.end);
        }
    }
}
