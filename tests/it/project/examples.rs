//! The examples of family 5xx: each bad one gives its finding, no good one does, and every fix that
//! is offered leaves a file without that finding.

use super::reading::read_with;
use crate::support::examples::{Example, Examples as _};
use ctxc::internals::base::fix;
use ctxc::internals::project::config::Config;
use ctxc::internals::rules::rule::Check;
use ctxc::internals::rules::{check, list};

fn config(example: &Example) -> Config {
    let files = example.project_files();
    read_with(files.first().map_or("", |(_, text)| text), &files)
}

#[test]
fn bad_examples_give_their_finding_and_good_ones_do_not() {
    let mut count = 0;
    for rule in list::all().filter(|rule| matches!(rule.check, Check::Config(_))) {
        let name = rule.meta.name;
        assert!(
            !rule.meta.bad().is_empty() && !rule.meta.good().is_empty(),
            "{name} has no examples"
        );
        for example in &rule.meta.bad() {
            let found: Vec<&str> = check::config(&config(example))
                .iter()
                .map(|finding| finding.rule.name)
                .collect();
            assert_eq!(found, [name], "in {:?}", example.project);
        }
        for example in &rule.meta.good() {
            let found: Vec<String> = check::config(&config(example))
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
    for rule in list::all().filter(|rule| matches!(rule.check, Check::Config(_))) {
        for example in &rule.meta.bad() {
            let before = config(example);
            for finding in check::config(&before) {
                for fix in &finding.fixes {
                    assert_eq!(&*finding.path, "ctxc.toml", "{}", finding.message);
                    let mended = fix::apply(&before.files[0].text, &fix.edits).expect("edits fit");
                    let after = check::config(&read_with(&mended, &example.project_files()));
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
