//! The packages of a project while they change: read from their sources, resolved, and written to
//! `ctxc.lock` and `ctxc.toml`.
//!
//! Each file is replaced as a whole, and the one that may hold more than the other asks for is
//! written first. So a killed program leaves the old packages or the new ones.

use super::project_files::read_files;
use crate::base::contained_path::list_files_below;
use crate::base::folders;
use crate::base::fs::{self, ExistingFolder, FileLock, FolderEntry, ReadFs, RealFs};
use crate::base::sha256::sha256_hex;
use crate::cli::overwrite::reject_links;
use crate::cli::prelude::*;
use crate::cli::project::{PROJECT_FILE, find_root, read_text};
use crate::package::PackedFile;
use crate::package::git::{GitFault, GitLimits, fetch_revision};
use crate::package::release::{PackageRelease, ReleaseFault, digest_of, file_digests};
use crate::package::resolve::{Requirements, ResolveFault, SelectedPackage, resolve};
use crate::package::store::{self, StoredTag};
use crate::project::config::Config;
use crate::project::dependencies::PackageSource;
use crate::project::dependency_edits::{has_dependency, set_dependency, set_shared_dependency};
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The folder of vendored packages.
pub(super) const VENDOR_FOLDER: &str = "vendor/ctxc";
/// The maximum size in bytes of all releases that are looked at together.
const MAX_TOTAL_BYTES: u64 = 1 << 30;

/// How packages are fetched.
#[derive(Clone, Debug, Args)]
pub(super) struct FetchArgs {
    /// Fetch nothing: use what was fetched before
    #[arg(long)]
    pub(super) offline: bool,
    /// The seconds that each call of git may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

impl FetchArgs {
    pub(super) fn limits(&self) -> GitLimits {
        GitLimits {
            time: Duration::from_secs(self.timeout),
            time_flag: Some("--timeout"),
            ..GitLimits::default()
        }
    }
}

/// A package that is not available.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub(super) struct SourceFault {
    /// Its source.
    place: String,
    reason: ReleaseFault,
}

impl SourceFault {
    /// Returns true if another release of the package may do.
    pub(super) fn is_unfit(&self) -> bool {
        matches!(
            self.reason,
            ReleaseFault::OtherProgram(_) | ReleaseFault::OtherVersion { .. }
        )
    }
}

/// The packages of a project.
pub(super) struct DependencySet {
    pub(super) project: Project,
    /// The text of the project file, with changes that are not written yet.
    pub(super) text: String,
    /// The changed text of the workspace's project file, with its path.
    workspace_edit: Option<(PathBuf, String)>,
    /// The new sources of packages that the project takes over from it.
    new_sources: BTreeMap<String, PackageSource>,
    /// The packages before the change.
    pub(super) before: LockFile,
    /// The packages whose tags may have been moved.
    pub(super) accepted: Vec<String>,
    pub(super) is_offline: bool,
    pub(super) limits: GitLimits,
    store: PathBuf,
    releases: BTreeMap<PackageSource, PackageRelease>,
    /// The size of all their files.
    total_bytes: u64,
    /// No other program changes the packages of this project meanwhile.
    _guard: Option<FileLock>,
}

impl DependencySet {
    /// Loads the packages of this run's project.
    pub(super) fn load(cx: &Cx, fetch: &FetchArgs) -> Result<Self> {
        let root = find_root(&cx.options)?;
        let guard = lock_project(&root)?;
        let store = folders::package_cache().ok_or_else(|| {
            CliError::new(
                CliErrorKind::Infrastructure,
                "no folder for packages is known",
            )
            .with_hint("set CTXC_CACHE_DIR to a folder")
        })?;
        let project = Project::load_in(root.clone())?;
        project.require_project()?;
        // A section that is not read would look like one that requires nothing.
        let is_fatal = |fault: &ProjectFault| {
            use ProjectFaultKind::{Syntax, UnknownKey};
            matches!(fault.kind, Syntax { .. } | UnknownKey { .. })
        };
        let project = if project.config.faults.iter().any(is_fatal) {
            project.require_no_errors()?
        } else {
            project
        };
        let text = read_text(&root.join(PROJECT_FILE))?.unwrap_or_default();
        Ok(Self {
            before: read_lock(&root)?,
            project,
            text,
            workspace_edit: None,
            new_sources: BTreeMap::new(),
            accepted: Vec::new(),
            is_offline: fetch.offline,
            limits: fetch.limits(),
            store,
            releases: BTreeMap::new(),
            total_bytes: 0,
            _guard: guard,
        })
    }

