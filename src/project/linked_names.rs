//! Names across references: what a task, a fragment or a function takes is held against what is bound where it is used.
//!
//! Replays what each file wrote down about its definitions ([`Flow`]), each definition after those that it refers to. Words
//! nothing. Linear in what is written down and in what the targets of references take.

use super::index::{Cycle, DefId, Index, RefId};
use super::linked_parts::{self, PartFault, References, Values, Why};
use crate::base::span::Span;
use crate::template::names::{Event, Flow, Free, Param, Reference, ReferenceKind, Site};
use crate::template::scope::{MOST_PARTS, spread};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What references make of names.
#[derive(Clone, Debug, Default)]
pub struct LinkedNames {
    /// What is wrong, by the order in which definitions rest on each other.
    pub faults: Vec<Fault>,
    /// The parameters that a definition takes for what it refers to, though it does not declare them, each with the reference.
    pub implicit: BTreeMap<DefId, Vec<(Param, RefId)>>,
    /// Parts of values that are used and that these do not have.
    pub parts: Vec<PartFault>,
    /// The fragments whose text is from outside, wholly or in part, each with the one that is marked, and where.
    pub outside: BTreeMap<DefId, (DefId, Span)>,
    /// What a definition takes in all, where its facts do not say it.
    taken: BTreeMap<DefId, Box<[Param]>>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reference to look at.
    pub at: RefId,
    /// What is wrong with it.
    pub kind: FaultKind,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Names that what is used takes, and that nothing binds.
    Undeclared(Vec<Box<str>>),
    /// A value from outside that becomes a part of a system text there.
    UntrustedInSystem(Box<str>),
    /// A value that is never of the type which is taken.
    WrongType {
        /// The name.
        name: Box<str>,
        /// The type of its values.
        found: Box<str>,
        /// The type that is taken.
        wanted: Box<str>,
    },
}

/// The definitions of a project by what they refer to, and what that makes of their names: worked out once for all who look at it.
#[derive(Debug)]
pub struct Links<'i> {
    /// Definitions and references.
    pub index: &'i Index<'i>,
    /// Definitions, each after those that it points at.
    pub order: Vec<DefId>,
    /// References that lead back to where they start.
    pub cycles: Vec<Cycle>,
    /// What references make of names.
    pub names: LinkedNames,
}

impl<'i> Links<'i> {
    /// Follows all references.
    pub fn new(index: &'i Index<'i>) -> Self {
        let (order, cycles) = index.order();
        let names = resolve(index, &order);
        Self { index, order, cycles, names }
    }
}

/// Resolves what all references take. `order`: definitions, each after those that it points at.
fn resolve(index: &Index<'_>, order: &[DefId]) -> LinkedNames {
    let mut linked = LinkedNames::default();
    if index.files().iter().all(|file| file.facts.references.is_empty() && file.facts.flows.is_empty()) {
        return linked;
    }
    let references = References::new(index);
    for &id in order {
        if let Some(span) = index.definition(id).and_then(|definition| definition.untrusted) {
            linked.outside.insert(id, (id, span));
        }
    }
    for &id in order {
        let Some(file) = index.file(id.file) else { continue };
        let used = references.used.get(&id).map_or(&[][..], |used| used);
        if !linked.outside.contains_key(&id)
            && let Some(source) = used.iter().find_map(|used| linked.outside.get(used)).copied()
        {
            linked.outside.insert(id, source);
        }
        if !used.is_empty() {
            linked.fragment(index, id, used);
        }
        let flow = file.facts.flows.binary_search_by_key(&id.definition, |flow| flow.owner).ok();
        if let Some(flow) = flow.and_then(|at| file.facts.flows.get(at)) {
            let found = Replay::new(index, id, flow, &linked, &references).run();
            let Found { faults, parts, extra, taken } = found;
            linked.faults.extend(faults);
            linked.parts.extend(parts);
            if !extra.is_empty() {
                linked.implicit.insert(id, extra);
            }
            if let Some(taken) = taken {
                linked.taken.insert(id, taken);
            }
        }
    }
    linked
}

impl LinkedNames {
    /// What a definition takes by name.
    fn takes<'l>(&'l self, index: &Index<'l>, id: DefId) -> &'l [Param] {
        match self.taken.get(&id) {
            Some(taken) => taken,
            None => index.definition(id).map_or(&[], |definition| &definition.params),
        }
    }

