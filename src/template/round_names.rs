//! The names that the parts of a reduce and of a loop can read in each round: one table for
//! `check`, for contexts and for runs.

/// The slot name of a loop's condition.
pub const CONDITION: &str = "termination_condition";

/// A name that a composite task binds for its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundName {
    /// The name.
    pub name: &'static str,
    /// The slot whose answer it holds, or its own name if it is not the answer of a part.
    pub answer_slot: &'static str,
    /// The child that the task must have; without it, the name is not bound.
    pub required_child: Option<&'static str>,
    /// The slots that can read it.
    pub seen_by: &'static [&'static str],
}

/// True if a word is the last of a round's name, as `input` is of `current_input`: the name that
/// other languages have for such a value.
pub fn is_last_word_of(word: &str, name: &str) -> bool {
    name.rsplit_once('_').is_some_and(|(_, last)| last == word)
}

const IN_LOOP: &[&str] = &["director", "script_execution", "evaluator", CONDITION];

/// All names that composite tasks bind.
#[rustfmt::skip]
pub static ROUND_NAMES: [RoundName; 8] = [
    round_name("current_input",       "current_input",       None,                     &["inner_task", "reduction_task"]),
    round_name("current_result",      "inner_task",          None,                     &["reduction_task"]),
    round_name("accumulator",         "accumulator",         Some("initial_value"),    &["reduction_task"]),
    round_name("current_iteration",   "current_iteration",   None,                     IN_LOOP),
    round_name("evaluation_feedback", "evaluation_feedback", None,                     IN_LOOP),
    round_name("director_result",     "director",            None,                     &["script_execution", "evaluator", CONDITION]),
    round_name("script_result",       "script_execution",    Some("script_execution"), &["evaluator", CONDITION]),
    round_name("evaluation",          "evaluator",           None,                     &[CONDITION]),
];

const fn round_name(
    name: &'static str,
    of: &'static str,
    needs: Option<&'static str>,
    seen_by: &'static [&'static str],
) -> RoundName {
    RoundName {
        name,
        answer_slot: of,
        required_child: needs,
        seen_by,
    }
}

/// Returns the names that a slot can read.
pub fn names_seen_by(slot: &str) -> impl Iterator<Item = &'static RoundName> {
    ROUND_NAMES
        .iter()
        .filter(move |row| row.seen_by.contains(&slot))
}
