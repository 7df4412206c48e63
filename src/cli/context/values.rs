//! `--input NAME=VALUE`, `--result NAME=VALUE`, `--objective TEXT` and `--history FILE`: values
//! from the command line, or from files after `@`.

use crate::base::contained_path::explain_read_error;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::{number, suggest};
use crate::cli::prelude::*;
use crate::context::objective;
use crate::context::request::StepResult;
use crate::kernel::conversation::Turn;
use crate::project::roles::Role;
use crate::registry::compile::sources::MAX_CONTEXT_FILE_BYTES;
use crate::registry::{Registry, RegistryParameter};
use crate::rules::scenario::cx::Tasks;
use crate::scenario::messages;
use crate::syntax::decode;
use crate::template::value_type::{self, ParameterType};
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum number of bytes of one value.
const MAX_VALUE_BYTES: u64 = MAX_CONTEXT_FILE_BYTES;
/// The maximum number of bytes of a value in an error.
const MAX_SHOWN_BYTES: usize = 60;

/// Splits `NAME=VALUE`, and replaces `@FILE` by the content of the file.
fn split_value<'a>(option: &str, written: &'a str) -> Result<(&'a str, String)> {
    let Some((name, value)) = written.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(CliError::usage(format!(
            "{option} {written}: expected NAME=VALUE or NAME=@FILE"
        )));
    };
    let Some(path) = value.strip_prefix('@') else {
        return Ok((name, value.to_owned()));
    };
    // As in scenarios: `@@` begins a text that begins with `@`.
    if path.starts_with('@') {
        return Ok((name, path.to_owned()));
    }
    Ok((
        name,
        read_option_file(Path::new(path), &format!("{option} {name}=@{path}"))?,
    ))
}

/// Returns the text of a file that an option names.
fn read_option_file(path: &Path, option: &str) -> Result<String> {
    let failed = |why: String| CliError::usage(format!("{option}: the file cannot be read: {why}"));
    let refused =
        |err| failed(explain_read_error(err, MAX_VALUE_BYTES, || RealFs.stamp(path)).to_string());
    let mut bytes = Vec::new();
    fs::read_into(path, MAX_VALUE_BYTES, &mut bytes).map_err(refused)?;
    let text = decode::decode(&bytes).map_err(|fault| failed(fault.to_string()))?;
    Ok(text.into_owned())
}

/// The agent of a task, and its values.
#[derive(Clone, Debug, Args)]
pub(super) struct GivenArgs {
    /// The agent inside the task, by name or path, such as `draft` or `/steps/1`; `ctxc manifest` shows them all [default: the first]
    #[arg(long, value_name = "NAME|PATH")]
    pub(super) node: Option<String>,
    /// A value of the task: a text, or `@FILE`; write `@@` to begin a text with `@`
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(super) input: Vec<String>,
    /// The result of an earlier step, by name or path: a text, JSON, or `@FILE`
    #[arg(long, value_name = "NAME|PATH=VALUE")]
    pub(super) result: Vec<String>,
}

impl GivenArgs {
    /// Returns an error if a given result belongs to no step of the task.
    fn check_results(&self, registry: &Registry, task: &str) -> Result<()> {
        if self.result.is_empty() {
            return Ok(());
        }
        let Some(known) = Tasks::results(registry, task, self.node.as_deref()) else {
            return Ok(());
        };
        for written in &self.result {
            let name = written
                .split_once('=')
                .map_or(written.as_str(), |(name, _)| name);
            if known.all.contains_key(name) {
                continue;
            }
            let error = CliError::usage(format!(
                "--result {name}: no step of `{task}` has such a result"
            ));
            let existing = || match known.names().collect::<Vec<_>>() {
                names if names.is_empty() => "none of its steps has a name".to_owned(),
                names => format!("there is {}", names.join(", ")),
            };
            return Err(
                error.with_suggestion_or(suggest::nearest_candidate(name, known.names()), existing)
            );
        }
        Ok(())
    }

