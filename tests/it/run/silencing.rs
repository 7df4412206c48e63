//! No finding that can be silenced decides whether a template can be rendered and run.

use crate::cli::project::Project;
use crate::support::examples::Examples as _;
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::rules::list;
use pretty_assertions::assert_eq;

/// Reasons that lie in what the example is given here, and not in its template.
const GIVEN: [&str; 4] = ["has no value", "cannot be read", "there is no file", "calls no agent"];

/// A project of the bad example of a rule, in which the rule is off; `None` where something else is an error, or the rule stays one.
fn silenced(rule: &str, template: &str, settings: &str) -> Option<Project> {
    let off = if settings.contains("[lints]") {
        settings.replacen("[lints]", &format!("[lints]\n{rule} = \"off\""), 1)
    } else {
        format!("{settings}\n[lints]\n{rule} = \"off\"\n")
    };
    let project = Project::new().file("templates/example.xml", template).file("ctxc.toml", off);
    (project.run(&["check"]).code == Some(0)).then_some(project)
}

#[test]
fn what_is_silenced_can_be_rendered_and_run() {
    let mut faults = Vec::new();
    let mut count = 0;
    for rule in list::all().filter(|rule| rule.meta.severity == Some(Severity::Error) && !rule.meta.locked) {
        for example in &rule.meta.bad() {
            let Some(project) = silenced(rule.meta.name, example.template, example.project) else { continue };
            count += 1;
            let listed = project.run(&["list", "--json"]).code(0).json();
            for task in listed["tasks"].as_array().into_iter().flatten().filter_map(|task| task["name"].as_str()) {
                let run = project.run(&["render", task]);
                if run.code != Some(0) && !GIVEN.iter().any(|given| run.stderr.contains(given)) {
                    faults.push(format!("{}: render {task}: {}", rule.meta.name, run.stderr));
                }
            }
        }
    }
    assert!(count >= 10, "{count}");
    assert_eq!(faults, Vec::<String>::new());
}
