//! The rows of a project: the operator table, the declarations of `ctxc.toml`, and the defaults on
//! top, in this order.
//!
//! Built once for a project. Each row holds its chain of layers and its own resolved settings, so
//! that a task costs one copy plus its written settings. Never reads a file; never formats the
//! message of a fault.

use super::operators::{BodyPart, Operator, RowKind, TYPE_ALIASES};
use super::provenance::{SettingOrigin, SettingValue};
use super::resolved::ResolvedSettings;
pub use super::row_id::RowId;
use crate::template::setting::{SettingName, WrittenSettings};
use std::sync::Arc;

/// A value with its origin: one link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerValue {
    /// The value.
    pub value: SettingValue,
    /// The layer that set it.
    pub origin: SettingOrigin,
}

/// An operator, subtype or part with its defaults.
#[derive(Clone, Debug)]
pub struct OperatorRow {
    pub(super) name: Arc<str>,
    pub(super) operator: Arc<str>,
    pub(super) subtype: Option<Arc<str>>,
    pub(super) kind: RowKind,
    pub(super) base: Operator,
    pub(super) accumulates: bool,
    pub(super) chain: [Vec<LayerValue>; 4],
    pub(super) defaults: ResolvedSettings,
}

impl OperatorRow {
    /// `atomic`, `atomic.subtask`, `reduce.inner_task`.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The operator's name.
    pub fn operator(&self) -> &Arc<str> {
        &self.operator
    }

    /// The name of the subtype or part; `None` for the operator itself.
    pub fn subtype(&self) -> Option<&Arc<str>> {
        self.subtype.as_ref()
    }

    /// Operator, subtype or part.
    pub const fn kind(&self) -> RowKind {
        self.kind
    }

    /// The operator of the language that determines its structure.
    pub const fn base(&self) -> Operator {
        self.base
    }

    /// True if it has steps whose results can be carried.
    pub const fn accumulates(&self) -> bool {
        self.accumulates
    }

    /// The settings that it resolves to by itself.
    pub const fn defaults(&self) -> &ResolvedSettings {
        &self.defaults
    }
}

/// The declarations of the project files, in the order of the layers: shared files first, the
/// project's own last.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// The project files that spans refer to.
    pub files: Vec<Arc<str>>,
    /// `[operators.*]`.
    pub rows: Vec<DeclaredRow>,
    /// `[defaults.*]`.
    pub defaults: Vec<DeclaredDefault>,
}

/// A declared operator, or a declared subtype of an operator.
#[derive(Clone, Debug)]
pub struct DeclaredRow {
    /// The operator.
    pub operator: Arc<str>,
    /// The subtype, if the row is one.
    pub subtype: Option<Arc<str>>,
    /// The operator that it is built on; ignored for subtypes.
    pub base: Operator,
    /// The settings of the row; others come from the operator that it is built on or refines.
    pub written: WrittenSettings,
    /// Index into [`Declarations::files`].
    pub file: u16,
}

/// Project defaults for an operator, a subtype or a part.
#[derive(Clone, Debug)]
pub struct DeclaredDefault {
    /// The operator.
    pub operator: Arc<str>,
    /// The subtype or part.
    pub subtype: Option<Arc<str>>,
    /// The settings that it sets.
    pub written: WrittenSettings,
    /// Index into [`Declarations::files`].
    pub file: u16,
}

/// The reason why a type has no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    /// The operator is unknown to the language and the project.
    UnknownOperator,
    /// The operator is known, its subtype is not. The operator's own row applies.
    UnknownSubtype(RowId),
}

/// All rows of a project with their layers. Built by [`Layers::new`].
#[derive(Clone, Debug)]
pub struct Layers {
    pub(super) files: Vec<Arc<str>>,
    /// `atomic`, stored separately so that a fallback row always exists.
    pub(super) atomic: OperatorRow,
    /// All other rows; the row with id `n` is at index `n - 1`.
    pub(super) others: Vec<OperatorRow>,
}

impl Layers {
    /// Returns the row of a task by its type and subtype as written. Types of older dialects are
    /// accepted unless the project declares them itself.
    pub fn resolve_row(&self, operator: &str, subtype: Option<&str>) -> Result<RowId, RowFault> {
        let Some(own) = self.find_row(operator, None) else {
            let alias = TYPE_ALIASES
                .iter()
                .find(|(word, ..)| *word == operator)
                .ok_or(RowFault::UnknownOperator)?;
            return self.resolve_row(alias.1.word(), subtype.or(alias.2));
        };
        let Some(subtype) = subtype else {
            return Ok(own);
        };
        if own == RowId::ATOMIC && subtype == "standard" {
            return Ok(own);
        }
        let found = self
            .find_row(operator, Some(subtype))
            .filter(|id| self.get(*id).kind == RowKind::Subtype);
        found.ok_or(RowFault::UnknownSubtype(own))
    }

    /// Returns the row of a body in place inside a task of this row. Declared operators have the
    /// parts of their base.
    pub fn part_row(&self, of: RowId, part: BodyPart) -> RowId {
        self.find_row(&self.get(of).operator, Some(part.word()))
            .unwrap_or(RowId::ATOMIC)
    }

    /// Returns a row. An id from another project yields `atomic` if this one has fewer rows.
    pub fn get(&self, id: RowId) -> &OperatorRow {
        id.index()
            .checked_sub(1)
            .and_then(|at| self.others.get(at))
            .unwrap_or(&self.atomic)
    }

    /// All rows: the table of the language first, then the project's declarations.
    pub fn rows(&self) -> impl Iterator<Item = (RowId, &OperatorRow)> {
        std::iter::once(&self.atomic)
            .chain(&self.others)
            .enumerate()
            .map(|(index, row)| (RowId(index as u16), row))
    }

    /// The settings that a row resolves to by itself.
    pub fn defaults(&self, id: RowId) -> &ResolvedSettings {
        &self.get(id).defaults
    }

    /// The values that the layers of a row give one setting, the lowest layer first; never empty.
    pub fn layer_values(&self, id: RowId, name: SettingName) -> &[LayerValue] {
        self.get(id)
            .chain
            .get(name as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// The project files that spans refer to.
    pub fn files(&self) -> &[Arc<str>] {
        &self.files
    }

    /// The path of a project file, by its index in a `ValuePlace`.
    pub fn file(&self, index: u16) -> Option<&Arc<str>> {
        self.files.get(index as usize)
    }

    /// The values that `type="…"` accepts.
    pub fn operator_names(&self) -> impl Iterator<Item = &str> {
        self.rows()
            .filter(|(_, row)| row.kind == RowKind::Operator)
            .map(|(_, row)| &*row.operator)
    }

    /// The values that `subtype="…"` accepts for an operator.
    pub fn subtype_names<'s>(&'s self, operator: &'s str) -> impl Iterator<Item = &'s str> {
        let standard = (operator == "atomic").then_some("standard");
        let rows = self
            .rows()
            .filter(move |(_, row)| row.kind == RowKind::Subtype && &*row.operator == operator);
        standard
            .into_iter()
            .chain(rows.filter_map(|(_, row)| row.subtype.as_deref()))
    }

    /// Returns the row of an operator (`None`), or of one of its subtypes or parts.
    pub fn find_row(&self, operator: &str, name: Option<&str>) -> Option<RowId> {
        let mut rows = self.rows();
        rows.find(|(_, row)| &*row.operator == operator && row.subtype.as_deref() == name)
            .map(|(id, _)| id)
    }
}
