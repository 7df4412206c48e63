//! Responses in the forms of several vendors by a foreign program: LiteLLM's proxy in front of a
//! scripted upstream.

use super::fault_server::{Server, response, say};
use super::read::words;
use crate::cli::eval_record::asked;
use crate::cli::project::Project;
use ctxc::internals::kernel::provider::{Provider, ProviderError, WireRequest};
use ctxc::internals::provider::endpoint::{Endpoint, ProviderKey};
use ctxc::internals::provider::http::{CallLimits, HttpProvider};
use ctxc::internals::provider::read::find_dialect;
use pretty_assertions::assert_eq;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const WHOLE: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hello",
"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],
"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"prompt_tokens_details":{"cached_tokens":8}}}"#;

/// The same as a stream.
fn stream() -> String {
    let chunk = |delta: &str, end: &str, usage: &str| {
        let head = r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"up","choices":"#;
        format!("{head}[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{end}}}]{usage}}}\n\n")
    };
    let usage = r#","usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"prompt_tokens_details":{"cached_tokens":8}}"#;
    let call = r#"{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}"#;
    [
        chunk(r#"{"role":"assistant","content":"Hel"}"#, "null", ""),
        chunk(r#"{"content":"lo"}"#, "null", ""),
        chunk(call, "null", ""),
        chunk("{}", r#""tool_calls""#, usage),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

/// The proxy, which ends with the test.
struct Proxy(Child, u16);

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Proxy {
    fn before(upstream: &Server, folder: &std::path::Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let model = |name: &str, kind: &str| {
            format!(
                " - {{model_name: {name}, litellm_params: {{model: {kind}/up, api_base: \"{}/v1\", api_key: none}}}}\n",
                upstream.url()
            )
        };
        // One of these has the later protocol of OpenAI made for it, the other keeps to chat for
        // Anthropic's.
        let models = model("chat", "hosted_vllm") + &model("responses", "deepseek");
        let settings = "router_settings: {disable_cooldowns: true, num_retries: 0}\n";
        std::fs::write(
            folder.join("config.yaml"),
            format!("model_list:\n{models}{settings}"),
        )
        .unwrap();
        let child = Command::new("litellm")
            .args([
                "--config",
                "config.yaml",
                "--host",
                "127.0.0.1",
                "--telemetry",
                "False",
                "--port",
                &port.to_string(),
            ])
            .current_dir(folder)
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env(
                "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY",
                "true",
            )
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let proxy = Self(child, port);
        for _ in 0..240 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return proxy;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        panic!("the proxy does not listen");
    }

    fn ask(&self, name: &str, model: &str, body: &str) -> Result<String, ProviderError> {
        let version = if name.starts_with("openai") {
            "/v1"
        } else {
            ""
        };
        let base_url = format!("http://127.0.0.1:{}{version}", self.1);
        let key = ProviderKey::from_env("K", &|_| Some("any".to_owned())).unwrap();
        let endpoint = Endpoint {
            dialect: find_dialect(name).unwrap(),
            base_url,
            key: Some(key),
        };
        let answered = HttpProvider::new(endpoint, CallLimits::default()).answer(&WireRequest {
            dialect: name,
            model,
            body,
        });
        answered.map(|response| words(&response.answer))
    }
}

#[test]
#[ignore = "needs litellm: a proxy of another project, and what it brings"]
fn what_litellm_sends_is_read() {
    let upstream = Server::new(|_, request, connection| {
        let is_streamed =
            request.contains("\"stream\":true") || request.contains("\"stream\": true");
        let (kind, body) = if is_streamed {
            ("text/event-stream", stream())
        } else {
            ("application/json", WHOLE.to_owned())
        };
        say(
            connection,
            &response("200 OK", &format!("content-type: {kind}\r\n"), &body),
        );
    });
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::before(&upstream, folder.path());
    let messages = r#""messages":[{"role":"user","content":"hi"}]"#;
    let says = |model: &str| {
        format!("text `Hello`; call call_1 f {{\"a\":1}}; Tool; in 20 (8) out 5 (-); {model}")
    };
    for (name, model, body) in [
        (
            "openai-chat",
            "chat",
            format!(r#"{{"model":"chat",{messages}}}"#),
        ),
        (
            "openai-chat",
            "chat",
            format!(
                r#"{{"model":"chat",{messages},"stream":true,"stream_options":{{"include_usage":true}}}}"#
            ),
        ),
        (
            "anthropic",
            "chat",
            format!(r#"{{"model":"chat","max_tokens":50,{messages}}}"#),
        ),
        (
            "anthropic",
            "chat",
            format!(r#"{{"model":"chat","max_tokens":50,{messages},"stream":true}}"#),
        ),
        (
            "openai-responses",
            "responses",
            r#"{"model":"responses","input":"hi"}"#.to_owned(),
        ),
    ] {
        assert_eq!(
            proxy.ask(name, model, &body),
            Ok(says(model)),
            "{name} {body}"
        );
    }
    let streamed = proxy.ask(
        "openai-responses",
        "responses",
        r#"{"model":"responses","input":"hi","stream":true}"#,
    );
    assert_eq!(streamed, Ok(says("up")));
    // It keeps neither the count of the cache nor the ids of the calls here.
    let gemini = proxy.ask(
        "gemini",
        "chat",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
    );
    assert_eq!(
        gemini,
        Ok("text `Hello`; call call_1 f {\"a\":1}; Tool; in 20 (-) out 5 (-); -".to_owned())
    );
}

/// The answer of a model that has the result of its tool.
const ENDED: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"It is billing."},"finish_reason":"stop"}],
"usage":{"prompt_tokens":30,"completion_tokens":4,"total_tokens":34}}"#;

#[test]
#[ignore = "needs litellm: a proxy of another project, and what it brings"]
fn scenarios_are_recorded_through_litellm_and_replayed_without_it() {
    let upstream = Server::new(|_, request, connection| {
        let body = if request.contains(r#""role":"tool""#) || request.contains(r#""role": "tool""#)
        {
            ENDED
        } else {
            WHOLE
        };
        say(
            connection,
            &response("200 OK", "content-type: application/json\r\n", body),
        );
    });
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::before(&upstream, folder.path());
    let task = "<task type=\"atomic\" name=\"sort\"><description>Sort it.</description></task>\n";
    let model = |name: &str, base: &str| {
        format!(
            "[roles.{name}]\ntemplate = \"sort\"\nmodel = \"{name}\"\ntools = [\"f\"]\n[models.{name}]\nid = \"chat\"\nprovider = \"{name}\"\ntier = \"economy\"\ncontext_window = 8000\noutput_reserve = 100\n\
             [providers.{name}]\nkind = \"{name}\"\nbase_url = \"http://127.0.0.1:{}{base}\"\napi_key_env = \"HOUSE_KEY\"\n",
            proxy.1
        )
    };
    let tool = "[tools.f]\ndescription = \"Looks up\"\nparameters = { type = \"object\", properties = { a = { type = \"integer\" } } }\n";
    let case = |name: &str| {
        format!(
            "  - {{id: {name}, role: {name}, input: {{objective: sort}}, expected: [{{contains: [billing]}}, {{calls_tool: f}}]}}\n"
        )
    };
    let project = Project::new()
        .with_file("templates/sort.xml", task)
        .with_file(
            "ctxc.toml",
            model("openai", "/v1") + &model("anthropic", "") + tool,
        )
        .with_file(
            "scenarios/many.yaml",
            format!(
                "id: many\nfixtures: {{tools: {{f: found}}}}\ncases:\n{}{}",
                case("openai"),
                case("anthropic")
            ),
        );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let card = asked(&project, &["eval", "--record", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&card["summary"]["passed"], &card["summary"]["calls"]),
        (&2.into(), &12.into()),
        "{card:#}"
    );
    assert_eq!(
        card["cases"][0]["trials"][0]["tokens"],
        serde_json::json!({"input": 50, "cached": 8, "output": 9, "reasoning": null})
    );
    drop(proxy);
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("2 passed");
}
