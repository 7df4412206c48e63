//! CTX502: a project file that is not TOML.

use super::words::TASK;
use super::words::{phrase, slice};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// What cannot be read cannot hold.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(502),
        name: "project-syntax",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::Suggested,
        summary: "the project file is not TOML",
        page: "\
The project file is [TOML](https://toml.io): `key = value` lines under `[table]` headers, texts in quotes. The lines that could be
read still hold, so that one slip does not silence the rest of the check.",
        bad: &[
            Example { template: TASK, project: "edition = 2026-\n" },
            Example { template: TASK, project: "[defaults.atomic]\nfresh_context = disabled\n" },
        ],
        good: &[Example { template: TASK, project: "edition = \"2026\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Syntax { message } = &fault.kind else { return None };
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, format!("not TOML: {}", phrase(message)));
    let written = slice(cx, fault);
    let is_bare = !written.is_empty() && written.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if message.starts_with("string values must be quoted") && is_bare {
        let quoted = format!("\"{written}\"");
        return Some(finding.fix(Fix::suggested(format!("write {quoted}"), vec![Edit::replace(fault.span, quoted)])));
    }
    Some(finding.help("correct this line; the lines that could be read are checked all the same"))
}
