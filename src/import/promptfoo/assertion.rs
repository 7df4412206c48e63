//! Converts an assertion to an expectation on the answer. One without an equivalent is rejected
//! with a reason for the report.

use super::source::ConfigSource;
use crate::base::json::escape_for_yaml;
use crate::import::note::ImportNoteKind;
use crate::import::prompt_model::{ImportedAssertion, ImportedValue};
use crate::scenario::rubric::DEFAULT_MAX_SCORE;
use crate::scenario::{self, pattern};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Assertions judged by programs.
const PROGRAM_TYPES: [&str; 4] = ["javascript", "python", "ruby", "webhook"];

/// Assertions judged by a model by criteria in words, as the role `judge` does.
const RUBRIC_TYPES: [&str; 6] = [
    "llm-rubric",
    "closedqa",
    "model-graded-closedqa",
    "factuality",
    "model-graded-factuality",
    "g-eval",
];

/// The criterion of `factuality`, whose reference follows.
const AGREEMENT: &str = "The facts of the answer agree with this reference. It may lack facts of the reference, add others, and differ in what does not matter for facts, but contradicts none: ";

/// The least score of `g-eval` without a `threshold`, as a share of its scale.
const DEFAULT_SHARE: f64 = 0.7;

/// Other assertions judged by a model.
const MODEL_JUDGED_TYPES: [&str; 15] = [
    "similar",
    "answer-relevance",
    "context-recall",
    "context-relevance",
    "context-faithfulness",
    "conversation-relevance",
    "select-best",
    "max-score",
    "classifier",
    "moderation",
    "pi",
    "search-rubric",
    "agent-rubric",
    "trajectory:goal-success",
    "is-refusal",
];

/// Assertions that are converted, or known to have no equivalent.
const OTHER_TYPES: [&str; 28] = [
    "equals",
    "contains",
    "icontains",
    "contains-all",
    "contains-any",
    "icontains-all",
    "icontains-any",
    "starts-with",
    "regex",
    "is-json",
    "cost",
    "latency",
    "contains-json",
    "contains-xml",
    "contains-html",
    "contains-sql",
    "is-xml",
    "is-html",
    "is-sql",
    "levenshtein",
    "rouge-n",
    "bleu",
    "gleu",
    "meteor",
    "perplexity",
    "word-count",
    "finish-reason",
    "is-valid-openai-tools-call",
];

/// Returns true if a word is the type of an assertion, in a table too.
pub(super) fn is_known_type(word: &str) -> bool {
    let word = word.strip_prefix("not-").unwrap_or(word);
    PROGRAM_TYPES.contains(&word)
        || RUBRIC_TYPES.contains(&word)
        || MODEL_JUDGED_TYPES.contains(&word)
        || OTHER_TYPES.contains(&word)
}

/// The type of an assertion.
pub(super) fn assertion_type(assert: &Value) -> &str {
    assert
        .get("type")
        .or_else(|| assert.get("$ref"))
        .and_then(Value::as_str)
        .unwrap_or("without a type")
}

/// The assertion that a reference refers to.
pub(super) fn resolve_reference(assert: &Value, templates: &Value) -> Value {
    let name = assert
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|name| name.strip_prefix("#/assertionTemplates/"));
    name.and_then(|name| templates.get(name))
        .unwrap_or(assert)
        .clone()
}

/// The equivalent expectation, with its weight.
pub(super) fn to_expectation(
    source: &ConfigSource<'_>,
    assert: &Value,
    vars: &[(String, ImportedValue)],
    is_transformed: bool,
) -> Result<Value, String> {
    let mut one = convert_test(source, assert, vars, is_transformed)?;
    if let (Some(all), Some((key, value))) = (one.as_object_mut(), weight_entry(assert)) {
        all.insert(key.to_owned(), value);
    }
    is_accepted(&one)
        .then_some(one)
        .ok_or_else(|| "a scenario does not take what it holds".to_owned())
}

/// The key and the value for the weight of an assertion; `None` for the default. One of weight 0 is
/// reported but fails nothing.
fn weight_entry(assert: &Value) -> Option<(&'static str, Value)> {
    let weight = assert.get("weight")?;
    match weight.as_f64() {
        Some(0.0) => Some(("gate", Value::Bool(false))),
        Some(1.0) => None,
        _ => Some(("weight", weight.clone())),
    }
}

