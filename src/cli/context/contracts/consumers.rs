//! The consumers of a package: their contracts, copied into a temporary folder, in which nothing
//! else of theirs is.

use crate::base::contained_path::{list_files_below, read_file};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::{Hash, Hasher};
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::eval::result_keys::referenced_files;
use crate::package::PackedFile;
use crate::package::git::{GitFault, GitLimits, GitRefusal, fetch_folder};
use crate::package::matrix::MATRIX_FILE;
use crate::package::store::write_temp_folder;
use crate::project::config::Config;
use crate::project::dependencies::{
    PackageSource, expected_consumer, mask_credentials, normalize_folder,
};
use crate::project::package_section::ConsumerEntry;
use crate::project::packages::CONTRACTS_FOLDER;
use crate::scenario::model::ScenarioCase;
use crate::scenario::paths;
use std::ffi::OsStr;
use tempfile::TempDir;

/// The maximum number of bytes of one file.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The maximum number of files.
const MAX_FILES: usize = 10_000;

/// A consumer with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct ConsumerSource {
    name: Option<String>,
    place: ConsumerPlace,
}

/// The source of a consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ConsumerPlace {
    /// A folder.
    Folder(PathBuf),
    /// A revision of a git repository.
    Git { url: String, revision: String },
}

/// The contracts of a consumer with a package.
#[derive(Debug)]
pub(in crate::cli) struct ConsumerContracts {
    /// Its name.
    pub(super) name: String,
    /// Its commit; `None` for a folder.
    pub(super) commit: Option<String>,
    /// A project that has its contracts alone.
    pub(super) project: CompiledProject,
    pub(super) scenarios: Scenarios,
    /// The files of that project.
    files: Vec<PackedFile>,
    /// The folder of that project.
    _folder: TempDir,
}

impl ConsumerSource {
    /// A folder, which has its own name.
    pub(in crate::cli) fn from_folder(folder: PathBuf) -> Self {
        Self {
            name: None,
            place: ConsumerPlace::Folder(folder),
        }
    }

    /// The consumers that a package names.
    pub(in crate::cli) fn of_project(config: &Config, root: &Path) -> Result<Vec<Self>> {
        let package = config.package.iter();
        let written = package.flat_map(|package| &package.consumers);
        let read = |entry: &ConsumerEntry| {
            let place = match PackageSource::parse(&entry.source) {
                Ok(PackageSource::Path(folder)) => ConsumerPlace::Folder(root.join(folder)),
                Ok(PackageSource::Git { url, tag }) => ConsumerPlace::Git { url, revision: tag },
                Err(fault) => {
                    return Err(CliError::new(
                        CliErrorKind::Project,
                        format!(
                            "[[package.consumers]]: found the source `{}`, expected {}",
                            mask_credentials(&entry.source),
                            expected_consumer(fault)
                        ),
                    ));
                }
            };
            let name = entry.name.clone();
            Ok(Self { name, place })
        };
        written.map(read).collect()
    }

    /// Returns the consumers without those that are listed twice.
    ///
    /// # Errors
    /// Two of them have one name: their contracts could not be distinguished in the matrix.
    pub(in crate::cli) fn require_distinct_names(consumers: Vec<Self>) -> Result<Vec<Self>> {
        let mut distinct: Vec<Self> = Vec::new();
        for source in consumers {
            let (name, written) = (source.name(), source.describe());
            match distinct.iter().find(|other| other.name() == name) {
                None => distinct.push(source),
                Some(other) if other.describe() == written => {}
                Some(other) => {
                    let other = other.describe();
                    return Err(CliError::new(
                        CliErrorKind::Project,
                        format!("found two consumers of the name `{name}`, {other} and {written}, expected a name for each: the rows of {MATRIX_FILE} have it"),
                    )
                    .with_hint("give one of them a `name` in `[[package.consumers]]`, or leave one out"));
                }
            }
        }
        Ok(distinct)
    }

    /// Its folder, or its repository and revision.
    fn describe(&self) -> String {
        match &self.place {
            ConsumerPlace::Folder(_) => self.place(),
            ConsumerPlace::Git { url, revision } => format!("{url}@{revision}"),
        }
    }

    /// Its folder or repository.
    fn place(&self) -> String {
        match &self.place {
            ConsumerPlace::Folder(folder) => RealFs
                .canonicalize(folder)
                .unwrap_or_else(|_| folder.clone())
                .to_string_lossy()
                .into_owned(),
            ConsumerPlace::Git { url, .. } => url.clone(),
        }
    }

