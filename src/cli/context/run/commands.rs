//! Runs the commands of a project: scripts, lists of files, tools. The user permitted them;
//! `[policy]` of the project limits them further.

use crate::base::fs;
use crate::base::secrets::names::is_withheld;
use crate::cli::context::project::{CompiledProject, ProjectFiles};
use crate::context::request::{Files, RequestedFile};
use crate::kernel::conversation::ToolCall;
use crate::kernel::tools::tool_policy::ApprovedAction;
use crate::project::config::Policy;
use crate::project::roles::Role;
use crate::run::commands::{
    CommandOutput, CommandRunner, CommandSpec, DEFAULT_TIMEOUT, InheritedEnvironment,
};
use crate::run::mcp::{McpServer, McpServers};
use crate::run::process::{self, DEFAULT_VARIABLES, MAX_OUTPUT, ProcessEnd, ProcessLimits};
use crate::run::tools::{NoTools, ToolAnswer, ToolBackend};
use crate::template::argv;
use std::collections::BTreeSet;
use std::time::Duration;

/// Runs commands in the folder of a project.
#[derive(Debug)]
pub(super) struct ProjectCommands<'p> {
    project: &'p CompiledProject,
    policy: &'p Policy,
    /// True if the user permitted them.
    is_permitted: bool,
    /// Variables that commands never receive.
    hidden: BTreeSet<String>,
}

/// The surroundings of a program.
#[derive(Clone, Copy)]
struct CommandSurroundings<'c> {
    /// A folder of the project; `None` for its root.
    folder: Option<&'c str>,
    inherits: InheritedEnvironment,
    /// Further environment variables.
    variables: &'c [(String, String)],
    /// The text on its standard input.
    input: &'c str,
    time: Duration,
}

impl<'c> CommandSurroundings<'c> {
    /// The usual surroundings with an input.
    fn with_input(input: &'c str) -> Self {
        Self {
            folder: None,
            inherits: InheritedEnvironment::Usual,
            variables: &[],
            input,
            time: DEFAULT_TIMEOUT,
        }
    }
}

impl<'p> ProjectCommands<'p> {
    pub(super) fn new(project: &'p CompiledProject, is_permitted: bool) -> Self {
        let keys = project
            .config
            .providers
            .values()
            .filter_map(|provider| provider.api_key_env.clone());
        Self {
            project,
            policy: &project.config.policy,
            is_permitted,
            hidden: keys.collect(),
        }
    }

    /// Runs a permitted program.
    fn run_argv(
        &self,
        argv: &[String],
        surroundings: CommandSurroundings<'_>,
    ) -> std::result::Result<CommandOutput, String> {
        let CommandSurroundings {
            folder,
            inherits,
            variables,
            input,
            time,
        } = surroundings;
        let line = argv.join(" ");
        self.check_permission(&line)?;
        let folder = folder.map_or_else(
            || self.project.root.clone(),
            |folder| self.project.root.join(folder),
        );
        let is_inside = fs::ReadFs::canonicalize(&fs::RealFs, &folder)
            .is_ok_and(|folder| folder.starts_with(&self.project.root));
        let root_is_real = fs::ReadFs::canonicalize(&fs::RealFs, &self.project.root)
            .is_ok_and(|root| root == self.project.root);
        if root_is_real && !is_inside {
            return Err(format!(
                "{} is not a folder inside the project",
                folder.display()
            ));
        }
        let argv = process::resolve_program(argv, &self.project.root);
        let bounds = ProcessLimits {
            key: "<timeout>",
            ..ProcessLimits::new(time, MAX_OUTPUT)
        };
        let ended = process::run_program(
            &argv,
            &folder,
            &self.environment(inherits, variables),
            input,
            &bounds,
        );
        match ended {
            ProcessEnd::Exited {
                code,
                stdout,
                stderr,
            } => {
                let stdout = String::from_utf8(stdout)
                    .map_err(|_| "what it wrote is not UTF-8".to_owned())?;
                Ok(CommandOutput {
                    code,
                    stdout,
                    stderr,
                })
            }
            ended @ (ProcessEnd::Signal { .. }
            | ProcessEnd::Stopped
            | ProcessEnd::TimedOut
            | ProcessEnd::OutputTooLarge
            | ProcessEnd::NotStarted(_)) => ended.into_stdout(&bounds).map(|_| CommandOutput {
                code: 0,
                stdout: String::new(),
                stderr: String::new(),
            }),
        }
    }

    /// Returns an error for a command that the user did not permit, or that the project's policy
    /// excludes.
    fn check_permission(&self, line: &str) -> std::result::Result<(), String> {
        if !self.is_permitted {
            return Err(format!(
                "`{line}` is not run: the commands of this project are not permitted; `ctxc trust` shows them, and asks"
            ));
        }
        let begins = |prefix: &String| {
            line == prefix
                || line
                    .strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.starts_with(' '))
        };
        if let Some(commands) = &self.policy.commands
            && !commands.iter().any(begins)
        {
            return Err(format!(
                "`{line}` is not run: `[policy] commands` in ctxc.toml allows none that begins like this"
            ));
        }
        match self
            .policy
            .blocked
            .iter()
            .find(|blocked| line.contains(blocked.as_str()))
        {
            Some(blocked) => Err(format!(
                "`{line}` is not run: `[policy] blocked` in ctxc.toml rules out `{blocked}`"
            )),
            None => Ok(()),
        }
    }

    fn environment(
        &self,
        inherits: InheritedEnvironment,
        own: &[(String, String)],
    ) -> Vec<(String, String)> {
        let is_secret = |name: &str| is_withheld(name) || self.hidden.contains(name);
        let mut variables = match inherits {
            InheritedEnvironment::Usual => process::inherited_variables(
                DEFAULT_VARIABLES
                    .into_iter()
                    .chain(self.policy.env.iter().map(String::as_str)),
            ),
            InheritedEnvironment::All => fs::env_vars()
                .into_iter()
                .filter(|(name, _)| !is_secret(name))
                .collect(),
            InheritedEnvironment::Nothing => Vec::new(),
        };
        variables.extend(own.iter().cloned());
        variables
    }
}