/// The equivalent test, regardless of its weight.
fn convert_test(
    source: &ConfigSource<'_>,
    assert: &Value,
    vars: &[(String, ImportedValue)],
    is_transformed: bool,
) -> Result<Value, String> {
    let full = assertion_type(assert);
    let (word, is_not) = full
        .strip_prefix("not-")
        .map_or((full, false), |word| (word, true));
    if is_transformed && !matches!(word, "cost" | "latency") || assert.get("transform").is_some() {
        return Err("it judges the answer as changed by `transform`".to_owned());
    }
    if PROGRAM_TYPES.contains(&word) {
        return Err(
            "a program of promptfoo's judges it; a check of your own is `command: [argv]`"
                .to_owned(),
        );
    }
    if MODEL_JUDGED_TYPES.contains(&word) {
        return Err(
            "a model judges it, and not by criteria in words, as `rubric` and `judge` do"
                .to_owned(),
        );
    }
    let value = assert
        .get("value")
        .map(|value| fill_value(value, vars))
        .transpose()?;
    if let Some(program) = value
        .as_ref()
        .and_then(Value::as_str)
        .filter(|value| value.starts_with("file://") && word != "is-json")
    {
        return Err(format!(
            "its value lies in `{}`: write it into the assertion",
            program.trim_start_matches("file://")
        ));
    }
    let threshold = || {
        assert
            .get("threshold")
            .cloned()
            .ok_or_else(|| "it has no `threshold`".to_owned())
    };
    let literal = |text: &str| text_pattern(word, text);
    Ok(match (word, is_not) {
        ("contains" | "icontains" | "starts-with" | "regex", _) => {
            let [pattern] = <[String; 1]>::try_from(searched_texts(value.as_ref())?)
                .map_err(|_| "expected one text".to_owned())?;
            json!({(if is_not { "absent" } else { "contains" }): [literal(&pattern)?]})
        }
        ("contains-all" | "icontains-all", _) => {
            let all: Vec<String> = searched_texts(value.as_ref())?
                .iter()
                .map(|text| literal(text))
                .collect::<Result<_, _>>()?;
            let all = json!({"contains": all});
            if is_not { json!({"not": all}) } else { all }
        }
        ("contains-any" | "icontains-any", _) => {
            let any: Vec<String> = searched_texts(value.as_ref())?
                .iter()
                .map(|text| literal(text))
                .collect::<Result<_, _>>()?;
            if is_not {
                json!({"absent": any})
            } else {
                json!({"any_of": any.iter().map(|pattern| json!({"contains": [pattern]})).collect::<Vec<_>>()})
            }
        }
        ("equals", _) => {
            let exact = json!({"exact": value.ok_or("it has no `value`")?});
            if is_not { json!({"not": exact}) } else { exact }
        }
        ("is-json", false) => json!({"schema": answer_schema(source, value)?}),
        ("cost", false) => json!({"max_cost_usd": threshold()?}),
        ("latency", false) => json!({"max_latency_ms": round_milliseconds(&threshold()?)}),
        (word, _) if RUBRIC_TYPES.contains(&word) => {
            let share = judged_share(word, assert);
            if let Some(share) = share.filter(|share| *share > 1.0) {
                return Err(format!("its `threshold` is {share}; expected at most 1"));
            }
            let judged = judged_expectation(word, share, &value.ok_or("it has no `value`")?);
            if is_not {
                json!({"not": judged})
            } else {
                judged
            }
        }
        ("assert-set", false) => {
            let whole = assert
                .get("threshold")
                .is_none_or(|share| share.as_f64() == Some(1.0));
            let inner = assert
                .get("assert")
                .and_then(Value::as_array)
                .filter(|_| whole);
            let inner = inner
                .ok_or("a share of its assertions is enough, and an expectation has no shares")?;
            let each = |one: &Value| {
                convert_test(source, one, vars, is_transformed)
                    .map_err(|why| format!("`{}` in it: {why}", self::assertion_type(one)))
            };
            json!({"all_of": inner.iter().map(each).collect::<Result<Vec<_>, _>>()?})
        }
        _ => return Err("no expectation says the same".to_owned()),
    })
}

/// The share of the scale that the judge must give; `None` if it decides between yes
/// and no.
fn judged_share(word: &str, assert: &Value) -> Option<f64> {
    // A threshold of 0 is none.
    own_threshold(assert)
        .or((word == "g-eval").then_some(DEFAULT_SHARE))
        .filter(|_| matches!(word, "g-eval" | "llm-rubric"))
}

fn own_threshold(assert: &Value) -> Option<f64> {
    let threshold = assert.get("threshold").and_then(Value::as_f64);
    threshold.filter(|share| *share > 0.0)
}

/// The expectation of the role `judge` that an assertion is equal to.
fn judged_expectation(word: &str, share: Option<f64>, value: &Value) -> Value {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let Some(share) = share else {
        let reference = if word.ends_with("factuality") {
            AGREEMENT
        } else {
            ""
        };
        return json!({"rubric": format!("{reference}{}", text(value))});
    };
    #[allow(clippy::cast_precision_loss, reason = "a scale of few scores")]
    let min_score = (share * 100.0 * DEFAULT_MAX_SCORE as f64).round() / 100.0;
    match value.as_array().filter(|_| word == "g-eval") {
        Some(all) => {
            let criteria: Vec<String> = all.iter().map(text).collect();
            json!({"judge": {"criteria": criteria, "min_score": min_score}})
        }
        None => json!({"judge": {"rubric": {"text": text(value)}, "min_score": min_score}}),
    }
}

