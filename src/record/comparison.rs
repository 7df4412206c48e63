//! The form in which live and recorded requests are compared: a normal form of their JSON, without
//! volatile parts, with today's masks applied to both sides. All comparisons with recorded requests
//! are made here.
//!
//! Two requests are the same if one of these conditions is met, in this order of preference: equal
//! keys; equal forms, with placeholders that depend on the user's salt; equal forms without the
//! hashes of placeholders; or one request is the result of masking values in the other.

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

/// The rules by which requests are compared.
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

/// The part of a request that is compared.
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
    /// The dialect of the body.
    pub dialect: &'a str,
    /// The body as it is sent.
    pub body: &'a str,
    /// The key: the hash of the whole request.
    pub key: &'a str,
    /// The redactor of the request, if it has secrets of its own.
    pub redactor: Option<&'a Redactor>,
}

/// Masked texts of strings by the hash of their clear form: most calls of a recording repeat the
/// strings of earlier calls.
pub(super) type Memo = BTreeMap<Hash, Option<String>>;

/// The minimum length in bytes of a string whose masked text is remembered.
const REMEMBERED: usize = 128;

/// The hashes of a request's forms. Several exist if a volatile pattern may match both a value
/// before masking and its placeholder afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms {
    /// Forms with the hashes of placeholders.
    pub(super) exact: Vec<Hash>,
    /// Forms without the hashes of placeholders.
    pub(super) masked: Vec<Hash>,
    /// The form of the structure alone: keys, numbers, and the positions of strings.
    pub(super) shape: Option<Hash>,
}

impl Comparison {
    /// Creates a comparison without volatile parts, with these masks. Always masks personal data,
    /// even if the project does not.
    pub fn new(volatile: Volatile, redactor: Redactor) -> Self {
        Self {
            volatile,
            redactor: redactor.masking_persons(),
        }
    }

    /// The volatile parts.
    pub const fn volatile(&self) -> &Volatile {
        &self.volatile
    }

