//! Which draft a JSON Schema is written in, and what that draft does not take: a keyword of another one, a value of another
//! form, a reference that leads out of the schema. `check` and the evaluation share it, so that they agree.
//!
//! The only module that uses the crate `jsonschema`. Fetches nothing: a reference leads into the schema or to the schema of a draft.

#[cfg(feature = "eval")]
use super::slip::{Slip, SlipKind};
use serde_json::Value;

/// A draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Four,
    Six,
    Seven,
    Of2019,
    Of2020,
}

use Draft::{Four, Of2019, Of2020, Seven, Six};

/// What `$schema` says of each draft, the newest last.
const NAMED: [(&str, Draft); 5] = [
    ("http://json-schema.org/draft-04/schema#", Four),
    ("http://json-schema.org/draft-06/schema#", Six),
    ("http://json-schema.org/draft-07/schema#", Seven),
    ("https://json-schema.org/draft/2019-09/schema", Of2019),
    ("https://json-schema.org/draft/2020-12/schema", Of2020),
];

/// Keywords that ask for something, with the first and the last draft that has them. A validator of another draft passes over them.
const BETWEEN: &[(&str, Draft, Draft)] = &[
    ("const", Six, Of2020),
    ("contains", Six, Of2020),
    ("propertyNames", Six, Of2020),
    ("if", Seven, Of2020),
    ("dependentRequired", Of2019, Of2020),
    ("dependentSchemas", Of2019, Of2020),
    ("unevaluatedProperties", Of2019, Of2020),
    ("unevaluatedItems", Of2019, Of2020),
    ("minContains", Of2019, Of2020),
    ("maxContains", Of2019, Of2020),
    ("$anchor", Of2019, Of2020),
    ("$recursiveRef", Of2019, Of2019),
    ("prefixItems", Of2020, Of2020),
    ("$dynamicRef", Of2020, Of2020),
];

impl Draft {
    fn name(self) -> &'static str {
        match self {
            Four => "draft 4",
            Six => "draft 6",
            Seven => "draft 7",
            Of2019 => "draft 2019-09",
            Of2020 => "draft 2020-12",
        }
    }

    /// The draft that a value of `$schema` names.
    pub(super) fn named(word: &str) -> Option<Self> {
        let plain = |word: &str| {
            let word = word.trim_end_matches('#');
            word.strip_prefix("https://").or_else(|| word.strip_prefix("http://")).map(str::to_owned)
        };
        let wanted = plain(word)?;
        if wanted == "json-schema.org/schema" {
            return Some(Of2020);
        }
        NAMED.iter().find(|(name, _)| plain(name).as_ref() == Some(&wanted)).map(|(_, draft)| *draft)
    }

    /// The draft that a schema names, 2020-12 where it names none.
    pub(super) fn of(schema: &Value) -> Self {
        schema.get("$schema").and_then(Value::as_str).and_then(Self::named).unwrap_or(Of2020)
    }

    /// What to write in place of a keyword that this draft does not have.
    pub(super) fn lacks(self, keyword: &str) -> Option<String> {
        let (_, from, to) = BETWEEN.iter().find(|(name, _, _)| *name == keyword)?;
        if (*from..=*to).contains(&self) {
            return None;
        }
        let others = if from == to { format!("{} alone has it", from.name()) } else { format!("it came with {}", from.name()) };
        Some(format!(
            "no `{keyword}` in {}, which passes over it: {others}, and `$schema` says which draft is meant",
            self.name()
        ))
    }
}

/// What `$schema` can say.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name)
}

/// Whether a reference leads to nothing that is at hand: neither into the schema nor to the schema of a draft.
pub(super) fn is_elsewhere(root: &Value, to: &str) -> bool {
    let is_here = to.starts_with('#') || to.is_empty() || to.contains("://json-schema.org/draft");
    !is_here && !has_id(root)
}

/// Whether some part of a schema has an address of its own, to which another can lead.
fn has_id(root: &Value) -> bool {
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(keys) => {
                let is_id = |id: Option<&Value>| id.and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'));
                if is_id(keys.get("$id")) || is_id(keys.get("id")) {
                    return true;
                }
                open.extend(keys.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
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
    let named = if schema.get("$schema").is_some() { "" } else { ", which is meant where `$schema` names no other" };
    let why = one_line(&error.masked_with("this").to_string());
    let expected = format!("what {} takes{named}: {why}", Draft::of(schema).name());
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
        let expected =
            "a pattern that is read once from left to right, of a size that can be held: it can look neither around nor back";
        return Some(bad(path, expected.to_owned()));
    }
    Some(taken(schema, path, &error))
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
