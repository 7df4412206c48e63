//! The members of a workspace: projects of one repository, in which a verb runs one after the other.

use super::member_folders::{list_members, list_project_files, nested_projects, read_error};
use super::package::require_locked;
use super::project::{self, PROJECT_FILE};
use super::render::markup::escape_cell;
use super::verbs::Verb;
use super::verbs::check::run_check;
use super::workspace_reach::{PrintedForm, WorkspaceReach};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::suggest::nearest_candidate;
use crate::cli::prelude::*;
use clap::Command;
use std::collections::BTreeMap;
use std::io;

/// The name of the workspace itself among its members; no folder matches a pattern by it.
const WORKSPACE_LABEL: &str = "[workspace]";

/// The projects of one repository.
#[derive(Debug)]
struct MemberList {
    /// Its own file.
    project: Project,
    /// The folders of its members, by their paths below the root.
    members: BTreeMap<String, PathBuf>,
}

/// Runs a verb in the project of this run: the member of `--member`, or the member that contains
/// the paths of the command line. At the root of a workspace, a verb for whole projects runs in each
/// member, as if it had been started in the folder of each.
pub(super) fn run_verb(
    verb: &Verb,
    command: impl FnOnce() -> Command + Copy,
    cx: &mut Cx,
) -> Result<Exit> {
    if let Some(name) = cx.options.member.take() {
        let workspace = MemberList::above(&project::find_root(&cx.options)?)?;
        cx.options.project = Some(workspace.member(&name)?);
        return verb.run(command, cx);
    }
    let reach = verb.workspace_reach();
    if matches!(reach, WorkspaceReach::Folder) {
        return verb.run(command, cx);
    }
    let root = project::find_root(&cx.options)?;
    let Some(workspace) = MemberList::read(&root)? else {
        return verb.run(command, cx);
    };
    // A check reports the faults of the file like any others.
    if workspace.project.has_errors() && matches!(verb, Verb::Check(_)) {
        return verb.run(command, cx);
    }
    let workspace = workspace.require_no_errors()?;
    match (reach, verb) {
        (WorkspaceReach::Paths(paths), verb) => {
            let mut paths = workspace.split_paths(paths)?.into_iter();
            match (paths.next(), paths.len(), verb) {
                (Some((name, _)), 0, _) => {
                    cx.options.project = workspace.members.get(&name).cloned();
                    verb.run(command, cx)
                }
                (Some(first), _, Verb::Check(args)) => {
                    let form =
                        workspace.printed_form(&args.with_paths(Vec::new()).workspace_reach())?;
                    let paths: BTreeMap<String, Vec<PathBuf>> =
                        std::iter::once(first).chain(paths).collect();
                    let mut folders = workspace.members.clone();
                    folders.retain(|name, _| paths.contains_key(name));
                    run_in_folders(&folders, form, cx, |name, cx| {
                        let paths = paths.get(name).cloned().unwrap_or_default();
                        require_locked(cx)?;
                        run_check(&args.with_paths(paths), cx)
                    })
                }
                _ => Err(
                    CliError::usage("the paths are in several members of the workspace")
                        .with_hint("name paths of one member, or none for all members"),
                ),
            }
        }
        (reach, verb) => {
            let form = workspace.printed_form(&reach)?;
            let mut folders = workspace.members.clone();
            let has_own_part = matches!(verb, Verb::Gate(_))
                || matches!(verb, Verb::Check(_)) && !workspace.project.findings.is_empty();
            if has_own_part {
                folders.insert(WORKSPACE_LABEL.to_owned(), workspace.root().to_owned());
            }
            if matches!(verb, Verb::Check(_)) {
                workspace.warn_about_other_projects(cx);
            }
            run_in_folders(&folders, form, cx, |_, cx| verb.run(command, cx))
        }
    }
}

