//! Answers without a vendor: from an earlier recording, and from a script.

use super::client::{ProxyProcess, post, proxy_command};
use super::passing::chunked;
use crate::cli::project::{ProgramRun, Project};
use crate::provider::fault_server::{Server, response};
use ctxc::internals::kernel::provider::Stop;
use ctxc::internals::provider::read;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A body with a last message.
fn asks(text: &str, stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]}).to_string()
}

/// A proxy that recorded some calls, and the answers.
fn recorded() -> (ProxyProcess, Vec<String>) {
    let server = Server::new(|number, request, stream| {
        let event = |text: &str| {
            format!(
                "data: {}\n\n",
                json!({"choices": [{"index": 0, "delta": {"content": text}}]})
            )
        };
        let body = format!(
            "{}{}data: [DONE]\n\n",
            event(&format!("answer {number} ")),
            event("to ann@example.org")
        );
        if request.contains("\"stream\":true") {
            chunked(stream, "text/event-stream", body.as_bytes());
        } else {
            crate::provider::fault_server::say(
                stream,
                &response(
                    "200 OK",
                    "content-type: application/json\r\n",
                    &format!("{{\"number\":{number}}}"),
                ),
            );
        }
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let texts = [
        ("first", true),
        ("again", false),
        ("again", false),
        ("mail bob@example.org", false),
    ];
    let answers = texts
        .map(|(text, stream)| proxy.post_chat(asks(text, stream)).text())
        .to_vec();
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("recorded 4 calls");
    (proxy, answers)
}

/// Another proxy on the same project.
fn again(proxy: &mut ProxyProcess, args: &[&str]) -> ProxyProcess {
    let project = std::mem::replace(&mut proxy.project, Project::new());
    ProxyProcess::new(project, args)
}

#[test]
fn equal_requests_get_the_recorded_answers_in_their_order_and_then_the_last() {
    let (mut before, answers) = recorded();
    let stored = before.recorded_lines();
    let mut proxy = again(&mut before, &["--replay", "@last"]);
    let first = proxy.post_chat(asks("first", true));
    // As it is stored: with the placeholder.
    assert_eq!(first.text(), stored[0]["response"].as_str().unwrap());
    assert!(
        first.text().contains("⟦email:")
            && first.head.contains("text/event-stream")
            && first.head.contains("chunked"),
        "{first:?}"
    );
    for expected in [&answers[1], &answers[2], &answers[2]] {
        assert_eq!(&proxy.post_chat(asks("again", false)).text(), expected);
    }
    // A masked part of the request is part of its key all the same.
    assert_eq!(
        proxy.post_chat(asks("mail bob@example.org", false)).text(),
        answers[3]
    );
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("answered 5 calls of 1 model (m)");
}

/// Without the volatile date all three are equal; the one that is equal with its date comes first.
#[test]
fn an_equal_request_is_preferred_to_one_that_is_equal_without_what_is_volatile() {
    let (mut before, answers) = recorded();
    before.project.write_file(
        "ctxc.toml",
        "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"again|mail .*|later\" }]\n",
    );
    let mut proxy = again(&mut before, &["--replay", "@last"]);
    let of = |proxy: &ProxyProcess, text: &str| proxy.post_chat(asks(text, false)).text();
    assert_eq!(of(&proxy, "mail bob@example.org"), answers[3]);
    assert_eq!(
        [
            of(&proxy, "later"),
            of(&proxy, "again"),
            of(&proxy, "again")
        ],
        [1, 1, 2].map(|at| answers[at].clone())
    );
    proxy.stop().exits_with(0);
}

/// Libraries write one request in many ways.
#[test]
fn a_request_is_found_however_it_is_written() {
    let (mut before, answers) = recorded();
    let mut proxy = again(&mut before, &["--replay", "@last"]);
    let respelt = |text: &str| {
        format!(
            "{{\"stream\":false, \"messages\":[{{\"content\":\"Be brief.\",\"role\":\"system\"}},{{\"content\":\"{text}\",\"role\":\"user\"}}],\"model\":\"\\u006d\"}}"
        )
    };
    for (text, answer) in [
        ("ag\\u0061in", 1),
        ("again", 2),
        ("mail bob@example.org", 3),
        ("mail bob\\u0040example.org", 3),
    ] {
        assert_eq!(
            proxy.post_chat(respelt(text)).text(),
            answers[answer],
            "{text}"
        );
    }
    let miss = proxy.post_chat(respelt("mail to bob@example.org")).text();
    assert!(miss.contains("the nearest is @last#4: `/messages/1/content` was “mail ⟦email⟧”, now “mail to ⟦email⟧”"), "{miss}");
    proxy
        .stop()
        .exits_with(6)
        .output_lacks("bytes that were replaced");
}

#[test]
fn a_call_without_an_answer_fails_once_and_names_the_nearest() {
    let (mut before, _) = recorded();
    let mut proxy = again(&mut before, &["--replay", "@last"]);
    let miss = proxy.post_chat(asks("again and again", false));
    assert_eq!(miss.status, 422);
    assert!(miss.head.contains("x-should-retry: false"), "{}", miss.head);
    let message = serde_json::from_str::<Value>(&miss.text()).unwrap()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        message,
        "ctxc: no recorded call is equal to this one; the nearest is @last#2: `/messages/1/content` was “again”, now “again and again” (where it differs every time and says nothing, `[requests] volatile` in ctxc.toml leaves it out)"
    );
    let miss = proxy.post_chat(asks("mail eve@example.org", false));
    assert!(!miss.text().contains("eve@"), "{}", miss.text());
    let other = post(&proxy.url("ANTHROPIC_BASE_URL", "/v1/messages"), "", "{}");
    assert_eq!(
        serde_json::from_str::<Value>(&other.text()).unwrap()["type"],
        "error"
    );
    let form = post(&proxy.url("OPENAI_BASE_URL", "/files"), "", "no JSON");
    assert_eq!(form.status, 422);
    proxy
        .stop()
        .exits_with(6)
        .stderr_contains("not answered: call 1: no recorded call is equal to this one");
}

#[test]
fn a_conversation_is_known_by_its_last_message() {
    let (mut before, answers) = recorded();
    let mut proxy = again(
        &mut before,
        &["--replay", "@last", "--match", "conversation"],
    );
    let body = |text: &str| {
        json!({"model": "other", "temperature": 0, "messages": [{"role": "user", "content": text}]})
            .to_string()
    };
    assert_eq!(proxy.post_chat(body("again")).text(), answers[1]);
    assert_eq!(
        proxy.post_chat(body("mail bob@example.org")).text(),
        answers[3]
    );
    assert_eq!(proxy.post_chat(body("anything else")).status, 422);
    proxy.stop().exits_with(6);
}

#[test]
fn what_cannot_be_replayed_is_reported_before_anything_runs() {
    let (proxy, _) = recorded();
    let replay = |recording: &str| {
        ProgramRun::from(
            proxy_command(
                &proxy.project,
                &["replay", recording, "--", "ctxc-no-such-program"],
            )
            .output()
            .unwrap(),
        )
    };
    let known = proxy
        .project
        .files()
        .iter()
        .find_map(|file| {
            Some(
                file.strip_suffix(".jsonl")?
                    .rsplit('/')
                    .next()
                    .unwrap()
                    .to_owned(),
            )
        })
        .unwrap();
    replay("@none").exits_with(2).stderr_contains(&format!(
        "there is no recording @none of this project; there are @last, @{known}"
    ));
    replay("@last#9")
        .exits_with(2)
        .stderr_contains("@last has 4 calls, so there is no call 9");
    replay("none.jsonl")
        .exits_with(2)
        .stderr_contains("none.jsonl cannot be read: it does not exist");
    proxy.project.write_file(
        "newer.jsonl",
        proxy
            .recording_text()
            .replace("ctxc/request/1", "ctxc/request/2"),
    );
    replay("newer.jsonl")
        .exits_with(3)
        .stderr_contains("newer.jsonl: line 1: it says `ctxc/request/2`, which a newer ctxc wrote");
    replay("@last")
        .exits_with(2)
        .stderr_contains("the command `ctxc-no-such-program` was not found");
}

const SCRIPT: &str = "answers:\n- when: {has: [weather]}\n  reply: I look it up for you, one moment please.\n  tool_calls: [{name: get_weather, arguments: {city: Oslo, days: 2}}]\n  usage: {input: 9, output: 4}\n- when: {lacks: [nothing]}\n  reply: {ok: true}\n";

/// The addresses and bodies of the five dialects, asked for whole answers or for streams.
fn dialects(text: &str, stream: bool) -> [(&'static str, &'static str, String, Value); 5] {
    let method = if stream {
        "streamGenerateContent?alt=sse"
    } else {
        "generateContent"
    };
    let message = json!([{"role": "user", "content": text}]);
    [
        (
            "openai-chat",
            "OPENAI_BASE_URL",
            "/chat/completions".to_owned(),
            json!({"model": "m", "stream": stream, "messages": message, "stream_options": {"include_usage": true}}),
        ),
        (
            "openai-responses",
            "OPENAI_BASE_URL",
            "/responses".to_owned(),
            json!({"model": "m", "stream": stream, "input": text}),
        ),
        (
            "anthropic",
            "ANTHROPIC_BASE_URL",
            "/v1/messages".to_owned(),
            json!({"model": "m", "stream": stream, "max_tokens": 9, "messages": message}),
        ),
        (
            "gemini",
            "GOOGLE_GEMINI_BASE_URL",
            format!("/v1beta/models/m:{method}"),
            json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        ),
        (
            "ollama",
            "OLLAMA_HOST",
            "/api/chat".to_owned(),
            json!({"model": "m", "stream": stream, "messages": message}),
        ),
    ]
}

#[test]
fn a_script_answers_in_every_dialect_whole_and_as_a_stream() {
    let mut proxy = ProxyProcess::new(
        Project::new().with_file("script.yaml", SCRIPT),
        &["--script", "script.yaml"],
    );
    for stream in [false, true] {
        for (dialect, variable, path, body) in dialects("the weather in Oslo", stream) {
            let answer = post(&proxy.url(variable, &path), "", body.to_string());
            assert_eq!(answer.status, 200, "{}", answer.text());
            let read = read::answer(read::find_dialect(dialect).unwrap(), &answer.text())
                .unwrap_or_else(|error| panic!("{dialect}: {error}\n{}", answer.text()));
            assert_eq!(
                read.content(),
                "I look it up for you, one moment please.",
                "{dialect} {stream}"
            );
            let calls: Vec<_> = read
                .tool_calls()
                .map(|call| (call.name.as_str(), call.arguments.clone()))
                .collect();
            assert_eq!(
                calls,
                [("get_weather", json!({"city": "Oslo", "days": 2}))],
                "{dialect} {stream}"
            );
            assert_eq!(
                (read.stop, read.usage.input, read.usage.output),
                (Stop::Tool, Some(9), Some(4)),
                "{dialect} {stream}"
            );
            assert_eq!(answer.head.contains("chunked"), stream, "{dialect}");
        }
    }
    for (dialect, variable, path, body) in dialects("else", true) {
        let answer = post(&proxy.url(variable, &path), "", body.to_string());
        let read = read::answer(read::find_dialect(dialect).unwrap(), &answer.text()).unwrap();
        assert_eq!(
            (read.content().as_str(), read.stop),
            ("{\"ok\":true}", Stop::End),
            "{dialect}"
        );
    }
    let list = post(
        &proxy.url("GEMINI_API_BASE", "/v1beta/models/m:streamGenerateContent"),
        "",
        dialects("weather", true)[3].3.to_string(),
    );
    assert!(
        read::answer(read::find_dialect("gemini").unwrap(), &list.text()).is_ok(),
        "{}",
        list.text()
    );
    assert_eq!(proxy.post_chat(asks("nothing", false)).status, 422);
    proxy
        .stop()
        .exits_with(6)
        .stderr_contains("no answer of the script is for this request");
    assert!(
        proxy
            .recorded_lines()
            .iter()
            .all(|line| line["answered_by"] == "script")
    );
}

/// A library for embeddings cannot read a chat completion.
#[test]
fn a_script_answers_no_call_of_another_kind() {
    let mut proxy = ProxyProcess::new(
        Project::new().with_file("script.yaml", SCRIPT),
        &["--script", "script.yaml"],
    );
    let answer = post(
        &proxy.url("OPENAI_BASE_URL", "/embeddings"),
        "",
        r#"{"model":"e","input":["a"]}"#,
    );
    assert_eq!(answer.status, 422, "{}", answer.text());
    assert_eq!(proxy.post_chat(asks("the weather", false)).status, 200);
    proxy.stop().exits_with(6).stderr_contains("not answered: call 1: a script answers calls to a chat model, and this one went to /embeddings");
    let run =
        |args: &[&str]| ProgramRun::from(proxy_command(&proxy.project, args).output().unwrap());
    run(&["check", "@last"])
        .exits_with(0)
        .stdout_contains("checked 1 request")
        .stderr_contains(
            "1 recorded call to /embeddings skipped: not of a chat API that ctxc reads",
        );
    run(&["render", "@last#1"]).stderr_contains("@last#1 holds no call to a chat model");
}

#[test]
fn scripted_calls_of_one_conversation_have_an_id_each() {
    let mut proxy = ProxyProcess::new(
        Project::new().with_file("script.yaml", SCRIPT),
        &["--script", "script.yaml"],
    );
    let message =
        |text: &str| serde_json::from_str::<Value>(text).unwrap()["choices"][0]["message"].clone();
    let mut messages = vec![json!({"role": "user", "content": "the weather in Oslo"})];
    for expected in ["call_1", "call_2"] {
        let answer = message(
            &proxy
                .post_chat(json!({"model": "m", "messages": messages}).to_string())
                .text(),
        );
        assert_eq!(answer["tool_calls"][0]["id"], expected);
        messages.push(answer);
        messages.push(json!({"role": "tool", "tool_call_id": expected, "content": "sunny"}));
    }
    proxy.stop().exits_with(0);
}

#[test]
fn a_script_that_is_none_is_refused_with_its_line() {
    let refused = |text: &str| {
        let project = Project::new().with_file("script.yaml", text);
        ProgramRun::from(
            proxy_command(&project, &["proxy", "--script", "script.yaml"])
                .output()
                .unwrap(),
        )
        .exits_with(2)
    };
    refused("answers:\n- reply: a\n  whn: {}\n").stderr_contains(
        "script.yaml:3: `whn` is no key of a scripted answer (`answers`); did you mean `when`?",
    );
    refused("answers: []\n").stderr_contains("script.yaml:1: ");
    refused("{").stderr_contains("script.yaml:1: it is not valid YAML: ");
    refused("answers:\n- when: {has: ['(']}\n  reply: a\n")
        .stderr_contains("a pattern is not valid");
    // An agent would be asked to call the tool for ever.
    refused(
        "answers:\n- when: {has: [hi]}\n  reply: a\n- tool_calls: [{name: find}]\n- reply: b\n",
    )
    .stderr_contains("script.yaml: answer 3 is never given, since one in front of it has no `when`")
    .stderr_contains("`when: {lacks: [WORD]}`");
    refused("answers:\n- reply: a\n  when: {node: plan}\n  exit: 1\n")
        .stderr_contains("an answer is for `plan`");
    refused("answers:\n- when: {node: plan}\n  reply: a\n").stderr_contains(
        "an answer is for `plan`, and a program behind the proxy has no such nodes",
    );
}
