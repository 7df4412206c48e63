//! Merge conflicts: both sides of one are cut markup, so our side is read, theirs is skipped, and
//! no other fault is reported for the region. A first marker without the others is skipped with its
//! line.

use super::fault::XmlFaultKind;
use super::pass::{Flow, MergeConflict, Pass, ReadStopped};
use crate::base::span::Span;

impl Pass<'_, '_> {
    /// Returns true if the first marker of a conflict begins the line at the position.
    fn is_at_marker(&self) -> bool {
        let before = self
            .scan
            .at
            .checked_sub(1)
            .map(|before| self.scan.bytes.get(before));
        self.scan.starts_with(b"<<<<<<<")
            && before.is_none_or(|before| matches!(before, Some(b'\n' | b'\r')))
    }

    /// Reports a merge conflict at the position; returns true if our side is read from here.
    pub(super) fn enter_conflict(&mut self) -> Result<bool, ReadStopped> {
        let start = self.scan.at;
        if self.conflict.is_some() || !self.is_at_marker() {
            return Ok(false);
        }
        let marks = &self.scratch.marks;
        let Some(last) = self
            .conflict_end
            .find(self.scan.bytes, &marks.conflict_end, start)
        else {
            return Ok(false);
        };
        let middle = self
            .conflict_middle
            .find(self.scan.bytes, &marks.conflict_middle, start)
            .filter(|&at| at < last);
        let Some(middle) = middle.map(|at| at + 1) else {
            return Ok(false);
        };
        let line = self
            .scan
            .bytes
            .get(last + 1..)
            .and_then(|rest| memchr::memchr(b'\n', rest));
        let end = line.map_or(self.scan.bytes.len(), |line| last + 1 + line);
        self.report_fault(
            XmlFaultKind::MergeConflict,
            Span::from_offsets(start, end),
            Some(Span::from_offsets(middle, middle + 7)),
        )?;
        self.mark_open_damaged();
        self.conflict = Some(MergeConflict { middle, end });
        Ok(true)
    }

    /// Reports a first marker without the others, and skips its line.
    pub(super) fn report_stray_marker(&mut self) -> Result<bool, ReadStopped> {
        if !self.is_at_marker() {
            return Ok(false);
        }
        let start = self.scan.at;
        self.scan.at = self.scan.line_end();
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::MergeConflict,
            Span::from_offsets(start, self.scan.at),
            None,
        )?;
        Ok(true)
    }

    /// A conflict inside a comment or a CDATA section, in which XML allows all of its characters.
    pub(super) fn report_inner_conflict(&mut self, content: usize, end: usize) -> Flow {
        let part = self.scan.slice(content, end);
        let Some(start) = memchr::memmem::find(part, b"\n<<<<<<<").map(|at| content + at + 1)
        else {
            return Ok(());
        };
        let marks = &self.scratch.marks;
        let bytes = self.scan.bytes;
        let last = self
            .conflict_end
            .find(bytes, &marks.conflict_end, start)
            .filter(|&at| at < end);
        let middle = self
            .conflict_middle
            .find(bytes, &marks.conflict_middle, start);
        let (Some(last), Some(middle)) = (
            last,
            middle.filter(|&at| last.is_some_and(|last| at < last)),
        ) else {
            return Ok(());
        };
        let line = self
            .scan
            .slice(last + 1, end)
            .iter()
            .position(|&byte| byte == b'\n');
        let behind = line.map_or(end, |line| last + 1 + line);
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::MergeConflict,
            Span::from_offsets(start, behind),
            Some(Span::from_offsets(middle + 1, middle + 8)),
        )
    }

    /// Skips their side once ours has been read.
    pub(super) fn leave_conflict(&mut self) {
        if let Some(conflict) = self
            .conflict
            .filter(|conflict| self.scan.at >= conflict.middle)
        {
            self.conflict = None;
            self.scan.at = self.scan.at.max(conflict.end);
        }
    }
}
