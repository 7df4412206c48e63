//! Prints texts for the agent. The canonical form of a text removes the common indentation of its
//! lines, so a text that begins on a line of its own can move with its element. Nothing else of it
//! changes, and any other text stays unchanged.

use super::items::turns_off;
use super::printer::Printer;
use super::tag::End;
use crate::base::span::Span;
use crate::syntax::tree::{Element, Kind, Node};

/// A line of a text: the source between two line breaks of the text. A comment inside it may
/// contain further line breaks.
#[derive(Clone, Copy, Debug)]
struct Line {
    span: Span,
    /// True if the agent receives only white space of it.
    blank: bool,
    /// True if it contains a comment or a tag.
    marked: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn of_text(&mut self, element: Element<'a>, depth: usize) {
        let lines = if element.is_empty_tag() {
            None
        } else {
            lines(element)
        };
        let Some((first, rest)) = lines
            .as_deref()
            .and_then(<[Line]>::split_first)
            .filter(|(first, _)| first.blank)
        else {
            self.as_written(element, depth);
            return;
        };
        let rest = without_blank_ends(rest);
        if rest.is_empty() {
            self.as_written(element, depth);
            return;
        }
        let text = self.document.text;
        let common = rest
            .iter()
            .filter(|line| !line.blank)
            .map(|line| blanks(line.span.slice(text)))
            .reduce(common)
            .unwrap_or("");
        self.start_tag(element, depth, End::Open);
        if first.marked {
            self.out
                .push_str(first.span.slice(text).trim_end_matches([' ', '\t']));
        }
        for line in rest {
            let written = line.span.slice(text);
            if line.blank && !line.marked {
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
        self.end_tag(element);
    }
}

/// Returns the lines of a text; `None` if its white space is written in a form that hides the
/// beginnings of lines.
fn lines(element: Element<'_>) -> Option<Vec<Line>> {
    let text = element.document().text;
    let mut lines = Vec::new();
    let mut line = Line {
        span: Span::at(element.inner().start),
        blank: true,
        marked: false,
    };
    for node in element.children() {
        if !is_plain(node, text) {
            return None;
        }
        let span = node.span();
        if node.kind() != Kind::Text {
            line.marked = true;
            line.blank &= matches!(node.kind(), Kind::Comment | Kind::Instruction);
            continue;
        }
        let mut at = span.start;
        for part in span.slice(text).split_inclusive('\n') {
            line.blank &= part.trim_matches([' ', '\t', '\r', '\n']).is_empty();
            at += part.len() as u32;
            if let Some(body) = part.strip_suffix('\n') {
                let carriage = u32::from(body.ends_with('\r'));
                lines.push(Line {
                    span: Span::new(line.span.start, at - 1 - carriage),
                    ..line
                });
                line = Line {
                    span: Span::at(at),
                    blank: true,
                    marked: false,
                };
            }
        }
    }
    lines.push(Line {
        span: Span::new(line.span.start, element.inner().end),
        ..line
    });
    Some(lines)
}

/// True if the white space of a node is visible in the source: no references to blanks, no CDATA of
/// several lines, no lone carriage returns, no element other than `use`.
fn is_plain(node: Node<'_>, text: &str) -> bool {
    let written = node.span().slice(text);
    match node.kind() {
        Kind::Text => !written.contains("&#") && !has_lone_carriage(written),
        Kind::Cdata => {
            let inner = node.inner().slice(text);
            !inner.contains(['\n', '\r']) && !inner.trim_matches([' ', '\t']).is_empty()
        }
        Kind::Element => node
            .as_element()
            .is_some_and(|inside| inside.namespace().is_none() && inside.name() == "use"),
        Kind::Instruction => !turns_off(node),
        Kind::Comment => true,
    }
}

fn has_lone_carriage(text: &str) -> bool {
    text.bytes()
        .zip(text.bytes().skip(1).chain([0]))
        .any(|(byte, next)| byte == b'\r' && next != b'\n')
}

fn without_blank_ends(lines: &[Line]) -> &[Line] {
    let is_kept = |line: &Line| !line.blank || line.marked;
    let start = lines.iter().position(is_kept).unwrap_or(lines.len());
    let end = lines
        .iter()
        .rposition(is_kept)
        .map_or(start, |last| last + 1);
    lines.get(start..end).unwrap_or(&[])
}

fn blanks(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len())
        .unwrap_or("")
}

/// The longest common prefix.
fn common<'a>(a: &'a str, b: &'a str) -> &'a str {
    let length = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    a.get(..length).unwrap_or("")
}
