//! The examples of family 7xx: each bad one gives its finding and no other, and no good one gives
//! an error of the family.

use crate::project::reading::read_with;
use crate::support::examples::{RequestExample, RuleExamples as _};
use ctxc::Diagnostic;
use ctxc::internals::base::rule_meta::{RuleMeta, Severity};
use ctxc::internals::kernel::tokens::TokenCounter;
use ctxc::internals::request::dialect::Dialect;
use ctxc::internals::request::model::ModelRequest;
use ctxc::internals::request::prompt_cache::{compare_agent, compare_calls};
use ctxc::internals::request::segments::build_segments;
use ctxc::internals::request::threads::is_shared;
use ctxc::internals::rules::list;
use ctxc::internals::rules::request::check;
use ctxc::internals::rules::request::cx::RequestCx;
use pretty_assertions::assert_eq;
use std::sync::Arc;

/// The findings of a body, with the call before it and the words of its fence: `json gemini
/// model=gemini-2.5-pro tokens=4096`. With `fill=9000` its `…` stands for that many characters.
pub(crate) fn found(
    body: &str,
    words: &str,
    before: Option<&str>,
    project: &str,
) -> Vec<Diagnostic> {
    let config = read_with(project, &[]);
    let file: Arc<str> = Arc::from("request.json");
    let word = |key: &str| words.split(' ').find_map(|word| word.strip_prefix(key));
    let count = word("fill=").map_or(0, |count| count.parse().expect("a number"));
    let filled = |body: &str| {
        if count > 0 {
            body.replace('…', &"word ".repeat(count / 5))
        } else {
            body.to_owned()
        }
    };
    let (body, before) = (&*filled(body), before.map(filled));
    let route = route(words);
    let read = |body: &str| ModelRequest::parse(body, route.as_deref());
    let request = match read(body) {
        Ok(request) => request,
        Err(why) => return check::unreadable_body_findings(&file, body, &why, &config),
    };
    let before = before.map(|before| read(&before).expect("a request"));
    // The call before may be one of another conversation of the same agent.
    let is_agents = words.split(' ').any(|word| word == "agent");
    let own = build_segments(&request);
    let reuse = before.as_ref().map(
        |before| if is_agents { compare_agent } else { compare_calls }(&build_segments(before), &own, &Bytes),
    );
    let front = own
        .iter()
        .filter(|segment| is_shared(segment))
        .map(|segment| segment.text.len() as u64)
        .sum();
    let cx = RequestCx {
        before: before.as_ref().filter(|_| !is_agents),
        shared_front: reuse
            .as_ref()
            .filter(|reuse| is_agents && reuse.broken_by.is_none())
            .map(|_| front),
        reuse: reuse.as_ref(),
        input_tokens: word("tokens=").map(|tokens| tokens.parse().expect("a number")),
        ..RequestCx::new(&file, body, &request, &config)
    };
    check::request_findings(&cx, &config)
}

/// The route of a body, by the words of its fence.
fn route(words: &str) -> Option<String> {
    let model = words
        .split(' ')
        .find_map(|word| word.strip_prefix("model="));
    match (words.split(' ').find_map(Dialect::find), model) {
        (Some(Dialect::Gemini), Some(model)) => {
            Some(format!("/v1beta/models/{model}:generateContent"))
        }
        (Some(Dialect::Ollama), _) => Some("/api/chat".to_owned()),
        (Some(Dialect::OpenaiChat), _) => Some("/v1/chat/completions".to_owned()),
        (Some(Dialect::Anthropic), _) => Some("/v1/messages".to_owned()),
        _ => None,
    }
}

/// A token is a byte.
#[derive(Debug)]
struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &'static str {
        "bytes"
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn count(&self, text: &str) -> usize {
        text.len()
    }
}

/// The findings of each request of a section; a body marked `before` is the call before the next
/// one.
fn section_findings(rule: &RuleMeta, title: &str) -> Vec<(RequestExample, Vec<Diagnostic>)> {
    // A rule that is off is turned on.
    let project = if rule.severity.is_none() {
        format!("[lints]\n{} = \"warning\"\n", rule.name)
    } else {
        String::new()
    };
    let mut before = None;
    let mut out = Vec::new();
    for example in rule.request_examples(title) {
        if example.words.split(' ').any(|word| word == "before") {
            before = Some(example.body);
        } else {
            out.push((
                example,
                found(example.body, example.words, before.take(), &project),
            ));
        }
    }
    assert!(
        !out.is_empty(),
        "{} has no example under {title}",
        rule.name
    );
    out
}

/// The rule by which `ctxc replay` refuses a body, when it stands in for the vendor.
fn refused(example: &RequestExample) -> Option<&'static str> {
    let config = read_with("", &[]);
    let refusal = check::find_body_rejection(
        example.body,
        route(example.words).as_deref(),
        |_, _, _| None,
        &config,
    );
    Some(refusal?.rule.name)
}

/// The family of the rules for requests: their codes are 7xx.
const REQUEST_FAMILY: u16 = 7;
/// The code of a body that is no request: its finding may be at a position of invalid JSON.
const BAD_BODY: u16 = 701;

#[test]
fn bad_examples_give_their_finding_and_good_ones_no_error() {
    let mut wrong = Vec::new();
    for rule in list::all_rules()
        .map(|rule| &rule.meta)
        .filter(|rule| rule.code.family() == REQUEST_FAMILY)
    {
        for (example, found) in section_findings(rule, "Wrong") {
            let mut names: Vec<&str> = found.iter().map(|finding| finding.rule.name).collect();
            names.dedup();
            // `replay` refuses the requests in which `check` finds an error, except by a count of
            // tokens: that comes with an answer.
            let needs_token_count = example.words.contains("tokens=");
            if !needs_token_count
                && rule.severity == Some(Severity::Error)
                && refused(&example) != Some(rule.name)
            {
                wrong.push(format!("{}: not refused: {}", rule.name, example.body));
            }
            // An error is at a value of the body. Filled examples have other spans.
            let is_value = |finding: &Diagnostic| {
                let slice = example
                    .body
                    .get(finding.span.start as usize..finding.span.end as usize);
                slice.is_some_and(|slice| serde_json::from_str::<serde_json::Value>(slice).is_ok())
            };
            let is_json = serde_json::from_str::<serde_json::Value>(example.body).is_ok();
            if rule.severity == Some(Severity::Error) && is_json && !example.words.contains("fill=")
            {
                wrong.extend(
                    found
                        .iter()
                        .filter(|one| one.rule.code.0 != BAD_BODY && !is_value(one))
                        .map(|one| format!("{}: at no value: {:?}", rule.name, one.span)),
                );
            }
            if names != [rule.name] {
                wrong.push(format!("{}: {names:?} in {}", rule.name, example.body));
            }
        }
        for (example, found) in section_findings(rule, "Right") {
            for finding in &found {
                if finding.rule.name == rule.name || finding.severity == Severity::Error {
                    wrong.push(format!(
                        "{}: {}: {} in {}",
                        rule.name, finding.rule.name, finding.message, example.body
                    ));
                }
            }
        }
    }
    assert_eq!(wrong.join("\n\n"), "");
}
