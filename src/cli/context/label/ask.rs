//! Asks a person for verdicts on answers, one at a time, and adds each to their file at once.

use super::command_line::AskArgs;
use super::item::{LabelItem, label_items};
use super::keys::read_answer;
use super::page::render_page;
use crate::base::fs;
use crate::cli::compaction::{SESSION_TEXT_NOTE, document_path, read_probe_answers};
use crate::cli::context::eval::{JudgeCalls, now_seconds, read_labels, with_judged_answers};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::render::escape::escape_lines;
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::cli::shared_args::FileMark;
use crate::cli::{overwrite, revision};
use crate::eval::judge::JudgedCriterion;
use crate::eval::judge::labels::{LABEL_FOLDER, Label, LabelStore, SCORE_FILE};
use crate::scenario::date;
use crate::schema::json::names;
use std::collections::BTreeSet;

/// The highest score that is one key.
const MAX_KEY: u64 = 9;

/// Labels that are given and those that are open.
#[derive(Clone, Copy)]
struct LabelProgress {
    given: usize,
    open: usize,
}

/// Runs the verb.
pub(super) fn collect_labels(args: &AskArgs, cx: &mut Cx) -> Result<Exit> {
    let document = document_path(&args.what);
    let mut project = CompiledProject::load_or_empty(cx)?;
    if document.is_none() {
        project = project.require_templates("this project")?;
    }
    let known = read_labels(&project).map_err(|why| unreadable(&why))?;
    let calls = JudgeCalls {
        models: None,
        threads: cx.options.threads,
    };
    let answers = match document {
        Some(path) => read_probe_answers(path, &args.rubric)?,
        None => with_judged_answers(&project, &args.what, calls, |_, answers| Ok(answers))?,
    };
    let mut items = label_items(&answers);
    if items.is_empty() {
        return Err(CliError::usage(
            "found no answer to label, expected one that `judge` or `rubric` of a scenario is about, or one to a probe",
        )
        .with_hint("`ctxc eval --record` records answers; scripted ones count too; `ctxc compaction probe ask` answers probes"));
    }
    if let Some(part) = &args.criterion {
        let names: BTreeSet<String> = items
            .iter()
            .map(|item| format!("`{}`", item.criterion.key))
            .collect();
        items.retain(|item| item.criterion.key.contains(part));
        if items.is_empty() {
            let names: Vec<String> = names.into_iter().collect();
            let expected = names.join(", ");
            return Err(CliError::usage(format!(
                "no criterion is named {part:?}, expected a part of {expected}"
            )));
        }
    }
    if let Some(path) = &args.html {
        let sign = FileMark {
            artifact: "page of ctxc",
            text: names::LABEL,
        };
        let page = render_page(&items);
        cx.write_to(Some(path), Some(sign), |cx| {
            cx.print(|out| out.write_all(page.as_bytes()))
        })?;
        cx.print_note(&format!(
            "wrote {} to {}, with the requests and the answers; put the file that it saves into {LABEL_FOLDER}/",
            pluralize(items.len(), "question"),
            path.display()
        ));
        if document.is_some() {
            cx.print_note(SESSION_TEXT_NOTE);
        }
        return Ok(Exit::Success);
    }
    let by = labelling_person(args, &project)?;
    let file = label_file(&by)?;
    let mut open: Vec<LabelItem<'_>> = items;
    open.retain(|item| !is_labelled(&known, item, &by));
    let count = open.len();
    let mut given = 0;
    for (number, item) in (1..).zip(&open) {
        print_question(item, &format!("{number} of {count}"), cx)?;
        match ask_score(item.criterion, cx)? {
            Answer::Score(score) => {
                let label = Label {
                    schema: names::LABEL.to_owned(),
                    criterion: item.criterion.key.clone(),
                    answer: item.judged.answer_hash(),
                    case: item.judged.case.clone(),
                    score,
                    max: item.criterion.max_score,
                    by: by.clone(),
                    at: date::format_time(now_seconds()),
                };
                add_label(&project, &file, &label, cx)?;
                given += 1;
            }
            Answer::Skip => {}
            Answer::Stop => break,
        }
    }
    let progress = LabelProgress {
        given,
        open: count - given,
    };
    let report = document.map_or_else(
        || "`ctxc label report`".to_owned(),
        |path| format!("`ctxc compaction probe grade {}`", path.display()),
    );
    print_progress(progress, &file, &report, cx);
    Ok(Exit::Success)
}

fn is_labelled(store: &LabelStore, item: &LabelItem<'_>, by: &str) -> bool {
    let answer = item.judged.answer_hash();
    store.labels().iter().any(|label| {
        label.by == by
            && label.criterion == item.criterion.key
            && label.answer == answer
            && label.max == item.criterion.max_score
    })
}

