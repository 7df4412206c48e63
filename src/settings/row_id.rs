//! The index of a row of the operator table.

/// A row of [`Layers`](super::layers::Layers). Stable within one project only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub(super) u16);

impl RowId {
    /// `atomic`, also `atomic` with the subtype `standard`: the row of a task without a type.
    pub const ATOMIC: Self = Self(0);

    /// The index in [`Layers::rows`](super::layers::Layers::rows).
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