    /// What a fragment takes for those that it uses.
    fn fragment(&mut self, index: &Index<'_>, id: DefId, used: &[DefId]) {
        let mut taken: Vec<Param> = self.takes(index, id).to_vec();
        let mut known: HashMap<Box<str>, usize> = taken.iter().enumerate().map(|(at, param)| (param.name.clone(), at)).collect();
        for param in used.iter().flat_map(|target| self.takes(index, *target)) {
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

/// Parts, each once; of many the first ones.
fn union<'p>(one: impl IntoIterator<Item = &'p Box<str>>, two: impl IntoIterator<Item = &'p Box<str>>) -> Box<[Box<str>]> {
    let all: BTreeSet<&Box<str>> = one.into_iter().chain(two).collect();
    all.into_iter().take(MOST_PARTS).cloned().collect()
}

/// One definition, replayed.
struct Replay<'r> {
    index: &'r Index<'r>,
    id: DefId,
    flow: &'r Flow,
    linked: &'r LinkedNames,
    references: &'r References,
    /// The names that are bound, and where each stands among them.
    bound: Vec<u32>,
    innermost: HashMap<&'r str, Vec<u32>>,
    /// Implicit parameters by name; those that only a reference needs stand behind the names of the flow.
    implicit: HashMap<Box<str>, u32>,
    untrusted: Vec<bool>,
    in_system: Vec<bool>,
    /// By the name that is made: what it is made of by way of a fragment, and by which reference.
    made: BTreeMap<u32, Vec<(u32, RefId)>>,
    values: Values<'r>,
    /// By name: the parts that references use of its value.
    parts: BTreeMap<u32, BTreeSet<Box<str>>>,
    found: Found,
}

#[derive(Default)]
struct Found {
    faults: Vec<Fault>,
    parts: Vec<PartFault>,
    extra: Vec<(Param, RefId)>,
    taken: Option<Box<[Param]>>,
}

impl<'r> Replay<'r> {
    fn new(index: &'r Index<'r>, id: DefId, flow: &'r Flow, linked: &'r LinkedNames, references: &'r References) -> Self {
        let untrusted = flow.names.iter().map(|name| name.untrusted).collect();
        let in_system = flow.names.iter().map(|name| name.in_system).collect();
        let (bound, innermost, implicit) = (Vec::new(), HashMap::new(), HashMap::new());
        let values = Values::new(index, id, flow, references);
        let found = Found { parts: values.own(id.file).collect(), ..Found::default() };
        let (made, parts) = (BTreeMap::new(), BTreeMap::new());
        Self { index, id, flow, linked, references, bound, innermost, implicit, untrusted, in_system, made, values, parts, found }
    }

    fn run(mut self) -> Found {
        let flow = self.flow;
        let own = self.index.definition(self.id).map_or(&[][..], |definition| &definition.params);
        let bound: HashSet<u32> =
            flow.events.iter().filter_map(|event| if let Event::Bind(at) = event { Some(*at) } else { None }).collect();
        // What is named and never bound is an implicit parameter.
        for (at, name) in
            flow.names.iter().enumerate().filter(|(at, name)| !name.name.is_empty() && !bound.contains(&(*at as u32)))
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
        self.close();
        // What is declared stands before all else of its name.
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (at, name) in flow.names.iter().enumerate() {
            first.entry(&name.name).or_insert(at);
        }
        let marked = |param: &Param| {
            let implicit = self.implicit.get(&param.name).map(|at| *at as usize);
            let name = implicit.or_else(|| first.get(&*param.name).copied());
            let mark = name.and_then(|at| self.in_system.get(at)).copied();
            let parts = union(&param.parts, name.and_then(|at| self.parts.get(&(at as u32))).into_iter().flatten());
            Param { in_system: param.in_system || mark.unwrap_or(false), parts, ..param.clone() }
        };
        let extra = self.found.extra.iter().map(|(param, _)| {
            let name = self.implicit.get(&param.name);
            let mark = name.and_then(|at| self.in_system.get(*at as usize)).copied();
            let parts = union([], name.and_then(|at| self.parts.get(at)).into_iter().flatten());
            Param { in_system: mark.unwrap_or(false), parts, ..param.clone() }
        });
        self.found.taken = Some(own.iter().map(marked).chain(extra).collect());
        self.found
    }

    fn bind(&mut self, at: u32) {
        let Some(name) = self.flow.names.get(at as usize) else { return };
        let made = self.made.get(&at).into_iter().flatten().map(|(source, _)| source);
        let mut sources = name.made_of.iter().chain(made);
        if sources.any(|source| self.untrusted.get(*source as usize) == Some(&true)) {
            self.distrust(at);
        }
        self.bound.push(at);
        self.innermost.entry(&name.name).or_default().push(at);
    }

    fn unbind(&mut self, left: usize) {
        while self.bound.len() > left {
            let name = self.bound.pop().and_then(|at| self.flow.names.get(at as usize));
            if let Some(places) = name.and_then(|name| self.innermost.get_mut(&*name.name)) {
                places.pop();
            }
        }
    }

    fn distrust(&mut self, at: u32) {
        if let Some(mark) = self.untrusted.get_mut(at as usize) {
            *mark = true;
        }
    }

