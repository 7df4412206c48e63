//! What of a call is kept: bodies, streams and the texts around them, with what must not be kept replaced.
//!
//! A value that a stream brings in pieces is found all the same: the pieces of a text are looked at as the text that they make.

use super::json_text::{Site, compact, map_strings, raw};
use super::recording::{Recording, Redacted};
use super::redact::{Find, Found, Redactor, merged};
use crate::project::config::Content;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Keys whose strings are pieces of a longer text in the events of a stream.
const PIECES: [&str; 11] = [
    "content",
    "text",
    "thinking",
    "partial_json",
    "delta",
    "arguments",
    "reasoning_content",
    "reasoning",
    "refusal",
    "summary",
    "transcript",
];
/// Keys whose strings say what something is, not what was said: they are kept where words are not, if they are one plain word.
const KINDS: [&str; 17] = [
    "role",
    "type",
    "model",
    "name",
    "id",
    "object",
    "status",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "item_id",
    "finish_reason",
    "finishReason",
    "stop_reason",
    "done_reason",
    "code",
    "event",
];

/// Keys that hold whatever a program puts there: no key and no string below them is kept where words are not.
const FREE: [&str; 8] = ["input", "arguments", "args", "response", "metadata", "user_location", "labels", "variables"];

/// Replaces what must not be kept.
#[derive(Clone, Debug)]
pub struct Mask {
    redactor: Redactor,
    content: Content,
}

/// A part of a stream: its bytes, and what it becomes.
type Edit = (Range<usize>, String);

impl Mask {
    /// What a project wants kept, with the secrets that are known.
    pub fn new(salt: [u8; 32], secrets: impl IntoIterator<Item = String>, content: Content) -> Self {
        let redactor = Redactor::new(salt, secrets);
        let redactor = if content == Content::Full { redactor.keeping_persons() } else { redactor };
        Self { redactor, content }
    }

    /// The same, which replaces more.
    #[must_use]
    pub fn replacing(self, own: &[Arc<dyn Find>]) -> Self {
        Self { redactor: self.redactor.replacing(own.to_vec()), ..self }
    }

    /// A text that is no body.
    pub fn text(&self, text: &str) -> String {
        self.redactor.text(text).0
    }

    /// A body of JSON, on one line. Adds what was replaced, below `root`.
    pub fn json(&self, body: &str, root: &str, redacted: &mut Vec<Redacted>) -> String {
        let body = compact(body);
        let body = if root == "/response" { without_logprobs(&body) } else { Cow::Borrowed(&*body) };
        let body = self.redactor.json(&body, root, redacted);
        if self.content == Content::Shape { self.shape(&body) } else { body }
    }

    /// The strings of a JSON text as hashes with their lengths, but for the words that say what something is.
    fn shape(&self, json: &str) -> String {
        map_strings(json, |site, pointer, text| {
            let (above, key) = match site {
                Site::Key => (pointer, ""),
                Site::Value => pointer.rsplit_once('/').unwrap_or_default(),
            };
            // At the root, OpenAI's dialect of responses has its items below `input`, and its events below `response`.
            let mut steps = above.split('/').skip(1).enumerate();
            let is_free = steps.any(|(depth, step)| FREE.contains(&step) && (depth > 0 || !matches!(step, "input" | "response")));
            let is_kept = !is_free && (site == Site::Key || KINDS.contains(&key) && is_word(text));
            let is_done = is_kept || text.is_empty() || text.starts_with('⟦');
            (!is_done).then(|| self.redactor.placeholder(&format!("{} bytes", text.len()), text))
        })
    }

    /// A call with what must not be kept replaced, whoever recorded it. What was replaced before stays as it is.
    #[must_use]
    pub fn call(&self, mut call: Recording) -> Recording {
        let mut redacted = std::mem::take(&mut call.redacted);
        call.endpoint = self.text(&call.endpoint);
        call.request = raw(&self.json(call.request.get(), "/request", &mut redacted));
        if let Some(response) = call.response.take() {
            let text = response.get();
            call.response = Some(match serde_json::from_str::<String>(text) {
                Err(_) => raw(&self.json(text, "/response", &mut redacted)),
                Ok(stream) => {
                    let parts = call.chunks.take();
                    let mut ends = Vec::new();
                    for (_, part) in parts.iter().flatten() {
                        ends.push(stream.floor_char_boundary(ends.last().copied().unwrap_or(0) + part.len()));
                    }
                    let whole = parts.is_none().then_some(stream.len());
                    let kept = self.stream(&stream, &ends.into_iter().chain(whole).collect::<Vec<_>>(), &mut redacted);
                    let all = raw(&kept.concat());
                    call.chunks = parts.map(|parts| parts.into_iter().map(|(at, _)| at).zip(kept).collect());
                    all
                }
            });
        }
        Recording { redacted, ..call }
    }

