//! Samples: one JSON object per line, with a template, its inputs, and the expected text, messages
//! or request.

use super::request;
use crate::base::json::UniqueKeys;
use crate::base::{fs, number};
use crate::cli::prelude::*;
use crate::context::render::target::RenderTarget;
use crate::context::render::targets::TARGETS;
use crate::kernel::conversation::Turn;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::messages;
use crate::syntax::decode;
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum size of a file of samples in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The expected result of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpectedResult {
    /// Its only message.
    Text(String),
    /// All messages.
    Messages(Vec<Value>),
    /// The body of a request.
    Request(Value),
}

/// One line of a file of samples.
#[derive(Clone, Debug)]
pub(super) struct ImportSample {
    /// The line, from 1.
    pub(super) line: usize,
    /// A task, its file, or the prompt from which it was converted.
    pub(super) template: String,
    pub(super) inputs: BTreeMap<String, Value>,
    /// The conversation so far.
    pub(super) history: Vec<Turn>,
    /// The dialect of the request.
    pub(super) target: &'static RenderTarget,
    pub(super) expected: ExpectedResult,
}

/// Reads a file of samples.
pub(super) fn read_samples(path: &Path) -> Result<Vec<ImportSample>> {
    let failed = |why: String| {
        CliError::usage(format!(
            "--verify {}: the file cannot be read: {why}",
            path.display()
        ))
    };
    let mut bytes = Vec::new();
    fs::read_into(path, MAX_BYTES, &mut bytes).map_err(|err| failed(describe_io_error(&err)))?;
    let text = decode::decode(&bytes).map_err(|fault| failed(fault.to_string()))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        parse_sample(at + 1, line).map_err(|why| {
            CliError::usage(format!("{}:{}: {why}", path.display(), at + 1)).with_hint(
                "a line is {\"template\": \"NAME\", \"inputs\": {…}, \"history\": […], \"expected\": \"TEXT\", [{\"role\": …, \"content\": …}] or the body of a request}",
            )
        })
    };
    let samples: Vec<ImportSample> = lines.map(read).collect::<Result<_>>()?;
    if samples.is_empty() {
        return Err(CliError::usage(format!(
            "{} holds no sample",
            path.display()
        )));
    }
    Ok(samples)
}

fn parse_sample(line: usize, text: &str) -> std::result::Result<ImportSample, String> {
    let UniqueKeys(value) =
        serde_json::from_str(text).map_err(|err| format!("it is not valid JSON: {err}"))?;
    if let Some(number) = number::find_out_of_range(text) {
        return Err(format!(
            "{}; write it as a text",
            number::out_of_range_message(number)
        ));
    }
    let Value::Object(mut fields) = value else {
        return Err("expected a JSON object".to_owned());
    };
    let Some(Value::String(template)) = fields.remove("template") else {
        return Err("expected a text in `template`".to_owned());
    };
    let inputs = match fields.remove("inputs") {
        None => BTreeMap::new(),
        Some(Value::Object(inputs)) => inputs.into_iter().collect(),
        Some(_) => return Err("expected an object in `inputs`".to_owned()),
    };
    let expected = match fields.remove("expected") {
        Some(Value::String(text)) => ExpectedResult::Text(text),
        Some(Value::Array(messages)) => ExpectedResult::Messages(
            messages
                .into_iter()
                .map(parse_message)
                .collect::<std::result::Result<_, _>>()?,
        ),
        Some(body @ Value::Object(_)) => ExpectedResult::Request(body),
        _ => {
            return Err(
                "expected a text, a list of messages or the body of a request in `expected`"
                    .to_owned(),
            );
        }
    };
    let history = match fields.remove("history") {
        None => Vec::new(),
        Some(Value::Array(turns)) => turns
            .iter()
            .map(messages::parse_message)
            .collect::<std::result::Result<Vec<_>, _>>()?,
        Some(_) => return Err("expected a list of messages in `history`".to_owned()),
    };
    let word = fields
        .remove("as")
        .unwrap_or_else(|| TARGETS.first().map_or("", |first| first.name).into());
    let Some(target) = TARGETS.iter().copied().find(|target| word == target.name) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        return Err(format!("expected one of {} in `as`", names.join(", ")));
    };
    if let Some(key) = fields.keys().next() {
        return Err(format!(
            "there is no key `{key}`; expected template, inputs, history, expected, as"
        ));
    }
    Ok(ImportSample {
        line,
        template,
        inputs,
        history,
        target,
        expected,
    })
}

fn parse_message(value: Value) -> std::result::Result<Value, String> {
    let is_whole = ["role", "content"]
        .iter()
        .all(|key| value.get(key).is_some_and(|word| !word.is_null()));
    if is_whole {
        Ok(request::comparable_message(value))
    } else {
        Err("expected `role` and `content` in each message".to_owned())
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/import/samples.rs"]
mod tests;
