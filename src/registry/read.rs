//! Reads `registry.json` in one pass over the bytes that finds the entries; the contents of an
//! entry are parsed on request.
//!
//! Never panics and never recurses on input; every fault is returned as a [`ReadError`] with its
//! position.

use super::artifact::{DefinitionSource, Fragment, IndexedDefinition, NameLookup, Registry};
use super::raw::{NEWEST_VERSION, ReadError, SCHEMA, SCHEMA_PREFIX, borrowed_range, damage_error};
#[cfg(feature = "cli")]
use super::{
    artifact::{Reference, RegistryParameter, Warning},
    body::Text,
    node::Node,
};
use crate::base::hash::Hash;
#[cfg(feature = "cli")]
use crate::template::trust::TrustNode;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The schema declared in the first bytes of a file, if it is a registry in the form that this
/// program writes.
pub fn declared_schema(head: &[u8]) -> Option<&str> {
    let schema = head.strip_prefix(b"{\"schema\":\"")?;
    let end = memchr::memchr(b'"', schema)?;
    std::str::from_utf8(schema.get(..end)?)
        .ok()
        .filter(|schema| schema.starts_with(SCHEMA_PREFIX))
}

/// Returns true if a registry schema is newer than the supported ones.
pub fn is_newer(schema: &str) -> bool {
    schema
        .strip_prefix(SCHEMA_PREFIX)
        .and_then(|version| version.parse::<u32>().ok())
        .is_some_and(|version| version > NEWEST_VERSION)
}

impl Registry {
    /// Reads `registry.json`. Older versions are upgraded; newer ones are an error that names the
    /// schema.
    pub fn read(bytes: impl Into<Vec<u8>>) -> Result<Self, ReadError> {
        parse_registry(bytes.into())
    }
}

/// Reads a registry of any supported version.
fn parse_registry(bytes: Vec<u8>) -> Result<Registry, ReadError> {
    let text = String::from_utf8(bytes).map_err(|err| ReadError::NotText {
        at: err.utf8_error().valid_up_to(),
    })?;
    match schema_version(&text)? {
        1 => parse_v1(text),
        // Versions below 1 do not exist; a later version of this program adds its own arm and keeps
        // this one.
        other => Err(ReadError::Other {
            found: format!("schema `{SCHEMA_PREFIX}{other}`"),
        }),
    }
}

/// The version of the schema, read before any other structure is assumed.
fn schema_version(text: &str) -> Result<u32, ReadError> {
    #[derive(Deserialize)]
    struct Probe<'a> {
        #[serde(borrow)]
        schema: Option<Cow<'a, str>>,
    }
    // Output of `ctxc build` begins like this; any other text is parsed to find its schema.
    if text.strip_prefix("{\"schema\":\"").is_some_and(|rest| {
        rest.strip_prefix(SCHEMA)
            .is_some_and(|rest| rest.starts_with('"'))
    }) {
        return Ok(NEWEST_VERSION);
    }
    let probe: Probe<'_> =
        serde_json::from_str(text).map_err(|err| damage_error(&err, text, 0, text))?;
    let Some(schema) = probe.schema else {
        return Err(ReadError::Other {
            found: "JSON without a `schema`".to_owned(),
        });
    };
    let Some(version) = schema
        .strip_prefix(SCHEMA_PREFIX)
        .and_then(|version| version.parse::<u32>().ok())
    else {
        return Err(ReadError::Other {
            found: format!("schema `{schema}`"),
        });
    };
    if version > NEWEST_VERSION {
        return Err(ReadError::Newer {
            found: schema.into_owned(),
        });
    }
    Ok(version)
}

/// The compiled registry: `registry.json`, as `ctxc build` writes it. Every node carries its settings, so that nothing is
/// resolved at run time.
#[derive(Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Document1"))]
pub(crate) struct RegistryV1<'a> {
    /// The edition of the language that it was compiled with.
    edition: String,
    /// The version of ctxc that wrote it.
    compiler: String,
    /// The hash of the names and hashes of all definitions below; equal for equal contents.
    #[serde(borrow)]
    hash: Cow<'a, str>,
    /// Every task, by name.
    #[serde(borrow)]
    tasks: Vec<DefinitionV1<'a>>,
    /// Every function template, by name: a function over tasks, which sees only its parameters.
    #[serde(borrow)]
    templates: Vec<DefinitionV1<'a>>,
    /// Every shared text, by name.
    #[serde(borrow)]
    fragments: Vec<FragmentV1<'a>>,
}

