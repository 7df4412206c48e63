//! The statically known shape of a value: of a declared type, of a text, of an answer that conforms
//! to a JSON Schema.
//!
//! It determines the parts that a value can never have. A schema that leaves this open (`$ref`,
//! `anyOf`, …) permits every part, unless all its alternatives are numbers, booleans or listed
//! values.

use crate::base::suggest::nearest_candidate;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The shape of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValueShape {
    /// Nothing is known.
    #[default]
    Any,
    /// A value without parts, with the name of its type.
    Scalar(&'static str),
    /// One of these values, which have no parts.
    Enum(Box<[Value]>),
    /// One of these shapes, none of which has parts or can contain a foreign text.
    OneOf(Box<[ValueShape]>),
    /// An array, with the shape of its entries.
    Array(Box<ValueShape>),
    /// An array with exactly these entries.
    Entries(Box<[ValueShape]>),
    /// An object, with its fields if they are known.
    Object(Option<Fields>),
}

/// The fields of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    named: BTreeMap<Box<str>, ValueShape>,
    /// True if the schema excludes all other fields.
    is_closed: bool,
}

/// The reason why a path does not lead to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPart {
    /// The length in bytes of the valid beginning of the path.
    pub upto: usize,
    /// The type of the value there, in words.
    pub found: &'static str,
    /// For an object with known fields: the treatment of other fields.
    pub fields: Option<OtherFields>,
}

/// An object's treatment of a field that its schema does not define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFields {
    /// True if no answer can have the field.
    pub is_closed: bool,
    /// The known field with the most similar name.
    pub near: Option<Box<str>>,
}

static ANY: ValueShape = ValueShape::Any;

static DECLARED_TYPES: LazyLock<BTreeMap<&str, ValueShape>> = LazyLock::new(|| {
    let scalars = ["string", "number", "integer", "boolean", "text"]
        .map(|word| (word, ValueShape::Scalar(word)));
    let array = |of: ValueShape| ValueShape::Array(Box::new(of));
    let others = [
        ("object", ValueShape::Object(None)),
        ("array", array(ValueShape::Any)),
        ("string[]", array(ValueShape::Scalar("string"))),
    ];
    scalars.into_iter().chain(others).collect()
});