fn labelling_person(args: &AskArgs, project: &CompiledProject) -> Result<String> {
    if let Some(by) = &args.by {
        if by.contains(char::is_control) {
            return Err(CliError::usage(format!(
                "found the name {by:?}, expected that of a person in one line"
            )));
        }
        return Ok(by.clone());
    }
    revision::author_address(&project.root)?.ok_or_else(|| {
        CliError::usage("git has no e-mail address of yours")
            .with_hint("set one with `git config user.email`, or name the person with --by")
    })
}

/// The file of a person, relative to the project.
fn label_file(by: &str) -> Result<String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let name: String = by
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    let name = format!("{}.jsonl", name.trim_matches('.'));
    if name.eq_ignore_ascii_case(SCORE_FILE) || name == ".jsonl" {
        return Err(CliError::usage(format!(
            "found the name {by:?}, expected that of a person: {LABEL_FOLDER}/{SCORE_FILE} is for scores of the judge"
        )));
    }
    Ok(format!("{LABEL_FOLDER}/{name}"))
}

fn print_question(item: &LabelItem<'_>, number: &str, cx: &mut Cx) -> Result<()> {
    let LabelItem { judged, criterion } = item;
    cx.print_line("")?;
    cx.print_line(&format!("{number}: {}", escape_line(&criterion.key)))?;
    for part in [("request", &judged.request), ("answer", &judged.answer)] {
        let (name, text) = part;
        cx.print_line(&format!("--- {name}"))?;
        cx.print(|out| writeln!(out, "{}", escape_lines(text.trim_end())))?;
    }
    cx.print_line("---")?;
    cx.print_line(&escape_line(criterion.question.trim()))?;
    if criterion.max_score > 1 {
        for (score, meaning) in &criterion.anchors {
            cx.print_line(&format!("  {score}: {}", escape_line(meaning.trim())))?;
        }
    }
    Ok(())
}

/// The answer to a question.
#[derive(Clone, Copy)]
enum Answer {
    Score(u64),
    Skip,
    Stop,
}

/// Asks until there is an answer.
fn ask_score(criterion: &JudgedCriterion, cx: &mut Cx) -> Result<Answer> {
    let max = criterion.max_score;
    let keys = if max == 1 {
        "y, n".to_owned()
    } else {
        format!("0 to {max}")
    };
    loop {
        cx.print(|out| write!(out, "[{keys}, s skip, q stop] "))?;
        cx.flush()?;
        let answer = read_answer(max <= MAX_KEY)
            .map_err(|why| CliError::usage(format!("standard input cannot be read: {why}")))?;
        let Some(answer) = answer else {
            return Ok(Answer::Stop);
        };
        cx.print_line(&escape_line(&answer))?;
        let score = match answer.as_str() {
            "y" if max == 1 => Some(1),
            "n" if max == 1 => Some(0),
            "s" => return Ok(Answer::Skip),
            "q" => return Ok(Answer::Stop),
            other => other.parse().ok().filter(|score| *score <= max),
        };
        if let Some(score) = score {
            return Ok(Answer::Score(score));
        }
    }
}

fn add_label(project: &CompiledProject, file: &str, label: &Label, cx: &Cx) -> Result<()> {
    // Serializing strings and numbers cannot fail.
    let line = serde_json::to_string(label).unwrap_or_default() + "\n";
    let root = &project.root;
    SecretCheck::new(&cx.options, root).check_files([NewFile {
        name: file,
        text: &line,
    }])?;
    overwrite::reject_links(root, file)?;
    let path = root.join(file);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|err| CliError::write_failed(folder, &err))?;
    }
    let is_whole = |last: &[u8]| serde_json::from_slice::<Label>(last).is_ok();
    fs::append_line(&path, line.as_bytes(), is_whole)
        .map_err(|err| CliError::write_failed(&path, &err))
}

fn print_progress(progress: LabelProgress, file: &str, report: &str, cx: &mut Cx) {
    let LabelProgress { given, open } = progress;
    let added = match given {
        0 => "added nothing".to_owned(),
        _ => format!("added {} to {file}", pluralize(given, "label")),
    };
    cx.print_note(&match (given, open) {
        (0, 0) => {
            format!("every answer is labelled in {file} already; {report} shows the agreement")
        }
        (_, 0) => format!("{added}; none is open, and {report} shows the agreement"),
        _ => format!(
            "{added}; {} without a label, and the next call goes on there",
            pluralize(open, "answer")
        ),
    });
}

/// The error for labels that cannot be read.
pub(super) fn unreadable(why: &str) -> CliError {
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("the labels cannot be read: {why}"),
    )
    .with_hint("mend the line, or remove the file")
}
