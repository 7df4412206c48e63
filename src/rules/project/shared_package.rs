//! CTX518: `extends` of a package.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// Packages come with a later release.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(518, "package-not-available", "`extends` names a package, and there are none yet", PAGE)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A later release shares policies as packages. This one takes them from a file: `extends = { path = \"…\", hash = \"b3:…\" }`.";

const BAD: &[Example] = &[project("extends = \"package:acme/strict\"\n")];

const GOOD: &[Example] = &[project("")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedPackage { name } = &fault.kind else { return None };
    let message = format!("cannot extend package `{name}`: packages are not available in this release");
    let finding = cx.finding(&RULE, fault, message);
    Some(finding.help("copy its file beside the project and extend that: `extends = \"policies/strict.toml\"`"))
}
