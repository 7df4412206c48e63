//! Markup that begins with `<!`: comments, CDATA sections, document types, and misspelt forms of
//! them.

use super::fault::XmlFaultKind;
use super::pass::{Flow, Pass};
use super::tree::{NodeKind, flag};
use super::wellformed::is_near;
use crate::base::span::Span;

impl Pass<'_, '_> {
    /// Reads the markup that begins with `<!` at the position.
    pub(super) fn read_bang_markup(&mut self) -> Flow {
        let after = self.scan.bytes.get(self.scan.at + 2..).unwrap_or(&[]);
        if after.starts_with(b"--") {
            return self.read_comment();
        }
        if after.starts_with(b"[CDATA[") {
            return self.read_cdata(9);
        }
        if after
            .get(..7)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"DOCTYPE"))
        {
            self.skip_doctype();
            return Ok(());
        }
        let window = after.get(..after.len().min(8)).unwrap_or(&[]);
        let opening = window
            .iter()
            .rposition(|&byte| byte == b'[')
            .map_or(0, |last| last + 1);
        if opening > 1 && is_near(window.get(..opening).unwrap_or(&[]), b"[CDATA[") {
            return self.read_misspelt_cdata(opening + 2);
        }
        if after.starts_with(b"[CDATA") {
            return self.read_misspelt_cdata(8);
        }
        self.skip_unknown_markup()
    }

    pub(super) fn read_misspelt_cdata(&mut self, mark: usize) -> Flow {
        let start = self.scan.at;
        self.report_fault(
            XmlFaultKind::MisspeltCdata,
            Span::from_offsets(start, start + mark),
            None,
        )?;
        self.mark_open_damaged();
        self.read_cdata(mark)
    }

    fn skip_unknown_markup(&mut self) -> Flow {
        let start = self.scan.at;
        self.scan.at += 2;
        let next = self
            .scan
            .find_either(b'<', b'>')
            .unwrap_or(self.scan.bytes.len());
        let comment =
            self.comment_end
                .find(self.scan.bytes, &self.scratch.marks.comment_end, start);
        let end = match comment.filter(|&end| end <= next && self.scan.peek() == Some(b'-')) {
            Some(end) => end + 3,
            None => next + usize::from(self.scan.bytes.get(next) == Some(&b'>')),
        };
        self.scan.at = end;
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::UnknownMarkup,
            Span::from_offsets(start, end),
            None,
        )
    }

    fn read_comment(&mut self) -> Flow {
        let start = self.scan.at;
        let content = start + 4;
        let end = self
            .comment_end
            .find(self.scan.bytes, &self.scratch.marks.comment_end, content);
        let bound = end.unwrap_or(self.scan.bytes.len());
        let CommentHyphens {
            dashes,
            arrow,
            nested,
        } = self.find_hyphens(content, bound);
        // `<!-- a <!-- b -->` on one line ends at the `-->`: the fault is the second opening
        // delimiter inside.
        let is_line =
            |end: &usize| arrow.is_none() && !self.scan.slice(content, *end).contains(&b'\n');
        let Some(end) = end.filter(|end| !nested || is_line(end)) else {
            return self.end_unclosed_comment(content, dashes, arrow);
        };
        let dashes = if nested {
            memchr::memmem::find(self.scan.slice(content, end), b"--").map(|at| content + at)
        } else {
            dashes
        };
        self.scan.at = end + 3;
        // `--->`: the last hyphen of the content touches the delimiter.
        let touching = end > content && self.scan.bytes.get(end - 1) == Some(&b'-');
        let found = dashes.or(touching.then(|| end - 1));
        if let Some(at) = found {
            self.mark_open_damaged();
            self.report_fault(
                XmlFaultKind::DashesInComment,
                Span::from_offsets(at, at + 2),
                Some(Span::from_offsets(start, end + 3)),
            )?;
        }
        self.add_node(
            NodeKind::Comment,
            0,
            Span::from_offsets(start, end + 3),
            Span::from_offsets(content, end),
        )?;
        self.report_inner_conflict(content, end)
    }

    /// Searches for hyphens that a comment may not contain, up to the opening delimiter of another
    /// comment.
    fn find_hyphens(&self, content: usize, bound: usize) -> CommentHyphens {
        let mut found = CommentHyphens::default();
        for at in memchr::memchr_iter(b'-', self.scan.slice(content, bound)).map(|at| at + content)
        {
            match self.scan.bytes.get(at + 1) {
                Some(b'-') if at + 1 < bound => {
                    if at >= content + 2 && self.scan.slice(at - 2, at) == b"<!" {
                        found.nested = true;
                        return found;
                    }
                    found.dashes = found.dashes.or(Some(at));
                }
                Some(b'>') if at + 1 < bound => found.arrow = found.arrow.or(Some(at)),
                _ => {}
            }
        }
        found
    }

    /// Ends a comment whose `-->` is missing. It ends at the part of the delimiter that is there:
    /// at its first `--` (`dashes`) or `->` (`arrow`), or else at the end of its line. `content` is
    /// the offset of its content.
    fn end_unclosed_comment(
        &mut self,
        content: usize,
        dashes: Option<usize>,
        arrow: Option<usize>,
    ) -> Flow {
        let start = content - 4;
        self.scan.at = content;
        let (inner, end) = match (dashes, arrow) {
            (Some(dashes), Some(arrow)) if arrow < dashes => (arrow, arrow + 2),
            (Some(dashes), _) => (dashes, dashes + 2),
            (None, Some(arrow)) => (arrow, arrow + 2),
            (None, None) => (self.scan.line_end(), self.scan.line_end()),
        };
        self.scan.at = end;
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::UnclosedComment,
            Span::from_offsets(start, content),
            Some(Span::from_offsets(inner, end)),
        )?;
        self.add_node(
            NodeKind::Comment,
            flag::DAMAGED,
            Span::from_offsets(start, end),
            Span::from_offsets(content, inner),
        )?;
        Ok(())
    }

    /// Reads a CDATA section whose opening delimiter is `mark` bytes long.
    fn read_cdata(&mut self, mark: usize) -> Flow {
        let start = self.scan.at;
        let content = start + mark;
        let end = self
            .cdata_end
            .find(self.scan.bytes, &self.scratch.marks.cdata_end, content);
        let Some(end) = end else {
            return self.end_unclosed_cdata(start, content);
        };
        self.scan.at = end + 3;
        self.add_cdata(
            Span::from_offsets(start, end + 3),
            Span::from_offsets(content, end),
            0,
        )?;
        self.report_inner_conflict(content, end)
    }

    /// The offset and length of `]]` or `]>` at the end of a line or before a tag.
    fn find_partial_cdata_end(&self, content: usize, bound: usize) -> Option<(usize, usize)> {
        let region = self.scan.slice(content, bound);
        memchr::memchr_iter(b']', region).find_map(|at| {
            let follows = region.get(at + 2).copied().unwrap_or(b'\n');
            let pair = matches!(region.get(at + 1), Some(b']' | b'>'));
            (pair && matches!(follows, b'<' | b'\n' | b'\r')).then_some((content + at, 2))
        })
    }

    /// Ends a section that runs into the end of the text at the rest of its delimiter, at the end
    /// tag of its parent, or at the end of its line; and before the next section.
    fn end_unclosed_cdata(&mut self, start: usize, content: usize) -> Flow {
        let nested =
            self.cdata_start
                .find(self.scan.bytes, &self.scratch.marks.cdata_start, content);
        let bound = nested.unwrap_or(self.scan.bytes.len());
        self.scan.at = content;
        let (inner, mark) = match self.find_partial_cdata_end(content, bound) {
            Some(found) => found,
            None => (
                self.find_parent_end(content, bound)
                    .unwrap_or_else(|| self.scan.line_end()),
                0,
            ),
        };
        self.scan.at = inner + mark;
        let end = self.scan.at;
        self.mark_open_damaged();
        self.report_fault(
            XmlFaultKind::UnclosedCdata,
            Span::from_offsets(start, content),
            Some(Span::from_offsets(inner, end)),
        )?;
        self.add_cdata(
            Span::from_offsets(start, end),
            Span::from_offsets(content, inner),
            flag::DAMAGED,
        )
    }

    /// The end tag of the innermost open element.
    fn find_parent_end(&self, content: usize, bound: usize) -> Option<usize> {
        let raw = self.tree.raw(self.scratch.open.last()?.node)?;
        let tag = [b"</", self.name_of(raw)].concat();
        memchr::memmem::find(self.scan.slice(content, bound), &tag).map(|found| content + found)
    }

    fn add_cdata(&mut self, span: Span, inner: Span, flags: u8) -> Flow {
        self.check_text_length(inner.start as usize, inner.end as usize)?;
        let carriage = inner.slice(self.scan.text).contains('\r');
        let flags = flags | if carriage { flag::ENCODED } else { 0 };
        if self.scratch.open.is_empty() {
            self.report_outside(XmlFaultKind::TextOutsideRoot, span)?;
        }
        self.add_node(NodeKind::Cdata, flags, span, inner)?;
        Ok(())
    }

    /// Skips a document type: brackets, quotes and comments in it are respected.
    fn skip_doctype(&mut self) {
        let start = self.scan.at;
        let end = if self.doctype_open {
            None
        } else {
            self.find_doctype_end()
        };
        if end.is_none() {
            self.doctype_open = true;
        }
        self.scan.at = start + 9;
        // Without its bracket it ends at the next tag.
        let near = || {
            self.scan
                .find_either(b'<', b'>')
                .map(|at| at + usize::from(self.scan.bytes.get(at) == Some(&b'>')))
        };
        self.scan.at = end.or_else(near).unwrap_or(self.scan.bytes.len());
        let span = Span::from_offsets(start, self.scan.at);
        self.doctype.get_or_insert(span);
    }

    fn find_doctype_end(&mut self) -> Option<usize> {
        let mut inside = false;
        self.scan.at += 9;
        loop {
            match self.scan.peek()? {
                quote @ (b'"' | b'\'') => {
                    self.scan.at += 1;
                    self.scan.at = self.scan.find_byte(quote)?;
                }
                b'[' => inside = true,
                b']' => inside = false,
                b'>' if !inside => return Some(self.scan.at + 1),
                b'<' if self.scan.starts_with(b"<!--") => {
                    let from = self.scan.at + 4;
                    self.scan.at = self.comment_end.find(
                        self.scan.bytes,
                        &self.scratch.marks.comment_end,
                        from,
                    )? + 2;
                }
                b'<' if self.scan.starts_with(b"<?") => {
                    let from = self.scan.at + 2;
                    let end = self.instruction_end.find(
                        self.scan.bytes,
                        &self.scratch.marks.instruction_end,
                        from,
                    )?;
                    self.scan.at = end + 1;
                }
                _ => {}
            }
            self.scan.at += 1;
        }
    }
}

/// The parts of a comment that XML forbids.
#[derive(Clone, Copy, Debug, Default)]
struct CommentHyphens {
    /// The first `--`.
    dashes: Option<usize>,
    /// The first `->`.
    arrow: Option<usize>,
    /// Another comment begins before this one ends.
    nested: bool,
}
