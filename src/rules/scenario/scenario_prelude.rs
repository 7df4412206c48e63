//! Shared imports and helpers of this family's messages.

use crate::base::quoted::name_list;

pub(super) use super::cx::{CaseCx, ScenarioCx, SuitesCx};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::scenario::model::{CaseSubject, FrozenValue, ScenarioCase};
pub(super) use crate::scenario::{ScenarioFault, ScenarioFaultKind};

/// Lists names as `a`, `b`, `c`, and shortens long lists.
pub(super) fn list_some(names: &[&str]) -> String {
    const MOST: usize = 8;
    match names.get(MOST..) {
        Some([]) | None => name_list(names),
        Some(rest) => format!(
            "{} and {} more",
            name_list(names.get(..MOST).unwrap_or(names)),
            rest.len()
        ),
    }
}

/// Shortens a text to the beginning of its first line.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    let is_whole = line.len() == text.trim_end().len() && line.chars().count() <= MOST;
    if is_whole {
        line.to_owned()
    } else {
        format!("{}…", line.chars().take(MOST).collect::<String>())
    }
}
