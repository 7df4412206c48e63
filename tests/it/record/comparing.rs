//! The form in which requests are compared with recorded ones.
#![allow(
    clippy::format_push_string,
    clippy::match_wildcard_for_single_variants,
    clippy::wildcard_enum_match_arm,
    reason = "JSON is written by hand"
)]

use ctxc::internals::project::config::RecordedContent;
use ctxc::internals::record::comparison::{ComparisonScope, LiveRequest, RequestComparison};
use ctxc::internals::record::json_text::to_raw_json;
use ctxc::internals::record::json_tree::{JsonTree, normalize_number};
use ctxc::internals::record::mask::CallMask;
use ctxc::internals::record::recorded_calls::{RecordedCalls, describe_difference};
use ctxc::internals::record::recording::{Recording, call_key};
use ctxc::internals::record::redact::{PatternFinder, Redactor};
use ctxc::internals::record::volatile::{PatternSearch, VolatileMatcher, VolatileParts};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

const PATH: &str = "/v1/chat/completions";

/// A call as a user with this salt recorded it, with these secrets.
fn recorded(salt: u8, secrets: &[&str], body: &str) -> Recording {
    let mask = CallMask::new(
        [salt; 32],
        secrets.iter().map(|one| (*one).to_owned()),
        RecordedContent::Redacted,
    );
    mask.mask_call(clear(body))
}

/// A call without masked values.
fn clear(body: &str) -> Recording {
    let request = to_raw_json(body);
    let key = call_key("POST", PATH, request.get()).to_string();
    Recording {
        endpoint: PATH.to_owned(),
        dialect: "openai-chat".to_owned(),
        request,
        key,
        ..Recording::default()
    }
}

/// The result of a function on a live request with this body.
fn with<R>(body: &str, then: impl FnOnce(&LiveRequest<'_>) -> R) -> R {
    let key = call_key("POST", PATH, body).to_string();
    then(&LiveRequest {
        endpoint: PATH,
        dialect: "openai-chat",
        body,
        key: &key,
        redactor: None,
    })
}

fn comparison(salt: u8, secrets: &[&str]) -> RequestComparison {
    RequestComparison::new(
        VolatileParts::default(),
        Redactor::new([salt; 32], secrets.iter().map(|one| (*one).to_owned())),
    )
}

/// Leaves out the text from a plain word up to the next blank.
fn word(place: &str, begins: &'static str) -> VolatileMatcher {
    let find: PatternSearch = Arc::new(move |text: &str| {
        let start = text.find(begins)?;
        let length = text[start..].find(' ').unwrap_or(text.len() - start);
        Some(start..start + length)
    });
    VolatileMatcher {
        find: Some(find),
        ..whole(place)
    }
}

fn whole(place: &str) -> VolatileMatcher {
    VolatileMatcher {
        place: place.to_owned(),
        find: None,
        source_text: String::new(),
        seen: Arc::default(),
    }
}

fn leaving_out(parts: Vec<VolatileMatcher>) -> RequestComparison {
    RequestComparison::new(VolatileParts(parts), Redactor::new([1; 32], []))
}

/// A pattern of a project: a literal word.
#[derive(Debug)]
struct Literal(&'static str);

impl PatternFinder for Literal {
    fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        text.match_indices(self.0)
            .map(|(at, found)| at..at + found.len())
            .collect()
    }
}

fn is_same(comparison: &RequestComparison, call: &Recording, body: &str) -> bool {
    let by_itself = with(body, |live| comparison.is_same(call, live));
    // A recording of one call finds the same.
    let among = RecordedCalls::new(
        vec![call.clone()],
        comparison.clone(),
        ComparisonScope::Whole,
    );
    assert_eq!(
        with(body, |live| among.next_call(live).is_some()),
        by_itself,
        "{body}"
    );
    assert_eq!(
        with(body, |live| among.same_calls(live).len()),
        usize::from(by_itself),
        "{body}"
    );
    by_itself
}

fn why(comparison: &RequestComparison, call: &Recording, body: &str) -> String {
    with(body, |live| describe_difference(comparison, call, live))
}

#[test]
fn what_is_left_out_makes_no_difference_and_all_else_does() {
    let date: PatternSearch = Arc::new(|text: &str| text.find("on day ").map(|at| at..at + 8));
    let comparison = leaving_out(vec![
        whole("/metadata/id"),
        whole("/a~1b/0"),
        VolatileMatcher {
            find: Some(date),
            ..whole("/messages")
        },
    ]);
    let body = |id: u32, day: u32, word: &str| {
        format!(
            r#"{{"metadata":{{"id":{id},"x":1}},"a/b":[{id},2],"messages":[{{"content":"on day {day} and on day {day}: {word}"}}],"model":"m"}}"#
        )
    };
    let call = clear(&body(1, 1, "yes"));
    assert!(is_same(&comparison, &call, &body(2, 7, "yes")));
    assert!(!is_same(&comparison, &call, &body(1, 1, "no")));
    assert!(!is_same(
        &comparison,
        &call,
        &body(1, 1, "yes").replace("\"m\"", "\"n\"")
    ));
    assert!(!is_same(
        &comparison,
        &call,
        &body(1, 1, "yes").replace("\"x\":1", "\"x\":2")
    ));
    assert!(!is_same(
        &comparison,
        &call,
        &body(1, 1, "yes").replace(":[1,2]", ":[1]")
    ));
    assert!(!is_same(
        &RequestComparison::default(),
        &call,
        &body(2, 1, "yes")
    ));
    let elsewhere = |live: &LiveRequest<'_>| {
        comparison.is_same(
            &call,
            &LiveRequest {
                endpoint: "/v1/other",
                key: "",
                ..*live
            },
        )
    };
    assert!(!with(&body(1, 1, "yes"), elsewhere));
}

