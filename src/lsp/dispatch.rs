//! The message loop of the server. All pending edits are applied before anything is compiled.
//!
//! A panic while answering is a bug: it is returned as an internal error, and the server continues.

use super::client::Client;
use super::features::{
    actions, commands, completion, document_structure, hints, hover, navigate, rename,
    semantic_tokens, symbols,
};
use super::server::{LspServer, RequestError, RequestResult, SessionPhase};
use super::state::workspace::LspWorkspace;
use super::{capabilities, rename_files, signature};
use crate::base::fs::{self, ReadFs, RealFs};
use gen_lsp_types::{SemanticTokensParams, SemanticTokensRangeParams};
use lsp_server::{
    Connection, ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval of checks that the parent process still exists.
const PARENT_CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The client sent `shutdown` first.
    Requested,
    /// The client disconnected without `shutdown`.
    Disconnected,
}

/// Serves a client until it ends the session or disconnects.
pub fn serve(connection: &Connection) -> SessionEnd {
    let mut server = LspServer::new(connection);
    loop {
        if server.queue.get_mut().is_empty() {
            server.publish_changes();
            match connection
                .receiver
                .recv_timeout(server.poll.time_until_next(PARENT_CHECK_INTERVAL))
            {
                Ok(message) => server.queue.get_mut().push_back(message),
                Err(error) if error.is_timeout() => {
                    if server.is_orphan() {
                        return SessionEnd::Disconnected;
                    }
                    continue;
                }
                Err(_) => {
                    return if server.state == SessionPhase::Ending {
                        SessionEnd::Requested
                    } else {
                        SessionEnd::Disconnected
                    };
                }
            }
        }
        server
            .queue
            .get_mut()
            .extend(connection.receiver.try_iter());
        server.answer_cancelled();
        let Some(message) = server.queue.get_mut().pop_front() else {
            continue;
        };
        if let Some(ended) = server.handle_message(message) {
            return ended;
        }
    }
}

