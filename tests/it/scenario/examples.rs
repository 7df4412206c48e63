//! The examples of family 6xx: each bad one gives its finding, no good one does, and every offered
//! fix leaves a file without that finding.

use crate::project::reading::read_with;
use crate::support::examples::{RuleExample, RuleExamples as _};
use ctxc::Diagnostic;
use ctxc::internals::base::fix;
use ctxc::internals::rules::list;
use ctxc::internals::rules::scenario::check::{self, ScenarioScope};
use ctxc::internals::rules::scenario::cx::{ProjectView, ScenarioFile, Tasks};
use ctxc::internals::scenario::{ScenarioReadOptions, paths, read_suite_with as read_scenario};
use pretty_assertions::assert_eq;
use std::path::Path;
use std::sync::Arc;

/// The date for the check of examples.
const TODAY: i64 = 20_000;

/// The findings in the scenarios of an example.
pub(crate) fn found(template: &str, files: &[(&str, &str)]) -> Vec<Diagnostic> {
    let project = files
        .iter()
        .find(|(path, _)| *path == "ctxc.toml")
        .map_or("", |(_, text)| text);
    let config = read_with(project, files);
    let sources = std::iter::once(("triage.xml", template)).chain(files.iter().copied());
    let registry = ctxc::compile_sources(&config, sources)
        .registry
        .expect("the template is sound");
    let text = |path: &str| {
        files
            .iter()
            .find(|(known, _)| *known == path)
            .map(|(_, text)| (*text).to_owned())
    };
    let has = |path: &str| files.iter().any(|(known, _)| *known == path);
    let tasks = Some(&registry as &dyn Tasks);
    let world = ProjectView {
        config: &config,
        tasks,
        exists: &has,
        leads_out: &|_| false,
        text: &text,
        today: Some(TODAY),
    };
    let mut scenarios = Vec::new();
    for (path, text) in files
        .iter()
        .filter(|(path, _)| Path::new(path).extension() == Some("yaml".as_ref()))
    {
        let tables = |table: &str| {
            let inside = paths::resolve_beside(path, table).ok_or("it lies outside the project")?;
            let known = files
                .iter()
                .find(|(known, _)| *known == inside)
                .ok_or("there is no such file")?;
            Ok(known.1.to_owned())
        };
        let options = ScenarioReadOptions {
            rule: config.eval.trial_rule(),
            tables: Some(&tables),
        };
        let (suite, faults) = read_scenario(path, text, &options);
        scenarios.push((Arc::from(*path), *text, suite, faults));
    }
    let files: Vec<ScenarioFile<'_>> = scenarios
        .iter()
        .map(|(path, text, suite, faults)| ScenarioFile {
            path,
            text,
            suite: suite.as_ref(),
            faults,
        })
        .collect();
    check::scenario_findings(&world, &files, ScenarioScope::All, &|_| true)
}

fn example_findings(example: &RuleExample) -> Vec<Diagnostic> {
    found(example.template, &example.project_files())
}

#[test]
fn bad_examples_give_their_finding_and_good_ones_do_not() {
    for rule in list::all_rules()
        .map(|rule| &rule.meta)
        // A contract needs a package beside its project: `cli::package_contracts`.
        .filter(|rule| rule.code.family() == 6 && rule.name != "broken-contract")
    {
        assert!(
            !rule.bad_examples().is_empty() && !rule.good_examples().is_empty(),
            "{} has no examples",
            rule.name
        );
        for example in &rule.bad_examples() {
            let found: Vec<&str> = example_findings(example)
                .iter()
                .map(|finding| finding.rule.name)
                .collect();
            assert_eq!(found, [rule.name], "in {}", example.project);
        }
        for example in &rule.good_examples() {
            let found: Vec<String> = example_findings(example)
                .iter()
                .map(|finding| format!("{}: {}", finding.rule.name, finding.message))
                .collect();
            assert_eq!(
                found, [""; 0],
                "{} has a good example with findings: {}",
                rule.name, example.project
            );
        }
    }
}

#[test]
fn every_fix_of_an_example_mends_it() {
    let mut count = 0;
    for rule in list::all_rules()
        .map(|rule| &rule.meta)
        // A contract needs a package beside its project: `cli::package_contracts`.
        .filter(|rule| rule.code.family() == 6 && rule.name != "broken-contract")
    {
        for example in &rule.bad_examples() {
            for finding in example_findings(example) {
                for fix in &finding.fixes {
                    let mut files = example.project_files();
                    let file = files
                        .iter_mut()
                        .find(|(path, _)| *path == &*finding.path)
                        .expect("the file of the finding");
                    let mended = fix::apply_edits(file.1, &fix.edits).expect("edits fit");
                    file.1 = mended.leak();
                    let left: Vec<&str> = found(example.template, &files)
                        .iter()
                        .map(|finding| finding.rule.name)
                        .collect();
                    assert!(
                        !left.contains(&rule.name),
                        "{} by {}: {files:?}",
                        rule.name,
                        fix.title
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count >= 8, "only {count} fixes");
}
