//! The files of a project that its package contains, read from the disk.

use crate::base::contained_path::{self, slash_path};
use crate::base::fs::{self, RealFs};
use crate::base::patterns::is_ignored;
use crate::cli::prelude::*;
use crate::package::{self, PackedFile};
use crate::project::config::Config;
use crate::project::package_section::PackageSection;

/// The maximum number of folders inside each other.
const MAX_DEPTH: usize = 32;
/// The maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 100 << 20;

/// Returns the package that a project is published as.
pub(super) fn require_package(config: &Config) -> Result<&PackageSection> {
    config.package.as_ref().ok_or_else(|| {
        CliError::new(CliErrorKind::Project, "ctxc.toml has no `[package]`").with_hint(
            "name the package and its version there: `name = \"acme/rules\"`, `version = \"0.1.0\"`",
        )
    })
}

/// Reads the files of a package.
pub(super) fn read_files(project: &Project) -> Result<Vec<PackedFile>> {
    let mut paths = Vec::new();
    collect_paths(&project.root, &mut PathBuf::new(), &mut paths);
    paths.sort();
    let read = |path: String| {
        let place = Path::new(&path);
        if fs::is_link(&project.root.join(place)) {
            return Err(CliError::usage(format!("{path} is a link"))
                .with_hint("put the file itself in its place: a package contains no links"));
        }
        match contained_path::read_file(&RealFs, &project.root, place, MAX_FILE_BYTES) {
            Ok(bytes) => Ok(PackedFile { path, bytes }),
            Err(why) => Err(CliError::new(
                CliErrorKind::Infrastructure,
                format!("{path} cannot be read: {why}"),
            )),
        }
    };
    package::select_files(&project.config, paths)
        .into_iter()
        .map(read)
        .collect()
}

/// Collects the files below a folder that are neither hidden nor ignored.
fn collect_paths(root: &Path, folder: &mut PathBuf, out: &mut Vec<String>) {
    if folder.iter().count() > MAX_DEPTH {
        return;
    }
    for entry in fs::list_folder(&root.join(&*folder)) {
        folder.push(&entry.name);
        if entry.name.starts_with('.') || is_ignored(root, folder) {
            // Neither belongs to a package.
        } else if entry.is_folder {
            collect_paths(root, folder, out);
        } else {
            out.push(slash_path(folder));
        }
        folder.pop();
    }
}
