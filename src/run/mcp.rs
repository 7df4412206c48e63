//! A tool server that speaks MCP on its standard input and output: JSON-RPC, one message per line.
//! Supports only the methods of a run: `initialize`, `tools/list`, `tools/call`.
//!
//! The caller must have the user's permission to start it. It receives only the given variables,
//! and ends with all its child processes when it is dropped. Answers are limited in time and size.
//! Once it has ended, the last line of its standard error is shown.

use super::commands::append_last_line;
use super::process::{self, GRACE_PERIOD, MAX_OUTPUT, RunningProcess};
use super::tools::ToolAnswer;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The requested version of the protocol. A server may answer with an earlier one.
const PROTOCOL_VERSION: &str = "2025-06-18";
/// Time limit for the start of a server, and for each answer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum number of pages of a tool list.
const MAX_PAGES: usize = 64;

/// A running server.
#[derive(Debug)]
pub struct McpServer {
    connection: Mutex<McpConnection>,
    /// The names of its tools.
    tools: Vec<String>,
}

#[derive(Debug)]
struct McpConnection {
    child: Child,
    _running: RunningProcess,
    stdin: Option<ChildStdin>,
    lines: Receiver<Result<String, String>>,
    /// Its standard error, available once it has ended.
    stderr: Option<Receiver<Vec<u8>>>,
    /// The number of the next request.
    next: u64,
}

impl McpServer {
    /// Starts a server and requests its tools.
    ///
    /// # Errors
    /// The reason why it cannot be started, or does not speak MCP.
    pub fn start(
        argv: &[String],
        folder: &Path,
        variables: &[(String, String)],
    ) -> Result<Self, String> {
        let mut command = process::build_command(argv, folder, variables)?;
        let mut child = command
            .spawn()
            .map_err(|why| format!("it cannot be started: {why}"))?;
        let running = RunningProcess::register(&child);
        let stdin = child.stdin.take();
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| "it has no output".to_owned())?;
        let stderr = child.stderr.take().map(process::read_tail);
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                let read = (&mut reader)
                    .take(MAX_OUTPUT as u64 + 1)
                    .read_until(b'\n', &mut line);
                let line = match read {
                    Ok(0) => return,
                    Ok(_) if line.len() > MAX_OUTPUT => {
                        Err(format!("it wrote a line of more than {MAX_OUTPUT} bytes"))
                    }
                    Ok(_) => {
                        String::from_utf8(line).map_err(|_| "what it wrote is not UTF-8".to_owned())
                    }
                    Err(why) => Err(why.to_string()),
                };
                let is_last = line.is_err();
                if send.send(line).is_err() || is_last {
                    return;
                }
            }
        });
        let mut connection = McpConnection {
            child,
            _running: running,
            stdin,
            lines,
            stderr,
            next: 1,
        };
        let client = json!({"name": "ctxc", "version": env!("CARGO_PKG_VERSION")});
        connection.send_request(
            "initialize",
            &json!({"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}),
        )?;
        connection
            .send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let tools = connection.list_tools()?;
        Ok(Self {
            connection: Mutex::new(connection),
            tools,
        })
    }

    /// The names of its tools.
    pub fn tool_names(&self) -> &[String] {
        &self.tools
    }

    /// Calls a tool. Errors become the tool result.
    pub fn call_tool(&self, name: &str, arguments: &Value) -> ToolAnswer {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match connection.send_request("tools/call", &json!({"name": name, "arguments": arguments}))
        {
            Ok(result) => {
                let text = result_text(&result);
                if result.get("isError") == Some(&json!(true)) {
                    ToolAnswer::failure(text)
                } else {
                    ToolAnswer::success(text)
                }
            }
            Err(why) => ToolAnswer::failure(why),
        }
    }
}

/// The texts of a result; other parts are replaced by their kind.
fn result_text(result: &Value) -> String {
    let part = |part: &Value| match part["type"].as_str() {
        Some("text") => part["text"].as_str().unwrap_or_default().to_owned(),
        Some(kind) => format!("[{kind}]"),
        None => part.to_string(),
    };
    let parts: Vec<String> = result["content"]
        .as_array()
        .into_iter()
        .flatten()
        .map(part)
        .collect();
    // A server with structured results may repeat them as text, or not.
    let structured = result
        .get("structuredContent")
        .filter(|structured| parts.is_empty() && !structured.is_null());
    structured.map_or_else(|| parts.join("\n"), Value::to_string)
}

impl McpConnection {
    fn send_message(&mut self, message: &Value) -> Result<(), String> {
        let gone = || "it has ended".to_owned();
        let stdin = self.stdin.as_mut().ok_or_else(gone)?;
        stdin
            .write_all(format!("{message}\n").as_bytes())
            .and_then(|()| stdin.flush())
            .map_err(|_| gone())
    }

    /// Sends a request and returns its result. Skips notifications, and declines requests of the
    /// server.
    fn send_request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        self.send_message(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
        )?;
        let begun = Instant::now();
        loop {
            let line = match self
                .lines
                .recv_timeout(ANSWER_TIMEOUT.saturating_sub(begun.elapsed()))
            {
                Ok(line) => line?,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!(
                        "it gave no answer to {method} within {} s",
                        ANSWER_TIMEOUT.as_secs()
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let tail = self
                        .stderr
                        .take()
                        .and_then(|tail| tail.recv_timeout(GRACE_PERIOD).ok())
                        .unwrap_or_default();
                    return Err(append_last_line(
                        format!("it ended before it answered {method}"),
                        &String::from_utf8_lossy(&tail),
                    ));
                }
            };
            if line.trim().is_empty() {
                continue;
            }
            let message: Map<String, Value> = serde_json::from_str(&line).map_err(|_| {
                format!(
                    "expected a message of JSON-RPC, found {}",
                    shorten(line.trim())
                )
            })?;
            if message.get("method").is_some() {
                self.answer_request(&message)?;
            } else if message.get("id") == Some(&json!(id)) {
                return match (message.get("result"), message.get("error")) {
                    (Some(result), _) => Ok(result.clone()),
                    (None, Some(error)) => Err(format!(
                        "{method}: {}",
                        error["message"]
                            .as_str()
                            .unwrap_or("it failed and does not say why")
                    )),
                    (None, None) => Err(format!(
                        "its answer to {method} has neither `result` nor `error`"
                    )),
                };
            }
        }
    }

    /// Answers a request of the server; a notification needs no answer.
    fn answer_request(&mut self, message: &Map<String, Value>) -> Result<(), String> {
        let Some(id) = message.get("id") else {
            return Ok(());
        };
        let answer = if message.get("method") == Some(&json!("ping")) {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "this client has no such method"}})
        };
        self.send_message(&answer)
    }

    fn list_tools(&mut self) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let listed = self.send_request("tools/list", &params)?;
            let tools = listed
                .get("tools")
                .and_then(Value::as_array)
                .ok_or_else(|| "its answer to tools/list has no list `tools`".to_owned())?;
            names.extend(
                tools
                    .iter()
                    .filter_map(|tool| tool["name"].as_str().map(str::to_owned)),
            );
            match listed.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(names),
            }
        }
        Err(format!("its list of tools has more than {MAX_PAGES} pages"))
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        // A server ends when its input ends.
        drop(self.stdin.take());
        process::end_group(&mut self.child);
    }
}

/// The beginning of a line.
fn shorten(line: &str) -> &str {
    line.get(..line.floor_char_boundary(80)).unwrap_or(line)
}

/// Running servers by their names.
pub type McpServers = BTreeMap<String, McpServer>;
