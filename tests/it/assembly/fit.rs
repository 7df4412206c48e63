//! The budget: never exceeded, nothing cut that may not be, nothing dropped in silence, characters
//! and examples whole.

use ctxc::internals::kernel::budget::{
    BudgetBlock, Counting, Disposition, FittedBlock, TokenBudget, WORTH_CUTTING, fit_blocks,
};
use ctxc::internals::kernel::context::{CutPolicy, Kind, Trust};
use ctxc::internals::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn block<'a>(id: &'a str, priority: u8, text: &'a str, cut: &'a CutPolicy) -> BudgetBlock<'a> {
    BudgetBlock {
        id,
        priority,
        turn: (Trust::Trusted, Kind::File),
        head: "## H\n\n",
        text,
        tail: "\n\n",
        open: &[],
        others: 0,
        max_tokens: None,
        cut,
        untrusted: &[],
    }
}

fn budget(tokens: usize) -> TokenBudget<'static> {
    TokenBudget {
        tokens: Some(tokens),
        counter: &ByteCounter,
        counting: Counting::WhenNeeded,
    }
}

#[test]
fn what_fits_is_kept_and_not_even_counted() {
    let fitted = fit_blocks(&[block("a", 4, "text", &CutPolicy::Tail)], &budget(100)).unwrap();
    let kept = FittedBlock {
        disposition: Disposition::Kept,
        full: None,
        kept: None,
        reason: "fits".to_owned(),
    };
    assert_eq!(fitted, [kept]);
    let counted = TokenBudget {
        counting: Counting::Always,
        ..budget(100)
    };
    assert_eq!(
        fit_blocks(&[block("a", 4, "text", &CutPolicy::Tail)], &counted).unwrap()[0].kept,
        Some(12)
    );
}

#[test]
fn a_system_text_is_never_cut_and_never_dropped() {
    let long = "s".repeat(500);
    let error = fit_blocks(
        &[
            block("notes", 4, "n", &CutPolicy::Tail),
            block("system", 0, &long, &CutPolicy::Tail),
        ],
        &budget(200),
    )
    .unwrap_err();
    assert_eq!(
        (error.parts, error.needed, error.budget),
        (vec![("system".to_owned(), 508)], 508, 200)
    );
    // If it fits, everything else is omitted first.
    let fitted = fit_blocks(
        &[
            block("notes", 4, &long, &CutPolicy::Tail),
            block("system", 0, &long, &CutPolicy::Tail),
        ],
        &budget(520),
    )
    .unwrap();
    assert_eq!(
        (&fitted[0].disposition, &fitted[1].disposition),
        (&Disposition::Dropped, &Disposition::Kept)
    );
}

#[test]
fn the_mark_of_a_cut_counts_and_the_cut_is_between_characters() {
    let text = "é😀".repeat(200);
    for tokens in 108..400 {
        let fitted = fit_blocks(
            &[block("file:a", 4, &text, &CutPolicy::Tail)],
            &budget(tokens),
        )
        .unwrap();
        let Disposition::Cut { range, mark } = &fitted[0].disposition else {
            panic!("{tokens}: {:?}", fitted[0])
        };
        assert!(text.is_char_boundary(range.end), "{tokens}");
        let rendered = format!("## H\n\n{}{mark}\n\n", &text[range.clone()]);
        assert_eq!(
            Some(ByteCounter.count(&rendered)),
            fitted[0].kept,
            "{tokens}"
        );
        assert!(rendered.len() <= tokens, "{tokens}");
    }
    // With this headroom or less a piece of the text would carry no content.
    let fitted = fit_blocks(
        &[block("file:a", 4, &text, &CutPolicy::Tail)],
        &budget(WORTH_CUTTING),
    )
    .unwrap();
    assert_eq!(fitted[0].disposition, Disposition::Dropped);
    assert!(
        fitted[0].reason.contains("100 tokens were left"),
        "{}",
        fitted[0].reason
    );
}

