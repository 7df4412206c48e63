//! The stored and the omitted parts of calls, and their files. `docs/SECURITY.md` names these
//! tests.

use super::client::{ProxyProcess, caller_arguments, is_recording, post, proxy_command};
use super::passing::chunked;
use crate::cli::project::{ProgramRun, Project};
use crate::provider::fault_server::{Server, response, say};
use ctxc::internals::record::file::{RecordingFile, append_call};
use pretty_assertions::assert_eq;
use serde_json::json;

/// Every byte below a folder, and every name.
pub(super) fn everything(project: &Project) -> Vec<u8> {
    let files = project.files();
    files
        .iter()
        .flat_map(|file| {
            [
                file.as_bytes().to_vec(),
                std::fs::read(project.path(file)).unwrap(),
            ]
            .concat()
        })
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

const KEY: &str = "planted-4f81-key-of-nobody";
const EMAIL: &str = "ann.planted@example.org";

/// A stream that carries a text in pieces of a few letters.
fn saying(text: &str) -> String {
    let pieces: Vec<char> = text.chars().collect();
    let event = |piece: &[char]| {
        format!(
            "data: {}\n\n",
            json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": piece.iter().collect::<String>()}, "finish_reason": null}]})
        )
    };
    let events: String = pieces.chunks(3).map(event).collect();
    format!(
        "{events}data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    )
}

/// The joined text of the pieces of a recorded stream.
fn stream_text(response: &str) -> String {
    let events = response
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str::<serde_json::Value>(data).ok());
    events
        .filter_map(|event| {
            event["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        })
        .collect()
}

#[test]
fn a_planted_key_and_a_planted_address_are_in_no_byte_that_is_written() {
    let text = format!("Write to {EMAIL} with {KEY}, now.");
    let stream = saying(&text);
    let sent = stream.clone();
    let server = Server::new(move |_, _, out| chunked(out, "text/event-stream", sent.as_bytes()));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("OPENAI_BASE_URL", &format!("/chat/completions?key={KEY}"));
    let body = json!({"model": "m", "stream": true, "metadata": {EMAIL: KEY}, "messages": [{"role": "user", "content": text}]})
        .to_string();
    let headers = format!(
        "Authorization: Bearer {KEY}\r\nx-ctxc-agent: {EMAIL}\r\nx-ctxc-conversation: {KEY}\r\n"
    );
    // The program gets the vendor's answer.
    assert_eq!(post(&url, &headers, &body).text(), stream);
    let run = proxy
        .stop()
        .exits_with(0)
        .stderr_contains("3 e-mail addresses, 3 secrets masked")
        .output_lacks(KEY)
        .output_lacks(EMAIL);
    drop(run);
    let written = everything(&proxy.project);
    assert!(
        !holds(&written, KEY) && !holds(&written, EMAIL),
        "{}",
        proxy.recording_text()
    );
    let line = &proxy.recorded_lines()[0];
    let kept = stream_text(line["response"].as_str().unwrap());
    assert!(!kept.contains(KEY) && !kept.contains(EMAIL), "{kept}");
    let placeholders = kept.replace(|c: char| c.is_ascii_hexdigit(), "");
    assert_eq!(placeholders, "Writ to ⟦mil:⟧ with ⟦srt:⟧, now.", "{kept}");
    let chunks: String = line["chunks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chunk| chunk[1].as_str().unwrap())
        .collect();
    assert_eq!(chunks, line["response"].as_str().unwrap());
    // The same value has the same placeholder in the request.
    assert_eq!(
        line["request"]["messages"][0]["content"].as_str().unwrap(),
        kept
    );
    assert!(!line["redacted"].as_array().unwrap().is_empty());
}

#[test]
fn an_error_of_a_vendor_that_repeats_the_key_is_kept_without_it() {
    let server = Server::with_response(response(
        "401 Unauthorized",
        "",
        &format!("wrong key {KEY} of {EMAIL}"),
    ));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let answer = post(
        &proxy.url("ANTHROPIC_BASE_URL", "/v1/messages"),
        &format!("x-api-key: {KEY}\r\n"),
        r#"{"model":"m","messages":[]}"#,
    );
    assert_eq!(answer.status, 401);
    proxy.stop().exits_with(0);
    let written = everything(&proxy.project);
    assert!(!holds(&written, KEY) && !holds(&written, EMAIL));
    assert!(
        proxy.recorded_lines()[0]["response"]
            .as_str()
            .unwrap()
            .starts_with("wrong key ⟦secret:")
    );
}

#[test]
fn a_project_can_keep_more_or_less() {
    let content = |word: &str| {
        let server = Server::with_response(response("200 OK", "content-type: application/json\r\n", &json!({"model": "m", "choices": [{"message": {"role": "assistant", "content": format!("Ask {EMAIL}")}, "finish_reason": "stop"}]}).to_string()));
        let project =
            Project::new().with_file("ctxc.toml", format!("[record]\ncontent = \"{word}\"\n"));
        if word == "full" {
            let upstream = server.url();
            let refused = ProgramRun::from(
                proxy_command(&project, &["proxy", "--upstream", &upstream])
                    .output()
                    .unwrap(),
            )
            .exits_with(2);
            refused.stderr_contains("keeping personal data, as `[record] content = \"full\"` says, is not permitted").stderr_contains("`ctxc trust`");
            ProgramRun::from(
                proxy_command(&project, &["trust", "--yes"])
                    .output()
                    .unwrap(),
            )
            .exits_with(0)
            .stdout_contains("recordings keep personal data");
        }
        let mut proxy = ProxyProcess::new(project, &["--upstream", &server.url()]);
        let body =
            json!({"model": "m", "messages": [{"role": "user", "content": format!("Where is {KEY} of {EMAIL}, please?")}]})
                .to_string();
        post(
            &proxy.url("OPENAI_BASE_URL", "/chat/completions"),
            &format!("Authorization: Bearer {KEY}\r\n"),
            body,
        );
        proxy.stop().exits_with(0);
        proxy.recording_text()
    };
    let full = content("full");
    assert!(full.contains(EMAIL) && !full.contains(KEY), "{full}");
    let shape = content("shape");
    assert!(
        !shape.contains(EMAIL)
            && !shape.contains("please")
            && shape.contains("\"role\":\"user\"")
            && shape.contains(" bytes:"),
        "{shape}"
    );
}

#[test]
fn without_words_nothing_that_a_program_put_into_a_call_is_kept() {
    let answer = json!({"model": "m", "choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "find", "arguments": "{\"name\": \"Marlowe\"}"}}]}, "finish_reason": "tool_calls"}]});
    let server = Server::with_response(response(
        "200 OK",
        "content-type: application/json\r\n",
        &answer.to_string(),
    ));
    let project = Project::new().with_file("ctxc.toml", "[record]\ncontent = \"shape\"\n");
    let mut proxy = ProxyProcess::new(project, &["--upstream", &server.url()]);
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "metadata": {"name": "Hammett", "Chandler": 1}, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Ivo"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "find",
            "input": {"name": "Spade", "status": "Archer", "Effie": {"id": "Gutman"}}}]}]});
    post(
        &proxy.url("ANTHROPIC_BASE_URL", "/v1/messages"),
        "",
        body.to_string(),
    );
    proxy.stop().exits_with(0);
    let kept = proxy.recording_text();
    for word in [
        "Marlowe", "Hammett", "Chandler", "Ivo", "Spade", "Archer", "Effie", "Gutman",
    ] {
        assert!(!kept.contains(word), "{word}: {kept}");
    }
    for word in [
        "\"find\"",
        "toolu_1",
        "call_1",
        "claude-sonnet-4-5",
        "\"finish_reason\":\"tool_calls\"",
        "tool_use",
    ] {
        assert!(kept.contains(word), "{word}: {kept}");
    }
}

