//! Writes the meter's filter into a Jinja text: behind the operands of what copies or compares, around what is set, before what is indexed.
//!
//! A filter binds closer than any operator and hands its value on, so the text means what it meant. Lines stay where they are.
//! Reads tags as `template::jinja_tags` splits them, and is only given what that has let through.

use super::jinja_meter::{ALLOWANCE, FACTORS, NAME, STEP, TEXT};
use crate::template::jinja_tags::{KEYWORDS, Kind, Piece, Placed, Tag, inserted, pieces};
use std::collections::BTreeSet;

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

/// Weighs a text.
pub(super) fn weigh(text: &str) -> Weighed {
    let (mut inserts, mut plain) = (Vec::new(), 0);
    let (mut captures, mut longest, mut tags) = (0_usize, 0, 0);
    for Placed { open, end, piece } in pieces(text) {
        tags += 1;
        if captures > 0 {
            longest = longest.max(open - plain);
        }
        match piece {
            Piece::Raw if captures > 0 => longest = longest.max(end - open),
            Piece::Comment | Piece::Raw => {}
            Piece::Tag(tag) => {
                captures = captures.saturating_add_signed(if tag.is_block { tag.captures() } else { 0 });
                tag.weigh(&mut inserts);
            }
        }
        plain = end;
    }
    if captures > 0 {
        longest = longest.max(text.len() - plain);
    }
    Weighed { text: inserted(text, inserts), tags, longest }
}

impl Tag<'_> {
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
                "is" => self.test(at + 1),
                _ => return Some(at),
            };
        }
    }

    /// The last token of a test that begins with `is`, with an argument that has no brackets.
    fn test(&self, is: usize) -> usize {
        let name = is + if self.word(is + 1) == "not" { 2 } else { 1 };
        let is_argument = match self.kind(name + 1) {
            Some(Kind::Literal) => true,
            Some(Kind::Word) => !KEYWORDS.contains(&self.word(name + 1)),
            Some(Kind::Open | Kind::Sign) => matches!(self.word(name + 1), "[" | "{"),
            Some(Kind::Close) | None => false,
        };
        let end = if is_argument { self.value(name + 1) } else { None };
        end.unwrap_or(name).min(self.tokens.len().saturating_sub(1))
    }

    /// Where something is written in.
    fn weigh(&self, inserts: &mut Vec<(usize, String)>) {
        let is_block = self.is_block;
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
        self.brackets(first, &begins, inserts);
    }

    /// Weighs what brackets hold: arguments that are compared, keys, what is indexed, and the steps of slices.
    fn brackets(&self, first: usize, begins: &[usize], inserts: &mut Vec<(usize, String)>) {
        let end = |at: usize| self.tokens.get(at).map_or(0, |token| token.end);
        for at in first..self.tokens.len() {
            let is_index = at > first && self.word(at) == "[" && self.ends_value(at - 1);
            // What a loop compares with the round before.
            if at > first && self.word(at) == "(" && self.word(at - 1) == "changed" {
                self.arguments(at, inserts);
            }
            if is_index || self.word(at) == "{" {
                self.keys(at, inserts);
            }
            if let Some((from, to)) = Some(at).filter(|_| is_index).and_then(|at| self.step(at)) {
                inserts.push((self.tokens.get(from).map_or(0, |token| token.start), "(".to_owned()));
                inserts.push((end(to), format!(")|{STEP}")));
            }
            let begin = at.checked_sub(1).and_then(|before| begins.get(before)).filter(|_| is_index);
            let from = begin.and_then(|begin| self.tokens.get(*begin));
            if let Some(from) = from {
                inserts.push((from.start, "(".to_owned()));
                inserts.push((end(at - 1), format!("|{TEXT})")));
            }
        }
    }

    /// Weighs the keys of an object, or what is looked up in brackets: each is compared with others, from its first byte on.
    fn keys(&self, open: usize, inserts: &mut Vec<(usize, String)>) {
        let close = self.closed(open);
        let is_object = self.word(open) == "{";
        for part in self.parts(open + 1..close) {
            let colon = self.outside(":", part.clone());
            let key = match (is_object, colon) {
                (true, Some(colon)) => part.start..colon,
                (false, None) => part,
                // A slice has numbers, and a key without a value is no text that is let through.
                (true, None) | (false, Some(_)) => continue,
            };
            let is_literal = key.len() == 1 && self.kind(key.start) == Some(Kind::Literal);
            let (from, to) = (self.tokens.get(key.start), key.end.checked_sub(1).and_then(|last| self.tokens.get(last)));
            if let (Some(from), Some(to)) = (from, to)
                && !key.is_empty()
                && !is_literal
            {
                inserts.push((from.start, "(".to_owned()));
                inserts.push((to.end, format!(")|{NAME}")));
            }
        }
    }

    /// The step of a slice in brackets, from its first token to its last.
    fn step(&self, open: usize) -> Option<(usize, usize)> {
        let (close, mut at, mut colons) = (self.closed(open), open + 1, 0);
        while at < close && colons < 2 {
            colons += usize::from(self.word(at) == ":");
            at = if self.kind(at) == Some(Kind::Open) { self.closed(at) + 1 } else { at + 1 };
        }
        (colons == 2 && at < close).then_some((at, close - 1))
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
            let before = if at > first { self.word(at - 1) } else { "" };
            let is_test =
                before == "is" || self.word(at) == "is" || before == "not" && at > first + 1 && self.word(at - 2) == "is";
            let hangs_on = at > first && (matches!(before, "." | "|") || is_test);
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
