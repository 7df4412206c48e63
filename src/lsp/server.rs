//! A session: the client, its projects, and the sending of messages.

use super::client::Client;
use super::state::open_documents::DocumentBuffer;
use super::state::project::ProjectState;
use super::state::workspace::LspWorkspace;
use super::tokens::counts::TokenCounts;
use gen_lsp_types::{TextDocumentPositionParams, Uri};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId};
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of symbols, hints or similar items in one answer.
pub(super) const MAX_ITEMS: usize = 5_000;

/// The phase of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionPhase {
    /// Before `initialize`.
    New,
    /// Between `initialize` and `shutdown`.
    Working,
    /// After `shutdown`.
    Ending,
}

/// The result of a handler.
pub(super) type RequestResult = Result<Value, RequestError>;

/// The reason why a request fails.
#[derive(Debug)]
pub(super) struct RequestError {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl RequestError {
    /// Returns the error for invalid parameters.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::InvalidParams,
            message: message.into(),
        }
    }

    /// Returns the error for a request that the client has cancelled.
    pub(super) fn cancelled() -> Self {
        Self {
            code: ErrorCode::RequestCanceled,
            message: "given up by the client".to_owned(),
        }
    }
}

/// A session with one client.
pub(super) struct LspServer<'c> {
    pub(super) connection: &'c Connection,
    /// Messages that are not handled yet.
    pub(super) queue: RefCell<VecDeque<Message>>,
    pub(super) state: SessionPhase,
    pub(super) client: Client,
    pub(super) workspace: LspWorkspace,
    /// True if something has changed since diagnostics were pushed.
    pub(super) stale: bool,
    pub(super) poll: PollSchedule,
    /// True if the client was asked to watch files.
    pub(super) is_watching: bool,
    /// True if the client has requested the findings of the whole workspace.
    pub(super) pulls_workspace: bool,
    pub(super) token_counts: TokenCounts,
    /// Opened documents whose tokens are not counted yet.
    pub(super) opened: Vec<Uri>,
    /// The number of the server's own last request.
    last_request_number: i32,
}

impl<'c> LspServer<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        let sender = connection.sender.clone();
        Self {
            // The loop detects a disconnected client.
            token_counts: TokenCounts::new(move |message| drop(sender.send(message))),
            connection,
            queue: RefCell::default(),
            state: SessionPhase::New,
            client: Client::default(),
            workspace: LspWorkspace::default(),
            stale: false,
            poll: PollSchedule::default(),
            is_watching: false,
            pulls_workspace: false,
            opened: Vec::new(),
            last_request_number: 0,
        }
    }

    pub(super) fn send(&self, message: impl Into<Message>) {
        // The loop detects a disconnected client.
        let _ = self.connection.sender.send(message.into());
    }

    pub(super) fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    pub(super) fn send_request(&mut self, method: &str, params: impl Serialize) {
        self.last_request_number += 1;
        self.send(Request::new(
            RequestId::from(self.last_request_number),
            method.to_owned(),
            params,
        ));
    }

    /// Truncates an answer with too many items and shows a message.
    pub(super) fn truncate_answer<T>(
        &self,
        answer: &mut Vec<T>,
        project: &ProjectState,
        name: &Arc<str>,
        what: &'static str,
    ) {
        if answer.len() > MAX_ITEMS {
            answer.truncate(MAX_ITEMS);
            self.report_truncation(project, name, what);
        }
    }

    /// Shows a message that an answer is truncated, once per document while it is open.
    pub(super) fn report_truncation(
        &self,
        project: &ProjectState,
        name: &Arc<str>,
        what: &'static str,
    ) {
        if project
            .shown
            .shown_messages
            .borrow_mut()
            .insert((Arc::clone(name), what))
        {
            self.show_message(&format!(
                "{name} has more than 5,000 {what}: the rest is left out"
            ));
        }
    }

    pub(super) fn show_message(&self, message: &str) {
        self.notify("window/showMessage", json!({"type": 2, "message": message}));
    }

    /// Returns an open document with its project and its name there.
    pub(super) fn document(
        &self,
        uri: &Uri,
    ) -> Result<(&ProjectState, Arc<str>, &DocumentBuffer), RequestError> {
        self.workspace
            .document(uri)
            .ok_or_else(|| RequestError::invalid(format!("{} is not open", uri.0)))
    }

    /// Returns an open document with the offset of a position in it.
    pub(super) fn document_position(
        &self,
        params: &TextDocumentPositionParams,
    ) -> Result<(&ProjectState, Arc<str>, &DocumentBuffer, u32), RequestError> {
        let (project, name, buffer) = self.document(&params.text_document.uri)?;
        let offset = self
            .client
            .encoding
            .offset(&buffer.text, &buffer.index, params.position);
        Ok((project, name, buffer, offset))
    }
}

/// Serialises a value as an answer.
pub(super) fn to_answer(answer: impl Serialize) -> RequestResult {
    serde_json::to_value(answer).map_err(|error| RequestError {
        code: ErrorCode::InternalError,
        message: error.to_string(),
    })
}

/// The pause between cheap polls.
const MIN_PAUSE: Duration = Duration::from_secs(1);
/// The pause until the next check if the client watches all files.
const IDLE_PAUSE: Duration = Duration::from_secs(3);
/// The inverse of the maximum share of time that polls may take.
const PAUSE_FACTOR: u32 = 25;

/// The schedule of polls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PollSchedule {
    next: Option<Instant>,
}

impl PollSchedule {
    /// Returns the time until the next poll, at most `longest`.
    pub(super) fn time_until_next(self, longest: Duration) -> Duration {
        self.next.map_or(longest, |next| {
            next.saturating_duration_since(Instant::now()).min(longest)
        })
    }

    /// Starts polling.
    pub(super) fn start(&mut self) {
        self.next = Some(Instant::now() + MIN_PAUSE);
    }

    /// Returns true if a poll is due.
    pub(super) fn is_due(self) -> bool {
        self.next.is_some_and(|next| next <= Instant::now())
    }

    /// Postpones the next poll if no files need polling.
    pub(super) fn postpone(&mut self) {
        self.next = Some(Instant::now() + IDLE_PAUSE);
    }

    /// Runs a poll and schedules the next one by its duration.
    pub(super) fn run_timed<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let found = poll();
        let now = Instant::now();
        self.next = Some(now + MIN_PAUSE.max((now - begun) * PAUSE_FACTOR));
        found
    }
}
