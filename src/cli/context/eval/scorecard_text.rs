//! Scenarios as text: one line each, verdict first, followed by the failures with expected value,
//! found value and place.

use super::score_text::{describe_part, score_lines, score_suffix, threshold_lines};
use crate::base::number::format_usd;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape_line;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::pluralize;
use crate::eval::case_result::{AnswerOrigin, CaseVerdict};
use crate::eval::gate::{BaselineCase, BaselineComparison};
use crate::eval::scorecard::{
    AnewRow, CaseRow, PlaceRow, RecordedRow, Scorecard, Summary, VerdictRow,
};
use crate::record::recording::TrialStage;
use crate::scenario::paths;
use crate::store::trust::quote_word;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of columns that names are padded to.
const MAX_NAME_WIDTH: usize = 40;
/// The number of characters of a short hash.
const SHORT_HASH_LENGTH: usize = 11;

/// Describes the answers of a case, and the run that a carried verdict comes from.
pub(super) fn answer_summary(row: &CaseRow) -> String {
    let from = row.carried_from.as_ref().map_or_else(String::new, |from| {
        let short = from
            .get(..SHORT_HASH_LENGTH)
            .filter(|_| from.starts_with("b3:"));
        format!(", from {}", short.unwrap_or(from))
    });
    describe_answers(row) + &from
}

fn describe_answers(row: &CaseRow) -> String {
    let is = |answered: AnswerOrigin| row.answer == answered.word();
    if is(AnswerOrigin::NotRecorded) {
        return "answer not recorded".to_owned();
    }
    if is(AnswerOrigin::NotJudged) {
        return "answer not judged".to_owned();
    }
    if is(AnswerOrigin::Stale) {
        return "answer stale".to_owned();
    }
    let trials: Vec<_> = row
        .trials
        .iter()
        .filter(|trial| trial.stage == row.rule.stage)
        .collect();
    let passed = trials
        .iter()
        .filter(|trial| trial.verdict == "pass")
        .count();
    let second = if row.rule.stage == TrialStage::Confirm {
        ", second stage"
    } else {
        ""
    };
    let recorded =
        row.rule
            .recorded
            .map_or_else(String::new, |RecordedRow { trials, of, .. }| {
                if trials > of {
                    format!(", {trials} recorded")
                } else {
                    format!(", {trials} of {of} recorded")
                }
            });
    format!(
        "answer {passed} of {} ({}{second}{recorded}){}",
        trials.len(),
        row.answer,
        score_suffix(row)
    )
}

/// Returns the label of a case's verdict.
pub(super) fn verdict_label(row: &CaseRow) -> String {
    let word = match row.verdict() {
        CaseVerdict::Pass
            if [
                AnswerOrigin::Scripted,
                AnswerOrigin::Replayed,
                AnswerOrigin::Asked,
                AnswerOrigin::Computed,
            ]
            .iter()
            .any(|given| given.word() == row.answer) =>
        {
            "PASS"
        }
        CaseVerdict::Pass => "PASS (context only)",
        CaseVerdict::Fail => "FAIL",
        CaseVerdict::Stale => "STALE",
        CaseVerdict::Inconclusive => "INCONCLUSIVE",
        CaseVerdict::Error => "ERROR",
    };
    let carried = row.carried_from.as_ref().map_or("", |_| "CARRIED ");
    format!("{carried}{word}")
}

/// Returns the sign of a verdict, for readers without colour.
pub(super) const fn verdict_symbol(verdict: CaseVerdict) -> char {
    match verdict {
        CaseVerdict::Pass => '✓',
        CaseVerdict::Fail => '✗',
        CaseVerdict::Error => '!',
        CaseVerdict::Stale => '~',
        CaseVerdict::Inconclusive => '?',
    }
}

const fn verdict_paint(verdict: CaseVerdict) -> Paint {
    match verdict {
        CaseVerdict::Pass => Paint::Good,
        CaseVerdict::Fail | CaseVerdict::Error => Paint::Error,
        CaseVerdict::Stale | CaseVerdict::Inconclusive => Paint::Warning,
    }
}

/// Describes the place of a match.
fn describe_place(at: &PlaceRow) -> String {
    let mut parts = Vec::new();
    if let Some(segment) = &at.segment {
        parts.push(format!("segment `{segment}`"));
    }
    if let (Some(start), Some(end)) = (at.start, at.end) {
        parts.push(format!("bytes {start}..{end}"));
    }
    match (&at.path, at.line, &at.source) {
        (Some(path), Some(line), _) => parts.push(format!("{path}:{line}")),
        (Some(path), None, _) => parts.push(path.clone()),
        (None, _, Some(source)) => parts.push(source.clone()),
        (None, _, None) => {}
    }
    parts.join(", ")
}

