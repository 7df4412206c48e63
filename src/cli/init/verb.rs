//! The verb `ctxc init`. Never overwrites and never changes a file: existing files are reported and
//! left alone.

use super::agent::RepositoryAgent;
use super::ci::{self, CiProject};
use super::write;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::patterns::SkippedFolders;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::{import, overwrite};
use crate::import::FORMATS;
use crate::syntax::decode;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::template;
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

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
    ci: Option<CiTarget>,
    /// With --ci: the command that installs ctxc there, since it is in no package registry [default: compile a clone in `tools/ctxc`]
    #[arg(long, value_name = "COMMAND", requires = "ci", value_parser = parse_command)]
    install: Option<String>,
}

/// Targets of continuous checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CiTarget {
    /// Write .github/workflows/ctxc.yml
    Github,
    /// Print the commands
    Print,
}

/// Writes the missing files.
pub(crate) fn run_init(args: &InitArgs, cx: &mut Cx) -> Result<Exit> {
    let root = args
        .dir
        .clone()
        .or_else(|| cx.options.project.clone())
        .unwrap_or_else(|| PathBuf::from("."));
    let around = enclosing_project(&root);
    let mut found = if fs::is_dir(&root) {
        FolderContents::search(&root)
    } else {
        FolderContents::default()
    };
    if let Some(contents) = describe_contents(&found) {
        cx.print_line(&contents)?;
    }
    let is_first = found.templates.is_empty() && found.prompts.is_empty();
    let agent = if is_first {
        RepositoryAgent::detect(&root)
    } else {
        None
    };
    if let Some(RepositoryAgent {
        named_in, library, ..
    }) = &agent
    {
        cx.print_line(&format!(
            "found an agent, whose {named_in} names {library}: it needs no template"
        ))?;
    }
    // Only an empty project gets an example.
    let is_first = is_first && agent.is_none();
    let wrote_template = is_first && !fs::exists(&root.join(PROJECT_FILE));
    if wrote_template
        && write_file(
            &root,
            write::FIRST_TEMPLATE_PATH,
            &write::first_template(),
            cx,
        )?
    {
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
    write_file(&root, PROJECT_FILE, &text, cx)?;
    let ci = args
        .ci
        .map(|place| (place, CiProject::detect(&root, args.install.as_deref())));
    match &ci {
        Some((CiTarget::Github, project)) => write_workflow(&root, project, cx)?,
        Some((CiTarget::Print, project)) => {
            cx.print(|out| out.write_all(project.shell_commands().as_bytes()))?;
        }
        None => {}
    }
    if ci.is_some_and(|(_, project)| project.lacks_clone()) {
        cx.print_note(&format!(
            "ctxc is compiled from {}, which is not there: add it, `git submodule add ADDRESS {0}`, or name another way with --install COMMAND",
            ci::CLONE_PATH
        ));
    }
    if let Some(around) = around {
        let around = escape_line(&around.display().to_string()).into_owned();
        cx.print_note(&format!("{around} is a project too, around this one: in this folder commands take the new one from now on"));
    }
    let there = args.dir.as_deref().map_or_else(String::new, |dir| {
        format!("cd {} && ", escape_line(&dir.to_string_lossy()))
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
        None if found.templates.is_empty() && !found.prompts.is_empty() => import_command(&found),
        None => "check".to_owned(),
    };
    cx.print_note(&format!("next: {there}ctxc {next}"));
    if args.ci.is_none() {
        cx.print_note("for continuous checks: ctxc init --ci github");
    }
    Ok(Exit::Success)
}

/// Returns the project that contains a folder, if the folder is not a project itself.
fn enclosing_project(root: &Path) -> Option<PathBuf> {
    if fs::exists(&root.join(PROJECT_FILE)) {
        return None;
    }
    // A folder that does not exist yet has an ancestor that does.
    let whole = fs::current_dir().ok()?.join(root);
    let there = whole
        .ancestors()
        .find_map(|folder| RealFs.canonicalize(folder).ok())?;
    there
        .ancestors()
        .find(|folder| fs::exists(&folder.join(PROJECT_FILE)))
        .map(Path::to_path_buf)
}

/// Writes the workflow, which GitHub only reads at the top of a repository.
fn write_workflow(root: &Path, project: &CiProject, cx: &mut Cx) -> Result<()> {
    let real = RealFs
        .canonicalize(root)
        .unwrap_or_else(|_| root.to_path_buf());
    let is_top = real == project.top;
    write_file(
        if is_top { root } else { &project.top },
        ci::WORKFLOW_PATH,
        &project.github_workflow(),
        cx,
    )?;
    if !is_top {
        cx.print_note(&format!(
            "{} stands at the top of the repository, {}",
            ci::WORKFLOW_PATH,
            escape_line(&project.top.display().to_string())
        ));
    }
    cx.print_note("scenarios that run programs or checks need the variable CTXC_TRUST_HASH of the repository: the hash that `ctxc trust --show` prints");
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
pub(super) fn write_file(root: &Path, name: &str, text: &str, cx: &mut Cx) -> Result<bool> {
    let path = root.join(name);
    if fs::exists(&path) {
        cx.print_line(&format!("{name} already exists; left as it is"))?;
        return Ok(false);
    }
    overwrite::reject_links(root, name)?;
    let folder = path.parent().unwrap_or(root);
    let failed = |err: &std::io::Error| {
        CliError::write_failed(&path, err)
            .with_hint("`ctxc init` writes into the folder that you name, or the current one")
    };
    fs::create_dir_all(folder).map_err(|err| failed(&err))?;
    fs::write_atomic(&path, text.as_bytes()).map_err(|err| failed(&err))?;
    cx.print_line(&format!(
        "wrote {name} ({})",
        pluralize(text.lines().count(), "line")
    ))?;
    Ok(true)
}

/// Returns the command that imports the existing prompts.
fn import_command(found: &FolderContents) -> String {
    let folders: BTreeSet<&String> = found.prompts.values().flat_map(BTreeMap::keys).collect();
    let named = |folder: &&String| {
        if folder.is_empty() {
            ".".to_owned()
        } else {
            escape_line(folder).into_owned()
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
fn describe_contents(found: &FolderContents) -> Option<String> {
    let templates =
        (!found.templates.is_empty()).then(|| describe_files(&found.templates, "task file"));
    let prompts = FORMATS.iter().filter_map(|format| {
        Some(describe_files(
            found.prompts.get(format.name)?,
            &format!("{} file", format.title),
        ))
    });
    let parts: Vec<String> = templates.into_iter().chain(prompts).collect();
    let (last, before) = parts.split_last()?;
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

fn describe_files(files: &BTreeMap<String, usize>, kind: &str) -> String {
    let total: usize = files.values().sum();
    let named = |folder: &String| {
        if folder.is_empty() {
            "this folder".to_owned()
        } else {
            format!("{}/", escape_line(folder))
        }
    };
    let shown: Vec<String> = files.keys().take(3).map(named).collect();
    let more = if files.len() > 3 {
        format!(" and {}", pluralize(files.len() - 3, "more folder"))
    } else {
        String::new()
    };
    format!("{} in {}{more}", pluralize(total, kind), shown.join(", "))
}

/// The maximum size of a template or prompt in bytes.
const MAX_FILE_BYTES: u64 = 10 << 20;

/// Numbers of files, by their folder at the top; the empty name is the project's folder itself.
#[derive(Debug, Default)]
pub(super) struct FolderContents {
    /// Files whose root is a task, a template or a library, or whose root cannot be determined.
    pub(super) templates: BTreeMap<String, usize>,
    /// Prompts that `ctxc import` can convert, by the names of their formats.
    pub(super) prompts: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl FolderContents {
    /// Searches a folder. Ignored files and installed packages are left out.
    pub(super) fn search(root: &Path) -> Self {
        let mut found = Self::default();
        let mut reader = XmlReader::new();
        let barred = SkippedFolders::default();
        if !barred.allows_start(root) {
            return found;
        }
        let mut walk = ignore::WalkBuilder::new(root);
        barred.guard_own_files(&mut walk);
        for entry in walk.build().filter_map(std::result::Result::ok) {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry.path();
            let is_xml = path.extension().and_then(OsStr::to_str) == Some("xml");
            let list = match import::prompt_format(path, MAX_FILE_BYTES) {
                _ if is_xml && is_template(path, &mut reader) => &mut found.templates,
                Some(format) if !is_xml => found.prompts.entry(format.name).or_default(),
                Some(_) | None => continue,
            };
            *list.entry(top_folder(root, path)).or_default() += 1;
        }
        found
    }
}

fn top_folder(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let mut parts = inside.components();
    let first = parts.next();
    let folder = parts
        .next()
        .and(first)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    folder.unwrap_or_default()
}

fn is_template(path: &Path, reader: &mut XmlReader) -> bool {
    let mut bytes = Vec::new();
    if fs::read_regular(path, MAX_FILE_BYTES, &mut bytes).is_err() {
        return false;
    }
    let Ok(text) = decode::decode(&bytes) else {
        return false;
    };
    reader.read(&text, &XmlLimits::default());
    reader
        .document(&text)
        .root()
        .is_some_and(|root| template::root_kind(root).is_some())
}
