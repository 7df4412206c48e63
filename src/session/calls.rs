//! A session as the calls that its agent made: each answer of the model with the history before it.
//! The calls share their messages; a request is only built for the calls that are looked at.

use super::method::message_text;
use super::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, RequestFacts, SessionEvent, SessionFormat,
    SessionMessage,
};
use crate::base::words::words;
use crate::context::render::call::CallParams;
use crate::context::render::message::Message;
use crate::context::render::target::NoBody;
use crate::context::render::targets::TARGETS;
use crate::kernel::conversation::{Part, Speaker, Turn};
use crate::request::dialect::Dialect;
use serde_json::Value;
use std::sync::Arc;

/// The text that replaces the result of a tool when it is cleared.
const CLEARED_RESULT: &str = "[Old tool result content cleared]";

words! {
    /// The reason why a history shrank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Shrinkage {
        /// A summary replaced messages.
        Compacted = "compacted",
        /// Results of tools were cleared.
        Cleared = "cleared",
        /// The user went back to an earlier message.
        Rewound = "rewound",
    }
}

/// A message of a request.
#[derive(Clone, Debug)]
pub struct CallMessage {
    /// The message, without reasoning that is not sent again.
    pub turn: Arc<Turn>,
    /// True if an earlier request had it.
    pub was_sent: bool,
    /// Its row of the file, from 1.
    pub line: usize,
    /// Its number in the session; `None` for a summary.
    number: Option<usize>,
    origin: MessageOrigin,
}

/// A call of the model.
#[derive(Debug)]
pub struct SessionCall<'s> {
    /// Its number in the session, from 1.
    pub number: usize,
    /// The facts beside its answer.
    pub facts: &'s RequestFacts,
    /// The messages of its request.
    pub messages: &'s [CallMessage],
    /// The number of messages at the front that the request before had at the same place.
    pub common: usize,
    /// The reason why the history shrank since the request before, if it did.
    pub shrinkage: Option<Shrinkage>,
    /// True if the history shrinks behind it, or ends: together, these calls have all messages.
    pub is_longest: bool,
    /// The system text, if the session holds it.
    pub system: Option<&'s str>,
    format: SessionFormat,
}

/// The history behind a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextHistory {
    /// Its messages and more.
    Longer,
    /// Fewer messages, or the end of the session.
    Shorter,
}

/// A call whose answer is being read.
#[derive(Debug)]
struct OpenCall {
    /// The number of messages of its request.
    len: usize,
    facts: RequestFacts,
}

/// Takes the events of a session, and passes on its calls.
#[derive(Debug)]
pub struct SessionCalls<F> {
    take: F,
    format: SessionFormat,
    messages: Vec<CallMessage>,
    /// The messages before each compaction that holds, the last one last.
    before_compactions: Vec<Vec<CallMessage>>,
    system: Option<String>,
    open: Option<OpenCall>,
    /// The number of messages at the front that the last request had.
    common: usize,
    shrinkage: Option<Shrinkage>,
    /// The number of calls.
    count: usize,
    /// The number of the next message.
    next: usize,
    has_tokens: bool,
    has_opaque_summary: bool,
}

/// The calls of a session, and the parts of their requests that it does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSummary {
    /// The number of calls.
    pub count: usize,
    /// The parts that the session does not hold.
    pub missing_parts: Vec<&'static str>,
}

