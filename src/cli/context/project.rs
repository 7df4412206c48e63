//! A project compiled in memory, the files of its contexts, and the lines of its texts.

use super::broken_parts::BrokenParts;
use super::render_errors::context_error;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{ReadFs, RealFs};
use crate::base::patterns::is_ignored;
use crate::base::{contained_path, suggest};
use crate::cli::findings::project_has_errors;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::record::comparison::{known_secrets, project_comparison};
use crate::cli::revision::{CommitFiles, ProjectAtRevision};
use crate::cli::selection::describe_patterns;
use crate::context::fault::Fault;
use crate::context::lines::Lines;
use crate::context::request::{Files, RequestedFile};
use crate::context::{AgentNode, TaskGraph};
use crate::kernel::agent_node::AgentLookupError;
use crate::project::config::Config;
use crate::record::comparison::RequestComparison;
use crate::registry::compile::sources::{self, FileAccess};
use crate::registry::library::{self, Built};
use crate::registry::workspace::partial::ExcludedDefinition;
use crate::registry::{ReadError, Registry, RegistryParameter, Task};
use crate::rules::file_stem::default_task_name;
use crate::rules::project::packages::is_package_fault;
use crate::template::text::normalize_line_ends;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{Debug, Formatter};
use std::sync::OnceLock;

/// A compiled project.
#[derive(Debug)]
pub(in crate::cli) struct CompiledProject {
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
    past: Option<ProjectAtRevision>,
    /// The secrets that masks replace, read with the first use.
    secrets: OnceLock<Vec<String>>,
}

/// Files inside the project's folder, each read when it is requested.
pub(in crate::cli) struct ProjectFiles<'p> {
    pub(in crate::cli) root: &'p Path,
    /// The file system: the disk, or a revision.
    pub(in crate::cli) files: &'p dyn ReadFs,
}

impl Debug for ProjectFiles<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// The wording of messages about the first agent of a task.
pub(super) struct FirstAgentWording {
    /// The end of the error if the task has no agent.
    pub(super) reason: &'static str,
    /// The hint of that error.
    pub(super) hint: &'static str,
    /// The beginning of the note, in front of the agent: `this is`.
    pub(super) is: &'static str,
    /// The verb of the note for `--node`: `shows`.
    pub(super) names: &'static str,
}

impl CompiledProject {
    /// Compiles the project of this run. Definitions that depend on a file with errors have no
    /// context and are absent from the registry.
    pub(in crate::cli) fn load(cx: &Cx) -> Result<Self> {
        Self::load_or_empty(cx)?.require_templates("this project")
    }

    /// Like `load`, for a project that may contain no template.
    pub(in crate::cli) fn load_or_empty(cx: &Cx) -> Result<Self> {
        Self::new(
            Project::load(&cx.options)?.require_no_errors()?,
            "this project",
        )
    }

    /// Like `load_or_empty`; the root of a workspace is a project without templates.
    pub(super) fn load_or_root(cx: &Cx) -> Result<Self> {
        Self::compile(
            Project::load(&cx.options)?.require_no_errors()?,
            "this project",
        )
    }

    /// Compiles the project in a folder. Fails if the project has errors, since it could not be
    /// compared.
    pub(in crate::cli) fn load_in(folder: &Path) -> Result<Self> {
        let name = format!("the project in {}", folder.display());
        let project = Self::new(
            Project::load_in(folder.to_owned())?.require_no_errors()?,
            &name,
        )?
        .require_templates(&name)?;
        project.broken.ensure_none(&name)?;
        Ok(project)
    }

