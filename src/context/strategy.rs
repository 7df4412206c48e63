//! The template strategy: builds the segments of an agent from the resolved settings of the nodes
//! above it.
//!
//! Along the chain from the task's root, each node derives its context from its parent's: inherited
//! segments, results of earlier steps, looked-up context and its own texts. Reads the stored
//! settings and resolves none.

use super::context_source::{MAX_MATCHES, Match};
use super::fault::{Fault, FaultKind, FaultPlace};
use super::fill::{Faults, Filler, UnknownHandling};
use super::given_results::GivenResults;
use super::lookup_query::{QuerySource, deferred_inputs, full_query, is_query_known};
use super::request::{CallerGoals, Request};
use super::scope::{self, Binder, ChainMemo, NodeContext};
use super::segments::draft_segment::DraftSegment;
use super::segments::task_segments::{SegmentBuilder, token_cap};
use super::segments::{caller_segments, inherited, step_results};
use super::task_graph::{ChainLink, TaskGraph};
use super::values::NameScope;
use super::{objective, role};
use crate::kernel::context::{CutPolicy, Kind, Origin, Segment, Stability, TracedText, Trust};
use crate::template::setting::SettingName;
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Builds the segments of one request.
#[derive(Debug)]
pub(super) struct Strategy<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) results: &'a GivenResults<'a>,
    pub(super) filler: Filler<'a>,
    pub(super) faults: Faults,
    /// True if a conversation may reach the agent, even an empty one, or if a text that is empty in
    /// this request may contain untrusted text in another.
    pub(super) has_open_share: bool,
    pub(super) memo: &'a mut ChainMemo,
}

impl<'a> Strategy<'a> {
    /// Returns the segments of the agent at the end of a chain, in the order of their sources.
    pub(super) fn build_segments(
        &mut self,
        forest: &'a TaskGraph<'a>,
    ) -> Result<Vec<DraftSegment>, Fault> {
        let chain = forest.find_chain(self.request.task, self.request.node)?;
        let parent = self.request.parent.iter().map(|segment| {
            let mut segment = segment.clone();
            let origin = Origin::Parent {
                id: segment.id.clone(),
            };
            segment.text = segment.text.with_origin(origin);
            DraftSegment::known(segment)
        });
        let context: Vec<DraftSegment> = parent.collect();
        let mut context = NodeContext {
            has_open_share: context.iter().any(|drafted| drafted.segment.is_turn()),
            segments: Rc::new(context),
        };
        self.memo.retain_prefix(&chain);
        for (at, link) in chain.iter().enumerate() {
            // A reference has no context of its own: the definition behind it takes its place.
            if link.node.settings.is_none() {
                continue;
            }
            let produced_input = chain.get(at + 1).map(scope::produced_input);
            if let Some(known) = produced_input.and_then(|input| self.memo.find_context(at, input))
            {
                context = known;
                continue;
            }
            let path = chain.get(..=at).unwrap_or(&[]);
            // Only faults of the last scope count, because the agent's texts are filled from it.
            self.faults.clear();
            let Self {
                request,
                results,
                filler,
                faults,
                memo,
                ..
            } = self;
            let mut binder = Binder {
                request,
                results,
                forest,
                filler: *filler,
                faults,
                memo,
            };
            let scope = binder.build_scope(path, chain.get(at + 1))?;
            let has_open_share = link.node.body.history.is_some()
                || context.has_open_share && inherited::inherits_conversation(link.node);
            context = NodeContext {
                segments: Rc::new(self.node_segments(path, &scope, &context.segments)),
                has_open_share,
            };
            if let Some(input) = produced_input {
                self.memo.record_context(at, input, &context);
            }
        }
        self.has_open_share = context.has_open_share;
        let mut context = Rc::unwrap_or_clone(context.segments);
        self.has_open_share |= context.iter().any(DraftSegment::is_blank);
        context.retain(|drafted| !drafted.is_blank());
        self.push_stage_segments(&mut context);
        let is_new = |objective: &&str| !objective::is_in_description(objective, &context);
        let goals = CallerGoals {
            objective: self.request.goals.objective.filter(is_new),
            ..self.request.goals
        };
        let may_be_described = objective::may_be_in_description(&context);
        let of_request = |segment: Segment| DraftSegment {
            is_doubtful: may_be_described && segment.id == objective::NAME,
            ..DraftSegment::known(segment)
        };
        context.extend(
            caller_segments::build_segments(&goals)
                .into_iter()
                .map(of_request),
        );
        if self.filler.unknown != UnknownHandling::Fault {
            context.extend(objective::open_segment(self.filler.registry, self.request)?);
        }
        if let Some(system) = self.request.role.and_then(|role| role.system.as_ref()) {
            role::prepend_system(system, &mut context);
        }
        let tools = self.request.role.and_then(|role| role.tools.as_ref());
        context.extend(
            tools
                .iter()
                .flat_map(|tools| tools.agent_definitions())
                .map(role::tool_segment),
        );
        context.sort_by_key(|drafted| drafted.segment.kind);
        number_repeated_ids(&mut context);
        let inside = context
            .iter_mut()
            .flat_map(|drafted| std::mem::take(&mut drafted.faults));
        self.faults.extend(inside);
        // A wrong type is the fault of the value, not of the texts that use it.
        let is_type = |fault: &Fault| matches!(*fault.kind, FaultKind::WrongType { .. });
        if self.faults.iter().any(is_type) {
            self.faults.retain(is_type);
        }
        Ok(context)
    }

