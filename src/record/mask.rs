//! Masks recorded calls: bodies, streams and the texts around them.
//!
//! Finds a value even if a stream delivers it in pieces: the pieces of a text are joined before
//! they are searched.

use super::json_text::{
    JsonEdit, StringSite, apply_json_edits, compact_if_needed, map_strings, to_raw_json,
};
use super::recording::{MaskedCount, Recording, without_fence_marks};
use super::redact::{PatternFinder, Redactor, merge_ranges};
use super::secrets::string_names::{StringName, StringNames};
use crate::project::config::RecordedContent;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Keys whose strings classify something instead of quoting it. If texts are not kept, such a
/// string is kept only if it is one plain word.
const KIND_KEYS: &str = "role type model name id object status call_id tool_call_id tool_use_id item_id finish_reason finishReason stop_reason \
                     done_reason code event";

fn is_kind_key(key: &str) -> bool {
    KIND_KEYS.split(' ').any(|kind| kind == key)
}

/// Keys with free-form values: where texts are not kept, no key and no string below them is kept.
const FREE_FORM_KEYS: [&str; 8] = [
    "input",
    "arguments",
    "args",
    "response",
    "metadata",
    "user_location",
    "labels",
    "variables",
];

/// Masks calls before they are recorded.
#[derive(Clone, Debug)]
pub struct CallMask {
    redactor: Redactor,
    content: RecordedContent,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnding {
    /// As its vendor ends it, as far as known.
    Whole,
    /// Before its end.
    Cut,
}

impl StreamEnding {
    /// Returns the ending of an answer. Some servers end a stream with `[DONE]` only, so that its
    /// reader reports it as truncated.
    pub fn from_truncated(is_truncated: bool, text: &str) -> Self {
        if is_truncated && !text.trim_end().ends_with("[DONE]") {
            Self::Cut
        } else {
            Self::Whole
        }
    }
}

impl CallMask {
    /// Creates the mask of a project from its content setting and its known secrets.
    pub fn new(
        salt: [u8; 32],
        secrets: impl IntoIterator<Item = String>,
        content: RecordedContent,
    ) -> Self {
        let redactor = Redactor::new(salt, secrets);
        let redactor = if content == RecordedContent::Full {
            redactor.keep_personal_data()
        } else {
            redactor
        };
        Self { redactor, content }
    }

    /// Also masks the matches of the project's own patterns.
    #[must_use]
    pub fn with_patterns(self, own: &[Arc<dyn PatternFinder>]) -> Self {
        Self {
            redactor: self.redactor.with_patterns(own.to_vec()),
            ..self
        }
    }

    /// The redactor that finds values and makes placeholders.
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Masks a text that is not a body.
    pub fn mask_text(&self, text: &str) -> String {
        self.redactor.mask_text(text).0
    }

    /// Masks the words of a command.
    pub fn mask_words(&self, words: &[String]) -> Vec<String> {
        self.redactor.mask_words(words)
    }

    /// Masks a JSON body and returns it on one line. Adds the masked values to `redacted`, with
    /// pointers below `root`.
    pub fn mask_body(&self, body: &str, root: &str, redacted: &mut Vec<MaskedCount>) -> String {
        let body = compact_if_needed(body);
        let body = if root == "/response" {
            remove_logprobs(&body)
        } else {
            Cow::Borrowed(&*body)
        };
        let body = self.redactor.mask_json(&body, root, redacted);
        if self.content == RecordedContent::Shape {
            body_shape(&self.redactor, &body)
        } else {
            body
        }
    }

    /// Returns the edits that mask the body of a request; adds the masked values to `redacted`.
    pub fn request_edits(&self, body: &str, redacted: &mut Vec<MaskedCount>) -> Vec<JsonEdit> {
        match self.content {
            RecordedContent::Shape => {
                vec![(0..body.len(), self.mask_body(body, "/request", redacted))]
            }
            RecordedContent::Redacted | RecordedContent::Full => {
                self.redactor.json_edits(body, "/request", redacted)
            }
        }
    }

