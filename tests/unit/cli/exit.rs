//! Tests of what `src/cli/exit.rs` keeps to itself.

use super::{Exit, PRECEDENCE, TABLE};

#[test]
fn usage_beats_findings_and_findings_beat_nothing() {
    assert_eq!(Exit::Findings.and(Exit::Usage), Exit::Usage);
    assert_eq!(
        Exit::Findings.and(Exit::Infrastructure),
        Exit::Infrastructure
    );
    assert_eq!(Exit::Nothing.and(Exit::Findings), Exit::Findings);
    assert_eq!(Exit::Success.and(Exit::Nothing), Exit::Nothing);
}

#[test]
fn every_exit_has_a_row_and_a_rank() {
    for (exit, code, _) in TABLE {
        assert_eq!(exit.code(), code);
        assert!(PRECEDENCE.contains(&exit));
    }
}
