//! Python inside a Jinja text: methods of values that the language has as filters or tests are written so; others are notes.
//!
//! Keeps every line where it is.

use super::modules::{Member, Modules, is_module, modules, taken};
use super::scan::{Kind, Piece, scan};
use super::words::{Token, Word, words};
use crate::base::source::LineIndex;
use crate::import::note::{Note, NoteKind};
use crate::jinja::absent::absent;
use crate::jinja::fault::JinjaFaultKind;
use crate::jinja::limits::{MAX_BYTES, MAX_COLUMNS};
use crate::jinja::names::JinjaName;
use crate::jinja::parse::parse;
use std::collections::BTreeSet;
use std::ops::Range;

/// A text as the language takes it.
#[derive(Debug)]
pub(super) struct Adapted {
    pub(super) text: String,
    pub(super) notes: Vec<Note>,
    pub(super) is_changed: bool,
    /// What it calls the files that it imports as a whole, and where it has their names.
    pub(super) modules: (Modules, Vec<Member>),
}

/// Methods without arguments and their filters.
const PLAIN: [(&str, &str); 8] = [
    ("items", "items"),
    ("upper", "upper"),
    ("lower", "lower"),
    ("strip", "trim"),
    ("title", "title"),
    ("capitalize", "capitalize"),
    ("keys", "list"),
    ("values", "items|map('last')"),
];
/// Methods with arguments and their filters.
const FILTERS: [(&str, &str); 3] = [("replace", "replace"), ("split", "split"), ("strip", "trim")];
/// Methods and their tests.
const TESTS: [(&str, &str); 2] = [("startswith", "startingwith"), ("endswith", "endingwith")];

/// How many words the argument of a method may have.
const MAX_ARGUMENT: usize = 200;

/// Names whose methods are none of Python's values.
struct Named {
    /// Of whole files that are imported.
    modules: Modules,
    /// Of what goes through its values in turn.
    cyclers: BTreeSet<String>,
}

/// A stretch and what is written instead.
type Edits = Vec<(Range<usize>, String)>;

/// Writes what Python alone understands in another way, and notes what has none.
pub(super) fn adapt(path: &str, text: &str) -> Adapted {
    let pieces = scan(text);
    let named = Named { modules: modules(text, &pieces), cyclers: cyclers(text, &pieces) };
    let (mut edits, mut notes, lines) = (Edits::new(), Vec::new(), LineIndex::new(text));
    let (mut of_modules, mut members) = (Edits::new(), Vec::new());
    for piece in pieces.iter().filter(|piece| matches!(piece.kind, Kind::Variable | Kind::Statement)) {
        let tokens = words(text, piece.inner.clone());
        let taken = taken(text, piece, &tokens, &named.modules);
        for (module, name, range, written) in taken.members {
            let line = lines.line(range.start as u32);
            members.push(Member { module: module.to_owned(), name: name.to_owned(), line });
            of_modules.push((range, written));
        }
        for (module, place) in taken.bare {
            let (what, why) = (format!("`{module}`"), BARE.to_owned());
            let line = lines.line(place as u32);
            notes.push(Note { path: path.to_owned(), line, kind: NoteKind::Unsupported { what, why } });
        }
        let mut at = 0;
        while at < tokens.len() {
            at = call(
                text,
                &tokens,
                at,
                &named,
                &mut |kind, place| {
                    notes.push(Note { path: path.to_owned(), line: lines.line(place as u32), kind });
                },
                &mut edits,
            );
        }
    }
    let mut said = BTreeSet::new();
    for (range, to) in &edits {
        let from = text.get(range.clone()).unwrap_or("").to_owned();
        let (from, to) = if from.is_empty() {
            (from, to.clone())
        } else if to.is_empty() {
            (format!("{from}(…)"), format!("…|join({})", from.trim_end_matches(".join")))
        } else {
            (from, to.clone())
        };
        let (from, to) = if from == GET { (".get(…)".to_owned(), "[…]|default(…)".to_owned()) } else { (from, to) };
        if !matches!(from.as_str(), "" | ")" | ",") && said.insert(from.clone()) {
            notes.push(Note {
                path: path.to_owned(),
                line: lines.line(range.start as u32),
                kind: NoteKind::Rewritten { from, to },
            });
        }
    }
    edits.extend(of_modules);
    let adapted = apply(text, &edits);
    faults(path, &adapted, &mut notes);
    Adapted { text: adapted, notes, is_changed: !edits.is_empty(), modules: (named.modules, members) }
}

