//! Scripted answers, for the agents of runs and for programs behind the proxy.
//!
//! Of the answers for any agent, the first one whose patterns match is used. The answers of one
//! agent are used in order, and the last of them again and again, so that a script can describe
//! several rounds.

use super::compiled_patterns::{CompiledPatterns, NameSelector};
use crate::context::render::message::Message;
use crate::kernel::conversation::{Part, ToolCall};
use crate::kernel::provider::{Answer, Response, Stop, Usage};
use crate::record::recording::AnsweredBy;
use crate::record::response_body;
use crate::run::answers::{AgentRequest, AnswerBackend, NoAnswer, SourcedAnswer};
use crate::run::commands::{
    CommandOutput, CommandRunner, CommandSpec, DEFAULT_TIMEOUT, describe_signal, describe_timeout,
};
use crate::scenario::model::ScriptedAnswer;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// True if the patterns of a scripted answer hold for the texts of a request.
///
/// # Errors
/// A pattern cannot be searched for; the reason is in the text.
pub(super) fn is_script_for<'t, I: Iterator<Item = &'t str>>(
    patterns: &CompiledPatterns,
    script: &ScriptedAnswer,
    texts: impl Fn() -> I,
) -> Result<bool, String> {
    for (all, wanted) in [(&script.has, true), (&script.lacks, false)] {
        for pattern in all {
            let mut found = false;
            for text in texts() {
                found |= patterns.find_pattern(&pattern.value, text)?.is_some();
            }
            if found != wanted {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// An answer with the patterns of the requests that it fits.
#[derive(Debug)]
struct ScriptLine {
    has: Vec<NameSelector>,
    lacks: Vec<NameSelector>,
    answer: ScriptedAnswer,
}

impl ScriptLine {
    fn matches(&self, text: &str) -> bool {
        self.has.iter().all(|pattern| pattern.matches(text))
            && !self.lacks.iter().any(|pattern| pattern.matches(text))
    }
}

/// The scripted answers of a case.
#[derive(Debug, Default)]
pub struct AnswerScript {
    lines: Vec<ScriptLine>,
    /// The used answers: the agent and the index of the answer.
    used: Mutex<BTreeSet<(String, usize)>>,
}

/// The names of the agent that an answer is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentNames<'a> {
    /// The agent with its rounds, its path, and its name.
    pub names: [Option<&'a str>; 3],
}

impl AnswerScript {
    /// Compiles the patterns of answers.
    ///
    /// # Errors
    /// The reason why a pattern is invalid.
    pub fn new(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Result<Self, String> {
        let filters = |patterns: &[crate::base::span::Spanned<String>]| {
            patterns
                .iter()
                .map(|pattern| NameSelector::new(&pattern.value))
                .collect::<Result<Vec<_>, _>>()
        };
        let mut lines = Vec::new();
        for answer in answers {
            lines.push(ScriptLine {
                has: filters(&answer.has)?,
                lacks: filters(&answer.lacks)?,
                answer,
            });
        }
        Ok(Self {
            lines,
            used: Mutex::default(),
        })
    }

    /// All answers.
    pub fn answers(&self) -> impl Iterator<Item = &ScriptedAnswer> {
        self.lines.iter().map(|line| &line.answer)
    }

    /// The number of an answer, from 1, that no request of a program can reach, since an answer
    /// before it fits every request.
    pub fn shadowed_answer(&self) -> Option<usize> {
        let is_for_all = |line: &ScriptLine| {
            line.has.is_empty() && line.lacks.is_empty() && line.answer.node.is_none()
        };
        self.lines
            .iter()
            .position(is_for_all)
            .map(|at| at + 2)
            .filter(|number| *number <= self.lines.len())
    }

    /// The numbers of the answers, from 1, that were not used so far.
    pub fn unused_answers(&self) -> Vec<usize> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let reached: BTreeSet<usize> = used.iter().map(|(_, number)| *number).collect();
        (0..self.lines.len())
            .filter(|number| !reached.contains(number))
            .map(|number| number + 1)
            .collect()
    }

    /// The answer to a request with this text.
    pub fn next_answer(&self, asking: AgentNames<'_>, text: &str) -> Option<Answer> {
        if let Some(own) = self.next_own_answer(asking, text) {
            return Some(build_answer(own, text));
        }
        let mut any = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.answer.node.is_none());
        let (number, line) = any.find(|(_, line)| line.matches(text))?;
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((String::new(), number));
        Some(build_answer(&line.answer, text))
    }

    /// Every answer that fits a request with this text, those of its agent before those for any
    /// agent.
    pub fn fitting_answers(&self, asking: AgentNames<'_>, text: &str) -> Vec<&ScriptedAnswer> {
        let any = self
            .lines
            .iter()
            .filter(|line| line.answer.node.is_none() && line.matches(text));
        self.own_lines(asking, text)
            .map(|(_, line)| line)
            .chain(any)
            .map(|line| &line.answer)
            .collect()
    }

    fn own_lines(
        &self,
        asking: AgentNames<'_>,
        text: &str,
    ) -> impl Iterator<Item = (usize, &ScriptLine)> {
        let is_of = move |(_, line): &(usize, &ScriptLine)| {
            let node = line.answer.node.as_ref().map(|node| node.value.as_str());
            node.is_some_and(|node| asking.names.contains(&Some(node)))
        };
        self.lines
            .iter()
            .enumerate()
            .filter(is_of)
            .filter(move |(_, line)| line.matches(text))
    }

    /// The next answer of an agent or a script that fits this text; the last one is repeated.
    pub fn next_own_answer(&self, asking: AgentNames<'_>, text: &str) -> Option<&ScriptedAnswer> {
        let agent = asking
            .names
            .into_iter()
            .flatten()
            .next_back()
            .unwrap_or_default();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self
            .own_lines(asking, text)
            .find(|(number, _)| used.insert((agent.to_owned(), *number)));
        next.or_else(|| self.own_lines(asking, text).last())
            .map(|(_, line)| &line.answer)
    }
}

/// Runs scripts with scripted outputs; scripts without one are passed on to `then`.
#[derive(Clone, Copy, Debug)]
pub struct ScriptedCommands<'c> {
    /// The scripted answers.
    pub script: &'c AnswerScript,
    /// Runs the other scripts; `None` in an evaluation.
    pub then: Option<&'c dyn CommandRunner>,
}

impl CommandRunner for ScriptedCommands<'_> {
    fn run(&self, command: &CommandSpec) -> Result<CommandOutput, String> {
        let line = command.argv_strings().join(" ");
        let asking = AgentNames {
            names: [
                Some(&command.stage),
                Some(&command.node),
                command.name.as_deref(),
            ],
        };
        let Some(answer) = self.script.next_own_answer(asking, &line) else {
            let named = command.name.as_deref().unwrap_or(&command.node);
            if self.script.answers().any(|answer| {
                answer
                    .node
                    .as_ref()
                    .is_some_and(|node| asking.names.contains(&Some(&node.value)))
            }) {
                return Err(format!(
                    "none of the scripted answers for `{named}` fits `{line}`"
                ));
            }
            let nobody = || {
                Err(format!(
                    "`{line}` is not run in an evaluation: `answers` says what it writes, with `when: {{node: {named}}}`"
                ))
            };
            return self.then.map_or_else(nobody, |then| then.run(command));
        };
        let end = answer.end.clone().unwrap_or_default();
        match end.killed_by.as_deref() {
            None => Ok(CommandOutput {
                code: end.exit as i32,
                stdout: reply_text(&answer.reply),
                stderr: end.stderr,
            }),
            Some("timeout") => Err(describe_timeout(
                command.timeout.unwrap_or(DEFAULT_TIMEOUT),
                "<timeout>",
            )),
            // The system sends KILL to a process that uses too much memory, for example.
            Some(_) => Err(describe_signal(9, &end.stderr)),
        }
    }
}

impl AnswerBackend for AnswerScript {
    fn answer(&self, request: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        let text = request_text(request.messages);
        let asking = AgentNames {
            names: [Some(request.stage), Some(request.node), request.name],
        };
        let answer = self.next_answer(asking, &text).ok_or_else(|| {
            NoAnswer::NotRecorded(format!(
                "none of the {} scripted answers is for this request of {}: neither `node` nor a pattern of `when` fits",
                self.lines.len(),
                request.name.unwrap_or(request.stage)
            ))
        })?;
        let id = format!("script-{}-{}", request.stage, request.number);
        let body =
            response_body::answer_body(request.sent.dialect, &answer, &id, &request.sent.model);
        let response = Response {
            answer,
            body,
            status: 200,
            latency: Duration::ZERO,
        };
        Ok(SourcedAnswer {
            response,
            by: AnsweredBy::Script,
        })
    }
}

/// The text of a request, for matching patterns.
pub(super) fn request_text(messages: &[Message]) -> String {
    messages
        .iter()
        .map(Message::as_str)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The reply as a text.
pub(super) fn reply_text(reply: &Value) -> String {
    match reply {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => reply.to_string(),
    }
}

/// Converts a scripted answer into a model's answer. Token counts that it omits are estimated as
/// one per four characters.
fn build_answer(scripted: &ScriptedAnswer, prompt: &str) -> Answer {
    const TOKEN: usize = 4;
    let text = reply_text(&scripted.reply);
    // Each id occurs once in a conversation, so new ids follow the earlier ones.
    let ids = prompt.split("call_").skip(1).filter_map(|rest| {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest.get(..end)?.parse::<usize>().ok()
    });
    let earlier = ids.max().unwrap_or(0);
    let call = |(number, (name, arguments)): (usize, &(String, Value))| {
        Part::Call(ToolCall {
            id: format!("call_{}", earlier.saturating_add(number + 1)),
            name: name.clone(),
            arguments: arguments.clone(),
        })
    };
    let count = |text: &str| text.len().div_ceil(TOKEN).max(1) as u64;
    let (input, output) = scripted
        .usage
        .unwrap_or_else(|| (count(prompt), count(&text)));
    let parts = Some(text)
        .filter(|text| !text.is_empty())
        .map(Part::Text)
        .into_iter();
    let parts = parts
        .chain(scripted.tool_calls.iter().enumerate().map(call))
        .collect();
    let stop = if scripted.tool_calls.is_empty() {
        Stop::End
    } else {
        Stop::Tool
    };
    Answer::new(
        parts,
        stop,
        Usage {
            input: Some(input),
            output: Some(output),
            ..Usage::default()
        },
        None,
    )
}