impl<F: FnMut(&SessionCall<'_>)> SessionCalls<F> {
    /// Creates the reader of a session's calls.
    pub const fn new(format: SessionFormat, take: F) -> Self {
        Self {
            take,
            format,
            messages: Vec::new(),
            before_compactions: Vec::new(),
            system: None,
            open: None,
            common: 0,
            shrinkage: None,
            count: 0,
            next: 0,
            has_tokens: false,
            has_opaque_summary: false,
        }
    }

    /// Takes the next event.
    pub fn add_event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Message(message) => self.add_message(message),
            SessionEvent::Request(facts) => {
                self.has_tokens |= facts.tokens.input.is_some();
                // The first rows of an answer may lack the tokens, and so may the last.
                let is_new = |open: &&mut OpenCall| {
                    facts.tokens.input.is_some() || open.facts.tokens.input.is_none()
                };
                if let Some(open) = self.open.as_mut().filter(is_new) {
                    open.facts = facts;
                }
            }
            SessionEvent::SystemText(text) => self.system = Some(text),
            SessionEvent::Rewind(number) => {
                self.end_call(NextHistory::Shorter);
                let is_before = |one: &CallMessage| one.number.is_none_or(|own| own < number);
                self.retain(is_before, Shrinkage::Rewound);
            }
            SessionEvent::UndoCompaction => {
                self.end_call(NextHistory::Shorter);
                self.undo_compaction();
            }
            SessionEvent::Compaction(point) => {
                self.end_call(NextHistory::Shorter);
                self.compact(*point);
            }
            SessionEvent::Reload(_) | SessionEvent::Folder(_) | SessionEvent::Conversation(_) => {}
        }
    }

    /// Ends the session.
    pub fn finish(mut self) -> CallSummary {
        self.end_call(NextHistory::Shorter);
        let is_codex = self.format == SessionFormat::Codex;
        let parts = [
            (self.system.is_none(), "system text"),
            (true, "tool definitions"),
            (is_codex, "reasoning (encrypted)"),
            (!self.has_tokens, "billed tokens"),
            (self.has_opaque_summary, "summary of a compaction"),
        ];
        CallSummary {
            count: self.count,
            missing_parts: parts
                .into_iter()
                .filter_map(|(is_missing, part)| is_missing.then_some(part))
                .collect(),
        }
    }

    fn add_message(&mut self, message: SessionMessage) {
        if message.starts_answer {
            self.end_call(NextHistory::Longer);
            self.open = Some(OpenCall {
                len: self.messages.len(),
                facts: RequestFacts::default(),
            });
        }
        let number = Some(self.next);
        self.next += 1;
        let (origin, line, starts_answer) = (message.origin, message.line, message.starts_answer);
        let turn = self.sent_turn(message);
        if turn.parts.is_empty() {
            return;
        }
        // The rest of an answer may be written behind the results of its first calls, and results
        // behind a text of the user; they are sent in order.
        let is_rest = turn.speaker == Speaker::Assistant && !starts_answer;
        let has_results = turn.results().next().is_some();
        let is_before = |one: &CallMessage| {
            one.turn.speaker == Speaker::Assistant
                || has_results && one.turn.results().next().is_some()
        };
        let at = if is_rest || has_results {
            let sent = self.open.as_ref().map_or(self.common, |open| open.len);
            let before = self.messages.iter().rposition(is_before);
            before.map_or(self.messages.len(), |before| sent.max(before + 1))
        } else {
            self.messages.len()
        };
        self.messages.insert(
            at,
            CallMessage {
                turn: Arc::new(turn),
                was_sent: false,
                line,
                number,
                origin,
            },
        );
    }

    /// Returns a message as later requests repeat it: without reasoning that no provider takes back,
    /// and commands of the user as text.
    fn sent_turn(&self, mut message: SessionMessage) -> Turn {
        if message.turn.speaker == Speaker::User && message.turn.calls().next().is_some() {
            return Turn::new(Speaker::User, message_text(&message));
        }
        message.turn.parts.retain(|part| match part {
            Part::Reasoning(own) => {
                self.format != SessionFormat::Codex
                    && (own.signature.is_some() || own.redacted.is_some())
            }
            Part::Text(text) => !text.trim().is_empty(),
            Part::Call(_) | Part::Result(_) | Part::Media(_) => true,
        });
        message.turn
    }

    /// Passes on the call whose answer was read.
    fn end_call(&mut self, next: NextHistory) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.count += 1;
        let len = open.len.min(self.messages.len());
        (self.take)(&SessionCall {
            number: self.count,
            facts: &open.facts,
            messages: self.messages.get(..len).unwrap_or_default(),
            common: self.common,
            shrinkage: self.shrinkage.take(),
            is_longest: next == NextHistory::Shorter,
            format: self.format,
            system: self.system.as_deref(),
        });
        for message in self.messages.iter_mut().take(len).skip(self.common) {
            message.was_sent = true;
        }
        self.common = len;
    }

    /// Keeps some messages.
    fn retain(&mut self, stays: impl Fn(&CallMessage) -> bool, shrinkage: Shrinkage) {
        let first = self.messages.iter().position(|one| !stays(one));
        if let Some(first) = first {
            self.messages.retain(stays);
            self.shrink(first, shrinkage);
        }
    }

    /// Notes that the history is another one from a place on.
    fn shrink(&mut self, first: usize, shrinkage: Shrinkage) {
        if first < self.common {
            self.common = first;
            self.shrinkage = Some(shrinkage);
        }
    }

    fn compact(&mut self, point: CompactionPoint) {
        let retained = point.retained;
        let stays = |one: &CallMessage| {
            let own = one.number;
            own.is_some_and(|number| retained.binary_search(&number).is_ok())
        };
        self.before_compactions.push(self.messages.clone());
        if point.kind == CompactionKind::ClearedResults {
            return self.clear_results(stays);
        }
        self.has_opaque_summary |= point.kind == CompactionKind::Opaque;
        let is_standing = |one: &CallMessage| one.origin == MessageOrigin::Standing;
        self.retain(|one| is_standing(one) || stays(one), Shrinkage::Compacted);
        if point.summary.is_empty() {
            return;
        }
        // Codex puts the summary behind the messages that stay; the others put it in front.
        let at = if self.format == SessionFormat::Codex {
            self.messages.len()
        } else {
            self.messages
                .iter()
                .take_while(|one| is_standing(one))
                .count()
        };
        self.messages.insert(
            at,
            CallMessage {
                turn: Arc::new(Turn::new(Speaker::User, point.summary)),
                was_sent: false,
                line: point.line,
                number: None,
                origin: MessageOrigin::Program,
            },
        );
        self.shrink(at, Shrinkage::Compacted);
    }

    /// Restores the messages before the last compaction that holds.
    fn undo_compaction(&mut self) {
        let Some(restored) = self.before_compactions.pop() else {
            return;
        };
        let pairs = self.messages.iter().zip(&restored);
        let same = pairs.take_while(|(one, other)| one.number == other.number);
        let first = same.count();
        self.messages = restored;
        self.shrink(first, Shrinkage::Rewound);
    }

    /// Clears the results in the messages that do not stay.
    fn clear_results(&mut self, stays: impl Fn(&CallMessage) -> bool) {
        let mut first = None;
        for (at, message) in self.messages.iter_mut().enumerate() {
            if stays(message) {
                continue;
            }
            for part in &mut Arc::make_mut(&mut message.turn).parts {
                if let Part::Result(result) = part {
                    result.parts = vec![Part::Text(CLEARED_RESULT.to_owned())];
                    message.was_sent = false;
                    first.get_or_insert(at);
                }
            }
        }
        if let Some(first) = first {
            self.shrink(first, Shrinkage::Cleared);
        }
    }
}