#[test]
#[cfg(unix)]
fn the_secret_behind_placeholders_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let mut command = project.command(&["record", "--", "true"]);
    command
        .env("XDG_STATE_HOME", project.path("state"))
        .env("XDG_DATA_HOME", project.path("data"));
    ProgramRun::from(command.output().unwrap()).exits_with(0);
    let secret = project.path("state/ctxc/secret");
    assert_eq!(
        std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_recording_lies_in_the_users_own_folder_or_beside_a_gitignore() {
    let server = Server::with_response(response("200 OK", "", "{}"));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    proxy.post_chat("{}");
    proxy.stop().exits_with(0);
    let files = proxy.project.files();
    assert!(
        files.iter().all(|file| file.starts_with(".data/ctxc/")),
        "{files:?}"
    );
    #[cfg(unix)]
    for file in files.iter().filter(|file| is_recording(file)) {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = proxy.project.path(file);
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
    let mut proxy = ProxyProcess::new(
        Project::new(),
        &[
            "--upstream",
            &server.url(),
            "--into",
            "calls",
            "--name",
            "a",
        ],
    );
    proxy.post_chat("{}");
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("as calls/a.jsonl");
    assert!(
        proxy
            .project
            .read_file("calls/.gitignore")
            .ends_with("\n*\n")
    );
    assert!(
        proxy
            .project
            .read_file("calls/a.jsonl")
            .starts_with("{\"schema\":\"ctxc/request/1\"")
    );
}

#[test]
fn old_recordings_are_removed() {
    let server = Server::with_response(response("200 OK", "", "{}"));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    proxy.post_chat("{}");
    proxy.stop().exits_with(0);
    let gc = |args: &[&str]| {
        ProgramRun::from(
            proxy_command(&proxy.project, &[&["gc"], args].concat())
                .output()
                .unwrap(),
        )
    };
    gc(&[])
        .exits_with(0)
        .stderr_contains("removed 0 recordings and 0 traces of runs older than 14 days");
    gc(&["--ttl", "0"])
        .exits_with(0)
        .stderr_contains("removed 1 recording and 0 traces of runs older than 0 days");
    assert!(!proxy.project.files().iter().any(|file| is_recording(file)));
}

/// Kills a proxy with `kill -9` in the middle of its calls: every answered call is among the whole
/// lines, and at most the end of the last line is missing. The next recorder that adds a call
/// leaves only whole ones.
#[cfg(unix)]
fn kill(round: u64) {
    let server = Server::new(|_, _, stream| {
        chunked(
            stream,
            "text/event-stream",
            saying("some words of an answer").as_bytes(),
        );
    });
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let url = proxy.url("OPENAI_BASE_URL", "/chat/completions");
    let answered = std::thread::spawn(move || {
        let mut answered = 0;
        for number in 0..200 {
            let body = format!(
                r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{number} {}"}}]}}"#,
                "x".repeat(5_000)
            );
            let outcome = std::panic::catch_unwind(|| post(&url, "", body));
            match outcome {
                Ok(answer) if answer.status == 200 && !answer.is_cut => answered += 1,
                _ => break,
            }
        }
        answered
    });
    std::thread::sleep(std::time::Duration::from_millis(150 + round * 37 % 240));
    proxy.send_signal("-KILL");
    proxy.wait_for_end();
    let answered: usize = answered.join().unwrap();
    let text = if proxy.project.files().iter().any(|file| is_recording(file)) {
        proxy.recording_text()
    } else {
        String::new()
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text[..whole].lines().count();
    let read = RecordingFile::parse(&text).unwrap();
    assert!(
        read.calls.len() - lines <= usize::from(!read.is_cut && whole < text.len()),
        "{text}"
    );
    assert!(lines >= answered, "{lines} {answered}");
    if lines > 0 {
        let path = proxy.project.path(
            proxy
                .project
                .files()
                .iter()
                .find(|file| is_recording(file))
                .unwrap(),
        );
        append_call(&path, &super::file::call("next")).unwrap();
        let after = RecordingFile::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(
            (after.calls.len(), after.is_cut),
            (read.calls.len() + 1, false)
        );
    }
}

#[test]
fn a_recording_removes_older_recordings() {
    let server = Server::with_response(response("200 OK", "", "{}"));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    proxy.post_chat("{}");
    proxy.stop().exits_with(0);
    let record = |args: &[&str]| {
        ProgramRun::from(
            proxy_command(
                &proxy.project,
                &[&["record"], args, &["--", "true"]].concat(),
            )
            .output()
            .unwrap(),
        )
        .exits_with(0)
    };
    let is_there = || proxy.project.files().iter().any(|file| is_recording(file));
    record(&[]);
    assert!(is_there());
    record(&["--ttl", "0"]);
    assert!(!is_there());
}

#[test]
fn what_a_pattern_of_the_project_finds_is_masked_in_streams_too() {
    let text = "Customer C-471108 and Großkunde C-471109.";
    let stream = saying(text);
    let server = Server::new(move |_, _, out| chunked(out, "text/event-stream", stream.as_bytes()));
    let project = Project::new().with_file("ctxc.toml", "[record]\nmask = [\"C-[0-9]{6}\"]\n");
    let mut proxy = ProxyProcess::new(project, &["--upstream", &server.url()]);
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]})
            .to_string();
    proxy.post_chat(body);
    proxy
        .stop()
        .exits_with(0)
        .stderr_contains("4 own values masked");
    let written = everything(&proxy.project);
    assert!(
        !holds(&written, "C-47110") && !holds(&written, "471108"),
        "{}",
        proxy.recording_text()
    );
    let kept = stream_text(proxy.recorded_lines()[0]["response"].as_str().unwrap());
    assert!(
        kept.starts_with("Customer ⟦own:") && kept.contains("Großkunde ⟦own:"),
        "{kept}"
    );
    let project = Project::new().with_file("ctxc.toml", "[record]\nmask = [\"(\"]\n");
    ProgramRun::from(proxy_command(&project, &["check"]).output().unwrap())
        .exits_with(2)
        .stdout_contains("record.mask")
        .stdout_contains("a pattern: ");
}

