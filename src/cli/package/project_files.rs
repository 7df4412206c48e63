//! The files of a project that its package contains, read from the disk.

use crate::base::contained_path::{list_files_below, read_file};
use crate::base::fs::{self, RealFs};
use crate::base::patterns::is_ignored;
pub(super) use crate::cli::context::contracts::require_package;
use crate::cli::prelude::*;
use crate::package::{self, PackedFile};

/// The maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 100 << 20;

/// Reads the files of a package.
pub(super) fn read_files(project: &Project) -> Result<Vec<PackedFile>> {
    let paths = list_files_below(&project.root, |name, path| {
        name.starts_with('.') || is_ignored(&project.root, path)
    });
    let read = |path: String| {
        let place = Path::new(&path);
        if fs::is_link(&project.root.join(place)) {
            return Err(CliError::usage(format!("{path} is a link"))
                .with_hint("put the file itself in its place: a package contains no links"));
        }
        match read_file(&RealFs, &project.root, place, MAX_FILE_BYTES) {
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
