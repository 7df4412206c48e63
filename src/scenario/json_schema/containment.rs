//! Compares two JSON Schemas of answers: does one accept every value that the other accepts?
//!
//! Sound, not complete: no gap means that the narrow schema is within the wide one; a gap may also
//! mean that the two cannot be compared. Follows references inside the schema only, and takes a
//! bounded number of steps, since a schema may come from another organisation.

use super::find_violations;
use serde_json::{Map, Value};
use std::cell::Cell;

/// A place where a schema accepts more, or lists less, than another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaGap {
    /// The place in the answer: `$.checks[*].state`.
    pub path: String,
    /// The difference, a lower-case fragment.
    pub reason: String,
}

/// Keywords that refuse no value.
const ANNOTATIONS: &str = " title description $comment examples default deprecated readOnly writeOnly $schema $id $anchor $defs definitions ";
/// Keywords whose effect depends on their neighbours.
const CONTEXTUAL: &str =
    " unevaluatedProperties unevaluatedItems additionalItems contains minContains maxContains ";
/// Limits of keywords, with the types that they are about.
const LOWER_LIMITS: [(&str, &str); 3] = [
    ("minLength", "string"),
    ("minItems", "array"),
    ("minProperties", "object"),
];
const UPPER_LIMITS: [(&str, &str); 3] = [
    ("maxLength", "string"),
    ("maxItems", "array"),
    ("maxProperties", "object"),
];
/// The types of JSON values.
const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];
/// The maximum number of compared pairs.
const MAX_STEPS: u32 = 20_000;
/// The maximum number of returned changes.
const MAX_GAPS: usize = 10;
/// The reason of a gap for a field that the new schema does not list.
const FIELD_IS_GONE: &str = "it is gone";
/// The maximum depth of nested comparisons.
const MAX_DEPTH: u32 = 64;

/// The constraints of one place in a schema, without annotations and with its reference followed.
type Rules = Map<String, Value>;

/// The result of a comparison: the gaps that it found.
type Containment = Result<(), Vec<SchemaGap>>;

/// Returns a place where `narrow` may accept a value that `wide` refuses; `None` if there is none.
pub fn find_gap(narrow: &Value, wide: &Value) -> Option<SchemaGap> {
    let comparison = SchemaComparison::new(narrow, wide);
    let gaps = comparison.check(narrow, wide, &Place::root()).err()?;
    gaps.into_iter().next()
}

/// Returns the changes of an answer's schema by which an expectation on the answer may begin to
/// fail: it accepts more than before, or a field or value that it listed is gone. Of many changes,
/// only the first are returned.
pub fn find_output_breaks(old: &Value, new: &Value) -> Vec<SchemaGap> {
    let comparison = SchemaComparison::new(new, old);
    let losses = comparison.check_losses(new, old, &Place::root());
    let mut found = losses.err().unwrap_or_default();
    let wider = SchemaComparison::new(new, old).check(new, old, &Place::root());
    for gap in wider.err().unwrap_or_default() {
        // A field that is gone has no other changes.
        let is_gone = |loss: &SchemaGap| loss.path == gap.path && loss.reason == FIELD_IS_GONE;
        if !found.contains(&gap) && !found.iter().any(is_gone) {
            found.push(gap);
        }
    }
    found.truncate(MAX_GAPS);
    found
}

/// Combines comparisons of independent parts.
fn combine(parts: impl IntoIterator<Item = Containment>) -> Containment {
    let found: Vec<SchemaGap> = parts
        .into_iter()
        .filter_map(Result::err)
        .flatten()
        .collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
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
    let (mut place, mut is_required, mut walked) = (schema, true, "$".to_owned());
    for step in steps {
        let Some(rules) = rules_of(place, schema) else {
            return SchemaField::Open;
        };
        let PathStep::Field(name) = step else {
            // An array may be empty.
            is_required = false;
            walked.push_str("[*]");
            match rules.get("items").filter(|items| items.is_object()) {
                Some(_) => {
                    place = match follow(place, schema).and_then(|place| place.get("items")) {
                        Some(items) => items,
                        None => return SchemaField::Open,
                    }
                }
                None => return SchemaField::Open,
            }
            continue;
        };
        walked = format!("{walked}.{name}");
        let listed = follow(place, schema)
            .and_then(|place| place.get("properties"))
            .and_then(Value::as_object);
        match listed.and_then(|listed| listed.get(&name)) {
            Some(inner) => {
                // Values of other types have no fields.
                is_required &= types_of(&rules) == ["object"] && requires(&rules, &name);
                place = inner;
            }
            None if is_closed_list(&rules) => return SchemaField::Missing(walked),
            None => return SchemaField::Open,
        }
    }
    rules_of(place, schema).map_or(SchemaField::Open, |rules| SchemaField::Listed {
        is_required,
        values: finite_values(&rules),
    })
}

