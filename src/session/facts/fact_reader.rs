//! Reads the facts of messages, one message after the other. Calls are paired with their results.
//!
//! Files come from calls alone, never from prose. Texts are masked before they are read.

use super::command::{CommandLine, NamedFile};
use super::error_line::{error_lines, main_error};
use super::fact::{Fact, FactClass, FactSource, FileUse};
use super::fetched_result::{FetchedResult, ResultKind, ResultSource, SourceUse};
use super::file_path::{base_name, path_in, relative_path};
use super::prose::{decisions, instructions, open_tasks, user_instructions};
use super::value::values;
use crate::kernel::conversation::{Part, Speaker, ToolCall, ToolResult};
use crate::session::sentences::{one_line, rule_key, sentence_key};
use crate::session::session_event::{
    MessageOrigin, SessionFormat, SessionMessage, all_text, part_text, text_at,
};
use crate::session::summary_index::SummaryIndex;
use crate::session::verdict::{KnownFacts, is_in_summary};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Files with instructions that agents read.
const INSTRUCTION_FILES: [&str; 4] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md"];
/// The maximum number of values that are known; with more, no other value of a summary is reported.
const MAX_VALUES: usize = 1 << 20;
/// Maximum length in characters of a command line that is compared with later ones.
const MAX_COMMAND_CHARS: usize = 1_000;
/// The maximum number of characters of a fact's text.
const MAX_TEXT_CHARS: usize = 240;

/// The text of Claude Code in front of the words with which a user refused a call.
const REFUSAL: &str = "To tell you how to proceed, the user said:\n";

/// Returns the files in the folder of a session that the agent's program sends with every request.
/// Looked up 2026-11-28: Claude Code's documentation (page `memory`), openai/codex
/// `docs/agents_md.md`, badlogic/pi-mono `packages/coding-agent/README.md` (`Context Files`),
/// google-gemini/gemini-cli `docs/cli/gemini-md.md`.
pub const fn standing_files(format: SessionFormat) -> &'static [&'static str] {
    match format {
        SessionFormat::ClaudeCode => &["CLAUDE.md", "CLAUDE.local.md"],
        // pi takes `CLAUDE.md` only where there is no `AGENTS.md`.
        SessionFormat::Pi => &["AGENTS.md"],
        SessionFormat::GeminiCli => &["GEMINI.md"],
        // Codex sends `AGENTS.md` in the messages of a session, as it was when they were written.
        SessionFormat::Codex | SessionFormat::Recording => &[],
    }
}

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
    TaskList,
    Question,
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
        "tasklist" => ToolWork::TaskList,
        "askuserquestion" => ToolWork::Question,
        _ => ToolWork::Other,
    }
}

/// A call whose result has not come yet.
#[derive(Debug)]
struct PendingCall {
    work: ToolWork,
    files: Vec<NamedFile>,
    is_plain: bool,
    /// True if it reads a part of a file.
    is_partial: bool,
    /// The questions to the user, with their options.
    questions: Value,
    /// The line of a command that does work, masked.
    command_line: String,
    /// The keys of its commands.
    commands: Vec<String>,
    /// The text that it writes to files.
    written: String,
    place: FactPlace,
}

/// The place of the facts that are read.
#[derive(Clone, Copy, Debug)]
struct FactPlace {
    line: usize,
    message: usize,
    source: FactSource,
    is_standing: bool,
}

/// The facts of a message.
#[derive(Debug)]
pub struct MessageFacts {
    /// The facts.
    pub facts: Vec<Fact>,
    /// The keys of tasks that are done or given up.
    pub closed_tasks: Vec<String>,
    /// The keys of rules that the agent's program no longer sends with every request.
    pub ended_rules: Vec<String>,
    /// The results of calls on files, and of commands that do work.
    pub results: Vec<FetchedResult>,
    place: FactPlace,
}

