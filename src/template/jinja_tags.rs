//! The tags of a Jinja text and their tokens, as minijinja splits them.
//!
//! Linear, without recursion. Says nothing of what is wrong: `jinja_guard` and minijinja's parser have let a text through before.

use std::collections::BTreeMap;
use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A text or a number.
    Literal,
    /// A bracket that opens.
    Open,
    /// A bracket that closes.
    Close,
    /// All other signs.
    Sign,
}

/// A token with its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// `{{ … }}` or `{% … %}`.
#[derive(Debug)]
pub(crate) struct Tag<'t> {
    /// The whole text.
    pub(crate) text: &'t str,
    /// The place of its first brace.
    pub(crate) open: usize,
    /// The place behind its last brace.
    pub(crate) end: usize,
    /// Whether it is a statement.
    pub(crate) is_block: bool,
    /// What stands between the braces.
    pub(crate) tokens: Vec<Token>,
}

/// What is not plain text.
#[derive(Debug)]
pub(crate) enum Piece<'t> {
    /// `{# … #}`.
    Comment,
    /// `{% raw %}…{% endraw %}`.
    Raw,
    /// What is read.
    Tag(Tag<'t>),
}

/// A piece with where it begins and ends.
#[derive(Debug)]
pub(crate) struct Placed<'t> {
    pub(crate) open: usize,
    pub(crate) end: usize,
    pub(crate) piece: Piece<'t>,
}

/// Words that are operators or parts of statements where no value can stand.
pub(crate) const KEYWORDS: [&str; 12] = ["and", "as", "elif", "else", "for", "if", "in", "is", "not", "or", "recursive", "set"];

/// Statements that have an end.
const STATEMENTS: [&str; 8] = ["autoescape", "block", "call", "filter", "for", "if", "macro", "with"];

/// All that is not plain text, in order.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Placed<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let open = next(text, at)?;
        let (kind, inner) = (text.as_bytes().get(open + 1).copied(), text.get(open + 2..).unwrap_or(""));
        let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
        at = text.len() - inner.len();
        let is_block = kind == Some(b'%');
        let piece = if kind == Some(b'#') {
            at = behind(text, at, "#}");
            Piece::Comment
        } else if is_block && basic(inner, "raw").is_some() {
            at = behind_raw(text, at);
            Piece::Raw
        } else {
            let tokens = tokens(text, &mut at, if is_block { "%}" } else { "}}" });
            Piece::Tag(Tag { text, open, end: at, is_block, tokens })
        };
        Some(Placed { open, end: at, piece })
    })
}

/// The words that a text says in any case: plain text outside of all statements, without the space that tags take from it.
pub(crate) fn certain(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start, mut depth, mut trims) = (Vec::new(), 0, 0_usize, false);
    let mut plain = |range: Range<usize>, trims_start: bool, trims_end: bool| {
        let words = text.get(range.clone()).unwrap_or("");
        let begun = if trims_start { words.trim_start() } else { words };
        let kept = if trims_end { begun.trim_end() } else { begun };
        let from = range.end - begun.len();
        if !kept.is_empty() {
            found.push(from..from + kept.len());
        }
    };
    for Placed { open, end, piece } in pieces(text) {
        let bytes = text.as_bytes();
        if depth == 0 {
            plain(start..open, trims, bytes.get(open + 2) == Some(&b'-'));
        }
        (start, trims) = (end, end.checked_sub(3).and_then(|at| bytes.get(at)) == Some(&b'-'));
        let Piece::Tag(tag) = piece else { continue };
        let word = if tag.is_block { tag.word(0) } else { "" };
        if word.starts_with("end") {
            depth = depth.saturating_sub(1);
        } else if STATEMENTS.contains(&word) || word == "set" && tag.assigned().is_none() {
            depth += 1;
        }
    }
    if depth == 0 {
        // One line end behind all is not said.
        let end = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text)).len();
        plain(start.min(end)..end, trims, false);
    }
    found
}

