//! The entry points for programs that compile templates themselves: a build step over a folder, or
//! texts held in memory.
//!
//! Never prints and never exits: all findings are returned as data.

use super::artifact::Registry;
use super::compile::{Chosen, Compiled, Compiler, Outcome, Scratch};
use super::workspace::documents::Documents;
use super::workspace::link;
use super::workspace::partial::{self, Goal};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::{MemoryFs, ReadFs};
use crate::project::config::Config;
use crate::project::linked_names::Links;
use crate::rules::check::{self, Active};
use crate::rules::input::read_fault;
use crate::rules::rule::Scope;
use crate::syntax::decode;
use crate::template::scope::Purpose;
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
        FileSource {
            root: Path::new(""),
            files: &files,
            scope: Scope::Whole,
            goal: Goal::Registry,
        },
        templates,
    )
}

/// The files of a project that is not a folder of this machine.
#[derive(Clone, Copy)]
pub(crate) struct FileSource<'h> {
    /// The project's folder, as a path within `files`.
    pub(crate) root: &'h Path,
    /// The access to files that templates include.
    pub(crate) files: &'h dyn ReadFs,
    /// The scope of the link check: all templates of the project, or a part of them.
    pub(crate) scope: Scope,
    /// The required result; a partial registry is possible despite errors.
    pub(crate) goal: Goal,
}

/// Compiles templates by name and bytes, wherever they come from. Each is treated as a file found
/// by a walk.
pub(crate) fn compile_files<'b>(
    config: &Config,
    source: FileSource<'_>,
    templates: impl IntoIterator<Item = (Arc<str>, io::Result<Cow<'b, [u8]>>)>,
) -> Built {
    let active = Active::new(config);
    let compiler = Compiler {
        config,
        active: &active,
        root: source.root,
        files: source.files,
        purpose: Purpose::Registry,
    };
    let mut scratch = Scratch::new();
    let mut documents = Documents::default();
    for (path, bytes) in templates {
        let outcome = match bytes {
            Ok(bytes) => compiler.compile(&path, &bytes, Chosen::Found, &mut scratch),
            Err(err) => {
                let finding = read_fault::word(&path, &err, config.limits.file);
                Outcome::Taken(Box::new(Compiled {
                    diagnostics: vec![finding],
                    ..Compiled::default()
                }))
            }
        };
        if let Outcome::Taken(file) = outcome {
            documents.insert(path, *file);
        }
    }
    let mut found = check::config(config);
    found.append(&mut documents.take_findings());
    let text = |path: &str| {
        let bytes = source
            .files
            .read(&source.root.join(path), config.limits.file)
            .ok()?;
        decode::decode(&bytes).ok().map(Cow::into_owned)
    };
    let index = documents.index();
    let links = Links::new(&index);
    found.extend(link::link(config, &links, source.scope, text));
    diagnostic::sort(&mut found);
    let (registry, _) = partial::registry(&documents, &links, &found, source.goal);
    Built::new(registry, found, documents.iter().len())
}

#[cfg(feature = "fs")]
pub use folder::{LoadError, Project};

#[cfg(feature = "fs")]
mod folder {
    use super::{Built, check, diagnostic};
    use crate::base::fs::{self, RealFs};
    use crate::base::rule_meta::RuleMeta;
    use crate::project::config::{Config, Input};
    use crate::registry::workspace::check::{CheckOutput, check_project};
    use crate::registry::workspace::partial::Excluded;
    use crate::registry::workspace::request::{Goal, Overlay, Recording, Request};
    use crate::rules::list;
    use crate::syntax::decode;
    use std::io;
    use std::path::{Path, PathBuf};

    /// The size limit of a project file, in bytes.
    const LIMIT: u64 = 4 << 20;

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
            match fs::read_into(&path, LIMIT, &mut bytes) {
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
            let rules: Vec<&'static RuleMeta> = list::all().map(|rule| &rule.meta).collect();
            let config = Config::read(&Input {
                path: "ctxc.toml",
                text: &text,
                root: &root,
                files: &RealFs,
                rules: &rules,
            });
            Ok(Self { root, config })
        }

        /// The project file, as read.
        pub const fn config(&self) -> &Config {
            &self.config
        }

        /// Compiles every template of the project. Writes nothing.
        pub fn build(&self) -> Built {
            self.checked(Goal::Registry).0
        }

        /// Compiles a project that may have errors: the registry contains the definitions without
        /// errors, and the second value lists the others. There is no registry if the project file
        /// has errors.
        pub fn build_partial(&self) -> (Built, Vec<Excluded>) {
            self.checked(Goal::Partial)
        }

        fn checked(&self, goal: Goal) -> (Built, Vec<Excluded>) {
            let Self { root, config } = self;
            let overlay = Overlay::default();
            let given = &[];
            let request = Request {
                root,
                config,
                given,
                stdin: None,
                overlay: &overlay,
                threads: None,
                goal,
                recording: Recording::Off,
                identity: crate::rules::check::Identity::Wanted,
                least: crate::base::rule_meta::Severity::Hint,
            };
            // No path is given, so no given path can be missing.
            let CheckOutput {
                diagnostics,
                registry,
                files,
                excluded,
                ..
            } = check_project(&request).unwrap_or_default();
            let mut found = check::config(config);
            let sound = !found.iter().any(check::is_error);
            found.extend(diagnostics);
            diagnostic::sort(&mut found);
            (
                Built::new(registry.filter(|_| sound), found, files),
                excluded,
            )
        }
    }
}
