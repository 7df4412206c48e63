//! `<?ctxc allow no-context reason="…"?>`: silences findings of its parent element, but not of
//! tasks nested in that element.
//!
//! Collects and matches the instructions only. Findings about the instructions themselves are
//! ordinary rules.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Code;
use crate::base::span::{Span, Spanned};
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::syntax::tree::{Element, NodeId, NodeKind, XmlDocument, XmlNode};
use std::collections::{BTreeMap, HashMap};

/// Elements that are tasks of their own. An `allow` outside such an element does not apply inside
/// it.
const BODIES: &[&str] = &[
    "task",
    "template",
    "inner_task",
    "reduction_task",
    "director",
    "evaluator",
    "script_execution",
    "fragment",
    "call",
];

/// Elements with a name in the registry.
const DEFINITIONS: &[&str] = &["task", "template", "fragment"];

/// One `<?ctxc …?>` instruction.
#[derive(Debug)]
pub(super) struct Instruction<'a> {
    /// The whole instruction, including `<?` and `?>`.
    pub(super) span: Span,
    /// `allow`, or the word written in its place.
    pub(super) verb: Spanned<&'a str>,
    /// The rules that it names. The flag is true if the name silenced a finding, or may have done
    /// so because its element is damaged.
    pub(super) names: Vec<(Spanned<&'a str>, bool)>,
    /// True if the instruction gives a reason.
    pub(super) has_reason: bool,
    /// The element whose findings are silenced. An instruction outside the root element applies to
    /// the root; `None` if the document has no root.
    parent: Option<NodeId>,
}

impl Instruction<'_> {
    pub(super) fn is_allow(&self) -> bool {
        self.verb.value == "allow"
    }
}

/// Returns every `<?ctxc …?>` of a document. Costs nothing if the document has no processing
/// instruction.
pub(super) fn collect_instructions(document: XmlDocument<'_>) -> Vec<Instruction<'_>> {
    if !document.has_instructions() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for node in document.all_nodes() {
        if node.kind() != NodeKind::Instruction {
            continue;
        }
        let Some(("ctxc", _)) = node.instruction() else {
            continue;
        };
        found.push(parse_instruction(
            document.text,
            node.span(),
            node.inner(),
            node.parent().or_else(|| document.root()),
        ));
    }
    found
}

/// A rule that instructions silence in one part of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowCount {
    /// The name of the definition; `None` outside all named definitions.
    pub definition: Option<String>,
    /// The nearest named element inside the definition; `None` for the definition as a whole.
    pub part: Option<String>,
    /// The name of the rule as written in the instruction.
    pub rule: String,
    /// The number of instructions that name the rule.
    pub count: u32,
    /// The number of elements between the definition and the outermost of these instructions.
    pub depth: u32,
}

/// Counts the rules that the instructions of a template silence.
pub fn count_allowed_rules(text: &str) -> Vec<AllowCount> {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let document = reader.document(text);
    let mut rules: BTreeMap<_, (u32, u32)> = BTreeMap::new();
    for instruction in collect_instructions(document)
        .iter()
        .filter(|instruction| instruction.is_allow())
    {
        let parent = document
            .all_nodes()
            .find(|node| node.span() == instruction.span)
            .and_then(XmlNode::parent);
        let around = std::iter::successors(parent.or_else(|| document.root()), |element| {
            element.parent()
        })
        .collect::<Vec<_>>();
        let name = |element: &Element<'_>, key: &str| {
            element.attribute(key).map(|name| name.value().into_owned())
        };
        let is_definition = |element: &Element<'_>| {
            DEFINITIONS.contains(&element.local_name()) && name(element, "name").is_some()
        };
        let depth = around.iter().rposition(is_definition);
        let inside = around
            .get(..depth.unwrap_or(around.len()))
            .unwrap_or_default();
        let definition = depth.and_then(|depth| name(around.get(depth)?, "name"));
        let part = inside
            .iter()
            .find_map(|element| name(element, "as").or_else(|| name(element, "name")));
        for (rule, _) in &instruction.names {
            let key = (definition.clone(), part.clone(), rule.value.to_owned());
            let (count, depth) = rules.entry(key).or_insert((0, u32::MAX));
            *count += 1;
            *depth = (*depth).min(u32::try_from(inside.len()).unwrap_or(u32::MAX));
        }
    }
    let one = |((definition, part, rule), (count, depth))| AllowCount {
        definition,
        part,
        rule,
        count,
        depth,
    };
    rules.into_iter().map(one).collect()
}

