//! Checks that require all rows: existence of names, conflicts of defaults, and defaults without
//! effect.

use super::layers::DefaultLine;
use super::sections::nearest_name;
use super::value::FaultSink;
use crate::base::span::{Span, Spanned};
use crate::project::project_fault::{DeclarationRefusal, ProjectFault, ProjectFaultKind};
use crate::project::require::Requirement;
use crate::project::roles::Role;
use crate::settings::conflict::has_conflicting_defaults;
use crate::settings::layers::{DeclaredRow, Layers};
use crate::settings::operators::{Operator, RowKind};
use crate::settings::provenance::{SettingOrigin, ValuePlace};
use crate::template::setting::WrittenSettings;
use std::collections::BTreeMap;

/// A span in a project file.
type ConfigSpan = (u16, Span);

/// The maximum number of rows that a project may declare.
const MAX_ROWS: usize = 1000;

/// Checks the number of declared rows; removes those beyond the maximum.
pub(super) fn limit_rows(sink: &mut FaultSink, rows: &mut Vec<(Span, DeclaredRow)>) {
    let mut count = 0;
    rows.retain(|(span, row)| {
        count += 1;
        if count == MAX_ROWS + 1 {
            sink.report(
                *span,
                ProjectFaultKind::BadDeclaration {
                    row: row_name(row),
                    why: DeclarationRefusal::TooMany,
                },
            );
        }
        count <= MAX_ROWS
    });
}

/// Checks that declared subtypes belong to a known operator, and that the language does not define
/// them. (A table cannot be written twice, so a row cannot be declared twice in one file.)
pub(super) fn report_bad_subtypes(
    sink: &mut FaultSink,
    layers: &Layers,
    rows: &[(Span, DeclaredRow)],
) {
    let own = Layers::default();
    for (span, row) in rows {
        if row.subtype.is_none() {
            report_without_effect(sink, layers, &row.operator, None, &row.written);
            continue;
        }
        let name = row.subtype.as_deref();
        let standard = &*row.operator == "atomic" && name == Some("standard");
        let language = own.find_row(&row.operator, name).is_some() || name == Some("subtask");
        let part = Operator::parse(&row.operator).is_none()
            && layers
                .find_row(&row.operator, name)
                .is_some_and(|id| layers.get(id).kind() == RowKind::Part);
        if standard || language || part {
            sink.report(
                *span,
                ProjectFaultKind::BadDeclaration {
                    row: row_name(row),
                    why: DeclarationRefusal::Language,
                },
            );
        } else {
            report_without_effect(sink, layers, &row.operator, name, &row.written);
        }
    }
}

fn row_name(row: &DeclaredRow) -> String {
    row.subtype.as_ref().map_or_else(
        || row.operator.to_string(),
        |subtype| format!("{}.{subtype}", row.operator),
    )
}

/// Checks that `[defaults]` refers to known operators, subtypes and parts.
pub(super) fn report_bad_defaults(
    sink: &mut FaultSink,
    layers: &Layers,
    lines: &mut [DefaultLine],
    file: u16,
) {
    let own = std::mem::replace(&mut sink.file, file);
    let mut unknown: Option<Span> = None;
    for line in lines {
        let operator = &*line.declared.operator;
        let subtype = line.declared.subtype.as_deref();
        if layers.find_row(operator, None).is_none() {
            // Once for the operator, regardless of the number of its subtypes.
            if unknown != Some(line.operator) {
                unknown = Some(line.operator);
                let valid: Vec<String> = layers.operator_names().map(str::to_owned).collect();
                let near = nearest_name(operator, layers.operator_names());
                sink.report(
                    line.operator,
                    ProjectFaultKind::UnknownOperator {
                        found: operator.to_owned(),
                        near,
                        valid,
                    },
                );
            }
            continue;
        }
        if let (Some(subtype), Some(span)) = (subtype, line.subtype)
            && layers.find_row(operator, Some(subtype)).is_none()
            && !(operator == "atomic" && subtype == "standard")
        {
            let names = || names_under(layers, operator);
            let kind = ProjectFaultKind::UnknownSubtype {
                operator: operator.to_owned(),
                found: subtype.to_owned(),
                near: nearest_name(subtype, names()),
                valid: names().map(str::to_owned).collect(),
            };
            sink.report(span, kind);
            continue;
        }
        report_without_effect(sink, layers, operator, subtype, &line.declared.written);
    }
    sink.file = own;
}

/// The subtypes and parts of an operator.
fn names_under<'l>(layers: &'l Layers, operator: &'l str) -> impl Iterator<Item = &'l str> {
    let parts = layers
        .rows()
        .filter(move |(_, row)| row.kind() == RowKind::Part && &**row.operator() == operator);
    layers
        .subtype_names(operator)
        .chain(parts.filter_map(|(_, row)| row.subtype().map(|name| &**name)))
}

