//! Recorded calls, matched with requests: the nth equal request gets the answer of the nth equal
//! call, later ones that of the last call.
//!
//! A request with the key of a call costs one look-up. The forms of the calls are computed at the
//! first request that has no recorded key.

use super::comparison::{ComparisonScope, LiveRequest, MaskMemo, RequestComparison, RequestForms};
use super::json_tree::MAX_DEPTH;
use super::mask::is_shape;
use super::recording::Recording;
use super::volatile::VOLATILE_ADVICE;
use crate::base::hash::Hash;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The number of calls, the nearest ones, that are compared one by one if no form matches.
const MAX_NEAREST: usize = 16;

/// Recorded calls.
#[derive(Debug)]
pub struct RecordedCalls<T> {
    calls: Vec<T>,
    comparison: RequestComparison,
    scope: ComparisonScope,
    by_key: BTreeMap<String, Vec<usize>>,
    by_form: OnceLock<CallsByForm>,
    /// The number of requests that each group of calls has answered.
    answered: Mutex<BTreeMap<CallGroup, usize>>,
}

/// The calls by their forms.
#[derive(Debug, Default)]
struct CallsByForm {
    exact: BTreeMap<Hash, Vec<usize>>,
    masked: BTreeMap<Hash, Vec<usize>>,
    /// The shape of each call.
    shapes: Vec<Option<Hash>>,
    /// The first call that was recorded as a shape only.
    with_shape: Option<usize>,
}

/// The property that the calls of a group share; they answer equal requests in turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CallGroup {
    Key(String),
    Form(Hash),
    Masked(Hash),
    Single(usize),
}

impl<T: AsRef<Recording>> Default for RecordedCalls<T> {
    fn default() -> Self {
        Self::new(
            Vec::new(),
            RequestComparison::default(),
            ComparisonScope::Whole,
        )
    }
}

