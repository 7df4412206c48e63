//! The permissions that the files of a project request, and the user's decision.
//!
//! A permission applies to one folder and one hash: that of every command line in files of the
//! project, and of every key of the project file except those that permit nothing
//! (`is_permission_key`), but not of the files that such a command runs. Comments, layout and the
//! order of keys are excluded. It is stored in the user's folder for state, so that no project,
//! link or copy carries a permission.

use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::{Hash, Hasher};
use crate::project::config::Config;
use crate::project::flat_keys::flatten_keys;
use crate::project::roles::Role;
use crate::project::tools::ProjectTool;
use crate::registry::body::{NodeBody, Text, TextPart};
use crate::registry::{ReadError, Registry, Task};
use crate::scenario::expect::answer::all_tests;
use crate::scenario::expect::own_check::{CheckProgram, OwnCheck};
use crate::scenario::model::{CaseSubject, Suite};
use crate::scenario::request_source::RequestSource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a permission in the state folder of its project.
const PERMISSION_FILE: &str = "trust.json";
/// The value of its key `schema`.
const PERMISSION_SCHEMA: &str = "ctxc/trusted/1";
/// The maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 16;
/// The maximum depth of fragments; they cannot form a circle.
const MAX_FRAGMENT_DEPTH: usize = 64;

/// The reason why a permission cannot be stored.
const NO_STATE_FOLDER: &str =
    "no folder outside the project for what you permit: set XDG_STATE_HOME to one";

/// A command that a file of the project names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandLine {
    /// The file, relative to the project.
    pub path: String,
    /// The source of the command, preceded by its variables and its folder.
    pub line: String,
}

/// The permissions that the files of a project request.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// The hash that the permission applies to.
    pub hash: Hash,
    /// The commands that would be run, each once for a file.
    pub commands: BTreeSet<CommandLine>,
}

/// A stored permission.
#[derive(Debug, Deserialize, Serialize)]
struct StoredPermission {
    schema: String,
    /// The project's folder.
    project: PathBuf,
    /// The hash that it applies to.
    hash: String,
}

impl Permissions {
    /// Returns the permissions that a project requests by its file, its tasks, and its scenarios by
    /// their paths.
    ///
    /// # Errors
    /// A task cannot be read.
    pub fn collect<'s>(
        config: &Config,
        registry: &Registry,
        suites: impl Iterator<Item = (&'s str, &'s Suite)>,
    ) -> Result<Self, ReadError> {
        let mut commands = BTreeSet::new();
        for task in registry.tasks().chain(registry.templates()) {
            collect_task_commands(registry, task, &mut commands)?;
        }
        for (argv, env, path) in tool_commands(config) {
            let words = argv
                .iter()
                .map(|word| quote_word(word))
                .chain(env.iter().map(|name| format!("[{name}]")));
            commands.insert(CommandLine {
                path: path.to_owned(),
                line: words.collect::<Vec<_>>().join(" "),
            });
        }
        for (path, suite) in suites {
            let sources = suite
                .cases
                .iter()
                .filter_map(|case| match &case.subject.value {
                    CaseSubject::Request(source) => request_command(source),
                    CaseSubject::Compaction(one) => one.method.program().map(check_command),
                    CaseSubject::Role(_) | CaseSubject::Task(_) => None,
                });
            commands.extend(sources.map(|line| CommandLine {
                path: path.to_owned(),
                line,
            }));
            for (test, _) in suite
                .cases
                .iter()
                .flat_map(|case| all_tests(&case.expectations))
            {
                commands.extend(test.own_check().map(|check| CommandLine {
                    path: path.to_owned(),
                    line: check_command(check),
                }));
            }
        }
        Ok(Self {
            hash: permission_hash(config, &commands),
            commands,
        })
    }

    /// Returns true if the user gave exactly these permissions in this folder.
    pub fn is_granted(&self, project: &Path) -> bool {
        stored_permission(project).is_some_and(|kept| kept.hash == self.hash.to_string())
    }

    /// Stores the user's permission.
    ///
    /// # Errors
    /// There is no folder for it, or it cannot be written.
    pub fn grant(&self, project: &Path) -> io::Result<()> {
        let folder =
            folders::project_state(project).ok_or_else(|| io::Error::other(NO_STATE_FOLDER))?;
        folders::create_private(&folder)?;
        let permission = StoredPermission {
            schema: PERMISSION_SCHEMA.to_owned(),
            project: RealFs.canonicalize(project)?,
            hash: self.hash.to_string(),
        };
        fs::write_atomic(
            &folder.join(PERMISSION_FILE),
            &serde_json::to_vec_pretty(&permission)?,
        )
        .map(drop)
    }
}

