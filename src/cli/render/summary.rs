//! The closing lines: the number of files, the findings by severity and by rule, and the number of
//! hidden ones.

use super::escape::{escape_line, wrap_line};
use super::report::{CheckReport, FindingTotals, ShownFindings};
use super::screen::{Paint, Screen};
pub(crate) use crate::base::number::format_thousands;
use crate::base::rule_meta::Severity;
use crate::rules::apply::FixSelection;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The maximum number of rules listed in the closing lines; the others are counted.
const MAX_LISTED_RULES: usize = 5;

/// Returns the colour of a severity.
pub(crate) const fn severity_paint(severity: Severity) -> Paint {
    match severity {
        Severity::Error => Paint::Error,
        Severity::Warning => Paint::Warning,
        Severity::Info => Paint::Info,
        Severity::Hint => Paint::Hint,
    }
}

/// Returns a number with a noun: `1 file`, `2 files`.
pub(crate) fn pluralize(count: usize, one: &str) -> String {
    let count_text = format_thousands(count);
    if count == 1 {
        format!("{count_text} {one}")
    } else {
        format!("{count_text} {one}s")
    }
}

/// Lists the first names: `a, b and 12 more`.
pub(crate) fn list_first<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    const NAMED: usize = 8;
    let shown: Vec<&str> = names.by_ref().take(NAMED).collect();
    let more = names.count();
    let more = if more > 0 {
        format!(" and {} more", format_thousands(more))
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

/// Writes a line for each file with more findings than are shown.
pub(super) fn write_omitted(
    out: &mut dyn Write,
    files: &[(&str, usize)],
    screen: Screen,
) -> io::Result<()> {
    for (path, count) in files {
        let line = format!(
            "… {} in {}; `--format json` has them all",
            pluralize(*count, "more finding"),
            escape_line(path)
        );
        writeln!(
            out,
            "{}",
            wrap_line(&screen.paint(Paint::Dim, &line), screen.width, 2)
        )?;
    }
    Ok(())
}

/// Writes the number of findings that are shown by their first line.
pub(super) fn write_shortened(out: &mut dyn Write, count: usize, screen: Screen) -> io::Result<()> {
    if count > 0 {
        let line = format!(
            "… {} shown by the first line alone; `--verbose` draws all",
            pluralize(count, "finding")
        );
        writeln!(
            out,
            "{}",
            wrap_line(&screen.paint(Paint::Dim, &line), screen.width, 2)
        )?;
    }
    Ok(())
}

/// Writes the closing lines.
pub(crate) fn write_summary(
    out: &mut dyn Write,
    report: &CheckReport,
    shown: ShownFindings,
    screen: Screen,
) -> io::Result<()> {
    let totals = report.count_totals();
    let color = if totals.error > 0 {
        Paint::Error
    } else if totals.warning > 0 {
        Paint::Warning
    } else {
        Paint::Good
    };
    writeln!(
        out,
        "{}",
        wrap_line(
            &screen.paint(color, &report_headline(report, &totals)),
            screen.width,
            2
        )
    )?;
    if !totals.rules.is_empty() {
        writeln!(
            out,
            "{}",
            wrap_line(&counts_by_rule(&totals), screen.width, 2)
        )?;
    }
    let counted: u32 = report.hidden.iter().map(|tally| tally.count).sum();
    let hidden = report
        .diagnostics
        .iter()
        .filter(|diagnostic| !shown.is_shown(diagnostic))
        .count()
        + counted as usize;
    if hidden > 0 {
        let line = format!(
            "{} of info and hint severity not shown; `--verbose` shows them",
            pluralize(hidden, "finding")
        );
        writeln!(
            out,
            "{}",
            wrap_line(&screen.paint(Paint::Dim, &line), screen.width, 2)
        )?;
    }
    Ok(())
}

/// Returns the headline: `checked 214 files, fixed 2 findings: 3 errors; 2 fixable with …`.
fn report_headline(report: &CheckReport, totals: &FindingTotals) -> String {
    let mut line = format!(
        "checked {}",
        pluralize(report.files, report.unit.unwrap_or("file"))
    );
    if let Some(fixed) = report.fixed {
        // Writing to a string cannot fail, here and below.
        let _ = write!(line, ", fixed {}", pluralize(fixed, "finding"));
    }
    line.push_str(": ");
    let counts = [
        (totals.error, "error"),
        (totals.warning, "warning"),
        (totals.info, "info"),
        (totals.hint, "hint"),
    ];
    let mut has_output = false;
    for (count, name) in counts {
        if count == 0 {
            continue;
        }
        if has_output {
            line.push_str(", ");
        }
        has_output = true;
        // “info” has no plural.
        if name == "info" {
            line.push_str(&format_thousands(count));
            line.push_str(" info");
        } else {
            line.push_str(&pluralize(count, name));
        }
    }
    if !has_output {
        line.push_str(if report.fixed.is_some_and(|fixed| fixed > 0) {
            "nothing left"
        } else {
            "nothing found"
        });
    }
    line.push_str(&fixable_note(totals, report.tried));
    if report.suppressed > 0 {
        let _ = write!(line, "; {} suppressed", format_thousands(report.suppressed));
    }
    if report.skipped > 0 {
        let _ = write!(
            line,
            "; {} skipped (no template)",
            pluralize(report.skipped, "other file")
        );
    }
    line
}

/// Returns the numbers of fixable findings and the flags that fix them: `; 3 fixable, 2 of them
/// with …`. For fixes that were tried, the reason why they remain.
fn fixable_note(totals: &FindingTotals, tried: Option<FixSelection>) -> String {
    let refused = match tried {
        None => 0,
        Some(FixSelection::Safe) => totals.safe,
        Some(FixSelection::Suggested) => totals.fixable,
    };
    let all = totals.fixable - refused;
    let safe = totals.safe.saturating_sub(refused);
    let why = match refused {
        0 => String::new(),
        1 => "; 1 fix left out: it would fix nothing, or cause another error".to_owned(),
        _ => format!(
            "; {} fixes left out: each would fix nothing, or cause another error",
            format_thousands(refused)
        ),
    };
    let counts = (format_thousands(all), format_thousands(safe));
    let open = match counts {
        _ if all == 0 => String::new(),
        (count, _) if safe == all => format!("; {count} fixable with `check --fix`"),
        (count, _) if safe == 0 => format!("; {count} fixable with `check --fix --unsafe-fixes`"),
        (count, safe) => format!("; {count} fixable, {safe} of them with `check --fix`"),
    };
    why + &open
}

/// Returns the counts by rule: `by rule: legacy-value 290, no-context 61, and 3 more`.
fn counts_by_rule(totals: &FindingTotals) -> String {
    let mut line = String::from("by rule: ");
    for (at, (name, count)) in totals.rules.iter().take(MAX_LISTED_RULES).enumerate() {
        if at > 0 {
            line.push_str(", ");
        }
        let _ = write!(line, "{name} {}", format_thousands(*count));
    }
    let more = totals.rules.len().saturating_sub(MAX_LISTED_RULES);
    if more > 0 {
        let _ = write!(line, ", and {}", pluralize(more, "more rule"));
    }
    line
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/summary.rs"]
mod tests;
