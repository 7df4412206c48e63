//! A project compiled in memory, the files its contexts hold, and the lines its texts stand on.

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
    /// Its folder; in a revision the one that it has there.
    pub(in crate::cli) root: PathBuf,
    /// Its tasks.
    pub(in crate::cli) registry: Registry,
    /// Its project file, or the defaults.
    pub(in crate::cli) config: Config,
    /// What is left out of it, since something in it is an error.
    pub(in crate::cli) broken: BrokenParts,
    /// Whether it holds no template at all.
    pub(super) is_empty: bool,
    /// The revision that it is of; `None` for the work tree.
    past: Option<Past>,
    /// The secrets that masks know, once they were asked for.
    secrets: OnceLock<Vec<String>>,
}

/// Files inside the project's folder, read when they are asked for.
pub(in crate::cli) struct Inside<'p> {
    pub(in crate::cli) root: &'p Path,
    /// Where they are: on disk, or in a revision.
    pub(in crate::cli) files: &'p dyn ReadFs,
}

impl Debug for Inside<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Compiled {
    /// Compiles the project of this run. What rests on a file with errors has no context, and is not in the registry.
    pub(in crate::cli) fn load(cx: &Cx) -> Result<Self> {
        Self::load_or_empty(cx)?.filled("this project")
    }

    /// The same where it may hold no template.
    pub(super) fn load_or_empty(cx: &Cx) -> Result<Self> {
        Self::new(Project::load(&cx.options)?.without_errors()?, "this project")
    }

    /// Compiles the project in a folder; only one without errors is compared.
    pub(in crate::cli) fn load_in(folder: &Path) -> Result<Self> {
        let name = format!("the project in {}", folder.display());
        let project = Self::new(Project::load_in(folder.to_owned())?.without_errors()?, &name)?.filled(&name)?;
        project.broken.ensure_none(&name)?;
        Ok(project)
    }

    /// Compiles the project in a folder as a revision has it.
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

    /// The same where this project holds no template: the revision need hold none either.
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

    /// The project in a folder, which may hold no template.
    pub(super) fn load_or_empty_in(folder: &Path) -> Result<Self> {
        Self::new(Project::load_in(folder.to_owned())?.without_errors()?, "this project")
    }

    /// The project that a commit has in a place, by its path from the top of the repository: as far as it can be read, with what
    /// cannot be and why. An error about usage means that there is none; `revision` is the name of the commit in it.
    pub(super) fn load_readable(commit: CommitFiles, revision: &str, place: String) -> Result<(Self, Vec<String>)> {
        let (past, fault) = Past::open_at(commit, revision, place)?;
        let mut faults: Vec<String> = fault.into_iter().map(|fault| fault.message).collect();
        let (registry, files, broken) = past.compile_sound()?;
        if files == 0 && !past.names().any(|name| name == FILE || past.config.eval.holds(name)) {
            return Err(CliError::usage(format!("`{revision}` does not have this project")));
        }
        faults.extend(broken.into_iter().filter(|(path, _)| path != FILE).map(|(path, why)| format!("{path}: {why}")));
        let (root, config) = (past.root.clone(), past.config.clone());
        let broken = BrokenParts::default();
        Ok((Self { root, registry, config, broken, is_empty: files == 0, past: Some(past), secrets: OnceLock::new() }, faults))
    }

