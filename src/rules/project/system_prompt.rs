//! CTX528: the file of a role's system prompt cannot be had.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind, Unreadable};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// An agent that is not told who it is.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(528),
        name: "unreadable-system-prompt",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary: "the file of a role's system prompt is missing, empty or outside the project",
        page: "\
`system = { file = \"…\" }` of a role names the file that says who the agent is, relative to the project. Without its text the agent would be
called with less than its author wrote, so nothing is assembled. A file outside the project is refused, also behind a link: what an agent is
told would depend on the machine, and a cloned project could send files of its reader's.",
        bad: &[
            Example { template: TASK, project: "[roles.triage]\nsystem = { file = \"prompts/triage.md\" }\n" },
            Example { template: TASK, project: "[roles.triage]\nsystem = { file = \"../secrets.md\" }\n" },
        ],
        good: &[
            Example {
                template: TASK,
                project: "[roles.triage]\nsystem = { file = \"prompts/triage.md\" }\n# file: prompts/triage.md\nYou sort tickets.\n",
            },
            Example { template: TASK, project: "[roles.triage]\nsystem = \"You sort tickets.\"\n" },
        ],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SystemPrompt { role, path, why } = &fault.kind else { return None };
    let why = match why {
        Unreadable::Outside => "it lies outside the project's folder",
        Unreadable::Empty => "it is empty",
        Unreadable::Because(reason) => reason,
    };
    let message = format!("the system prompt of role `{role}` cannot be had: `{path}`: {why}");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    Some(finding.help("paths are relative to the folder of ctxc.toml; a short text can stand here itself: `system = \"You …\"`"))
}
