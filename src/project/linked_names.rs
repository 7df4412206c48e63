//! Names across references: checks the names that a task, a fragment or a function takes against
//! the bindings at its place of use.
//!
//! Replays the recorded [`Flow`] of each definition, after the definitions that it refers to. Never
//! formats messages. Linear in the recorded events and in the parameters of referenced definitions.

use super::index::{Cycle, DefId, Index, RefId};
use super::linked_parts::{self, PartFault, References, Values, Why, meets};
use super::linked_tools::ToolResults;
use super::linked_trust::{Judged, Reached, Sources, UntrustedUse};
use crate::base::expansion::MAX_NAMES;
use crate::base::parallel;
use crate::base::span::Span;
use crate::template::names::{Event, Flow, Free, Param, Reference, ReferenceKind, Site, Unfenced};
use crate::template::scope::MOST_PARTS;
use crate::template::shape::Shape;
use crate::template::trust::{CONTEXT, TrustNode};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;

/// The result of linking names across references.
#[derive(Clone, Debug, Default)]
pub struct LinkedNames {
    /// The faults, in the order in which definitions depend on each other.
    pub faults: Vec<Fault>,
    /// The undeclared parameters that a definition takes on behalf of referenced definitions, each
    /// with the reference.
    pub implicit: BTreeMap<DefId, Vec<(Param, RefId)>>,
    /// Values from outside that would stand unfenced.
    pub unfenced: Vec<UntrustedUse>,
    /// The sources of the values of a definition, for each definition where they decide trust.
    pub trust: BTreeMap<DefId, Vec<TrustNode>>,
    /// The definitions whose result is from outside regardless of their arguments.
    pub(super) foreign: BTreeSet<DefId>,
    /// The values that are from outside if a role with tools uses a definition.
    pub tool_results: ToolResults,
    /// The references to fragments from outside in unfenced places.
    pub outside_used: Vec<(RefId, Unfenced)>,
    /// The references through which an unfenced agent receives a value from outside, each with the
    /// file and span where the value is named.
    pub bare_used: Vec<(RefId, (u32, Span))>,
    /// The definitions that pass a value from outside to an agent whose profile is left open, each
    /// with that place.
    open: BTreeMap<DefId, (u32, Span)>,
    /// Uses of parts that the values do not have.
    pub parts: Vec<PartFault>,
    /// The fragments with text from outside, as a whole or in part, each with the marked fragment
    /// and the span of its mark.
    pub outside: BTreeMap<DefId, (DefId, Span)>,
    /// The use that a definition makes of the context around its place of use.
    contexts: BTreeMap<DefId, ContextUse>,
    /// All parameters of a definition, if they differ from those in its facts.
    taken: BTreeMap<DefId, Box<[Param]>>,
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
pub struct Fault {
    /// The reference.
    pub at: RefId,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// The kinds of faults of references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
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
    pub index: &'i Index<'i>,
    /// The definitions, each after the definitions that it refers to.
    pub order: Vec<DefId>,
    /// The cycles of references.
    pub cycles: Vec<Cycle>,
    /// The result of linking names.
    pub names: LinkedNames,
}

impl<'i> Links<'i> {
    /// Links all references.
    pub fn new(index: &'i Index<'i>) -> Self {
        Self::on(index, Some(NonZeroUsize::MIN))
    }

