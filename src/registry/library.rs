//! The entry points for programs that compile templates themselves: a build step over a folder, or
//! texts held in memory.
//!
//! Never prints and never exits: all findings are returned as data.

use super::artifact::Registry;
use super::compile::{CompileBuffers, CompileOutcome, CompileReason, CompiledFile, Compiler};
use super::workspace::documents::CompiledFiles;
use super::workspace::link;
#[cfg(feature = "fs")]
use super::workspace::packages;
use super::workspace::partial::{self, CheckGoal, RegistryInput};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::{MemoryFs, ReadFs};
use crate::project::config::Config;
use crate::project::linked_names::Links;
use crate::rules::check::{self, ActiveRules};
use crate::rules::input::read_fault;
use crate::rules::rule::CheckScope;
use crate::syntax::decode;
use crate::template::scope::LinkDetail;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The result of a compilation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Built {
    /// The registry; `None` when some finding is an error.
    pub registry: Option<Registry>,
    /// Every finding, located and sorted, including those of the project file.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of compiled files.
    pub files: usize,
}

impl Built {
    pub(super) fn new(
        registry: Option<Vec<u8>>,
        diagnostics: Vec<Diagnostic>,
        files: usize,
    ) -> Self {
        // The bytes are read back, so that a program gets exactly the registry that a later run
        // would read.
        let registry = registry.and_then(|bytes| Registry::read(bytes).ok());
        Self {
            registry,
            diagnostics,
            files,
        }
    }

    /// Returns true if a finding is an error.
    pub fn is_broken(&self) -> bool {
        self.diagnostics.iter().any(check::is_error)
    }
}

/// Compiles texts held in memory: path and text of each template, and of each file that a template
/// includes by `src`. Needs no file, thread or terminal. A file that is not a template of the
/// language serves `src` only.
///
/// ```
/// let task = "<task name=\"triage\" type=\"atomic\">\n  <description>sort the ticket</description>\n</task>\n";
/// let built = ctxc::compile_sources(&ctxc::Config::default(), [("triage.xml", task)]);
/// let registry = built.registry.expect("the template is sound");
/// assert_eq!(registry.task("triage")?.operator(), "atomic");
/// # Ok::<(), ctxc::NoTask>(())
/// ```
pub fn compile_sources<'s>(
    config: &Config,
    sources: impl IntoIterator<Item = (&'s str, &'s str)>,
) -> Built {
    let sources: BTreeMap<&str, &str> = sources.into_iter().collect();
    let mut files = MemoryFs::new();
    for (path, text) in &sources {
        files.insert(*path, *text);
    }
    let is_template = |path: &str| {
        path.rsplit('.')
            .next()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("xml"))
    };
    let found = sources.iter().filter(|(path, _)| is_template(path));
    let templates = found.map(|(path, text)| (Arc::from(*path), Ok(text.as_bytes().into())));
    compile_files(
        config,
        VirtualProject {
            root: Path::new(""),
            files: &files,
            scope: CheckScope::WholeProject,
            goal: CheckGoal::Registry,
        },
        templates,
    )
}

/// The files of a project that is not a folder of this machine.
#[derive(Clone, Copy)]
pub(crate) struct VirtualProject<'h> {
    /// The project's folder, as a path within `files`.
    pub(crate) root: &'h Path,
    /// The access to files that templates include.
    pub(crate) files: &'h dyn ReadFs,
    /// The scope of the link check: all templates of the project, or a part of them.
    pub(crate) scope: CheckScope,
    /// The required result; a partial registry is possible despite errors.
    pub(crate) goal: CheckGoal,
}

/// Compiles templates by name and bytes, wherever they come from. Each is treated as a file found
/// by a walk.
pub(crate) fn compile_files<'b>(
    config: &Config,
    source: VirtualProject<'_>,
    templates: impl IntoIterator<Item = (Arc<str>, io::Result<Cow<'b, [u8]>>)>,
) -> Built {
    let active = ActiveRules::new(config);
    let compiler = Compiler {
        config,
        active: &active,
        root: source.root,
        files: source.files,
        purpose: LinkDetail::Registry,
        package: None,
    };
    let mut scratch = CompileBuffers::new();
    let mut documents = CompiledFiles::default();
    for (path, bytes) in templates {
        let outcome = match bytes {
            Ok(bytes) => compiler.compile(&path, &bytes, CompileReason::Found, &mut scratch),
            Err(err) => {
                let finding = read_fault::report(&path, &err, config.limits.file);
                CompileOutcome::Taken(Box::new(CompiledFile {
                    diagnostics: vec![finding],
                    ..CompiledFile::default()
                }))
            }
        };
        if let CompileOutcome::Taken(file) = outcome {
            documents.insert(path, *file);
        }
    }
    let files = documents.iter().len();
    #[cfg(feature = "fs")]
    if source.scope == CheckScope::WholeProject || documents.has_unresolved_references() {
        let packages = packages::PackageInput {
            config,
            root: source.root,
            files: source.files,
            purpose: LinkDetail::Registry,
            threads: None,
        };
        packages::add_packages(packages, &mut documents);
    }
    let mut found = check::config_findings(config);
    found.append(&mut documents.take_findings());
    let text = |path: &str| {
        let bytes = source
            .files
            .read(
                &config.packages.real_path(source.root, path),
                config.limits.file,
            )
            .ok()?;
        decode::decode(&bytes).ok().map(Cow::into_owned)
    };
    let index = documents.index();
    let links = Links::new(&index);
    found.extend(link::link_files(config, &links, source.scope, text));
    #[cfg(feature = "fs")]
    let of_packages = packages::merge_findings(config, &mut found);
    #[cfg(not(feature = "fs"))]
    let of_packages = Vec::new();
    diagnostic::sort_diagnostics(&mut found);
    let input = RegistryInput {
        config,
        documents: &documents,
        links: &links,
    };
    let all = found.iter().chain(&of_packages).collect();
    let (registry, _) = partial::build_registry(&input, all, source.goal);
    Built::new(registry, found, files)
}

