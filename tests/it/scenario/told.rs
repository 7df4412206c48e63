//! Faults in one line each.

use ctxc::internals::base::source::LineIndex;
use ctxc::internals::scenario::{Fault, FaultKind};

/// Each fault with its line and column, the text at its place, and what it is.
pub(super) fn told(text: &str, faults: &[Fault]) -> String {
    let index = LineIndex::new(text);
    let line = |fault: &Fault| {
        let at = index.position(text, fault.span.start);
        let place = fault.span.slice(text).replace('\n', "⏎");
        let row = fault
            .row
            .as_ref()
            .map(|row| format!(" {}:{}", row.path, row.line))
            .unwrap_or_default();
        format!(
            "{}:{}{row} [{place}] {}",
            at.line,
            at.column,
            kind(&fault.kind)
        )
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A kind in short.
fn kind(kind: &FaultKind) -> String {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the rest shows itself")]
    match kind {
        FaultKind::Yaml(fault) => format!("yaml {fault:?}"),
        FaultKind::UnknownKey {
            table,
            key,
            near,
            elsewhere,
            ..
        } => {
            format!("{table} has no key {key}, near {near:?}, elsewhere {elsewhere:?}")
        }
        FaultKind::WrongType {
            key,
            expected,
            found,
        } => format!("{key} is {found}, wants {expected}"),
        FaultKind::BadValue {
            key,
            found,
            expected,
            near,
        } => format!("{key} is {found}, wants {expected}, near {near:?}"),
        FaultKind::Missing { table, keys } => format!("{table} lacks {}", keys.join("|")),
        FaultKind::Together {
            table,
            first,
            second,
        } => format!("{table} has {} and {second}", first.0),
        FaultKind::BadPattern { reason, at, part } => format!("pattern: {reason} at {at} `{part}`"),
        FaultKind::Table { path, reason } => format!("table {path}: {reason}"),
        other => format!("{other:?}"),
    }
}
