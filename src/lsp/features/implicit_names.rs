//! Names that the language binds inside a loop or a reduce: their meanings, sources and uses.

use super::variables::{self, Occurrence, OccurrenceRole, VariableAtCursor};
use crate::lsp::prelude::*;
use crate::syntax::tree::{Element, XmlDocument};
use crate::template::scope::UseTarget;

/// Returns the meaning of such a name.
pub(in crate::lsp) fn meaning(name: &str) -> Option<&'static str> {
    Some(match name {
        "accumulator" => "the value reduced so far: `initial_value` before the first input",
        "current_input" => "the input of this round of the reduction",
        "current_iteration" => "the round of the loop, from 1",
        "current_result" => "the result of `inner_task` for this input",
        "director_result" => "the result of `director` in this round",
        "evaluation" => "the answer of `evaluator` in this round, with its fields",
        "evaluation_feedback" => "the feedback of `evaluator` from the previous round",
        "script_result" => "the output of `script_execution` in this round",
        _ => return None,
    })
}

/// Returns the names that the language binds inside an element.
pub(in crate::lsp) fn names_inside(tag: &str) -> &'static [&'static str] {
    match tag {
        "inner_task" => &["current_input"],
        "reduction_task" => &["current_input", "current_result", "accumulator"],
        "director" => &["current_iteration", "evaluation_feedback"],
        "script_execution" => &[
            "current_iteration",
            "evaluation_feedback",
            "director_result",
        ],
        "evaluator" => &[
            "current_iteration",
            "evaluation_feedback",
            "director_result",
            "script_result",
        ],
        "termination_condition" => &[
            "current_iteration",
            "evaluation_feedback",
            "director_result",
            "script_result",
            "evaluation",
        ],
        _ => &[],
    }
}

/// Each name with the part that is its source, and a part that every such construct has.
const NAME_SOURCES: [(&str, &str, &str); 8] = [
    ("accumulator", "initial_value", "reduction_task"),
    ("current_input", "inputs", "reduction_task"),
    ("current_iteration", "max_iterations", "director"),
    ("current_result", "inner_task", "reduction_task"),
    ("director_result", "director", "director"),
    ("evaluation", "evaluator", "director"),
    ("evaluation_feedback", "evaluator", "director"),
    ("script_result", "script_execution", "director"),
];

/// Returns the source and the uses of a name that the language binds, in order; none for other
/// names.
pub(in crate::lsp) fn occurrences(
    project: &ProjectState,
    pointed: &VariableAtCursor,
) -> Vec<Occurrence> {
    let file = &pointed.variable.file;
    let Some(traced) = variables::trace_file(project, file, "") else {
        return Vec::new();
    };
    let one = |span: Span, role: OccurrenceRole| Occurrence {
        file: file.clone(),
        span,
        role,
    };
    place::with_document(&traced.text, &project.config.limits, |document| {
        let Some((holder, part)) = source_part(document, pointed.span.start, &pointed.name) else {
            return Vec::new();
        };
        let mut found = vec![one(part.name_span(), OccurrenceRole::Definition)];
        let uses = traced
            .trace
            .uses
            .iter()
            .filter(|used| used.name == pointed.name && used.target == UseTarget::Language);
        for span in uses.flat_map(|used| variables::use_spans(used, &traced.text)) {
            let own = self::source_part(document, span.start, &pointed.name);
            if own.is_some_and(|(own, _)| own.id() == holder.id()) {
                found.push(one(span, OccurrenceRole::Use));
            }
        }
        found.sort();
        found
    })
}

/// Returns the loop or reduce around a place, and the part that is the source of a name.
pub(in crate::lsp) fn source_part<'a>(
    document: XmlDocument<'a>,
    offset: u32,
    name: &str,
) -> Option<(Element<'a>, Element<'a>)> {
    let (_, own, always) = NAME_SOURCES
        .into_iter()
        .find(|(known, ..)| *known == name)?;
    let around = place::ancestors(document.element_at(offset));
    let child =
        |holder: Element<'a>, tag: &str| holder.elements().find(|child| child.name() == tag);
    let (holder, marker) = around
        .into_iter()
        .find_map(|holder| Some((holder, child(holder, always)?)))?;
    Some((holder, child(holder, own).unwrap_or(marker)))
}