impl ValueShape {
    /// The shape of a declared type.
    pub fn for_type(kind: &str) -> &'static Self {
        DECLARED_TYPES.get(kind).unwrap_or(&ANY)
    }

    /// The shape of the values that a JSON Schema accepts.
    pub fn from_schema(schema: &Value) -> Self {
        Self::from_subschema(schema, schema)
    }

    /// The shape of the values that a part of a schema accepts.
    fn from_subschema(schema: &Value, whole: &Value) -> Self {
        let leaves = || {
            let mut left = MAX_SUBSCHEMAS;
            Self::from_alternatives(collect_alternatives(schema, whole, &mut left))
        };
        let Some(schema) = schema.as_object() else {
            return Self::Any;
        };
        let unread = [
            "$ref",
            "$dynamicRef",
            "$recursiveRef",
            "anyOf",
            "oneOf",
            "allOf",
            "if",
            "dependentSchemas",
            "dependencies",
        ];
        if unread.iter().any(|key| schema.contains_key(*key)) {
            return leaves();
        }
        if let Some(values) = listed_values(schema) {
            return Self::Enum(values);
        }
        match schema_type(schema) {
            Some("string") => Self::Scalar("string"),
            Some("number") => Self::Scalar("number"),
            Some("integer") => Self::Scalar("integer"),
            Some("boolean") => Self::Scalar("boolean"),
            Some("array") => {
                let items = schema
                    .get("items")
                    .filter(|_| !schema.contains_key("prefixItems"));
                Self::Array(Box::new(
                    items.map_or(Self::Any, |items| Self::from_subschema(items, whole)),
                ))
            }
            Some("object") => Self::Object(Fields::from_object_schema(schema, whole)),
            _ => leaves(),
        }
    }

    /// The shape of a value with one of several shapes.
    fn from_alternatives(leaves: Option<Vec<Self>>) -> Self {
        let Some(mut leaves) = leaves else {
            return Self::Any;
        };
        leaves.retain(|leaf| *leaf != Self::Scalar("null"));
        let listed = |leaf: &Self| {
            if let Self::Enum(values) = leaf {
                Some(values.to_vec())
            } else {
                None
            }
        };
        match (
            leaves.iter().map(listed).collect::<Option<Vec<_>>>(),
            leaves.len(),
        ) {
            (Some(values), _) => Self::Enum(values.concat().into()),
            (None, 1) => leaves.swap_remove(0),
            (None, _) => Self::OneOf(leaves.into()),
        }
    }

    /// The shape of one value: parts that the value lacks do not exist.
    pub fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::Scalar("null"),
            Value::Bool(_) => Self::Scalar("boolean"),
            Value::Number(_) => Self::Scalar("number"),
            Value::String(_) => Self::Scalar("string"),
            Value::Array(entries) => Self::Entries(entries.iter().map(Self::from_value).collect()),
            Value::Object(fields) => {
                let named = fields
                    .iter()
                    .map(|(name, field)| (Box::from(&**name), Self::from_value(field)))
                    .collect();
                Self::Object(Some(Fields {
                    named,
                    is_closed: true,
                }))
            }
        }
    }

    /// The shape at a path such as `.a[0]`.
    ///
    /// # Errors
    /// The position where the path leads to no part.
    pub fn part_at(&self, path: &str) -> Result<&Self, NoPart> {
        let mut shape = self;
        let mut rest = path;
        while let Some(first) = rest.chars().next() {
            let end = rest
                .get(1..)
                .and_then(|rest| rest.find(['.', '[']))
                .map_or(rest.len(), |end| end + 1);
            let (part, more) = rest.split_at(end);
            // A bracket in `from` that contains no number is not followed further.
            let number = part
                .get(1..)
                .and_then(|part| part.strip_suffix(']')?.parse::<usize>().ok());
            if first == '[' && number.is_none() {
                return Ok(&ANY);
            }
            let no = |found, fields| {
                Err(NoPart {
                    upto: path.len() - rest.len(),
                    found,
                    fields,
                })
            };
            shape = match (shape, first) {
                (Self::Any, _) | (Self::Object(None), '.') => return Ok(&ANY),
                (Self::Scalar(_) | Self::Enum(_) | Self::OneOf(_), _) => {
                    return no(shape.type_name().unwrap_or("value"), None);
                }
                (Self::Array(_) | Self::Entries(_), '.') => return no("array", None),
                (Self::Array(entries), _) => entries,
                (Self::Entries(entries), _) => {
                    match number.and_then(|number| entries.get(number)) {
                        Some(entry) => entry,
                        None => return no("array", None),
                    }
                }
                (Self::Object(Some(fields)), '.') => {
                    let name = part.get(1..).unwrap_or("").trim();
                    match fields.named.get(name) {
                        Some(field) => field,
                        None => return no("object", Some(fields.other_field(name))),
                    }
                }
                (Self::Object(_), _) => return no("object", None),
            };
            rest = more;
        }
        Ok(shape)
    }

    /// The name of its type in the language.
    pub fn type_name(&self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Scalar(word) => Some(word),
            Self::Enum(values) => {
                let word = |value: &Value| Self::from_value(value).type_name();
                values
                    .first()
                    .and_then(word)
                    .filter(|first| values.iter().all(|value| word(value) == Some(first)))
            }
            Self::OneOf(leaves) => leaves
                .first()
                .and_then(Self::type_name)
                .filter(|first| leaves.iter().all(|leaf| leaf.type_name() == Some(first))),
            Self::Array(_) | Self::Entries(_) => Some("array"),
            Self::Object(_) => Some("object"),
        }
    }

    /// True if it cannot contain a foreign text: a number, a boolean, a value listed by a schema,
    /// and arrays and objects of such.
    pub fn is_inert(&self) -> bool {
        match self {
            Self::Any | Self::Object(None) => false,
            Self::Scalar(word) => matches!(*word, "number" | "integer" | "boolean" | "null"),
            Self::Enum(_) | Self::OneOf(_) => true,
            Self::Array(entries) => entries.is_inert(),
            Self::Entries(entries) => entries.iter().all(Self::is_inert),
            Self::Object(Some(fields)) => {
                fields.is_closed && fields.named.values().all(Self::is_inert)
            }
        }
    }

    /// Returns the path of a text that this shape rules out, and the shape there; `None` if the
    /// value conforms.
    #[cfg(feature = "assemble")]
    pub fn find_mismatch(&self, value: &Value) -> Option<(String, &Self)> {
        let within = |at: String, (inner, shape): (String, _)| (at + &inner, shape);
        match (self, value) {
            (Self::Array(entries), Value::Array(values)) => {
                let mut found = values.iter().enumerate();
                found.find_map(|(at, value)| {
                    Some(within(format!("[{at}]"), entries.find_mismatch(value)?))
                })
            }
            (Self::Object(Some(fields)), Value::Object(values)) => {
                values.iter().find_map(|(name, value)| {
                    let breach = match fields.named.get(name.as_str()) {
                        Some(shape) => shape.find_mismatch(value)?,
                        None => self.is_inert().then(|| (String::new(), self))?,
                    };
                    Some(within(format!(".{name}"), breach))
                })
            }
            (_, Value::Null)
            | (Self::Scalar("boolean"), Value::Bool(_))
            | (Self::Scalar("number" | "integer"), Value::Number(_)) => None,
            (Self::Enum(values), value) if values.contains(value) => None,
            (Self::OneOf(leaves), value)
                if leaves
                    .iter()
                    .any(|leaf| leaf.find_mismatch(value).is_none()) =>
            {
                None
            }
            _ => self.is_inert().then(|| (String::new(), self)),
        }
    }

    /// Describes the accepted values.
    #[cfg(feature = "assemble")]
    pub fn describe_values(&self) -> String {
        if let Self::OneOf(leaves) = self {
            return leaves
                .iter()
                .map(Self::describe_values)
                .collect::<Vec<_>>()
                .join(", or ");
        }
        let Self::Enum(values) = self else {
            return format!("what is of the type {}", self.type_name().unwrap_or("any"));
        };
        let values: Vec<String> = values
            .iter()
            .map(|value| {
                format!(
                    "`{}`",
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned)
                )
            })
            .collect();
        format!("one of {}", values.join(", "))
    }
}

