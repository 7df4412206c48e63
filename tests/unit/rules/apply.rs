//! Tests of the private items of `src/rules/apply.rs`.

use super::{MAX_TRIALS, offset_before, passing_items};
use crate::base::fix::Edit;
use crate::base::span::Span;

#[test]
fn what_does_not_go_is_found_by_halves() {
    let items: Vec<u32> = (0..100).collect();
    let mut trials = 0;
    let kept = passing_items(&items, &mut MAX_TRIALS.clone(), 1, &mut |items| {
        trials += 1;
        !items.contains(&17) && !items.contains(&80)
    });
    assert_eq!(kept.len(), 98);
    assert!(trials < 40, "{trials}");
    // Nothing goes: it ends all the same.
    assert!(
        passing_items(
            &(0..100_000).collect::<Vec<u32>>(),
            &mut MAX_TRIALS.clone(),
            1,
            &mut |_| false
        )
        .is_empty()
    );
}

#[test]
fn offsets_lead_back() {
    let edits = [
        Edit::replace(Span::new(2, 4), "xyz"),
        Edit::delete(Span::new(6, 9)),
        Edit::insert(10, "!"),
    ];
    // 0123456789a → 01xyz459!a
    let back: Vec<u32> = (0..10).map(|at| offset_before(&edits, at)).collect();
    assert_eq!(back, [0, 1, 2, 2, 2, 4, 5, 9, 10, 10]);
}
