//! The values that a task's texts name: what each is, where it came from, whether it may give orders, how long it holds.
//!
//! Never guesses: a name without a value is *unknown*, and whoever asks decides whether that is a fault (a render) or
//! a variable (a manifest).

use super::fault::Fault;
use crate::kernel::context::{Origin, Stability, Trust};
use crate::template::shape::Shape;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A name with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// The value; `None` before a run.
    pub(super) value: Option<Arc<Value>>,
    /// Where it comes from.
    pub(super) origin: Origin,
    /// Whether it may give orders.
    pub(super) trust: Trust,
    /// How long it holds.
    pub(super) stability: Stability,
    /// Its form, where it is untrusted and some of it cannot hold a text of somebody else's.
    pub(super) shape: Option<Arc<Shape>>,
    /// What an argument's text lacks, where it has no value for that: a fault only where the agent is shown the argument.
    pub(super) lacks: Rc<[Fault]>,
}

impl Bound {
    /// An input without a value.
    pub(super) fn unknown(name: &str) -> Self {
        Self {
            value: None,
            origin: Origin::Input { name: name.to_owned() },
            trust: Trust::Trusted,
            stability: Stability::Call,
            shape: None,
            lacks: Rc::default(),
        }
    }

    /// True for an untrusted value of a form that could hold a text.
    pub(super) fn is_from_outside(&self) -> bool {
        self.trust == Trust::Untrusted && !self.shape.as_ref().is_some_and(|shape| shape.is_inert())
    }

    /// Whether a part of it may give orders. A number and a truth value never do.
    pub(super) fn trust_of(&self, path: &[Part<'_>]) -> Trust {
        let is_inert = |shape: &Arc<Shape>| shape.part(&shown("", path)).is_ok_and(Shape::is_inert);
        let found = self.value.as_deref().and_then(|value| part(value, path));
        let is_bare = matches!(found, Some(Value::Null | Value::Bool(_) | Value::Number(_)));
        if is_bare || self.shape.as_ref().is_some_and(is_inert) { Trust::Trusted } else { self.trust }
    }
}

/// What of a definition's values is untrusted in this use of it, by its place there.
pub(super) type Outside = Rc<BTreeSet<String>>;

/// The names in scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scope {
    names: BTreeMap<String, Bound>,
    /// Those that have no value before the agent has run that the context is for, with the input that they wait for.
    late: BTreeMap<String, String>,
    /// For each definition on the way here, the outermost first.
    outside: Vec<Outside>,
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// `.name`
    Field(Cow<'a, str>),
    /// `[3]`
    Index(u32),
}

impl Scope {
    /// Binds a name; the inner one wins.
    pub(super) fn bind(&mut self, name: impl Into<String>, bound: Bound) {
        let name = name.into();
        self.late.remove(&name);
        self.names.insert(name, bound);
    }

    /// Binds a name that has no value before the agent has run that the context is for, since it is made of such an input.
    pub(super) fn bind_late(&mut self, name: String, input: String, bound: Bound) {
        self.names.insert(name.clone(), Bound { value: None, ..bound });
        self.late.insert(name, input);
    }

    /// The input that a name waits for, where it has no value before the agent has run that the context is for.
    pub(super) fn late(&self, name: &str) -> Option<&String> {
        self.late.get(name)
    }

    /// No names, in a definition behind all those on the way here.
    pub(super) fn definition(before: Option<&Self>) -> Self {
        Self { outside: before.map_or_else(Vec::new, |before| before.outside.clone()), ..Self::default() }
    }

    /// Says what is untrusted in the definition that it is in.
    pub(super) fn tell(&mut self, outside: Outside) {
        self.outside.push(outside);
    }

    /// What is untrusted in the definition that it is in.
    pub(super) fn outside(&self) -> Outside {
        self.outside.last().cloned().unwrap_or_default()
    }

    /// The same of one of the definitions on the way here, by its number.
    pub(super) fn outside_in(&self, definition: usize) -> Outside {
        self.outside.get(definition).cloned().unwrap_or_default()
    }

    /// What a name is bound to gives no orders, or may give some, from here on.
    pub(super) fn settle(&mut self, name: &str, trust: Trust) {
        if let Some(bound) = self.names.get_mut(name) {
            bound.trust = trust;
        }
    }

    /// A name has no value yet, and one of this form, which gives no orders, once it has.
    pub(super) fn open(&mut self, name: &str, shape: Shape) {
        if let Some(bound) = self.names.get_mut(name) {
            (bound.trust, bound.shape) = (Trust::Trusted, Some(Arc::new(shape)));
        }
    }

    /// What a name is bound to.
    pub(super) fn get(&self, name: &str) -> Option<&Bound> {
        self.names.get(name)
    }
}

/// The part of a value behind a path; `None` where there is none.
pub(super) fn part<'v>(value: &'v Value, path: &[Part<'_>]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, part| match part {
        Part::Field(name) => value.get(name.as_ref()),
        Part::Index(index) => value.get(*index as usize),
    })
}

/// A value as it stands in a text: words bare, everything else as JSON with an indentation of two.
pub(super) fn words(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => Cow::Owned(value.to_string()),
        // A value in memory is written without error.
        Value::Array(_) | Value::Object(_) => Cow::Owned(serde_json::to_string_pretty(value).unwrap_or_default()),
    }
}

/// A path as an author writes it: `a.b[0]`.
pub(super) fn shown(root: &str, path: &[Part<'_>]) -> String {
    let mut out = root.to_owned();
    for part in path {
        match part {
            Part::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            Part::Index(index) => {
                out.push('[');
                out.push_str(&index.to_string());
                out.push(']');
            }
        }
    }
    out
}

/// The name and steps of a path such as `a.b[0]`, as `from` writes it. What is no path names nothing.
pub(super) fn path(text: &str) -> (&str, Vec<Part<'_>>) {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (root, mut rest) = text.split_at(end);
    let mut parts = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, more) = after.split_at(end);
            parts.push(Part::Field(Cow::Borrowed(name)));
            rest = more;
        } else if let Some((index, more)) = rest.strip_prefix('[').and_then(|after| after.split_once(']')) {
            let Ok(index) = index.trim().parse() else { return (root, parts) };
            parts.push(Part::Index(index));
            rest = more;
        } else {
            return (root, parts);
        }
    }
}

/// What a value is, in words.
pub(super) const fn kind(value: &Value) -> &'static str {
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
