//! Results of earlier steps, as selected by the settings of the enclosing operators.
//!
//! In a dry run the results of many steps are merged into one segment, so that a manifest grows
//! linearly with the number of steps.

use super::draft_segment::{DraftSegment, SequenceStep, SequenceSteps, StepRun};
use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::fill::UnknownHandling;
use crate::context::given_results::GivenResults;
use crate::context::request::StepResult;
use crate::context::scope::{self, ChainMemo};
use crate::context::task_graph::ChainLink;
use crate::context::values::NameScope;
use crate::kernel::context::{Kind, Origin, Segment, Stability, TracedText, Trust};
use crate::registry::result_names::round_variable_path;
use crate::registry::{Child, Node};
use crate::template::setting::SettingName;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The maximum tokens of a result's content that replaces missing notes.
const MAX_NOTE_TOKENS: usize = 200;
/// The maximum number of unknown results or inputs that are listed one by one. If more are unknown,
/// all but the nearest [`ALWAYS_LISTED`] are merged.
pub(in crate::context) const MAX_LISTED: usize = 32;
/// The number of the nearest unknown results or inputs that are always listed one by one.
pub(in crate::context) const ALWAYS_LISTED: usize = 4;

/// Returns the results of earlier steps that reach the node at the end of a chain.
pub(in crate::context) fn accumulated_results(
    chain: &[ChainLink<'_>],
    scope: &NameScope,
    results: &GivenResults<'_>,
    memo: &mut ChainMemo,
) -> Vec<DraftSegment> {
    let mut context = Vec::new();
    let Some((at, child)) = find_runner(chain) else {
        return context;
    };
    let Some(parent) = chain.get(at) else {
        return context;
    };
    // Inputs and calls are produced before the first step.
    if matches!(child.slot.as_str(), "inputs" | "calls")
        || parent.node.setting(SettingName::AccumulateData) != "true"
    {
        return context;
    }
    let unknown = memo.unknown;
    let definition = chain
        .iter()
        .take(at + 1)
        .filter(|link| link.child.is_none())
        .count()
        .saturating_sub(1);
    let steps = memo.sequence_steps(at, || {
        carried_steps(parent.node, &scope.untrusted_places_of(definition))
    });
    let before = steps_before(&steps, child);
    let is_open =
        |step: &SequenceStep| unknown.is_dry_run() && results.find(parent, &step.node).is_none();
    let mut from = 0;
    while from < before {
        let open = steps
            .steps
            .iter()
            .take(before)
            .skip(from)
            .take_while(|step| is_open(step))
            .count();
        push_unknown_results(
            StepRun {
                sequence: Rc::clone(&steps),
                range: from..from + open,
            },
            results,
            parent,
            &mut context,
        );
        from += open;
        if let Some(step) = steps.steps.get(from).filter(|_| from < before) {
            context.push(result_segment(step, results, parent, unknown));
        }
        from += 1;
    }
    context
}

/// Returns the index of the innermost node in the chain that runs the chain's end as one of its
/// steps, through references, and that step.
fn find_runner<'f>(chain: &[ChainLink<'f>]) -> Option<(usize, &'f Child)> {
    let (link, before) = chain.split_last()?;
    let mut child = link.child;
    for (at, link) in before.iter().enumerate().rev() {
        if let Some(child) = child.filter(|_| link.node.element != "cond") {
            return Some((at, child));
        }
        child = link.child;
    }
    None
}

/// Adds segments for unknown results; if there are many, all but the nearest are merged.
fn push_unknown_results(
    run: StepRun,
    results: &GivenResults<'_>,
    parent: &ChainLink<'_>,
    context: &mut Vec<DraftSegment>,
) {
    let StepRun {
        sequence: of,
        range,
    } = run;
    let format = parent.node.setting(SettingName::AccumulationFormat);
    let many = if range.len() > MAX_LISTED {
        range.len() - ALWAYS_LISTED
    } else {
        0
    };
    let nearest = of.steps.get(range.start + many..range.end).unwrap_or(&[]);
    if let Some((last, others)) = of
        .steps
        .get(range.start..range.start + many)
        .and_then(<[SequenceStep]>::split_last)
    {
        let trust = others
            .iter()
            .map(|step| step.trust)
            .fold(last.trust, Trust::max);
        // Each step keeps a heading with its own name.
        let segment = Segment {
            title: last.title().to_owned(),
            ..empty_segment("earlier steps", trust, format)
        };
        let others = StepRun {
            sequence: Rc::clone(&of),
            range: range.start..range.start + others.len(),
        };
        let what = format!("results of {many} earlier steps");
        context.push(DraftSegment {
            merged: Some(others),
            ..waiting_segment(segment, what)
        });
    }
    let one = |step: &SequenceStep| {
        let name = results.display_name(parent, step.name.as_deref(), &step.node);
        waiting_segment(
            empty_segment(step.title(), step.trust, format),
            format!("result of {name}"),
        )
    };
    context.extend(nearest.iter().map(one));
}

