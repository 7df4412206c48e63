//! The draft of a JSON Schema, the mistakes that this draft rejects (values of a wrong form and
//! references out of the schema), and the violations of a schema by a value, such as an agent's
//! answer. A mistake is data: its place and kind; the caller writes the message. `check` and the
//! evaluation share this file, so that they agree.
//!
//! The only module that uses the crate `jsonschema`. Fetches nothing: a reference leads into the
//! schema or to the schema of a draft.

#[cfg(feature = "eval")]
use super::cost;
use serde_json::Value;

/// One mistake in a JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonSchemaFault {
    /// The JSON Pointer to the mistake.
    pub path: String,
    /// Its kind.
    pub kind: JsonSchemaFaultKind,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonSchemaFaultKind {
    /// The last key of the path is not a keyword.
    UnknownKeyword {
        /// The keyword that was probably meant.
        near: Option<&'static str>,
    },
    /// The value at the path is not valid for its keyword.
    BadValue {
        /// The valid values.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
}

/// Appends a key or an index to a pointer.
pub(super) fn child_pointer(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The keys and indices of a pointer.
pub fn pointer_steps(path: &str) -> impl Iterator<Item = String> {
    path.split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// The value of `$schema` and the name of each draft, the newest last.
const DRAFTS: [(&str, &str); 5] = [
    ("http://json-schema.org/draft-04/schema#", "draft 4"),
    ("http://json-schema.org/draft-06/schema#", "draft 6"),
    ("http://json-schema.org/draft-07/schema#", "draft 7"),
    (
        "https://json-schema.org/draft/2019-09/schema",
        "draft 2019-09",
    ),
    (
        "https://json-schema.org/draft/2020-12/schema",
        DEFAULT_DRAFT,
    ),
];
/// The draft of a schema without `$schema`.
const DEFAULT_DRAFT: &str = "draft 2020-12";

/// Returns the draft that a value of `$schema` names.
pub(super) fn draft_name(word: &str) -> Option<&'static str> {
    let plain = |word: &str| {
        let word = word.trim_end_matches('#');
        word.strip_prefix("https://")
            .or_else(|| word.strip_prefix("http://"))
            .map(str::to_owned)
    };
    let wanted = plain(word)?;
    if wanted == "json-schema.org/schema" {
        return Some(DEFAULT_DRAFT);
    }
    DRAFTS
        .iter()
        .find(|(name, _)| plain(name).as_ref() == Some(&wanted))
        .map(|(_, draft)| *draft)
}

/// Returns the valid values of `$schema`.
pub(super) fn schema_uris() -> impl Iterator<Item = &'static str> {
    DRAFTS.iter().map(|(name, _)| *name)
}

/// The maximum size of a compiled pattern in bytes. Matching takes linear time, so look-around and
/// backreferences are not supported.
#[cfg(feature = "eval")]
const MAX_PATTERN_BYTES: usize = 64 << 10;

/// Compiles a schema by its draft; 2020-12 without `$schema`.
#[cfg(feature = "eval")]
pub(crate) fn compile_schema(
    schema: &Value,
) -> Result<jsonschema::Validator, Box<jsonschema::ValidationError<'static>>> {
    jsonschema::options()
        .offline()
        .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
        .build(schema)
        .map_err(Box::new)
}

/// Returns the mistakes that the meta-schema of the draft rejects.
#[cfg(feature = "eval")]
pub(super) fn find_draft_faults(schema: &Value) -> Vec<JsonSchemaFault> {
    let Ok(validator) = jsonschema::meta::validator_for(schema) else {
        return Vec::new();
    };
    let errors = validator.iter_errors(schema);
    errors
        .map(|error| {
            rejected_value(
                schema,
                valid_prefix(schema, error.instance_path().as_str()),
                &error,
            )
        })
        .collect()
}

