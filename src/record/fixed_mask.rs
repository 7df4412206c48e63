//! Masks of texts that other machines compare: stored requests, rows of scorecards. Placeholders
//! have no hash (`⟦email⟧`), so they are the same for every user and their values cannot be found
//! by trial.
//!
//! A stored request with a placeholder equals a request with any value of that kind in its place:
//! the original value is not known.

use super::json_text::{JsonEdit, StringSite, apply_json_edits, map_strings};
use super::json_tree::JsonTree;
use super::redact::{PatternFinder, Redactor};
use crate::project::config::RecordedContent;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The maximum length in bytes of a masked value that today's masks do not find.
const MAX_UNKNOWN_BYTES: usize = 400;

/// Replaces secrets and personal data by placeholders without hashes.
#[derive(Clone, Debug)]
pub struct FixedMask(Redactor);

impl FixedMask {
    /// Creates a mask from the project's content setting, its own patterns and the known secrets.
    pub fn new(
        content: RecordedContent,
        patterns: Vec<Arc<dyn PatternFinder>>,
        secrets: impl IntoIterator<Item = String>,
    ) -> Self {
        let redactor = Redactor::new([0; 32], secrets).with_patterns(patterns);
        Self(if content == RecordedContent::Full {
            redactor.keep_personal_data()
        } else {
            redactor
        })
    }

    /// Creates a mask for values with a known form only.
    pub fn with_known_forms() -> Self {
        Self(Redactor::new([0; 32], []))
    }

    /// Returns a text masked; `None` if nothing is masked.
    pub fn mask_text(&self, text: &str) -> Option<String> {
        self.mask_named_text("", text)
    }

    /// Returns a text that is the value of a name masked; `None` if nothing is masked.
    pub fn mask_named_text(&self, name: &str, text: &str) -> Option<String> {
        let edits: Vec<JsonEdit> = self
            .0
            .find_named_ranges(name, text)
            .into_iter()
            .map(|(range, kind)| (range, format!("⟦{kind}⟧")))
            .collect();
        (!edits.is_empty()).then(|| apply_json_edits(text, edits))
    }

    /// Masks the strings of a JSON text at the selected pointers, by their content and by their
    /// keys.
    pub fn mask_json(&self, json: &str, is_masked: impl Fn(&str) -> bool) -> String {
        map_strings(json, |site, pointer, text| {
            let key = pointer
                .rsplit('/')
                .find(|step| step.parse::<usize>().is_err())
                .filter(|_| site == StringSite::Value);
            is_masked(pointer).then(|| self.mask_named_text(key.unwrap_or(""), text))?
        })
    }

    /// Masks a stored request. An array of lines is searched as one text.
    pub fn mask_stored_request(&self, stored: &str) -> String {
        let Ok(mut document) = serde_json::from_str::<Value>(stored) else {
            return self.mask_json(stored, |_| true);
        };
        if !self.mask_value("", &mut document) {
            return stored.to_owned();
        }
        // Serialising a value cannot fail.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    /// Masks a value and everything below it. Returns true if anything was masked.
    fn mask_value(&self, key: &str, value: &mut Value) -> bool {
        if let Some(changed) = value_text(value).and_then(|text| self.mask_named_text(key, &text)) {
            let lines = || changed.split('\n').map(Value::from).collect();
            *value = if value.is_array() && changed.contains('\n') {
                Value::Array(lines())
            } else {
                Value::String(changed)
            };
            return true;
        }
        match value {
            Value::Array(values) => {
                values
                    .iter_mut()
                    .filter_map(|value| self.mask_value(key, value).then_some(()))
                    .count()
                    > 0
            }
            Value::Object(fields) => {
                let is_masked = |(key, value): (String, Value)| {
                    let mut value = value;
                    self.mask_value(&key, &mut value);
                    (self.mask_text(&key).unwrap_or(key), value)
                };
                let before = fields.clone();
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(is_masked)
                    .collect::<Map<_, _>>();
                *fields != before
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    /// Returns true if a request equals the stored one, in which values may be masked.
    pub fn is_same_request(&self, stored: &str, now: &str) -> bool {
        if stored == now {
            return true;
        }
        if !stored.contains('⟦') {
            // The same request may be formatted in another way.
            return JsonTree::parse(stored)
                .is_some_and(|stored| JsonTree::parse(now).is_some_and(|now| now == stored));
        }
        let read = |text: &str| serde_json::from_str::<Value>(text).ok();
        read(stored)
            .zip(read(now))
            .is_some_and(|(stored, now)| self.is_same_value(&stored, &now))
    }

    fn is_same_value(&self, stored: &Value, now: &Value) -> bool {
        if let (Some(stored), Some(now)) = (value_text(stored), value_text(now)) {
            return self.is_same_text(&stored, &now);
        }
        match (stored, now) {
            (Value::Array(stored), Value::Array(now)) => {
                stored.len() == now.len()
                    && stored
                        .iter()
                        .zip(now)
                        .all(|(stored, now)| self.is_same_value(stored, now))
            }
            // The order of fields is compared too.
            (Value::Object(stored), Value::Object(now)) => {
                let fields = stored.iter().zip(now);
                stored.len() == now.len()
                    && fields.into_iter().all(|((a, stored), (b, now))| {
                        self.is_same_text(a, b) && self.is_same_value(stored, now)
                    })
            }
            _ => stored == now,
        }
    }

    /// Returns true if a text equals the stored one, in which values may be masked.
    fn is_same_text(&self, stored: &str, now: &str) -> bool {
        if stored == now || !stored.contains('⟦') {
            return stored == now;
        }
        let found = self.0.find_ranges(now);
        let (mut stored, mut at) = (stored, 0);
        loop {
            let rest = now.get(at..).unwrap_or("");
            let same = stored
                .char_indices()
                .zip(rest.chars())
                .find(|((_, a), b)| a != b)
                .map_or_else(|| stored.len().min(rest.len()), |((same, _), _)| same);
            // The texts may first differ only at the start of a placeholder; a placeholder in the
            // compared text itself equals only itself.
            let Some(behind) = stored.get(same..) else {
                return false;
            };
            if behind.is_empty() {
                return at + same == now.len();
            }
            at += same;
            let Some(after) = behind
                .strip_prefix('⟦')
                .and_then(|inner| inner.split_once('⟧'))
            else {
                return false;
            };
            let (kind, after) = (after.0.split(':').next().unwrap_or(""), after.1);
            let masked = found
                .iter()
                .find(|(range, own)| range.start == at && *own == kind);
            let end = masked
                .map(|(range, _)| range.end)
                .or_else(|| unknown_value_length(now.get(at..)?, after).map(|len| at + len));
            let Some(end) = end else { return false };
            (stored, at) = (after, end);
        }
    }
}

/// Returns the length in bytes of a value that only another machine's environment marks as a
/// secret: up to the stored text after the placeholder, within one line.
fn unknown_value_length(now: &str, after: &str) -> Option<usize> {
    let near = now
        .get(..now.floor_char_boundary(MAX_UNKNOWN_BYTES))
        .unwrap_or(now);
    let line = near.split('\n').next().unwrap_or("");
    let next: String = after
        .chars()
        .take_while(|c| *c != '⟦' && *c != '\n')
        .collect();
    let end = if next.is_empty() {
        Some(line.len())
    } else {
        line.find(&next)
    };
    end.filter(|end| *end > 0)
}

/// Returns the text of a value: a string, or an array of lines.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) if lines.len() > 1 => {
            let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
            lines.map(|lines| lines.join("\n"))
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            None
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/record/fixed_mask.rs"]
mod tests;
