//! Compares two JSON Schemas of answers: does one accept every value that the other accepts?
//!
//! Sound, not complete: no gap means that the narrow schema is within the wide one; a gap may also
//! mean that the two cannot be compared. Follows references inside the schema only, and takes a
//! bounded number of steps, since a schema may come from another organisation.

use super::find_violations;
use super::schema_faults::{KeywordValue, keyword_value};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

/// A place where a schema accepts more, or lists less, than another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaGap {
    /// The place in the answer: `$.checks[*].state`.
    pub path: String,
    /// The difference, a lower-case fragment.
    pub reason: String,
}

/// Keywords that refuse no value.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "$comment",
    "examples",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
];
/// Keywords that lead to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords whose effect depends on their neighbours.
const CONTEXTUAL: [&str; 6] = [
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
];
/// Keywords with a bound: the one whose range has the bound itself, the one whose range has not or
/// else the same, the sign by which the greater bound is the narrower, and their type.
const BOUNDS: [(&str, &str, f64, &str); 8] = [
    ("minimum", "exclusiveMinimum", 1.0, "number"),
    ("maximum", "exclusiveMaximum", -1.0, "number"),
    ("minLength", "minLength", 1.0, "string"),
    ("maxLength", "maxLength", -1.0, "string"),
    ("minItems", "minItems", 1.0, "array"),
    ("maxItems", "maxItems", -1.0, "array"),
    ("minProperties", "minProperties", 1.0, "object"),
    ("maxProperties", "maxProperties", -1.0, "object"),
];
/// The types of JSON values.
const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];
/// The maximum number of compared pairs.
const MAX_STEPS: u32 = 20_000;
/// The maximum number of bytes that stand in place of references.
const MAX_INLINED_BYTES: usize = 1 << 20;
/// The maximum number of described changes.
const MAX_GAPS: usize = 10;
/// The maximum depth of a schema without references.
const MAX_DEPTH: u32 = 64;
/// The reason of a gap for a field that the new schema does not list.
const FIELD_IS_GONE: &str = "it is gone";
/// The reason of a gap for a required field that a schema does not list.
const NO_SUCH_FIELD: &str = "the schema has no such field";

/// Returns a place where `narrow` may accept a value that `wide` refuses; `None` if there is none.
pub fn find_gap(narrow: &Value, wide: &Value) -> Option<SchemaGap> {
    find_gaps(narrow, wide).into_iter().next()
}

/// Returns the places where `narrow` may accept a value that `wide` refuses. Of many, the first are
/// returned, and the number of the others.
pub fn find_gaps(narrow: &Value, wide: &Value) -> Vec<SchemaGap> {
    if narrow == wide {
        return Vec::new();
    }
    let (narrow, inlined) = (inline(narrow, "narrow"), inline(wide, "wide"));
    let mut gaps = SchemaComparison::new(wide).check(&narrow, &inlined, "$");
    // A missing field has no other gaps.
    let is_missing = |gap: &SchemaGap| gap.reason == NO_SUCH_FIELD;
    let missing: BTreeSet<String> = (gaps.iter().filter(|gap| is_missing(gap)))
        .map(|gap| gap.path.clone())
        .collect();
    gaps.retain(|gap| is_missing(gap) || !missing.contains(&gap.path));
    let mut seen = BTreeSet::new();
    gaps.retain(|gap| seen.insert((gap.path.clone(), gap.reason.clone())));
    limit_gaps(gaps)
}

/// Returns the changes of an answer's schema by which an expectation on the answer may begin to
/// fail: it accepts more than before, or a field or value that it listed is gone. Of many changes,
/// the first are returned, and the number of the others.
pub fn find_output_breaks(old: &Value, new: &Value) -> Vec<SchemaGap> {
    if old == new {
        return Vec::new();
    }
    let (then, now) = (inline(old, "old"), inline(new, "new"));
    let mut found = find_losses(&now, &then, "$");
    for gap in SchemaComparison::new(old).check(&now, &then, "$") {
        // A field that is gone has no other changes.
        let is_gone = |loss: &SchemaGap| loss.path == gap.path && loss.reason == FIELD_IS_GONE;
        if !found.contains(&gap) && !found.iter().any(is_gone) {
            found.push(gap);
        }
    }
    limit_gaps(found)
}

/// Returns the first gaps, and the number of the others.
fn limit_gaps(mut gaps: Vec<SchemaGap>) -> Vec<SchemaGap> {
    let more = gaps.len().saturating_sub(MAX_GAPS);
    gaps.truncate(MAX_GAPS);
    if more > 0 {
        // This path is sorted behind the others.
        gaps.push(SchemaGap {
            path: "…".to_owned(),
            reason: format!("and {more} more"),
        });
    }
    gaps
}

