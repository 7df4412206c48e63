//! Faults in one line each.

use ctxc::internals::base::source::LineIndex;
use ctxc::internals::scenario::{ScenarioFault, ScenarioFaultKind};

/// Each fault with its line and column, the text at its place, and its kind.
pub(super) fn told(text: &str, faults: &[ScenarioFault]) -> String {
    let index = LineIndex::new(text);
    let line = |fault: &ScenarioFault| {
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
fn kind(kind: &ScenarioFaultKind) -> String {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the rest shows itself")]
    match kind {
        ScenarioFaultKind::Yaml(fault) => format!("yaml {fault:?}"),
        ScenarioFaultKind::UnknownKey {
            table,
            key,
            near,
            elsewhere,
            ..
        } => {
            format!("{table} has no key {key}, near {near:?}, elsewhere {elsewhere:?}")
        }
        ScenarioFaultKind::WrongType {
            key,
            expected,
            found,
        } => format!("{key} is {found}, wants {expected}"),
        ScenarioFaultKind::BadValue {
            key,
            found,
            expected,
            near,
        } => format!("{key} is {found}, wants {expected}, near {near:?}"),
        ScenarioFaultKind::Missing { table, keys } => format!("{table} lacks {}", keys.join("|")),
        ScenarioFaultKind::ExclusiveKeys {
            table,
            first,
            second,
        } => format!("{table} has {} and {second}", first.0),
        ScenarioFaultKind::BadPattern { reason, at, part } => {
            format!("pattern: {reason} at {at} `{part}`")
        }
        ScenarioFaultKind::UnreadableTable { path, reason } => format!("table {path}: {reason}"),
        other => format!("{other:?}"),
    }
}