/// Returns a segment whose text only a run knows.
fn waiting_segment(mut segment: Segment, what: String) -> DraftSegment {
    segment.text.mark_open();
    DraftSegment {
        unknown: BTreeSet::from([what]),
        ..DraftSegment::known(segment)
    }
}

fn result_segment(
    step: &SequenceStep,
    results: &GivenResults<'_>,
    parent: &ChainLink<'_>,
    unknown: UnknownHandling,
) -> DraftSegment {
    let format = parent.node.setting(SettingName::AccumulationFormat);
    let mut segment = empty_segment(step.title(), step.trust, format);
    if let Some((key, result)) = results.find(parent, &step.node) {
        segment.text = TracedText::new(
            format_result(result, format),
            Origin::Result {
                name: key.to_owned(),
            },
        );
        return DraftSegment::known(segment);
    }
    let name = results.display_name(parent, step.name.as_deref(), &step.node);
    if unknown != UnknownHandling::Fault {
        return waiting_segment(segment, format!("result of {name}"));
    }
    let kind = FaultKind::Missing {
        name,
        origin: MissingFrom::Result,
    };
    DraftSegment {
        faults: vec![Fault::at_place(
            scope::place_in(parent, &step.node, ""),
            kind,
        )],
        ..DraftSegment::known(segment)
    }
}

fn empty_segment(name: &str, trust: Trust, format: &str) -> Segment {
    let (id, why) = (
        format!("{}:{name}", Kind::Accumulated.as_str()),
        format!("accumulate_data true, accumulation_format {format}"),
    );
    let segment = Segment::from_template(Kind::Accumulated, TracedText::default(), why)
        .named(id, name)
        .stable(Stability::Session);
    Segment { trust, ..segment }
}

/// The parts of a round whose results later parts receive, with the names of those results.
const PARTS: [(&str, &str); 2] = [
    ("director", "director_result"),
    ("script_execution", "script_result"),
];

/// Returns the steps of a sequence, or the parts of a round.
fn carried_steps(parent: &Node, outside: &BTreeSet<String>) -> SequenceSteps {
    let step = |name: Option<String>, node: String| {
        let trust = if outside.contains(&node) {
            Trust::Untrusted
        } else {
            Trust::Trusted
        };
        SequenceStep { name, node, trust }
    };
    let of = |child: &Child| match child.slot.as_str() {
        "steps" => Some(step(child.name.clone(), child.node.id.clone())),
        slot => {
            let (_, name) = PARTS.into_iter().find(|(part, _)| *part == slot)?;
            Some(step(
                Some(name.to_owned()),
                round_variable_path(parent, name),
            ))
        }
    };
    SequenceSteps::new(parent.children.iter().filter_map(of).collect())
}

/// Returns the number of steps before `child`.
fn steps_before(steps: &SequenceSteps, child: &Child) -> usize {
    if child.slot == "steps" {
        return child.slot_number().unwrap_or(0);
    }
    let part = PARTS
        .iter()
        .position(|(part, _)| *part == child.slot)
        .unwrap_or(PARTS.len());
    let is_before = |step: &&SequenceStep| {
        PARTS
            .iter()
            .take(part)
            .any(|(_, name)| step.name.as_deref() == Some(name))
    };
    steps.steps.iter().filter(is_before).count()
}

/// Returns a result in an accumulation format. Missing notes are replaced by the first part of the
/// content, with a marker.
fn format_result(result: &StepResult, format: &str) -> String {
    let content = scope::content_text(result);
    let notes = result.notes.clone().unwrap_or_else(|| {
        // A token is about four bytes; the exact cut is made by the assembler.
        let room = content.floor_char_boundary(MAX_NOTE_TOKENS * 4);
        if room == content.len() {
            content.clone()
        } else {
            format!(
                "{}\n[no notes: the first part of the content]",
                &content.get(..room).unwrap_or("")
            )
        }
    });
    if format == "full_output" && result.notes.is_some() {
        format!("{notes}\n\n{content}")
    } else if format == "full_output" {
        content
    } else {
        notes
    }
}
