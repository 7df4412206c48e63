//! Results of earlier steps, as selected by the settings of the enclosing operators.
//!
//! In a dry run the results of many steps are merged into one segment, so that a manifest grows
//! linearly with the number of steps.

use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::fill::Unknown;
use crate::context::given_results::GivenResults;
use crate::context::request::StepResult;
use crate::context::scope::{self, ChainMemo};
use crate::context::segments::draft::DraftSegment;
use crate::context::segments::sequence_steps::{SequenceStep, SequenceSteps, StepRun};
use crate::context::task_graph::Link;
use crate::context::values::Scope;
use crate::kernel::context::{Kind, Origin, Segment, Stability, Traced, Trust};
use crate::registry::result_names::of_round;
use crate::registry::{Child, Node};
use crate::template::setting::SettingName;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The maximum tokens of a result's content that replaces missing notes.
const NOTES: usize = 200;
/// The maximum number of unknown results or inputs that are listed one by one; of more, all but the
/// [`NEAREST`] are merged.
pub(in crate::context) const MANY: usize = 32;
/// The number of the nearest ones that are always listed one by one.
pub(in crate::context) const NEAREST: usize = 4;

/// Returns the results of earlier steps that reach the node at the end of a chain.
pub(in crate::context) fn accumulated(
    chain: &[Link<'_>],
    scope: &Scope,
    (results, unknown): (&GivenResults<'_>, Unknown),
    memo: &mut ChainMemo,
) -> Vec<DraftSegment> {
    let mut context = Vec::new();
    let Some((at, child)) = runner(chain) else {
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
    let format = parent.node.setting(SettingName::AccumulationFormat);
    let definition = chain
        .iter()
        .take(at + 1)
        .filter(|link| link.child.is_none())
        .count()
        .saturating_sub(1);
    let steps = memo.steps(at, || steps(parent.node, &scope.outside_in(definition)));
    let before = steps_before(&steps, child);
    let is_open =
        |step: &SequenceStep| unknown.is_dry() && results.find(parent, &step.node).is_none();
    let mut from = 0;
    while from < before {
        let open = steps
            .steps
            .iter()
            .take(before)
            .skip(from)
            .take_while(|step| is_open(step))
            .count();
        tell(
            StepRun {
                of: Rc::clone(&steps),
                range: from..from + open,
            },
            format,
            (results, parent),
            &mut context,
        );
        from += open;
        if let Some(step) = steps.steps.get(from).filter(|_| from < before) {
            context.push(left_by(step, format, (results, parent, unknown)));
        }
        from += 1;
    }
    context
}

/// Returns the index of the innermost node in the chain that runs the chain's end as one of its
/// steps, through references, and that step.
fn runner<'f>(chain: &[Link<'f>]) -> Option<(usize, &'f Child)> {
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
fn tell(
    run: StepRun,
    format: &str,
    (results, parent): (&GivenResults<'_>, &Link<'_>),
    context: &mut Vec<DraftSegment>,
) {
    let StepRun { of, range } = run;
    let many = if range.len() > MANY {
        range.len() - NEAREST
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
            title: last.word().to_owned(),
            ..segment("earlier steps", trust, format)
        };
        let others = StepRun {
            of: Rc::clone(&of),
            range: range.start..range.start + others.len(),
        };
        let what = format!("results of {many} earlier steps");
        context.push(DraftSegment {
            others: Some(others),
            ..waiting(segment, what)
        });
    }
    let one = |step: &SequenceStep| {
        let name = results.handle(parent, step.name.as_deref(), &step.node);
        waiting(
            segment(step.word(), step.trust, format),
            format!("result of {name}"),
        )
    };
    context.extend(nearest.iter().map(one));
}

/// Returns a segment whose text only a run knows.
fn waiting(mut segment: Segment, what: String) -> DraftSegment {
    segment.text.leave_open();
    DraftSegment {
        unknown: BTreeSet::from([what]),
        ..DraftSegment::whole(segment)
    }
}

fn left_by(
    step: &SequenceStep,
    format: &str,
    (results, parent, unknown): (&GivenResults<'_>, &Link<'_>, Unknown),
) -> DraftSegment {
    let mut segment = segment(step.word(), step.trust, format);
    if let Some((key, result)) = results.find(parent, &step.node) {
        segment.text = Traced::new(
            carried(result, format),
            Origin::Result {
                name: key.to_owned(),
            },
        );
        return DraftSegment::whole(segment);
    }
    let name = results.handle(parent, step.name.as_deref(), &step.node);
    if unknown != Unknown::Fault {
        return waiting(segment, format!("result of {name}"));
    }
    let kind = FaultKind::Missing {
        name,
        origin: MissingFrom::Result,
    };
    DraftSegment {
        faults: vec![Fault::of(scope::place(parent, &step.node, ""), kind)],
        ..DraftSegment::whole(segment)
    }
}

fn segment(name: &str, trust: Trust, format: &str) -> Segment {
    let (id, why) = (
        format!("{}:{name}", Kind::Accumulated.word()),
        format!("accumulate_data true, accumulation_format {format}"),
    );
    let segment = Segment::of(Kind::Accumulated, Traced::default(), why)
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
fn steps(parent: &Node, outside: &BTreeSet<String>) -> SequenceSteps {
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
            Some(step(Some(name.to_owned()), of_round(parent, name)))
        }
    };
    SequenceSteps::new(parent.children.iter().filter_map(of).collect())
}

/// Returns the number of steps before `child`.
fn steps_before(steps: &SequenceSteps, child: &Child) -> usize {
    if child.slot == "steps" {
        return child.number().unwrap_or(0);
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
fn carried(result: &StepResult, format: &str) -> String {
    let content = scope::content(result);
    let notes = result.notes.clone().unwrap_or_else(|| {
        // A token is about four bytes; the exact cut is made by the assembler.
        let room = content.floor_char_boundary(NOTES * 4);
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
