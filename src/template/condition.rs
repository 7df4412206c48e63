//! Conditions: the `test` of a `case` and the `condition` of a loop, parsed at compile time.
//!
//! `== != lt le gt ge < <= > >= and or not`, parentheses, names with fields and indices, numbers,
//! strings, `true` and `false`. `or` binds weakest, then `and`, then `not`, then one comparison.
//! Runs in linear time; nesting ends at [`MAX_DEPTH`]. Never evaluates a condition, never looks up
//! a name, never formats the message of a fault.

use super::cursor::Cursor;
use super::expression::{Path, Step};
use crate::base::span::{Span, Spanned};
use std::borrow::Cow;

/// The maximum nesting of parentheses and `not`.
pub const MAX_DEPTH: u32 = 32;

/// The position of a condition's text in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
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
    Value(Value<'a>),
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
    fn of_word(word: &str) -> Option<Self> {
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
pub enum Value<'a> {
    /// `a.b[0]`.
    Path(Path<'a>),
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
pub fn parse(text: &str, place: Place) -> Result<Condition<'_>, ConditionFault> {
    let offset = match place {
        Place::Exact(offset) => offset,
        Place::Whole(_) => 0,
    };
    let mut parser = Parser {
        cursor: Cursor::new(text, offset),
        place,
        depth: 0,
        compared: false,
    };
    let condition = parser.or()?;
    if parser.cursor.rest().is_empty() {
        return Ok(condition);
    }
    Err(parser.unexpected_operator())
}

/// Returns the variables that a condition reads, in the order written, with duplicates.
pub fn variables<'c, 'a>(condition: &'c Condition<'a>) -> Vec<&'c Path<'a>> {
    let mut found = Vec::new();
    collect(condition, &mut found);
    found
}

// The depth is that of the parser: at most MAX_DEPTH levels of and, or, not and comparison each.
fn collect<'c, 'a>(condition: &'c Condition<'a>, found: &mut Vec<&'c Path<'a>>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| collect(part, found));
        }
        Condition::Not(part) => collect(part, found),
        Condition::Compare(comparison) => {
            collect(&comparison.left, found);
            collect(&comparison.right, found);
        }
        Condition::Value(Value::Path(path)) => found.push(path),
        Condition::Value(Value::Number(_) | Value::Text(_) | Value::Boolean(_)) => {}
    }
}

/// The use that a condition makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
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
pub fn demands<'c, 'a>(condition: &'c Condition<'a>) -> Vec<(&'c Path<'a>, Demand)> {
    let mut found = Vec::new();
    demand(condition, Demand::Truth, &mut found);
    found
}

fn demand<'c, 'a>(
    condition: &'c Condition<'a>,
    wanted: Demand,
    found: &mut Vec<(&'c Path<'a>, Demand)>,
) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts
            .iter()
            .for_each(|part| demand(part, Demand::Truth, found)),
        Condition::Not(part) => demand(part, Demand::Truth, found),
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
                    (Condition::Value(Value::Path(_)), _) if is_equality => {}
                    (Condition::Value(Value::Path(_)), Condition::Value(Value::Number(_))) => {
                        demand(own, Demand::Number, found);
                    }
                    (Condition::Value(Value::Path(_)), Condition::Value(Value::Text(_))) => {
                        demand(own, Demand::Text, found);
                    }
                    (Condition::Value(Value::Path(_)), _) => demand(own, Demand::Ordered, found),
                    _ => demand(own, Demand::Truth, found),
                }
            }
        }
        Condition::Value(Value::Path(path)) => found.push((path, wanted)),
        Condition::Value(Value::Number(_) | Value::Text(_) | Value::Boolean(_)) => {}
    }
}

type Parsed<T> = Result<T, ConditionFault>;

struct Parser<'a> {
    cursor: Cursor<'a>,
    place: Place,
    depth: u32,
    /// True if a comparison was parsed last; selects the message.
    compared: bool,
}

