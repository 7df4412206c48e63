//! The metadata of each rule agrees with its behaviour.

use crate::project::reading::{check_template, read_with};
use crate::scenario;
use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::fix::Applicability;
use ctxc::internals::base::rule_meta::{Fixable, RuleMeta};
use ctxc::internals::rules::list;

/// Returns the best fix among all findings of a rule in its bad examples.
fn best_fix(rule: &RuleMeta) -> Fixable {
    let mut best = Fixable::None;
    for example in &rule.bad_examples() {
        let files = example.project_files();
        let config = read_with(files.first().map_or("", |(_, text)| text), &files);
        let sources =
            std::iter::once(("template.xml", example.template)).chain(files.iter().copied());
        let built = ctxc::compile_sources(&config, sources);
        // Some rules apply to explicitly named files, others to all files found.
        let named = check_template(example.template, &config);
        let tested = if rule.code.family() == 6 {
            scenario::examples::found(example.template, &files)
        } else {
            Vec::new()
        };
        let found = built
            .diagnostics
            .iter()
            .chain(&named)
            .chain(&tested)
            .filter(|finding| finding.rule.code == rule.code);
        for fix in found.flat_map(|finding| &finding.fixes) {
            best = best.min(match fix.applicability {
                Applicability::Safe => Fixable::Safe,
                Applicability::Suggested => Fixable::Suggested,
            });
        }
    }
    best
}

#[test]
fn a_rule_has_the_fixes_that_its_page_lists() {
    let mut wrong = Vec::new();
    let mut counts = [0; 4];
    for rule in list::all_rules().map(|rule| &rule.meta) {
        if rule.bad_examples().is_empty() {
            // Rules about files rather than texts have no examples to compare with.
            assert!(
                rule.fix == Fixable::None || rule.code.family() == 9,
                "{} has no examples",
                rule.name
            );
            continue;
        }
        let best = best_fix(rule);
        counts[best as usize] += 1;
        if rule.fix != best {
            wrong.push(format!(
                "{} says {} and has {}",
                rule.name,
                rule.fix.as_str(),
                best.as_str()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        [Fixable::Safe, Fixable::Suggested, Fixable::None]
            .iter()
            .all(|&fix| counts[fix as usize] >= 10),
        "{counts:?}: are the examples still compiled?"
    );
}
