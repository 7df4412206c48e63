//! The author's own text in a context, as passages: lines of prose, and values of a JSON Schema or
//! of a tool.
//!
//! Excludes untrusted text and the fences around it. Line breaks within a paragraph and the order
//! of keys have no meaning.

use crate::kernel::context::{Kind, Origin, Segment, TracedText, Trust};
use crate::record::redact::Redactor;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A passage that a context lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPassage {
    /// The passage.
    pub text: String,
    /// The passage with masked values.
    pub masked: String,
    /// The passage that replaced it, if only masked values differ.
    pub instead: Option<String>,
}

/// A passage, and the range of its line or JSON value in the segment.
struct OwnPassage {
    text: String,
    range: Range<usize>,
    /// The text of its paragraph; empty for a JSON value.
    paragraph: String,
    /// The key of a JSON value, which masks depend on; `None` for a line.
    key: Option<String>,
}

/// The passages of `before` that `after` lacks: removed or reworded.
pub fn find_losses(before: &[Segment], after: &[Segment], redactor: &Redactor) -> Vec<LostPassage> {
    let all = |segments: &[Segment]| segments.iter().flat_map(own_passages).collect::<Vec<_>>();
    let (old, new) = (all(before), all(after));
    let texts: BTreeSet<&str> = new.iter().map(|one| one.text.as_str()).collect();
    let paragraphs: BTreeSet<&str> = new
        .iter()
        .map(|one| one.paragraph.as_str())
        .filter(|words| !words.is_empty())
        .collect();
    let is_gone =
        |one: &OwnPassage| !texts.contains(&*one.text) && !paragraphs.contains(&*one.paragraph);
    if !old.iter().any(is_gone) {
        return Vec::new();
    }
    let masked = |segments: &[Segment]| {
        segments
            .iter()
            .flat_map(|segment| masked_passages(segment, redactor))
            .collect::<Vec<_>>()
    };
    let (old_masked, new_masked) = (masked(before), masked(after));
    let count = |all: &[String], text: &String| all.iter().filter(|one| *one == text).count();
    let mut found: BTreeMap<&str, LostPassage> = BTreeMap::new();
    for (one, masked) in old.iter().zip(&old_masked).filter(|(one, _)| is_gone(one)) {
        let is_replaced =
            *masked != one.text && count(&old_masked, masked) <= count(&new_masked, masked);
        let instead = new
            .iter()
            .zip(&new_masked)
            .filter(|(_, other)| is_replaced && *other == masked)
            .map(|(other, _)| other);
        let is_new = |other: &&OwnPassage| old.iter().all(|one| one.text != other.text);
        let instead = instead
            .clone()
            .find(is_new)
            .or_else(|| instead.clone().next())
            .map(|other| other.text.clone());
        found.entry(&one.text).or_insert_with(|| LostPassage {
            text: one.text.clone(),
            masked: masked.clone(),
            instead,
        });
    }
    found.into_values().collect()
}

/// Removes a passage from a segment of the author, or replaces it.
pub fn apply_loss(loss: &LostPassage, segment: &mut Segment) {
    let (mut rest, mut at) = (TracedText::default(), 0);
    for OwnPassage { range, key, .. } in own_passages(segment)
        .into_iter()
        .filter(|one| one.text == loss.text)
    {
        if range.start < at {
            continue;
        }
        rest.append(&segment.text.slice(at..range.start));
        at = range.end;
        let words = segment.text.slice(range);
        let origin = words
            .stretches()
            .first()
            .map_or(Origin::Generated, |stretch| stretch.origin.clone());
        let words = match (key, &loss.instead) {
            (Some(_), _) => json_with_loss(words.text(), loss),
            (None, Some(instead)) => words.text().replacen(&loss.text, instead, 1),
            (None, None) => String::new(),
        };
        rest.push(&words, origin);
    }
    if at > 0 {
        rest.append(&segment.text.slice(at..segment.text.text().len()));
        segment.text = rest;
    }
}

/// The passages of a segment, in order; empty for an untrusted one.
fn own_passages(segment: &Segment) -> Vec<OwnPassage> {
    let mut out = Vec::new();
    if segment.trust != Trust::Trusted {
        return out;
    }
    let text = segment.text.text();
    // The passages of the current paragraph.
    let (mut first, mut words) = (0, String::new());
    let mut end = |out: &mut Vec<OwnPassage>, words: &mut String| {
        out.iter_mut()
            .skip(first)
            .for_each(|one| one.paragraph.clone_from(words));
        first = out.len();
        words.clear();
    };
    for (range, is_json) in own_ranges(segment) {
        let part = text.get(range.clone()).unwrap_or("");
        if let Some(value) = serde_json::from_str::<Value>(part).ok().filter(|_| is_json) {
            end(&mut out, &mut words);
            visit_scalars(&value, "", &mut |path, value| {
                let key = path.rsplit('.').next().unwrap_or(path).to_owned();
                out.push(OwnPassage {
                    text: scalar_passage(path, value),
                    range: range.clone(),
                    paragraph: String::new(),
                    key: Some(key),
                });
            });
            end(&mut out, &mut words);
            continue;
        }
        let mut at = range.start;
        for line in part.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let line = line.trim();
            if line.is_empty() {
                end(&mut out, &mut words);
            } else if line.contains(char::is_alphanumeric) {
                words.extend(line.split_whitespace().flat_map(|word| [word, " "]));
                out.push(OwnPassage {
                    text: line.to_owned(),
                    range,
                    paragraph: String::new(),
                    key: None,
                });
            }
        }
    }
    end(&mut out, &mut words);
    out
}