impl CommandRunner for ProjectCommands<'_> {
    fn run(&self, command: &CommandSpec) -> std::result::Result<CommandOutput, String> {
        let variables = command.own_variables();
        let surroundings = CommandSurroundings {
            folder: command.folder.as_deref(),
            inherits: command.inherits,
            variables: &variables,
            input: "",
            time: command.timeout.unwrap_or(DEFAULT_TIMEOUT),
        };
        self.run_argv(&command.argv_strings(), surroundings)
    }
}

/// Files of the project, and the lists of files from commands.
#[derive(Debug)]
pub(super) struct ListedFiles<'p> {
    pub(super) inside: ProjectFiles<'p>,
    pub(super) commands: &'p ProjectCommands<'p>,
}

impl Files for ListedFiles<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        self.inside.text(path)
    }

    fn requested(&self, path: &str) -> std::result::Result<RequestedFile, String> {
        self.inside.requested(path)
    }

    fn listed(&self, command: &str) -> std::result::Result<Vec<String>, String> {
        let split = argv::split_command(command, 0)
            .map_err(|_| "it cannot be split into arguments".to_owned())?;
        let argv: Vec<String> = split.arguments.into_iter().map(|word| word.value).collect();
        let end = self
            .commands
            .run_argv(&argv, CommandSurroundings::with_input(""))?;
        if end.code != 0 {
            return Err(format!("it ended with exit code {}", end.code));
        }
        Ok(end
            .stdout
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect())
    }
}

/// The tools of a project: those run by commands, and those of servers.
#[derive(Debug)]
pub(super) struct ProjectTools<'p> {
    pub(super) commands: &'p ProjectCommands<'p>,
    pub(super) servers: McpServers,
}

impl<'p> ProjectTools<'p> {
    /// Starts the servers, if a role has tools without a command.
    ///
    /// # Errors
    /// A server cannot be started, or no server has a tool.
    pub(super) fn start(
        commands: &'p ProjectCommands<'p>,
        role: Option<&Role>,
    ) -> std::result::Result<Self, String> {
        let mut servers = McpServers::new();
        let tools = role.and_then(|role| role.tools.as_ref());
        let wanted: Vec<&str> = tools
            .into_iter()
            .flat_map(|tools| tools.agent_definitions())
            .filter(|tool| tool.command.is_empty())
            .map(|tool| tool.name.as_str())
            .collect();
        let config = &commands.project.config;
        for (name, server) in config.mcp.iter().filter(|_| !wanted.is_empty()) {
            let failed = |why: String| format!("the server of tools `{name}`: {why}");
            commands
                .check_permission(&server.command.join(" "))
                .map_err(failed)?;
            let names = DEFAULT_VARIABLES
                .into_iter()
                .chain(server.env.iter().map(String::as_str));
            let argv = process::resolve_program(&server.command, &commands.project.root);
            let started = McpServer::start(
                &argv,
                &commands.project.root,
                &process::inherited_variables(names),
            )
            .map_err(failed)?;
            servers.insert(name.clone(), started);
        }
        let is_served = |tool: &str| {
            servers
                .values()
                .any(|server| server.tool_names().iter().any(|name| name == tool))
        };
        match wanted
            .into_iter()
            .find(|tool| !config.mcp.is_empty() && !is_served(tool))
        {
            Some(tool) => Err(format!(
                "no server of `[mcp]` has the tool `{tool}`, and it has no `command`"
            )),
            None => Ok(Self { commands, servers }),
        }
    }
}

impl ToolBackend for ProjectTools<'_> {
    fn call(&self, action: &ApprovedAction<ToolCall>, role: Option<&Role>) -> ToolAnswer {
        let call = action.action();
        let tools = role.and_then(|role| role.tools.as_ref());
        let command = tools
            .and_then(|tools| tools.defined.get(&call.name))
            .map(|tool| &tool.command);
        let Some(command) = command.filter(|command| !command.is_empty()) else {
            let server = self
                .servers
                .values()
                .find(|server| server.tool_names().contains(&call.name));
            return server.map_or_else(
                || NoTools.call(action, role),
                |server| server.call_tool(&call.name, &call.arguments),
            );
        };
        let input = call.arguments.to_string();
        match self
            .commands
            .run_argv(command, CommandSurroundings::with_input(&input))
        {
            Ok(CommandOutput {
                code: 0,
                stdout: out,
                ..
            }) => ToolAnswer::success(out.trim_end_matches('\n')),
            Ok(CommandOutput {
                code,
                stdout: out,
                stderr,
            }) => {
                let lines = [out.trim_end(), stderr.trim_end()]
                    .into_iter()
                    .filter(|part| !part.is_empty());
                let lines: Vec<&str> = lines.collect();
                ToolAnswer::failure(format!("{}\n[exit code {code}]", lines.join("\n")))
            }
            Err(why) => ToolAnswer::failure(why),
        }
    }
}
