//! The members of a workspace: projects of one repository, in which a verb runs one after the other.

use super::project::{self, PROJECT_FILE};
use super::verbs::Verb;
use super::workspace_reach::{PrintedForm, WorkspaceReach};
use crate::base::contained_path::slash_path;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::suggest::nearest_candidate;
use crate::cli::prelude::*;
use crate::project::glob::Globs;
use crate::rules::input::read_fault::describe_io_error;
use clap::Command;
use std::collections::BTreeMap;
use std::io;

/// The projects of one repository.
#[derive(Debug)]
struct MemberList {
    root: PathBuf,
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
    let workspace = match MemberList::read(&root) {
        // A check reports the faults of the file like any others.
        Err(_) if matches!(verb, Verb::Check(_)) && has_faults(&root) => None,
        found => found?,
    };
    let Some(workspace) = workspace else {
        return verb.run(command, cx);
    };
    match reach {
        WorkspaceReach::Paths(paths) => {
            cx.options.project = Some(workspace.member_of(&paths)?);
            verb.run(command, cx)
        }
        WorkspaceReach::Member(reason) => Err(CliError::usage(reason)
            .with_hint("name a project of the workspace with `--member NAME`")),
        WorkspaceReach::Members(PrintedForm::Document) => Err(CliError::usage(format!(
            "one document is printed for each of {}, and standard output holds one",
            pluralize(workspace.members.len(), "member")
        ))
        .with_hint("name one with `--member NAME`; a file of `-o` or `--report` is written in the folder of each member")),
        WorkspaceReach::Members(form) => workspace.run_members(form, cx, |cx| verb.run(command, cx)),
        WorkspaceReach::Folder => verb.run(command, cx),
    }
}

fn has_faults(root: &Path) -> bool {
    Project::load_in(root.to_owned()).is_ok_and(|project| project.has_errors())
}

impl MemberList {
    /// Returns the workspace whose root is a folder; `None` if it is no root.
    fn read(root: &Path) -> Result<Option<Self>> {
        let text = project::read_text(&root.join(PROJECT_FILE))?;
        if !text.is_some_and(|text| text.contains("workspace")) {
            return Ok(None);
        }
        let project = Project::load_in(root.to_owned())?;
        if project.config.workspace.is_none() {
            return Ok(None);
        }
        let project = project.require_no_errors()?;
        let members = list_members(root, project.config.workspace.as_ref())?;
        Ok(Some(Self {
            root: root.to_owned(),
            members,
        }))
    }

