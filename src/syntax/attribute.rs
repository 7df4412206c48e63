//! Attributes: name, `=`, value, and recovery if any of them is missing. A value without an end is
//! cut at the most plausible place.

use super::fault::{XmlFault, XmlFaultKind};
use super::pass::{Flow, Pass, ReadStopped};
use super::tag::StartTag;
use super::tree::{RawAttribute, flag};
use super::wellformed::{byte_class, class, is_space};
use crate::base::span::Span;

/// A value as scanned.
#[derive(Clone, Copy, Debug)]
struct AttributeValue {
    span: Span,
    flags: u8,
    damaged: bool,
}

impl Pass<'_, '_> {
    /// Reads the attribute whose name begins at the position.
    pub(super) fn read_attribute(&mut self, tag: &mut StartTag, spaced: bool) -> Flow {
        let start = self.scan.at;
        let Some(name) = self.scan.read_name() else {
            return Ok(());
        };
        self.check_name(name)?;
        let touching = matches!(self.scan.peek(), Some(b'"' | b'\''));
        if self.scan.peek() != Some(b'=') {
            self.scan.skip_space();
        }
        if self.scan.peek() == Some(b'=') {
            self.scan.at += 1;
            if !matches!(self.scan.peek(), Some(b'"' | b'\'')) {
                self.scan.skip_space();
            }
        } else if touching {
            self.defer_fault(tag, XmlFaultKind::MissingEquals, name.span(), start);
        } else {
            self.scan.at = name.end;
            self.defer_fault(tag, XmlFaultKind::MissingValue, name.span(), start);
            self.store_attribute(
                tag,
                name.span(),
                AttributeValue {
                    span: Span::empty_at(name.end as u32),
                    flags: 0,
                    damaged: true,
                },
            );
            return Ok(());
        }
        if !spaced && tag.deferred.is_none() {
            self.report_fault(XmlFaultKind::MissingSpace, name.span(), Some(tag.last))?;
            tag.damaged = true;
        }
        let value = self.read_value(name.span())?;
        tag.has_namespaces |= name.has_colon || self.scan.slice(name.start, name.end) == b"xmlns";
        self.store_attribute(tag, name.span(), value);
        Ok(())
    }

    /// `<taskname="x">`: an attribute's name joined to the element's name. The end tag may separate
    /// them later.
    pub(super) fn read_joined_attribute(&mut self, tag: &mut StartTag) -> Flow {
        self.report_fault(XmlFaultKind::MissingSpace, tag.name.span(), None)?;
        tag.damaged = true;
        let mut name = Span::empty_at(self.scan.at as u32);
        // A namespace declaration is never the end of an element's name.
        let written = self.scan.slice(tag.name.start, tag.name.end);
        if let Some(found) = memchr::memmem::find(written, b"xmlns")
            .filter(|&found| found > 0 && is_declaration(written, found))
        {
            let end = tag.name.start + found;
            name = Span::from_offsets(end, tag.name.end);
            tag.name.end = end;
            tag.has_namespaces = true;
        }
        // Any other colon belongs to the attribute, too.
        tag.name.has_colon = false;
        self.scan.at += 1;
        self.scan.skip_space();
        let value = self.read_value(name)?;
        self.store_attribute(tag, name, value);
        Ok(())
    }

    fn store_attribute(&mut self, tag: &mut StartTag, name: Span, value: AttributeValue) {
        tag.damaged |= value.damaged;
        tag.last = name.cover(Span::new(value.span.start, self.scan.at as u32));
        self.tree.attributes.push(RawAttribute {
            name,
            value: value.span,
            namespace: 0,
            flags: value.flags,
        });
    }

    /// Reads the value after `=`.
    fn read_value(&mut self, name: Span) -> Result<AttributeValue, ReadStopped> {
        match self.scan.peek() {
            Some(quote @ (b'"' | b'\'')) => self.read_quoted_value(quote),
            Some(b'>' | b'<') | None => self.missing_value(name),
            Some(b'/') if self.scan.peek_at(1) == Some(b'>') => self.missing_value(name),
            Some(_) => self.read_unquoted_value(),
        }
    }

    fn missing_value(&mut self, name: Span) -> Result<AttributeValue, ReadStopped> {
        self.report_fault(XmlFaultKind::MissingValue, name, None)?;
        // The value is empty and placed directly behind `=`, since the white space after it may lie
        // outside the tag.
        let behind = self.scan.slice(name.end as usize, self.scan.at);
        let blank = behind
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        Ok(AttributeValue {
            span: Span::empty_at((self.scan.at - blank) as u32),
            flags: 0,
            damaged: true,
        })
    }

