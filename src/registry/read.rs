//! Reads `registry.json`: one pass over the bytes that finds the entries; what stands inside one is parsed when asked for.
//!
//! Never panics and never recurses on input; whatever is wrong comes back as a [`ReadError`] with its position.

use super::artifact::{Entry, Fragment, Lookup, Registry, Source};
#[cfg(feature = "cli")]
use super::{
    artifact::{Parameter, Reference, Warning},
    body::Text,
    node::Node,
};
use crate::base::hash::Hash;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// The schema that this program writes.
pub const SCHEMA: &str = "ctxc/registry/1";
const FAMILY: &str = "ctxc/registry/";
/// The newest version of the schema that is read.
const NEWEST: u32 = 1;

/// Why some bytes are no registry that this program can use.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Not text.
    #[error("byte {at} is not valid UTF-8, so this is no registry: build it again with `ctxc build`")]
    NotText {
        /// Offset of the first bad byte.
        at: usize,
    },
    /// Not JSON, or not of the registry's shape.
    #[error("damaged at line {line}, column {column}: {reason}; build it again with `ctxc build`")]
    Damaged {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What was found and what was expected.
        reason: String,
    },
    /// JSON of something else.
    #[error("expected a registry (schema `{SCHEMA}`), found {found}")]
    Other {
        /// The schema it declares.
        found: String,
    },
    /// Written by a newer program.
    #[error(
        "this registry has schema `{found}`, but this program (ctxc {}) reads up to `{SCHEMA}`: \
         use the newer ctxc that wrote it, or remove it and build it again with this one",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The schema it declares.
        found: String,
    },
    /// One name stands for two things.
    #[error("the {kind} `{name}` is listed twice; build the registry again with `ctxc build`")]
    Twice {
        /// `task`, `template` or `fragment`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Nodes inside nodes without end.
    #[error("nodes are nested more than {limit} deep, which no template can be; build the registry again with `ctxc build`")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
}

/// The schema that the first bytes of a file declare, when it is one of a registry as this program writes it.
pub fn declared(head: &[u8]) -> Option<&str> {
    let schema = head.strip_prefix(b"{\"schema\":\"")?;
    let end = memchr::memchr(b'"', schema)?;
    std::str::from_utf8(schema.get(..end)?).ok().filter(|schema| schema.starts_with(FAMILY))
}

/// Whether a schema of the registry is newer than those that are read.
pub fn is_newer(schema: &str) -> bool {
    schema.strip_prefix(FAMILY).and_then(|version| version.parse::<u32>().ok()).is_some_and(|version| version > NEWEST)
}

/// A JSON value inside the registry's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Raw<'a> {
    pub(super) fn at(text: &'a str, range: &Range<usize>) -> Self {
        Self { json: text.get(range.clone()).unwrap_or(""), at: range.start }
    }

    /// A value that was borrowed from `text`.
    pub(super) fn inside(raw: &'a RawValue, text: &str) -> Self {
        Self { json: raw.get(), at: range_in(raw, text).start }
    }

    pub(super) fn parse<T: Deserialize<'a>>(self, text: &str) -> Result<T, ReadError> {
        serde_json::from_str(self.json).map_err(|err| damaged(&err, self.json, self.at, text))
    }
}

/// Where a borrowed value stands in the text it was borrowed from.
fn range_in(raw: &RawValue, text: &str) -> Range<usize> {
    let json = raw.get();
    let start = (json.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + json.len()
}

/// The error of a part as an error of the whole.
fn damaged(err: &serde_json::Error, json: &str, at: usize, text: &str) -> ReadError {
    let mut start = 0;
    for _ in 1..err.line() {
        start += memchr::memchr(b'\n', json.get(start..).unwrap_or("").as_bytes()).map_or(0, |found| found + 1);
    }
    let offset = (at + start + err.column().saturating_sub(1)).min(text.len());
    let before = text.as_bytes().get(..offset).unwrap_or(&[]);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = offset - memchr::memrchr(b'\n', before).map_or(0, |found| found + 1) + 1;
    let reason = err.to_string();
    // The place is said in the coordinates of the whole file, not of the part.
    let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason).to_owned();
    ReadError::Damaged { line, column, reason }
}

/// Reads a registry of any version that is known.
pub(super) fn read(bytes: Vec<u8>) -> Result<Registry, ReadError> {
    let text = String::from_utf8(bytes).map_err(|err| ReadError::NotText { at: err.utf8_error().valid_up_to() })?;
    match version(&text)? {
        1 => read_1(text),
        // Versions below 1 do not exist; a later program adds its arm and keeps this one.
        other => Err(ReadError::Other { found: format!("schema `{FAMILY}{other}`") }),
    }
}

