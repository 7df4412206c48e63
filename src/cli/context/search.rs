//! `ctxc search QUERY`: the passages that a lookup would find in the project, with the score and
//! the matching words of each.

use super::lookup::{self, CacheArgs};
use crate::cli::options::Volume;
use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::store::{IndexError, IndexState, PassageMatch, SearchIndex, SkipReason, SkippedFile};
use std::collections::BTreeMap;

/// The maximum number of lines of a passage that are printed.
const MAX_SHOWN_LINES: usize = 3;
/// The maximum number of skipped files that are listed without `--verbose`.
const MAX_SHOWN_FILES: usize = 3;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc search \"how do I roll back a deploy\"\n  ctxc search rollback --limit 20 --json\n  ctxc search\n\n\
    A task that looks up fresh context searches with its description and its inputs, and takes the best eight passages. \
    Documents and source files are searched, or the files that `[context]` in ctxc.toml names; never keys, credentials, environment files, or files that \
    `protected_paths` of a role name. Without QUERY, it shows how much can be found, and which files are left out for which reason."
)]
pub(crate) struct SearchArgs {
    /// The query, in plain words; no query syntax applies
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Maximum number of passages
    #[arg(long, value_name = "N", default_value = "8")]
    limit: usize,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
    #[command(flatten)]
    cache: CacheArgs,
}

/// The result of a lookup of fresh context: `ctxc search QUERY --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct SearchReport<'s> {
    /// The version of the format.
    schema: &'static str,
    /// The query.
    query: &'s str,
    /// The words of the query that are looked up: those that describe the topic of a passage.
    words: &'s [String],
    /// The passages that match, best first.
    matches: Vec<PassageRow<'s>>,
    /// The number of files that can be looked up.
    files: usize,
    /// The number of their passages.
    passages: u64,
    /// Files that are left out, by path: types other than documents and source, keys and
    /// credentials, protected files, and files with no text or too much of it. Files that
    /// `.gitignore` or a leading dot hides are not listed.
    skipped: Vec<SkippedRow<'s>>,
}

/// A passage that matches.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Passage")]
pub(crate) struct PassageRow<'s> {
    /// The id of the passage: the path, and the lines if it is not the whole file, such as
    /// `docs/runbook.md:12-40`.
    id: &'s str,
    /// The file of the passage.
    path: &'s str,
    /// The first line, from 1.
    first: u32,
    /// The last line that is not blank.
    last: u32,
    /// The quality of the match, from 0 to 1, by the query and the passage alone; the best comes
    /// first, and ties go by path and line.
    score: f64,
    /// The words of the query that the passage contains.
    words: &'s [String],
    /// The text of the passage.
    text: &'s str,
}

/// A file that is left out.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Left")]
pub(crate) struct SkippedRow<'s> {
    /// The file, or a pattern of documents that matches no file.
    path: &'s str,
    /// The reason that it is left out.
    why: String,
}

/// Runs the verb.
pub(crate) fn run_search(args: &SearchArgs, cx: &mut Cx) -> Result<Exit> {
    let refused =
        |refused: IndexError| CliError::new(CliErrorKind::Infrastructure, refused.to_string());
    let index = lookup::open_index(cx, &args.cache)?;
    let query = args.query.join(" ");
    let state = index.load_state().map_err(refused)?;
    let words = SearchIndex::significant_words(&query);
    let found = index
        .find_passages(None, &query, args.limit)
        .map_err(refused)?;
    // The query may have refreshed the index.
    lookup::note_index_state(&index, cx);
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => {
            let IndexState {
                files,
                passages,
                skipped,
                ..
            } = &state;
            let skipped = skipped
                .iter()
                .map(|skipped| SkippedRow {
                    path: &skipped.path,
                    why: skipped.why.to_string(),
                })
                .collect();
            let matches = found.iter().map(passage_row).collect();
            let files = *files;
            let passages = *passages;
            cx.print_json(&SearchReport {
                schema: names::SEARCH,
                query: &query,
                words: &words,
                matches,
                files,
                passages,
                skipped,
            })
        }
        DataFormat::Text => {
            let best = found.first().map_or(0, |found| found.score);
            found
                .iter()
                .try_for_each(|found| print_passage(found, best, cx))?;
            print_summary(&query, &words, found.len(), &state, cx)
        }
    })?;
    Ok(Exit::Success)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a score has fewer digits than fit"
)]
fn score_fraction(found: &PassageMatch) -> f64 {
    found.score as f64 / 1e9
}

