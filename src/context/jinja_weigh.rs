//! Writes the meter's filter into a Jinja text: behind the operands of what copies or compares, around what is set, before what is indexed.
//!
//! A filter binds closer than any operator and hands its value on, so the text means what it meant. Lines stay where they are.
//! Splits text and tags as `template::jinja_guard` does, and is only given what that has let through.

use super::jinja_meter::{ALLOWANCE, FACTORS, NAME, TEXT};
use std::collections::BTreeSet;

/// Words that are no value.
const KEYWORDS: [&str; 12] = ["and", "as", "elif", "else", "for", "if", "in", "is", "not", "or", "recursive", "set"];
/// Statements whose output is kept as a value.
const CAPTURES: [&str; 4] = ["call", "filter", "macro", "set"];

/// A text with its weights.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    /// The text.
    pub(super) text: String,
    /// How many tags it has.
    pub(super) tags: usize,
    /// Bytes of the longest plain stretch that is written into a value each time it is passed.
    pub(super) longest: usize,
}

impl Weighed {
    /// How many steps it may take so that what it keeps of its own plain text stays within the allowance.
    pub(super) fn steps(&self, most: u64) -> u64 {
        match self.longest as u64 {
            0 => most,
            longest => most.min((ALLOWANCE / longest).max(16 * self.tags as u64)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Literal,
    Open,
    Close,
    Sign,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Weighs a text.
pub(super) fn weigh(text: &str) -> Weighed {
    let (mut inserts, mut at, mut plain) = (Vec::new(), 0, 0);
    let (mut captures, mut longest, mut tags) = (0_usize, 0, 0);
    while let Some(open) = next_tag(text, at) {
        tags += 1;
        if captures > 0 {
            longest = longest.max(open - plain);
        }
        let (kind, inner) = (text.as_bytes().get(open + 1).copied(), text.get(open + 2..).unwrap_or(""));
        let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
        at = text.len() - inner.len();
        if kind == Some(b'#') {
            at = behind(text, at, "#}");
        } else if kind == Some(b'%') && basic(inner, "raw").is_some() {
            at = behind_raw(text, at);
            if captures > 0 {
                longest = longest.max(at - open);
            }
        } else {
            let is_block = kind == Some(b'%');
            let tokens = tokens(text, &mut at, if is_block { "%}" } else { "}}" });
            let tag = Tag { text, tokens: &tokens };
            captures = captures.saturating_add_signed(if is_block { tag.captures() } else { 0 });
            tag.weigh(is_block, &mut inserts);
        }
        plain = at;
    }
    if captures > 0 {
        longest = longest.max(text.len() - plain);
    }
    inserts.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(text.len() + inserts.iter().map(|(_, words)| words.len()).sum::<usize>());
    let mut start = 0;
    for (at, words) in inserts {
        out.push_str(text.get(start..at).unwrap_or(""));
        out.push_str(&words);
        start = at;
    }
    out.push_str(text.get(start..).unwrap_or(""));
    Weighed { text: out, tags, longest }
}

fn next_tag(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr::memchr(b'{', bytes.get(at..)?)?;
        if matches!(bytes.get(at + 1), Some(b'{' | b'%' | b'#')) {
            return Some(at);
        }
        at += 1;
    }
}

fn behind(text: &str, at: usize, end: &str) -> usize {
    let rest = text.get(at..).unwrap_or("");
    memchr::memmem::find(rest.as_bytes(), end.as_bytes()).map_or(text.len(), |found| at + found + end.len())
}

fn behind_raw(text: &str, mut at: usize) -> usize {
    while at < text.len() {
        at = behind(text, at, "{%");
        let rest = text.get(at..).unwrap_or("");
        let inner = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        if let Some(length) = basic(inner, "endraw") {
            return at + rest.len() - inner.len() + length;
        }
    }
    text.len()
}

/// The length of the rest of a tag that holds one word.
fn basic(text: &str, word: &str) -> Option<usize> {
    let space = |c: char| c.is_ascii_whitespace();
    let rest = text.trim_start_matches(space).strip_prefix(word)?.trim_start_matches(space);
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest).strip_prefix("%}")?;
    Some(text.len() - rest.len())
}

/// The tokens of a tag; `at` goes behind it.
fn tokens(text: &str, at: &mut usize, end: &str) -> Vec<Token> {
    let (mut tokens, mut depth) = (Vec::new(), 0_i64);
    loop {
        let rest = text.get(*at..).unwrap_or("");
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let start = text.len() - rest.len();
        let Some(&byte) = rest.as_bytes().first() else {
            *at = text.len();
            return tokens;
        };
        let inner = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        if depth == 0 && (rest.starts_with(end) || inner.starts_with(end)) {
            *at = start + end.len() + usize::from(!rest.starts_with(end));
            return tokens;
        }
        let (kind, length) = token(rest, byte);
        depth += i64::from(kind == Kind::Open) - i64::from(kind == Kind::Close);
        *at = start + length;
        tokens.push(Token { kind, start, end: *at });
    }
}

fn token(rest: &str, byte: u8) -> (Kind, usize) {
    let run = |test: fn(u8) -> bool| rest.bytes().take_while(|byte| test(*byte)).count();
    match byte {
        b'(' | b'[' | b'{' => (Kind::Open, 1),
        b')' | b']' | b'}' => (Kind::Close, 1),
        b'"' | b'\'' => (Kind::Literal, string(rest.as_bytes(), byte)),
        b'0'..=b'9' => {
            let whole = run(|c| c == b'_' || c.is_ascii_alphanumeric());
            let part = rest.get(whole..).and_then(|rest| rest.strip_prefix('.')).unwrap_or("");
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            (Kind::Literal, whole + if digits > 0 { 1 + digits } else { 0 })
        }
        c if c == b'_' || c.is_ascii_alphabetic() => (Kind::Word, run(|c| c == b'_' || c.is_ascii_alphanumeric())),
        c if c.is_ascii() => {
            let double = ["**", "//", "==", "!=", ">=", "<="].iter().any(|sign| rest.starts_with(sign));
            (Kind::Sign, 1 + usize::from(double))
        }
        _ => (Kind::Word, rest.chars().take_while(|c| !c.is_ascii()).map(char::len_utf8).sum()),
    }
}

/// The length of a literal from its first quote to behind its last.
fn string(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte == quote {
            break;
        }
    }
    at.min(bytes.len())
}

struct Tag<'t> {
    text: &'t str,
    tokens: &'t [Token],
}

