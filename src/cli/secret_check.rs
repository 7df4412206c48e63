//! The check that every text passes before it is written into a project or to a file that the user names.
//!
//! All texts of a command are checked before the first of them is written, so that none is if one is refused. Says where a secret stands and
//! under which name, and never repeats it. Standard output is not checked.

use super::error::{CliError, Result};
use super::options::{Options, Secrets};
use super::project;
use crate::base::fs::{self, Draft, ReadFs, RealFs};
use crate::record::secret_scan::{EnvironmentFile, SecretInText, SecretScan};
use std::path::{Path, PathBuf};

/// Bytes of an environment file: a larger one is none.
const LIMIT: u64 = 1 << 20;
/// Levels of folders below the project's own that are looked through for environment files.
const DEPTH: usize = 2;
/// Folders of other people's code.
const FOREIGN: [&str; 5] = ["node_modules", "site-packages", "target", "vendor", "venv"];

/// Finds secrets in what is to be written; the default finds none.
#[derive(Debug, Default)]
pub(crate) struct SecretCheck {
    /// `None` where secrets are allowed.
    scan: Option<SecretScan>,
}

/// A file that is to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFile<'f> {
    /// Its name for people, relative to the project.
    pub(crate) name: &'f str,
    /// Its text.
    pub(crate) text: &'f str,
}

/// Proof that texts were checked: what writes them takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked(());

impl SecretCheck {
    /// The check of the project of this run.
    pub(crate) fn of_run(options: &Options) -> Self {
        Self::new(options, &project::root(options).unwrap_or_else(|_| PathBuf::from(".")))
    }

    /// The check of the project in a folder.
    pub(crate) fn new(options: &Options, root: &Path) -> Self {
        let scan = (options.secrets == Secrets::Refused).then(|| SecretScan::new(&environment_files(root)));
        Self { scan }
    }

    /// Checks the texts of files.
    ///
    /// # Errors
    /// One of them holds a secret.
    pub(crate) fn files<'f>(&self, files: impl IntoIterator<Item = NewFile<'f>>) -> Result<Checked> {
        let Some(scan) = &self.scan else { return Ok(Checked(())) };
        for NewFile { name, text } in files {
            let found = text.lines().zip(1..).find_map(|(line, number)| Some((number, scan.find(line)?)));
            if let Some((number, secret)) = found {
                return Err(refused(name, number, &secret));
            }
        }
        Ok(Checked(()))
    }

    /// Checks a result before it becomes a file. A pipe or a device keeps nothing.
    ///
    /// # Errors
    /// It holds a secret, or cannot be read again.
    pub(crate) fn draft(&self, draft: &mut Draft) -> Result<()> {
        let path = draft.path.clone();
        let Some(scan) = self.scan.as_ref().filter(|_| !fs::exists(&path) || fs::is_file(&path)) else { return Ok(()) };
        let found = draft.find_line(|number, line| Some((number, scan.find(line)?)));
        match found.map_err(|err| CliError::write(&path, &err))? {
            Some((number, secret)) => Err(refused(&path.display().to_string(), number, &secret)),
            None => Ok(()),
        }
    }
}

fn refused(name: &str, line: usize, secret: &SecretInText) -> CliError {
    CliError::usage(format!("{name} was not written: its line {line} would hold {secret}"))
        .hint("take it out of what the file is made of, or mask it with a pattern of `[record] mask` in ctxc.toml where masks apply")
        .hint("if it is no secret, or is meant to be there, `--allow-secrets` writes the file")
}

/// The environment files of a project: in its folder and in those below it, and above it up to the root of its repository.
fn environment_files(root: &Path) -> Vec<EnvironmentFile> {
    let mut files = Vec::new();
    let real = RealFs.canonical(root).unwrap_or_else(|_| root.to_path_buf());
    let is_repository = |folder: &&Path| fs::exists(&folder.join(".git"));
    let depth = real.ancestors().position(|folder| is_repository(&folder)).unwrap_or(0);
    for above in real.ancestors().skip(1).take(depth) {
        read_folder(above, "", 0, &mut files);
    }
    read_folder(&real, "", DEPTH, &mut files);
    files
}

/// Reads the environment files of a folder, and of those below it as deep as `depth` says.
fn read_folder(folder: &Path, inside: &str, depth: usize, files: &mut Vec<EnvironmentFile>) {
    for (name, path) in fs::entries_in(folder) {
        if is_environment(&name) && fs::is_file(&path) {
            let text = RealFs.read(&path, LIMIT).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            // What cannot be read has no value that could be known.
            files.extend(text.ok().map(|text| EnvironmentFile { path: format!("{inside}{name}"), text }));
        } else if depth > 0 && !name.starts_with('.') && !FOREIGN.contains(&&*name) && fs::is_dir(&path) && !fs::is_link(&path) {
            read_folder(&path, &format!("{inside}{name}/"), depth - 1, files);
        }
    }
}

/// Whether a name is that of an environment file with values, and not of its sample.
fn is_environment(name: &str) -> bool {
    const SAMPLES: [&str; 5] = ["defaults", "dist", "example", "sample", "template"];
    let is_named = [".env", ".envrc"].contains(&name)
        || name.starts_with(".env.")
        || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "env");
    is_named && !name.split('.').any(|part| SAMPLES.contains(&part))
}
