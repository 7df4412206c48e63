//! Names across references: checks the names that a task, a fragment or a function takes against
//! the bindings at its place of use.
//!
//! Replays the recorded [`DefinitionFlow`] of each definition, after the definitions that it refers to. Never
//! formats messages. Linear in the recorded events and in the parameters of referenced definitions.

use super::index::{DefId, NameIndex, RefId, ReferenceCycle};
use super::linked_parts::{PartFault, PartFaultReason, References, ValueShapes, types_overlap};
use super::linked_tools::{FileSpan, ToolResults};
use super::linked_trust::{DefinitionTrust, ReachedValues, TrustSources, UntrustedUse};
use crate::base::expansion::MAX_NAMES;
use crate::base::parallel;
use crate::base::span::Span;
use crate::template::names::{
    DefinitionFlow, FlowEvent, Param, ReferenceFacts, ReferenceKind, ReferenceSite, UnboundName,
    Unfenced,
};
use crate::template::scope::MAX_PARTS;
use crate::template::shape::ValueShape;
use crate::template::trust::{CONTEXT, TrustNode};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;

/// The result of linking names across references.
#[derive(Clone, Debug, Default)]
pub struct LinkedNames {
    /// The faults, in the order in which definitions depend on each other.
    pub faults: Vec<LinkFault>,
    /// The undeclared parameters that a definition takes on behalf of referenced definitions, each
    /// with the reference.
    pub implicit: BTreeMap<DefId, Vec<(Param, RefId)>>,
    /// Values from outside that would stand unfenced.
    pub unfenced: Vec<UntrustedUse>,
    /// The sources of the values of a definition, for each definition where they decide trust.
    pub trust: BTreeMap<DefId, Vec<TrustNode>>,
    /// The definitions whose result is from outside regardless of their arguments.
    pub(super) untrusted_results: BTreeSet<DefId>,
    /// The values that are from outside if a role with tools uses a definition.
    pub tool_results: ToolResults,
    /// The references to fragments from outside in unfenced places.
    pub outside_used: Vec<(RefId, Unfenced)>,
    /// The references through which an unfenced agent receives a value from outside, each with the
    /// file and span where the value is named.
    pub bare_used: Vec<(RefId, FileSpan)>,
    /// The definitions that pass a value from outside to an agent whose profile is left open, each
    /// with that place.
    open_tool_results: BTreeMap<DefId, FileSpan>,
    /// Uses of parts that the values do not have.
    pub parts: Vec<PartFault>,
    /// The fragments with text from outside, as a whole or in part, each with the marked fragment
    /// and the span of its mark.
    pub outside: BTreeMap<DefId, (DefId, Span)>,
    /// The use that a definition makes of the context around its place of use.
    contexts: BTreeMap<DefId, ContextUse>,
    /// All parameters of a definition, if they differ from those in its facts.
    params: BTreeMap<DefId, Box<[Param]>>,
    /// The definitions that are referenced.
    used: HashSet<DefId>,
}

/// The use that a definition makes of the context around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ContextUse {
    /// True if the definition inherits it.
    inherits: bool,
    /// The unfenced place of a text that contains it.
    unfenced: Option<Unfenced>,
}

/// A fault of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFault {
    /// The reference.
    pub at: RefId,
    /// The kind of fault.
    pub kind: LinkFaultKind,
}

/// The kinds of faults of references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFaultKind {
    /// Unbound names that the referenced definition takes.
    Undeclared(Vec<Box<str>>),
    /// A value that is never of the type of the parameter.
    WrongType {
        /// The name.
        name: Box<str>,
        /// The type of its values.
        found: Box<str>,
        /// The type of the parameter.
        wanted: Box<str>,
    },
}

/// The linked definitions of a project, computed once for all users.
#[derive(Debug)]
pub struct Links<'i> {
    /// The index of definitions and references.
    pub index: &'i NameIndex<'i>,
    /// The definitions, each after the definitions that it refers to.
    pub order: Vec<DefId>,
    /// The cycles of references.
    pub cycles: Vec<ReferenceCycle>,
    /// The result of linking names.
    pub names: LinkedNames,
}

