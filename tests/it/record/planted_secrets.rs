//! Made-up secrets of many kinds in every place of a call: no part of one is in any stored file.

use super::client::{ProxyProcess, post};
use super::known_forms::{alnum, hex, made_up, name};
use super::passing::gzip;
use crate::provider::fault_server::{Server, say};
use ctxc::internals::base::secrets::known_forms::KEY_FORMS;
use ctxc::internals::project::config::RecordedContent;
use ctxc::internals::record::mask::{CallMask, StreamEnding};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Names of secrets, as variables have them.
const NAMES: &str = "DB_PASSWORD PGPASSWORD MYSQL_PWD SMTP_PASS AWS_SECRET_ACCESS_KEY AZURE_OPENAI_API_KEY AZURE_CLIENT_SECRET SHOP_TOKEN \
    GITHUB_PAT SENTRY_DSN NPM_AUTH APP_KEY SECRET_KEY_BASE JWT_SECRET SESSION_SECRET ENCRYPTION_KEY REDIS_PASSWORD RABBITMQ_PASSWORD \
    COHERE_API_KEY MISTRAL_API_KEY DATADOG_API_KEY CLOUDFLARE_API_KEY ALGOLIA_API_KEY STRIPE_KEY TWILIO_AUTH_TOKEN HEROKU_API_KEY \
    SNYK_TOKEN VAULT_TOKEN OKTA_API_TOKEN ZENDESK_TOKEN";

/// A made-up secret: its kind, its name and its value; the head before the value may be seen.
pub(crate) struct Planted {
    kind: String,
    name: String,
    head: String,
    value: String,
}

impl Planted {
    /// The part of the value that a text contains.
    pub(crate) fn part_in<'t>(&'t self, text: &str) -> Option<&'t str> {
        let value = &self.value;
        let mut parts = value
            .as_bytes()
            .windows(12.min(value.len()))
            .filter_map(|part| std::str::from_utf8(part).ok());
        parts.find(|part| text.contains(part) || text.contains(&percent(part)))
    }
}

/// An environment file of all of them.
pub(crate) fn environment(all: &[Planted]) -> String {
    all.iter()
        .flat_map(|one| [&one.name, "=", &one.head, &one.value, "\n"])
        .collect()
}

/// The first secrets that a text contains, with the text before them.
pub(crate) fn found_in(all: &[Planted], text: &str) -> Vec<String> {
    let found = |one: &Planted| {
        let part = one.part_in(text)?;
        let head = text.split(part).next().unwrap_or("");
        Some(format!(
            "{}: …{}{part}",
            one.kind,
            &head[head.ceil_char_boundary(head.len().saturating_sub(60))..]
        ))
    };
    all.iter().filter_map(found).take(3).collect()
}

pub(crate) fn planted() -> Vec<Planted> {
    let known = KEY_FORMS.iter().map(|form| {
        let is_address = form.head.contains('/') || form.head.ends_with('=');
        let (head, value) = if is_address {
            (form.head, made_up(form.head))
        } else {
            ("", [form.head, &made_up(form.head)].concat())
        };
        Planted {
            kind: format!("{} {}", form.service, form.head),
            name: "NOTE".to_owned(),
            head: head.to_owned(),
            value,
        }
    });
    let named = NAMES.split_whitespace().flat_map(|variable| {
        let values = [
            alnum(24),
            hex(32),
            name(30),
            format!("{}+/{}==", alnum(20), alnum(18)),
            hex(40),
            alnum(43),
            format!("p4{}!x9", alnum(12)),
        ];
        values.into_iter().map(|value| Planted {
            kind: variable.to_owned(),
            name: variable.to_owned(),
            head: String::new(),
            value,
        })
    });
    known.chain(named).collect()
}

/// A body of a request with a result of a tool.
fn result_of_tool(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "tool", "tool_call_id": "c1", "content": text}]})
}

/// A stream that brings a text one character a piece, as words or as the arguments of a call.
fn pieces(text: &str, delta: fn(&str) -> Value) -> String {
    let event = |piece: char| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta(&piece.to_string())}]})
        )
    };
    text.chars()
        .map(event)
        .chain(["data: [DONE]\n\n".to_owned()])
        .collect()
}

fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

/// The places that each secret is planted in.
const PLACES: usize = 24;

