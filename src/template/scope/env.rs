//! The names that are bound at a place: a stack of bindings, the innermost last.
//!
//! A few names are searched linearly, many through an index, so that the search is never quadratic.

use super::fault::ParameterOrigin;
use crate::base::span::Span;
use std::collections::HashMap;

/// The number of bindings from which on the index is used.
const INDEX_THRESHOLD: usize = 32;

/// A name bound to a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameBinding<'m> {
    pub(super) name: &'m str,
    /// The span of the name.
    pub(super) span: Span,
    pub(super) is_read: bool,
    /// Its number in the flow of names; unset in a list of names that are not bound yet.
    pub(super) id: u32,
}

/// A binding, and the origin of its declaration if it is declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct BindingEntry<'m, 'a> {
    pub(super) binding: NameBinding<'m>,
    pub(super) declared: Option<ParameterOrigin<'a>>,
}

/// All bound names.
#[derive(Debug, Default)]
pub(super) struct BindingStack<'m, 'a> {
    entries: Vec<BindingEntry<'m, 'a>>,
    /// Positions in `entries` by name, the innermost last; maintained only for many entries.
    index: HashMap<&'m str, Vec<usize>>,
}

impl<'m, 'a> BindingStack<'m, 'a> {
    /// The number of bound names, to which [`Self::unbind_down_to`] can return.
    pub(super) fn binding_count(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bind(&mut self, name: &'m str, span: Span) {
        self.push(BindingEntry {
            binding: NameBinding {
                name,
                span,
                is_read: false,
                id: u32::MAX,
            },
            declared: None,
        });
    }

    pub(super) fn push(&mut self, entry: BindingEntry<'m, 'a>) {
        self.entries.push(entry);
        let at = self.entries.len() - 1;
        if at == INDEX_THRESHOLD {
            for (at, entry) in self.entries.iter().enumerate() {
                self.index.entry(entry.binding.name).or_default().push(at);
            }
        } else if at > INDEX_THRESHOLD {
            self.index.entry(entry.binding.name).or_default().push(at);
        }
    }

    /// The innermost binding of a name.
    pub(super) fn find_binding(&mut self, name: &str) -> Option<&mut NameBinding<'m>> {
        let at = if self.entries.len() > INDEX_THRESHOLD {
            *self.index.get(name)?.last()?
        } else {
            self.entries
                .iter()
                .rposition(|entry| entry.binding.name == name)?
        };
        self.entries.get_mut(at).map(|entry| &mut entry.binding)
    }

    /// Unbinds the innermost name, unless only `mark` names are left.
    pub(super) fn unbind_down_to(&mut self, mark: usize) -> Option<BindingEntry<'m, 'a>> {
        if self.entries.len() <= mark {
            return None;
        }
        let entry = self.entries.pop()?;
        if self.entries.len() > INDEX_THRESHOLD {
            if let Some(places) = self.index.get_mut(entry.binding.name) {
                places.pop();
            }
        } else if self.entries.len() == INDEX_THRESHOLD {
            self.index.clear();
        }
        Some(entry)
    }

    /// The names bound by rounds, which have no span.
    pub(super) fn round_names(&self) -> impl DoubleEndedIterator<Item = &'m str> {
        self.entries
            .iter()
            .map(|entry| &entry.binding)
            .filter(|own| own.span == Span::default())
            .map(|own| own.name)
    }

    /// All bound names, the innermost first.
    pub(super) fn bound_names(&self) -> impl Iterator<Item = &'m str> {
        self.entries.iter().rev().map(|entry| entry.binding.name)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/template/scope/env.rs"]
mod tests;
