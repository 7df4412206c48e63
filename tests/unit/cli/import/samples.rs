//! Tests of the private items of `src/cli/import/samples.rs`.

use super::{ExpectedResult, parse_sample};
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn a_line_is_read_and_what_is_wrong_with_it_is_reported() {
    let written = r#"{"template":"t","inputs":{"a":1},"expected":[{"role":"human","content":"x"},{"role":"ai","content":"y"}]}"#;
    let read = parse_sample(3, written).unwrap();
    let messages = [("user", "x"), ("assistant", "y")]
        .map(|(role, content)| json!({"role": role, "content": content}));
    assert_eq!(read.expected, ExpectedResult::Messages(messages.into()));
    assert_eq!((read.line, read.inputs["a"].clone()), (3, 1.into()));
    for (bad, why) in [
        (
            "{",
            "it is not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        ("[]", "expected a JSON object"),
        (r#"{"inputs":{}}"#, "expected a text in `template`"),
        (
            r#"{"template":"t"}"#,
            "expected a text, a list of messages or the body of a request in `expected`",
        ),
        (
            r#"{"template":"t","expected":"","input":{}}"#,
            "there is no key `input`; expected template, inputs, history, expected, as",
        ),
        (
            r#"{"template":"t","inputs":{"a":[{"b":1,"b":2}]},"expected":""}"#,
            "it is not valid JSON: `b` a second time in one object at line 1 column 41",
        ),
        (
            r#"{"template":"t","expected":[{}]}"#,
            "expected `role` and `content` in each message",
        ),
        (
            r#"{"template":"t","expected":{},"as":"nobody"}"#,
            "expected one of openai-chat, openai-responses, anthropic, gemini, ollama in `as`",
        ),
        (
            r#"{"template":"t","expected":{},"history":{}}"#,
            "expected a list of messages in `history`",
        ),
    ] {
        assert_eq!(parse_sample(1, bad).unwrap_err(), why, "{bad}");
    }
}