    /// Compiles the project in a folder as it is in a revision.
    pub(in crate::cli) fn load_at(folder: &Path, revision: &str) -> Result<Self> {
        let past = ProjectAtRevision::open(folder, revision)?;
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
        let past = ProjectAtRevision::open(&self.root, revision)?;
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

    /// Like `load_or_root`, for a folder.
    pub(in crate::cli) fn load_or_root_in(folder: &Path) -> Result<Self> {
        Self::compile(
            Project::load_in(folder.to_owned())?.require_no_errors()?,
            "this project",
        )
    }

    /// Compiles the readable parts of the project at a place in a commit, given as a path from the
    /// top of the repository. Also returns the reasons why the other parts cannot be read.
    /// `revision` is the name of the commit in errors. A usage error means that the commit does not
    /// contain the project.
    pub(super) fn load_readable(
        commit: CommitFiles,
        revision: &str,
        place: String,
    ) -> Result<(Self, Vec<String>)> {
        let (past, fault) = ProjectAtRevision::open_at(commit, revision, place)?;
        let mut faults: Vec<String> = fault.into_iter().map(|fault| fault.message).collect();
        let (registry, files, broken) = past.compile_sound()?;
        if files == 0
            && !past
                .file_names()
                .any(|name| name == PROJECT_FILE || past.config.eval.contains_scenario(name))
        {
            return Err(CliError::usage(format!(
                "`{revision}` does not have this project"
            )));
        }
        faults.extend(
            broken
                .into_iter()
                .filter(|(path, _)| path != PROJECT_FILE)
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
        project.require_project()?;
        Self::compile(project, whose)
    }

    /// Compiles a project by its settings as they were read. Definitions with errors are absent.
    pub(in crate::cli) fn compile(project: Project, whose: &str) -> Result<Self> {
        let (
            Built {
                registry,
                diagnostics,
                files,
            },
            left_out,
        ) = build_sound_parts(&project);
        let of_packages = diagnostics.iter().filter(|found| is_package_fault(found));
        let of_packages: Vec<Diagnostic> = of_packages.cloned().collect();
        if let Some(first) = of_packages.first() {
            let help = first.help.as_deref().unwrap_or_default().to_owned();
            // As in `check`: the fault lies in the project file or in its lock.
            return Err(CliError {
                kind: CliErrorKind::Project,
                ..project_has_errors(whose, &of_packages).with_hint(help)
            });
        }
        let broken = BrokenParts::new(diagnostics, left_out);
        let Some(registry) = registry else {
            broken.ensure_none(whose)?;
            return Err(CliError::new(
                CliErrorKind::Infrastructure,
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
    pub(super) fn require_templates(self, whose: &str) -> Result<Self> {
        if self.is_empty {
            let named = self
                .config
                .templates
                .include
                .as_ref()
                .map(|globs| describe_patterns(&self.root, globs.patterns()));
            if let Some(named) = named {
                let error =
                    format!("there is no template in what `[templates] include` names: {named}");
                return Err(CliError::new(CliErrorKind::NothingSelected, error)
                    .with_hint("name the folders and files of the templates there"));
            }
            let error = CliError::new(
                CliErrorKind::NothingSelected,
                format!("there is no template in {whose}"),
            );
            return Err(error.with_hint(if self.config.files.is_empty() {
                "no ctxc.toml was found here or above: `--project` names the folder of a project, `ctxc init` starts one"
            } else {
                "`ctxc init` starts one"
            }));
        }
        Ok(self)
    }

    /// Returns the task with a name, or the only task of a file.
    pub(in crate::cli) fn find_task(&self, name: &str) -> Result<String> {
        if self.registry.find(name).is_some() {
            return Ok(name.to_owned());
        }
        if let Some(error) = self.broken.task_error(name) {
            return Err(error);
        }
        // A path from the current folder; otherwise a project path, as findings print it.
        let here = path_in_project(&self.root, Path::new(name));
        let path = here
            .as_deref()
            .unwrap_or_else(|| name.trim_start_matches("./"));
        let of_file = |task: &crate::registry::Task<'_>| {
            task.source().is_ok_and(|source| source.path == path)
        };
        let left_out = self
            .broken
            .left_out_tasks()
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
                    .task_error(task)
                    .map_or_else(|| Ok(task.to_owned()), Err);
            }
            (Some(_), Some(_)) => {
                return Err(CliError::usage(format!("{path} holds several tasks"))
                    .with_hint("name one of them"));
            }
            (None, _) => {}
        }
        if let Some(error) = self.broken.file_error(path) {
            return Err(error);
        }
        let names = || {
            self.registry
                .tasks()
                .map(Task::name)
                .chain(self.broken.left_out_tasks().map(|task| task.name.as_str()))
        };
        let error = CliError::usage(format!("there is no task `{name}` in this project"));
        let error = self
            .broken
            .undefined_names_hint()
            .into_iter()
            .fold(error, CliError::with_hint);
        if let Some(of) = self.text_users_hint(path) {
            return Err(error.with_hint(of));
        }
        Err(
            error.with_suggestion_or(suggest::nearest_candidate(name, names()), || {
                format!("tasks here: {}", list_first(names()))
            }),
        )
    }

    /// Returns the parameters of a task.
    pub(super) fn task_parameters(&self, task: &str) -> Result<Vec<RegistryParameter>> {
        let unreadable =
            |err: ReadError| CliError::new(CliErrorKind::Infrastructure, err.to_string());
        self.registry
            .find(task)
            .map_or(Ok(Vec::new()), |task| task.parameters().map_err(unreadable))
    }

    /// Returns the agents that a task calls, in the order of its nodes.
    pub(super) fn task_agents(&self, task: &str) -> Result<Vec<AgentNode>> {
        Ok(TaskGraph::load(&self.registry, task)?
            .map_or(Ok(Vec::new()), |graph| graph.agents(task))?)
    }

    /// Returns the first agent of a task, with a note if the task has several.
    pub(super) fn first_agent(
        &self,
        task: &str,
        wording: &FirstAgentWording,
        cx: &mut Cx,
    ) -> Result<String> {
        let agents = self.task_agents(task)?;
        let Some(first) = agents.first() else {
            let error = CliError::usage(format!("`{task}` calls no agent{}", wording.reason));
            return Err(error.with_hint(wording.hint));
        };
        if agents.len() > 1 {
            let all: Vec<&str> = agents
                .iter()
                .map(|agent| agent.short_name(&agents))
                .collect();
            let (which, others) = (first.short_name(&agents), all.join(", "));
            let FirstAgentWording { is, names, .. } = wording;
            cx.print_note(&format!(
                "{is} {which}, the first of {} agents; --node {names} another: {others}",
                all.len()
            ));
        }
        Ok(first.node.clone())
    }

    /// Returns the path of the agent that `--node` selects by path or name.
    pub(super) fn find_node(&self, task: &str, name: &str) -> Result<String> {
        if name.starts_with('/') {
            return Ok(name.to_owned());
        }
        let agents = self.task_agents(task)?;
        let existing = || agents.iter().map(|agent| agent.short_name(&agents));
        let shown = || format!("agents here: {}", existing().collect::<Vec<_>>().join(", "));
        match AgentNode::find_agent(&agents, Some(name)) {
            Ok(agent) => Ok(agent.node.clone()),
            Err(AgentLookupError::Several) => {
                let paths = agents
                    .iter()
                    .filter(|agent| agent.name.as_deref() == Some(name))
                    .map(|agent| agent.node.as_str());
                let paths = paths.collect::<Vec<_>>().join(", ");
                Err(
                    CliError::usage(format!("--node: `{task}` has several agents `{name}`"))
                        .with_hint(format!("name one by its path: {paths}")),
                )
            }
            Err(AgentLookupError::Unknown) => Err(CliError::usage(format!(
                "--node: `{task}` has no agent `{name}`"
            ))
            .with_suggestion_or(suggest::nearest_candidate(name, existing()), shown)),
        }
    }

    /// Returns a hint with the tasks that use a file as a text.
    fn text_users_hint(&self, path: &str) -> Option<String> {
        let forest = TaskGraph::load_all(&self.registry).ok()?;
        let all = forest
            .source_files()
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
    pub(super) fn revision_files(&self) -> Option<Vec<&str>> {
        self.past.as_ref().map(|past| past.file_names().collect())
    }

    /// The revision of the project; `None` for the work tree.
    pub(in crate::cli) const fn past(&self) -> Option<&ProjectAtRevision> {
        self.past.as_ref()
    }

    /// Returns the project's folder in the work tree, which has the environment files with the
    /// secrets: a revision has no folder on disk.
    fn work_folder(&self) -> Cow<'_, Path> {
        self.past
            .as_ref()
            .map_or(Cow::Borrowed(&self.root), |past| {
                let (top, folder) = past.work_tree_place();
                Cow::Owned(top.join(folder))
            })
    }

    /// Returns the comparison of the project's requests with recorded ones, by its masks.
    pub(in crate::cli) fn comparison(&self) -> RequestComparison {
        project_comparison(self.known_secrets(), &self.config)
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
    pub(in crate::cli) fn files(&self) -> ProjectFiles<'_> {
        ProjectFiles {
            root: &self.root,
            files: self
                .past
                .as_ref()
                .map_or(&RealFs, ProjectAtRevision::file_system),
        }
    }

    /// Returns the files of all definitions.
    pub(in crate::cli) fn definition_paths(&self) -> BTreeSet<String> {
        definition_paths(&self.registry)
    }

    /// Returns the error for a context that cannot be built.
    pub(super) fn context_error(&self, faults: &[Fault]) -> CliError {
        context_error(faults, &self.text_lines(&self.definition_paths()))
    }

    /// Returns the line tables of files.
    pub(in crate::cli) fn text_lines(&self, paths: &BTreeSet<String>) -> Lines {
        let mut lines = Lines::default();
        let files = self.files();
        for path in paths {
            lines.add_file(&files, path, default_task_name(path), &self.config.limits);
        }
        lines
    }
}

/// Returns a path relative to the project; `None` if no file is there, or if it lies outside.
pub(super) fn path_in_project(root: &Path, path: &Path) -> Option<String> {
    let root = RealFs.canonicalize(root).ok()?;
    let path = RealFs.canonicalize(path).ok()?;
    let parts = path.strip_prefix(&root).ok()?.components();
    Some(
        parts
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join("/"),
    )
}

/// Compiles the parts of a project that have no error.
pub(super) fn build_sound_parts(project: &Project) -> (Built, Vec<ExcludedDefinition>) {
    let Project { root, config, .. } = project;
    library::Project::with_config(root.clone(), config.clone()).build_partial()
}

/// Returns the files of all definitions.
pub(super) fn definition_paths(registry: &Registry) -> BTreeSet<String> {
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

impl Files for ProjectFiles<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        let text = sources::read_inside_project(
            FileAccess {
                root: self.root,
                files: self.files,
                limit: sources::MAX_CONTEXT_FILE_BYTES,
            },
            Path::new(path),
        )?;
        Ok(normalize_line_ends(&text).into_owned())
    }

    fn requested(&self, path: &str) -> std::result::Result<RequestedFile, String> {
        let text = self.text(path)?;
        let refuse = |why: std::io::Error| contained_path::describe_io_error(&why);
        let root = self.files.canonicalize(self.root).map_err(refuse)?;
        let real = self
            .files
            .canonicalize(&self.root.join(path))
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
            path: contained_path::slash_path(real),
            text,
        })
    }
}
