//! The values that a task's texts name: value, origin, trust and stability of each name.
//!
//! Never guesses: a name without a value is *unknown*, and the caller decides whether that is a
//! fault (in a render) or a variable (in a manifest).

use super::fault::Fault;
use crate::kernel::context::{Origin, Stability, Trust};
use crate::template::shape::ValueShape;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The value of a name, with everything known about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoundValue {
    /// The value; `None` before a run.
    pub(super) value: Option<Arc<Value>>,
    /// Its origin.
    pub(super) origin: Origin,
    /// Its trust.
    pub(super) trust: Trust,
    /// Its stability.
    pub(super) stability: Stability,
    /// Its shape, if it is untrusted and a part of it cannot contain untrusted text.
    pub(super) shape: Option<Arc<ValueShape>>,
    /// Faults of an argument's text without a value. They count only if the agent receives the
    /// argument.
    pub(super) argument_faults: Rc<[Fault]>,
}

impl BoundValue {
    /// An input without a value.
    pub(super) fn without_value(name: &str) -> Self {
        Self {
            value: None,
            origin: Origin::Input {
                name: name.to_owned(),
            },
            trust: Trust::Trusted,
            stability: Stability::Call,
            shape: None,
            argument_faults: Rc::default(),
        }
    }

    /// True for an untrusted value whose shape allows text.
    pub(super) fn is_from_outside(&self) -> bool {
        self.trust == Trust::Untrusted && !self.shape.as_ref().is_some_and(|shape| shape.is_inert())
    }

    /// Returns the trust of a part. A number or a boolean is always trusted.
    pub(super) fn trust_of(&self, path: &[PathStep<'_>]) -> Trust {
        let is_inert = |shape: &Arc<ValueShape>| {
            shape
                .part_at(&path_text("", path))
                .is_ok_and(ValueShape::is_inert)
        };
        let found = self
            .value
            .as_deref()
            .and_then(|value| find_part(value, path));
        let is_bare = matches!(found, Some(Value::Null | Value::Bool(_) | Value::Number(_)));
        if is_bare || self.shape.as_ref().is_some_and(is_inert) {
            Trust::Trusted
        } else {
            self.trust
        }
    }
}

/// The places of untrusted values in one use of a definition.
pub(super) type UntrustedPlaces = Rc<BTreeSet<String>>;

/// The names in scope; inner names shadow outer ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NameScope {
    /// The enclosing layers, outermost first.
    outer: Vec<ScopeLayer>,
    names: BTreeMap<String, ScopedName>,
    /// The untrusted places of each definition on the way here, the outermost first.
    outside: Vec<UntrustedPlaces>,
}

#[derive(Clone, Debug, PartialEq)]
struct ScopedName {
    bound: BoundValue,
    /// The input that the name waits for, if it has no value before the agent of this context has
    /// run.
    awaited: Option<String>,
}

impl ScopedName {
    fn value_and_wait(&self) -> (&BoundValue, Option<&String>) {
        (&self.bound, self.awaited.as_ref())
    }
}

/// Names that several scopes share.
#[derive(Clone, Debug, PartialEq)]
enum ScopeLayer {
    Names(Rc<BTreeMap<String, ScopedName>>),
    Series(Rc<NameSeries>, SeriesPart),
}

/// Names that are bound one after the other and that many agents see in part: the inputs of a node
/// with the calls in its texts, or the steps of a sequence. Built once; each scope refers to a part
/// of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NameSeries {
    rows: Vec<SeriesName>,
    by_name: BTreeMap<String, Vec<usize>>,
    /// Faults of the bound values, each with the index of its row.
    faults: Vec<(usize, Fault)>,
}

/// One name of a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeriesName {
    /// Its number among the inputs or steps; calls in texts come after all inputs.
    number: usize,
    bound: BoundValue,
    /// The same binding without its value, if the name may wait for an input.
    open: Option<BoundValue>,
    waits: Vec<InputWait>,
}

/// An input that is produced by a task and on which a name depends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InputWait {
    /// Its number: it has no value for an agent that produces this input or an earlier one.
    pub(super) number: usize,
    /// Its name.
    pub(super) name: String,
}

/// A part of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeriesPart {
    /// Includes only names before this number.
    pub(super) upto: usize,
    /// From this number on, inputs that a task produces, and names that depend on them, have no
    /// value yet.
    pub(super) late: Option<usize>,
}

