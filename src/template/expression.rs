//! Finds and parses `{{name}}`, `{{a.b[0]}}` and `{{fn(arg, k=v)}}` in texts at compile time.
//!
//! Works on the decoded text, without references and comments. A text without `{{` costs one
//! search. Runs in linear time: the scan never goes back. Never looks up a name, never renders,
//! never formats the message of a fault.

use super::cursor::Cursor;
use crate::base::span::{Span, Spanned};
use std::borrow::Cow;
use std::fmt;

/// The maximum nesting of calls in one expression.
pub const MAX_DEPTH: u32 = 32;

/// The maximum number of arguments of a call.
pub const MAX_ARGUMENTS: usize = 256;

/// A section of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Literal text.
    Text(Span),
    /// `\{{`: a literal `{{`.
    Escaped(Span),
    /// An expression; the span includes its braces.
    Expression(Spanned<Expression<'a>>),
    /// An expression that cannot be parsed.
    Fault(ExpressionFault),
}

/// The content between the braces, or an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression<'a> {
    /// `name`, `a.b[0]`.
    Path(Path<'a>),
    /// `fn(arg, k=v)`.
    Call(Call<'a>),
    /// `'text'` or `"text"`, as an argument only.
    Text(Spanned<Cow<'a, str>>),
    /// A number as written, as an argument only.
    Number(Spanned<Cow<'a, str>>),
    /// `true` or `false`, as an argument only.
    Boolean(Spanned<bool>),
}

/// A variable and the path into its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// The variable.
    pub root: Spanned<Cow<'a, str>>,
    /// Fields and indices, outermost first.
    pub rest: Vec<Step<'a>>,
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// `.name`; the span is that of the name.
    Field(Spanned<Cow<'a, str>>),
    /// `[3]`; the span is that of the number.
    Index(Spanned<u32>),
}

/// A use of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The function.
    pub name: Spanned<Cow<'a, str>>,
    /// Positional arguments; these come before the named ones.
    pub positional: Vec<Expression<'a>>,
    /// Named arguments, in the order written; names are unique.
    pub named: Vec<(Spanned<Cow<'a, str>>, Expression<'a>)>,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root.value)?;
        self.rest.iter().try_for_each(|step| match step {
            Step::Field(name) => write!(f, ".{}", name.value),
            Step::Index(number) => write!(f, "[{}]", number.value),
        })
    }
}

/// Prints a normal form, independent of layout: equal calls print the same text.
impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positional = self.positional.iter().map(ToString::to_string);
        let named = self
            .named
            .iter()
            .map(|(name, value)| format!("{}={value}", name.value));
        write!(
            f,
            "{}({})",
            self.name.value,
            positional.chain(named).collect::<Vec<_>>().join(", ")
        )
    }
}

impl fmt::Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.fmt(f),
            Self::Call(call) => call.fmt(f),
            Self::Text(text) if text.value.contains('"') => write!(f, "'{}'", text.value),
            Self::Text(text) => write!(f, "\"{}\"", text.value),
            Self::Number(number) => f.write_str(&number.value),
            Self::Boolean(value) => value.value.fmt(f),
        }
    }
}

/// The reason why an expression cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpressionFault {
    /// The kind of fault.
    pub kind: ExpressionFaultKind,
    /// The faulty span, inside `expression`.
    pub span: Span,
    /// The span of the whole expression including its braces, or of the `{{` alone if it has no
    /// end.
    pub expression: Span,
}

/// The kinds of faults of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExpressionFaultKind {
    /// No `}}` before the next `{{` or the end of the text.
    Unclosed,
    /// No text between the braces.
    Empty,
    /// An unexpected character where a name or an argument must stand.
    BadCharacter(char),
    /// Text after a complete expression.
    TrailingText,
    /// A string without its closing quote on the same line.
    UnclosedString,
    /// No `)` after the arguments; a `,` was possible too.
    UnclosedCall,
    /// No whole number below 2³² between `[` and `]`.
    BadIndex,
    /// A positional argument after a named one.
    PositionalAfterNamed,
    /// The same argument name twice.
    DuplicateArgument,
    /// More than [`MAX_ARGUMENTS`] arguments.
    TooManyArguments,
    /// Calls nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A call outside the texts of a task: calls are allowed only in those.
    MisplacedCall,
}

/// Iterates over the pieces of a text, in order and without gaps. See [`scan_plain`].
#[derive(Clone, Debug)]
pub struct Expressions<'a> {
    cursor: Cursor<'a>,
}

