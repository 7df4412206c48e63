//! Tests of the private items of `src/lsp/encoding.rs`.

use super::{LineIndex, Position, PositionEncoding, Span};

#[test]
fn offsets_and_positions_are_each_others_inverse() {
    let text = "a😀b\r\né\n\n<c>";
    let index = LineIndex::new(text);
    for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16] {
        for (offset, _) in text
            .char_indices()
            .filter(|(_, char)| !matches!(char, '\r' | '\n'))
        {
            let position = encoding.position(text, &index, offset as u32);
            assert_eq!(
                encoding.offset(text, &index, position),
                offset as u32,
                "{encoding:?} {position:?}"
            );
        }
    }
    let b = text.find('b').unwrap() as u32;
    assert_eq!(
        PositionEncoding::Utf16.position(text, &index, b),
        Position {
            line: 0,
            character: 3
        }
    );
    assert_eq!(
        PositionEncoding::Utf8.position(text, &index, b),
        Position {
            line: 0,
            character: 5
        }
    );
}

#[test]
fn positions_past_the_end_are_ends() {
    let text = "ab\r\nc";
    let index = LineIndex::new(text);
    let offset = |line, character| {
        PositionEncoding::Utf16.offset(text, &index, Position { line, character })
    };
    assert_eq!(
        (
            offset(0, 9),
            offset(1, 9),
            offset(9, 0),
            offset(u32::MAX, u32::MAX)
        ),
        (2, 5, 5, 5)
    );
    let inverted = gen_lsp_types::Range {
        start: Position {
            line: 1,
            character: 1,
        },
        end: Position {
            line: 0,
            character: 1,
        },
    };
    assert_eq!(
        PositionEncoding::Utf8.span(text, &index, inverted),
        Span::new(1, 5)
    );
}

#[test]
fn a_position_inside_a_character_is_its_start() {
    let text = "😀x";
    let index = LineIndex::new(text);
    assert_eq!(
        PositionEncoding::Utf16.offset(
            text,
            &index,
            Position {
                line: 0,
                character: 1
            }
        ),
        0
    );
    assert_eq!(
        PositionEncoding::Utf8.offset(
            text,
            &index,
            Position {
                line: 0,
                character: 2
            }
        ),
        0
    );
}
