//! Masks of texts that other machines compare: stored requests, rows of scorecards. Placeholders have no hash (`⟦email⟧`), so they are the same
//! for every user, and nobody can try values until one fits.
//!
//! A stored request with a placeholder is the same as one with any value of that kind in its place: what the value was is not known.

use super::json_text::{Edit, Site, map_strings, replaced};
use super::json_tree::Json;
use super::redact::{Find, Redactor};
use crate::project::config::Content;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Bytes of a value that no mask of today finds at most.
const UNKNOWN: usize = 400;

/// Replaces secrets and personal data by placeholders without hashes.
#[derive(Clone, Debug)]
pub struct FixedMask(Redactor);

impl FixedMask {
    /// What a project wants replaced in what is kept, its own patterns among it, with the secrets that are known.
    pub fn new(content: Content, own: Vec<Arc<dyn Find>>, secrets: impl IntoIterator<Item = String>) -> Self {
        let redactor = Redactor::new([0; 32], secrets).replacing(own);
        Self(if content == Content::Full { redactor.keeping_persons() } else { redactor })
    }

    /// What has a known form.
    pub fn by_form() -> Self {
        Self(Redactor::new([0; 32], []))
    }

    /// A text with its placeholders; `None` where nothing is replaced.
    pub fn text(&self, text: &str) -> Option<String> {
        self.text_behind("", text)
    }

    /// The same of a text that stands behind a name.
    pub fn text_behind(&self, name: &str, text: &str) -> Option<String> {
        let edits: Vec<Edit> =
            self.0.find_behind(name, text).into_iter().map(|(range, kind)| (range, format!("⟦{kind}⟧"))).collect();
        (!edits.is_empty()).then(|| replaced(text, edits))
    }

    /// A JSON text with the strings at some pointers replaced, by what they are and by the keys that they stand behind.
    pub fn json(&self, json: &str, is_masked: impl Fn(&str) -> bool) -> String {
        map_strings(json, |site, pointer, text| {
            let key = pointer.rsplit('/').find(|step| step.parse::<usize>().is_err()).filter(|_| site == Site::Value);
            is_masked(pointer).then(|| self.text_behind(key.unwrap_or(""), text))?
        })
    }

    /// A request as it is stored, with its placeholders. Lines are looked at as the text that they make.
    pub fn stored_request(&self, stored: &str) -> String {
        let Ok(mut document) = serde_json::from_str::<Value>(stored) else { return self.json(stored, |_| true) };
        if !self.value("", &mut document) {
            return stored.to_owned();
        }
        // Values are written without error.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    /// Replaces what must go of a value and all below it; whether there was anything.
    fn value(&self, key: &str, value: &mut Value) -> bool {
        if let Some(changed) = text_of(value).and_then(|text| self.text_behind(key, &text)) {
            let lines = || changed.split('\n').map(Value::from).collect();
            *value = if value.is_array() && changed.contains('\n') { Value::Array(lines()) } else { Value::String(changed) };
            return true;
        }
        match value {
            Value::Array(values) => values.iter_mut().filter_map(|value| self.value(key, value).then_some(())).count() > 0,
            Value::Object(fields) => {
                let is_masked = |(key, value): (String, Value)| {
                    let mut value = value;
                    self.value(&key, &mut value);
                    (self.text(&key).unwrap_or(key), value)
                };
                let before = fields.clone();
                *fields = std::mem::take(fields).into_iter().map(is_masked).collect::<Map<_, _>>();
                *fields != before
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    /// Whether a request is the stored one, in which values may be replaced.
    pub fn is_same_request(&self, stored: &str, now: &str) -> bool {
        if stored == now {
            return true;
        }
        if !stored.contains('⟦') {
            // The same request may be laid out in another way.
            return Json::read(stored).is_some_and(|stored| Json::read(now).is_some_and(|now| now == stored));
        }
        let read = |text: &str| serde_json::from_str::<Value>(text).ok();
        read(stored).zip(read(now)).is_some_and(|(stored, now)| self.is_same(&stored, &now))
    }

    fn is_same(&self, stored: &Value, now: &Value) -> bool {
        if let (Some(stored), Some(now)) = (text_of(stored), text_of(now)) {
            return self.is_same_text(&stored, &now);
        }
        match (stored, now) {
            (Value::Array(stored), Value::Array(now)) => {
                stored.len() == now.len() && stored.iter().zip(now).all(|(stored, now)| self.is_same(stored, now))
            }
            // In the same order, too.
            (Value::Object(stored), Value::Object(now)) => {
                let fields = stored.iter().zip(now);
                stored.len() == now.len()
                    && fields.into_iter().all(|((a, stored), (b, now))| self.is_same_text(a, b) && self.is_same(stored, now))
            }
            _ => stored == now,
        }
    }

    /// Whether a text is the stored one, in which values may be replaced.
    fn is_same_text(&self, stored: &str, now: &str) -> bool {
        if stored == now || !stored.contains('⟦') {
            return stored == now;
        }
        let found = self.0.find(now);
        let (mut stored, mut at) = (stored, 0);
        loop {
            let rest = now.get(at..).unwrap_or("");
            let same = stored
                .char_indices()
                .zip(rest.chars())
                .find(|((_, a), b)| a != b)
                .map_or_else(|| stored.len().min(rest.len()), |((same, _), _)| same);
            // A value may begin as its placeholder does not, and a placeholder of the text itself is no other's.
            let Some(behind) = stored.get(same..) else { return false };
            if behind.is_empty() {
                return at + same == now.len();
            }
            at += same;
            let Some(after) = behind.strip_prefix('⟦').and_then(|inner| inner.split_once('⟧')) else { return false };
            let (kind, after) = (after.0.split(':').next().unwrap_or(""), after.1);
            let masked = found.iter().find(|(range, own)| range.start == at && *own == kind);
            let end = masked.map(|(range, _)| range.end).or_else(|| unknown(now.get(at..)?, after).map(|len| at + len));
            let Some(end) = end else { return false };
            (stored, at) = (after, end);
        }
    }
}

/// Bytes of a value that only the environment of another machine knows to be a secret: up to what stands behind it, in its line.
fn unknown(now: &str, after: &str) -> Option<usize> {
    let near = now.get(..now.floor_char_boundary(UNKNOWN)).unwrap_or(now);
    let line = near.split('\n').next().unwrap_or("");
    let next: String = after.chars().take_while(|c| *c != '⟦' && *c != '\n').collect();
    let end = if next.is_empty() { Some(line.len()) } else { line.find(&next) };
    end.filter(|end| *end > 0)
}

/// The text that a value is: a string, or the lines of one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) if lines.len() > 1 => {
            let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
            lines.map(|lines| lines.join("\n"))
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/record/fixed_mask.rs"]
mod tests;