impl MessageFacts {
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
            source: self.place.source,
            line: self.place.line,
            message: self.place.message,
            is_standing: self.place.is_standing,
        });
        self.facts.last_mut()
    }

    fn add_rules(&mut self, rules: &[String]) {
        for rule in rules {
            self.add(FactClass::Instruction, rule_key(rule), rule);
        }
    }

    fn add_values(&mut self, text: &str) {
        for value in values(text) {
            let text = format!("{} {}", value.word, value.value);
            if let Some(fact) = self.add(FactClass::Value, value.key(), text.trim_start()) {
                fact.slot = value.slot();
            }
        }
    }
}

/// Reads the facts of a session's messages in order.
pub struct FactReader<'m> {
    mask: TextMask<'m>,
    format: SessionFormat,
    folder: String,
    /// The folder in which the agent works now.
    current_folder: String,
    pending: HashMap<String, PendingCall>,
    known_files: BTreeSet<String>,
    open_tasks: BTreeSet<String>,
    /// The keys of the tasks that were created one by one, in order.
    numbered_tasks: Vec<String>,
    /// The keys of the rules of each standing file, and of the system text by an empty path.
    standing_rules: HashMap<String, Vec<String>>,
    /// The line of the last system text.
    system_line: usize,
    /// The texts that the agent's program sends with every request, by the same paths.
    standing_texts: HashMap<String, Vec<SummaryIndex>>,
    /// All values of the session in the form in which they are compared.
    values: HashSet<String>,
}

impl<'m> FactReader<'m> {
    /// Creates a reader that masks texts.
    pub fn new(mask: TextMask<'m>, format: SessionFormat) -> Self {
        Self {
            mask,
            format,
            folder: String::new(),
            current_folder: String::new(),
            pending: HashMap::new(),
            known_files: BTreeSet::new(),
            open_tasks: BTreeSet::new(),
            numbered_tasks: Vec::new(),
            standing_rules: HashMap::new(),
            system_line: 0,
            standing_texts: HashMap::new(),
            values: HashSet::new(),
        }
    }

    /// Sets the folder in which the agent works. Facts are relative to the first one.
    pub fn set_folder(&mut self, folder: &str) {
        if self.folder.is_empty() {
            folder.clone_into(&mut self.folder);
        }
        folder.clone_into(&mut self.current_folder);
    }

    /// Returns true if a text, a call or a result of the session can contain a value.
    pub fn has_value(&self, value: &str) -> bool {
        self.values.len() >= MAX_VALUES || self.values.contains(value)
    }

    /// The folder of the session; empty if unknown.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns true if a text that the agent's program sends with every request contains a fact.
    pub fn is_in_standing_text(&self, fact: &Fact, known: &KnownFacts) -> bool {
        let mut texts = self.standing_texts.values().flatten();
        texts.any(|text| is_in_summary(fact, text, known))
    }

    /// Returns true if the session contains the text of a file that the agent's program sends with
    /// every request.
    pub fn has_standing_text(&self, path: &str) -> bool {
        self.standing_texts.contains_key(path)
    }

    /// Notes a masked text that the agent's program sends from a file with every request, behind its
    /// other texts from there.
    pub fn note_standing_text(&mut self, path: &str, text: &str) {
        let own = self.standing_texts.entry(path.to_owned()).or_default();
        own.push(SummaryIndex::new(text));
    }

    /// Returns a path relative to the folder of the session; `None` if it is no file of the work.
    pub fn relative_path(&self, path: &str) -> Option<String> {
        relative_path(&path_in(&self.current_folder, path), &self.folder)
    }

    /// Notes the values of a text.
    fn note_values(&mut self, text: &str) {
        if self.values.len() < MAX_VALUES {
            let own = values(text).into_iter();
            let own = own.map(|value| value.normal_value().to_owned());
            self.values.extend(own);
        }
    }

    /// Notes the rules that the agent's program sends from a file. Returns those of its last version.
    fn replace_rules(&mut self, path: &str, rules: &[String]) -> Vec<String> {
        let keys = rules.iter().map(|rule| rule_key(rule)).collect();
        self.standing_texts.remove(path);
        let old = self.standing_rules.insert(path.to_owned(), keys);
        old.unwrap_or_default()
    }