impl MemberList {
    /// Returns the workspace whose root is a folder; `None` if it is no root. One with errors has
    /// no members.
    fn read(root: &Path) -> Result<Option<Self>> {
        let text = project::read_text(&root.join(PROJECT_FILE))?;
        let Some(text) = text.filter(|text| text.contains("workspace")) else {
            return Ok(None);
        };
        let project = Project::with_text(root.to_owned(), &text).require_version()?;
        let members = match &project.config.workspace {
            None => return Ok(None),
            Some(_) if project.has_errors() => BTreeMap::new(),
            patterns => list_members(root, patterns.as_ref())?,
        };
        Ok(Some(Self { project, members }))
    }

    fn require_no_errors(self) -> Result<Self> {
        let Self { project, members } = self;
        Ok(Self {
            project: project.require_no_errors()?,
            members,
        })
    }

    fn root(&self) -> &Path {
        &self.project.root
    }

    /// Returns the form of the results of a verb for all members.
    fn printed_form(&self, reach: &WorkspaceReach) -> Result<PrintedForm> {
        match reach {
            WorkspaceReach::Members(PrintedForm::Document) => Err(CliError::usage(format!(
                "one document is printed for each of {}, and standard output holds one",
                pluralize(self.members.len(), "member")
            ))
            .with_hint("name one with `--member NAME`; a file of `-o` or `--report` is written in the folder of each member")),
            WorkspaceReach::Members(form) => Ok(*form),
            WorkspaceReach::Member(reason) => Err(CliError::usage(*reason)
                .with_hint("name a project of the workspace with `--member NAME`")),
            WorkspaceReach::Paths(_) | WorkspaceReach::Folder => Ok(PrintedForm::Text),
        }
    }

    /// Prints a warning for the project files below the root that are of no member.
    fn warn_about_other_projects(&self, cx: &mut Cx) {
        let others = nested_projects(self.root(), &self.members);
        if !others.is_empty() {
            cx.print_note(&format!(
                "warning: of no member, and not read: {}. Add the folders to `[workspace] members`, or check one with `ctxc check --project DIR`",
                list_project_files(&others)
            ));
        }
    }

    /// Returns the workspace of a folder or of the nearest folder above it.
    fn above(folder: &Path) -> Result<Self> {
        let folder = RealFs
            .canonicalize(folder)
            .map_err(|error| read_error(folder, &error))?;
        for root in folder.ancestors() {
            if let Some(workspace) = Self::read(root)? {
                return workspace.require_no_errors();
            }
        }
        Err(CliError::usage(format!(
            "--member: neither {} nor a folder above it has a {PROJECT_FILE} with `[workspace]`",
            folder.display()
        )))
    }

    /// Returns the folder of a member by its path below the root, or by its last part.
    fn member(&self, name: &str) -> Result<PathBuf> {
        let wanted = name.trim_start_matches("./").trim_end_matches('/');
        let is_last = |path: &str| path.rsplit('/').next() == Some(wanted);
        let mut found = self
            .members
            .iter()
            .filter(|(path, _)| *path == wanted || is_last(path));
        match (self.members.get(wanted), found.next(), found.next()) {
            (Some(folder), ..) | (None, Some((_, folder)), None) => Ok(folder.clone()),
            (None, Some((one, _)), Some((other, _))) => Err(CliError::usage(format!(
                "--member {name}: there are several: {one}, {other}"
            ))
            .with_hint("name its path below the workspace")),
            (None, None, _) => {
                let names: Vec<&str> = self.members.keys().map(String::as_str).collect();
                let error =
                    CliError::usage(format!("--member {name}: the workspace has no such member"));
                Err(error
                    .with_suggestion_or(nearest_candidate(wanted, names.iter().copied()), || {
                        format!("its members are {}", list_first(names.iter().copied()))
                    }))
            }
        }
    }