/// True if a schema lists the fields of an object, by which an unlisted one counts as missing.
fn is_closed_list(rules: &Rules) -> bool {
    const OTHERS: [&str; 5] = ["patternProperties", "anyOf", "oneOf", "allOf", "if"];
    rules.contains_key("properties") && !OTHERS.iter().any(|key| rules.contains_key(*key))
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
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let name = after.get(..end)?;
            if name.is_empty() || name == "*" {
                return None;
            }
            steps.push(PathStep::Field(name.to_owned()));
            rest = after.get(end..)?;
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

/// A place of both schemas.
struct Place {
    path: String,
    depth: u32,
}

impl Place {
    fn root() -> Self {
        Self {
            path: "$".to_owned(),
            depth: 0,
        }
    }

    fn inner(&self, step: &str) -> Self {
        Self {
            path: format!("{}{step}", self.path),
            depth: self.depth + 1,
        }
    }

    fn gap<T>(&self, reason: impl Into<String>) -> Result<T, Vec<SchemaGap>> {
        Err(vec![SchemaGap {
            path: self.path.clone(),
            reason: reason.into(),
        }])
    }
}

/// Two schemas under comparison, which the references of each lead into.
struct SchemaComparison<'s> {
    narrow: &'s Value,
    wide: &'s Value,
    steps: Cell<u32>,
}

impl<'s> SchemaComparison<'s> {
    const fn new(narrow: &'s Value, wide: &'s Value) -> Self {
        let steps = Cell::new(0);
        Self {
            narrow,
            wide,
            steps,
        }
    }

