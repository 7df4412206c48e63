//! The output of a check: a new screen on a terminal, a JSON line elsewhere, nothing if nothing
//! changed.

use crate::base::diagnostic::Diagnostic;
use crate::base::fs;
use crate::base::hash::Hash;
use crate::base::source::Position;
use crate::cli::prelude::*;
use crate::cli::render::json::{FindingRow, SeverityCounts};
use crate::cli::render::report::CheckReport;
use crate::cli::render::screen::Screen;
use crate::cli::render::sources::SourceTexts;
use crate::cli::render::{full, summary};
use crate::schema::json::names::WATCH;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, IsTerminal, Write};

/// Clears the screen and moves the cursor to its corner.
const CLEAR_SCREEN: &[u8] = b"\x1b[2J\x1b[H";
/// The maximum number of changed files listed on a screen.
const MAX_LISTED_FILES: usize = 3;

/// The result of a complete check.
pub(super) struct WatchCheck {
    pub(super) report: CheckReport,
    /// The changed templates and texts.
    pub(super) changed: BTreeSet<String>,
    /// The project files, with hashes of their content.
    pub(super) settings: BTreeMap<String, Hash>,
    pub(super) sources: SourceTexts,
}

/// The last output.
#[derive(Default)]
pub(super) struct WatchOutput {
    /// `None` before the first check.
    last: Option<LastCheck>,
    /// The current error, if any.
    trouble: Option<CheckError>,
}

#[derive(Default)]
struct LastCheck {
    report: CheckReport,
    settings: BTreeMap<String, Hash>,
}

/// One line of `ctxc watch`, if it does not write to a terminal: a check that differs from the one
/// before. Removing `gone`, replacing the previous findings by `moved` and adding `new` yields the
/// findings of `ctxc check`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Line")]
pub(crate) struct WatchLine<'l> {
    /// The version of the format.
    schema: &'static str,
    /// Templates, texts that they include and project files whose bytes changed since the line
    /// before, or that were added or removed; none in the first line.
    changed: Vec<&'l str>,
    /// The number of templates that were checked.
    files: usize,
    /// The number of current findings of each severity.
    summary: SeverityCounts,
    /// Findings that are new; in the first line, all.
    new: Vec<FindingRow<'l>>,
    /// Findings whose position or text changed; file, rule and fingerprint are the same.
    moved: Vec<MovedFinding<'l>>,
    /// Findings that no longer exist, as they were.
    gone: Vec<FindingRow<'l>>,
    /// The reason that nothing could be checked: an unreadable project file, a missing path. The
    /// findings of the lines before stay valid until a line without trouble. Null: everything was
    /// checked.
    trouble: Option<&'l CheckError>,
}

/// A finding that moved.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Moved")]
pub(crate) struct MovedFinding<'l> {
    /// The previous start of the finding.
    from: Position,
    /// The finding in its current form.
    finding: FindingRow<'l>,
}

/// The reason that nothing could be checked.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub(crate) struct CheckError {
    /// The error.
    message: String,
    /// Advice on how to mend it.
    hints: Vec<String>,
}

impl WatchOutput {
    /// Returns true if nothing was shown yet.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none() && self.trouble.is_none()
    }

    /// Shows a check, if it differs from the one before.
    pub(super) fn show_check(&mut self, seen: WatchCheck, cx: &mut Cx) -> Result<()> {
        let WatchCheck {
            report,
            mut changed,
            settings,
            mut sources,
        } = seen;
        let nothing = LastCheck::default();
        let last = self.last.as_ref().unwrap_or(&nothing);
        if self.last.is_some() {
            changed.extend(changed_names(&last.settings, &settings));
        }
        let delta = FindingsDelta::compare(&last.report.diagnostics, &report.diagnostics);
        let is_same = changed.is_empty() && delta.is_empty() && last.report.files == report.files;
        if is_same && self.last.is_some() && self.trouble.is_none() {
            return Ok(());
        }
        if io::stdout().is_terminal() {
            draw_screen(&report, &changed, &mut sources, cx)?;
        } else {
            print_line(&report, &changed, &delta, None, cx)?;
        }
        self.trouble = None;
        self.last = Some(LastCheck { report, settings });
        Ok(())
    }

    /// Shows the error that prevents a check. The last findings stay valid.
    pub(super) fn show_error(&mut self, error: &CliError, cx: &mut Cx) -> Result<()> {
        let trouble = CheckError {
            message: error.message.clone(),
            hints: error.hints.clone(),
        };
        if self.trouble.as_ref() == Some(&trouble) {
            return Ok(());
        }
        if io::stdout().is_terminal() {
            let screen = cx.options.screen.with_current_width();
            cx.print(|out| {
                out.write_all(CLEAR_SCREEN)?;
                error.print(out, screen.color, screen.width);
                write_last_line(out, screen, "nothing is checked until that is fixed")
            })?;
            cx.flush()?;
        } else {
            let nothing = CheckReport::default();
            let report = self.last.as_ref().map_or(&nothing, |last| &last.report);
            print_line(
                report,
                &BTreeSet::new(),
                &FindingsDelta::default(),
                Some(&trouble),
                cx,
            )?;
        }
        self.trouble = Some(trouble);
        Ok(())
    }
}

/// Returns files that are new, deleted or changed.
pub(super) fn changed_names(
    before: &BTreeMap<String, Hash>,
    after: &BTreeMap<String, Hash>,
) -> Vec<String> {
    let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    all.into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .cloned()
        .collect()
}

