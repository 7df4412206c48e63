//! CTX508: a default that its type can never use.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Nothing is carried where there are no steps.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(508),
        name: "default-without-effect",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::None,
        summary: "a project default for accumulation where there are no steps",
        page: "\
Only `sequential` and `director_evaluator_loop` have steps whose results can be carried along. For any other type
`accumulate_data = true` and `accumulation_format` change nothing about what the agent receives.",
        bad: &[Example { template: TASK, project: "[defaults.atomic]\naccumulate_data = true\n" }],
        good: &[Example { template: TASK, project: "[defaults.sequential]\naccumulate_data = false\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::DefaultWithoutEffect { row, setting, base } = &fault.kind else { return None };
    let message = format!("`{setting}` has no effect for `{row}`: it has no steps whose results could be carried");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let finding =
        if row.as_str() == base.word() { finding } else { finding.note(format!("`{row}` is built on `{}`", base.word())) };
    Some(finding.help("remove the line; `sequential` and `director_evaluator_loop` are the types that carry results"))
}
