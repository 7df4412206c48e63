//! Markup that begins with `<?`: processing instructions and the XML declaration.

use super::decode;
use super::fault::XmlFaultKind;
use super::pass::{Flow, Pass};
use super::tag::StartTag;
use super::tree::{NodeKind, flag};
use super::wellformed::is_space;
use crate::base::span::Span;

impl Pass<'_, '_> {
    /// Reads the instruction at the position.
    pub(super) fn read_instruction(&mut self) -> Flow {
        let start = self.scan.at;
        self.scan.at += 2;
        let target = self.scan.read_name();
        let content = start + 2;
        let after = self.scan.at;
        let end =
            self.instruction_end
                .find(self.scan.bytes, &self.scratch.marks.instruction_end, after);
        let (inner, end, flags) = match end {
            Some(end) => (end, end + 2, 0),
            None => self.unclosed_instruction(start, after)?,
        };
        self.scan.at = end;
        let span = Span::from_offsets(start, end);
        if flags == 0 {
            self.check_target(
                span,
                target.map_or(
                    Span::empty_at(content as u32),
                    super::scanner::ScannedName::span,
                ),
                inner,
            )?;
        }
        let id = self.add_node(
            NodeKind::Instruction,
            flags,
            span,
            Span::from_offsets(content, inner),
        )?;
        let length = target.map_or(0, |name| name.end - name.start);
        if length > self.limits.name.min(u32::from(u16::MAX)) as usize {
            return self.stop_at_limit(
                XmlFaultKind::NameTooLong,
                Span::from_offsets(content, content + length),
            );
        }
        if let Some(raw) = self.raw_mut(id) {
            raw.name = length as u16;
        }
        Ok(())
    }

    fn check_target(&mut self, span: Span, target: Span, inner: usize) -> Flow {
        let name = target.slice(self.scan.text);
        let touches = target.end as usize != inner
            && !self
                .scan
                .bytes
                .get(target.end as usize)
                .is_some_and(|&b| is_space(b));
        let kind = if name.eq_ignore_ascii_case("xml") {
            XmlFaultKind::MisplacedDeclaration
        } else if name.is_empty() || name.contains(':') || touches {
            XmlFaultKind::BadTarget
        } else {
            return Ok(());
        };
        self.mark_open_damaged();
        self.report_fault(kind, span, None)
    }

    /// Ends an instruction that runs into the end of the text at the first `>` or `?` of its line.
    fn unclosed_instruction(
        &mut self,
        start: usize,
        after: usize,
    ) -> Result<(usize, usize, u8), super::pass::ReadStopped> {
        self.scan.at = after;
        let found = memchr::memchr3(b'>', b'?', b'\n', self.scan.remaining());
        let inner = found.map_or(self.scan.bytes.len(), |found| after + found);
        let end = inner + usize::from(matches!(self.scan.bytes.get(inner), Some(b'>' | b'?')));
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::UnclosedInstruction,
            Span::from_offsets(start, after),
            Some(Span::from_offsets(inner, end)),
        )?;
        Ok((inner, end, flag::DAMAGED))
    }

    /// Reads the XML declaration at the beginning of the text, if there is one.
    pub(super) fn read_declaration(&mut self) -> Flow {
        if !self.scan.starts_with(b"<?xml")
            || !self
                .scan
                .peek_at(5)
                .is_none_or(|byte| is_space(byte) || byte == b'?')
        {
            return Ok(());
        }
        self.scan.at = 5;
        let stop = self
            .scan
            .find_either(b'<', b'>')
            .unwrap_or(self.scan.bytes.len());
        let bracket = self.scan.bytes.get(stop) == Some(&b'>');
        let whole = bracket && self.scan.bytes.get(stop - 1) == Some(&b'?');
        if whole {
            self.scan.at = stop + 1;
            let span = Span::from_offsets(0, stop + 1);
            return match check_pseudo_attributes(self.scan.text, stop - 1) {
                Ok(None) => Ok(()),
                Ok(Some(encoding)) => {
                    self.report_fault(XmlFaultKind::UnsupportedEncoding, encoding, Some(span))
                }
                Err(part) => self.report_fault(XmlFaultKind::BadDeclaration, part, Some(span)),
            };
        }
        let end = if bracket {
            stop + 1
        } else {
            self.scan.line_end().min(stop)
        };
        self.scan.at = end;
        self.report_fault(
            XmlFaultKind::BadDeclaration,
            Span::from_offsets(0, end),
            Some(Span::from_offsets(0, end)),
        )
    }

    /// `<ctxc allow x?>`: an instruction or declaration that lost its first question mark.
    pub(super) fn read_markless_instruction(&mut self, start: usize, tag: &StartTag) -> Flow {
        self.tree.attributes.truncate(tag.first);
        let span = Span::from_offsets(start, self.scan.at);
        if start == 0 && tag.name.span().slice(self.scan.text) == "xml" {
            return self.report_fault(XmlFaultKind::BadDeclaration, span, Some(span));
        }
        self.mark_open_damaged();
        let id = self.add_node(
            NodeKind::Instruction,
            flag::DAMAGED,
            span,
            Span::from_offsets(start + 1, self.scan.at - 2),
        )?;
        if let Some(raw) = self.raw_mut(id) {
            raw.name = (tag.name.end - tag.name.start) as u16;
        }
        self.report_fault(XmlFaultKind::BadTarget, span, None)
    }
}