fn print_line(
    report: &CheckReport,
    changed: &BTreeSet<String>,
    delta: &FindingsDelta<'_>,
    trouble: Option<&CheckError>,
    cx: &mut Cx,
) -> Result<()> {
    let totals = report.count_totals();
    let line = WatchLine {
        schema: WATCH,
        changed: changed.iter().map(String::as_str).collect(),
        files: report.files,
        summary: SeverityCounts::from(&totals),
        new: delta
            .new
            .iter()
            .map(|finding| FindingRow::from(*finding))
            .collect(),
        moved: delta
            .moved
            .iter()
            .map(|(was, is)| MovedFinding {
                from: was.start,
                finding: FindingRow::from(*is),
            })
            .collect(),
        gone: delta
            .gone
            .iter()
            .map(|finding| FindingRow::from(*finding))
            .collect(),
        trouble,
    };
    cx.print(|out| {
        serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
        out.write_all(b"\n")
    })?;
    cx.flush()
}

fn draw_screen(
    report: &CheckReport,
    changed: &BTreeSet<String>,
    sources: &mut SourceTexts,
    cx: &mut Cx,
) -> Result<()> {
    let shown = cx.options.report_detail();
    let screen = cx.options.screen.with_current_width();
    cx.print(|out| {
        out.write_all(CLEAR_SCREEN)?;
        full::write_full(out, report, shown, screen, sources)?;
        summary::write_summary(out, report, shown, screen)?;
        write_last_line(out, screen, &screen_reason(report.files, changed))
    })?;
    cx.flush()
}

/// Describes the reason for a new screen.
fn screen_reason(files: usize, changed: &BTreeSet<String>) -> String {
    let mut names: Vec<String> = changed.iter().take(MAX_LISTED_FILES).cloned().collect();
    if changed.len() > MAX_LISTED_FILES {
        names.push(pluralize(changed.len() - MAX_LISTED_FILES, "more file"));
    }
    let watched = if files == 0 {
        "no template yet".to_owned()
    } else {
        pluralize(files, "template")
    };
    if names.is_empty() {
        watched
    } else {
        format!("{watched}; changed: {}", names.join(", "))
    }
}

/// Prints the last line of a screen: the time, the reason, and how to end the program.
fn write_last_line(out: &mut dyn Write, screen: Screen, what: &str) -> io::Result<()> {
    let text = format!(
        "{} UTC: {what}. Watching; Ctrl-C ends it",
        time_of_day(fs::now_nanos())
    );
    writeln!(
        out,
        "{}",
        screen.paint(Paint::Dim, &crate::cli::render::escape::escape_line(&text))
    )
}

/// Converts nanoseconds since 1970 to a time of day.
fn time_of_day(now: i128) -> String {
    let seconds = now.div_euclid(1_000_000_000).rem_euclid(86_400);
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// The difference between two lists of findings.
#[derive(Debug, Default)]
pub(crate) struct FindingsDelta<'n> {
    /// Findings that are new.
    pub(crate) new: Vec<&'n Diagnostic>,
    /// Findings whose place or message changed: before and after.
    pub(crate) moved: Vec<(&'n Diagnostic, &'n Diagnostic)>,
    /// Findings that no longer exist.
    pub(crate) gone: Vec<&'n Diagnostic>,
}

impl<'n> FindingsDelta<'n> {
    /// Compares two lists. Findings correspond by file, rule and fingerprint; of several with the
    /// same, equal ones are paired first, the others in order.
    pub(crate) fn compare(before: &'n [Diagnostic], after: &'n [Diagnostic]) -> Self {
        let mut equal: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
        for (at, finding) in before.iter().enumerate() {
            equal
                .entry((finding_key(finding), finding.span.start))
                .or_default()
                .push_back(at);
        }
        let mut is_left = vec![true; before.len()];
        let mut rest = Vec::new();
        for finding in after {
            let twins = equal.get_mut(&(finding_key(finding), finding.span.start));
            let twin = twins.and_then(|twins| {
                let at = *twins.front()?;
                before.get(at).filter(|twin| *twin == finding)?;
                twins.pop_front()
            });
            match twin.and_then(|at| is_left.get_mut(at)) {
                Some(left) => *left = false,
                None => rest.push(finding),
            }
        }
        let left = before
            .iter()
            .zip(is_left)
            .filter_map(|(finding, is_left)| is_left.then_some(finding));
        let mut old: BTreeMap<_, VecDeque<(usize, &Diagnostic)>> = BTreeMap::new();
        for (at, finding) in left.enumerate() {
            old.entry(finding_key(finding))
                .or_default()
                .push_back((at, finding));
        }
        let mut delta = Self::default();
        for finding in rest {
            match old
                .get_mut(&finding_key(finding))
                .and_then(VecDeque::pop_front)
            {
                Some((_, was)) => delta.moved.push((was, finding)),
                None => delta.new.push(finding),
            }
        }
        let mut gone: Vec<(usize, &Diagnostic)> = old.into_values().flatten().collect();
        gone.sort_by_key(|(at, _)| *at);
        delta.gone = gone.into_iter().map(|(_, finding)| finding).collect();
        delta
    }

    /// Returns true if nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.moved.is_empty() && self.gone.is_empty()
    }
}

fn finding_key(finding: &Diagnostic) -> (&str, u16, &str) {
    (&finding.path, finding.rule.code.0, &finding.fingerprint)
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/watch/show.rs"]
mod tests;
