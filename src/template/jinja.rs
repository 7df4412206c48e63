//! `syntax="jinja"` text, parsed by minijinja at compile time.
//!
//! The only door to minijinja in this floor. Size and nesting are bounded before minijinja sees the text, so that it
//! can neither overflow the stack nor unfold constants without end. Never loads another template, never renders,
//! never panics on input. What one fault does not hide is looked for beside it.

pub(crate) use super::jinja_builtins::{FILTERS, TESTS};
use super::jinja_guard::{self, Name, Used};
use super::jinja_macros::{own_blocks, rest_of_arguments, too_early};
#[cfg(feature = "assemble")]
pub(crate) use super::jinja_meant::{is_put_in, meant};
use super::jinja_tags::{Placed, pieces};
use super::jinja_walk::flow;
use super::jinja2;
pub use super::jinja2::{ABSENT, Absent, DIFFERENT, Different, absent};
#[cfg(feature = "assemble")]
pub(crate) use super::jinja2::{said, words};
use crate::base::span::Span;
use crate::base::suggest::nearest;
use minijinja::{Environment, UndefinedBehavior};
use std::collections::BTreeSet;

/// The largest text, in bytes.
pub const MAX_BYTES: usize = 1_000_000;
/// How far into a line a tag may reach, in characters: minijinja counts columns in 16 bits, and adds to the last of them.
pub const MAX_COLUMNS: usize = u16::MAX as usize - 1;
/// How deep blocks may nest; each `elif` is a level until its `endif`.
pub const MAX_BLOCKS: u32 = 48;
/// How many operators, dots and filters may stand on one another in one expression; a pair of brackets counts as four.
pub const MAX_CHAIN: u32 = 96;
/// How many bytes the repetition of literals (`"=" * 40`) may make in one text.
pub const MAX_REPEATED: u64 = 1_000_000;

/// Names for which the nearest is looked for, in one text.
const NEAREST: usize = 100;

/// What a text is to minijinja.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JinjaText {
    /// The variables that it reads and does not set itself, sorted; functions of minijinja (`range`) are none where they are only
    /// called. An attribute (`a.b`) counts as its root. None where a fault hides them.
    pub variables: BTreeSet<String>,
    /// The functions that it calls and neither sets nor reads otherwise, sorted: where a variable has the name of one, it is the variable.
    pub functions: BTreeSet<String>,
    /// Why it cannot be rendered, in the order of the text.
    pub faults: Vec<JinjaFault>,
}

/// Why a text cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JinjaFault {
    /// What is wrong.
    pub kind: JinjaFaultKind,
    /// The place, as byte positions in the text.
    pub span: Span,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JinjaFaultKind {
    /// The text is longer than [`MAX_BYTES`].
    TooLarge,
    /// A tag, a comment or raw text reaches beyond [`MAX_COLUMNS`] of its line.
    LineTooLong,
    /// Blocks nest deeper than [`MAX_BLOCKS`], or an expression is longer than [`MAX_CHAIN`].
    TooDeep,
    /// Repeated literals make more than [`MAX_REPEATED`] bytes.
    TooMuchRepeated,
    /// `include`, `extends`, `import`, `from` or `block`: text comes from here alone.
    OtherTemplate(&'static str),
    /// minijinja cannot parse it; its own words.
    Syntax(String),
    /// The default of a macro's argument names the argument itself or one behind it, which has no value yet.
    TooEarly {
        /// The argument.
        argument: String,
        /// What its default names.
        name: String,
    },
    /// A name that minijinja does not have. Said once, at its first place.
    Unknown {
        /// What it would be.
        what: JinjaName,
        /// The name.
        name: String,
        /// The nearest that there is.
        near: Option<String>,
    },
}

/// What minijinja looks up by name and nobody can declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JinjaName {
    /// `{{ a|upper }}`.
    Filter,
    /// `{{ a is defined }}`.
    Test,
    /// `{{ range(3) }}`.
    Function,
    /// `{{ text.strip() }}`.
    Method,
    /// `{{ varargs }}` inside of a macro, `{{ self.block() }}`.
    Variable,
}

impl JinjaName {
    /// All that there are, sorted.
    pub fn all(self) -> Vec<String> {
        match self {
            Self::Filter => FILTERS.iter().map(|name| (*name).to_owned()).collect(),
            Self::Test => TESTS.iter().map(|name| (*name).to_owned()).collect(),
            Self::Function => {
                let environment = bare();
                let mut names: Vec<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
                names.sort();
                names
            }
            Self::Method | Self::Variable => Vec::new(),
        }
    }
}

/// What texts are read and rendered with: all of minijinja but `debug`, which shows more than a text was given, and what Python's
/// Jinja2 has beyond it. What a value lacks is false where it is asked for, and an error where it is written or worked on.
pub(crate) fn bare() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.remove_global("debug");
    jinja2::attach(&mut environment);
    environment
}

