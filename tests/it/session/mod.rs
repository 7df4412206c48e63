//! Sessions of coding agents: planted facts in every format, hostile files, the report.

mod formats;
mod hostile;
mod planted;
mod report;
mod writers;

/// A session of Claude Code with one compaction.
pub(crate) fn short_session() -> String {
    let steps = [
        writers::Step::User("Never edit the generated clients by hand.".into()),
        writers::Step::Compact("The checkout is fixed.".into()),
    ];
    writers::write_session(writers::Agent::Claude, &steps)
}

/// A session of Claude Code that loses an instruction, a file, an error and a version.
pub(crate) fn losing_session() -> String {
    let mut steps = report::steps();
    steps.insert(
        0,
        writers::Step::Assistant("The lock file has react 18.2.0 today.".into()),
    );
    for step in &mut steps {
        if let writers::Step::Compact(summary) = step {
            summary.push_str(" It uses react 19.0.1.");
        }
    }
    steps.push(writers::Step::Compact("Nothing.".into()));
    let text = writers::write_session(writers::Agent::Claude, &steps);
    format!("{text}not a row\n{{\"type\": \"hologram\"}}\n")
}