/// The version of the schema, before anything else of the shape is assumed.
fn version(text: &str) -> Result<u32, ReadError> {
    #[derive(Deserialize)]
    struct Probe<'a> {
        #[serde(borrow)]
        schema: Option<Cow<'a, str>>,
    }
    // What `ctxc build` writes begins like this; anything else is looked through for its schema.
    if text.strip_prefix("{\"schema\":\"").is_some_and(|rest| rest.strip_prefix(SCHEMA).is_some_and(|rest| rest.starts_with('"')))
    {
        return Ok(NEWEST);
    }
    let probe: Probe<'_> = serde_json::from_str(text).map_err(|err| damaged(&err, text, 0, text))?;
    let Some(schema) = probe.schema else { return Err(ReadError::Other { found: "JSON without a `schema`".to_owned() }) };
    let Some(version) = schema.strip_prefix(FAMILY).and_then(|version| version.parse::<u32>().ok()) else {
        return Err(ReadError::Other { found: format!("schema `{schema}`") });
    };
    if version > NEWEST {
        return Err(ReadError::Newer { found: schema.into_owned() });
    }
    Ok(version)
}

/// The compiled registry: `registry.json`, as `ctxc build` writes it. Every node carries its settings, so that nothing is
/// resolved at run time.
#[derive(Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub(crate) struct Document1<'a> {
    /// The edition of the language that it was compiled by.
    edition: String,
    /// The version of ctxc that wrote it.
    compiler: String,
    /// Over the names and hashes of everything below: equal exactly when all of that is.
    #[serde(borrow)]
    hash: Cow<'a, str>,
    /// Every task, by name.
    #[serde(borrow)]
    tasks: Vec<Entry1<'a>>,
    /// Every function template, by name: a function over tasks, which sees its parameters and nothing else.
    #[serde(borrow)]
    templates: Vec<Entry1<'a>>,
    /// Every shared text, by name.
    #[serde(borrow)]
    fragments: Vec<Fragment1<'a>>,
}

/// A task or a function template.
#[derive(Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(rename = "Definition"))]
struct Entry1<'a> {
    /// The name, unique among its kind.
    name: Box<str>,
    /// The author's version of it; null where none is written.
    version: Option<Box<str>>,
    /// The type; `ref` where it only stands for another task.
    operator: Box<str>,
    /// The subtype; null where it has none.
    subtype: Option<Box<str>>,
    /// Where it stands.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "Source"))]
    source: &'a RawValue,
    /// Over what it means and over everything it refers to; not over where or how it is written.
    #[serde(borrow)]
    hash: Cow<'a, str>,
    /// Of a task: the variables that it takes, declared or found in its texts.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<Parameter>"))]
    parameters: Option<&'a RawValue>,
    /// Of a function template: the parameters that a call gives it, in order.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<Parameter>"))]
    params: Option<&'a RawValue>,
    /// Of a function template: the type of its result; null where none is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<Box<str>>,
    /// What it refers to by name.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<Reference>"))]
    references: &'a RawValue,
    /// Findings that did not fail the build.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<Warning>"))]
    warnings: &'a RawValue,
    /// The task with everything inside it.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "Node"))]
    root: &'a RawValue,
}

/// A shared text.
#[derive(Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(rename = "Fragment"))]
struct Fragment1<'a> {
    /// The name that `use` gives, unique in the registry.
    name: String,
    /// Over its text and the fragments that it uses.
    #[serde(borrow)]
    hash: Cow<'a, str>,
    /// Where it stands.
    source: Source,
    /// The text itself.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "Text<'static>"))]
    text: &'a RawValue,
}

fn read_1(text: String) -> Result<Registry, ReadError> {
    let document: Document1<'_> = serde_json::from_str(&text).map_err(|err| damaged(&err, &text, 0, &text))?;
    let tasks = entries(&document.tasks, &text)?;
    let templates = entries(&document.templates, &text)?;
    let fragments = document
        .fragments
        .iter()
        .map(|raw| {
            let hash = hash(&raw.hash, raw.text, &text)?;
            Ok(Fragment { name: raw.name.clone(), hash, source: raw.source.clone(), text: range_in(raw.text, &text) })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let lookup = Lookup::new(&tasks, &templates, &fragments)?;
    let hash = Hash::parse(&document.hash).ok_or_else(|| ReadError::Damaged {
        line: 1,
        column: 1,
        reason: format!("the registry's `hash` is `{}`, expected `b3:` and 64 hex digits", document.hash),
    })?;
    let (edition, compiler) = (document.edition, document.compiler);
    Ok(Registry { edition, compiler, hash, tasks, templates, fragments, lookup, text })
}

fn hash(written: &str, near: &RawValue, text: &str) -> Result<Hash, ReadError> {
    Hash::parse(written).ok_or_else(|| {
        let before = text.as_bytes().get(..range_in(near, text).start).unwrap_or(&[]);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        ReadError::Damaged { line, column: 1, reason: format!("`hash` is `{written}`, expected `b3:` and 64 hex digits") }
    })
}

fn entries(raw: &[Entry1<'_>], text: &str) -> Result<Vec<Entry>, ReadError> {
    let range = |raw: &RawValue| range_in(raw, text);
    raw.iter()
        .map(|raw| {
            Ok(Entry {
                name: raw.name.clone(),
                version: raw.version.clone(),
                operator: raw.operator.clone(),
                subtype: raw.subtype.clone(),
                returns: raw.returns.clone(),
                hash: hash(&raw.hash, raw.root, text)?,
                source: range(raw.source),
                parameters: raw.parameters.or(raw.params).map(range).unwrap_or_default(),
                references: range(raw.references),
                warnings: range(raw.warnings),
                root: range(raw.root),
            })
        })
        .collect()
}
