//! Writes the same conversation as the sessions of four agents. Shares no code with the readers.

use serde_json::{Value, json};

/// A step of a conversation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    User(String),
    Assistant(String),
    Read(String),
    Create(String),
    Edit(String),
    Run {
        command: String,
        output: String,
        fails: bool,
    },
    Tasks(Vec<String>),
    Compact(String),
}

/// The agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
    Pi,
    Gemini,
}

pub(super) const AGENTS: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Pi, Agent::Gemini];
/// The folder in which every session works.
pub(super) const FOLDER: &str = "/srv/shop";

/// Returns the text of a session.
pub(super) fn write_session(agent: Agent, steps: &[Step]) -> String {
    let mut rows = match agent {
        Agent::Claude => {
            vec![json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}})]
        }
        Agent::Codex => vec![
            json!({"timestamp": "2026-11-28T10:00:00Z", "type": "session_meta",
            "payload": {"id": "s", "cwd": FOLDER, "cli_version": "0.60.0"}}),
        ],
        Agent::Pi => vec![
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-28T10:00:00Z", "cwd": FOLDER}),
        ],
        Agent::Gemini => vec![
            json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-11-28T10:00:00Z", "directories": [FOLDER]}),
        ],
    };
    let mut writer = Writer {
        agent,
        rows: &mut rows,
        count: 0,
    };
    for step in steps {
        writer.add(step);
    }
    write_lines(&rows)
}

/// Writes JSON values as lines.
pub(super) fn write_lines(rows: &[Value]) -> String {
    rows.iter().map(|row| row.to_string() + "\n").collect()
}

struct Writer<'r> {
    agent: Agent,
    rows: &'r mut Vec<Value>,
    count: usize,
}

