//! `ctxc rules --json` and `ctxc explain RULE --json`.

use super::list::Draft;
use super::names::{RULE, RULES};
use super::shape::{Field, boolean, describe, list as list_of, must, object, one_of, only, or_null, part, word};
use super::shared::{code, rule_name};
use crate::base::rule_meta::{Fixable, Severity};
use crate::rules::list::FAMILIES;

/// The page of one rule.
pub(super) fn rule() -> Draft {
    let [code, name, severity, locked, summary] = fields();
    let page = must("page", "what goes wrong, why it is so and what to do, in Markdown", word());
    let root = object(vec![must("schema", "the format", only(RULE)), code, name, severity, locked, summary, page]);
    Draft { format: RULE, about: "The page of a rule: `ctxc explain RULE --json`.", root, parts: Vec::new() }
}

/// Every rule.
pub(super) fn list() -> Draft {
    let [code, name, severity, locked, summary] = fields();
    let former = must("renamed_from", "names that it had before; all of them are still understood", list_of(rule_name()));
    let family = must(
        "family",
        "the rules it belongs to, which can be set together in `[lints]`",
        one_of(FAMILIES.iter().map(|family| family.name)),
    );
    let fix = must(
        "fix",
        "the best fix of its findings: `safe` can be applied without a look, `suggested` is one to look at, `choice` is for its author alone to choose and no flag applies it",
        one_of(Fixable::ALL.map(Fixable::as_str)),
    );
    let row = object(vec![code, name, former, family, severity, locked, fix, summary]);
    let rules = must("rules", "every rule, by code", list_of(part("rule")));
    let root = object(vec![must("schema", "the format", only(RULES)), rules]);
    let parts = vec![("rule", describe("one rule", row))];
    Draft { format: RULES, about: "Every rule: `ctxc rules --json`.", root, parts }
}

fn fields() -> [Field; 5] {
    [
        must("code", "its number, an alias of its name", code()),
        must("name", "its name, by which it is set, suppressed and explained", rule_name()),
        must(
            "severity",
            "how much it weighs where the project says nothing; null: off by default",
            or_null(one_of(Severity::ALL.map(Severity::as_str))),
        ),
        must("locked", "a promise of the language: can be neither silenced nor lowered", boolean()),
        must("summary", "what it finds, in one line", word()),
    ]
}
