//! Tests of the private items of `src/cli/context/manifest/agent_facts.rs`.

use super::{describe_cost_change, format_usd};
use crate::context::manifest::{Cost, CostChange};

#[test]
fn what_a_call_costs_is_reported_before_and_after() {
    let cost = |first, again| {
        Some(Cost {
            first,
            again,
            most: None,
        })
    };
    let describe = |from, to| describe_cost_change(&CostChange { from, to }).unwrap_or_default();
    assert_eq!(describe(None, None), "");
    assert_eq!(
        describe(None, cost(0.25, 0.1)),
        "US$ 0.25 a call, before of no known price"
    );
    assert_eq!(
        describe(cost(0.25, 0.1), None),
        "of no known price a call, before US$ 0.25"
    );
    assert_eq!(
        describe(cost(0.0002, 0.0002), cost(0.0001, 0.0001)),
        "US$ 0.0002 → 0.0001 (−50 %) a call"
    );
    let both =
        "US$ 0.0002 → 0.0004 (+100 %) a call, with the prefix cached 0.0001 → 0.0003 (+200 %)";
    assert_eq!(describe(cost(0.0002, 0.0001), cost(0.0004, 0.0003)), both);
    assert_eq!(
        describe(cost(0.0, 0.0), cost(0.25, 0.25)),
        "US$ 0 → 0.25 a call"
    );
    assert_eq!(
        describe(cost(0.25, 0.1), cost(0.25, 0.1)),
        "US$ 0.25 a call"
    );
}

#[test]
fn figures_keep_significant_digits() {
    let shown = [
        0.0,
        0.000_000_1,
        0.000_004_2,
        0.000_8,
        0.001_234_5,
        0.05,
        0.25,
        3.0,
        12.345,
    ]
    .map(format_usd);
    assert_eq!(
        shown,
        [
            "0",
            "0.0000001",
            "0.000004",
            "0.0008",
            "0.0012",
            "0.05",
            "0.25",
            "3",
            "12.35"
        ]
    );
}