impl InputWait {
    /// Merges the waits of several names, dropping those that are never the first unmet one.
    pub(super) fn first_waits<'w>(waits: impl Iterator<Item = &'w Self>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for wait in waits {
            if found.last().is_none_or(|last| last.number < wait.number) {
                found.push(wait.clone());
            }
        }
        found
    }
}

impl SeriesPart {
    /// The whole series.
    pub(super) const WHOLE: Self = Self {
        upto: usize::MAX,
        late: None,
    };
}

impl NameSeries {
    /// Appends a name.
    pub(super) fn push(
        &mut self,
        number: usize,
        name: String,
        bound: BoundValue,
        waits: Vec<InputWait>,
    ) {
        let open = (!waits.is_empty()).then(|| BoundValue {
            value: None,
            ..bound.clone()
        });
        self.by_name.entry(name).or_default().push(self.rows.len());
        self.rows.push(SeriesName {
            number,
            bound,
            open,
            waits,
        });
    }

    /// Adds the faults of all names; `ends` contains, for each name, the number of faults up to its
    /// end.
    pub(super) fn add_faults(&mut self, faults: Vec<Fault>, ends: &[usize]) {
        let row = |at: usize| ends.partition_point(|end| *end <= at);
        self.faults.extend(
            faults
                .into_iter()
                .enumerate()
                .map(|(at, fault)| (row(at), fault)),
        );
    }

    /// Returns a name in a part of the series.
    pub(super) fn find(&self, name: &str, part: SeriesPart) -> Option<&SeriesName> {
        let rows = self
            .by_name
            .get(name)?
            .iter()
            .rev()
            .filter_map(|row| self.rows.get(*row));
        rows.into_iter().find(|row| row.number < part.upto)
    }

    /// Returns the task-produced inputs on which a name depends.
    pub(super) fn waits_of(&self, name: &str) -> &[InputWait] {
        self.find(name, SeriesPart::WHOLE)
            .map_or(&[], |row| &row.waits)
    }

    /// Returns the faults of a part.
    pub(super) fn faults_in(&self, part: SeriesPart) -> Vec<Fault> {
        let is_seen =
            |row: &SeriesName| row.number < part.upto && row.awaited_input(part).is_none();
        let seen = self
            .faults
            .iter()
            .filter(|(row, _)| self.rows.get(*row).is_some_and(is_seen));
        seen.map(|(_, fault)| fault.clone()).collect()
    }
}

impl SeriesName {
    fn awaited_input(&self, part: SeriesPart) -> Option<&String> {
        let from = part.late?;
        self.waits
            .iter()
            .find(|wait| wait.number >= from)
            .map(|wait| &wait.name)
    }

    /// Returns its binding in a part, with the input that it waits for there.
    pub(super) fn resolve_in(&self, part: SeriesPart) -> (&BoundValue, Option<&String>) {
        let awaited = self.awaited_input(part);
        (
            self.open
                .as_ref()
                .filter(|_| awaited.is_some())
                .unwrap_or(&self.bound),
            awaited,
        )
    }
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep<'a> {
    /// `.name`
    Field(Cow<'a, str>),
    /// `[3]`
    Index(u32),
}

impl NameScope {
    pub(super) fn bind(&mut self, name: impl Into<String>, bound: BoundValue) {
        self.names.insert(
            name.into(),
            ScopedName {
                bound,
                awaited: None,
            },
        );
    }

    /// Binds a part of a series; its names shadow all earlier ones.
    pub(super) fn bind_series(&mut self, series: Rc<NameSeries>, part: SeriesPart) {
        if !self.names.is_empty() {
            self.outer
                .push(ScopeLayer::Names(Rc::new(std::mem::take(&mut self.names))));
        }
        self.outer.push(ScopeLayer::Series(series, part));
    }

    /// Returns the number of the first input that a task produces and that has no value yet.
    pub(super) fn deferred_from(&self) -> Option<usize> {
        match self.outer.last() {
            Some(ScopeLayer::Series(_, part)) => part.late,
            _ => None,
        }
    }

    /// Returns the input that a name waits for, if the name has no value before the agent of this
    /// context has run.
    pub(super) fn awaited_input(&self, name: &str) -> Option<&String> {
        self.find(name)?.1
    }