#[test]
fn examples_go_whole_last_first_and_old_turns_go_first() {
    let text = "x".repeat(300);
    let examples = CutPolicy::TailAt(vec![0, 100, 200]);
    let fitted = fit_blocks(&[block("examples", 4, &text, &examples)], &budget(280)).unwrap();
    assert!(
        matches!(&fitted[0].disposition, Disposition::Cut { range, .. } if *range == (0..200)),
        "{:?}",
        fitted[0]
    );
    let turns = CutPolicy::HeadAt(vec![0, 100, 200]);
    let fitted = fit_blocks(&[block("history", 4, &text, &turns)], &budget(280)).unwrap();
    assert!(
        matches!(&fitted[0].disposition, Disposition::Cut { range, .. } if *range == (100..300)),
        "{:?}",
        fitted[0]
    );
    let fitted = fit_blocks(&[block("examples", 4, &text, &examples)], &budget(120)).unwrap();
    assert_eq!(fitted[0].disposition, Disposition::Dropped);
}

#[test]
fn of_less_weight_nothing_stays_while_something_of_more_went() {
    let (long, short) = ("l".repeat(400), "s");
    let blocks = [
        block("failures", 5, short, &CutPolicy::Tail),
        block("file", 4, &long, &CutPolicy::Tail),
        block("input", 2, short, &CutPolicy::Tail),
    ];
    let fitted = fit_blocks(&blocks, &budget(60)).unwrap();
    let dispositions: Vec<&Disposition> = fitted.iter().map(|fitted| &fitted.disposition).collect();
    assert_eq!(
        dispositions,
        [
            &Disposition::Dropped,
            &Disposition::Dropped,
            &Disposition::Kept
        ]
    );
    assert!(
        fitted[0].reason.contains("ended at `file`"),
        "{}",
        fitted[0].reason
    );
}

fn cuts() -> impl Strategy<Value = CutPolicy> {
    let borders = prop::collection::vec(0_usize..200, 0..6).prop_map(|mut borders| {
        borders.sort_unstable();
        borders
    });
    prop_oneof![
        Just(CutPolicy::Tail),
        borders.clone().prop_map(CutPolicy::TailAt),
        borders.prop_map(CutPolicy::HeadAt)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_budget_is_exceeded_and_every_block_is_accounted_for(
        parts in prop::collection::vec((0_u8..6, "[a-zé😀\n ]{0,200}", cuts()), 0..12),
        tokens in 0_usize..1_500,
        per_token in 1.0_f64..5.0,
    ) {
        let counter = ByteEstimate::new("test", per_token);
        let ids: Vec<String> = (0..parts.len()).map(|number| format!("b{number}")).collect();
        let blocks: Vec<BudgetBlock<'_>> =
            parts.iter().zip(&ids).map(|((priority, text, cut), id)| block(id, *priority, text, cut)).collect();
        let budget = TokenBudget { tokens: Some(tokens), counter: &counter, counting: Counting::Always };
        match fit_blocks(&blocks, &budget) {
            Ok(fitted) => {
                prop_assert_eq!(fitted.len(), blocks.len());
                prop_assert!(fitted.iter().map(|fitted| fitted.kept.unwrap()).sum::<usize>() <= tokens);
                for (block, fitted) in blocks.iter().zip(&fitted) {
                    prop_assert!(!fitted.reason.is_empty());
                    prop_assert!(block.priority > 1 || fitted.disposition == Disposition::Kept);
                    if let Disposition::Cut { range, .. } = &fitted.disposition {
                        prop_assert!(block.text.get(range.clone()).is_some());
                        match block.cut {
                            CutPolicy::Tail => prop_assert_eq!(range.start, 0),
                            CutPolicy::TailAt(borders) => prop_assert!(range.start == 0 && borders.contains(&range.end)),
                            CutPolicy::HeadAt(borders) => prop_assert!(range.end == block.text.len() && borders.contains(&range.start)),
                        }
                    }
                }
                prop_assert_eq!(fit_blocks(&blocks, &budget).unwrap(), fitted);
            }
            Err(over) => {
                prop_assert!(over.needed > over.budget);
                prop_assert!(!over.parts.is_empty());
            }
        }
    }
}
