//! Traffic through the proxy: the same bytes as without it, and the requests it refuses.

use super::client::{HttpAnswer, ProxyProcess, post, send_request};
use crate::cli::project::Project;
use crate::provider::fault_server::{Server, hang, response, say};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Each odd number of bytes of a text as a chunk, with a moment between.
pub(super) fn chunked(stream: &mut std::net::TcpStream, kind: &str, bytes: &[u8]) {
    say(
        stream,
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\nrequest-id: req_7\r\n\r\n").as_bytes(),
    );
    for part in bytes.chunks(7) {
        say(
            stream,
            &[format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat(),
        );
        stream.flush().unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    say(stream, b"0\r\n\r\n");
}

const STREAM: &str = "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\u{fc}\u{df} \"},\"finish_reason\":null}]}\n\n\
    : keep-alive\n\n\
    data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gott\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn a_stream_passes_byte_for_byte_and_is_kept_with_its_times() {
    let server =
        Server::new(|_, _, stream| chunked(stream, "text/event-stream", STREAM.as_bytes()));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let body = r#"{ "model": "gpt-x", "stream": true, "messages": [{"role": "user", "content": "hi"}], "temperature": 1.0 }"#;
    let answer = proxy.post_chat(body);
    assert_eq!(
        (answer.status, answer.text(), answer.is_cut),
        (200, STREAM.to_owned(), false)
    );
    assert!(answer.head.contains("request-id: req_7"), "{}", answer.head);
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("recorded 1 call of 1 model (gpt-x) as @last");
    let sent = server.requests();
    assert!(
        sent[0].starts_with("POST /chat/completions HTTP/1.1") && sent[0].ends_with(body),
        "{sent:?}"
    );
    assert!(
        sent[0].contains("authorization: Bearer k3y-of-the-test"),
        "{sent:?}"
    );
    let line = &proxy.recorded_lines()[0];
    assert_eq!(
        (
            &line["response"],
            &line["status"],
            &line["stream"],
            &line["model"]
        ),
        (&STREAM.into(), &200.into(), &true.into(), &"gpt-x".into())
    );
    assert_eq!(
        (
            &line["headers"]["request-id"],
            &line["dialect"],
            &line["endpoint"]
        ),
        (
            &"req_7".into(),
            &"openai-chat".into(),
            &"/chat/completions".into()
        )
    );
    let chunks = line["chunks"].as_array().unwrap();
    let text: String = chunks
        .iter()
        .map(|chunk| chunk[1].as_str().unwrap())
        .collect();
    assert_eq!(text, STREAM);
    assert!(
        chunks.len() > 5 && chunks.last().unwrap()[0].as_u64() > chunks[0][0].as_u64(),
        "{chunks:?}"
    );
    // Only white space between values is not stored.
    assert!(
        proxy.recording_text().contains(
            r#""request":{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"hi"}],"temperature":1.0}"#
        )
    );
}

#[test]
fn a_packed_answer_passes_packed_and_is_kept_as_text() {
    let text = r#"{"choices":[{"message":{"role":"assistant","content":"Hello, hello, hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}"#;
    let packed = gzip(text.as_bytes());
    let bytes = packed.clone();
    let server = Server::new(move |_, _, stream| {
        say(
            stream,
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
                bytes.len()
            )
            .as_bytes(),
        );
        say(stream, &bytes);
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("OPENAI_BASE_URL", "/chat/completions");
    let answer = post(
        &url,
        "Accept-Encoding: gzip, br, zstd\r\n",
        r#"{"model":"m","messages":[]}"#,
    );
    assert_eq!(answer.body, packed);
    proxy.stop().exits_with(0);
    // Encodings that the recording could not read are not requested.
    assert!(
        server.requests()[0].contains("accept-encoding: gzip\r\n"),
        "{:?}",
        server.requests()
    );
    assert!(
        proxy
            .recording_text()
            .contains(&format!("\"response\":{text}")),
        "{}",
        proxy.recording_text()
    );
    assert_eq!(proxy.recorded_lines()[0]["usage"]["output"], 4);
}

/// A text in the form of gzip without making it smaller.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    let length = u16::try_from(bytes.len()).unwrap();
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    [
        &head[..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        bytes,
        &(!crc).to_le_bytes(),
        &u32::from(length).to_le_bytes(),
    ]
    .concat()
}

#[test]
fn every_vendor_has_an_address_and_every_call_goes_to_its_own() {
    let server = Server::new(|_, request, stream| {
        let path = request.split(' ').nth(1).unwrap().to_owned();
        say(
            stream,
            &response(
                "200 OK",
                "content-type: application/json\r\n",
                &format!("{{\"path\":\"{path}\"}}"),
            ),
        );
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let cases = [
        ("OPENAI_BASE_URL", "/responses", "/responses"),
        ("OPENAI_API_BASE", "/embeddings", "/embeddings"),
        (
            "ANTHROPIC_BASE_URL",
            "/v1/messages?beta=true",
            "/v1/messages?beta=true",
        ),
        ("ANTHROPIC_API_URL", "/v1/messages", "/v1/messages"),
        ("ANTHROPIC_API_BASE", "/messages", "/v1/messages"),
        (
            "GOOGLE_GEMINI_BASE_URL",
            "/v1beta/models/g:generateContent?key=AIzaSecret-of-the-test",
            "/v1beta/models/g:generateContent?key=AIzaSecret-of-the-test",
        ),
        ("OLLAMA_HOST", "/api/chat", "/api/chat"),
    ];
    for (variable, path, expected) in cases {
        let answer = post(
            &proxy.url(variable, path),
            "x-ctxc-agent: clerk\r\nx-ctxc-caller: agent.py:40\r\n",
            r#"{"messages":[]}"#,
        );
        assert_eq!(
            answer.text(),
            format!("{{\"path\":\"{expected}\"}}"),
            "{variable}"
        );
    }
    let models = send_request(
        "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        &proxy.url("OPENAI_BASE_URL", "/models"),
        "",
    );
    assert_eq!(models.text(), "{\"path\":\"/models\"}");
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("recorded 7 calls");
    assert!(
        server
            .requests()
            .iter()
            .all(|request| !request.contains("x-ctxc-"))
    );
    let lines = proxy.recorded_lines();
    let dialects: Vec<&str> = lines
        .iter()
        .map(|line| line["dialect"].as_str().unwrap())
        .collect();
    assert_eq!(
        dialects,
        [
            "openai-responses",
            "other",
            "anthropic",
            "anthropic",
            "anthropic",
            "gemini",
            "ollama"
        ]
    );
    assert_eq!(
        (&lines[5]["endpoint"], &lines[5]["model"]),
        (&"/v1beta/models/g:generateContent".into(), &"g".into())
    );
    assert_eq!(
        (&lines[0]["agent"], &lines[0]["caller"]),
        (&"clerk".into(), &"agent.py:40".into())
    );
    assert!(!proxy.recording_text().contains("AIzaSecret"));
}

#[test]
fn who_does_not_know_the_path_of_the_run_is_refused() {
    let server = Server::with_response(response("200 OK", "", "{}"));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("ANTHROPIC_BASE_URL", "");
    let (host, _) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    assert!(host.starts_with("127.0.0.1:"));
    for (path, status) in [
        ("v1/messages", 403),
        ("", 403),
        ("x/anthropic/v1/messages", 403),
    ] {
        assert_eq!(
            post(&format!("http://{host}/{path}"), "", "{}").status,
            status
        );
    }
    let token = url.rsplit('/').nth(1).unwrap();
    assert_eq!(
        post(
            &format!("http://{host}/{token}/elsewhere/v1/messages"),
            "",
            "{}"
        )
        .status,
        404
    );
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("recorded 0 calls")
        .stderr_contains("4 requests came without the path that the variables hold");
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn sixty_four_calls_at_once_are_not_mixed_up() {
    let server = Server::new(|_, request, stream| {
        let number = request
            .rsplit_once("number ")
            .unwrap()
            .1
            .split('"')
            .next()
            .unwrap()
            .to_owned();
        let event = |text: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
        };
        chunked(
            stream,
            "text/event-stream",
            format!("{}{}data: [DONE]\n\n", event("answer "), event(&number)).as_bytes(),
        );
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("OPENAI_BASE_URL", "/chat/completions");
    std::thread::scope(|scope| {
        for number in 0..64 {
            let url = &url;
            scope.spawn(move || {
                let answer = post(
                    url,
                    "",
                    format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"number {number}"}}]}}"#),
                );
                assert!(answer.text().contains(&format!("\"{number}\"")), "{}", answer.text());
            });
        }
    });
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("recorded 64 calls");
    let lines = proxy.recorded_lines();
    assert_eq!(lines.len(), 64);
    for line in &lines {
        let number = line["request"]["messages"][0]["content"]
            .as_str()
            .unwrap()
            .strip_prefix("number ")
            .unwrap();
        assert!(
            line["response"]
                .as_str()
                .unwrap()
                .contains(&format!("\"{number}\"")),
            "{line}"
        );
    }
    let ids: std::collections::BTreeSet<&str> = lines
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 64);
}

