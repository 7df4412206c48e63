//! What one place where a Jinja text names a value tells of it: by what stands before and behind the name, never by the name itself.

use super::words::{Token, Word, literal};
use std::collections::BTreeSet;

/// What a use of a value tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    List,
    Object,
    Number,
    Text,
    /// It is compared with `true` or `false`.
    Truth,
    /// It is asked for, so it may be missing.
    Asked,
    /// Whether it is true is asked.
    Alone,
    /// It is put out, compared, or handed on.
    Put,
}

/// What one place tells.
#[derive(Debug, Default)]
pub(super) struct Told<'t> {
    pub(super) uses: BTreeSet<Use>,
    /// What stands for it where it is missing.
    pub(super) default: Option<String>,
    /// A macro that is given it, with the number or the name of its parameter.
    pub(super) handed: Option<(&'t str, Slot<'t>)>,
    /// Whether nothing was done with it that tells what it is.
    pub(super) is_bare: bool,
}

/// Which parameter of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'t> {
    At(usize),
    Named(&'t str),
}

/// Filters that take lists.
const OF_LISTS: &str =
    " batch chain first groupby join last map max min reject rejectattr select selectattr slice sort sum unique zip ";
/// Filters that take objects.
const OF_OBJECTS: &str = " dictsort items xmlattr ";
/// Filters that take numbers.
const OF_NUMBERS: &str = " abs filesizeformat round ";
/// Filters that take texts.
const OF_TEXTS: &str =
    " capitalize center format indent lines lower replace split striptags title trim truncate upper wordcount wordwrap ";
/// Words beside which a value is asked for, not put.
const ASKING: [&str; 6] = ["if", "elif", "not", "and", "or", "else"];

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word && !word.is_empty())
}

/// A tag: its words, and how its brackets stand.
pub(super) struct Tag<'t, 'w> {
    text: &'t str,
    tokens: &'w [Token],
    /// For each word, the bracket that is open around it, and how many commas stand between.
    around: Vec<Option<(usize, usize)>>,
    /// For each bracket that opens, the one that closes it; the end of the tag for every other word.
    closes: Vec<usize>,
    /// The first `in`.
    of: Option<usize>,
}

