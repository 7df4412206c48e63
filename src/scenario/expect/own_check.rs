//! `command` and `python`: the project's own checks, which read a trial and return a verdict.

use super::python_modules;
use crate::base::span::Spanned;
use crate::scenario::table::{Key, Shape, Table, Thing, key, needed};
use crate::scenario::values::{text, texts, whole};
use crate::syntax::yaml::Node;
use serde::Serialize;

/// The default timeout of a check, in seconds.
const SECONDS: u64 = 10;
const TIMEOUT: Key = key(
    "timeout_s",
    Shape::Whole(1, 3600),
    "seconds after which it is killed with everything that it started; default: 10",
);

pub(super) static COMMAND: Table = Table {
    what: "`command`",
    keys: &[
        needed(
            "argv",
            Shape::List(&Shape::Text, 1),
            "the command as an argument list",
        )
        .names(Thing::Argument),
        TIMEOUT,
    ],
    groups: &[],
};

pub(super) static PYTHON: Table = Table {
    what: "`python`",
    keys: &[
        needed(
            "function",
            Shape::Text,
            "the function as `module:function`; the project's folder is on the module path",
        ),
        TIMEOUT,
    ],
    groups: &[],
};

/// One of the project's own checks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnCheck {
    /// The program of the check.
    pub what: Runs,
    /// Its timeout in seconds.
    pub timeout_s: u64,
}

/// The program of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Runs {
    /// A command as an argument list.
    Command(Vec<Spanned<String>>),
    /// A Python function as `module:function`.
    Python(Spanned<String>),
}

impl OwnCheck {
    fn of(node: &Node<'_>, what: Runs) -> Self {
        Self {
            what,
            timeout_s: node.get("timeout_s").and_then(whole).unwrap_or(SECONDS),
        }
    }

    pub(super) fn command(node: &Node<'_>) -> Self {
        Self::of(
            node,
            Runs::Command(texts(Some(node.get("argv").unwrap_or(node)))),
        )
    }

    pub(super) fn python(node: &Node<'_>) -> Option<Self> {
        let function = node.get("function").unwrap_or(node);
        Some(Self::of(node, Runs::Python(text(function)?)))
    }

    /// Describes the program as reports print it.
    pub fn words(&self) -> String {
        match &self.what {
            Runs::Command(argv) => {
                let words: Vec<&str> = argv.iter().map(|word| word.value.as_str()).collect();
                format!("`{}`", words.join(" "))
            }
            Runs::Python(function) => format!("the Python function `{}`", function.value),
        }
    }

    /// The paths of project files that may define the behaviour of the check. They need not exist.
    pub fn files(&self) -> Vec<String> {
        match &self.what {
            Runs::Command(argv) => {
                let plain = |word: &Spanned<String>| {
                    word.value
                        .strip_prefix("./")
                        .unwrap_or(&word.value)
                        .to_owned()
                };
                let modules = argv
                    .windows(2)
                    .filter(|words| words.first().is_some_and(|word| word.value == "-m"));
                let modules = modules
                    .filter_map(|words| words.last())
                    .flat_map(|module| python_modules::files(&module.value));
                argv.iter().map(plain).chain(modules).collect()
            }
            Runs::Python(function) => {
                python_modules::files(function.value.split(':').next().unwrap_or_default())
                    .collect()
            }
        }
    }
}