    #[inline]
    fn read_quoted_value(&mut self, quote: u8) -> Result<AttributeValue, ReadStopped> {
        let open = self.scan.at;
        let faults = self.faults.len();
        self.scan.at += 1;
        let mut flags = 0;
        let mut damaged = false;
        loop {
            self.scan.skip_value();
            match self.scan.peek() {
                Some(byte) if byte == quote => break,
                Some(b'&') => {
                    flags = flag::ENCODED;
                    self.check_reference()?;
                }
                Some(b'"' | b'\'') => self.scan.at += 1,
                Some(b'<') => {
                    if self.enter_conflict()? {
                        self.scan.at = self.scan.line_end();
                        damaged = true;
                        continue;
                    }
                    if !self.is_sign_in_value(quote) {
                        return self.unclosed_value(open, faults);
                    }
                    let at = self.scan.at;
                    self.report_fault(
                        XmlFaultKind::LessInValue,
                        Span::from_offsets(at, at + 1),
                        None,
                    )?;
                    self.scan.at += 1;
                }
                Some(_) => {
                    flags = flag::ENCODED;
                    self.scan.at += 1;
                }
                None => return self.unclosed_value(open, faults),
            }
        }
        let end = self.scan.at;
        self.scan.at += 1;
        let follows = self.scan.peek();
        let fine = follows.is_none_or(|byte| is_space(byte) || matches!(byte, b'>' | b'/' | b'?'));
        if !fine
            && let Some(cut) = self
                .find_swallowed_attribute(open + 1, end)
                .or_else(|| self.find_lost_bracket(open + 1, end))
        {
            return self.cut_value(open, cut, faults);
        }
        self.check_text_length(open + 1, end)?;
        Ok(AttributeValue {
            span: Span::from_offsets(open + 1, end),
            flags,
            damaged,
        })
    }

    /// Returns true if the `<` in a value is a sign: the closing quote follows on the same line.
    fn is_sign_in_value(&mut self, quote: u8) -> bool {
        if self.scan.at < self.signs_until {
            return true;
        }
        let from = self.scan.at + 1;
        let rest = self.scan.slice(from, self.scan.bytes.len());
        let mut previous = b'<';
        let begins_tag =
            |byte: u8| matches!(byte, b'/' | b'!' | b'?') || byte.is_ascii_alphabetic();
        // `a < 3 and b > 4`: a `<` that begins no tag is not ended by a `>`.
        let is_comparison = rest.first().is_some_and(|&byte| !begins_tag(byte));
        // `<b>`: a quote ends such a value only if the tag clearly continues after it.
        let mut has_markup = false;
        for (ahead, &byte) in rest.iter().enumerate() {
            if byte == quote {
                let behind = rest.get(ahead + 1..).unwrap_or_default();
                let follows = behind.first().copied().unwrap_or(b' ');
                let ends = previous != b'='
                    && (is_space(follows) || matches!(follows, b'>' | b'/' | b'?'))
                    && (!has_markup || tag_continues(behind));
                if ends {
                    self.signs_until = from + ahead;
                }
                return ends;
            }
            if byte == b'\n' {
                return false;
            }
            has_markup |=
                byte == b'>' && !is_comparison || ahead > 0 && previous == b'<' && begins_tag(byte);
            previous = byte;
        }
        false
    }

    /// Handles a value that runs into `<` or the end of the text.
    fn unclosed_value(
        &mut self,
        open: usize,
        faults: usize,
    ) -> Result<AttributeValue, ReadStopped> {
        let end = self.scan.at;
        let line = memchr::memchr2(b'\n', b'\r', self.scan.slice(open + 1, end))
            .map(|found| open + 1 + found);
        let cut = self
            .find_lost_bracket(open + 1, end)
            .or(line)
            .unwrap_or(end);
        self.cut_value(open, cut, faults)
    }

    /// Ends a value at `cut` and continues from there.
    fn cut_value(
        &mut self,
        open: usize,
        cut: usize,
        faults: usize,
    ) -> Result<AttributeValue, ReadStopped> {
        self.scan.at = cut;
        // Everything after the cut is read again and reported again, except a conflict, which is
        // entered only once.
        let again = |fault: &XmlFault| {
            fault.span.start as usize >= cut && fault.kind != XmlFaultKind::MergeConflict
        };
        while self.faults.len() > faults && self.faults.last().is_some_and(again) {
            self.faults.pop();
        }
        self.report_fault(
            XmlFaultKind::UnclosedValue,
            Span::from_offsets(open, cut),
            Some(Span::empty_at(cut as u32)),
        )?;
        Ok(AttributeValue {
            span: Span::from_offsets(open + 1, cut),
            flags: flag::ENCODED,
            damaged: true,
        })
    }

    /// The end of the tag inside a value that lost its quote: the first `>` at the end of a line,
    /// else the first `>`; before the `/` of an empty element.
    fn find_lost_bracket(&self, start: usize, end: usize) -> Option<usize> {
        let region = self.scan.slice(start, end);
        let ends_line = |at: &usize| {
            let after = region.get(at + 1..).unwrap_or(&[]).iter();
            after
                .copied()
                .find(|&byte| byte != b' ' && byte != b'\t')
                .is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
        };
        // Considering a few `>` suffices and keeps the search linear.
        let found = memchr::memchr_iter(b'>', region)
            .take(8)
            .find(ends_line)
            .or_else(|| memchr::memchr(b'>', region))?;
        let slash = found.checked_sub(1).and_then(|before| region.get(before)) == Some(&b'/');
        Some(start + found - usize::from(slash))
    }

