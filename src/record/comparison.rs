//! The form in which requests are compared, live ones and recorded ones: a normal form of their JSON, without what is volatile, masked anew by today's masks
//! on both sides. Everything that holds a request against a recorded one does it here.
//!
//! Two requests are the same if any of this holds, in this order of preference: their keys are equal; their forms are, whose placeholders depend on the
//! user's salt; their forms are but for the hashes of placeholders; one is what the other becomes if values in it are masked.

use super::json_tree::Json;
use super::key::unmarked;
use super::mask::{is_shape, shape};
use super::recording::Recording;
use super::redact::Redactor;
use super::remask::{mask, stands_for, without_hashes};
use super::volatile::Volatile;
use crate::base::hash::{Hash, Hasher};
use serde_json::Value;
use std::collections::BTreeMap;

/// What requests are compared with.
#[derive(Clone, Debug)]
pub struct Comparison {
    volatile: Volatile,
    redactor: Redactor,
}

impl Default for Comparison {
    fn default() -> Self {
        Self::new(Volatile::default(), Redactor::new([0; 32], []))
    }
}

/// How much of a request is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The path and the whole body.
    #[default]
    Whole,
    /// The last message.
    LastMessage,
}

/// A request that is compared with recorded ones.
#[derive(Clone, Copy, Debug)]
pub struct LiveRequest<'a> {
    /// The path that it goes to, without its host.
    pub endpoint: &'a str,
    /// The form of the body.
    pub dialect: &'a str,
    /// The body as it is sent.
    pub body: &'a str,
    /// The hash of all of it.
    pub key: &'a str,
    /// The masks that hold for it, where it has secrets of its own.
    pub redactor: Option<&'a Redactor>,
}

/// The texts of strings after their masks, by the hash of what they were: most calls of a recording repeat what the ones before them had.
pub(super) type Memo = BTreeMap<Hash, Option<String>>;

/// Bytes from which on the masked text of a string is worth being remembered.
const REMEMBERED: usize = 128;

/// The forms of a request as hashes. There are several where a pattern of what is volatile may match a value before it is masked, or its placeholder after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms {
    /// With the hashes of placeholders.
    pub(super) exact: Vec<Hash>,
    /// Without them.
    pub(super) masked: Vec<Hash>,
    /// Of the structure alone: keys, numbers, and where strings stand.
    pub(super) shape: Option<Hash>,
}

impl Comparison {
    /// A comparison without what is volatile, by these masks. Personal data are masked whatever a project keeps of them.
    pub fn new(volatile: Volatile, redactor: Redactor) -> Self {
        Self { volatile, redactor: redactor.masking_persons() }
    }

    /// What is left out.
    pub const fn volatile(&self) -> &Volatile {
        &self.volatile
    }

    /// The forms of a recorded call.
    pub(super) fn forms_of_call(&self, call: &Recording, scope: Scope, memo: &mut Memo) -> Forms {
        let mut masks = |text: &mut String| {
            if text.len() < REMEMBERED {
                return mask(&self.redactor, text);
            }
            let of = Hash::of(text.as_bytes());
            let masked = memo.entry(of).or_insert_with(|| {
                let mut masked = text.clone();
                mask(&self.redactor, &mut masked);
                (masked != *text).then_some(masked)
            });
            if let Some(masked) = masked {
                text.clone_from(masked);
            }
        };
        self.forms((&call.endpoint, &call.dialect), call.request.get(), scope, &mut masks)
    }

    /// The forms of a live request.
    pub(super) fn forms_of(&self, live: &LiveRequest<'_>, scope: Scope) -> Forms {
        let redactor = self.redactor_of(live);
        self.forms((live.endpoint, live.dialect), live.body, scope, &mut |text| mask(redactor, text))
    }

    fn redactor_of<'r>(&'r self, live: &LiveRequest<'r>) -> &'r Redactor {
        live.redactor.unwrap_or(&self.redactor)
    }

