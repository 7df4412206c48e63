//! The mark of the fence around an untrusted text. No text from outside can close its own fence.
//!
//! The mark is the first of H(salt, agent, k), k = 0, 1, …, that the fenced text does not contain.
//! It depends on nothing else: another input, an edit elsewhere or an additional turn changes no
//! mark, so the preceding text stays the same, byte for byte. A mark consists of digits: tokenizers
//! read digits in groups of three or one by one, so all marks cost the same and a dry run can count
//! them.

use super::request::Request;
use crate::base::hash::{Hash, Hasher};
use crate::kernel::context::{Origin, TracedText};
use std::collections::BTreeSet;

/// The number of digits of a mark, which hold about 70 bits of a hash.
const DIGITS: usize = 21;
/// The greatest mark plus one.
const END: u128 = 10_u128.pow(DIGITS as u32);

/// The candidate marks of one agent, in the order in which they are tried.
#[derive(Clone, Debug)]
pub struct FenceMarks {
    agent: Hash,
    first: String,
}

impl FenceMarks {
    /// Returns the marks of the agent that a request calls.
    pub fn for_request(request: &Request<'_>) -> Self {
        let mut hasher = Hasher::new();
        hasher
            .add_field("ctxc untrusted")
            .add_field(request.session)
            .add_field(request.task)
            .add_field(request.node);
        let agent = hasher.finish();
        Self {
            agent,
            first: nth_mark(agent, 0),
        }
    }

    /// Returns the opening and the closing of the fence around a text.
    pub(super) fn fence(&self, name: &str, text: &str) -> (String, String) {
        let mark = self.unused_mark(text);
        (
            format!("<untrusted-{mark} name=\"{}\">\n", escape_attribute(name)),
            format!("\n</untrusted-{mark}>"),
        )
    }

    /// The first candidate: the mark of every fence whose text does not contain it.
    pub fn first(&self) -> &str {
        &self.first
    }

    /// Returns the first mark that a text does not contain, in linear time for any text.
    fn unused_mark(&self, text: &str) -> String {
        let is_digit = |c: char| c.is_ascii_digit();
        let runs = text
            .split(|c| !is_digit(c))
            .filter(|run| run.len() >= DIGITS);
        let taken: BTreeSet<&[u8]> = runs
            .flat_map(|run| run.as_bytes().windows(DIGITS))
            .collect();
        if !taken.contains(self.first.as_bytes()) {
            return self.first.clone();
        }
        let mut later = (1..).map(|number| nth_mark(self.agent, number));
        // The search ends: a text contains finitely many marks.
        later
            .find(|mark| !taken.contains(mark.as_bytes()))
            .unwrap_or_default()
    }
}

fn nth_mark(agent: Hash, number: u64) -> String {
    let Hash(bytes) = Hasher::new().add_field(agent.0).add_number(number).finish();
    let number = bytes
        .first_chunk()
        .map_or(0, |bytes| u128::from_be_bytes(*bytes));
    format!("{:0DIGITS$}", number % END)
}

/// Escapes a name for use as the value of an attribute.
pub(super) fn escape_attribute(name: &str) -> String {
    without_controls(name)
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Replaces control characters by spaces, so that a title stays on one line.
pub(super) fn without_controls(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The text before a mark at the opening and at the closing of a fence.
const SIDES: [&str; 2] = ["<untrusted-", "</untrusted-"];

/// Returns a text in which the mark of each fence is replaced, so that texts can be compared
/// independently of the mark.
pub(crate) fn replace_marks(text: &TracedText, by: &str) -> String {
    let mut out = String::with_capacity(text.text().len());
    for stretch in text.stretches() {
        let words = text.text().get(stretch.range.clone()).unwrap_or("");
        let mark = (stretch.origin == Origin::Generated)
            .then(|| find_mark(words))
            .flatten();
        let Some(mark) = mark else {
            out.push_str(words);
            continue;
        };
        out.push_str(words.get(..mark).unwrap_or(""));
        out.push_str(by);
        out.push_str(words.get(mark + DIGITS..).unwrap_or(""));
    }
    out
}

/// Returns the names of the fences in a text.
pub(super) fn fence_names(text: &TracedText) -> Vec<&str> {
    let frames = text
        .stretches()
        .iter()
        .filter(|stretch| stretch.origin == Origin::Generated);
    let words = frames.filter_map(|stretch| text.text().get(stretch.range.clone()));
    words
        .filter(|words| find_mark(words).is_some())
        .filter_map(opening_name)
        .collect()
}

/// Returns the name in the opening of a fence.
fn opening_name(words: &str) -> Option<&str> {
    let (_, opening) = words.split_once("<untrusted-")?;
    Some(opening.split_once(" name=\"")?.1.split_once("\">")?.0)
}

/// Returns the offset of a fence's mark in a stretch that ctxc wrote itself.
fn find_mark(words: &str) -> Option<usize> {
    // The opening stands behind a heading, the closing before a separator.
    let at = SIDES
        .iter()
        .find_map(|side| words.rfind(side).map(|at| at + side.len()))?;
    let mark = words.as_bytes().get(at..at + DIGITS)?;
    mark.iter().all(u8::is_ascii_digit).then_some(at)
}

/// Returns a text without its fences.
pub(crate) fn without_fences(text: &TracedText) -> String {
    let words = |range: &std::ops::Range<usize>| text.text().get(range.clone()).unwrap_or("");
    let is_fence =
        |origin: &Origin, words: &str| *origin == Origin::Generated && find_mark(words).is_some();
    let stretches = text
        .stretches()
        .iter()
        .map(|stretch| (&stretch.origin, words(&stretch.range)));
    stretches
        .filter(|(origin, words)| !is_fence(origin, words))
        .map(|(_, words)| words)
        .collect()
}
