//! The verdicts on earlier versions and the accepted breaks, as a project or a revision has them.

use crate::base::fs::ReadFs;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::revision::ProjectAtRevision;
use crate::context::request::Files;
use crate::package::matrix::{
    ACCEPTED_FILE, AcceptedBreak, MATRIX_FILE, Matrix, MatrixFault, parse_acceptances,
};

/// Returns an error if the matrix is missing and the last commit has it.
pub(in crate::cli) fn require_committed_matrix(project: &CompiledProject) -> Result<()> {
    let has = |files: &dyn ReadFs, root: &Path| files.stamp(&root.join(MATRIX_FILE)).is_ok();
    let head = ProjectAtRevision::open(&project.root, "HEAD");
    let was_removed = head.is_ok_and(|head| has(head.file_system(), &head.root))
        && !has(project.files().files, &project.root);
    if was_removed {
        let message = format!("{MATRIX_FILE} is missing, and HEAD has it");
        return Err(CliError::new(CliErrorKind::Project, message).with_hint(format!(
            "`git checkout HEAD -- {MATRIX_FILE}` restores it: without it, a contract that held would count as new"
        )));
    }
    Ok(())
}

/// Reads the matrix of a project; empty if there is none.
pub(in crate::cli) fn read_matrix(project: &CompiledProject) -> Result<Matrix> {
    Matrix::parse(&read_text(project, MATRIX_FILE)?).map_err(|fault| line_error(&fault))
}

/// Reads the accepted breaks of a project; none if there is no such file.
pub(in crate::cli) fn read_acceptances(project: &CompiledProject) -> Result<Vec<AcceptedBreak>> {
    parse_acceptances(&read_text(project, ACCEPTED_FILE)?).map_err(|fault| line_error(&fault))
}

/// Reads a file of the project; empty if there is none.
fn read_text(project: &CompiledProject, file: &str) -> Result<String> {
    let inside = project.files();
    let is_missing = || {
        let found = inside.files.stamp(&project.root.join(file));
        found.is_err_and(|why| why.kind() == std::io::ErrorKind::NotFound)
    };
    match inside.text(file) {
        Ok(text) => Ok(text),
        Err(_) if is_missing() => Ok(String::new()),
        Err(why) => Err(restorable_error(format!("{file} cannot be read: {why}"))),
    }
}

fn line_error(fault: &MatrixFault) -> CliError {
    restorable_error(fault.to_string())
}

/// An error in a file that keeps which contracts hold. Nothing is written over it.
fn restorable_error(message: String) -> CliError {
    CliError::new(CliErrorKind::Project, message).with_hint(
        "restore the line, or merge both sides by hand: without it, a contract that held would count as new",
    )
}
