//! A conversation as a segment: as many of its newest messages as there is room for.
//!
//! Truncation removes the oldest messages first, and never a tool call without its result or a result without its call. The
//! text of a message is indented below its speaker, so that no text can pass for a message of its own.

use crate::kernel::assembler::Speaker;
use crate::kernel::tokens::TokenCounter;
use crate::registry::body::History;
use serde_json::Value;
use std::collections::BTreeMap;

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Who says it.
    pub speaker: Speaker,
    /// What; what the tool gave back, where a tool speaks.
    pub text: String,
    /// Tools that the agent calls with it.
    pub calls: Vec<ToolCall>,
    /// The call whose result it is, by its id.
    pub answers: Option<String>,
}

/// A tool that an agent calls.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// What its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is given.
    pub arguments: Value,
}

impl Said {
    /// A message of words alone.
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Self {
        Self { speaker, text: text.into(), calls: Vec::new(), answers: None }
    }

    /// The result of a call.
    pub fn result(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { answers: Some(call.into()), ..Self::new(Speaker::Tool, text) }
    }

    /// The same, with a call of a tool.
    #[must_use]
    pub fn calling(mut self, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push(ToolCall { id: id.into(), name: name.into(), arguments });
        self
    }
}

/// What a template asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Wanted {
    turns: Option<usize>,
    tokens: Option<usize>,
    compacted: bool,
}

/// A conversation as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct HistoryText {
    /// The words in front that say what is left out; empty where nothing is.
    pub(in crate::context) mark: String,
    /// What stayed.
    pub(in crate::context) text: String,
    /// Where more may be cut off from the front: bytes of mark and text together.
    pub(in crate::context) borders: Vec<usize>,
    /// Messages that stayed.
    pub(in crate::context) kept: usize,
}

impl Wanted {
    /// Reads `history` of a body.
    pub(in crate::context) fn of(element: History) -> Self {
        let number = |number: Option<u32>| number.map(|number| number as usize);
        Self { turns: number(element.turns), tokens: number(element.tokens), compacted: element.compacted }
    }

    /// What is waited for: the conversation, or as much of it as is asked for.
    pub(in crate::context) fn words(self) -> String {
        let number = |what: &str, number: Option<usize>| number.map(|number| format!("{what} {number}"));
        let compacted = self.compacted.then(|| "compacted".to_owned());
        let asked: Vec<String> =
            [number("turns", self.turns), number("tokens", self.tokens), compacted].into_iter().flatten().collect();
        if asked.is_empty() { "conversation".to_owned() } else { format!("conversation ({})", asked.join(", ")) }
    }
}

/// Puts a conversation into words.
pub(in crate::context) fn told(said: &[Said], wanted: Wanted, counter: &dyn TokenCounter) -> HistoryText {
    let safe = borders(said);
    let turns: Vec<usize> = said.iter().enumerate().filter(|(_, said)| said.speaker == Speaker::User).map(|(at, _)| at).collect();
    let first = wanted.turns.and_then(|count| turns.get(turns.len().checked_sub(count)?)).copied().unwrap_or(0);
    let compacted = if wanted.compacted { turns.last().copied().unwrap_or(0) } else { 0 };
    let mut starts: Vec<usize> = safe.into_iter().filter(|border| *border >= first).collect();
    // Written once, from the first message that can stay; whatever starts later is a tail of it.
    let from = starts.first().copied().unwrap_or(said.len());
    let mut text = String::new();
    let mut offsets = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (at, message) in said.iter().enumerate() {
        if at >= from {
            offsets.insert(at, text.len());
        }
        let lines = message_lines(message, &mut names, at < compacted);
        if at >= from {
            text.push_str(&lines);
        }
    }
    let whole = text.trim_end_matches('\n').len();
    text.truncate(whole);
    offsets.insert(said.len(), whole);
    let offset = |at: &usize| offsets.get(at).copied().unwrap_or(whole);
    let cost = |at: &usize| counter.count(&[&mark(*at), text.get(offset(at)..).unwrap_or("")].concat());
    if let Some(limit) = wanted.tokens {
        // Fewer messages never count much more than more of them: a bisection, and then whatever it was off by.
        let mut skip = starts.partition_point(|at| cost(at) > limit);
        while starts.get(skip).is_some_and(|at| cost(at) > limit) {
            skip += 1;
        }
        starts.drain(..skip.min(starts.len()));
    }
    let Some(&start) = starts.first().filter(|start| **start < said.len()) else {
        return HistoryText { mark: mark(said.len()).trim_end().to_owned(), ..HistoryText::default() };
    };
    let begin = offset(&start);
    let mark = mark(start);
    let later = starts.iter().skip(1).filter(|at| **at < said.len());
    let borders = later.map(|at| mark.len() + offset(at) - begin).collect();
    let text = text.get(begin..).unwrap_or("").to_owned();
    HistoryText { mark, text, borders, kept: said.len() - start }
}

