//! The people responsible for a file: the signer of a commit, and the owners that CODEOWNERS lists.

use super::git::Git;
use crate::cli::prelude::*;
use crate::project::path_patterns::holds;
use std::collections::BTreeSet;

/// The paths of CODEOWNERS that forges support, from the top of the repository.
const FILES: [&str; 4] = [
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
];

/// Returns true if the commit since `base` that added a line to a file, relative to `folder`, has a
/// valid signature of a person.
pub(crate) fn is_signed(
    folder: &Path,
    base: &str,
    (path, line): (&str, &str),
    by: &str,
) -> Result<bool> {
    let (pick, range) = (format!("-S{line}"), format!("{base}..HEAD"));
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
    let found = Git::around(folder, base)?.line(&args)?;
    let signer = found.as_deref().and_then(|found| found.strip_prefix("G "));
    Ok(signer.is_some_and(|signer| signer == by || signer.ends_with(&format!("<{by}>"))))
}

/// Returns the owners of a file of a project, by the CODEOWNERS of a commit; `place` is the folder
/// of the project from the top.
pub(crate) fn owners(
    folder: &Path,
    commit: &str,
    place: &str,
    path: &str,
) -> Result<BTreeSet<String>> {
    let git = Git::around(folder, commit)?;
    let path = if place.is_empty() {
        path.to_owned()
    } else {
        format!("{place}/{path}")
    };
    for file in FILES {
        if let Some(text) = git.text(commit, file)? {
            return Ok(of(&text, &path));
        }
    }
    Ok(BTreeSet::new())
}

/// Returns the owners in the last line of a CODEOWNERS whose pattern matches a path.
fn of(text: &str, path: &str) -> BTreeSet<String> {
    let mut owners = BTreeSet::new();
    for line in text.lines() {
        let mut words = line
            .split_whitespace()
            .take_while(|word| !word.starts_with('#'));
        if words.next().is_some_and(|pattern| is_of(pattern, path)) {
            owners = words.map(str::to_owned).collect();
        }
    }
    owners
}

/// Returns true if a pattern matches a path: from the top if it has a slash before its end,
/// otherwise at any depth.
fn is_of(pattern: &str, path: &str) -> bool {
    let bare = pattern.trim_end_matches('/');
    if bare.contains('/') {
        return holds(bare.trim_start_matches('/'), path);
    }
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts
        .filter_map(|at| path.get(at..))
        .any(|rest| !bare.is_empty() && holds(bare, rest))
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/revision/owners.rs"]
mod tests;