    /// Reads the next message.
    pub fn read_message(&mut self, message: &SessionMessage, number: usize) -> MessageFacts {
        let is_standing = message.origin == MessageOrigin::Standing;
        let place = FactPlace {
            line: message.line,
            message: number,
            source: FactSource::Prose,
            is_standing,
        };
        let mut out = MessageFacts {
            facts: Vec::new(),
            closed_tasks: Vec::new(),
            ended_rules: Vec::new(),
            results: Vec::new(),
            place,
        };
        for part in &message.turn.parts {
            out.place = place;
            match part {
                Part::Text(text) if message.origin != MessageOrigin::Program => {
                    let text = (self.mask)(text);
                    self.read_text(&text, message, &mut out);
                }
                Part::Call(call) => {
                    out.place.source = FactSource::Call;
                    self.note_values(&all_text(&call.arguments));
                    self.read_call(call, &mut out);
                }
                Part::Result(result) => {
                    out.place.source = FactSource::Result;
                    self.read_result(result, &mut out);
                }
                Part::Text(_) | Part::Reasoning(_) | Part::Media(_) => {}
            }
        }
        out
    }

    fn read_text(&mut self, text: &str, message: &SessionMessage, out: &mut MessageFacts) {
        self.note_values(text);
        let speaker = message.turn.speaker;
        if matches!(speaker, Speaker::User | Speaker::System) {
            let rules = if speaker == Speaker::User && !out.place.is_standing {
                user_instructions(text)
            } else {
                instructions(text)
            };
            if out.place.is_standing {
                self.read_standing_text(text, &rules, message, out);
            }
            out.add_rules(&rules);
        }
        if out.place.is_standing {
            return;
        }
        for decision in decisions(text) {
            out.add(FactClass::Decision, sentence_key(&decision), &decision);
        }
        for task in open_tasks(text) {
            out.add(FactClass::Todo, sentence_key(task), task);
        }
        out.add_values(text);
    }

    /// Reads a text that is sent with every request. A later text of a recording's system replaces
    /// the one before, and so does a later `AGENTS.md` in a session of Codex (openai/codex#29977).
    fn read_standing_text(
        &mut self,
        text: &str,
        rules: &[String],
        message: &SessionMessage,
        out: &mut MessageFacts,
    ) {
        let is_file = message.turn.speaker == Speaker::User;
        let path = if is_file { "AGENTS.md" } else { "" };
        // All system texts of a request have one line.
        let is_later = self.format == SessionFormat::Recording && message.line != self.system_line;
        if is_file || is_later {
            self.system_line = message.line;
            out.ended_rules = self.replace_rules(path, &[]);
        }
        self.note_standing_text(path, text);
        let own = self.standing_rules.entry(path.to_owned()).or_default();
        own.extend(rules.iter().map(|rule| rule_key(rule)));
    }