#[test]
fn an_upstream_of_the_project_file_needs_permission() {
    let server = Server::with_response(response(
        "200 OK",
        "content-type: application/json\r\n",
        "{\"choices\":[]}",
    ));
    let project = Project::new().with_file(
        "ctxc.toml",
        format!("[record]\nupstream = [\"openai={}\"]\n", server.url()),
    );
    let refused =
        ProgramRun::from(proxy_command(&project, &["proxy"]).output().unwrap()).exits_with(2);
    refused.stderr_contains(
        "sending calls where `[record] upstream` says is not permitted in this project",
    );
    let trusted = ProgramRun::from(
        proxy_command(&project, &["trust", "--yes"])
            .output()
            .unwrap(),
    )
    .exits_with(0);
    trusted
        .stdout_contains("where `ctxc record` sends calls on")
        .stdout_contains(&server.url());
    let mut proxy = ProxyProcess::new(project, &[]);
    proxy.post_chat(r#"{"model":"m","messages":[]}"#);
    proxy.stop().exits_with(0);
    assert_eq!(server.requests().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_killed_proxy_leaves_every_answered_call_and_one_cut_line_at_most() {
    (0..6).for_each(kill);
}

#[cfg(unix)]
#[test]
#[ignore = "needs proxy_hard: 300 kills take minutes"]
fn proxy_hard_killed_300_times_it_loses_no_answered_call() {
    (0..300).for_each(kill);
}

/// In an address, in arguments that are JSON in a string, in an answer and in its pieces, with
/// every escape that its writer may choose.
#[test]
fn a_planted_key_and_address_with_escapes_are_in_no_byte_that_is_written_as_they_read() {
    let hidden = |text: &str| {
        text.replace('@', "\\u0040")
            .replace('-', "\\u002d")
            .replace('a', "\\u0061")
    };
    let arguments = json!({"to": EMAIL, "key": KEY}).to_string();
    let written = hidden(&arguments);
    let stream = saying(&written);
    let sent = stream.clone();
    let server = Server::new(move |_, _, out| chunked(out, "text/event-stream", sent.as_bytes()));
    let mut proxy = ProxyProcess::for_upstream(&server.url());
    let query = format!(
        "?to={}&access_token={}&api-version=1",
        EMAIL.replace('@', "%40"),
        KEY.replace('-', "%2D")
    );
    let url = proxy.url("OPENAI_BASE_URL", &format!("/chat/completions{query}"));
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "send", "arguments": written}});
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Send it"}, {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": json!({"inner": written}).to_string()}]});
    assert_eq!(post(&url, "", body.to_string()).text(), stream);
    assert!(server.requests()[0].starts_with(&format!("POST /chat/completions{query} ")));
    proxy
        .stop()
        .exits_with(0)
        .output_lacks(KEY)
        .output_lacks(EMAIL);
    let plain = |mut text: String| {
        for _ in 0..4 {
            for (escape, sign) in [
                ("\\u0040", "@"),
                ("\\u002d", "-"),
                ("\\u0061", "a"),
                ("%40", "@"),
                ("%2D", "-"),
                ("\\\\", "\\"),
            ] {
                text = text.replace(escape, sign);
            }
        }
        text
    };
    let kept = plain(String::from_utf8(everything(&proxy.project)).unwrap());
    assert!(!kept.contains(KEY) && !kept.contains(EMAIL), "{kept}");
    let line = &proxy.recorded_lines()[0];
    assert!(
        line["endpoint"]
            .as_str()
            .unwrap()
            .ends_with("&api-version=1"),
        "{}",
        line["endpoint"]
    );
    let streamed = plain(stream_text(line["response"].as_str().unwrap()));
    assert!(
        !streamed.contains(KEY) && !streamed.contains(EMAIL),
        "{streamed}"
    );
    // The arguments are JSON as before.
    let arguments = line["request"]["messages"][1]["tool_calls"][0]["function"]["arguments"]
        .as_str()
        .unwrap();
    let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
    assert!(
        arguments["to"]
            .as_str()
            .unwrap()
            .starts_with("\u{27e6}email:"),
        "{arguments}"
    );
}

