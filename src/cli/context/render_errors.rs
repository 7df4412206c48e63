//! The errors of a context that cannot be assembled: every fault with its place in a file, and the
//! options that supply missing values.

use crate::cli::error::{CliError, CliErrorKind};
use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::lines::Lines;
use std::collections::BTreeSet;

/// Returns the error for faults of a context, each with its place.
pub(super) fn context_error(faults: &[Fault], lines: &Lines) -> CliError {
    // Sorted by file, each once: a faulty line of a fragment is reported for one text that uses it,
    // not for all. Of the texts that are too large only the first is reported, since all texts that
    // contain it are too large as well.
    let first = faults
        .iter()
        .position(|fault| matches!(&*fault.kind, FaultKind::TooLarge { .. }));
    let is_reported = |(at, fault): &(usize, &Fault)| {
        first == Some(*at) || !matches!(&*fault.kind, FaultKind::TooLarge { .. })
    };
    let all = faults
        .iter()
        .enumerate()
        .filter(is_reported)
        .map(|(_, fault)| fault);
    let places: BTreeSet<_> = all
        .map(|fault| (lines.locate_fault(fault), describe_fault(fault, lines)))
        .collect();
    let mut messages = places.into_iter().map(|(place, words)| match place {
        Some((path, line, column)) => format!("{path}:{line}:{column}: {words}"),
        None => words,
    });
    let is_usage = |fault: &Fault| {
        matches!(
            &*fault.kind,
            FaultKind::Missing { .. }
                | FaultKind::AmbiguousResult { .. }
                | FaultKind::WrongType { .. }
                | FaultKind::NoNode { .. }
                | FaultKind::NoAgent { .. }
        )
    };
    let kind = if faults.iter().all(is_usage) {
        CliErrorKind::Usage
    } else {
        CliErrorKind::Findings
    };
    let error = CliError::new(kind, messages.next().unwrap_or_default());
    missing_value_hints(faults).into_iter().fold(
        messages.fold(error, CliError::with_message),
        CliError::with_hint,
    )
}

/// Describes a fault, with its definition if the fault has no place in a file.
fn describe_fault(fault: &Fault, lines: &Lines) -> String {
    match &fault.place {
        Some(place) if lines.locate_fault(fault).is_none() => format!("{place}: {fault}"),
        _ => fault.to_string(),
    }
}

/// Returns hints on how to supply missing values.
fn missing_value_hints(faults: &[Fault]) -> Vec<String> {
    let mut inputs = BTreeSet::new();
    let mut results = BTreeSet::new();
    for fault in faults {
        if let FaultKind::Missing {
            name,
            origin: MissingFrom::Input,
        } = &*fault.kind
        {
            inputs.insert(name.as_str());
        } else if let FaultKind::Missing {
            name,
            origin: MissingFrom::Result,
        } = &*fault.kind
        {
            results.insert(name.as_str());
        }
    }
    let all = |option: &str, names: &BTreeSet<&str>| {
        let each = names.iter().map(|name| format!("{option} {name}=VALUE"));
        each.collect::<Vec<_>>().join(" ")
    };
    let advice = |option: &str, names: &BTreeSet<&str>, one: &str, more: &str| match names.first() {
        None => None,
        Some(name) if names.len() == 1 => Some(format!(
            "{one}: {option} {name}=VALUE, or {option} {name}=@FILE"
        )),
        Some(_) => Some(format!(
            "{more}: {}; use @FILE for VALUE to take the content of a file",
            all(option, names)
        )),
    };
    let known = "only a run knows it; to see a context, give one";
    let inputs = advice("--input", &inputs, "give it", "give them");
    let results = advice(
        "--result",
        &results,
        known,
        "only a run knows them; to see a context, give each",
    );
    inputs.into_iter().chain(results).collect()
}