    /// A stream that came in parts which end at these bytes: each part as it is kept.
    pub fn stream(&self, text: &str, ends: &[usize], redacted: &mut Vec<Redacted>) -> Vec<String> {
        cut(text, self.edits(text, redacted), ends)
    }

    /// What changes in a stream, in order.
    fn edits(&self, text: &str, redacted: &mut Vec<Redacted>) -> Vec<Edit> {
        let payloads = payloads(text);
        let mut edits: Vec<Edit> = Vec::new();
        let mut at = 0;
        for range in payloads.iter().cloned().chain(std::iter::once(text.len()..text.len())) {
            // Names of events, comments, and whatever is not valid JSON.
            let between = text.get(at..range.start).unwrap_or("");
            let (changed, counts) = self.redactor.text(between);
            if !counts.is_empty() {
                redacted.extend(counts.into_iter().map(|(kind, count)| row("/response", kind, count)));
                edits.push((at..range.start, changed));
            }
            at = range.end;
        }
        // Nobody knows how an event that was cut would have ended.
        let last = payloads.last().map_or(0, |last| last.end);
        let tail = last + text.get(last..).and_then(|tail| tail.rfind(['\n', '\r'])).map_or(0, |end| end + 1);
        let is_event =
            |tail: &str| ["data:", "{", "[", ","].iter().any(|head| tail.starts_with(head)) && tail.contains(['"', '{']);
        let is_cut = text.get(tail..).is_some_and(|tail| is_event(tail.trim_start()));
        if is_cut {
            edits.retain(|(range, _)| range.end <= tail);
            edits.push((tail..text.len(), self.redactor.placeholder("cut", text.get(tail..).unwrap_or(""))));
        }
        let mut strings: Vec<Vec<(String, String, String)>> = Vec::new();
        let mut bodies = Vec::new();
        for range in &payloads {
            let mut own = Vec::new();
            let json = without_logprobs(text.get(range.clone()).unwrap_or(""));
            let value: Value = serde_json::from_str(&json).unwrap_or_default();
            map_strings(&json, |_, pointer, text| {
                own.push((pointer.to_owned(), text.to_owned(), whose(&value, pointer)));
                None
            });
            strings.push(own);
            bodies.push(json);
        }
        let changed = self.joined(&strings, is_cut, redacted);
        for ((range, own), (changed, body)) in payloads.into_iter().zip(&strings).zip(changed.into_iter().zip(bodies)) {
            let mut number = 0;
            let json = text.get(range.clone()).unwrap_or("");
            let new = map_strings(&body, |_, _, _| {
                number += 1;
                let (new, (_, old, _)) = (changed.get(number - 1)?, own.get(number - 1)?);
                (new != old).then(|| new.clone())
            });
            let new = if self.content == Content::Shape { self.shape(&new) } else { new };
            if new != json {
                edits.push((range, new));
            }
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        edits
    }

    /// Every string of every event with what must go replaced, those of one place in all events as one text. Of a stream that was cut the
    /// last word may be half of something.
    fn joined(&self, events: &[Vec<(String, String, String)>], is_cut: bool, redacted: &mut Vec<Redacted>) -> Vec<Vec<String>> {
        let mut places: BTreeMap<(&str, &str), Vec<(usize, usize)>> = BTreeMap::new();
        let mut out: Vec<Vec<String>> = Vec::new();
        for (event, strings) in events.iter().enumerate() {
            let mut own = Vec::new();
            for (number, (pointer, text, whose)) in strings.iter().enumerate() {
                let place = place(pointer);
                if PIECES.contains(&place.rsplit('/').next().unwrap_or("")) {
                    places.entry((place, whose)).or_default().push((event, number));
                    own.push(text.clone());
                    continue;
                }
                let (changed, counts) = self.redactor.text(text);
                redacted.extend(counts.into_iter().map(|(kind, count)| row(&format!("/response{place}"), kind, count)));
                own.push(changed);
            }
            out.push(own);
        }
        for ((place, _), pieces) in places {
            let get = |(event, number): &(usize, usize), all: &[Vec<String>]| {
                all.get(*event).and_then(|own| own.get(*number)).cloned().unwrap_or_default()
            };
            let whole: String = pieces.iter().map(|piece| get(piece, &out)).collect();
            let placeholder = |(range, kind): (Range<usize>, &str)| {
                let value = whole.get(range.clone()).unwrap_or("");
                (range, self.redactor.placeholder(kind, value))
            };
            let mut found = self.found(&whole, pieces.iter().map(|piece| get(piece, &out).len()));
            let word = whole.rfind(char::is_whitespace).map_or(0, |at| whole.ceil_char_boundary(at + 1));
            if is_cut && word < whole.len() {
                found.push((word..whole.len(), "cut"));
                found = merged(found);
            }
            redacted.extend(found.iter().map(|(_, kind)| row(&format!("/response{place}"), kind, 1)));
            let ends: Vec<usize> = pieces
                .iter()
                .scan(0, |end, piece| {
                    *end += get(piece, &out).len();
                    Some(*end)
                })
                .collect();
            let edits: Vec<Edit> = found.into_iter().map(placeholder).collect();
            if edits.is_empty() {
                continue;
            }
            for (piece, new) in pieces.iter().zip(cut(&whole, edits, &ends)) {
                if let Some(slot) = out.get_mut(piece.0).and_then(|own| own.get_mut(piece.1)) {
                    *slot = new;
                }
            }
        }
        out
    }

    /// What must go of a text that came in pieces of so many bytes: what is found in all of it, and what a piece holds whole, whatever
    /// stands around it. One that goes on in the next piece goes with all of it.
    fn found(&self, whole: &str, pieces: impl Iterator<Item = usize>) -> Vec<Found> {
        let mut all = self.redactor.find(whole);
        let mut start = 0;
        for len in pieces {
            let piece = whole.get(start..start + len).unwrap_or("");
            all.extend(self.redactor.find(piece).into_iter().map(|(at, kind)| (at.start + start..at.end + start, kind)));
            start += len;
        }
        merged(all)
    }
}

fn row(pointer: &str, kind: &str, count: u64) -> Redacted {
    Redacted { pointer: pointer.to_owned(), kind: kind.to_owned(), count }
}

/// Whether a text is one short word of letters, digits and a few signs, as ids and names of tools are.
fn is_word(text: &str) -> bool {
    text.len() <= 128 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// The place of a string in its event: of a list of events, without the number of the event.
fn place(pointer: &str) -> &str {
    let rest = pointer.strip_prefix('/').unwrap_or(pointer);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(digits..).filter(|rest| digits > 0 && rest.starts_with('/')).unwrap_or(pointer)
}

/// Whose piece of a text a string is: the numbers of its item, part and choice, which take turns in a stream.
fn whose(event: &Value, pointer: &str) -> String {
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).map(|number| format!("{number} "));
    let mut out: String = ["output_index", "content_index", "index"].iter().filter_map(|key| number(event, key)).collect();
    let mut at = event;
    for step in pointer.split('/').skip(1) {
        let Some(below) = at.pointer(&format!("/{step}")) else { break };
        if at.is_array() && !event.is_array() {
            out.push_str(&number(below, "index").unwrap_or_else(|| format!("{step} ")));
        }
        at = below;
    }
    out
}

/// A response without its log probabilities, whose tokens say the words once more.
fn without_logprobs(json: &str) -> Cow<'_, str> {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match key.as_str() {
                "logprobs" | "top_logprobs" | "logprobsResult" => *value = Value::Null,
                _ => remove(value),
            }),
            Value::Array(items) => items.iter_mut().for_each(remove),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let is_there = ["\"token\"", "\"logprobsResult\""].iter().any(|key| json.contains(key)) && json.contains("logprobs");
    let value = is_there.then(|| serde_json::from_str(json).ok()).flatten();
    let Some(mut value) = value else { return Cow::Borrowed(json) };
    remove(&mut value);
    Cow::Owned(value.to_string())
}

