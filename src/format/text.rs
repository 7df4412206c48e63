//! Prints texts for the agent. The canonical form of a text removes the common indentation of its
//! lines, so a text that begins on a line of its own can move with its element. Nothing else of it
//! changes, and any other text stays unchanged.

use super::items::is_format_off;
use super::printer::Printer;
use super::tag::StartTagEnd;
use crate::base::span::Span;
use crate::syntax::tree::{Element, NodeKind, XmlNode};

/// A line of a text: the source between two line breaks of the text. A comment inside it may
/// contain further line breaks.
#[derive(Clone, Copy, Debug)]
struct TextLine {
    span: Span,
    /// True if the agent receives only white space of it.
    blank: bool,
    /// True if it contains a comment or a tag.
    has_markup: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn print_text(&mut self, element: Element<'a>, depth: usize) {
        let lines = if element.is_empty_tag() {
            None
        } else {
            split_lines(element)
        };
        let Some((first, rest)) = lines
            .as_deref()
            .and_then(<[TextLine]>::split_first)
            .filter(|(first, _)| first.blank)
        else {
            self.print_as_written(element, depth);
            return;
        };
        let rest = trim_blank_lines(rest);
        if rest.is_empty() {
            self.print_as_written(element, depth);
            return;
        }
        let text = self.document.text;
        let common = rest
            .iter()
            .filter(|line| !line.blank)
            .map(|line| indentation(line.span.slice(text)))
            .reduce(common_prefix)
            .unwrap_or("");
        self.print_start_tag(element, depth, StartTagEnd::Open);
        if first.has_markup {
            self.out
                .push_str(first.span.slice(text).trim_end_matches([' ', '\t']));
        }
        for line in rest {
            let written = line.span.slice(text);
            if line.blank && !line.has_markup {
                self.end_line();
                continue;
            }
            self.new_line(depth + 1);
            let own = if line.blank {
                Some(written.trim_matches([' ', '\t']))
            } else {
                written.strip_prefix(common)
            };
            self.out.push_str(own.unwrap_or(written));
        }
        self.new_line(depth);
        self.print_end_tag(element);
    }
}

/// Returns the lines of a text; `None` if its white space is written in a form that hides the
/// beginnings of lines.
fn split_lines(element: Element<'_>) -> Option<Vec<TextLine>> {
    let text = element.document().text;
    let mut lines = Vec::new();
    let mut line = TextLine {
        span: Span::empty_at(element.inner().start),
        blank: true,
        has_markup: false,
    };
    for node in element.children() {
        if !is_plain(node, text) {
            return None;
        }
        let span = node.span();
        if node.kind() != NodeKind::Text {
            line.has_markup = true;
            line.blank &= matches!(node.kind(), NodeKind::Comment | NodeKind::Instruction);
            continue;
        }
        let mut at = span.start;
        for part in span.slice(text).split_inclusive('\n') {
            line.blank &= part.trim_matches([' ', '\t', '\r', '\n']).is_empty();
            at += part.len() as u32;
            if let Some(body) = part.strip_suffix('\n') {
                let carriage = u32::from(body.ends_with('\r'));
                lines.push(TextLine {
                    span: Span::new(line.span.start, at - 1 - carriage),
                    ..line
                });
                line = TextLine {
                    span: Span::empty_at(at),
                    blank: true,
                    has_markup: false,
                };
            }
        }
    }
    lines.push(TextLine {
        span: Span::new(line.span.start, element.inner().end),
        ..line
    });
    Some(lines)
}

/// True if the white space of a node is visible in the source: no references to blanks, no CDATA of
/// several lines, no lone carriage returns, no element other than `use`.
fn is_plain(node: XmlNode<'_>, text: &str) -> bool {
    let written = node.span().slice(text);
    match node.kind() {
        NodeKind::Text => !written.contains("&#") && !has_lone_carriage(written),
        NodeKind::Cdata => {
            let inner = node.inner().slice(text);
            !inner.contains(['\n', '\r']) && !inner.trim_matches([' ', '\t']).is_empty()
        }
        NodeKind::Element => node
            .as_element()
            .is_some_and(|inside| inside.namespace().is_none() && inside.name() == "use"),
        NodeKind::Instruction => !is_format_off(node),
        NodeKind::Comment => true,
    }
}

fn has_lone_carriage(text: &str) -> bool {
    text.bytes()
        .zip(text.bytes().skip(1).chain([0]))
        .any(|(byte, next)| byte == b'\r' && next != b'\n')
}

fn trim_blank_lines(lines: &[TextLine]) -> &[TextLine] {
    let is_kept = |line: &TextLine| !line.blank || line.has_markup;
    let start = lines.iter().position(is_kept).unwrap_or(lines.len());
    let end = lines
        .iter()
        .rposition(is_kept)
        .map_or(start, |last| last + 1);
    lines.get(start..end).unwrap_or(&[])
}

fn indentation(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len())
        .unwrap_or("")
}

/// The longest common prefix.
fn common_prefix<'a>(a: &'a str, b: &'a str) -> &'a str {
    let length = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    a.get(..length).unwrap_or("")
}