    /// Returns a name's binding, with the input that it waits for.
    fn find(&self, name: &str) -> Option<(&BoundValue, Option<&String>)> {
        self.names
            .get(name)
            .map(ScopedName::value_and_wait)
            .or_else(|| {
                self.outer.iter().rev().find_map(|layer| match layer {
                    ScopeLayer::Names(names) => names.get(name).map(ScopedName::value_and_wait),
                    ScopeLayer::Series(series, part) => {
                        series.find(name, *part).map(|row| row.resolve_in(*part))
                    }
                })
            })
    }

    /// Creates an empty scope for a definition; `before` is the scope that refers to it.
    pub(super) fn for_definition(before: Option<&Self>) -> Self {
        Self {
            outside: before.map_or_else(Vec::new, |before| before.outside.clone()),
            ..Self::default()
        }
    }

    /// Adds the untrusted places of the definition that the scope belongs to.
    pub(super) fn push_untrusted_places(&mut self, outside: UntrustedPlaces) {
        self.outside.push(outside);
    }

    /// Returns the untrusted places of the current definition.
    pub(super) fn untrusted_places(&self) -> UntrustedPlaces {
        self.outside.last().cloned().unwrap_or_default()
    }

    /// Returns the untrusted places of one of the definitions on the way here, by its number.
    pub(super) fn untrusted_places_of(&self, definition: usize) -> UntrustedPlaces {
        self.outside.get(definition).cloned().unwrap_or_default()
    }

    /// Sets the trust of a name.
    pub(super) fn set_trust(&mut self, name: &str, trust: Trust) {
        self.update(name, |bound| bound.trust = trust);
    }

    /// Declares a name without a value as trusted, with the shape that its value will have.
    pub(super) fn set_open_shape(&mut self, name: &str, shape: ValueShape) {
        self.update(name, |bound| {
            (bound.trust, bound.shape) = (Trust::Trusted, Some(Arc::new(shape)));
        });
    }

    fn update(&mut self, name: &str, change: impl FnOnce(&mut BoundValue)) {
        let Some((bound, awaited)) = self.find(name) else {
            return;
        };
        let mut named = ScopedName {
            bound: bound.clone(),
            awaited: awaited.cloned(),
        };
        change(&mut named.bound);
        self.names.insert(name.to_owned(), named);
    }

    /// Returns the binding of a name.
    pub(super) fn get(&self, name: &str) -> Option<&BoundValue> {
        self.find(name).map(|(bound, _)| bound)
    }
}

/// Returns the part of a value at a path; `None` if the value has no such part.
pub(super) fn find_part<'v>(value: &'v Value, path: &[PathStep<'_>]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, part| match part {
        PathStep::Field(name) => value.get(name.as_ref()),
        PathStep::Index(index) => value.get(*index as usize),
    })
}

/// Returns a value as text: a string unquoted, everything else as JSON with an indentation of two.
pub(super) fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => Cow::Owned(value.to_string()),
        // Serialising a value in memory never fails.
        Value::Array(_) | Value::Object(_) => {
            Cow::Owned(serde_json::to_string_pretty(value).unwrap_or_default())
        }
    }
}

/// Returns a path in source syntax: `a.b[0]`.
pub(super) fn path_text(root: &str, path: &[PathStep<'_>]) -> String {
    let mut out = root.to_owned();
    for part in path {
        match part {
            PathStep::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            PathStep::Index(index) => {
                out.push('[');
                out.push_str(&index.to_string());
                out.push(']');
            }
        }
    }
    out
}

/// Parses a path such as `a.b[0]`, as `from` writes it, into its name and steps. Text that is not a
/// path becomes a name that is never bound.
pub(super) fn parse_path(text: &str) -> (&str, Vec<PathStep<'_>>) {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (root, mut rest) = text.split_at(end);
    let mut parts = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, more) = after.split_at(end);
            parts.push(PathStep::Field(Cow::Borrowed(name)));
            rest = more;
        } else if let Some((index, more)) = rest
            .strip_prefix('[')
            .and_then(|after| after.split_once(']'))
        {
            let Ok(index) = index.trim().parse() else {
                return (root, parts);
            };
            parts.push(PathStep::Index(index));
            rest = more;
        } else {
            return (root, parts);
        }
    }
}

/// Describes the type of a value.
pub(super) const fn describe_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list that has no such entry",
        Value::Object(_) => "an object that has no such field",
    }
}

#[cfg(test)]
#[path = "../../tests/unit/context/values.rs"]
mod tests;