    /// Returns the inputs and the results of earlier steps, for a task with these parameters.
    pub(super) fn read_values(
        &self,
        registry: &Registry,
        task: &str,
        declared: &[RegistryParameter],
    ) -> Result<(BTreeMap<String, Value>, BTreeMap<String, StepResult>)> {
        self.check_results(registry, task)?;
        Ok((
            parse_inputs(&self.input, declared)?,
            parse_results(&self.result)?,
        ))
    }
}

/// The conversation of a context.
#[derive(Clone, Debug, Args)]
pub(super) struct HistoryArgs {
    /// The conversation so far, for a task with `<history>`: one chat message per line, in the form of OpenAI or Anthropic
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

impl HistoryArgs {
    /// The file of the conversation.
    pub(super) fn path(&self) -> Option<&Path> {
        self.history.as_deref()
    }

    /// Reads the conversation; empty if no file is given.
    pub(super) fn read_turns(&self) -> Result<Vec<Turn>> {
        self.history
            .as_deref()
            .map_or_else(|| Ok(Vec::new()), |path| read_turn_file(path, "--history"))
    }
}

/// Returns the messages of a file that an option names.
pub(super) fn read_turn_file(path: &Path, option: &str) -> Result<Vec<Turn>> {
    let option = format!("{option} {}", path.display());
    let text = read_option_file(path, &option)?;
    messages::parse_conversation(&text)
        .map_err(|unread| CliError::usage(format!("{option}: {unread}")))
}

/// The request of an agent role, in words.
#[derive(Clone, Debug, Args)]
pub(super) struct ObjectiveArgs {
    /// The request, as a text or `@FILE`: for an agent role, and for a task with a parameter of
    /// this name
    #[arg(long, value_name = "TEXT")]
    objective: Option<String>,
}

/// The task that receives an objective, by itself or as the task of a role.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectiveReceiver<'a> {
    pub(super) task: &'a str,
    pub(super) parameters: &'a [RegistryParameter],
    pub(super) role: Option<&'a Role>,
}

impl ObjectiveArgs {
    /// Returns true if an objective is given.
    pub(super) const fn is_given(&self) -> bool {
        self.objective.is_some()
    }

    /// Returns the objective; `inputs` are the other values of the command line.
    pub(super) fn read_objective(
        &self,
        receiver: ObjectiveReceiver<'_>,
        inputs: &BTreeMap<String, Value>,
    ) -> Result<Option<String>> {
        let ObjectiveReceiver {
            task,
            parameters,
            role,
        } = receiver;
        let Some(written) = &self.objective else {
            return Ok(None);
        };
        let text = match written.strip_prefix('@') {
            Some(path) => read_option_file(Path::new(path), &format!("--objective @{path}"))?,
            None => written.clone(),
        };
        let parameter = objective::objective_parameter(parameters);
        if text.trim().is_empty() {
            return Err(CliError::usage(
                "--objective: expected words that say what is to be done, found none",
            ));
        }
        if parameter.is_some() && inputs.contains_key(objective::NAME) {
            return Err(
                CliError::usage("--objective and --input objective give the same value")
                    .with_hint("leave one of them out"),
            );
        }
        if parameter.is_none() && role.is_none() {
            let error = format!(
                "--objective: `{task}` by itself takes none: its description says what is to be done"
            );
            return Err(CliError::usage(error)
                .with_hint("ask for an agent role that plays it, or declare a parameter `objective` in the task"));
        }
        Ok(Some(text))
    }
}

/// Parses a value of a declared type: text for `string` and for no type, JSON for all others.
fn parse_typed(name: &str, text: String, kind: Option<&str>) -> Result<Value> {
    match kind {
        None | Some("string") => Ok(Value::String(text)),
        Some(kind) => {
            let value = serde_json::from_str(&text).map_err(|err| {
                let error = match kind {
                    "number" | "integer" | "boolean" => {
                        let expected = match kind {
                            "number" => "a number",
                            "integer" => "a whole number",
                            _ => "true or false",
                        };
                        format!(
                            "--input {name}: expected {expected}, since the parameter's type is {kind}; found `{}`",
                            text.trim()
                        )
                    }
                    _ if text.trim().is_empty() => {
                        format!("--input {name}: expected JSON, since the parameter's type is {kind}: there is nothing")
                    }
                    _ => format!("--input {name}: expected JSON, since the parameter's type is {kind}: {err}"),
                };
                CliError::usage(error).with_hint(value_example(name, kind))
            })?;
            check_exact(&format!("--input {name}"), &text)?;
            Ok(value)
        }
    }
}

