//! Conditions: the `test` of a `case` and the `condition` of a loop, parsed at compile time.
//!
//! `== != lt le gt ge < <= > >= and or not`, parentheses, names with fields and indices, numbers,
//! strings, `true` and `false`. `or` binds weakest, then `and`, then `not`, then one comparison.
//! Runs in linear time; nesting ends at [`MAX_DEPTH`]. Never evaluates a condition, never looks up
//! a name, never formats the message of a fault.

use super::cursor::Cursor;
use super::expression::{ValuePath, ValueStep};
use crate::base::span::{Span, Spanned};
use std::borrow::Cow;

/// The maximum nesting of parentheses and `not`.
pub const MAX_DEPTH: u32 = 32;

/// The position of a condition's text in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionPosition {
    /// The text stands in the document unchanged, from this offset on: spans inside it are exact.
    Exact(u32),
    /// Decoding changed the text: every span is that of the whole text.
    Whole(Span),
}

/// A condition, or a value in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition<'a> {
    /// All conditions hold; two or more.
    And(Vec<Condition<'a>>),
    /// At least one condition holds; two or more.
    Or(Vec<Condition<'a>>),
    /// The condition does not hold.
    Not(Box<Condition<'a>>),
    /// Two values compared.
    Compare(Box<Comparison<'a>>),
    /// A value used as true or false.
    Value(ConditionValue<'a>),
}

/// Two values and the operator that compares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison<'a> {
    /// The left side.
    pub left: Condition<'a>,
    /// The operator; the span is that of the sign or word.
    pub operator: Spanned<Comparator>,
    /// The right side.
    pub right: Condition<'a>,
}

/// An operator of comparison; a word and its sign are the same operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `lt`, `<`
    Less,
    /// `le`, `<=`
    LessOrEqual,
    /// `gt`, `>`
    Greater,
    /// `ge`, `>=`
    GreaterOrEqual,
}

impl Comparator {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "lt" => Some(Self::Less),
            "le" => Some(Self::LessOrEqual),
            "gt" => Some(Self::Greater),
            "ge" => Some(Self::GreaterOrEqual),
            _ => None,
        }
    }

    /// Two-character signs first.
    const SIGNS: [(&'static str, Self); 6] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("<", Self::Less),
        (">", Self::Greater),
    ];
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionValue<'a> {
    /// `a.b[0]`.
    Path(ValuePath<'a>),
    /// A number as written.
    Number(Spanned<Cow<'a, str>>),
    /// `'text'` or `"text"`; the span covers the quotes.
    Text(Spanned<Cow<'a, str>>),
    /// `true` or `false`.
    Boolean(Spanned<bool>),
}

/// The reason why a condition cannot be parsed: the expected and the actual text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionFault {
    /// The expected syntax.
    pub expected: Expected,
    /// The actual word or sign, as decoded; empty at the end of the condition.
    pub found: String,
    /// The span of the actual word or sign.
    pub span: Span,
}

/// The syntax that was expected where parsing a condition failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expected {
    /// A name, number, string, `true`, `false`, `not` or `(`.
    Value,
    /// `and`, `or`, a comparison, or the end.
    Operator,
    /// `and`, `or` or the end: the result of a comparison cannot be compared again.
    Connective,
    /// `)`
    ClosingParenthesis,
    /// The closing quote of a string.
    ClosingQuote,
    /// A field name after a dot.
    Field,
    /// A whole number and `]`.
    Index,
    /// `==` where one `=` stands.
    DoubleEquals,
    /// `and` where `&&` or `&` stands.
    And,
    /// `or` where `||` or `|` stands.
    Or,
    /// `not` where `!` stands.
    Not,
    /// At most [`MAX_DEPTH`] levels.
    LessNesting,
}

/// Parses the decoded text of a condition.
///
/// # Errors
/// The first fault.
pub fn parse(text: &str, place: ConditionPosition) -> Result<Condition<'_>, ConditionFault> {
    let offset = match place {
        ConditionPosition::Exact(offset) => offset,
        ConditionPosition::Whole(_) => 0,
    };
    let mut parser = Parser {
        cursor: Cursor::new(text, offset),
        place,
        depth: 0,
        compared: false,
    };
    let condition = parser.parse_or()?;
    if parser.cursor.remaining_text().is_empty() {
        return Ok(condition);
    }
    Err(parser.unexpected_text_fault())
}

/// Returns the variables that a condition reads, in the order written, with duplicates.
pub fn collect_variables<'c, 'a>(condition: &'c Condition<'a>) -> Vec<&'c ValuePath<'a>> {
    let mut found = Vec::new();
    push_variables(condition, &mut found);
    found
}

// The depth is that of the parser: at most MAX_DEPTH levels of and, or, not and comparison each.
fn push_variables<'c, 'a>(condition: &'c Condition<'a>, found: &mut Vec<&'c ValuePath<'a>>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            for part in parts {
                push_variables(part, found);
            }
        }
        Condition::Not(part) => push_variables(part, found),
        Condition::Compare(comparison) => {
            push_variables(&comparison.left, found);
            push_variables(&comparison.right, found);
        }
        Condition::Value(ConditionValue::Path(path)) => found.push(path),
        Condition::Value(
            ConditionValue::Number(_) | ConditionValue::Text(_) | ConditionValue::Boolean(_),
        ) => {}
    }
}

