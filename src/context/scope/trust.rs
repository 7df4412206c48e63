//! The trust of the values that a node's texts may name, for one use of their definition.
//!
//! The dependencies between values come from the registry and are not derived again.

use super::binder::{Binder, ResultPlace, TypedName, place_in};
use crate::context::fault::{Fault, FaultKind};
use crate::context::task_graph::{ChainLink, path_in_node};
use crate::context::values::{BoundValue, NameScope, UntrustedPlaces};
use crate::kernel::context::{Origin, Stability, Trust};
use crate::project::roles::Role;
use crate::template::setting::{Inherit, SettingName};
use crate::template::shape::ValueShape;
use crate::template::trust::{CONTEXT, TOOLS, spread_marks};
use crate::template::value_type;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

impl Binder<'_, '_> {
    /// Returns the untrusted places of a definition whose parameters are bound; `from` is the node
    /// that refers to it, with the names around that node.
    pub(in crate::context) fn find_untrusted(
        &self,
        link: &ChainLink<'_>,
        from: Option<(&ChainLink<'_>, &NameScope)>,
        scope: &NameScope,
    ) -> UntrustedPlaces {
        let context = || match from {
            Some((from, outer)) => outer
                .untrusted_places()
                .contains(&path_in_node(from.node, "context")),
            None => {
                link.node.setting(SettingName::InheritContext) != Inherit::None.word()
                    && self
                        .request
                        .parent
                        .iter()
                        .any(|segment| segment.overall_trust() == Trust::Untrusted)
            }
        };
        let is_untrusted = |name: &str| {
            scope
                .get(name)
                .is_some_and(|bound| bound.trust_of(&[]) == Trust::Untrusted)
        };
        let seen: BTreeSet<&str> = self.results.untrusted_in(link).collect();
        let is_handed = |at: &str| match at.strip_prefix("/parameters/") {
            Some(name) => is_untrusted(name),
            None if at == CONTEXT => context(),
            None if at == TOOLS => self.request.role.is_some_and(Role::has_tools),
            // An untrusted result observed by a run spreads like a declared one.
            None => seen.contains(at),
        };
        let marks = spread_marks(&link.tree.trust, is_handed);
        let marked = link
            .tree
            .trust
            .iter()
            .zip(marks)
            .filter(|(_, mark)| mark.is_some());
        let seen = seen.iter().map(|at| (*at).to_owned());
        UntrustedPlaces::new(
            marked
                .map(|(node, _)| node.at.clone())
                .chain(seen)
                .collect(),
        )
    }

    /// Marks an untrusted parameter as untrusted under its name, unless its type cannot hold text.
    pub(super) fn settle_parameter(
        &mut self,
        link: &ChainLink<'_>,
        TypedName { name, kind }: TypedName<'_>,
        outside: &UntrustedPlaces,
        scope: &mut NameScope,
    ) {
        let Some(bound) = scope.get(name) else { return };
        let field = format!("parameters/{name}");
        let shape = ValueShape::for_type(kind.unwrap_or_default());
        if bound.value.is_none() && shape.is_inert() {
            // Only its type is known, under this name and every name derived from it.
            return scope.set_open_shape(name, shape.clone());
        }
        if bound.trust == Trust::Trusted && !outside.contains(&path_in_node(link.node, &field)) {
            return;
        }
        let kind = kind.unwrap_or_default();
        let is_inert = shape.is_inert();
        if let Some(value) = bound
            .value
            .as_deref()
            .filter(|value| is_inert && shape.find_mismatch(value).is_some())
        {
            let (name, kind, found) = (
                name.to_owned(),
                kind.to_owned(),
                value_type::describe_type(value),
            );
            self.faults.push(Fault::at_place(
                place_in(link, &link.node.id, &field),
                FaultKind::WrongType { name, kind, found },
            ));
        }
        scope.set_trust(
            name,
            if is_inert {
                Trust::Trusted
            } else {
                Trust::Untrusted
            },
        );
    }

    /// Returns the binding of a node's result.
    pub(super) fn result_value(
        &mut self,
        link: &ChainLink<'_>,
        ResultPlace { name, node, part }: ResultPlace<'_>,
        scope: &NameScope,
    ) -> BoundValue {
        let (name, found) = match self.results.find(link, node) {
            Some((key, found)) => (key.to_owned(), Some(found)),
            None => (self.results.display_name(link, name, node), None),
        };
        let is_outside = scope.untrusted_places().contains(node);
        let shape = part
            .filter(|_| is_outside)
            .and_then(|part| self.forest.answer_shape(part));
        let breach = shape
            .as_ref()
            .zip(found)
            .and_then(|(shape, found)| shape.find_mismatch(&found.content));
        if let Some((part, shape)) = breach {
            let (name, part, takes) = (
                name.clone(),
                [&*name, &part].concat(),
                shape.describe_values(),
            );
            let kind = FaultKind::ResultForm { name, part, takes };
            self.faults
                .push(Fault::at_place(place_in(link, &link.node.id, ""), kind));
        }
        BoundValue {
            value: found.map(|result| Arc::new(result.content.clone())),
            origin: Origin::Result { name },
            trust: if is_outside {
                Trust::Untrusted
            } else {
                Trust::Trusted
            },
            stability: Stability::Session,
            shape: shape.map(Arc::new),
            argument_faults: Rc::default(),
        }
    }
}
