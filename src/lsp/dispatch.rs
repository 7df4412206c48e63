//! The message loop of the server. All pending edits are applied before anything is compiled.
//!
//! A panic while answering is a bug: it is returned as an internal error, and the server continues.

use super::capabilities;
use super::client::Client;
use super::features::{
    actions, commands, completion, folding, formatting, hints, hover, linked_tags, links, navigate,
    rename, selection, semantic_tokens, symbols,
};
use super::rename_files;
use super::server::{Answer, Refusal, Server, State};
use super::signature;
use super::state::workspace::Workspace;
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
const PULSE: Duration = Duration::from_secs(3);

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client sent `shutdown` first.
    Asked,
    /// The client disconnected without `shutdown`.
    Left,
}

/// Serves a client until it ends the session or disconnects.
pub fn serve(connection: &Connection) -> Ended {
    let mut server = Server::new(connection);
    loop {
        if server.queue.get_mut().is_empty() {
            server.rest();
            match connection
                .receiver
                .recv_timeout(server.poll.patience(PULSE))
            {
                Ok(message) => server.queue.get_mut().push_back(message),
                Err(error) if error.is_timeout() => {
                    if server.is_orphan() {
                        return Ended::Left;
                    }
                    continue;
                }
                Err(_) => {
                    return if server.state == State::Ending {
                        Ended::Asked
                    } else {
                        Ended::Left
                    };
                }
            }
        }
        server
            .queue
            .get_mut()
            .extend(connection.receiver.try_iter());
        server.cancel();
        let Some(message) = server.queue.get_mut().pop_front() else {
            continue;
        };
        if let Some(ended) = server.take(message) {
            return ended;
        }
    }
}

