//! `syntax="jinja"` text, parsed by minijinja at compile time.
//!
//! The only door to minijinja in this floor. Size and nesting are bounded before minijinja sees the text, so that it
//! can neither overflow the stack nor unfold constants without end. Never loads another template, never renders,
//! never panics on input.

use super::jinja_guard;
use crate::base::span::Span;
use minijinja::Environment;
use std::collections::BTreeSet;

/// The largest text, in bytes.
pub const MAX_BYTES: usize = 1_000_000;
/// How deep blocks may nest; each `elif` is a level until its `endif`.
pub const MAX_BLOCKS: u32 = 48;
/// How many operators, dots and filters may stand on one another in one expression; a pair of brackets counts as four.
pub const MAX_CHAIN: u32 = 96;
/// How many bytes the repetition of literals (`"=" * 40`) may make in one text.
pub const MAX_REPEATED: u64 = 1_000_000;

/// A text that minijinja can render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JinjaText {
    /// The variables that it reads and does not set itself, sorted; functions of minijinja (`range`) are none.
    /// An attribute (`a.b`) counts as its root.
    pub variables: BTreeSet<String>,
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
    /// Blocks nest deeper than [`MAX_BLOCKS`], or an expression is longer than [`MAX_CHAIN`].
    TooDeep,
    /// Repeated literals make more than [`MAX_REPEATED`] bytes.
    TooMuchRepeated,
    /// `include`, `extends`, `import`, `from` or `block`: text comes from here alone.
    OtherTemplate(&'static str),
    /// minijinja cannot parse it; its own words.
    Syntax(String),
}

/// Parses a text.
///
/// # Errors
/// The first fault.
pub fn parse(text: &str) -> Result<JinjaText, JinjaFault> {
    if text.len() > MAX_BYTES {
        return Err(JinjaFault { kind: JinjaFaultKind::TooLarge, span: Span::of(MAX_BYTES, text.len()) });
    }
    jinja_guard::check(text)?;
    let mut environment = Environment::new();
    environment.set_debug(true);
    let template = environment.template_from_str(text).map_err(|error| syntax(&error, text))?;
    let mut variables: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
    for (function, _) in environment.globals() {
        variables.remove(function);
    }
    Ok(JinjaText { variables })
}

fn syntax(error: &minijinja::Error, text: &str) -> JinjaFault {
    let range = error.range().or_else(|| line(text, error.line()?)).unwrap_or(0..text.len());
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
    let words = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    JinjaFault { kind: JinjaFaultKind::Syntax(words), span: Span::of(start, end) }
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