impl<'i> Links<'i> {
    /// Links all references.
    pub fn new(index: &'i NameIndex<'i>) -> Self {
        Self::with_threads(index, Some(NonZeroUsize::MIN))
    }

    /// Links on the given number of threads, or on all of the machine's.
    pub fn with_threads(index: &'i NameIndex<'i>, threads: Option<NonZeroUsize>) -> Self {
        let (order, cycles) = index.dependency_order();
        let names = link_names(index, &order, threads);
        Self {
            index,
            order,
            cycles,
            names,
        }
    }
}

/// Links the names of all references. `order` contains the definitions, each after the definitions
/// that it refers to.
fn link_names(
    index: &NameIndex<'_>,
    order: &[DefId],
    threads: Option<NonZeroUsize>,
) -> LinkedNames {
    let mut linked = LinkedNames::default();
    if index
        .files()
        .iter()
        .all(|file| file.facts.references.is_empty() && file.facts.flows.is_empty())
    {
        return linked;
    }
    let references = References::new(index);
    for &id in order {
        if let Some(span) = index
            .definition(id)
            .and_then(|definition| definition.untrusted)
        {
            linked.outside.insert(id, (id, span));
        }
    }
    // Definitions without references do not depend on others.
    let alone: Vec<(DefId, &DefinitionFlow)> = order
        .iter()
        .filter_map(|id| Some((*id, index.flow(*id).filter(|flow| !has_references(flow))?)))
        .collect();
    let alone = parallel::map_items(&alone, threads, |(id, flow)| {
        Replay::new(index, *id, flow, &linked, &references).run()
    });
    let mut alone = alone.into_iter();
    for &id in order {
        let used = references.used.get(&id).map_or(&[][..], |used| used);
        if !linked.outside.contains_key(&id)
            && let Some(source) = used
                .iter()
                .find_map(|used| linked.outside.get(used))
                .copied()
        {
            linked.outside.insert(id, source);
        }
        if !used.is_empty() {
            linked.link_fragment(index, id, used);
        }
        if let Some(flow) = index.flow(id) {
            let found = if has_references(flow) {
                Replay::new(index, id, flow, &linked, &references).run()
            } else {
                alone.next().unwrap_or_default()
            };
            let ReplayResult {
                faults,
                parts,
                implicit,
                params,
                trust,
                outside_used,
                bare_used,
                open_tool_result: open,
                tool_bare_used,
                tool_open,
                context,
            } = found;
            linked
                .tool_results
                .add_definition(id, trust.by_tools, tool_bare_used, tool_open);
            linked.outside_used.extend(outside_used);
            linked.bare_used.extend(bare_used);
            if let Some(open) = trust.open_profile.map(|span| (id.file, span)).or(open) {
                linked.open_tool_results.insert(id, open);
            }
            linked.faults.extend(faults);
            linked.unfenced.extend(trust.unfenced);
            if trust.has_untrusted_result {
                linked.untrusted_results.insert(id);
            }
            if !trust.nodes.is_empty() {
                linked.trust.insert(id, trust.nodes);
            }
            linked.parts.extend(parts);
            if !implicit.is_empty() {
                linked.implicit.insert(id, implicit);
            }
            if context != ContextUse::default() {
                linked.contexts.insert(id, context);
            }
            if let Some(params) = params {
                linked.params.insert(id, params);
            }
        }
    }
    linked.used = references.targets;
    linked
}

/// Returns true if a definition refers to another.
fn has_references(flow: &DefinitionFlow) -> bool {
    flow.events
        .iter()
        .any(|event| matches!(event, FlowEvent::Reference(_)))
}

impl LinkedNames {
    /// All parameters of a definition.
    fn all_params<'l>(&'l self, index: &NameIndex<'l>, id: DefId) -> &'l [Param] {
        match self.params.get(&id) {
            Some(taken) => taken,
            None => index
                .definition(id)
                .map_or(&[], |definition| &definition.params),
        }
    }

