//! Bounds a Jinja text before minijinja's parser, which recurses on it and unfolds constants.
//!
//! Splits text and tags exactly as minijinja's own tokenizer does; whatever that refuses ends both. An upper bound,
//! never an exact measure: commas and brackets are known, precedence is not. Linear, without recursion.

use super::jinja::{JinjaFault, JinjaFaultKind, MAX_BLOCKS, MAX_CHAIN, MAX_REPEATED};
use super::jinja_chains::Chains;
use super::jinja_tags::{basic, string};
use crate::base::span::Span;

/// Statements that reach for another template.
const OTHERS: [&str; 5] = ["block", "extends", "from", "import", "include"];
/// Statements that open a block; `set` does without a `=`.
const OPENERS: [&str; 7] = ["autoescape", "call", "filter", "for", "if", "macro", "with"];
/// What Jinja itself has methods of.
const OBJECTS: [&str; 3] = ["loop", "self", "super"];
/// Words between values in an expression.
const OPERATORS: [&str; 7] = ["and", "else", "if", "in", "is", "not", "or"];

/// What a text holds beside its depth.
#[derive(Debug, Default)]
pub(super) struct Seen<'a> {
    /// Every reach for another template.
    pub(super) faults: Vec<JinjaFault>,
    /// Filters, tests and what is called, in order.
    pub(super) names: Vec<Name<'a>>,
    /// The text without those statements, byte for byte as long, where there are any.
    pub(super) instead: Option<String>,
    /// Whether one of them brings names along, which nobody knows.
    pub(super) imports: bool,
}

/// A name that is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) used: Used,
    pub(super) word: &'a str,
    pub(super) at: usize,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    /// Behind a `|`, or as `{% filter … %}`.
    Filter,
    /// Behind `is` or `is not`.
    Test,
    /// Before a `(`.
    Call,
    /// Behind a `.` and before a `(`.
    Method,
}

/// Looks for what minijinja must not see, and for the names that it does not look up before it renders.
///
/// # Errors
/// The first excess.
pub(super) fn check(text: &str) -> Result<Seen<'_>, JinjaFault> {
    let seen = Seen::default();
    let mut guard = Guard { text, at: 0, opened: 0, blocks: Vec::new(), depth: 0, balance: 0, repeated: 0, seen };
    while let Some(open) = guard.find_open() {
        match open {
            Open::Comment => guard.skip_behind("#}"),
            Open::Raw => guard.skip_raw(),
            Open::Variable => {
                guard.tag("}}", Before::Start)?;
            }
            Open::Block => guard.block()?,
        }
    }
    Ok(guard.seen)
}

enum Open {
    Variable,
    Block,
    Comment,
    Raw,
}

struct Guard<'a> {
    text: &'a str,
    at: usize,
    /// The levels that each open block takes.
    blocks: Vec<u32>,
    /// Their sum.
    depth: u32,
    /// Brackets open; while some are, a tag does not end, even beyond the text's other tags.
    balance: i64,
    /// Bytes made of repeated literals so far.
    repeated: u64,
    /// Where the tag being read begins, its brace included.
    opened: usize,
    seen: Seen<'a>,
}

impl<'a> Guard<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Goes behind the next `{{`, `{%` or `{#`, and the `-` or `+` after it.
    fn find_open(&mut self) -> Option<Open> {
        let bytes = self.text.as_bytes();
        loop {
            let found = self.at + memchr::memchr(b'{', bytes.get(self.at..)?)?;
            let open = match bytes.get(found + 1) {
                Some(b'{') => Open::Variable,
                Some(b'%') => Open::Block,
                Some(b'#') => Open::Comment,
                _ => {
                    self.at = found + 1;
                    continue;
                }
            };
            (self.opened, self.at) = (found, found + 2);
            if matches!(bytes.get(self.at), Some(b'-' | b'+')) {
                self.at += 1;
            }
            if matches!(open, Open::Block)
                && let Some(length) = basic(self.rest(), "raw")
            {
                self.at += length;
                return Some(Open::Raw);
            }
            return Some(open);
        }
    }

    fn skip_behind(&mut self, end: &str) {
        let found = memchr::memmem::find(self.rest().as_bytes(), end.as_bytes());
        self.at = found.map_or(self.text.len(), |found| self.at + found + end.len());
    }

    fn skip_raw(&mut self) {
        while self.at < self.text.len() {
            self.skip_behind("{%");
            let rest = self.rest();
            let inner = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            if let Some(length) = basic(inner, "endraw") {
                self.at += rest.len() - inner.len() + length;
                return;
            }
        }
    }

    fn fault(&self, kind: JinjaFaultKind, start: usize) -> JinjaFault {
        JinjaFault { kind, span: Span::of(start, self.text.ceil_char_boundary(self.at)) }
    }
}

