//! Why there is no context: every fault with its place in a file, and what would give the value that is missing.

use crate::cli::error::{CliError, Kind};
use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::lines::Lines;
use crate::kernel::context::Origin;
use std::collections::BTreeSet;

/// Why there is no context, each fault with its place.
pub(super) fn refused(faults: &[Fault], lines: &Lines) -> CliError {
    let place = |fault: &Fault| {
        let Some(place) = &fault.place else { return String::new() };
        let (task, node, field) = (place.definition.clone(), place.node.clone(), place.field.clone());
        let origin = Origin::Template { task, node, field, line: 0 };
        if let Some((path, line, column)) = lines.fault(place, &fault.kind) {
            return format!("{path}:{line}:{column}: ");
        }
        match lines.of(&origin) {
            Some((path, line)) => format!("{path}:{line}: "),
            None if place.field.is_empty() => format!("{place}: "),
            None => format!("{} {}, {}: ", place.definition, place.node, place.field),
        }
    };
    let said: Vec<String> = faults.iter().map(|fault| format!("{}{fault}", place(fault))).collect();
    let (first, rest) = said.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let is_usage = |fault: &Fault| {
        matches!(
            &*fault.kind,
            FaultKind::Missing { .. } | FaultKind::Call { .. } | FaultKind::NoNode { .. } | FaultKind::NoAgent { .. }
        )
    };
    let kind = if faults.iter().all(is_usage) { Kind::Usage } else { Kind::Findings };
    let mut error = CliError::new(kind, first);
    for line in rest {
        error = error.hint(format!("and {line}"));
    }
    let mut advice = BTreeSet::new();
    for fault in faults {
        if let FaultKind::Missing { name, origin: MissingFrom::Input } = &*fault.kind {
            advice.insert(format!("give it: --input {name}=VALUE, or --input {name}=@FILE"));
        } else if let FaultKind::Missing { name, origin: MissingFrom::Result } | FaultKind::Call { name } = &*fault.kind {
            advice.insert(format!(
                "only a run knows it; to see a context, give one: --result {name}=VALUE, or --result {name}=@FILE"
            ));
        }
    }
    advice.into_iter().fold(error, CliError::hint)
}
