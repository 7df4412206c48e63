//! The form in which live and recorded requests are compared: a normal form of their JSON, without
//! volatile parts, with today's masks applied to both sides. All comparisons with recorded requests
//! are made here.
//!
//! Two requests are the same if one of these conditions is met, in this order of preference: equal
//! keys; equal forms, with placeholders that depend on the user's salt; equal forms without the
//! hashes of placeholders; or one request is the result of masking values in the other.

use super::json_tree::JsonTree;
use super::mask::{body_shape, is_shape};
use super::recording::{Recording, without_fence_marks};
use super::redact::Redactor;
use super::remask::{is_masked_form, mask_text, without_hashes};
use super::volatile::VolatileParts;
use crate::base::hash::{Hash, Hasher};
use serde_json::Value;
use std::collections::BTreeMap;

/// The rules by which requests are compared.
#[derive(Clone, Debug)]
pub struct RequestComparison {
    volatile: VolatileParts,
    redactor: Redactor,
}

impl Default for RequestComparison {
    fn default() -> Self {
        Self::new(VolatileParts::default(), Redactor::new([0; 32], []))
    }
}

/// The part of a request that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparisonScope {
    /// The path and the whole body.
    #[default]
    Whole,
    /// The last message.
    LastMessage,
}

impl ComparisonScope {
    /// The address that is compared: the path for the whole body, otherwise the vendor's dialect.
    fn address<'a>(self, endpoint: &'a str, dialect: &'a str) -> &'a str {
        match self {
            Self::Whole => endpoint,
            Self::LastMessage => dialect,
        }
    }
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
pub(super) type MaskMemo = BTreeMap<Hash, Option<String>>;

/// The minimum length in bytes of a string whose masked text is remembered.
const MIN_MEMO_BYTES: usize = 128;

/// The hashes of a request's forms. Several exist if a volatile pattern may match both a value
/// before masking and its placeholder afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestForms {
    /// Forms with the hashes of placeholders.
    pub(super) exact: Vec<Hash>,
    /// Forms without the hashes of placeholders.
    pub(super) masked: Vec<Hash>,
    /// The form of the structure alone: keys, numbers, and the positions of strings.
    pub(super) shape: Option<Hash>,
}

impl RequestComparison {
    /// Creates a comparison without volatile parts, with these masks. Always masks personal data,
    /// even if the project does not.
    pub fn new(volatile: VolatileParts, redactor: Redactor) -> Self {
        Self {
            volatile,
            redactor: redactor.mask_personal_data(),
        }
    }

    /// The volatile parts.
    pub const fn volatile(&self) -> &VolatileParts {
        &self.volatile
    }

    /// Computes the forms of a recorded call.
    pub(super) fn call_forms(
        &self,
        call: &Recording,
        scope: ComparisonScope,
        memo: &mut MaskMemo,
    ) -> RequestForms {
        let mut masks = |text: &mut String| {
            if text.len() < MIN_MEMO_BYTES {
                return mask_text(&self.redactor, text);
            }
            let of = Hash::digest(text.as_bytes());
            let masked = memo.entry(of).or_insert_with(|| {
                let mut masked = text.clone();
                mask_text(&self.redactor, &mut masked);
                (masked != *text).then_some(masked)
            });
            if let Some(masked) = masked {
                text.clone_from(masked);
            }
        };
        self.hash_forms(
            scope.address(&call.endpoint, &call.dialect),
            call.request.get(),
            scope,
            &mut masks,
        )
    }

    /// Computes the forms of a live request.
    pub(super) fn live_forms(
        &self,
        live: &LiveRequest<'_>,
        scope: ComparisonScope,
    ) -> RequestForms {
        let redactor = self.redactor_for(live);
        self.hash_forms(
            scope.address(live.endpoint, live.dialect),
            live.body,
            scope,
            &mut |text| mask_text(redactor, text),
        )
    }

    fn redactor_for<'r>(&'r self, live: &LiveRequest<'r>) -> &'r Redactor {
        live.redactor.unwrap_or(&self.redactor)
    }