    /// The sources of the packages that the project file names, by name.
    pub(super) fn required(&self) -> Result<BTreeMap<String, PackageSource>> {
        let project = Project::with_text(self.project.root.clone(), &self.text);
        let mut required = required_sources(&project.config)?;
        required.extend(self.new_sources.clone());
        Ok(required)
    }

    /// Requires a package at another source, in the file that has its line: the project's, or that of
    /// the workspace that the project takes its packages over from. Returns `None` if the line cannot
    /// be changed.
    pub(super) fn move_dependency(&mut self, name: &str, source: &PackageSource) -> Option<()> {
        let config = &self.project.config;
        let is_inherited = config.inherited.contains(&"dependencies");
        if !is_inherited || has_dependency(&self.text, name) {
            self.text = set_dependency(&self.text, name, source)?;
            return Some(());
        }
        let file = config.files.get(1)?;
        let text = self
            .workspace_edit
            .as_ref()
            .map_or(&*file.text, |(_, text)| text);
        let text = set_shared_dependency(text, name, source)?;
        self.workspace_edit = Some((self.project.root.join(&*file.path), text));
        self.new_sources.insert(name.to_owned(), source.clone());
        Some(())
    }

    /// The path from the project to the file of its workspace, if that changes.
    pub(super) fn changed_workspace(&self) -> Option<&str> {
        let file = self.project.config.files.get(1)?;
        self.workspace_edit.is_some().then_some(&*file.path)
    }

    /// Resolves the packages that the project file names. Fetches what is not stored.
    pub(super) fn resolve(&mut self) -> Result<LockFile> {
        let required = self.required()?;
        let package = self.project.config.package.as_ref();
        let package = package.map(|own| &own.name.value);
        if let Some((name, source)) = package.and_then(|own| required.get_key_value(own)) {
            let message =
                format!("{name} depends on itself: {PROJECT_FILE} requires it from {source}");
            return Err(CliError::new(CliErrorKind::Project, message)
                .with_hint("require another package, or take it out of `[dependencies]`"));
        }
        let selected = resolve(&required, |name, source| {
            self.read_requirements(name, source)
        })
        .map_err(|fault| resolve_error(&fault))?;
        let entry = |(name, own): (String, SelectedPackage)| {
            let mut entry = self.releases.get(&own.source)?.lock(own.source);
            let before = self.before.package(&name);
            entry.verified = before
                .filter(|before| before.tree == entry.tree)
                .and_then(|before| before.verified.clone());
            Some(entry)
        };
        Ok(LockFile {
            packages: selected.into_iter().filter_map(entry).collect(),
        })
    }

    fn read_requirements(
        &mut self,
        name: &str,
        source: &PackageSource,
    ) -> std::result::Result<Requirements, SourceFault> {
        let release = self.read_release(Some(name), source)?;
        if release.name == name {
            return Ok(release.requirements());
        }
        Err(SourceFault {
            place: source.to_string(),
            reason: ReleaseFault::OtherName {
                found: release.name.clone(),
                required: name.to_owned(),
            },
        })
    }

    /// Reads the package at a source.
    pub(super) fn read_release(
        &mut self,
        name: Option<&str>,
        source: &PackageSource,
    ) -> std::result::Result<&PackageRelease, SourceFault> {
        let release = match (self.releases.remove(source), source) {
            (Some(known), _) => known,
            (None, source) => {
                let fault = |reason| SourceFault {
                    place: source.to_string(),
                    reason,
                };
                let release = match source {
                    PackageSource::Path(folder) => read_folder(&self.project.root, folder)?,
                    PackageSource::Git { url, tag } => {
                        let read = self.read_tag(name, source, [url, tag]);
                        read.map_err(fault)?
                    }
                };
                let sizes = release.files.iter().map(|file| file.bytes.len() as u64);
                self.total_bytes += sizes.sum::<u64>();
                if self.total_bytes > MAX_TOTAL_BYTES {
                    return Err(fault(ReleaseFault::TooLarge(MAX_TOTAL_BYTES)));
                }
                release
            }
        };
        Ok(self.releases.entry(source.clone()).or_insert(release))
    }

    /// The names of the packages that were read, whether they are selected or not.
    pub(super) fn read_names(&self) -> impl Iterator<Item = &str> {
        self.releases.values().map(|release| release.name.as_str())
    }

