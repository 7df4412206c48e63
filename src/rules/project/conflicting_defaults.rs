//! CTX501: defaults that contradict each other.

use super::prelude::*;
use crate::rules::setting_fixes::type_of;
use crate::settings::layers::{Row, RowId};
use crate::settings::provenance::{Origin, Place};
use crate::template::setting::Inherit;

/// Reported once, at the defaults and not at the templates that use them.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        501,
        "conflicting-defaults",
        "project defaults that look up fresh context and inherit the parent's"
    )
    .fixed(Fixable::Suggested),
    Check::Config(word),
);

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::ConflictingDefaults { row, others, other } = &fault.kind else {
        return None;
    };
    let row = cx.config.layers.get(*row);
    if has_cause(cx, row) {
        return None;
    }
    let defaults = row.defaults();
    let inherit = defaults.inherit_context.value;
    let part = if inherit == Inherit::Subset {
        "part"
    } else {
        "all"
    };
    let of = type_of(row);
    let message = format!(
        "every task of {of} would look up fresh context, but also inherit {part} of its parent's"
    );
    let mut finding = cx.finding(&RULE, fault, message);
    if let Some((file, span)) = other {
        finding = cx.label(finding, *file, *span, "the other value");
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
        if origin.place == Place::Language {
            let of = type_of(cx.config.layers.get(origin.row));
            finding = finding.note(format!("{setting} is `{value}`: the default of {of}"));
        }
    }
    if !others.is_empty() {
        finding = finding.note(format!(
            "the same two values hold for {}",
            named(cx, others)
        ));
    }
    let is_fresh = is_here(&defaults.fresh_context.origin, fault);
    let (own, add) = if is_fresh {
        (
            ("fresh_context", "disabled", PARENT),
            ("inherit_context", "none", LOOKED_UP),
        )
    } else {
        (
            ("inherit_context", "none", LOOKED_UP),
            ("fresh_context", "disabled", PARENT),
        )
    };
    let elsewhere = match other {
        // Both are written: the fix that keeps this one changes the other.
        Some((file, span)) if *file == fault.file => Some((
            format!("set {} to \"{}\": {}", add.0, add.1, add.2),
            Edit::replace(*span, format!("\"{}\"", add.1)),
        )),
        Some(_) => None,
        None => insertion(cx, fault, add.0, add.1)
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
const FEW: usize = 2_000;

/// True if a line of the tables behind the row could not be read. That error is reported
/// separately, and the defaults are unknown until it is fixed.
fn has_cause(cx: &ConfigCx<'_>, row: &Row) -> bool {
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
    cx.config.faults.iter().take(FEW).any(|fault| {
        if let FaultKind::UnknownKey { table, .. } = &fault.kind {
            return tables.contains(table);
        }
        let (FaultKind::WrongType { key, .. } | FaultKind::BadValue { key, .. }) = &fault.kind
        else {
            return false;
        };
        key.rsplit_once('.')
            .is_some_and(|(table, _)| tables.iter().any(|own| own == table))
    })
}

/// Describes the first few rows.
fn named(cx: &ConfigCx<'_>, rows: &[RowId]) -> String {
    let names: Vec<String> = rows
        .iter()
        .take(3)
        .map(|row| type_of(cx.config.layers.get(*row)))
        .collect();
    let more = if rows.len() > 3 {
        format!(" and {} more", rows.len() - 3)
    } else {
        String::new()
    };
    format!("{}{more}", names.join(", "))
}

const LOOKED_UP: &str = "tasks receive only looked-up context";
const PARENT: &str = "tasks receive only their parent's context";

fn is_here(origin: &Origin, fault: &Fault) -> bool {
    origin.place == Place::Project(fault.file, fault.span)
}

/// Returns the edit that inserts a setting at the fault's line, if that line is a plain `key =
/// value`.
fn insertion(cx: &ConfigCx<'_>, fault: &Fault, setting: &str, value: &str) -> Option<Edit> {
    let file = cx.config.files.get(fault.file as usize)?;
    let whole = line(cx, fault);
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
