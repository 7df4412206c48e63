//! CTX509: a name in `[lints]` that no rule has.

use super::words::{Form, meant};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A level for a rule that does not exist weighs nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(509, "unknown-lint", "`[lints]` names no rule", PAGE).fixed(Fixable::Suggested).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`[lints]` takes the name of a rule (`no-context`), its code (`CTX203`), a family by name or code (`migration`, `CTX4xx`), or `all`. A
line about one rule beats one about its family, and that one beats `all`. `ctxc rules` lists all names. The name of a rule that is gone is only noted.";

const BAD: &[Example] = &[project("[lints]\nno-contxt = \"error\"\n")];

const GOOD: &[Example] = &[project("[lints]\nno-context = \"error\"\nmigration = \"hint\"\nCTX3xx = \"error\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if let FaultKind::RemovedRule(rule) = &fault.kind {
        let message = format!("the rule `{}` ({}) is gone", rule.name, rule.code);
        let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message).severity(Severity::Info);
        return Some(finding.note(format!("what says now what it said: {}", rule.instead)).help("the line can be deleted"));
    }
    let FaultKind::UnknownRule { found, near } = &fault.kind else { return None };
    let message = format!("no rule, code or family is called `{found}`");
    let finding = cx.finding(&RULE, fault, message);
    let finding = if near.is_none() { finding.help("`ctxc rules` lists the names of all rules") } else { finding };
    Some(meant(finding, fault.span, near.as_deref(), Form::Bare))
}