impl Writer<'_> {
    fn add(&mut self, step: &Step) {
        match step {
            Step::User(text) => self.text("user", text),
            Step::Assistant(text) => self.text("assistant", text),
            Step::Read(path) => match self.agent {
                Agent::Codex => self.shell(&format!("sed -n 1,200p {path}"), "some lines", false),
                Agent::Claude => self.call(
                    "Read",
                    &json!({"file_path": format!("{FOLDER}/{path}")}),
                    "some lines",
                    false,
                ),
                Agent::Pi => self.call("read", &json!({"path": path}), "some lines", false),
                Agent::Gemini => self.call(
                    "read_file",
                    &json!({"file_path": path}),
                    "some lines",
                    false,
                ),
            },
            Step::Create(path) => self.write(path, "Add"),
            Step::Edit(path) => self.write(path, "Update"),
            Step::Run {
                command,
                output,
                fails,
            } => self.shell(command, output, *fails),
            Step::Tasks(tasks) => self.tasks(tasks),
            Step::Compact(summary) => self.compact(summary),
        }
    }

    fn write(&mut self, path: &str, how: &str) {
        let full = format!("{FOLDER}/{path}");
        let is_new = how == "Add";
        let done = if is_new {
            format!("File created successfully at: {full}")
        } else {
            format!("The file {full} has been updated.")
        };
        match self.agent {
            Agent::Codex => {
                let input = format!("*** Begin Patch\n*** {how} File: {path}\n+x\n*** End Patch");
                self.count += 1;
                let id = format!("call-{}", self.count);
                self.item(&json!({"type": "custom_tool_call", "call_id": id, "name": "apply_patch", "input": input}));
                self.item(
                    &json!({"type": "custom_tool_call_output", "call_id": id, "output": "Done"}),
                );
            }
            Agent::Claude => self.call(
                if is_new { "Write" } else { "Edit" },
                &json!({"file_path": full}),
                &done,
                false,
            ),
            Agent::Pi => self.call(
                if is_new { "write" } else { "edit" },
                &json!({"path": path}),
                "ok",
                false,
            ),
            Agent::Gemini => self.call(
                if is_new { "write_file" } else { "replace" },
                &json!({"file_path": full}),
                "ok",
                false,
            ),
        }
    }

    fn shell(&mut self, command: &str, output: &str, fails: bool) {
        match self.agent {
            Agent::Codex => {
                let exit = i32::from(fails);
                let output = json!({"output": output, "metadata": {"exit_code": exit}}).to_string();
                self.call(
                    "shell",
                    &json!({"command": ["bash", "-lc", command]}),
                    &output,
                    false,
                );
            }
            Agent::Claude => self.call("Bash", &json!({"command": command}), output, fails),
            Agent::Pi => self.call("bash", &json!({"command": command}), output, fails),
            Agent::Gemini => self.call(
                "run_shell_command",
                &json!({"command": command}),
                output,
                fails,
            ),
        }
    }

    fn tasks(&mut self, tasks: &[String]) {
        let list = |key: &str| -> Vec<Value> {
            tasks
                .iter()
                .map(|task| json!({key: task, "status": "pending"}))
                .collect()
        };
        match self.agent {
            Agent::Claude => {
                self.call("TodoWrite", &json!({"todos": list("content")}), "ok", false);
            }
            Agent::Codex => self.call("update_plan", &json!({"plan": list("step")}), "ok", false),
            Agent::Gemini => self.call(
                "write_todos",
                &json!({"todos": list("description")}),
                "ok",
                false,
            ),
            Agent::Pi => {
                let boxes: Vec<String> = tasks.iter().map(|task| format!("- [ ] {task}")).collect();
                self.text("assistant", &boxes.join("\n"));
            }
        }
    }

    fn text(&mut self, role: &str, text: &str) {
        match self.agent {
            Agent::Claude => self.claude(role, &json!([{"type": "text", "text": text}])),
            Agent::Codex => {
                let kind = if role == "user" {
                    "input_text"
                } else {
                    "output_text"
                };
                self.item(&json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}));
            }
            Agent::Pi => {
                self.pi(&json!({"role": role, "content": [{"type": "text", "text": text}]}));
            }
            Agent::Gemini => {
                let kind = if role == "user" { "user" } else { "gemini" };
                self.gemini(kind, text, &Value::Null);
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &Value, output: &str, fails: bool) {
        self.count += 1;
        let id = format!("call-{}", self.count);
        match self.agent {
            Agent::Claude => {
                self.claude(
                    "assistant",
                    &json!([{"type": "tool_use", "id": id, "name": name, "input": arguments}]),
                );
                self.claude("user", &json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": fails}]));
            }
            Agent::Codex => {
                self.item(&json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()}));
                self.item(
                    &json!({"type": "function_call_output", "call_id": id, "output": output}),
                );
            }
            Agent::Pi => {
                self.pi(&json!({"role": "assistant", "content": [{"type": "toolCall", "id": id, "name": name, "arguments": arguments}]}));
                self.pi(&json!({"role": "toolResult", "toolCallId": id, "toolName": name, "content": [{"type": "text", "text": output}], "isError": fails}));
            }
            Agent::Gemini => {
                let status = if fails { "error" } else { "success" };
                let result = json!([{"functionResponse": {"id": id, "name": name, "response": {"output": output}}}]);
                let call = json!([{"id": id, "name": name, "args": arguments, "status": status, "result": result}]);
                self.gemini("gemini", "", &call);
            }
        }
    }

    fn claude(&mut self, role: &str, content: &Value) {
        self.count += 1;
        let row = json!({
            "parentUuid": format!("u{}", self.count - 1), "uuid": format!("u{}", self.count), "type": role, "isSidechain": false,
            "cwd": FOLDER, "sessionId": "s", "version": "2.1.39", "timestamp": "2026-11-28T10:00:00Z",
            "message": {"role": role, "id": format!("msg{}", self.count), "content": content}
        });
        self.rows.push(row);
    }

    fn item(&mut self, payload: &Value) {
        self.rows.push(json!({"timestamp": "2026-11-28T10:00:00Z", "type": "response_item", "payload": payload}));
    }

    fn pi(&mut self, message: &Value) {
        self.count += 1;
        self.rows.push(json!({"type": "message", "id": format!("e{}", self.count), "timestamp": "2026-11-28T10:00:00Z", "message": message}));
    }

    fn gemini(&mut self, kind: &str, text: &str, calls: &Value) {
        self.count += 1;
        let id = format!("g{}", self.count);
        let mut row =
            json!({"id": id, "timestamp": "2026-11-28T10:00:00Z", "type": kind, "content": text});
        // The program writes a message first, and again with its calls.
        self.rows.push(row.clone());
        if calls.is_array() {
            row["toolCalls"] = calls.clone();
            self.rows.push(row);
        }
    }

    fn compact(&mut self, summary: &str) {
        self.count += 1;
        let at = "2026-11-28T12:00:00Z";
        match self.agent {
            Agent::Claude => {
                self.rows.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": format!("u{}", self.count), "parentUuid": null,
                    "logicalParentUuid": "gone", "sessionId": "s", "timestamp": at, "compactMetadata": {"trigger": "auto", "preTokens": 150_000}}));
                self.rows.push(json!({"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true, "uuid": "sum", "sessionId": "s",
                    "cwd": FOLDER, "isSidechain": false, "timestamp": at, "message": {"role": "user", "content": summary}}));
            }
            Agent::Codex => self.rows.push(json!({"timestamp": at, "type": "compacted", "payload": {"message": summary}})),
            Agent::Pi => self.rows.push(json!({"type": "compaction", "id": "c", "timestamp": at, "summary": summary,
                "firstKeptEntryId": format!("e{}", self.count - 1), "tokensBefore": 150_000})),
            Agent::Gemini => self.rows.push(json!({"$set": {"messages": [{"id": "new", "timestamp": at, "type": "user", "content": summary}]}})),
        }
    }
}
