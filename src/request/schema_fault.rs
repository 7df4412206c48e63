//! Faults in the schema of a tool's arguments that vendors reject. The vendors document more
//! restrictions than they enforce; this module contains those that were observed.

use super::dialect::Dialect;
use super::places::child_pointer;
use serde_json::{Map, Value};

/// A fault of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolSchemaFault {
    /// Alternatives at the root, which must be one object.
    Top(&'static str),
    /// An array without the schema of its items.
    NoItems,
    /// A keyword that the vendor's own schema language lacks.
    Unknown(&'static str),
    /// An optional property in a strict schema.
    Optional(String),
    /// A strict schema that allows other properties.
    Open,
}

/// The use of a schema in a request.
#[derive(Clone, Copy, Debug)]
pub struct SchemaUse {
    /// True if the vendor promises to follow it to the letter.
    pub is_strict: bool,
    /// True for a schema in the vendor's own language instead of JSON Schema.
    pub is_own: bool,
}

/// A fault with its pointer.
pub type PlacedFault = (String, ToolSchemaFault);

/// Keywords of JSON Schema that Gemini's own schema language lacks.
const UNKNOWN_TO_GEMINI: &str = "$schema additionalProperties const examples exclusiveMaximum exclusiveMinimum multipleOf prefixItems propertyNames \
                      uniqueItems";
/// The maximum depth; intended schemas are flatter.
const MAX_DEPTH: usize = 64;

/// Returns the first fault of a schema, with its pointer.
pub fn find_fault(schema: &Value, dialect: Dialect, schema_use: SchemaUse) -> Option<PlacedFault> {
    let refused: &[&'static str] = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            &["oneOf", "anyOf", "allOf", "enum", "not"]
        }
        Dialect::Anthropic => &["oneOf", "anyOf", "allOf"],
        Dialect::Gemini | Dialect::Ollama => &[],
    };
    let top = refused.iter().find(|word| schema.get(**word).is_some());
    let top = top.map(|word| (format!("/{word}"), ToolSchemaFault::Top(word)));
    top.or_else(|| {
        first_fault(
            schema,
            &|object| check_object(object, dialect, schema_use),
            MAX_DEPTH,
        )
    })
}

/// Returns the fault of one schema inside a schema, with its pointer.
fn check_object(
    object: &Map<String, Value>,
    dialect: Dialect,
    SchemaUse { is_strict, is_own }: SchemaUse,
) -> Option<PlacedFault> {
    let has = |key: &str| object.contains_key(key);
    let kind = object.get("type");
    // JSON Schema and Gemini's language spell the kind differently.
    let is_list = |kind: &Value| {
        kind.as_str()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("array"))
    };
    let is_list = kind.is_some_and(|kind| {
        is_list(kind) || kind.as_array().is_some_and(|all| all.iter().any(is_list))
    });
    let wants_items = is_own && dialect == Dialect::Gemini
        || matches!(dialect, Dialect::OpenaiChat | Dialect::OpenaiResponses);
    if is_list && wants_items && !has("items") && !has("prefixItems") {
        return Some((String::new(), ToolSchemaFault::NoItems));
    }
    if dialect == Dialect::Gemini {
        let listed = kind.is_some_and(Value::is_array).then_some("type");
        let word = listed
            .or_else(|| UNKNOWN_TO_GEMINI.split(' ').find(|word| has(word)))
            .filter(|_| is_own)?;
        return Some((format!("/{word}"), ToolSchemaFault::Unknown(word)));
    }
    let properties = object
        .get("properties")
        .and_then(Value::as_object)
        .filter(|_| is_strict)?;
    let required = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let needs_all = dialect != Dialect::Anthropic;
    let optional = properties
        .keys()
        .find(|key| needs_all && !required.clone().any(|own| own == key.as_str()));
    let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
    let fault = optional
        .map(|key| ToolSchemaFault::Optional(key.clone()))
        .or_else(|| (!is_closed).then_some(ToolSchemaFault::Open));
    Some((String::new(), fault?))
}

/// Returns the first fault in a schema and those inside it.
fn first_fault(
    schema: &Value,
    look: &dyn Fn(&Map<String, Value>) -> Option<PlacedFault>,
    depth: usize,
) -> Option<PlacedFault> {
    let object = schema.as_object().filter(|_| depth > 0)?;
    let inside = |one: &Value, prefix: String| {
        first_fault(one, look, depth - 1).map(|(pointer, fault)| (prefix + &pointer, fault))
    };
    let values = |key: &'static str| {
        object
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(move |one| (key, one))
    };
    let lists = |key: &'static str| {
        object
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
            .map(move |one| (key, one))
    };
    look(object)
        .or_else(|| {
            let mut all = ["properties", "$defs", "definitions"]
                .into_iter()
                .flat_map(values);
            all.find_map(|(key, (own, one))| inside(one, child_pointer(&format!("/{key}"), own)))
        })
        .or_else(|| {
            object
                .get("items")
                .and_then(|one| inside(one, "/items".to_owned()))
        })
        .or_else(|| {
            let mut all = ["anyOf", "oneOf", "allOf", "prefixItems"]
                .into_iter()
                .flat_map(lists);
            all.find_map(|(key, (at, one))| inside(one, format!("/{key}/{at}")))
        })
}
