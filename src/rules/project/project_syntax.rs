//! CTX502: a project file that is not TOML.

use super::words::{phrase, slice};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// What cannot be read cannot hold.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(502, "project-syntax", "the project file is not TOML", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
The project file is [TOML](https://toml.io): `key = value` lines under `[table]` headers, texts in quotes. The lines that could be
read still hold, so that one slip does not silence the rest of the check.";

const BAD: &[Example] = &[project("edition = 2026-\n"), project("[defaults.atomic]\nfresh_context = disabled\n")];

const GOOD: &[Example] = &[project("edition = \"2026\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Syntax { message } = &fault.kind else { return None };
    let finding = cx.finding(&RULE, fault, format!("not TOML: {}", phrase(message)));
    let written = slice(cx, fault);
    let is_bare = !written.is_empty() && written.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if message.starts_with("string values must be quoted") && is_bare {
        let quoted = format!("\"{written}\"");
        return Some(finding.fix(Fix::suggested(format!("write {quoted}"), vec![Edit::replace(fault.span, quoted)])));
    }
    Some(finding.help("correct this line; the lines that could be read are checked all the same"))
}
