//! `ctxc package remove`: takes a package out of a project.

use super::change_list::describe_changes;
use super::dependency_set::{DependencySet, FetchArgs};
use crate::base::suggest::nearest_candidate;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::project::dependency_edits::remove_dependency;

#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    /// The package: `acme/rules`
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    fetch: FetchArgs,
}

/// Removes a package, and everything that only it requires.
pub(super) fn run_remove(args: &RemoveArgs, cx: &mut Cx) -> Result<Exit> {
    let mut set = DependencySet::load(cx, &args.fetch)?;
    let name = &args.name;
    let required = set.required()?;
    if !required.contains_key(name) {
        let near = nearest_candidate(name, required.keys().map(String::as_str));
        return Err(
            CliError::usage(format!("{PROJECT_FILE} has no package `{name}`"))
                .with_suggestion(near),
        );
    }
    set.text = remove_dependency(&set.text, name).ok_or_else(|| {
        let message = format!("{name} has no line of its own in {PROJECT_FILE}");
        CliError::new(CliErrorKind::Project, message)
            .with_hint("take it out there yourself, and run `ctxc package update`")
    })?;
    let lock = set.resolve()?;
    set.write_project_first(&lock)?;
    let changes = describe_changes(&set.before, &lock);
    changes.iter().try_for_each(|line| cx.print_line(line))?;
    if set.required()?.contains_key(name) {
        cx.print_note(&format!("{name} stays in use: the workspace requires it"));
    } else if lock.package(name).is_some() {
        cx.print_note(&format!("{name} stays in use: another package requires it"));
    }
    cx.print_note("`ctxc check` shows what still names it");
    Ok(Exit::Success)
}
