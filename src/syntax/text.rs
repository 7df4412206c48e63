//! Text between tags: references, delimiters, characters, `]]>`.

use super::fault::XmlFaultKind;
use super::pass::{Flow, Pass, ReadStopped};
use super::tree::{NodeKind, flag};
use super::wellformed::{self, ByteSurvey};
use crate::base::span::Span;

impl Pass<'_, '_> {
    /// Reads text up to the next markup.
    pub(super) fn read_text(&mut self) -> Flow {
        let start = self.scan.at;
        let bound = self
            .conflict
            .map_or(self.scan.bytes.len(), |conflict| conflict.middle);
        self.scan.skip_space();
        let mut flags = 0;
        if self.scan.at >= bound || (self.scan.peek() == Some(b'<') && self.is_markup()) {
            flags |= flag::BLANK;
            self.scan.at = self.scan.at.min(bound);
        } else {
            flags |= self.skip_text(bound)?;
        }
        self.add_text(start, flags)
    }

    /// Moves to the next markup or to `bound`, checking references and signs on the way.
    fn skip_text(&mut self, bound: usize) -> Result<u8, ReadStopped> {
        let mut flags = 0;
        loop {
            let found = self
                .scan
                .find_either(b'<', b'&')
                .filter(|&found| found < bound);
            self.scan.at = found.unwrap_or(bound);
            match self.scan.peek().filter(|_| found.is_some()) {
                None => return Ok(flags),
                Some(b'&') => {
                    flags |= flag::ENCODED;
                    self.check_reference()?;
                }
                Some(_) => {
                    if self.is_markup() || self.enter_conflict()? {
                        return Ok(flags);
                    }
                    if !self.report_stray_marker()? {
                        self.report_less_in_text()?;
                    }
                }
            }
        }
    }

