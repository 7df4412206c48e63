//! The plain list of all rules, and lookups by name, code and family.

use super::rule::{Check, Rule};
use super::{context, engine, input, links, migration, names, project, request, scenario, structure, syntax};
use crate::base::rule_meta::{Code, RuleMeta};
use std::sync::LazyLock;

/// Families in the order of their codes: number, name, what it is about.
pub static FAMILIES: &[Family] = &[
    Family { number: 0, name: "syntax", about: "the XML itself" },
    Family { number: 1, name: "structure", about: "elements, attributes and what stands where" },
    Family { number: 2, name: "context", about: "the four context settings, resolved" },
    Family { number: 3, name: "names", about: "names, references and variables" },
    Family { number: 4, name: "migration", about: "older forms, read as their modern value" },
    Family { number: 5, name: "project", about: "the project file and its policies" },
    Family { number: 6, name: "scenario", about: "scenarios and suites: what agents are tested with" },
    Family { number: 7, name: "request", about: "requests to models, of any program" },
    Family { number: 9, name: "input", about: "files that cannot be read" },
];

/// A hundred of codes that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The hundred: 2 for `CTX2xx`.
    pub number: u16,
    /// Its name in `[lints]`.
    pub name: &'static str,
    /// What its rules are about; a lower-case fragment.
    pub about: &'static str,
}

/// Every rule, by code.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    ALL.iter().copied()
}

static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
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
    let mut rules: Vec<&'static Rule> = families.into_iter().flatten().copied().chain(syntax::limits::rules()).collect();
    rules.sort_by_key(|rule| rule.meta.code);
    rules
});

/// Whether a rule looks at all files together: what it finds in one may be another's doing.
pub fn is_linked(rule: &RuleMeta) -> bool {
    all().any(|known| known.meta.code == rule.code && matches!(known.check, Check::Link(_) | Check::FileAndLink(..)))
}

/// The rule with this name, former name or code (`CTX202`, any case).
pub fn find(handle: &str) -> Option<&'static Rule> {
    all().find(|rule| names(&rule.meta, handle))
}

/// Whether a handle (name, former name or code) means this rule.
pub fn names(rule: &RuleMeta, handle: &str) -> bool {
    rule.name == handle || rule.renamed_from.contains(&handle) || code(handle) == Some(rule.code)
}

/// Reads `CTX202`.
pub fn code(handle: &str) -> Option<Code> {
    let digits = handle.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("ctx")).and(handle.get(3..))?;
    (digits.len() == 3).then(|| digits.parse().ok().map(Code))?
}
