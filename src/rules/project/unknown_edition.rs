//! CTX505: an edition that this release does not read.

use crate::project::config::EDITION;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// An edition fixes what templates mean.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(505, "unknown-edition", "an edition of the language that this release does not read", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
The edition fixes what the elements and defaults of a template mean, so that an update of ctxc does not change what agents receive.
This release reads edition `2026`, which is also what holds without a line.";

const BAD: &[Example] = &[project("edition = \"2031\"\n")];

const GOOD: &[Example] = &[project("edition = \"2026\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownEdition { found } = &fault.kind else { return None };
    let message = format!("edition `{found}` is not known; this release reads `{EDITION}`");
    let finding = cx.finding(&RULE, fault, message);
    let fix = Fix::suggested(format!("write \"{EDITION}\""), vec![Edit::replace(fault.span, format!("\"{EDITION}\""))]);
    Some(finding.help("a newer edition needs a newer ctxc").fix(fix))
}
