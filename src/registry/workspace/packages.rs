//! Compiles the templates of the packages that a project uses, each with the settings of its own
//! project file. A package is checked where it is made: here its errors are one finding at the
//! dependency, and its warnings are none.

use super::documents::CompiledFiles;
use super::listed;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{MemoryFs, ReadFs};
use crate::base::parallel::map_items;
use crate::base::span::Span;
use crate::project::config::Config;
use crate::project::config::InstalledPackage;
use crate::project::package_files::PackageFiles;
use crate::project::packages::PackagePlace;
use crate::registry::compile::{
    CompileBuffers, CompileOutcome, CompileReason, CompiledFile, CompiledPackage, Compiler,
};
use crate::rules::check::{self, ActiveRules, Fingerprints};
use crate::rules::input::hidden_text::HIDDEN_TEXT;
use crate::rules::input::read_fault;
use crate::rules::project::packages;
use crate::rules::rule::ConfigCx;
use crate::template::scope::LinkDetail;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// The number of files that one thread compiles at a time.
const FILES_AT_ONCE: usize = 32;

/// The input for compiling packages.
#[derive(Clone, Copy)]
pub(crate) struct PackageInput<'p> {
    /// The project that uses them.
    pub(crate) config: &'p Config,
    /// Its folder.
    pub(crate) root: &'p Path,
    /// Its files.
    pub(crate) files: &'p dyn ReadFs,
    /// The required results.
    pub(crate) purpose: LinkDetail,
    /// The maximum number of threads; `None` for one per core.
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Adds the templates of all packages to the files of the project.
pub(crate) fn add_packages(input: PackageInput<'_>, documents: &mut CompiledFiles) {
    let packages: Vec<&InstalledPackage> = input.config.packages.iter().collect();
    let work = map_items(&packages, input.threads, |package| {
        PackageWork::new(package, input)
    });
    let parts = work.iter().flat_map(|own| {
        let parts = own.names.chunks(FILES_AT_ONCE);
        parts.map(move |names| (own, names))
    });
    let parts: Vec<(&PackageWork<'_>, &[String])> = parts.collect();
    let compiled = map_items(&parts, input.threads, |(work, names)| {
        let mut buffers = CompileBuffers::new();
        let one = |name: &String| work.compile(name, input.purpose, &mut buffers);
        names.iter().filter_map(one).collect::<Vec<_>>()
    });
    for (path, compiled) in compiled.into_iter().flatten() {
        documents.insert(path, compiled);
    }
}

/// Reads the templates of all packages. Those that cannot be read are omitted: a check reports them.
pub(crate) fn read_templates<'p>(
    config: &'p Config,
    root: &'p Path,
    files: &'p dyn ReadFs,
) -> Vec<(&'p InstalledPackage, String, Vec<u8>)> {
    let input = PackageInput {
        config,
        root,
        files,
        purpose: LinkDetail::Findings,
        threads: None,
    };
    let mut found = Vec::new();
    for package in config.packages.iter() {
        let work = PackageWork::new(package, input);
        for name in &work.names {
            let path = format!("{}/{name}", package.folder.prefix);
            let bytes = work.files.read(Path::new(&path), config.limits.file);
            found.extend(bytes.map(|bytes| (package, path, bytes)));
        }
    }
    found
}

/// A package with the names of its templates.
struct PackageWork<'p> {
    package: &'p InstalledPackage,
    input: PackageInput<'p>,
    files: PackageFiles<'p>,
    names: Vec<String>,
    config: Config,
    active: ActiveRules,
}

/// Returns the settings that a package is checked with: hidden text is permitted by its user, never
/// by the package itself.
fn checked_config(user: &Config, package: &InstalledPackage) -> Config {
    let mut config = (*package.config).clone();
    let hidden = HIDDEN_TEXT.meta.code;
    config.lints.copy_level(hidden, &user.lints);
    config
}

