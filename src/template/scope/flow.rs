//! Writes down how names reach references, as the walk goes: what linking needs of a definition. See [`Flow`].

use crate::base::source::Position;
use crate::base::span::{Span, Spanned};
use crate::template::keywords::Trust;
use crate::template::model::{Input, Value};
use crate::template::names::{Event, FileFacts, Flow, FlowName, Param, PartUse, Site};
use crate::template::shape::Shape;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The names of one definition.
#[derive(Debug, Default)]
pub(super) struct Recorder<'m> {
    names: Vec<Name<'m>>,
    events: Vec<Event>,
    /// What the definition takes: each with whether it has no value where nothing binds it.
    takes: Vec<(u32, bool)>,
    /// The names that the value is made of which is being read.
    pub(super) used: Vec<u32>,
    pub(super) uses: Vec<PartUse>,
    has_sites: bool,
}

/// How many parts of a value are told on, and how far names stand for parts of others.
pub(crate) const MOST_PARTS: usize = 32;

/// A [`FlowName`] that is not owned yet.
#[derive(Debug, Default)]
struct Name<'m> {
    word: Cow<'m, str>,
    kind: Option<&'m str>,
    untrusted: bool,
    in_system: bool,
    made_of: Vec<u32>,
    part_of: Vec<(u32, Box<str>)>,
    answer_of: Option<u32>,
    default: Option<Box<Shape>>,
}

/// What is known of a value.
#[derive(Debug, Default)]
pub(super) struct Made<'m> {
    pub(super) trust: Trust,
    pub(super) kind: Option<&'m str>,
    pub(super) of: Vec<u32>,
    pub(super) part_of: Vec<(u32, Box<str>)>,
    pub(super) answer_of: Option<u32>,
    pub(super) default: Option<Box<Shape>>,
}

/// What a definition takes and how names flow in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    params: Box<[Param]>,
    flow: Option<Flow>,
}

/// Adds what a walk learned of each definition to the facts of a file.
pub(super) fn learn(learned: Vec<Learned>, facts: &mut FileFacts) {
    for (definition, Learned { params, flow }) in facts.definitions.iter_mut().zip(learned) {
        definition.params = params;
        facts.flows.extend(flow);
    }
}

impl<'m> Recorder<'m> {
    /// A name, not bound yet.
    pub(super) fn name(&mut self, name: Cow<'m, str>, made: Made<'m>) -> u32 {
        let Made { trust, kind, of: made_of, part_of, answer_of, default } = made;
        let untrusted = trust == Trust::Untrusted;
        self.names.push(Name { word: name, kind, untrusted, in_system: false, made_of, part_of, answer_of, default });
        self.names.len() as u32 - 1
    }

    pub(super) fn bind(&mut self, id: u32) {
        self.events.push(Event::Bind(id));
    }

    pub(super) fn unbind(&mut self, left: usize) {
        self.events.push(Event::Unbind(left as u32));
    }

    pub(super) fn takes(&mut self, id: u32, required: bool) {
        self.takes.push((id, required));
    }

    pub(super) fn in_system(&mut self, id: u32) {
        if let Some(name) = self.names.get_mut(id as usize) {
            name.in_system = true;
        }
    }

    /// More is said about a name.
    pub(super) fn more(&mut self, id: u32, Made { trust, kind, default, .. }: Made<'m>) {
        if let Some(name) = self.names.get_mut(id as usize) {
            name.untrusted |= trust == Trust::Untrusted;
            name.kind = name.kind.or(kind);
            name.default = default;
        }
    }

    /// A part of a value is used; in a text in a file of its own, whose `src` this is.
    pub(super) fn part(&mut self, name: u32, path: &Spanned<Box<str>>, src: Option<Span>) {
        let inside = src.map(|_| (path.span, Position::default()));
        let span = src.unwrap_or(path.span);
        self.uses.push(PartUse { name, path: path.value.clone(), wanted: None, span, inside });
    }

    /// A value is used as one of a type.
    pub(super) fn wanted(&mut self, name: u32, kind: Option<&str>, span: Span) {
        if let Some(kind) = kind {
            self.uses.push(PartUse { name, path: Box::default(), wanted: Some(kind.into()), span, inside: None });
        }
    }

