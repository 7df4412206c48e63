//! A project compiled in memory, the files of its contexts, and the lines of its texts.

use super::broken_parts::BrokenParts;
use crate::base::contained_path;
use crate::base::fs::{ReadFs, RealFs};
use crate::base::patterns::is_ignored;
use crate::base::suggest;
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use crate::cli::record::comparison::comparison;
use crate::cli::record::known_secrets::known_secrets;
use crate::cli::revision::{CommitFiles, Past};
use crate::cli::selection::included;
use crate::context::lines::Lines;
use crate::context::request::{Files, RequestedFile};
use crate::context::{AgentNode, TaskGraph};
use crate::kernel::agent_node::Unmeant;
use crate::project::config::Config;
use crate::record::comparison::Comparison;
use crate::registry::compile::sources::{self, FileAccess};
use crate::registry::library::Built;
use crate::registry::workspace::partial::Excluded;
use crate::registry::{Parameter, ReadError, Registry, Task, library};
use crate::rules::file_stem::stem;
use crate::template::text::normalized;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{Debug, Formatter};
use std::sync::OnceLock;

/// A compiled project.
#[derive(Debug)]
pub(in crate::cli) struct Compiled {
    /// The project's folder; of a revision, the folder that it has there.
    pub(in crate::cli) root: PathBuf,
    /// The compiled tasks.
    pub(in crate::cli) registry: Registry,
    /// The project file, or the defaults.
    pub(in crate::cli) config: Config,
    /// The definitions that are left out because of errors.
    pub(in crate::cli) broken: BrokenParts,
    /// True if the project contains no template.
    pub(super) is_empty: bool,
    /// The revision of the project; `None` for the work tree.
    past: Option<Past>,
    /// The secrets that masks replace, read with the first use.
    secrets: OnceLock<Vec<String>>,
}

/// Files inside the project's folder, each read when it is requested.
pub(in crate::cli) struct Inside<'p> {
    pub(in crate::cli) root: &'p Path,
    /// The file system: the disk, or a revision.
    pub(in crate::cli) files: &'p dyn ReadFs,
}

impl Debug for Inside<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Compiled {
    /// Compiles the project of this run. Definitions that depend on a file with errors have no
    /// context and are absent from the registry.
    pub(in crate::cli) fn load(cx: &Cx) -> Result<Self> {
        Self::load_or_empty(cx)?.filled("this project")
    }

    /// Like `load`, for a project that may contain no template.
    pub(super) fn load_or_empty(cx: &Cx) -> Result<Self> {
        Self::new(
            Project::load(&cx.options)?.without_errors()?,
            "this project",
        )
    }

    /// Compiles the project in a folder. Fails if the project has errors, since it could not be
    /// compared.
    pub(in crate::cli) fn load_in(folder: &Path) -> Result<Self> {
        let name = format!("the project in {}", folder.display());
        let project = Self::new(
            Project::load_in(folder.to_owned())?.without_errors()?,
            &name,
        )?
        .filled(&name)?;
        project.broken.ensure_none(&name)?;
        Ok(project)
    }

    /// Compiles the project in a folder as it is in a revision.
    pub(in crate::cli) fn load_at(folder: &Path, revision: &str) -> Result<Self> {
        let past = Past::open(folder, revision)?;
        let registry = past.compile()?;
        let root = past.root.clone();
        let config = past.config.clone();
        Ok(Self {
            root,
            registry,
            config,
            broken: BrokenParts::default(),
            is_empty: false,
            past: Some(past),
            secrets: OnceLock::new(),
        })
    }

    /// Like `load_at`, but the revision may be without templates if this project has none.
    pub(super) fn load_beside(&self, revision: &str) -> Result<Self> {
        if !self.is_empty {
            return Self::load_at(&self.root, revision);
        }
        let past = Past::open(&self.root, revision)?;
        let (registry, files) = past.compile_or_empty()?;
        let (root, config) = (past.root.clone(), past.config.clone());
        Ok(Self {
            root,
            registry,
            config,
            broken: BrokenParts::default(),
            is_empty: files == 0,
            past: Some(past),
            secrets: OnceLock::new(),
        })
    }

