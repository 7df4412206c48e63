//! CTX528: the file of a role's system prompt cannot be had.

use crate::project::fault::{Fault, FaultKind, Unreadable};
use crate::rules::prelude::*;

/// An agent that is not told who it is.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(
        528,
        "unreadable-system-prompt",
        "the file of a role's system prompt is missing, empty or outside the project",
        PAGE,
    )
    .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`system = { file = \"…\" }` of a role names the file that says who the agent is, relative to the project. Without its text the agent would be
called with less than its author wrote, so nothing is assembled. A file outside the project is refused, also behind a link: what an agent is
told would depend on the machine, and a cloned project could send files of its reader's.";

const BAD: &[Example] = &[
    project("[roles.triage]\nsystem = { file = \"prompts/triage.md\" }\n"),
    project("[roles.triage]\nsystem = { file = \"../secrets.md\" }\n"),
];

const GOOD: &[Example] = &[
    project("[roles.triage]\nsystem = { file = \"prompts/triage.md\" }\n# file: prompts/triage.md\nYou sort tickets.\n"),
    project("[roles.triage]\nsystem = \"You sort tickets.\"\n"),
];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SystemPrompt { role, path, why } = &fault.kind else { return None };
    let why = match why {
        Unreadable::Outside => "it lies outside the project's folder",
        Unreadable::Empty => "it is empty",
        Unreadable::Because(reason) => reason,
    };
    let message = format!("the system prompt of role `{role}` cannot be had: `{path}`: {why}");
    let finding = cx.finding(&RULE, fault, message);
    Some(finding.help("paths are relative to the folder of ctxc.toml; a short text can stand here itself: `system = \"You …\"`"))
}
