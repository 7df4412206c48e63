//! The options of the formatter: width and indentation.

/// The indentation of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// This number of spaces.
    Spaces(u8),
    /// A tab, which counts as four columns.
    Tab,
}

/// The options of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// The maximum width in columns of a start tag before its attributes are placed on lines of
    /// their own.
    pub width: u32,
    /// The indentation of one level.
    pub indent: Indent,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self {
            width: 100,
            indent: Indent::Spaces(2),
        }
    }
}

impl Indent {
    /// The number of columns of one level.
    pub(super) const fn column_count(self) -> usize {
        match self {
            Self::Spaces(count) => count as usize,
            Self::Tab => 4,
        }
    }

    /// Appends the white space of the given number of levels.
    pub(super) fn push_levels(self, levels: usize, out: &mut String) {
        for _ in 0..levels {
            match self {
                Self::Spaces(count) => out.extend(std::iter::repeat_n(' ', usize::from(count))),
                Self::Tab => out.push('\t'),
            }
        }
    }
}