/// Returns the hash of everything that a project may run and reach, independent of the layout of
/// its files.
fn permission_hash(config: &Config, commands: &BTreeSet<CommandLine>) -> Hash {
    let mut hasher = Hasher::new();
    let permitting = config.files.iter().enumerate().map(|(at, file)| {
        let mut keys = flatten_keys(&file.text);
        keys.retain(|key, _| {
            is_permission_key(&key.iter().map(String::as_str).collect::<Vec<_>>(), config)
        });
        (at, keys)
    });
    // Of a package, only its rules apply.
    let permitting = permitting.filter(|(at, _)| {
        let file = config.files.get(*at);
        file.is_none_or(|file| config.packages.of_file(&file.path).is_none())
    });
    // A shared file that permits nothing does not change the hash.
    let permitting: Vec<_> = permitting
        .filter(|(at, keys)| *at == 0 || !keys.is_empty())
        .collect();
    hasher
        .add_field("ctxc trust 2")
        .add_field(config.edition)
        .add_number(permitting.len() as u64);
    for (_, keys) in &permitting {
        hasher.add_number(keys.len() as u64);
        for (key, value) in keys {
            hasher.add_number(key.len() as u64);
            for part in key.iter().chain([value]) {
                hasher.add_field(part);
            }
        }
    }
    // The tools that roles run may be defined in other files.
    let tools: BTreeSet<(&str, &str)> = config
        .roles
        .iter()
        .flat_map(|(name, role)| run_tools(role, config).map(|tool| (&**name, tool)))
        .collect();
    hasher.add_number(tools.len() as u64);
    for (role, tool) in tools {
        hasher.add_field(role).add_field(tool);
    }
    // A command that moves from one file to another needs no new permission, unless a package
    // begins to run it.
    let of_package = |command: &CommandLine| {
        let package = config.packages.of_file(&command.path)?;
        Some(format!("{}: {}", package.names.package, command.line))
    };
    let lines = commands
        .iter()
        .map(|command| of_package(command).unwrap_or_else(|| command.line.clone()));
    for line in lines.collect::<BTreeSet<_>>() {
        hasher.add_field(&*line);
    }
    hasher.finish()
}

/// Returns true if a key of the project file is part of the permission. False only for keys that
/// apply without a permission and that neither run, send nor reveal anything; a key that is unknown
/// here is part of it.
fn is_permission_key(key: &[&str], config: &Config) -> bool {
    match key {
        // Of a workspace, the sections that the project takes over.
        ["workspace", section, ..] => {
            config.inherited.contains(section)
                && is_permission_key(key.get(1..).unwrap_or_default(), config)
        }
        [
            "allow" | "dependencies" | "edition" | "extends" | "fmt" | "lints" | "owners"
            | "project" | "requests" | "required-version" | "require" | "templates",
            ..,
        ] => false,
        // Sources that are fetched.
        ["package", key, ..] => *key == "consumers",
        // Folders that the commands of a base can see.
        ["eval", key @ ..] => key == ["gate", "link"],
        ["models", _, key, ..] => *key != "usd_per_million",
        // The files that a role protects are excluded from lookups, even for agents without a role.
        ["roles", _, "protected_paths", ..] => true,
        ["roles", name, ..] => config
            .roles
            .get(*name)
            .is_none_or(|role| run_tools(role, config).next().is_some()),
        // A server's tool counts for the roles that have it.
        ["tools", name, ..] => {
            defined_tools(config).any(|tool| tool.name == *name && !tool.command.is_empty())
        }
        _ => true,
    }
}

/// Returns the names of a role's tools that a command or a server runs.
fn run_tools<'c>(role: &'c Role, config: &'c Config) -> impl Iterator<Item = &'c str> {
    let given = role
        .tools
        .iter()
        .flat_map(|tools| tools.agent_definitions());
    given
        .filter(|tool| !tool.command.is_empty() || !config.mcp.is_empty())
        .map(|tool| &*tool.name)
}

/// Removes the user's permission for a folder; returns `false` if none existed.
///
/// # Errors
/// The permission cannot be removed.
pub fn revoke(project: &Path) -> io::Result<bool> {
    let Some(folder) = folders::project_state(project) else {
        return Ok(false);
    };
    let is_there = fs::exists(&folder.join(PERMISSION_FILE));
    fs::remove_file(&folder.join(PERMISSION_FILE)).map(|()| is_there)
}

/// Returns true if the user gave any permission in a folder, even for other files.
pub fn has_permission(project: &Path) -> bool {
    stored_permission(project).is_some()
}