    fn read_call(&mut self, call: &ToolCall, out: &mut MessageFacts) {
        let work = tool_work(&call.name);
        let arguments = &call.arguments;
        let mut pending = PendingCall {
            work,
            files: Vec::new(),
            is_plain: true,
            is_partial: arguments.get("offset").is_some() || arguments.get("limit").is_some(),
            questions: Value::Null,
            command_line: String::new(),
            commands: Vec::new(),
            written: String::new(),
            place: out.place,
        };
        match work {
            ToolWork::Shell => {
                let text = (self.mask)(&command_text(arguments));
                if text.contains("*** Begin Patch") {
                    pending.files = patched_files(&text);
                    pending.work = ToolWork::Patch;
                } else {
                    let line = CommandLine::parse(&text);
                    for command in line.commands {
                        let key = command.to_lowercase();
                        pending.commands.push(key.clone());
                        out.add(FactClass::Command, key, &command);
                    }
                    pending.command_line = one_line(&text, MAX_COMMAND_CHARS);
                    pending.is_plain = line.is_plain;
                    pending.files = line.files;
                    out.add_values(&text);
                }
            }
            ToolWork::Patch => {
                let text = first_text(arguments, &["input", "patch"]);
                pending.files = patched_files(arguments.as_str().unwrap_or(text));
            }
            ToolWork::Tasks => self.read_tasks(arguments, out),
            ToolWork::NewTask => {
                let text = (self.mask)(first_text(arguments, &["subject", "description"]));
                let key = sentence_key(&text);
                out.add(FactClass::Todo, key.clone(), &text);
                self.numbered_tasks.push(key);
            }
            ToolWork::TaskChange => {
                let number = text_at(arguments, "taskId").parse::<usize>().ok();
                let key = number.and_then(|number| self.numbered_tasks.get(number.checked_sub(1)?));
                if matches!(text_at(arguments, "status"), "completed" | "deleted") {
                    out.closed_tasks.extend(key.cloned());
                }
            }
            ToolWork::File(file_use) => {
                let keys = ["file_path", "path", "absolute_path", "notebook_path"];
                let path = first_text(arguments, &keys).to_owned();
                pending.files.push(NamedFile { path, file_use });
            }
            ToolWork::Question => {
                pending.questions = arguments.get("questions").cloned().unwrap_or_default();
            }
            ToolWork::TaskList => {}
            ToolWork::Other => out.add_values(&(self.mask)(text_at(arguments, "url"))),
        }
        if matches!(pending.work, ToolWork::Patch | ToolWork::File(_)) {
            pending.written = all_text(arguments);
        }
        // The folder can be another one when the result comes.
        for file in &mut pending.files {
            file.path = path_in(&self.current_folder, &file.path);
        }
        self.pending.insert(call.id.clone(), pending);
    }

    /// Reads a whole list of tasks, which replaces the one before.
    fn read_tasks(&mut self, arguments: &Value, out: &mut MessageFacts) {
        let list = ["todos", "plan"]
            .iter()
            .find_map(|key| arguments.get(key)?.as_array());
        let mut open = BTreeSet::new();
        for task in list.into_iter().flatten() {
            let keys = ["content", "step", "description", "title"];
            let text = (self.mask)(first_text(task, &keys));
            let key = sentence_key(&text);
            if !key.is_empty() && !matches!(text_at(task, "status"), "completed" | "cancelled") {
                out.add(FactClass::Todo, key.clone(), &text);
                open.insert(key);
            }
        }
        let closed = self.open_tasks.difference(&open).cloned();
        out.closed_tasks.extend(closed);
        self.open_tasks = open;
    }

    /// Reads a printed list of tasks, also those that a sub-agent ended: `#1 [completed] Write it`.
    fn read_task_list(&self, text: &str, out: &mut MessageFacts) {
        for line in text.lines() {
            let Some((_, task)) = line.split_once(" [completed] ") else {
                continue;
            };
            out.closed_tasks.push(sentence_key(&(self.mask)(task)));
        }
    }

    /// Reads the answers to questions of the agent: `"Which store?"="SQLite"`. An option that the
    /// user chose is a decision, unless it is about the next step; other words can be instructions.
    fn read_answers(&self, questions: &Value, text: &str, out: &mut MessageFacts) {
        for question in questions.as_array().into_iter().flatten() {
            let start = format!("\"{}\"=\"", text_at(question, "question"));
            let answer = text.split_once(&start);
            let Some((answer, _)) = answer.and_then(|(_, rest)| rest.split_once('"')) else {
                continue;
            };
            let mut options = question
                .get("options")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            let topic = text_at(question, "header");
            if !options.any(|option| text_at(option, "label") == answer) {
                out.add_rules(&user_instructions(&(self.mask)(answer)));
            } else if !topic.starts_with("Next") {
                let choice = answer.trim_end_matches(" (Recommended)");
                let decision = (self.mask)(&format!("{topic}: {choice}"));
                out.add(FactClass::Decision, sentence_key(&decision), &decision);
            }
        }
    }

