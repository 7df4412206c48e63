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
pub enum ScanItem<'a> {
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
    Path(ValuePath<'a>),
    /// `fn(arg, k=v)`.
    Call(CallExpression<'a>),
    /// `'text'` or `"text"`, as an argument only.
    Text(Spanned<Cow<'a, str>>),
    /// A number as written, as an argument only.
    Number(Spanned<Cow<'a, str>>),
    /// `true` or `false`, as an argument only.
    Boolean(Spanned<bool>),
}

/// A variable and the path into its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePath<'a> {
    /// The variable.
    pub root: Spanned<Cow<'a, str>>,
    /// Fields and indices, outermost first.
    pub rest: Vec<ValueStep<'a>>,
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueStep<'a> {
    /// `.name`; the span is that of the name.
    Field(Spanned<Cow<'a, str>>),
    /// `[3]`; the span is that of the number.
    Index(Spanned<u32>),
}

/// A use of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallExpression<'a> {
    /// The function.
    pub name: Spanned<Cow<'a, str>>,
    /// Positional arguments; these come before the named ones.
    pub positional: Vec<Expression<'a>>,
    /// Named arguments, in the order written; names are unique.
    pub named: Vec<(Spanned<Cow<'a, str>>, Expression<'a>)>,
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root.value)?;
        self.rest.iter().try_for_each(|step| match step {
            ValueStep::Field(name) => write!(f, ".{}", name.value),
            ValueStep::Index(number) => write!(f, "[{}]", number.value),
        })
    }
}

/// Prints a normal form, independent of layout: equal calls print the same text.
impl fmt::Display for CallExpression<'_> {
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
pub fn has_open_braces(raw: &str) -> bool {
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
    type Item = ScanItem<'a>;

    fn next(&mut self) -> Option<ScanItem<'a>> {
        let cursor = &mut self.cursor;
        let start = cursor.position();
        let rest = cursor.remaining_text();
        if rest.is_empty() {
            return None;
        }
        if rest.starts_with("\\{{") {
            cursor.skip(3);
            return Some(ScanItem::Escaped(cursor.span_since(start)));
        }
        if rest.starts_with("{{") {
            cursor.skip(2);
            return Some(parse_braced(cursor, start));
        }
        let open = memchr::memmem::find(rest.as_bytes(), b"{{").unwrap_or(rest.len());
        // A backslash belongs to the braces after it.
        let escaped =
            open > 0 && open < rest.len() && rest.as_bytes().get(open - 1) == Some(&b'\\');
        cursor.skip(if escaped { open - 1 } else { open });
        Some(ScanItem::Text(cursor.span_since(start)))
    }
}

/// Parses from after the `{{` at `start` to after the `}}`, including a faulty expression.
fn parse_braced<'a>(cursor: &mut Cursor<'a>, start: usize) -> ScanItem<'a> {
    let opened = cursor.clone();
    cursor.skip_space();
    let found = parse_expression(cursor);
    let (kind, span) = match found {
        Ok(value) => return ScanItem::Expression(Spanned::new(value, cursor.span_since(start))),
        Err(fault) => fault,
    };
    // From the fault on, the next pair of braces decides if the expression has an end.
    let rest = cursor.remaining_text();
    let end = find_braces(rest);
    if !rest.get(end..).is_some_and(|tail| tail.starts_with("}}")) {
        let brace = cursor.span(start, start + 2);
        // The remainder is text.
        *cursor = opened;
        return ScanItem::Fault(ExpressionFault {
            kind: ExpressionFaultKind::Unclosed,
            span: brace,
            expression: brace,
        });
    }
    let trailing = cursor.position();
    cursor.skip(end);
    let written = rest.get(..end).unwrap_or("").trim_end().len();
    let trailing = cursor.span(trailing, trailing + written);
    cursor.skip(2);
    let span = if kind == ExpressionFaultKind::TrailingText {
        trailing
    } else if kind == ExpressionFaultKind::Empty {
        cursor.span_since(start)
    } else {
        span
    };
    ScanItem::Fault(ExpressionFault {
        kind,
        span,
        expression: cursor.span_since(start),
    })
}

/// The offset of the next `}}` or `{{`, or the length of the text. For `\{{`, the offset of its
/// backslash.
fn find_braces(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut pairs = memchr::memchr2_iter(b'{', b'}', bytes);
    let found = pairs
        .find(|&at| bytes.get(at) == bytes.get(at + 1))
        .unwrap_or(bytes.len());
    let escaped =
        bytes.get(found) == Some(&b'{') && found > 0 && bytes.get(found - 1) == Some(&b'\\');
    if escaped { found - 1 } else { found }
}

type ExpressionResult<T> = Result<T, (ExpressionFaultKind, Span)>;

/// Parses an expression up to and including its `}}`. On a fault, the cursor stands at or before
/// the faulty position.
fn parse_expression<'a>(cursor: &mut Cursor<'a>) -> ExpressionResult<Expression<'a>> {
    if cursor.remaining_text().starts_with("}}") {
        return Err((
            ExpressionFaultKind::Empty,
            cursor.span(cursor.position(), cursor.position()),
        ));
    }
    let name = parse_name(cursor)?;
    let value = parse_path_or_call(cursor, name, 0)?;
    cursor.skip_space();
    if !cursor.remaining_text().starts_with("}}") {
        return Err((
            ExpressionFaultKind::TrailingText,
            cursor.span(cursor.position(), cursor.position()),
        ));
    }
    cursor.skip(2);
    Ok(value)
}

