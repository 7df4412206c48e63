//! Checks regular expressions and `JSONPath`s by parsing alone. Compiles nothing, so that nothing
//! is compiled twice. The only module that uses the two parsers and evaluates paths.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

/// A mistake in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternFault {
    /// The reason, as a fragment.
    pub reason: String,
    /// The first byte of the mistake.
    pub at: usize,
    /// The byte after its end.
    pub end: usize,
}

/// Characters with a meaning in a pattern.
const META_CHARS: [char; 15] = [
    '\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$', '#',
];

/// The maximum length of a pattern in bytes; no text that a person searches for is longer.
const MAX_PATTERN_BYTES: usize = 10_000;

/// The maximum expanded size of a pattern, as [`expanded_size`] counts it: about a mebibyte when
/// compiled.
const MAX_EXPANDED_SIZE: u64 = 40_000;

/// The maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 1000;

/// The maximum depth of nested brackets of a path.
const MAX_PATH_DEPTH: usize = 12;

/// Returns the mistake in a pattern of the crate `regex`; `None` if it is valid.
pub fn find_fault(pattern: &str) -> Option<PatternFault> {
    if pattern.len() > MAX_PATTERN_BYTES {
        let reason = format!(
            "it has {} bytes; the limit is {MAX_PATTERN_BYTES}",
            pattern.len()
        );
        return Some(PatternFault {
            reason,
            at: 0,
            end: pattern.len(),
        });
    }
    let hir = match parse_pattern(pattern) {
        Ok(hir) => hir?,
        Err(fault) => return Some(fault),
    };
    let size = expanded_size(&hir);
    let reason = || {
        format!(
            "with its repetitions it unfolds into {size} parts; the limit is {MAX_EXPANDED_SIZE}"
        )
    };
    (size > MAX_EXPANDED_SIZE).then(|| PatternFault {
        reason: reason(),
        at: 0,
        end: pattern.len(),
    })
}

/// Estimates the expanded size of a pattern: the bytes of literals and the ranges of character
/// classes, each multiplied by its repetitions. Recurses as deep as the parser lets a pattern nest.
fn expanded_size(hir: &Hir) -> u64 {
    let all = |parts: &[Hir]| parts.iter().map(expanded_size).fold(1, u64::saturating_add);
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1,
        HirKind::Class(Class::Unicode(class)) => (class.ranges().len() as u64).max(12),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            expanded_size(&repetition.sub)
                .saturating_mul(u64::from(times))
                .saturating_add(1)
        }
        HirKind::Capture(capture) => expanded_size(&capture.sub).saturating_add(1),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
    }
}

fn parse_pattern(pattern: &str) -> Result<Option<Hir>, PatternFault> {
    if !pattern.contains(META_CHARS) {
        return Ok(None);
    }
    regex_syntax::parse(pattern).map(Some).map_err(|error| {
        let (reason, span) = match &error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
            _ => (error.to_string(), None),
        };
        let (at, end) = span.map_or((0, pattern.len()), |span| {
            (span.start.offset, span.end.offset)
        });
        PatternFault { reason, at, end }
    })
}

/// Returns true if no text can match, as for `[^\s\S]`.
pub fn never_matches(pattern: &str) -> bool {
    matches!(parse_pattern(pattern), Ok(Some(hir)) if hir.properties().minimum_len().is_none())
}

/// Returns true if every text matches, as for `x*` and the empty pattern.
pub fn always_matches(pattern: &str) -> bool {
    let Ok(Some(hir)) = parse_pattern(pattern) else {
        return pattern.is_empty();
    };
    hir.properties().minimum_len() == Some(0) && hir.properties().look_set().is_empty()
}

/// Checks a path.
///
/// # Errors
/// The byte of the mistake.
pub fn check_path(path: &str) -> Result<(), usize> {
    JsonPath::parse(path).map(drop)
}

/// An RFC 9535 path with a bound of its work: a node is visited once for each way that leads to it.
#[derive(Clone, Debug)]
pub struct JsonPath {
    path: serde_json_path::JsonPath,
    fan_out: PathFanOut,
}

/// The features of a path that lead to a node in several ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PathFanOut {
    /// The number of `..`. Each leads from a node to all below it, so that each but the first
    /// reaches a node from all above.
    descents: u32,
    /// The number of `$` after the first. Each starts again at the root for every node that a
    /// filter tests.
    roots: u32,
    /// The product of the numbers of selectors that its brackets list.
    lists: u64,
}

/// The maximum number of nodes that a path may visit.
const MAX_NODES: u64 = 2_000_000;

impl JsonPath {
    /// Parses a path.
    ///
    /// # Errors
    /// The byte of the mistake. Also that of the first byte beyond the maximum length or depth,
    /// because the parser recurses.
    pub fn parse(path: &str) -> Result<Self, usize> {
        let mut depth = 0_usize;
        for (at, sign) in path.char_indices() {
            match sign {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_PATH_DEPTH || at >= MAX_PATH_BYTES {
                return Err(at);
            }
        }
        match serde_json_path::JsonPath::parse(path) {
            Ok(parsed) => Ok(Self {
                path: parsed,
                fan_out: count_fan_out(path),
            }),
            Err(error) => Err(path.floor_char_boundary(error.position().min(path.len()))),
        }
    }

    /// Returns the selected nodes in document order, each with its place.
    ///
    /// # Errors
    /// The path might visit too many nodes: a path of a thousand bytes can multiply them without
    /// practical bound.
    pub fn select<'v>(&self, value: &'v Value) -> Result<Vec<(String, &'v Value)>, TooManyNodes> {
        self.check_work(value)?;
        Ok(self
            .path
            .query_located(value)
            .iter()
            .map(|node| (node.location().to_string(), node.node()))
            .collect())
    }

    fn check_work(&self, value: &Value) -> Result<(), TooManyNodes> {
        let PathFanOut {
            descents,
            roots,
            lists,
        } = self.fan_out;
        let (nodes, depth) = measure_value(value);
        let work = nodes
            .saturating_pow(1 + roots)
            .saturating_mul(depth.saturating_pow(descents.saturating_sub(1)))
            .saturating_mul(lists);
        if work > MAX_NODES {
            Err(TooManyNodes {
                nodes,
                limit: MAX_NODES,
            })
        } else {
            Ok(())
        }
    }
}

/// A path that might visit too many nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "in {nodes} values it may lead to more than {limit} nodes; fewer `..` and lists, and no `$` inside of a filter, lead to fewer"
)]
pub struct TooManyNodes {
    /// The number of values in the answer.
    pub nodes: u64,
    /// The maximum number of nodes.
    pub limit: u64,
}

/// Counts the features of a valid path that multiply its work.
fn count_fan_out(path: &str) -> PathFanOut {
    let mut ways = PathFanOut {
        descents: 0,
        roots: 0,
        lists: 1,
    };
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

/// Returns the number of values in a value, itself included, and their nesting depth.
fn measure_value(value: &Value) -> (u64, u64) {
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
