//! The verb `ctxc init`. Never overwrites and never changes a file: existing files are reported and
//! left alone.

use super::agent::Agent;
use super::ci::{self, CiProject};
use super::find::Found;
use super::write;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::overwrite;
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use crate::import::FORMATS;
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc init\n  ctxc init --ci github\n  ctxc init my-agent\n\nExisting files are not changed."
)]
pub(crate) struct InitArgs {
    /// Folder to start in, created if missing [default: the current one]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Also write a CI configuration, or print the commands for other systems
    #[arg(long, value_name = "WHERE")]
    ci: Option<Ci>,
    /// With --ci: the command that installs ctxc there, since it is in no package registry [default: compile a clone in `tools/ctxc`]
    #[arg(long, value_name = "COMMAND", requires = "ci", value_parser = parse_command)]
    install: Option<String>,
}

/// Where continuous checks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ci {
    /// Write .github/workflows/ctxc.yml
    Github,
    /// Print the commands
    Print,
}

/// Writes the missing files.
pub(crate) fn run(args: &InitArgs, cx: &mut Cx) -> Result<Exit> {
    let root = args
        .dir
        .clone()
        .or_else(|| cx.options.project.clone())
        .unwrap_or_else(|| PathBuf::from("."));
    let around = around(&root);
    let mut found = if fs::is_dir(&root) {
        Found::under(&root)
    } else {
        Found::default()
    };
    if let Some(said) = sentence(&found) {
        cx.line(&said)?;
    }
    let is_first = found.templates.is_empty() && found.prompts.is_empty();
    let agent = if is_first { Agent::of(&root) } else { None };
    if let Some(Agent {
        named_in, library, ..
    }) = &agent
    {
        cx.line(&format!(
            "found an agent, whose {named_in} names {library}: it needs no template"
        ))?;
    }
    // Only an empty project gets an example.
    let is_first = is_first && agent.is_none();
    let wrote_template = is_first && !fs::exists(&root.join(FILE));
    if wrote_template && put(&root, write::TEMPLATE, &write::template(), cx)? {
        found.templates = BTreeMap::from([("templates".to_owned(), 1)]);
    }
    let here = BTreeMap::from([("templates".to_owned(), 0)]);
    let templates = if found.templates.is_empty() {
        &here
    } else {
        &found.templates
    };
    let text = if agent.is_some() {
        write::AGENT_PROJECT.to_owned()
    } else {
        write::project_file(templates)
    };
    put(&root, FILE, &text, cx)?;
    let ci = args
        .ci
        .map(|place| (place, CiProject::of(&root, args.install.as_deref())));
    match &ci {
        Some((Ci::Github, project)) => workflow(&root, project, cx)?,
        Some((Ci::Print, project)) => {
            cx.print(|out| out.write_all(project.commands().as_bytes()))?;
        }
        None => {}
    }
    if ci.is_some_and(|(_, project)| project.lacks_clone()) {
        cx.note(&format!(
            "ctxc is compiled from {}, which is not there: add it, `git submodule add ADDRESS {0}`, or name another way with --install COMMAND",
            ci::CLONE
        ));
    }
    if let Some(around) = around {
        let around = escape(&around.display().to_string()).into_owned();
        cx.note(&format!("{around} is a project too, around this one: in this folder commands take the new one from now on"));
    }
    let there = args.dir.as_deref().map_or_else(String::new, |dir| {
        format!("cd {} && ", escape(&dir.to_string_lossy()))
    });
    let next = match &agent {
        Some(agent) => {
            format!(
                "record -- {}",
                agent
                    .command
                    .as_deref()
                    .unwrap_or("COMMAND, with the command that starts the agent")
            )
        }
        None if found.templates.is_empty() && !found.prompts.is_empty() => import(&found),
        None => "check".to_owned(),
    };
    cx.note(&format!("next: {there}ctxc {next}"));
    if args.ci.is_none() {
        cx.note("for continuous checks: ctxc init --ci github");
    }
    Ok(Exit::Success)
}

/// Returns the project that contains a folder, if the folder is not a project itself.
fn around(root: &Path) -> Option<PathBuf> {
    if fs::exists(&root.join(FILE)) {
        return None;
    }
    // A folder that does not exist yet has an ancestor that does.
    let whole = fs::current_dir().ok()?.join(root);
    let there = whole
        .ancestors()
        .find_map(|folder| RealFs.canonical(folder).ok())?;
    there
        .ancestors()
        .find(|folder| fs::exists(&folder.join(FILE)))
        .map(Path::to_path_buf)
}