    /// The rules of both sides, unless the comparison takes too long or leads out of a schema.
    fn rules(
        &self,
        narrow: &Value,
        wide: &Value,
        place: &Place,
    ) -> Result<(Rules, Rules), Vec<SchemaGap>> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS || place.depth > MAX_DEPTH {
            return place.gap("it is too complex to be compared");
        }
        match (rules_of(narrow, self.narrow), rules_of(wide, self.wide)) {
            (Some(narrow), Some(wide)) => Ok((narrow, wide)),
            _ => place.gap("its `$ref` cannot be compared"),
        }
    }

    fn check(&self, narrow: &Value, wide: &Value, place: &Place) -> Containment {
        let (own, limits) = self.rules(narrow, wide, place)?;
        let is_equal = own == limits && !has_reference(&limits);
        if limits.is_empty() || own.contains_key("false") || is_equal {
            return Ok(());
        }
        let inner = Place {
            path: place.path.clone(),
            depth: place.depth + 1,
        };
        if let Some(values) = finite_values(&own) {
            if has_reference(&limits) {
                return place.gap("its `$ref` cannot be compared");
            }
            let schema = follow(wide, self.wide).unwrap_or(&Value::Bool(false));
            let is_refused = |value: &&Value| {
                find_violations(schema, value).map_or(true, |faults| !faults.is_empty())
            };
            return match values.iter().find(is_refused) {
                Some(value) => place.gap(format!("it may be {value}")),
                None => Ok(()),
            };
        }
        let branches = |key: &str| own.get(key).and_then(Value::as_array);
        let fits = |branch: &Value| self.check(branch, wide, &inner).is_ok();
        if branches("allOf").is_some_and(|all| all.iter().any(fits))
            || ["anyOf", "oneOf"]
                .iter()
                .any(|key| branches(key).is_some_and(|some| some.iter().all(fits)))
        {
            return Ok(());
        }
        combine(limits.iter().map(|(key, limit)| {
            let pair = KeywordPair {
                own: &own,
                limits: &limits,
                key,
                limit,
            };
            self.check_keyword(narrow, pair, &inner)
        }))
    }

    fn check_keyword(&self, narrow: &Value, pair: KeywordPair<'_>, place: &Place) -> Containment {
        let KeywordPair {
            own,
            limits,
            key,
            limit,
        } = pair;
        let may_be = |kind: &str| {
            let types = types_of(own);
            types.contains(&kind) || kind == "number" && types.contains(&"integer")
        };
        let number = |key: &str| own.get(key).and_then(Value::as_f64);
        let unlimited = || place.gap(format!("it is not limited by `{key}: {limit}`"));
        let any = Value::Bool(true);
        match key {
            "type" => {
                let (found, wanted) = (types_of(own), types_of(limits));
                let is_wanted = |kind: &&str| {
                    wanted.contains(kind) || *kind == "integer" && wanted.contains(&"number")
                };
                let other = found.into_iter().find(|kind| !is_wanted(kind));
                other.map_or(Ok(()), |kind| {
                    place.gap(format!("it may be of type `{kind}`, not {limit}"))
                })
            }
            "required" if may_be("object") => {
                let wanted = limit.as_array().into_iter().flatten();
                let wanted = wanted.filter_map(Value::as_str);
                combine(wanted.filter(|name| !requires(own, name)).map(|name| {
                    let listed = own.get("properties").and_then(|all| all.get(name));
                    place.inner(&format!(".{name}")).gap(match listed {
                        Some(_) => "it may be absent",
                        None => "the schema has no such field",
                    })
                }))
            }
            "properties" if may_be("object") => {
                let fields = limit.as_object().into_iter().flatten();
                combine(fields.map(|(name, limit)| {
                    let place = place.inner(&format!(".{name}"));
                    let listed = own.get("properties").and_then(|all| all.get(name));
                    let found = listed.or_else(|| own.get("additionalProperties"));
                    if listed.is_none() && own.contains_key("patternProperties") {
                        return place.gap("its `patternProperties` cannot be compared");
                    }
                    self.check(found.unwrap_or(&any), limit, &place)
                }))
            }
            "additionalProperties" if may_be("object") => {
                if limits.contains_key("patternProperties") || own.contains_key("patternProperties")
                {
                    return place.gap("its `patternProperties` cannot be compared");
                }
                let known = limits.get("properties");
                let listed = own.get("properties").and_then(Value::as_object);
                let is_known = |name: &str| known.is_some_and(|known| known.get(name).is_some());
                let new = listed
                    .into_iter()
                    .flatten()
                    .filter(|(name, _)| !is_known(name));
                let further = own.get("additionalProperties").unwrap_or(&any);
                let new = new.map(|(name, found)| (format!(".{name}"), found));
                let all = new.chain([(".*".to_owned(), further)]);
                combine(all.map(|(step, found)| self.check(found, limit, &place.inner(&step))))
            }
            "items" if may_be("array") && !limit.is_array() => {
                if own.contains_key("prefixItems") || limits.contains_key("prefixItems") {
                    return place.gap("its `prefixItems` cannot be compared");
                }
                let found = own.get("items").filter(|items| !items.is_array());
                self.check(found.unwrap_or(&any), limit, &place.inner("[*]"))
            }
            "anyOf" => {
                let branches = limit.as_array().map_or(&[][..], Vec::as_slice);
                if branches
                    .iter()
                    .any(|branch| self.check(narrow, branch, place).is_ok())
                {
                    return Ok(());
                }
                place.gap("it is within no alternative of `anyOf`")
            }
            "allOf" => {
                let branches = limit.as_array().into_iter().flatten();
                combine(branches.map(|branch| self.check(narrow, branch, place)))
            }
            "minimum" | "exclusiveMinimum" if may_be("number") => {
                let least = limit.as_f64().unwrap_or(f64::INFINITY);
                let above = number("exclusiveMinimum").is_some_and(|own| own >= least);
                let from = number("minimum")
                    .is_some_and(|own| own > least || own >= least && key == "minimum");
                if above || from { Ok(()) } else { unlimited() }
            }
            "maximum" | "exclusiveMaximum" if may_be("number") => {
                let most = limit.as_f64().unwrap_or(f64::NEG_INFINITY);
                let below = number("exclusiveMaximum").is_some_and(|own| own <= most);
                let to = number("maximum")
                    .is_some_and(|own| own < most || own <= most && key == "maximum");
                if below || to { Ok(()) } else { unlimited() }
            }
            "items" if limit.is_array() => place.gap("its items differ by place".to_owned()),
            "required"
            | "properties"
            | "additionalProperties"
            | "items"
            | "minimum"
            | "exclusiveMinimum"
            | "maximum"
            | "exclusiveMaximum" => Ok(()),
            "enum" | "const" => place.gap(format!("it may be other than {limit}")),
            "false" => place.gap("it may exist"),
            _ => {
                let lower = LOWER_LIMITS.iter().find(|(name, _)| *name == key);
                let upper = UPPER_LIMITS.iter().find(|(name, _)| *name == key);
                if lower.or(upper).is_some_and(|(_, kind)| !may_be(kind)) {
                    return Ok(());
                }
                let limited = number(key).zip(limit.as_f64()).is_some_and(|(own, limit)| {
                    lower.is_some() && own >= limit || upper.is_some() && own <= limit
                });
                let is_equal = own.get(key) == Some(limit)
                    && !has_reference(own)
                    && !CONTEXTUAL.contains(&format!(" {key} "));
                if limited || is_equal {
                    Ok(())
                } else {
                    unlimited()
                }
            }
        }
    }

    /// Finds a field or value that the old schema, the wide one, lists and the new one does not.
    fn check_losses(&self, new: &Value, old: &Value, place: &Place) -> Containment {
        let (now, then) = self.rules(new, old, place)?;
        if now == then && !has_reference(&then) {
            return Ok(());
        }
        match (finite_values(&then), finite_values(&now)) {
            (Some(then), Some(now)) => {
                if let Some(gone) = then.iter().find(|value| !now.contains(value)) {
                    return place.gap(format!("it is never {gone} any more"));
                }
            }
            (None, Some(_)) => return place.gap("only listed values are left"),
            (_, None) => {}
        }
        for key in ["patternProperties", "anyOf", "oneOf", "allOf", "if"] {
            if then.get(key) != now.get(key) || then.contains_key(key) && has_reference(&then) {
                return place.gap(format!("its `{key}` changed"));
            }
        }
        let fields = |rules: &Rules| rules.get("properties").and_then(Value::as_object).cloned();
        let (old_fields, new_fields) = (fields(&then), fields(&now));
        if old_fields.is_none() && new_fields.is_some() {
            return place.gap("only listed fields are left");
        }
        let of_fields = old_fields.iter().flatten().map(|(name, old)| {
            let place = place.inner(&format!(".{name}"));
            match new_fields.as_ref().and_then(|fields| fields.get(name)) {
                Some(new) => self.check_losses(new, old, &place),
                None => place.gap(FIELD_IS_GONE),
            }
        });
        let any = Value::Bool(true);
        let items = |rules: &Rules| rules.get("items").cloned().unwrap_or_else(|| any.clone());
        let has_items = then.contains_key("items") || now.contains_key("items");
        let of_items =
            has_items.then(|| self.check_losses(&items(&now), &items(&then), &place.inner("[*]")));
        combine(of_fields.chain(of_items))
    }
}