    /// Masks a recorded call of any recorder. Existing placeholders stay as they are.
    #[must_use]
    pub fn mask_call(&self, mut call: Recording) -> Recording {
        let mut redacted = std::mem::take(&mut call.redacted);
        let own = [
            &mut call.agent,
            &mut call.conversation,
            &mut call.caller,
            &mut call.error,
        ]
        .into_iter()
        .flatten();
        for text in own
            .chain([&mut call.endpoint, &mut call.model])
            .chain(call.headers.values_mut())
        {
            *text = self.mask_text(text);
        }
        call.request = to_raw_json(&self.mask_body(call.request.get(), "/request", &mut redacted));
        if let Some(response) = call.response.take() {
            let text = response.get();
            // Gemini also sends a stream as a list.
            let stream = if text.starts_with('[') {
                Ok(text.to_owned())
            } else {
                serde_json::from_str::<String>(text)
            };
            call.response =
                Some(match stream {
                    Err(_) => to_raw_json(&self.mask_body(text, "/response", &mut redacted)),
                    Ok(stream) => {
                        let ending = StreamEnding::from_truncated(call.truncated, &stream);
                        let parts = call.chunks.take();
                        let mut ends = Vec::new();
                        for (_, part) in parts.iter().flatten() {
                            ends.push(stream.floor_char_boundary(
                                ends.last().copied().unwrap_or(0) + part.len(),
                            ));
                        }
                        let whole = parts.is_none().then_some(stream.len());
                        let masked_stream = self.mask_stream(
                            &stream,
                            &ends.into_iter().chain(whole).collect::<Vec<_>>(),
                            ending,
                            &mut redacted,
                        );
                        let all = to_raw_json(&masked_stream.concat());
                        call.chunks = parts.map(|parts| {
                            parts
                                .into_iter()
                                .map(|(at, _)| at)
                                .zip(masked_stream)
                                .collect()
                        });
                        all
                    }
                });
        }
        Recording { redacted, ..call }
    }

    /// Masks a stream that arrived in parts, which end at the given offsets. Returns each part
    /// masked.
    pub fn mask_stream(
        &self,
        text: &str,
        ends: &[usize],
        ending: StreamEnding,
        redacted: &mut Vec<MaskedCount>,
    ) -> Vec<String> {
        split_edited(text, self.stream_edits(text, ending, redacted), ends)
    }

