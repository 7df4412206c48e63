//! The examples of family 5xx: each bad one gives its finding, no good one does, and every fix that
//! is offered leaves a file without that finding.

use super::reading::read_with;
use crate::support::examples::{RuleExample, RuleExamples as _};
use ctxc::internals::base::fix;
use ctxc::internals::project::config::Config;
use ctxc::internals::rules::rule::Check;
use ctxc::internals::rules::{check, list};

fn config(example: &RuleExample) -> Config {
    let files = example.project_files();
    read_with(files.first().map_or("", |(_, text)| text), &files)
}

#[test]
fn bad_examples_give_their_finding_and_good_ones_do_not() {
    let mut count = 0;
    for rule in list::all_rules().filter(|rule| matches!(rule.check, Check::Config(_))) {
        let name = rule.meta.name;
        assert!(
            !rule.meta.bad_examples().is_empty() && !rule.meta.good_examples().is_empty(),
            "{name} has no examples"
        );
        for example in &rule.meta.bad_examples() {
            let found: Vec<&str> = check::config_findings(&config(example))
                .iter()
                .map(|finding| finding.rule.name)
                .collect();
            assert_eq!(found, [name], "in {:?}", example.project);
        }
        for example in &rule.meta.good_examples() {
            let found: Vec<String> = check::config_findings(&config(example))
                .iter()
                .map(|f| format!("{}: {} {:?}", f.rule.name, f.message, f.notes))
                .collect();
            assert!(found.is_empty(), "{name} has a good example with {found:?}");
        }
        count += 1;
    }
    assert!(count >= 19, "only {count} rules");
}

#[test]
fn every_fix_of_an_example_mends_it() {
    for rule in list::all_rules().filter(|rule| matches!(rule.check, Check::Config(_))) {
        for example in &rule.meta.bad_examples() {
            let before = config(example);
            for finding in check::config_findings(&before) {
                for fix in &finding.fixes {
                    assert_eq!(&*finding.path, "ctxc.toml", "{}", finding.message);
                    let mended =
                        fix::apply_edits(&before.files[0].text, &fix.edits).expect("edits fit");
                    let after =
                        check::config_findings(&read_with(&mended, &example.project_files()));
                    let left: Vec<&str> = after.iter().map(|f| f.rule.name).collect();
                    assert!(
                        !left.contains(&rule.meta.name),
                        "{} by {}: {mended}",
                        rule.meta.name,
                        fix.title
                    );
                }
            }
        }
    }
}