/// A keyword of the wide schema, with the rules of both sides.
#[derive(Clone, Copy)]
struct KeywordPair<'r> {
    own: &'r Rules,
    limits: &'r Rules,
    key: &'r str,
    limit: &'r Value,
}

/// The schema that a place leads to; `None` if its reference leads elsewhere or is not alone.
fn follow<'s>(mut schema: &'s Value, root: &'s Value) -> Option<&'s Value> {
    for _ in 0..MAX_DEPTH {
        let Some(target) = schema.get("$ref") else {
            return Some(schema);
        };
        let others = schema
            .as_object()?
            .keys()
            .any(|key| key != "$ref" && !is_annotation(key));
        schema = root
            .pointer(target.as_str()?.strip_prefix('#')?)
            .filter(|_| !others)?;
    }
    None
}

/// The rules at a place; `false` has the only rule of that name.
fn rules_of(schema: &Value, root: &Value) -> Option<Rules> {
    match follow(schema, root)? {
        Value::Bool(true) => Some(Rules::new()),
        Value::Bool(false) => Some(Rules::from_iter([("false".to_owned(), Value::Null)])),
        Value::Object(rules) => Some(
            rules
                .iter()
                .filter(|(key, _)| !is_annotation(key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&format!(" {key} "))
}

/// The values that a schema lists; `None` if it lists none.
fn finite_values(rules: &Rules) -> Option<Vec<Value>> {
    match (rules.get("const"), rules.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// The types that values may have.
fn types_of(rules: &Rules) -> Vec<&str> {
    match rules.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect(),
        _ => TYPES.to_vec(),
    }
}

fn requires(rules: &Rules, name: &str) -> bool {
    let required = rules.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}

fn has_reference(rules: &Rules) -> bool {
    let mut open: Vec<&Value> = rules.values().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if ["$ref", "$dynamicRef"]
                    .iter()
                    .any(|key| fields.contains_key(*key))
                {
                    return true;
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

#[cfg(test)]
#[path = "../../../tests/unit/scenario/json_schema/containment.rs"]
mod tests;
