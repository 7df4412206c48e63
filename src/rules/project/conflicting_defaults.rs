//! CTX501: defaults that contradict each other.

use super::project_prelude::*;
use crate::rules::setting_fixes::describe_row;
use crate::settings::layers::{OperatorRow, RowId};
use crate::settings::provenance::{SettingOrigin, ValuePlace};
use crate::template::setting::Inherit;

/// Reported once, at the defaults and not at the templates that use them.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        501,
        "conflicting-defaults",
        "project defaults that look up fresh context and inherit the parent's"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report),
);

fn report(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::ConflictingDefaults { row, others, other } = &fault.kind else {
        return None;
    };
    let row = cx.config.layers.get(*row);
    if has_faulty_table(cx, row) {
        return None;
    }
    let defaults = row.defaults();
    let inherit = defaults.inherit_context.value;
    let part = if inherit == Inherit::Subset {
        "part"
    } else {
        "all"
    };
    let of = describe_row(row);
    let message = format!(
        "every task of {of} would look up fresh context, but also inherit {part} of its parent's"
    );
    let mut finding = cx.finding(&RULE, fault, message);
    if let Some((file, span)) = other {
        finding = cx.add_label(finding, *file, *span, "the other value");
    }
    for (origin, setting, value) in [
        (
            defaults.inherit_context.origin,
            "inherit_context",
            inherit.word(),
        ),
        (
            defaults.fresh_context.origin,
            "fresh_context",
            defaults.fresh_context.value.word(),
        ),
    ] {
        if origin.place == ValuePlace::Language {
            let of = describe_row(cx.config.layers.get(origin.row));
            finding = finding.note(format!("{setting} is `{value}`: the default of {of}"));
        }
    }
    if !others.is_empty() {
        finding = finding.note(format!(
            "the same two values hold for {}",
            describe_rows(cx, others)
        ));
    }
    let is_fresh = is_set_at(&defaults.fresh_context.origin, fault);
    let (own, add) = if is_fresh {
        (
            ("fresh_context", "disabled", TASKS_PARENT),
            ("inherit_context", "none", TASKS_LOOKED_UP),
        )
    } else {
        (
            ("inherit_context", "none", TASKS_LOOKED_UP),
            ("fresh_context", "disabled", TASKS_PARENT),
        )
    };
    let elsewhere = match other {
        // Both are written: the fix that keeps this one changes the other.
        Some((file, span)) if *file == fault.file => Some((
            format!("set {} to \"{}\": {}", add.0, add.1, add.2),
            Edit::replace(*span, format!("\"{}\"", add.1)),
        )),
        Some(_) => None,
        None => insert_setting(cx, fault, add.0, add.1)
            .map(|edit| (format!("add {} = \"{}\": {}", add.0, add.1, add.2), edit)),
    };
    if let Some((title, edit)) = elsewhere {
        finding = finding.fix(Fix::suggested(title, vec![edit]));
    }
    let edit = Edit::replace(fault.span, format!("\"{}\"", own.1));
    Some(finding.fix(Fix::suggested(
        format!("set {} to \"{}\": {}", own.0, own.1, own.2),
        vec![edit],
    )))
}

/// Maximum number of faults that are searched for each conflict.
const MAX_SEARCHED_FAULTS: usize = 2_000;

/// True if a line of the tables behind the row could not be read. That error is reported
/// separately, and the defaults are unknown until it is fixed.
fn has_faulty_table(cx: &ConfigCx<'_>, row: &OperatorRow) -> bool {
    let mut tables: Vec<String> = Vec::new();
    for operator in [row.operator(), row.base().word()] {
        for section in ["defaults", "operators"] {
            tables.push(format!("{section}.{operator}"));
            tables.extend(
                row.subtype()
                    .map(|subtype| format!("{section}.{operator}.{subtype}")),
            );
        }
    }
    cx.config
        .faults
        .iter()
        .take(MAX_SEARCHED_FAULTS)
        .any(|fault| {
            if let ProjectFaultKind::UnknownKey { table, .. } = &fault.kind {
                return tables.contains(table);
            }
            let (ProjectFaultKind::WrongType { key, .. } | ProjectFaultKind::BadValue { key, .. }) =
                &fault.kind
            else {
                return false;
            };
            key.rsplit_once('.')
                .is_some_and(|(table, _)| tables.iter().any(|own| own == table))
        })
}

/// Describes the first few rows.
fn describe_rows(cx: &ConfigCx<'_>, rows: &[RowId]) -> String {
    let names: Vec<String> = rows
        .iter()
        .take(3)
        .map(|row| describe_row(cx.config.layers.get(*row)))
        .collect();
    let more = if rows.len() > 3 {
        format!(" and {} more", rows.len() - 3)
    } else {
        String::new()
    };
    format!("{}{more}", names.join(", "))
}

const TASKS_LOOKED_UP: &str = "tasks receive only looked-up context";
const TASKS_PARENT: &str = "tasks receive only their parent's context";

fn is_set_at(origin: &SettingOrigin, fault: &ProjectFault) -> bool {
    origin.place == ValuePlace::Project(fault.file, fault.span)
}

/// Returns the edit that inserts a setting at the fault's line, if that line is a plain `key =
/// value`.
fn insert_setting(
    cx: &ConfigCx<'_>,
    fault: &ProjectFault,
    setting: &str,
    value: &str,
) -> Option<Edit> {
    let file = cx.config.files.get(fault.file as usize)?;
    let whole = fault_line(cx, fault);
    let text = whole.slice(&file.text);
    let is_plain = text.trim_start().starts_with("fresh_context")
        || text.trim_start().starts_with("inherit_context");
    if !is_plain {
        return None;
    }
    let indent: String = text.chars().take_while(|c| c.is_whitespace()).collect();
    let at = whole.start;
    Some(Edit::insert(
        at,
        format!("{indent}{setting} = \"{value}\"\n"),
    ))
}