fn parse_name<'a>(cursor: &mut Cursor<'a>) -> ExpressionResult<Spanned<Cow<'a, str>>> {
    cursor.eat_name().ok_or_else(|| bad_character_fault(cursor))
}

/// The fault of an unexpected character. The character is not consumed, so that the search for the
/// end includes it.
fn bad_character_fault(cursor: &Cursor<'_>) -> (ExpressionFaultKind, Span) {
    let at = cursor.position();
    match cursor.peek() {
        Some((c, length)) => (
            ExpressionFaultKind::BadCharacter(c),
            cursor.span(at, at + length),
        ),
        None => (ExpressionFaultKind::Unclosed, cursor.span(at, at)),
    }
}

/// Parses the call or path that begins with a name.
fn parse_path_or_call<'a>(
    cursor: &mut Cursor<'a>,
    name: Spanned<Cow<'a, str>>,
    depth: u32,
) -> ExpressionResult<Expression<'a>> {
    if cursor.eat_behind_space('(') {
        return parse_call(cursor, name, depth).map(Expression::Call);
    }
    let mut rest = Vec::new();
    loop {
        if cursor.eat_behind_space('.') {
            cursor.skip_space();
            rest.push(ValueStep::Field(self::parse_name(cursor)?));
        } else if cursor.eat_behind_space('[') {
            cursor.skip_space();
            let at = cursor.position();
            let Some(index) = cursor.eat_digits().and_then(|digits| digits.parse().ok()) else {
                return Err((ExpressionFaultKind::BadIndex, cursor.span_since(at)));
            };
            let span = cursor.span_since(at);
            cursor.skip_space();
            if !cursor.eat(']') {
                return Err((ExpressionFaultKind::BadIndex, cursor.span_since(at)));
            }
            rest.push(ValueStep::Index(Spanned::new(index, span)));
        } else {
            return Ok(Expression::Path(ValuePath { root: name, rest }));
        }
    }
}

/// Parses the arguments after `(`, and the `)`.
fn parse_call<'a>(
    cursor: &mut Cursor<'a>,
    name: Spanned<Cow<'a, str>>,
    depth: u32,
) -> ExpressionResult<CallExpression<'a>> {
    if depth >= MAX_DEPTH {
        return Err((ExpressionFaultKind::TooDeep, name.span));
    }
    let mut call = CallExpression {
        name,
        positional: Vec::new(),
        named: Vec::new(),
    };
    cursor.skip_space();
    while !cursor.eat(')') {
        let here = cursor.span(cursor.position(), cursor.position());
        if cursor.remaining_text().starts_with("}}") {
            return Err((ExpressionFaultKind::UnclosedCall, here));
        }
        if call.positional.len() + call.named.len() >= MAX_ARGUMENTS {
            return Err((ExpressionFaultKind::TooManyArguments, call.name.span));
        }
        parse_argument(cursor, &mut call, depth + 1)?;
        cursor.skip_space();
        if cursor.eat(',') {
            cursor.skip_space();
        } else if cursor.peek().is_none_or(|(c, _)| c != ')') {
            let at = cursor.position();
            return Err((ExpressionFaultKind::UnclosedCall, cursor.span(at, at)));
        }
    }
    Ok(call)
}

/// Parses a positional or named argument.
fn parse_argument<'a>(
    cursor: &mut Cursor<'a>,
    call: &mut CallExpression<'a>,
    depth: u32,
) -> ExpressionResult<()> {
    let start = cursor.position();
    let before = cursor.clone();
    if let Some(name) = cursor.eat_name() {
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
            let value = parse_argument_value(cursor, depth)?;
            call.named.push((name, value));
            return Ok(());
        }
        *cursor = before;
    }
    let value = parse_argument_value(cursor, depth)?;
    if !call.named.is_empty() {
        return Err((
            ExpressionFaultKind::PositionalAfterNamed,
            cursor.span_since(start),
        ));
    }
    call.positional.push(value);
    Ok(())
}

/// Parses the value of an argument.
fn parse_argument_value<'a>(
    cursor: &mut Cursor<'a>,
    depth: u32,
) -> ExpressionResult<Expression<'a>> {
    let start = cursor.position();
    match cursor.peek() {
        Some(('"' | '\'', quote)) => {
            let Some(text) = cursor.eat_string() else {
                return Err((
                    ExpressionFaultKind::UnclosedString,
                    cursor.span(start, start + quote),
                ));
            };
            Ok(Expression::Text(text))
        }
        Some((c, _)) if c == '-' || c.is_ascii_digit() => match cursor.eat_number() {
            Some(number) => Ok(Expression::Number(number)),
            None => Err(bad_character_fault(cursor)),
        },
        _ => {
            let name = parse_name(cursor)?;
            match name.value.as_ref() {
                "true" => Ok(Expression::Boolean(name.map(|_| true))),
                "false" => Ok(Expression::Boolean(name.map(|_| false))),
                _ => parse_path_or_call(cursor, name, depth),
            }
        }
    }
}