#[test]
fn one_request_may_be_written_in_many_ways() {
    let call = clear(
        r#"{"model":"m","temperature":1.0,"top_k":1000,"messages":[{"role":"user","content":"café 😀 a/b"}]}"#,
    );
    let same = [
        r#"{"messages":[{"content":"café 😀 a/b","role":"user"}],"top_k":1000,"temperature":1.0,"model":"m"}"#,
        r#"{"model":"m","temperature":1,"top_k":1e3,"messages":[{"role":"user","content":"caf\u00e9 \ud83d\ude00 a\/b"}]}"#,
        r#"{ "model" : "m", "temperature" : 0.10e+1, "top_k": 100.0E1,  "messages":[{"role":"user","content":"caf\u00E9 😀 a/b"}]}"#,
    ];
    for body in same {
        assert!(
            is_same(&RequestComparison::default(), &call, body),
            "{body}"
        );
    }
    let others = [
        (
            r#"{"model":"m","temperature":1,"top_k":1001,"messages":[{"role":"user","content":"café 😀 a/b"}]}"#,
            "`/top_k` was “1000”, now “1001”",
        ),
        (
            r#"{"model":"m","temperature":1,"top_k":1000,"messages":[{"role":"user","content":"cafe\u0301 😀 a/b"}]}"#,
            "`/messages/0/content` was “café 😀 a/b”",
        ),
        (
            r#"{"messages":[{"content":"café 😀 a/b","role":"user"},{}],"top_k":1000,"temperature":1,"model":"m"}"#,
            "`/messages/1` was absent, now “{}”",
        ),
        (
            r#"{"model":"m","temperature":"1","top_k":1000,"messages":[{"role":"user","content":"café 😀 a/b"}]}"#,
            "`/temperature` was “1”, now “1”",
        ),
        (
            r#"{"model":"m","temperature":1,"top_k":1000,"a/b":1,"messages":[{"role":"user","content":"café 😀 a/b"}]}"#,
            "`/a~1b` was absent, now “1”",
        ),
    ];
    for (body, reason) in others {
        assert!(
            !is_same(&RequestComparison::default(), &call, body),
            "{body}"
        );
        assert!(
            why(&RequestComparison::default(), &call, body).starts_with(reason),
            "{}",
            why(&RequestComparison::default(), &call, body)
        );
    }
}

