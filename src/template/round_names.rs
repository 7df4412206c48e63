//! The names that the parts of a reduce and of a loop see of their rounds: one table for `check`, for contexts and for runs.

/// The slot under which the condition of a loop is named here.
pub const CONDITION: &str = "termination_condition";

/// A name that a composite task binds for its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundName {
    /// The name.
    pub name: &'static str,
    /// The slot whose answer it is; its own name where it is no part's answer.
    pub of: &'static str,
    /// What the task must hold for it, or the name stands for nothing here.
    pub needs: Option<&'static str>,
    /// The slots that see it.
    pub seen_by: &'static [&'static str],
}

const IN_LOOP: &[&str] = &["director", "script_execution", "evaluator", CONDITION];

/// Every such name.
#[rustfmt::skip]
pub static ROUND_NAMES: [RoundName; 8] = [
    row("current_input",       "current_input",       None,                     &["inner_task", "reduction_task"]),
    row("current_result",      "inner_task",          None,                     &["reduction_task"]),
    row("accumulator",         "accumulator",         Some("initial_value"),    &["reduction_task"]),
    row("current_iteration",   "current_iteration",   None,                     IN_LOOP),
    row("evaluation_feedback", "evaluation_feedback", None,                     IN_LOOP),
    row("director_result",     "director",            None,                     &["script_execution", "evaluator", CONDITION]),
    row("script_result",       "script_execution",    Some("script_execution"), &["evaluator", CONDITION]),
    row("evaluation",          "evaluator",           None,                     &[CONDITION]),
];

const fn row(name: &'static str, of: &'static str, needs: Option<&'static str>, seen_by: &'static [&'static str]) -> RoundName {
    RoundName { name, of, needs, seen_by }
}

/// The names that a slot sees.
pub fn seen_by(slot: &str) -> impl Iterator<Item = &'static RoundName> {
    ROUND_NAMES.iter().filter(move |row| row.seen_by.contains(&slot))
}
