//! Reads `[operators.*]` and `[defaults.*]`: rows and defaults as written. The existence of rows is
//! checked after all of them are read.

use super::inherit::{InheritedSection, read_inheritance};
use super::keys::{OPERATOR, ROW_SETTINGS, SETTINGS};
use super::value::{
    FaultSink, TomlKey, TomlTable, TomlValue, read_boolean, read_table, read_text, read_word,
    to_span,
};
use crate::base::span::{Span, Spanned};
use crate::project::project_fault::{DeclarationRefusal, ProjectFaultKind};
use crate::settings::layers::{DeclaredDefault, DeclaredRow};
use crate::settings::operators::Operator;
use crate::template::legacy_type;
use crate::template::setting::{SettingName, Word, WrittenSettings};
use std::sync::Arc;
use toml::de::DeValue;

/// One table of `[defaults]`.
#[derive(Debug)]
pub(super) struct DefaultLine {
    /// The span of the operator's name.
    pub(super) operator: Span,
    /// The span of the subtype's name.
    pub(super) subtype: Option<Span>,
    /// The declared defaults.
    pub(super) declared: DeclaredDefault,
}

/// Reads one setting. Returns false if the key is not a setting.
fn read_setting(
    sink: &mut FaultSink,
    row: &str,
    key: &TomlKey<'_>,
    value: &TomlValue<'_>,
    out: &mut WrittenSettings,
) -> bool {
    fn read_value<T: Word>(
        sink: &mut FaultSink,
        key: &str,
        value: &TomlValue<'_>,
        switch: [&str; 2],
    ) -> Option<Spanned<T>> {
        let words: Vec<&str> = T::ALL.iter().map(|word| word.word()).collect();
        let found = read_word(sink, key, value, &words, switch)?;
        T::parse(found.value).map(|word| Spanned::new(word, found.span))
    }
    let Some(name) = SettingName::parse(key.get_ref()) else {
        return false;
    };
    let full = format!("{row}.{}", name.word());
    match name {
        SettingName::InheritContext => {
            out.inherit_context = read_value(sink, &full, value, ["full", "none"]);
        }
        SettingName::AccumulateData => out.accumulate_data = read_boolean(sink, &full, value),
        SettingName::AccumulationFormat => {
            out.accumulation_format = read_value(sink, &full, value, ["full_output", "notes_only"]);
        }
        SettingName::FreshContext => {
            out.fresh_context = read_value(sink, &full, value, ["enabled", "disabled"]);
        }
    }
    true
}

pub(super) fn read_defaults(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    out: &mut Vec<DefaultLine>,
    inherited: &mut Vec<InheritedSection>,
) {
    for (operator, value) in read_table(sink, "defaults", value).into_iter().flatten() {
        if read_inheritance(sink, "defaults", operator, value, inherited) {
            continue;
        }
        let name: Arc<str> = operator.get_ref().as_ref().into();
        if SettingName::parse(&name).is_some() {
            // A common mistake: a setting for all types at once.
            let kind = ProjectFaultKind::UnknownOperator {
                found: name.to_string(),
                near: None,
                valid: Vec::new(),
            };
            sink.report(to_span(&operator.span()), kind);
            continue;
        }
        let row = format!("defaults.{name}");
        let Some(settings) = read_table(sink, &row, value) else {
            continue;
        };
        let operator_span = to_span(&operator.span());
        let mut written = WrittenSettings::default();
        for (key, value) in settings {
            if read_setting(sink, &row, key, value, &mut written) {
                continue;
            }
            let DeValue::Table(of_subtype) = value.get_ref() else {
                sink.unknown_key(&row, key, &SETTINGS.key_names());
                continue;
            };
            let declared = DeclaredDefault {
                operator: Arc::clone(&name),
                subtype: Some(key.get_ref().as_ref().into()),
                written: read_subtype_settings(
                    sink,
                    &format!("{row}.{}", key.get_ref()),
                    of_subtype,
                ),
                file: sink.file,
            };
            out.push(DefaultLine {
                operator: operator_span,
                subtype: Some(to_span(&key.span())),
                declared,
            });
        }
        let declared = DeclaredDefault {
            operator: name,
            subtype: None,
            written,
            file: sink.file,
        };
        out.push(DefaultLine {
            operator: operator_span,
            subtype: None,
            declared,
        });
    }
}