#[test]
fn numbers_are_compared_by_all_of_their_digits() {
    let same = [
        ["1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0"],
        ["0", "-0", "0.0", "0e9", "-0.000e-7", "0E0"],
        [
            "12345678901234567890123",
            "12345678901234567890123.0",
            "1234567890123456789012.3e1",
            "12345678901234567890123e0",
            "1.2345678901234567890123e22",
            "123456789012345678901230e-1",
        ],
        [
            "-0.00015",
            "-1.5e-4",
            "-15e-5",
            "-0.15E-3",
            "-0.000150",
            "-150e-6",
        ],
        ["1e400", "10e399", "0.1e401", "1.0e400", "100E398", "1e+400"],
    ];
    for row in same {
        for other in row {
            assert_eq!(normalize_number(other), normalize_number(row[0]), "{other}");
        }
    }
    let different = [
        "1",
        "-1",
        "1.1",
        "1e1",
        "1e-2",
        "1e400",
        "1e401",
        "12345678901234567890123",
        "12345678901234567890124",
        "0.1",
        "0.10000000000000000001",
        "1e99999999999999999999",
        "1e99999999999999999998",
    ];
    for (at, one) in different.iter().enumerate() {
        assert!(
            different
                .iter()
                .skip(at + 1)
                .all(|other| normalize_number(one) != normalize_number(other)),
            "{one}"
        );
        let call = clear(&format!("{{\"seed\":{one}}}"));
        for other in different.iter().filter(|other| *other != one) {
            let body = format!("{{\"seed\":{other}}}");
            assert!(
                !is_same(&RequestComparison::default(), &call, &body),
                "{one} {other}"
            );
            assert!(
                why(&RequestComparison::default(), &call, &body).starts_with("`/seed` was “"),
                "{one} {other}"
            );
        }
    }
}

