//! The schemas against real artifacts, mechanically: each fits; each key and word of a schema is really written; each key
//! that is always written is required; what is taken away or put in is refused, at every object.

use super::artifacts::{self, Artifact, LINES};
use super::survey::{Compiled, Place, Survey};
use ctxc::schema::json::all;
use ctxc::schema::json::names;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A schema with the artifacts it is for.
struct Case {
    name: String,
    schema: Compiled,
    artifacts: &'static [Artifact],
}

fn cases() -> Vec<Case> {
    let found = artifacts::all();
    let mut cases = Vec::new();
    for schema in all() {
        let compiled = Compiled::new(serde_json::to_value(&schema.document).unwrap());
        if schema.format == names::DIAGNOSTICS {
            let (name, schema) = ("a line of jsonl".to_owned(), compiled.entered_at("#/$defs/line"));
            cases.push(Case { name, schema, artifacts: &found[LINES] });
        }
        cases.push(Case { name: schema.name().to_owned(), schema: compiled, artifacts: &found[schema.format] });
    }
    cases
}

/// The artifacts that fit, with their numbers.
fn fitting(case: &Case) -> impl Iterator<Item = (usize, &Value)> {
    case.artifacts.iter().map(|artifact| &artifact.value).enumerate().filter(|(_, value)| case.schema.validator.is_valid(value))
}

