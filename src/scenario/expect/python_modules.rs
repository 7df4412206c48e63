//! Where Python takes a module of the project from, read off names and texts: nothing is run.

use std::collections::BTreeSet;

/// What a module or package is kept in, the first that is there counting. What is compiled under the tag of one machine is not looked for.
const KEPT: [&str; 6] = ["/__init__.py", "/__init__.pyc", ".abi3.so", ".so", ".py", ".pyc"];

/// The files in which Python looks for a module, `a.b.c`, and for the packages that it is in.
pub fn files(module: &str) -> impl Iterator<Item = String> {
    let ends = module.match_indices('.').map(|(at, _)| at).chain([module.len()]);
    let places: Vec<String> = ends.filter_map(|end| module.get(..end)).map(|name| name.replace('.', "/")).collect();
    places.into_iter().flat_map(|place| KEPT.map(|ending| format!("{place}{ending}")))
}

/// The files in which Python may look for what the text of a file imports, as far as statements say so that begin a line.
pub fn imported(path: &str, text: &str) -> Vec<String> {
    let mut modules: BTreeSet<String> = BTreeSet::new();
    let mut is_open = false;
    let mut package = "";
    for line in text.lines() {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').filter(|word| !word.is_empty());
        let words: Vec<&str> = words.map(|word| word.trim_matches('.')).collect();
        if !is_open && !matches!(words.first(), Some(&("import" | "from"))) {
            continue;
        }
        if !is_open {
            package = words.get(1).copied().unwrap_or_default();
        }
        is_open = (is_open || line.contains('(')) && !line.contains(')') || line.ends_with('\\');
        modules.extend(words.iter().flat_map(|word| [(*word).to_owned(), format!("{package}.{word}")]));
    }
    // Relative to the file or to a package around it, as a script finds what lies beside it; else from the project's folder.
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..=at)).chain([""]);
    folders
        .flat_map(|folder| modules.iter().flat_map(|module| files(module)).map(move |file| format!("{folder}{file}")))
        .collect()
}
