//! A session: what is known of its client and of the projects that it works in, and how messages are sent.

use super::client::Client;
use super::poll::Poll;
use super::state::buffer::Buffer;
use super::state::project::ProjectState;
use super::state::workspace::Workspace;
use super::tokens::counts::TokenCounts;
use gen_lsp_types::{TextDocumentPositionParams, Uri};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId};
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// Symbols, hints and the like of one answer at most: nobody reads more.
pub(super) const MOST: usize = 5_000;

/// Where a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Before `initialize`.
    New,
    /// At work.
    Working,
    /// After `shutdown`.
    Ending,
}

/// What a handler answers.
pub(super) type Answer = Result<Value, Refusal>;

/// Why a request is not answered.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Refusal {
    /// A request that cannot be made so.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidParams, message: message.into() }
    }

    /// A request that the client gave up.
    pub(super) fn canceled() -> Self {
        Self { code: ErrorCode::RequestCanceled, message: "given up by the client".to_owned() }
    }
}

/// A session.
pub(super) struct Server<'c> {
    pub(super) connection: &'c Connection,
    /// Messages that wait.
    pub(super) queue: RefCell<VecDeque<Message>>,
    pub(super) state: State,
    pub(super) client: Client,
    pub(super) workspace: Workspace,
    /// Something changed since diagnostics were pushed.
    pub(super) stale: bool,
    pub(super) poll: Poll,
    /// The client was told which files to watch.
    pub(super) is_watching: bool,
    /// The client has asked for the findings of the whole workspace.
    pub(super) pulls_workspace: bool,
    pub(super) token_counts: TokenCounts,
    /// Documents that were opened and not counted yet.
    pub(super) opened: Vec<Uri>,
    /// Numbers of our own requests.
    asked: i32,
}

impl<'c> Server<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        let sender = connection.sender.clone();
        Self {
            // A client that has gone away is noticed by the loop.
            token_counts: TokenCounts::new(move |message| drop(sender.send(message))),
            connection,
            queue: RefCell::default(),
            state: State::New,
            client: Client::default(),
            workspace: Workspace::default(),
            stale: false,
            poll: Poll::default(),
            is_watching: false,
            pulls_workspace: false,
            opened: Vec::new(),
            asked: 0,
        }
    }

    pub(super) fn send(&self, message: impl Into<Message>) {
        // A client that has gone away is noticed by the loop.
        let _ = self.connection.sender.send(message.into());
    }

    pub(super) fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    pub(super) fn ask(&mut self, method: &str, params: impl Serialize) {
        self.asked += 1;
        self.send(Request::new(RequestId::from(self.asked), method.to_owned(), params));
    }

    /// Cuts an answer short that nobody would read to its end, and says so.
    pub(super) fn cut<T>(&self, answer: &mut Vec<T>, project: &ProjectState, name: &Arc<str>, what: &'static str) {
        if answer.len() > MOST {
            answer.truncate(MOST);
            self.say_cut(project, name, what);
        }
    }

    /// Says that an answer is cut short, once a document while it is open.
    pub(super) fn say_cut(&self, project: &ProjectState, name: &Arc<str>, what: &'static str) {
        if project.shown.said.borrow_mut().insert((Arc::clone(name), what)) {
            self.say(&format!("{name} has more than 5,000 {what}: the rest is left out"));
        }
    }

    pub(super) fn say(&self, message: &str) {
        self.notify("window/showMessage", json!({"type": 2, "message": message}));
    }

    /// An open document: its project, its name there, its state.
    pub(super) fn document(&self, uri: &Uri) -> Result<(&ProjectState, Arc<str>, &Buffer), Refusal> {
        self.workspace.document(uri).ok_or_else(|| Refusal::invalid(format!("{} is not open", uri.0)))
    }

    /// The same with the offset of a position in it.
    pub(super) fn position(&self, at: &TextDocumentPositionParams) -> Result<(&ProjectState, Arc<str>, &Buffer, u32), Refusal> {
        let (project, name, buffer) = self.document(&at.text_document.uri)?;
        let offset = self.client.encoding.offset(&buffer.text, &buffer.index, at.position);
        Ok((project, name, buffer, offset))
    }
}

/// A value as an answer.
pub(super) fn value(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| Refusal { code: ErrorCode::InternalError, message: error.to_string() })
}
