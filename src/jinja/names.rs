//! Names that minijinja resolves itself and that cannot be declared: filters, tests, functions,
//! methods, names of macros and blocks.

use super::builtins::{FILTER_NAMES, TEST_NAMES};
use super::environment::build_environment;

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JinjaNameKind {
    /// `{{ a|upper }}`.
    Filter,
    /// `{{ a is defined }}`.
    Test,
    /// `{{ range(3) }}`.
    Function,
    /// `{{ text.strip() }}`.
    Method,
    /// `{{ varargs }}` inside of a macro, `{{ self.block() }}`.
    Variable,
}

impl JinjaNameKind {
    /// All names of this kind, sorted; empty for methods and variables, which belong to values and
    /// texts.
    pub fn known_names(self) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match self {
            Self::Filter => owned(FILTER_NAMES),
            Self::Test => owned(TEST_NAMES),
            Self::Function => {
                let mut names: Vec<String> = build_environment()
                    .globals()
                    .map(|(name, _)| name.to_owned())
                    .collect();
                names.sort();
                names
            }
            Self::Method | Self::Variable => Vec::new(),
        }
    }
}