/// Whether a text keeps some of what it says as a value before it is said, or changes it: for a filter, a name, a macro, a loop
/// within itself, signs that are escaped.
pub(crate) fn captures(text: &str) -> bool {
    pieces(text).any(|placed| match placed.piece {
        Piece::Tag(tag) if tag.is_block => {
            let is_recursive = || tag.tokens.len().checked_sub(1).is_some_and(|last| tag.word(last) == "recursive");
            match tag.word(0) {
                "autoescape" | "call" | "filter" | "macro" => true,
                "set" => tag.assigned().is_none(),
                "for" => is_recursive(),
                _ => false,
            }
        }
        Piece::Tag(_) | Piece::Comment | Piece::Raw => false,
    })
}

/// Where a text first reads a name; where it calls it, only if it does nothing else with it.
pub(crate) fn first_read(text: &str, name: &str) -> Option<usize> {
    first_reads(text).get(name).copied()
}

/// The same of each name that it reads.
pub(crate) fn first_reads(text: &str) -> BTreeMap<&str, usize> {
    let mut found: BTreeMap<&str, (bool, usize)> = BTreeMap::new();
    for placed in pieces(text) {
        let Piece::Tag(tag) = placed.piece else { continue };
        let start = usize::from(tag.is_block);
        for (at, token) in tag.tokens.iter().enumerate().skip(start).filter(|(at, _)| tag.is_name(*at, start)) {
            let place = (tag.word(at + 1) == "(", token.start);
            let first = found.entry(tag.word(at)).or_insert(place);
            *first = place.min(*first);
        }
    }
    found.into_iter().map(|(name, (_, at))| (name, at)).collect()
}

/// A text with words put in at places, those of one place in the order in which they come.
pub(crate) fn inserted(text: &str, mut inserts: Vec<(usize, String)>) -> String {
    inserts.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(text.len() + inserts.iter().map(|(_, words)| words.len()).sum::<usize>());
    let mut start = 0;
    for (at, words) in inserts {
        out.push_str(text.get(start..at).unwrap_or(""));
        out.push_str(&words);
        start = at;
    }
    out.push_str(text.get(start..).unwrap_or(""));
    out
}

fn next(text: &str, from: usize) -> Option<usize> {
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

/// The length of the rest of a tag that holds one word, from behind its `{%` to behind its `%}`.
pub(super) fn basic(text: &str, word: &str) -> Option<usize> {
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
        b'0'..=b'9' => (Kind::Literal, number(rest.as_bytes())),
        c if c == b'_' || c.is_ascii_alphabetic() => (Kind::Word, run(|c| c == b'_' || c.is_ascii_alphanumeric())),
        c if c.is_ascii() => {
            let double = ["**", "//", "==", "!=", ">=", "<="].iter().any(|sign| rest.starts_with(sign));
            (Kind::Sign, 1 + usize::from(double))
        }
        _ => (Kind::Word, rest.chars().take_while(|c| !c.is_ascii()).map(char::len_utf8).sum()),
    }
}

/// The length of a number: digits of a base that it names, else with a fraction and an exponent.
fn number(bytes: &[u8]) -> usize {
    let run = |from: usize, test: fn(u8) -> bool| bytes.iter().skip(from).take_while(|byte| test(**byte)).count();
    let digits = |from| run(from, |byte| byte == b'_' || byte.is_ascii_digit());
    if matches!(bytes, [b'0', b'b' | b'B' | b'o' | b'O' | b'x' | b'X', ..]) {
        return run(0, |byte| byte == b'_' || byte.is_ascii_alphanumeric());
    }
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        end += 1 + usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        end += digits(end);
    }
    end
}

/// The length of a string literal with its quotes; to the end when it has none.
pub(super) fn string(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte == quote {
            break;
        }
    }
    at.min(bytes.len())
}

impl<'t> Tag<'t> {
    /// A token as it is written.
    pub(crate) fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    /// What a token is.
    pub(crate) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// The token of the `=` of a `set`, if it has one.
    pub(crate) fn assigned(&self) -> Option<usize> {
        (self.word(0) == "set").then(|| self.outside("=", 1..self.tokens.len()))?
    }