/// Deep nesting, halves of surrogate pairs, keys that are there twice.
#[test]
fn a_body_that_no_vendor_expects_is_compared_all_the_same_or_by_its_bytes() {
    let deep = |levels: usize, inner: &str| {
        format!(
            "{{\"a\":{}{inner}{}}}",
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    let none = RequestComparison::default();
    assert!(is_same(&none, &clear(&deep(100, "1")), &deep(100, "1.0")));
    for levels in [200, 100_000] {
        assert!(is_same(
            &none,
            &clear(&deep(levels, "1")),
            &deep(levels, "1")
        ));
        assert!(!is_same(
            &none,
            &clear(&deep(levels, "1")),
            &deep(levels, "2")
        ));
        let reason = why(&none, &clear(&deep(levels, "1")), &deep(levels, "2"));
        assert_eq!(
            reason,
            "one of them is nested deeper than 128 levels, so that only an identical request is the same"
        );
    }
    assert!(is_same(
        &none,
        &clear(r#"{"a":"\ud83d","b":1}"#),
        r#"{"b":1,"a":"\ud83d"}"#
    ));
    assert!(!is_same(
        &none,
        &clear(r#"{"a":"\ud83d","b":1}"#),
        r#"{"b":1,"a":"\\ud83d"}"#
    ));
    assert!(!is_same(&none, &clear(r#"{"a":1}"#), r#"{"a":1,"a":1}"#));
    assert_eq!(JsonTree::parse("{} {}"), None);
    assert_eq!(JsonTree::parse("[1"), None);
    assert_eq!(JsonTree::parse(""), None);
}

#[test]
fn a_recorded_call_is_found_from_every_folder() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Write to ann@example.org or +49 30 1234567, key sk-proj-abcdefghijklmnop1234"}]}).to_string();
    let call = recorded(1, &[], &body);
    assert!(
        call.request.get().contains("⟦email:") && !call.request.get().contains("ann@"),
        "{}",
        call.request.get()
    );
    // Without the space, the key is another.
    let live = body.replace("\"m\"", " \"m\"");
    for salt in [1, 2] {
        assert!(is_same(&comparison(salt, &[]), &call, &live));
        assert!(!is_same(
            &comparison(salt, &[]),
            &call,
            &live.replace("Write", "Wrote")
        ));
    }
    // A program that is answered from the recording repeats the answer that it got there.
    assert!(is_same(&comparison(2, &[]), &call, call.request.get()));
}

/// Two calls that differ in masked values: each gets its own answer as long as anything
/// distinguishes them.
#[test]
fn values_that_are_masked_are_distinguished_as_far_as_that_is_possible() {
    let body =
        |mail: &str, id: u32| format!(r#"{{"id":{id},"messages":[{{"content":"mail {mail}"}}]}}"#);
    let calls = [("ann@example.org", 1), ("bob@example.org", 2)]
        .map(|(mail, id)| recorded(1, &[], &body(mail, id)));
    let at = |salt: u8, asked: &[(&str, u32)]| {
        let redactor = Redactor::new([salt; 32], []);
        let all = RecordedCalls::new(
            calls.to_vec(),
            RequestComparison::new(VolatileParts(vec![whole("/id")]), redactor),
            ComparisonScope::Whole,
        );
        let mut found = Vec::new();
        for (mail, id) in asked {
            let key = with(&body(mail, *id), |live| {
                all.next_call(live).map(|call| call.key.clone())
            });
            found.push(
                calls
                    .iter()
                    .position(|call| Some(&call.key) == key.as_ref()),
            );
        }
        found
    };
    // By their keys, for recordings of any user.
    assert_eq!(
        at(
            2,
            &[
                ("bob@example.org", 2),
                ("ann@example.org", 1),
                ("bob@example.org", 2)
            ]
        ),
        [Some(1), Some(0), Some(1)]
    );
    // By their placeholders, for the user who recorded them.
    assert_eq!(
        at(
            1,
            &[
                ("bob@example.org", 8),
                ("ann@example.org", 9),
                ("bob@example.org", 7)
            ]
        ),
        [Some(1), Some(0), Some(1)]
    );
    // Otherwise in turn.
    assert_eq!(
        at(
            2,
            &[
                ("bob@example.org", 8),
                ("ann@example.org", 9),
                ("bob@example.org", 7)
            ]
        ),
        [Some(0), Some(1), Some(1)]
    );
}

/// Each row: the recorded form of a text, with today's masks of the project and secrets, and the
/// sent text.
#[test]
fn masks_that_came_or_went_since_leave_a_recording_fresh() {
    let own = |word: &'static str| vec![Arc::new(Literal(word)) as Arc<dyn PatternFinder>];
    let body = |text: &str| json!({"messages": [{"content": text}]}).to_string();
    // Written so that no key is the same.
    let live = |text: &str| body(text).replace("content", "\\u0063ontent");
    let text = "user=ann@example.org of Project Nightjar pays with hunter2xyzzy, twice";
    let full = CallMask::new([1; 32], [], RecordedContent::Full);
    let all = |salt: u8, secrets: &[&str], own: Vec<Arc<dyn PatternFinder>>| {
        Redactor::new([salt; 32], secrets.iter().map(|one| (*one).to_owned())).with_patterns(own)
    };
    let old = [
        full.mask_call(clear(&body(text))),
        recorded(1, &[], &body(text)),
        recorded(1, &["hunter2xyzzy"], &body(text)),
        CallMask::new([1; 32], [], RecordedContent::Redacted)
            .with_patterns(&own("Project Nightjar"))
            .mask_call(clear(&body(text))),
        CallMask::new([1; 32], [], RecordedContent::Redacted)
            .with_patterns(&own("user=ann@example.org of"))
            .mask_call(clear(&body(text))),
        CallMask::new([1; 32], [], RecordedContent::Redacted)
            .with_patterns(&own("ann@example.org"))
            .mask_call(clear(&body(text))),
    ];
    for (at, call) in old.iter().enumerate() {
        let patterns = [
            "nowhere",
            "Project Nightjar",
            "user=ann@example.org of",
            "ann@example.org",
            "pays",
        ];
        for (secrets, pattern) in [[].as_slice(), &["hunter2xyzzy"]]
            .into_iter()
            .flat_map(|secrets| patterns.map(|one| (secrets, one)))
        {
            let comparison =
                RequestComparison::new(VolatileParts::default(), all(1, secrets, own(pattern)));
            assert!(
                is_same(&comparison, call, &live(text)),
                "{at} {pattern} {secrets:?}: {}",
                call.request.get()
            );
            assert!(
                !is_same(&comparison, call, &live(&text.replace("twice", "once"))),
                "{at} {pattern}"
            );
            assert!(
                !is_same(&comparison, call, &live(&text.replace(" of ", " off ")))
                    || pattern.contains(" of"),
                "{at} {pattern}"
            );
        }
        // By another user, as far as the form of a value shows that it is one.
        let comparison = RequestComparison::new(
            VolatileParts::default(),
            all(2, &["hunter2xyzzy"], own("Project Nightjar")),
        );
        assert_eq!(
            is_same(&comparison, call, &live(text)),
            at != 4,
            "{at}: {}",
            call.request.get()
        );
    }
    // Words that replaced a value are no value, for a reader with the key.
    let call = recorded(1, &[], &body("Ask ann@example.org first"));
    assert!(!is_same(
        &comparison(1, &[]),
        &call,
        &live("Ask my friend first")
    ));
    assert!(!is_same(
        &comparison(2, &[]),
        &call,
        &live("Ask my friend first")
    ));
    // Nor is text that holds one beside other words.
    assert!(!is_same(
        &comparison(1, &[]),
        &call,
        &live("Ask my friend ann@example.org first")
    ));
    assert!(!is_same(
        &comparison(2, &[]),
        &call,
        &live("Ask ann@example.org and everybody else first")
    ));
}

/// In a recording without words, texts of one length are distinguished by their hashes, or not
/// found.
#[test]
fn a_recording_without_words_answers_its_own_requests_alone() {
    let body = |text: &str| {
        json!({"model": "m", "messages": [{"role": "user", "content": text}]}).to_string()
    };
    let call = CallMask::new([1; 32], [], RecordedContent::Shape)
        .mask_call(clear(&body("Sort the ticket")));
    assert!(!call.request.get().contains("Sort"));
    assert!(is_same(
        &comparison(2, &[]),
        &call,
        &body("Sort the ticket")
    ));
    let reordered = |text: &str| {
        json!({"messages": [{"content": text, "role": "user"}], "model": "m"}).to_string()
    };
    assert!(is_same(
        &comparison(1, &[]),
        &call,
        &reordered("Sort the ticket")
    ));
    assert!(!is_same(
        &comparison(1, &[]),
        &call,
        &reordered("Drop the ticket")
    ));
    assert!(!is_same(
        &comparison(2, &[]),
        &call,
        &reordered("Drop the ticket")
    ));
}

/// In a recording without the keys of arguments, a request with another order of keys, other
/// numbers and escapes is reduced as the recorded one was.
#[test]
fn a_request_is_reduced_to_its_shape_before_it_is_compared_with_one() {
    let recorded = r#"{"model":"m","temperature":1.0,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"find","input":{"zone":"north","area":3,"Größe":"a b"}}]}]}"#;
    let reordered = r#"{"temperature":1,"messages":[{"content":[{"name":"find","input":{"Gr\u00f6\u00dfe":"a b","area":3.0,"zone":"north"},"id":"t1","type":"tool_use"}],"role":"assistant"}],"model":"m"}"#;
    let call = CallMask::new([1; 32], [], RecordedContent::Shape).mask_call(clear(recorded));
    assert!(!call.request.get().contains("zone") && !call.request.get().contains("north"));
    assert!(is_same(&comparison(1, &[]), &call, reordered));
    let other = reordered.replace("north", "south");
    assert!(!is_same(&comparison(1, &[]), &call, &other));
    assert!(!is_same(
        &comparison(1, &[]),
        &call,
        &reordered.replace("zone", "zones")
    ));
    let reason = why(
        &comparison(1, &[]),
        &call,
        &reordered.replace("\"id\":\"t1\"", "\"id\":\"t2\""),
    );
    assert!(
        reason.contains("`/messages/0/content/0/id` was “t1”, now “t2”"),
        "{reason}"
    );
    let reason = why(&comparison(1, &[]), &call, &other);
    assert!(
        reason.starts_with("`/messages/0/content/0/input/⟦4 bytes:")
            && reason.contains("was “⟦5 bytes:"),
        "{reason}"
    );
}

/// The text that a pattern leaves out contains a value that is masked on one side, on both, or on
/// none.
#[test]
fn a_pattern_finds_its_place_before_values_are_masked_and_after() {
    let body = |text: &str| json!({"messages": [{"content": text}]}).to_string();
    let old = body("Hello. by:ann@example.org/7 Bye.");
    let calls = [clear(&old), recorded(1, &[], &old), recorded(2, &[], &old)];
    let now = body("Hello. by:bob@example.org/8 Bye.");
    // It matches a value and its placeholder.
    for call in &calls {
        assert!(is_same(
            &leaving_out(vec![word("/messages", "by:")]),
            call,
            &now
        ));
        assert!(is_same(
            &leaving_out(vec![word("", "by:")]),
            call,
            call.request.get()
        ));
        assert!(!is_same(
            &leaving_out(vec![word("/messages", "by:")]),
            call,
            &now.replace("Bye", "Buy")
        ));
        assert!(!is_same(
            &leaving_out(vec![word("/model", "by:")]),
            call,
            &now
        ));
    }
    // The value alone, which a recording in clear has.
    let value: PatternSearch = Arc::new(|text: &str| {
        let start = text.find("by:")?;
        let end = start + text[start..].find("@example.org/")? + 14;
        Some(start..end)
    });
    let comparison = leaving_out(vec![VolatileMatcher {
        find: Some(value),
        ..whole("/messages")
    }]);
    assert!(is_same(&comparison, &calls[0], &now));
    // It does not match in the others, and the difference beside the value is reported as it stands
    // there.
    assert!(!is_same(&comparison, &calls[1], &now));
    assert_eq!(
        why(&comparison, &calls[1], &now),
        "`/messages/0/content` was “…llo. by:⟦email⟧/7 Bye.”, now “…llo. by:⟦email⟧/8 Bye.”"
    );
    // A pattern has to match the placeholder.
    assert!(is_same(
        &leaving_out(vec![word("/messages", "by:⟦email⟧")]),
        &calls[1],
        &now
    ));
    assert!(is_same(
        &leaving_out(vec![word("/messages", "by:⟦email⟧")]),
        &calls[0],
        &now
    ));
    // A pattern inside of a value: the value is masked as a whole.
    let digits: PatternSearch = Arc::new(|text: &str| text.find("1234").map(|at| at..at + 4));
    let comparison = leaving_out(vec![VolatileMatcher {
        find: Some(digits),
        ..whole("")
    }]);
    let phone = body("Call +49 30 1234567 now");
    for call in [
        recorded(1, &[], &phone),
        recorded(2, &[], &phone),
        clear(&phone),
    ] {
        assert!(is_same(
            &comparison,
            &call,
            &phone.replace(":\"Call", ": \"Call")
        ));
    }
}

fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-zäé/\"\\\\\n 😀0-9.,:=-]{0,12}",
        1 => Just("ann@example.org".to_owned()),
        1 => Just("+49 30 1234567".to_owned()),
        1 => Just("sk-proj-abcdefghijklmnop1234".to_owned()),
        1 => Just("4111 1111 1111 1111".to_owned()),
        1 => Just("hunter2xyzzy".to_owned()),
        1 => Just("⟦email:3fa2⟧".to_owned()),
        1 => Just("⟦".to_owned()),
    ];
    prop::collection::vec(word, 0..5).prop_map(|words| words.join(" "))
}

fn bodies() -> impl Strategy<Value = serde_json::Value> {
    let number = prop_oneof![
        any::<i32>().prop_map(|one| json!(one)),
        (0..1000i32).prop_map(|one| json!(f64::from(one) / 8.0))
    ];
    let leaf = prop_oneof![4 => texts().prop_map(serde_json::Value::String), 1 => number, 1 => Just(json!(null)), 1 => Just(json!(true))];
    let inner = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    prop::collection::btree_map("[a-z]{1,6}", inner, 1..5)
        .prop_map(|fields| fields.into_iter().collect())
}

/// A value as another library may write it: fields from the last to the first, signs escaped,
/// numbers in another spelling.
fn respelt(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::String(text) => {
            out.push('"');
            for unit in text.encode_utf16() {
                let _ = write!(out, "\\u{unit:04X}");
            }
            out.push('"');
        }
        serde_json::Value::Number(number) => {
            let text = number.to_string();
            out.push_str(&if text.contains(['.', 'e', 'E']) {
                format!("{text}0e0").replace("e-", "e-0")
            } else {
                format!("{text}.00e+0")
            });
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number > 0 { " , " } else { "" });
                respelt(item, out);
            }
            out.push(']');
        }
        serde_json::Value::Object(fields) => {
            out.push('{');
            for (number, (key, value)) in fields.iter().rev().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                let _ = write!(out, "\"{key}\" :");
                respelt(value, out);
            }
            out.push('}');
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) => out.push_str(&value.to_string()),
    }
}

/// The pointers of all values that hold no others.
fn leaves(value: &serde_json::Value, pointer: &str, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, &format!("{pointer}/{at}"), out);
            }
        }
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{pointer}/{key}"), out);
            }
        }
        _ => out.push(pointer.to_owned()),
    }
}

