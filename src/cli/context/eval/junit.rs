//! `JUnit`'s XML: one test case a scenario. A failed one says what was expected and found, one that could not be tried is an
//! error, one that was carried is skipped.

use super::text::{lines, state};
use crate::cli::render::escape::escape;
use crate::eval::finished::CaseVerdict;
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::syntax::write::{TemplateWriter, legal};

/// The report.
pub(super) fn xml(card: &Scorecard) -> String {
    let totals = card.summary;
    let count = |number: usize| number.to_string();
    let (tests, failures, errors, skipped) = (
        count(totals.planned),
        count(totals.failed),
        count(totals.errored + totals.stale + totals.inconclusive),
        count(totals.carried),
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
    xml.declaration().open("testsuites", &counts).open("testsuite", &counts);
    for row in &card.cases {
        case(&mut xml, row);
    }
    xml.finish()
}

fn case(xml: &mut TemplateWriter, row: &CaseRow) {
    let name = legal(&row.id);
    let suite = legal(&row.suite);
    let path = legal(&row.path);
    let line = row.line.to_string();
    let head = [("classname", &*suite), ("name", &*name), ("file", &*path), ("line", &line), ("time", "0")];
    // Each stays one line: what it quotes has lines of its own.
    let lines: Vec<String> = lines(row).iter().map(|line| escape(line).into_owned()).collect();
    let told = lines.join("\n");
    let message = lines.into_iter().next().unwrap_or_else(|| state(row));
    xml.open("testcase", &head);
    match (row.carried_from.as_deref(), row.verdict()) {
        (Some(from), CaseVerdict::Pass) => {
            xml.empty("skipped", &[("message", &format!("carried from {}", legal(from)))]);
        }
        (_, CaseVerdict::Fail) => {
            xml.leaf("failure", &[("message", &message), ("type", "expectation")], &told);
        }
        (_, CaseVerdict::Error | CaseVerdict::Stale | CaseVerdict::Inconclusive) => {
            xml.leaf("error", &[("message", &message), ("type", "untried")], &told);
        }
        (None, CaseVerdict::Pass) => {
            xml.leaf("system-out", &[], &state(row));
        }
    }
    xml.close();
}
