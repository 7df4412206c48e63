//! `--script FILE`: written answers, in the format of scenarios.

use crate::base::fs;
use crate::cli::prelude::*;
use crate::eval::scripted::{Asking, Script};
use crate::record::proxy::server;
use crate::rules::input::read_fault::reason;
use crate::scenario::fault::{Fault, FaultKind};
use crate::scenario::read_script;
use std::sync::Arc;

/// The maximum size of a script in bytes.
const LIMIT: u64 = 64 << 20;

/// Reads a script for programs behind the proxy.
pub(super) fn load(path: &Path) -> Result<server::Script> {
    let script = read(path)?;
    if let Some(node) = script.answers().find_map(|answer| answer.node.as_ref()) {
        let why = format!(
            "{}: an answer is for `{}`, and a program behind the proxy has no such nodes",
            path.display(),
            node.value
        );
        return Err(
            CliError::usage(why).hint("`has` and `lacks` say which requests an answer is for")
        );
    }
    if script.answers().any(|answer| answer.end.is_some()) {
        let why = "`exit`, `stderr` and `killed_by` say how a script of a task ends, and behind the proxy there is none";
        return Err(CliError::usage(format!("{}: {why}", path.display())));
    }
    if let Some(number) = script.hidden() {
        let why = format!(
            "answer {number} is never given, since one in front of it has no `when` and answers every request"
        );
        return Err(CliError::usage(format!("{}: {why}", path.display())).hint(
            "the first answer that fits is given: `when: {lacks: [WORD]}` gives one until the request has a word, such as one of a tool's result",
        ));
    }
    Ok(Arc::new(move |text: &str| {
        script.answer(Asking::default(), text)
    }))
}

/// Reads a script.
pub(crate) fn read(path: &Path) -> Result<Script> {
    let shown = path.display();
    let text = text(path, "the script")?;
    let (answers, faults) = read_script(&text);
    if let Some(fault) = faults.first() {
        let line = text
            .get(..fault.span.start as usize)
            .unwrap_or("")
            .matches('\n')
            .count()
            + 1;
        return Err(CliError::usage(format!("{shown}:{line}: {}", words(fault))).hint(
            "a script has the list `answers`, each with `reply` or `tool_calls`, and `when` where it is not for every request",
        ));
    }
    Script::new(answers).map_err(|why| CliError::usage(format!("{shown}: {why}")))
}

/// Returns the text of a file that the command line names.
pub(crate) fn text(path: &Path, what: &str) -> Result<String> {
    let shown = path.display();
    let mut bytes = Vec::new();
    fs::read_into(path, LIMIT, &mut bytes).map_err(|why| {
        CliError::usage(format!("{what} {shown} cannot be read: {}", reason(&why)))
    })?;
    String::from_utf8(bytes).map_err(|_| CliError::usage(format!("{what} {shown} is not UTF-8")))
}

/// Describes a fault of a script.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other faults are of what a list of answers has not"
)]
fn words(fault: &Fault) -> String {
    match &fault.kind {
        FaultKind::UnknownKey {
            table, key, near, ..
        } => {
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("`{key}` is no key of {table}{near}")
        }
        FaultKind::WrongType {
            key,
            expected,
            found,
        } if key.is_empty() => format!("expected {expected}, found {found}"),
        FaultKind::WrongType {
            key,
            expected,
            found,
        } => format!("`{key}`: expected {expected}, found {found}"),
        FaultKind::BadValue {
            key,
            found,
            expected,
            ..
        } => format!("`{key}` is {found}; expected {expected}"),
        FaultKind::Missing { table, keys } => format!("{table} lacks `{}`", keys.join("` or `")),
        FaultKind::Together {
            table,
            first: (first, _),
            second,
        } => {
            format!("{table} has `{second}` beside `{first}`; they exclude each other")
        }
        FaultKind::BadPattern { reason, .. } => format!("a pattern is not valid: {reason}"),
        FaultKind::Yaml(why) => format!("it is not valid YAML: {why}"),
        _ => "this is not YAML or JSON that ctxc reads".to_owned(),
    }
}