/// True if a text may contain expressions. Any other text need not be scanned.
pub fn may_hold(raw: &str) -> bool {
    // Most texts contain no brace, and a search for one byte is faster than for two.
    let bytes = raw.as_bytes();
    memchr::memchr_iter(b'{', bytes).any(|at| bytes.get(at + 1) == Some(&b'{'))
}

/// Scans a text; `offset` is its position in the document.
pub fn scan_plain(text: &str, offset: u32) -> Expressions<'_> {
    Expressions {
        cursor: Cursor::new(text, offset),
    }
}

impl<'a> Iterator for Expressions<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let cursor = &mut self.cursor;
        let start = cursor.at();
        let rest = cursor.rest();
        if rest.is_empty() {
            return None;
        }
        if rest.starts_with("\\{{") {
            cursor.skip(3);
            return Some(Piece::Escaped(cursor.since(start)));
        }
        if rest.starts_with("{{") {
            cursor.skip(2);
            return Some(expression(cursor, start));
        }
        let open = memchr::memmem::find(rest.as_bytes(), b"{{").unwrap_or(rest.len());
        // A backslash belongs to the braces after it.
        let escaped =
            open > 0 && open < rest.len() && rest.as_bytes().get(open - 1) == Some(&b'\\');
        cursor.skip(if escaped { open - 1 } else { open });
        Some(Piece::Text(cursor.since(start)))
    }
}

/// Parses from after the `{{` at `start` to after the `}}`, including a faulty expression.
fn expression<'a>(cursor: &mut Cursor<'a>, start: usize) -> Piece<'a> {
    let opened = cursor.clone();
    cursor.skip_space();
    let found = whole(cursor);
    let (kind, span) = match found {
        Ok(value) => return Piece::Expression(Spanned::new(value, cursor.since(start))),
        Err(fault) => fault,
    };
    // From the fault on, the next pair of braces decides if the expression has an end.
    let rest = cursor.rest();
    let end = braces(rest);
    if !rest.get(end..).is_some_and(|tail| tail.starts_with("}}")) {
        let brace = cursor.span(start, start + 2);
        // The remainder is text.
        *cursor = opened;
        return Piece::Fault(ExpressionFault {
            kind: ExpressionFaultKind::Unclosed,
            span: brace,
            expression: brace,
        });
    }
    let trailing = cursor.at();
    cursor.skip(end);
    let written = rest.get(..end).unwrap_or("").trim_end().len();
    let trailing = cursor.span(trailing, trailing + written);
    cursor.skip(2);
    let span = if kind == ExpressionFaultKind::TrailingText {
        trailing
    } else if kind == ExpressionFaultKind::Empty {
        cursor.since(start)
    } else {
        span
    };
    Piece::Fault(ExpressionFault {
        kind,
        span,
        expression: cursor.since(start),
    })
}

/// The offset of the next `}}` or `{{`, or the length of the text. For `\{{`, the offset of its
/// backslash.
fn braces(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut pairs = memchr::memchr2_iter(b'{', b'}', bytes);
    let found = pairs
        .find(|&at| bytes.get(at) == bytes.get(at + 1))
        .unwrap_or(bytes.len());
    let escaped =
        bytes.get(found) == Some(&b'{') && found > 0 && bytes.get(found - 1) == Some(&b'\\');
    if escaped { found - 1 } else { found }
}

type Read<T> = Result<T, (ExpressionFaultKind, Span)>;

/// Parses an expression up to and including its `}}`. On a fault, the cursor stands at or before
/// the faulty position.
fn whole<'a>(cursor: &mut Cursor<'a>) -> Read<Expression<'a>> {
    if cursor.rest().starts_with("}}") {
        return Err((
            ExpressionFaultKind::Empty,
            cursor.span(cursor.at(), cursor.at()),
        ));
    }
    let name = name(cursor)?;
    let value = named(cursor, name, 0)?;
    cursor.skip_space();
    if !cursor.rest().starts_with("}}") {
        return Err((
            ExpressionFaultKind::TrailingText,
            cursor.span(cursor.at(), cursor.at()),
        ));
    }
    cursor.skip(2);
    Ok(value)
}

fn name<'a>(cursor: &mut Cursor<'a>) -> Read<Spanned<Cow<'a, str>>> {
    cursor.name().ok_or_else(|| bad(cursor))
}

