//! Sessions that tests of other parts of the program read.

use super::report::steps;
use super::writers::{Agent, Step, write_session};

/// A session of Claude Code with one compaction.
pub(crate) fn short_session() -> String {
    let steps = [
        Step::User("Never edit the generated clients by hand.".into()),
        Step::Compact("The checkout is fixed.".into()),
    ];
    write_session(Agent::Claude, &steps)
}

/// A session of Claude Code that loses an instruction, a file, an error and a version.
pub(crate) fn losing_session() -> String {
    let mut steps = steps();
    steps.insert(
        0,
        Step::Assistant("The lock file has react 18.2.0 today.".into()),
    );
    for step in &mut steps {
        if let Step::Compact(summary) = step {
            summary.push_str(" It uses react 19.0.1.");
        }
    }
    steps.push(Step::Compact("Nothing.".into()));
    let text = write_session(Agent::Claude, &steps);
    format!("{text}not a row\n{{\"type\": \"hologram\"}}\n")
}
