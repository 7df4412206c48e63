//! No finding that can be silenced decides if a template can be rendered and run.

use crate::cli::project::Project;
use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::rules::list;
use pretty_assertions::assert_eq;

/// Faults that lie in the inputs of the example here, and not in its template.
const GIVEN: [&str; 4] = [
    "has no value",
    "cannot be read",
    "there is no file",
    "calls no agent",
];

/// A value for each parameter of a task that has no default.
fn inputs(task: &serde_json::Value) -> Vec<String> {
    let required = task["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| one["required"] == true);
    required
        .filter_map(|one| one["name"].as_str())
        .flat_map(|name| ["--input".to_owned(), format!("{name}=1")])
        .collect()
}

/// A project of the bad example of a rule, in which the rule is off; `None` if another error
/// exists, or the rule stays an error.
fn silenced(rule: &str, template: &str, settings: &str) -> Option<Project> {
    let off = if settings.contains("[lints]") {
        settings.replacen("[lints]", &format!("[lints]\n{rule} = \"off\""), 1)
    } else {
        format!("{settings}\n[lints]\n{rule} = \"off\"\n")
    };
    let project = Project::new()
        .with_file("templates/example.xml", template)
        .with_file("ctxc.toml", off);
    (project.run(&["check"]).code == Some(0)).then_some(project)
}

#[test]
fn what_is_silenced_can_be_rendered_and_run() {
    let mut faults = Vec::new();
    let mut count = 0;
    for rule in list::all_rules()
        .filter(|rule| rule.meta.severity == Some(Severity::Error) && !rule.meta.locked)
    {
        for example in &rule.meta.bad_examples() {
            let Some(project) = silenced(rule.meta.name, example.template, example.project) else {
                continue;
            };
            count += 1;
            project.run(&["build", "-o", "registry.json"]).exits_with(0);
            let registry: serde_json::Value =
                serde_json::from_str(&project.read_file("registry.json")).unwrap();
            for task in registry["tasks"].as_array().into_iter().flatten() {
                let Some(name) = task["name"].as_str() else {
                    continue;
                };
                let inputs = inputs(task);
                let run = project.run(
                    &["render", name]
                        .into_iter()
                        .chain(inputs.iter().map(String::as_str))
                        .collect::<Vec<_>>(),
                );
                if run.code != Some(0) && !GIVEN.iter().any(|given| run.stderr.contains(given)) {
                    faults.push(format!("{}: render {name}: {}", rule.meta.name, run.stderr));
                }
            }
        }
    }
    assert!(count >= 10, "{count}");
    assert_eq!(faults, Vec::<String>::new());
}