    /// Compiles the project in a folder, which may contain no template.
    pub(super) fn load_or_empty_in(folder: &Path) -> Result<Self> {
        Self::new(
            Project::load_in(folder.to_owned())?.without_errors()?,
            "this project",
        )
    }

    /// Compiles the readable parts of the project that a commit has in a place, a path from the top
    /// of the repository. Also returns the reasons why the other parts cannot be read. `revision`
    /// is the name of the commit in errors. A usage error means that the commit does not contain
    /// the project.
    pub(super) fn load_readable(
        commit: CommitFiles,
        revision: &str,
        place: String,
    ) -> Result<(Self, Vec<String>)> {
        let (past, fault) = Past::open_at(commit, revision, place)?;
        let mut faults: Vec<String> = fault.into_iter().map(|fault| fault.message).collect();
        let (registry, files, broken) = past.compile_sound()?;
        if files == 0
            && !past
                .names()
                .any(|name| name == FILE || past.config.eval.holds(name))
        {
            return Err(CliError::usage(format!(
                "`{revision}` does not have this project"
            )));
        }
        faults.extend(
            broken
                .into_iter()
                .filter(|(path, _)| path != FILE)
                .map(|(path, why)| format!("{path}: {why}")),
        );
        let (root, config) = (past.root.clone(), past.config.clone());
        let broken = BrokenParts::default();
        Ok((
            Self {
                root,
                registry,
                config,
                broken,
                is_empty: files == 0,
                past: Some(past),
                secrets: OnceLock::new(),
            },
            faults,
        ))
    }

    fn new(project: Project, whose: &str) -> Result<Self> {
        let (
            Built {
                registry,
                diagnostics,
                files,
            },
            left_out,
        ) = built(&project)?;
        let broken = BrokenParts::new(diagnostics, left_out);
        let Some(registry) = registry else {
            broken.ensure_none(whose)?;
            return Err(CliError::new(
                Kind::Infrastructure,
                format!("the registry of {whose} cannot be read again"),
            ));
        };
        Ok(Self {
            root: project.root,
            registry,
            config: project.config,
            broken,
            is_empty: files == 0,
            past: None,
            secrets: OnceLock::new(),
        })
    }

    /// Returns an error if the project contains no template.
    pub(super) fn filled(self, whose: &str) -> Result<Self> {
        if self.is_empty {
            let named = self
                .config
                .templates
                .include
                .as_ref()
                .map(|globs| included(&self.root, globs.written()));
            if let Some(named) = named {
                let error =
                    format!("there is no template in what `[templates] include` names: {named}");
                return Err(CliError::new(Kind::Nothing, error)
                    .hint("name the folders and files of the templates there"));
            }
            let error = CliError::new(Kind::Nothing, format!("there is no template in {whose}"));
            return Err(error.hint(if self.config.files.is_empty() {
                "no ctxc.toml was found here or above: `--project` names the folder of a project, `ctxc init` starts one"
            } else {
                "`ctxc init` starts one"
            }));
        }
        Ok(self)
    }

