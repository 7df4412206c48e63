//! Reads, applies and writes the file `ctxc.suppressions.toml`. Its meaning is in
//! `project/suppressions`.

use super::project;
use super::render::report::Report;
use crate::base::fs;
use crate::base::source::LineIndex;
use crate::cli::prelude::*;
use crate::project::suppressions::{FILE, Suppressions};
use crate::rules::input::stale_suppression;

/// Returns the text of the file and its suppressed findings; `None` if there is no file.
pub(super) fn load(root: &Path) -> Result<Option<(String, Suppressions)>> {
    let Some(text) = project::read(&root.join(FILE))? else {
        return Ok(None);
    };
    match Suppressions::parse(&text) {
        Ok(recorded) => Ok(Some((text, recorded))),
        Err(fault) => {
            let at = LineIndex::new(&text).position(&text, fault.span().start);
            Err(CliError::new(Kind::Project, format!("{FILE}:{}:{}: {fault}", at.line, at.column))
                .hint("mend that line, or remove the file and record again with `ctxc check --suppress-existing`"))
        }
    }
}

/// Removes suppressed findings from a report, and adds a finding for each stale entry.
pub(super) fn apply(
    report: &mut Report,
    text: &str,
    recorded: &Suppressions,
    looked_at: impl Fn(&str) -> bool,
) {
    report.suppressed =
        stale_suppression::apply(&mut report.diagnostics, (text, recorded), looked_at);
}

/// The result of `--suppress-existing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    /// The number of findings in the file.
    pub(super) findings: usize,
}

/// Records every finding of a report that can be suppressed, and removes it from the report.
/// Entries of unchecked files stay; stale entries are removed.
pub(super) fn record(
    root: &Path,
    report: &mut Report,
    looked_at: impl Fn(&str) -> bool,
) -> Result<Recorded> {
    let old = load(root)?;
    let mut recorded = Suppressions::record(&report.diagnostics);
    if let Some((_, old)) = &old {
        recorded.adopt(old, |path| !looked_at(path));
    }
    report.suppressed = recorded
        .apply(&mut report.diagnostics, |_| false)
        .suppressed;
    let text = recorded.render();
    // A project without findings needs no file, and an unchanged file is left alone.
    let known = old.as_ref().map(|(text, _)| text.as_str());
    if known.is_some_and(|known| known != text) || (known.is_none() && !recorded.is_empty()) {
        let path = root.join(FILE);
        fs::write_atomic(&path, text.as_bytes()).map_err(|err| CliError::write(&path, &err))?;
    }
    Ok(Recorded {
        findings: recorded.findings(),
    })
}