impl Server<'_> {
    fn is_orphan(&self) -> bool {
        self.client
            .process
            .is_some_and(|process| fs::exists(Path::new("/proc/self")) && !is_running(process))
    }

    /// Answers queued requests that the client has cancelled.
    fn cancel(&self) {
        let mut queue = self.queue.borrow_mut();
        let ids: Vec<Value> = queue.iter().filter_map(given_up).collect();
        if ids.is_empty() {
            return;
        }
        queue.retain(|message| match message {
            Message::Request(request) if ids.contains(&json!(request.id)) => {
                self.refuse(request.id.clone(), Refusal::canceled());
                false
            }
            Message::Notification(_) | Message::Request(_) | Message::Response(_) => {
                given_up(message).is_none()
            }
        });
    }

    /// Returns an error if a long request must stop: the client has cancelled it or has edited a
    /// document.
    pub(super) fn interrupted(&self, id: &RequestId) -> Result<(), Refusal> {
        let mut queue = self.queue.borrow_mut();
        queue.extend(self.connection.receiver.try_iter());
        if queue
            .iter()
            .filter_map(given_up)
            .any(|given_up| given_up == json!(id))
        {
            return Err(Refusal::canceled());
        }
        let is_edit = |message: &Message| matches!(message, Message::Notification(note) if note.method == "textDocument/didChange");
        if queue.iter().any(is_edit) {
            let message = "a document was edited meanwhile; ask again".to_owned();
            return Err(Refusal {
                code: ErrorCode::ServerCancelled,
                message,
            });
        }
        Ok(())
    }

    fn refuse(&self, id: RequestId, refusal: Refusal) {
        let Refusal { code, message } = refusal;
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
    fn take(&mut self, message: Message) -> Option<Ended> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(note) if note.method == "exit" => {
                return Some(if self.state == State::Ending {
                    Ended::Asked
                } else {
                    Ended::Left
                });
            }
            Message::Notification(note) => {
                if self.state == State::Working
                    && catch_unwind(AssertUnwindSafe(|| self.notification(note))).is_err()
                {
                    self.say("a bug in ctxc: this change could not be taken");
                }
            }
            Message::Response(_) => {}
        }
        None
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answer = match (self.state, request.method.as_str()) {
            (State::New, "initialize") => Ok(self.initialize(&request.params)),
            (State::New, _) => Err(Refusal {
                code: ErrorCode::ServerNotInitialized,
                message: "`initialize` comes first".to_owned(),
            }),
            (State::Working, "initialize") => Err(Refusal {
                code: ErrorCode::InvalidRequest,
                message: "the session has begun already".to_owned(),
            }),
            (State::Working, "shutdown") => {
                self.state = State::Ending;
                Ok(Value::Null)
            }
            (State::Working, "workspace/executeCommand") => {
                let begun = catch_unwind(AssertUnwindSafe(|| {
                    commands::begin(self, id.clone(), request.params)
                }));
                match begun {
                    // The counting thread sends the answer.
                    Ok(Ok(())) => return,
                    Ok(Err(refusal)) => Err(refusal),
                    Err(_) => Err(bug()),
                }
            }
            (State::Working, _) => catch_unwind(AssertUnwindSafe(|| self.answer(request)))
                .unwrap_or_else(|_| Err(bug())),
            (State::Ending, _) => Err(Refusal {
                code: ErrorCode::InvalidRequest,
                message: "the session is at its end".to_owned(),
            }),
        };
        match answer {
            Ok(value) => self.send(Response::new_ok(id, value)),
            Err(refusal) => self.refuse(id, refusal),
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.state = State::Working;
        self.client = Client::new(params);
        if self.client.folders.is_empty() {
            self.client.folders.extend(fs::current_dir());
        }
        self.workspace = Workspace::new(std::mem::take(&mut self.client.folders));
        capabilities::of(&self.client)
    }

    fn answer(&mut self, request: Request) -> Answer {
        let Request { id, method, params } = request;
        self.workspace.settle();
        match method.as_str() {
            "textDocument/diagnostic" => self.pull(&params),
            "workspace/diagnostic" => {
                self.begin_workspace_pulls();
                self.pull_all(&id, &params)
            }
            "textDocument/hover" => hover::answer(self, read(params)?),
            "textDocument/completion" => completion::answer(self, read(params)?),
            "textDocument/codeAction" => actions::answer(self, &id, &read(params)?),
            "codeAction/resolve" => actions::resolve(self, params),
            "textDocument/documentSymbol" => symbols::document(self, &read(params)?),
            "workspace/symbol" => symbols::workspace(self, &read(params)?),
            "textDocument/foldingRange" => folding::answer(self, &read(params)?),
            "textDocument/formatting" => formatting::document(self, &read(params)?),
            "textDocument/inlayHint" => hints::inlay(self, &read(params)?),
            "textDocument/codeLens" => {
                let params: gen_lsp_types::CodeLensParams = read(params)?;
                self.want(&params.text_document.uri);
                hints::lenses(self, &params)
            }
            "textDocument/signatureHelp" => signature::answer(self, &read(params)?),
            "workspace/willRenameFiles" => rename_files::answer(self, &read(params)?),
            "textDocument/definition" => navigate::definition(self, &read(params)?),
            "textDocument/references" => navigate::references(self, &read(params)?),
            "textDocument/documentHighlight" => navigate::highlights(self, &read(params)?),
            "textDocument/prepareRename" => navigate::prepare(self, &read(params)?),
            "textDocument/rename" => rename::answer(self, &read(params)?),
            "textDocument/linkedEditingRange" => linked_tags::answer(self, &read(params)?),
            "textDocument/selectionRange" => selection::answer(self, &read(params)?),
            "textDocument/documentLink" => links::answer(self, &read(params)?),
            "textDocument/semanticTokens/full" => {
                let params: SemanticTokensParams = read(params)?;
                semantic_tokens::answer(self, &params.text_document, None)
            }
            "textDocument/semanticTokens/range" => {
                let params: SemanticTokensRangeParams = read(params)?;
                semantic_tokens::answer(self, &params.text_document, Some(params.range))
            }
            _ => Err(Refusal {
                code: ErrorCode::MethodNotFound,
                message: format!("there is no method `{method}`"),
            }),
        }
    }

    fn notification(&mut self, note: Notification) {
        let Notification { method, params } = note;
        // An invalid notification has no answer.
        let _: Result<(), Refusal> = match method.as_str() {
            "initialized" => {
                self.watch();
                Ok(())
            }
            "textDocument/didOpen" => read(params).map(|params| self.open(params)),
            "textDocument/didChange" => read(params).map(|params| self.change(params)),
            "textDocument/didClose" => read(params).map(|params| self.close(&params)),
            "textDocument/didSave" => {
                self.expect_disk_changes();
                Ok(())
            }
            "workspace/didChangeWorkspaceFolders" => {
                self.change_folders(&params);
                Ok(())
            }
            "workspace/didChangeWatchedFiles" => read(params).map(|params| self.changed(&params)),
            _ => Ok(()),
        };
    }
}

/// Returns the id of the request that a message cancels.
fn given_up(message: &Message) -> Option<Value> {
    match message {
        Message::Notification(note) if note.method == "$/cancelRequest" => {
            note.params.get("id").cloned()
        }
        Message::Notification(_) | Message::Request(_) | Message::Response(_) => None,
    }
}

fn bug() -> Refusal {
    Refusal {
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

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal::invalid(error.to_string()))
}
