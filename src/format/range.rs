//! A part of a template laid out: the items of the innermost list that a range reaches, as a format of the whole would
//! have them. What stands around them stays.

use super::options::Options;
use super::printer::{Broken, Mark, Printer, print, read};
use crate::base::fix::Edit;
use crate::base::lines;
use crate::base::span::Span;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::syntax::tree::{Document, Element, Node};

/// The edits that lay out what a range of bytes touches; none when it is as it should be, or nothing stands there.
///
/// # Errors
/// The text has syntax errors, wherever they are, or is no template.
///
/// ```
/// use ctxc::internals::base::{fix, span::Span};
/// use ctxc::internals::format::{Options, format_range};
/// let text = "<task  name='t'>\n<model >small</model>\n</task>\n";
/// let edits = format_range(text, &ctxc::internals::syntax::Limits::default(), Span::new(20, 25), Options::default()).unwrap();
/// assert_eq!(fix::apply(text, &edits).unwrap(), "<task  name='t'>\n  <model>small</model>\n</task>\n");
/// ```
pub fn format_range(text: &str, limits: &Limits, range: Span, options: Options) -> Result<Vec<Edit>, Broken> {
    let mut reader = Reader::new();
    let document = read(&mut reader, text, limits)?;
    let printer = print(document, options)?;
    if range.start == 0 && range.end as usize >= text.len() {
        return Ok(changes(text, Span::of(0, text.len()), &printer.out));
    }
    if range.start > range.end || range.start as usize >= text.len() {
        return Ok(Vec::new());
    }
    let touched = touched(document, range, &printer);
    let (Some(first), Some(last)) = (touched.first(), touched.last()) else { return Ok(Vec::new()) };
    // In the order of the settings the first that stood there need not be the first that stands there now.
    let from = Span::new(first.from.start, last.from.end);
    let to = touched.iter().fold(first.to, |all, mark| all.cover(mark.to));
    let indented = |text: &str, start: u32| {
        let before = text.get(..start as usize).unwrap_or("");
        let line = before.trim_end_matches([' ', '\t']);
        if line.is_empty() || line.ends_with(['\n', '\r']) { line.len() as u32 } else { start }
    };
    let from_start = indented(text, from.start);
    let to_start = indented(&printer.out, to.start);
    // Indentation is taken along only where both begin a line.
    let both = (from_start < from.start || is_line_start(text, from.start)) && is_line_start(&printer.out, to_start);
    let (from, to) = if both { (Span::new(from_start, from.end), Span::new(to_start, to.end)) } else { (from, to) };
    Ok(changes(text, from, to.slice(&printer.out)))
}

fn is_line_start(text: &str, at: u32) -> bool {
    text.get(..at as usize).is_some_and(|before| before.is_empty() || before.ends_with(['\n', '\r']))
}

/// The items of one list that a range reaches: of the innermost list whose element encloses it.
fn touched(document: Document<'_>, range: Span, printer: &Printer<'_>) -> Vec<Mark> {
    // No two items begin at one place, and what is kept as it is begins with the instruction that says so.
    let mut sorted: Vec<Mark> = printer.marks.clone();
    sorted.sort_by_key(|mark| mark.from.start);
    let find = |span: Span| {
        let at = sorted.binary_search_by_key(&span.start, |mark| mark.from.start).ok();
        at.and_then(|at| sorted.get(at)).copied()
    };
    let mut around = document.element_at(range.start);
    while let Some(element) = around {
        if element.inner().encloses(range)
            && let Some(list) = in_list(element, range, &find)
        {
            return list;
        }
        if element.span().encloses(range)
            && let Some(mark) = find(element.span())
        {
            return of_tags(element, range, mark, &printer.out, is_list(element, &find)).unwrap_or_else(|| vec![mark]);
        }
        around = element.parent();
    }
    let top = document.nodes().map(Node::span).filter(|span| meets(*span, range));
    top.filter_map(find).collect()
}

/// What a range inside of one tag of an element means: the start tag alone, and nothing of an end tag around a list, so that what
/// stands between the two stays. `None` where the range reaches further, or the tags become another kind of tag.
fn of_tags(element: Element<'_>, range: Span, mark: Mark, out: &str, is_list: bool) -> Option<Vec<Mark>> {
    let tag = element.start_tag();
    if element.end_tag().is_some_and(|end| end.encloses(range)) {
        return is_list.then(Vec::new);
    }
    let printed = start_tag(mark.to, out)?;
    let is_same = element.is_empty_tag() == printed.slice(out).ends_with("/>");
    (tag.encloses(range) && is_same).then(|| vec![Mark { from: tag, to: printed }])
}

/// Whether what stands in an element is laid out as a list.
fn is_list(element: Element<'_>, find: &impl Fn(Span) -> Option<Mark>) -> bool {
    element.children().any(|node| find(node.span()).is_some())
}

/// The start tag that something printed begins with.
fn start_tag(within: Span, out: &str) -> Option<Span> {
    let mut quote = None;
    if !within.slice(out).starts_with('<') {
        return None;
    }
    for (at, c) in within.slice(out).char_indices() {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return Some(Span::new(within.start, within.start + at as u32 + 1)),
            _ => {}
        }
    }
    None
}

/// The items of an element's own list that a range meets: none where it lies between two. `None` where the element is not
/// laid out as a list, or its list was put in another order, which makes it one piece.
fn in_list(element: Element<'_>, range: Span, find: &impl Fn(Span) -> Option<Mark>) -> Option<Vec<Mark>> {
    let all: Vec<Mark> = element.children().filter_map(|node| find(node.span())).collect();
    if all.is_empty() || !all.is_sorted_by_key(|mark| mark.to.start) {
        return None;
    }
    Some(all.into_iter().filter(|mark| meets(mark.from, range)).collect())
}

/// Whether a range reaches a span; one that is empty reaches what it stands at the edge of.
const fn meets(span: Span, range: Span) -> bool {
    if range.start == range.end {
        return span.start <= range.end && range.start <= span.end;
    }
    span.start < range.end && range.start < span.end
}

/// The edits that make a part of a text another one.
fn changes(text: &str, span: Span, new: &str) -> Vec<Edit> {
    let moved = |edit: Edit| Edit::replace(Span::new(span.start + edit.span.start, span.start + edit.span.end), edit.insert);
    lines::edits(span.slice(text), new).into_iter().map(moved).collect()
}
