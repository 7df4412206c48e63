//! What the wordings of this family share.

use crate::base::rule_meta::Example;
use crate::base::span::Span;

/// The template of examples.
pub(super) const TASK: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>sort {{ticket}}</description>
  <parameters>
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>
  </parameters>
  <context_management>
    <inherit_context>full</inherit_context>
  </context_management>
</task>
";

/// An example: the template with these files.
pub(super) const fn files(project: &'static str) -> Example {
    Example { template: TASK, project }
}

/// An example: the template, or another one, with a scenario whose first keys are the same in all of them.
macro_rules! scenario {
    ($rest:literal) => {
        scenario!($crate::rules::scenario::words::TASK, $rest)
    };
    ($template:expr, $rest:literal) => {
        Example {
            template: $template,
            project: concat!(
                "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
",
                $rest
            ),
        }
    };
}
pub(super) use scenario;

/// A scenario in which nothing is wrong.
pub(super) const SOUND: &[Example] = &[scenario!("expect_context:\n  - nothing_cut: true\n")];

/// `a`, `b`, `c`.
pub(super) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The same, of names that may be many.
pub(super) fn some(names: &[&str]) -> String {
    const MOST: usize = 8;
    match names.get(MOST..) {
        Some([]) | None => list(names),
        Some(rest) => format!("{} and {} more", list(names.get(..MOST).unwrap_or(names)), rest.len()),
    }
}

/// The beginning of a text, on one line.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    let is_whole = line.len() == text.trim_end().len() && line.chars().count() <= MOST;
    if is_whole { line.to_owned() } else { format!("{}…", line.chars().take(MOST).collect::<String>()) }
}

/// The first line of a place: what is shown of a block.
pub(super) fn first_line(text: &str, span: Span) -> Span {
    let line = span.slice(text).lines().next().unwrap_or("").trim_end();
    Span::new(span.start, span.start + line.len() as u32)
}
