//! What is wrong with a regular expression or a `JSONPath`, told by parsing alone: nothing is compiled here, so nothing is
//! compiled twice. The only door to both parsers, and to what a path selects.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternFault {
    /// Why, as a fragment.
    pub reason: String,
    /// The first byte at fault.
    pub at: usize,
    /// One past the last.
    pub end: usize,
}

/// Characters that mean something in a pattern.
const SIGNS: [char; 15] = ['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$', '#'];

/// Bytes of a pattern at most: no text that a person looks for is longer.
const LONGEST: usize = 10_000;

/// What a pattern may unfold into, as [`size`] counts it: about a mebibyte when it is compiled.
const LARGEST: u64 = 40_000;

/// Bytes of a path at most.
const LONGEST_PATH: usize = 1000;

/// Brackets of a path inside each other at most.
const DEEPEST: usize = 12;

/// What is wrong with a pattern of the crate `regex`; `None` where it is sound.
pub fn fault(pattern: &str) -> Option<PatternFault> {
    if pattern.len() > LONGEST {
        let reason = format!("it has {} bytes; the limit is {LONGEST}", pattern.len());
        return Some(PatternFault { reason, at: 0, end: pattern.len() });
    }
    let hir = match parse(pattern) {
        Ok(hir) => hir?,
        Err(fault) => return Some(fault),
    };
    let size = size(&hir);
    let reason = || format!("with its repetitions it unfolds into {size} parts; the limit is {LARGEST}");
    (size > LARGEST).then(|| PatternFault { reason: reason(), at: 0, end: pattern.len() })
}

/// What a pattern unfolds into, roughly: the bytes that it looks for, a class of many characters as its ranges, all of it as often as it
/// is repeated. As deep as the parser lets a pattern nest.
fn size(hir: &Hir) -> u64 {
    let all = |parts: &[Hir]| parts.iter().map(size).fold(1, u64::saturating_add);
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1,
        HirKind::Class(Class::Unicode(class)) => (class.ranges().len() as u64).max(12),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            size(&repetition.sub).saturating_mul(u64::from(times)).saturating_add(1)
        }
        HirKind::Capture(capture) => size(&capture.sub).saturating_add(1),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
    }
}

fn parse(pattern: &str) -> Result<Option<Hir>, PatternFault> {
    if !pattern.contains(SIGNS) {
        return Ok(None);
    }
    regex_syntax::parse(pattern).map(Some).map_err(|error| {
        let (reason, span) = match &error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
            _ => (error.to_string(), None),
        };
        let (at, end) = span.map_or((0, pattern.len()), |span| (span.start.offset, span.end.offset));
        PatternFault { reason, at, end }
    })
}

/// Whether no text at all matches, whatever stands before and behind: `[^\s\S]`.
pub fn is_impossible(pattern: &str) -> bool {
    matches!(parse(pattern), Ok(Some(hir)) if hir.properties().minimum_len().is_none())
}

/// Whether every text matches: `x*`, and nothing at all.
pub fn is_everywhere(pattern: &str) -> bool {
    let Ok(Some(hir)) = parse(pattern) else { return pattern.is_empty() };
    hir.properties().minimum_len() == Some(0) && hir.properties().look_set().is_empty()
}

/// The byte at which a path stops being one.
pub fn path(path: &str) -> Result<(), usize> {
    JsonPath::parse(path).map(drop)
}

/// An RFC 9535 path, and what bounds its work: each node is looked at once for each way that leads to it.
#[derive(Clone, Debug)]
pub struct JsonPath {
    path: serde_json_path::JsonPath,
    ways: PathFanOut,
}

/// What makes a path lead to a node in several ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PathFanOut {
    /// `..`: each leads from a node to all under it, and so each but the first to a node from all above.
    descents: u32,
    /// `$` after the first: each begins anew for every node that a filter looks at.
    roots: u32,
    /// How many selectors its brackets list, multiplied.
    lists: u64,
}

/// Nodes that a path may look at.
const NODES: u64 = 2_000_000;

impl JsonPath {
    /// Reads a path; the byte at which it stops being one.
    ///
    /// One that is longer, or deeper, than anybody writes is refused where it becomes so: its parser recurses.
    pub fn parse(path: &str) -> Result<Self, usize> {
        let mut depth = 0_usize;
        for (at, sign) in path.char_indices() {
            match sign {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEEPEST || at >= LONGEST_PATH {
                return Err(at);
            }
        }
        match serde_json_path::JsonPath::parse(path) {
            Ok(parsed) => Ok(Self { path: parsed, ways: ways(path) }),
            Err(error) => Err(path.floor_char_boundary(error.position().min(path.len()))),
        }
    }

    /// The nodes that it selects, in the order of the document, with the place of each.
    ///
    /// # Errors
    /// Nodes that it would have to look at, and may not: a path of a thousand bytes can ask for more than there are atoms.
    pub fn select<'v>(&self, value: &'v Value) -> Result<Vec<(String, &'v Value)>, TooManyNodes> {
        self.afford(value)?;
        Ok(self.path.query_located(value).iter().map(|node| (node.location().to_string(), node.node())).collect())
    }

    fn afford(&self, value: &Value) -> Result<(), TooManyNodes> {
        let PathFanOut { descents, roots, lists } = self.ways;
        let (nodes, depth) = extent(value);
        let work = nodes
            .saturating_pow(1 + roots)
            .saturating_mul(depth.saturating_pow(descents.saturating_sub(1)))
            .saturating_mul(lists);
        if work > NODES { Err(TooManyNodes { nodes, most: NODES }) } else { Ok(()) }
    }
}

/// A path that would look at more nodes than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "in {nodes} values it may lead to more than {most} nodes; fewer `..` and lists, and no `$` inside of a filter, lead to fewer"
)]
pub struct TooManyNodes {
    /// Values in the answer.
    pub nodes: u64,
    /// Nodes at most.
    pub most: u64,
}

/// What multiplies the work of a path that can be read.
fn ways(path: &str) -> PathFanOut {
    let mut ways = PathFanOut { descents: 0, roots: 0, lists: 1 };
    let bytes = path.as_bytes();
    let mut at = 0;
    let mut listed = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => {
                at += 1;
                while let Some(&inner) = bytes.get(at).filter(|inner| **inner != byte) {
                    at += if inner == b'\\' { 2 } else { 1 };
                }
            }
            b'.' if bytes.get(at + 1) == Some(&b'.') => {
                ways.descents += 1;
                at += 1;
            }
            b'$' if at > 0 => ways.roots += 1,
            b'[' | b'(' => listed.push(1_u64),
            b',' => listed.last_mut().into_iter().for_each(|count| *count += 1),
            b']' | b')' => ways.lists = ways.lists.saturating_mul(listed.pop().unwrap_or(1)),
            _ => {}
        }
        at += 1;
    }
    ways
}

/// How many values there are in a value, itself included, and how deep they nest.
fn extent(value: &Value) -> (u64, u64) {
    let mut open = vec![(value, 1)];
    let mut nodes = 0;
    let mut deepest = 0;
    while let Some((value, depth)) = open.pop() {
        nodes += 1;
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|field| (field, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    (nodes, deepest)
}
