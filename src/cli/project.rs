//! The project of a run: its folder, its file, its limits.

use super::error::{CliError, CliErrorKind, Result};
use super::options::GlobalOptions;
use super::render::sources::SourceTexts;
use super::shared_args::LimitArgs;
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::project::config::{Config, ConfigInput};
use crate::registry::scenarios;
use crate::rules::input::read_fault::describe_io_error;
use crate::rules::{check, list};
use crate::syntax::decode;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the project file.
pub(super) const PROJECT_FILE: &str = "ctxc.toml";
/// The rule on `required-version`.
const WRONG_VERSION: &str = "wrong-version";
/// The maximum size of a project file in bytes.
const MAX_FILE_SIZE: u64 = 4 << 20;

/// A loaded project.
#[derive(Debug)]
pub(super) struct Project {
    /// The project folder.
    pub(super) root: PathBuf,
    /// The settings of its file, or the defaults.
    pub(super) config: Config,
    /// The findings of its file.
    pub(super) findings: Vec<Diagnostic>,
}

/// Returns the project folder: the one of `--project`, otherwise the nearest folder upwards with a
/// project file, otherwise the current folder.
pub(super) fn find_root(options: &GlobalOptions) -> Result<PathBuf> {
    if let Some(named) = &options.project {
        if !fs::is_dir(named) {
            return Err(CliError::usage(format!("--project {}: there is no such folder", named.display()))
                .with_hint("name the folder that holds ctxc.toml, or leave the option out to use the current one"));
        }
        return Ok(named.clone());
    }
    let here = fs::current_dir().map_err(|err| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!(
                "the current folder cannot be read: {}",
                describe_io_error(&err)
            ),
        )
    })?;
    Ok(here
        .ancestors()
        .find(|folder| fs::exists(&folder.join(PROJECT_FILE)))
        .unwrap_or(&here)
        .to_path_buf())
}

impl Project {
    /// Loads the project of this run. Faults of its file are findings; only an unreadable file is
    /// an error.
    pub(super) fn load(options: &GlobalOptions) -> Result<Self> {
        Self::load_in(find_root(options)?)
    }

    /// Loads the project in a folder. One for another version of the program is an error.
    pub(super) fn load_in(root: PathBuf) -> Result<Self> {
        match read_text(&root.join(PROJECT_FILE))? {
            Some(text) => Self::with_text(root, &text).require_version(),
            None => Ok(Self {
                root,
                config: Config::default(),
                findings: Vec::new(),
            }),
        }
    }

    /// Creates a project from the text of its file, which need not be on disk.
    pub(super) fn with_text(root: PathBuf, text: &str) -> Self {
        Self::with_files(root, text, &RealFs)
    }

    /// Creates a project from the text of its file; the files that it extends are read from
    /// `files`.
    pub(super) fn with_files(root: PathBuf, text: &str, files: &dyn ReadFs) -> Self {
        let rules: Vec<&'static RuleMeta> = list::all_rules().map(|rule| &rule.meta).collect();
        let input = ConfigInput {
            path: PROJECT_FILE,
            text,
            root: &root,
            files,
            rules: &rules,
        };
        let config = Config::read(&input);
        let findings = check::config_findings(&config);
        Self {
            root,
            config,
            findings,
        }
    }

    /// Applies the limits of the command line.
    pub(super) fn with_limits(mut self, args: &LimitArgs) -> Self {
        self.config.limits = args.resolve(&self.config.limits);
        self
    }

    /// Adds the agents that the scenarios test, if a requirement of the project needs them.
    pub(super) fn with_tested_agents(mut self) -> Self {
        if self.config.needs_tested() {
            self.config
                .set_tested(scenarios::tested_agents(&self.root, &self.config));
            self.findings = check::config_findings(&self.config);
        }
        self
    }

    /// Returns true if the project file has errors.
    pub(super) fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// Removes the findings on another version of the program, and returns the text of the first.
    pub(super) fn take_version_fault(&mut self) -> Option<String> {
        let is_other = |finding: &mut Diagnostic| finding.rule.name == WRONG_VERSION;
        let other: Vec<Diagnostic> = self.findings.extract_if(.., is_other).collect();
        other.first().map(describe_with_place)
    }