    /// Returns the edits of a stream, in order.
    fn stream_edits(
        &self,
        text: &str,
        ending: StreamEnding,
        redacted: &mut Vec<MaskedCount>,
    ) -> Vec<JsonEdit> {
        let (payloads, cut) = find_payloads(text);
        let is_cut = ending == StreamEnding::Cut || cut.is_some();
        // The end of a cut event is unknown, so the event is masked whole. Of an answer that is not
        // a stream, only the last word is.
        let end = cut.filter(|_| !payloads.is_empty()).unwrap_or(text.len());
        let mut edits: Vec<JsonEdit> = Vec::new();
        if end < text.len() {
            edits.push((
                end..text.len(),
                self.redactor
                    .placeholder("cut", text.get(end..).unwrap_or("")),
            ));
        }
        let mut at = 0;
        for range in payloads.iter().cloned().chain(std::iter::once(end..end)) {
            // Event names, comments, and invalid JSON.
            let between = text.get(at..range.start).unwrap_or("");
            let mut found = self.redactor.find_ranges(between);
            let last = last_word_start(between)..between.len();
            if is_cut && range.start == text.len() && !last.is_empty() {
                found.push((last, "cut"));
            }
            let mut start = 0;
            for line in between
                .split_inclusive(['\n', '\r'])
                .filter(|_| self.content == RecordedContent::Shape)
            {
                if !is_frame_line(line) {
                    found.push((start..start + line.trim_end().len(), "text"));
                }
                start += line.len();
            }
            for (place, kind) in merge_ranges(found) {
                redacted.extend((kind != "text").then(|| masked_count("", kind)));
                let new = self
                    .redactor
                    .placeholder(kind, between.get(place.clone()).unwrap_or(""));
                edits.push((at + place.start..at + place.end, new));
            }
            at = range.end;
        }
        let bodies: Vec<Cow<'_, str>> = payloads
            .iter()
            .map(|range| remove_logprobs(text.get(range.clone()).unwrap_or("")))
            .collect();
        let mut changed = self.mask_joined(&bodies, is_cut, redacted).into_iter();
        for (range, body) in payloads.into_iter().zip(bodies) {
            let new = map_strings(&body, |_, _, _| changed.next().flatten());
            let new = if self.content == RecordedContent::Shape {
                body_shape(&self.redactor, &new)
            } else {
                new
            };
            if new != text.get(range.clone()).unwrap_or("") {
                edits.push((range, new));
            }
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        edits
    }

    /// Returns the masked form of each string of each event, `None` for unchanged ones. A string
    /// may be a piece of a text: the strings at one place of all events are searched as one text,
    /// and so are the strings with one name anywhere. In a cut stream, the last word may be half of
    /// a value and is masked.
    fn mask_joined(
        &self,
        bodies: &[Cow<'_, str>],
        is_cut: bool,
        redacted: &mut Vec<MaskedCount>,
    ) -> Vec<Option<String>> {
        let (strings, views) = group_strings(bodies);
        let name_of = |pieces: &[usize]| {
            pieces
                .first()
                .and_then(|first| strings.get(*first))
                .and_then(|piece| piece.name.as_ref())
        };
        let mut removed: Vec<Vec<StringMask>> = vec![Vec::new(); strings.len()];
        for (view, pieces) in &views {
            let text = |number: &usize| strings.get(*number).map_or("", |piece| &*piece.text);
            let whole: String = pieces.iter().map(text).collect();
            let (mut found, mut start) = (Vec::new(), 0);
            for piece in pieces
                .iter()
                .filter(|_| !matches!(view, StringGroup::Name(_)))
            {
                let own = self.redactor.find_ranges(text(piece)).into_iter();
                found.extend(own.map(|(at, kind)| (at.start + start..at.end + start, kind)));
                start += text(piece).len();
            }
            // A text repeated by each event is not continued by the next.
            let is_one = pieces
                .windows(2)
                .all(|two| matches!(two, [a, b] if text(a) == text(b)));
            if pieces.len() > 1 && (!is_one || found.is_empty()) {
                found.extend(self.redactor.find_ranges(&whole));
            }
            if is_cut && matches!(view, StringGroup::Place(_)) && (pieces.len() == 1 || !is_one) {
                found.push((last_word_start(&whole)..whole.len(), "cut"));
            }
            let found = if matches!(view, StringGroup::Place(_)) {
                Redactor::add_named_ranges(name_of(pieces), &whole, found)
            } else {
                found
            };
            for (range, kind) in merge_ranges(found) {
                let value = whole.get(range.clone()).unwrap_or("");
                let mut begins = Some((kind, self.redactor.placeholder(kind, value)));
                let mut start = 0;
                for piece in pieces {
                    let end = start + text(piece).len();
                    let own = range.start.max(start)..range.end.min(end);
                    if own.start < own.end
                        && let Some(removed) = removed.get_mut(*piece)
                    {
                        let own = own.start - start..own.end - start;
                        let overlaps = removed
                            .iter()
                            .any(|(other, _)| other.start < own.end && own.start < other.end);
                        if overlaps && begins.is_some() {
                            break;
                        }
                        if !overlaps {
                            removed.push((own, begins.take()));
                        }
                    }
                    start = end;
                    if start >= range.end {
                        break;
                    }
                }
            }
        }
        let change = |(StreamString { pointer, text, .. }, mut removed): (
            &StreamString,
            Vec<StringMask>,
        )| {
            removed.sort_by_key(|(range, _)| range.start);
            let edit = |(range, begins): StringMask| {
                let new = begins.map(|(kind, new)| {
                    redacted.push(masked_count(pointer, kind));
                    new
                });
                (range, new.unwrap_or_default())
            };
            let edits: Vec<JsonEdit> = removed.into_iter().map(edit).collect();
            (!edits.is_empty()).then(|| apply_json_edits(text, edits))
        };
        strings.iter().zip(removed).map(change).collect()
    }
}

/// A string of an event.
struct StreamString {
    pointer: String,
    text: String,
    /// The key or name that precedes it.
    name: Option<StringName>,
}

/// A masked range of a string and its placeholder; `None` if the value began in an earlier string.
type StringMask = (Range<usize>, Option<(&'static str, String)>);

/// A group of strings that are searched as one text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum StringGroup {
    /// A single string, by its index.
    Alone(usize),
    /// The strings at one place.
    Place(String),
    /// The strings with one name.
    Name(String),
}

/// Returns the strings of all events and their groups. Groups by place take precedence over groups
/// by name.
fn group_strings(
    bodies: &[Cow<'_, str>],
) -> (Vec<StreamString>, BTreeMap<StringGroup, Vec<usize>>) {
    let mut strings: Vec<StreamString> = Vec::new();
    let mut views: BTreeMap<StringGroup, Vec<usize>> = BTreeMap::new();
    for body in bodies {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let mut names = StringNames::new(body);
        map_strings(body, |site, pointer, text| {
            let name_before = if site == StringSite::Value {
                names.name_string(pointer, text)
            } else {
                None
            };
            let name = pointer.rsplit('/').next().unwrap_or("");
            if site == StringSite::Key || is_kind_key(name) {
                views.insert(StringGroup::Alone(strings.len()), vec![strings.len()]);
            } else {
                for view in [
                    StringGroup::Place(string_place(&value, pointer)),
                    StringGroup::Name(name.to_owned()),
                ] {
                    views.entry(view).or_default().push(strings.len());
                }
            }
            strings.push(StreamString {
                pointer: pointer.to_owned(),
                text: text.to_owned(),
                name: name_before,
            });
            None
        });
    }
    (strings, views)
}

/// Returns the start of a text's last word, which may be half of a value. Groups of digits count as
/// one word.
fn last_word_start(text: &str) -> usize {
    let is_end = |c: char| c.is_whitespace() || c == '"';
    let mut start = text
        .rfind(is_end)
        .map_or(0, |at| text.ceil_char_boundary(at + 1));
    while let Some(before) = text.get(..start).filter(|before| !before.is_empty()) {
        let word = before.trim_end_matches(char::is_whitespace);
        let begin = word
            .rfind(is_end)
            .map_or(0, |at| word.ceil_char_boundary(at + 1));
        let word = word.get(begin..).unwrap_or("");
        let is_group = word.len() <= 8
            && word
                .chars()
                .any(|c| c.is_ascii_digit() || "+-/()".contains(c))
            && !word.chars().any(char::is_lowercase);
        if !is_group {
            break;
        }
        start = begin;
    }
    start
}

/// Returns true if a line of a stream contains only framing.
fn is_frame_line(line: &str) -> bool {
    let signs = |text: &str| text.chars().all(|c| !c.is_alphanumeric());
    line.strip_prefix("event:")
        .is_some_and(|name| is_plain_word(name.trim()))
        || signs(
            line.trim_start_matches("data:")
                .trim()
                .trim_end_matches("[DONE]"),
        )
}

/// Replaces the strings of a JSON text by their length and hash, except words that classify
/// something.
pub(super) fn body_shape(redactor: &Redactor, json: &str) -> String {
    map_strings(json, |site, pointer, text| {
        let (above, key) = match site {
            StringSite::Key => (pointer, ""),
            StringSite::Value => pointer.rsplit_once('/').unwrap_or_default(),
        };
        // At the root, the Responses dialect of OpenAI has its items below `input`, and its events
        // below `response`.
        let mut steps = above.split('/').skip(1).enumerate();
        let is_free = steps.any(|(depth, step)| {
            FREE_FORM_KEYS.contains(&step) && (depth > 0 || !matches!(step, "input" | "response"))
        });
        let is_kept =
            !is_free && (site == StringSite::Key || is_kind_key(key) && is_plain_word(text));
        (!is_kept && !text.is_empty()).then(|| {
            let text = without_fence_marks(text).map_or(Cow::Borrowed(text), Cow::Owned);
            redactor.placeholder(&format!("{} bytes", text.len()), &text)
        })
    })
}

/// Returns true if a body is a shape: if it contains a placeholder with a length.
pub(super) fn is_shape(body: &str) -> bool {
    body.match_indices(" bytes:").any(|(at, _)| {
        let before = body.get(..at).unwrap_or("");
        before.ends_with(|c: char| c.is_ascii_digit())
            && before
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .ends_with('⟦')
    })
}

fn masked_count(pointer: &str, kind: &str) -> MaskedCount {
    MaskedCount {
        pointer: format!("/response{pointer}"),
        kind: kind.to_owned(),
        count: 1,
    }
}

/// Returns true if a text is one short word of letters, digits and a few signs, such as an id or a
/// tool name.
fn is_plain_word(text: &str) -> bool {
    text.len() <= 128
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// Returns the place of a string in its event: the keys above it, and the indexes of its item, part
/// and choice, which alternate in a stream.
fn string_place(event: &Value, pointer: &str) -> String {
    let number = |(key, value): (&String, &Value)| {
        key.ends_with("index")
            .then(|| value.as_u64().map(|value| format!("{key} {value} ")))?
    };
    let numbers = |of: &Value| -> String {
        of.as_object()
            .into_iter()
            .flatten()
            .filter_map(number)
            .collect()
    };
    let mut out = numbers(event);
    let mut at = event;
    for step in pointer.split('/').skip(1) {
        let Some(below) = at.pointer(&format!("/{step}")) else {
            break;
        };
        if !(at.is_array() && below.get("index").is_some()) {
            out.extend(["/", step]);
        }
        out.push_str(&numbers(below));
        at = below;
    }
    out
}

/// Returns a response without its log probabilities, whose tokens repeat the text.
fn remove_logprobs(json: &str) -> Cow<'_, str> {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields
                    .iter_mut()
                    .for_each(|(key, value)| match key.as_str() {
                        "logprobs" | "top_logprobs" | "logprobsResult" => *value = Value::Null,
                        _ => remove(value),
                    });
            }
            Value::Array(items) => items.iter_mut().for_each(remove),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let is_there = ["\"token\"", "\"logprobsResult\""]
        .iter()
        .any(|key| json.contains(key))
        && json.contains("logprobs");
    let value = is_there.then(|| serde_json::from_str(json).ok()).flatten();
    let Some(mut value) = value else {
        return Cow::Borrowed(json);
    };
    remove(&mut value);
    Cow::Owned(value.to_string())
}

/// Applies edits to a text and splits it at the given ends. A replacement belongs to the part in
/// which its range begins.
fn split_edited(text: &str, edits: Vec<JsonEdit>, ends: &[usize]) -> Vec<String> {
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

/// Finds the JSON objects of a stream, in events, lines or a list, and the start of a cut object.
fn find_payloads(text: &str) -> (Vec<Range<usize>>, Option<usize>) {
    let (mut found, mut cut, mut at, mut open) = (Vec::new(), None, 0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let object = rest
            .strip_prefix("data:")
            .unwrap_or(rest)
            .trim_start_matches(['[', ',', ' ', '\t', '\r', '\n']);
        let start = at + rest.len() - object.len();
        let mut values = serde_json::Deserializer::from_str(object).into_iter::<&RawValue>();
        match object.starts_with('{').then(|| values.next()).flatten() {
            Some(Ok(_)) => {
                at = start + values.byte_offset();
                found.push(start..at);
                continue;
            }
            Some(Err(fault)) if fault.is_eof() => {
                cut = cut.or(Some(start));
                open += 1;
                // Each attempt reads to the end of the text, so the number of attempts is limited.
                if open == 64 {
                    break;
                }
            }
            _ => {}
        }
        at = rest
            .find(['\n', '\r'])
            .map_or(text.len(), |end| at + end + 1);
    }
    let end = found.last().map_or(0, |last: &Range<usize>| last.end);
    (found, cut.filter(|cut| end <= *cut))
}