impl<T: AsRef<Recording>> RecordedCalls<T> {
    /// Builds the index over some calls, in their order.
    pub fn new(calls: Vec<T>, comparison: RequestComparison, scope: ComparisonScope) -> Self {
        let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, call) in calls
            .iter()
            .enumerate()
            .filter(|_| scope == ComparisonScope::Whole)
        {
            by_key
                .entry(call.as_ref().key.clone())
                .or_default()
                .push(at);
        }
        Self {
            calls,
            comparison,
            scope,
            by_key,
            by_form: OnceLock::new(),
            answered: Mutex::default(),
        }
    }

    /// All calls, in their order.
    pub fn calls(&self) -> &[T] {
        &self.calls
    }

    /// The comparison that requests and calls are matched by.
    pub const fn comparison(&self) -> &RequestComparison {
        &self.comparison
    }

    /// Returns the calls with the same request.
    pub fn same_calls(&self, live: &LiveRequest<'_>) -> Vec<&T> {
        let found =
            |_, calls: &[usize]| calls.iter().filter_map(|at| self.calls.get(*at)).collect();
        self.with_group(live, found).unwrap_or_default()
    }

    /// Returns true if one of the calls with the same request meets a condition.
    pub fn has_same(&self, live: &LiveRequest<'_>, holds: impl Fn(&T) -> bool) -> bool {
        self.with_group(live, |_, calls| {
            calls.iter().filter_map(|at| self.calls.get(*at)).any(holds)
        })
        .unwrap_or(false)
    }

    /// Returns the call whose answer a request gets next; `None` if no call has the same request.
    pub fn next_call(&self, live: &LiveRequest<'_>) -> Option<&T> {
        let at = self.with_group(live, |group, calls| {
            let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
            let number = answered.entry(group).or_default();
            let at = calls.get(*number).or(calls.last()).copied();
            *number += 1;
            at
        });
        self.calls.get(at.flatten()?)
    }

    /// Passes the calls with the same request to a function; `None` if no call has it.
    fn with_group<R>(
        &self,
        live: &LiveRequest<'_>,
        then: impl FnOnce(CallGroup, &[usize]) -> R,
    ) -> Option<R> {
        if let Some(calls) = self.by_key.get(live.key) {
            self.comparison.note_volatile(live);
            return Some(then(CallGroup::Key(live.key.to_owned()), calls));
        }
        if self.calls.is_empty() {
            return None;
        }
        let (own, known) = (
            self.comparison.live_forms(live, self.scope),
            self.index_by_form(),
        );
        for (group, forms, known) in [
            (
                CallGroup::Form as fn(Hash) -> CallGroup,
                &own.exact,
                &known.exact,
            ),
            (CallGroup::Masked, &own.masked, &known.masked),
        ] {
            if let Some((form, calls)) =
                forms.iter().find_map(|form| Some((form, known.get(form)?)))
            {
                return Some(then(group(*form), calls));
            }
        }
        let with_shape = known.with_shape.and_then(|at| {
            self.comparison
                .live_shape(self.calls.get(at)?.as_ref(), live)
        });
        let own_shape = with_shape.map(|body| {
            self.comparison.live_forms(
                &LiveRequest {
                    body: &body,
                    ..*live
                },
                self.scope,
            )
        });
        if let Some((form, calls)) = own_shape
            .iter()
            .flat_map(|own| &own.exact)
            .find_map(|form| Some((form, known.exact.get(form)?)))
        {
            return Some(then(CallGroup::Form(*form), calls));
        }
        // A call without masked values, or with another structure, cannot match through different
        // masking rules.
        let stands_for = |at: &usize| {
            let call = self
                .calls
                .get(*at)
                .map(AsRef::as_ref)
                .filter(|call| call.request.get().contains('⟦'));
            let is_shape = own.shape.is_some() && known.shapes.get(*at) == Some(&own.shape);
            is_shape
                && call.is_some_and(|call| self.comparison.is_masked_form(call, live, self.scope))
        };
        let at = self
            .nearest_calls(live, &own)
            .into_iter()
            .find(stands_for)?;
        Some(then(CallGroup::Single(at), &[at]))
    }

    fn index_by_form(&self) -> &CallsByForm {
        self.by_form.get_or_init(|| {
            let (mut all, mut memo) = (CallsByForm::default(), MaskMemo::new());
            for (at, call) in self.calls.iter().enumerate() {
                let RequestForms {
                    exact,
                    masked,
                    shape,
                } = self
                    .comparison
                    .call_forms(call.as_ref(), self.scope, &mut memo);
                for (forms, known) in [(exact, &mut all.exact), (masked, &mut all.masked)] {
                    for form in forms {
                        let calls: &mut Vec<usize> = known.entry(form).or_default();
                        if calls.last() != Some(&at) {
                            calls.push(at);
                        }
                    }
                }
                all.shapes.push(shape);
            }
            all.with_shape = self
                .calls
                .iter()
                .position(|call| is_shape(call.as_ref().request.get()));
            all
        })
    }

    /// Returns the calls nearest to a request, nearest first.
    fn nearest_calls(&self, live: &LiveRequest<'_>, own: &RequestForms) -> Vec<usize> {
        let known = self.index_by_form();
        let alike = |at: usize| {
            let call = self.calls.get(at)?.as_ref();
            let same = |(a, b): &(u8, u8)| a == b;
            let (recorded, now) = (call.request.get().as_bytes(), live.body.as_bytes());
            let head = recorded
                .iter()
                .copied()
                .zip(now.iter().copied())
                .take_while(same)
                .count();
            let tail = recorded
                .iter()
                .rev()
                .copied()
                .zip(now.iter().rev().copied())
                .take_while(same)
                .count();
            let is_shape = own.shape.is_some() && known.shapes.get(at) == Some(&own.shape);
            Some((
                call.endpoint == live.endpoint,
                is_shape,
                head + tail,
                Reverse(at),
            ))
        };
        let mut all: Vec<_> = (0..self.calls.len()).filter_map(alike).collect();
        let count = MAX_NEAREST.min(all.len());
        if all.len() > count {
            all.select_nth_unstable_by(count, |one, other| other.cmp(one));
            all.truncate(count);
        }
        all.sort_unstable_by(|one, other| other.cmp(one));
        all.into_iter().map(|(.., Reverse(at))| at).collect()
    }

    /// Returns the call most similar to a request that no call equals.
    pub fn most_similar(&self, live: &LiveRequest<'_>) -> Option<&T> {
        let nearest = self.nearest_calls(live, &self.comparison.live_forms(live, self.scope));
        let now = self.comparison.comparable_body(live.body);
        let alike = |at: &usize| {
            let call = self.calls.get(*at)?.as_ref();
            let shape = self
                .comparison
                .live_shape(call, live)
                .map(|body| self.comparison.comparable_body(&body));
            let now = shape.as_ref().unwrap_or(&now);
            let recorded = self.comparison.comparable_body(call.request.get());
            let same = |(a, b): &(u8, u8)| a == b;
            let head = recorded.bytes().zip(now.bytes()).take_while(same).count();
            let tail = recorded
                .bytes()
                .rev()
                .zip(now.bytes().rev())
                .take_while(same)
                .count();
            Some((
                call.endpoint == live.endpoint,
                head + tail,
                Reverse(recorded.len().abs_diff(now.len())),
                Reverse(*at),
            ))
        };
        let (.., Reverse(at)) = nearest.iter().filter_map(alike).max()?;
        self.calls.get(at)
    }

    /// Describes why no call has the same request: the name of the nearest call, and the
    /// difference.
    pub fn describe_mismatch(
        &self,
        live: &LiveRequest<'_>,
        name: impl FnOnce(&T) -> String,
    ) -> String {
        let Some(nearest) = self.most_similar(live) else {
            return "the recording has no answered call".to_owned();
        };
        let (name, call) = (name(nearest), nearest.as_ref());
        if !self.comparison.is_same_address(call, live) {
            return format!(
                "no recorded call went to {}; the nearest is {name}, to {}",
                live.endpoint, call.endpoint
            );
        }
        let differs = describe_difference(&self.comparison, call, live);
        format!(
            "no recorded call is equal to this one; the nearest is {name}: {differs} ({VOLATILE_ADVICE})"
        )
    }
}