    /// Computes the forms of a recorded call.
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
        self.forms(
            (&call.endpoint, &call.dialect),
            call.request.get(),
            scope,
            &mut masks,
        )
    }

    /// Computes the forms of a live request.
    pub(super) fn forms_of(&self, live: &LiveRequest<'_>, scope: Scope) -> Forms {
        let redactor = self.redactor_of(live);
        self.forms(
            (live.endpoint, live.dialect),
            live.body,
            scope,
            &mut |text| mask(redactor, text),
        )
    }

    fn redactor_of<'r>(&'r self, live: &LiveRequest<'r>) -> &'r Redactor {
        live.redactor.unwrap_or(&self.redactor)
    }

    /// Computes the forms of a body; empty if it is nested too deep, or has no last message where
    /// that is compared.
    fn forms(
        &self,
        (endpoint, dialect): (&str, &str),
        body: &str,
        scope: Scope,
        masks: &mut dyn FnMut(&mut String),
    ) -> Forms {
        let Some(tree) = Json::read(body) else {
            return Forms::default();
        };
        let mut address = if scope == Scope::Whole {
            endpoint
        } else {
            dialect
        }
        .to_owned();
        masks(&mut address);
        let hash = |tree: &Json, address: &str| {
            let mut text = String::new();
            tree.normal(&mut text);
            Hasher::new()
                .field("ctxc comparison 1")
                .field(address)
                .field(text)
                .finish()
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

    /// Returns the masked trees of a body without volatile parts: one with patterns applied before
    /// and after masking, and one with patterns applied after masking only, if the two differ.
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
        early
            .map(|early| masked(early, masks))
            .into_iter()
            .filter(|early| *early != late)
            .chain([late.clone()])
            .collect()
    }

    /// Removes the hashes of placeholders, and the matches of patterns in the result.
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

    /// Returns true if a request is that of a recorded call.
    pub fn is_same(&self, call: &Recording, live: &LiveRequest<'_>) -> bool {
        if call.key == live.key && !live.key.is_empty() {
            self.look(live);
            return true;
        }
        let (recorded, own) = (
            self.forms_of_call(call, Scope::Whole, &mut Memo::new()),
            self.forms_of(live, Scope::Whole),
        );
        recorded.masked.iter().any(|form| own.masked.contains(form))
            || self.stands_for(call, live, Scope::Whole)
            || self.shape_for(call, live).is_some_and(|body| {
                let own = self.forms_of(
                    &LiveRequest {
                        body: &body,
                        ..*live
                    },
                    Scope::Whole,
                );
                recorded.exact.iter().any(|form| own.exact.contains(form))
            })
    }

    /// Returns the shape of a request if the recorded call contains only a shape.
    pub(super) fn shape_for(&self, call: &Recording, live: &LiveRequest<'_>) -> Option<String> {
        is_shape(call.request.get()).then(|| {
            let redactor = self.redactor_of(live);
            shape(
                redactor,
                &redactor.json(live.body, "/request", &mut Vec::new()),
            )
        })
    }

    /// Returns true if the recorded call is the result of masking values in a request, by the masks
    /// of any time.
    pub(super) fn stands_for(
        &self,
        call: &Recording,
        live: &LiveRequest<'_>,
        scope: Scope,
    ) -> bool {
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
            let mut tree = if scope == Scope::LastMessage {
                last_message(tree)?
            } else {
                tree
            };
            tree.sort();
            Some(tree)
        };
        address
            && clear(call.request.get())
                .zip(clear(live.body))
                .is_some_and(|(recorded, own)| recorded.is_same_with(&own, &is_same_text))
    }

    /// Returns a recorded call and a request in the form in which they are compared, for output:
    /// without volatile parts, masked, without hashes. `None` if either is nested too deep to have
    /// a form.
    pub fn shown(&self, call: &Recording, live: &LiveRequest<'_>) -> Option<(Value, Value)> {
        let redactor = self.redactor_of(live);
        let recorded = self.shown_tree(call.request.get(), &self.redactor)?;
        let own = self.shape_for(call, live);
        Some((
            recorded.into_shown(),
            self.shown_tree(own.as_deref().unwrap_or(live.body), redactor)?
                .into_shown(),
        ))
    }

    fn shown_tree(&self, body: &str, redactor: &Redactor) -> Option<Json> {
        let mut tree = self
            .views(Json::read(body)?, &mut |text| mask(redactor, text))
            .pop()?;
        self.drop_hashes(&mut tree);
        Some(tree)
    }

    /// Returns the body of a request in the form in which it is compared; unchanged if it is nested
    /// too deep to have one.
    pub fn body(&self, body: &str) -> String {
        let Some(tree) = self.shown_tree(body, &self.redactor) else {
            return body.to_owned();
        };
        let mut out = String::new();
        tree.normal(&mut out);
        out
    }

    /// Returns a JSON document with today's masks, without the hashes of placeholders, volatile
    /// parts included; unchanged if it is nested too deep.
    pub fn masked(&self, document: &str) -> String {
        let Some(mut tree) = Json::read(document) else {
            return document.to_owned();
        };
        tree.map_texts(&mut |text| {
            mask(&self.redactor, text);
            *text = without_hashes(text);
        });
        let mut out = String::new();
        tree.normal(&mut out);
        out
    }

    /// Returns true if a stored JSON document is the result of masking values in another, by the
    /// masks of any time, volatile parts included. Both have their fields in the same order.
    pub fn is_same_document(&self, stored: &str, clear: &str) -> bool {
        let (stored, clear) = (Json::read(stored), Json::read(clear));
        stored.zip(clear).is_some_and(|(stored, clear)| {
            stored.is_same_with(&clear, &|one, other| {
                is_same_text(one, other, &self.redactor)
            })
        })
    }

    /// Returns a text with today's masks, without the hashes of its placeholders.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        mask(&self.redactor, &mut text);
        without_hashes(&text)
    }

    /// Returns true if a request and a recorded call have the same address.
    pub fn is_same_address(&self, call: &Recording, live: &LiveRequest<'_>) -> bool {
        call.endpoint == live.endpoint || self.text(&call.endpoint) == self.text(live.endpoint)
    }

    /// Records which volatile parts a request has if it is not compared otherwise.
    pub(super) fn look(&self, live: &LiveRequest<'_>) {
        if !self.volatile.0.is_empty()
            && let Some(mut tree) = Json::read(live.body)
        {
            self.volatile.remove_values(&mut tree);
            self.volatile.cut_texts(&mut tree);
        }
    }
}

/// Returns true if a stored text and a clear text are equal, or become equal by masking.
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
    let Json::Object(fields) = tree else {
        return None;
    };
    let messages = fields
        .into_iter()
        .find(|(key, _)| matches!(key.as_str(), "messages" | "contents" | "input"))?
        .1;
    match messages {
        Json::List(mut items) => items.pop(),
        whole @ (Json::Word(_) | Json::Number(_) | Json::Text(_) | Json::Object(_)) => Some(whole),
    }
}