/// Parses a text.
pub fn parse(text: &str) -> JinjaText {
    let failed = |fault| JinjaText { faults: vec![fault], ..JinjaText::default() };
    if text.len() > MAX_BYTES {
        return failed(JinjaFault { kind: JinjaFaultKind::TooLarge, span: Span::of(MAX_BYTES, text.len()) });
    }
    let jinja_guard::Seen { mut faults, names, instead, imports } = match jinja_guard::check(text) {
        Ok(seen) => seen,
        Err(fault) => return failed(fault),
    };
    if let Some(span) = beyond(text) {
        return failed(JinjaFault { kind: JinjaFaultKind::LineTooLong, span });
    }
    let mut environment = bare();
    environment.set_debug(true);
    let globals: BTreeSet<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    let read = instead.as_deref().unwrap_or(text);
    let (mut variables, mut functions) = (BTreeSet::new(), BTreeSet::new());
    match environment.template_from_str(read) {
        Ok(_) if imports => {}
        Ok(_) => {
            let flow = flow(read);
            let is_function = |name: &&str| globals.contains(*name) && !flow.values.contains(*name);
            let (called, others): (BTreeSet<&str>, BTreeSet<&str>) = flow.variables.iter().copied().partition(is_function);
            functions = called.into_iter().map(str::to_owned).collect();
            variables = others.into_iter().map(str::to_owned).collect();
            named(read, &mut variables, &mut faults);
        }
        Err(error) => faults.push(syntax(&error, text)),
    }
    unknown(&names, &mut variables, &globals, &mut faults);
    faults.sort_by_key(|fault| fault.span.start);
    JinjaText { variables, functions, faults }
}

/// Names that Jinja2 has without their being declared, and a text here has not.
fn named(text: &str, variables: &mut BTreeSet<String>, faults: &mut Vec<JinjaFault>) {
    let rest = rest_of_arguments(text).into_iter().filter(|(name, _)| variables.remove(*name));
    let absent = rest.chain(own_blocks(text));
    let kind = |name: &str| JinjaFaultKind::Unknown { what: JinjaName::Variable, name: name.to_owned(), near: None };
    faults.extend(absent.map(|(name, at)| JinjaFault { kind: kind(name), span: Span::of(at, at + name.len()) }));
    faults.extend(too_early(text).into_iter().map(|(argument, name, at)| {
        let kind = JinjaFaultKind::TooEarly { argument: argument.to_owned(), name: name.to_owned() };
        JinjaFault { kind, span: Span::of(at, at + name.len()) }
    }));
}

/// Filters, tests and functions that there are not, each once. What is called is no variable that could be declared.
fn unknown(names: &[Name<'_>], variables: &mut BTreeSet<String>, globals: &BTreeSet<String>, faults: &mut Vec<JinjaFault>) {
    let mut said: BTreeSet<(JinjaName, &str)> = BTreeSet::new();
    for &Name { used, word: name, at } in names {
        let (what, is_known) = match used {
            Used::Filter => (JinjaName::Filter, FILTERS.contains(&name)),
            Used::Test => (JinjaName::Test, TESTS.contains(&name)),
            Used::Call => (JinjaName::Function, !variables.contains(name) || globals.contains(name)),
            // What is none of Python's may be a macro that a value holds.
            Used::Method => (JinjaName::Method, absent(JinjaName::Method, name).is_none()),
        };
        if is_known || !said.insert((what, name)) {
            continue;
        }
        if what != JinjaName::Method {
            variables.remove(name);
        }
        let is_near = said.len() <= NEAREST && absent(what, name).is_none();
        let near = is_near.then(|| match what {
            JinjaName::Filter => nearest(name, FILTERS.iter().copied()),
            JinjaName::Test => nearest(name, TESTS.iter().copied()),
            JinjaName::Function => nearest(name, globals.iter().map(String::as_str)),
            JinjaName::Method | JinjaName::Variable => None,
        });
        let near = near.flatten().map(str::to_owned);
        let kind = JinjaFaultKind::Unknown { what, name: name.to_owned(), near };
        faults.push(JinjaFault { kind, span: Span::of(at, at + name.len()) });
    }
}

fn syntax(error: &minijinja::Error, text: &str) -> JinjaFault {
    let range = error.range().or_else(|| line(text, error.line()?)).unwrap_or(0..text.len());
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
    let words = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    JinjaFault { kind: JinjaFaultKind::Syntax(words), span: Span::of(start, end) }
}

/// The first part of a line beyond [`MAX_COLUMNS`] that is not all plain text.
fn beyond(text: &str) -> Option<Span> {
    // Nearly every text is too short for such a line.
    if text.len() <= MAX_COLUMNS {
        return None;
    }
    let (mut long, mut start) = (Vec::new(), 0);
    for line in text.split('\n') {
        let end = start + line.len();
        long.extend(line.char_indices().nth(MAX_COLUMNS).map(|(at, _)| start + at..end));
        start = end + 1;
    }
    let reached = |piece: &Placed<'_>| long.iter().find(|beyond| piece.open < beyond.end && beyond.start < piece.end).cloned();
    let found = if long.is_empty() { None } else { pieces(text).find_map(|piece| reached(&piece)) };
    found.map(|beyond| Span::of(beyond.start, beyond.end))
}

/// The bytes of a line, counted from 1, without its end.
fn line(text: &str, number: usize) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for line in text.split('\n').take(number.checked_sub(1)?) {
        start += line.len() + 1;
    }
    let length = text.get(start..)?.split('\n').next()?.trim_end().len();
    Some(start..start + length)
}
