//! CTX509–CTX511: faults of `[lints]`.

use super::project_prelude::*;

/// A level of a rule that does not exist has no effect.
pub(super) static UNKNOWN_LINT: Rule = Rule::new(
    meta!(error, 509, "unknown-lint", "`[lints]` names no rule").with_fix(Fixable::Suggested),
    Check::Config(report_unknown_lint),
);

fn report_unknown_lint(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnknownRule { found, near } = &fault.kind else {
        return None;
    };
    let message = format!("no rule, code or family is called `{found}`");
    let finding = cx.finding(&UNKNOWN_LINT, fault, message);
    let finding = if near.is_none() {
        finding.help("`ctxc rules` lists the names of all rules")
    } else {
        finding
    };
    Some(suggest_name(
        finding,
        fault.span,
        near.as_deref(),
        NameForm::Key,
    ))
}

/// A guarantee that you can switch off is not a guarantee.
pub(super) static LOCKED_LINT: Rule = Rule::new(
    meta!(
        locked_error,
        510,
        "locked-lint",
        "`[lints]` would silence or lower a rule that is locked"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_locked_lint),
);

fn report_locked_lint(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::LockedRule { rule, level, floor } = &fault.kind else {
        return None;
    };
    let message = format!(
        "`{rule}` cannot be `{level}`: it is a promise of the language, and stays `{floor}`"
    );
    let finding = cx.finding(&LOCKED_LINT, fault, message);
    let fix = Fix::suggested("remove the line", vec![Edit::delete(fault_line(cx, fault))]);
    Some(finding.help("correct what it finds instead; `--suppress-existing` sets today's findings of other rules aside").fix(fix))
}

/// Two levels for one rule: the first applies.
pub(super) static REPEATED_LINT: Rule = Rule::new(
    meta!(error, 511, "repeated-lint", "`[lints]` sets one rule twice")
        .with_fix(Fixable::Suggested),
    Check::Config(report_repeated_lint),
);

fn report_repeated_lint(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::RepeatedRule { rule, first } = &fault.kind else {
        return None;
    };
    let message = format!("sets `{rule}` a second time; only the first line applies");
    let finding = cx.finding(&REPEATED_LINT, fault, message);
    let fix = Fix::suggested(
        "remove the second line",
        vec![Edit::delete(fault_line(cx, fault))],
    );
    Some(
        cx.add_label(finding, fault.file, *first, "set here")
            .fix(fix),
    )
}
