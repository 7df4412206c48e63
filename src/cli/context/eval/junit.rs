//! `JUnit`'s XML: one test case for each scenario. A failed one contains the expectation and the
//! found value, one that could not be tried is an error, a carried one is skipped, and so is one
//! with stale answers if the project only warns of these.

use super::text::{lines, state};
use crate::cli::render::escape::escape;
use crate::eval::finished::CaseVerdict;
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::project::eval::Stale;
use crate::syntax::write::{TemplateWriter, legal};

/// The state of a test case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Passed,
    Failure,
    Error,
    Skipped,
}

fn said(row: &CaseRow, stale: Stale) -> Said {
    match (row.carried_from.is_some(), row.verdict()) {
        (true, CaseVerdict::Pass) => Said::Skipped,
        (false, CaseVerdict::Pass) => Said::Passed,
        (_, CaseVerdict::Stale) if stale == Stale::Warn => Said::Skipped,
        (_, CaseVerdict::Fail) => Said::Failure,
        (_, CaseVerdict::Error | CaseVerdict::Stale | CaseVerdict::Inconclusive) => Said::Error,
    }
}

/// Returns the report.
pub(super) fn xml(card: &Scorecard, stale: Stale) -> String {
    let count = |what: Said| {
        card.cases
            .iter()
            .filter(|row| said(row, stale) == what)
            .count()
            .to_string()
    };
    let (tests, failures, errors, skipped) = (
        card.cases.len().to_string(),
        count(Said::Failure),
        count(Said::Error),
        count(Said::Skipped),
    );
    let counts = [
        ("name", "ctxc eval"),
        ("tests", tests.as_str()),
        ("failures", &failures),
        ("errors", &errors),
        ("skipped", &skipped),
        ("time", "0"),
    ];
    let mut xml = TemplateWriter::new();
    xml.declaration()
        .open("testsuites", &counts)
        .open("testsuite", &counts);
    for row in &card.cases {
        case(&mut xml, row, said(row, stale));
    }
    xml.finish()
}

fn case(xml: &mut TemplateWriter, row: &CaseRow, said: Said) {
    let name = legal(&row.id);
    let suite = legal(&row.suite);
    let path = legal(&row.path);
    let line = row.line.to_string();
    let head = [
        ("classname", &*suite),
        ("name", &*name),
        ("file", &*path),
        ("line", &line),
        ("time", "0"),
    ];
    // Each entry stays one line: quoted texts may contain line breaks.
    let lines: Vec<String> = lines(row)
        .iter()
        .map(|line| escape(line).into_owned())
        .collect();
    let told = lines.join("\n");
    let message = lines.into_iter().next().unwrap_or_else(|| state(row));
    xml.open("testcase", &head);
    match said {
        Said::Passed => xml.leaf("system-out", &[], &state(row)),
        Said::Failure => xml.leaf(
            "failure",
            &[("message", &message), ("type", "expectation")],
            &told,
        ),
        Said::Error => xml.leaf(
            "error",
            &[("message", &message), ("type", "untried")],
            &told,
        ),
        Said::Skipped => match row.carried_from.as_deref() {
            Some(from) if row.verdict() == CaseVerdict::Pass => xml.empty(
                "skipped",
                &[("message", &format!("carried from {}", legal(from)))],
            ),
            _ => xml.leaf("skipped", &[("message", &message)], &told),
        },
    };
    xml.close();
}
