//! The files that a package contains. By their paths alone, so that a work tree and a revision give
//! the same list.

use crate::base::contained_path::resolve_beside;
use crate::project::config::Config;
use crate::project::glob;

/// The project file.
const PROJECT_FILE: &str = "ctxc.toml";
/// The locked versions of the packages that it uses.
const LOCK_FILE: &str = "ctxc.lock";
/// The default folders of texts that templates, roles and scenarios include.
const TEXT_FOLDERS: [&str; 6] = [
    "fragments",
    "prompts",
    "rubrics",
    "schemas",
    "texts",
    "tools",
];
/// The default files for people, by the beginning of their names.
const PAGES: [&str; 3] = ["CHANGELOG", "LICENSE", "README"];
/// The folders of recorded answers.
const RECORDINGS: &str = "recordings";
/// Folders of a package that is in use here, and of installed programs.
const FOREIGN_FOLDERS: [&str; 3] = ["node_modules", "target", "vendor"];

/// Returns the paths of a project that its package contains, in their order: the project file, the
/// file that it extends, and those that `[package] files` names. Never a hidden file, and recordings
/// only with `recordings = true`.
pub fn select_files<P: AsRef<str>>(config: &Config, paths: impl IntoIterator<Item = P>) -> Vec<P> {
    let recordings = config
        .package
        .as_ref()
        .is_some_and(|package| package.has_recordings);
    let is_selected = |path: &str| {
        let is_allowed = path.split('/').all(|part| !part.starts_with('.'))
            && (recordings || !is_recording(path));
        is_allowed && (is_settings(config, path) || is_listed(config, path))
    };
    paths
        .into_iter()
        .filter(|path| is_selected(path.as_ref()))
        .collect()
}

/// True for a recorded answer.
pub fn is_recording(path: &str) -> bool {
    path.split('/').any(|part| part == RECORDINGS)
}

fn is_settings(config: &Config, path: &str) -> bool {
    let is_own = |written: &str| resolve_beside(PROJECT_FILE, written).as_deref() == Some(path);
    path == PROJECT_FILE || path == LOCK_FILE || config.files.iter().any(|file| is_own(&file.path))
}

fn is_listed(config: &Config, path: &str) -> bool {
    let files = config.package.as_ref().and_then(|own| own.files.as_ref());
    if let Some(files) = files {
        return files.matches(path);
    }
    let top = path.split('/').next().unwrap_or_default();
    let is_top = top == path;
    let templates = &config.templates;
    let is_template = match &templates.include {
        Some(globs) => globs.matches(path),
        None => is_top && path.strip_suffix(".xml").is_some(),
    } && !templates.exclude.matches(path);
    let in_templates = templates.folders().iter().any(|folder| top == folder);
    !FOREIGN_FOLDERS.contains(&top)
        && (is_template
            || in_templates
            || TEXT_FOLDERS.contains(&top)
            || is_top && PAGES.iter().any(|page| path.starts_with(page))
            || config
                .eval
                .scenario_roots()
                .iter()
                .any(|root| root != "." && glob::contains_path(root, path)))
}

#[cfg(test)]
#[path = "../../tests/unit/package/file_choice.rs"]
mod tests;