/// Changes a text, and cuts it where it was cut before. What is replaced stands in the part that it begins in.
fn cut(text: &str, edits: Vec<Edit>, ends: &[usize]) -> Vec<String> {
    let mut edits = edits.into_iter().peekable();
    let mut at = 0;
    let mut parts = Vec::new();
    for end in ends {
        let mut part = String::new();
        while let Some((range, new)) = edits.next_if(|(range, _)| range.start < *end) {
            part.push_str(text.get(at..range.start).unwrap_or(""));
            part.push_str(&new);
            at = range.end;
        }
        part.push_str(text.get(at..*end).unwrap_or(""));
        at = at.max(*end);
        parts.push(part);
    }
    parts
}

/// The JSON in a stream: the data of its events, its lines, or all of it.
fn payloads(text: &str) -> Vec<Range<usize>> {
    let is_json = |range: &Range<usize>| {
        text.get(range.clone()).is_some_and(|text| !text.trim().is_empty() && serde_json::from_str::<&RawValue>(text).is_ok())
    };
    let whole = 0..text.len();
    if is_json(&whole) {
        return vec![whole];
    }
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let data = line.strip_prefix("data:").unwrap_or(line);
        let start = at + line.len() - data.len();
        let range = start..start + data.trim_end_matches(['\n', '\r']).len();
        at += line.len();
        if is_json(&range) {
            found.push(range);
        }
    }
    found
}
