//! Files that an agent requests while it runs: checks access and reads their texts, once.
//!
//! Such files are not named by an author, so their texts are untrusted. Never returns a file that a
//! lookup would exclude: hidden, ignored or protected files, keys and files that look like keys,
//! and the files that set up the project.

use crate::base::contained_path;
use crate::base::secrets::key_files::{holds_key, is_key_file};
use crate::context::request::{Files, RequestedFile};
use crate::kernel::context::Trust;
use crate::project::roles::Role;
use crate::project::suppressions;
use std::collections::BTreeMap;
use std::path::Path;

/// The project file.
const PROJECT_FILE: &str = "ctxc.toml";

/// The texts of requested files, by the paths as requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestedFiles(BTreeMap<String, String>);

impl RequestedFiles {
    /// Reads the files of a project that an agent requests. The agent's role protects some of them;
    /// without a role, each role that protects some but not all files does.
    ///
    /// # Errors
    /// The first file that agents may not read, or that cannot be read, with the reason.
    pub(super) fn read<'p, 'r>(
        paths: impl IntoIterator<Item = &'p String>,
        files: &dyn Files,
        role: Option<&'r Role>,
        all: &(impl Iterator<Item = &'r Role> + Clone),
    ) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for path in paths {
            let refuse = |why: String| format!("agents may not ask for the file `{path}`: {why}");
            let plain = contained_path::normalize_path(Path::new(path))
                .map(|plain| contained_path::slash_path(&plain));
            let plain =
                plain.ok_or_else(|| refuse("it lies outside the project's folder".to_owned()))?;
            check_access(&plain, role, all.clone()).map_err(refuse)?;
            let RequestedFile { path: real, text } = files.requested(&plain).map_err(refuse)?;
            // The target of a link has a name of its own.
            check_access(&real, role, all.clone()).map_err(refuse)?;
            if holds_key(&text) {
                return Err(refuse("it holds a key or credentials".to_owned()));
            }
            texts.insert(path.clone(), text);
        }
        Ok(Self(texts))
    }
}

impl Files for RequestedFiles {
    fn text(&self, path: &str) -> Result<String, String> {
        self.0.text(path)
    }

    fn trust(&self) -> Trust {
        Trust::Untrusted
    }
}

/// Checks access to a path, relative to the project, by its name.
fn check_access<'r>(
    path: &str,
    role: Option<&'r Role>,
    mut all: impl Iterator<Item = &'r Role>,
) -> Result<(), String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.split('/').any(|part| part.starts_with('.')) {
        return Err("it is hidden".to_owned());
    }
    if [PROJECT_FILE, suppressions::SUPPRESSIONS_FILE]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
    {
        return Err("it sets up the project".to_owned());
    }
    if is_key_file(path) {
        return Err("its name is that of a key, a credential or an environment file".to_owned());
    }
    let protects = |role: &&Role| role.protected.matches(path);
    let any = || all.find(|role| protects(role) && !role.protected.matches_everything());
    match role.map_or_else(any, |own| Some(own).filter(protects)) {
        Some(role) => Err(format!("role `{}` protects it", role.name.value)),
        None => Ok(()),
    }
}
