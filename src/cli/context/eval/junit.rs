//! `JUnit`'s XML: one test case for each scenario. A failed one contains the expectation and the
//! found value, one that could not be tried is an error, a carried one is skipped, and so is one
//! with stale answers if the project only warns of these, or with a failure that the reached
//! `pass_rate` of its suite allows.

use super::score_text::score_suffix;
use super::scorecard_text::{problem_lines, verdict_label};
use crate::cli::render::escape::escape_line;
use crate::eval::case_result::CaseVerdict;
use crate::eval::groups::ThresholdRow;
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::project::eval::StalePolicy;
use crate::syntax::write::{TemplateWriter, replace_illegal};

/// The state of a test case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestState {
    Passed,
    Failure,
    Error,
    Skipped,
}

fn test_state(card: &Scorecard, row: &CaseRow, stale: StalePolicy) -> TestState {
    if card.allows_failure_of(row) {
        return TestState::Skipped;
    }
    match (row.carried_from.is_some(), row.verdict()) {
        (true, CaseVerdict::Pass) => TestState::Skipped,
        (false, CaseVerdict::Pass) => TestState::Passed,
        (_, CaseVerdict::Stale) if stale == StalePolicy::Warn => TestState::Skipped,
        (_, CaseVerdict::Fail) => TestState::Failure,
        (_, CaseVerdict::Error | CaseVerdict::Stale | CaseVerdict::Inconclusive) => {
            TestState::Error
        }
    }
}

/// Returns the report.
pub(super) fn xml_report(card: &Scorecard, stale: StalePolicy) -> String {
    let thresholds: Vec<CaseRow> = card.thresholds.iter().map(threshold_case).collect();
    let rows = || card.cases.iter().chain(&thresholds);
    let count = |what: TestState| {
        rows()
            .filter(|row| test_state(card, row, stale) == what)
            .count()
            .to_string()
    };
    let (tests, failures, errors, skipped) = (
        rows().count().to_string(),
        count(TestState::Failure),
        count(TestState::Error),
        count(TestState::Skipped),
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
    for row in rows() {
        write_case(&mut xml, row, test_state(card, row, stale));
    }
    xml.finish()
}

/// The test case that stands for a threshold of a suite.
fn threshold_case(row: &ThresholdRow) -> CaseRow {
    CaseRow {
        id: format!("thresholds.{}", row.name),
        suite: row.suite.clone(),
        path: row.path.clone(),
        line: 1,
        verdict: row.verdict.clone(),
        trouble: Some(row.describe()),
        ..CaseRow::default()
    }
}

fn write_case(xml: &mut TemplateWriter, row: &CaseRow, state: TestState) {
    let name = replace_illegal(&row.id);
    let suite = replace_illegal(&row.suite);
    let path = replace_illegal(&row.path);
    let line = row.line.to_string();
    let head = [
        ("classname", &*suite),
        ("name", &*name),
        ("file", &*path),
        ("line", &line),
        ("time", "0"),
    ];
    // Each entry stays one line: quoted texts may contain line breaks.
    let lines: Vec<String> = problem_lines(row)
        .iter()
        .map(|line| escape_line(line).into_owned())
        .collect();
    let details = lines.join("\n");
    let message = lines
        .into_iter()
        .next()
        .unwrap_or_else(|| verdict_label(row));
    xml.open("testcase", &head);
    match state {
        TestState::Passed => {
            // A threshold has its comparison.
            let passed = || verdict_label(row) + &score_suffix(row);
            xml.leaf(
                "system-out",
                &[],
                &row.trouble.clone().unwrap_or_else(passed),
            )
        }
        TestState::Failure => xml.leaf(
            "failure",
            &[("message", &message), ("type", "expectation")],
            &details,
        ),
        TestState::Error => xml.leaf(
            "error",
            &[("message", &message), ("type", "untried")],
            &details,
        ),
        TestState::Skipped => match row.carried_from.as_deref() {
            Some(from) if row.verdict() == CaseVerdict::Pass => xml.empty(
                "skipped",
                &[(
                    "message",
                    &format!("carried from {}", replace_illegal(from)),
                )],
            ),
            _ => xml.leaf("skipped", &[("message", &message)], &details),
        },
    };
    xml.close();
}