/// Describes an expectation that is not met, without its place.
fn describe_failure(verdict: &VerdictRow) -> String {
    let gate = if verdict.gates { "" } else { " (no gate)" };
    let what = if verdict.verdict == "skipped" {
        " (skipped)"
    } else {
        gate
    };
    let what = describe_part(verdict).unwrap_or_else(|| what.to_owned());
    format!(
        "expected {}, found {}{what}",
        verdict.expected, verdict.found
    )
}

/// Adds the lines about an expectation that is not met.
fn push_failure(row: &CaseRow, verdict: &VerdictRow, out: &mut Vec<String>) {
    let what = describe_failure(verdict);
    out.push(format!("{}:{}: {what}", row.path, verdict.line));
    let at = verdict
        .at
        .as_ref()
        .map(describe_place)
        .filter(|at| !at.is_empty());
    out.extend(at.map(|at| format!("  at {at}")));
    out.extend(verdict.advice.iter().map(|advice| format!("  {advice}")));
}

/// Describes the lower and upper bounds of calls and US$.
pub(in crate::cli) fn describe_calls([min, max]: [u64; 2], price: Option<[f64; 2]>) -> String {
    let from = if min == max {
        String::new()
    } else {
        format!("{min} to ")
    };
    let price = price.map(|price| price.map(format_usd)).map_or_else(
        || "no price in ctxc.toml".to_owned(),
        |[min, max]| {
            if min == max {
                format!("US$ {max}")
            } else {
                format!("US$ {min} to {max}")
            }
        },
    );
    format!("{from}{}, {price}", pluralize(max as usize, "call"))
}

/// Returns the lines about every problem of a case.
pub(in crate::cli::context) fn problem_lines(row: &CaseRow) -> Vec<String> {
    let mut out = Vec::new();
    for fault in &row.faults {
        let place = match (&fault.path, fault.line) {
            (Some(path), Some(line)) => format!("{path}:{line}: "),
            (Some(path), None) => format!("{path}: "),
            (None, _) => String::new(),
        };
        out.push(format!("{place}there is no context: {}", fault.message));
    }
    let is_undecided = row.verdict() == CaseVerdict::Inconclusive && row.trouble.is_none();
    if is_undecided && row.answer == AnswerOrigin::NotRecorded.word() {
        let why = "undecided: it has `expectations`, but no answer to check them against";
        out.push(format!("{}:{}: {why}", row.path, row.line));
        out.push(
            "  record one with `--record`, script one under `answers:`, or say under `expect_context:` what its context must be"
                .to_owned(),
        );
    }
    if is_undecided
        && let Some(RecordedRow {
            trials,
            of,
            cut: true,
        }) = row.rule.recorded
    {
        out.push(format!(
            "{}:{}: undecided: only {trials} of {of} trials have answers",
            row.path, row.line
        ));
        out.push(format!(
            "  `ctxc eval {} --record --stale` asks anew",
            quote_word(&row.id)
        ));
    }
    if is_undecided && row.rule.pass.is_none() && row.trials.len() >= row.rule.runs as usize {
        let passed = row
            .trials
            .iter()
            .filter(|trial| trial.verdict == "pass")
            .count();
        out.push(format!(
            "{}:{}: its sequential test is undecided after all {} trials, of which {passed} passed: raise `max`, or move `p0` and `p1` apart",
            row.path, row.line, row.rule.runs
        ));
    }
    out.extend(
        row.trouble
            .iter()
            .map(|why| format!("{}:{}: {why}", row.path, row.line)),
    );
    for verdict in row
        .context
        .iter()
        .filter(|verdict| verdict.verdict == "fail")
    {
        push_failure(row, verdict, &mut out);
    }
    if row.answer == AnswerOrigin::Stale.word() {
        let mut moved = row.moved.iter();
        let first = moved
            .next()
            .map_or_else(String::new, |first| format!("; since then: {first}"));
        out.push(format!(
            "{}:{}: its answers were recorded for another request{first}",
            row.path, row.line
        ));
        out.extend(moved.map(|moved| format!("  {moved}")));
        if row.role.is_none() && row.task.is_none() {
            out.push(format!(
                "  `ctxc record` its program again, then `ctxc new scenario --from @last#N --name {} --renew`, where N is the number of the call",
                quote_word(&row.id)
            ));
        }
        out.extend(row.anew.map(|AnewRow { calls, usd: price }| {
            // The next cent.
            let budget = price.map_or_else(String::new, |[_, max]| {
                format!(
                    " --budget-usd {:.2}",
                    ((max * 100.0).ceil() / 100.0).max(0.01)
                )
            });
            format!(
                "  `ctxc eval {} --record --stale{budget}` asks anew: {}",
                quote_word(&row.id),
                describe_calls(calls, price)
            )
        }));
    }
    let miscounted: BTreeSet<&String> = row
        .trials
        .iter()
        .filter_map(|trial| trial.miscounted.as_ref())
        .collect();
    for what in miscounted {
        out.push(format!(
            "{}:{}: its provider's count of tokens is impossible: {what}; counted anew here",
            row.path, row.line
        ));
    }
    // A script gives the same answer every time, so one failed trial represents all.
    let trial = row
        .trials
        .iter()
        .find(|trial| trial.verdict == "fail")
        .or_else(|| row.trials.first());
    for verdict in trial
        .into_iter()
        .flat_map(|trial| &trial.expectations)
        .filter(|verdict| verdict.verdict != "pass")
    {
        push_failure(row, verdict, &mut out);
    }
    out.extend(
        row.baseline
            .as_deref()
            .and_then(|then| describe_change(row, then)),
    );
    out
}

