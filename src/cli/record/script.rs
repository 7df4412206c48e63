//! `--script FILE`: written answers, in the format of scenarios.

use crate::base::fs;
use crate::cli::prelude::*;
use crate::eval::scripted::{AgentNames, AnswerScript};
use crate::record::proxy::server;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::read_script;
use crate::scenario::scenario_fault::{ScenarioFault, ScenarioFaultKind};
use std::sync::Arc;

/// The maximum size of a script in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Reads a script for programs behind the proxy.
pub(super) fn load_proxy_script(path: &Path) -> Result<server::ScriptFn> {
    let script = read_script_file(path)?;
    if let Some(node) = script.answers().find_map(|answer| answer.node.as_ref()) {
        let why = format!(
            "{}: an answer is for `{}`, and a program behind the proxy has no such nodes",
            path.display(),
            node.value
        );
        return Err(
            CliError::usage(why).with_hint("`has` and `lacks` say which requests an answer is for")
        );
    }
    if script.answers().any(|answer| answer.end.is_some()) {
        let why = "`exit`, `stderr` and `killed_by` say how a script of a task ends, and behind the proxy there is none";
        return Err(CliError::usage(format!("{}: {why}", path.display())));
    }
    if let Some(number) = script.shadowed_answer() {
        let why = format!(
            "answer {number} is never given, since one in front of it has no `when` and answers every request"
        );
        return Err(CliError::usage(format!("{}: {why}", path.display())).with_hint(
            "the first answer that fits is given: `when: {lacks: [WORD]}` gives one until the request has a word, such as one of a tool's result",
        ));
    }
    Ok(Arc::new(move |text: &str| {
        script.next_answer(AgentNames::default(), text)
    }))
}

/// Reads a script.
pub(crate) fn read_script_file(path: &Path) -> Result<AnswerScript> {
    let text = read_text(path, "the script")?;
    let (answers, faults) = read_script(&text);
    if let Some(fault) = faults.first() {
        let line = text
            .get(..fault.span.start as usize)
            .unwrap_or("")
            .matches('\n')
            .count()
            + 1;
        return Err(CliError::usage(format!("{}:{line}: {}", path.display(), describe_fault(fault))).with_hint(
            "a script has the list `answers`, each with `reply` or `tool_calls`, and `when` where it is not for every request",
        ));
    }
    AnswerScript::new(answers).map_err(|why| CliError::usage(format!("{}: {why}", path.display())))
}

/// Returns the text of a file that the command line names.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String> {
    let mut bytes = Vec::new();
    fs::read_into(path, MAX_FILE_BYTES, &mut bytes).map_err(|why| {
        CliError::usage(format!(
            "{what} {} cannot be read: {}",
            path.display(),
            describe_io_error(&why)
        ))
    })?;
    String::from_utf8(bytes)
        .map_err(|_| CliError::usage(format!("{what} {} is not UTF-8", path.display())))
}

/// Describes a fault of a script.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other faults are of what a list of answers has not"
)]
fn describe_fault(fault: &ScenarioFault) -> String {
    match &fault.kind {
        ScenarioFaultKind::UnknownKey {
            table, key, near, ..
        } => {
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("`{key}` is no key of {table}{near}")
        }
        ScenarioFaultKind::WrongType {
            key,
            expected,
            found,
        } if key.is_empty() => format!("expected {expected}, found {found}"),
        ScenarioFaultKind::WrongType {
            key,
            expected,
            found,
        } => format!("`{key}`: expected {expected}, found {found}"),
        ScenarioFaultKind::BadValue {
            key,
            found,
            expected,
            ..
        } => format!("`{key}` is {found}; expected {expected}"),
        ScenarioFaultKind::Missing { table, keys } => {
            format!("{table} lacks `{}`", keys.join("` or `"))
        }
        ScenarioFaultKind::ExclusiveKeys {
            table,
            first: (first, _),
            second,
        } => {
            format!("{table} has `{second}` beside `{first}`; they exclude each other")
        }
        ScenarioFaultKind::BadPattern { reason, .. } => format!("a pattern is not valid: {reason}"),
        ScenarioFaultKind::Yaml(why) => format!("it is not valid YAML: {why}"),
        _ => "this is not YAML or JSON that ctxc reads".to_owned(),
    }
}