    fn new(project: Project, whose: &str) -> Result<Self> {
        let (Built { registry, diagnostics, files }, left_out) = built(&project)?;
        let broken = BrokenParts::new(diagnostics, left_out);
        let Some(registry) = registry else {
            broken.ensure_none(whose)?;
            return Err(CliError::new(Kind::Infrastructure, format!("the registry of {whose} cannot be read again")));
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

    /// Ends the run where it holds no template.
    pub(super) fn filled(self, whose: &str) -> Result<Self> {
        if self.is_empty {
            let named = self.config.templates.include.as_ref().map(|globs| included(&self.root, globs.written()));
            if let Some(named) = named {
                let error = format!("there is no template in what `[templates] include` names: {named}");
                return Err(CliError::new(Kind::Nothing, error).hint("name the folders and files of the templates there"));
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

    /// The task with a name, or the only one of a file.
    pub(in crate::cli) fn task(&self, name: &str) -> Result<String> {
        if self.registry.find(name).is_some() {
            return Ok(name.to_owned());
        }
        if let Some(error) = self.broken.task(name) {
            return Err(error);
        }
        // As it is named from where one stands; else as the project names it, which is what findings show.
        let here = named_inside(&self.root, Path::new(name));
        let path = here.as_deref().unwrap_or_else(|| name.trim_start_matches("./"));
        let of_file = |task: &crate::registry::Task<'_>| task.source().is_ok_and(|source| source.path == path);
        let left_out = self.broken.tasks().filter(|task| task.path == path).map(|task| task.name.as_str());
        let mut inside = self.registry.tasks().filter(of_file).map(Task::name).chain(left_out);
        match (inside.next(), inside.next()) {
            (Some(task), None) => return self.broken.task(task).map_or_else(|| Ok(task.to_owned()), Err),
            (Some(_), Some(_)) => {
                return Err(CliError::usage(format!("{path} holds several tasks")).hint("name one of them"));
            }
            (None, _) => {}
        }
        if let Some(error) = self.broken.file(path) {
            return Err(error);
        }
        let names = || self.registry.tasks().map(Task::name).chain(self.broken.tasks().map(|task| task.name.as_str()));
        let error = CliError::usage(format!("there is no task `{name}` in this project"));
        let error = self.broken.may_hold().into_iter().fold(error, CliError::hint);
        if let Some(of) = self.texts_of(path) {
            return Err(error.hint(of));
        }
        Err(error.did_you_mean_or(suggest::nearest(name, names()), || format!("tasks here: {}", few(names()))))
    }

    /// What a task takes.
    pub(super) fn parameters(&self, task: &str) -> Result<Vec<Parameter>> {
        let unreadable = |err: ReadError| CliError::new(Kind::Infrastructure, err.to_string());
        self.registry.find(task).map_or(Ok(Vec::new()), |task| task.parameters().map_err(unreadable))
    }

    /// The agents that a task calls, in the order of its nodes.
    pub(super) fn agents(&self, task: &str) -> Result<Vec<AgentNode>> {
        Ok(TaskGraph::load(&self.registry, task)?.map_or(Ok(Vec::new()), |graph| graph.agents(task))?)
    }

    /// The first agent of a task, and a word where there are more; `why` is what there is to say, and to do, where there is none.
    pub(super) fn first_agent(&self, task: &str, why: (&str, &str), (is, names): (&str, &str), cx: &mut Cx) -> Result<String> {
        let agents = self.agents(task)?;
        let Some(first) = agents.first() else {
            return Err(CliError::usage(format!("`{task}` calls no agent{}", why.0)).hint(why.1));
        };
        if agents.len() > 1 {
            let all: Vec<&str> = agents.iter().map(|agent| agent.handle(&agents)).collect();
            let (which, others) = (first.handle(&agents), all.join(", "));
            cx.note(&format!("{is} {which}, the first of {} agents; --node {names} another: {others}", all.len()));
        }
        Ok(first.node.clone())
    }

    /// The path of the agent that `--node` means, by its path or its name.
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
                let paths = agents.iter().filter(|agent| agent.name.as_deref() == Some(asked)).map(|agent| agent.node.as_str());
                let paths = paths.collect::<Vec<_>>().join(", ");
                Err(CliError::usage(format!("--node: `{task}` has several agents `{asked}`"))
                    .hint(format!("name one by its path: {paths}")))
            }
            Err(Unmeant::Unknown) => Err(CliError::usage(format!("--node: `{task}` has no agent `{asked}`"))
                .did_you_mean_or(suggest::nearest(asked, there()), shown)),
        }
    }

    /// Whose text a file is, in words.
    fn texts_of(&self, path: &str) -> Option<String> {
        let forest = TaskGraph::whole(&self.registry).ok()?;
        let all = forest.sources().filter(|(_, sources)| sources.contains(path));
        let names: Vec<String> = all.map(|(name, _)| format!("`{name}`")).take(8).collect();
        (!names.is_empty()).then(|| format!("{path} is only a text of {}: name the task", names.join(", ")))
    }

    /// The files that a revision has, by their names in the project; `None` for the work tree.
    pub(super) fn names(&self) -> Option<Vec<&str>> {
        self.past.as_ref().map(|past| past.names().collect())
    }

    /// The revision that it is of.
    pub(super) const fn past(&self) -> Option<&Past> {
        self.past.as_ref()
    }

    /// Its folder in the work tree, whose environment files hold the secrets that masks know: a revision has no folder on disk.
    fn work_folder(&self) -> Cow<'_, Path> {
        self.past.as_ref().map_or(Cow::Borrowed(&self.root), |past| {
            let (top, folder) = past.place();
            Cow::Owned(top.join(folder))
        })
    }

    /// The comparison of its requests with recorded ones, by its masks.
    pub(in crate::cli) fn comparison(&self) -> Comparison {
        comparison(self.known_secrets(), &self.config)
    }

    /// The values of secrets that its masks know. They are read once: all masks of a run know the same.
    pub(in crate::cli) fn known_secrets(&self) -> impl Iterator<Item = String> {
        self.secrets.get_or_init(|| known_secrets(&self.work_folder(), &self.config).collect()).iter().cloned()
    }

    /// Files of the project.
    pub(in crate::cli) fn files(&self) -> Inside<'_> {
        Inside { root: &self.root, files: self.past.as_ref().map_or(&RealFs, Past::files) }
    }