fn parse_instruction<'a>(
    text: &'a str,
    span: Span,
    inner: Span,
    parent: Option<Element<'_>>,
) -> Instruction<'a> {
    let may_be_used = parent.is_none_or(Element::is_damaged);
    let mut words = split_words(text, inner).skip(1);
    let verb = words
        .next()
        .unwrap_or(Spanned::new("", Span::empty_at(inner.end)));
    let names = words
        .take_while(|word| !is_reason(word))
        .map(|word| (word, may_be_used))
        .collect();
    let has_reason = self::split_words(text, inner)
        .find(is_reason)
        .is_some_and(|word| {
            has_reason_text(text.get(word.span.start as usize..inner.end as usize))
        });
    Instruction {
        span,
        verb,
        names,
        has_reason,
        parent: parent.map(Element::id),
    }
}

fn is_reason(word: &Spanned<&str>) -> bool {
    word.value.starts_with("reason")
}

/// True if `reason="…"` has more than white space between its quotes.
fn has_reason_text(written: Option<&str>) -> bool {
    let value = written.and_then(|written| {
        written
            .strip_prefix("reason")?
            .trim_start()
            .strip_prefix('=')
    });
    value.is_some_and(|value| !value.trim().trim_matches(['"', '\'']).trim().is_empty())
}

/// Splits a text into words separated by white space or commas, with their spans.
fn split_words(text: &str, within: Span) -> impl Iterator<Item = Spanned<&str>> {
    let content = within.slice(text);
    content
        .split(|c: char| c.is_ascii_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .map(move |word| {
            // `word` is a slice of `content`, so the distance of their starts is its offset.
            let offset = word.as_ptr().addr() - content.as_ptr().addr();
            let start = within.start + offset as u32;
            Spanned::new(word, Span::new(start, start + word.len() as u32))
        })
}

/// For each element and rule, the indexes (instruction, name) of the names that silence it.
pub(super) struct Silencers(HashMap<(NodeId, Code), Vec<(usize, usize)>>);

impl Silencers {
    /// Collects the names of all `allow` instructions.
    pub(super) fn from_instructions(instructions: &[Instruction<'_>]) -> Self {
        let mut all: HashMap<(NodeId, Code), Vec<(usize, usize)>> = HashMap::new();
        for (at, instruction) in instructions
            .iter()
            .enumerate()
            .filter(|(_, instruction)| instruction.is_allow())
        {
            for (number, (name, _)) in instruction.names.iter().enumerate() {
                if let (Some(parent), Some(rule)) =
                    (instruction.parent, super::list::find_rule(name.value))
                {
                    all.entry((parent, rule.meta.code))
                        .or_default()
                        .push((at, number));
                }
            }
        }
        Self(all)
    }

    /// Returns true if an instruction silences the finding, and marks the names that do as used.
    pub(super) fn silence(
        &mut self,
        instructions: &mut [Instruction<'_>],
        document: XmlDocument<'_>,
        finding: &Diagnostic,
    ) -> bool {
        if self.0.is_empty() || finding.locked {
            return false;
        }
        let mut silenced = false;
        let mut element = document.element_at(finding.span.start);
        while let Some(at) = element {
            if let Some(by) = self.0.get_mut(&(at.id(), finding.rule.code)) {
                silenced = true;
                // A name needs to be marked only once.
                for (instruction, number) in by.drain(..) {
                    let name = instructions
                        .get_mut(instruction)
                        .and_then(|instruction| instruction.names.get_mut(number));
                    if let Some((_, used)) = name {
                        *used = true;
                    }
                }
            }
            if BODIES.contains(&at.local_name()) {
                break;
            }
            element = at.parent();
        }
        silenced
    }
}
