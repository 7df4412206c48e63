//! CTX519: a key that a shared file may not have.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// What belongs to one project is not shared.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(519, "not-shareable", "a shared file has a key that belongs to a project", PAGE).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A shared file holds what several projects have in common: `[lints]`, `[defaults]`, `[[require]]`, and `[allow] loosen` for what a project may
loosen. Everything else (its name, its folders, its types, its limits) belongs to each project's own file.";

const BAD: &[Example] = &[project(
    "extends = { path = \"shared.toml\", hash = \"b3:55b01ebec718e40f7d772ce26cbe74bf57150853433524a60980c97e2ec04dd1\" }\n# file: shared.toml\n[templates]\nexclude = \"drafts\"\n",
)];

const GOOD: &[Example] = &[project(
    "extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::NotShared { key } = &fault.kind else { return None };
    let message = format!("a shared file cannot have `{key}`; expected lints, defaults and requirements");
    let finding = cx.finding(&RULE, fault, message);
    Some(finding.help("move it to the project's own file"))
}