/// Reports accumulation for an operator without steps to accumulate.
fn report_without_effect(
    sink: &mut FaultSink,
    layers: &Layers,
    operator: &str,
    subtype: Option<&str>,
    written: &WrittenSettings,
) {
    let row = layers
        .find_row(operator, subtype)
        .or_else(|| layers.find_row(operator, None))
        .map(|id| layers.get(id));
    let Some(row) = row.filter(|row| !row.accumulates()) else {
        return;
    };
    let name = subtype.map_or_else(
        || operator.to_owned(),
        |subtype| format!("{operator}.{subtype}"),
    );
    let data = written
        .accumulate_data
        .filter(|written| written.value)
        .map(|written| written.span);
    let format = written.accumulation_format.map(|written| written.span);
    for (span, setting) in [(data, "accumulate_data"), (format, "accumulation_format")] {
        if let Some(span) = span {
            let kind = ProjectFaultKind::DefaultWithoutEffect {
                row: name.clone(),
                setting,
                base: row.base(),
            };
            sink.report(span, kind);
        }
    }
}

/// Reports rows that conflict by themselves, once for each pair of conflicting values.
pub(super) fn report_conflicts(sink: &mut FaultSink, layers: &Layers) {
    let mut found: BTreeMap<(ConfigSpan, Option<ConfigSpan>), ProjectFault> = BTreeMap::new();
    for (id, row) in layers
        .rows()
        .filter(|(id, _)| has_conflicting_defaults(layers, *id))
    {
        let sides = [
            row.defaults().fresh_context.origin,
            row.defaults().inherit_context.origin,
        ];
        let mut written: Vec<(SettingOrigin, u16, Span)> = sides
            .into_iter()
            .filter_map(|side| project_place(&side))
            .collect();
        // The later layer caused the conflict; if both are in one layer, fresh context did.
        written.sort_by_key(|(origin, ..)| std::cmp::Reverse(origin.layer));
        let mut written = written.into_iter();
        let Some((_, file, span)) = written.next() else {
            continue;
        };
        let other = written.next().map(|(_, file, span)| (file, span));
        let entry = found.entry(((file, span), other));
        entry
            .and_modify(|fault| {
                if let ProjectFaultKind::ConflictingDefaults { others, .. } = &mut fault.kind {
                    others.push(id);
                }
            })
            .or_insert(ProjectFault {
                file,
                span,
                kind: ProjectFaultKind::ConflictingDefaults {
                    row: id,
                    others: Vec::new(),
                    other,
                },
            });
    }
    sink.faults.extend(found.into_values());
}

fn project_place(origin: &SettingOrigin) -> Option<(SettingOrigin, u16, Span)> {
    match origin.place {
        ValuePlace::Project(file, span) => Some((*origin, file, span)),
        ValuePlace::Language | ValuePlace::Template(_) => None,
    }
}

/// Checks the operators, subtypes and roles of selectors.
pub(super) fn report_bad_selectors(
    sink: &mut FaultSink,
    layers: &Layers,
    roles: &BTreeMap<String, Role>,
    all: &[Requirement],
) {
    let own = sink.file;
    for requirement in all {
        sink.file = requirement.file;
        let selector = &requirement.selector;
        for operator in selector
            .operator
            .iter()
            .filter(|name| layers.find_row(&name.value, None).is_none())
        {
            let valid = layers.operator_names().map(str::to_owned).collect();
            let near = nearest_name(&operator.value, layers.operator_names());
            sink.report(
                operator.span,
                ProjectFaultKind::UnknownOperator {
                    found: operator.value.clone(),
                    near,
                    valid,
                },
            );
        }
        for subtype in &selector.subtype {
            report_bad_subtype(sink, layers, subtype);
        }
        for role in selector
            .role
            .iter()
            .filter(|role| !roles.contains_key(&role.value))
        {
            let near = nearest_name(&role.value, roles.keys().map(String::as_str));
            sink.report(
                role.span,
                ProjectFaultKind::UnknownRole {
                    found: role.value.clone(),
                    near,
                },
            );
        }
    }
    sink.file = own;
}

/// Checks a subtype without its operator: a subtype of any operator is valid.
fn report_bad_subtype(sink: &mut FaultSink, layers: &Layers, subtype: &Spanned<String>) {
    let known = || {
        let rows = layers
            .rows()
            .filter(|(_, row)| row.kind() != RowKind::Operator);
        rows.filter_map(|(_, row)| row.subtype().map(|name| &**name))
            .chain(["standard"])
    };
    if known().any(|name| name == subtype.value) {
        return;
    }
    let mut valid: Vec<String> = known().map(str::to_owned).collect();
    valid.sort();
    valid.dedup();
    let kind = ProjectFaultKind::UnknownSubtype {
        operator: String::new(),
        found: subtype.value.clone(),
        near: nearest_name(&subtype.value, known()),
        valid,
    };
    sink.report(subtype.span, kind);
}