    /// Returns the task with a name, or the only task of a file.
    pub(in crate::cli) fn task(&self, name: &str) -> Result<String> {
        if self.registry.find(name).is_some() {
            return Ok(name.to_owned());
        }
        if let Some(error) = self.broken.task(name) {
            return Err(error);
        }
        // A path from the current folder; otherwise a project path, as findings print it.
        let here = named_inside(&self.root, Path::new(name));
        let path = here
            .as_deref()
            .unwrap_or_else(|| name.trim_start_matches("./"));
        let of_file = |task: &crate::registry::Task<'_>| {
            task.source().is_ok_and(|source| source.path == path)
        };
        let left_out = self
            .broken
            .tasks()
            .filter(|task| task.path == path)
            .map(|task| task.name.as_str());
        let mut inside = self
            .registry
            .tasks()
            .filter(of_file)
            .map(Task::name)
            .chain(left_out);
        match (inside.next(), inside.next()) {
            (Some(task), None) => {
                return self
                    .broken
                    .task(task)
                    .map_or_else(|| Ok(task.to_owned()), Err);
            }
            (Some(_), Some(_)) => {
                return Err(
                    CliError::usage(format!("{path} holds several tasks")).hint("name one of them")
                );
            }
            (None, _) => {}
        }
        if let Some(error) = self.broken.file(path) {
            return Err(error);
        }
        let names = || {
            self.registry
                .tasks()
                .map(Task::name)
                .chain(self.broken.tasks().map(|task| task.name.as_str()))
        };
        let error = CliError::usage(format!("there is no task `{name}` in this project"));
        let error = self
            .broken
            .may_hold()
            .into_iter()
            .fold(error, CliError::hint);
        if let Some(of) = self.texts_of(path) {
            return Err(error.hint(of));
        }
        Err(error.did_you_mean_or(suggest::nearest(name, names()), || {
            format!("tasks here: {}", few(names()))
        }))
    }

    /// Returns the parameters of a task.
    pub(super) fn parameters(&self, task: &str) -> Result<Vec<Parameter>> {
        let unreadable = |err: ReadError| CliError::new(Kind::Infrastructure, err.to_string());
        self.registry
            .find(task)
            .map_or(Ok(Vec::new()), |task| task.parameters().map_err(unreadable))
    }

    /// Returns the agents that a task calls, in the order of its nodes.
    pub(super) fn agents(&self, task: &str) -> Result<Vec<AgentNode>> {
        Ok(TaskGraph::load(&self.registry, task)?
            .map_or(Ok(Vec::new()), |graph| graph.agents(task))?)
    }

    /// Returns the first agent of a task, with a note if the task has several; `why` is the end of
    /// the error and its hint if the task has none.
    pub(super) fn first_agent(
        &self,
        task: &str,
        why: (&str, &str),
        (is, names): (&str, &str),
        cx: &mut Cx,
    ) -> Result<String> {
        let agents = self.agents(task)?;
        let Some(first) = agents.first() else {
            return Err(CliError::usage(format!("`{task}` calls no agent{}", why.0)).hint(why.1));
        };
        if agents.len() > 1 {
            let all: Vec<&str> = agents.iter().map(|agent| agent.handle(&agents)).collect();
            let (which, others) = (first.handle(&agents), all.join(", "));
            cx.note(&format!(
                "{is} {which}, the first of {} agents; --node {names} another: {others}",
                all.len()
            ));
        }
        Ok(first.node.clone())
    }

    /// Returns the path of the agent that `--node` selects by path or name.
    pub(super) fn node(&self, task: &str, asked: &str) -> Result<String> {
        if asked.starts_with('/') {
            return Ok(asked.to_owned());
        }
        let agents = self.agents(task)?;
        let there = || agents.iter().map(|agent| agent.handle(&agents));
        let shown = || format!("agents here: {}", there().collect::<Vec<_>>().join(", "));
        match AgentNode::meant(&agents, Some(asked)) {
            Ok(agent) => Ok(agent.node.clone()),
            Err(Unmeant::Several) => {
                let paths = agents
                    .iter()
                    .filter(|agent| agent.name.as_deref() == Some(asked))
                    .map(|agent| agent.node.as_str());
                let paths = paths.collect::<Vec<_>>().join(", ");
                Err(
                    CliError::usage(format!("--node: `{task}` has several agents `{asked}`"))
                        .hint(format!("name one by its path: {paths}")),
                )
            }
            Err(Unmeant::Unknown) => Err(CliError::usage(format!(
                "--node: `{task}` has no agent `{asked}`"
            ))
            .did_you_mean_or(suggest::nearest(asked, there()), shown)),
        }
    }

    /// Returns a hint with the tasks that use a file as a text.
    fn texts_of(&self, path: &str) -> Option<String> {
        let forest = TaskGraph::whole(&self.registry).ok()?;
        let all = forest
            .sources()
            .filter(|(_, sources)| sources.contains(path));
        let names: Vec<String> = all.map(|(name, _)| format!("`{name}`")).take(8).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{path} is only a text of {}: name the task",
                names.join(", ")
            )
        })
    }

    /// Returns the files of a revision, by project path; `None` for the work tree.
    pub(super) fn names(&self) -> Option<Vec<&str>> {
        self.past.as_ref().map(|past| past.names().collect())
    }

    /// The revision of the project; `None` for the work tree.
    pub(super) const fn past(&self) -> Option<&Past> {
        self.past.as_ref()
    }

    /// Returns the project's folder in the work tree, which has the environment files with the
    /// secrets: a revision has no folder on disk.
    fn work_folder(&self) -> Cow<'_, Path> {
        self.past
            .as_ref()
            .map_or(Cow::Borrowed(&self.root), |past| {
                let (top, folder) = past.place();
                Cow::Owned(top.join(folder))
            })
    }

    /// Returns the comparison of the project's requests with recorded ones, by its masks.
    pub(in crate::cli) fn comparison(&self) -> Comparison {
        comparison(self.known_secrets(), &self.config)
    }

    /// Returns the secrets that masks replace. They are read once, so that all masks of a run
    /// replace the same ones.
    pub(in crate::cli) fn known_secrets(&self) -> impl Iterator<Item = String> {
        self.secrets
            .get_or_init(|| known_secrets(&self.work_folder(), &self.config).collect())
            .iter()
            .cloned()
    }

    /// The files of the project.
    pub(in crate::cli) fn files(&self) -> Inside<'_> {
        Inside {
            root: &self.root,
            files: self.past.as_ref().map_or(&RealFs, Past::files),
        }
    }

    /// Returns the files of all definitions.
    pub(in crate::cli) fn paths(&self) -> BTreeSet<String> {
        paths(&self.registry)
    }

    /// Returns the line tables of files.
    pub(in crate::cli) fn lines(&self, paths: &BTreeSet<String>) -> Lines {
        let mut lines = Lines::default();
        let files = self.files();
        for path in paths {
            lines.add(&files, path, stem(path), &self.config.limits);
        }
        lines
    }
}

