//! Renders Jinja texts with the defaults of parameters, and looks for parts that values do not
//! have. Compiled only if Jinja can be rendered.

use super::fault::{Fault, FaultKind};
use super::state::Walk;
use super::texts::settle;
use super::used;
use crate::base::source::LineIndex;
use crate::base::span::Spanned;
use crate::jinja::fault::JinjaFaultKind;
use crate::jinja::parse::JinjaPart;
use crate::jinja::trial::{self, Failure};
use crate::template::names::Reached;
use crate::template::parts::Text;
use crate::template::shape::Shape;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The words in minijinja's message for a method that no value of a type has.
const NO_METHOD: &str = "has no method named";

impl<'m, 'a: 'm> Walk<'m, 'a, '_> {
    /// Renders a Jinja text with the defaults of the parameters that it uses, which are recorded
    /// from index `from` on. Then renders it with sample values for names of types without parts;
    /// of that run, only a part or a method that no value of the type has is reported.
    pub(super) fn by_default(&mut self, text: &Text<'a>, from: usize) {
        let used: BTreeSet<u32> = self
            .flow
            .used
            .iter()
            .skip(from)
            .map(|(name, _)| *name)
            .collect();
        let named: BTreeMap<String, u32> = used
            .into_iter()
            .map(|id| (self.flow.word(id).to_owned(), id))
            .collect();
        let default =
            |(name, id): (&String, &u32)| Some((name.clone(), self.flow.default_of(*id)?));
        let defaults: Map<String, Value> = named.iter().filter_map(default).collect();
        let sample = |(name, id): (&String, &u32)| Some((name.clone(), self.flow.sample_of(*id)?));
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
            trial::failures(&content, &defaults, &BTreeSet::new())
        };
        values.extend(defaults);
        if !samples.is_empty() {
            let of_types = trial::failures(&content, &values, &samples).into_iter();
            failures.extend(of_types.filter(|failure| is_of_type(failure, &samples)));
        }
        let placed = used::placed(text.element, &content);
        let lines = LineIndex::new(&content);
        let first = self.scopes.faults.len();
        for Failure {
            span,
            words,
            part,
            defaults: read,
            is_certain,
        } in failures
        {
            let reached = if is_certain {
                Reached::Always
            } else {
                Reached::Perhaps
            };
            let moved = |span| if src.is_some() { span } else { placed(span) };
            let is_missing = |part: &JinjaPart| {
                values
                    .get(&part.name)
                    .is_some_and(|value| Shape::of_value(value).part(&part.way).is_err())
            };
            let part = part
                .filter(is_missing)
                .and_then(|part| Some((*named.get(&part.name)?, part)));
            if let Some((id, part)) = part {
                let path = Spanned::new(part.way.into(), moved(part.span));
                let start = lines.position(&content, part.span.start);
                self.flow
                    .missing(id, &path, src.map(|src| (src.span, start)), reached);
            } else if is_certain {
                let is_by_default = read.iter().all(|name| !samples.contains(name));
                let kind = if is_by_default {
                    JinjaFaultKind::FailsByDefault(words)
                } else {
                    JinjaFaultKind::Fails(words)
                };
                self.scopes
                    .fault(Fault::new(FaultKind::Jinja(kind), moved(span)));
            }
        }
        if let (Some(src), Some(faults)) = (src, self.scopes.faults.get_mut(first..)) {
            settle(faults, src, &content);
        }
    }
}

/// Returns true if a statement fails with every value of a type: because of a field that no such
/// value has, or a method. Indices are excluded, because the valid ones depend on the length of a
/// text.
fn is_of_type(
    Failure {
        words,
        part,
        defaults: read,
        is_certain,
        ..
    }: &Failure,
    samples: &BTreeSet<String>,
) -> bool {
    *is_certain
        && match part {
            Some(part) => samples.contains(&part.name) && !part.way.contains('['),
            None => words.contains(NO_METHOD) && read.iter().any(|name| samples.contains(name)),
        }
}
