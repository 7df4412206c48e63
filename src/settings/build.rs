//! Builds [`Layers`]: the table of the language, declared rows, project defaults, in this order.

use super::layers::{Declarations, DeclaredDefault, DeclaredRow, Layers, Link, Row, RowId};
use super::operators::{DEFAULTS, Defaults, Kind, Operator, ROWLESS};
use super::provenance::{Layer, Origin, Place, Value};
use super::resolve::{Resolved, Setting};
use crate::base::span::Span;
use crate::template::setting::{Fresh, Inherit, SettingName, Word, Written};
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
        let atomic = Row::new("atomic", None, Kind::Operator, Operator::Atomic);
        let mut layers = Self {
            files: declared.files.clone(),
            atomic,
            others: Vec::with_capacity(24),
        };
        for operator in Operator::ALL {
            layers.table(operator.word(), operator);
        }
        for row in declared.rows.iter().filter(|row| row.subtype.is_none()) {
            layers.declare_operator(row);
        }
        // Defaults of an operator lie beneath the rows of its subtypes, so they come first.
        for default in &declared.defaults {
            layers.default(default, Layer::Project);
        }
        layers.subtypes();
        for row in declared.rows.iter().filter(|row| row.subtype.is_some()) {
            layers.declare_subtype(row);
        }
        for default in &declared.defaults {
            layers.default(default, Layer::ProjectSubtype);
        }
        for (index, row) in layers.rows_mut().enumerate() {
            row.settle(RowId(index as u16));
        }
        layers
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        std::iter::once(&mut self.atomic).chain(&mut self.others)
    }

    fn row_mut(&mut self, id: RowId) -> &mut Row {
        id.index()
            .checked_sub(1)
            .and_then(|at| self.others.get_mut(at))
            .unwrap_or(&mut self.atomic)
    }

    fn push(&mut self, row: Row) -> RowId {
        self.others.push(row);
        RowId(self.others.len() as u16)
    }

    /// Adds the rows of an operator and of its parts, under the operator's own name or that of an
    /// operator built on it.
    fn table(&mut self, name: &str, base: Operator) {
        for entry in DEFAULTS
            .iter()
            .filter(|entry| entry.operator == base && entry.kind != Kind::Subtype)
        {
            let names = entry.names.iter().copied().map(Some);
            let parts: Vec<Option<&str>> = if entry.kind == Kind::Part {
                names.collect()
            } else {
                vec![None]
            };
            for part in parts {
                // The values belong to the row of the language, also for an operator built on it.
                let origin = self.find(base.word(), part);
                let id = if name == "atomic" {
                    RowId::ATOMIC
                } else {
                    self.push(Row::new(name, part, entry.kind, base))
                };
                let links = links_of(entry, Layer::Operator, origin.unwrap_or(id));
                self.row_mut(id).extend(links);
            }
        }
    }

    fn declare_operator(&mut self, declared: &DeclaredRow) {
        if self.find(&declared.operator, None).is_some()
            || self.others.len() > usize::from(u16::MAX) - 64
        {
            return;
        }
        self.table(&declared.operator, declared.base);
        if let Some(id) = self.find(&declared.operator, None) {
            self.write(id, &declared.written, Layer::Operator, id, declared.file);
        }
    }

    /// Adds the subtypes of the language on top of their operators.
    fn subtypes(&mut self) {
        for entry in DEFAULTS.iter().filter(|entry| entry.kind == Kind::Subtype) {
            for name in entry.names {
                if let Some(id) = self.refine(entry.operator.word(), name) {
                    let links = links_of(entry, Layer::Subtype, id);
                    self.row_mut(id).extend(links);
                }
            }
        }
        for (operator, subtype) in ROWLESS {
            self.refine(operator.word(), subtype);
        }
        let declared: Vec<Arc<str>> = self
            .rows()
            .filter(|(_, row)| {
                row.kind == Kind::Operator && Operator::parse(&row.operator).is_none()
            })
            .map(|(_, row)| Arc::clone(&row.operator))
            .collect();
        for operator in declared {
            self.refine(&operator, "subtask");
        }
    }

    /// Adds a subtype with only its operator's layers; `None` if the operator is unknown or has the
    /// subtype already.
    fn refine(&mut self, operator: &str, subtype: &str) -> Option<RowId> {
        let of = self.find(operator, None)?;
        if self.find(operator, Some(subtype)).is_some()
            || self.others.len() > usize::from(u16::MAX) - 64
        {
            return None;
        }
        let mut row = Row::new(operator, Some(subtype), Kind::Subtype, self.get(of).base);
        row.chain.clone_from(&self.get(of).chain);
        Some(self.push(row))
    }

    fn declare_subtype(&mut self, declared: &DeclaredRow) {
        let Some(subtype) = declared.subtype.as_deref() else {
            return;
        };
        if let Some(id) = self.refine(&declared.operator, subtype) {
            self.write(id, &declared.written, Layer::Subtype, id, declared.file);
        }
    }

    fn default(&mut self, default: &DeclaredDefault, layer: Layer) {
        // `[defaults.atomic.standard]` is another name for the row `atomic`.
        let standard =
            &*default.operator == "atomic" && default.subtype.as_deref() == Some("standard");
        let subtype = default.subtype.as_deref().filter(|_| !standard);
        if default.subtype.is_some() != (layer == Layer::ProjectSubtype) {
            return;
        }
        if let Some(id) = self.find(&default.operator, subtype) {
            self.write(id, &default.written, layer, id, default.file);
        }
    }

    fn write(&mut self, id: RowId, written: &Written, layer: Layer, row: RowId, file: u16) {
        let place = |span: Span| Origin {
            layer,
            row,
            place: Place::Project(file, span),
        };
        let links = [
            written.inherit_context.map(|s| Link {
                value: Value::Inherit(s.value),
                origin: place(s.span),
            }),
            written.accumulate_data.map(|s| Link {
                value: Value::Accumulate(s.value),
                origin: place(s.span),
            }),
            written.accumulation_format.map(|s| Link {
                value: Value::Format(s.value),
                origin: place(s.span),
            }),
            written.fresh_context.map(|s| Link {
                value: Value::Fresh(s.value),
                origin: place(s.span),
            }),
        ];
        self.row_mut(id).extend(links);
    }
}