impl SessionCall<'_> {
    /// Returns the dialect of its request: that of the agent's vendor; for pi, of the model's.
    pub fn dialect(&self) -> Dialect {
        let model = self.facts.model.as_deref().unwrap_or_default();
        match self.format {
            SessionFormat::Codex => Dialect::OpenaiResponses,
            SessionFormat::GeminiCli => Dialect::Gemini,
            SessionFormat::Pi if model.starts_with("gpt") => Dialect::OpenaiResponses,
            SessionFormat::Pi if model.starts_with("gemini") => Dialect::Gemini,
            SessionFormat::ClaudeCode | SessionFormat::Pi | SessionFormat::Recording => {
                Dialect::Anthropic
            }
        }
    }

    /// Returns the path that its request went to, as far as the session shows it.
    pub fn endpoint(&self) -> String {
        let dialect = self.dialect();
        let model = self
            .facts
            .model
            .as_deref()
            .filter(|_| dialect == Dialect::Gemini);
        let model = model.map(|model| format!("/models/{model}"));
        model.unwrap_or_default() + dialect.path_suffix()
    }

    /// Returns the body of its request, as far as the session holds it.
    ///
    /// # Errors
    /// The vendor has no form for a message.
    pub fn body(&self) -> Result<Value, NoBody> {
        let word = self.dialect().word();
        let target = TARGETS.iter().find(|target| target.name == word);
        let target = target.ok_or(NoBody::Empty)?;
        let system = self.system.map(|text| Turn::new(Speaker::System, text));
        let turns = self.messages.iter().map(|one| (*one.turn).clone());
        let messages: Vec<Message> = system.into_iter().chain(turns).map(Message::from).collect();
        let params = CallParams {
            model: self.facts.model.clone(),
            ..CallParams::default()
        };
        let text = target.render_body(&messages, &params)?;
        let mut body: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(fields) = body.as_object_mut() {
            // These are not in the session.
            fields.remove("max_tokens");
            if self.facts.model.is_none() {
                fields.remove("model");
            }
        }
        Ok(body)
    }
}
