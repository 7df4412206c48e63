//! Records during the walk which binding each name refers to.

use super::state::Walk;
use super::trace::{Bound, BoundKind, How, Target};
use super::used::Used;
use crate::base::span::Span;
use crate::kernel::profile::Profile;
use crate::syntax::tree::Element;
use crate::template::facts;
use crate::template::model::Task;
use crate::template::names::{Free, Site, Unfenced};
use crate::template::parts::{Str, Text};

/// For navigation: none of these functions has an effect unless a trace is requested.
impl<'m, 'a> Walk<'m, 'a, '_> {
    pub(super) fn bound(&mut self, name: &Str<'_>, kind: BoundKind, by: Element<'a>) {
        if let Some((trace, _)) = &mut self.traced {
            let span = name.span;
            let body = by.span();
            trace.bindings.push(Bound {
                name: name.value.to_string(),
                span,
                kind,
                owner: self.owner,
                body,
            });
        }
    }

    pub(super) fn note(&mut self, name: &Str<'_>, how: How, target: Target) {
        if let Some((trace, _)) = &mut self.traced {
            trace.note(&name.value, name.span, how, target);
        }
    }

    /// Connects an input to the parameter of the same name in its own body: the input is the
    /// parameter's value.
    pub(super) fn join(&mut self, task: &'m Task<'a>, input: &Str<'a>) {
        let Some((trace, _)) = &mut self.traced else {
            return;
        };
        let mut names = task
            .parameters
            .iter()
            .filter_map(|parameter| parameter.name.as_ref());
        if let Some(name) = names.find(|name| name.value == input.value) {
            trace.join(input.span, name.span);
        }
    }

    pub(super) fn enter(&mut self, text: &Text<'_>) {
        if let Some((trace, _)) = &mut self.traced {
            trace.enter(text);
        }
    }

    pub(super) fn used(&mut self, used: &Used<'_>) {
        if self.traced.is_some() {
            let target = self.target(&used.name);
            if let Some((trace, _)) = &mut self.traced {
                trace.used(&used.name, used.span, used.place, target);
            }
        }
    }

    /// Traces the inputs in `context_relevance`.
    pub(super) fn chosen(&mut self, task: &'m Task<'a>) {
        if self.traced.is_none() {
            return;
        }
        for name in task
            .relevance
            .iter()
            .filter_map(|entry| entry.name.as_ref())
        {
            let mut inputs = task.inputs.iter().filter_map(|input| input.name.as_ref());
            if let Some(input) = inputs.find(|input| input.value == name.value) {
                self.note(name, How::Again, Target::Bound(input.span));
            }
        }
    }

    /// Traces a task or a fragment that takes its names from the current place.
    pub(super) fn taken(&mut self, reference: Span) {
        let Some(wanted) = self.traced.as_ref().map(|(_, wanted)| *wanted) else {
            return;
        };
        let target = self.target(wanted);
        if let Some((trace, _)) = &mut self.traced {
            trace.note(wanted, reference, How::Taken, target);
        }
    }

    /// Traces the fragments in a text.
    pub(super) fn taken_in(&mut self, text: &Text<'_>) {
        if self.traced.is_none() {
            return;
        }
        for used in text
            .element
            .elements()
            .filter(|child| child.namespace().is_none() && child.name() == "use")
        {
            if let Some(fragment) = used.attribute("fragment") {
                self.taken(fragment.value_span());
            }
        }
    }

    fn target(&mut self, name: &str) -> Target {
        let found = self.env.find(name).map(|binding| binding.span);
        match found.or_else(|| self.later.find(name).map(|binding| binding.span)) {
            Some(span) if span.is_empty() => Target::Language,
            Some(span) => Target::Bound(span),
            None => Target::Free(self.owner),
        }
    }
}

impl Walk<'_, '_, '_> {
    /// Records a reference with the names visible at its place.
    pub(super) fn site(
        &mut self,
        at: u32,
        args: Box<[u32]>,
        into: Option<u32>,
        context: Option<(u32, u32)>,
    ) {
        let open = match self.profile {
            None => Some(Unfenced::Open),
            Some(profile) => (profile == Profile::Bare).then_some(Unfenced::Bare),
        };
        self.reference(Site {
            at,
            free: Free::Taken,
            into,
            context,
            unfenced: None,
            open,
            args,
        });
    }

    fn reference(&mut self, site: Site) {
        let is_unsure = self.damaged > 0 || !self.hidden.is_empty();
        let free = match (self.origins.is_empty(), is_unsure) {
            (true, _) => Free::Taken,
            (false, false) => Free::Undeclared,
            (false, true) => Free::Unknown,
        };
        self.flow.site(Site { free, ..site });
    }

    /// Records the fragments in a text.
    pub(super) fn sites(&mut self, text: &Text<'_>, unfenced: Option<Unfenced>) {
        let is_use = |child: &Element<'_>| child.namespace().is_none() && child.name() == "use";
        for used in text.element.elements().filter(is_use) {
            if let Some((_, span)) = facts::fragment(used) {
                let args = Box::default();
                self.reference(Site {
                    at: span.start,
                    free: Free::Taken,
                    into: None,
                    context: None,
                    unfenced,
                    open: None,
                    args,
                });
            }
        }
    }
}
