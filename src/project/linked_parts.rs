//! Parts of values across references: checks the use of a part against the known shapes of the
//! value. Never formats messages.

use super::index::{DefId, NameIndex, RefId};
use crate::base::source::Position;
use crate::base::span::Span;
use crate::template::names::{
    DefinitionFacts, DefinitionFlow, DefinitionKind, FlowName, PartUse, UseCertainty,
};
use crate::template::scope::value_aliases;
use crate::template::shape::{NoPart, ValueShape};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A use of a part that a value does not have, or of a value that is not of the declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartFault {
    /// The file.
    pub file: u32,
    /// The span of the use in that file.
    pub span: Span,
    /// The position in a separate text file; `span` is then that of its `src`.
    pub position_inside: Option<(Span, Position)>,
    /// The reference whose definition uses it.
    pub reference: Option<RefId>,
    /// The used part, as written there: `a.b[0]`.
    pub used_part: Box<str>,
    /// The reason.
    pub reason: PartFaultReason,
}

impl PartFault {
    /// The position of the use.
    pub const fn position(&self) -> UsePosition {
        UsePosition {
            file: self.file,
            span: self.span,
            inside: self.position_inside,
        }
    }
}

/// The position of a use of a name.
#[derive(Clone, Copy, Debug)]
pub struct UsePosition {
    /// The file.
    pub file: u32,
    /// The span in that file.
    pub span: Span,
    /// The position in a separate text file; `span` is then that of its `src`.
    pub inside: Option<(Span, Position)>,
}

/// The reason of a part fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartFaultReason {
    /// The path leads to no part; `upto` counts from the start of the used text.
    NoPart(NoPart),
    /// The path leads to no part in the default, which is the value unless a run passes another.
    NotInDefault {
        /// The part that the default lacks.
        missing: NoPart,
        /// False if only another value leads there.
        is_certain: bool,
    },
    /// The value is never of the required type.
    WrongType {
        /// The actual type.
        found: &'static str,
        /// The declared type.
        wanted: Box<str>,
    },
}

impl PartFaultReason {
    /// The reason with places that count from the start of a name, instead of the start of the path
    /// behind it.
    pub(super) fn after_name(self, name: &str) -> Self {
        let after = |no: NoPart| NoPart {
            upto: name.len() + no.upto,
            ..no
        };
        match self {
            Self::NoPart(no) => Self::NoPart(after(no)),
            Self::NotInDefault {
                missing,
                is_certain,
            } => Self::NotInDefault {
                missing: after(missing),
                is_certain,
            },
            Self::WrongType { .. } => self,
        }
    }
}

/// The targets of references.
pub(super) struct References {
    /// The referenced definitions.
    pub(super) targets: HashSet<DefId>,
    /// The fragments that each fragment uses.
    pub(super) used: BTreeMap<DefId, Vec<DefId>>,
    /// References by the offset of their name, for each file with flows.
    places: HashMap<(u32, u32), u32>,
}

impl References {
    pub(super) fn new(index: &NameIndex<'_>) -> Self {
        let mut found = Self {
            targets: HashSet::new(),
            used: BTreeMap::new(),
            places: HashMap::new(),
        };
        for (id, entry, reference) in index.references() {
            if !entry.facts.flows.is_empty() {
                found
                    .places
                    .insert((id.file, reference.span.start), id.reference);
            }
            let owner = DefId {
                file: id.file,
                definition: reference.owner,
            };
            let is_fragment = index
                .definition(owner)
                .is_some_and(|own| own.kind == DefinitionKind::Fragment);
            let Some(target) = index.resolve_reference(reference) else {
                continue;
            };
            found.targets.insert(target);
            if is_fragment {
                found.used.entry(owner).or_default().push(target);
            }
        }
        found
    }
}

impl References {
    /// Returns the reference whose name starts at an offset.
    pub(super) fn reference_at(&self, file: u32, at: u32) -> Option<u32> {
        self.places.get(&(file, at)).copied()
    }
}

/// The known shapes of the values of a definition's names.
pub(super) struct ValueShapes<'r> {
    flow: &'r DefinitionFlow,
    shapes: Vec<&'r ValueShape>,
}

impl<'r> ValueShapes<'r> {
    pub(super) fn new(
        index: &NameIndex<'r>,
        id: DefId,
        flow: &'r DefinitionFlow,
        references: &References,
    ) -> Self {
        let answer = |at: u32| {
            let reference = RefId {
                file: id.file,
                reference: references.reference_at(id.file, at)?,
            };
            let target = index.resolve_reference(index.reference(reference)?)?;
            let DefinitionFacts { returns, .. } = index.definition(target)?;
            Some(index.file(target.file)?.facts.shape(returns.as_deref()?))
        };
        let own = |kind: &str| Some(index.file(id.file)?.facts.shape(kind));
        let shape = |kind: Option<&str>, answer_of: Option<u32>| {
            kind.and_then(own).or_else(|| answer(answer_of?))
        };
        let of = |name: &FlowName| shape(name.kind.as_deref(), name.answer_of);
        Self {
            flow,
            shapes: flow
                .names
                .iter()
                .map(|name| of(name).unwrap_or(ValueShape::for_type("")))
                .collect(),
        }
    }