impl Tag<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    /// Whether output begins or ends to be kept.
    fn captures(&self) -> isize {
        let word = self.word(0);
        if let Some(opened) = word.strip_prefix("end") {
            return -isize::from(CAPTURES.contains(&opened) || opened == "for");
        }
        // Every loop counts: one that calls itself keeps its output.
        let keeps = CAPTURES.contains(&word) || word == "for";
        isize::from(keeps && (word != "set" || self.assigned().is_none()))
    }

    /// The token of the `=` of a `set`.
    fn assigned(&self) -> Option<usize> {
        (self.word(0) == "set").then(|| (1..self.tokens.len()).find(|at| self.word(*at) == "="))?
    }

    /// Whether a value ends at a token.
    fn ends_value(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| match token.kind {
            Kind::Literal | Kind::Close => true,
            Kind::Word => !KEYWORDS.contains(&self.word(at)),
            Kind::Open | Kind::Sign => false,
        })
    }

    /// The token that closes the bracket opened at one.
    fn closed(&self, open: usize) -> usize {
        let mut depth = 0_i64;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            depth += i64::from(token.kind == Kind::Open) - i64::from(token.kind == Kind::Close);
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len().saturating_sub(1)
    }

    /// The last token of the value that begins at one, with all that hangs on it.
    fn value(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while matches!(self.word(at), "-" | "+" | "not") {
            at += 1;
        }
        let is_open = |at: usize| self.tokens.get(at).is_some_and(|token| token.kind == Kind::Open);
        if is_open(at) {
            at = self.closed(at);
        }
        if !self.ends_value(at) {
            return None;
        }
        loop {
            at = match self.word(at + 1) {
                "." | "|" if at + 2 < self.tokens.len() => at + 2,
                "(" | "[" => self.closed(at + 1),
                _ => return Some(at),
            };
        }
    }

    /// Where something is written in.
    fn weigh(&self, is_block: bool, inserts: &mut Vec<(usize, String)>) {
        let is_loop = is_block && self.word(0) == "for";
        let first = usize::from(is_block);
        // The `in` of a loop compares nothing.
        let of_loop = if is_loop { (1..self.tokens.len()).find(|at| self.word(*at) == "in") } else { None };
        let end = |at: usize| self.tokens.get(at).map_or(0, |token| token.end);
        let mut weigh = |at: usize| inserts.push((end(at), format!("|{NAME}")));
        let begins = self.begins(first);
        let mut terms: BTreeSet<(usize, usize)> = BTreeSet::new();
        for at in first..self.tokens.len() {
            let is_binary = match self.word(at) {
                "~" | "+" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "*" => at > first && self.ends_value(at - 1),
                "in" => Some(at) != of_loop && at > first,
                _ => false,
            };
            if !is_binary {
                continue;
            }
            if self.word(at) == "*" {
                terms.extend(self.term(at, &begins));
                continue;
            }
            let left = if self.word(at - 1) == "not" { at.saturating_sub(2) } else { at - 1 };
            if self.ends_value(left) {
                weigh(left);
            }
            if let Some(right) = self.value(at + 1) {
                weigh(right);
            }
        }
        for (from, to) in terms {
            self.factors(from, to, inserts);
        }
        if let Some(assigned) = self.assigned().filter(|_| is_block)
            && let (Some(from), Some(last)) = (self.tokens.get(assigned + 1), self.tokens.last())
        {
            // Before what is written behind the same token by an operator, so that the brackets close around it.
            inserts.push((from.start, "(".to_owned()));
            inserts.push((last.end, format!(")|{NAME}")));
        }
        for at in first + 1..self.tokens.len() {
            let is_index = self.word(at) == "[" && self.ends_value(at - 1);
            // What a loop compares with the round before.
            if self.word(at) == "(" && self.word(at - 1) == "changed" {
                self.arguments(at, inserts);
            }
            let from = begins.get(at - 1).and_then(|begin| self.tokens.get(*begin)).filter(|_| is_index);
            if let Some(from) = from {
                inserts.push((from.start, "(".to_owned()));
                inserts.push((end(at - 1), format!("|{TEXT})")));
            }
        }
    }

    /// Weighs what is given in brackets.
    fn arguments(&self, open: usize, inserts: &mut Vec<(usize, String)>) {
        let mut at = open + 1;
        while let Some(last) = self.value(at).filter(|last| *last < self.closed(open)) {
            inserts.push((self.tokens.get(last).map_or(0, |token| token.end), format!("|{NAME}")));
            at = last + 2;
        }
    }

    /// Weighs all factors of a multiplication, and what comes of it.
    fn factors(&self, from: usize, to: usize, inserts: &mut Vec<(usize, String)>) {
        let [first, next, power, all] = FACTORS;
        let end = |at: usize| self.tokens.get(at).map_or(0, |token| token.end);
        let (mut at, mut name) = (from, first);
        while let Some(last) = self.value(at).filter(|last| *last <= to) {
            inserts.push((end(last), format!("|{name}")));
            name = if self.word(last + 1) == "**" { power } else { next };
            at = last + 2;
        }
        inserts.push((self.tokens.get(from).map_or(0, |token| token.start), "(".to_owned()));
        inserts.push((end(to), format!(")|{all}")));
    }

    /// For each token, the one at which the value that it belongs to begins.
    fn begins(&self, first: usize) -> Vec<usize> {
        // One for each bracket that is open.
        let (mut outer, mut begin, mut begins) = (Vec::new(), first, Vec::new());
        for (at, token) in self.tokens.iter().enumerate() {
            let hangs_on = at > first && (self.word(at - 1) == "." || self.word(at - 1) == "|");
            match token.kind {
                Kind::Open => {
                    if !(at > first && self.ends_value(at - 1)) {
                        begin = at;
                    }
                    outer.push(begin);
                }
                Kind::Close => begin = outer.pop().unwrap_or(first),
                Kind::Word | Kind::Literal if !hangs_on => begin = at,
                Kind::Word | Kind::Literal | Kind::Sign => {}
            }
            begins.push(begin);
        }
        begins
    }

    /// All that is multiplied with each other around a `*`, from its first token to its last.
    fn term(&self, at: usize, begins: &[usize]) -> Option<(usize, usize)> {
        let is_factor = |at: usize| matches!(self.word(at), "*" | "/" | "//" | "%" | "**");
        let begin = |at: usize| begins.get(at).copied();
        let mut from = begin(at.checked_sub(1)?)?;
        while from >= 2 && is_factor(from - 1) && self.ends_value(from - 2) {
            from = begin(from - 2)?;
        }
        let mut to = self.value(at + 1)?;
        while is_factor(to + 1) {
            let Some(next) = self.value(to + 2) else { break };
            to = next;
        }
        Some((from, to))
    }
}