    /// Links on the given number of threads, or on all of the machine's.
    pub fn on(index: &'i Index<'i>, threads: Option<NonZeroUsize>) -> Self {
        let (order, cycles) = index.order();
        let names = resolve(index, &order, threads);
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
fn resolve(index: &Index<'_>, order: &[DefId], threads: Option<NonZeroUsize>) -> LinkedNames {
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
    let alone: Vec<(DefId, &Flow)> = order
        .iter()
        .filter_map(|id| Some((*id, index.flow(*id).filter(|flow| !refers(flow))?)))
        .collect();
    let alone = parallel::each(&alone, threads, |(id, flow)| {
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
            linked.fragment(index, id, used);
        }
        if let Some(flow) = index.flow(id) {
            let found = if refers(flow) {
                Replay::new(index, id, flow, &linked, &references).run()
            } else {
                alone.next().unwrap_or_default()
            };
            let Found {
                faults,
                parts,
                extra,
                taken,
                judged,
                outside_used,
                bare_used,
                open,
                tool_bare_used,
                tool_open,
                context,
            } = found;
            linked
                .tool_results
                .add(id, judged.by_tools, tool_bare_used, tool_open);
            linked.outside_used.extend(outside_used);
            linked.bare_used.extend(bare_used);
            if let Some(open) = judged.open.map(|span| (id.file, span)).or(open) {
                linked.open.insert(id, open);
            }
            linked.faults.extend(faults);
            linked.unfenced.extend(judged.unfenced);
            if judged.is_foreign {
                linked.foreign.insert(id);
            }
            if !judged.nodes.is_empty() {
                linked.trust.insert(id, judged.nodes);
            }
            linked.parts.extend(parts);
            if !extra.is_empty() {
                linked.implicit.insert(id, extra);
            }
            if context != ContextUse::default() {
                linked.contexts.insert(id, context);
            }
            if let Some(taken) = taken {
                linked.taken.insert(id, taken);
            }
        }
    }
    linked.used = references.targets;
    linked
}

fn refers(flow: &Flow) -> bool {
    flow.events
        .iter()
        .any(|event| matches!(event, Event::Reference(_)))
}

impl LinkedNames {
    /// All parameters of a definition.
    fn takes<'l>(&'l self, index: &Index<'l>, id: DefId) -> &'l [Param] {
        match self.taken.get(&id) {
            Some(taken) => taken,
            None => index
                .definition(id)
                .map_or(&[], |definition| &definition.params),
        }
    }

    /// The place where a value from outside is named that a definition passes to an agent whose
    /// profile is left open.
    pub fn open(&self, index: &Index<'_>, id: DefId) -> Option<(u32, Span)> {
        let by_its_file = || {
            index
                .flow(id)
                .is_none()
                .then(|| Some((id.file, index.definition(id)?.open?)))
                .flatten()
        };
        self.open.get(&id).copied().or_else(by_its_file)
    }

    /// The parameters that users of a definition must pass; empty if they are too many, which is
    /// reported at the definition.
    fn asked<'l>(&'l self, index: &Index<'l>, id: DefId) -> &'l [Param] {
        Some(self.takes(index, id))
            .filter(|takes| takes.len() <= MAX_NAMES)
            .unwrap_or(&[])
    }

    /// True if a definition is referenced and takes too many names.
    pub fn asks_too_much(&self, index: &Index<'_>, id: DefId) -> bool {
        self.used.contains(&id) && self.takes(index, id).len() > MAX_NAMES
    }

    /// Adds the parameters of the fragments that a fragment uses.
    fn fragment(&mut self, index: &Index<'_>, id: DefId, used: &[DefId]) {
        let mut taken: Vec<Param> = self.takes(index, id).to_vec();
        let mut known: HashMap<Box<str>, usize> = taken
            .iter()
            .enumerate()
            .map(|(at, param)| (param.name.clone(), at))
            .collect();
        for param in used.iter().flat_map(|target| self.asked(index, *target)) {
            if let Some(own) = known.get(&param.name).and_then(|at| taken.get_mut(*at)) {
                own.parts = union(&own.parts, &param.parts);
                continue;
            }
            known.insert(param.name.clone(), taken.len());
            taken.push(param.clone());
        }
        self.taken.insert(id, taken.into());
    }
}

/// Merges parts without duplicates, up to the maximum number.
fn union<'p>(
    one: impl IntoIterator<Item = &'p Box<str>>,
    two: impl IntoIterator<Item = &'p Box<str>>,
) -> Box<[Box<str>]> {
    let all: BTreeSet<&Box<str>> = one.into_iter().chain(two).collect();
    all.into_iter().take(MOST_PARTS).cloned().collect()
}

/// The replay of one definition.
struct Replay<'r> {
    index: &'r Index<'r>,
    id: DefId,
    flow: &'r Flow,
    linked: &'r LinkedNames,
    references: &'r References,
    /// The bound names, and the position of each among them.
    bound: Vec<u32>,
    innermost: HashMap<&'r str, Vec<u32>>,
    /// Implicit parameters by name; those that only a reference requires follow the names of the
    /// flow.
    implicit: HashMap<Box<str>, u32>,
    /// By implicit parameter: the type as which the first reference takes it.
    wanted: HashMap<u32, &'r str>,
    sources: Sources,
    values: Values<'r>,
    /// By name: the parts of its value that references use.
    parts: BTreeMap<u32, BTreeSet<Box<str>>>,
    found: Found,
}

#[derive(Default)]
struct Found {
    faults: Vec<Fault>,
    parts: Vec<PartFault>,
    extra: Vec<(Param, RefId)>,
    taken: Option<Box<[Param]>>,
    judged: Judged,
    outside_used: Vec<(RefId, Unfenced)>,
    bare_used: Vec<(RefId, (u32, Span))>,
    open: Option<(u32, Span)>,
    tool_bare_used: Vec<(RefId, (u32, Span))>,
    tool_open: Option<(u32, Span)>,
    context: ContextUse,
}

impl<'r> Replay<'r> {
    fn new(
        index: &'r Index<'r>,
        id: DefId,
        flow: &'r Flow,
        linked: &'r LinkedNames,
        references: &'r References,
    ) -> Self {
        let (bound, innermost, implicit, wanted) =
            (Vec::new(), HashMap::new(), HashMap::new(), HashMap::new());
        let values = Values::new(index, id, flow, references);
        let found = Found {
            parts: values.own(id.file).collect(),
            ..Found::default()
        };
        let (sources, parts) = (Sources::new(flow, &values), BTreeMap::new());
        Self {
            index,
            id,
            flow,
            linked,
            references,
            bound,
            innermost,
            implicit,
            wanted,
            sources,
            values,
            parts,
            found,
        }
    }