/// The use that a condition makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDemand {
    /// The value is used as true or false.
    Truth,
    /// The value is ordered against a number.
    Number,
    /// The value is ordered against a text.
    Text,
    /// The value is ordered against another value.
    Ordered,
}

/// Returns the variables that a condition uses for more than equality, each with the use.
pub fn collect_demands<'c, 'a>(
    condition: &'c Condition<'a>,
) -> Vec<(&'c ValuePath<'a>, ValueDemand)> {
    let mut found = Vec::new();
    push_demands(condition, ValueDemand::Truth, &mut found);
    found
}

fn push_demands<'c, 'a>(
    condition: &'c Condition<'a>,
    wanted: ValueDemand,
    found: &mut Vec<(&'c ValuePath<'a>, ValueDemand)>,
) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts
            .iter()
            .for_each(|part| push_demands(part, ValueDemand::Truth, found)),
        Condition::Not(part) => push_demands(part, ValueDemand::Truth, found),
        Condition::Compare(compared) => {
            let is_equality = matches!(
                compared.operator.value,
                Comparator::Equal | Comparator::NotEqual
            );
            for (own, other) in [
                (&compared.left, &compared.right),
                (&compared.right, &compared.left),
            ] {
                match (own, other) {
                    (Condition::Value(ConditionValue::Path(_)), _) if is_equality => {}
                    (
                        Condition::Value(ConditionValue::Path(_)),
                        Condition::Value(ConditionValue::Number(_)),
                    ) => {
                        push_demands(own, ValueDemand::Number, found);
                    }
                    (
                        Condition::Value(ConditionValue::Path(_)),
                        Condition::Value(ConditionValue::Text(_)),
                    ) => {
                        push_demands(own, ValueDemand::Text, found);
                    }
                    (Condition::Value(ConditionValue::Path(_)), _) => {
                        push_demands(own, ValueDemand::Ordered, found);
                    }
                    _ => push_demands(own, ValueDemand::Truth, found),
                }
            }
        }
        Condition::Value(ConditionValue::Path(path)) => found.push((path, wanted)),
        Condition::Value(
            ConditionValue::Number(_) | ConditionValue::Text(_) | ConditionValue::Boolean(_),
        ) => {}
    }
}

type Parsed<T> = Result<T, ConditionFault>;

struct Parser<'a> {
    cursor: Cursor<'a>,
    place: ConditionPosition,
    depth: u32,
    /// True if a comparison was parsed last; selects the message.
    compared: bool,
}