fn stored_permission(project: &Path) -> Option<StoredPermission> {
    let folder = folders::project_state(project)?;
    let bytes = RealFs
        .read(&folder.join(PERMISSION_FILE), MAX_FILE_BYTES)
        .ok()?;
    let permission: StoredPermission = serde_json::from_slice(&bytes).ok()?;
    let is_here = RealFs
        .canonicalize(project)
        .is_ok_and(|here| here == permission.project);
    (permission.schema == PERMISSION_SCHEMA && is_here).then_some(permission)
}

/// Returns the commands that run or serve tools, each with the environment variables that it sees
/// besides the usual ones, and the file that names it.
fn tool_commands(config: &Config) -> impl Iterator<Item = (&[String], &[String], &str)> {
    let own = defined_tools(config).filter(|tool| !tool.command.is_empty());
    let file = config.files.first().map_or("", |file| &*file.path);
    let servers = config
        .mcp
        .values()
        .map(move |server| (&*server.command, &*server.env, file));
    own.map(|tool| (&*tool.command, &[][..], tool.path.as_str()))
        .chain(servers)
}

/// Returns the tools that the project defines, and those of packages that its roles take over;
/// empty if no role has tools.
fn defined_tools(config: &Config) -> impl Iterator<Item = &ProjectTool> {
    let tools = config.roles.values().filter_map(|role| role.tools.as_ref());
    tools.flat_map(|tools| tools.defined.values())
}

fn collect_task_commands(
    registry: &Registry,
    task: Task<'_>,
    commands: &mut BTreeSet<CommandLine>,
) -> Result<(), ReadError> {
    let path = task.source()?.path;
    let root = task.root()?;
    let mut open = vec![&root];
    while let Some(node) = open.pop() {
        let lister = node
            .body
            .file_paths
            .as_ref()
            .and_then(|files| files.command.as_deref().map(str::to_owned));
        for line in lister
            .into_iter()
            .chain(script_command(registry, &node.body)?)
        {
            commands.insert(CommandLine {
                path: path.clone(),
                line,
            });
        }
        open.extend(node.children.iter().map(|child| &child.node));
    }
    Ok(())
}

/// Returns the command line of a project's own check.
pub fn check_command(check: &OwnCheck) -> String {
    let argv: Vec<String> = match &check.what {
        CheckProgram::Command(argv) => argv.iter().map(|word| quote_word(&word.value)).collect(),
        CheckProgram::Python(function) => vec!["python3".to_owned(), quote_word(&function.value)],
    };
    argv.join(" ")
}

/// Returns the command that sends the request of a scenario; `None` if the request is a file.
pub fn request_command(source: &RequestSource) -> Option<String> {
    match source {
        RequestSource::File(_) => None,
        RequestSource::Command(sent) => Some(
            sent.argv
                .iter()
                .map(|word| quote_word(word))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        RequestSource::Python { function, .. } => Some(format!("python3 {}", quote_word(function))),
    }
}

/// Returns the command that a script runs, including everything that affects its behaviour.
fn script_command(registry: &Registry, body: &NodeBody<'_>) -> Result<Option<String>, ReadError> {
    let Some(command) = &body.command else {
        return Ok(None);
    };
    let mut words = Vec::new();
    if let Some(folder) = &body.cwd {
        words.push(format!("cd {} &&", quote_word(folder)));
    }
    if let Some(env) = &body.env {
        words.push(format!("env inherit={}", quote_word(&env.inherit)));
        for var in &env.vars {
            words.push(format!(
                "{}={}",
                var.name.as_deref().unwrap_or(""),
                quote_word(&expanded_text(registry, &var.value, MAX_FRAGMENT_DEPTH)?)
            ));
        }
    }
    for args in &command.args {
        words.push(quote_word(&expanded_text(
            registry,
            args,
            MAX_FRAGMENT_DEPTH,
        )?));
    }
    if let Some(line) = &command.line {
        let line = expanded_text(registry, line, MAX_FRAGMENT_DEPTH)?;
        words.push(command.shell.as_ref().map_or_else(
            || line.clone(),
            |shell| format!("{shell} -c {}", quote_word(&line)),
        ));
    }
    Ok(Some(words.join(" ")))
}

/// Returns the source of a text with its fragments inserted.
fn expanded_text(registry: &Registry, text: &Text<'_>, depth: usize) -> Result<String, ReadError> {
    let mut words = text.text.as_deref().unwrap_or("").to_owned();
    for part in text.parts.iter().flatten() {
        match part {
            TextPart::Text { text } => words.push_str(text),
            TextPart::Use { name } => match registry.fragment(name).filter(|_| depth > 0) {
                Some(fragment) => words.push_str(&self::expanded_text(
                    registry,
                    &registry.fragment_text(fragment)?,
                    depth - 1,
                )?),
                None => words.extend(["{{", name, "}}"]),
            },
        }
    }
    Ok(words)
}

/// Quotes a word of a command for a shell.
pub(crate) fn quote_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+{}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
