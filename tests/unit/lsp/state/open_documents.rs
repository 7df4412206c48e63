//! Tests of the private items of `src/lsp/state/open_documents.rs`.

use crate::lsp::state::open_documents::{DocumentBuffer, LineIndex, PositionEncoding, Uri};
use gen_lsp_types::{
    Position, Range, TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

/// The offset of a position, by the words of the protocol and without an index: lines counted break
/// by break, characters one after the other, the end of the line for a column past it.
fn offset(text: &str, position: Position, encoding: PositionEncoding) -> usize {
    let mut at = 0;
    let mut line = 0;
    while line < position.line {
        let Some(found) = text[at..].find(['\r', '\n']) else {
            return text.len();
        };
        at += found
            + if text[at + found..].starts_with("\r\n") {
                2
            } else {
                1
            };
        line += 1;
    }
    let mut units = 0;
    for char in text[at..]
        .chars()
        .take_while(|char| !matches!(char, '\r' | '\n'))
    {
        units += if encoding == PositionEncoding::Utf8 {
            char.len_utf8()
        } else {
            char.len_utf16()
        };
        if units > position.character as usize {
            break;
        }
        at += char.len_utf8();
    }
    at
}

fn piece() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "<a>",
        "é",
        "😀",
        "\u{10ffff}",
        "\r\n",
        "\n",
        "\r",
        "x",
        " ",
        "{{b}}",
        "\u{2028}",
    ];
    proptest::collection::vec(proptest::sample::select(PARTS), 0..16)
        .prop_map(|parts| parts.concat())
}

fn position() -> impl Strategy<Value = Position> {
    let number = || prop_oneof![20 => 0_u32..12, 1 => Just(u32::MAX)];
    (number(), number()).prop_map(|(line, character)| Position { line, character })
}

proptest! {
    #[test]
    fn edits_leave_the_text_that_the_client_has(
        first in piece(),
        edits in proptest::collection::vec(proptest::collection::vec((proptest::option::weighted(0.95, (position(), position())), piece()), 0..4), 1..12),
        utf8 in any::<bool>(),
    ) {
        let encoding = if utf8 { PositionEncoding::Utf8 } else { PositionEncoding::Utf16 };
        let mut text = first.clone();
        let mut buffer = DocumentBuffer::new(Uri("untitled:a".to_owned()), 1, first);
        for (version, changes) in (2..).zip(edits) {
            let mut sent = Vec::new();
            for (range, insert) in changes {
                let Some((start, end)) = range else {
                    text.clone_from(&insert);
                    sent.push(TextDocumentContentChangeWholeDocument { text: insert }.into());
                    continue;
                };
                let from = offset(&text, start, encoding);
                let to = offset(&text, end, encoding);
                text.replace_range(from.min(to)..from.max(to), &insert);
                sent.push(TextDocumentContentChangePartial { range: Range { start, end }, text: insert, ..TextDocumentContentChangePartial::default() }.into());
            }
            buffer.apply_changes(sent, version, encoding);
            assert_eq!(&buffer.text, &text);
            assert_eq!(buffer.version, version);
            let kept = &buffer.index;
            let fresh = LineIndex::new(&text);
            for at in 0..=text.len() as u32 {
                assert_eq!(kept.position(&text, at), fresh.position(&text, at));
            }
        }
    }
}
