//! The project files that a Python module may be loaded from, derived from names and texts. Runs
//! nothing.

use std::collections::BTreeSet;

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