/// The disk is full from the first answer on: a file in the place of the folder stands for it.
#[test]
fn no_call_is_made_after_the_first_that_cannot_be_kept() {
    let project = Project::new();
    let folder = project.path("calls");
    let server = Server::new(move |number, _, stream| {
        if number == 0 {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::write(&folder, "").unwrap();
        }
        let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Oslo"}}]});
        say(
            stream,
            &response(
                "200 OK",
                "content-type: application/json\r\n",
                &body.to_string(),
            ),
        );
    });
    let call =
        json!({"model": "m", "messages": [{"role": "user", "content": "Where?"}]}).to_string();
    let (program, url) = (caller_arguments(), server.url());
    let mut args = vec![
        "record",
        "--upstream",
        &url,
        "--into",
        "calls",
        "--name",
        "a",
        "--",
    ];
    args.extend(program.iter().map(String::as_str));
    let output = proxy_command(&project, &args)
        .env("CTXC_TEST_CALLS", vec![call; 5].join("\n"))
        .output()
        .unwrap();
    let run = ProgramRun::from(output).exits_with(3).stdout_contains(
        "the call is not made, since its answer would be lost as an earlier one was",
    );
    run.stderr_contains("a call could not be kept: ")
        .stderr_contains("not answered: call 2: not made, since an earlier call could not be kept");
    assert_eq!(server.requests().len(), 1);
}

/// Gemini CLI refuses its usual sign-in if the address is not Google's.
#[cfg(unix)]
#[test]
fn gemini_cli_that_sends_nothing_is_helped_to_sign_in() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write_file(
        "gemini",
        "#!/bin/sh\necho 'Invalid auth method selected.' >&2\nexit 41\n",
    );
    std::fs::set_permissions(
        project.path("gemini"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let gemini = project.path("gemini").display().to_string();
    let run = |words: &[&str]| {
        ProgramRun::from(
            proxy_command(
                &project,
                &[&["record", "--into", "calls", "--"], words].concat(),
            )
            .output()
            .unwrap(),
        )
    };
    run(&[&gemini, "-p", "hi"])
        .exits_with(41)
        .stderr_contains("{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}} in ~/.gemini/settings.json");
    assert!(!run(&["true"]).stderr.contains("Gemini CLI"));
}
