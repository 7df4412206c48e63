//! Reads the facts of messages, one message after the other. Calls are paired with their results.
//!
//! Files come from calls alone, never from prose. Texts are masked before they are read.

use super::command::{CommandLine, NamedFile};
use super::error_line::error_lines;
use super::fact::{Fact, FactClass, FactSource, FileUse};
use super::file_path::{base_name, relative_path};
use super::prose::{decisions, instructions, open_tasks};
use super::value::{ValueFact, values};
use crate::kernel::conversation::{Part, Speaker, ToolCall, ToolResult};
use crate::session::sentences::{one_line, sentence_key};
use crate::session::session_event::part_text;
use crate::session::session_event::{MessageOrigin, SessionMessage};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Files with instructions that agents read.
const INSTRUCTION_FILES: [&str; 4] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md"];
/// The maximum number of characters of a fact's text.
const MAX_TEXT_CHARS: usize = 240;

/// Replaces secrets and personal data in a text.
pub type TextMask<'m> = &'m dyn Fn(&str) -> String;

/// The work that a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolWork {
    File(FileUse),
    Patch,
    Shell,
    Tasks,
    NewTask,
    TaskChange,
    Other,
}

/// Returns the work of a tool by its name: those of Claude Code, Codex, pi and Gemini CLI.
fn tool_work(name: &str) -> ToolWork {
    match name.to_ascii_lowercase().as_str() {
        "read" | "read_file" | "notebookread" | "view" => ToolWork::File(FileUse::Read),
        "write" | "write_file" | "create_file" => ToolWork::File(FileUse::Created),
        "edit" | "multiedit" | "notebookedit" | "replace" | "edit_file" => {
            ToolWork::File(FileUse::Modified)
        }
        "apply_patch" => ToolWork::Patch,
        "bash" | "shell" | "exec_command" | "shell_command" | "run_shell_command"
        | "local_shell_call" | "container.exec" => ToolWork::Shell,
        "todowrite" | "update_plan" | "write_todos" => ToolWork::Tasks,
        "taskcreate" => ToolWork::NewTask,
        "taskupdate" => ToolWork::TaskChange,
        _ => ToolWork::Other,
    }
}

/// A call whose result has not come yet.
#[derive(Debug)]
struct PendingCall {
    work: ToolWork,
    files: Vec<NamedFile>,
    is_plain: bool,
    line: usize,
}

/// The facts of a message.
#[derive(Debug, Default)]
pub struct MessageFacts {
    /// The facts.
    pub facts: Vec<Fact>,
    /// The keys of tasks that are done or given up.
    pub closed_tasks: Vec<String>,
}

/// Reads the facts of a session's messages in order.
pub struct FactReader<'m> {
    mask: TextMask<'m>,
    folder: String,
    pending: HashMap<String, PendingCall>,
    known_files: BTreeSet<String>,
    open_tasks: BTreeSet<String>,
    /// The keys of the tasks that were created one by one, in order.
    numbered_tasks: Vec<String>,
}

impl<'m> FactReader<'m> {
    /// Creates a reader that masks texts.
    pub fn new(mask: TextMask<'m>) -> Self {
        Self {
            mask,
            folder: String::new(),
            pending: HashMap::new(),
            known_files: BTreeSet::new(),
            open_tasks: BTreeSet::new(),
            numbered_tasks: Vec::new(),
        }
    }

    /// Sets the folder that paths are relative to; the first one counts.
    pub fn set_folder(&mut self, folder: &str) {
        if self.folder.is_empty() {
            folder.clone_into(&mut self.folder);
        }
    }

    /// The folder of the session; empty if unknown.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns a path relative to the folder of the session; `None` if it is no file of the work.
    pub fn relative_path(&self, path: &str) -> Option<String> {
        relative_path(path, &self.folder)
    }

    /// Reads the next message.
    pub fn read_message(&mut self, message: &SessionMessage) -> MessageFacts {
        let mut out = MessageFacts::default();
        let is_standing = message.origin == MessageOrigin::Standing;
        for part in &message.turn.parts {
            match part {
                Part::Text(text) if message.origin != MessageOrigin::Program => {
                    let text = (self.mask)(text);
                    let mut place = FactPlace {
                        line: message.line,
                        source: FactSource::Prose,
                        is_standing,
                        facts: &mut out.facts,
                    };
                    match message.turn.speaker {
                        Speaker::User | Speaker::System => {
                            place.add_sentences(FactClass::Instruction, &instructions(&text));
                        }
                        Speaker::Assistant | Speaker::Tool => {}
                    }
                    if !is_standing {
                        place.add_sentences(FactClass::Decision, &decisions(&text));
                        for task in open_tasks(&text) {
                            place.add(FactClass::Todo, sentence_key(task), task);
                        }
                        place.add_values(&text);
                    }
                }
                Part::Call(call) => self.read_call(call, message.line, &mut out),
                Part::Result(result) => self.read_result(result, message.line, &mut out.facts),
                Part::Text(_) | Part::Reasoning(_) | Part::Media(_) => {}
            }
        }
        out
    }

