//! CTX515: a requirement whose condition is about a fact that is not known yet.

use super::project_prelude::*;
use crate::project::require::Needs;

/// A condition that cannot be checked never passes silently.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        info,
        515,
        "requirement-not-checked",
        "a condition that cannot be checked here"
    ),
    Check::Config(report),
);

fn report(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::NotChecked { condition, needs } = &fault.kind else {
        return None;
    };
    let found = |message: String| cx.finding(&RULE, fault, message);
    let (facts, help) = match needs {
        Needs::Scenarios => (
            "the project's scenarios",
            "`ctxc check` and `ctxc build` read them, and say which tasks do not meet it",
        ),
        Needs::Tokens => (
            "the tokens of the manifest",
            "`ctxc manifest` checks it for every agent, and exits with 1 where one does not meet it",
        ),
    };
    Some(found(format!("not checked here: `{condition}` needs {facts}")).help(help))
}