proptest! {
    /// A request is found in any notation and with any masks of any user; a real change of it is
    /// not, and its place is reported.
    #[test]
    fn a_request_is_found_however_it_is_written_and_a_change_of_it_is_not(body in bodies(), salts in (1u8..3, 1u8..3), known in any::<(bool, bool)>(), which in any::<prop::sample::Index>()) {
        let secrets = |is_known: bool| if is_known { vec!["hunter2xyzzy"] } else { Vec::new() };
        let call = recorded(salts.0, &secrets(known.0), &body.to_string());
        let comparison = comparison(salts.1, &secrets(known.1));
        let mut now = String::new();
        respelt(&body, &mut now);
        // A secret without a mask today is recognised only by its hash.
        let is_known = !known.0 || known.1 || salts.0 == salts.1 || !body.to_string().contains("hunter2xyzzy");
        prop_assert!(is_same(&comparison, &call, &now) || !is_known, "{} {now}", call.request.get());
        // A value that was masked here masks to itself.
        prop_assert!(is_same(&comparison, &call, call.request.get()));
        prop_assert!(is_same(&comparison, &recorded(salts.1, &secrets(known.1), call.request.get()), call.request.get()));
        let mut places = Vec::new();
        leaves(&body, "", &mut places);
        if !places.is_empty() && is_known && (known.1 || !known.0) {
            let place = which.get(&places);
            let mut changed = body.clone();
            *changed.pointer_mut(place).unwrap() = json!("Something else altogether");
            let mut now = String::new();
            respelt(&changed, &mut now);
            prop_assert!(!is_same(&comparison, &call, &now), "{} {now}", call.request.get());
            let why = why(&comparison, &call, &now);
            prop_assert!(why.starts_with(&format!("`{place}` was ")), "{place}: {why}");
        }
    }
}
