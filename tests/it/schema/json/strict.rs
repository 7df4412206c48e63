//! The schemas against real artifacts, mechanically: each fits; each key of a schema is really
//! written; each key that is always written is required; a removed one is reported, and one that a
//! later version adds is accepted, at every object.

use super::artifacts::{self, Artifact, LINES};
use super::survey::{Compiled, Place, Survey};
use ctxc::internals::cli::artifacts::artifact_schemas;
use ctxc::internals::schema::json::names;
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
    for schema in artifact_schemas() {
        let compiled = Compiled::new(schema.document.clone());
        if schema.format == names::DIAGNOSTICS {
            let (name, schema) = (
                "a line of jsonl".to_owned(),
                compiled.entered_at("#/$defs/line"),
            );
            cases.push(Case {
                name,
                schema,
                artifacts: &found[LINES],
            });
        }
        cases.push(Case {
            name: schema.name().to_owned(),
            schema: compiled,
            artifacts: &found[schema.format],
        });
    }
    cases
}

/// The artifacts that fit, with their numbers.
fn fitting(case: &Case) -> impl Iterator<Item = (usize, &Value)> {
    case.artifacts
        .iter()
        .map(|artifact| &artifact.value)
        .enumerate()
        .filter(|(_, value)| case.schema.validator.is_valid(value))
}

#[test]
fn every_artifact_fits_its_schema() {
    let mut faults = Vec::new();
    for case in cases() {
        assert!(!case.artifacts.is_empty(), "no artifact for {}", case.name);
        for artifact in case.artifacts {
            let found = case.schema.faults(&artifact.value);
            faults.extend(
                found
                    .into_iter()
                    .map(|fault| format!("{} of {}: {fault}", case.name, artifact.from)),
            );
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults
            .iter()
            .take(20)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// Keys that are never written, and keys that are always written and not required.
fn misfits(document: &Value, survey: &Survey) -> Vec<String> {
    let mut faults = Vec::new();
    for at in super::survey::described(document) {
        let object = document.pointer(&at).unwrap();
        let Some(seen) = survey.seen.get(&at) else {
            faults.push(format!("{at}: described, never written"));
            continue;
        };
        let keys = object["properties"]
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| !seen.ever.contains(*key));
        faults.extend(keys.map(|key| format!("{at}: `{key}` is never written")));
        let required: BTreeSet<&str> = object["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let always = seen
            .always
            .iter()
            .flatten()
            .filter(|key| !required.contains(key.as_str()));
        faults
            .extend(always.map(|key| format!("{at}: `{key}` is always written and not required")));
    }
    faults
}

/// The evidence about a schema in its artifacts and lines.
fn survey(cases: &[Case], name: &str) -> Survey {
    let mut survey = Survey::default();
    for case in cases
        .iter()
        .filter(|case| case.name == name || name == "diagnostics" && case.name == "a line of jsonl")
    {
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
        faults.extend(
            misfits(&case.schema.document, &survey)
                .into_iter()
                .map(|fault| format!("{}{fault}", case.name)),
        );
        let loose = survey
            .loose
            .iter()
            .take(3)
            .map(|(_, at)| format!("{}: nothing describes {at}", case.name));
        faults.extend(loose);
    }
    // Places move with every line above them: a manifest holds none.
    faults.retain(|fault| fault != "manifest/$defs/Span: described, never written");
    // Kinds of failures, which have names and no keys of their own.
    faults.retain(|fault| {
        !(fault.starts_with("scorecard: nothing describes /") && fault.ends_with("/failed_calls"))
    });
    // Criteria and dimensions have the names that a rubric gives them.
    faults.retain(|fault| {
        let maps = ["/criteria", "/dimensions", "/dimensionScores"];
        !(fault.starts_with("compaction-") && maps.iter().any(|name| fault.ends_with(name)))
    });
    // The registry of a package, as its own schema describes it.
    faults.retain(|fault| !fault.starts_with("package: nothing describes /registry"));
    // A row of the scorecard, as that describes it.
    faults.retain(|fault| !fault.starts_with("history: nothing describes /cases/"));
    // Values of a task and of a subtask have the names that their author gives them.
    faults.retain(|fault| {
        !(fault.starts_with("run: nothing describes /") && fault.ends_with("inputs")
            || fault.ends_with("/context_management"))
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Artifacts that a schema accepts without a required key, or refuses with an additional key.
fn leaks(case: &Case, survey: &Survey) -> (usize, Vec<String>) {
    let (mut tried, mut leaks) = (0, Vec::new());
    let changed = |(number, at): &Place, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut value = case.artifacts[*number].value.clone();
        change(
            value
                .pointer_mut(at)
                .and_then(Value::as_object_mut)
                .expect("an object"),
        );
        case.schema.validator.is_valid(&value)
    };
    for (part, seen) in &survey.seen {
        let place = seen.place.as_ref().unwrap();
        if !changed(place, &|object| {
            drop(object.insert("more".to_owned(), Value::Null));
        }) {
            leaks.push(format!("{} refuses a key more at `{}`", case.name, place.1));
        }
        let object = case.schema.document.pointer(part).unwrap();
        for key in object["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            tried += 1;
            if changed(&seen.with[key], &|object| {
                drop(object.remove(key).expect("required"));
            }) {
                leaks.push(format!(
                    "{} takes one without `{key}` at `{}`",
                    case.name, seen.with[key].1
                ));
            }
        }
    }
    (tried, leaks)
}

#[test]
fn a_key_more_is_taken_and_one_less_refused_at_every_object() {
    let (mut tried, mut faults) = (0, Vec::new());
    for case in cases() {
        let mut survey = Survey::default();
        survey.take(&case.schema, fitting(&case));
        let (count, leaks) = leaks(&case, &survey);
        tried += count;
        faults.extend(leaks);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 200, "only {tried} changes tried");
}

#[test]
fn a_schema_that_is_too_wide_or_too_narrow_is_found() {
    let artifact = json!({"a": 1, "b": {"c": "x"}});
    let inner = json!({"type": "object", "required": [], "additionalProperties": false,
        "properties": {"c": {"description": "c"}, "d": {"description": "d"}}});
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
    let artifacts = vec![Artifact {
        from: "here".to_owned(),
        value: artifact,
    }];
    let case = Case {
        name: "wide".to_owned(),
        schema,
        artifacts: artifacts.leak(),
    };
    assert_eq!(
        leaks(&case, &survey),
        (1, vec!["wide refuses a key more at `/b`".to_owned()])
    );
    assert_eq!(case.schema.faults(&json!({"b": {"e": 1}})).len(), 2);
    let mut loose = Survey::default();
    loose.take(&case.schema, [(0, &json!({"a": {"z": 1}}))]);
    assert_eq!(loose.loose, [(0, "/a".to_owned())]);
}