    /// Reads the package at a tag of a repository. Fetches it if it is not stored.
    fn read_tag(
        &self,
        name: Option<&str>,
        source: &PackageSource,
        [url, tag]: [&str; 2],
    ) -> std::result::Result<PackageRelease, ReleaseFault> {
        let is_accepted = name.is_some_and(|name| self.accepted.iter().any(|own| own == name));
        let known = self.known_tag(source).filter(|_| !is_accepted);
        let moved = |known: &StoredTag, now: &str| ReleaseFault::Moved {
            before: known.commit.clone(),
            now: now.to_owned(),
        };
        if let Some(known) = &known {
            // Another project may have fetched an older commit of the tag, and of two commits the
            // repository decides.
            let stored = store::read_tag(&self.store, source);
            let other = stored.filter(|stored| stored.commit != known.commit);
            let is_other = other.is_some();
            // Of two commits with the same files, one is an edit.
            let twin = other.filter(|other| self.is_offline && other.tree == known.tree);
            if let Some(twin) = twin {
                return Err(moved(known, &twin.commit));
            }
            let is_certain = !is_other && self.locked_tag(source).is_some();
            if (self.is_offline || is_certain)
                && let Some(files) = self.read_stored(name, &known.tree)
            {
                let release = PackageRelease::from_files(files)?.require_version(tag)?;
                let commit = Some(known.commit.clone());
                return Ok(PackageRelease { commit, ..release });
            }
        }
        if self.is_offline {
            return Err(ReleaseFault::NotFetched);
        }
        let fetched = fetch_revision(url, tag, &self.limits)?;
        let locked = self.locked_tag(source).filter(|_| !is_accepted);
        if let Some(locked) = locked.filter(|locked| locked.commit != fetched.commit) {
            return Err(moved(&locked, &fetched.commit));
        }
        let release = PackageRelease::from_tree(&fetched)?.require_version(tag)?;
        let tree = digest_of(&file_digests(&release.files));
        store::install_package(&self.store, &tree, &release.files)?;
        let commit = fetched.commit.clone();
        store::write_tag(&self.store, source, &StoredTag { commit, tree })?;
        Ok(release)
    }

    /// Returns what a tag contained when it was locked or fetched.
    pub(super) fn known_tag(&self, source: &PackageSource) -> Option<StoredTag> {
        let locked = self.locked_tag(source);
        locked.or_else(|| store::read_tag(&self.store, source))
    }

    /// Returns what a tag contained when it was locked.
    fn locked_tag(&self, source: &PackageSource) -> Option<StoredTag> {
        let mut packages = self.before.packages.iter();
        let own = packages.find(|own| own.source == *source)?;
        Some(StoredTag {
            commit: own.resolved.clone()?,
            tree: own.tree.clone(),
        })
    }

    fn read_stored(&self, name: Option<&str>, tree: &str) -> Option<Vec<PackedFile>> {
        let vendored = name.and_then(|name| store::read_tree(&self.vendor_folder(name), tree));
        vendored.or_else(|| store::read_tree(&self.store.join(tree), tree))
    }

    /// Returns the files of a package from git as a lock has them. Fetches them if they are not
    /// stored.
    pub(super) fn read_locked(&mut self, package: &LockedPackage) -> Result<Vec<PackedFile>> {
        let LockedPackage { name, tree, .. } = package;
        if let Some(files) = self.read_stored(Some(name), tree) {
            return Ok(files);
        }
        self.read_release(Some(name), &package.source)
            .map_err(|fault| source_error(&fault))?;
        self.read_stored(Some(name), tree).ok_or_else(|| {
            let message = format!(
                "{}: its tag has not the content of {name} {} that {LOCK_FILE} has, so nothing can be compared with it",
                package.source, package.version
            );
            CliError::new(CliErrorKind::Infrastructure, message)
                .with_hint("`ctxc package update --all` without `--pr-summary` compares nothing")
        })
    }

    /// Puts a locked package into the cache, wherever its files were found.
    pub(super) fn store_locked(&mut self, package: &LockedPackage) -> Result<()> {
        let files = self.read_locked(package)?;
        store::install_package(&self.store, &package.tree, &files).map_err(|why| {
            let fault = SourceFault {
                place: package.source.to_string(),
                reason: why.into(),
            };
            source_error(&fault)
        })
    }

    fn vendor_folder(&self, name: &str) -> PathBuf {
        self.project.root.join(VENDOR_FOLDER).join(name)
    }

