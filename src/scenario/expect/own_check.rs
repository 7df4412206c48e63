//! `command` and `python`: the project's own checks, which read a trial and return a verdict, and
//! the project files that a Python module may be loaded from. Runs nothing.

use crate::base::span::Spanned;
use crate::scenario::table::{
    NamedThingKind, ScenarioKey, ScenarioShape, ScenarioTable, optional_key, required_key,
};
use crate::scenario::values::{read_text, read_texts, read_whole};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;
use std::collections::BTreeSet;

/// The default timeout of a check, in seconds.
const DEFAULT_TIMEOUT_SECONDS: u64 = 10;
const TIMEOUT_KEY: ScenarioKey = optional_key(
    "timeout_s",
    ScenarioShape::Whole(1, 3600),
    "seconds after which it is killed with everything that it started; default: 10",
);

pub(in crate::scenario) static COMMAND_TABLE: ScenarioTable = ScenarioTable {
    what: "`command`",
    keys: &[
        required_key(
            "argv",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "the command as an argument list",
        )
        .with_names(NamedThingKind::Argument),
        TIMEOUT_KEY,
    ],
    groups: &[],
};

pub(in crate::scenario) static PYTHON_TABLE: ScenarioTable = ScenarioTable {
    what: "`python`",
    keys: &[
        required_key(
            "function",
            ScenarioShape::Text,
            "the function as `module:function`; the project's folder is on the module path",
        ),
        TIMEOUT_KEY,
    ],
    groups: &[],
};

/// One of the project's own checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnCheck {
    /// The program of the check.
    pub what: CheckProgram,
    /// Its timeout in seconds.
    pub timeout_s: u64,
}

/// The program of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum CheckProgram {
    /// A command as an argument list.
    Command(Vec<Spanned<String>>),
    /// A Python function as `module:function`.
    Python(Spanned<String>),
}

impl OwnCheck {
    fn with_program(node: &YamlNode<'_>, what: CheckProgram) -> Self {
        Self {
            what,
            timeout_s: node
                .get("timeout_s")
                .and_then(read_whole)
                .unwrap_or(DEFAULT_TIMEOUT_SECONDS),
        }
    }

    pub(in crate::scenario) fn read_command(node: &YamlNode<'_>) -> Self {
        Self::with_program(
            node,
            CheckProgram::Command(read_texts(Some(node.get("argv").unwrap_or(node)))),
        )
    }

    pub(in crate::scenario) fn read_python(node: &YamlNode<'_>) -> Option<Self> {
        let function = node.get("function").unwrap_or(node);
        Some(Self::with_program(
            node,
            CheckProgram::Python(read_text(function)?),
        ))
    }

    /// Describes the program as reports print it.
    pub fn describe(&self) -> String {
        match &self.what {
            CheckProgram::Command(argv) => {
                let words: Vec<&str> = argv.iter().map(|word| word.value.as_str()).collect();
                format!("`{}`", words.join(" "))
            }
            CheckProgram::Python(function) => format!("the Python function `{}`", function.value),
        }
    }

    /// The paths of project files that may define the behaviour of the check. They need not exist.
    pub fn possible_files(&self) -> Vec<String> {
        match &self.what {
            CheckProgram::Command(argv) => {
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
                    .flat_map(|module| module_files(&module.value));
                argv.iter().map(plain).chain(modules).collect()
            }
            CheckProgram::Python(function) => {
                module_files(function.value.split(':').next().unwrap_or_default()).collect()
            }
        }
    }
}

/// The endings of a module or package file; Python uses the first that exists. Files compiled for
/// one platform tag are not considered.
const MODULE_ENDINGS: [&str; 6] = [
    "/__init__.py",
    "/__init__.pyc",
    ".abi3.so",
    ".so",
    ".py",
    ".pyc",
];

/// The files in which Python looks for the module `a.b.c` and for its packages.
pub fn module_files(module: &str) -> impl Iterator<Item = String> {
    let ends = module
        .match_indices('.')
        .map(|(at, _)| at)
        .chain([module.len()]);
    let places: Vec<String> = ends
        .filter_map(|end| module.get(..end))
        .map(|name| name.replace('.', "/"))
        .collect();
    places
        .into_iter()
        .flat_map(|place| MODULE_ENDINGS.map(|ending| format!("{place}{ending}")))
}

/// The files in which Python may look for the imports of a source text. Considers only import
/// statements at the beginning of a line.
pub fn imported_files(path: &str, text: &str) -> Vec<String> {
    let mut modules: BTreeSet<String> = BTreeSet::new();
    let mut is_open = false;
    let mut package = "";
    for line in text.lines() {
        let words = line
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .filter(|word| !word.is_empty());
        let words: Vec<&str> = words.map(|word| word.trim_matches('.')).collect();
        if !is_open && !matches!(words.first(), Some(&("import" | "from"))) {
            continue;
        }
        if !is_open {
            package = words.get(1).copied().unwrap_or_default();
        }
        is_open = (is_open || line.contains('(')) && !line.contains(')') || line.ends_with('\\');
        modules.extend(
            words
                .iter()
                .flat_map(|word| [(*word).to_owned(), format!("{package}.{word}")]),
        );
    }
    // Relative to the file and to each package that contains it, as for a script and its
    // neighbours, and to the project's folder.
    let folders = path
        .match_indices('/')
        .filter_map(|(at, _)| path.get(..=at))
        .chain([""]);
    folders
        .flat_map(|folder| {
            modules
                .iter()
                .flat_map(|module| module_files(module))
                .map(move |file| format!("{folder}{file}"))
        })
        .collect()
}
