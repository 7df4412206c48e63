//! Edits by ranges leave the server with the client's text.

use super::client::{Client, pulling};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A text with lines of every kind and characters of every width.
fn piece() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            Just("<a>"),
            Just("</a>"),
            Just("é"),
            Just("😀"),
            Just("\r\n"),
            Just("\n"),
            Just("\r"),
            Just("x"),
            Just("{{b}}")
        ],
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

/// The position of a byte offset, in the units of an encoding.
fn position(text: &str, offset: usize, utf8: bool) -> Value {
    let (mut line, mut start, mut at) = (0, 0, 0);
    let bytes = text.as_bytes();
    while at < offset {
        let step = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\r' | b'\n' => 1,
            _ => 0,
        };
        // An offset between the two halves of a line break is before it.
        if step > 0 && at + step <= offset {
            at += step;
            line += 1;
            start = at;
        } else {
            at += 1;
        }
    }
    let column = &text[start..offset.max(start)];
    let character = if utf8 {
        column.len()
    } else {
        column.encode_utf16().count()
    };
    json!({"line": line, "character": character})
}

/// An offset at which an edit may begin or end: at a character, and not inside a line break.
fn offset(text: &str, number: usize) -> usize {
    let mut at = number % (text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if at > 0 && text.as_bytes().get(at) == Some(&b'\n') && text.as_bytes()[at - 1] == b'\r' {
        at - 1
    } else {
        at
    }
}

/// Findings without the addresses of their documents.
fn without_addresses(mut items: Vec<Value>) -> Vec<Value> {
    for item in &mut items {
        item.as_object_mut().unwrap().remove("relatedInformation");
    }
    items
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_leave_the_text_of_a_full_sync(first in piece(), edits in proptest::collection::vec((any::<usize>(), any::<usize>(), piece()), 1..12), utf8 in any::<bool>()) {
        let encodings = if utf8 { json!(["utf-8"]) } else { json!(["utf-16"]) };
        let mut capabilities = pulling();
        capabilities["general"]["positionEncodings"] = encodings;
        let mut client = Client::new(&[], &capabilities);
        client.open("templates/a.xml", &first);
        let mut text = first;
        for (version, (one, other, insert)) in edits.into_iter().enumerate() {
            let (one, other) = (offset(&text, one), offset(&text, other));
            let (start, end) = (one.min(other), one.max(other));
            let range = json!({"start": position(&text, start, utf8), "end": position(&text, end, utf8)});
            client.change("templates/a.xml", i32::try_from(version).unwrap() + 2, &json!([{"range": range, "text": insert}]));
            text.replace_range(start..end, &insert);
        }
        let ours = without_addresses(client.pull("templates/a.xml"));
        client.open("templates/b.xml", &text);
        client.close("templates/a.xml");
        // The same text under the other name gives the same findings at the same places.
        prop_assert_eq!(&without_addresses(client.pull("templates/b.xml")), &ours, "{:?}", text);
    }
}