/// The ranges of a segment that its author wrote, in order; true for JSON.
fn own_ranges(segment: &Segment) -> Vec<(Range<usize>, bool)> {
    let is_json =
        |origin: &Origin| segment.kind == Kind::Tools || matches!(origin, Origin::Schema { .. });
    let mut out: Vec<(Range<usize>, bool)> = Vec::new();
    for stretch in segment.text.stretches() {
        let Range { start, end } = stretch.range;
        let mut at = start;
        let others = segment
            .text
            .untrusted()
            .iter()
            .filter(|range| range.end > start && range.start < end);
        for other in others.cloned().chain(std::iter::once(end..end)) {
            let part = at..other.start.max(at);
            at = at.max(other.end.min(end));
            // A line can consist of several stretches.
            match out
                .last_mut()
                .filter(|(last, json)| last.end == part.start && *json == is_json(&stretch.origin))
            {
                Some((last, _)) => last.end = part.end,
                None if !part.is_empty() => out.push((part, is_json(&stretch.origin))),
                None => {}
            }
        }
    }
    out
}

/// The passages of a segment, with masked values.
fn masked_passages(segment: &Segment, redactor: &Redactor) -> Vec<String> {
    let found = redactor.find_ranges(segment.text.text());
    let mut out = Vec::new();
    for OwnPassage {
        text, range, key, ..
    } in own_passages(segment)
    {
        let (found, start) = if let Some(key) = key {
            (redactor.find_named_ranges(&key, &text), 0)
        } else {
            let line = segment.text.text().get(range.clone()).unwrap_or("");
            (
                found.clone(),
                range.start + line.len() - line.trim_start().len(),
            )
        };
        let (mut masked, mut at) = (String::new(), start);
        let end = start + text.len();
        for (value, kind) in found
            .iter()
            .filter(|(value, _)| value.start < end && value.end > start)
        {
            masked.push_str(
                text.get(at - start..value.start.max(at) - start)
                    .unwrap_or(""),
            );
            masked.extend(["⟦", kind, "⟧"]);
            at = value.end.min(end);
        }
        masked.push_str(text.get(at - start..).unwrap_or(""));
        out.push(masked);
    }
    out
}

/// Visits every scalar of a JSON value with its path. List items have a number in the path only if
/// they are lists or objects.
fn visit_scalars(value: &Value, path: &str, take: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, inside)| visit_scalars(inside, &child_path(path, name), take)),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                visit_scalars(item, &item_path(path, number, item), take);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => take(path, value),
    }
}

/// A JSON text without one of its values, or with that value replaced.
fn json_with_loss(json: &str, loss: &LostPassage) -> String {
    let Ok(value) = serde_json::from_str::<Value>(json) else {
        return String::new();
    };
    let value = value_with_loss(value, "", loss).unwrap_or_default();
    // Serialising a value cannot fail.
    let written = if json.contains('\n') {
        serde_json::to_string_pretty(&value)
    } else {
        serde_json::to_string(&value)
    };
    written.unwrap_or_default()
}

fn value_with_loss(value: Value, path: &str, loss: &LostPassage) -> Option<Value> {
    Some(match value {
        Value::Object(fields) => {
            let rest = fields.into_iter().filter_map(|(name, inside)| {
                Some((
                    name.clone(),
                    value_with_loss(inside, &child_path(path, &name), loss)?,
                ))
            });
            Value::Object(rest.collect())
        }
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Value::Array(
                items
                    .filter_map(|(number, item)| {
                        value_with_loss(item.clone(), &item_path(path, number, &item), loss)
                    })
                    .collect(),
            )
        }
        leaf if scalar_passage(path, &leaf) == loss.text => Value::from(
            loss.instead
                .as_deref()?
                .strip_prefix(path)?
                .strip_prefix(": ")?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    })
}

fn child_path(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn item_path(path: &str, number: usize, item: &Value) -> String {
    if item.is_object() || item.is_array() {
        child_path(path, &number.to_string())
    } else {
        path.to_owned()
    }
}

/// A value after its path, in the quoted form.
fn scalar_passage(path: &str, value: &Value) -> String {
    value.as_str().map_or_else(
        || format!("{path}: {value}"),
        |text| format!("{path}: {text}"),
    )
}
