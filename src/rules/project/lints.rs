//! CTX509–CTX511: faults of `[lints]`.

use super::prelude::*;

/// A level of a rule that does not exist has no effect.
pub(super) static UNKNOWN_LINT: Rule = Rule::new(
    meta!(error, 509, "unknown-lint", "`[lints]` names no rule").fixed(Fixable::Suggested),
    Check::Config(unknown_lint),
);

fn unknown_lint(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownRule { found, near } = &fault.kind else {
        return None;
    };
    let message = format!("no rule, code or family is called `{found}`");
    let finding = cx.finding(&UNKNOWN_LINT, fault, message);
    let finding = if near.is_none() {
        finding.help("`ctxc rules` lists the names of all rules")
    } else {
        finding
    };
    Some(meant(finding, fault.span, near.as_deref(), Form::Bare))
}

/// A guarantee that you can switch off is not a guarantee.
pub(super) static LOCKED_LINT: Rule = Rule::new(
    meta!(
        promise,
        510,
        "locked-lint",
        "`[lints]` would silence or lower a rule that is locked"
    )
    .fixed(Fixable::Suggested),
    Check::Config(locked_lint),
);

fn locked_lint(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::LockedRule { rule, level, floor } = &fault.kind else {
        return None;
    };
    let message = format!(
        "`{rule}` cannot be `{level}`: it is a promise of the language, and stays `{floor}`"
    );
    let finding = cx.finding(&LOCKED_LINT, fault, message);
    let fix = Fix::suggested("remove the line", vec![Edit::delete(line(cx, fault))]);
    Some(finding.help("correct what it finds instead; `--suppress-existing` sets today's findings of other rules aside").fix(fix))
}

/// Two levels for one rule: the first applies.
pub(super) static REPEATED_LINT: Rule = Rule::new(
    meta!(error, 511, "repeated-lint", "`[lints]` sets one rule twice").fixed(Fixable::Suggested),
    Check::Config(repeated_lint),
);

fn repeated_lint(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::RepeatedRule { rule, first } = &fault.kind else {
        return None;
    };
    let message = format!("sets `{rule}` a second time; only the first line applies");
    let finding = cx.finding(&REPEATED_LINT, fault, message);
    let fix = Fix::suggested(
        "remove the second line",
        vec![Edit::delete(line(cx, fault))],
    );
    Some(cx.label(finding, fault.file, *first, "set here").fix(fix))
}
