//! Reads `[operators.*]` and `[defaults.*]`: rows and defaults as written. The existence of rows is
//! checked after all of them are read.

use super::keys::{OPERATOR, ROW_SETTINGS, SETTINGS};
use super::value::{Key, Sink, Table, Value, boolean, span, table, text, word};
use crate::base::span::{Span, Spanned};
use crate::project::fault::{FaultKind, Refusal};
use crate::settings::layers::{DeclaredDefault, DeclaredRow};
use crate::settings::operators::Operator;
use crate::template::legacy_type;
use crate::template::setting::{SettingName, Word, Written};
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
fn setting(
    sink: &mut Sink,
    row: &str,
    key: &Key<'_>,
    value: &Value<'_>,
    out: &mut Written,
) -> bool {
    fn one<T: Word>(
        sink: &mut Sink,
        key: &str,
        value: &Value<'_>,
        switch: [&str; 2],
    ) -> Option<Spanned<T>> {
        let words: Vec<&str> = T::ALL.iter().map(|word| word.word()).collect();
        let found = word(sink, key, value, &words, switch)?;
        T::parse(found.value).map(|word| Spanned::new(word, found.span))
    }
    let Some(name) = SettingName::parse(key.get_ref()) else {
        return false;
    };
    let full = format!("{row}.{}", name.word());
    match name {
        SettingName::InheritContext => {
            out.inherit_context = one(sink, &full, value, ["full", "none"]);
        }
        SettingName::AccumulateData => out.accumulate_data = boolean(sink, &full, value),
        SettingName::AccumulationFormat => {
            out.accumulation_format = one(sink, &full, value, ["full_output", "notes_only"]);
        }
        SettingName::FreshContext => {
            out.fresh_context = one(sink, &full, value, ["enabled", "disabled"]);
        }
    }
    true
}

pub(super) fn defaults(sink: &mut Sink, value: &Value<'_>, out: &mut Vec<DefaultLine>) {
    for (operator, value) in table(sink, "defaults", value).into_iter().flatten() {
        let name: Arc<str> = operator.get_ref().as_ref().into();
        if SettingName::parse(&name).is_some() {
            // A common mistake: a setting for all types at once.
            let kind = FaultKind::UnknownOperator {
                found: name.to_string(),
                near: None,
                valid: Vec::new(),
            };
            sink.report(span(&operator.span()), kind);
            continue;
        }
        let row = format!("defaults.{name}");
        let Some(settings) = table(sink, &row, value) else {
            continue;
        };
        let operator_span = span(&operator.span());
        let mut written = Written::default();
        for (key, value) in settings {
            if setting(sink, &row, key, value, &mut written) {
                continue;
            }
            let DeValue::Table(of_subtype) = value.get_ref() else {
                sink.unknown_key(&row, key, &SETTINGS.names());
                continue;
            };
            let declared = DeclaredDefault {
                operator: Arc::clone(&name),
                subtype: Some(key.get_ref().as_ref().into()),
                written: subtype_settings(sink, &format!("{row}.{}", key.get_ref()), of_subtype),
                file: sink.file,
            };
            out.push(DefaultLine {
                operator: operator_span,
                subtype: Some(span(&key.span())),
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

fn subtype_settings(sink: &mut Sink, row: &str, settings: &Table<'_>) -> Written {
    let mut written = Written::default();
    for (key, value) in settings {
        if !setting(sink, row, key, value, &mut written) {
            sink.unknown_key(row, key, &ROW_SETTINGS.names());
        }
    }
    written
}

pub(super) fn operators(sink: &mut Sink, value: &Value<'_>, out: &mut Vec<(Span, DeclaredRow)>) {
    for (key, value) in table(sink, "operators", value).into_iter().flatten() {
        let name: Arc<str> = key.get_ref().as_ref().into();
        let table_name = format!("operators.{name}");
        let Some(row) = table(sink, &table_name, value) else {
            continue;
        };
        let at = span(&key.span());
        if let Some((modern, subtype)) = legacy_type(&name) {
            sink.report(
                at,
                FaultKind::BadDeclaration {
                    row: name.to_string(),
                    why: Refusal::Legacy { modern, subtype },
                },
            );
            continue;
        }
        if Operator::parse(&name).is_none() {
            operator(sink, at, &name, row, out);
        }
        for (key, value) in row {
            let subtype = key.get_ref().as_ref();
            let key_span = span(&key.span());
            let DeValue::Table(settings) = value.get_ref() else {
                if Operator::parse(&name).is_some() {
                    let why = Refusal::Language;
                    sink.report(
                        key_span,
                        FaultKind::BadDeclaration {
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
                written: subtype_settings(sink, &format!("{table_name}.{subtype}"), settings),
                file: sink.file,
            };
            if is_name(subtype) {
                out.push((key_span, declared));
            } else {
                sink.report(
                    key_span,
                    FaultKind::BadDeclaration {
                        row: format!("{name}.{subtype}"),
                        why: Refusal::BadName,
                    },
                );
            }
        }
    }
}

/// Reads the own keys of a declared operator.
fn operator(
    sink: &mut Sink,
    at: Span,
    name: &Arc<str>,
    row: &Table<'_>,
    out: &mut Vec<(Span, DeclaredRow)>,
) {
    let table_name = format!("operators.{name}");
    let mut written = Written::default();
    let mut base = None;
    let mut has_base = false;
    for (key, value) in row {
        if setting(sink, &table_name, key, value, &mut written)
            || matches!(value.get_ref(), DeValue::Table(_))
        {
            continue;
        }
        if key.get_ref() != "base" {
            sink.unknown_key(&table_name, key, &OPERATOR.names());
            continue;
        }
        has_base = true;
        let Some(word) = text(sink, &format!("{table_name}.base"), value) else {
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
            FaultKind::BadDeclaration {
                row: name.to_string(),
                why: Refusal::NoBase,
            },
        );
    }
    if !is_name(name) {
        sink.report(
            at,
            FaultKind::BadDeclaration {
                row: name.to_string(),
                why: Refusal::BadName,
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
