//! Tests of the private items of `src/cli/exit.rs`.

use super::{EXIT_TABLE, Exit, PRECEDENCE};

#[test]
fn usage_beats_findings_and_findings_beat_nothing() {
    assert_eq!(Exit::Findings.graver_of(Exit::Usage), Exit::Usage);
    assert_eq!(
        Exit::Findings.graver_of(Exit::Infrastructure),
        Exit::Infrastructure
    );
    assert_eq!(Exit::Nothing.graver_of(Exit::Findings), Exit::Findings);
    assert_eq!(Exit::Success.graver_of(Exit::Nothing), Exit::Nothing);
}

#[test]
fn every_exit_has_a_row_and_a_rank() {
    for (exit, code, _) in EXIT_TABLE {
        assert_eq!(exit.code(), code);
        assert!(PRECEDENCE.contains(&exit));
    }
}
