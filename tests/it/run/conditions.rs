//! Conditions of choices and loops.

use ctxc::internals::run::condition::evaluate;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn evaluate_condition(text: &str) -> Result<bool, String> {
    evaluate(text, &|path| match path {
        "rate" => Some(json!(0.05)),
        "region" => Some(json!("eu")),
        "done" => Some(json!(true)),
        "verdict.severity" => Some(json!("sev1")),
        "verdict.none" => Some(Value::Null),
        "list[1]" => Some(json!(2)),
        _ => None,
    })
}

#[test]
fn comparisons_and_connectives_say_what_they_say() {
    for (text, holds) in [
        ("rate ge 0.05", true),
        ("rate lt 0.05", false),
        ("rate == 0.050", true),
        ("list[1] == 2.0", true),
        ("region == 'eu' and not (rate gt 1)", true),
        ("region != 'eu' or done", true),
        ("done", true),
        ("done == false", false),
        (
            "verdict.severity == 'sev1' or verdict.severity == 'sev2'",
            true,
        ),
        ("verdict.none == 'sev1'", false),
        ("verdict.none != true", true),
        ("region lt 'f'", true),
        ("not done or rate le 1", true),
    ] {
        assert_eq!(evaluate_condition(text), Ok(holds), "{text}");
    }
    // A decisive operand is enough.
    assert_eq!(evaluate_condition("done or nowhere"), Ok(true));
}

#[test]
fn what_cannot_be_decided_is_neither() {
    for text in [
        "nowhere",
        "region",
        "rate lt 'a'",
        "verdict.none lt 3",
        "rate",
    ] {
        assert!(evaluate_condition(text).is_err(), "{text}");
    }
}