/// The difference between an assertion and the expectation of the role `judge` in its place; `None`
/// if it has another expectation.
pub(super) fn judge_difference(assert: &Value) -> Option<ImportNoteKind> {
    let full = assertion_type(assert);
    let word = full.strip_prefix("not-").unwrap_or(full);
    if !RUBRIC_TYPES.contains(&word) {
        return None;
    }
    let mut difference =
        "the role `judge` of ctxc.toml scores it, with its own prompt; `ctxc new judge` writes one"
            .to_owned();
    let (share, own) = (judged_share(word, assert), own_threshold(assert));
    if let Some(share) = share {
        let whose = own.map_or_else(
            || format!("the default of {share}"),
            |_| "its threshold".to_owned(),
        );
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            difference,
            "; {whose} is a share of the whole scores from 0 to 5, which each criterion has to reach"
        );
    }
    for key in ["provider", "rubricPrompt", "threshold"] {
        if assert.get(key).is_some() && (key != "threshold" || own.is_some() && share.is_none()) {
            let _ = write!(difference, "; its `{key}` is not carried over");
        }
    }
    let what = format!("the assertion `{full}`");
    Some(ImportNoteKind::Differs { what, difference })
}

/// A `todo` for an assertion without an equivalent expectation.
pub(super) fn to_todo(assert: &Value, why: &str) -> ImportedAssertion {
    // Its other fields configure providers.
    let kept = |(key, _): &(&String, &Value)| {
        ["type", "$ref", "value", "threshold", "metric", "weight"].contains(&key.as_str())
    };
    let parts = assert.as_object().map(|all| {
        all.iter()
            .filter(kept)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    });
    let source = parts.map_or_else(
        || escape_for_yaml(assert),
        |parts: Map<String, Value>| escape_for_yaml(&parts.into()),
    );
    ImportedAssertion::Todo {
        what: format!("the assertion `{}`: {why}", assertion_type(assert)),
        source,
        weight: weight_entry(assert)
            .filter(|(key, value)| is_accepted(&json!({"todo": "a", (*key): value})))
            .map(|(key, value)| format!("{key}: {value}")),
    }
}

/// Returns true if a scenario accepts an expectation.
fn is_accepted(one: &Value) -> bool {
    let scenario =
        json!({"name": "a", "task": "a", "context": {"objective": "a"}, "expectations": [one]});
    scenario::read_suite("a.yaml", &scenario.to_string())
        .1
        .is_empty()
}

/// A number of milliseconds, rounded; tables contain fractions.
fn round_milliseconds(value: &Value) -> Option<u64> {
    value.as_f64()?.round().to_string().parse().ok()
}

/// The searched text as a pattern.
fn text_pattern(word: &str, text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it looks for nothing".to_owned());
    }
    if word == "regex" {
        return match pattern::find_fault(text) {
            None => Ok(text.to_owned()),
            Some(fault) => Err(format!("its pattern is not supported: {}", fault.reason)),
        };
    }
    let mut out = match word {
        "starts-with" => "^".to_owned(),
        word if word.starts_with('i') => "(?i)".to_owned(),
        _ => String::new(),
    };
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    Ok(out)
}

fn searched_texts(value: Option<&Value>) -> Result<Vec<String>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err("expected a text".to_owned()),
    };
    match value {
        Some(Value::Array(all)) if !all.is_empty() => all.iter().map(text).collect(),
        Some(one) => text(one).map(|text| vec![text]),
        None => Err("it has no `value`".to_owned()),
    }
}

/// The schema of the answer; without a value, one that accepts any JSON.
fn answer_schema(source: &ConfigSource<'_>, value: Option<Value>) -> Result<Value, String> {
    let text = match value {
        None | Some(Value::Null) => return Ok(Value::Object(Map::new())),
        Some(Value::String(text)) if text.starts_with("file://") => {
            source.read_text(&text).map_err(|note| note.to_string())?
        }
        Some(Value::String(text)) => text,
        Some(schema) => return Ok(schema),
    };
    let (root, faults) = crate::syntax::yaml::parse_tree(&text);
    if faults.is_empty() && root.entries().is_some() {
        Ok(root.to_json())
    } else {
        Err("its value is not a valid JSON Schema".to_owned())
    }
}

/// A value with the inputs of the test filled in.
fn fill_value(value: &Value, vars: &[(String, ImportedValue)]) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(fill_text(text, vars)?),
        Value::Array(all) => all
            .iter()
            .map(|one| fill_value(one, vars))
            .collect::<Result<_, _>>()?,
        Value::Object(all) => all
            .iter()
            .map(|(key, one)| Ok((key.clone(), fill_value(one, vars)?)))
            .collect::<Result<Map<_, _>, String>>()?
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn fill_text(text: &str, vars: &[(String, ImportedValue)]) -> Result<String, String> {
    if text.contains("{%") {
        return Err("its value is a program in Nunjucks: write it out".to_owned());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else {
            break;
        };
        let value = vars
            .iter()
            .find(|(known, _)| known == name.trim())
            .map(|(_, given)| given);
        out.push_str(before);
        match value {
            Some(ImportedValue::Value(Value::String(text))) => out.push_str(text),
            Some(ImportedValue::Value(value @ (Value::Number(_) | Value::Bool(_)))) => {
                out.push_str(&value.to_string());
            }
            _ => {
                return Err(format!(
                    "`{{{{{}}}}}` in its value is no text of this test: write it out",
                    name.trim()
                ));
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}