impl<'p> PackageWork<'p> {
    fn new(package: &'p InstalledPackage, input: PackageInput<'p>) -> Self {
        let folder = &package.folder;
        let config = checked_config(input.config, package);
        let mut files = PackageFiles::new(folder, input.root, input.files);
        let mut found = files.list(&config.templates.folders());
        if found.is_empty() && config.templates.include.is_none() {
            found = files.list(&[String::new()]);
        }
        let names = found.iter().map(String::as_str);
        let disk = input.files;
        let (home, none) = (folder.path(input.root), MemoryFs::new());
        // The locked files were chosen when they were packed.
        let ignoring: &dyn ReadFs = match (&folder.hashes, &folder.place) {
            (None, PackagePlace::Project(_)) => disk,
            _ => &none,
        };
        let names = listed::filter_templates(&config.templates, &home, ignoring, names);
        let names = names.into_iter().map(str::to_owned).collect();
        Self {
            package,
            input,
            files,
            names,
            // Its findings are not printed.
            active: ActiveRules::new(&config).with_fingerprints(Fingerprints::Omitted),
            config,
        }
    }

    fn compile(
        &self,
        name: &str,
        purpose: LinkDetail,
        buffers: &mut CompileBuffers,
    ) -> Option<(Arc<str>, CompiledFile)> {
        let config = &self.config;
        let path: Arc<str> = format!("{}/{name}", self.package.folder.prefix).into();
        let compiler = Compiler {
            config,
            active: &self.active,
            root: Path::new(""),
            files: &self.files,
            purpose,
            package: Some(CompiledPackage {
                names: &self.package.names,
                root: self.input.root,
                files: self.input.files,
            }),
        };
        let file = match self.files.read(Path::new(&*path), config.limits.file) {
            Ok(bytes) => match compiler.compile(&path, &bytes, CompileReason::Found, buffers) {
                CompileOutcome::Taken(file) => *file,
                CompileOutcome::Skipped => return None,
            },
            Err(error) => CompiledFile {
                diagnostics: vec![read_fault::report(&path, &error, config.limits.file)],
                ..CompiledFile::default()
            },
        };
        Some((path, file))
    }
}

/// Takes the findings in files of packages out of `found`, and adds one for each package that has
/// errors. Returns the errors.
pub(crate) fn merge_findings(config: &Config, found: &mut Vec<Diagnostic>) -> Vec<Diagnostic> {
    let packages = &config.packages;
    let cx = ConfigCx { config };
    let mut errors: BTreeMap<&str, Vec<Diagnostic>> = BTreeMap::new();
    for package in packages.iter() {
        let faults = package.config.faults.iter();
        // Its models and providers are those of the project.
        let faults = faults.filter(|fault| fault.kind.breaks_package());
        let spans: Vec<Span> = faults.map(|fault| fault.span).collect();
        let counts = |finding: &Diagnostic| {
            let is_hidden = finding.rule.code == HIDDEN_TEXT.meta.code;
            check::is_error(finding) && (is_hidden || spans.contains(&finding.span))
        };
        let own = check::config_findings(&checked_config(config, package)).into_iter();
        let own: Vec<_> = own.filter(counts).collect();
        errors.insert(&package.names.package, own);
    }
    found.retain(|finding| {
        let Some(package) = packages.of_file(&finding.path) else {
            return true;
        };
        if check::is_error(finding) {
            let own = errors.entry(&package.names.package).or_default();
            own.push(finding.clone());
        }
        false
    });
    // A definition of a file with errors is missing for this reason.
    found.retain(|finding| {
        let is_missing = |(name, own): (&&str, &Vec<Diagnostic>)| {
            !own.is_empty() && finding.message.contains(&format!("`{name}/"))
        };
        let names_definition = matches!(finding.rule.name, "unresolved-reference" | "unknown-task");
        !names_definition || !errors.iter().any(is_missing)
    });
    for package in packages.iter() {
        let own = errors.get(package.names.package.as_str());
        found.extend(own.and_then(|own| packages::report_errors(&cx, package, own)));
    }
    errors.into_values().flatten().collect()
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/workspace/packages.rs"]
mod tests;