/// Writes the workflow, which GitHub only reads at the top of a repository.
fn workflow(root: &Path, project: &CiProject, cx: &mut Cx) -> Result<()> {
    let real = RealFs
        .canonical(root)
        .unwrap_or_else(|_| root.to_path_buf());
    let is_top = real == project.top;
    put(
        if is_top { root } else { &project.top },
        ci::WORKFLOW,
        &project.github(),
        cx,
    )?;
    if !is_top {
        cx.note(&format!(
            "{} stands at the top of the repository, {}",
            ci::WORKFLOW,
            escape(&project.top.display().to_string())
        ));
    }
    cx.note("scenarios that run programs or checks need the variable CTXC_TRUST_HASH of the repository: the hash that `ctxc trust --show` prints");
    Ok(())
}

fn parse_command(text: &str) -> std::result::Result<String, String> {
    let command = text.trim();
    if command.is_empty() || command.chars().any(char::is_control) {
        return Err(
            "expected one line with a command, such as `cargo install --locked --path tools/ctxc`"
                .to_owned(),
        );
    }
    Ok(command.to_owned())
}

/// Writes one file, unless it exists, and prints the outcome. Returns true if it was written.
fn put(root: &Path, name: &str, text: &str, cx: &mut Cx) -> Result<bool> {
    let path = root.join(name);
    if fs::exists(&path) {
        cx.line(&format!("{name} already exists; left as it is"))?;
        return Ok(false);
    }
    overwrite::refuse_links(root, name)?;
    let folder = path.parent().unwrap_or(root);
    let failed = |err: &std::io::Error| {
        CliError::write(&path, err)
            .hint("`ctxc init` writes into the folder that you name, or the current one")
    };
    fs::create_dir_all(folder).map_err(|err| failed(&err))?;
    fs::write_atomic(&path, text.as_bytes()).map_err(|err| failed(&err))?;
    cx.line(&format!(
        "wrote {name} ({})",
        plural(text.lines().count(), "line")
    ))?;
    Ok(true)
}

/// Returns the command that imports the existing prompts.
fn import(found: &Found) -> String {
    let folders: BTreeSet<&String> = found.prompts.values().flat_map(BTreeMap::keys).collect();
    let named = |folder: &&String| {
        if folder.is_empty() {
            ".".to_owned()
        } else {
            escape(folder).into_owned()
        }
    };
    let all: Vec<String> = folders.iter().map(named).collect();
    // Many folders are replaced by the whole project.
    format!(
        "import {}",
        if all.len() > 3 || all.contains(&".".to_owned()) {
            ".".to_owned()
        } else {
            all.join(" ")
        }
    )
}

/// Describes the existing files: `found 600 task files in prompts/ and 41 Jinja files in legacy/
/// (see `ctxc import`); changed none of them`. Counts files, not prompts, because no file was
/// opened yet and some are parts of others.
fn sentence(found: &Found) -> Option<String> {
    let templates = (!found.templates.is_empty()).then(|| part(&found.templates, "task file"));
    let prompts = FORMATS.iter().filter_map(|format| {
        Some(part(
            found.prompts.get(format.name)?,
            &format!("{} file", format.title),
        ))
    });
    let said: Vec<String> = templates.into_iter().chain(prompts).collect();
    let (last, before) = said.split_last()?;
    let all = if before.is_empty() {
        last.clone()
    } else {
        format!("{} and {last}", before.join(", "))
    };
    let see = if found.prompts.is_empty() {
        ""
    } else {
        " (see `ctxc import`)"
    };
    Some(format!("found {all}{see}; changed none of them"))
}

fn part(files: &BTreeMap<String, usize>, kind: &str) -> String {
    let total: usize = files.values().sum();
    let named = |folder: &String| {
        if folder.is_empty() {
            "this folder".to_owned()
        } else {
            format!("{}/", escape(folder))
        }
    };
    let shown: Vec<String> = files.keys().take(3).map(named).collect();
    let more = if files.len() > 3 {
        format!(" and {}", plural(files.len() - 3, "more folder"))
    } else {
        String::new()
    };
    format!("{} in {}{more}", plural(total, kind), shown.join(", "))
}