impl<'a> Parser<'a> {
    fn parse_or(&mut self) -> Parsed<Condition<'a>> {
        let first = self.parse_and()?;
        let mut parts = vec![first];
        while self.eat_keyword("or") {
            parts.push(self.parse_and()?);
        }
        Ok(join_parts(parts, Condition::Or))
    }

    fn parse_and(&mut self) -> Parsed<Condition<'a>> {
        let first = self.parse_not()?;
        let mut parts = vec![first];
        while self.eat_keyword("and") {
            parts.push(self.parse_not()?);
        }
        Ok(join_parts(parts, Condition::And))
    }

    fn parse_not(&mut self) -> Parsed<Condition<'a>> {
        if !self.eat_keyword("not") {
            return self.parse_comparison();
        }
        let inner = self.parse_nested(Self::parse_not)?;
        Ok(Condition::Not(Box::new(inner)))
    }

    fn parse_comparison(&mut self) -> Parsed<Condition<'a>> {
        let left = self.parse_operand()?;
        self.compared = false;
        let Some(operator) = self.parse_comparator() else {
            return Ok(left);
        };
        let right = self.parse_operand()?;
        self.compared = true;
        Ok(Condition::Compare(Box::new(Comparison {
            left,
            operator,
            right,
        })))
    }

    /// Parses a value or a condition in parentheses, and the white space after it.
    fn parse_operand(&mut self) -> Parsed<Condition<'a>> {
        self.cursor.skip_space();
        let operand = match self.cursor.peek() {
            Some(('(', _)) => {
                let inner = self.parse_nested(|parser| {
                    parser.cursor.skip(1);
                    parser.parse_or()
                })?;
                if !self.cursor.eat(')') {
                    return Err(match self.unexpected_text_fault() {
                        fault
                            if matches!(
                                fault.expected,
                                Expected::Operator | Expected::Connective
                            ) =>
                        {
                            ConditionFault {
                                expected: Expected::ClosingParenthesis,
                                ..fault
                            }
                        }
                        fault => fault,
                    });
                }
                inner
            }
            _ => Condition::Value(self.parse_value()?),
        };
        self.cursor.skip_space();
        Ok(operand)
    }

    fn parse_value(&mut self) -> Parsed<ConditionValue<'a>> {
        match self.cursor.peek() {
            Some(('"' | '\'', _)) => {
                let text = self
                    .cursor
                    .eat_string()
                    .ok_or_else(|| self.fault_here(Expected::ClosingQuote))?;
                Ok(ConditionValue::Text(self.with_document_span(text)))
            }
            Some((c, _)) if c == '-' || c.is_ascii_digit() => {
                let number = self
                    .cursor
                    .eat_number()
                    .ok_or_else(|| self.fault_here(Expected::Value))?;
                Ok(ConditionValue::Number(self.with_document_span(number)))
            }
            Some(('!', _)) => Err(self.fault_here(Expected::Not)),
            _ => self.parse_name(),
        }
    }

    fn parse_name(&mut self) -> Parsed<ConditionValue<'a>> {
        let before = self.cursor.clone();
        let root = self
            .cursor
            .eat_name()
            .ok_or_else(|| self.fault_here(Expected::Value))?;
        let root = self.with_document_span(root);
        match root.value.as_ref() {
            "true" => return Ok(ConditionValue::Boolean(root.map(|_| true))),
            "false" => return Ok(ConditionValue::Boolean(root.map(|_| false))),
            "and" | "or" | "lt" | "le" | "gt" | "ge" => {
                self.cursor = before;
                return Err(self.fault_here(Expected::Value));
            }
            _ => {}
        }
        let mut rest = Vec::new();
        loop {
            if self.cursor.eat_behind_space('.') {
                self.cursor.skip_space();
                let field = self
                    .cursor
                    .eat_name()
                    .ok_or_else(|| self.fault_here(Expected::Field))?;
                rest.push(ValueStep::Field(self.with_document_span(field)));
            } else if self.cursor.eat_behind_space('[') {
                rest.push(self.parse_index()?);
            } else {
                return Ok(ConditionValue::Path(ValuePath { root, rest }));
            }
        }
    }

    fn parse_index(&mut self) -> Parsed<ValueStep<'a>> {
        self.cursor.skip_space();
        let before = self.cursor.clone();
        let start = self.cursor.position();
        let Some(index) = self
            .cursor
            .eat_digits()
            .and_then(|digits| digits.parse().ok())
        else {
            self.cursor = before;
            return Err(self.fault_here(Expected::Index));
        };
        let index = self.with_document_span(Spanned::new(index, self.cursor.span_since(start)));
        self.cursor.skip_space();
        if self.cursor.eat(']') {
            Ok(ValueStep::Index(index))
        } else {
            Err(self.fault_here(Expected::Index))
        }
    }
}