/// The parts of a declaration, in the order required by XML.
const DECLARATION_PARTS: [&str; 3] = ["version", "encoding", "standalone"];

/// Checks the text between `<?xml` and `end`. Returns the span of an unsupported encoding; fails
/// with the part that breaks the grammar.
fn check_pseudo_attributes(text: &str, end: usize) -> Result<Option<Span>, Span> {
    let mut at = 5;
    let mut parts = DECLARATION_PARTS.iter();
    let mut unsupported = None;
    let body = text.get(..end).unwrap_or("");
    let rest = |at: usize| body.get(at..).unwrap_or("");
    let space = |at: usize| at + rest(at).bytes().take_while(|&byte| is_space(byte)).count();
    loop {
        let start = space(at);
        if start == end {
            // Only the version is required; its absence is a fault of the whole declaration.
            return if parts.len() == DECLARATION_PARTS.len() {
                Err(Span::from_offsets(0, end + 2))
            } else {
                Ok(unsupported)
            };
        }
        let length = rest(start)
            .bytes()
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        let name = rest(start).get(..length).unwrap_or("");
        let whole = Span::from_offsets(start, end);
        let expected = parts.len() == DECLARATION_PARTS.len();
        let known = parts.find(|part| **part == name).is_some();
        if start == at || !known || (expected && name != "version") {
            return Err(if length == 0 {
                whole
            } else {
                Span::from_offsets(start, start + length)
            });
        }
        let equals = space(start + length);
        let quote = space(equals + 1);
        let mark = rest(quote)
            .bytes()
            .next()
            .filter(|byte| matches!(byte, b'"' | b'\''));
        let value = rest(quote + 1);
        let (Some(b'='), Some(mark)) = (rest(equals).bytes().next(), mark) else {
            return Err(whole);
        };
        let Some(value) =
            memchr::memchr(mark, value.as_bytes()).and_then(|length| value.get(..length))
        else {
            return Err(whole);
        };
        let span = Span::from_offsets(quote + 1, quote + 1 + value.len());
        if !is_valid_part(name, value) {
            return Err(span);
        }
        if name == "encoding" && !decode::is_utf8(value) && !decode::is_utf16(value) {
            unsupported = Some(span);
        }
        at = quote + value.len() + 2;
    }
}

fn is_valid_part(name: &str, value: &str) -> bool {
    let bytes = value.as_bytes();
    match name {
        "version" => value
            .strip_prefix("1.")
            .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|b| b.is_ascii_digit())),
        "encoding" => {
            bytes.first().is_some_and(u8::is_ascii_alphabetic)
                && bytes
                    .iter()
                    .all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        }
        _ => matches!(value, "yes" | "no"),
    }
}
