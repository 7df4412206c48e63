//! Parts of values across references: what is used of a value is held against all that is known of its form. Words nothing.

use super::index::{DefId, Index, RefId};
use crate::base::source::Position;
use crate::base::span::Span;
use crate::template::names::{Definition, DefinitionKind, Flow, FlowName, PartUse, Reached};
use crate::template::scope::chain;
use crate::template::shape::{NoPart, Shape};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A part that a value does not have, or a value of another type than the one that is declared for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartFault {
    /// The file.
    pub file: u32,
    /// Where it is used, in that file.
    pub span: Span,
    /// Where in a text in a file of its own, whose `src` the other place is.
    pub inside: Option<(Span, Position)>,
    /// The reference by whose definition it is used.
    pub by: Option<RefId>,
    /// What is used, as written there: `a.b[0]`.
    pub used: Box<str>,
    /// What is wrong.
    pub why: Why,
}

impl PartFault {
    /// Where it is used.
    pub const fn place(&self) -> (u32, Span, Option<(Span, Position)>) {
        (self.file, self.span, self.inside)
    }
}

/// What is wrong with a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It leads to nothing; how far counts from the start of what is used.
    NoPart(NoPart),
    /// It leads to nothing in the default that the value has unless a run brings another.
    NotInDefault {
        /// The part that the default lacks.
        no: NoPart,
        /// False where only another value leads there.
        is_certain: bool,
    },
    /// It is never of the type that is wanted.
    WrongType {
        /// The type that it has.
        found: &'static str,
        /// The type that is declared.
        wanted: Box<str>,
    },
}

/// Where references lead.
pub(super) struct References {
    /// The definitions that something uses.
    pub(super) targets: HashSet<DefId>,
    /// What each fragment uses.
    pub(super) used: BTreeMap<DefId, Vec<DefId>>,
    /// References by the place of their name, for each file with flows.
    places: HashMap<(u32, u32), u32>,
}

impl References {
    pub(super) fn new(index: &Index<'_>) -> Self {
        let mut found = Self { targets: HashSet::new(), used: BTreeMap::new(), places: HashMap::new() };
        for (id, entry, reference) in index.references() {
            if !entry.facts.flows.is_empty() {
                found.places.insert((id.file, reference.span.start), id.reference);
            }
            let owner = DefId { file: id.file, definition: reference.owner };
            let is_fragment = index.definition(owner).is_some_and(|own| own.kind == DefinitionKind::Fragment);
            let Some(target) = index.target(reference) else { continue };
            found.targets.insert(target);
            if is_fragment {
                found.used.entry(owner).or_default().push(target);
            }
        }
        found
    }
}

impl References {
    /// The reference whose name stands at a place.
    pub(super) fn at(&self, file: u32, at: u32) -> Option<u32> {
        self.places.get(&(file, at)).copied()
    }
}

/// What is known of the values of a definition's names.
pub(super) struct Values<'r> {
    flow: &'r Flow,
    shapes: Vec<&'r Shape>,
}

impl<'r> Values<'r> {
    pub(super) fn new(index: &Index<'r>, id: DefId, flow: &'r Flow, references: &References) -> Self {
        let answer = |at: u32| {
            let reference = RefId { file: id.file, reference: references.at(id.file, at)? };
            let target = index.target(index.reference(reference)?)?;
            let Definition { returns, .. } = index.definition(target)?;
            Some(index.file(target.file)?.facts.shape(returns.as_deref()?))
        };
        let own = |kind: &str| Some(index.file(id.file)?.facts.shape(kind));
        let shape = |kind: Option<&str>, answer_of: Option<u32>| kind.and_then(own).or_else(|| answer(answer_of?));
        let of = |name: &FlowName| shape(name.kind.as_deref(), name.answer_of);
        Self { flow, shapes: flow.names.iter().map(|name| of(name).unwrap_or(Shape::declared(""))).collect() }
    }

    /// A part of the value of a name, under each of the names that the value has.
    pub(super) fn chain(&self, name: u32, path: &str) -> Vec<(u32, String)> {
        chain(name, path, |name| self.part_of(name))
    }

    /// The same under the names that are no other ones for anything.
    pub(super) fn sources(&self, name: u32, path: &str) -> impl Iterator<Item = (u32, String)> {
        self.chain(name, path).into_iter().filter(|(name, _)| self.part_of(*name).is_empty())
    }