fn links_of(entry: &Defaults, layer: Layer, row: RowId) -> [Option<Link>; 4] {
    let values = [
        Value::Inherit(entry.inherit_context),
        entry
            .accumulate_data
            .map_or(Value::NotApplicable, Value::Accumulate),
        entry
            .accumulation_format
            .map_or(Value::NotApplicable, Value::Format),
        Value::Fresh(entry.fresh_context),
    ];
    values.map(|value| {
        Some(Link {
            value,
            origin: Origin {
                layer,
                row,
                place: Place::Language,
            },
        })
    })
}

impl Row {
    fn new(operator: &str, subtype: Option<&str>, kind: Kind, base: Operator) -> Self {
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
            accumulates: base.accumulates() && kind != Kind::Part,
            chain: Default::default(),
            defaults: unset(),
        }
    }

    fn extend(&mut self, links: [Option<Link>; 4]) {
        for (chain, link) in self.chain.iter_mut().zip(links) {
            chain.extend(link);
        }
    }

    /// Resolves the row: the last link of each chain holds.
    fn settle(&mut self, id: RowId) {
        let accumulates = self.accumulates;
        let out = &mut self.defaults;
        out.row = id;
        for (name, chain) in SettingName::ALL.iter().zip(&self.chain) {
            let Some(Link { value, origin }) = chain.last().copied() else {
                continue;
            };
            match (name, value) {
                (_, Value::Inherit(value)) => {
                    out.inherit_context = Setting {
                        value,
                        applies: true,
                        origin,
                    }
                }
                (_, Value::Fresh(value)) => {
                    out.fresh_context = Setting {
                        value,
                        applies: true,
                        origin,
                    }
                }
                (_, Value::Accumulate(value)) => {
                    out.accumulate_data = Setting {
                        value: Some(value),
                        applies: accumulates,
                        origin,
                    };
                }
                (_, Value::Format(value)) => {
                    out.accumulation_format = Setting {
                        value: Some(value),
                        applies: accumulates,
                        origin,
                    };
                }
                (SettingName::AccumulateData, Value::NotApplicable) => {
                    out.accumulate_data = Setting {
                        value: None,
                        applies: false,
                        origin,
                    };
                }
                (_, Value::NotApplicable) => {
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
fn unset() -> Resolved {
    let origin = Origin {
        layer: Layer::Operator,
        row: RowId::ATOMIC,
        place: Place::Language,
    };
    Resolved {
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
        template: Written::default(),
    }
}
