//! How wide, how deep.

/// What one level is indented by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// So many spaces.
    Spaces(u8),
    /// A tab, which counts as four columns.
    Tab,
}

/// The layout that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns that a start tag may take before its attributes get lines of their own.
    pub width: u32,
    /// What one level is indented by.
    pub indent: Indent,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 100, indent: Indent::Spaces(2) }
    }
}

impl Indent {
    /// Columns of one level.
    pub(super) const fn columns(self) -> usize {
        match self {
            Self::Spaces(count) => count as usize,
            Self::Tab => 4,
        }
    }

    /// Appends the white space of some levels.
    pub(super) fn push(self, levels: usize, out: &mut String) {
        for _ in 0..levels {
            match self {
                Self::Spaces(count) => out.extend(std::iter::repeat_n(' ', usize::from(count))),
                Self::Tab => out.push('\t'),
            }
        }
    }
}
