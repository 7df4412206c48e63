//! Answers from an earlier recording: the nth equal request gets the nth answer, then the last.

use super::super::places::Call;
use super::super::recording::Recording;
use super::super::turns::{Said, Turn, turns};
use super::super::volatile::{ADVICE, Volatile};
use super::request::Asked;
use crate::base::hash::Hash;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What makes two requests equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// All that is sent.
    #[default]
    Key,
    /// The last message.
    Conversation,
    /// All that is sent, else the same place in the same conversation.
    Turn,
}

/// The calls of a recording, to be given again.
#[derive(Debug)]
pub struct Replay {
    calls: Vec<Call>,
    by: By,
    volatile: Volatile,
    places: BTreeMap<String, Vec<usize>>,
    given: Mutex<BTreeMap<String, usize>>,
    /// By their places, where calls are found by that.
    turns: BTreeMap<Turn, usize>,
    /// What was asked so far.
    said: Mutex<Vec<Option<Said>>>,
}

/// The last message of a body.
#[derive(Deserialize)]
struct Body<'b> {
    #[serde(borrow, alias = "contents", alias = "input")]
    messages: Option<&'b RawValue>,
}

fn last_message(dialect: &str, body: &str) -> Option<String> {
    let messages = serde_json::from_str::<Body<'_>>(body).ok()?.messages?.get();
    let last = serde_json::from_str::<Vec<&RawValue>>(messages).map_or(messages, |all| all.last().map_or("", |last| last.get()));
    Some(Hash::of([dialect, last].join("\n").as_bytes()).to_string())
}

/// What finds a request that is less what is volatile, as it is kept.
fn rest(volatile: &Volatile, endpoint: &str, kept: &str) -> Option<String> {
    volatile.key(endpoint, kept).map(|key| key.to_string())
}

impl Replay {
    /// Gives the answers of these calls. Those that were never answered, or not wholly, are left out; what is volatile makes no request another one.
    pub fn new(calls: Vec<Call>, by: By, volatile: Volatile) -> Self {
        let is_whole = |call: &Recording| call.response.is_some() && call.status.is_some() && call.error.is_none();
        let calls: Vec<Call> = calls.into_iter().filter(|call| is_whole(&call.call)).collect();
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, Call { call, .. }) in calls.iter().enumerate() {
            let key = match by {
                By::Key | By::Turn => {
                    Some(rest(&volatile, &call.endpoint, call.request.get()).unwrap_or_else(|| call.key.clone()))
                }
                By::Conversation => last_message(&call.dialect, call.request.get()),
            };
            places.entry(key.unwrap_or_default()).or_default().push(at);
        }
        let said: Vec<Option<Said>> = calls.iter().filter(|_| by == By::Turn).map(|call| Said::of_call(&call.call)).collect();
        let turns = turns(&said).into_iter().enumerate().filter_map(|(at, turn)| Some((turn?, at))).collect();
        Self { calls, by, volatile, places, given: Mutex::default(), turns, said: Mutex::default() }
    }

    /// The answer to a request, whose body is `kept` where it is kept; else why there is none.
    pub(super) fn next(&self, asked: &Asked, kept: &str) -> Result<&Recording, String> {
        let key = match self.by {
            By::Key | By::Turn => rest(&self.volatile, &asked.endpoint, kept).unwrap_or_else(|| asked.key.clone()),
            By::Conversation => last_message(asked.dialect, kept).unwrap_or_default(),
        };
        let turn = if self.by == By::Turn { self.turn(asked, kept) } else { None };
        let Some(calls) = self.places.get(&key) else {
            let same_turn = turn.and_then(|turn| self.calls.get(*self.turns.get(&turn)?));
            return same_turn.map(|call| &call.call).ok_or_else(|| self.miss(asked, kept));
        };
        // One that is equal in all comes before one that is equal less what is volatile.
        let is_equal = |at: &&usize| self.calls.get(**at).is_some_and(|call| call.call.key == asked.key);
        let equal: Vec<usize> = calls.iter().filter(is_equal).copied().collect();
        let (key, calls) = if equal.is_empty() { (key, calls) } else { (asked.key.clone(), &equal) };
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let number = given.entry(key).or_default();
        let at = calls.get(*number).or(calls.last()).copied();
        *number += 1;
        at.and_then(|at| self.calls.get(at)).map(|call| &call.call).ok_or_else(|| self.miss(asked, kept))
    }

    /// The place of a request among those that were asked.
    fn turn(&self, asked: &Asked, kept: &str) -> Option<Turn> {
        let mut all = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Said::of(kept, &asked.endpoint, asked.agent.as_deref(), asked.conversation.as_deref()));
        turns(&all).pop().flatten()
    }

    /// Why there is no answer: the nearest recorded call, and what differs.
    fn miss(&self, asked: &Asked, kept: &str) -> String {
        let alike = |call: &Call| {
            let other = call.call.request.get();
            let same = |(a, b): &(u8, u8)| a == b;
            let head = kept.bytes().zip(other.bytes()).take_while(same).count();
            let tail = kept.bytes().rev().zip(other.bytes().rev()).take_while(same).count();
            (call.call.endpoint == asked.endpoint, head + tail)
        };
        let Some(nearest) = self.calls.iter().rev().max_by_key(|call| alike(call)) else {
            return "the recording has no answered call".to_owned();
        };
        let name = &nearest.name;
        if nearest.call.endpoint != asked.endpoint {
            return format!("no recorded call went to {}; the nearest is {name}, to {}", asked.endpoint, nearest.call.endpoint);
        }
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let found = difference(&read(nearest.call.request.get()), &read(kept), &mut String::new());
        let differs = found.map_or_else(
            || "they differ in bytes that were replaced before it was kept".to_owned(),
            |(pointer, was, is)| format!("`{pointer}` was {was}, now {is}"),
        );
        format!("no recorded call is equal to this one; the nearest is {name}: {differs} ({ADVICE})")
    }
}

