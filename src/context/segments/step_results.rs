//! Results of earlier steps, as the settings of the operators on the way ask for them.
//!
//! In a dry run the results of many steps are one segment, so that a manifest grows with the steps and not with their square.

use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::fill::Unknown;
use crate::context::given_results::GivenResults;
use crate::context::request::StepResult;
use crate::context::scope;
use crate::context::segments::draft::DraftSegment;
use crate::context::task_graph::Link;
use crate::context::values::Scope;
use crate::kernel::context::{Kind, Origin, Segment, Stability, Traced, Trust};
use crate::registry::result_names::of_round;
use crate::registry::{Child, Node};
use crate::template::setting::SettingName;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Tokens that notes have at most: what has none is cut to them.
const NOTES: usize = 200;
/// So many results that are not known are told one by one; of more, all but the last [`NEAREST`] as one.
const MANY: usize = 32;
const NEAREST: usize = 4;

/// A step whose result is carried along.
struct Step<'n> {
    /// Its name, where it has one.
    name: Option<&'n str>,
    /// Its path in the definition.
    node: Cow<'n, str>,
    /// Whether what it left may give orders.
    trust: Trust,
}

impl Step<'_> {
    fn word(&self) -> &str {
        self.name.unwrap_or(&self.node)
    }
}

/// What reaches the node at the end of a chain.
pub(in crate::context) fn accumulated(
    chain: &[Link<'_>],
    scope: &Scope,
    results: &GivenResults<'_>,
    unknown: Unknown,
) -> Vec<DraftSegment> {
    let mut context = Vec::new();
    let Some((definition, parent, child)) = runner(chain) else { return context };
    let outside = scope.outside_in(definition);
    // Inputs and calls are made before the first step.
    if matches!(child.slot.as_str(), "inputs" | "calls") || parent.node.setting(SettingName::AccumulateData) != "true" {
        return context;
    }
    let format = parent.node.setting(SettingName::AccumulationFormat);
    let mut open = Vec::new();
    for (name, node) in steps_before(parent.node, child) {
        let found = results.find(parent, &node);
        let trust = if outside.contains(&*node) { Trust::Untrusted } else { Trust::Trusted };
        let step = Step { name, node, trust };
        match found {
            None if unknown.is_dry() => open.push(step),
            _ => {
                flush(&mut open, format, (results, parent), &mut context);
                context.push(left_by(&step, found, format, (results, parent, unknown)));
            }
        }
    }
    flush(&mut open, format, (results, parent), &mut context);
    context
}

/// The node that runs the steps of which one leads to the end of a chain, through references, and that step; and the number of the
/// definition on the way that it stands in.
fn runner<'l, 'f>(chain: &'l [Link<'f>]) -> Option<(usize, &'l Link<'f>, &'f Child)> {
    let (link, before) = chain.split_last()?;
    let mut child = link.child;
    for (at, link) in before.iter().enumerate().rev() {
        if let Some(child) = child.filter(|_| link.node.element != "cond") {
            let definitions = chain.iter().take(at + 1).filter(|link| link.child.is_none()).count();
            return Some((definitions.saturating_sub(1), link, child));
        }
        child = link.child;
    }
    None
}

/// Tells the results that are not known.
fn flush(
    open: &mut Vec<Step<'_>>,
    format: &str,
    (results, parent): (&GivenResults<'_>, &Link<'_>),
    context: &mut Vec<DraftSegment>,
) {
    let many = if open.len() > MANY { open.len() - NEAREST } else { 0 };
    if many > 0 {
        let drained = || open.iter().take(many);
        let trust = drained().map(|step| step.trust).max().unwrap_or_default();
        let mut others: Vec<String> = drained().map(|step| step.word().to_owned()).collect();
        open.drain(..many);
        // Each has a heading with its own name.
        let title = others.pop().unwrap_or_default();
        let segment = Segment { title, ..segment("earlier steps", trust, format) };
        context.push(DraftSegment { others, ..waiting(segment, format!("results of {many} earlier steps")) });
    }
    let one = |step: Step<'_>| {
        let name = results.handle(parent, step.name, &step.node);
        waiting(segment(step.word(), step.trust, format), format!("result of {name}"))
    };
    context.extend(open.drain(..).map(one));
}

/// A segment whose text only a run knows.
fn waiting(mut segment: Segment, what: String) -> DraftSegment {
    segment.text.leave_open();
    DraftSegment { unknown: BTreeSet::from([what]), ..DraftSegment::whole(segment) }
}

fn left_by(
    step: &Step<'_>,
    found: Option<(&str, &StepResult)>,
    format: &str,
    (results, parent, unknown): (&GivenResults<'_>, &Link<'_>, Unknown),
) -> DraftSegment {
    let mut segment = segment(step.word(), step.trust, format);
    if let Some((key, result)) = found {
        segment.text = Traced::new(carried(result, format), Origin::Result { name: key.to_owned() });
        return DraftSegment::whole(segment);
    }
    let name = results.handle(parent, step.name, &step.node);
    if unknown != Unknown::Fault {
        return waiting(segment, format!("result of {name}"));
    }
    let kind = FaultKind::Missing { name, origin: MissingFrom::Result };
    DraftSegment { faults: vec![Fault::of(scope::place(parent, &step.node, ""), kind)], ..DraftSegment::whole(segment) }
}

fn segment(name: &str, trust: Trust, format: &str) -> Segment {
    let (id, why) =
        (format!("{}:{name}", Kind::Accumulated.word()), format!("accumulate_data true, accumulation_format {format}"));
    let segment = Segment::of(Kind::Accumulated, Traced::default(), why).named(id, name).stable(Stability::Session);
    Segment { trust, ..segment }
}

/// The steps before one: those of a sequence, or the parts of a round.
fn steps_before<'n>(parent: &'n Node, child: &Child) -> Vec<(Option<&'n str>, Cow<'n, str>)> {
    if child.slot == "steps" {
        return scope::earlier(parent, child).map(|step| (step.name.as_deref(), Cow::Borrowed(&*step.node.id))).collect();
    }
    let parts = [("director", "director_result"), ("script_execution", "script_result")];
    let before = parts.into_iter().take_while(|(slot, _)| *slot != child.slot);
    let there = before.filter(|(slot, _)| parent.children.iter().any(|child| child.slot == *slot));
    there.map(|(_, name)| (Some(name), Cow::Owned(of_round(parent, name)))).collect()
}

/// A result in the form in which it is carried along. Without notes its content stands in, cut and marked.
fn carried(result: &StepResult, format: &str) -> String {
    let content = scope::content(result);
    let notes = result.notes.clone().unwrap_or_else(|| {
        // A token is about four bytes; the exact cut is the assembler's.
        let room = content.floor_char_boundary(NOTES * 4);
        if room == content.len() {
            content.clone()
        } else {
            format!("{}\n[no notes: the first part of the content]", &content.get(..room).unwrap_or(""))
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