    /// The forms of a body; none of one that is nested too deep, or that has no last message where that is what is compared.
    fn forms(&self, (endpoint, dialect): (&str, &str), body: &str, scope: Scope, masks: &mut dyn FnMut(&mut String)) -> Forms {
        let Some(tree) = Json::read(body) else { return Forms::default() };
        let mut address = if scope == Scope::Whole { endpoint } else { dialect }.to_owned();
        masks(&mut address);
        let hash = |tree: &Json, address: &str| {
            let mut text = String::new();
            tree.normal(&mut text);
            Hasher::new().field("ctxc comparison 1").field(address).field(text).finish()
        };
        let mut forms = Forms::default();
        for mut tree in self.views(tree, masks) {
            if scope == Scope::LastMessage {
                match last_message(tree) {
                    Some(last) => tree = last,
                    None => return Forms::default(),
                }
            }
            tree.sort();
            forms.exact.push(hash(&tree, &address));
            self.drop_hashes(&mut tree);
            forms.masked.push(hash(&tree, &without_hashes(&address)));
            if forms.shape.is_none() {
                tree.map_texts(&mut String::clear);
                forms.shape = Some(hash(&tree, ""));
            }
        }
        forms
    }

    /// The trees of a body without what is volatile, masked: once with patterns that match before its values are masked as well as after, and once
    /// with those alone that match after, where both may differ.
    fn views(&self, mut tree: Json, masks: &mut dyn FnMut(&mut String)) -> Vec<Json> {
        self.volatile.remove_values(&mut tree);
        let early = self.volatile.has_patterns().then(|| {
            let mut tree = tree.clone();
            self.volatile.cut_texts(&mut tree);
            tree
        });
        let early = early.filter(|early| *early != tree);
        let masked = |mut tree: Json, masks: &mut dyn FnMut(&mut String)| {
            tree.map_texts(&mut |text| {
                if let Some(plain) = unmarked(text) {
                    *text = plain;
                }
                masks(text);
            });
            self.volatile.cut_texts(&mut tree);
            tree
        };
        let late = masked(tree, masks);
        early.map(|early| masked(early, masks)).into_iter().filter(|early| *early != late).chain([late.clone()]).collect()
    }

    /// Takes the hashes out of placeholders, and what a pattern matches without them.
    fn drop_hashes(&self, tree: &mut Json) {
        let mut is_changed = false;
        tree.map_texts(&mut |text| {
            if text.contains('⟦') {
                *text = without_hashes(text);
                is_changed = true;
            }
        });
        if is_changed {
            self.volatile.cut_texts(tree);
        }
        tree.sort();
    }

    /// Whether a request is the one of a recorded call.
    pub fn is_same(&self, call: &Recording, live: &LiveRequest<'_>) -> bool {
        if call.key == live.key && !live.key.is_empty() {
            self.look(live);
            return true;
        }
        let (recorded, own) = (self.forms_of_call(call, Scope::Whole, &mut Memo::new()), self.forms_of(live, Scope::Whole));
        recorded.masked.iter().any(|form| own.masked.contains(form))
            || self.stands_for(call, live, Scope::Whole)
            || self.shape_for(call, live).is_some_and(|body| {
                let own = self.forms_of(&LiveRequest { body: &body, ..*live }, Scope::Whole);
                recorded.exact.iter().any(|form| own.exact.contains(form))
            })
    }

    /// The shape of a request where a recorded call has no more than that.
    pub(super) fn shape_for(&self, call: &Recording, live: &LiveRequest<'_>) -> Option<String> {
        is_shape(call.request.get()).then(|| {
            let redactor = self.redactor_of(live);
            shape(redactor, &redactor.json(live.body, "/request", &mut Vec::new()))
        })
    }

    /// Whether the recorded call is what a request becomes if values in it are masked, whatever the masks of its time were.
    pub(super) fn stands_for(&self, call: &Recording, live: &LiveRequest<'_>, scope: Scope) -> bool {
        let redactor = self.redactor_of(live);
        let is_same_text = |recorded: &str, own: &str| is_same_text(recorded, own, redactor);
        let address = match scope {
            Scope::Whole => is_same_text(&call.endpoint, live.endpoint),
            Scope::LastMessage => call.dialect == live.dialect,
        };
        let clear = |body: &str| {
            let mut tree = Json::read(body)?;
            self.volatile.remove_values(&mut tree);
            self.volatile.cut_texts(&mut tree);
            tree.map_texts(&mut |text| {
                if let Some(plain) = unmarked(text) {
                    *text = plain;
                }
            });
            let mut tree = if scope == Scope::LastMessage { last_message(tree)? } else { tree };
            tree.sort();
            Some(tree)
        };
        address
            && clear(call.request.get())
                .zip(clear(live.body))
                .is_some_and(|(recorded, own)| recorded.is_same_with(&own, &is_same_text))
    }

