//! `ctxc package update`: brings the lock in line with the project file, and moves packages to newer
//! releases.

use super::change_list::describe_changes;
use super::dependency_set::{
    DependencySet, FetchArgs, describe_vendored_drift, git_error, moved_hint, source_error,
};
use super::update_effects::find_effects;
use super::update_summary::{render_no_change, render_summary};
use crate::base::suggest::nearest_candidate;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::shared_args::CommentFormat;
use crate::package::git::list_tags;
use crate::project::dependencies::{PackageSource, has_same_major, split_version};
use crate::project::lock_file::LOCK_FILE;
use semver::Version;
use std::collections::BTreeMap;

#[derive(Debug, Args)]
pub(super) struct UpdateArgs {
    /// The packages to move to their newest release of the same major version; without any, only
    /// what `ctxc.toml` asks for is fetched and locked
    #[arg(value_name = "NAME", conflicts_with = "all")]
    names: Vec<String>,
    /// Move all packages of `ctxc.toml`
    #[arg(long)]
    all: bool,
    /// Describe the update for its pull request, in Markdown, to FILE or to standard output: the broken contracts, the
    /// changes of the exports in use, the tokens of each agent, the scenarios to run again
    #[arg(long, value_name = "FILE", requires = "all", num_args = 0..=1, default_missing_value = "-")]
    pr_summary: Option<PathBuf>,
    /// Take the new content of this package, whose tag was moved
    #[arg(long, value_name = "NAME")]
    accept_moved: Vec<String>,
    /// Change nothing: fail if `ctxc.lock` or a vendored package would change
    #[arg(long, conflicts_with_all = ["all", "names"])]
    locked: bool,
    /// Like `--locked --offline`
    #[arg(long, conflicts_with_all = ["all", "names"])]
    frozen: bool,
    #[command(flatten)]
    fetch: FetchArgs,
}

impl UpdateArgs {
    /// Returns the file of the summary.
    pub(super) fn summary_file(&self) -> Option<&Path> {
        self.pr_summary.as_deref()
    }

    /// Returns false if packages are named.
    pub(super) fn is_for_all_packages(&self) -> bool {
        self.names.is_empty()
    }
}

/// Updates the packages of a project.
pub(super) fn run_update(args: &UpdateArgs, cx: &mut Cx) -> Result<Exit> {
    let mut set = DependencySet::load(cx, &args.fetch)?;
    set.is_offline |= args.frozen;
    set.accepted.clone_from(&args.accept_moved);
    let mut majors = Vec::new();
    if args.all || !args.names.is_empty() {
        if set.is_offline {
            return Err(CliError::usage(
                "`--offline` cannot look for newer releases",
            ));
        }
        majors = move_to_newest(args, &mut set, cx)?;
        for line in &majors {
            cx.print_note(&escape_line(line));
        }
    }
    let lock = set.resolve()?;
    require_known(&args.accept_moved, &set)?;
    let mut changes = describe_changes(&set.before, &lock);
    if args.locked || args.frozen {
        changes.extend(describe_vendored_drift(&set.project.root, &lock)?);
        if !changes.is_empty() || lock != set.before {
            return Err(drift_error(changes));
        }
        cx.print_note(&format!("{LOCK_FILE} is up to date"));
        return Ok(Exit::Success);
    }
    if let Some(file) = &args.pr_summary {
        let before = set.before.clone();
        let mut summary = if changes.is_empty() {
            render_no_change()
        } else {
            render_summary(&find_effects(&mut set, [&before, &lock], cx)?)
        };
        summary.extend(majors.iter().map(|line| format!("\n{line}\n")));
        // Nothing is updated if its summary would be lost.
        cx.write_to(Some(file), CommentFormat::Markdown.file_mark(), |cx| {
            cx.print(|out| out.write_all(summary.as_bytes()))
        })?;
    }
    if changes.is_empty() {
        // A killed program may have left lines that only the text of the lock has.
        set.write_lock_first(&lock)?;
        cx.print_note(&format!("{LOCK_FILE} is up to date"));
        return Ok(Exit::Success);
    }
    set.write_lock_first(&lock)?;
    if let Some(path) = set.changed_workspace() {
        cx.print_note(&format!(
            "{path} of the workspace was changed; `ctxc package update` locks it in each member"
        ));
    }
    if args.pr_summary.as_deref() != Some(Path::new("-")) {
        changes.iter().try_for_each(|line| cx.print_line(line))?;
    }
    Ok(Exit::Success)
}

/// Returns an error for a package that is not in use: its name is probably misspelt.
fn require_known(accepted: &[String], set: &DependencySet) -> Result<()> {
    let is_unknown = |name: &&String| !set.read_names().any(|known| known == *name);
    accepted.iter().find(is_unknown).map_or(Ok(()), |name| {
        let message = format!("`--accept-moved {name}`: this project uses no such package");
        let near = nearest_candidate(name, set.read_names());
        Err(CliError::usage(message).with_suggestion(near))
    })
}