    fn read_call(&mut self, call: &ToolCall, line: usize, out: &mut MessageFacts) {
        let work = tool_work(&call.name);
        let mut pending = PendingCall {
            work,
            files: Vec::new(),
            is_plain: true,
            line,
        };
        let mut place = FactPlace {
            line,
            source: FactSource::Call,
            is_standing: false,
            facts: &mut out.facts,
        };
        let arguments = &call.arguments;
        match work {
            ToolWork::Shell => {
                let text = (self.mask)(&command_text(arguments));
                if text.contains("*** Begin Patch") {
                    pending.files = patched_files(&text);
                    pending.work = ToolWork::Patch;
                } else {
                    let line = CommandLine::parse(&text);
                    for command in line.commands {
                        place.add(FactClass::Command, command.to_lowercase(), &command);
                    }
                    pending.is_plain = line.is_plain;
                    pending.files = line.files;
                    place.add_values(&text);
                }
            }
            ToolWork::Patch => {
                let text = text_at(arguments, &["input", "patch"]);
                pending.files = patched_files(arguments.as_str().unwrap_or(text));
            }
            ToolWork::Tasks => self.read_tasks(arguments, &mut place, &mut out.closed_tasks),
            ToolWork::NewTask => {
                let text = text_at(arguments, &["subject", "description"]);
                let key = sentence_key(&(self.mask)(text));
                place.add(FactClass::Todo, key.clone(), &(self.mask)(text));
                self.numbered_tasks.push(key);
            }
            ToolWork::TaskChange => {
                let number = text_at(arguments, &["taskId"]).parse::<usize>().ok();
                let key = number.and_then(|number| self.numbered_tasks.get(number.checked_sub(1)?));
                if matches!(text_at(arguments, &["status"]), "completed" | "deleted") {
                    out.closed_tasks.extend(key.cloned());
                }
            }
            ToolWork::File(file_use) => {
                let keys = ["file_path", "path", "absolute_path", "notebook_path"];
                let path = text_at(arguments, &keys).to_owned();
                pending.files.push(NamedFile { path, file_use });
            }
            ToolWork::Other => place.add_values(&(self.mask)(text_at(arguments, &["url"]))),
        }
        self.pending.insert(call.id.clone(), pending);
    }

    /// Reads a whole list of tasks, which replaces the one before.
    fn read_tasks(
        &mut self,
        arguments: &Value,
        place: &mut FactPlace<'_>,
        closed: &mut Vec<String>,
    ) {
        let list = ["todos", "plan"]
            .iter()
            .find_map(|key| arguments.get(key)?.as_array());
        let mut open = BTreeSet::new();
        for task in list.into_iter().flatten() {
            let text = (self.mask)(text_at(task, &["content", "step", "description", "title"]));
            let key = sentence_key(&text);
            if !key.is_empty() && !matches!(text_at(task, &["status"]), "completed" | "cancelled") {
                place.add(FactClass::Todo, key.clone(), &text);
                open.insert(key);
            }
        }
        closed.extend(self.open_tasks.difference(&open).cloned());
        self.open_tasks = open;
    }