    /// The place where a value from outside is named that a definition passes to an agent whose
    /// profile is left open.
    pub fn open_source(&self, index: &NameIndex<'_>, id: DefId) -> Option<FileSpan> {
        let by_its_file = || {
            index
                .flow(id)
                .is_none()
                .then(|| Some((id.file, index.definition(id)?.open?)))
                .flatten()
        };
        self.open_tool_results
            .get(&id)
            .copied()
            .or_else(by_its_file)
    }

    /// The parameters that users of a definition must pass; empty if they are too many, which is
    /// reported at the definition.
    fn requested_params<'l>(&'l self, index: &NameIndex<'l>, id: DefId) -> &'l [Param] {
        Some(self.all_params(index, id))
            .filter(|takes| takes.len() <= MAX_NAMES)
            .unwrap_or(&[])
    }

    /// True if a definition is referenced and takes too many names.
    pub fn takes_too_many_names(&self, index: &NameIndex<'_>, id: DefId) -> bool {
        self.used.contains(&id) && self.all_params(index, id).len() > MAX_NAMES
    }

    /// Adds the parameters of the fragments that a fragment uses.
    fn link_fragment(&mut self, index: &NameIndex<'_>, id: DefId, used: &[DefId]) {
        let mut taken: Vec<Param> = self.all_params(index, id).to_vec();
        let mut known: HashMap<Box<str>, usize> = taken
            .iter()
            .enumerate()
            .map(|(at, param)| (param.name.clone(), at))
            .collect();
        for param in used
            .iter()
            .flat_map(|target| self.requested_params(index, *target))
        {
            if let Some(own) = known.get(&param.name).and_then(|at| taken.get_mut(*at)) {
                own.parts = merge_parts(&own.parts, &param.parts);
                continue;
            }
            known.insert(param.name.clone(), taken.len());
            taken.push(param.clone());
        }
        self.params.insert(id, taken.into());
    }
}

/// Merges parts without duplicates, up to the maximum number.
fn merge_parts<'p>(
    one: impl IntoIterator<Item = &'p Box<str>>,
    two: impl IntoIterator<Item = &'p Box<str>>,
) -> Box<[Box<str>]> {
    let all: BTreeSet<&Box<str>> = one.into_iter().chain(two).collect();
    all.into_iter().take(MAX_PARTS).cloned().collect()
}

/// The replay of one definition.
struct Replay<'r> {
    index: &'r NameIndex<'r>,
    id: DefId,
    flow: &'r DefinitionFlow,
    linked: &'r LinkedNames,
    references: &'r References,
    /// The bindings in scope, outermost first: indices into the names of the flow.
    scope: Vec<u32>,
    /// The same bindings by name; the last of a list hides the others.
    scope_by_name: HashMap<&'r str, Vec<u32>>,
    /// Implicit parameters by name; those that only a reference requires follow the names of the
    /// flow.
    implicit: HashMap<Box<str>, u32>,
    /// By implicit parameter: the type as which the first reference takes it.
    wanted: HashMap<u32, &'r str>,
    sources: TrustSources,
    values: ValueShapes<'r>,
    /// By name: the parts of its value that references use.
    parts: BTreeMap<u32, BTreeSet<Box<str>>>,
    found: ReplayResult,
}

/// The result of a replay, which is merged into [`LinkedNames`].
#[derive(Default)]
struct ReplayResult {
    faults: Vec<LinkFault>,
    parts: Vec<PartFault>,
    /// The implicit parameters that only a reference requires, each with the reference.
    implicit: Vec<(Param, RefId)>,
    /// All parameters; none if the definition is not referenced.
    params: Option<Box<[Param]>>,
    trust: DefinitionTrust,
    outside_used: Vec<(RefId, Unfenced)>,
    bare_used: Vec<(RefId, FileSpan)>,
    open_tool_result: Option<FileSpan>,
    /// Like `bare_used`, for values that are from outside only if a role has tools.
    tool_bare_used: Vec<(RefId, FileSpan)>,
    /// Like `open_tool_result`, for the same values.
    tool_open: Option<FileSpan>,
    context: ContextUse,
}

