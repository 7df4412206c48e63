//! `--script FILE`: answers that somebody wrote, as scenarios have them.

use crate::base::fs;
use crate::cli::error::{CliError, Result};
use crate::eval::compiled_patterns::Filter;
use crate::kernel::conversation::{Part, ToolCall};
use crate::kernel::provider::{Answer, Stop, Usage};
use crate::record::proxy::server::Script;
use crate::rules::input::read_fault::reason;
use crate::scenario::fault::{Fault, FaultKind};
use crate::scenario::model::Scripted;
use crate::scenario::read_script;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// More than any script.
const LIMIT: u64 = 64 << 20;

/// An answer with the requests that it is for.
struct Line {
    has: Vec<Filter>,
    lacks: Vec<Filter>,
    says: Scripted,
}

/// Reads a script.
pub(super) fn load(path: &Path) -> Result<Script> {
    let shown = path.display();
    let mut bytes = Vec::new();
    fs::read_into(path, LIMIT, &mut bytes)
        .map_err(|why| CliError::usage(format!("the script {shown} cannot be read: {}", reason(&why))))?;
    let text = String::from_utf8(bytes).map_err(|_| CliError::usage(format!("the script {shown} is no UTF-8")))?;
    let (answers, faults) = read_script(&text);
    if let Some(fault) = faults.first() {
        let line = text.get(..fault.span.start as usize).unwrap_or("").matches('\n').count() + 1;
        return Err(CliError::usage(format!("{shown}:{line}: {}", words(fault))).hint(
            "a script has the list `answers`, each with `reply` or `tool_calls`, and `when` where it is not for every request",
        ));
    }
    let filters = |patterns: &[crate::base::span::Spanned<String>]| {
        let filters = patterns.iter().map(|pattern| Filter::new(&pattern.value));
        filters.collect::<std::result::Result<Vec<_>, _>>().map_err(|why| CliError::usage(format!("{shown}: {why}")))
    };
    let mut lines = Vec::new();
    for says in answers {
        lines.push(Line { has: filters(&says.has)?, lacks: filters(&says.lacks)?, says });
    }
    Ok(Arc::new(move |text: &str| {
        let fits = |line: &&Line| {
            line.has.iter().all(|pattern| pattern.takes(text)) && !line.lacks.iter().any(|pattern| pattern.takes(text))
        };
        lines.iter().find(fits).map(|line| answer(&line.says, text))
    }))
}

fn answer(says: &Scripted, asked: &str) -> Answer {
    /// Characters of a token, where nobody counts.
    const TOKEN: usize = 4;
    let text = match &says.reply {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        reply @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => reply.to_string(),
    };
    // A conversation has each id once, whatever was answered in it before.
    let earlier = asked.lines().filter_map(|line| line.strip_prefix("call_")?.parse::<usize>().ok()).max().unwrap_or(0);
    let call = |(number, (name, arguments)): (usize, &(String, Value))| {
        Part::Call(ToolCall {
            id: format!("call_{}", earlier.saturating_add(number + 1)),
            name: name.clone(),
            arguments: arguments.clone(),
        })
    };
    let count = |text: &str| text.len().div_ceil(TOKEN).max(1) as u64;
    let (input, output) = says.usage.unwrap_or_else(|| (count(asked), count(&text)));
    let parts = Some(text).filter(|text| !text.is_empty()).map(Part::Text).into_iter();
    let parts = parts.chain(says.tool_calls.iter().enumerate().map(call)).collect();
    let stop = if says.tool_calls.is_empty() { Stop::End } else { Stop::Tool };
    Answer::new(parts, stop, Usage { input: Some(input), output: Some(output), ..Usage::default() }, None)
}

/// What is wrong with a script.
#[allow(clippy::wildcard_enum_match_arm, reason = "the other faults are of what a list of answers has not")]
fn words(fault: &Fault) -> String {
    match &fault.kind {
        FaultKind::UnknownKey { table, key, near, .. } => {
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("`{key}` is no key of {table}{near}")
        }
        FaultKind::WrongType { key, expected, found } if key.is_empty() => format!("expected {expected}, found {found}"),
        FaultKind::WrongType { key, expected, found } => format!("`{key}`: expected {expected}, found {found}"),
        FaultKind::BadValue { key, found, expected, .. } => format!("`{key}` is {found}; expected {expected}"),
        FaultKind::Missing { table, keys } => format!("{table} lacks `{}`", keys.join("` or `")),
        FaultKind::BadPattern { reason, .. } => format!("a pattern is none: {reason}"),
        _ => "this is no YAML or JSON that ctxc reads".to_owned(),
    }
}