impl Parser<'_> {
    fn with_document_span<T>(&self, found: Spanned<T>) -> Spanned<T> {
        match self.place {
            ConditionPosition::Exact(_) => found,
            ConditionPosition::Whole(span) => Spanned::new(found.value, span),
        }
    }

    /// Runs `read` one nesting level deeper, or fails at [`MAX_DEPTH`].
    fn parse_nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault_here(Expected::LessNesting));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Consumes a keyword and the white space before it, if it is next.
    fn eat_keyword(&mut self, wanted: &str) -> bool {
        self.cursor.skip_space();
        let before = self.cursor.clone();
        if self
            .cursor
            .eat_name()
            .is_some_and(|name| name.value == wanted)
        {
            return true;
        }
        self.cursor = before;
        false
    }

    fn parse_comparator(&mut self) -> Option<Spanned<Comparator>> {
        let start = self.cursor.position();
        let rest = self.cursor.remaining_text();
        if let Some((sign, comparator)) = Comparator::SIGNS
            .iter()
            .find(|(sign, _)| rest.starts_with(sign))
        {
            self.cursor.skip(sign.len());
            return Some(
                self.with_document_span(Spanned::new(*comparator, self.cursor.span_since(start))),
            );
        }
        let before = self.cursor.clone();
        let word = self.cursor.eat_name();
        let found = word
            .and_then(|word| Some(Spanned::new(Comparator::from_word(&word.value)?, word.span)));
        if found.is_none() {
            self.cursor = before;
        }
        found.map(|found| self.with_document_span(found))
    }

    /// The fault of unexpected text after a complete value or comparison.
    fn unexpected_text_fault(&self) -> ConditionFault {
        let operator = if self.compared {
            Expected::Connective
        } else {
            Expected::Operator
        };
        let expected = match self.cursor.peek() {
            Some(('=', _)) if !self.cursor.remaining_text().starts_with("==") => {
                Expected::DoubleEquals
            }
            Some(('&', _)) => Expected::And,
            Some(('|', _)) => Expected::Or,
            _ => operator,
        };
        self.fault_here(expected)
    }

    /// The fault at the next word, number or run of signs.
    fn fault_here(&self, expected: Expected) -> ConditionFault {
        let mut ahead = self.cursor.clone();
        let start = ahead.position();
        let signs = ahead
            .remaining_text()
            .bytes()
            .take_while(|byte| b"=!<>&|".contains(byte))
            .count();
        ahead.skip(signs);
        if signs == 0 && ahead.eat_name().is_none() && ahead.eat_number().is_none() {
            ahead.skip(ahead.peek().map_or(0, |(_, length)| length));
        }
        let found = self
            .cursor
            .remaining_text()
            .get(..ahead.position() - start)
            .unwrap_or("")
            .to_owned();
        ConditionFault {
            expected,
            found,
            span: self
                .with_document_span(Spanned::new((), ahead.span_since(start)))
                .span,
        }
    }
}

/// Joins the parts; a single part is returned unchanged.
fn join_parts<'a>(
    mut parts: Vec<Condition<'a>>,
    join: fn(Vec<Condition<'a>>) -> Condition<'a>,
) -> Condition<'a> {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            join(parts)
        }
        None => join(parts),
    }
}