impl<'r> Replay<'r> {
    fn new(
        index: &'r NameIndex<'r>,
        id: DefId,
        flow: &'r DefinitionFlow,
        linked: &'r LinkedNames,
        references: &'r References,
    ) -> Self {
        let values = ValueShapes::new(index, id, flow, references);
        let found = ReplayResult {
            parts: values.own_faults(id.file).collect(),
            ..ReplayResult::default()
        };
        Self {
            index,
            id,
            flow,
            linked,
            references,
            scope: Vec::new(),
            scope_by_name: HashMap::new(),
            implicit: HashMap::new(),
            wanted: HashMap::new(),
            sources: TrustSources::new(flow, &values),
            values,
            parts: BTreeMap::new(),
            found,
        }
    }

    fn run(mut self) -> ReplayResult {
        let flow = self.flow;
        let is_used = self.references.targets.contains(&self.id);
        if is_used || has_references(flow) {
            self.replay_events();
        }
        let (trust, params) = self
            .sources
            .evaluate_definition(self.id, flow, &self.values);
        self.found.trust = trust;
        if is_used {
            let reached = self.sources.evaluate_params(flow, &params);
            let around = flow.names.iter().position(|name| &*name.at == CONTEXT);
            let is = |marks: &[bool]| around.and_then(|at| marks.get(at)) == Some(&true);
            self.found.context.unfenced = Unfenced::first_marked(&reached.unfenced, is);
            self.found.params = Some(self.collect_params(&reached));
        }
        self.found
    }

    /// Replays bindings and references, in order.
    fn replay_events(&mut self) {
        let flow = self.flow;
        let bound: HashSet<u32> = flow
            .events
            .iter()
            .filter_map(|event| {
                if let FlowEvent::Bind(at) = event {
                    Some(*at)
                } else {
                    None
                }
            })
            .collect();
        // A name that is never bound is an implicit parameter.
        for (at, name) in flow
            .names
            .iter()
            .enumerate()
            .filter(|(at, name)| !name.name.is_empty() && !bound.contains(&(*at as u32)))
        {
            self.implicit.insert(name.name.clone(), at as u32);
        }
        for event in &flow.events {
            match event {
                FlowEvent::Bind(at) => self.bind_name(*at),
                FlowEvent::Unbind(left) => self.unbind_names(*left as usize),
                FlowEvent::Reference(site) => self.replay_reference(site),
            }
        }
    }

    /// Returns all parameters of the definition.
    fn collect_params(&self, reached: &ReachedValues) -> Box<[Param]> {
        let own = self
            .index
            .definition(self.id)
            .map_or(&[][..], |definition| &definition.params);
        // Declared names come before all others of the same name.
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (at, name) in self.flow.names.iter().enumerate() {
            first.entry(&name.name).or_insert(at);
        }
        let marked = |param: &Param| {
            let implicit = self.implicit.get(&param.name).map(|at| *at as usize);
            let name = implicit.or_else(|| first.get(&*param.name).copied());
            let is = |marks: &[bool]| name.is_some_and(|at| marks.get(at) == Some(&true));
            let parts = merge_parts(
                &param.parts,
                name.and_then(|at| self.parts.get(&(at as u32)))
                    .into_iter()
                    .flatten(),
            );
            let (unfenced, in_result) = (
                Unfenced::first_marked(&reached.unfenced, is),
                is(&reached.in_result),
            );
            Param {
                unfenced,
                in_result,
                parts,
                ..param.clone()
            }
        };
        let extra = self.found.implicit.iter().map(|(param, _)| Param {
            parts: Box::default(),
            ..param.clone()
        });
        own.iter()
            .cloned()
            .chain(extra)
            .map(|param| marked(&param))
            .collect()
    }

    /// Adds a binding to the scope.
    fn bind_name(&mut self, at: u32) {
        let Some(name) = self.flow.names.get(at as usize) else {
            return;
        };
        self.scope.push(at);
        self.scope_by_name.entry(&name.name).or_default().push(at);
    }

    /// Removes the innermost bindings until only `left` are in scope.
    fn unbind_names(&mut self, left: usize) {
        while self.scope.len() > left {
            let name = self
                .scope
                .pop()
                .and_then(|at| self.flow.names.get(at as usize));
            if let Some(places) = name.and_then(|name| self.scope_by_name.get_mut(&*name.name)) {
                places.pop();
            }
        }
    }