pub(super) fn drift_error(changes: Vec<String>) -> CliError {
    let message =
        format!("{LOCK_FILE} or a vendored package does not fit {PROJECT_FILE} and the packages");
    let error = CliError::new(CliErrorKind::Findings, message);
    let error = changes.into_iter().fold(error, CliError::with_hint);
    error.with_hint("`ctxc package update` without `--locked` writes it")
}

/// Puts the newest release of each package into the text of the project file. Returns a line for
/// each later major version.
fn move_to_newest(args: &UpdateArgs, set: &mut DependencySet, cx: &mut Cx) -> Result<Vec<String>> {
    let mut majors = Vec::new();
    let required = set.required()?;
    for name in &args.names {
        if !required.contains_key(name) {
            let near = nearest_candidate(name, required.keys().map(String::as_str));
            return Err(
                CliError::usage(format!("{PROJECT_FILE} has no package `{name}`"))
                    .with_suggestion(near),
            );
        }
    }
    let mut listed: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (name, source) in required {
        let PackageSource::Git { url, tag } = &source else {
            continue;
        };
        if !args.all && !args.names.contains(&name) {
            continue;
        }
        if !listed.contains_key(url) {
            let tags = list_tags(url, &set.limits).map_err(|fault| git_error(&fault))?;
            listed.insert(url.clone(), tags);
        }
        let Some(tags) = listed.get(url) else {
            continue;
        };
        let known = set.known_tag(&source).map(|known| known.commit);
        let is_moved = known.is_some() && known.as_ref() != tags.get(tag);
        if is_moved && !set.accepted.contains(&name) {
            let before = known.unwrap_or_default();
            let now = tags.get(tag).map_or("gone", String::as_str);
            let message =
                format!("{name}: the tag `{tag}` was moved: it was commit {before}, and is {now}");
            return Err(
                CliError::new(CliErrorKind::Infrastructure, message).with_hint(moved_hint(&name))
            );
        }
        majors.extend(next_major_tag(tag, tags.keys()).map(|next| {
            format!("{name}: {next} exists; `ctxc package add SOURCE@{next}` takes it")
        }));
        let mut tags = tags.clone();
        let newer = loop {
            let Some(newest) = newest_tag(Some(tag), tags.keys()) else {
                break None;
            };
            tags.remove(&newest);
            let newer = PackageSource::Git {
                url: url.clone(),
                tag: newest,
            };
            match set.read_release(Some(&name), &newer) {
                Ok(_) => break Some(newer),
                Err(fault) if fault.is_unfit() => {
                    cx.print_note(&format!("passed over {fault}"));
                }
                Err(fault) => return Err(source_error(&fault)),
            }
        };
        let Some(newer) = newer else {
            continue;
        };
        set.move_dependency(&name, &newer).ok_or_else(|| {
            CliError::new(
                CliErrorKind::Project,
                format!("the line of {name} in {PROJECT_FILE} cannot be changed"),
            )
            .with_hint(format!(
                "write it there yourself, and run `ctxc package update`: \"{name}\" = \"{newer}\""
            ))
        })?;
    }
    Ok(majors)
}

/// Returns the newest release of a later major version than that of the current tag.
fn next_major_tag<'t>(current: &str, tags: impl Iterator<Item = &'t String>) -> Option<&'t String> {
    let (prefix, own) = split_version(current)?;
    let version = |tag: &str| Version::parse(tag.strip_prefix(prefix)?).ok();
    let versions = tags.filter_map(|tag| Some((version(tag)?, tag)));
    let later = versions.filter(|(version, _)| {
        version.pre.is_empty() && *version > own && !has_same_major(version, &own)
    });
    later.max().map(|(_, tag)| tag)
}

/// Returns the newest tag that is compatible with the current one, by semver and the text before the
/// version; `None` if the current one is the newest. Without a current one, the newest of all
/// releases that are named as `v1.2.0` or `1.2.0`.
pub(super) fn newest_tag<'t>(
    current: Option<&str>,
    tags: impl Iterator<Item = &'t String>,
) -> Option<String> {
    let Some(current) = current else {
        let version = |tag: &str| Version::parse(tag.strip_prefix('v').unwrap_or(tag)).ok();
        let releases = tags.filter_map(|tag| Some((version(tag)?, tag)));
        let newest = releases
            .filter(|(version, _)| version.pre.is_empty())
            .max()?;
        return Some(newest.1.clone());
    };
    let (prefix, own) = split_version(current)?;
    let is_compatible = |version: &Version| {
        has_same_major(version, &own)
            && *version > own
            && (version.pre.is_empty() || !own.pre.is_empty())
    };
    let versions = tags.filter_map(|tag| {
        let version = Version::parse(tag.strip_prefix(prefix)?).ok()?;
        Some((version, tag))
    });
    let newest = versions
        .filter(|(version, _)| is_compatible(version))
        .max()?;
    Some(newest.1.clone())
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/package_update.rs"]
mod tests;
