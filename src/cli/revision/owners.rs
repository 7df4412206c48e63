//! The people responsible for a file: the signer of a commit, and the owners that CODEOWNERS lists.

use super::git::GitRepository;
use crate::cli::prelude::*;
use crate::project::glob::contains_path;
use std::collections::BTreeSet;

/// The paths of CODEOWNERS that forges support, from the top of the repository.
const CODEOWNERS_PATHS: [&str; 4] = [
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
];

/// A line that was added to a file.
pub(crate) struct AddedLine<'l> {
    /// The commit since which it was added.
    pub(crate) base: &'l str,
    /// The file, relative to the folder.
    pub(crate) path: &'l str,
    pub(crate) text: &'l str,
}

/// Returns true if the commit that added a line has a valid signature of a person.
pub(crate) fn is_line_signed(folder: &Path, line: &AddedLine<'_>, by: &str) -> Result<bool> {
    let AddedLine { base, path, text } = line;
    let (pick, range) = (format!("-S{text}"), format!("{base}..HEAD"));
    let args = [
        "log",
        "-n",
        "1",
        "--no-show-signature",
        "--format=%G? %GS",
        &pick,
        &range,
        "--",
        path,
    ];
    let found = GitRepository::open_around(folder, base)?.query_line(&args)?;
    let signer = found.as_deref().and_then(|found| found.strip_prefix("G "));
    Ok(signer.is_some_and(|signer| signer == by || signer.ends_with(&format!("<{by}>"))))
}

/// Returns the owners of a file of a project, by the CODEOWNERS of a commit; `place` is the folder
/// of the project from the top.
pub(crate) fn file_owners(
    folder: &Path,
    commit: &str,
    place: &str,
    path: &str,
) -> Result<BTreeSet<String>> {
    let git = GitRepository::open_around(folder, commit)?;
    let path = if place.is_empty() {
        path.to_owned()
    } else {
        format!("{place}/{path}")
    };
    for file in CODEOWNERS_PATHS {
        if let Some(text) = git.file_text(commit, file)? {
            return Ok(owners_in(&text, &path));
        }
    }
    Ok(BTreeSet::new())
}

/// Returns the owners in the last line of a CODEOWNERS whose pattern matches a path.
fn owners_in(text: &str, path: &str) -> BTreeSet<String> {
    let mut owners = BTreeSet::new();
    for line in text.lines() {
        let mut words = line
            .split_whitespace()
            .take_while(|word| !word.starts_with('#'));
        if words
            .next()
            .is_some_and(|pattern| pattern_matches(pattern, path))
        {
            owners = words.map(str::to_owned).collect();
        }
    }
    owners
}

/// Returns true if a pattern matches a path: from the top if it has a slash before its end,
/// otherwise at any depth.
fn pattern_matches(pattern: &str, path: &str) -> bool {
    let bare = pattern.trim_end_matches('/');
    if bare.contains('/') {
        return contains_path(bare.trim_start_matches('/'), path);
    }
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts
        .filter_map(|at| path.get(at..))
        .any(|rest| !bare.is_empty() && contains_path(bare, rest))
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/revision/owners.rs"]
mod tests;
