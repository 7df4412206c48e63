//! Tests of the private items of `src/cli/context/eval/progress.rs`.

use super::{EvalProgress, progress_line};
use std::time::Duration;

#[test]
fn a_line_reports_what_is_done_what_it_cost_and_what_is_left() {
    let now = |done, calls| EvalProgress {
        done,
        planned: 40,
        calls,
        usd: 0.021,
    };
    let line = |done, calls, seconds| progress_line(now(done, calls), Duration::from_secs(seconds));
    assert_eq!(
        line(0, 0, 10),
        "0 of 40 scenarios, 0 calls (0.0 a second), US$ 0.021, no scenario is finished yet"
    );
    assert_eq!(
        line(10, 30, 20),
        "10 of 40 scenarios, 30 calls (1.5 a second), US$ 0.021, about 60 s left"
    );
    assert_eq!(
        line(1, 3, 10),
        "1 of 40 scenarios, 3 calls (0.3 a second), US$ 0.021, about 6 min left"
    );
}