/// A task or a function template.
#[derive(Deserialize)]
#[cfg_attr(
    feature = "cli",
    derive(schemars::JsonSchema),
    schemars(rename = "Definition")
)]
struct DefinitionV1<'a> {
    /// The name, unique among its kind.
    name: Box<str>,
    /// The version that the author gave; null if there is none.
    version: Option<Box<str>>,
    /// The type; `ref` for a task that only refers to another one.
    operator: Box<str>,
    /// The subtype; null if there is none.
    subtype: Option<Box<str>>,
    /// The place of the definition.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "DefinitionSource"))]
    source: &'a RawValue,
    /// The hash of its content and of all definitions that it refers to. Its place and layout do
    /// not count.
    #[serde(borrow)]
    hash: Cow<'a, str>,
    /// The variables of a task, declared or found in its texts.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<RegistryParameter>"))]
    parameters: Option<&'a RawValue>,
    /// The parameters of a function template, in order.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<RegistryParameter>"))]
    params: Option<&'a RawValue>,
    /// The type of a function template's result; null if none is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<Box<str>>,
    /// The values that may come from outside, each with its sources; absent if none can.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", schemars(with = "Vec<TrustNode>"))]
    trust: Option<&'a RawValue>,
    /// The definitions that it refers to by name.
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
#[cfg_attr(
    feature = "cli",
    derive(schemars::JsonSchema),
    schemars(rename = "Fragment")
)]
struct FragmentV1<'a> {
    /// The name by which `use` refers to it, unique in the registry.
    name: String,
    /// The hash of its text and of the fragments that it uses.
    #[serde(borrow)]
    hash: Cow<'a, str>,
    /// The place of the definition.
    source: DefinitionSource,
    /// The text itself.
    #[serde(borrow)]
    #[cfg_attr(feature = "cli", schemars(with = "Text<'static>"))]
    text: &'a RawValue,
}

fn parse_v1(text: String) -> Result<Registry, ReadError> {
    let document: RegistryV1<'_> =
        serde_json::from_str(&text).map_err(|err| damage_error(&err, &text, 0, &text))?;
    let tasks = index_definitions(&document.tasks, &text)?;
    let templates = index_definitions(&document.templates, &text)?;
    let fragments = document
        .fragments
        .iter()
        .map(|raw| {
            let hash = parse_hash(&raw.hash, raw.text, &text)?;
            Ok(Fragment {
                name: raw.name.clone(),
                hash,
                source: raw.source.clone(),
                text: borrowed_range(raw.text, &text),
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let lookup = NameLookup::new(&tasks, &templates, &fragments)?;
    let hash = Hash::parse(&document.hash).ok_or_else(|| ReadError::Damaged {
        line: 1,
        column: 1,
        reason: format!(
            "the registry's `hash` is `{}`, expected `b3:` and 64 hex digits",
            document.hash
        ),
    })?;
    let edition = document.edition;
    let compiler = document.compiler;
    Ok(Registry {
        edition,
        compiler,
        hash,
        tasks,
        templates,
        fragments,
        lookup,
        text,
    })
}

fn parse_hash(written: &str, near: &RawValue, text: &str) -> Result<Hash, ReadError> {
    Hash::parse(written).ok_or_else(|| {
        let before = text
            .as_bytes()
            .get(..borrowed_range(near, text).start)
            .unwrap_or(&[]);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        ReadError::Damaged {
            line,
            column: 1,
            reason: format!("`hash` is `{written}`, expected `b3:` and 64 hex digits"),
        }
    })
}

fn index_definitions(
    raw: &[DefinitionV1<'_>],
    text: &str,
) -> Result<Vec<IndexedDefinition>, ReadError> {
    let range = |raw: &RawValue| borrowed_range(raw, text);
    raw.iter()
        .map(|raw| {
            Ok(IndexedDefinition {
                name: raw.name.clone(),
                version: raw.version.clone(),
                operator: raw.operator.clone(),
                subtype: raw.subtype.clone(),
                returns: raw.returns.clone(),
                hash: parse_hash(&raw.hash, raw.root, text)?,
                source: range(raw.source),
                parameters: raw.parameters.or(raw.params).map(range).unwrap_or_default(),
                trust: raw.trust.map(range).unwrap_or_default(),
                references: range(raw.references),
                warnings: range(raw.warnings),
                root: range(raw.root),
            })
        })
        .collect()
}