/// Names that are set to a `cycler`.
fn cyclers(text: &str, pieces: &[Piece]) -> BTreeSet<String> {
    let sets = pieces.iter().filter(|piece| piece.word(text) == "set");
    sets.filter_map(|piece| {
        let tokens = words(text, piece.inner.clone());
        let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is(text, word));
        (is(2, "=") && is(3, "cycler")).then(|| tokens.get(1).map(|name| name.slice(text).to_owned()))?
    })
    .collect()
}

/// Looks at the word at `at`; gives the next one to look at.
fn call(
    text: &str,
    tokens: &[Token],
    at: usize,
    named: &Named,
    note: &mut dyn FnMut(NoteKind, usize),
    edits: &mut Edits,
) -> usize {
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.is(text, sign));
    let (Some(dot), Some(name)) = (tokens.get(at), tokens.get(at + 1)) else { return at + 1 };
    if !dot.is(text, ".") || name.word != Word::Name || !is(at + 2, "(") || at == 0 {
        return at + 1;
    }
    let method = name.slice(text);
    if is_module(text, tokens, at, &named.modules) {
        return at + 2;
    }
    let is_cycler = |at: usize| tokens.get(at).is_some_and(|token| named.cyclers.contains(token.slice(text)));
    if is(at - 1, "loop") || is(at - 1, "self") || matches!(method, "next" | "reset") && is_cycler(at - 1) {
        return at + 2;
    }
    let known = |list: &[(&str, &'static str)]| list.iter().find(|(known, _)| *known == method).map(|(_, there)| *there);
    if let Some((begin, end)) = indexed(text, tokens, at) {
        edits.push((begin..begin, "(".to_owned()));
        edits.push((end..end, ")".to_owned()));
    }
    if method == "get" && get(text, tokens, at, edits) {
        return at + 3;
    }
    if let Some(filter) = known(&PLAIN).filter(|_| is(at + 3, ")"))
        && let Some(close) = tokens.get(at + 3)
    {
        edits.push((dot.range.start..close.range.end, format!("|{filter}")));
        if method == "title" {
            note(NoteKind::Differs { what: "`.title()`".to_owned(), difference: TITLE.to_owned() }, dot.range.start);
        }
        return at + 4;
    }
    if let Some(filter) = known(&FILTERS).filter(|_| !has_named(text, tokens, at + 2)) {
        edits.push((dot.range.start..name.range.end, format!("|{filter}")));
        return at + 2;
    }
    if let Some(test) = known(&TESTS).filter(|_| !is(at + 3, "(") && is_single(text, tokens, at + 2)) {
        edits.push((dot.range.start..name.range.end, format!(" is {test}")));
        return at + 2;
    }
    if method == "join"
        && let Some(separator) = tokens.get(at - 1).filter(|token| token.word == Word::Text)
        && let Some(close) = matching(text, tokens, at + 2)
        && let (Some(open), Some(end)) = (tokens.get(at + 2), tokens.get(close))
    {
        edits.push((separator.range.start..open.range.start, String::new()));
        edits.push((end.range.clone(), format!(")|join({})", separator.slice(text))));
        return at + 3;
    }
    note(no_method(method), dot.range.start);
    at + 2
}

/// `.get(name, other)` as a field with what stands for it where it is missing.
fn get(text: &str, tokens: &[Token], dot: usize, edits: &mut Edits) -> bool {
    let close = matching(text, tokens, dot + 2).filter(|close| *close > dot + 3);
    let end = close.and_then(|close| tokens.get(close));
    let (Some(close), Some(end), Some(begin), Some(open)) = (close, end, tokens.get(dot), tokens.get(dot + 2)) else {
        return false;
    };
    edits.push((begin.range.start..open.range.end, "[".to_owned()));
    edits.push(match comma(text, tokens, dot + 2, close) {
        Some(comma) => (comma.range.clone(), "]|default(".to_owned()),
        None => (end.range.clone(), "]|default(none)".to_owned()),
    });
    true
}

/// A method that there is not, with what to write.
fn no_method(method: &str) -> NoteKind {
    let other = "use a filter, or compute it before and hand it in";
    let instead = absent(JinjaName::Method, method).map_or(other, |absent| absent.instead);
    NoteKind::Unsupported { what: format!("`.{method}()`"), why: format!("a value has no methods here; {instead}") }
}

/// How the method `title` differs from the filter.
const TITLE: &str = "behind an apostrophe and a digit the method writes a capital, and the filter does not";
/// Why an imported file is no value.
const BARE: &str =
    "an imported file is called so, and only what it sets can be used: name that (`m.title`), and call nothing else so";
/// How a method is asked for what may be missing.
const GET: &str = ".get(";

/// Words behind which a bracket begins a value.
const BEFORE: [&str; 9] = ["and", "elif", "else", "if", "in", "is", "not", "or", "with"];

/// Whether the name at a place is a method that becomes a filter or a test, which stand behind others without brackets.
fn is_rewritten(text: &str, tokens: &[Token], at: usize) -> bool {
    let is_called = tokens.get(at + 1).is_some_and(|token| token.is(text, "("));
    let name = tokens.get(at).map_or("", |token| token.slice(text));
    is_called && PLAIN.iter().chain(&FILTERS).chain(&TESTS).any(|(method, _)| *method == name)
}

/// From where to where brackets have to stand, if something is taken out of what the method at a dot gives back: a filter has no parts.
fn indexed(text: &str, tokens: &[Token], dot: usize) -> Option<(usize, usize)> {
    let close = matching(text, tokens, dot + 2)?;
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.is(text, sign));
    let hangs = is(close + 1, "[") || is(close + 1, ".") && !is_rewritten(text, tokens, close + 2);
    if !hangs {
        return None;
    }
    let (mut at, mut depth) = (dot.checked_sub(1)?, 0_usize);
    for _ in 0..MAX_ARGUMENT {
        if is(at, ")") || is(at, "]") || is(at, "}") {
            depth += 1;
        } else if is(at, "(") || is(at, "[") || is(at, "{") {
            depth = depth.checked_sub(1)?;
        }
        let goes_on = depth > 0 || is(at, "(") || is(at, "[") || is(at, ".") || at > 0 && is(at - 1, ".");
        // Brackets around nothing but the value itself belong to no name before them.
        let is_called = at > 0
            && tokens.get(at - 1).is_some_and(|token| match token.word {
                Word::Name => !BEFORE.contains(&token.slice(text)),
                Word::Text | Word::Number => false,
                Word::Sign => token.is(text, ")") || token.is(text, "]"),
            });
        if depth == 0 && (!goes_on || (is(at, "(") || is(at, "[")) && !is_called) {
            return Some((tokens.get(at)?.range.start, tokens.get(close)?.range.end));
        }
        at = at.checked_sub(1)?;
    }
    None
}