/// Describes the difference between a recorded call and a request that does not equal it.
pub fn describe_difference(
    comparison: &RequestComparison,
    call: &Recording,
    live: &LiveRequest<'_>,
) -> String {
    if !comparison.is_same_address(call, live) {
        return format!("it went to {}, now {}", call.endpoint, live.endpoint);
    }
    let Some((recorded, now)) = comparison.comparable_values(call, live) else {
        return format!(
            "one of them is nested deeper than {MAX_DEPTH} levels, so that only an identical request is the same"
        );
    };
    first_difference(&recorded, &now, &mut String::new()).map_or_else(
        || "they differ only in values that are masked, or in words of which the recording has nothing but their hash".to_owned(),
        |(pointer, was, is)| format!("`{pointer}` was {was}, now {is}"),
    )
}

/// Finds the first difference between two values: the pointer, and both values there.
fn first_difference(
    was: &Value,
    is: &Value,
    pointer: &mut String,
) -> Option<(String, String, String)> {
    let mut inside = |key: &str, was: Option<&Value>, is: Option<&Value>| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        let found = match (was, is) {
            (Some(was), Some(is)) => first_difference(was, is, pointer),
            (was, is) => Some((pointer.clone(), quote_value(was, ""), quote_value(is, ""))),
        };
        pointer.truncate(length);
        found
    };
    match (was, is) {
        _ if was == is => None,
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys = keys.filter(|key| a.get(*key) != b.get(*key));
            keys.next()
                .and_then(|key| inside(key, a.get(key), b.get(key)))
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut places = 0..a.len().max(b.len());
            places
                .find(|at| a.get(*at) != b.get(*at))
                .and_then(|at| inside(&at.to_string(), a.get(at), b.get(at)))
        }
        (Value::String(a), Value::String(b)) => {
            let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            let from = |text: &str| {
                let start = text.floor_char_boundary(same.saturating_sub(20));
                (
                    Value::from(text.get(start..).unwrap_or("")),
                    if start > 0 { "…" } else { "" },
                )
            };
            let ((a, prefix), (b, _)) = (from(a), from(b));
            Some((
                pointer.clone(),
                quote_value(Some(&a), prefix),
                quote_value(Some(&b), prefix),
            ))
        }
        _ => Some((
            pointer.clone(),
            quote_value(Some(was), ""),
            quote_value(Some(is), ""),
        )),
    }
}

/// Returns a value in quotation marks on one line, cut to a readable length; `prefix` stands before
/// it inside the marks.
fn quote_value(value: Option<&Value>, prefix: &str) -> String {
    /// The maximum number of characters of a value.
    const MAX_VALUE_CHARS: usize = 60;
    let Some(value) = value else {
        return "absent".to_owned();
    };
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let cut = if text.chars().count() > MAX_VALUE_CHARS {
        "…"
    } else {
        ""
    };
    format!(
        "“{prefix}{}{cut}”",
        text.chars()
            .take(MAX_VALUE_CHARS)
            .collect::<String>()
            .replace(['\n', '\r'], " ")
    )
}
