//! Providers over HTTP: the kinds of failure of a server are distinguished, and no key goes to
//! another address.

use super::fault_server::{Server, hang, response, say};
use super::read::words;
use super::samples::SAMPLES;
use ctxc::internals::kernel::provider::{Provider, ProviderError as E, Response, WireRequest};
use ctxc::internals::provider::endpoint::{Endpoint, ProviderKey};
use ctxc::internals::provider::http::{CallLimits, HttpProvider};
use ctxc::internals::provider::read::find_dialect;
use pretty_assertions::assert_eq;
use std::net::TcpListener;
use std::time::Duration;

const KEY: &str = "sk-very-secret";
const GOOD: &str = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;

fn provider(name: &str, base_url: String, limits: CallLimits) -> HttpProvider {
    let key = ProviderKey::from_env("K", &|_| Some(format!("{KEY}\n"))).unwrap();
    HttpProvider::new(
        Endpoint {
            dialect: find_dialect(name).unwrap(),
            base_url,
            key: Some(key),
        },
        limits,
    )
}

fn ask_within(server: &Server, limits: CallLimits) -> Result<Response, E> {
    let request = WireRequest {
        dialect: "openai-chat",
        model: "m",
        body: "{\"model\":\"m\"}",
    };
    provider("openai-chat", server.url(), limits).answer(&request)
}

fn ask(server: &Server) -> Result<Response, E> {
    ask_within(
        server,
        CallLimits {
            idle: Duration::from_secs(20),
            whole: Duration::from_secs(30),
            ..CallLimits::default()
        },
    )
}

fn good() -> Vec<u8> {
    response("200 OK", "", GOOD)
}

#[test]
fn each_vendor_is_asked_at_its_address_with_its_key_in_its_header() {
    for (name, path, header) in [
        (
            "openai-chat",
            "/v9/chat/completions",
            "authorization: Bearer sk-very-secret",
        ),
        (
            "openai-responses",
            "/v9/responses",
            "authorization: Bearer sk-very-secret",
        ),
        ("anthropic", "/v9/v1/messages", "x-api-key: sk-very-secret"),
        (
            "gemini",
            "/v9/v1beta/models/m:generateContent",
            "x-goog-api-key: sk-very-secret",
        ),
        (
            "ollama",
            "/v9/api/chat",
            "authorization: Bearer sk-very-secret",
        ),
    ] {
        let sample = SAMPLES
            .iter()
            .find(|sample| sample.dialect == name)
            .unwrap();
        let server = Server::with_response(response("200 OK", "", sample.body));
        let provider = provider(name, format!("{}/v9", server.url()), CallLimits::default());
        let response = provider
            .answer(&WireRequest {
                dialect: name,
                model: "m",
                body: "{\"a\": 1}",
            })
            .unwrap();
        assert_eq!(words(&response.answer), sample.says);
        assert_eq!(
            (response.body.as_str(), response.status),
            (sample.body, 200)
        );
        let [request] = server.requests().try_into().unwrap();
        assert!(
            request.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
            "{request}"
        );
        assert!(request.contains(&format!("{header}\r\n")), "{request}");
        assert!(
            request.contains("content-type: application/json\r\n")
                && request.ends_with("\r\n\r\n{\"a\": 1}"),
            "{request}"
        );
        assert!(!format!("{provider:?}").contains(KEY));
    }
}