/// A field of an answer, as the schema describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaField {
    /// The schema lists other fields there, and not this one: the first missing step.
    Missing(String),
    /// The field exists in every answer, or may be absent; its possible values, if they are listed.
    Listed {
        /// True if every answer has it.
        is_required: bool,
        /// The values, if the schema lists them.
        values: Option<Vec<Value>>,
    },
    /// The schema does not decide it.
    Open,
}

/// Looks a field up by a plain path such as `$.checks[0].state` or `$.items[*].id`.
pub fn find_field(schema: &Value, path: &str) -> SchemaField {
    let Some(steps) = plain_steps(path) else {
        return SchemaField::Open;
    };
    let schema = inline(schema, "");
    let (mut place, mut is_required, mut walked) = (&schema, true, "$".to_owned());
    for step in steps {
        let inner = match step {
            PathStep::Item => {
                // An array may be empty.
                is_required = false;
                walked.push_str("[*]");
                place.get("items").filter(|items| items.is_object())
            }
            PathStep::Field(name) => {
                // Values of other types have no fields.
                is_required &= types_of(place) == ["object"] && requires(place, &name);
                walked = format!("{walked}.{name}");
                let listed = find_property(place, &name);
                if listed.is_none() && is_closed_list(place) {
                    return SchemaField::Missing(walked);
                }
                listed
            }
        };
        let Some(inner) = inner else {
            return SchemaField::Open;
        };
        place = inner;
    }
    SchemaField::Listed {
        is_required,
        values: finite_values(place).map(<[Value]>::to_vec),
    }
}

/// True if a schema lists the fields of an object, by which an unlisted one counts as missing.
fn is_closed_list(schema: &Value) -> bool {
    const OTHERS: [&str; 5] = ["patternProperties", "anyOf", "oneOf", "allOf", "if"];
    schema.get("properties").is_some() && OTHERS.iter().all(|key| schema.get(key).is_none())
}

/// One step of a plain path.
enum PathStep {
    Field(String),
    Item,
}

/// The steps of a path that names fields and items alone; `None` for filters, slices and the like.
fn plain_steps(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let (name, after) = after.split_at(after.find(['.', '[']).unwrap_or(after.len()));
            if name.is_empty() || name == "*" {
                return None;
            }
            steps.push(PathStep::Field(name.to_owned()));
            rest = after;
            continue;
        }
        let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
        let quoted = ['\'', '"'].iter().find_map(|quote| {
            let name = inside.strip_prefix(*quote)?.strip_suffix(*quote)?;
            (!name.contains(['\\', *quote])).then_some(name)
        });
        steps.push(match quoted {
            Some(name) => PathStep::Field(name.to_owned()),
            None if inside == "*" || inside.parse::<u32>().is_ok() => PathStep::Item,
            None => return None,
        });
        rest = after;
    }
    Some(steps)
}

/// Returns a schema that accepts the same values, without annotations and references. A reference
/// that leads out of the schema, back to itself or too far stays, with the name of its side, so that
/// it equals none of the other side.
fn inline(schema: &Value, side: &str) -> Value {
    let mut inliner = Inliner {
        root: schema,
        side,
        open: Vec::new(),
        bytes: 0,
    };
    inliner.inline(schema, 0)
}

/// The state of [`inline`].
struct Inliner<'s> {
    root: &'s Value,
    side: &'s str,
    /// The references that led to the present place.
    open: Vec<&'s str>,
    /// The bytes that stand in place of references.
    bytes: usize,
}

impl<'s> Inliner<'s> {
    fn inline(&mut self, schema: &'s Value, depth: u32) -> Value {
        let rules = match schema {
            Value::Bool(true) => return json!({}),
            Value::Bool(false) => return json!({"not": {}}),
            _ if depth > MAX_DEPTH => return json!({"$ref": self.side}),
            Value::Object(rules) => rules,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return schema.clone();
            }
        };
        if REFERENCES.iter().any(|key| rules.contains_key(*key)) {
            let Some((address, target)) = self.follow(rules) else {
                return json!({"$ref": self.side});
            };
            self.open.push(address);
            let found = self.inline(target, depth + 1);
            self.open.pop();
            return found;
        }
        let mut inlined = Map::new();
        for (key, value) in rules.iter().filter(|(key, _)| !is_annotation(key)) {
            let value = match (keyword_value(key), value) {
                (Some(KeywordValue::SchemaMap), Value::Object(named)) => named
                    .iter()
                    .map(|(name, inner)| (name.clone(), self.inline(inner, depth + 1)))
                    .collect(),
                (Some(KeywordValue::Schema), Value::Array(all)) => all
                    .iter()
                    .map(|inner| self.inline(inner, depth + 1))
                    .collect(),
                (Some(KeywordValue::Schema), inner) => self.inline(inner, depth + 1),
                _ => value.clone(),
            };
            inlined.insert(key.clone(), value);
        }
        Value::Object(inlined)
    }

    /// The target of a reference without other rules, and its address.
    fn follow(&mut self, rules: &'s Map<String, Value>) -> Option<(&'s str, &'s Value)> {
        let mut others = rules.keys().filter(|key| !is_annotation(key));
        let address = rules.get("$ref")?.as_str()?;
        if self.bytes > MAX_INLINED_BYTES
            || self.open.contains(&address)
            || others.any(|key| key != "$ref")
        {
            return None;
        }
        let target = self.root.pointer(address.strip_prefix('#')?)?;
        self.bytes += target.to_string().len();
        Some((address, target))
    }
}