#[test]
fn every_artifact_fits_its_schema() {
    let mut faults = Vec::new();
    for case in cases() {
        assert!(!case.artifacts.is_empty(), "no artifact for {}", case.name);
        for artifact in case.artifacts {
            let found = case.schema.faults(&artifact.value);
            faults.extend(found.into_iter().map(|fault| format!("{} of {}: {fault}", case.name, artifact.from)));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}

/// Keys that are never written, and keys that are always written and not required.
fn misfits(document: &Value, survey: &Survey) -> Vec<String> {
    let mut faults = Vec::new();
    for at in super::survey::closed(document) {
        let object = document.pointer(&at).unwrap();
        let Some(seen) = survey.seen.get(&at) else {
            faults.push(format!("{at}: described, never written"));
            continue;
        };
        let keys = object["properties"].as_object().unwrap().keys().filter(|key| !seen.ever.contains(*key));
        faults.extend(keys.map(|key| format!("{at}: `{key}` is never written")));
        let required: BTreeSet<&str> = object["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let always = seen.always.iter().flatten().filter(|key| !required.contains(key.as_str()));
        faults.extend(always.map(|key| format!("{at}: `{key}` is always written and not required")));
    }
    faults
}

/// Everything that the artifacts of a schema, its lines included, say about it.
fn survey(cases: &[Case], name: &str) -> Survey {
    let mut survey = Survey::default();
    for case in cases.iter().filter(|case| case.name == name || name == "diagnostics" && case.name == "a line of jsonl") {
        survey.take(&case.schema, fitting(case));
    }
    survey
}

#[test]
fn every_key_is_written_and_what_is_always_written_is_required() {
    let cases = cases();
    let mut faults = Vec::new();
    for case in cases.iter().filter(|case| case.name != "a line of jsonl") {
        let survey = survey(&cases, &case.name);
        faults.extend(misfits(&case.schema.document, &survey).into_iter().map(|fault| format!("{}{fault}", case.name)));
        let loose = survey.loose.iter().take(3).map(|(_, at)| format!("{}: nothing describes {at}", case.name));
        faults.extend(loose);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a schema wrongly takes: an object with a key more, or without a required one.
fn leaks(case: &Case, survey: &Survey) -> (usize, Vec<String>) {
    let (mut tried, mut leaks) = (0, Vec::new());
    let mut refuses = |(number, at): &Place, what: String, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut value = case.artifacts[*number].value.clone();
        change(value.pointer_mut(at).and_then(Value::as_object_mut).expect("an object"));
        tried += 1;
        if case.schema.validator.is_valid(&value) {
            leaks.push(format!("{} takes {what} at `{at}`", case.name));
        }
    };
    for (part, seen) in &survey.seen {
        let more = |object: &mut serde_json::Map<String, Value>| drop(object.insert("more".to_owned(), Value::Null));
        refuses(seen.place.as_ref().unwrap(), "a key more".to_owned(), &more);
        let required = case.schema.document.pointer(part).unwrap()["required"].as_array().unwrap();
        for key in required.iter().filter_map(Value::as_str) {
            let less = |object: &mut serde_json::Map<String, Value>| drop(object.remove(key).expect("required"));
            refuses(&seen.with[key], format!("one without `{key}`"), &less);
        }
    }
    (tried, leaks)
}

#[test]
fn a_key_more_or_less_is_refused_at_every_object() {
    let (mut tried, mut faults) = (0, Vec::new());
    for case in cases() {
        let mut survey = Survey::default();
        survey.take(&case.schema, fitting(&case));
        let (count, leaks) = leaks(&case, &survey);
        tried += count;
        faults.extend(leaks);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 300, "only {tried} changes tried");
}

/// Words of a schema that no artifact needs: with the word gone, all of them still fit.
fn idle_words(document: &Value, artifacts: &[&Value]) -> Vec<String> {
    let mut lists = Vec::new();
    let mut open = vec![(String::new(), document)];
    while let Some((at, value)) = open.pop() {
        if let Value::Object(entries) = value {
            if entries.get("enum").is_some_and(Value::is_array) {
                lists.push(format!("{at}/enum"));
            }
            open.extend(
                entries.iter().filter(|(key, _)| key.as_str() != "if").map(|(key, value)| (format!("{at}/{key}"), value)),
            );
        } else if let Value::Array(list) = value {
            open.extend(list.iter().enumerate().map(|(item, value)| (format!("{at}/{item}"), value)));
        }
    }
    let mut idle = Vec::new();
    for list in lists {
        for (at, word) in document.pointer(&list).unwrap().as_array().unwrap().iter().enumerate() {
            let mut without = document.clone();
            without.pointer_mut(&list).unwrap().as_array_mut().unwrap().remove(at);
            let without = Compiled::new(without).validator;
            if artifacts.iter().all(|artifact| without.is_valid(artifact)) {
                idle.push(format!("{list} {word}"));
            }
        }
    }
    idle
}

#[test]
fn every_word_is_written() {
    let mut idle = Vec::new();
    for case in cases().iter().filter(|case| case.name != "a line of jsonl") {
        let artifacts: Vec<&Value> = fitting(case).map(|(_, value)| value).collect();
        idle.extend(idle_words(&case.schema.document, &artifacts).into_iter().map(|word| format!("{}{word}", case.name)));
    }
    assert_eq!(idle, [""; 0]);
}

#[test]
fn a_schema_that_is_too_wide_or_too_narrow_is_found() {
    let artifact = json!({"a": 1, "b": {"c": "x"}});
    let inner = json!({"type": "object", "required": [], "additionalProperties": false,
        "properties": {"c": {"description": "c", "enum": ["x", "y"]}, "d": {"description": "d"}}});
    let document = json!({"type": "object", "required": ["a"], "$defs": {"b": inner},
        "properties": {"a": {"description": "a"}, "b": {"description": "b", "$ref": "#/$defs/b"}}});
    let schema = Compiled::new(document);
    let mut survey = Survey::default();
    survey.take(&schema, [(0, &artifact)]);
    let expected = [
        ": `b` is always written and not required",
        "/$defs/b: `d` is never written",
        "/$defs/b: `c` is always written and not required",
    ];
    assert_eq!(misfits(&schema.document, &survey), expected);
    assert_eq!(idle_words(&schema.document, &[&artifact]), ["/$defs/b/properties/c/enum \"y\""]);
    let artifacts = vec![Artifact { from: "here".to_owned(), value: artifact }];
    let case = Case { name: "wide".to_owned(), schema, artifacts: artifacts.leak() };
    assert_eq!(leaks(&case, &survey), (3, vec!["wide takes a key more at ``".to_owned()]));
    assert_eq!(case.schema.faults(&json!({"b": {"e": 1}})).len(), 2);
    let mut loose = Survey::default();
    loose.take(&case.schema, [(0, &json!({"a": {"z": 1}}))]);
    assert_eq!(loose.loose, [(0, "/a".to_owned())]);
}
