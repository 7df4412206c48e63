//! Reads, applies and writes the file `ctxc.suppressions.toml`. Its meaning is in
//! `project/suppressions`.

use super::project;
use super::render::report::CheckReport;
use crate::base::fs;
use crate::base::source::LineIndex;
use crate::cli::prelude::*;
use crate::project::suppressions::{SUPPRESSIONS_FILE, Suppressions};
use crate::rules::input::stale_suppression;

/// Returns the text of the file and its suppressed findings; `None` if there is no file.
pub(super) fn load_suppressions(root: &Path) -> Result<Option<(String, Suppressions)>> {
    let Some(text) = project::read_text(&root.join(SUPPRESSIONS_FILE))? else {
        return Ok(None);
    };
    match Suppressions::parse(&text) {
        Ok(recorded) => Ok(Some((text, recorded))),
        Err(fault) => {
            let at = LineIndex::new(&text).position(&text, fault.span().start);
            Err(CliError::new(CliErrorKind::Project, format!("{SUPPRESSIONS_FILE}:{}:{}: {fault}", at.line, at.column))
                .with_hint("mend that line, or remove the file and record again with `ctxc check --suppress-existing`"))
        }
    }
}

/// Removes suppressed findings from a report, and adds a finding for each stale entry.
pub(super) fn apply_suppressions(
    report: &mut CheckReport,
    text: &str,
    recorded: &Suppressions,
    looked_at: impl Fn(&str) -> bool,
) {
    report.suppressed =
        stale_suppression::apply_suppressions(&mut report.diagnostics, text, recorded, looked_at);
}

/// The result of `--suppress-existing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SuppressedFindings {
    /// The number of findings in the file.
    pub(super) findings: usize,
}

/// Records every finding of a report that can be suppressed, and removes it from the report.
/// Entries of unchecked files stay; stale entries are removed.
pub(super) fn record_findings(
    root: &Path,
    report: &mut CheckReport,
    looked_at: impl Fn(&str) -> bool,
) -> Result<SuppressedFindings> {
    let old = load_suppressions(root)?;
    let mut recorded = Suppressions::from_findings(&report.diagnostics);
    if let Some((_, old)) = &old {
        recorded.adopt_entries(old, |path| !looked_at(path));
    }
    report.suppressed = recorded
        .apply(&mut report.diagnostics, |_| false)
        .suppressed;
    let text = recorded.render();
    // A project without findings needs no file, and an unchanged file is left alone.
    let known = old.as_ref().map(|(text, _)| text.as_str());
    if known.is_some_and(|known| known != text) || (known.is_none() && !recorded.is_empty()) {
        let path = root.join(SUPPRESSIONS_FILE);
        fs::write_atomic(&path, text.as_bytes())
            .map_err(|err| CliError::write_failed(&path, &err))?;
    }
    Ok(SuppressedFindings {
        findings: recorded.finding_count(),
    })
}
