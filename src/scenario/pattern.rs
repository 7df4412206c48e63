//! What is wrong with a regular expression or a `JSONPath`, told by parsing alone: nothing is compiled here, so nothing is
//! compiled twice. The only door to both parsers, and to what a path selects.

use regex_syntax::hir::{Hir, HirKind, Look};
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

/// Bytes of a path at most.
const LONGEST_PATH: usize = 1000;

/// Brackets of a path inside each other at most.
const DEEPEST: usize = 12;

/// What is wrong with a pattern of the crate `regex`; `None` where it is sound.
pub fn fault(pattern: &str) -> Option<PatternFault> {
    if pattern.len() > LONGEST {
        let reason = format!("it has {} bytes, and {LONGEST} are the most", pattern.len());
        return Some(PatternFault { reason, at: 0, end: pattern.len() });
    }
    parse(pattern).err()
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

/// Whether no text at all matches: `[^\s\S]`, `a^`, `$a`.
pub fn is_impossible(pattern: &str) -> bool {
    match parse(pattern) {
        Ok(Some(hir)) => hir.properties().minimum_len().is_none() || contradicts(&hir),
        Ok(None) | Err(_) => false,
    }
}

/// Whether every text matches: `x*`, and nothing at all.
pub fn is_everywhere(pattern: &str) -> bool {
    let Ok(Some(hir)) = parse(pattern) else { return pattern.is_empty() };
    hir.properties().minimum_len() == Some(0) && hir.properties().look_set().is_empty()
}

/// Something before the start of the text, or behind its end, that has to be there.
fn contradicts(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Concat(parts) => {
            let needs = |part: &Hir| part.properties().minimum_len().is_some_and(|least| least > 0);
            let is = |part: &Hir, look| matches!(part.kind(), HirKind::Look(found) if *found == look);
            let start = parts.iter().rposition(|part| is(part, Look::Start));
            let end = parts.iter().position(|part| is(part, Look::End));
            start.is_some_and(|at| parts.iter().take(at).any(needs))
                || end.is_some_and(|at| parts.iter().skip(at + 1).any(needs))
                || parts.iter().any(contradicts)
        }
        HirKind::Alternation(parts) => parts.iter().all(contradicts),
        HirKind::Capture(capture) => contradicts(&capture.sub),
        HirKind::Repetition(repetition) => repetition.min > 0 && contradicts(&repetition.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// The byte at which a path stops being one.
pub fn path(path: &str) -> Result<(), usize> {
    JsonPath::parse(path).map(drop)
}

/// An RFC 9535 path.
#[derive(Clone, Debug)]
pub struct JsonPath(serde_json_path::JsonPath);

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
            Ok(parsed) => Ok(Self(parsed)),
            Err(error) => Err(path.floor_char_boundary(error.position().min(path.len()))),
        }
    }

    /// The nodes that it selects, in the order of the document.
    pub fn select<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        self.0.query(value).all()
    }
}
