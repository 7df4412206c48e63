//! Writes down how names reach references, as the walk goes: what linking needs of a definition. See [`Flow`].

use crate::template::keywords::Trust;
use crate::template::model::{Input, Value};
use crate::template::names::{Event, FileFacts, Flow, FlowName, Param, Site};
use std::borrow::Cow;

/// The names of one definition.
#[derive(Debug, Default)]
pub(super) struct Recorder<'m> {
    names: Vec<Name<'m>>,
    events: Vec<Event>,
    /// What the definition takes: each with whether it has no value where nothing binds it.
    takes: Vec<(u32, bool)>,
    /// The names that the value is made of which is being read.
    pub(super) used: Vec<u32>,
    has_sites: bool,
}

/// A [`FlowName`] that is not owned yet.
#[derive(Debug, Default)]
struct Name<'m> {
    word: Cow<'m, str>,
    kind: Option<&'m str>,
    untrusted: bool,
    in_system: bool,
    made_of: Vec<u32>,
}

/// What is known of a value.
#[derive(Debug, Default)]
pub(super) struct Made<'m> {
    pub(super) trust: Trust,
    pub(super) kind: Option<&'m str>,
    pub(super) of: Vec<u32>,
}

impl Made<'_> {
    pub(super) fn of_trust(trust: Trust) -> Self {
        Self { trust, ..Self::default() }
    }
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
        let Made { trust, kind, of: made_of } = made;
        self.names.push(Name { word: name, kind, untrusted: trust == Trust::Untrusted, in_system: false, made_of });
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
    pub(super) fn more(&mut self, id: u32, trust: Trust, kind: Option<&'m str>) {
        if let Some(name) = self.names.get_mut(id as usize) {
            name.untrusted |= trust == Trust::Untrusted;
            name.kind = name.kind.or(kind);
        }
    }

    pub(super) fn kind(&self, id: u32) -> Option<&'m str> {
        self.names.get(id as usize)?.kind
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
        let param = |(id, required): &(u32, bool)| {
            let Name { word, kind, in_system, .. } = self.names.get(*id as usize)?;
            let kind = kind.map(Box::from);
            Some(Param { name: Box::from(&**word), required: *required, kind, in_system: *in_system })
        };
        let params = self.takes.iter().filter_map(param).collect();
        let flow = self.has_sites.then(|| {
            let whole = |own: Name<'_>| FlowName {
                name: own.word.into(),
                kind: own.kind.map(Box::from),
                untrusted: own.untrusted,
                in_system: own.in_system,
                made_of: own.made_of.into(),
            };
            Flow { owner, names: self.names.into_iter().map(whole).collect(), events: self.events.into() }
        });
        Learned { params, flow }
    }
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