impl Fields {
    fn from_object_schema(schema: &Map<String, Value>, whole: &Value) -> Option<Self> {
        let is_set = |key: &str| {
            schema
                .get(key)
                .is_some_and(|other| *other != Value::Bool(false))
        };
        if [
            "additionalProperties",
            "unevaluatedProperties",
            "patternProperties",
        ]
        .into_iter()
        .any(is_set)
        {
            return None;
        }
        let is_closed = schema.contains_key("additionalProperties")
            || schema.contains_key("unevaluatedProperties");
        let named = schema.get("properties").and_then(Value::as_object);
        let named = named.filter(|named| is_closed || !named.is_empty())?;
        Some(Self {
            named: named
                .iter()
                .map(|(name, field)| (Box::from(&**name), ValueShape::from_subschema(field, whole)))
                .collect(),
            is_closed,
        })
    }

    fn other_field(&self, name: &str) -> OtherFields {
        let near = nearest_candidate(name, self.named.keys().map(|name| &**name)).map(Box::from);
        OtherFields {
            is_closed: self.is_closed,
            near,
        }
    }
}

/// The maximum number of subschemas that are examined in a schema composed of others.
const MAX_SUBSCHEMAS: u32 = 512;

/// Returns the shapes of all alternatives of a schema, through references and choices; `None` if a
/// value can be a text or has parts.
fn collect_alternatives(schema: &Value, whole: &Value, left: &mut u32) -> Option<Vec<ValueShape>> {
    *left = left.checked_sub(1)?;
    let schema = schema.as_object()?;
    // In older dialects of JSON Schema, everything beside a reference is ignored.
    if let Some(target) = schema.get("$ref") {
        return collect_alternatives(
            whole.pointer(target.as_str()?.strip_prefix('#')?)?,
            whole,
            left,
        );
    }
    if let Some(values) = listed_values(schema) {
        return Some(vec![ValueShape::Enum(values)]);
    }
    let branches = |key: &str| {
        schema
            .get(key)?
            .as_array()
            .filter(|branches| !branches.is_empty())
    };
    if let Some(branches) = branches("anyOf").or_else(|| branches("oneOf")) {
        let each = branches
            .iter()
            .map(|branch| collect_alternatives(branch, whole, left))
            .collect::<Option<Vec<_>>>()?;
        return Some(each.concat());
    }
    if let Some(found) = branches("allOf").and_then(|all| {
        all.iter()
            .find_map(|one| collect_alternatives(one, whole, left))
    }) {
        return Some(found);
    }
    let kind = schema.get("type")?;
    let kinds = kind
        .as_array()
        .map_or(std::slice::from_ref(kind), Vec::as_slice);
    let inert = ["number", "integer", "boolean", "null"];
    let inert = |kind: &Value| {
        inert
            .into_iter()
            .find(|word| kind == word)
            .map(ValueShape::Scalar)
    };
    kinds.iter().map(inert).collect()
}

/// The values that a schema lists, if none of them has parts.
fn listed_values(schema: &Map<String, Value>) -> Option<Box<[Value]>> {
    let values = match schema.get("enum") {
        Some(values) => values.as_array()?.as_slice(),
        None => std::slice::from_ref(schema.get("const")?),
    };
    let has_none = |value: &Value| !value.is_array() && !value.is_object();
    values.iter().all(has_none).then(|| {
        values
            .iter()
            .filter(|value| !value.is_null())
            .cloned()
            .collect()
    })
}

/// The single type that a schema accepts besides `null`.
fn schema_type(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null");
            kinds.next().filter(|_| kinds.next().is_none())
        }
        None if schema.contains_key("properties") => Some("object"),
        _ => None,
    }
}