    /// Computes the forms of a body; empty if it is nested too deep, or has no last message where
    /// that is compared.
    fn hash_forms(
        &self,
        address: &str,
        body: &str,
        scope: ComparisonScope,
        masks: &mut dyn FnMut(&mut String),
    ) -> RequestForms {
        let Some(tree) = JsonTree::parse(body) else {
            return RequestForms::default();
        };
        let mut address = address.to_owned();
        masks(&mut address);
        let hash = |tree: &JsonTree, address: &str| {
            let mut text = String::new();
            tree.write_normal(&mut text);
            Hasher::new()
                .add_field("ctxc comparison 1")
                .add_field(address)
                .add_field(text)
                .finish()
        };
        let mut forms = RequestForms::default();
        for mut tree in self.normalized_trees(tree, masks) {
            if scope == ComparisonScope::LastMessage {
                match take_last_message(tree) {
                    Some(last) => tree = last,
                    None => return RequestForms::default(),
                }
            }
            tree.sort_fields();
            forms.exact.push(hash(&tree, &address));
            self.drop_hashes(&mut tree);
            forms.masked.push(hash(&tree, &without_hashes(&address)));
            if forms.shape.is_none() {
                tree.map_strings(&mut String::clear);
                forms.shape = Some(hash(&tree, ""));
            }
        }
        forms
    }