    /// Writes the lock, and then the project file that asks for what it holds.
    pub(super) fn write_lock_first(&self, lock: &LockFile) -> Result<()> {
        self.check_vendored()?;
        self.check_unchanged()?;
        self.write_lock(lock)?;
        self.write_project().map_err(|error| {
            error.with_hint(format!(
                "{LOCK_FILE} was written; `ctxc package update` fits it to {PROJECT_FILE} again"
            ))
        })?;
        self.refresh_vendored(lock)
    }

    /// Writes the project file, and then the lock that holds no more than it asks for.
    pub(super) fn write_project_first(&self, lock: &LockFile) -> Result<()> {
        self.check_vendored()?;
        self.check_unchanged()?;
        self.write_project()?;
        self.write_lock(lock)?;
        self.refresh_vendored(lock)
    }

    fn write_lock(&self, lock: &LockFile) -> Result<()> {
        let path = self.project.root.join(LOCK_FILE);
        if *lock == self.before {
            return Ok(());
        }
        fs::write_atomic(&path, lock.to_text().as_bytes())
            .map(drop)
            .map_err(|error| CliError::write_failed(&path, &error))
    }

    fn write_project(&self) -> Result<()> {
        if let Some((path, text)) = &self.workspace_edit {
            fs::write_atomic(path, text.as_bytes())
                .map_err(|error| CliError::write_failed(path, &error))?;
        }
        let path = self.project.root.join(PROJECT_FILE);
        if *self.text_before() == self.text {
            return Ok(());
        }
        fs::write_atomic(&path, self.text.as_bytes())
            .map(drop)
            .map_err(|error| CliError::write_failed(&path, &error))
    }

    fn text_before(&self) -> &str {
        let files = &self.project.config.files;
        files.first().map_or("", |file| &*file.text)
    }

    /// Returns an error before anything is written if another program changed one of the files.
    fn check_unchanged(&self) -> Result<()> {
        let root = &self.project.root;
        let changed =
            if read_text(&root.join(PROJECT_FILE))?.unwrap_or_default() != *self.text_before() {
                PROJECT_FILE
            } else if read_lock(root)? != self.before {
                LOCK_FILE
            } else if let Some((path, _)) = &self.workspace_edit
                && let Some(file) = self.project.config.files.get(1)
                && read_text(path)?.unwrap_or_default() != *file.text
            {
                &*file.path
            } else {
                return Ok(());
            };
        let message = format!("{changed} was changed meanwhile, and was left alone");
        Err(CliError::new(CliErrorKind::Infrastructure, message).with_hint("run this again"))
    }

    fn has_vendored(&self) -> bool {
        fs::is_dir(&self.project.root.join(VENDOR_FOLDER))
    }

    /// Returns an error before anything is written if the vendored packages cannot follow.
    fn check_vendored(&self) -> Result<()> {
        if self.has_vendored() {
            reject_vendor_links(&self.project.root)?;
        }
        Ok(())
    }

    fn refresh_vendored(&self, lock: &LockFile) -> Result<()> {
        if self.has_vendored() {
            self.vendor(lock)?;
        }
        Ok(())
    }

    /// Copies the packages from git into the project, and removes those that are not in the lock.
    /// Returns their number.
    pub(super) fn vendor(&self, lock: &LockFile) -> Result<usize> {
        let VendorPlan { outdated, unused } = plan_vendored(&self.project.root, lock)?;
        for package in outdated {
            let folder = self.vendor_folder(&package.name);
            let files = self.read_stored(None, &package.tree).ok_or_else(|| {
                let message = format!("{} {} was not fetched yet", package.name, package.version);
                CliError::new(CliErrorKind::Infrastructure, message)
                    .with_hint("`ctxc package update` fetches it")
            })?;
            store::write_files(&folder, &files, ExistingFolder::Replaced)
                .map_err(|error| CliError::write_failed(&folder, &error))?;
        }
        for folder in unused {
            fs::remove_tree(&folder).map_err(|error| CliError::write_failed(&folder, &error))?;
        }
        for org in list_folders(&self.project.root.join(VENDOR_FOLDER)) {
            fs::remove_unused_folder(&org.path, &[]);
        }
        Ok(packages_from_git(lock).count())
    }
}