    /// The files of all definitions.
    pub(in crate::cli) fn paths(&self) -> BTreeSet<String> {
        paths(&self.registry)
    }

    /// Where the texts of these files stand.
    pub(in crate::cli) fn lines(&self, paths: &BTreeSet<String>) -> Lines {
        let mut lines = Lines::default();
        let files = self.files();
        for path in paths {
            lines.add(&files, path, stem(path), &self.config.limits);
        }
        lines
    }
}

/// A path as the project names it; `None` where nothing is there, or it lies outside.
pub(super) fn named_inside(root: &Path, path: &Path) -> Option<String> {
    let root = RealFs.canonical(root).ok()?;
    let path = RealFs.canonical(path).ok()?;
    let parts = path.strip_prefix(&root).ok()?.components();
    Some(parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/"))
}

/// Compiles the parts of a project that have no error.
pub(super) fn built(project: &Project) -> Result<(Built, Vec<Excluded>)> {
    let found = library::Project::load(&project.root);
    Ok(found.map_err(|err| CliError::new(Kind::Infrastructure, err.to_string()))?.build_partial())
}

/// The files of all definitions.
pub(super) fn paths(registry: &Registry) -> BTreeSet<String> {
    let of_tasks = registry.tasks().chain(registry.templates()).filter_map(|task| Some(task.source().ok()?.path));
    of_tasks.chain(registry.fragments().map(|fragment| fragment.source().path.clone())).collect()
}

impl Files for Inside<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        let text = sources::inside_text(
            FileAccess { root: self.root, files: self.files, limit: sources::CONTEXT_FILE },
            Path::new(path),
        )?;
        Ok(normalized(&text).into_owned())
    }

    fn requested(&self, path: &str) -> std::result::Result<RequestedFile, String> {
        let text = self.text(path)?;
        let refuse = |why: std::io::Error| contained_path::reason(&why);
        let root = self.files.canonical(self.root).map_err(refuse)?;
        let real = self.files.canonical(&self.root.join(path)).map_err(refuse)?;
        let real = real.strip_prefix(&root).map_err(|_| "it lies outside the project's folder".to_owned())?;
        if [Path::new(path), real].into_iter().any(|inside| is_ignored(&root, inside)) {
            return Err("`.gitignore` or `.ignore` names it".to_owned());
        }
        Ok(RequestedFile { path: contained_path::name(real), text })
    }
}