fn mark(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        1 => "[1 earlier message left out]\n".to_owned(),
        count => format!("[{count} earlier messages left out]\n"),
    }
}

/// Where a conversation can begin: before messages that answer no call of an earlier one, and at its end.
fn borders(said: &[Said]) -> Vec<usize> {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    // By message, the first one that has to be there with it.
    let mut needs: Vec<usize> = (0..said.len()).collect();
    for (at, message) in said.iter().enumerate() {
        let call = message.answers.as_deref().and_then(|id| calls.get(id)).copied();
        if let Some(need) = needs.get_mut(at)
            && message.speaker == Speaker::Tool
        {
            // A result whose call nobody knows belongs to what stands before it.
            *need = call.unwrap_or_else(|| at.saturating_sub(1));
        }
        for call in &message.calls {
            calls.insert(&call.id, at);
        }
    }
    let mut least = said.len();
    let mut found = vec![said.len()];
    for at in (0..said.len()).rev() {
        least = least.min(needs.get(at).copied().unwrap_or(at));
        if least >= at {
            found.push(at);
        }
    }
    // Nothing can be needed before the first.
    found.reverse();
    found
}

/// One message with the calls in it, every line of it ended.
fn message_lines<'s>(said: &'s Said, names: &mut BTreeMap<&'s str, &'s str>, compacted: bool) -> String {
    let mut out = String::new();
    if let (Speaker::Tool, id) = (said.speaker, said.answers.as_deref().unwrap_or_default()) {
        let name = names.get(id).copied().unwrap_or_default();
        let room = format!("[{} bytes left out]", said.text.len());
        let text = if compacted && said.text.len() > room.len() { &room } else { &said.text };
        line(&mut out, &["tool", name, &in_brackets(id)], text);
        return out;
    }
    if !said.text.is_empty() || said.calls.is_empty() {
        line(&mut out, &[said.speaker.word()], &said.text);
    }
    for call in &said.calls {
        names.insert(&call.id, &call.name);
        line(&mut out, &[said.speaker.word(), "calls", &call.name, &in_brackets(&call.id)], &call.arguments.to_string());
    }
    out
}

fn in_brackets(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("({id})") }
}

/// Where a line ends, for whoever reads it: all that Unicode calls a mandatory break.
const ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// `WORDS: TEXT`; further lines of the text are indented.
fn line(out: &mut String, words: &[&str], text: &str) {
    for (at, word) in words.iter().filter(|word| !word.is_empty()).enumerate() {
        out.push_str(if at > 0 { " " } else { "" });
        out.extend(word.chars().map(|c| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c }));
    }
    out.push(':');
    for (at, part) in text.trim_end().replace("\r\n", "\n").split(ENDS).enumerate() {
        out.push_str(if at > 0 { "\n" } else { "" });
        if !part.is_empty() {
            out.push_str(if at > 0 { "  " } else { " " });
            out.push_str(part);
        }
    }
    out.push('\n');
}