/// The fault of an unexpected character. The character is not consumed, so that the search for the
/// end includes it.
fn bad(cursor: &Cursor<'_>) -> (ExpressionFaultKind, Span) {
    let at = cursor.at();
    match cursor.peek() {
        Some((c, length)) => (
            ExpressionFaultKind::BadCharacter(c),
            cursor.span(at, at + length),
        ),
        None => (ExpressionFaultKind::Unclosed, cursor.span(at, at)),
    }
}

/// Parses the call or path that begins with a name.
fn named<'a>(
    cursor: &mut Cursor<'a>,
    name: Spanned<Cow<'a, str>>,
    depth: u32,
) -> Read<Expression<'a>> {
    if cursor.eat_behind_space('(') {
        return call(cursor, name, depth).map(Expression::Call);
    }
    let mut rest = Vec::new();
    loop {
        if cursor.eat_behind_space('.') {
            cursor.skip_space();
            rest.push(Step::Field(self::name(cursor)?));
        } else if cursor.eat_behind_space('[') {
            cursor.skip_space();
            let at = cursor.at();
            let Some(index) = cursor.digits().and_then(|digits| digits.parse().ok()) else {
                return Err((ExpressionFaultKind::BadIndex, cursor.since(at)));
            };
            let span = cursor.since(at);
            cursor.skip_space();
            if !cursor.eat(']') {
                return Err((ExpressionFaultKind::BadIndex, cursor.since(at)));
            }
            rest.push(Step::Index(Spanned::new(index, span)));
        } else {
            return Ok(Expression::Path(Path { root: name, rest }));
        }
    }
}

/// Parses the arguments after `(`, and the `)`.
fn call<'a>(cursor: &mut Cursor<'a>, name: Spanned<Cow<'a, str>>, depth: u32) -> Read<Call<'a>> {
    if depth >= MAX_DEPTH {
        return Err((ExpressionFaultKind::TooDeep, name.span));
    }
    let mut call = Call {
        name,
        positional: Vec::new(),
        named: Vec::new(),
    };
    cursor.skip_space();
    while !cursor.eat(')') {
        let here = cursor.span(cursor.at(), cursor.at());
        if cursor.rest().starts_with("}}") {
            return Err((ExpressionFaultKind::UnclosedCall, here));
        }
        if call.positional.len() + call.named.len() >= MAX_ARGUMENTS {
            return Err((ExpressionFaultKind::TooManyArguments, call.name.span));
        }
        argument(cursor, &mut call, depth + 1)?;
        cursor.skip_space();
        if cursor.eat(',') {
            cursor.skip_space();
        } else if cursor.peek().is_none_or(|(c, _)| c != ')') {
            let at = cursor.at();
            return Err((ExpressionFaultKind::UnclosedCall, cursor.span(at, at)));
        }
    }
    Ok(call)
}

/// Parses a positional or named argument.
fn argument<'a>(cursor: &mut Cursor<'a>, call: &mut Call<'a>, depth: u32) -> Read<()> {
    let start = cursor.at();
    let before = cursor.clone();
    if let Some(name) = cursor.name() {
        cursor.skip_space();
        if cursor.eat('=') {
            cursor.skip_space();
            if call
                .named
                .iter()
                .any(|(other, _)| other.value == name.value)
            {
                return Err((ExpressionFaultKind::DuplicateArgument, name.span));
            }
            let value = value(cursor, depth)?;
            call.named.push((name, value));
            return Ok(());
        }
        *cursor = before;
    }
    let value = value(cursor, depth)?;
    if !call.named.is_empty() {
        return Err((
            ExpressionFaultKind::PositionalAfterNamed,
            cursor.since(start),
        ));
    }
    call.positional.push(value);
    Ok(())
}

/// Parses the value of an argument.
fn value<'a>(cursor: &mut Cursor<'a>, depth: u32) -> Read<Expression<'a>> {
    let start = cursor.at();
    match cursor.peek() {
        Some(('"' | '\'', quote)) => {
            let Some(text) = cursor.string() else {
                return Err((
                    ExpressionFaultKind::UnclosedString,
                    cursor.span(start, start + quote),
                ));
            };
            Ok(Expression::Text(text))
        }
        Some((c, _)) if c == '-' || c.is_ascii_digit() => match cursor.number() {
            Some(number) => Ok(Expression::Number(number)),
            None => Err(bad(cursor)),
        },
        _ => {
            let name = name(cursor)?;
            match name.value.as_ref() {
                "true" => Ok(Expression::Boolean(name.map(|_| true))),
                "false" => Ok(Expression::Boolean(name.map(|_| false))),
                _ => named(cursor, name, depth),
            }
        }
    }
}