#[test]
fn what_fails_on_the_way_is_seen_and_kept() {
    let chat =
        |proxy: &ProxyProcess| proxy.post_chat(r#"{"model":"m","stream":true,"messages":[]}"#);
    let run = |upstream: &str, args: &[&str], said: &str| {
        let mut proxy =
            ProxyProcess::new(Project::new(), &[&["--upstream", upstream], args].concat());
        let answer: HttpAnswer = chat(&proxy);
        proxy
            .stop()
            .exits_with(0)
            .stderr_contains("recorded 1 call")
            .stderr_contains(said);
        (answer, proxy.recorded_lines().remove(0))
    };
    // Gone in the middle of a stream.
    let cut = Server::new(|_, _, stream| {
        say(stream, b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n");
    });
    let (answer, line) = run(&cut.url(), &[], "failed: call 1: the answer was cut");
    assert_eq!(
        (answer.status, answer.is_cut, answer.text()),
        (200, true, "data: ".to_owned())
    );
    assert_eq!(
        (&line["truncated"], &line["response"]),
        (&true.into(), &"data: ".into())
    );
    assert!(
        line["error"]
            .as_str()
            .unwrap()
            .contains("the answer was cut"),
        "{line}"
    );
    // Silent.
    let silent = Server::new(|_, _, stream| hang(stream));
    let (answer, line) = run(
        &silent.url(),
        &["--timeout", "1"],
        "failed: call 1: no answer from",
    );
    assert_eq!(answer.status, 504);
    assert!(
        line["error"].as_str().unwrap().contains("within 1 s"),
        "{line}"
    );
    assert_eq!(line["response"], serde_json::Value::Null);
    // Not there.
    let (answer, line) = run(
        "http://127.0.0.1:9",
        &[],
        "failed: call 1: http://127.0.0.1:9 could not be reached: connection refused",
    );
    assert_eq!(answer.status, 502);
    assert!(
        answer.text().contains("could not be reached")
            && line["error"]
                .as_str()
                .unwrap()
                .contains("could not be reached"),
        "{line}"
    );
    // A refusal of a vendor is passed on as it is.
    let refusing = Server::with_response(response(
        "429 Too Many Requests",
        "retry-after: 3\r\ncontent-type: application/json\r\n",
        "{\"error\":{\"message\":\"slow down\"}}",
    ));
    let (answer, line) = run(
        &refusing.url(),
        &[],
        "failed: call 1: the provider answered with status 429",
    );
    assert_eq!(
        (answer.status, line["status"].as_u64(), answer.text()),
        (
            429,
            Some(429),
            "{\"error\":{\"message\":\"slow down\"}}".to_owned()
        )
    );
    assert_eq!(
        (&line["headers"]["retry-after"], &line["truncated"]),
        (&"3".into(), &false.into())
    );
}

#[test]
fn old_and_odd_requests_are_served() {
    let server = Server::new(|_, request, stream| {
        let body = request.split_once("\r\n\r\n").unwrap().1.len();
        say(
            stream,
            &response(
                "200 OK",
                "content-type: application/json\r\n",
                &format!("{{\"bytes\":{body}}}"),
            ),
        );
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("OPENAI_BASE_URL", "/chat/completions");
    let old = send_request(
        "POST {} HTTP/1.0\r\nContent-Length: 14\r\n\r\n",
        &url,
        "{\"model\":\"old\"",
    );
    assert_eq!(old.text(), "{\"bytes\":14}");
    let old = send_request(
        "POST {} HTTP/1.0\r\nContent-Length: 15\r\n\r\n",
        &url,
        "{\"model\":\"old\"}",
    );
    assert_eq!(old.text(), "{\"bytes\":15}");
    let form = post(
        &proxy.url("OPENAI_BASE_URL", "/files"),
        "Content-Type: multipart/form-data\r\n",
        "--x\r\nno JSON",
    );
    assert_eq!(form.text(), "{\"bytes\":12}");
    // Larger than any buffer.
    let large = format!(
        r#"{{"model":"large","messages":[{{"role":"user","content":"{}"}}]}}"#,
        "a".repeat(3 << 20)
    );
    assert_eq!(
        proxy.post_chat(&large).text(),
        format!("{{\"bytes\":{}}}", large.len())
    );
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("recorded 2 calls of 2 models");
    assert!(proxy.recording_text().len() > 3 << 20);
}

#[test]
fn what_is_not_kept_is_reported_with_its_reason_and_without_its_words() {
    let server = Server::with_response(response(
        "200 OK",
        "content-type: application/json\r\n",
        "{}",
    ));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = |path: &str| proxy.url("OPENAI_BASE_URL", path);
    post(
        &url("/audio/transcriptions?key=k3y-of-the-test"),
        "Content-Type: multipart/form-data; boundary=x\r\n",
        "--x planted-words",
    );
    post(
        &url("/chat/completions"),
        "Content-Encoding: gzip\r\n",
        gzip(br#"{"model":"planted-words"}"#),
    );
    // A program that is killed, or gives up, in the middle of its request.
    for _ in 0..2 {
        let (host, path) = url("/chat/completions")
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let mut stream = std::net::TcpStream::connect(&host).unwrap();
        write!(
            stream,
            "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n{{\"model\":"
        )
        .unwrap();
        drop(stream);
    }
    assert_eq!(
        proxy.post_chat(r#"{"model":"m","messages":[]}"#).status,
        200
    );
    let run = proxy.stop().exits_with(0).stderr_contains(
        "not kept: /audio/transcriptions: its body is not valid JSON (multipart/form-data)",
    );
    let run = run.stderr_contains("not kept: /chat/completions: its body is not valid JSON (gzip)");
    let run = run
        .stderr_contains("not kept: the program broke off before it had sent the whole body")
        .output_lacks("planted")
        .output_lacks("k3y");
    drop(
        run.stderr_contains("recorded 1 call of 1 model (m)")
            .stderr_contains("a call, 4 requests not kept"),
    );
    assert!(!proxy.recording_text().contains("planted"));
}

#[test]
fn white_space_and_escapes_of_a_request_are_sent_as_they_are_and_kept_on_one_line() {
    let server = Server::with_response(response(
        "200 OK",
        "content-type: application/json\r\n",
        "{\"ok\":true}",
    ));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let body = "{ \"model\" : \"m\",\n \"messages\": [ { \"role\":\"user\", \"content\": \"\\u0061nn@example.com \\n \\\"request\\\":null\" } , 1.0 ] }";
    proxy.post_chat(body);
    proxy.post_chat(ctxc::internals::record::json_text::compact_json(body));
    proxy.stop().exits_with(0);
    assert!(
        server.requests()[0].ends_with(body),
        "{:?}",
        server.requests()
    );
    let lines = proxy.recorded_lines();
    let content = lines[0]["request"]["messages"][0]["content"]
        .as_str()
        .unwrap();
    assert!(
        content.starts_with("⟦email:") && content.ends_with(" \n \"request\":null"),
        "{content}"
    );
    let text = proxy.recording_text();
    assert!(
        text.contains(r#""request":{"model":"m","messages":[{"role":"user","content":"⟦email:"#),
        "{text}"
    );
    assert!(
        text.contains(r#""},1.0]},"response":{"ok":true}"#),
        "{text}"
    );
    assert_eq!(
        (&lines[0]["request"], &lines[0]["key"]),
        (&lines[1]["request"], &lines[1]["key"])
    );
}

#[test]
fn a_request_that_is_too_large_to_be_checked_is_answered_and_noted() {
    let project = Project::new().with_file(
        "script.yaml",
        "answers:\n  - {when: {has: [the end]}, reply: said}\n",
    );
    let mut proxy = ProxyProcess::new(project, &["--script", "script.yaml"]);
    let tools = json!([{"type": "function", "function": {"name": "no name"}}]);
    let image = |bytes: usize| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "a".repeat(bytes))}});
    let body = json!({"model": "gpt-4.1", "tools": tools, "messages": [{"role": "user", "content": [image(33 << 20), {"type": "text", "text": "the end"}]}]});
    assert!(proxy.post_chat(body.to_string()).text().contains("said"));
    let small = json!({"model": "gpt-4.1", "tools": tools, "messages": [{"role": "user", "content": "the end"}]});
    assert_eq!(proxy.post_chat(small.to_string()).status, 400);
    proxy
        .stop()
        .stderr_contains("not checked: call 1: it has 346")
        .stderr_contains("the rules look at requests of up to 33554432");
}

#[test]
#[ignore = "needs proxy_hard: bodies of 100 MB take a minute"]
fn proxy_hard_a_body_of_100_mb_passes_and_one_of_129_mb_is_refused() {
    let server = Server::with_response(response(
        "200 OK",
        "content-type: application/json\r\n",
        "{\"ok\":true}",
    ));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let body = |bytes: usize| {
        format!(
            r#"{{"model":"large","messages":[{{"role":"user","content":"{}"}}]}}"#,
            "a ".repeat(bytes / 2)
        )
    };
    assert_eq!(proxy.post_chat(body(100 << 20)).text(), "{\"ok\":true}");
    assert_eq!(proxy.post_chat(body(129 << 20)).status, 413);
    assert_eq!(proxy.post_chat(body(10)).status, 200);
    proxy
        .stop()
        .exits_with(3)
        .stderr_contains("recorded 2 calls of 1 model")
        .stderr_contains("has more than 134217728 bytes");
    assert!(proxy.recording_text().len() > 100 << 20);
}

#[test]
fn a_web_socket_is_refused_with_the_status_after_which_clients_use_http() {
    let server = Server::new(|_, _, stream| say(stream, &response("200 OK", "", "{}")));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("OPENAI_BASE_URL", "/realtime?model=gpt-realtime");
    let head = "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let answer = send_request(head, &url, "");
    assert_eq!(answer.status, 426, "{}", answer.head);
    assert!(
        answer.head.contains("x-should-retry: false")
            && answer.text().contains("use the same API over HTTP"),
        "{answer:?}"
    );
    proxy
        .stop()
        .stderr_contains("/realtime: a WebSocket, which cannot be recorded");
    assert!(server.requests().is_empty());
}