/// The causes of the unexpected result of a case, without places. Of several cases with the same
/// causes, only the first one is explained.
fn causes(row: &CaseRow) -> BTreeSet<String> {
    let trial = row
        .trials
        .iter()
        .find(|trial| trial.verdict == "fail")
        .or_else(|| row.trials.first());
    let of_answer = trial
        .into_iter()
        .flat_map(|trial| &trial.expectations)
        .filter(|verdict| verdict.verdict != "pass");
    let verdicts = row
        .context
        .iter()
        .filter(|verdict| verdict.verdict == "fail")
        .chain(of_answer);
    let stale = row
        .moved
        .iter()
        .filter(|_| row.answer == AnswerOrigin::Stale.word())
        .cloned();
    let faults = row.faults.iter().map(|fault| fault.message.clone());
    // Each case has a stored request of its own.
    let stored = paths::snapshot_path(&row.path, &row.id);
    verdicts
        .map(|verdict| describe_failure(verdict).replace(&stored, ""))
        .chain(stale)
        .chain(faults)
        .chain(row.trouble.clone())
        .collect()
}

/// The line for a case that has the same causes as an earlier one.
fn as_in(row: &CaseRow, first: &str, causes: &BTreeSet<String>) -> String {
    let what = if causes.len() == 1 {
        "for the same cause"
    } else {
        "for the same causes"
    };
    format!("{}:{}: {what} as `{first}`", row.path, row.line)
}

/// Describes the differences of a case from its accepted result.
fn describe_change(row: &CaseRow, then: &BaselineCase) -> Option<String> {
    let now = BaselineCase::from_row(row);
    let context = |case: &BaselineCase| case.context_tokens.unwrap_or(0);
    let words = |case: &BaselineCase| {
        let trials = format!("{} of {} trials", case.passed, case.trials);
        let trials = (then.passed * now.trials != now.passed * then.trials).then_some(trials);
        let tokens = (context(then) != context(&now))
            .then(|| format!("{} tokens of context", context(case)));
        let verdict = (then.verdict != now.verdict).then(|| case.verdict.clone());
        [verdict, trials, tokens]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (then, now) = (words(then), words(&now));
    (!then.is_empty()).then(|| format!("accepted with {then}; now {now}"))
}

/// Describes the differences between all cases and their accepted results.
pub(super) fn comparison_line(card: &Scorecard) -> Option<String> {
    let compared = card.baseline.as_ref()?;
    let BaselineComparison {
        path,
        better,
        worse,
        equal,
        sign_test,
        tokens_then,
        tokens_now,
        missing,
        new,
        not_compared,
    } = compared;
    let mut parts = vec![format!(
        "compared with {path}: {better} better, {worse} worse, {equal} equal"
    )];
    if *tokens_then > 0 {
        parts.push(format!(
            "tokens per trial, summed over scenarios: {tokens_then} then, {tokens_now} now"
        ));
    }
    // Scripts give the same answer every time.
    if *sign_test < 1.0
        && card
            .cases
            .iter()
            .any(|row| row.rate.is_some() && row.answer != AnswerOrigin::Scripted.word())
    {
        let few = if better + worse < 5 {
            " (fewer than 5 differences cannot be significant)"
        } else {
            ""
        };
        parts.push(format!("sign test p = {sign_test:.3}{few}"));
    }
    let lists = [
        ("missing", missing),
        ("new", new),
        ("not compared", not_compared),
    ]
    .into_iter()
    .filter(|(_, ids)| !ids.is_empty());
    parts.extend(lists.map(|(word, ids)| format!("{word}: {}", ids.join(", "))));
    Some(parts.join("; "))
}

/// Returns a name without its middle if it has more than `most` characters.
fn shorten_name(name: &str, max: usize) -> Cow<'_, str> {
    let count = name.chars().count();
    if count <= max {
        return Cow::Borrowed(name);
    }
    let head = max.saturating_sub(1) / 2;
    let tail = count - max.saturating_sub(1 + head);
    let middle = |(at, c)| match at {
        at if at == head => Some('…'),
        at if at < head || at >= tail => Some(c),
        _ => None,
    };
    name.chars().enumerate().filter_map(middle).collect()
}