impl LspServer<'_> {
    fn is_orphan(&self) -> bool {
        self.client
            .process
            .is_some_and(|process| fs::exists(Path::new("/proc/self")) && !is_running(process))
    }

    /// Answers queued requests that the client has cancelled.
    fn answer_cancelled(&self) {
        let mut queue = self.queue.borrow_mut();
        let ids: Vec<Value> = queue.iter().filter_map(cancelled_id).collect();
        if ids.is_empty() {
            return;
        }
        queue.retain(|message| match message {
            Message::Request(request) if ids.contains(&json!(request.id)) => {
                self.send_error(request.id.clone(), RequestError::cancelled());
                false
            }
            Message::Notification(_) | Message::Request(_) | Message::Response(_) => {
                cancelled_id(message).is_none()
            }
        });
    }

    /// Returns an error if a long request must stop: the client has cancelled it or has edited a
    /// document.
    pub(super) fn check_interrupted(&self, id: &RequestId) -> Result<(), RequestError> {
        let mut queue = self.queue.borrow_mut();
        queue.extend(self.connection.receiver.try_iter());
        if queue
            .iter()
            .filter_map(cancelled_id)
            .any(|given_up| given_up == json!(id))
        {
            return Err(RequestError::cancelled());
        }
        let is_edit = |message: &Message| matches!(message, Message::Notification(note) if note.method == "textDocument/didChange");
        if queue.iter().any(is_edit) {
            let message = "a document was edited meanwhile; ask again".to_owned();
            return Err(RequestError {
                code: ErrorCode::ServerCancelled,
                message,
            });
        }
        Ok(())
    }

    fn send_error(&self, id: RequestId, refusal: RequestError) {
        let RequestError { code, message } = refusal;
        let data = (code as i32 == ErrorCode::ServerCancelled as i32)
            .then(|| json!({"retriggerRequest": true}));
        self.send(Response {
            id,
            response_result: Err(ResponseError {
                code: code as i32,
                message,
                data,
            }),
        });
    }

    /// Handles one message. Returns `Some` if it ends the session.
    fn handle_message(&mut self, message: Message) -> Option<SessionEnd> {
        match message {
            Message::Request(request) => self.handle_request(request),
            Message::Notification(note) if note.method == "exit" => {
                return Some(if self.state == SessionPhase::Ending {
                    SessionEnd::Requested
                } else {
                    SessionEnd::Disconnected
                });
            }
            Message::Notification(note) => {
                if self.state == SessionPhase::Working
                    && catch_unwind(AssertUnwindSafe(|| self.handle_notification(note))).is_err()
                {
                    self.show_message("a bug in ctxc: this change could not be taken");
                }
            }
            Message::Response(_) => {}
        }
        None
    }

    fn handle_request(&mut self, request: Request) {
        let id = request.id.clone();
        let answer = match (self.state, request.method.as_str()) {
            (SessionPhase::New, "initialize") => Ok(self.initialize(&request.params)),
            (SessionPhase::New, _) => Err(RequestError {
                code: ErrorCode::ServerNotInitialized,
                message: "`initialize` comes first".to_owned(),
            }),
            (SessionPhase::Working, "initialize") => Err(RequestError {
                code: ErrorCode::InvalidRequest,
                message: "the session has begun already".to_owned(),
            }),
            (SessionPhase::Working, "shutdown") => {
                self.state = SessionPhase::Ending;
                Ok(Value::Null)
            }
            (SessionPhase::Working, "workspace/executeCommand") => {
                let begun = catch_unwind(AssertUnwindSafe(|| {
                    commands::start_command(self, id.clone(), request.params)
                }));
                match begun {
                    // The counting thread sends the answer.
                    Ok(Ok(())) => return,
                    Ok(Err(refusal)) => Err(refusal),
                    Err(_) => Err(internal_error()),
                }
            }
            (SessionPhase::Working, _) => {
                catch_unwind(AssertUnwindSafe(|| self.answer_request(request)))
                    .unwrap_or_else(|_| Err(internal_error()))
            }
            (SessionPhase::Ending, _) => Err(RequestError {
                code: ErrorCode::InvalidRequest,
                message: "the session is at its end".to_owned(),
            }),
        };
        match answer {
            Ok(value) => self.send(Response::new_ok(id, value)),
            Err(refusal) => self.send_error(id, refusal),
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.state = SessionPhase::Working;
        self.client = Client::new(params);
        if self.client.folders.is_empty() {
            self.client.folders.extend(fs::current_dir());
        }
        self.workspace = LspWorkspace::new(std::mem::take(&mut self.client.folders));
        capabilities::server_capabilities(&self.client)
    }

    fn answer_request(&mut self, request: Request) -> RequestResult {
        let Request { id, method, params } = request;
        self.workspace.settle();
        match method.as_str() {
            "textDocument/diagnostic" => self.answer_pull(&params),
            "workspace/diagnostic" => {
                self.begin_workspace_pulls();
                self.answer_workspace_pull(&id, &params)
            }
            "textDocument/hover" => hover::answer(self, parse_params(params)?),
            "textDocument/completion" => completion::answer(self, parse_params(params)?),
            "textDocument/codeAction" => actions::answer(self, &id, &parse_params(params)?),
            "codeAction/resolve" => actions::answer_resolve(self, params),
            "textDocument/documentSymbol" => symbols::answer_document(self, &parse_params(params)?),
            "workspace/symbol" => symbols::answer_workspace(self, &parse_params(params)?),
            "textDocument/foldingRange" => {
                document_structure::folding_ranges(self, &parse_params(params)?)
            }
            "textDocument/formatting" => {
                document_structure::format_document(self, &parse_params(params)?)
            }
            "textDocument/inlayHint" => hints::answer_hints(self, &parse_params(params)?),
            "textDocument/codeLens" => {
                let params: gen_lsp_types::CodeLensParams = parse_params(params)?;
                self.request_counts(&params.text_document.uri);
                hints::answer_lenses(self, &params)
            }
            "textDocument/signatureHelp" => signature::answer(self, &parse_params(params)?),
            "workspace/willRenameFiles" => rename_files::answer(self, &parse_params(params)?),
            "textDocument/definition" => navigate::answer_definition(self, &parse_params(params)?),
            "textDocument/references" => navigate::answer_references(self, &parse_params(params)?),
            "textDocument/documentHighlight" => {
                navigate::answer_highlights(self, &parse_params(params)?)
            }
            "textDocument/prepareRename" => {
                navigate::answer_prepare_rename(self, &parse_params(params)?)
            }
            "textDocument/rename" => rename::answer(self, &parse_params(params)?),
            "textDocument/linkedEditingRange" => {
                document_structure::linked_tag_ranges(self, &parse_params(params)?)
            }
            "textDocument/selectionRange" => {
                document_structure::selection_ranges(self, &parse_params(params)?)
            }
            "textDocument/documentLink" => {
                document_structure::document_links(self, &parse_params(params)?)
            }
            "textDocument/semanticTokens/full" => {
                let params: SemanticTokensParams = parse_params(params)?;
                semantic_tokens::answer(self, &params.text_document, None)
            }
            "textDocument/semanticTokens/range" => {
                let params: SemanticTokensRangeParams = parse_params(params)?;
                semantic_tokens::answer(self, &params.text_document, Some(params.range))
            }
            _ => Err(RequestError {
                code: ErrorCode::MethodNotFound,
                message: format!("there is no method `{method}`"),
            }),
        }
    }

    fn handle_notification(&mut self, note: Notification) {
        let Notification { method, params } = note;
        // An invalid notification has no answer.
        let _: Result<(), RequestError> = match method.as_str() {
            "initialized" => {
                self.watch_files();
                Ok(())
            }
            "textDocument/didOpen" => parse_params(params).map(|params| self.open_document(params)),
            "textDocument/didChange" => {
                parse_params(params).map(|params| self.change_document(params))
            }
            "textDocument/didClose" => {
                parse_params(params).map(|params| self.close_document(&params))
            }
            "textDocument/didSave" => {
                self.expect_disk_changes();
                Ok(())
            }
            "workspace/didChangeWorkspaceFolders" => {
                self.change_folders(&params);
                Ok(())
            }
            "workspace/didChangeWatchedFiles" => {
                parse_params(params).map(|params| self.handle_file_changes(&params))
            }
            _ => Ok(()),
        };
    }
}

/// Returns the id of the request that a message cancels.
fn cancelled_id(message: &Message) -> Option<Value> {
    match message {
        Message::Notification(note) if note.method == "$/cancelRequest" => {
            note.params.get("id").cloned()
        }
        Message::Notification(_) | Message::Request(_) | Message::Response(_) => None,
    }
}

fn internal_error() -> RequestError {
    RequestError {
        code: ErrorCode::InternalError,
        message: "a bug in ctxc: this request could not be answered".to_owned(),
    }
}

/// Returns true if a process exists and has not ended. An ended process stays listed until its
/// parent waits for it.
fn is_running(process: u64) -> bool {
    let Ok(stat) = RealFs.read(&PathBuf::from(format!("/proc/{process}/stat")), 1 << 16) else {
        return false;
    };
    // The name in brackets may contain any character; the state is the letter after it.
    let state = stat
        .iter()
        .rposition(|byte| *byte == b')')
        .and_then(|at| stat.get(at + 2));
    !matches!(state, Some(b'Z' | b'X'))
}

fn parse_params<T: DeserializeOwned>(params: Value) -> Result<T, RequestError> {
    serde_json::from_value(params).map_err(|error| RequestError::invalid(error.to_string()))
}