    /// Its name in the project file, or that of its folder, as it is written, or of its repository.
    pub(in crate::cli) fn name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let written = match &self.place {
            ConsumerPlace::Folder(folder) => normalize_folder(folder),
            ConsumerPlace::Git { url, .. } => url.clone(),
        };
        // `..` has no name of its own.
        let place = self.place();
        let last = Path::new(&written).file_name();
        let last = last.or_else(|| Path::new(&place).file_name());
        let last = last.map_or_else(|| place.clone().into(), OsStr::to_string_lossy);
        last.strip_suffix(".git").unwrap_or(&last).to_owned()
    }

    /// Reads the contracts with a package.
    pub(in crate::cli) fn read(&self, package: &str) -> Result<ConsumerContracts> {
        let folder = format!("{CONTRACTS_FOLDER}/{package}");
        let (commit, files) = match &self.place {
            ConsumerPlace::Folder(root) => (None, read_folder(root, &folder)?),
            ConsumerPlace::Git { url, revision } => {
                let (commit, files) = read_repository(url, revision, &folder)?;
                (Some(commit), files)
            }
        };
        ConsumerContracts::new(self.name(), commit, &folder, files)
    }
}

impl ConsumerContracts {
    fn new(
        name: String,
        commit: Option<String>,
        folder: &str,
        mut files: Vec<PackedFile>,
    ) -> Result<Self> {
        let failed = |why: std::io::Error| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!("the contracts of {name} cannot be written to a temporary folder: {why}"),
            )
        };
        files.push(PackedFile {
            path: PROJECT_FILE.to_owned(),
            bytes: b"edition = \"2026\"\n".to_vec(),
        });
        let temp = write_temp_folder(&files).map_err(failed)?;
        let project = CompiledProject::load_or_root_in(temp.path())?;
        let scenarios = Scenarios::read_contracts(&project.root, &project.config, folder);
        Ok(Self {
            name,
            commit,
            project,
            scenarios,
            files,
            _folder: temp,
        })
    }

    /// Returns the hash of the files that a case names and of its stored request. Other files, and
    /// recorded answers, do not make another contract.
    pub(super) fn hash_files(&self, scenario: &str, case: &ScenarioCase) -> String {
        let named = referenced_files(case).into_iter();
        let named = named.filter_map(|path| paths::resolve_beside(scenario, path));
        let request = case
            .uses_snapshot()
            .then(|| paths::snapshot_path(scenario, &case.name.value));
        let mut hasher = Hasher::new();
        for path in named.chain(request) {
            hasher.add_field(&path);
            if let Some(file) = self.files.iter().find(|file| file.path == path) {
                hasher.add_field(Hash::digest(&file.bytes).0);
            }
        }
        hasher.finish().to_string()
    }
}

/// Reads the files of a folder of a consumer.
fn read_folder(root: &Path, folder: &str) -> Result<Vec<PackedFile>> {
    if !fs::is_dir(root) {
        return Err(CliError::usage(format!(
            "the consumer {} is no folder",
            root.display()
        )));
    }
    let paths = list_files_below(&root.join(folder), |name, _| name.starts_with('.'));
    if paths.len() > MAX_FILES {
        let root = root.display();
        return Err(CliError::usage(format!(
            "{root} has more than {MAX_FILES} files in {folder}"
        )));
    }
    let read = |path: String| {
        let path = format!("{folder}/{path}");
        match read_file(&RealFs, root, Path::new(&path), MAX_FILE_BYTES) {
            Ok(bytes) => Ok(PackedFile { path, bytes }),
            Err(why) => Err(CliError::new(
                CliErrorKind::Infrastructure,
                format!("{} of {} cannot be read: {why}", path, root.display()),
            )),
        }
    };
    paths.into_iter().map(read).collect()
}

/// Reads the files of a folder at a revision of a consumer, and the commit.
fn read_repository(url: &str, revision: &str, folder: &str) -> Result<(String, Vec<PackedFile>)> {
    let failed = |why: GitFault| {
        let error = CliError::new(
            CliErrorKind::Infrastructure,
            format!("a consumer cannot be read: {why}"),
        );
        let is_costly = matches!(
            why.reason,
            GitRefusal::TooLarge { .. } | GitRefusal::TimedOut { .. }
        );
        let hint = "list a folder that has its contracts instead: `source = \"path:…\"`";
        let hint = is_costly.then_some(hint);
        hint.into_iter().fold(error, CliError::with_hint)
    };
    let fetched = fetch_folder(url, revision, folder, &GitLimits::default()).map_err(failed)?;
    let paths = fetched.paths().filter(|path| !path.contains("/."));
    let paths: Vec<&str> = paths.collect();
    let files = fetched.read_files(&paths).map_err(failed)?;
    Ok((fetched.commit.clone(), files))
}