/// The stored text of a secret in each place.
fn stored_texts(mask: &CallMask, one: &Planted) -> [(&'static str, String); PLACES] {
    let Planted {
        name, head, value, ..
    } = one;
    let text = [head.as_str(), value].concat();
    let line = format!("A=1\n{name}={text}\nB=2\n");
    let key = name.to_ascii_lowercase();
    let request = |body: Value| mask.mask_body(&body.to_string(), "/request", &mut Vec::new());
    let stream = |text: &str| {
        mask.mask_stream(text, &[text.len()], StreamEnding::Whole, &mut Vec::new())
            .concat()
    };
    let inner = json!({"content": json!({&key: &text}).to_string()}).to_string();
    let option = format!("--{}", key.replace('_', "-"));
    [
        (
            "an environment file read by a tool",
            request(result_of_tool(&line)),
        ),
        (
            "JSON in JSON in arguments",
            request(json!({"tool_calls": [{"function": {"name": "f", "arguments": inner}}]})),
        ),
        (
            "words in pieces of one character",
            stream(&pieces(&line, |piece| json!({"content": piece}))),
        ),
        (
            "arguments in pieces of one character",
            stream(&pieces(
                &json!({&key: &text}).to_string(),
                |piece| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
            )),
        ),
        (
            "an error of a vendor",
            mask.mask_body(
                &json!({"error": {"message": format!("Incorrect: {name}={text}.")}}).to_string(),
                "/response",
                &mut Vec::new(),
            ),
        ),
        (
            "an error in words",
            mask.mask_text(&format!("the program ended with: {name}={text}")),
        ),
        (
            "words of a command",
            mask.mask_words(&["tool".to_owned(), option, text.clone()])
                .join(" "),
        ),
        (
            "an address",
            mask.mask_text(&format!("GET /x?{key}={}&n=1", percent(&text))),
        ),
        (
            "a name and a value of YAML",
            mask.mask_text(&format!("env:\n- name: {name}\n  value: {text}\n")),
        ),
        (
            "a name and a value of JSON",
            request(json!({"env": [{"value": &text, "name": name}]})),
        ),
        (
            "attributes of XML",
            mask.mask_text(&format!("<add key=\"{name}\" value=\"{text}\"/>")),
        ),
        (
            "the line below",
            mask.mask_text(&format!("{key}:\n  {text}\n")),
        ),
        (
            "a table",
            mask.mask_text(&format!(
                "| name | value |\n|---|---|\n| {name} | {text} |\n"
            )),
        ),
        (
            "three quotes",
            mask.mask_text(&format!("{name}='''{text}'''")),
        ),
        (
            "a default of a schema",
            request(json!({"properties": {&key: {"type": "string", "default": &text}}})),
        ),
        (
            "a short option",
            mask.mask_text(&format!(
                "sshpass -p '{text}' ssh u@h; mysql -uroot -p'{text}' db"
            )),
        ),
        (
            "a login in a file",
            mask.mask_text(&format!("machine h login me password {text}\n")),
        ),
        (
            "a form of curl",
            mask.mask_text(&format!("curl -d \"{key}={text}&n=1\" https://h")),
        ),
        (
            "a word behind an option",
            mask.mask_text(&format!("helm install x --set a.{key}={text} --wait")),
        ),
        (
            "settings of shells",
            mask.mask_text(&format!(
                "setenv {name} {text}\nset -gx {name} {text}\nsetx {name} \"{text}\"\n"
            )),
        ),
        (
            "the default of a variable",
            mask.mask_text(&format!("X: ${{{name}:-{text}}}\n")),
        ),
        (
            "a variable of make",
            mask.mask_text(&format!("{name} ?= {text}\n")),
        ),
        (
            "a line with its number",
            mask.mask_text(&format!(
                "    11→A=1\n    12→{name}={text}\n.env:12:{name}={text}\n"
            )),
        ),
        (
            "a page that is no JSON",
            stream(&format!("<html>{name}={text}\n</html>")),
        ),
    ]
}

#[test]
fn no_part_of_a_planted_secret_is_in_anything_that_is_kept() {
    let mask = CallMask::new([7; 32], [], RecordedContent::Redacted);
    let all = planted();
    let kinds: BTreeSet<&str> = all.iter().map(|one| one.kind.as_str()).collect();
    assert!(
        all.len() >= 400 && kinds.len() >= 150,
        "{} values of {} kinds",
        all.len(),
        kinds.len()
    );
    let mut seen = Vec::new();
    for one in &all {
        for (place, text) in stored_texts(&mask, one) {
            // The pieces of a stream are joined; escapes are read.
            let joined: String = text
                .split("data: ")
                .filter_map(|event| serde_json::from_str::<Value>(event.trim()).ok())
                .map(|event| strings(&event))
                .collect();
            let found = one.part_in(&text).or_else(|| one.part_in(&joined));
            seen.extend(found.map(|part| {
                format!(
                    "{} in {place}: `{part}` in {}",
                    one.kind,
                    text.get(..300).unwrap_or(&text)
                )
            }));
        }
    }
    assert!(
        seen.is_empty(),
        "{} of {}:\n{}",
        seen.len(),
        all.len() * PLACES,
        seen.join("\n")
    );
}

#[test]
fn a_packed_answer_is_kept_without_any_of_them() {
    let all = planted();
    let message = json!({"role": "assistant", "content": environment(&all)});
    let packed = gzip(
        json!({"choices": [{"message": message, "finish_reason": "stop"}]})
            .to_string()
            .as_bytes(),
    );
    let server = Server::new(move |_, _, stream| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n";
        say(
            stream,
            format!("{head}content-length: {}\r\n\r\n", packed.len()).as_bytes(),
        );
        say(stream, &packed);
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let body = json!({"model": "m", "messages": [{"role": "tool", "tool_call_id": "a", "content": environment(&all)}]});
    post(
        &proxy.url("OPENAI_BASE_URL", "/chat/completions"),
        "Accept-Encoding: gzip\r\n",
        body.to_string(),
    );
    let run = proxy.stop().exits_with(0);
    for text in [proxy.recording_text(), run.stdout, run.stderr] {
        assert_eq!(found_in(&all, &text), [""; 0]);
    }
    assert!(
        proxy.recorded_lines()[0]["redacted"]
            .as_array()
            .is_some_and(|rows| rows.len() == 2),
        "{:?}",
        proxy.recorded_lines()[0]["redacted"]
    );
}

fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(strings).collect(),
        Value::Object(fields) => fields.values().map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
