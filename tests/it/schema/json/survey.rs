//! The part of a schema that described each object of each artifact. The validator reports it: each
//! description that took part is an annotation of the value that it describes, and every key of our
//! schemas has one.

use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An object of an artifact: the artifact's number, and the pointer to it.
pub(super) type Place = (usize, String);

/// The facts about one object of a schema that has keys.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Keys that some object has.
    pub(super) ever: BTreeSet<String>,
    /// Keys that every object has.
    pub(super) always: Option<BTreeSet<String>>,
    /// For each key an object that has it.
    pub(super) with: BTreeMap<String, Place>,
    /// Some object.
    pub(super) place: Option<Place>,
}

/// A schema ready for use.
pub(super) struct Compiled {
    pub(super) document: Value,
    pub(super) validator: Validator,
}

impl Compiled {
    pub(super) fn new(document: Value) -> Self {
        let validator =
            jsonschema::draft202012::new(&document).unwrap_or_else(|error| panic!("{error}"));
        Self {
            document,
            validator,
        }
    }

    /// The same parts, entered elsewhere: `#/$defs/line`.
    pub(super) fn entered_at(&self, part: &str) -> Self {
        let mut document = Map::new();
        document.insert("$ref".to_owned(), Value::from(part));
        document.insert("$defs".to_owned(), self.document["$defs"].clone());
        Self::new(Value::Object(document))
    }

    /// The faults of an artifact.
    pub(super) fn faults(&self, artifact: &Value) -> Vec<String> {
        self.validator
            .iter_errors(artifact)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }
}

/// The descriptions of objects that have keys of their own: pointers into the schema.
pub(super) fn described(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(String::new(), document)];
    while let Some((at, value)) = open.pop() {
        match value {
            Value::Object(entries) => {
                if entries.get("type") == Some(&Value::from("object"))
                    && entries.contains_key("properties")
                {
                    found.insert(at.clone());
                }
                open.extend(
                    entries
                        .iter()
                        .map(|(key, value)| (format!("{at}/{}", escaped(key)), value)),
                );
            }
            Value::Array(list) => open.extend(
                list.iter()
                    .enumerate()
                    .map(|(at_item, value)| (format!("{at}/{at_item}"), value)),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The used parts of a schema, and the objects that nothing describes.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) seen: BTreeMap<String, Seen>,
    pub(super) loose: Vec<Place>,
}

impl Survey {
    /// Adds artifacts that fit.
    pub(super) fn take<'v>(
        &mut self,
        schema: &Compiled,
        artifacts: impl IntoIterator<Item = (usize, &'v Value)>,
    ) {
        let parts = described(&schema.document);
        for (number, artifact) in artifacts {
            let mut described: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
            let evaluation = schema.validator.evaluate(artifact);
            let descriptions = evaluation
                .iter_annotations()
                .filter(|entry| entry.annotations.value().get("description").is_some());
            for entry in descriptions {
                let (part, at) = (entry.schema_location, entry.instance_location.as_str());
                if let Some((part, key)) = part
                    .rsplit_once("/properties/")
                    .filter(|(part, _)| parts.contains(*part))
                {
                    // `key` is a path if the part lies deeper: then that part counts by itself.
                    if let Some(object) = at.strip_suffix(&format!("/{key}")) {
                        described
                            .entry((part.to_owned(), object.to_owned()))
                            .or_default()
                            .insert(key.to_owned());
                    }
                }
                if parts.contains(part) {
                    described
                        .entry((part.to_owned(), at.to_owned()))
                        .or_default();
                }
            }
            for ((part, at), keys) in &described {
                self.seen
                    .entry(part.clone())
                    .or_default()
                    .add(keys, &(number, at.clone()));
            }
            let described: BTreeSet<&str> = described.keys().map(|(_, at)| at.as_str()).collect();
            self.loose.extend(
                objects(artifact)
                    .into_iter()
                    .filter(|at| !described.contains(at.as_str()))
                    .map(|at| (number, at)),
            );
        }
    }
}

impl Seen {
    fn add(&mut self, keys: &BTreeSet<String>, place: &Place) {
        self.always = Some(
            self.always
                .take()
                .map_or_else(|| keys.clone(), |always| &always & keys),
        );
        for key in keys.difference(&self.ever.clone()) {
            self.with.insert(key.clone(), place.clone());
        }
        self.ever.extend(keys.iter().cloned());
        self.place.get_or_insert_with(|| place.clone());
    }
}

/// Pointers to all objects of an artifact.
fn objects(artifact: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), artifact)];
    while let Some((at, value)) = open.pop() {
        match value {
            // An author's JSON Schema, which is carried along as it is.
            Value::Object(_) if at.ends_with("/output_format/content") || at == "/answer" => {}
            // Tools, their arguments and the required form of the answer, in a stored request.
            Value::Object(_)
                if at.starts_with("/tools/") || at.ends_with("/arguments") || at == "/sampling" => {
            }
            // The bodies and headers of a recorded call.
            Value::Object(_) if matches!(at.as_str(), "/request" | "/response" | "/headers") => {}
            Value::Object(entries) => {
                open.extend(
                    entries
                        .iter()
                        .map(|(key, value)| (format!("{at}/{}", escaped(key)), value)),
                );
                found.push(at);
            }
            Value::Array(list) => open.extend(
                list.iter()
                    .enumerate()
                    .map(|(item, value)| (format!("{at}/{item}"), value)),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}
