//! Checks a text as the JSON Schema of an answer and removes its layout.
//!
//! Members keep the order in which they are written, because an answer is produced in the order of
//! the schema's properties. Numbers keep their notation: nothing is rounded. Keywords are not
//! interpreted, and no `$ref` is followed.

use crate::base::json::UniqueKeys;
use serde::Deserialize as _;

/// The reason why a text is not a valid JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerSchemaFault {
    /// Only white space.
    Empty,
    /// The JSON ends too early.
    UnexpectedEnd,
    /// Not JSON, or JSON that parsers may read differently.
    Json {
        /// The reason, as a lower-case fragment.
        why: String,
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
    },
    /// JSON that no answer can be validated against.
    Unsound {
        /// The JSON pointer to the faulty value.
        at: String,
        /// The allowed values.
        expected: String,
        /// The allowed value closest to the actual one.
        near: Option<String>,
    },
    /// JSON that is neither an object nor a boolean.
    WrongType {
        /// The type of the JSON value: `a list`.
        found: &'static str,
    },
}

/// Returns the schema without layout.
///
/// # Errors
/// The text is not valid JSON, or is neither an object nor `true` or `false`.
pub fn compact_schema(text: &str) -> Result<String, AnswerSchemaFault> {
    let found = match text.trim_start().as_bytes().first() {
        None => return Err(AnswerSchemaFault::Empty),
        Some(b'[') => Some("a list"),
        Some(b'"') => Some("a string"),
        Some(b'n') => Some("`null`"),
        Some(b'-' | b'0'..=b'9') => Some("a number"),
        Some(_) => None,
    };
    let mut input = serde_json::Deserializer::from_str(text);
    UniqueKeys::deserialize(&mut input)
        .and_then(|_| input.end())
        .map_err(|error| json_fault(text, &error))?;
    match found {
        Some(found) => Err(AnswerSchemaFault::WrongType { found }),
        None => Ok(remove_layout(text)),
    }
}

fn json_fault(text: &str, error: &serde_json::Error) -> AnswerSchemaFault {
    if error.is_eof() {
        return AnswerSchemaFault::UnexpectedEnd;
    }
    let line = error.line();
    let bytes = error.column();
    let full = error.to_string();
    let why = full
        .rsplit_once(" at line ")
        .map_or(&*full, |(why, _)| why)
        .to_owned();
    let before = text
        .split('\n')
        .nth(line.saturating_sub(1))
        .and_then(|line| line.get(..bytes));
    AnswerSchemaFault::Json {
        why,
        line,
        column: before.map_or(bytes, |before| before.chars().count()).max(1),
    }
}

/// Removes the white space between tokens and writes every string in one normal form.
fn remove_layout(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (before, string) = rest.split_at(start);
        out.extend(before.chars().filter(|c| !c.is_ascii_whitespace()));
        let (string, after) = string.split_at(string_length(string));
        // A string without escapes is in normal form already.
        match string.contains('\\').then(|| {
            serde_json::from_str::<String>(string).and_then(|plain| serde_json::to_string(&plain))
        }) {
            Some(Ok(plain)) => out.push_str(&plain),
            Some(Err(_)) | None => out.push_str(string),
        }
        rest = after;
    }
    out.extend(rest.chars().filter(|c| !c.is_ascii_whitespace()));
    out
}

/// The length of the string that a text begins with, including its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