    fn replay_reference(&mut self, site: &ReferenceSite) {
        let Some(reference) = self.references.reference_at(self.id.file, site.at) else {
            return;
        };
        let at = RefId {
            file: self.id.file,
            reference,
        };
        let Some(reference) = self.index.reference(at) else {
            return;
        };
        let Some(target) = self.index.resolve_reference(reference) else {
            return;
        };
        let linked = self.linked;
        let takes = linked.requested_params(self.index, target);
        if let (Some(into), true) = (
            site.into,
            linked.outside.contains_key(&target) || self.has_untrusted_result(target),
        ) {
            self.sources.mark_untrusted(into);
        }
        if let Some(into) = site
            .into
            .filter(|_| linked.tool_results.has_tool_result(self.index, target))
        {
            self.sources.mark_tool_result(into);
        }
        if let Some(unfenced) = site
            .unfenced
            .filter(|_| linked.outside.contains_key(&target))
        {
            self.found.outside_used.push((at, unfenced));
        }
        if let Some((context, around)) = site.context {
            let ContextUse { inherits, unfenced } =
                linked.contexts.get(&target).copied().unwrap_or_default();
            let by_its_file = self.index.definition(target);
            let unfenced = site.resolve_unfenced(unfenced.or_else(|| by_its_file?.context));
            if inherits || by_its_file.is_some_and(|target| target.inherits) {
                self.sources.add_source(around, context);
                self.found.context.inherits |= context == around;
            }
            if let Some(unfenced) = unfenced {
                self.sources.record_passed_value(context, at, unfenced, "");
            }
        }
        match (site.open, linked.open_source(self.index, target)) {
            (Some(Unfenced::Bare), Some(source)) => self.found.bare_used.push((at, source)),
            (Some(_), Some(source)) => {
                self.found.open_tool_result = self.found.open_tool_result.or(Some(source));
            }
            _ => {}
        }
        match (
            site.open,
            linked.tool_results.open_source(self.index, target),
        ) {
            (Some(Unfenced::Bare), Some(source)) => self.found.tool_bare_used.push((at, source)),
            (Some(_), Some(source)) => self.found.tool_open = self.found.tool_open.or(Some(source)),
            _ => {}
        }
        if reference.kind == ReferenceKind::Call {
            return self.replay_call(site, at, reference, takes);
        }
        let mut absent = Vec::new();
        for param in takes {
            let known = self
                .scope_by_name
                .get(&*param.name)
                .and_then(|places| places.last())
                .copied();
            let known = known.or_else(|| self.implicit.get(&param.name).copied());
            let Some(name) = known.or_else(|| self.resolve_unbound(site, at, param, &mut absent))
            else {
                continue;
            };
            self.check_type(name, at, param);
            self.use_parts(name, at, reference, param);
            let is_text = reference.kind == ReferenceKind::Use;
            let unfenced = if is_text {
                site.unfenced
            } else {
                site.resolve_unfenced(param.unfenced)
            };
            self.pass_value(
                name,
                at,
                param,
                unfenced,
                site.into.filter(|_| is_text || param.in_result),
            );
        }
        if !absent.is_empty() {
            self.found.faults.push(LinkFault {
                at,
                kind: LinkFaultKind::Undeclared(absent),
            });
        }
    }

    /// True if the result of a definition is from outside.
    fn has_untrusted_result(&self, target: DefId) -> bool {
        let has_flow = || self.index.flow(target).is_some();
        let by_its_file = || {
            self.index
                .definition(target)
                .is_some_and(|definition| definition.has_untrusted_result)
                && !has_flow()
        };
        self.linked.untrusted_results.contains(&target) || by_its_file()
    }