    /// Returns an error if the project is for another version of the program.
    pub(super) fn require_version(self) -> Result<Self> {
        let is_other = |finding: &&Diagnostic| finding.rule.name == WRONG_VERSION;
        let Some(finding) = self.findings.iter().find(is_other) else {
            return Ok(self);
        };
        let error = CliError::new(CliErrorKind::Project, describe_with_place(finding));
        let help = finding.help.as_deref().unwrap_or_default();
        Err(error.with_hint(help.to_owned()))
    }

    /// Returns an error for the root of a workspace, which has no templates of its own.
    pub(super) fn require_project(&self) -> Result<()> {
        if self.config.workspace.is_none() {
            return Ok(());
        }
        let root = self.root.display();
        Err(CliError::new(CliErrorKind::Project, format!("{root} is the root of a workspace, which has no templates of its own"))
            .with_hint("name a project with `--member NAME`; check, build, eval, gate and manifest run in all members without it"))
    }

    /// Returns an error if the project file has errors: a result would hold for another file.
    pub(super) fn require_no_errors(self) -> Result<Self> {
        if !self.has_errors() {
            return Ok(self);
        }
        let mut error = CliError::new(CliErrorKind::Project, format!("{PROJECT_FILE} has errors"));
        for finding in self
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
        {
            error = error.with_hint(describe_with_place(finding));
        }
        Err(error.with_hint("`ctxc check` shows where, and how to fix them"))
    }

    /// Returns the source texts of findings.
    pub(super) fn sources(&self) -> SourceTexts {
        let shared = self.config.files.get(1).map(|file| Arc::clone(&file.path));
        SourceTexts::new(self.root.clone(), self.config.limits.file)
            .with_shared_file(shared)
            .with_packages(self.config.packages.clone())
    }
}

fn describe_with_place(finding: &Diagnostic) -> String {
    let (path, start) = (&finding.path, finding.start);
    format!(
        "{path}:{}:{}: {}",
        start.line, start.column, finding.message
    )
}

/// Reads the text of a project file; `None` if there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>> {
    Ok(read_bytes(path)?.map(|(_, text)| text))
}

/// Reads the bytes and the text of a project file; `None` if there is none.
pub(super) fn read_bytes(path: &Path) -> Result<Option<(Vec<u8>, String)>> {
    let mut bytes = Vec::new();
    // Diagnostics quote the file, and a file outside the project must not be quoted.
    if contained_path::link_out_error(&RealFs, path.parent().unwrap_or(Path::new("")), path)
        .is_some()
    {
        return Err(CliError::new(
            CliErrorKind::Project,
            format!("{} is a link that leads out of the project's folder, and was not read", path.display()),
        )
        .with_hint("put the file itself in its place; what projects share goes into a file that `extends` names"));
    }
    match fs::read_regular(path, MAX_FILE_SIZE, &mut bytes) {
        Ok(_) => {}
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) if err.kind() == io::ErrorKind::IsADirectory => {
            return Err(CliError::new(
                CliErrorKind::Project,
                format!(
                    "{} is a folder, and the project file has that name",
                    path.display()
                ),
            )
            .with_hint(
                "give the folder another name; a project needs no file, and `ctxc init` writes one",
            ));
        }
        Err(err) => {
            return Err(CliError::new(CliErrorKind::Project, format!("{} cannot be read: {}", path.display(), describe_io_error(&err)))
                .with_hint("it decides how everything else is read, so nothing was checked: mend its permissions or remove it"));
        }
    }
    match decode::decode(&bytes) {
        Ok(text) => {
            let text = text.into_owned();
            Ok(Some((bytes, text)))
        }
        Err(fault) => Err(CliError::new(
            CliErrorKind::Project,
            format!("{} is not text: {fault}", path.display()),
        )
        .with_hint("save it as UTF-8")),
    }
}
