//! Lines and files: accepted ones, refused ones with the reason, and the rest that a killed writer
//! leaves.

use ctxc::internals::kernel::provider::Usage;
use ctxc::internals::record::file::{RecordingFile, append_call};
use ctxc::internals::record::json_text;
use ctxc::internals::record::recording::{AnsweredBy, Recording};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

pub(crate) fn call(id: &str) -> Recording {
    Recording {
        schema: "ctxc/request/1".to_owned(),
        id: id.to_owned(),
        at: None,
        agent: None,
        conversation: None,
        run: None,
        command: None,
        trial: None,
        answered_by: AnsweredBy::Script,
        dialect: "openai-chat".to_owned(),
        endpoint: "/chat/completions".to_owned(),
        model: "small".to_owned(),
        stream: false,
        request: json_text::to_raw_json("{\n  \"temperature\": 1.0,\n  \"b\": \"\\u00e9\"\n}"),
        response: Some(json_text::to_raw_json("data: {}\n\n")),
        status: Some(200),
        usage: Usage::default(),
        latency_ms: None,
        key: "b3:0".to_owned(),
        headers: BTreeMap::new(),
        chunks: None,
        error: None,
        caller: None,
        truncated: false,
        redacted: Vec::new(),
        secrets: Vec::new(),
    }
}

#[test]
fn a_call_is_a_line_whose_bodies_are_as_they_were_sent() {
    let line = call("1").to_line();
    assert_eq!(line.matches('\n').count(), 1);
    assert!(
        line.contains(r#""request":{"temperature":1.0,"b":"\u00e9"},"response":"data: {}\n\n""#),
        "{line}"
    );
    let read = Recording::parse_line(&line).unwrap();
    assert_eq!(read.to_line(), line);
    assert_eq!(read.response_text().as_deref(), Some("data: {}\n\n"));
}

#[test]
fn what_is_no_call_is_refused_with_its_line() {
    let line = call("1").to_line();
    let refused = |text: String| RecordingFile::parse(&text).unwrap_err().to_string();
    let newer = line.replace("ctxc/request/1", "ctxc/request/2");
    assert!(
        refused(format!("{line}\n{newer}"))
            .starts_with("line 3: it says `ctxc/request/2`, which a newer ctxc wrote")
    );
    assert!(
        refused(line.replace("ctxc/request/1", "ctxc/list/9"))
            .contains("expected the key `schema` to say `ctxc/request/1`, found")
    );
    assert!(
        refused("{}\n".to_owned()).contains("it is not a recorded call: expected the key `schema`")
    );
    assert!(refused(format!("{{\n{line}")).starts_with("line 1: it is not valid JSON"));
    assert!(refused(line.replace("\"stream\":false,", "")).contains("missing field `stream`"));
    assert!(
        refused(line.replace("\"stream\":false,", "\"stream\":false,\"id\":\"2\","))
            .contains("duplicate field `id`")
    );
    // A key of a later version is no fault.
    assert_eq!(
        RecordingFile::parse(&line.replace("\"stream\":false,", "\"stream\":false,\"later\":1,"))
            .unwrap()
            .calls
            .len(),
        1
    );
}

#[test]
fn the_cut_line_of_a_killed_writer_is_reported_and_taken_out_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    append_call(&path, &call("1")).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    let cut = format!("{whole}{}", &call("2").to_line()[..100]);
    let read = RecordingFile::parse(&cut).unwrap();
    assert_eq!((read.calls.len(), read.is_cut), (1, true));
    std::fs::write(&path, cut).unwrap();
    append_call(&path, &call("3")).unwrap();
    let ids = |path| {
        let found = RecordingFile::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(!found.is_cut);
        found
            .calls
            .iter()
            .map(|call| call.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&path), ["1", "3"]);
    // A missing last line end loses no call.
    std::fs::write(&path, whole.trim_end()).unwrap();
    append_call(&path, &call("4")).unwrap();
    assert_eq!(ids(&path), ["1", "4"]);
    #[cfg(unix)]
    {
        let link = folder.path().join("link.jsonl");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        append_call(&link, &call("5")).unwrap_err();
    }
}
