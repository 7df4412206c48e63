//! The examples of families 1xx and 4xx, and of those rules of 3xx that one file decides: each bad
//! one gives its finding and no other error, no good one gives it, every fix removes its finding,
//! and a safe one brings no new finding and changes no resolved setting.

use crate::project::reading::{check_template, read, shown};
use crate::support::examples::{RuleExample, RuleExamples as _};
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fix::{self, Applicability};
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::project::config::Config;
use ctxc::internals::rules::list;
use ctxc::internals::rules::rule::Rule;
use ctxc::internals::settings::bodies::ResolvedBodies;
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use pretty_assertions::assert_eq;

fn rules() -> Vec<&'static Rule> {
    let own = |rule: &&Rule| matches!(rule.meta.code.0, 100..190 | 304 | 311..320 | 400..500);
    let rules: Vec<_> = list::all_rules().filter(own).collect();
    assert!(rules.len() >= 39);
    rules
}

fn project(example: &RuleExample) -> Config {
    let config = read(example.project);
    assert_eq!(shown(&config), "");
    config
}

fn names(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.rule.name).collect()
}

#[test]
fn bad_examples_give_their_finding_and_no_other_error() {
    for rule in rules() {
        assert!(
            !rule.meta.bad_examples().is_empty() && !rule.meta.good_examples().is_empty(),
            "{} has no examples",
            rule.meta.name
        );
        for example in &rule.meta.bad_examples() {
            let mut found = check_template(example.template, &project(example));
            // Examples have no files beside them.
            found.retain(|finding| finding.rule.name != "missing-source");
            found.retain(|finding| {
                finding.severity == Severity::Error || finding.rule.name == rule.meta.name
            });
            let expected = vec![rule.meta.name; found.len().max(1)];
            assert_eq!(names(&found), expected, "in {}", example.template);
        }
    }
}

#[test]
fn good_examples_give_nothing_at_all() {
    for rule in rules() {
        for example in &rule.meta.good_examples() {
            let mut found = check_template(example.template, &project(example));
            found.retain(|finding| finding.rule.name != "missing-source");
            assert_eq!(names(&found), [""; 0], "in {}", example.template);
        }
    }
}

/// The four settings of every body, as they are resolved.
fn resolved(text: &str, config: &Config) -> Vec<String> {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let file = ctxc::internals::template::lower_document(reader.document(text));
    let mut bodies = ResolvedBodies::default();
    bodies.resolve(&file, &config.layers);
    let words = |resolved: ctxc::internals::settings::resolve::ResolvedSettings| {
        let names = <ctxc::internals::template::setting::SettingName as ctxc::internals::template::setting::Word>::ALL;
        names
            .iter()
            .map(|name| resolved.get(*name).value.as_str().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    bodies
        .resolved_settings()
        .into_iter()
        .flatten()
        .map(words)
        .collect()
}

#[test]
fn every_fix_mends_what_it_is_offered_for() {
    let (mut safe, mut suggested) = (0, 0);
    for rule in rules() {
        for example in &rule.meta.bad_examples() {
            let config = project(example);
            let before = check_template(example.template, &config);
            for finding in before
                .iter()
                .filter(|finding| finding.rule.name == rule.meta.name)
            {
                for fix in &finding.fixes {
                    let mended =
                        fix::apply_edits(example.template, &fix.edits).unwrap_or_else(|| {
                            panic!(
                                "the edits of “{}” do not fit {}",
                                fix.title, example.template
                            )
                        });
                    let after = check_template(&mended, &config);
                    let count = |found: &[Diagnostic]| {
                        found
                            .iter()
                            .filter(|f| f.rule.name == rule.meta.name)
                            .count()
                    };
                    assert!(
                        count(&after) < count(&before),
                        "“{}” leaves it in\n{mended}",
                        fix.title
                    );
                    assert!(
                        !after.iter().any(|f| f.rule.code.family() == 0),
                        "“{}” breaks the XML:\n{mended}",
                        fix.title
                    );
                    if fix.applicability == Applicability::Suggested {
                        suggested += 1;
                        continue;
                    }
                    safe += 1;
                    let heavy: Vec<_> = after
                        .into_iter()
                        .filter(|f| f.severity < Severity::Hint)
                        .collect();
                    let left: Vec<_> = names(&heavy)
                        .into_iter()
                        .filter(|name| !names(&before).contains(name))
                        .collect();
                    assert_eq!(
                        left, [""; 0],
                        "“{}” brings new findings to\n{mended}",
                        fix.title
                    );
                    if ["legacy-value", "legacy-type", "nested-task"].contains(&rule.meta.name) {
                        assert_eq!(
                            resolved(&mended, &config),
                            resolved(example.template, &config),
                            "{mended}"
                        );
                    }
                }
            }
        }
    }
    assert!(
        safe >= 10 && suggested >= 25,
        "only {safe} safe and {suggested} suggested fixes"
    );
}