    /// The start of the next attribute if it was read as part of a value: ` name=` at the value's
    /// end.
    fn find_swallowed_attribute(&self, start: usize, end: usize) -> Option<usize> {
        let region = self
            .scan
            .slice(start, end)
            .trim_ascii_end()
            .strip_suffix(b"=")?
            .trim_ascii_end();
        let name = region
            .iter()
            .rev()
            .take_while(|&&byte| byte_class(byte) & class::PLAIN != 0 || byte == b':')
            .count();
        let before = region.get(..region.len() - name).filter(|_| name > 0)?;
        let trimmed = before.trim_ascii_end();
        (trimmed.len() < before.len()).then_some(start + trimmed.len())
    }

    /// A value without its opening quote, up to a closing quote on the line, else to the next white
    /// space.
    fn read_unquoted_value(&mut self) -> Result<AttributeValue, ReadStopped> {
        let start = self.scan.at;
        let rest = self.scan.remaining();
        if let Some(inner) = curly_quoted_span(rest) {
            self.scan.at = start + inner.end as usize + CURLY_QUOTE_BYTES;
            self.report_fault(
                XmlFaultKind::UnquotedValue,
                Span::from_offsets(start, self.scan.at),
                None,
            )?;
            let span = Span::from_offsets(start + inner.start as usize, start + inner.end as usize);
            return Ok(AttributeValue {
                span,
                flags: flag::ENCODED,
                damaged: true,
            });
        }
        let stop = rest
            .iter()
            .position(|&byte| matches!(byte, b'"' | b'\'' | b'=' | b'<' | b'>' | b'\n'));
        let quote = stop.filter(|&stop| matches!(rest.get(stop), Some(b'"' | b'\'')));
        let follows = quote.and_then(|stop| rest.get(stop + 1));
        let end = match (quote, follows) {
            (Some(stop), Some(&byte)) if is_space(byte) || matches!(byte, b'>' | b'/' | b'?') => {
                start + stop
            }
            _ => self.bare_word_end(start),
        };
        self.scan.at = end + usize::from(matches!(self.scan.bytes.get(end), Some(b'"' | b'\'')));
        self.report_fault(
            XmlFaultKind::UnquotedValue,
            Span::from_offsets(start, end),
            None,
        )?;
        Ok(AttributeValue {
            span: Span::from_offsets(start, end),
            flags: flag::ENCODED,
            damaged: true,
        })
    }

    fn bare_word_end(&self, start: usize) -> usize {
        let rest = self.scan.slice(start, self.scan.bytes.len());
        let ends = |(at, &byte): (usize, &u8)| {
            is_space(byte)
                || matches!(byte, b'>' | b'<' | b'"' | b'\'')
                || (byte == b'/' && rest.get(at + 1) == Some(&b'>'))
        };
        start
            + rest
                .iter()
                .enumerate()
                .position(|item| ends((item.0, item.1)))
                .unwrap_or(rest.len())
    }
}

/// Bytes of a typographic quote.
const CURLY_QUOTE_BYTES: usize = "“".len();

/// The text between typographic quotes on the line, if it begins with one and the tag continues
/// after them.
fn curly_quoted_span(rest: &[u8]) -> Option<Span> {
    let is_quote = |bytes: &[u8]| {
        ["“", "”", "‘", "’"]
            .iter()
            .any(|quote| bytes.starts_with(quote.as_bytes()))
    };
    let line = rest
        .split(|byte| matches!(byte, b'\n' | b'<' | b'"'))
        .next()
        .filter(|line| is_quote(line))?;
    let end = memchr::memchr_iter(0xE2, line)
        .skip(1)
        .find(|at| line.get(*at..).is_some_and(is_quote))?;
    let follows = rest.get(end + CURLY_QUOTE_BYTES).copied().unwrap_or(b'>');
    (is_space(follows) || matches!(follows, b'>' | b'/' | b'?'))
        .then_some(Span::from_offsets(CURLY_QUOTE_BYTES, end))
}

/// Returns true if a tag continues after a closing quote: with its end, or another attribute.
fn tag_continues(behind: &[u8]) -> bool {
    let rest = behind.trim_ascii_start();
    let name = rest
        .iter()
        .take_while(|&&byte| byte_class(byte) & class::PLAIN != 0 || byte == b':')
        .count();
    matches!(rest, [b'>', ..] | [b'/' | b'?', b'>', ..])
        || name > 0 && rest.get(name) == Some(&b'=')
}

/// Returns true if a name contains `xmlns` or `xmlns:p` from `at` to its end.
fn is_declaration(name: &[u8], at: usize) -> bool {
    name.get(at + 5..)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b":"))
}
