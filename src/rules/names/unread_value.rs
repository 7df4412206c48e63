//! CTX328: a value of a round, or the answer of a step, that no request contains.

use super::names_prelude::*;
use crate::syntax::write::insert_child;
use crate::template::round_names::{ROUND_NAMES, is_last_word_of};
use crate::template::scope::{ImplicitParameter, UnreadValue};
use std::collections::BTreeSet;

/// The call that made it is wasted, and rounds that should differ are equal. Not an error: a role
/// may work through its tools alone.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        328,
        "unread-value",
        "what a round or a step hands on reaches no request"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut unread = unread_values(cx).peekable();
    if unread.peek().is_none() {
        return;
    }
    let wrong_names = WrongNames::new(cx);
    for (what, span) in unread {
        let part = cx.document.element_at(span.start);
        if part.is_some_and(|part| wrong_names.has_undeclared(part, what)) {
            continue;
        }
        if let Some(found) = part.and_then(|part| report_misnamed(cx, part, &wrong_names, what)) {
            out.push(found);
            continue;
        }
        let (message, help) = message_and_help(what);
        let found = file_finding(&RULE.meta, cx, span, message).help(help);
        out.push(
            match input_name(what)
                .zip(part)
                .and_then(|(name, part)| add_input_fix(part, name))
            {
                Some(fix) => found.fix(fix),
                None => found,
            },
        );
    }
}

/// Returns the unread values of a file, with the spans of the parts that should read them.
fn unread_values(cx: &FileCx<'_>) -> impl Iterator<Item = (UnreadValue, Span)> {
    cx.scopes.faults.iter().filter_map(|fault| {
        if let ScopeFaultKind::Unread(what) = fault.kind {
            Some((what, fault.span))
        } else {
            None
        }
    })
}

/// Returns the spans of the implicit parameters that are reported as names of another language for
/// values of a round.
pub(super) fn misnamed_spans(cx: &FileCx<'_>) -> BTreeSet<Span> {
    let mut unread = unread_values(cx).peekable();
    if unread.peek().is_none() {
        return BTreeSet::new();
    }
    let wrong_names = WrongNames::new(cx);
    unread
        .filter_map(|(what, span)| Some((what, cx.document.element_at(span.start)?)))
        .filter(|(what, part)| !wrong_names.has_undeclared(*part, *what))
        .flat_map(|(what, part)| wrong_names.misnamed_in(part, what))
        .map(|(parameter, _)| parameter.name.span)
        .collect()
}

