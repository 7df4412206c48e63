//! CTX515: a policy over a fact that is not known yet.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::project::require::Needs;
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Never silently taken for granted.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(515),
        name: "requirement-not-checked",
        renamed_from: &[],
        severity: Some(Severity::Info),
        when_enabled: Severity::Info,
        locked: false,
        fix: Fixable::None,
        summary: "a condition that cannot be checked here",
        page: "\
A condition may ask for something that only another command looks at. `manifest_tokens` is checked by `ctxc manifest`, for every agent, by the
tokens that are known before a run; `has scenario` by `ctxc check`, `ctxc build` and `ctxc watch`, which read the scenarios of the project. Elsewhere,
and where a program compiles with the library and hands in no scenarios (`Config::test`), the condition is neither kept nor broken, and this says
so rather than let it pass in silence.",
        bad: &[Example { template: TASK, project: "[[require]]\nmust = \"manifest_tokens <= 4000\"\n" }],
        good: &[Example { template: TASK, project: "[[require]]\nmust = \"has description\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::NotChecked { condition, needs } = &fault.kind else { return None };
    let found = |message: String| Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let (needs, help) = match needs {
        Needs::Scenarios => {
            ("the project's scenarios", "`ctxc check` and `ctxc build` read them, and say which tasks do not meet it")
        }
        Needs::Tokens => (
            "the tokens of the manifest",
            "`ctxc manifest` checks it for every agent, and exits with 1 where one does not meet it",
        ),
    };
    Some(found(format!("not checked here: `{condition}` needs {needs}")).help(help))
}