    fn run(mut self) -> Found {
        let flow = self.flow;
        let is_used = self.references.targets.contains(&self.id);
        if is_used || refers(flow) {
            self.walk();
        }
        let (judged, said) = self.sources.judge(self.id, flow, &self.values);
        self.found.judged = judged;
        if is_used {
            let reached = self.sources.reached(flow, &said);
            let around = flow.names.iter().position(|name| &*name.at == CONTEXT);
            let is = |marks: &[bool]| around.and_then(|at| marks.get(at)) == Some(&true);
            self.found.context.unfenced = Unfenced::of(&reached.unfenced, is);
            self.found.taken = Some(self.taken(&reached));
        }
        self.found
    }

    /// Replays bindings and references, in order.
    fn walk(&mut self) {
        let flow = self.flow;
        let bound: HashSet<u32> = flow
            .events
            .iter()
            .filter_map(|event| {
                if let Event::Bind(at) = event {
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
                Event::Bind(at) => self.bind(*at),
                Event::Unbind(left) => self.unbind(*left as usize),
                Event::Reference(site) => self.site(site),
            }
        }
    }

    /// Returns all parameters of the definition.
    fn taken(&self, reached: &Reached) -> Box<[Param]> {
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
            let parts = union(
                &param.parts,
                name.and_then(|at| self.parts.get(&(at as u32)))
                    .into_iter()
                    .flatten(),
            );
            let (unfenced, in_result) =
                (Unfenced::of(&reached.unfenced, is), is(&reached.in_result));
            Param {
                unfenced,
                in_result,
                parts,
                ..param.clone()
            }
        };
        let extra = self.found.extra.iter().map(|(param, _)| Param {
            parts: Box::default(),
            ..param.clone()
        });
        own.iter()
            .cloned()
            .chain(extra)
            .map(|param| marked(&param))
            .collect()
    }

    fn bind(&mut self, at: u32) {
        let Some(name) = self.flow.names.get(at as usize) else {
            return;
        };
        self.bound.push(at);
        self.innermost.entry(&name.name).or_default().push(at);
    }

    fn unbind(&mut self, left: usize) {
        while self.bound.len() > left {
            let name = self
                .bound
                .pop()
                .and_then(|at| self.flow.names.get(at as usize));
            if let Some(places) = name.and_then(|name| self.innermost.get_mut(&*name.name)) {
                places.pop();
            }
        }
    }

    fn site(&mut self, site: &Site) {
        let Some(reference) = self.references.at(self.id.file, site.at) else {
            return;
        };
        let at = RefId {
            file: self.id.file,
            reference,
        };
        let Some(reference) = self.index.reference(at) else {
            return;
        };
        let Some(target) = self.index.target(reference) else {
            return;
        };
        let linked = self.linked;
        let takes = linked.asked(self.index, target);
        if let (Some(into), true) = (
            site.into,
            linked.outside.contains_key(&target) || self.is_foreign(target),
        ) {
            self.sources.mark(into);
        }
        if let Some(into) = site
            .into
            .filter(|_| linked.tool_results.has_tool_result(self.index, target))
        {
            self.sources.mark_tools(into);
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
            let unfenced = site.settle(unfenced.or_else(|| by_its_file?.context));
            if inherits || by_its_file.is_some_and(|target| target.inherits) {
                self.sources.makes(around, context);
                self.found.context.inherits |= context == around;
            }
            if let Some(unfenced) = unfenced {
                self.sources.say(context, (at, unfenced), "");
            }
        }
        match (site.open, linked.open(self.index, target)) {
            (Some(Unfenced::Bare), Some(source)) => self.found.bare_used.push((at, source)),
            (Some(_), Some(source)) => self.found.open = self.found.open.or(Some(source)),
            _ => {}
        }
        match (site.open, linked.tool_results.open(self.index, target)) {
            (Some(Unfenced::Bare), Some(source)) => self.found.tool_bare_used.push((at, source)),
            (Some(_), Some(source)) => self.found.tool_open = self.found.tool_open.or(Some(source)),
            _ => {}
        }
        if reference.kind == ReferenceKind::Call {
            return self.call(site, at, reference, takes);
        }
        let mut absent = Vec::new();
        for param in takes {
            let known = self
                .innermost
                .get(&*param.name)
                .and_then(|places| places.last())
                .copied();
            let known = known.or_else(|| self.implicit.get(&param.name).copied());
            let Some(name) = known.or_else(|| self.free(site, at, param, &mut absent)) else {
                continue;
            };
            self.agree(name, at, param);
            self.use_parts(name, (at, reference), param);
            let is_text = reference.kind == ReferenceKind::Use;
            let unfenced = if is_text {
                site.unfenced
            } else {
                site.settle(param.unfenced)
            };
            self.hand_over(
                name,
                (at, site),
                param,
                unfenced,
                is_text || param.in_result,
            );
        }
        if !absent.is_empty() {
            self.found.faults.push(Fault {
                at,
                kind: FaultKind::Undeclared(absent),
            });
        }
    }

