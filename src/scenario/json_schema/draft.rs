//! Which draft a JSON Schema is written in, and what that draft does not take: a value of another form, a reference that leads out of the
//! schema. `check` and the evaluation share it, so that they agree.
//!
//! The only module that uses the crate `jsonschema`. Fetches nothing: a reference leads into the schema or to the schema of a draft.

#[cfg(feature = "eval")]
use super::slip::{Slip, SlipKind};
use serde_json::Value;

/// What `$schema` says of each draft, and its name; the newest last.
const NAMED: [(&str, &str); 5] = [
    ("http://json-schema.org/draft-04/schema#", "draft 4"),
    ("http://json-schema.org/draft-06/schema#", "draft 6"),
    ("http://json-schema.org/draft-07/schema#", "draft 7"),
    ("https://json-schema.org/draft/2019-09/schema", "draft 2019-09"),
    ("https://json-schema.org/draft/2020-12/schema", NEWEST),
];
/// The draft that is meant where none is named.
const NEWEST: &str = "draft 2020-12";

/// The draft that a value of `$schema` names.
pub(super) fn named(word: &str) -> Option<&'static str> {
    let plain = |word: &str| {
        let word = word.trim_end_matches('#');
        word.strip_prefix("https://").or_else(|| word.strip_prefix("http://")).map(str::to_owned)
    };
    let wanted = plain(word)?;
    if wanted == "json-schema.org/schema" {
        return Some(NEWEST);
    }
    NAMED.iter().find(|(name, _)| plain(name).as_ref() == Some(&wanted)).map(|(_, draft)| *draft)
}

/// What `$schema` can say.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name)
}

/// Bytes that one compiled pattern of a JSON Schema may take. It is linear in the text, so that it can neither look around nor back.
#[cfg(feature = "eval")]
const OF_PATTERN: usize = 64 << 10;

/// Compiles a schema by the draft that it names, 2020-12 where it names none.
#[cfg(feature = "eval")]
pub(crate) fn validator(schema: &Value) -> Result<jsonschema::Validator, Box<jsonschema::ValidationError<'static>>> {
    jsonschema::options()
        .offline()
        .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(OF_PATTERN))
        .build(schema)
        .map_err(Box::new)
}

/// What the draft's own schema refuses.
#[cfg(feature = "eval")]
pub(super) fn refused(schema: &Value) -> Vec<Slip> {
    let Ok(validator) = jsonschema::meta::validator_for(schema) else { return Vec::new() };
    let errors = validator.iter_errors(schema);
    errors.map(|error| taken(schema, lead(schema, error.instance_path().as_str()), &error)).collect()
}

/// A value in place of which the draft takes another one.
#[cfg(feature = "eval")]
fn taken(schema: &Value, path: String, error: &jsonschema::ValidationError<'_>) -> Slip {
    let draft = schema.get("$schema").and_then(Value::as_str).and_then(named).unwrap_or(NEWEST);
    let named = if schema.get("$schema").is_some() { "" } else { ", the default without `$schema`" };
    let why = one_line(&error.masked_with("this").to_string());
    let expected = format!("what {draft} takes{named}: {why}");
    Slip { path, kind: SlipKind::Bad { expected, near: None } }
}

/// Why a schema that its draft takes cannot be compiled.
#[cfg(feature = "eval")]
pub(super) fn uncompiled(schema: &Value) -> Option<Slip> {
    let bad = |path, expected| Slip { path, kind: SlipKind::Bad { expected, near: None } };
    if super::cost::visits(schema, &Value::Null).is_none() {
        return Some(bad(String::new(), "a schema whose references come to an end".to_owned()));
    }
    let error = validator(schema).err()?;
    let path = lead(schema, error.schema_path().as_str());
    if path.is_empty() {
        let why = one_line(&error.masked_with("this").to_string());
        return Some(bad(path, format!("a schema whose references lead to a place in it: {why}")));
    }
    if path.rsplit('/').take(2).any(|step| step == "pattern" || step == "patternProperties") {
        let expected = "a pattern of limited size, without look-around and backreferences";
        return Some(bad(path, expected.to_owned()));
    }
    Some(taken(schema, path, &error))
}

/// True for a pattern, at a pointer into a schema, that is refused here for nothing but that it looks around or back, as patterns of JavaScript
/// may.
pub(crate) fn looks_around(schema: &Value, pointer: &str) -> bool {
    const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
    let Some(pattern) = schema.pointer(pointer).and_then(Value::as_str) else { return false };
    let mut plain = LOOKS.iter().fold(pattern.to_owned(), |pattern, look| pattern.replace(look, "(?:"));
    for digit in '1'..='9' {
        plain = plain.replace(&format!("\\{digit}"), "x");
    }
    plain != pattern && regex_syntax::parse(&plain).is_ok()
}

/// A pointer as far as it leads into a value.
#[cfg(feature = "eval")]
fn lead(root: &Value, mut pointer: &str) -> String {
    while root.pointer(pointer).is_none() {
        pointer = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    pointer.to_owned()
}

/// The last line of a message of several, which says what is wrong.
#[cfg(feature = "eval")]
pub(crate) fn one_line(message: &str) -> String {
    let last = message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(message).trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