/// Prints all cases and their totals; with `--quiet`, only the cases that do not pass.
pub(super) fn print_cases(card: &Scorecard, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let label = |row: &CaseRow| {
        let word = verdict_label(row);
        if screen.unicode {
            format!("{} {word}", verdict_symbol(row.verdict()))
        } else {
            word
        }
    };
    let longest = |text: &dyn Fn(&CaseRow) -> String| {
        let lengths = card.cases.iter().map(|row| text(row).chars().count());
        lengths.max().unwrap_or(0)
    };
    let holds = |row: &CaseRow| {
        let (held, all) = row.held_expectations();
        format!("{held}/{all}")
    };
    let counts = longest(&holds);
    let facts = |row: &CaseRow| format!("context {:<counts$}  {}", holds(row), answer_summary(row));
    let labels = longest(&label);
    let hang = labels + 2;
    let width = longest(&|row| row.id.clone()).min(MAX_NAME_WIDTH);
    // Columns that do not fit beside each other are not aligned.
    let is_aligned = screen
        .width
        .is_none_or(|all| hang + width + 2 + longest(&facts) <= all);
    let width = if is_aligned { width } else { 0 };
    let is_shown = |row: &&CaseRow| cx.options.prints_notes() || row.verdict() != CaseVerdict::Pass;
    let mut explained: BTreeMap<BTreeSet<String>, &str> = BTreeMap::new();
    for row in card.cases.iter().filter(is_shown).collect::<Vec<_>>() {
        let state = screen.paint(
            verdict_paint(row.verdict()),
            &format!("{:<labels$}", label(row)),
        );
        let name = escape_line(&row.id);
        let max = screen
            .width
            .map_or(usize::MAX, |all| all.saturating_sub(hang));
        let name = screen.paint(
            Paint::Strong,
            &format!("{:<width$}", shorten_name(&name, max)),
        );
        cx.print_hanging(
            &format!("{state}  {name}  {}", escape_line(&facts(row))),
            hang,
        )?;
        if row.carried_from.is_none() {
            let causes = causes(row);
            let same = explained.get(&causes).filter(|_| !causes.is_empty());
            let lines = same.map_or_else(
                || problem_lines(row),
                |first| vec![as_in(row, first, &causes)],
            );
            explained.entry(causes).or_insert(&row.id);
            for line in lines {
                let indent = line.len() - line.trim_start().len() + 2;
                cx.print_hanging(&format!("  {}", escape_line(&line)), indent + 2)?;
            }
        }
    }
    if cx.options.prints_notes() {
        cx.print_line(&totals_line(card))?;
        for line in comparison_line(card).into_iter().chain(score_lines(card)) {
            cx.print_hanging(&escape_line(&line), 2)?;
        }
    }
    for line in threshold_lines(card) {
        cx.print_hanging(&escape_line(&line), 2)?;
    }
    Ok(())
}

/// Returns a text such as “12 calls (4 not answered: 3 rate limited, 1 cut stream)”.
fn call_summary(totals: &Summary) -> String {
    let failed: u64 = totals.failed_calls.values().sum();
    let kinds: Vec<String> = totals
        .failed_calls
        .iter()
        .map(|(kind, count)| format!("{count} {}", kind.replace('_', " ")))
        .collect();
    let failed = if failed == 0 {
        String::new()
    } else {
        format!(" ({failed} not answered: {})", kinds.join(", "))
    };
    pluralize(totals.calls as usize, "call") + &failed
}

/// Returns the last line, whose counts add up to the planned scenarios.
pub(super) fn totals_line(card: &Scorecard) -> String {
    let totals = &card.summary;
    let some = |count: usize, word: &str| {
        if count == 0 {
            String::new()
        } else {
            format!(", {count} {word}")
        }
    };
    let what = if totals.planned == 1 {
        "scenario"
    } else {
        "scenarios"
    };
    let cost = format!("US$ {}", format_usd(totals.cost_usd));
    let is_answered = totals.calls > totals.failed_calls.values().sum();
    let cost = if is_answered && totals.cost_usd == 0.0 {
        "no price in ctxc.toml".to_owned()
    } else {
        cost
    };
    format!(
        "{} {what}: {} passed, {} failed{}, {} errored{}; {} carried, {}, {cost}{}",
        totals.planned,
        totals.passed,
        totals.failed,
        some(totals.stale, "stale"),
        totals.errored,
        some(totals.inconclusive, "inconclusive"),
        totals.carried,
        call_summary(totals),
        if totals.unanswered > 0 {
            format!("; {} with answers", totals.answered)
        } else {
            String::new()
        },
    )
}