    /// Returns the masked trees of a body without volatile parts: one with patterns applied before
    /// and after masking, and one with patterns applied after masking only, if the two differ.
    fn normalized_trees(
        &self,
        mut tree: JsonTree,
        masks: &mut dyn FnMut(&mut String),
    ) -> Vec<JsonTree> {
        self.volatile.remove_values(&mut tree);
        let early = self.volatile.has_patterns().then(|| {
            let mut tree = tree.clone();
            self.volatile.cut_texts(&mut tree);
            tree
        });
        let early = early.filter(|early| *early != tree);
        let masked = |mut tree: JsonTree, masks: &mut dyn FnMut(&mut String)| {
            tree.map_strings(&mut |text| {
                if let Some(plain) = without_fence_marks(text) {
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
    fn drop_hashes(&self, tree: &mut JsonTree) {
        let mut is_changed = false;
        tree.map_strings(&mut |text| {
            if text.contains('⟦') {
                *text = without_hashes(text);
                is_changed = true;
            }
        });
        if is_changed {
            self.volatile.cut_texts(tree);
        }
        tree.sort_fields();
    }

    /// Returns true if a request is that of a recorded call.
    pub fn is_same(&self, call: &Recording, live: &LiveRequest<'_>) -> bool {
        if call.key == live.key && !live.key.is_empty() {
            self.note_volatile(live);
            return true;
        }
        let (recorded, own) = (
            self.call_forms(call, ComparisonScope::Whole, &mut MaskMemo::new()),
            self.live_forms(live, ComparisonScope::Whole),
        );
        recorded.masked.iter().any(|form| own.masked.contains(form))
            || self.is_masked_form(call, live, ComparisonScope::Whole)
            || self.live_shape(call, live).is_some_and(|body| {
                let own = self.live_forms(
                    &LiveRequest {
                        body: &body,
                        ..*live
                    },
                    ComparisonScope::Whole,
                );
                recorded.exact.iter().any(|form| own.exact.contains(form))
            })
    }

    /// Returns the shape of a request if the recorded call contains only a shape.
    pub(super) fn live_shape(&self, call: &Recording, live: &LiveRequest<'_>) -> Option<String> {
        is_shape(call.request.get()).then(|| {
            let redactor = self.redactor_for(live);
            body_shape(
                redactor,
                &redactor.mask_json(live.body, "/request", &mut Vec::new()),
            )
        })
    }

    /// Returns true if the recorded call is the result of masking values in a request, by the masks
    /// of any time.
    pub(super) fn is_masked_form(
        &self,
        call: &Recording,
        live: &LiveRequest<'_>,
        scope: ComparisonScope,
    ) -> bool {
        let redactor = self.redactor_for(live);
        let is_same_text = |recorded: &str, own: &str| is_same_text(recorded, own, redactor);
        let address = match scope {
            ComparisonScope::Whole => is_same_text(&call.endpoint, live.endpoint),
            ComparisonScope::LastMessage => call.dialect == live.dialect,
        };
        let clear = |body: &str| {
            let mut tree = JsonTree::parse(body)?;
            self.volatile.remove_values(&mut tree);
            self.volatile.cut_texts(&mut tree);
            tree.map_strings(&mut |text| {
                if let Some(plain) = without_fence_marks(text) {
                    *text = plain;
                }
            });
            let mut tree = if scope == ComparisonScope::LastMessage {
                take_last_message(tree)?
            } else {
                tree
            };
            tree.sort_fields();
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
    pub fn comparable_values(
        &self,
        call: &Recording,
        live: &LiveRequest<'_>,
    ) -> Option<(Value, Value)> {
        let redactor = self.redactor_for(live);
        let recorded = self.comparable_tree(call.request.get(), &self.redactor)?;
        let own = self.live_shape(call, live);
        Some((
            recorded.into_exact_value(),
            self.comparable_tree(own.as_deref().unwrap_or(live.body), redactor)?
                .into_exact_value(),
        ))
    }

    fn comparable_tree(&self, body: &str, redactor: &Redactor) -> Option<JsonTree> {
        let mut tree = self
            .normalized_trees(JsonTree::parse(body)?, &mut |text| {
                mask_text(redactor, text);
            })
            .pop()?;
        self.drop_hashes(&mut tree);
        Some(tree)
    }

    /// Returns the body of a request in the form in which it is compared; unchanged if it is nested
    /// too deep to have one.
    pub fn comparable_body(&self, body: &str) -> String {
        let Some(tree) = self.comparable_tree(body, &self.redactor) else {
            return body.to_owned();
        };
        let mut out = String::new();
        tree.write_normal(&mut out);
        out
    }

    /// Returns a JSON document with today's masks, without the hashes of placeholders, volatile
    /// parts included; unchanged if it is nested too deep.
    pub fn mask_document(&self, document: &str) -> String {
        let Some(mut tree) = JsonTree::parse(document) else {
            return document.to_owned();
        };
        tree.map_strings(&mut |text| {
            mask_text(&self.redactor, text);
            *text = without_hashes(text);
        });
        let mut out = String::new();
        tree.write_normal(&mut out);
        out
    }

    /// Returns true if a stored JSON document is the result of masking values in another, by the
    /// masks of any time, volatile parts included. Both have their fields in the same order.
    pub fn is_same_document(&self, stored: &str, clear: &str) -> bool {
        let (stored, clear) = (JsonTree::parse(stored), JsonTree::parse(clear));
        stored.zip(clear).is_some_and(|(stored, clear)| {
            stored.is_same_with(&clear, &|one, other| {
                is_same_text(one, other, &self.redactor)
            })
        })
    }

    /// Returns a text with today's masks, without the hashes of its placeholders.
    pub fn mask_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        mask_text(&self.redactor, &mut text);
        without_hashes(&text)
    }

    /// Returns true if a request and a recorded call have the same address.
    pub fn is_same_address(&self, call: &Recording, live: &LiveRequest<'_>) -> bool {
        call.endpoint == live.endpoint
            || self.mask_text(&call.endpoint) == self.mask_text(live.endpoint)
    }

    /// Records which volatile parts a request has if it is not compared otherwise.
    pub(super) fn note_volatile(&self, live: &LiveRequest<'_>) {
        if !self.volatile.0.is_empty()
            && let Some(mut tree) = JsonTree::parse(live.body)
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
        mask_text(redactor, &mut text);
        without_hashes(&text)
    };
    stored == clear || is_masked_form(stored, clear, redactor) || alike(stored) == alike(clear)
}

/// The last message of a body.
fn take_last_message(tree: JsonTree) -> Option<JsonTree> {
    let JsonTree::Object(fields) = tree else {
        return None;
    };
    let messages = fields
        .into_iter()
        .find(|(key, _)| matches!(key.as_str(), "messages" | "contents" | "input"))?
        .1;
    match messages {
        JsonTree::List(mut items) => items.pop(),
        whole @ (JsonTree::Word(_)
        | JsonTree::Number(_)
        | JsonTree::Text(_)
        | JsonTree::Object(_)) => Some(whole),
    }
}
