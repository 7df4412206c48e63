//! CTX520: something looser than the shared file says.

use super::words::line;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A project may tighten a shared policy, not loosen it.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(520, "loosened-policy", "the project loosens what the shared file says", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A project may tighten what its shared file says: a higher level for a rule, less context by default. It may not loosen it, unless the
shared file permits that with `[allow] loosen = [\"no-context\", \"defaults.atomic\"]` (or `lints`, `defaults`, `all`). Until then the shared
file's value holds.";

const BAD: &[Example] = &[project(
    "extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n\n[lints]\nno-context = \"info\"\n# file: shared.toml\n[lints]\nno-context = \"error\"\n",
)];

const GOOD: &[Example] = &[project(
    "extends = { path = \"shared.toml\", hash = \"b3:2149ce35676ecd0c0c88f38a596ad1f53b19cfd32519e6d71d316da7139d99ae\" }\n\n[lints]\nno-context = \"info\"\n# file: shared.toml\n[allow]\nloosen = [\"no-context\"]\n\n[lints]\nno-context = \"error\"\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Loosened { what, here, shared, at: (file, span), entry } = &fault.kind else { return None };
    let message = format!("`{what}` is `{here}`, looser than the `{shared}` of the shared file");
    let finding = cx.finding(&RULE, fault, message);
    let finding = cx.label(finding, *file, *span, "the shared file says this");
    let finding = finding.note(format!("a project may tighten a shared policy, not loosen it; `{shared}` holds"));
    let fix = Fix::suggested("remove the line", vec![Edit::delete(line(cx, fault))]);
    Some(finding.help(format!("remove the line, or let the shared file permit it: `[allow] loosen = [\"{entry}\"]`")).fix(fix))
}
