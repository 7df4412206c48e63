//! `ctxc manifest diff OLD [NEW]`: the difference between two manifests, in tokens and as text.

use super::counting::{CountingArgs, project_manifest};
use super::side::{ManifestSide, SideReader};
use super::{markdown, text};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::project::find_root;
use crate::cli::shared_args::CommentFormat;
use crate::context::manifest::{
    Difference, Entry, Part, SettingPlaces, Source, Version, compare_manifests, entries_by_agent,
};
use crate::context::request::Files;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Compare what each agent would receive: two manifests, registries, projects or git revisions
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc manifest diff main\n  ctxc manifest diff HEAD~2 HEAD\n  \
    ctxc manifest diff main... --format markdown > comment.md\n  ctxc manifest diff context-manifest.json .\n\n\
    A single argument is compared with the project as it is now. A..B and A...B mean the same as in git: an omitted side \
    is HEAD, and three dots start at the merge base. An existing file or folder takes precedence over a revision of that name; \
    refs/heads/NAME is always the branch. A registry holds tasks but no roles: with one, only tasks are compared. Revisions \
    are compiled in memory: the work tree is not touched, nothing is fetched."
)]
pub(super) struct DiffArgs {
    /// Before: a manifest, a registry, a project's folder, or a git revision
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// After [default: the project as it is now]
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs<CommentFormat>,
    #[command(flatten)]
    counting: CountingArgs,
}

/// Prints the difference.
pub(super) fn run_diff(args: &DiffArgs, cx: &mut Cx) -> Result<Exit> {
    let root = find_root(&cx.options)?;
    let sides = SideReader {
        root: &root,
        counting: &args.counting,
        threads: cx.options.threads,
    };
    let (mut old, mut new) = sides.read_both(&args.old, args.new.as_deref())?;
    if let Some(words) = sides.make_comparable(&mut old, &mut new)? {
        cx.print_note(&words);
    }
    let difference = compare_sides(&old, &new);
    cx.emit_result(&args.output, |format, cx| match format {
        CommentFormat::Text => text::print_difference(&difference, cx),
        CommentFormat::Json => cx.print_json(&difference),
        CommentFormat::Markdown => {
            cx.print(|out| out.write_all(markdown::render_changes(&difference).as_bytes()))
        }
    })?;
    Ok(Exit::Success)
}

/// Returns the changes of each agent between two states of a project, as Markdown.
pub(in crate::cli) fn markdown_changes(
    before: CompiledProject,
    after: CompiledProject,
    threads: Option<NonZeroUsize>,
) -> Result<String> {
    let sides = SideReader {
        root: &before.root.clone(),
        counting: &CountingArgs::default(),
        threads,
    };
    let before = sides.project_side("before".to_owned(), before)?;
    let after = sides.project_side("after".to_owned(), after)?;
    let difference = compare_sides(&before, &after);
    Ok(markdown::render_changes(&difference))
}

/// The contexts of an agent in two states of a project, as far as they are known before a run.
#[derive(Debug)]
pub(in crate::cli::context) struct AgentContexts {
    pub(in crate::cli::context) agent: String,
    pub(in crate::cli::context) before: ContextCount,
    pub(in crate::cli::context) after: ContextCount,
    /// The file whose text grew.
    pub(in crate::cli::context) path: String,
}

