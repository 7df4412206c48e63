//! The list of all rules, and lookups by name and code.

use super::rule::{Check, Rule};
use super::{
    context, engine, input, links, migration, names, project, request, scenario, structure, syntax,
};
use crate::base::rule_meta::{Code, RuleMeta};
pub use crate::project::lints::FAMILIES;
use std::sync::LazyLock;

/// Returns every rule, sorted by code.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    SORTED_RULES.iter().copied()
}

static SORTED_RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let families = [
        syntax::RULES,
        structure::RULES,
        engine::RULES,
        context::RULES,
        names::RULES,
        links::RULES,
        migration::RULES,
        project::RULES,
        scenario::RULES,
        request::RULES,
        input::RULES,
    ];
    let mut rules: Vec<&'static Rule> = families
        .into_iter()
        .flatten()
        .copied()
        .chain(syntax::limits::limit_rules())
        .collect();
    rules.sort_by_key(|rule| rule.meta.code);
    rules
});

/// True if a rule looks at all files together, so that the cause of a finding may stand in another
/// file.
pub fn is_linked(rule: &RuleMeta) -> bool {
    // Assembly findings depend on all files of the project and are reported at the edge.
    let is_assembled = |check: &Check| rule.code.family() == 5 && matches!(check, Check::Edge);
    let is_linked = |check: &Check| {
        matches!(check, Check::Link(_) | Check::FileAndLink(..)) || is_assembled(check)
    };
    all_rules().any(|known| known.meta.code == rule.code && is_linked(&known.check))
}

/// Returns the rule with this name, former name or code (`CTX202`, any case).
pub fn find_rule(handle: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| has_handle(&rule.meta, handle))
}

/// True if a handle (name, former name or code) refers to this rule.
pub fn has_handle(rule: &RuleMeta, handle: &str) -> bool {
    rule.name == handle
        || rule.renamed_from.contains(&handle)
        || parse_code(handle) == Some(rule.code)
}

/// Parses a code such as `CTX202`.
pub fn parse_code(handle: &str) -> Option<Code> {
    let digits = handle
        .get(..3)
        .filter(|prefix| prefix.eq_ignore_ascii_case("ctx"))
        .and(handle.get(3..))?;
    (digits.len() == 3).then(|| digits.parse().ok().map(Code))?
}