/// Returns a hint with a value of a type in the form of the command line.
fn value_example(name: &str, kind: &str) -> String {
    match kind {
        "number" | "integer" => format!("a number stands as it is: --input {name}=5"),
        "boolean" => format!("it is true or false: --input {name}=true"),
        "array" | "string[]" => format!("it is a list: --input '{name}=[\"a\", \"b\"]'"),
        "object" => format!("it is an object: --input '{name}={{\"key\": \"value\"}}'"),
        _ => format!("put words into double quotes inside single ones: --input '{name}=\"words\"'"),
    }
}

/// Returns an error if a value does not have the type of its parameter.
fn check_type(parameter: &RegistryParameter, value: &Value, text: &str) -> Result<()> {
    let RegistryParameter {
        name,
        kind,
        default,
        required,
        ..
    } = parameter;
    let wanted = ParameterType {
        kind: kind.as_deref(),
        required: *required && default.is_none(),
    };
    // A missing value is reported later, with all others.
    let Some(kind) = wanted.mismatched_type(value).filter(|_| !value.is_null()) else {
        return Ok(());
    };
    let text = text.trim();
    let shown = text
        .get(..text.floor_char_boundary(MAX_SHOWN_BYTES))
        .filter(|short| short.len() < text.len());
    let shown = shown.map_or_else(|| text.to_owned(), |short| format!("{short}…"));
    let found = value_type::describe_type(value);
    let error = format!("--input {name}: the parameter's type is {kind}, and `{shown}` is {found}");
    Err(CliError::usage(error).with_hint(value_example(name, kind)))
}

/// Returns an error if JSON contains a whole number too large to be read exactly.
fn check_exact(option: &str, json: &str) -> Result<()> {
    let Some(found) = number::find_out_of_range(json) else {
        return Ok(());
    };
    Err(
        CliError::usage(format!("{option}: {}", number::out_of_range_message(found))).with_hint(
            "pass it as a text, in a parameter of type string: a text is shown as it is written",
        ),
    )
}

/// Returns the inputs of a task.
pub(super) fn parse_inputs(
    written: &[String],
    declared: &[RegistryParameter],
) -> Result<BTreeMap<String, Value>> {
    let mut inputs = BTreeMap::new();
    for one in written {
        let (name, text) = split_value("--input", one)?;
        let Some(parameter) = declared.iter().find(|parameter| parameter.name == name) else {
            let names = || declared.iter().map(|parameter| parameter.name.as_str());
            let error = CliError::usage(format!("--input {name}: the task takes no such value"));
            let takes = || match names().collect::<Vec<_>>() {
                names if names.is_empty() => "it takes none".to_owned(),
                names => format!("it takes {}", names.join(", ")),
            };
            return Err(error.with_suggestion_or(suggest::nearest_candidate(name, names()), takes));
        };
        let value = parse_typed(name, text.clone(), parameter.kind.as_deref())?;
        check_type(parameter, &value, &text)?;
        if inputs.insert(name.to_owned(), value).is_some() {
            return Err(CliError::usage(format!("--input {name} is there twice")));
        }
    }
    Ok(inputs)
}

/// Returns the results of earlier steps: valid JSON as JSON, all else as text. An object with
/// `content` is a whole result, with its notes.
fn parse_results(written: &[String]) -> Result<BTreeMap<String, StepResult>> {
    let mut results = BTreeMap::new();
    for one in written {
        let (name, text) = split_value("--result", one)?;
        let value = match serde_json::from_str(&text) {
            Ok(value) => {
                check_exact(&format!("--result {name}"), &text)?;
                value
            }
            Err(_) => Value::String(text),
        };
        if results
            .insert(name.to_owned(), StepResult::from(value))
            .is_some()
        {
            return Err(CliError::usage(format!("--result {name} is there twice")));
        }
    }
    Ok(results)
}