fn passage_row(found: &PassageMatch) -> PassageRow<'_> {
    let PassageMatch {
        id,
        path,
        first,
        last,
        words,
        text,
        score: _,
    } = found;
    PassageRow {
        id,
        path,
        first: *first,
        last: *last,
        score: score_fraction(found),
        words,
        text,
    }
}

/// Returns the score of a passage relative to the best one.
fn relative_score(score: i64, best: i64) -> String {
    format!(
        "{} %",
        score.saturating_mul(100).checked_div(best).unwrap_or(100)
    )
}

fn print_passage(found: &PassageMatch, best: i64, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let id = screen.paint(Paint::Strong, &escape_line(&found.id));
    let why = screen.paint(
        Paint::Dim,
        &format!(
            "{}: {}",
            relative_score(found.score, best),
            found.words.join(", ")
        ),
    );
    cx.print_hanging(&format!("{id}  {why}"), 4)?;
    let width = screen.width.unwrap_or(100).saturating_sub(4).max(20);
    let mut lines = found.text.lines().filter(|line| !line.trim().is_empty());
    for line in lines.by_ref().take(MAX_SHOWN_LINES) {
        let line: String = escape_line(line.trim_end()).chars().take(width).collect();
        cx.print(|out| writeln!(out, "    {line}"))?;
    }
    let more = lines.count();
    if more > 0 {
        let more = screen.paint(
            Paint::Dim,
            &format!("    … {}", pluralize(more, "more line")),
        );
        cx.print(|out| writeln!(out, "{more}"))?;
    }
    Ok(())
}

fn print_summary(
    query: &str,
    words: &[String],
    found: usize,
    state: &IndexState,
    cx: &mut Cx,
) -> Result<()> {
    if !cx.options.prints_notes() {
        return Ok(());
    }
    let passages = usize::try_from(state.passages).unwrap_or(usize::MAX);
    let all = format!(
        "{} in {}",
        pluralize(passages, "passage"),
        pluralize(state.files, "file")
    );
    let line = if query.is_empty() {
        format!("{all} can be looked up")
    } else if words.is_empty() {
        "no match: the query has only stop words, such as `the` and `how`".to_owned()
    } else if found == 0 {
        format!(
            "no match: none of {} occurs in any of {all}",
            words.join(", ")
        )
    } else {
        format!(
            "{} of {all}, by {}",
            format_thousands(found),
            words.join(", ")
        )
    };
    cx.print_line(&line)?;
    let is_full = cx.options.volume == Volume::Verbose || query.is_empty();
    // Binary files and files of other types are expected in a project.
    let is_reported = |skipped: &&SkippedFile| {
        is_full || !matches!(skipped.why, SkipReason::Binary | SkipReason::Type)
    };
    let (typed, named): (Vec<&SkippedFile>, Vec<&SkippedFile>) = state
        .skipped
        .iter()
        .filter(is_reported)
        .partition(|skipped| skipped.why == SkipReason::Type);
    let shown = if is_full { usize::MAX } else { MAX_SHOWN_FILES };
    for SkippedFile { path, why } in named.iter().take(shown) {
        cx.print_hanging(&format!("left out: {}: {why}", escape_line(path)), 4)?;
    }
    if named.len() > shown {
        cx.print_line(&format!(
            "… {} more; `--verbose` names them",
            named.len() - shown
        ))?;
    }
    if cx.options.volume == Volume::Verbose {
        return typed.iter().try_for_each(|SkippedFile { path, why }| {
            cx.print_hanging(&format!("left out: {}: {why}", escape_line(path)), 4)
        });
    }
    if typed.is_empty() {
        Ok(())
    } else {
        cx.print_hanging(&describe_other_types(&typed), 4)
    }
}

/// Counts files of types that are not looked up by their endings, the most frequent first.
fn describe_other_types(files: &[&SkippedFile]) -> String {
    /// The maximum number of endings that are listed.
    const MAX_ENDINGS: usize = 5;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let ending = name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map_or("no ending", |(_, ending)| ending);
        *counts.entry(ending).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(ending, count)| (std::cmp::Reverse(*count), *ending));
    let named = counts
        .iter()
        .take(MAX_ENDINGS)
        .map(|(ending, count)| format!("{} {}", format_thousands(*count), escape_line(ending)));
    let mut named: Vec<String> = named.collect();
    let rest: usize = counts
        .iter()
        .skip(MAX_ENDINGS)
        .map(|(_, count)| count)
        .sum();
    named.extend((rest > 0).then(|| format!("{} others", format_thousands(rest))));
    let what = pluralize(files.len(), "file");
    format!(
        "left out: {what} of other types ({}): `[context] include` takes any type, and `--verbose` names them",
        named.join(", ")
    )
}
