//! CTX904, CTX905: characters of a project's text that a model reads and people do not see.

use crate::base::hidden_text::{HiddenKind, HiddenRun, decode_tags, gravest_run, hidden_runs};
use crate::base::quoted::short_excerpt;
use crate::base::source::LineIndex;
use crate::rules::prelude::*;
use crate::scenario::model::Suite;
use std::sync::Arc;

/// Maximum number of findings of one rule in one text.
const MAX_FINDINGS: usize = 100;

/// A reviewer approves the text that is displayed; the model gets another one.
pub(crate) static HIDDEN_TEXT: Rule = Rule::new(
    meta!(
        error,
        904,
        "hidden-text",
        "text that models read and no editor displays as it is"
    )
    .with_fix(Fixable::Suggested),
    Check::File(|cx, out| check_file(cx, true, out)),
);

/// They come with text from web pages and word processors, and split words into other tokens.
pub(crate) static ZERO_WIDTH_CHARACTER: Rule = Rule::new(
    meta!(
        warning,
        905,
        "zero-width-character",
        "a character that no editor displays"
    )
    .with_fix(Fixable::Suggested),
    Check::File(|cx, out| check_file(cx, false, out)),
);

fn check_file(cx: &FileCx<'_>, is_critical: bool, out: &mut Vec<Diagnostic>) {
    let text = cx.document.text;
    let rule = if is_critical {
        &HIDDEN_TEXT
    } else {
        &ZERO_WIDTH_CHARACTER
    };
    let included = cx.included.iter();
    out.extend(
        included
            .filter(|finding| std::ptr::eq(finding.rule, &raw const rule.meta))
            .cloned(),
    );
    let runs = hidden_runs(text).filter(|run| run.is_critical == is_critical);
    out.extend(runs.take(MAX_FINDINGS).map(|run| {
        let finding = report(cx.path, text, &run);
        if is_critical {
            finding
        } else {
            finding.note("a reference such as `&#8203;` in its place is one that people see")
        }
    }));
}

/// Returns the findings of a project file or a scenario file.
pub fn find_hidden(path: &Arc<str>, text: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = [true, false]
        .into_iter()
        .flat_map(|is_critical| {
            let runs = hidden_runs(text).filter(move |run| run.is_critical == is_critical);
            runs.take(MAX_FINDINGS).map(|run| report(path, text, &run))
        })
        .collect();
    if !found.is_empty() {
        let index = LineIndex::new(text);
        for finding in &mut found {
            finding.locate(text, &index);
        }
    }
    found
}

fn report(path: &Arc<str>, text: &str, run: &HiddenRun) -> Diagnostic {
    let rule = if run.is_critical {
        &HIDDEN_TEXT
    } else {
        &ZERO_WIDTH_CHARACTER
    };
    let span = Span::from_offsets(run.range.start, run.range.end);
    let found = span.slice(text);
    let count = found.chars().count();
    let several = if count == 1 {
        String::new()
    } else {
        format!(" and {} more", count - 1)
    };
    let effect = match run.kind {
        HiddenKind::Tag => format!(
            ": models read `{}`, and no editor displays it",
            short_excerpt(&decode_tags(found))
        ),
        HiddenKind::Direction => {
            ": the text behind it is displayed in another order than a model reads it".to_owned()
        }
        _ if run.is_critical => {
            ": so many in a row can hold a text that models read and no editor displays".to_owned()
        }
        HiddenKind::Selector
        | HiddenKind::Joiner
        | HiddenKind::DirectionHint
        | HiddenKind::NoWidth => {
            ", which no editor displays and which splits a word into other tokens".to_owned()
        }
    };
    let message = format!("found U+{:04X}{several}{effect}", u32::from(run.first));
    let fix = Fix::suggested("remove it", vec![Edit::delete(span)]);
    let finding = Diagnostic::new(&rule.meta, path, span, message).fix(fix);
    finding.help(if run.is_critical {
        "remove it, and look at where the text came from; a model follows it like any other text"
    } else {
        "remove it"
    })
}

/// Returns the finding of a text that another file includes, for the first hidden characters that
/// matter most. `path` and `span` are the place that names the text, `text_path` is its file.
pub fn find_in_included(
    path: &Arc<str>,
    span: Span,
    text_path: &str,
    text: &str,
) -> Option<Diagnostic> {
    let run = gravest_run(text)?;
    let line = text.get(..run.range.start)?.matches('\n').count() + 1;
    Some(report_included(
        path,
        span,
        &format!("`{text_path}`, line {line}"),
        &report(path, text, &run),
    ))
}

/// Returns the finding of a table of cases. `path` is the file of the suite.
pub fn find_in_table(path: &Arc<str>, suite: &Suite) -> Option<Diagnostic> {
    let (table, hidden) = suite.cases_from.as_ref().zip(suite.hidden_text.as_ref())?;
    let place = format!("`{}`, line {}", table.value, hidden.line);
    let found = report(path, &hidden.found, &hidden.run);
    Some(report_included(path, table.span, &place, &found))
}

fn report_included(path: &Arc<str>, span: Span, place: &str, found: &Diagnostic) -> Diagnostic {
    let message = format!("{place}: {}", found.message);
    let finding = Diagnostic::new(found.rule, path, span, message);
    finding.help("remove it from that file, and look at where the text came from")
}
