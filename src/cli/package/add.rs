//! `ctxc package add`: adds a package to a project.

use super::change_list::describe_changes;
use super::dependency_set::{DependencySet, FetchArgs, git_error, source_error};
use super::update::newest_tag;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::package::git::list_tags;
use crate::project::dependencies::{PackageSource, SourceFault, split_revision};
use crate::project::dependency_edits::set_dependency;

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// The source: `path:FOLDER`, relative to the project, or `git+https://…@TAG` (`git+ssh`,
    /// `git+file`); without `@TAG`, the newest release
    #[arg(value_name = "SOURCE")]
    source: String,
    #[command(flatten)]
    fetch: FetchArgs,
}

/// Adds the package at a source, and everything that it requires.
pub(super) fn run_add(args: &AddArgs, cx: &mut Cx) -> Result<Exit> {
    let mut set = DependencySet::load(cx, &args.fetch)?;
    let (name, source) = find_release(args, &mut set, cx)?;
    if let Some(known) = set.required()?.get(&name)
        && known.place() != source.place()
    {
        let message = format!("{PROJECT_FILE} has {name} from {known} already");
        return Err(CliError::usage(message).with_hint(format!(
            "`ctxc package remove {name}` first takes that one out"
        )));
    }
    set.text = set_dependency(&set.text, &name, &source).ok_or_else(|| {
        let message = format!("`[dependencies]` of {PROJECT_FILE} has no place for a line");
        CliError::new(CliErrorKind::Project, message).with_hint(format!(
            "write it there yourself, and run `ctxc package update`: \"{name}\" = \"{source}\""
        ))
    })?;
    let lock = set.resolve()?;
    set.write_lock_first(&lock)?;
    let changes = describe_changes(&set.before, &lock);
    if changes.is_empty() {
        cx.print_note(&format!("{name} was there already"));
    }
    changes.iter().try_for_each(|line| cx.print_line(line))?;
    Ok(Exit::Success)
}

/// Returns the name of the package at the source, and its source with a tag: without one on the
/// command line, that of the newest release that this program reads.
fn find_release(
    args: &AddArgs,
    set: &mut DependencySet,
    cx: &mut Cx,
) -> Result<(String, PackageSource)> {
    let fault = match PackageSource::parse(&args.source) {
        Ok(source) => {
            let release = set.read_release(None, &source);
            let name = release.map_err(|fault| source_error(&fault))?.name.clone();
            return Ok((name, source));
        }
        Err(fault) => fault,
    };
    if let (SourceFault::Tag, Ok((url, ""))) = (fault, split_revision(&args.source)) {
        if set.is_offline {
            return Err(
                CliError::usage("`--offline` cannot find the newest release")
                    .with_hint("name its tag: `…@v1.2.0`"),
            );
        }
        let mut tags = list_tags(url, &set.limits).map_err(|fault| git_error(&fault))?;
        let mut unfit = None;
        while let Some(tag) = newest_tag(None, tags.keys()) {
            tags.remove(&tag);
            let url = url.to_owned();
            let source = PackageSource::Git { url, tag };
            match set.read_release(None, &source) {
                Ok(release) => return Ok((release.name.clone(), source)),
                Err(fault) if fault.is_unfit() => {
                    cx.print_note(&format!("passed over {fault}"));
                    unfit.get_or_insert(fault);
                }
                Err(fault) => return Err(source_error(&fault)),
            }
        }
        return Err(unfit.as_ref().map_or_else(
            || {
                let message = format!("{url} has no tag such as `v1.2.0`");
                CliError::new(CliErrorKind::Infrastructure, message)
                    .with_hint("name the tag of a release: `…@TAG`")
            },
            source_error,
        ));
    }
    Err(CliError::usage(format!(
        "this is no source; expected {fault}"
    )))
}