    /// True if the result of a definition is from outside.
    fn is_foreign(&self, target: DefId) -> bool {
        let has_flow = || self.index.flow(target).is_some();
        let by_its_file = || {
            self.index
                .definition(target)
                .is_some_and(|definition| definition.is_foreign)
                && !has_flow()
        };
        self.linked.foreign.contains(&target) || by_its_file()
    }

    /// Handles an unbound name.
    fn free(
        &mut self,
        site: &Site,
        at: RefId,
        param: &Param,
        absent: &mut Vec<Box<str>>,
    ) -> Option<u32> {
        if !param.required {
            return None;
        }
        match site.free {
            Free::Taken => {
                let name = self.sources.add(&param.name);
                self.implicit.insert(param.name.clone(), name);
                self.found.extra.push((param.clone(), at));
                return Some(name);
            }
            Free::Undeclared => absent.push(param.name.clone()),
            Free::Unknown => {}
        }
        None
    }

    /// Checks that an undeclared name has the same type for all references that take it.
    fn agree(&mut self, name: u32, at: RefId, param: &'r Param) {
        let Some(kind) = param
            .kind
            .as_deref()
            .filter(|_| self.implicit.get(&param.name) == Some(&name))
        else {
            return;
        };
        let first = *self.wanted.entry(name).or_insert(kind);
        if !meets(first, kind) {
            let kind = FaultKind::WrongType {
                name: param.name.clone(),
                found: first.into(),
                wanted: kind.into(),
            };
            self.found.faults.push(Fault { at, kind });
        }
    }

    fn call(&mut self, site: &Site, at: RefId, reference: &Reference, takes: &[Param]) {
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
                self.use_parts(*name, (at, reference), param);
                self.hand_over(
                    *name,
                    (at, site),
                    param,
                    site.settle(param.unfenced),
                    param.in_result,
                );
            }
        }
    }

    /// Checks the parts that a referenced definition uses of a value, or records their use for the
    /// local values.
    fn use_parts(&mut self, name: u32, (at, reference): (RefId, &Reference), param: &Param) {
        let wrong = param
            .parts
            .iter()
            .find_map(|path| Some((path, self.values.fault(name, path, None)?)));
        if let Some((path, why)) = wrong {
            let is_certain = matches!(why, Why::NoPart(_));
            let place = (at.file, reference.span, None);
            self.found.parts.push(linked_parts::fault(
                place,
                Some(at),
                (&param.name, path),
                why,
            ));
            if is_certain {
                return;
            }
        }
        for path in &param.parts {
            for (name, path) in self.values.sources(name, path) {
                self.parts.entry(name).or_default().insert(path.into());
            }
        }
    }

    /// Passes the value of a name to a parameter of a referenced definition.
    fn hand_over(
        &mut self,
        name: u32,
        (at, site): (RefId, &Site),
        param: &Param,
        unfenced: Option<Unfenced>,
        in_result: bool,
    ) {
        if let Some(Why::WrongType { found, wanted }) =
            self.values.fault(name, "", param.kind.as_deref())
        {
            let kind = FaultKind::WrongType {
                name: param.name.clone(),
                found: found.into(),
                wanted,
            };
            self.found.faults.push(Fault { at, kind });
        }
        if self.values.is_inert(name, "") {
            return;
        }
        let typed = param
            .kind
            .as_deref()
            .filter(|kind| Shape::declared(kind).is_inert() && self.values.is_text(name));
        if let Some(wanted) = typed.filter(|_| param.is_held) {
            let kind = FaultKind::WrongType {
                name: param.name.clone(),
                found: "string".into(),
                wanted: wanted.into(),
            };
            self.found.faults.push(Fault { at, kind });
        } else if let Some(unfenced) = unfenced.or(typed.map(|_| Unfenced::Typed)) {
            self.sources.say(name, (at, unfenced), &param.name);
        }
        if let Some(into) = site.into.filter(|_| in_result) {
            self.sources.makes(name, into);
        }
    }
}
