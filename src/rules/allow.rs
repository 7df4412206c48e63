//! `<?ctxc allow no-context reason="…"?>`: silences findings of its parent element, and of nothing beneath it that
//! is a task of its own.
//!
//! Collects and matches only; the findings about the instructions themselves are rules like any other.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Code;
use crate::base::span::{Span, Spanned};
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::syntax::tree::{Document, Element, Kind, NodeId};
use std::collections::{BTreeMap, HashMap};

/// Elements that are tasks of their own: an `allow` outside does not reach into them.
const BODIES: &[&str] =
    &["task", "template", "inner_task", "reduction_task", "director", "evaluator", "script_execution", "fragment", "call"];

/// One `<?ctxc …?>` instruction.
#[derive(Debug)]
pub(super) struct Instruction<'a> {
    /// All of it, with its marks.
    pub(super) span: Span,
    /// `allow`, or what was written in its place.
    pub(super) verb: Spanned<&'a str>,
    /// The rules named, each with whether it silenced anything, or may have, where its element is damaged.
    pub(super) names: Vec<(Spanned<&'a str>, bool)>,
    /// Whether it says why.
    pub(super) has_reason: bool,
    /// The element it speaks for; `None` outside the root element: then it speaks for the root.
    parent: Option<NodeId>,
}

impl Instruction<'_> {
    /// Whether it silences findings.
    pub(super) fn is_allow(&self) -> bool {
        self.verb.value == "allow"
    }
}

/// Every `<?ctxc …?>` of a document; free where there is none.
pub(super) fn collect(document: Document<'_>) -> Vec<Instruction<'_>> {
    if !document.has_instructions() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for node in document.all_nodes() {
        if node.kind() != Kind::Instruction {
            continue;
        }
        let Some(("ctxc", _)) = node.instruction() else { continue };
        found.push(parse(document.text, node.span(), node.inner(), node.parent().or_else(|| document.root())));
    }
    found
}

/// The rules that the instructions of a template silence, each with how often it is named.
pub fn counted(text: &str) -> BTreeMap<String, u32> {
    let mut reader = Reader::new();
    reader.read(text, &Limits::default());
    let mut rules = BTreeMap::new();
    for instruction in collect(reader.document(text)).iter().filter(|instruction| instruction.is_allow()) {
        for (name, _) in &instruction.names {
            *rules.entry(name.value.to_owned()).or_default() += 1;
        }
    }
    rules
}

fn parse<'a>(text: &'a str, span: Span, inner: Span, parent: Option<Element<'_>>) -> Instruction<'a> {
    let may_be_used = parent.is_none_or(Element::is_damaged);
    let mut words = words(text, inner).skip(1);
    let verb = words.next().unwrap_or(Spanned::new("", Span::at(inner.end)));
    let names = words.take_while(|word| !is_reason(word)).map(|word| (word, may_be_used)).collect();
    let has_reason = self::words(text, inner)
        .find(is_reason)
        .is_some_and(|word| says_why(text.get(word.span.start as usize..inner.end as usize)));
    Instruction { span, verb, names, has_reason, parent: parent.map(Element::id) }
}

fn is_reason(word: &Spanned<&str>) -> bool {
    word.value.starts_with("reason")
}

/// Whether `reason="…"` has more than white space between its quotes.
fn says_why(written: Option<&str>) -> bool {
    let value = written.and_then(|written| written.strip_prefix("reason")?.trim_start().strip_prefix('='));
    value.is_some_and(|value| !value.trim().trim_matches(['"', '\'']).trim().is_empty())
}

/// Words separated by white space or commas, with their places.
fn words(text: &str, within: Span) -> impl Iterator<Item = Spanned<&str>> {
    let content = within.slice(text);
    content.split(|c: char| c.is_ascii_whitespace() || c == ',').filter(|word| !word.is_empty()).map(move |word| {
        // `word` is a slice of `content`, so the distance of their starts is its offset.
        let offset = word.as_ptr().addr() - content.as_ptr().addr();
        let start = within.start + offset as u32;
        Spanned::new(word, Span::new(start, start + word.len() as u32))
    })
}

/// What the instructions of a document silence: for each element and rule, the names that say so.
pub(super) struct Silencers(HashMap<(NodeId, Code), Vec<(usize, usize)>>);

impl Silencers {
    /// Of the instructions that silence findings.
    pub(super) fn of(instructions: &[Instruction<'_>]) -> Self {
        let mut all: HashMap<(NodeId, Code), Vec<(usize, usize)>> = HashMap::new();
        for (at, instruction) in instructions.iter().enumerate().filter(|(_, instruction)| instruction.is_allow()) {
            for (number, (name, _)) in instruction.names.iter().enumerate() {
                if let (Some(parent), Some(rule)) = (instruction.parent, super::list::find(name.value)) {
                    all.entry((parent, rule.meta.code)).or_default().push((at, number));
                }
            }
        }
        Self(all)
    }

    /// Whether some instruction silences the finding; marks those that do as used.
    pub(super) fn silence(&mut self, instructions: &mut [Instruction<'_>], document: Document<'_>, finding: &Diagnostic) -> bool {
        if self.0.is_empty() || finding.locked {
            return false;
        }
        let mut silenced = false;
        let mut element = document.element_at(finding.span.start);
        while let Some(at) = element {
            if let Some(by) = self.0.get_mut(&(at.id(), finding.rule.code)) {
                silenced = true;
                // Marked once, they need no second mark.
                for (instruction, number) in by.drain(..) {
                    let name = instructions.get_mut(instruction).and_then(|instruction| instruction.names.get_mut(number));
                    if let Some((_, used)) = name {
                        *used = true;
                    }
                }
            }
            if BODIES.contains(&at.local()) {
                break;
            }
            element = at.parent();
        }
        silenced
    }
}
