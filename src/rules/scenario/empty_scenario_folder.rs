//! CTX623: a scenario folder without scenarios.

use super::scenario_prelude::*;
use crate::project::glob;

/// The default folder of scenarios.
const DEFAULT_FOLDER: &str = "scenarios";

/// The scenarios would not run, and no error would appear.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        623,
        "empty-scenario-folder",
        "a folder or file for scenarios that has none"
    )
    .with_fix(Fixable::Suggested),
    Check::Suites(check_suites),
);

fn check_suites(cx: &SuitesCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(project) = cx.world.config.files.first() else {
        return;
    };
    for place in &cx.world.config.eval.scenarios {
        let folder = place.value.trim_start_matches("./").trim_end_matches('/');
        // A new project has the default setting and may lack the folder.
        if folder == DEFAULT_FOLDER
            || cx
                .files
                .iter()
                .any(|file| glob::contains_path(folder, file.path))
        {
            continue;
        }
        let message = format!("there is no scenario at `{}`", place.value);
        let finding = Diagnostic::new(&RULE.meta, &project.path, place.span, message);
        out.push(match nearest_candidate(folder, [DEFAULT_FOLDER]) {
            Some(near) => finding
                .help(format!("did you mean `{near}`?"))
                .fix(Fix::suggested(
                    format!("write `{near}`"),
                    vec![Edit::replace(place.span, format!("\"{near}\""))],
                )),
            None => {
                finding.note("a scenario is a YAML file, or a JSON file that says so in `schema`")
            }
        });
    }
}