#[test]
fn a_stream_that_is_split_at_any_byte_is_the_same_answer() {
    for sample in SAMPLES
        .iter()
        .filter(|sample| sample.body.lines().count() > 4 && sample.body.len() < 1_500)
    {
        // Each connection splits somewhere else, and sends both parts as chunks.
        let server = Server::new(move |number, _, stream| {
            let bytes = sample.body.as_bytes();
            let (first, second) = bytes.split_at((number * 7 + 1) % bytes.len());
            say(
                stream,
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            );
            for part in [first, second].into_iter().filter(|part| !part.is_empty()) {
                say(
                    stream,
                    &[format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat(),
                );
            }
            say(stream, b"0\r\n\r\n");
        });
        let provider = provider(sample.dialect, server.url(), CallLimits::default());
        for _ in 0..sample.body.len() / 7 {
            let response = provider
                .answer(&WireRequest {
                    dialect: sample.dialect,
                    model: "m",
                    body: "{}",
                })
                .unwrap();
            assert_eq!(words(&response.answer), sample.says);
        }
    }
}

#[test]
fn a_server_that_hangs_is_left_after_the_limit_that_it_reached() {
    let (idle, whole) = (Duration::from_millis(150), Duration::from_millis(400));
    let limits = CallLimits {
        idle,
        whole,
        ..CallLimits::default()
    };
    let silent = Server::new(|_, _, stream| hang(stream));
    let next = E::TimeLimit {
        limit: "the next part of the answer",
        after: idle,
    };
    assert_eq!(ask_within(&silent, limits), Err(next.clone()));
    let midway = Server::new(|_, _, stream| {
        say(stream, b"HTTP/1.1 200 OK\r\n\r\n{\"choices\"");
        hang(stream);
    });
    assert_eq!(ask_within(&midway, limits), Err(next));
    let trickle = Server::new(|_, _, stream| {
        say(stream, b"HTTP/1.1 200 OK\r\n\r\n");
        for _ in 0..100 {
            say(stream, b" ");
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(
        ask_within(&trickle, limits),
        Err(E::TimeLimit {
            limit: "the whole call",
            after: whole
        })
    );
}

#[test]
fn half_an_answer_is_cut() {
    let half = &GOOD[..30];
    let cut = Err(E::CutStream { bytes: 30 });
    assert_eq!(
        ask(&Server::with_response(format!(
            "HTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n{half}"
        ))),
        cut
    );
    assert_eq!(
        ask(&Server::with_response(format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1e\r\n{half}\r\n"
        ))),
        cut
    );
    // Only its form shows that the text continues.
    assert_eq!(
        ask(&Server::with_response(format!(
            "HTTP/1.0 200 OK\r\n\r\n{half}"
        ))),
        cut
    );
    assert_eq!(
        ask(&Server::with_response(
            b"HTTP/1.0 200 OK\r\n\r\n{\"a\":\"\xc3".to_vec()
        )),
        Err(E::CutStream { bytes: 7 })
    );
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let server = Server::with_response(response(
        "200 OK",
        "content-type: text/event-stream\r\n",
        stream,
    ));
    assert_eq!(
        ask(&server),
        Err(E::CutStream {
            bytes: stream.len()
        })
    );
    assert_eq!(
        ask(&Server::new(|_, _, _| {})),
        Err(E::CutStream { bytes: 0 })
    );
}

#[test]
fn old_and_chunked_servers_are_understood() {
    for response in [
        format!("HTTP/1.0 200 OK\r\n\r\n{GOOD}"),
        format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{}\r\n3c\r\n{}\r\n0\r\n\r\n",
            &GOOD[..5],
            &GOOD[5..]
        ),
    ] {
        assert_eq!(
            ask(&Server::with_response(response))
                .unwrap()
                .answer
                .content(),
            "Hi"
        );
    }
}

#[test]
fn what_is_no_answer_is_not_understood() {
    let why = |server: &Server| match ask(server) {
        Err(E::NotUnderstood { why }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        why(&Server::with_response(
            b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{\"a\":\"\xff\xff".to_vec()
        )),
        "it is not UTF-8 from byte 6 on"
    );
    assert_eq!(
        why(&Server::with_response(response(
            "200 OK",
            "",
            "<html>Log in</html>"
        ))),
        "expected JSON or server-sent events, found `<html>Log in</html>`"
    );
    assert!(
        why(&Server::with_response("SSH-2.0-OpenSSH_9.6\r\n\r\n"))
            .starts_with("it is not what HTTP has: ")
    );
}

#[test]
fn too_large_an_answer_is_refused() {
    // 60 MB are announced, and not waited for.
    let announced = Server::new(|_, _, stream| {
        say(
            stream,
            b"HTTP/1.1 200 OK\r\ncontent-length: 60000000\r\n\r\n{",
        );
        hang(stream);
    });
    assert_eq!(ask(&announced), Err(E::TooLarge { limit: 50_000_000 }));
    let endless = Server::new(|_, _, stream| {
        say(stream, b"HTTP/1.1 200 OK\r\n\r\n");
        for _ in 0..1_000 {
            say(stream, &[b' '; 10_000]);
        }
    });
    let limits = CallLimits {
        bytes: 100_000,
        ..CallLimits::default()
    };
    assert_eq!(
        ask_within(&endless, limits),
        Err(E::TooLarge { limit: 100_000 })
    );
}

#[test]
fn no_redirect_is_followed() {
    let other = Server::with_response(good());
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let location = format!("location: {}/v1/chat/completions?token=x\r\n", other.url());
        let server = Server::with_response(response(status, &location, ""));
        let to = format!("{}/v1/chat/completions", other.url());
        assert_eq!(
            ask(&server),
            Err(E::Redirected {
                host: server.host.clone(),
                to
            })
        );
    }
    assert_eq!(other.requests(), Vec::<String>::new());
}

#[test]
fn a_vendor_that_refuses_is_quoted_without_the_key() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let error = ask(&Server::with_response(response(
        "401 Unauthorized",
        "",
        &body,
    )))
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider answered with status 401: Incorrect API key provided: ⟦key⟧."
    );
    // Nor where a redirect or the end of a long message has it, nor in an answer.
    let server = Server::with_response(response(
        "302 Found",
        &format!("location: http://elsewhere/{KEY}\r\n"),
        "",
    ));
    assert_eq!(
        ask(&server)
            .unwrap_err()
            .to_string()
            .matches("⟦key⟧")
            .count(),
        1
    );
    let long = format!(r#"{{"error":{{"message":"{}{KEY}"}}}}"#, "x".repeat(490));
    let error = ask(&Server::with_response(response(
        "401 Unauthorized",
        "",
        &long,
    )))
    .unwrap_err();
    assert!(error.to_string().ends_with("x⟦key⟧"), "{error}");
    let echo = GOOD.replace("Hi", KEY);
    let answer = ask(&Server::with_response(response("200 OK", "", &echo)));
    assert!(
        echo != GOOD
            && format!("{answer:?}").contains("⟦key⟧")
            && !format!("{answer:?}").contains(KEY),
        "{answer:?}"
    );
    let garbled = ask(&Server::with_response(response("200 OK", "", KEY))).unwrap_err();
    assert_eq!(
        garbled.to_string(),
        "the answer could not be read: expected JSON or server-sent events, found `⟦key⟧`"
    );
}

#[test]
fn a_limited_rate_explains_how_long_to_wait() {
    for (header, asked) in [
        ("retry-after: 7\r\n", Some(7_000)),
        ("retry-after: 7\r\nretry-after-ms: 1500\r\n", Some(1_500)),
        ("retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n", Some(0)),
        ("retry-after: soon\r\n", None),
        ("", None),
    ] {
        let error = ask(&Server::with_response(response(
            "429 Too Many Requests",
            header,
            "slow down",
        )))
        .unwrap_err();
        let retry_after = asked.map(Duration::from_millis);
        assert_eq!(
            error,
            E::RateLimited {
                message: "slow down".to_owned(),
                retry_after
            }
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_unreachable() {
    let host = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let request = WireRequest {
        dialect: "ollama",
        model: "m",
        body: "{}",
    };
    let error = provider("ollama", format!("http://{host}"), CallLimits::default())
        .answer(&request)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{host} could not be reached: connection refused")
    );
}