/// What a tag says beside its depth.
#[derive(Default)]
struct Tag<'a> {
    /// Its first word.
    word: &'a str,
    /// Whether a `=` stands outside brackets.
    assigns: bool,
    /// Whether something is multiplied.
    multiplies: bool,
    /// The bytes of its string literals, and 32 for each item of the others.
    literals: u64,
    /// The most that its numbers can make together.
    factor: u64,
    /// What the last token was.
    before: Before,
    /// The name that stands before a dot.
    root: &'a str,
}

/// What stands before a word, as far as that tells what the word is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    /// Nothing, in a tag that begins with a value.
    #[default]
    Start,
    /// Nothing, in a tag that begins with a statement.
    Statement,
    Pipe,
    Dot,
    Is,
    /// `macro`, which names something new.
    Macro,
    Other,
}

impl<'a> Guard<'a> {
    /// Reads to behind the end of a tag.
    fn tag(&mut self, end: &str, before: Before) -> Result<Tag<'a>, JinjaFault> {
        let start = self.at;
        let mut tag = Tag { factor: 1, before, ..Tag::default() };
        let mut chains = Chains::new();
        loop {
            self.at = self.text.len() - self.rest().trim_start_matches(|c: char| c.is_ascii_whitespace()).len();
            let rest = self.rest();
            let Some(&byte) = rest.as_bytes().first() else { break };
            let inner = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            if self.balance == 0 && (rest.starts_with(end) || inner.starts_with(end)) {
                let signed = !rest.starts_with(end);
                self.at += end.len() + usize::from(signed);
                break;
            }
            let token = self.at;
            self.token(byte, &mut tag, &mut chains);
            if chains.sum > MAX_CHAIN {
                return Err(self.fault(JinjaFaultKind::TooDeep, token));
            }
        }
        if tag.multiplies && tag.literals > 0 {
            self.repeated = self.repeated.saturating_add(tag.literals.saturating_mul(tag.factor));
            if self.repeated > MAX_REPEATED {
                return Err(self.fault(JinjaFaultKind::TooMuchRepeated, start));
            }
        }
        Ok(tag)
    }

    fn token(&mut self, byte: u8, tag: &mut Tag<'a>, chains: &mut Chains) {
        let rest = self.rest();
        let mut length = 1;
        match byte {
            b',' => {
                chains.comma();
                tag.literals = tag.literals.saturating_add(32);
            }
            b'(' | b'[' | b'{' => {
                self.balance += 1;
                chains.open();
            }
            b')' | b']' | b'}' => {
                self.balance -= 1;
                chains.close();
            }
            b'"' | b'\'' => {
                length = string(rest.as_bytes(), byte);
                tag.literals = tag.literals.saturating_add(length as u64);
            }
            b'0'..=b'9' => {
                length = rest.bytes().take_while(u8::is_ascii_digit).count();
                // `1e9`, `0xFF` and `1_000` are not worth reading: too much in any case.
                let plain = !rest.as_bytes().get(length).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_');
                let number = rest.get(..length).and_then(|digits| digits.parse::<u64>().ok()).filter(|_| plain);
                tag.factor = tag.factor.saturating_mul(number.unwrap_or(u64::MAX).saturating_add(1));
            }
            b'=' if !rest.starts_with("==") => tag.assigns |= self.balance == 0,
            b':' => {}
            c if c == b'_' || c.is_ascii_alphabetic() => {
                length = rest.bytes().take_while(|c| *c == b'_' || c.is_ascii_alphanumeric()).count();
                let word = rest.get(..length).unwrap_or("");
                self.word(word, length, tag, chains);
                self.at += length;
                return;
            }
            c if c.is_ascii() => {
                chains.link(1);
                tag.multiplies |= c == b'*';
                if rest.starts_with("**") || c == b'/' {
                    // A power or a quotient of small numbers can be any number.
                    tag.factor = u64::MAX;
                }
                length = if ["**", "//", "==", "!=", ">=", "<="].iter().any(|sign| rest.starts_with(sign)) { 2 } else { 1 };
            }
            _ => length = rest.chars().next().map_or(1, char::len_utf8),
        }
        if byte != b'.' {
            tag.root = "";
        }
        tag.before = match byte {
            b'|' => Before::Pipe,
            b'.' => Before::Dot,
            _ => Before::Other,
        };
        self.at += length;
    }

    fn word(&mut self, word: &'a str, length: usize, tag: &mut Tag<'a>, chains: &mut Chains) {
        let is_operator = !tag.word.is_empty() && OPERATORS.contains(&word);
        if tag.word.is_empty() {
            tag.word = word;
        } else if is_operator {
            chains.link(1);
        }
        let root = std::mem::replace(&mut tag.root, word);
        let before = tag.before;
        tag.before = match (before, word) {
            (Before::Statement, "filter") => Before::Pipe,
            (Before::Statement, "macro") => Before::Macro,
            (Before::Statement | Before::Other, "is") | (Before::Is, "not") => Before::Is,
            _ => Before::Other,
        };
        let behind = self.rest().get(length..).unwrap_or("").trim_start_matches(|c: char| c.is_ascii_whitespace());
        let used = match before {
            Before::Pipe => Used::Filter,
            Before::Is if word != "not" => Used::Test,
            Before::Start | Before::Other if !is_operator && behind.starts_with('(') => Used::Call,
            Before::Dot if behind.starts_with('(') && !OBJECTS.contains(&root) => Used::Method,
            Before::Start | Before::Statement | Before::Dot | Before::Is | Before::Macro | Before::Other => return,
        };
        self.seen.names.push(Name { used, word, at: self.at });
    }

    /// Takes the statement that was just read out of the text: the rest may have faults of its own.
    fn blank(&mut self) {
        let text = self.seen.instead.get_or_insert_with(|| self.text.to_owned());
        let spaces: String =
            text.get(self.opened..self.at).unwrap_or("").bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        if spaces.len() == self.at - self.opened {
            text.replace_range(self.opened..self.at, &spaces);
        }
    }

    fn block(&mut self) -> Result<(), JinjaFault> {
        let (start, names) = (self.at, self.seen.names.len());
        let tag = self.tag("%}", Before::Statement)?;
        if let Some(word) = OTHERS.iter().find(|word| **word == tag.word) {
            let fault = self.fault(JinjaFaultKind::OtherTemplate(word), start);
            self.seen.faults.push(fault);
            self.seen.names.truncate(names);
            self.seen.imports |= matches!(*word, "from" | "import");
            self.blank();
            return Ok(());
        }
        if tag.word == "endblock" {
            self.blank();
            return Ok(());
        }
        if OPENERS.contains(&tag.word) || tag.word == "set" && !tag.assigns {
            self.blocks.push(1);
            self.depth += 1;
        } else if tag.word == "elif" {
            if let Some(levels) = self.blocks.last_mut() {
                *levels += 1;
                self.depth += 1;
            }
        } else if tag.word.starts_with("end") {
            self.depth -= self.blocks.pop().unwrap_or(0).min(self.depth);
        }
        if self.depth > MAX_BLOCKS {
            return Err(self.fault(JinjaFaultKind::TooDeep, start));
        }
        Ok(())
    }
}