    /// Returns the context of one node, derived from its parent's.
    fn node_segments(
        &mut self,
        chain: &[ChainLink<'_>],
        scope: &NameScope,
        parent: &[DraftSegment],
    ) -> Vec<DraftSegment> {
        let Some(link) = chain.last() else {
            return Vec::new();
        };
        let used = BTreeSet::new();
        let late = BTreeSet::new();
        let faults = Vec::new();
        let out = Vec::new();
        let own = SegmentBuilder {
            request: self.request,
            filler: self.filler,
            scope,
            link,
            faults,
            late,
            used,
            out,
        }
        .build_segments();
        let value = link.node.setting(SettingName::InheritContext);
        let source = QuerySource {
            node: link.node,
            scope,
            own: &own,
        };
        let mut context = inherited::inherit_segments(value, source, parent, self.filler.unknown);
        context.extend(step_results::accumulated_results(
            chain,
            scope,
            self.results,
            self.memo,
        ));
        self.push_fresh(link, source, &mut context);
        context.extend(own);
        if let Some(element) = link.node.body.history {
            context.extend(caller_segments::message_segments(self.request.history));
            let is_open =
                self.request.history.is_empty() && self.filler.unknown != UnknownHandling::Fault;
            context.extend(is_open.then(|| caller_segments::open_conversation(element)));
        }
        context
    }

    /// Adds the looked-up context of the node.
    fn push_fresh(
        &self,
        link: &ChainLink<'_>,
        source: QuerySource<'_>,
        context: &mut Vec<DraftSegment>,
    ) {
        let QuerySource { node, own, .. } = source;
        if node.setting(SettingName::FreshContext) != "enabled" {
            return;
        }
        let why = "fresh_context enabled".to_owned();
        let max_tokens = token_cap(node.body.fresh_max_tokens);
        let segment = |text: TracedText| {
            let segment =
                Segment::from_template(Kind::Fresh, text, why.clone()).stable(Stability::Call);
            Segment {
                max_tokens,
                ..segment
            }
        };
        let late = deferred_inputs(source);
        if !late.is_empty() {
            context.push(DraftSegment::defer(Kind::Fresh, &why, late));
            return;
        }
        let is_open = self.filler.unknown != UnknownHandling::Fault;
        if is_open && !(self.request.source.is_there() && is_query_known(source)) {
            let segment = segment(TracedText::default()).untrusted();
            let condition = Some("something is found");
            context.push(DraftSegment {
                unknown: BTreeSet::from(["matches".to_owned()]),
                condition,
                ..DraftSegment::known(segment)
            });
            return;
        }
        let existing = segment_files(context.iter().chain(own));
        let trusted = segment_files(
            context
                .iter()
                .chain(own)
                .filter(|drafted| drafted.is_trusted()),
        );
        // Some matches may already be in the context.
        let goals = if existing.is_empty() {
            MAX_MATCHES
        } else {
            MAX_MATCHES * 4
        };
        match self
            .request
            .source
            .search_for(self.request.role_name(), &full_query(source), goals)
        {
            Ok(found) => {
                // A value that was read from a project file is found again in that file, except for
                // its line ends.
                let texts = |is_meant: fn(&DraftSegment) -> bool| -> BTreeSet<&str> {
                    let own = own.iter().filter(|drafted| is_meant(drafted));
                    own.map(|drafted| drafted.segment.text.text().trim())
                        .collect()
                };
                let (all, trusted_texts) = (texts(|_| true), texts(DraftSegment::is_trusted));
                // Untrusted text never replaces a trusted passage.
                let is_new = |found: &Match| match found.trust {
                    Trust::Trusted => {
                        !trusted.contains(found.file())
                            && !trusted_texts.contains(found.text.trim())
                    }
                    Trust::Untrusted => {
                        !existing.contains(found.file()) && !all.contains(found.text.trim())
                    }
                };
                let new = found.into_iter().filter(is_new);
                let drafted = |Match { id, text, trust }| {
                    let text = TracedText::new(text, Origin::Match { id: id.clone() });
                    DraftSegment::known(Segment {
                        trust,
                        ..segment(text).named(format!("fresh:{id}"), id)
                    })
                };
                let new: Vec<DraftSegment> = new.take(MAX_MATCHES).map(drafted).collect();
                context.extend(new);
            }
            Err(reason) => {
                let faults = vec![Fault::at_place(
                    scope::place_in(link, &link.node.id, ""),
                    FaultKind::Source { reason },
                )];
                let segment = segment(TracedText::default()).untrusted();
                context.push(DraftSegment {
                    faults,
                    ..DraftSegment::known(segment)
                });
            }
        }
    }

    /// Adds the segments that a pipeline passes to a stage: the previous result, and the obstacles
    /// of earlier attempts.
    fn push_stage_segments(&self, context: &mut Vec<DraftSegment>) {
        // The text comes from agents that may have read untrusted text.
        let mut push =
            |kind: Kind, text: String, origin: Origin, (cut, trust): (CutPolicy, Trust)| {
                let stability = if kind == Kind::PreviousOutput {
                    Stability::Session
                } else {
                    Stability::Call
                };
                let mut text = TracedText::new(text, origin);
                // Marked for every type of value, because the author does not control its length.
                text.mark_untrusted(0);
                let segment = Segment::from_template(kind, text, "handed in by the pipeline")
                    .stable(stability);
                context.push(DraftSegment::known(Segment {
                    trust,
                    cut,
                    ..segment
                }));
            };
        if let Some(previous) = self.request.previous {
            let text = super::values::to_text(previous).into_owned();
            let is_bare = matches!(previous, Value::Null | Value::Bool(_) | Value::Number(_));
            let trust = if is_bare {
                Trust::Trusted
            } else {
                Trust::Untrusted
            };
            push(
                Kind::PreviousOutput,
                text,
                Origin::Result {
                    name: "previous".to_owned(),
                },
                (CutPolicy::Tail, trust),
            );
        }
        if self.request.attempts.is_empty() {
            return;
        }
        let mut text = String::new();
        let mut borders = Vec::new();
        for attempt in self.request.attempts {
            if !text.is_empty() {
                text.push('\n');
            }
            borders.push(text.len());
            text.push_str(&["- ", &attempt.stage, ": ", &attempt.obstacle].concat());
            if !attempt.note.is_empty() {
                text.push_str(&[" (", &attempt.note, ")"].concat());
            }
        }
        push(
            Kind::FailureHistory,
            text,
            Origin::History,
            (CutPolicy::HeadAt(borders), Trust::Untrusted),
        );
    }
}

/// Returns the paths of the files whose text the segments contain.
fn segment_files<'d>(drafted: impl Iterator<Item = &'d DraftSegment>) -> BTreeSet<String> {
    let of_file = |origin: &Origin| {
        if let Origin::File { path, .. } = origin {
            Some(path.clone())
        } else {
            None
        }
    };
    drafted
        .flat_map(|drafted| drafted.segment.text.stretches())
        .filter_map(|stretch| of_file(&stretch.origin))
        .collect()
}

