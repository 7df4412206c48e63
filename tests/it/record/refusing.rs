//! The double as each vendor: every request that a rule of family 7xx calls an error is refused
//! with status 400, in that vendor's own form, by the name of the rule; and every right one is
//! answered.

use super::client::{ProxyProcess, post};
use crate::cli::project::Project;
use crate::support::examples::{RequestExample, RuleExamples as _};
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::request::dialect::Dialect;
use ctxc::internals::rules::list;
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::collections::BTreeSet;

/// The dialect of an example, and the address that its client would send it to.
fn address(proxy: &ProxyProcess, example: &RequestExample) -> (Dialect, String) {
    let word = |key: &str| {
        example
            .words
            .split(' ')
            .find_map(|word| word.strip_prefix(key))
    };
    let body = serde_json::from_str(example.body).unwrap_or_default();
    let dialect = example
        .words
        .split(' ')
        .find_map(Dialect::find)
        .or_else(|| Dialect::of_body(&body))
        .unwrap_or(Dialect::OpenaiChat);
    let url = match dialect {
        Dialect::OpenaiChat => proxy.url("OPENAI_BASE_URL", "/chat/completions"),
        Dialect::OpenaiResponses => proxy.url("OPENAI_BASE_URL", "/responses"),
        Dialect::Anthropic => proxy.url("ANTHROPIC_BASE_URL", "/v1/messages"),
        Dialect::Gemini => {
            let model = word("model=").unwrap_or("gemini-2.5-pro");
            proxy.url(
                "GOOGLE_GEMINI_BASE_URL",
                &format!("/v1beta/models/{model}:generateContent"),
            )
        }
        Dialect::Ollama => proxy.url("OLLAMA_HOST", "/api/chat"),
    };
    (dialect, url)
}

/// The message of an error in the form of its vendor.
fn message(dialect: Dialect, body: &Value) -> Option<String> {
    let error = &body["error"];
    let found = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            (error["type"] == "invalid_request_error").then_some(&error["message"])
        }
        Dialect::Anthropic => (body["type"] == "error" && error["type"] == "invalid_request_error")
            .then_some(&error["message"]),
        Dialect::Gemini => (error["code"] == 400 && error["status"] == "INVALID_ARGUMENT")
            .then_some(&error["message"]),
        Dialect::Ollama => Some(error),
    };
    Some(found?.as_str()?.to_owned())
}

#[test]
fn every_error_is_refused_in_its_vendors_form_and_every_right_request_answered() {
    let project = Project::new().with_file("script.yaml", "answers:\n  - reply: It is in Oslo.\n");
    let mut proxy = ProxyProcess::new(project, &["--script", "script.yaml"]);
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    let rules = list::all_rules()
        .map(|rule| &rule.meta)
        .filter(|rule| rule.code.family() == 7 && rule.severity == Some(Severity::Error));
    for rule in rules {
        // The tokens are known once a vendor has answered, and a shortened example is not sent
        // here.
        let is_sent = |example: &RequestExample| {
            !["before", "tokens=", "fill="]
                .iter()
                .any(|word| example.words.contains(word))
        };
        for example in rule
            .request_examples("Wrong")
            .iter()
            .filter(|example| is_sent(example))
        {
            let (dialect, url) = address(&proxy, example);
            let answer = post(&url, "Content-Type: application/json\r\n", example.body);
            let message_text = serde_json::from_slice(&answer.body)
                .ok()
                .and_then(|body| message(dialect, &body))
                .unwrap_or_default();
            if answer.status != 400
                || !message_text.contains(&format!("[{}: ctxc explain", rule.name))
            {
                wrong.push(format!(
                    "{}: {} {} to {}",
                    rule.name,
                    answer.status,
                    answer.text(),
                    example.body
                ));
            }
            seen.insert(rule.name);
        }
        for example in rule
            .request_examples("Right")
            .iter()
            .filter(|example| is_sent(example))
        {
            let (_, url) = address(&proxy, example);
            let answer = post(&url, "Content-Type: application/json\r\n", example.body);
            if answer.status != 200 {
                wrong.push(format!(
                    "{}: {} {} to {}",
                    rule.name,
                    answer.status,
                    answer.text(),
                    example.body
                ));
            }
        }
    }
    assert_eq!(wrong.join("\n\n"), "");
    assert!(seen.len() >= 20, "{seen:?}");
    proxy.stop().exits_with(0);
}
