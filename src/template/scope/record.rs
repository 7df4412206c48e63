//! Records during the walk which binding each name refers to.

use super::state::ScopeWalk;
use super::trace::{TracedBinding, TracedBindingKind, UseForm, UseTarget};
use super::used::VariableUse;
use crate::base::span::Span;
use crate::kernel::profile::Profile;
use crate::syntax::tree::Element;
use crate::template::facts;
use crate::template::model::TaskBody;
use crate::template::names::{ReferenceSite, UnboundName, Unfenced};
use crate::template::parts::{Str, TextElement};

/// For navigation: none of these functions has an effect unless a trace is requested.
impl<'m, 'a> ScopeWalk<'m, 'a, '_> {
    pub(super) fn trace_binding(
        &mut self,
        name: &Str<'_>,
        kind: TracedBindingKind,
        by: Element<'a>,
    ) {
        if let Some((trace, _)) = &mut self.traced {
            let span = name.span;
            let body = by.span();
            trace.bindings.push(TracedBinding {
                name: name.value.to_string(),
                span,
                kind,
                owner: self.owner,
                body,
            });
        }
    }

    pub(super) fn trace_use(&mut self, name: &Str<'_>, how: UseForm, target: UseTarget) {
        if let Some((trace, _)) = &mut self.traced {
            trace.record_use(&name.value, name.span, how, target);
        }
    }

    /// Connects an input to the parameter of the same name in its own body: the input is the
    /// parameter's value.
    pub(super) fn trace_join(&mut self, task: &'m TaskBody<'a>, input: &Str<'a>) {
        let Some((trace, _)) = &mut self.traced else {
            return;
        };
        let mut names = task
            .parameters
            .iter()
            .filter_map(|parameter| parameter.name.as_ref());
        if let Some(name) = names.find(|name| name.value == input.value) {
            trace.join_parameter(input.span, name.span);
        }
    }

    pub(super) fn trace_text(&mut self, text: &TextElement<'_>) {
        if let Some((trace, _)) = &mut self.traced {
            trace.enter_text(text);
        }
    }

    pub(super) fn trace_variable(&mut self, used: &VariableUse<'_>) {
        if self.traced.is_some() {
            let target = self.resolve_target(&used.name);
            if let Some((trace, _)) = &mut self.traced {
                trace.record_variable(&used.name, used.span, used.place, target);
            }
        }
    }

    /// Traces the inputs in `context_relevance`.
    pub(super) fn trace_relevance(&mut self, task: &'m TaskBody<'a>) {
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
                self.trace_use(name, UseForm::Again, UseTarget::Bound(input.span));
            }
        }
    }

    /// Traces a task or a fragment that takes its names from the current place.
    pub(super) fn trace_reference(&mut self, reference: Span) {
        let Some(wanted) = self.traced.as_ref().map(|(_, wanted)| *wanted) else {
            return;
        };
        let target = self.resolve_target(wanted);
        if let Some((trace, _)) = &mut self.traced {
            trace.record_use(wanted, reference, UseForm::Taken, target);
        }
    }

    /// Traces the fragments in a text.
    pub(super) fn trace_fragments(&mut self, text: &TextElement<'_>) {
        if self.traced.is_none() {
            return;
        }
        for used in text
            .element
            .elements()
            .filter(|child| child.namespace().is_none() && child.name() == "use")
        {
            if let Some(fragment) = used.attribute("fragment") {
                self.trace_reference(fragment.value_span());
            }
        }
    }

    fn resolve_target(&mut self, name: &str) -> UseTarget {
        let found = self.env.find_binding(name).map(|binding| binding.span);
        match found.or_else(|| self.later.find_binding(name).map(|binding| binding.span)) {
            Some(span) if span.is_empty() => UseTarget::Language,
            Some(span) => UseTarget::Bound(span),
            None => UseTarget::Free(self.owner),
        }
    }
}

impl ScopeWalk<'_, '_, '_> {
    /// Records a reference with the names visible at its place.
    pub(super) fn record_site(
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
        self.push_reference(ReferenceSite {
            at,
            free: UnboundName::Taken,
            into,
            context,
            unfenced: None,
            open,
            args,
        });
    }

    fn push_reference(&mut self, site: ReferenceSite) {
        let is_unsure = self.damaged > 0 || !self.hidden.is_empty();
        let free = match (self.origins.is_empty(), is_unsure) {
            (true, _) => UnboundName::Taken,
            (false, false) => UnboundName::Undeclared,
            (false, true) => UnboundName::Unknown,
        };
        self.flow.record_reference(ReferenceSite { free, ..site });
    }

    /// Records the fragments in a text.
    pub(super) fn record_fragments(&mut self, text: &TextElement<'_>, unfenced: Option<Unfenced>) {
        let is_use = |child: &Element<'_>| child.namespace().is_none() && child.name() == "use";
        for used in text.element.elements().filter(is_use) {
            if let Some((_, span)) = facts::fragment_name(used) {
                let args = Box::default();
                self.push_reference(ReferenceSite {
                    at: span.start,
                    free: UnboundName::Taken,
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