/// Returns a path relative to the project; `None` if no file is there, or if it lies outside.
pub(super) fn named_inside(root: &Path, path: &Path) -> Option<String> {
    let root = RealFs.canonical(root).ok()?;
    let path = RealFs.canonical(path).ok()?;
    let parts = path.strip_prefix(&root).ok()?.components();
    Some(
        parts
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join("/"),
    )
}

/// Compiles the parts of a project that have no error.
pub(super) fn built(project: &Project) -> Result<(Built, Vec<Excluded>)> {
    let found = library::Project::load(&project.root);
    Ok(found
        .map_err(|err| CliError::new(Kind::Infrastructure, err.to_string()))?
        .build_partial())
}

/// Returns the files of all definitions.
pub(super) fn paths(registry: &Registry) -> BTreeSet<String> {
    let of_tasks = registry
        .tasks()
        .chain(registry.templates())
        .filter_map(|task| Some(task.source().ok()?.path));
    of_tasks
        .chain(
            registry
                .fragments()
                .map(|fragment| fragment.source().path.clone()),
        )
        .collect()
}

impl Files for Inside<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        let text = sources::inside_text(
            FileAccess {
                root: self.root,
                files: self.files,
                limit: sources::CONTEXT_FILE,
            },
            Path::new(path),
        )?;
        Ok(normalized(&text).into_owned())
    }

    fn requested(&self, path: &str) -> std::result::Result<RequestedFile, String> {
        let text = self.text(path)?;
        let refuse = |why: std::io::Error| contained_path::reason(&why);
        let root = self.files.canonical(self.root).map_err(refuse)?;
        let real = self
            .files
            .canonical(&self.root.join(path))
            .map_err(refuse)?;
        let real = real
            .strip_prefix(&root)
            .map_err(|_| "it lies outside the project's folder".to_owned())?;
        if [Path::new(path), real]
            .into_iter()
            .any(|inside| is_ignored(&root, inside))
        {
            return Err("`.gitignore` or `.ignore` names it".to_owned());
        }
        Ok(RequestedFile {
            path: contained_path::name(real),
            text,
        })
    }
}
