//! The verdicts on earlier versions and the accepted breaks, as a project or a revision has them.

use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::context::request::Files;
use crate::package::matrix::{
    ACCEPTED_FILE, AcceptedBreak, MATRIX_FILE, Matrix, MatrixFault, parse_acceptances,
};

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