/// Names of a file that probably stand for the value of a round.
struct WrongNames<'f, 'a> {
    /// Implicit parameters such as `input`.
    misnamed: Vec<&'f ImplicitParameter<'a>>,
    /// Variables without a value by their offsets, each with the names that it has or may mean.
    undeclared: Vec<(u32, [&'f str; 2])>,
}

impl<'f, 'a> WrongNames<'f, 'a> {
    fn new(cx: &'f FileCx<'a>) -> Self {
        let misnamed = cx.scopes.implicit.iter().filter(|found| {
            ROUND_NAMES
                .iter()
                .any(|row| is_last_word_of(&found.name.value, row.name))
        });
        let undeclared = cx.scopes.faults.iter().filter_map(|fault| {
            let ScopeFaultKind::Undeclared { name, near, .. } = &fault.kind else {
                return None;
            };
            Some((
                fault.span.start,
                [&**name, near.as_deref().unwrap_or_default()],
            ))
        });
        let mut wrong_names = Self {
            misnamed: misnamed.collect(),
            undeclared: undeclared.collect(),
        };
        wrong_names.undeclared.sort_unstable();
        wrong_names
    }

    /// Returns the implicit parameters in a part that stand for a value, with the value's name.
    fn misnamed_in(
        &self,
        part: Element<'_>,
        what: UnreadValue,
    ) -> Vec<(&'f ImplicitParameter<'a>, &'static str)> {
        let of = |parameter: &'f ImplicitParameter<'a>| {
            let mut values = values(what).iter();
            let value = values.find(|value| is_last_word_of(&parameter.name.value, value))?;
            part.span()
                .contains(parameter.name.span.start)
                .then_some((parameter, *value))
        };
        self.misnamed.iter().copied().filter_map(of).collect()
    }

    /// True if a value is unread because its name is misspelled, or lacks what it is made of, which
    /// `undeclared-variable` reports.
    fn has_undeclared(&self, part: Element<'_>, what: UnreadValue) -> bool {
        let first = self
            .undeclared
            .partition_point(|(at, _)| *at < part.span().start);
        self.undeclared
            .iter()
            .skip(first)
            .take_while(|(at, _)| part.span().contains(*at))
            .any(|(_, names)| names.iter().any(|name| values(what).contains(name)))
    }
}

/// Reports names such as `input` that are parameters of the whole task, where `current_input` is the
/// value of the round.
fn report_misnamed(
    cx: &FileCx<'_>,
    part: Element<'_>,
    wrong_names: &WrongNames<'_, '_>,
    what: UnreadValue,
) -> Option<Diagnostic> {
    let mut found: Option<Diagnostic> = None;
    let mut edits = Vec::new();
    for (parameter, value) in wrong_names.misnamed_in(part, what) {
        let name = &*parameter.name.value;
        let message = format!(
            "`{name}` is a parameter of the whole task here, the same in each round: the value of a round is `{value}`"
        );
        found = Some(match found.take() {
            None => file_finding(&RULE.meta, cx, parameter.name.span, message).help(format!(
                "write `{value}`, or read it as well if a caller gives `{name}`"
            )),
            Some(found) => found.label(parameter.name.span, message),
        });
        let spans = spans_in_braces(part, name).into_iter();
        edits.extend(spans.map(|span| Edit::replace(span, value)));
    }
    found.map(|found| match values(what) {
        [value] if !edits.is_empty() => {
            found.fix(Fix::suggested(format!("write `{value}`"), edits))
        }
        [_, _, ..] if !edits.is_empty() => {
            found.fix(Fix::suggested("write the names of a round's values", edits))
        }
        _ => found,
    })
}

/// The spans of a name that stands alone in braces, in the texts of a part.
fn spans_in_braces(part: Element<'_>, name: &str) -> Vec<Span> {
    let text = part.document().text;
    let own = part.span();
    let is_alone = |span: Span| {
        let before = Span::new(own.start, span.start).slice(text);
        let after = Span::new(span.end, own.end).slice(text);
        before.trim_end().ends_with("{{") && after.trim_start().starts_with("}}")
    };
    own.slice(text)
        .match_indices(name)
        .map(|(at, name)| {
            Span::from_offsets(
                own.start as usize + at,
                own.start as usize + at + name.len(),
            )
        })
        .filter(|span| is_alone(*span))
        .collect()
}

const fn message_and_help(what: UnreadValue) -> (&'static str, &'static str) {
    const ALLOW: &str =
        "where that is meant, say so inside the task: <?ctxc allow unread-value reason=\"…\"?>";
    match what {
        UnreadValue::CurrentInput => (
            "no part of this `reduce` reads `current_input`: the requests of each round are the same, whatever its input is",
            ALLOW,
        ),
        UnreadValue::CurrentResult => (
            "`current_result` is never read: what `inner_task` answers reaches no request",
            ALLOW,
        ),
        UnreadValue::Accumulator => (
            "`accumulator` is never read: each round drops what the rounds before it merged",
            "give the `reduce` an `initial_value` and read `accumulator` in `reduction_task`",
        ),
        UnreadValue::Reduce => (
            "nothing in this `reduce` reads `current_input`, `current_result` or `accumulator`: each round sends the same requests, and all answers but the last are lost",
            "read `current_input` in `inner_task`, and `current_result` and `accumulator` in `reduction_task`",
        ),
        UnreadValue::DirectorResult => (
            "the evaluator is not shown `director_result`: it judges what it does not see",
            ALLOW,
        ),
        UnreadValue::EvaluationFeedback => (
            "`evaluation_feedback` is never read: each round begins as the first did, whatever the evaluator found",
            ALLOW,
        ),
        UnreadValue::Loop => (
            "nothing in this loop reads `director_result` or `evaluation_feedback`: no round makes use of what another part answered",
            "read `evaluation_feedback` in `director`, and `director_result` in `evaluator`",
        ),
        UnreadValue::Step => (
            "no later step reads or is shown what this step answers",
            "name its result with `as` and read it in a later step, set `accumulate_data` to true, or remove the step; if it works by its tools alone: <?ctxc allow unread-value reason=\"…\"?>",
        ),
    }
}

/// The names of the values that are unread.
const fn values(what: UnreadValue) -> &'static [&'static str] {
    match what {
        UnreadValue::CurrentInput => &["current_input"],
        UnreadValue::CurrentResult => &["current_result"],
        UnreadValue::Accumulator => &["accumulator"],
        UnreadValue::Reduce => &["current_input", "current_result", "accumulator"],
        UnreadValue::DirectorResult => &["director_result"],
        UnreadValue::EvaluationFeedback => &["evaluation_feedback"],
        UnreadValue::Loop => &["director_result", "evaluation_feedback"],
        UnreadValue::Step => &[],
    }
}

/// The name of an input that makes an agent read the value; `None` if more than that is missing.
const fn input_name(what: UnreadValue) -> Option<&'static str> {
    match (what, values(what)) {
        (UnreadValue::Accumulator, _) => None,
        (_, [name]) => Some(name),
        _ => None,
    }
}

/// Returns the fix that adds a value as an input of an agent; `None` for a part composed of others.
fn add_input_fix(part: Element<'_>, name: &str) -> Option<Fix> {
    const COMPOSITE: [ElementKind; 4] = [
        ElementKind::Steps,
        ElementKind::InnerTask,
        ElementKind::Command,
        ElementKind::Director,
    ];
    if part
        .elements()
        .any(|child| COMPOSITE.iter().any(|kind| kind.tag() == child.name()))
    {
        return None;
    }
    let input = format!("<input name=\"{name}\" from=\"{name}\"/>");
    let edit = match part
        .elements()
        .find(|child| child.name() == ElementKind::Inputs.tag())
    {
        Some(inputs) => insert_child(inputs, &input),
        None => insert_child(part, &format!("<inputs>\n  {input}\n</inputs>")),
    };
    Some(Fix::suggested(
        format!("read `{name}` as an input"),
        vec![edit],
    ))
}
