//! The examples of the family: each bad one gives its finding, no good one does, every fix removes
//! it, and a safe one changes no resolved value.

use crate::project::reading::{check_template, read, shown};
use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::fix;
use ctxc::internals::rules::list;

#[test]
fn bad_examples_give_their_finding_and_good_ones_do_not() {
    let rules: Vec<_> = list::all_rules()
        .filter(|rule| rule.meta.code.family() == 2 || rule.meta.code.0 == 514)
        .collect();
    assert_eq!(rules.len(), 7);
    for rule in rules {
        let name = rule.meta.name;
        for (expected, examples) in [
            (true, rule.meta.bad_examples()),
            (false, rule.meta.good_examples()),
        ] {
            for example in examples {
                let config = read(example.project);
                assert_eq!(shown(&config), "");
                let found = check_template(example.template, &config);
                assert_eq!(
                    found.iter().any(|finding| finding.rule.name == name),
                    expected,
                    "{name}: {}",
                    example.template
                );
            }
        }
    }
}

#[test]
fn every_fix_of_an_example_mends_it() {
    let mut fixes = 0;
    for rule in
        list::all_rules().filter(|rule| rule.meta.code.family() == 2 || rule.meta.code.0 == 514)
    {
        for example in &rule.meta.bad_examples() {
            let config = read(example.project);
            for finding in check_template(example.template, &config)
                .iter()
                .filter(|f| f.rule.name == rule.meta.name)
            {
                for fix in &finding.fixes {
                    let mended = fix::apply_edits(example.template, &fix.edits).expect("edits fit");
                    let left: Vec<&str> = check_template(&mended, &config)
                        .iter()
                        .map(|f| f.rule.name)
                        .collect();
                    assert!(
                        !left.contains(&rule.meta.name),
                        "{} leaves it in {mended}",
                        fix.title
                    );
                    assert!(
                        !left.contains(&"context-conflict"),
                        "{} makes a conflict in {mended}",
                        fix.title
                    );
                    fixes += 1;
                }
            }
        }
    }
    assert!(fixes >= 15, "only {fixes} fixes");
}
