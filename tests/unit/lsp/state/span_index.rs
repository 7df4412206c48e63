//! Tests of the private items of `src/lsp/state/span_index.rs`.

use super::SpanIndex;
use crate::base::span::Span;

#[test]
fn the_same_spans_are_found_as_by_a_search_through_all() {
    let mut state = 7_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for count in [0, 1, 2, 40] {
        let spans: Vec<Span> = (0..count)
            .map(|_| {
                let start = next(60);
                Span::new(start, start + next(20) * next(2))
            })
            .collect();
        let index = SpanIndex::new(spans.iter().copied());
        for offset in 0..90 {
            let expected: Vec<usize> = (0..spans.len())
                .filter(|number| spans[*number].touches(offset))
                .collect();
            assert_eq!(index.touching(offset), expected, "{spans:?} at {offset}");
        }
    }
}
