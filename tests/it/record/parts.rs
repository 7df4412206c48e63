//! The parts that recordings are made of: keys, JSON as it was written, addresses of vendors, foreign files.

use ctxc::internals::record::foreign::base64::decode;
use ctxc::internals::record::foreign::call::endpoint;
use ctxc::internals::record::foreign::{Format, format_of};
use ctxc::internals::record::json_text::{compact, map_strings, raw};
use ctxc::internals::record::key::key;
use ctxc::internals::record::proxy::vendor::{VENDORS, dialect, vendor};
use ctxc::internals::record::volatile::{Part, Volatile};
use pretty_assertions::assert_eq;
use std::sync::Arc;

#[test]
fn values_keep_their_bytes_and_strings_their_places() {
    let json = r#"{ "a/b" : [ 1.0, "x\u00e9 \" {", {"c": "y" } ], "d": "", "e": 1e400 }"#;
    assert_eq!(compact(json), r#"{"a/b":[1.0,"x\u00e9 \" {",{"c":"y"}],"d":"","e":1e400}"#);
    let mut seen = Vec::new();
    let same = map_strings(json, |_, pointer, text| {
        seen.push(format!("{pointer}={text}"));
        None
    });
    assert_eq!(same, json);
    assert_eq!(seen, ["=a/b", "/a~1b/1=xé \" {", "/a~1b/2=c", "/a~1b/2/c=y", "=d", "/d=", "=e"]);
    assert_eq!(map_strings("[\"a\", \"b\"]", |_, _, text| (text == "b").then(|| "\n".to_owned())), "[\"a\", \"\\n\"]");
    assert_eq!(raw("data: {}\n").get(), "\"data: {}\\n\"");
    assert_eq!(raw("{\n}").get(), "{}");
}

#[test]
fn the_mark_of_a_fence_is_no_part_of_what_is_asked() {
    let body = |mark: &str, text: &str| format!("<untrusted-{mark} name=\\\"a\\\">\\n{text}\\n</untrusted-{mark}>");
    let of = |body: &str| key("POST", "/v1/messages", body);
    assert_eq!(of(&body("123", "5 apples")), of(&body("456", "5 apples")));
    assert_ne!(of(&body("123", "5 apples")), of(&body("123", "6 apples")));
    assert_ne!(of("{}"), key("POST", "/v1/chat/completions", "{}"));
}

#[test]
fn what_is_left_out_makes_no_difference_and_all_else_does() {
    let date = |text: &str| text.find("on day ").map(|at| at..at + 8);
    let part = |place: &str| Part { place: place.to_owned(), find: None };
    let words = Part { place: "/messages".to_owned(), find: Some(Arc::new(date)) };
    let volatile = Volatile(vec![part("/metadata/id"), part("/a~1b/0"), words]);
    let body = |id: u32, day: u32, word: &str| {
        format!(
            r#"{{"metadata":{{"id":{id},"x":1}},"a/b":[{id},2],"messages":[{{"content":"on day {day} and on day {day}: {word}"}}],"model":"m"}}"#
        )
    };
    let key = |body: &str| volatile.key("/v1/messages", body).unwrap();
    assert_eq!(key(&body(1, 1, "yes")), key(&body(2, 7, "yes")));
    assert_ne!(key(&body(1, 1, "yes")), key(&body(1, 1, "no")));
    assert_ne!(key(&body(1, 1, "yes")), key(&body(1, 1, "yes").replace("\"m\"", "\"n\"")));
    assert_ne!(key(&body(1, 1, "yes")), key(&body(1, 1, "yes").replace("\"x\":1", "\"x\":2")));
    assert_ne!(key(&body(1, 1, "yes")), volatile.key("/v1/other", &body(1, 1, "yes")).unwrap());
    assert_eq!(Volatile::default().key("/v1/messages", &body(1, 1, "yes")), None);
}

#[test]
fn a_path_leads_to_the_same_address_whatever_the_client_leaves_out() {
    let to = |name: &str, base: Option<&str>, path: &str| {
        let vendor = vendor(name).unwrap();
        let endpoint = vendor.endpoint(path);
        (endpoint.clone(), vendor.address(&vendor.base(base.unwrap_or(vendor.base_url)).unwrap(), &endpoint))
    };
    let both = |endpoint: &str, address: &str| (endpoint.to_owned(), address.to_owned());
    assert_eq!(
        to("openai", None, "/v1/chat/completions"),
        both("/chat/completions", "https://api.openai.com/v1/chat/completions")
    );
    assert_eq!(to("openai", Some("http://h:1/x/"), "/v1/responses"), both("/responses", "http://h:1/x/responses"));
    for path in ["/v1/messages", "/messages"] {
        let expected = both("/v1/messages", "https://api.anthropic.com/v1/messages");
        assert_eq!(to("anthropic", None, path), expected);
        assert_eq!(to("anthropic", Some("https://api.anthropic.com/v1"), path), expected);
    }
    let path = "/v1beta/models/g:streamGenerateContent?alt=sse";
    assert_eq!(to("gemini", None, path), both(path, &format!("https://generativelanguage.googleapis.com{path}")));
    assert_eq!(dialect(path), Some("gemini"));
    assert_eq!(to("ollama", Some("0.0.0.0"), "/api/chat"), both("/api/chat", "http://127.0.0.1:11434/api/chat"));
    assert_eq!(dialect("/embeddings"), None);
    assert_eq!(dialect("/v1/threads/t_1/messages"), None);
    for wrong in ["", "ftp://a", "http://", "http://a b", ":80"] {
        VENDORS[0].base(wrong).unwrap_err();
    }
}

#[test]
fn a_file_is_known_by_its_content() {
    let of = |text: &str| format_of(text);
    assert_eq!(of("\u{feff}# mine\ninteractions:\n- request:\n"), Some(Format::Vcr));
    assert_eq!(of("version: 1\ninteractions: []\n"), Some(Format::Vcr));
    assert_eq!(of("{\"version\": 1, \"interactions\": [{\"request\": {}}]}"), Some(Format::Vcr));
    assert_eq!(of("{\"resourceSpans\": []}\n"), Some(Format::Otlp));
    assert_eq!(of("[{\"resourceLogs\": []}]"), Some(Format::Otlp));
    assert_eq!(of("{\"messages\": [{\"content\": \"say \\\"resourceSpans\\\"\"}]}"), None);
    assert_eq!(of("name: a\nrequest: {file: b}\n"), None);
    assert_eq!(of("{\"schema\":\"ctxc/request/1\",\"request\":{\"interactions\":1}}"), Some(Format::Ctxc));
}

#[test]
fn an_endpoint_has_no_host_and_no_key() {
    assert_eq!(endpoint("https://api.openai.com/v1/chat/completions"), "/chat/completions");
    assert_eq!(endpoint("https://api.anthropic.com/v1/messages?beta=true"), "/v1/messages?beta=true");
    let gemini = "https://h/v1beta/models/g:streamGenerateContent?alt=sse&key=s3cret";
    assert_eq!(endpoint(gemini), "/v1beta/models/g:streamGenerateContent?alt=sse");
    assert_eq!(endpoint("https://h"), "/");
    assert_eq!(endpoint(""), "");
}

#[test]
fn bytes_are_read_with_and_without_their_end() {
    assert_eq!(decode("aGVs\n bG8=\n").as_deref(), Some(b"hello".as_slice()));
    assert_eq!(decode("aGVsbG8").as_deref(), Some(b"hello".as_slice()));
    assert_eq!(decode("{\"a\": 1}"), None);
    assert_eq!(decode("").as_deref(), Some(b"".as_slice()));
}
