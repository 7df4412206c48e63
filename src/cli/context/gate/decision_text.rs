//! A decision for people: one line with the verdict, then each reason with advice; and as Markdown.

use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape_line;
use crate::cli::render::markup::{code_element, escape_cell};
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::pluralize;
use crate::eval::gate::{
    AddedApproval, GateDecision, GateVerdict, JudgedRelaxation, NEW_ANSWERS_LABEL, SCENARIO_LABEL,
    SafeguardKind,
};
use std::fmt::Write as _;

/// The number of characters of a short hash.
const SHORT_HASH_LENGTH: usize = 11;

const fn verdict_word(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Pass => "PASS",
        GateVerdict::Fail => "FAIL",
        GateVerdict::Inconclusive => "INCONCLUSIVE",
    }
}

/// Returns a text such as “12 scenarios, 8 with answers; 2 weakenings, 1 accepted”.
fn decision_summary(decision: &GateDecision) -> String {
    if let Some(error) = &decision.error {
        return format!("nothing was judged: {}", escape_line(error));
    }
    let sides = &decision.sides;
    let accepted = decision
        .weakened
        .iter()
        .filter(|one| one.approved_by.is_some())
        .count();
    let weakened = match decision.weakened.len() {
        0 => "nothing is loosened".to_owned(),
        all if accepted == all => format!("{}, accepted", pluralize(all, "weakening")),
        all => format!("{}, {accepted} accepted", pluralize(all, "weakening")),
    };
    let compared = if sides.has_base {
        weakened
    } else {
        "nothing is compared".to_owned()
    };
    format!(
        "{}, {} with answers; {compared}",
        pluralize(sides.scenarios, "scenario"),
        sides.answered
    )
}

/// Returns a text such as “expectation of `triage-t1`: the scenario: it is gone
/// (scenarios/triage-t1.yaml)”.
fn describe_relaxation(one: &JudgedRelaxation) -> String {
    let weakened = &one.weakened;
    let is_hash = |value: &str| value.starts_with("b3:");
    let short = |value: &str| {
        let hash = value.find(',').unwrap_or(value.len());
        match value.get(SHORT_HASH_LENGTH..hash) {
            Some(cut) if is_hash(value) => value.replacen(cut, "", 1),
            _ => value.to_owned(),
        }
    };
    let change = match (&weakened.before, &weakened.after) {
        // A reworded expectation describes itself.
        (Some(before), Some(after)) if is_hash(before) && !is_hash(after) => format!("now {after}"),
        (Some(before), Some(after)) => format!("{} → {}", short(before), short(after)),
        (Some(_), None) => "it is gone".to_owned(),
        (None, Some(after)) => format!("new: {}", short(after)),
        (None, None) => String::new(),
    };
    let kind = weakened.kind.word();
    format!(
        "{kind} of `{}`: {}: {change} ({})",
        weakened.of, weakened.what, one.path
    )
}

fn describe_acceptance(one: &JudgedRelaxation) -> Option<String> {
    let by = one.approved_by.as_ref()?;
    Some(format!(
        "accepted by {by}{}: {}",
        unverified_mark(one.unverified),
        one.reason.as_deref().unwrap_or_default()
    ))
}

const fn unverified_mark(unverified: bool) -> &'static str {
    if unverified { " (unverified)" } else { "" }
}

/// Returns the reasons of the decision, one per line.
fn decision_reasons(decision: &GateDecision) -> Vec<String> {
    let listed: Vec<&str> = decision
        .failing_cases
        .iter()
        .map(|case| case.id.as_str())
        .collect();
    let failing = decision
        .failing_cases
        .iter()
        .map(|case| format!("`{}` fails: {}", case.id, case.reason));
    let violated = decision.violated_thresholds.iter();
    // The reason of a failed scenario is listed with it, and a removed scenario with the
    // relaxations.
    let is_removed = |case: &str| {
        let weakened = decision.weakened.iter().map(|one| &one.weakened);
        weakened.into_iter().any(|one| {
            one.kind == SafeguardKind::Expectation && one.what == SCENARIO_LABEL && one.of == case
        })
    };
    let is_known = |case: &str| listed.contains(&case) || is_removed(case);
    let violated = violated.filter(|one| !one.case.as_deref().is_some_and(is_known));
    let violated = violated.map(|one| {
        let of = one
            .case
            .as_ref()
            .map_or_else(String::new, |case| format!(" of `{case}`"));
        format!(
            "{}{of}: allowed {}, found {}",
            one.name, one.limit, one.value
        )
    });
    failing.chain(violated).collect()
}