/// Numbers segments that share an id, so that every id is unique.
fn number_repeated_ids(context: &mut [DraftSegment]) {
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for drafted in context {
        let count = seen.entry(drafted.segment.id.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            drafted.segment.id = format!("{}#{count}", drafted.segment.id);
        }
    }
}

/// Sorts faults by place and removes duplicates.
pub(super) fn sort_faults(mut found: Faults) -> Vec<Fault> {
    fn place(fault: &Fault) -> (&Option<FaultPlace>, &Option<Box<Origin>>) {
        (&fault.place, &fault.at)
    }
    found.sort_by(|a, b| place(a).cmp(&place(b)));
    let mut faults: Vec<Fault> = Vec::new();
    for fault in found {
        if !faults
            .iter()
            .rev()
            .take_while(|other| place(other) == place(&fault))
            .any(|other| *other == fault)
        {
            faults.push(fault);
        }
    }
    // A path that leads nowhere is already reported, so the missing value is omitted.
    let lost = |fault: &Fault| {
        if let FaultKind::NoPart { name, .. } = &*fault.kind {
            Some(name.clone())
        } else {
            None
        }
    };
    let lost: BTreeSet<String> = faults.iter().filter_map(lost).collect();
    faults.retain(
        |fault| !matches!(&*fault.kind, FaultKind::Missing { name, .. } if lost.contains(name)),
    );
    faults
}