    /// Returns the paths inside each member, as absolute paths.
    fn split_paths(&self, paths: Vec<PathBuf>) -> Result<BTreeMap<String, Vec<PathBuf>>> {
        let whole = |path: &Path| RealFs.canonicalize(path).ok();
        let folders: BTreeMap<PathBuf, &String> = self
            .members
            .iter()
            .filter_map(|(name, folder)| Some((whole(folder)?, name)))
            .collect();
        let mut split: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for path in paths {
            let found = whole(&path).and_then(|real| {
                let name = real.ancestors().find_map(|above| folders.get(above))?;
                Some(((*name).clone(), real))
            });
            let Some((name, real)) = found else {
                return Err(CliError::usage(format!("{} is in no member of the workspace", path.display()))
                    .with_hint("members are the folders of `[workspace] members` that have a ctxc.toml; without a path, all of them are meant"));
            };
            split.entry(name).or_default().push(real);
        }
        Ok(split)
    }
}

/// Runs a verb in each folder, under its name, and returns the gravest verdict. Those in which
/// nothing is selected count only if it is so in all of them.
fn run_in_folders(
    folders: &BTreeMap<String, PathBuf>,
    form: PrintedForm,
    cx: &mut Cx,
    mut run: impl FnMut(&str, &mut Cx) -> Result<Exit>,
) -> Result<Exit> {
    let start = fs::current_dir().map_err(|error| read_error(Path::new("."), &error))?;
    cx.options.project = None;
    let mut exits = Vec::new();
    for (name, folder) in folders {
        let folder = start.join(folder);
        fs::enter_folder(&folder).map_err(|error| read_error(&folder, &error))?;
        match form {
            PrintedForm::Text => {
                let line = cx.options.screen.paint(Paint::Strong, &escape_line(name));
                cx.print_line(&line)?;
            }
            PrintedForm::Markdown => cx.print_line(&format!("## {}\n", escape_cell(name)))?,
            PrintedForm::Lines | PrintedForm::Document | PrintedForm::Nothing => {}
        }
        let exit = match run(name, cx).and_then(|exit| cx.flush().map(|()| exit)) {
            Ok(exit) => exit,
            Err(error) => {
                cx.flush()?;
                let (color, width) = (cx.options.stderr_color, cx.options.stderr_width);
                let message = format!("{name}: {}", error.message);
                let error = CliError { message, ..error };
                error.print(&mut io::stderr(), color, width);
                error.exit_code()
            }
        };
        if matches!(form, PrintedForm::Text | PrintedForm::Markdown) {
            cx.print(|out| writeln!(out))?;
        }
        exits.push((name, exit));
        if exit == Exit::Interrupted {
            break;
        }
    }
    fs::enter_folder(&start).map_err(|error| read_error(&start, &error))?;
    print_verdicts(&exits, cx);
    let verdicts = exits.iter().map(|(_, exit)| *exit);
    let selected: Vec<Exit> = verdicts.filter(|exit| *exit != Exit::Nothing).collect();
    let first = if selected.is_empty() {
        Exit::Nothing
    } else {
        Exit::Success
    };
    Ok(selected.into_iter().fold(first, Exit::graver_of))
}

/// Prints the members with another verdict than success.
fn print_verdicts(exits: &[(&String, Exit)], cx: &mut Cx) {
    let failed: Vec<String> = exits
        .iter()
        .filter(|(_, exit)| !matches!(exit, Exit::Success | Exit::Nothing))
        .map(|(name, exit)| format!("{} (exit code {})", escape_line(name), exit.code()))
        .collect();
    let members = exits.iter().filter(|(name, _)| *name != WORKSPACE_LABEL);
    let count = pluralize(members.count(), "member");
    if exits.iter().all(|(_, exit)| *exit == Exit::Nothing) {
        cx.print_note(&format!("{count}: nothing was selected"));
    } else if failed.is_empty() {
        cx.print_note(&format!("{count}: nothing failed"));
    } else {
        cx.print_note(&format!(
            "{count}: {} failed: {}",
            failed.len(),
            list_first(failed.iter().map(String::as_str))
        ));
    }
}