/// Prints a decision.
pub(super) fn print_decision(decision: &GateDecision, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let paint = match decision.decision {
        GateVerdict::Pass => Paint::Good,
        GateVerdict::Fail => Paint::Error,
        GateVerdict::Inconclusive => Paint::Warning,
    };
    let verdict = screen.paint(paint, verdict_word(decision.decision));
    cx.print_line(&format!(
        "gate against {}: {verdict}  {}",
        escape_line(&decision.sides.base),
        decision_summary(decision)
    ))?;
    let reasons = decision_reasons(decision);
    for line in reasons.iter().flat_map(|reason| reason.lines()) {
        cx.print_hanging(&format!("  {}", escape_line(line)), 4)?;
    }
    let is_chatty = cx.options.prints_notes();
    for one in &decision.weakened {
        let by = describe_acceptance(one).map_or_else(String::new, |by| format!("; {by}"));
        cx.print_hanging(
            &format!(
                "  {}{}",
                escape_line(&describe_relaxation(one)),
                escape_line(&by)
            ),
            4,
        )?;
        for line in one.diff.iter().flat_map(|diff| diff.lines()) {
            cx.print_line(&format!("      {}", escape_line(line)))?;
        }
    }
    for AddedApproval {
        line,
        unverified: is_open,
    } in &decision.log
    {
        let (accepted, by) = (
            pluralize(line.accepted.len(), "weakening"),
            escape_line(&line.by),
        );
        let mark = unverified_mark(*is_open);
        cx.print_hanging(
            &format!(
                "  new in the log: {by}{mark} accepted {accepted}: {}",
                escape_line(&line.reason)
            ),
            4,
        )?;
    }
    for warning in decision.warnings.iter().filter(|_| is_chatty) {
        cx.print_hanging(&format!("  note: {}", escape_line(warning)), 4)?;
    }
    if decision
        .weakened
        .iter()
        .any(|one| one.approved_by.is_none() && one.weakened.what == NEW_ANSWERS_LABEL)
    {
        cx.print_note("a job that the author does not control can ask for these answers anew: `ctxc gate --record --budget-usd USD`");
    }
    if decision
        .weakened
        .iter()
        .any(|one| one.approved_by.is_none())
    {
        cx.print_note("someone has to accept what a change loosens, with a reason: `ctxc baseline accept --reason WHY`");
    }
    Ok(())
}

/// Returns a decision as Markdown. A write to a string cannot fail, so the results of `write!` are
/// ignored.
pub(super) fn markdown_comment(decision: &GateDecision) -> String {
    let head = format!(
        "gate against {}: {}",
        escape_cell(&decision.sides.base),
        verdict_word(decision.decision)
    );
    let mut out = format!(
        "<!-- {} -->\n### {head}\n\n{}\n",
        decision.schema,
        decision_summary(decision)
    );
    let lines = decision_reasons(decision);
    if !lines.is_empty() {
        out.push('\n');
    }
    for line in lines {
        let parts: Vec<_> = line.lines().map(escape_cell).collect();
        let _ = writeln!(out, "- {}", parts.join("<br>"));
    }
    if !decision.weakened.is_empty() {
        out.push_str("\n| loosened | accepted |\n|---|---|\n");
    }
    for one in &decision.weakened {
        let by =
            describe_acceptance(one).map_or_else(|| "**no**".to_owned(), |by| escape_cell(&by));
        // Lines of a table cell are lines of HTML.
        let diff = one
            .diff
            .iter()
            .flat_map(|diff| diff.lines())
            .map(|line| format!("<br>{}", code_element(line)));
        let _ = writeln!(
            out,
            "| {}{} | {by} |",
            escape_cell(&describe_relaxation(one)),
            diff.collect::<String>()
        );
    }
    for AddedApproval {
        line,
        unverified: is_open,
    } in &decision.log
    {
        let (count, mark) = (
            pluralize(line.accepted.len(), "weakening"),
            unverified_mark(*is_open),
        );
        let _ = writeln!(
            out,
            "\nnew in the log: {}{mark} accepted {count}: {}",
            escape_cell(&line.by),
            escape_cell(&line.reason)
        );
    }
    if !decision.warnings.is_empty() {
        out.push_str("\n<details><summary>notes</summary>\n\n");
        for warning in &decision.warnings {
            let _ = writeln!(out, "- {}", escape_cell(warning));
        }
        out.push_str("\n</details>\n");
    }
    out
}