/// The first place where two values differ, and what stands there in each.
fn difference(was: &Value, is: &Value, pointer: &mut String) -> Option<(String, String, String)> {
    let mut inside = |key: &str, was: Option<&Value>, is: Option<&Value>| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(key);
        let found = match (was, is) {
            (Some(was), Some(is)) => difference(was, is, pointer),
            (was, is) => Some((pointer.clone(), shown(was, ""), shown(is, ""))),
        };
        pointer.truncate(length);
        found
    };
    match (was, is) {
        _ if was == is => None,
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys = keys.filter(|key| a.get(*key) != b.get(*key));
            keys.next().and_then(|key| inside(key, a.get(key), b.get(key)))
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut places = 0..a.len().max(b.len());
            places.find(|at| a.get(*at) != b.get(*at)).and_then(|at| inside(&at.to_string(), a.get(at), b.get(at)))
        }
        (Value::String(a), Value::String(b)) => {
            let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            let from = |text: &str| {
                let start = text.floor_char_boundary(same.saturating_sub(20));
                (Value::from(text.get(start..).unwrap_or("")), if start > 0 { "…" } else { "" })
            };
            let ((a, before), (b, _)) = (from(a), from(b));
            Some((pointer.clone(), shown(Some(&a), before), shown(Some(&b), before)))
        }
        _ => Some((pointer.clone(), shown(Some(was), ""), shown(Some(is), ""))),
    }
}

fn shown(value: Option<&Value>, before: &str) -> String {
    /// Characters of a value.
    const MOST: usize = 60;
    let Some(value) = value else { return "absent".to_owned() };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let cut = if text.chars().count() > MOST { "…" } else { "" };
    format!("“{before}{}{cut}”", text.chars().take(MOST).collect::<String>().replace(['\n', '\r'], " "))
}
