//! Names that minijinja resolves itself and that cannot be declared: filters, tests, functions,
//! methods, names of macros and blocks.

use super::builtins::{FILTERS, TESTS};
use super::environment::environment;

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JinjaName {
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

impl JinjaName {
    /// All names of this kind, sorted; empty for methods and variables, which belong to values and
    /// texts.
    pub fn all(self) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match self {
            Self::Filter => owned(FILTERS),
            Self::Test => owned(TESTS),
            Self::Function => {
                let mut names: Vec<String> = environment()
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