impl<'t, 'w> Tag<'t, 'w> {
    pub(super) fn new(text: &'t str, tokens: &'w [Token]) -> Self {
        let (mut around, mut closes) = (Vec::with_capacity(tokens.len()), vec![tokens.len(); tokens.len()]);
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let word = if token.word == Word::Sign { token.slice(text) } else { "" };
            if matches!(word, ")" | "]" | "}")
                && let Some((start, _)) = open.pop()
                && let Some(close) = closes.get_mut(start)
            {
                *close = at;
            }
            around.push(open.last().copied());
            match word {
                "(" | "[" | "{" => open.push((at, 0)),
                "," => {
                    if let Some((_, commas)) = open.last_mut() {
                        *commas += 1;
                    }
                }
                _ => {}
            }
        }
        let of = tokens.iter().position(|token| token.is(text, "in"));
        Self { text, tokens, around, closes, of }
    }

    /// The bracket that closes the one at a place.
    fn closed(&self, open: usize) -> usize {
        self.closes.get(open).copied().unwrap_or(self.tokens.len())
    }

    /// The bracket that is open around a place, and how many commas stand between.
    fn opened(&self, at: usize) -> Option<(usize, usize)> {
        self.around.get(at).copied().flatten()
    }

    /// Whether an entry between two brackets begins at a place.
    pub(super) fn is_entry(&self, at: usize, open: usize) -> bool {
        matches!(self.before(at, 1), "(" | ",") && self.opened(at).is_some_and(|(around, _)| around == open)
    }

    /// Whether an entry between any two brackets begins at a place.
    pub(super) fn is_entry_of_any(&self, at: usize) -> bool {
        self.opened(at).is_some_and(|(open, _)| self.is_entry(at, open))
    }

    /// Whether the word at a place is the name of a value, not of a field, a filter or an argument.
    pub(super) fn is_value(&self, at: usize) -> bool {
        let is_argument = self.word(at + 1) == "=" && self.word(at + 2) != "=" && self.opened(at).is_some();
        self.kind(at) == Some(Word::Name) && !is_argument && !matches!(self.before(at, 1), "." | "|")
    }

    pub(super) fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.slice(self.text))
    }

    fn before(&self, at: usize, by: usize) -> &'t str {
        at.checked_sub(by).map_or("", |at| self.word(at))
    }

    fn kind(&self, at: usize) -> Option<Word> {
        self.tokens.get(at).map(|token| token.word)
    }

    /// What the name at a place tells.
    pub(super) fn told(&self, name: usize) -> Told<'t> {
        let mut told = Told::default();
        let mut end = name + 1;
        // Part of a list or of a text: what is done with that tells.
        while self.word(end) == "[" && self.is_slice(end) {
            end = self.closed(end) + 1;
        }
        if let Some(found) = self.part(end) {
            told.uses.insert(found);
            return told;
        }
        let Some(end) = self.filters(end, &mut told) else { return told };
        if self.decides(name, end, &mut told.uses) {
            return told;
        }
        told.handed = self.handed(name, end);
        told.is_bare = true;
        self.asked(name, end, &mut told.uses);
        told
    }

    fn is_slice(&self, open: usize) -> bool {
        (open + 1..self.closed(open)).any(|at| self.word(at) == ":")
    }

    /// What is taken out of it.
    fn part(&self, at: usize) -> Option<Use> {
        let is_number = self.kind(at + 1) == Some(Word::Number);
        match self.word(at) {
            "." if is_number => Some(Use::List),
            "[" if is_number || matches!(self.word(at + 1), "-" | "loop") => Some(Use::List),
            "." | "[" => Some(Use::Object),
            _ => None,
        }
    }

    /// Follows filters; where they end, if none of them made something else of it.
    fn filters(&self, mut at: usize, told: &mut Told<'t>) -> Option<usize> {
        while self.word(at) == "|" {
            let filter = self.word(at + 1);
            let end = if self.word(at + 2) == "(" { self.closed(at + 2) + 1 } else { at + 2 };
            let found = match filter {
                "default" | "d" => {
                    self.default(at + 3, told);
                    at = end;
                    continue;
                }
                "safe" | "e" | "escape" | "forceescape" => {
                    at = end;
                    continue;
                }
                filter if has(OF_LISTS, filter) => Use::List,
                filter if has(OF_OBJECTS, filter) => Use::Object,
                filter if has(OF_NUMBERS, filter) => Use::Number,
                filter if has(OF_TEXTS, filter) => Use::Text,
                _ => Use::Put,
            };
            told.uses.insert(found);
            return None;
        }
        Some(at)
    }

    /// `default("…")`: what stands in the brackets. Words in place of a number are no rare thing, so they tell nothing.
    fn default(&self, at: usize, told: &mut Told<'t>) {
        told.uses.insert(Use::Asked);
        let value = self.word(at);
        let closes = matches!(self.word(at + 1), ")" | ",");
        match self.kind(at) {
            Some(Word::Text) if closes => {
                told.uses.insert(Use::Put);
                told.default = literal(value);
            }
            Some(Word::Number) if closes => {
                told.uses.insert(Use::Number);
                told.default = Some(value.to_owned());
            }
            Some(Word::Name) if closes && matches!(value, "true" | "True" | "false" | "False") => {
                told.uses.insert(Use::Truth);
                told.default = Some(value.to_lowercase());
            }
            Some(Word::Sign) if value == "[" => {
                told.uses.insert(Use::List);
            }
            Some(Word::Sign) if value == "{" => {
                told.uses.insert(Use::Object);
            }
            _ => {}
        }
    }

    /// Whether the operators beside it tell what it is; `end` is behind it and its filters.
    fn decides(&self, name: usize, end: usize, uses: &mut BTreeSet<Use>) -> bool {
        let found = self
            .looped(name)
            .or_else(|| self.compared(name, end))
            .or_else(|| self.calculated(name, end))
            .or_else(|| self.tested(end));
        uses.extend(found);
        found.is_some()
    }

    /// `for … in` it.
    fn looped(&self, name: usize) -> Option<Use> {
        (self.word(0) == "for" && self.of? + 1 == name).then_some(Use::List)
    }

    /// The type of a literal.
    fn literal(&self, at: usize) -> Option<Use> {
        match (self.kind(at)?, self.word(at)) {
            (Word::Text, _) => Some(Use::Text),
            (Word::Number, _) => Some(Use::Number),
            (Word::Sign, "-") => self.literal(at + 1).filter(|found| *found == Use::Number),
            (Word::Name, "true" | "false" | "True" | "False") => Some(Use::Truth),
            _ => None,
        }
    }

    fn compared(&self, name: usize, end: usize) -> Option<Use> {
        let signs = |first: &str, second: &str| matches!((first, second), ("=" | "!", "=") | ("<" | ">", _));
        let (behind, next) = (self.word(end), self.word(end + 1));
        // What is greater than another value is seldom a text.
        let ordered = |sign: &str| matches!(sign, "<" | ">").then_some(Use::Number);
        if signs(behind, next) {
            return self.literal(end + 1 + usize::from(next == "=")).or_else(|| ordered(behind));
        }
        // `x in ["a", "b"]`: what it is compared with.
        if behind == "in" && matches!(next, "[" | "(")
            || behind == "not" && next == "in" && matches!(self.word(end + 2), "[" | "(")
        {
            return self.literal(end + 2 + usize::from(behind == "not"));
        }
        let (last, before) = (self.before(name, 1), self.before(name, 2));
        let literal = if signs(before, last) && last == "=" {
            name.checked_sub(3)
        } else {
            name.checked_sub(2).filter(|_| matches!(last, "<" | ">"))
        };
        let sign = if last == "=" { before } else { last };
        literal.and_then(|at| self.literal(at).or_else(|| ordered(sign)))
    }

    fn calculated(&self, name: usize, end: usize) -> Option<Use> {
        let beside = |sign: &str, other: Option<usize>| match sign {
            "+" => other.and_then(|at| self.literal(at)).filter(|found| matches!(found, Use::Number | Use::Text)),
            "*" => other.and_then(|at| self.literal(at)).filter(|found| *found == Use::Number),
            "-" | "/" | "%" => Some(Use::Number),
            _ => None,
        };
        let is_range = self.opened(name).is_some_and(|(open, _)| self.before(open, 1) == "range");
        if is_range && matches!(self.word(end), ")" | ",") {
            return Some(Use::Number);
        }
        let before = name.checked_sub(1).filter(|at| *at > 0 && !matches!(self.kind(at - 1), Some(Word::Sign) | None));
        let is_format = before.is_some_and(|at| self.word(at) == "%" && self.kind(at - 1) == Some(Word::Text));
        beside(self.word(end), Some(end + 1))
            .or_else(|| before.filter(|_| !is_format).and_then(|at| beside(self.word(at), at.checked_sub(1))))
    }

    fn tested(&self, end: usize) -> Option<Use> {
        let test = end + 1 + usize::from(self.word(end + 1) == "not");
        match self.word(test) {
            _ if self.word(end) != "is" => None,
            "divisibleby" | "odd" | "even" => Some(Use::Number),
            "startingwith" | "endingwith" => Some(Use::Text),
            "eq" | "equalto" | "ne" | "lt" | "lessthan" | "gt" | "greaterthan" => {
                self.literal(test + 1 + usize::from(self.word(test + 1) == "("))
            }
            _ => None,
        }
    }

    /// The macro that is given it as it is.
    fn handed(&self, name: usize, end: usize) -> Option<(&'t str, Slot<'t>)> {
        if !matches!(self.word(end), ")" | ",") {
            return None;
        }
        let (open, commas) = self.opened(name)?;
        let called = open.checked_sub(1).filter(|at| self.word(open) == "(" && self.kind(*at) == Some(Word::Name))?;
        let is_named = self.before(name, 1) == "=";
        let slot = if is_named { Slot::Named(self.before(name, 2)) } else { Slot::At(commas) };
        (is_named || matches!(self.before(name, 1), "(" | ",")).then(|| (self.word(called), slot))
    }

    fn asked(&self, name: usize, end: usize, uses: &mut BTreeSet<Use>) {
        let (before, after) = (self.before(name, 1), self.word(end));
        if after == "is" {
            if self.word(end + 1) == "defined" || self.word(end + 1) == "not" {
                uses.insert(Use::Asked);
            }
            return;
        }
        let alone = ASKING.contains(&before) && (after.is_empty() || ASKING.contains(&after));
        let is_first_choice = after == "or" && !ASKING.contains(&before);
        if alone || is_first_choice {
            uses.extend([Use::Asked, Use::Alone]);
        }
        match self.word(end + 1) {
            "[" if is_first_choice => uses.insert(Use::List),
            "{" if is_first_choice => uses.insert(Use::Object),
            _ => false,
        };
        if !alone || before == "else" {
            uses.insert(Use::Put);
        }
    }
}