/// Whether a call names an argument.
fn has_named(text: &str, tokens: &[Token], open: usize) -> bool {
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.is(text, sign));
    let close = matching(text, tokens, open).unwrap_or(open);
    (open + 1..close).any(|at| is(at + 1, "=") && !is(at + 2, "=") && (is(at - 1, "(") || is(at - 1, ",")))
}

/// Whether a call has one argument.
fn is_single(text: &str, tokens: &[Token], open: usize) -> bool {
    matching(text, tokens, open).is_some_and(|close| close > open + 1 && comma(text, tokens, open, close).is_none())
}

/// The first comma between two brackets.
fn comma<'w>(text: &str, tokens: &'w [Token], open: usize, close: usize) -> Option<&'w Token> {
    let mut depth = 0_usize;
    tokens.get(open + 1..close)?.iter().find(|token| {
        match () {
            () if ["(", "[", "{"].iter().any(|sign| token.is(text, sign)) => depth += 1,
            () if [")", "]", "}"].iter().any(|sign| token.is(text, sign)) => depth = depth.saturating_sub(1),
            () => {}
        }
        depth == 0 && token.is(text, ",")
    })
}

/// The bracket that closes the one at `open`.
fn matching(text: &str, tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open).take(MAX_ARGUMENT) {
        if token.is(text, "(") {
            depth += 1;
        } else if token.is(text, ")") {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

fn apply(text: &str, edits: &Edits) -> String {
    let mut sorted: Vec<&(Range<usize>, String)> = edits.iter().collect();
    sorted.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (range, to) in sorted {
        if range.start >= at {
            out.push_str(text.get(at..range.start).unwrap_or(""));
            out.push_str(to);
            at = range.end;
        }
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// What minijinja would not render, but for reaching for other files, which are taken in.
fn faults(path: &str, text: &str, notes: &mut Vec<Note>) {
    let found = parse(text).faults;
    // Methods are told already, and what names a block is followed when all is put together.
    let is_told = |kind: &JinjaFaultKind| {
        let JinjaFaultKind::Unknown { what, name, .. } = kind else { return false };
        *what == JinjaName::Method || ["self", "super"].contains(&name.as_str())
    };
    let kinds = found
        .into_iter()
        .filter(|fault| !is_told(&fault.kind))
        .filter_map(|fault| Some((said(fault.kind)?, fault.span.start as usize)));
    let lines = LineIndex::new(text);
    notes.extend(kinds.map(|(kind, at)| Note { path: path.to_owned(), line: lines.line(at as u32), kind }));
}

/// A fault of a Jinja text as a note.
pub(super) fn said(kind: JinjaFaultKind) -> Option<NoteKind> {
    let broken = |words: String| Some(NoteKind::Broken(words));
    match kind {
        JinjaFaultKind::OtherTemplate(_) => None,
        JinjaFaultKind::TooLarge => Some(NoteKind::TooLarge { limit: MAX_BYTES }),
        JinjaFaultKind::LineTooLong => broken(format!("a tag reaches more than {MAX_COLUMNS} characters into its line")),
        JinjaFaultKind::TooDeep => broken("blocks or expressions stand too deep in each other".to_owned()),
        JinjaFaultKind::TooMuchRepeated => broken("a repeated text becomes too long".to_owned()),
        JinjaFaultKind::Syntax(words) => broken(format!("the text is no Jinja that can be read: {words}")),
        JinjaFaultKind::TooEarly { argument, name } => {
            let what = format!("a default of `{argument}` that names `{name}`");
            let why = "an argument has no value yet where defaults are taken; set it inside of the macro".to_owned();
            Some(NoteKind::Unsupported { what, why })
        }
        JinjaFaultKind::Unknown { what, name, near } => {
            let absent = absent(what, &name);
            let what = match what {
                JinjaName::Method => format!("`.{name}()`"),
                JinjaName::Filter => format!("filter `{name}`"),
                JinjaName::Test => format!("test `{name}`"),
                JinjaName::Function => format!("function `{name}`"),
                JinjaName::Variable if name == "self" => "`self`".to_owned(),
                JinjaName::Variable => format!("`{name}` of a macro"),
            };
            let why = absent.map_or_else(
                || {
                    near.map_or_else(
                        || "there is none of that name".to_owned(),
                        |near| format!("there is none of that name; the nearest is `{near}`"),
                    )
                },
                |absent| format!("{}; {}", absent.why, absent.instead),
            );
            Some(NoteKind::Unsupported { what, why })
        }
    }
}
