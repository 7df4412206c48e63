//! The check of every text that is written into a project or to a file that the user names.
//!
//! All texts of a command are checked before the first is written: if one is refused, none is
//! written. The error contains the line and the name of a secret, never its value. Standard output
//! is not checked.

use super::error::{CliError, Result};
use super::options::{GlobalOptions, SecretPolicy};
use super::project;
use crate::base::fs::{self, FileDraft};
use crate::record::environment_files::environment_files;
use crate::record::secret_scan::{SecretInText, SecretScan};
use std::path::{Path, PathBuf};

/// Searches output for secrets; the default finds none.
#[derive(Debug, Default)]
pub(crate) struct SecretCheck {
    /// `None` if secrets are allowed.
    scan: Option<SecretScan>,
}

/// A new file before it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFile<'f> {
    /// Its name for messages, relative to the project.
    pub(crate) name: &'f str,
    pub(crate) text: &'f str,
}

/// The proof that texts were checked for secrets. Functions that write them take it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretsChecked(());

impl SecretCheck {
    /// Returns the check for the project of this run.
    pub(crate) fn for_run(options: &GlobalOptions) -> Self {
        Self::new(
            options,
            &project::find_root(options).unwrap_or_else(|_| PathBuf::from(".")),
        )
    }

    /// Returns the check for the project in a folder.
    pub(crate) fn new(options: &GlobalOptions, root: &Path) -> Self {
        let scan = (options.secrets == SecretPolicy::Refused)
            .then(|| SecretScan::new(&environment_files(root)));
        Self { scan }
    }

    /// Checks the texts of files.
    ///
    /// # Errors
    /// A text contains a secret.
    pub(crate) fn check_files<'f>(
        &self,
        files: impl IntoIterator<Item = NewFile<'f>>,
    ) -> Result<SecretsChecked> {
        let Some(scan) = &self.scan else {
            return Ok(SecretsChecked(()));
        };
        for NewFile { name, text } in files {
            let found = text
                .lines()
                .zip(1..)
                .find_map(|(line, number)| Some((number, scan.find_secret(line)?)));
            if let Some((number, secret)) = found {
                return Err(secret_found(name, number, &secret));
            }
        }
        Ok(SecretsChecked(()))
    }

    /// Checks a result before it becomes a file. Pipes and devices are not checked, because they
    /// store nothing.
    ///
    /// # Errors
    /// The result contains a secret, or cannot be read again.
    pub(crate) fn check_draft(&self, draft: &mut FileDraft) -> Result<()> {
        let path = draft.path.clone();
        let Some(scan) = self
            .scan
            .as_ref()
            .filter(|_| !fs::exists(&path) || fs::is_file(&path))
        else {
            return Ok(());
        };
        let found = draft.find_line(|number, line| Some((number, scan.find_secret(line)?)));
        match found.map_err(|err| CliError::write_failed(&path, &err))? {
            Some((number, secret)) => {
                Err(secret_found(&path.display().to_string(), number, &secret))
            }
            None => Ok(()),
        }
    }
}

fn secret_found(name: &str, line: usize, secret: &SecretInText) -> CliError {
    CliError::usage(format!("{name} was not written: its line {line} would hold {secret}"))
        .with_hint("take it out of what the file is made of, or mask it with a pattern of `[record] mask` in ctxc.toml where masks apply")
        .with_hint("if it is no secret, or is meant to be there, `--allow-secrets` writes the file")
}