/// Converts a validation error into a fault that describes the values that the draft accepts.
#[cfg(feature = "eval")]
fn rejected_value(
    schema: &Value,
    path: String,
    error: &jsonschema::ValidationError<'_>,
) -> JsonSchemaFault {
    let draft = schema
        .get("$schema")
        .and_then(Value::as_str)
        .and_then(draft_name)
        .unwrap_or(DEFAULT_DRAFT);
    let named = if schema.get("$schema").is_some() {
        ""
    } else {
        ", the default without `$schema`"
    };
    let why = last_line(&error.masked_with("this").to_string());
    let expected = format!("what {draft} takes{named}: {why}");
    JsonSchemaFault {
        path,
        kind: JsonSchemaFaultKind::BadValue {
            expected,
            near: None,
        },
    }
}

/// Returns the reason why a schema that is valid by its draft cannot be compiled.
#[cfg(feature = "eval")]
pub(super) fn find_compile_fault(schema: &Value) -> Option<JsonSchemaFault> {
    let bad = |path, expected| JsonSchemaFault {
        path,
        kind: JsonSchemaFaultKind::BadValue {
            expected,
            near: None,
        },
    };
    if super::cost::count_visits(schema, &Value::Null).is_none() {
        return Some(bad(
            String::new(),
            "a schema whose references come to an end".to_owned(),
        ));
    }
    let error = compile_schema(schema).err()?;
    let path = valid_prefix(schema, error.schema_path().as_str());
    if path.is_empty() {
        let why = last_line(&error.masked_with("this").to_string());
        return Some(bad(
            path,
            format!("a schema whose references lead to a place in it: {why}"),
        ));
    }
    if path
        .rsplit('/')
        .take(2)
        .any(|step| step == "pattern" || step == "patternProperties")
    {
        let expected = "a pattern of limited size, without look-around and backreferences";
        return Some(bad(path, expected.to_owned()));
    }
    Some(rejected_value(schema, path, &error))
}

/// Returns true if the pattern at a pointer into a schema is rejected only because of its
/// look-around or backreferences, which patterns of JavaScript may have.
pub(crate) fn uses_look_around(schema: &Value, pointer: &str) -> bool {
    const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
    let Some(pattern) = schema.pointer(pointer).and_then(Value::as_str) else {
        return false;
    };
    let mut plain = LOOKS.iter().fold(pattern.to_owned(), |pattern, look| {
        pattern.replace(look, "(?:")
    });
    for digit in '1'..='9' {
        plain = plain.replace(&format!("\\{digit}"), "x");
    }
    plain != pattern && regex_syntax::parse(&plain).is_ok()
}

/// Shortens a pointer until it leads into the value.
#[cfg(feature = "eval")]
fn valid_prefix(root: &Value, mut pointer: &str) -> String {
    while root.pointer(pointer).is_none() {
        pointer = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    pointer.to_owned()
}

/// Returns the last line of a message, which contains the reason.
#[cfg(feature = "eval")]
pub(crate) fn last_line(message: &str) -> String {
    let last = message
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or(message)
        .trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Returns the violations of a JSON Schema by a value, each with its place. The draft is that of
/// `$schema`, by default 2020-12. References lead nowhere outside the schema.
///
/// # Errors
/// The reason, if the schema is invalid or too expensive for the value.
#[cfg(feature = "eval")]
pub(crate) fn find_violations(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    if cost::count_visits(schema, value).is_none() {
        return Err(format!(
            "the schema is too much for this value: more than {} visits of its parts",
            cost::MAX_VISITS
        ));
    }
    let validator = compile_schema(schema).map_err(|error| {
        format!(
            "it is not a valid JSON Schema: {}",
            last_line(&error.to_string())
        )
    })?;
    let errors = validator.iter_errors(value).take(8);
    let described = errors.map(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() {
            "the whole".to_owned()
        } else {
            at
        };
        format!("{at}: {}", last_line(&error.to_string()))
    });
    Ok(described.collect())
}