fn read_subtype_settings(
    sink: &mut FaultSink,
    row: &str,
    settings: &TomlTable<'_>,
) -> WrittenSettings {
    let mut written = WrittenSettings::default();
    for (key, value) in settings {
        if !read_setting(sink, row, key, value, &mut written) {
            sink.unknown_key(row, key, &ROW_SETTINGS.key_names());
        }
    }
    written
}

pub(super) fn read_operators(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    out: &mut Vec<(Span, DeclaredRow)>,
) {
    for (key, value) in read_table(sink, "operators", value).into_iter().flatten() {
        let name: Arc<str> = key.get_ref().as_ref().into();
        let table_name = format!("operators.{name}");
        let Some(row) = read_table(sink, &table_name, value) else {
            continue;
        };
        let at = to_span(&key.span());
        if let Some((modern, subtype)) = legacy_type(&name) {
            sink.report(
                at,
                ProjectFaultKind::BadDeclaration {
                    row: name.to_string(),
                    why: DeclarationRefusal::Legacy { modern, subtype },
                },
            );
            continue;
        }
        if Operator::parse(&name).is_none() {
            read_operator(sink, at, &name, row, out);
        }
        for (key, value) in row {
            let subtype = key.get_ref().as_ref();
            let key_span = to_span(&key.span());
            let DeValue::Table(settings) = value.get_ref() else {
                if Operator::parse(&name).is_some() {
                    let why = DeclarationRefusal::Language;
                    sink.report(
                        key_span,
                        ProjectFaultKind::BadDeclaration {
                            row: name.to_string(),
                            why,
                        },
                    );
                }
                continue;
            };
            let declared = DeclaredRow {
                operator: Arc::clone(&name),
                subtype: Some(subtype.into()),
                base: Operator::Atomic,
                written: read_subtype_settings(sink, &format!("{table_name}.{subtype}"), settings),
                file: sink.file,
            };
            if is_name(subtype) {
                out.push((key_span, declared));
            } else {
                sink.report(
                    key_span,
                    ProjectFaultKind::BadDeclaration {
                        row: format!("{name}.{subtype}"),
                        why: DeclarationRefusal::BadName,
                    },
                );
            }
        }
    }
}

/// Reads the own keys of a declared operator.
fn read_operator(
    sink: &mut FaultSink,
    at: Span,
    name: &Arc<str>,
    row: &TomlTable<'_>,
    out: &mut Vec<(Span, DeclaredRow)>,
) {
    let table_name = format!("operators.{name}");
    let mut written = WrittenSettings::default();
    let mut base = None;
    let mut has_base = false;
    for (key, value) in row {
        if read_setting(sink, &table_name, key, value, &mut written)
            || matches!(value.get_ref(), DeValue::Table(_))
        {
            continue;
        }
        if key.get_ref() != "base" {
            sink.unknown_key(&table_name, key, &OPERATOR.key_names());
            continue;
        }
        has_base = true;
        let Some(word) = read_text(sink, &format!("{table_name}.base"), value) else {
            continue;
        };
        base = Operator::parse(word.value);
        if base.is_none() {
            sink.bad_word(
                &format!("{table_name}.base"),
                word,
                &Operator::ALL.map(Operator::word),
            );
        }
    }
    if !has_base {
        sink.report(
            at,
            ProjectFaultKind::BadDeclaration {
                row: name.to_string(),
                why: DeclarationRefusal::NoBase,
            },
        );
    }
    if !is_name(name) {
        sink.report(
            at,
            ProjectFaultKind::BadDeclaration {
                row: name.to_string(),
                why: DeclarationRefusal::BadName,
            },
        );
        return;
    }
    // An operator with an invalid base still counts as declared, so that its templates are not
    // reported.
    let base = base.unwrap_or(Operator::Atomic);
    out.push((
        at,
        DeclaredRow {
            operator: Arc::clone(name),
            subtype: None,
            base,
            written,
            file: sink.file,
        },
    ));
}

/// True for letters, digits, `_` and `-`, beginning with a letter.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(char::is_alphabetic)
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        && name.len() <= 100
}
