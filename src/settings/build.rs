//! Builds [`Layers`]: the table of the language, declared rows, project defaults, in this order.

use super::layers::{
    Declarations, DeclaredDefault, DeclaredRow, LayerValue, Layers, OperatorRow, RowId,
};
use super::operators::{DEFAULTS, Defaults, Operator, RowKind, SUBTYPES_WITHOUT_ROW};
use super::provenance::{Layer, SettingOrigin, SettingValue, ValuePlace};
use super::resolve::{ResolvedSettings, Setting};
use crate::base::span::Span;
use crate::template::setting::{Fresh, Inherit, SettingName, Word, WrittenSettings};
use std::sync::Arc;

impl Default for Layers {
    fn default() -> Self {
        Self::new(&Declarations::default())
    }
}

impl Layers {
    /// Lays the project's declarations over the operator table. Declarations for unknown rows are
    /// left out: the reader of the project file has reported them.
    pub fn new(declared: &Declarations) -> Self {
        let atomic = OperatorRow::new("atomic", None, RowKind::Operator, Operator::Atomic);
        let mut layers = Self {
            files: declared.files.clone(),
            atomic,
            others: Vec::with_capacity(24),
        };
        for operator in Operator::ALL {
            layers.add_operator_rows(operator.word(), operator);
        }
        for row in declared.rows.iter().filter(|row| row.subtype.is_none()) {
            layers.declare_operator(row);
        }
        // Defaults of an operator lie beneath the rows of its subtypes, so they come first.
        for default in &declared.defaults {
            layers.apply_default(default, Layer::Project);
        }
        layers.add_subtypes();
        for row in declared.rows.iter().filter(|row| row.subtype.is_some()) {
            layers.declare_subtype(row);
        }
        for default in &declared.defaults {
            layers.apply_default(default, Layer::ProjectSubtype);
        }
        for (index, row) in layers.rows_mut().enumerate() {
            row.resolve_defaults(RowId(index as u16));
        }
        layers
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut OperatorRow> {
        std::iter::once(&mut self.atomic).chain(&mut self.others)
    }

    fn row_mut(&mut self, id: RowId) -> &mut OperatorRow {
        id.index()
            .checked_sub(1)
            .and_then(|at| self.others.get_mut(at))
            .unwrap_or(&mut self.atomic)
    }

    fn push(&mut self, row: OperatorRow) -> RowId {
        self.others.push(row);
        RowId(self.others.len() as u16)
    }

    /// Adds the rows of an operator and of its parts, under the operator's own name or that of an
    /// operator built on it.
    fn add_operator_rows(&mut self, name: &str, base: Operator) {
        for entry in DEFAULTS
            .iter()
            .filter(|entry| entry.operator == base && entry.kind != RowKind::Subtype)
        {
            let names = entry.names.iter().copied().map(Some);
            let parts: Vec<Option<&str>> = if entry.kind == RowKind::Part {
                names.collect()
            } else {
                vec![None]
            };
            for part in parts {
                // The values belong to the row of the language, also for an operator built on it.
                let origin = self.find_row(base.word(), part);
                let id = if name == "atomic" {
                    RowId::ATOMIC
                } else {
                    self.push(OperatorRow::new(name, part, entry.kind, base))
                };
                let values = default_values(entry, Layer::Operator, origin.unwrap_or(id));
                self.row_mut(id).push_values(values);
            }
        }
    }

    fn declare_operator(&mut self, declared: &DeclaredRow) {
        if self.find_row(&declared.operator, None).is_some()
            || self.others.len() > usize::from(u16::MAX) - 64
        {
            return;
        }
        self.add_operator_rows(&declared.operator, declared.base);
        if let Some(id) = self.find_row(&declared.operator, None) {
            self.apply_written(id, &declared.written, Layer::Operator, declared.file);
        }
    }

    /// Adds the subtypes of the language on top of their operators.
    fn add_subtypes(&mut self) {
        for entry in DEFAULTS
            .iter()
            .filter(|entry| entry.kind == RowKind::Subtype)
        {
            for name in entry.names {
                if let Some(id) = self.add_subtype(entry.operator.word(), name) {
                    let values = default_values(entry, Layer::Subtype, id);
                    self.row_mut(id).push_values(values);
                }
            }
        }
        for (operator, subtype) in SUBTYPES_WITHOUT_ROW {
            self.add_subtype(operator.word(), subtype);
        }
        let declared: Vec<Arc<str>> = self
            .rows()
            .filter(|(_, row)| {
                row.kind == RowKind::Operator && Operator::parse(&row.operator).is_none()
            })
            .map(|(_, row)| Arc::clone(&row.operator))
            .collect();
        for operator in declared {
            self.add_subtype(&operator, "subtask");
        }
    }

    /// Adds a subtype with only its operator's layers; `None` if the operator is unknown or has the
    /// subtype already.
    fn add_subtype(&mut self, operator: &str, subtype: &str) -> Option<RowId> {
        let of = self.find_row(operator, None)?;
        if self.find_row(operator, Some(subtype)).is_some()
            || self.others.len() > usize::from(u16::MAX) - 64
        {
            return None;
        }
        let mut row =
            OperatorRow::new(operator, Some(subtype), RowKind::Subtype, self.get(of).base);
        row.chain.clone_from(&self.get(of).chain);
        Some(self.push(row))
    }

    fn declare_subtype(&mut self, declared: &DeclaredRow) {
        let Some(subtype) = declared.subtype.as_deref() else {
            return;
        };
        if let Some(id) = self.add_subtype(&declared.operator, subtype) {
            self.apply_written(id, &declared.written, Layer::Subtype, declared.file);
        }
    }

    fn apply_default(&mut self, default: &DeclaredDefault, layer: Layer) {
        // `[defaults.atomic.standard]` is another name for the row `atomic`.
        let standard =
            &*default.operator == "atomic" && default.subtype.as_deref() == Some("standard");
        let subtype = default.subtype.as_deref().filter(|_| !standard);
        if default.subtype.is_some() != (layer == Layer::ProjectSubtype) {
            return;
        }
        if let Some(id) = self.find_row(&default.operator, subtype) {
            self.apply_written(id, &default.written, layer, default.file);
        }
    }

    /// Lays the settings that a project file declares for a row over the row's other values.
    fn apply_written(&mut self, row: RowId, written: &WrittenSettings, layer: Layer, file: u16) {
        let origin = |span: Span| SettingOrigin {
            layer,
            row,
            place: ValuePlace::Project(file, span),
        };
        let values = [
            written.inherit_context.map(|setting| LayerValue {
                value: SettingValue::Inherit(setting.value),
                origin: origin(setting.span),
            }),
            written.accumulate_data.map(|setting| LayerValue {
                value: SettingValue::Accumulate(setting.value),
                origin: origin(setting.span),
            }),
            written.accumulation_format.map(|setting| LayerValue {
                value: SettingValue::Format(setting.value),
                origin: origin(setting.span),
            }),
            written.fresh_context.map(|setting| LayerValue {
                value: SettingValue::Fresh(setting.value),
                origin: origin(setting.span),
            }),
        ];
        self.row_mut(row).push_values(values);
    }
}

fn default_values(entry: &Defaults, layer: Layer, row: RowId) -> [Option<LayerValue>; 4] {
    let values = [
        SettingValue::Inherit(entry.inherit_context),
        entry
            .accumulate_data
            .map_or(SettingValue::NotApplicable, SettingValue::Accumulate),
        entry
            .accumulation_format
            .map_or(SettingValue::NotApplicable, SettingValue::Format),
        SettingValue::Fresh(entry.fresh_context),
    ];
    values.map(|value| {
        Some(LayerValue {
            value,
            origin: SettingOrigin {
                layer,
                row,
                place: ValuePlace::Language,
            },
        })
    })
}

impl OperatorRow {
    fn new(operator: &str, subtype: Option<&str>, kind: RowKind, base: Operator) -> Self {
        let name = subtype.map_or_else(
            || operator.to_owned(),
            |subtype| format!("{operator}.{subtype}"),
        );
        Self {
            name: name.into(),
            operator: operator.into(),
            subtype: subtype.map(Into::into),
            kind,
            base,
            accumulates: base.accumulates() && kind != RowKind::Part,
            chain: Default::default(),
            defaults: unset_settings(),
        }
    }

