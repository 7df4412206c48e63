//! Names of tasks and of files. Paths are relative to the project's folder and written with `/`.

use super::prompt_model::TurnRole;

/// The name of a task for a file: its stem in lower case, words joined by `-`.
pub fn task_name(path: &str) -> String {
    let mut stem = path.rsplit('/').next().unwrap_or(path);
    while let Some((head, ending)) = stem.rsplit_once('.') {
        let is_ending = ending.len() <= 8 && ending.chars().all(|c| c.is_ascii_alphanumeric());
        if head.is_empty() || !is_ending {
            break;
        }
        stem = head;
    }
    kebab_case(stem)
}

/// Recognises a file that is one half of a prompt by its name: `triage_system.j2`,
/// `triage.user.j2`, `triage/system.j2`. Returns the common name of both halves, with the folder,
/// and the role of this one.
pub fn parse_half(path: &str) -> Option<(String, TurnRole)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    // The part before the last extension can be the role: `triage.system.j2`.
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words = kebab_case(stem);
    let mut words: Vec<&str> = words.split('-').collect();
    words.pop_if(|word| matches!(*word, "prompt" | "message" | "md" | "txt"));
    let role = match words.pop()? {
        "system" => TurnRole::System,
        "user" => TurnRole::User,
        _ => return None,
    };
    let both = if words.is_empty() {
        folder(path).to_owned()
    } else {
        format!("{}/{}", folder(path), words.join("-"))
    };
    Some((both, role))
}

/// Words in lower case, joined by `-`.
pub(super) fn kebab_case(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut was_lower = false;
    for c in words.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && was_lower {
                out.push('-');
            }
            was_lower = c.is_lowercase() || c.is_numeric();
            out.extend(c.to_lowercase());
        } else {
            was_lower = false;
            if !out.is_empty() && !out.ends_with('-') {
                out.push('-');
            }
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() {
        "prompt".to_owned()
    } else {
        out.to_owned()
    }
}

/// The folder of a file; empty for the project's own.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders in which a loader searches included files: the given ones, the file's own, and those
/// above it.
pub(super) fn search_folders(path: &str, roots: &[String]) -> Vec<String> {
    let mut all = roots.to_vec();
    let mut at = folder(path);
    loop {
        if !all.iter().any(|folder| folder == at) {
            all.push(at.to_owned());
        }
        if at.is_empty() {
            return all;
        }
        at = folder(at);
    }
}

/// The path of a name in a folder; `None` if it leads out of the folder.
pub(super) fn path_in_folder(folder: &str, name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with('/') || name.contains(['\\', '\0', ':']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
#[path = "../../tests/unit/import/prompt_names.rs"]
mod tests;