    /// A recorded call and a request in the form in which they are compared, to be shown: without what is volatile, masked, without hashes. `None`
    /// where one is nested too deep to have a form.
    pub fn shown(&self, call: &Recording, live: &LiveRequest<'_>) -> Option<(Value, Value)> {
        let redactor = self.redactor_of(live);
        let recorded = self.shown_tree(call.request.get(), &self.redactor)?;
        let own = self.shape_for(call, live);
        Some((recorded.into_shown(), self.shown_tree(own.as_deref().unwrap_or(live.body), redactor)?.into_shown()))
    }

    fn shown_tree(&self, body: &str, redactor: &Redactor) -> Option<Json> {
        let mut tree = self.views(Json::read(body)?, &mut |text| mask(redactor, text)).pop()?;
        self.drop_hashes(&mut tree);
        Some(tree)
    }

    /// The body of a request in the form in which it is compared; as it is where it is nested too deep to have one.
    pub fn body(&self, body: &str) -> String {
        let Some(tree) = self.shown_tree(body, &self.redactor) else { return body.to_owned() };
        let mut out = String::new();
        tree.normal(&mut out);
        out
    }

    /// A JSON document with today's masks and without the hashes of placeholders, whatever is volatile; as it is where it is nested too deep.
    pub fn masked(&self, document: &str) -> String {
        let Some(mut tree) = Json::read(document) else { return document.to_owned() };
        tree.map_texts(&mut |text| {
            mask(&self.redactor, text);
            *text = without_hashes(text);
        });
        let mut out = String::new();
        tree.normal(&mut out);
        out
    }

    /// Whether a stored JSON document is what another becomes if values in it are masked, whatever the masks of its time were and whatever is volatile. The
    /// fields of both stand in one order.
    pub fn is_same_document(&self, stored: &str, clear: &str) -> bool {
        let (stored, clear) = (Json::read(stored), Json::read(clear));
        stored
            .zip(clear)
            .is_some_and(|(stored, clear)| stored.is_same_with(&clear, &|one, other| is_same_text(one, other, &self.redactor)))
    }

    /// A text with today's masks and without the hashes of its placeholders.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        mask(&self.redactor, &mut text);
        without_hashes(&text)
    }

    /// Whether a request goes where a recorded call went.
    pub fn is_same_address(&self, call: &Recording, live: &LiveRequest<'_>) -> bool {
        call.endpoint == live.endpoint || self.text(&call.endpoint) == self.text(live.endpoint)
    }

    /// Notes which of the volatile parts a request has that needs no comparison.
    pub(super) fn look(&self, live: &LiveRequest<'_>) {
        if !self.volatile.0.is_empty()
            && let Some(mut tree) = Json::read(live.body)
        {
            self.volatile.remove_values(&mut tree);
            self.volatile.cut_texts(&mut tree);
        }
    }
}

/// Whether a stored text is a clear one, masked then or now.
fn is_same_text(stored: &str, clear: &str, redactor: &Redactor) -> bool {
    let alike = |text: &str| {
        let mut text = text.to_owned();
        mask(redactor, &mut text);
        without_hashes(&text)
    };
    stored == clear || stands_for(stored, clear, redactor) || alike(stored) == alike(clear)
}

/// The last message of a body.
fn last_message(tree: Json) -> Option<Json> {
    let Json::Object(fields) = tree else { return None };
    let messages = fields.into_iter().find(|(key, _)| matches!(key.as_str(), "messages" | "contents" | "input"))?.1;
    match messages {
        Json::List(mut items) => items.pop(),
        whole @ (Json::Word(_) | Json::Number(_) | Json::Text(_) | Json::Object(_)) => Some(whole),
    }
}
