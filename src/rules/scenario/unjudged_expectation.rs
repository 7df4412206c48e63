//! CTX629: expectations that nothing judges: no judge is there, or they are still to be written.

use super::scenario_prelude::*;
use crate::base::span::Span;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::expect::judge::JUDGE_ROLE;
use crate::scenario::model::AnswerTest;
use std::collections::BTreeMap;

/// Such a case does not count as tested.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        629,
        "unjudged-expectation",
        "an expectation that nothing judges"
    ),
    Check::Suites(check_suites),
);

/// Reports one finding per file and kind, because an imported suite may have hundreds.
fn check_suites(cx: &SuitesCx<'_>, out: &mut Vec<Diagnostic>) {
    let has_judge = cx.world.config.roles.contains_key(JUDGE_ROLE);
    for file in cx.files {
        let mut found: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        let cases = file.suite.iter().flat_map(|suite| &suite.cases);
        for (test, span) in cases.flat_map(|case| all_tests(&case.expectations)) {
            #[allow(clippy::wildcard_enum_match_arm, reason = "all others are judged")]
            let key = match test {
                AnswerTest::Judge(_) if !has_judge => "judge",
                AnswerTest::Rubric(_) if !has_judge => "rubric",
                AnswerTest::Todo(_) => "todo",
                _ => continue,
            };
            found.entry(key).or_default().push(span);
        }
        for (key, mut spans) in found {
            let count = spans.len();
            spans.sort_unstable_by_key(|span| span.start);
            let Some(first) = spans.first() else { continue };
            let many = if count == 1 {
                String::new()
            } else {
                format!(", in {count} expectations of this file")
            };
            let message = match key {
                "todo" => format!("an expectation is still to be written{many}"),
                key => {
                    format!("`{key}` needs a judge, and ctxc.toml has no role `{JUDGE_ROLE}`{many}")
                }
            };
            let finding =
                Diagnostic::new(&RULE.meta, file.path, first.first_line(file.text), message);
            out.push(
                finding
                    .note("a case with it is never passed, but inconclusive")
                    .help(match key {
                        "todo" => "write the expectation that it describes, or leave it out",
                        _ => "`ctxc new judge` writes the role and its prompt",
                    }),
            );
        }
    }
}