    /// The first token of a stretch that is this word, outside of all brackets that are opened there.
    pub(crate) fn outside(&self, word: &str, mut stretch: Range<usize>) -> Option<usize> {
        let mut depth = 0_i64;
        stretch.find(|at| {
            let kind = self.kind(*at);
            depth += i64::from(kind == Some(Kind::Open)) - i64::from(kind == Some(Kind::Close));
            depth == 0 && self.word(*at) == word
        })
    }

    /// What a stretch holds between commas outside of all brackets that are opened there.
    pub(crate) fn parts(&self, stretch: Range<usize>) -> Vec<Range<usize>> {
        let (mut parts, mut start) = (Vec::new(), stretch.start);
        while let Some(comma) = self.outside(",", start..stretch.end) {
            parts.push(start..comma);
            start = comma + 1;
        }
        if start < stretch.end {
            parts.push(start..stretch.end);
        }
        parts
    }

    /// The token that closes the bracket opened at one.
    pub(crate) fn closed(&self, open: usize) -> usize {
        let mut depth = 0_i64;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            depth += i64::from(token.kind == Kind::Open) - i64::from(token.kind == Kind::Close);
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len().saturating_sub(1)
    }

    /// The names that the expressions of a stretch read: no fields, filters, tests, keywords, and names of arguments.
    pub(crate) fn names(&self, stretch: Range<usize>) -> impl Iterator<Item = &'t str> {
        let start = stretch.start;
        stretch.filter(move |at| self.is_name(*at, start)).map(|at| self.word(at))
    }

    /// Whether a token of a stretch that begins at `start` is a name that is read.
    pub(super) fn is_name(&self, at: usize, start: usize) -> bool {
        if self.kind(at) != Some(Kind::Word) {
            return false;
        }
        let word = self.word(at);
        let back = |steps: usize| at.checked_sub(steps).filter(|at| *at >= start).map_or("", |at| self.word(at));
        let is_test = back(1) == "is" || back(1) == "not" && back(2) == "is";
        if matches!(back(1), "." | "|")
            || is_test && word != "not"
            || matches!(word, "true" | "True" | "false" | "False" | "none" | "None")
        {
            return false;
        }
        // Where no value has ended, even a keyword is a name; `not` is one where nothing follows that it could be said of.
        if KEYWORDS.contains(&word) {
            let behind = at.saturating_sub(if word == "in" && back(1) == "not" { 2 } else { 1 });
            let is_operand = at == start || !self.ends_value(behind) && !is_test;
            let follows = self.kind(at + 1).is_some_and(|kind| !matches!(kind, Kind::Close | Kind::Sign))
                || matches!(self.word(at + 1), "-" | "+");
            return is_operand && (word != "not" || !follows);
        }
        !(self.word(at + 1) == "=" && matches!(back(1), "(" | ","))
    }

    /// The name that an output begins with, where it writes its value or a part of it, filtered perhaps: no operator puts it together
    /// with something else.
    pub(crate) fn part_of(&self) -> Option<&'t str> {
        let is_part = |at: usize| match self.kind(at) {
            // A place counted from the end.
            Some(Kind::Sign) if self.word(at) == "-" => at > 0 && !self.ends_value(at - 1),
            Some(Kind::Sign) => matches!(self.word(at), "." | "|" | ":" | "," | "="),
            Some(Kind::Word) => !KEYWORDS.contains(&self.word(at)),
            Some(Kind::Literal | Kind::Open | Kind::Close) | None => true,
        };
        (self.kind(0) == Some(Kind::Word) && (0..self.tokens.len()).all(is_part)).then(|| self.word(0))
    }

    /// Whether a value ends at a token.
    pub(crate) fn ends_value(&self, at: usize) -> bool {
        self.kind(at).is_some_and(|kind| match kind {
            Kind::Literal | Kind::Close => true,
            Kind::Word => !KEYWORDS.contains(&self.word(at)),
            Kind::Open | Kind::Sign => false,
        })
    }
}