    /// Returns the workspace of a folder or of the nearest folder above it.
    fn above(folder: &Path) -> Result<Self> {
        let folder = RealFs
            .canonicalize(folder)
            .map_err(|error| read_error(folder, &error))?;
        for root in folder.ancestors() {
            if let Some(workspace) = Self::read(root)? {
                return Ok(workspace);
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

    /// Returns the folder of the one member that contains paths.
    fn member_of(&self, paths: &[PathBuf]) -> Result<PathBuf> {
        let whole = |path: &Path| RealFs.canonicalize(path).ok();
        let folders: BTreeMap<PathBuf, &PathBuf> = self
            .members
            .values()
            .filter_map(|folder| Some((whole(folder)?, folder)))
            .collect();
        let mut found: Option<&PathBuf> = None;
        for path in paths {
            let folder = whole(path).and_then(|path| {
                path.ancestors()
                    .find_map(|above| folders.get(above).copied())
            });
            match (folder, found) {
                (None, _) => {
                    return Err(CliError::usage(format!("{} is in no member of the workspace", path.display()))
                        .with_hint("members are the folders of `[workspace] members` that have a ctxc.toml; without a path, all of them are meant"));
                }
                (Some(folder), Some(first)) if folder != first => {
                    return Err(CliError::usage(
                        "the paths are in several members of the workspace",
                    )
                    .with_hint("name paths of one member, or none for all members"));
                }
                (folder, _) => found = folder,
            }
        }
        Ok(found.unwrap_or(&self.root).clone())
    }

    /// Runs a verb in the folder of each member, and returns the gravest verdict. Members in which
    /// nothing is selected count only if it is so in all of them.
    fn run_members(
        &self,
        form: PrintedForm,
        cx: &mut Cx,
        mut run: impl FnMut(&mut Cx) -> Result<Exit>,
    ) -> Result<Exit> {
        let start = fs::current_dir().map_err(|error| read_error(Path::new("."), &error))?;
        let folders: Vec<(&String, PathBuf)> = self
            .members
            .iter()
            .map(|(name, folder)| (name, start.join(folder)))
            .collect();
        cx.options.project = None;
        let mut exits = Vec::new();
        for (name, folder) in folders {
            fs::enter_folder(&folder).map_err(|error| read_error(&folder, &error))?;
            if form == PrintedForm::Text {
                let line = cx.options.screen.paint(Paint::Strong, &escape_line(name));
                cx.print_line(&line)?;
            }
            let exit = match run(cx).and_then(|exit| cx.flush().map(|()| exit)) {
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
            if form == PrintedForm::Text {
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
}

/// Prints the members with another verdict than success.
fn print_verdicts(exits: &[(&String, Exit)], cx: &mut Cx) {
    let failed: Vec<String> = exits
        .iter()
        .filter(|(_, exit)| !matches!(exit, Exit::Success | Exit::Nothing))
        .map(|(name, exit)| format!("{} (exit code {})", escape_line(name), exit.code()))
        .collect();
    let count = pluralize(exits.len(), "member");
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

/// Returns the folders that the patterns of members match and that have a project file.
fn list_members(root: &Path, patterns: Option<&Globs>) -> Result<BTreeMap<String, PathBuf>> {
    let mut members = BTreeMap::new();
    if let Some(pattern) = patterns.and_then(Globs::pattern_of_several_levels) {
        return Err(CliError::new(
            CliErrorKind::Project,
            format!("`[workspace] members`: `{pattern}` does not name folders level by level"),
        )
        .with_hint(
            "write the path of a folder, with `*` for the folders of one level: `teams/*`",
        ));
    }
    for pattern in patterns.map_or(&[][..], Globs::patterns) {
        let mut matched = 0;
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        let mut folders = vec![PathBuf::new()];
        for part in plain.split('/') {
            folders = folders
                .iter()
                .flat_map(|folder| matching_folders(root, folder, part))
                .collect();
        }
        for folder in folders {
            let whole = root.join(&folder);
            if !fs::exists(&whole.join(PROJECT_FILE)) {
                continue;
            }
            require_no_link(root, &folder)?;
            matched += 1;
            members.insert(slash_path(&folder), whole);
        }
        if matched == 0 {
            return Err(CliError::new(
                CliErrorKind::Project,
                format!(
                    "`[workspace] members`: `{pattern}` matches no folder with a {PROJECT_FILE}"
                ),
            )
            .with_hint(
                "`ctxc init` in such a folder writes one; `*` stands for the folders of one level",
            ));
        }
    }
    Ok(members)
}

/// Returns the folders inside `folder` whose names match one part of a pattern.
fn matching_folders(root: &Path, folder: &Path, part: &str) -> Vec<PathBuf> {
    if !part.contains(['*', '?', '[', '{']) {
        return vec![folder.join(part)];
    }
    let mut names = Globs::default();
    if names.add_pattern(part).is_err() {
        return Vec::new();
    }
    let found = RealFs.entry_names(&root.join(folder)).into_iter();
    found
        .filter(|name| !name.starts_with('.') && names.matches_name(name))
        .map(|name| folder.join(name))
        .filter(|path| fs::is_dir(&root.join(path)))
        .collect()
}

/// Returns an error for a member that is a link, or below one: it has another path, too.
fn require_no_link(root: &Path, folder: &Path) -> Result<()> {
    let whole = |path: &Path| {
        RealFs
            .canonicalize(path)
            .map_err(|error| read_error(path, &error))
    };
    if whole(&root.join(folder))? == whole(root)?.join(folder) {
        return Ok(());
    }
    let message = format!(
        "`[workspace] members`: {} is behind a link",
        folder.display()
    );
    Err(CliError::new(CliErrorKind::Project, message)
        .with_hint("list the folder itself, inside the workspace"))
}

fn read_error(path: &Path, error: &io::Error) -> CliError {
    let reason = describe_io_error(error);
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("{} cannot be read: {reason}", path.display()),
    )
}