    /// Handles an unbound name.
    fn resolve_unbound(
        &mut self,
        site: &ReferenceSite,
        at: RefId,
        param: &Param,
        absent: &mut Vec<Box<str>>,
    ) -> Option<u32> {
        if !param.required {
            return None;
        }
        match site.free {
            UnboundName::Taken => {
                let name = self.sources.add_parameter(&param.name);
                self.implicit.insert(param.name.clone(), name);
                self.found.implicit.push((param.clone(), at));
                return Some(name);
            }
            UnboundName::Undeclared => absent.push(param.name.clone()),
            UnboundName::Unknown => {}
        }
        None
    }

    /// Checks that an undeclared name has the same type for all references that take it.
    fn check_type(&mut self, name: u32, at: RefId, param: &'r Param) {
        let Some(kind) = param
            .kind
            .as_deref()
            .filter(|_| self.implicit.get(&param.name) == Some(&name))
        else {
            return;
        };
        let first = *self.wanted.entry(name).or_insert(kind);
        if !types_overlap(first, kind) {
            let kind = LinkFaultKind::WrongType {
                name: param.name.clone(),
                found: first.into(),
                wanted: kind.into(),
            };
            self.found.faults.push(LinkFault { at, kind });
        }
    }

    fn replay_call(
        &mut self,
        site: &ReferenceSite,
        at: RefId,
        reference: &ReferenceFacts,
        takes: &[Param],
    ) {
        let slots: HashMap<&str, usize> = takes
            .iter()
            .enumerate()
            .map(|(slot, param)| (&*param.name, slot))
            .collect();
        for (number, (arg, name)) in reference.args.iter().zip(&site.args).enumerate() {
            let slot = arg
                .name
                .as_deref()
                .map_or(Some(number), |name| slots.get(name).copied());
            if let Some(param) = slot.and_then(|slot| takes.get(slot)) {
                self.use_parts(*name, at, reference, param);
                self.pass_value(
                    *name,
                    at,
                    param,
                    site.resolve_unfenced(param.unfenced),
                    site.into.filter(|_| param.in_result),
                );
            }
        }
    }

    /// Checks the parts that a referenced definition uses of a value, or records their use for the
    /// local values.
    fn use_parts(&mut self, name: u32, at: RefId, reference: &ReferenceFacts, param: &Param) {
        let fault = param
            .parts
            .iter()
            .find_map(|path| Some((path, self.values.find_fault(name, path, None)?)));
        if let Some((path, why)) = fault {
            let is_certain = matches!(why, PartFaultReason::NoPart(_));
            self.found.parts.push(PartFault {
                file: at.file,
                span: reference.span,
                position_inside: None,
                reference: Some(at),
                used_part: format!("{}{path}", param.name).into(),
                reason: why.after_name(&param.name),
            });
            if is_certain {
                return;
            }
        }
        for path in &param.parts {
            for (name, path) in self.values.root_values(name, path) {
                self.parts.entry(name).or_default().insert(path.into());
            }
        }
    }

    /// Passes the value of a name to a parameter of a referenced definition. `into` is the name
    /// that the value becomes part of, if the result of the reference contains it.
    fn pass_value(
        &mut self,
        name: u32,
        at: RefId,
        param: &Param,
        unfenced: Option<Unfenced>,
        into: Option<u32>,
    ) {
        if let Some(PartFaultReason::WrongType { found, wanted }) =
            self.values.find_fault(name, "", param.kind.as_deref())
        {
            let kind = LinkFaultKind::WrongType {
                name: param.name.clone(),
                found: found.into(),
                wanted,
            };
            self.found.faults.push(LinkFault { at, kind });
        }
        if self.values.is_inert(name, "") {
            return;
        }
        let typed = param
            .kind
            .as_deref()
            .filter(|kind| ValueShape::for_type(kind).is_inert() && self.values.is_text(name));
        if let Some(wanted) = typed.filter(|_| param.is_trusted_by_type) {
            let kind = LinkFaultKind::WrongType {
                name: param.name.clone(),
                found: "string".into(),
                wanted: wanted.into(),
            };
            self.found.faults.push(LinkFault { at, kind });
        } else if let Some(unfenced) = unfenced.or(typed.map(|_| Unfenced::Typed)) {
            self.sources
                .record_passed_value(name, at, unfenced, &param.name);
        }
        if let Some(into) = into {
            self.sources.add_source(name, into);
        }
    }
}