    fn read_result(&mut self, result: &ToolResult, out: &mut MessageFacts) {
        let texts: Vec<&str> = result.parts.iter().filter_map(part_text).collect();
        for text in &texts {
            self.note_values(text);
        }
        let Some(call) = self.pending.remove(&result.call) else {
            return;
        };
        let is_shell = call.work == ToolWork::Shell;
        // A result has the place of its call.
        out.place.line = call.place.line;
        let place = out.place;
        let fetched = |source: ResultSource| FetchedResult {
            source,
            source_use: SourceUse::Fetch,
            commands: Vec::new(),
            text: texts.join("\n"),
            numbers: None,
            line: place.line,
            message: place.message,
        };
        if !call.commands.is_empty() {
            out.results.push(FetchedResult {
                commands: call.commands,
                ..fetched(ResultSource {
                    kind: ResultKind::Command,
                    name: call.command_line,
                })
            });
        }
        if call.work == ToolWork::TaskList {
            let lists = texts.iter().copied();
            lists.for_each(|text| self.read_task_list(text, out));
        }
        let is_unread = |text: &&str| text.contains("has not been read yet");
        if result.is_error && texts.iter().any(is_unread) {
            let paths = call
                .files
                .iter()
                .filter_map(|file| self.relative_path(&file.path));
            out.results.extend(paths.map(|name| FetchedResult {
                source_use: SourceUse::Refusal,
                ..fetched(ResultSource {
                    kind: ResultKind::File,
                    name,
                })
            }));
        }
        // A failed command may still have read and changed files.
        let files = if result.is_error && !is_shell {
            Vec::new()
        } else {
            call.files
        };
        for file in files {
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
            if file_use == FileUse::Read && INSTRUCTION_FILES.contains(&base_name(&path)) {
                let text: String = texts
                    .iter()
                    .map(|text| without_line_numbers(text))
                    .collect();
                let rules = instructions(&(self.mask)(&text));
                out.place.is_standing = standing_files(self.format).contains(&path.as_str());
                if out.place.is_standing && !call.is_partial {
                    out.ended_rules.extend(self.replace_rules(&path, &rules));
                    self.note_standing_text(&path, &(self.mask)(&text));
                }
                out.add_rules(&rules);
            }
            let result = fetched(ResultSource {
                kind: ResultKind::File,
                name: path.clone(),
            });
            out.results.extend(match file_use {
                FileUse::Seen => None,
                FileUse::Read => Some(FetchedResult {
                    numbers: line_numbers(&result.text).filter(|_| call.is_partial),
                    text: without_line_numbers(&result.text),
                    ..result
                }),
                FileUse::Modified | FileUse::Created => Some(FetchedResult {
                    source_use: if file.file_use == FileUse::Created {
                        SourceUse::Write
                    } else {
                        SourceUse::Change
                    },
                    text: call.written.clone(),
                    message: call.place.message,
                    ..result
                }),
            });
            // The path stands in the call.
            out.place = call.place;
            let text = (self.mask)(&path);
            if let Some(fact) = out.add(FactClass::File, path, &text) {
                fact.file_use = Some(file_use);
            }
            out.place = place;
        }
        for text in &texts {
            self.read_answers(&call.questions, text, out);
        }
        if !result.is_error && (call.is_plain || !is_shell) {
            return;
        }
        for text in texts {
            let text = (self.mask)(text);
            // The user refused the call, and wrote why.
            if result.is_error
                && let Some((_, answer)) = text.split_once(REFUSAL)
            {
                out.add_rules(&user_instructions(answer));
                continue;
            }
            let is_failed_work = result.is_error && !(is_shell && call.is_plain);
            let errors = if is_failed_work {
                main_error(&text).into_iter().collect()
            } else {
                error_lines(&text)
            };
            for error in errors {
                out.add(FactClass::Error, error.key(), error.line);
            }
            if is_shell && !call.is_plain {
                out.add_values(&text);
            }
        }
    }
}

fn first_text<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
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

/// Returns the numbers that a tool puts in front of the first and the last line of a file.
fn line_numbers(text: &str) -> Option<[usize; 2]> {
    let number = |line: &str| line.split_once('→')?.0.trim().parse::<usize>().ok();
    let first = number(text.lines().next()?)?;
    let last = text.lines().filter_map(number).next_back()?;
    Some([first, last])
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
