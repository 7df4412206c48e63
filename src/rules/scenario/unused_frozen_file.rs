//! CTX622: a frozen file that no task shows to anybody.

use super::cx::CaseCx;
use super::words::{short, some};
use crate::rules::prelude::*;
use crate::scenario::paths::{beside, plain};

/// A task that shows a file to its agent.
const SHOWN: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>sort the ticket</description>
  <file_paths>
    <path>docs/teams.md</path>
  </file_paths>
</task>
";

/// The file of that name on disk is shown in its place, and the case changes with it.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(622, "unused-frozen-file", "a frozen file that no agent of the task is shown", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Case(check),
};

const PAGE: &str = "\
`file_context` gives files that `<file_paths>` names another text, by their path from the folder of `ctxc.toml`; `./src/a.rs` and `src/a.rs` are the same. A path
that the task does not name is read by nobody, and the file that was meant is read from the project as it is today: the case is not frozen.";

const BAD: &[Example] = &[Example {
    template: SHOWN,
    project: "\
# file: docs/teams.md
access: logins
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  file_context: {docs/team.md: \"access: logins\"}
expect_context:
  - nothing_cut: true
",
}];

const GOOD: &[Example] = &[Example {
    template: SHOWN,
    project: "\
# file: docs/teams.md
access: logins
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  file_context: {./docs/teams.md: \"access: logins\"}
expect_context:
  - nothing_cut: true
",
}];

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    if cx.case.situation.files.is_empty() {
        return;
    }
    let Some((task, takes)) = cx.receiver() else { return };
    for (path, content) in &cx.case.situation.files {
        // What lies outside is told as that.
        if beside("", path).is_none() || takes.files.iter().any(|known| plain(known) == plain(path)) {
            continue;
        }
        let span = cx.key_of(path, content.span);
        let finding = cx.finding(&RULE.meta, span, format!("no agent of `{task}` is shown `{}`", short(path)));
        let known: Vec<&str> = takes.files.iter().map(String::as_str).collect();
        let frozen = |other: &str| cx.case.situation.files.keys().any(|path| plain(path) == plain(other));
        let near = nearest(path, known.iter().copied().filter(|known| !frozen(known)));
        let finding = match (near, known.is_empty()) {
            (Some(_), _) => finding,
            // Whoever freezes a whole situation freezes more than one task shows.
            (None, true) => finding.severity(Severity::Hint).note("it names no files under `<file_paths>`"),
            (None, false) => finding.severity(Severity::Hint).note(format!("it is shown {}", some(&known))),
        };
        let near = near.filter(|_| span != content.span);
        out.push(cx.meant(finding, span, near));
    }
}
