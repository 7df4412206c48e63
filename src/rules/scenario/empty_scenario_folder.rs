//! CTX623: a scenario folder without scenarios.

use super::cx::SuitesCx;
use super::words::files;
use crate::project::places;
use crate::rules::prelude::*;

/// Where scenarios lie when nothing is said.
const FOLDER: &str = "scenarios";

/// Nothing of what was meant to be tested is run, and nothing fails.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(623, "empty-scenario-folder", "a place for scenarios at which there are none", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Suites(check),
};

const PAGE: &str = "\
`[eval] scenarios` names files and folders, relative to the folder of `ctxc.toml`. At one that is misspelt, or empty, no scenario is found: nothing is run, and nothing
fails. Correct the path, or take it out.";

const BAD: &[Example] = &[files(
    "\
[eval]
scenarios = [\"scenaros\"]
[lints]
untested-task = \"off\"
",
)];

const GOOD: &[Example] = &[files(
    "\
[eval]
scenarios = [\"tests/agents\"]
# file: tests/agents/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
",
)];

fn check(cx: &SuitesCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(project) = cx.world.config.files.first() else { return };
    for place in &cx.world.config.eval.scenarios {
        let folder = place.value.trim_start_matches("./").trim_end_matches('/');
        // A project begins with the usual folder, and without one in it.
        if folder == FOLDER || cx.files.iter().any(|file| places::holds(folder, file.path)) {
            continue;
        }
        let message = format!("there is no scenario at `{}`", place.value);
        let finding = Diagnostic::new(&RULE.meta, &project.path, place.span, message);
        out.push(match nearest(folder, [FOLDER]) {
            Some(near) => finding
                .help(format!("did you mean `{near}`?"))
                .fix(Fix::suggested(format!("write `{near}`"), vec![Edit::replace(place.span, format!("\"{near}\""))])),
            None => finding.note("a scenario is a YAML file, or a JSON file that says so in `schema`"),
        });
    }
}
