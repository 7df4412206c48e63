//! A JSON value inside the text of a registry, and the error if one cannot be read.
//!
//! Checks the schema version that a registry declares; does not interpret its contents.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::ops::Range;

/// The schema that this program writes.
pub const SCHEMA: &str = "ctxc/registry/1";
/// The prefix of the schema of every version.
pub(super) const SCHEMA_PREFIX: &str = "ctxc/registry/";
/// The newest supported version of the schema.
pub(super) const NEWEST_VERSION: u32 = 1;

/// The reason why bytes are not a registry that this program can use.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Not UTF-8.
    #[error(
        "byte {at} is not valid UTF-8, so this is no registry: build it again with `ctxc build`"
    )]
    NotText {
        /// Offset of the first bad byte.
        at: usize,
    },
    /// Not JSON, or not the structure of a registry.
    #[error("damaged at line {line}, column {column}: {reason}; build it again with `ctxc build`")]
    Damaged {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// The expected and the actual value.
        reason: String,
    },
    /// JSON with another schema.
    #[error("expected a registry (schema `{SCHEMA}`), found {found}")]
    Other {
        /// The schema it declares.
        found: String,
    },
    /// Written by a newer version of ctxc.
    #[error(
        "this registry has schema `{found}`, but this program (ctxc {}) reads up to `{SCHEMA}`: \
         use the newer ctxc that wrote it, or remove it and build it again with this one",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The schema it declares.
        found: String,
    },
    /// Two definitions of one kind have the same name.
    #[error("the {kind} `{name}` is listed twice; build the registry again with `ctxc build`")]
    Twice {
        /// `task`, `template` or `fragment`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Nodes are nested too deeply.
    #[error(
        "nodes are nested more than {limit} deep, which no template can be; build the registry again with `ctxc build`"
    )]
    TooDeep {
        /// The limit.
        limit: usize,
    },
}

/// A JSON value inside the registry's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawJson<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> RawJson<'a> {
    pub(super) fn in_range(text: &'a str, range: &Range<usize>) -> Self {
        Self {
            json: text.get(range.clone()).unwrap_or(""),
            at: range.start,
        }
    }

    /// A value borrowed from `text`.
    pub(super) fn borrowed_value(raw: &'a RawValue, text: &str) -> Self {
        Self {
            json: raw.get(),
            at: borrowed_range(raw, text).start,
        }
    }

    pub(super) fn parse<T: Deserialize<'a>>(self, text: &str) -> Result<T, ReadError> {
        serde_json::from_str(self.json).map_err(|err| damage_error(&err, self.json, self.at, text))
    }
}

/// The range of a borrowed value in the text that it was borrowed from.
pub(super) fn borrowed_range(raw: &RawValue, text: &str) -> Range<usize> {
    let json = raw.get();
    let start = (json.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + json.len()
}

/// Converts a JSON error within a part into an error with the position in the whole text.
pub(super) fn damage_error(
    err: &serde_json::Error,
    json: &str,
    at: usize,
    text: &str,
) -> ReadError {
    let mut start = 0;
    for _ in 1..err.line() {
        start += memchr::memchr(b'\n', json.get(start..).unwrap_or("").as_bytes())
            .map_or(0, |found| found + 1);
    }
    let offset = (at + start + err.column().saturating_sub(1)).min(text.len());
    let before = text.as_bytes().get(..offset).unwrap_or(&[]);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = offset - memchr::memrchr(b'\n', before).map_or(0, |found| found + 1) + 1;
    let reason = err.to_string();
    // The position is given in the whole file, so the one in the JSON error is removed.
    let reason = reason
        .rsplit_once(" at line ")
        .map_or(reason.as_str(), |(reason, _)| reason)
        .to_owned();
    ReadError::Damaged {
        line,
        column,
        reason,
    }
}