/// Returns the error of requirements that contradict each other or cannot be read.
pub(super) fn resolve_error(fault: &ResolveFault<SourceFault>) -> CliError {
    let (kind, hint) = match fault {
        ResolveFault::Unreadable { path, fault } => {
            let is_moved = matches!(fault.reason, ReleaseFault::Moved { .. });
            let name = path.0.last().filter(|_| is_moved);
            (
                CliErrorKind::Infrastructure,
                name.map(|name| moved_hint(name)),
            )
        }
        ResolveFault::TwoSources { name, .. } => {
            let hint = format!(
                "one name has one source: require {name} from the same one, or a release of the other package that does"
            );
            (CliErrorKind::Project, Some(hint))
        }
        ResolveFault::TwoMajors(conflict) => {
            let (name, version) = (&conflict.name, &conflict.second_version);
            let hint = format!(
                "one name has one version: require {name} {version} yourself with `ctxc package add` if your project works with it, or use releases that agree"
            );
            (CliErrorKind::Project, Some(hint))
        }
        ResolveFault::FolderInGit { .. } | ResolveFault::Circle { .. } | ResolveFault::TooMany => {
            (CliErrorKind::Project, None)
        }
    };
    let error = CliError::new(kind, fault.to_string());
    hint.into_iter().fold(error, CliError::with_hint)
}

/// The sources of the packages that a project file names, by name.
pub(super) fn required_sources(config: &Config) -> Result<BTreeMap<String, PackageSource>> {
    let is_own = |key: &str| key.starts_with("dependencies");
    #[allow(
        clippy::wildcard_enum_match_arm,
        clippy::match_wildcard_for_single_variants,
        reason = "no other is about packages"
    )]
    let is_of_section = |fault: &&ProjectFault| match &fault.kind {
        ProjectFaultKind::Syntax { .. } => true,
        ProjectFaultKind::BadValue { key, .. } | ProjectFaultKind::WrongType { key, .. } => {
            is_own(key)
        }
        ProjectFaultKind::MissingKey { table, .. } | ProjectFaultKind::UnknownKey { table, .. } => {
            is_own(table)
        }
        ProjectFaultKind::NoWorkspace { name, .. } => is_own(name),
        _ => false,
    };
    if config.faults.iter().any(|fault| is_of_section(&fault)) {
        let message = format!("`[dependencies]` of {PROJECT_FILE} cannot be read");
        return Err(CliError::new(CliErrorKind::Project, message)
            .with_hint("`ctxc check` shows where, and how to fix it"));
    }
    let dependencies = config.dependencies.iter();
    Ok(dependencies
        .map(|(name, own)| (name.clone(), own.source.value.clone()))
        .collect())
}

/// Reads the package in a folder, relative to the project in `root`.
pub(super) fn read_folder(
    root: &Path,
    folder: &str,
) -> std::result::Result<PackageRelease, SourceFault> {
    let fault = |reason| SourceFault {
        place: format!("path:{folder}"),
        reason,
    };
    let failed = |why: CliError| fault(ReleaseFault::Folder(why.message));
    let place = root.join(folder);
    if !fs::is_dir(&place) {
        let reason = "there is no such folder".to_owned();
        return Err(fault(ReleaseFault::Folder(reason)));
    }
    if !fs::exists(&place.join(PROJECT_FILE)) {
        return Err(fault(ReleaseFault::NoProject));
    }
    let project = Project::load_in(place).map_err(failed)?;
    let files = read_files(&project).map_err(failed)?;
    PackageRelease::new(&project.config, files).map_err(fault)
}

/// The differences of the vendored packages from a lock.
struct VendorPlan<'l> {
    /// The packages that are missing, damaged or of another version.
    outdated: Vec<&'l LockedPackage>,
    /// The folders of packages that are not in the lock.
    unused: Vec<PathBuf>,
}

/// Returns a line for each vendored package that differs from a lock, with its files that do.
/// Changes nothing.
pub(super) fn describe_vendored_drift(root: &Path, lock: &LockFile) -> Result<Vec<String>> {
    if !fs::is_dir(&root.join(VENDOR_FOLDER)) {
        return Ok(Vec::new());
    }
    let VendorPlan { outdated, unused } = plan_vendored(root, lock)?;
    let outdated = outdated.into_iter().map(|own| {
        let folder = root.join(VENDOR_FOLDER).join(&own.name);
        let found = list_files_below(&folder, |_, _| false).into_iter();
        let hash = |path: &String| {
            let bytes = RealFs.read(&folder.join(path), store::MAX_FILE_BYTES);
            bytes.map_or_else(|_| String::new(), |bytes| sha256_hex(&bytes))
        };
        let found: BTreeMap<String, String> =
            found.map(|path| (path.clone(), hash(&path))).collect();
        let paths: BTreeSet<&String> = own.files.keys().chain(found.keys()).collect();
        let differs = |path: &&String| found.get(*path) != own.files.get(*path);
        let changed = list_first(paths.into_iter().filter(differs).map(String::as_str));
        let line = format!(
            "~ {VENDOR_FOLDER}/{} {}  changed: {changed}",
            own.name, own.version
        );
        escape_line(&line).into_owned()
    });
    let unused = unused.into_iter().map(|folder| {
        let path = folder.strip_prefix(root).unwrap_or(&folder);
        format!("- {}", escape_line(&path.to_string_lossy()))
    });
    Ok(outdated.chain(unused).collect())
}