/// Returns the agents of two states of a project. A new agent is compared with the most similar
/// removed one, so that a new name does not hide growth.
pub(in crate::cli::context) fn context_growth(
    old: &CompiledProject,
    new: &CompiledProject,
    threads: Option<NonZeroUsize>,
) -> Result<Vec<AgentContexts>> {
    let counting = CountingArgs::default();
    let (before, after) = (
        project_manifest(old, &counting, threads)?.entries,
        project_manifest(new, &counting, threads)?.entries,
    );
    let (olds, news) = (entries_by_agent(&before), entries_by_agent(&after));
    let removed: Vec<&Entry> = olds
        .iter()
        .filter(|(key, _)| !news.contains_key(*key))
        .map(|(_, entry)| *entry)
        .collect();
    let texts: Vec<BTreeSet<String>> = removed.iter().map(|entry| task_words(old, entry)).collect();
    let renamed = |entry: &Entry| {
        let now = task_words(new, entry);
        let likeness = |(then, words): (&&Entry, &BTreeSet<String>)| {
            let common_words = words.intersection(&now).count();
            let is_role = then.role.is_some() && then.role == entry.role;
            let is_like = is_role
                || then.task == entry.task
                || !words.is_empty() && common_words * 2 >= words.len();
            is_like.then_some((
                then.node == entry.node,
                is_role,
                then.task == entry.task,
                common_words,
                then.total.fixed,
            ))
        };
        let like = removed
            .iter()
            .zip(&texts)
            .filter_map(|(then, words)| Some((likeness((then, words))?, *then)));
        like.max_by_key(|(likeness, _)| *likeness)
            .map(|(_, then)| then)
    };
    let grown = |(key, entry): (_, &&Entry)| {
        let then = olds.get(key).copied().or_else(|| renamed(entry))?;
        let path = most_grown_file(then, entry);
        let path = path
            .or_else(|| Some(new.registry.find(&entry.task)?.source().ok()?.path))
            .unwrap_or_default();
        Some(AgentContexts {
            agent: entry.title(),
            before: context_count(then),
            after: context_count(entry),
            path,
        })
    };
    Ok(news.iter().filter_map(grown).collect())
}

/// Returns the file of the segment that grew most, if that has a new source.
fn most_grown_file(then: &Entry, now: &Entry) -> Option<String> {
    let before = |part: &Part| then.segments.iter().find(|old| old.id == part.id);
    let growth = |part: &&Part| {
        part.tokens
            .saturating_sub(before(part).map_or(0, |old| old.tokens))
    };
    let most = now.segments.iter().max_by_key(growth)?;
    let is_known = |source: &&Source| before(most).is_some_and(|old| old.source.contains(source));
    most.source
        .iter()
        .find(|source| !is_known(source))?
        .path
        .clone()
}

/// The tokens of a context that are known before a run, including parameter defaults; its model;
/// its tokenizer.
type ContextCount = (usize, Option<String>, String);

fn context_count(entry: &Entry) -> ContextCount {
    (
        entry.total.expected_tokens(),
        entry.model.clone(),
        entry.tokenizer.name.clone(),
    )
}

/// Returns the words in the template of an agent's task, without its tags.
fn task_words(project: &CompiledProject, entry: &Entry) -> BTreeSet<String> {
    let source = project
        .registry
        .find(&entry.task)
        .and_then(|task| task.source().ok());
    let text = source
        .and_then(|source| project.files().text(&source.path).ok())
        .unwrap_or_default();
    let texts = text.split('<').filter_map(|part| part.split_once('>'));
    texts
        .flat_map(|(_, text)| text.split_whitespace())
        .map(str::to_owned)
        .collect()
}

/// Returns the difference between two sides.
pub(super) fn compare_sides(old: &ManifestSide, new: &ManifestSide) -> Difference {
    let old_files = old.files();
    let new_files = new.files();
    let before = old
        .registry()
        .zip(old_files.as_ref())
        .map(|(registry, files)| SettingPlaces::from_registry(registry, files));
    let after = new
        .registry()
        .zip(new_files.as_ref())
        .map(|(registry, files)| SettingPlaces::from_registry(registry, files));
    let before = before.unwrap_or_default();
    let after = after.unwrap_or_default();
    compare_manifests(
        &Version {
            name: &old.name,
            manifest: &old.manifest,
            places: &before,
        },
        &Version {
            name: &new.name,
            manifest: &new.manifest,
            places: &after,
        },
    )
}