    fn push_values(&mut self, values: [Option<LayerValue>; 4]) {
        for (chain, value) in self.chain.iter_mut().zip(values) {
            chain.extend(value);
        }
    }

    /// Resolves the row: the last value of each chain applies.
    fn resolve_defaults(&mut self, id: RowId) {
        let accumulates = self.accumulates;
        let out = &mut self.defaults;
        out.row = id;
        for (name, chain) in SettingName::ALL.iter().zip(&self.chain) {
            let Some(LayerValue { value, origin }) = chain.last().copied() else {
                continue;
            };
            match (name, value) {
                (_, SettingValue::Inherit(value)) => {
                    out.inherit_context = Setting {
                        value,
                        applies: true,
                        origin,
                    }
                }
                (_, SettingValue::Fresh(value)) => {
                    out.fresh_context = Setting {
                        value,
                        applies: true,
                        origin,
                    }
                }
                (_, SettingValue::Accumulate(value)) => {
                    out.accumulate_data = Setting {
                        value: Some(value),
                        applies: accumulates,
                        origin,
                    };
                }
                (_, SettingValue::Format(value)) => {
                    out.accumulation_format = Setting {
                        value: Some(value),
                        applies: accumulates,
                        origin,
                    };
                }
                (SettingName::AccumulateData, SettingValue::NotApplicable) => {
                    out.accumulate_data = Setting {
                        value: None,
                        applies: false,
                        origin,
                    };
                }
                (_, SettingValue::NotApplicable) => {
                    out.accumulation_format = Setting {
                        value: None,
                        applies: false,
                        origin,
                    };
                }
            }
        }
    }
}

/// The settings of a row before it is resolved.
fn unset_settings() -> ResolvedSettings {
    let origin = SettingOrigin {
        layer: Layer::Operator,
        row: RowId::ATOMIC,
        place: ValuePlace::Language,
    };
    ResolvedSettings {
        row: RowId::ATOMIC,
        inherit_context: Setting {
            value: Inherit::Full,
            applies: true,
            origin,
        },
        accumulate_data: Setting {
            value: None,
            applies: false,
            origin,
        },
        accumulation_format: Setting {
            value: None,
            applies: false,
            origin,
        },
        fresh_context: Setting {
            value: Fresh::Disabled,
            applies: true,
            origin,
        },
        template: WrittenSettings::default(),
    }
}