/// Compares the vendored packages with a lock.
fn plan_vendored<'l>(root: &Path, lock: &'l LockFile) -> Result<VendorPlan<'l>> {
    reject_vendor_links(root)?;
    let home = root.join(VENDOR_FOLDER);
    let own = || packages_from_git(lock);
    let is_outdated = |package: &&LockedPackage| {
        store::read_tree(&home.join(&package.name), &package.tree).is_none()
    };
    let mut unused = Vec::new();
    for org in list_folders(&home) {
        for package in list_folders(&org.path) {
            let name = format!("{}/{}", org.name, package.name);
            if !own().any(|package| package.name == name) {
                unused.push(package.path);
            }
        }
    }
    Ok(VendorPlan {
        outdated: own().filter(is_outdated).collect(),
        unused,
    })
}

/// Returns an error if a link is in place of a folder of vendored packages: a cloned repository may
/// have one that leads to any other folder.
fn reject_vendor_links(root: &Path) -> Result<()> {
    reject_links(root, VENDOR_FOLDER)?;
    for org in fs::list_folder(&root.join(VENDOR_FOLDER)) {
        let place = format!("{VENDOR_FOLDER}/{}", org.name);
        reject_links(root, &place)?;
        for package in fs::list_folder(&org.path) {
            reject_links(root, &format!("{place}/{}", package.name))?;
        }
    }
    Ok(())
}

fn packages_from_git(lock: &LockFile) -> impl Iterator<Item = &LockedPackage> {
    lock.packages.iter().filter(|own| own.resolved.is_some())
}

/// The folders in a folder, without links to folders.
fn list_folders(folder: &Path) -> impl Iterator<Item = FolderEntry> {
    let entries = fs::list_folder(folder).into_iter();
    entries.filter(|entry| entry.is_folder)
}

/// The advice about a tag that was moved.
pub(super) fn moved_hint(name: &str) -> String {
    format!(
        "ask its owner why, unless {LOCK_FILE} was edited by hand; `ctxc package update --accept-moved {name}` takes the content of the tag"
    )
}

/// An error of a source.
pub(super) fn source_error(fault: &SourceFault) -> CliError {
    CliError::new(CliErrorKind::Infrastructure, fault.to_string())
}

/// An error of a repository.
pub(super) fn git_error(fault: &GitFault) -> CliError {
    CliError::new(CliErrorKind::Infrastructure, fault.to_string())
}

/// Reads the lock file in a project; an absent one is empty.
pub(super) fn read_lock(root: &Path) -> Result<LockFile> {
    let Some(text) = read_text(&root.join(LOCK_FILE))? else {
        return Ok(LockFile::default());
    };
    LockFile::read(&text).map_err(|fault| {
        let line = fault.position.line;
        let message = format!("{LOCK_FILE}:{line}: {}", fault.reason);
        CliError::new(CliErrorKind::Project, message).with_hint(
            "take the file from the repository again, or remove it and run `ctxc package update`",
        )
    })
}

/// Keeps other programs from changing the packages of a project, as long as the value lasts.
pub(super) fn lock_project(root: &Path) -> Result<Option<FileLock>> {
    let Some(folder) = folders::project_cache(None, root) else {
        return Ok(None);
    };
    let place = folder.join("packages.lock");
    let guard = folders::create_private(&folder)
        .and_then(|()| fs::try_lock(&place))
        .map_err(|error| CliError::write_failed(&place, &error))?;
    guard.map(Some).ok_or_else(|| {
        let message = "another `ctxc package` changes the packages of this project";
        CliError::new(CliErrorKind::Infrastructure, message)
            .with_hint("run this again when it is done")
    })
}