/// A comparison of two schemas without references.
struct SchemaComparison<'s> {
    /// The draft of the wide schema.
    draft: Option<&'s Value>,
    steps: Cell<u32>,
}

fn gap(path: &str, reason: impl Into<String>) -> Vec<SchemaGap> {
    vec![SchemaGap {
        path: path.to_owned(),
        reason: reason.into(),
    }]
}

impl<'s> SchemaComparison<'s> {
    fn new(wide: &'s Value) -> Self {
        Self {
            draft: wide.get("$schema"),
            steps: Cell::new(0),
        }
    }

    /// Finds the places where a schema accepts more than another.
    fn check(&self, narrow: &Value, wide: &Value, path: &str) -> Vec<SchemaGap> {
        let (Value::Object(own), Value::Object(limits)) = (narrow, wide) else {
            return gap(path, "it has no schema");
        };
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS {
            return gap(path, "it is too complex to be compared");
        }
        if limits.is_empty() || own == limits || is_nothing(own.get("not")) {
            return Vec::new();
        }
        if [own, limits].iter().any(|side| side.contains_key("$ref")) {
            return gap(path, "its `$ref` cannot be compared");
        }
        if let Some(values) = finite_values(narrow) {
            let other = values.iter().find(|value| !self.accepts(wide, value));
            return other.map_or_else(Vec::new, |value| gap(path, format!("it may be {value}")));
        }
        let branches = |key: &str| own.get(key).and_then(Value::as_array);
        let fits = |branch: &Value| self.check(branch, wide, path).is_empty();
        if branches("allOf").is_some_and(|all| all.iter().any(fits))
            || ["anyOf", "oneOf"]
                .iter()
                .any(|key| branches(key).is_some_and(|some| some.iter().all(fits)))
        {
            return Vec::new();
        }
        let keys = limits.keys();
        keys.flat_map(|key| self.check_keyword(narrow, wide, key, path))
            .collect()
    }