#[cfg(feature = "fs")]
pub use folder::{LoadError, Project};

#[cfg(feature = "fs")]
mod folder {
    use super::{Built, check, diagnostic};
    use crate::base::fs::{self, RealFs};
    use crate::base::rule_meta::RuleMeta;
    use crate::project::config::{Config, ConfigInput};
    use crate::registry::workspace::partial::ExcludedDefinition;
    use crate::registry::workspace::project_check::{CheckOutput, check_project};
    use crate::registry::workspace::request::{
        CheckGoal, CheckRequest, FileOverlay, InputRecording,
    };
    use crate::rules::list;
    use crate::syntax::decode;
    use std::io;
    use std::path::{Path, PathBuf};

    /// The size limit of a project file, in bytes.
    const MAX_CONFIG_BYTES: u64 = 4 << 20;

    /// A folder of templates with its project file, if it has one.
    #[derive(Clone, Debug)]
    pub struct Project {
        root: PathBuf,
        config: Config,
    }

    /// The reason why a project cannot be loaded. Faults *in* its file are findings of
    /// [`Project::build`].
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum LoadError {
        /// The folder does not exist.
        #[error("{}: there is no such folder", .0.display())]
        NoFolder(PathBuf),
        /// `ctxc.toml` exists and cannot be read.
        #[error("{} cannot be read: {why}", path.display())]
        Unreadable {
            /// The file.
            path: PathBuf,
            /// The error of the operating system.
            #[source]
            why: io::Error,
        },
        /// `ctxc.toml` is not a text file.
        #[error("{} is not text: {fault}", path.display())]
        NoText {
            /// The file.
            path: PathBuf,
            /// The position and the cause.
            #[source]
            fault: decode::DecodeFault,
        },
    }

    impl Project {
        /// Loads a folder. Reads `ctxc.toml` and no template.
        ///
        /// # Errors
        /// A folder that does not exist, or a project file that cannot be read.
        pub fn load(root: impl AsRef<Path>) -> Result<Self, LoadError> {
            let root = root.as_ref().to_path_buf();
            if !fs::is_dir(&root) {
                return Err(LoadError::NoFolder(root));
            }
            let path = root.join("ctxc.toml");
            let mut bytes = Vec::new();
            match fs::read_into(&path, MAX_CONFIG_BYTES, &mut bytes) {
                Ok(_) => {}
                Err(err) if err.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self {
                        root,
                        config: Config::default(),
                    });
                }
                Err(why) => return Err(LoadError::Unreadable { path, why }),
            }
            let text = decode::decode(&bytes).map_err(|fault| LoadError::NoText { path, fault })?;
            let rules: Vec<&'static RuleMeta> = list::all_rules().map(|rule| &rule.meta).collect();
            let config = Config::read(&ConfigInput {
                path: "ctxc.toml",
                text: &text,
                root: &root,
                files: &RealFs,
                rules: &rules,
            });
            Ok(Self { root, config })
        }

        /// A project whose file was read before.
        #[cfg(feature = "cli")]
        pub(crate) const fn with_config(root: PathBuf, config: Config) -> Self {
            Self { root, config }
        }

        /// The project file, as read.
        pub const fn config(&self) -> &Config {
            &self.config
        }

        /// Compiles every template of the project. Writes nothing.
        pub fn build(&self) -> Built {
            self.check_for(CheckGoal::Registry).0
        }

        /// Compiles a project that may have errors: the registry contains the definitions without
        /// errors, and the second value lists the others. There is no registry if the project file
        /// has errors.
        pub fn build_partial(&self) -> (Built, Vec<ExcludedDefinition>) {
            self.check_for(CheckGoal::Partial)
        }

        fn check_for(&self, goal: CheckGoal) -> (Built, Vec<ExcludedDefinition>) {
            let Self { root, config } = self;
            let overlay = FileOverlay::default();
            let given = &[];
            let request = CheckRequest {
                root,
                config,
                given,
                stdin: None,
                overlay: &overlay,
                threads: None,
                goal,
                recording: InputRecording::Off,
                identity: crate::rules::check::Fingerprints::Computed,
                min_severity: crate::base::rule_meta::Severity::Hint,
            };
            // No path is given, so no given path can be missing.
            let CheckOutput {
                diagnostics,
                registry,
                files,
                excluded,
                ..
            } = check_project(&request).unwrap_or_default();
            let mut found = check::config_findings(config);
            let sound = !found.iter().any(check::is_error);
            found.extend(diagnostics);
            diagnostic::sort_diagnostics(&mut found);
            (
                Built::new(registry.filter(|_| sound), found, files),
                excluded,
            )
        }
    }
}
