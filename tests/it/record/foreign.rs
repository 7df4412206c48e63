//! Files of other tools are recognised by their content, and read.

use ctxc::internals::base::base64::decode;
use ctxc::internals::record::foreign::foreign_call::recorded_endpoint;
use ctxc::internals::record::foreign::{self, RecordingFormat, detect_format};
use ctxc::internals::record::recording::Recording;
use pretty_assertions::assert_eq;

#[test]
fn a_file_is_known_by_its_content() {
    let of = |text: &str| detect_format(text);
    assert_eq!(
        of("\u{feff}# mine\ninteractions:\n- request:\n"),
        Some(RecordingFormat::Vcr)
    );
    assert_eq!(
        of("version: 1\ninteractions: []\n"),
        Some(RecordingFormat::Vcr)
    );
    assert_eq!(
        of("{\"version\": 1, \"interactions\": [{\"request\": {}}]}"),
        Some(RecordingFormat::Vcr)
    );
    assert_eq!(of("{\"resourceSpans\": []}\n"), Some(RecordingFormat::Otlp));
    assert_eq!(of("[{\"resourceLogs\": []}]"), Some(RecordingFormat::Otlp));
    assert_eq!(
        of("{\"messages\": [{\"content\": \"say \\\"resourceSpans\\\"\"}]}"),
        None
    );
    assert_eq!(of("name: a\nrequest: {file: b}\n"), None);
    assert_eq!(
        of("{\"schema\":\"ctxc/request/1\",\"request\":{\"interactions\":1}}"),
        Some(RecordingFormat::Ctxc)
    );
}

/// The calls of a cassette.
fn cassette(uri: &str, body: &str) -> Vec<Recording> {
    let text = format!(
        "interactions:\n- request: {{method: POST, uri: '{uri}', body: {body}}}\n  response: {{status: {{code: 200}}}}\n"
    );
    foreign::read_calls(RecordingFormat::Vcr, &text).unwrap()
}

#[test]
fn an_endpoint_has_no_host_and_no_key() {
    for (uri, expected) in [
        (
            "https://api.openai.com/v1/chat/completions",
            "/chat/completions",
        ),
        (
            "https://api.anthropic.com/v1/messages?beta=true",
            "/v1/messages?beta=true",
        ),
        (
            "https://h/v1beta/models/g:streamGenerateContent?alt=sse&key=s3cret",
            "/v1beta/models/g:streamGenerateContent?alt=sse",
        ),
    ] {
        assert_eq!(
            (
                &*cassette(uri, "'{}'")[0].endpoint,
                &*recorded_endpoint(uri)
            ),
            (expected, expected)
        );
    }
    assert_eq!(
        (&*recorded_endpoint("https://h"), &*recorded_endpoint("")),
        ("/", "")
    );
}

#[test]
fn bytes_are_read_with_and_without_their_end() {
    for body in ["!!binary eyJhIjogMX0=", "!!binary eyJhIjogMX0"] {
        assert_eq!(
            cassette("https://api.openai.com/v1/chat/completions", body)[0]
                .request
                .get(),
            "{\"a\":1}",
            "{body}"
        );
    }
    assert_eq!(
        decode("aGVs\n bG8=\n").as_deref(),
        Some(b"hello".as_slice())
    );
    assert_eq!(decode("aGVsbG8").as_deref(), Some(b"hello".as_slice()));
    assert_eq!(decode("-_-_").as_deref(), decode("+/+/").as_deref());
    assert_eq!(decode("-_-_").map(|bytes| bytes.len()), Some(3));
    assert_eq!(decode("{\"a\": 1}"), None);
    assert_eq!(decode("").as_deref(), Some(b"".as_slice()));
}