    /// Whether a part of a value cannot hold a text of somebody else's, whatever the rest of it is.
    pub(super) fn is_inert(&self, name: u32, path: &str) -> bool {
        let (mut name, mut path) = (name, path.to_owned());
        // Each name is another one for one before it. A parameter of a body inside is held to its type where nobody sees it.
        loop {
            let at = self.flow.names.get(name as usize).map_or("", |name| &*name.at);
            let is_held = at.rsplit_once("/parameters/").is_none_or(|(node, _)| node.is_empty());
            if is_held && self.shapes.get(name as usize).is_some_and(|shape| shape.part(&path).is_ok_and(Shape::is_inert)) {
                return true;
            }
            let [(whole, way)] = self.part_of(name) else { return false };
            path.insert_str(0, way);
            name = *whole;
        }
    }

    /// Whether a value is what a text says.
    pub(super) fn is_text(&self, name: u32) -> bool {
        let is_given =
            |own: &FlowName| own.kind.as_deref() == Some("text") && (own.at.contains("/inputs/") || own.at.contains("/args/"));
        self.flow.names.get(name as usize).is_some_and(is_given)
    }

    fn part_of(&self, name: u32) -> &'r [(u32, Box<str>)] {
        self.flow.names.get(name as usize).map_or(&[], |name| &name.part_of)
    }

    /// What is wrong with the use of a part.
    pub(super) fn fault(&self, name: u32, path: &str, wanted: Option<&str>) -> Option<Why> {
        let mut doubt = None;
        for (name, whole) in self.chain(name, path) {
            let own = whole.len() - path.len();
            // What the path begins with is wrong where it gets its other name.
            let inside = |no: NoPart| Some(NoPart { upto: no.upto.checked_sub(own)?, ..no });
            let default = self.flow.names.get(name as usize)?.default.as_deref();
            doubt = doubt.or_else(|| inside(default?.part(&whole).err()?));
            match self.shapes.get(name as usize)?.part(&whole) {
                Err(no) => {
                    if let Some(no) = inside(no) {
                        return Some(Why::NoPart(no));
                    }
                }
                Ok(shape) => {
                    let found = shape.word().zip(wanted).filter(|(found, wanted)| !meets(found, wanted));
                    if let Some((found, wanted)) = found {
                        return Some(Why::WrongType { found, wanted: wanted.into() });
                    }
                }
            }
        }
        doubt.map(|no| Why::NotInDefault { no, is_certain: true })
    }

    /// What is wrong with what the definition itself uses.
    pub(super) fn own(&self, file: u32) -> impl Iterator<Item = PartFault> {
        self.flow.uses.iter().filter_map(move |PartUse { name, path, wanted, span, inside, reached, .. }| {
            let why = match self.fault(*name, path, wanted.as_deref())? {
                Why::NotInDefault { .. } if *reached == Reached::Unknown => return None,
                Why::NotInDefault { no, .. } => Why::NotInDefault { no, is_certain: *reached == Reached::Always },
                other @ (Why::NoPart(_) | Why::WrongType { .. }) => other,
            };
            let word = self.flow.names.get(*name as usize).map_or("", |name| &name.name);
            Some(fault((file, *span, *inside), None, (word, path), why))
        })
    }
}

/// A fault of what is used of a name.
pub(super) fn fault(
    (file, span, inside): (u32, Span, Option<(Span, Position)>),
    by: Option<RefId>,
    (name, path): (&str, &str),
    why: Why,
) -> PartFault {
    let why = match why {
        Why::NoPart(no) => Why::NoPart(NoPart { upto: name.len() + no.upto, ..no }),
        Why::NotInDefault { no, is_certain } => Why::NotInDefault { no: NoPart { upto: name.len() + no.upto, ..no }, is_certain },
        Why::WrongType { .. } => why,
    };
    PartFault { file, span, inside, by, used: format!("{name}{path}").into(), why }
}

/// Whether some value of one type is of another.
pub(super) fn meets(found: &str, wanted: &str) -> bool {
    let family = |kind: &str| match kind {
        "number" | "integer" => "number",
        "array" | "string[]" => "array",
        _ => "",
    };
    let is_known = |kind: &str| matches!(kind, "string" | "boolean" | "object") || !family(kind).is_empty();
    found == wanted || !is_known(found) || !is_known(wanted) || (!family(found).is_empty() && family(found) == family(wanted))
}