    fn site(&mut self, site: &Site) {
        let Some(reference) = self.references.at(self.id.file, site.at) else { return };
        let at = RefId { file: self.id.file, reference };
        let Some(reference) = self.index.reference(at) else { return };
        let Some(target) = self.index.target(reference) else { return };
        let linked = self.linked;
        let takes = linked.takes(self.index, target);
        if let (Some(into), true) = (site.into, linked.outside.contains_key(&target)) {
            self.distrust(into);
        }
        if reference.kind == ReferenceKind::Call {
            return self.call(site, at, reference, takes);
        }
        let mut absent = Vec::new();
        for param in takes {
            let known = self.innermost.get(&*param.name).and_then(|places| places.last()).copied();
            let known = known.or_else(|| self.implicit.get(&param.name).copied());
            let Some(name) = known.or_else(|| self.free(site, at, param, &mut absent)) else { continue };
            self.use_parts(name, (at, reference), param);
            if let Some(into) = site.into {
                self.made.entry(into).or_default().push((name, at));
                if self.untrusted.get(name as usize) == Some(&true) {
                    self.distrust(into);
                }
                continue;
            }
            let is_said = if reference.kind == ReferenceKind::Use { reference.in_system } else { param.in_system };
            self.hand_over(name, at, param, is_said);
        }
        if !absent.is_empty() {
            self.found.faults.push(Fault { at, kind: FaultKind::Undeclared(absent) });
        }
    }

    /// A name that nothing binds.
    fn free(&mut self, site: &Site, at: RefId, param: &Param, absent: &mut Vec<Box<str>>) -> Option<u32> {
        if !param.required {
            return None;
        }
        match site.free {
            Free::Taken => {
                let name = self.untrusted.len() as u32;
                self.untrusted.push(false);
                self.in_system.push(false);
                self.implicit.insert(param.name.clone(), name);
                self.found.extra.push((param.clone(), at));
                return Some(name);
            }
            Free::Undeclared => absent.push(param.name.clone()),
            Free::Unknown => {}
        }
        None
    }

    fn call(&mut self, site: &Site, at: RefId, reference: &Reference, takes: &[Param]) {
        let slots: HashMap<&str, usize> = takes.iter().enumerate().map(|(slot, param)| (&*param.name, slot)).collect();
        for (number, (arg, name)) in reference.args.iter().zip(&site.args).enumerate() {
            let slot = arg.name.as_deref().map_or(Some(number), |name| slots.get(name).copied());
            if let Some(param) = slot.and_then(|slot| takes.get(slot)) {
                let sources = self.flow.names.get(*name as usize).map_or(&[][..], |name| &name.made_of);
                if sources.iter().any(|source| self.untrusted.get(*source as usize) == Some(&true)) {
                    self.distrust(*name);
                }
                self.use_parts(*name, (at, reference), param);
                self.hand_over(*name, at, param, param.in_system);
            }
        }
    }

    /// What a definition uses of the values that it takes: what is wrong with it, or what is used of the values around here.
    fn use_parts(&mut self, name: u32, (at, reference): (RefId, &Reference), param: &Param) {
        let wrong = param.parts.iter().find_map(|path| Some((path, self.values.fault(name, path, None)?)));
        if let Some((path, why)) = wrong {
            let is_certain = matches!(why, Why::NoPart(_));
            let place = (at.file, reference.span, None);
            self.found.parts.push(linked_parts::fault(place, Some(at), (&param.name, path), why));
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

    /// A name becomes what a definition takes.
    fn hand_over(&mut self, name: u32, at: RefId, param: &Param, in_system: bool) {
        if let Some(Why::WrongType { found, wanted }) = self.values.fault(name, "", param.kind.as_deref()) {
            let kind = FaultKind::WrongType { name: param.name.clone(), found: found.into(), wanted };
            self.found.faults.push(Fault { at, kind });
        }
        if !in_system {
            return;
        }
        if self.untrusted.get(name as usize) == Some(&true) {
            self.found.faults.push(Fault { at, kind: FaultKind::UntrustedInSystem(param.name.clone()) });
        } else if let Some(mark) = self.in_system.get_mut(name as usize) {
            *mark = true;
        }
    }

    /// What system texts hold is made of what else; values that fragments bring into them are known only now.
    fn close(&mut self) {
        let names = &self.flow.names;
        let mut edges: Vec<(u32, u32, RefId)> = Vec::new();
        for (into, sources) in &self.made {
            edges.extend(sources.iter().map(|(source, at)| (*into, *source, *at)));
        }
        edges.sort_unstable();
        let mut by_name: Vec<Vec<u32>> = names.iter().map(|name| name.made_of.to_vec()).collect();
        for (into, source, _) in &edges {
            if let Some(made_of) = by_name.get_mut(*into as usize) {
                made_of.push(*source);
            }
        }
        spread(&mut self.in_system, |at| by_name.get(at).map_or(&[][..], |made_of| made_of));
        for (into, source, at) in edges {
            let is_said = self.in_system.get(into as usize) == Some(&true);
            if is_said && self.untrusted.get(source as usize) == Some(&true) {
                let name = names.get(source as usize).map_or("", |name| &name.name);
                self.found.faults.push(Fault { at, kind: FaultKind::UntrustedInSystem(name.into()) });
            }
        }
    }
}
