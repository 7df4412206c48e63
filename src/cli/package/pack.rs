//! `ctxc package pack`: writes the package of a project to an archive.

use super::project_files::{read_files, require_package};
use crate::base::fs;
use crate::cli::prelude::*;
use crate::package::write_archive;

#[derive(Debug, Args)]
pub(super) struct PackArgs {
    /// The archive [default: ORGANISATION-NAME-VERSION.tar.zst in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the archive.
pub(super) fn run_pack(args: &PackArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    let package = require_package(&project)?;
    let files = read_files(&project)?;
    let place = args.output.clone().unwrap_or_else(|| {
        let (name, version) = (package.name.value.replace('/', "-"), &package.version.value);
        PathBuf::from(format!("{name}-{version}.tar.zst"))
    });
    write_archive(&files)
        .and_then(|bytes| fs::write_atomic(&place, &bytes))
        .map_err(|why| CliError::write_failed(&place, &why))?;
    cx.print_note(&format!(
        "{}: {}",
        place.display(),
        pluralize(files.len(), "file")
    ));
    Ok(Exit::Success)
}
