//! CTX603: a value that its key does not allow.

use super::scenario_prelude::*;

/// An invalid value is ignored, together with the test that depends on it.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        603,
        "wrong-scenario-value",
        "a value that its key does not allow"
    )
    .with_fix(Fixable::Suggested),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    if let ScenarioFaultKind::BadValue {
        key,
        found,
        expected,
        near,
    } = &fault.kind
    {
        let finding = cx.finding(
            &RULE.meta,
            fault,
            format!("`{key}` is `{}`; expected {expected}", shorten(found)),
        );
        return Some(cx.suggest_name(finding, fault, near.as_deref()));
    }
    let ScenarioFaultKind::WrongType {
        key,
        expected,
        found,
    } = &fault.kind
    else {
        return None;
    };
    if key.is_empty() && fault.row.is_some() {
        return Some(cx.finding(
            &RULE.meta,
            fault,
            format!("the line holds {found}; expected an object with the keys of a case"),
        ));
    }
    if key.is_empty() {
        let finding = cx.finding(
            &RULE.meta,
            fault,
            format!(
                "the file holds {found}; expected a mapping with the keys of a scenario or suite"
            ),
        );
        return Some(finding.help("a scenario begins with `name:`, a suite with `id:`"));
    }
    let finding = cx.finding(
        &RULE.meta,
        fault,
        format!("`{key}` is {found}; expected {expected}"),
    );
    Some(match &**key {
        key if key.ends_with(".tokens") => finding
            .help("name the limits, such as `tokens: {max: 90}` or `tokens: {min: 10, max: 90}`"),
        "expect_context" => finding.help(
            "write a list of expectations, a line each: `- contains: \"words of the context\"`",
        ),
        "expectations" => finding.help(
            "write a list of expectations, a line each: `- contains: \"words of the answer\"`",
        ),
        "answers" => {
            finding.help("write a list of answers, a line each: `- reply: \"words of the answer\"`")
        }
        _ => finding,
    })
}