    fn read_result(&mut self, result: &ToolResult, line: usize, facts: &mut Vec<Fact>) {
        let Some(call) = self.pending.remove(&result.call) else {
            return;
        };
        let texts: Vec<&str> = result.parts.iter().filter_map(part_text).collect();
        let is_shell = call.work == ToolWork::Shell;
        // A failed command may still have read and changed files.
        if !result.is_error || is_shell {
            for file in call.files {
                let Some(path) = self.relative_path(&file.path) else {
                    continue;
                };
                let is_update = texts.iter().any(|text| text.contains("has been updated"));
                let is_known = !self.known_files.insert(path.clone());
                let file_use = if file.file_use == FileUse::Created && (is_update || is_known) {
                    FileUse::Modified
                } else {
                    file.file_use
                };
                let is_read = file_use == FileUse::Read;
                if is_read && INSTRUCTION_FILES.contains(&base_name(&path)) {
                    let text = texts.iter().map(|text| without_line_numbers(text));
                    let text = (self.mask)(&text.collect::<String>());
                    FactPlace {
                        line,
                        source: FactSource::Result,
                        is_standing: !path.contains('/'),
                        facts,
                    }
                    .add_sentences(FactClass::Instruction, &instructions(&text));
                }
                let mut place = FactPlace {
                    line: call.line,
                    source: FactSource::Call,
                    is_standing: false,
                    facts,
                };
                let text = (self.mask)(&path);
                if let Some(fact) = place.add(FactClass::File, path, &text) {
                    fact.file_use = Some(file_use);
                }
            }
        }
        if !result.is_error && (call.is_plain || !is_shell) {
            return;
        }
        let mut place = FactPlace {
            line,
            source: FactSource::Result,
            is_standing: false,
            facts,
        };
        for text in texts {
            let text = (self.mask)(text);
            for error in error_lines(&text) {
                place.add(FactClass::Error, error.key(), error.line);
            }
            if is_shell && !call.is_plain {
                place.add_values(&text);
            }
        }
    }
}

/// The place of facts that are read, and the list that they are added to.
struct FactPlace<'f> {
    line: usize,
    source: FactSource,
    is_standing: bool,
    facts: &'f mut Vec<Fact>,
}

impl FactPlace<'_> {
    /// Adds a fact, unless it has no key.
    fn add(&mut self, class: FactClass, key: String, text: &str) -> Option<&mut Fact> {
        if key.is_empty() {
            return None;
        }
        self.facts.push(Fact {
            class,
            file_use: None,
            key,
            text: one_line(text, MAX_TEXT_CHARS),
            slot: String::new(),
            source: self.source,
            line: self.line,
            is_standing: self.is_standing,
        });
        self.facts.last_mut()
    }

    fn add_sentences(&mut self, class: FactClass, sentences: &[String]) {
        for sentence in sentences {
            self.add(class, sentence_key(sentence), sentence);
        }
    }

    fn add_values(&mut self, text: &str) {
        // The output of a command has many times and sizes, which are no facts of the work.
        let is_wanted =
            |value: &ValueFact<'_>| self.source != FactSource::Result || value.kind != "quantity";
        for value in values(text)
            .into_iter()
            .filter(is_wanted)
            .collect::<Vec<_>>()
        {
            let slot = value.slot();
            let text = if value.word.is_empty() {
                value.value.to_owned()
            } else {
                format!("{} {}", value.word, value.value)
            };
            if let Some(fact) = self.add(FactClass::Value, value.key(), &text) {
                fact.slot = slot;
            }
        }
    }
}

fn text_at<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
    keys.iter()
        .find_map(|key| value.get(key)?.as_str())
        .unwrap_or_default()
}

/// Returns the command line of a call: a text, or words of which the last is a script.
fn command_text(arguments: &Value) -> String {
    let command = ["command", "cmd", "script"]
        .iter()
        .find_map(|key| arguments.get(key))
        .or_else(|| arguments.pointer("/action/command"));
    match command {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, script] if flag.starts_with('-') && shell.ends_with("sh") => {
                    (*script).to_owned()
                }
                words => words.join(" "),
            }
        }
        _ => String::new(),
    }
}

/// Returns the files of a patch in the form of Codex.
fn patched_files(patch: &str) -> Vec<NamedFile> {
    let mark = |line: &str| {
        [
            ("*** Add File: ", FileUse::Created),
            ("*** Update File: ", FileUse::Modified),
            ("*** Delete File: ", FileUse::Modified),
        ]
        .into_iter()
        .find_map(|(mark, file_use)| {
            Some(NamedFile {
                path: line.trim().strip_prefix(mark)?.to_owned(),
                file_use,
            })
        })
    };
    patch.lines().filter_map(mark).collect()
}

/// Removes the numbers that a tool puts in front of the lines of a file: `     1→`.
fn without_line_numbers(text: &str) -> String {
    text.lines()
        .flat_map(|line| {
            let rest = line
                .trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit());
            let own = rest
                .strip_prefix(['→', '\t'])
                .filter(|_| rest.len() < line.trim_start().len());
            [own.unwrap_or(line), "\n"]
        })
        .collect()
}
