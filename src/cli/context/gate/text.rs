//! A decision for people: one line with the verdict, then each reason with advice; and as Markdown.

use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape;
use crate::cli::render::markup::{cell, code};
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::plural;
use crate::eval::gate::{AddedLine, BROUGHT, Decision, Kind, SCENARIO, Verdict, Weakening};
use std::fmt::Write as _;

/// The number of characters of a short hash.
const SHOWN: usize = 11;

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Inconclusive => "INCONCLUSIVE",
    }
}

/// Returns a text such as “12 scenarios, 8 with answers; 2 weakenings, 1 of them accepted”.
fn summary(decision: &Decision) -> String {
    if let Some(error) = &decision.error {
        return format!("nothing was judged: {}", escape(error));
    }
    let sides = &decision.sides;
    let accepted = decision
        .weakened
        .iter()
        .filter(|one| one.approved_by.is_some())
        .count();
    let weakened = match decision.weakened.len() {
        0 => "nothing is loosened".to_owned(),
        all if accepted == all => format!("{}, accepted", plural(all, "weakening")),
        all => format!("{}, {accepted} accepted", plural(all, "weakening")),
    };
    let compared = if sides.has_base {
        weakened
    } else {
        "nothing is compared".to_owned()
    };
    format!(
        "{}, {} with answers; {compared}",
        plural(sides.scenarios, "scenario"),
        sides.answered
    )
}

/// Returns a text such as “expectation of `triage-t1`: context: nothing cut was b3:…, now it is
/// gone (scenarios/triage-t1.yaml)”.
fn loosened(one: &Weakening) -> String {
    let weakened = &one.weakened;
    let is_hash = |value: &str| value.starts_with("b3:");
    let short = |value: &str| {
        let hash = value.find(',').unwrap_or(value.len());
        match value.get(SHOWN..hash) {
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

fn accepted(one: &Weakening) -> Option<String> {
    let by = one.approved_by.as_ref()?;
    Some(format!(
        "accepted by {by}{}: {}",
        unverified(one.unverified),
        one.reason.as_deref().unwrap_or_default()
    ))
}

const fn unverified(unverified: bool) -> &'static str {
    if unverified { " (unverified)" } else { "" }
}

/// Returns the reasons of the decision, one per line.
fn reasons(decision: &Decision) -> Vec<String> {
    let told: Vec<&str> = decision
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
        weakened
            .into_iter()
            .any(|one| one.kind == Kind::Expectation && one.what == SCENARIO && one.of == case)
    };
    let is_known = |case: &str| told.contains(&case) || is_removed(case);
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
pub(super) fn print(decision: &Decision, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let paint = match decision.decision {
        Verdict::Pass => Paint::Good,
        Verdict::Fail => Paint::Error,
        Verdict::Inconclusive => Paint::Warning,
    };
    let verdict = screen.paint(paint, word(decision.decision));
    cx.line(&format!(
        "gate against {}: {verdict}  {}",
        escape(&decision.sides.base),
        summary(decision)
    ))?;
    for line in reasons(decision) {
        cx.hanging(&format!("  {}", escape(&line)), 4)?;
    }
    let is_chatty = cx.options.is_chatty();
    for one in &decision.weakened {
        let by = accepted(one).map_or_else(String::new, |by| format!("; {by}"));
        cx.hanging(&format!("  {}{}", escape(&loosened(one)), escape(&by)), 4)?;
        for line in one.diff.iter().flat_map(|diff| diff.lines()) {
            cx.line(&format!("      {}", escape(line)))?;
        }
    }
    for AddedLine {
        line,
        unverified: is_open,
    } in &decision.log
    {
        let (accepted, by) = (plural(line.accepted.len(), "weakening"), escape(&line.by));
        let mark = unverified(*is_open);
        cx.hanging(
            &format!(
                "  new in the log: {by}{mark} accepted {accepted}: {}",
                escape(&line.reason)
            ),
            4,
        )?;
    }
    for warning in decision.warnings.iter().filter(|_| is_chatty) {
        cx.hanging(&format!("  note: {}", escape(warning)), 4)?;
    }
    if decision
        .weakened
        .iter()
        .any(|one| one.approved_by.is_none() && one.weakened.what == BROUGHT)
    {
        cx.note("a job that the author does not control can ask for these answers anew: `ctxc gate --record --budget-usd USD`");
    }
    if decision
        .weakened
        .iter()
        .any(|one| one.approved_by.is_none())
    {
        cx.note("someone has to accept what a change loosens, with a reason: `ctxc baseline accept --reason WHY`");
    }
    Ok(())
}

/// Returns a decision as Markdown. A write to a string cannot fail, so the results of `write!` are
/// ignored.
pub(super) fn markdown(decision: &Decision) -> String {
    let head = format!(
        "gate against {}: {}",
        cell(&decision.sides.base),
        word(decision.decision)
    );
    let mut out = format!(
        "<!-- {} -->\n### {head}\n\n{}\n",
        decision.schema,
        summary(decision)
    );
    let lines = reasons(decision);
    if !lines.is_empty() {
        out.push('\n');
    }
    for line in lines {
        let _ = writeln!(out, "- {}", cell(&line));
    }
    if !decision.weakened.is_empty() {
        out.push_str("\n| loosened | accepted |\n|---|---|\n");
    }
    for one in &decision.weakened {
        let by = accepted(one).map_or_else(|| "**no**".to_owned(), |by| cell(&by));
        // Lines of a table cell are lines of HTML.
        let diff = one
            .diff
            .iter()
            .flat_map(|diff| diff.lines())
            .map(|line| format!("<br>{}", code(line)));
        let _ = writeln!(
            out,
            "| {}{} | {by} |",
            cell(&loosened(one)),
            diff.collect::<String>()
        );
    }
    for AddedLine {
        line,
        unverified: is_open,
    } in &decision.log
    {
        let (count, mark) = (
            plural(line.accepted.len(), "weakening"),
            unverified(*is_open),
        );
        let _ = writeln!(
            out,
            "\nnew in the log: {}{mark} accepted {count}: {}",
            cell(&line.by),
            cell(&line.reason)
        );
    }
    if !decision.warnings.is_empty() {
        out.push_str("\n<details><summary>notes</summary>\n\n");
        for warning in &decision.warnings {
            let _ = writeln!(out, "- {}", cell(warning));
        }
        out.push_str("\n</details>\n");
    }
    out
}