    /// Reports a run of `<` that begin no markup.
    fn report_less_in_text(&mut self) -> Flow {
        let start = self.scan.at;
        while self.scan.peek() == Some(b'<') && !self.is_markup() {
            self.scan.at += 1;
        }
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::LessInText,
            Span::from_offsets(start, self.scan.at),
            None,
        )
    }

    /// Appends the `<` at `start`, which follows a text, to that text, with everything up to the
    /// next markup.
    pub(super) fn absorb_sign(&mut self, start: usize) -> Flow {
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::LessInText,
            Span::from_offsets(start, start + 1),
            None,
        )?;
        self.scan.at = start + 1;
        let mut flags = self.skip_text(self.scan.bytes.len())?;
        let end = self.scan.at;
        if self.carriage && self.scan.slice(start, end).contains(&b'\r') {
            flags |= flag::ENCODED;
        }
        self.check_cdata_end(start, end)?;
        let (_, last) = self.innermost_open();
        let Some(raw) = self.raw_mut(last) else {
            return Ok(());
        };
        raw.flags |= flags;
        raw.end = end as u32;
        raw.inner.end = end as u32;
        let whole = raw.start as usize;
        self.skip_conflict_mark();
        self.check_text_length(whole, end)
    }

    /// Adds the text from `start` to the position; a conflict marker ends it.
    fn add_text(&mut self, start: usize, mut flags: u8) -> Flow {
        let end = self.scan.at;
        if end > start {
            if self.conflict.is_some()
                && self
                    .scan
                    .slice(start, end)
                    .iter()
                    .all(|&byte| wellformed::is_space(byte))
            {
                flags |= flag::BLANK;
            }
            if self.carriage
                && flags & flag::ENCODED == 0
                && self.scan.slice(start, end).contains(&b'\r')
            {
                flags |= flag::ENCODED;
            }
            self.check_cdata_end(start, end)?;
            self.check_text_length(start, end)?;
            let span = Span::from_offsets(start, end);
            if self.scratch.open.is_empty() {
                if flags & flag::BLANK == 0 {
                    self.report_outside(XmlFaultKind::TextOutsideRoot, self.trim_span(span))?;
                    self.add_node(NodeKind::Text, flags | flag::DAMAGED, span, span)?;
                }
            } else {
                self.add_node(NodeKind::Text, flags, span, span)?;
            }
        }
        self.skip_conflict_mark();
        Ok(())
    }

    fn skip_conflict_mark(&mut self) {
        if let Some(conflict) = self.conflict
            && self.scan.at < conflict.middle
            && self.scan.starts_with(b"<<<<<<<")
        {
            self.scan.at = self.scan.line_end();
        }
    }

    /// Reports `]]>` in text.
    fn check_cdata_end(&mut self, start: usize, end: usize) -> Flow {
        let mut from = start;
        while let Some(at) = self
            .cdata_end
            .find(self.scan.bytes, &self.scratch.marks.cdata_end, from)
            .filter(|&at| at < end)
        {
            self.report_fault(
                XmlFaultKind::CdataEndInText,
                Span::from_offsets(at, at + 3),
                None,
            )?;
            from = at + 3;
        }
        Ok(())
    }

    pub(super) fn check_text_length(&mut self, start: usize, end: usize) -> Flow {
        if end - start > self.limits.text as usize {
            return self.stop_at_limit(
                XmlFaultKind::TextTooLong,
                Span::from_offsets(start, start + 1),
            );
        }
        Ok(())
    }

    /// Checks the reference that begins with the `&` at the position, and moves past it.
    pub(super) fn check_reference(&mut self) -> Flow {
        let start = self.scan.at;
        self.scan.at += 1;
        let number = self.scan.peek() == Some(b'#');
        if number {
            self.scan.at += 1;
            while self
                .scan
                .peek()
                .is_some_and(|byte| byte.is_ascii_alphanumeric())
            {
                self.scan.at += 1;
            }
        } else {
            let _ = self.scan.read_name();
        }
        let body = self.scan.slice(start + 1, self.scan.at);
        let known = match body {
            [b'#', digits @ ..] => wellformed::char_reference(digits).is_some(),
            name => wellformed::entity_char(name).is_some(),
        };
        let closed = self.scan.peek() == Some(b';') && !body.is_empty();
        let kind = match (known, closed) {
            (true, true) => {
                self.scan.at += 1;
                return Ok(());
            }
            (true, false) => XmlFaultKind::UnclosedReference,
            (false, true) if number => XmlFaultKind::BadCharReference,
            (false, true) => XmlFaultKind::UnknownEntity,
            (false, false) => XmlFaultKind::BareAmpersand,
        };
        if kind == XmlFaultKind::BareAmpersand {
            self.scan.at = start + 1;
            // `&&` is one fault.
            while self.scan.peek() == Some(b'&') && !self.begins_reference() {
                self.scan.at += 1;
            }
        } else if closed {
            self.scan.at += 1;
        }
        self.report_fault(kind, Span::from_offsets(start, self.scan.at), None)
    }

    /// Returns true if the `&` at the position begins an intended reference.
    fn begins_reference(&mut self) -> bool {
        let start = self.scan.at;
        self.scan.at += 1;
        let is_number = self.scan.peek() == Some(b'#');
        let is_name = self.scan.read_name().is_some()
            && (self.scan.peek() == Some(b';') || self.is_entity(start + 1));
        self.scan.at = start;
        is_number || is_name
    }

    fn is_entity(&self, start: usize) -> bool {
        wellformed::entity_char(self.scan.slice(start, self.scan.at)).is_some()
    }

    /// Reports characters that XML does not allow, a run at a time.
    pub(super) fn check_characters(&mut self, survey: ByteSurvey) -> Flow {
        if survey.control {
            let mut at = 0;
            let bad = |byte: u8| byte < b' ' && !wellformed::is_space(byte);
            while let Some(found) = self.scan.bytes.iter().skip(at).position(|&byte| bad(byte)) {
                let start = at + found;
                let length = self
                    .scan
                    .bytes
                    .iter()
                    .skip(start)
                    .take_while(|&&byte| bad(byte))
                    .count();
                at = start + length;
                self.report_fault(
                    XmlFaultKind::IllegalCharacter,
                    Span::from_offsets(start, at),
                    None,
                )?;
            }
        }
        if survey.wide {
            for at in memchr::memmem::find_iter(self.scan.bytes, b"\xEF\xBF") {
                if matches!(self.scan.bytes.get(at + 2), Some(0xBE | 0xBF)) {
                    self.report_fault(
                        XmlFaultKind::IllegalCharacter,
                        Span::from_offsets(at, at + 3),
                        None,
                    )?;
                }
            }
        }
        Ok(())
    }
}
