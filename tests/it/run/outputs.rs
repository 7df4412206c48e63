//! Answers read as results, and compared with the required form.

use ctxc::internals::context::answer_format::AnswerForm;
use ctxc::internals::kernel::conversation::Part;
use ctxc::internals::kernel::provider::{Answer as Given, Stop, Usage};
use ctxc::internals::registry::body::OutputFormat;
use ctxc::internals::run::output::{check_format, parse_answer};
use ctxc::runtime::AgentOutput;
use pretty_assertions::assert_eq;
use serde_json::json;

fn format(kind: &'static str, schema: Option<&'static str>) -> OutputFormat<'static> {
    OutputFormat {
        kind: Some(kind.into()),
        schema: schema.map(Into::into),
        content: None,
    }
}

#[test]
fn a_fence_around_all_of_it_is_none_of_the_answer() {
    let of = |text: &str| {
        let answer = Given::new(
            vec![Part::Text(text.to_owned())],
            Stop::End,
            Usage::default(),
            None,
        );
        parse_answer(&answer, None, &AnswerForm::Free)
            .unwrap()
            .content
    };
    assert_eq!(of("```json\n{\"a\": 1}\n```"), json!({"a": 1}));
    assert_eq!(of("see\n```json\n{}\n```"), json!("see\n```json\n{}\n```"));
    assert_eq!(of("```sh\nls\n```"), json!("```sh\nls\n```"));
}

#[test]
fn a_form_holds_or_reports_what_differs() {
    let array = AnswerForm::Schema(json!({"type": "array"}));
    let json = format("json", Some("array"));
    let of = |content: serde_json::Value| {
        let mut output = AgentOutput::complete(content);
        check_format(&mut output, Some(&json), &array).map(|()| output.content)
    };
    assert_eq!(of(json!([1])), Ok(json!([1])));
    assert_eq!(of(json!("[1, 2]")), Ok(json!([1, 2])));
    assert!(of(json!({"a": 1})).unwrap_err().contains("array"));
    assert_eq!(
        of(json!("two of them")),
        Err("expected JSON, found “two of them”".to_owned())
    );
    let object = format("json", Some("object"));
    let mut list = AgentOutput::complete(json!([]));
    assert_eq!(
        check_format(&mut list, Some(&object), &AnswerForm::Json),
        Err("expected one JSON object, found []".to_owned())
    );
    let mut words = AgentOutput::complete("words");
    assert_eq!(
        check_format(&mut words, Some(&format("text", None)), &AnswerForm::Free),
        Ok(())
    );
}