    /// The parts that are used of what a definition takes.
    fn parts(&self) -> BTreeMap<u32, BTreeSet<Box<str>>> {
        let mut parts: BTreeMap<u32, BTreeSet<Box<str>>> = BTreeMap::new();
        for used in self.uses.iter().filter(|used| !used.path.is_empty()) {
            let part_of = |name: u32| self.names.get(name as usize).map_or(&[][..], |name| &name.part_of);
            for (name, path) in chain(used.name, &used.path, part_of).into_iter().filter(|(name, _)| part_of(*name).is_empty()) {
                parts.entry(name).or_default().insert(path.into());
            }
        }
        parts
    }

    /// The name that was made last.
    pub(super) fn last(&self) -> Option<u32> {
        (self.names.len() as u32).checked_sub(1)
    }

    /// A reference stands here.
    pub(super) fn site(&mut self, site: Site) {
        self.has_sites = true;
        self.events.push(Event::Reference(site));
    }

    pub(super) fn mark(&self) -> usize {
        self.events.len()
    }

    /// The last name is made of an input: the references since a mark stand in its text.
    pub(super) fn holds(&mut self, mark: usize, input: &Input<'_>) {
        let last = self.last();
        for event in self.events.iter_mut().skip(mark).filter(|_| matches!(input.value, Value::Text)) {
            if let Event::Reference(site) = event {
                site.into = last;
            }
        }
    }

    /// The names used since the last call, each once.
    pub(super) fn take_used(&mut self) -> Vec<u32> {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        used.dedup();
        used
    }

    pub(super) fn finish(mut self, owner: u32) -> Learned {
        let mut marks: Vec<bool> = self.names.iter().map(|name| name.in_system).collect();
        spread(&mut marks, |at| self.names.get(at).map_or(&[][..], |name| &name.made_of));
        for (name, mark) in self.names.iter_mut().zip(&marks) {
            name.in_system = *mark;
        }
        let parts = self.parts();
        let param = |(id, required): &(u32, bool)| {
            let Name { word, kind, in_system, .. } = self.names.get(*id as usize)?;
            let kind = kind.map(Box::from);
            let parts = parts.get(id).into_iter().flatten().take(MOST_PARTS).cloned().collect();
            Some(Param { name: Box::from(&**word), required: *required, kind, in_system: *in_system, parts })
        };
        let params = self.takes.iter().filter_map(param).collect();
        // Where nothing is known of any value, nothing is wrong with a part of it.
        let has_uses = !self.uses.is_empty() && self.names.iter().any(|name| name.kind.is_some());
        let flow = (self.has_sites || has_uses).then(|| {
            let whole = |own: Name<'_>| FlowName {
                name: own.word.into(),
                kind: own.kind.map(Box::from),
                untrusted: own.untrusted,
                in_system: own.in_system,
                made_of: own.made_of.into(),
                part_of: own.part_of.into(),
                default: own.default,
                answer_of: own.answer_of,
            };
            let names = self.names.into_iter().map(whole).collect();
            Flow { owner, names, events: self.events.into(), uses: self.uses.into() }
        });
        Learned { params, flow }
    }
}

/// A part of a value under each of the names that it has, the name it is used by first; of many the first ones.
pub(crate) fn chain<'n>(name: u32, path: &str, part_of: impl Fn(u32) -> &'n [(u32, Box<str>)]) -> Vec<(u32, String)> {
    let mut all = vec![(name, path.to_owned())];
    let mut at = 0;
    while let Some((name, path)) = all.get(at) {
        let further = part_of(*name).iter().take(MOST_PARTS.saturating_sub(all.len()));
        let further: Vec<_> = further.map(|(whole, way)| (*whole, format!("{way}{path}"))).collect();
        all.extend(further);
        at += 1;
    }
    all
}

/// Marks what marked names are made of: each is made of those before it.
pub(crate) fn spread<'n>(marks: &mut [bool], made_of: impl Fn(usize) -> &'n [u32]) {
    for at in (0..marks.len()).rev() {
        if marks.get(at) == Some(&true) {
            for source in made_of(at) {
                if let Some(mark) = marks.get_mut(*source as usize) {
                    *mark = true;
                }
            }
        }
    }
}