    /// Returns a part of a name's value under each of the value's names.
    pub(super) fn aliases(&self, name: u32, path: &str) -> Vec<(u32, String)> {
        value_aliases(name, path, |name| self.part_of(name))
    }

    /// Like [`Self::aliases`], but only under the names that are not aliases.
    pub(super) fn root_values(&self, name: u32, path: &str) -> impl Iterator<Item = (u32, String)> {
        self.aliases(name, path)
            .into_iter()
            .filter(|(name, _)| self.part_of(*name).is_empty())
    }

    /// True if a part of a value cannot contain a foreign text, regardless of the other parts.
    pub(super) fn is_inert(&self, name: u32, path: &str) -> bool {
        let (mut name, mut path) = (name, path.to_owned());
        // Each step follows an alias to an earlier name. The type of a parameter of an inner body
        // is not enforced.
        loop {
            let at = self
                .flow
                .names
                .get(name as usize)
                .map_or("", |name| &*name.at);
            let is_held = at
                .rsplit_once("/parameters/")
                .is_none_or(|(node, _)| node.is_empty());
            if is_held
                && self
                    .shapes
                    .get(name as usize)
                    .is_some_and(|shape| shape.part_at(&path).is_ok_and(ValueShape::is_inert))
            {
                return true;
            }
            let [(whole, part)] = self.part_of(name) else {
                return false;
            };
            path.insert_str(0, part);
            name = *whole;
        }
    }

    /// True if a value is the text of an input or argument.
    pub(super) fn is_text(&self, name: u32) -> bool {
        let is_given = |own: &FlowName| {
            own.kind.as_deref() == Some("text")
                && (own.at.contains("/inputs/") || own.at.contains("/args/"))
        };
        self.flow.names.get(name as usize).is_some_and(is_given)
    }

    fn part_of(&self, name: u32) -> &'r [(u32, Box<str>)] {
        self.flow
            .names
            .get(name as usize)
            .map_or(&[], |name| &name.part_of)
    }

    /// Returns the fault in the use of a part.
    pub(super) fn find_fault(
        &self,
        name: u32,
        path: &str,
        wanted: Option<&str>,
    ) -> Option<PartFaultReason> {
        let mut doubt = None;
        for (name, whole) in self.aliases(name, path) {
            let own = whole.len() - path.len();
            // A fault in the beginning of the path is reported where the alias is bound.
            let inside = |no: NoPart| {
                Some(NoPart {
                    upto: no.upto.checked_sub(own)?,
                    ..no
                })
            };
            let default = self.flow.names.get(name as usize)?.default.as_deref();
            doubt = doubt.or_else(|| inside(default?.part_at(&whole).err()?));
            match self.shapes.get(name as usize)?.part_at(&whole) {
                Err(no) => {
                    if let Some(no) = inside(no) {
                        return Some(PartFaultReason::NoPart(no));
                    }
                }
                Ok(shape) => {
                    let found = shape
                        .type_name()
                        .zip(wanted)
                        .filter(|(found, wanted)| !types_overlap(found, wanted));
                    if let Some((found, wanted)) = found {
                        return Some(PartFaultReason::WrongType {
                            found,
                            wanted: wanted.into(),
                        });
                    }
                }
            }
        }
        doubt.map(|no| PartFaultReason::NotInDefault {
            missing: no,
            is_certain: true,
        })
    }

    /// The faults in the definition's own uses.
    pub(super) fn own_faults(&self, file: u32) -> impl Iterator<Item = PartFault> {
        self.flow.uses.iter().filter_map(
            move |PartUse {
                      name,
                      path,
                      expected_type: wanted,
                      span,
                      inside,
                      reached,
                      ..
                  }| {
                let why = match self.find_fault(*name, path, wanted.as_deref())? {
                    PartFaultReason::NotInDefault { .. } if *reached == UseCertainty::Unknown => {
                        return None;
                    }
                    PartFaultReason::NotInDefault { missing: no, .. } => {
                        PartFaultReason::NotInDefault {
                            missing: no,
                            is_certain: *reached == UseCertainty::Always,
                        }
                    }
                    other @ (PartFaultReason::NoPart(_) | PartFaultReason::WrongType { .. }) => {
                        other
                    }
                };
                let word = self
                    .flow
                    .names
                    .get(*name as usize)
                    .map_or("", |name| &name.name);
                Some(PartFault {
                    file,
                    span: *span,
                    position_inside: *inside,
                    reference: None,
                    used_part: format!("{word}{path}").into(),
                    reason: why.after_name(word),
                })
            },
        )
    }
}

/// True if a value of one type can be of the other.
pub(super) fn types_overlap(found: &str, wanted: &str) -> bool {
    let family = |kind: &str| match kind {
        "number" | "integer" => "number",
        "array" | "string[]" => "array",
        _ => "",
    };
    let is_known =
        |kind: &str| matches!(kind, "string" | "boolean" | "object") || !family(kind).is_empty();
    found == wanted
        || !is_known(found)
        || !is_known(wanted)
        || (!family(found).is_empty() && family(found) == family(wanted))
}