    /// True if a schema accepts a value by its draft.
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let mut schema = schema.clone();
        if let (Some(draft), Value::Object(rules)) = (self.draft, &mut schema) {
            rules.insert("$schema".to_owned(), draft.clone());
        }
        find_violations(&schema, value).is_ok_and(|faults| faults.is_empty())
    }

    /// Finds the places where a schema accepts more than a keyword of another.
    fn check_keyword(&self, narrow: &Value, wide: &Value, key: &str, path: &str) -> Vec<SchemaGap> {
        let limit = wide.get(key).unwrap_or(&Value::Null);
        let may_be = |kind: &str| {
            let types = types_of(narrow);
            types.contains(&kind) || kind == "number" && types.contains(&"integer")
        };
        let has = |key: &str| narrow.get(key).is_some();
        let any = json!({});
        match key {
            "type" => {
                let (found, wanted) = (types_of(narrow), types_of(wide));
                let is_wanted = |kind: &&str| {
                    wanted.contains(kind) || *kind == "integer" && wanted.contains(&"number")
                };
                let other = found.into_iter().find(|kind| !is_wanted(kind));
                other.map_or_else(Vec::new, |kind| {
                    gap(path, format!("it may be of type `{kind}`, not {limit}"))
                })
            }
            "required" | "properties" | "additionalProperties" if !may_be("object") => Vec::new(),
            "items" if !may_be("array") => Vec::new(),
            "required" => {
                let wanted = limit.as_array().into_iter().flatten();
                let wanted = wanted.filter_map(Value::as_str);
                let missing = wanted.filter(|name| !requires(narrow, name));
                missing
                    .flat_map(|name| {
                        let reason = match find_property(narrow, name) {
                            Some(_) => "it may be absent",
                            None => NO_SUCH_FIELD,
                        };
                        gap(&format!("{path}.{name}"), reason)
                    })
                    .collect()
            }
            "properties" => {
                let fields = limit.as_object().into_iter().flatten();
                fields
                    .flat_map(|(name, limit)| {
                        let path = format!("{path}.{name}");
                        let listed = find_property(narrow, name);
                        if listed.is_none() && has("patternProperties") {
                            return gap(&path, "its `patternProperties` cannot be compared");
                        }
                        let found = listed.or_else(|| narrow.get("additionalProperties"));
                        self.check(found.unwrap_or(&any), limit, &path)
                    })
                    .collect()
            }
            "additionalProperties" => {
                if wide.get("patternProperties").is_some() || has("patternProperties") {
                    return gap(path, "its `patternProperties` cannot be compared");
                }
                let listed = narrow.get("properties").and_then(Value::as_object);
                let listed = listed.into_iter().flatten();
                let new = listed.filter(|(name, _)| find_property(wide, name).is_none());
                let further = narrow.get("additionalProperties").unwrap_or(&any);
                new.map(|(name, found)| (name.as_str(), found))
                    .chain([("*", further)])
                    .flat_map(|(name, found)| self.check(found, limit, &format!("{path}.{name}")))
                    .collect()
            }
            "items" if limit.is_array() => gap(path, "its items differ by place"),
            "items" => {
                if has("prefixItems") || wide.get("prefixItems").is_some() {
                    return gap(path, "its `prefixItems` cannot be compared");
                }
                let found = narrow.get("items").filter(|items| !items.is_array());
                self.check(found.unwrap_or(&any), limit, &format!("{path}[*]"))
            }
            "anyOf" => {
                let mut branches = limit.as_array().into_iter().flatten();
                if branches.any(|branch| self.check(narrow, branch, path).is_empty()) {
                    return Vec::new();
                }
                gap(path, "it is within no alternative of `anyOf`")
            }
            "allOf" => {
                let branches = limit.as_array().into_iter().flatten();
                branches
                    .flat_map(|branch| self.check(narrow, branch, path))
                    .collect()
            }
            "enum" | "const" => gap(path, format!("it may be other than {limit}")),
            "not" if is_nothing(Some(limit)) => gap(path, "it may exist"),
            _ => {
                let bound = BOUNDS
                    .iter()
                    .find(|(own, other, ..)| [own, other].contains(&&key));
                let is_within = match bound {
                    Some((.., kind)) if !may_be(kind) => true,
                    Some((including, excluding, sign, _)) => {
                        let number = |schema: &Value, key| {
                            let number = schema.get(key)?.as_f64()?;
                            Some((number * sign, key == *excluding))
                        };
                        let limit = number(wide, key);
                        let mut own = [*including, *excluding].into_iter();
                        limit.is_some() && own.any(|key| number(narrow, key) >= limit)
                    }
                    None => narrow.get(key) == Some(limit) && !CONTEXTUAL.contains(&key),
                };
                if is_within {
                    return Vec::new();
                }
                gap(path, format!("it is not limited by `{key}: {limit}`"))
            }
        }
    }
}

/// Finds a field or value that the old schema lists and the new one does not.
fn find_losses(new: &Value, old: &Value, path: &str) -> Vec<SchemaGap> {
    if new == old {
        return Vec::new();
    }
    match (finite_values(old), finite_values(new)) {
        (Some(then), Some(now)) => {
            if let Some(gone) = then.iter().find(|value| !now.contains(value)) {
                return gap(path, format!("it is never {gone} any more"));
            }
        }
        (None, Some(_)) => return gap(path, "only listed values are left"),
        (_, None) => {}
    }
    for key in ["$ref", "patternProperties", "anyOf", "oneOf", "allOf", "if"] {
        if old.get(key) != new.get(key) {
            return gap(path, format!("its `{key}` changed"));
        }
    }
    let mut losses = Vec::new();
    match (old.get("properties"), new.get("properties")) {
        (None, Some(_)) => return gap(path, "only listed fields are left"),
        (Some(Value::Object(fields)), _) => {
            for (name, old) in fields {
                let path = format!("{path}.{name}");
                losses.extend(match find_property(new, name) {
                    Some(new) => find_losses(new, old, &path),
                    None => gap(&path, FIELD_IS_GONE),
                });
            }
        }
        _ => {}
    }
    let any = json!({});
    let [then, now] = [old, new].map(|schema| schema.get("items").unwrap_or(&any));
    losses.extend(find_losses(now, then, &format!("{path}[*]")));
    losses
}

/// True for the schema below `not` of one that accepts no value.
fn is_nothing(refused: Option<&Value>) -> bool {
    refused
        .and_then(Value::as_object)
        .is_some_and(Map::is_empty)
}

fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&key)
}

/// The schema of a listed field.
fn find_property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

/// The values that a schema lists; `None` if it lists none.
fn finite_values(schema: &Value) -> Option<&[Value]> {
    match schema.get("const") {
        Some(value) => Some(std::slice::from_ref(value)),
        None => Some(schema.get("enum")?.as_array()?),
    }
}

/// The types that values may have.
fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect(),
        _ => TYPES.to_vec(),
    }
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}

#[cfg(test)]
#[path = "../../../tests/unit/scenario/json_schema/containment.rs"]
mod tests;