impl<'a> Parser<'a> {
    fn or(&mut self) -> Parsed<Condition<'a>> {
        let first = self.and()?;
        let mut parts = vec![first];
        while self.word("or") {
            parts.push(self.and()?);
        }
        Ok(joined(parts, Condition::Or))
    }

    fn and(&mut self) -> Parsed<Condition<'a>> {
        let first = self.not()?;
        let mut parts = vec![first];
        while self.word("and") {
            parts.push(self.not()?);
        }
        Ok(joined(parts, Condition::And))
    }

    fn not(&mut self) -> Parsed<Condition<'a>> {
        if !self.word("not") {
            return self.comparison();
        }
        let inner = self.deeper(Self::not)?;
        Ok(Condition::Not(Box::new(inner)))
    }

    fn comparison(&mut self) -> Parsed<Condition<'a>> {
        let left = self.operand()?;
        self.compared = false;
        let Some(operator) = self.comparator() else {
            return Ok(left);
        };
        let right = self.operand()?;
        self.compared = true;
        Ok(Condition::Compare(Box::new(Comparison {
            left,
            operator,
            right,
        })))
    }

    /// Parses a value or a condition in parentheses, and the white space after it.
    fn operand(&mut self) -> Parsed<Condition<'a>> {
        self.cursor.skip_space();
        let operand = match self.cursor.peek() {
            Some(('(', _)) => {
                let inner = self.deeper(|parser| {
                    parser.cursor.skip(1);
                    parser.or()
                })?;
                if !self.cursor.eat(')') {
                    return Err(match self.unexpected_operator() {
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
            _ => Condition::Value(self.value()?),
        };
        self.cursor.skip_space();
        Ok(operand)
    }

    fn value(&mut self) -> Parsed<Value<'a>> {
        match self.cursor.peek() {
            Some(('"' | '\'', _)) => {
                let text = self
                    .cursor
                    .string()
                    .ok_or_else(|| self.fault(Expected::ClosingQuote))?;
                Ok(Value::Text(self.placed(text)))
            }
            Some((c, _)) if c == '-' || c.is_ascii_digit() => {
                let number = self
                    .cursor
                    .number()
                    .ok_or_else(|| self.fault(Expected::Value))?;
                Ok(Value::Number(self.placed(number)))
            }
            Some(('!', _)) => Err(self.fault(Expected::Not)),
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Parsed<Value<'a>> {
        let before = self.cursor.clone();
        let root = self
            .cursor
            .name()
            .ok_or_else(|| self.fault(Expected::Value))?;
        let root = self.placed(root);
        match root.value.as_ref() {
            "true" => return Ok(Value::Boolean(root.map(|_| true))),
            "false" => return Ok(Value::Boolean(root.map(|_| false))),
            "and" | "or" | "lt" | "le" | "gt" | "ge" => {
                self.cursor = before;
                return Err(self.fault(Expected::Value));
            }
            _ => {}
        }
        let mut rest = Vec::new();
        loop {
            if self.cursor.eat_behind_space('.') {
                self.cursor.skip_space();
                let field = self
                    .cursor
                    .name()
                    .ok_or_else(|| self.fault(Expected::Field))?;
                rest.push(Step::Field(self.placed(field)));
            } else if self.cursor.eat_behind_space('[') {
                rest.push(self.index()?);
            } else {
                return Ok(Value::Path(Path { root, rest }));
            }
        }
    }

    fn index(&mut self) -> Parsed<Step<'a>> {
        self.cursor.skip_space();
        let before = self.cursor.clone();
        let start = self.cursor.at();
        let Some(index) = self.cursor.digits().and_then(|digits| digits.parse().ok()) else {
            self.cursor = before;
            return Err(self.fault(Expected::Index));
        };
        let index = self.placed(Spanned::new(index, self.cursor.since(start)));
        self.cursor.skip_space();
        if self.cursor.eat(']') {
            Ok(Step::Index(index))
        } else {
            Err(self.fault(Expected::Index))
        }
    }
}

impl Parser<'_> {
    fn placed<T>(&self, found: Spanned<T>) -> Spanned<T> {
        match self.place {
            Place::Exact(_) => found,
            Place::Whole(span) => Spanned::new(found.value, span),
        }
    }

    /// Runs `read` one nesting level deeper, or fails at [`MAX_DEPTH`].
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(Expected::LessNesting));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Consumes a keyword and the white space before it, if it is next.
    fn word(&mut self, wanted: &str) -> bool {
        self.cursor.skip_space();
        let before = self.cursor.clone();
        if self.cursor.name().is_some_and(|name| name.value == wanted) {
            return true;
        }
        self.cursor = before;
        false
    }

    fn comparator(&mut self) -> Option<Spanned<Comparator>> {
        let start = self.cursor.at();
        let rest = self.cursor.rest();
        if let Some((sign, comparator)) = Comparator::SIGNS
            .iter()
            .find(|(sign, _)| rest.starts_with(sign))
        {
            self.cursor.skip(sign.len());
            return Some(self.placed(Spanned::new(*comparator, self.cursor.since(start))));
        }
        let before = self.cursor.clone();
        let word = self.cursor.name();
        let found =
            word.and_then(|word| Some(Spanned::new(Comparator::of_word(&word.value)?, word.span)));
        if found.is_none() {
            self.cursor = before;
        }
        found.map(|found| self.placed(found))
    }

    /// The fault of unexpected text after a complete value or comparison.
    fn unexpected_operator(&self) -> ConditionFault {
        let operator = if self.compared {
            Expected::Connective
        } else {
            Expected::Operator
        };
        let expected = match self.cursor.peek() {
            Some(('=', _)) if !self.cursor.rest().starts_with("==") => Expected::DoubleEquals,
            Some(('&', _)) => Expected::And,
            Some(('|', _)) => Expected::Or,
            _ => operator,
        };
        self.fault(expected)
    }

    /// The fault at the next word, number or run of signs.
    fn fault(&self, expected: Expected) -> ConditionFault {
        let mut ahead = self.cursor.clone();
        let start = ahead.at();
        let signs = ahead
            .rest()
            .bytes()
            .take_while(|byte| b"=!<>&|".contains(byte))
            .count();
        ahead.skip(signs);
        if signs == 0 && ahead.name().is_none() && ahead.number().is_none() {
            ahead.skip(ahead.peek().map_or(0, |(_, length)| length));
        }
        let found = self
            .cursor
            .rest()
            .get(..ahead.at() - start)
            .unwrap_or("")
            .to_owned();
        ConditionFault {
            expected,
            found,
            span: self.placed(Spanned::new((), ahead.since(start))).span,
        }
    }
}

/// Joins the parts; a single part is returned unchanged.
fn joined<'a>(
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
