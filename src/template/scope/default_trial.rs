//! Renders Jinja texts with the defaults of parameters, and looks for parts that values do not
//! have. Compiled only if Jinja can be rendered.

use super::fault::{ScopeFault, ScopeFaultKind};
use super::state::ScopeWalk;
use super::texts::move_faults_to_source;
use super::used;
use crate::base::source::LineIndex;
use crate::base::span::Spanned;
use crate::jinja::jinja_fault::JinjaFaultKind;
use crate::jinja::parse::JinjaPart;
use crate::jinja::trial::{self, TrialFailure};
use crate::template::names::UseCertainty;
use crate::template::parts::TextElement;
use crate::template::shape::ValueShape;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The words in minijinja's message for a method that no value of a type has.
const NO_METHOD: &str = "has no method named";

impl<'m, 'a: 'm> ScopeWalk<'m, 'a, '_> {
    /// Renders a Jinja text with the defaults of the parameters that it uses, which are recorded
    /// from index `from` on. Then renders it with sample values for names of types without parts;
    /// of that run, only a part or a method that no value of the type has is reported.
    pub(super) fn try_defaults(&mut self, text: &TextElement<'a>, from: usize) {
        let used: BTreeSet<u32> = self
            .flow
            .used
            .iter()
            .skip(from)
            .map(|(name, _)| *name)
            .collect();
        let named: BTreeMap<String, u32> = used
            .into_iter()
            .map(|id| (self.flow.name_text(id).to_owned(), id))
            .collect();
        let default =
            |(name, id): (&String, &u32)| Some((name.clone(), self.flow.default_value(*id)?));
        let defaults: Map<String, Value> = named.iter().filter_map(default).collect();
        let sample =
            |(name, id): (&String, &u32)| Some((name.clone(), self.flow.sample_value(*id)?));
        let mut values: Map<String, Value> = named.iter().filter_map(sample).collect();
        let samples: BTreeSet<String> = values
            .keys()
            .filter(|name| !defaults.contains_key(*name))
            .cloned()
            .collect();
        let src = text.src.as_ref();
        let content = match src {
            _ if defaults.is_empty() && samples.is_empty() => return,
            Some(src) => (self.sources)(&src.value),
            None => Some(text.element.text().into()),
        };
        let Some(content) = content else { return };
        let mut failures = if defaults.is_empty() {
            Vec::new()
        } else {
            trial::find_failures(&content, &defaults, &BTreeSet::new())
        };
        values.extend(defaults);
        if !samples.is_empty() {
            let of_types = trial::find_failures(&content, &values, &samples).into_iter();
            failures.extend(of_types.filter(|failure| fails_for_type(failure, &samples)));
        }
        let placed = used::document_positions(text.element, &content);
        let lines = LineIndex::new(&content);
        let first = self.scopes.faults.len();
        for TrialFailure {
            span,
            words,
            part,
            defaults: read,
            is_certain,
        } in failures
        {
            let reached = if is_certain {
                UseCertainty::Always
            } else {
                UseCertainty::Perhaps
            };
            let shift_span = |span| if src.is_some() { span } else { placed(span) };
            let is_missing = |part: &JinjaPart| {
                values
                    .get(&part.name)
                    .is_some_and(|value| ValueShape::from_value(value).part_at(&part.path).is_err())
            };
            let part = part
                .filter(is_missing)
                .and_then(|part| Some((*named.get(&part.name)?, part)));
            if let Some((id, part)) = part {
                let path = Spanned::new(part.path.into(), shift_span(part.span));
                let start = lines.position(&content, part.span.start);
                self.flow
                    .record_missing_part(id, &path, src.map(|src| (src.span, start)), reached);
            } else if is_certain {
                let is_by_default = read.iter().all(|name| !samples.contains(name));
                let kind = if is_by_default {
                    JinjaFaultKind::FailsByDefault(words)
                } else {
                    JinjaFaultKind::Fails(words)
                };
                self.scopes.record_fault(ScopeFault::new(
                    ScopeFaultKind::Jinja(kind),
                    shift_span(span),
                ));
            }
        }
        if let (Some(src), Some(faults)) = (src, self.scopes.faults.get_mut(first..)) {
            move_faults_to_source(faults, src, &content);
        }
    }
}

/// Returns true if a statement fails with every value of a type: because of a field that no such
/// value has, or a method. Indices are excluded, because the valid ones depend on the length of a
/// text.
fn fails_for_type(
    TrialFailure {
        words,
        part,
        defaults: read,
        is_certain,
        ..
    }: &TrialFailure,
    samples: &BTreeSet<String>,
) -> bool {
    *is_certain
        && match part {
            Some(part) => samples.contains(&part.name) && !part.path.contains('['),
            None => words.contains(NO_METHOD) && read.iter().any(|name| samples.contains(name)),
        }
}
