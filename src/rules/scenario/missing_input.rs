//! CTX613: a required parameter without a value.

use super::cx::SignatureParameter;
use super::scenario_prelude::*;

/// The case could only fail.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        613,
        "missing-input",
        "a required parameter without a value"
    ),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    let parameters = &takes.parameters;
    let inputs = &cx.case.situation.inputs;
    let missing = |parameter: &&SignatureParameter| {
        let name = &*parameter.name;
        parameter.required && !inputs.contains_key(name) && !cx.case.situation.sets_parameter(name)
    };
    let missing: Vec<&str> = parameters
        .iter()
        .filter(missing)
        .map(|parameter| &*parameter.name)
        .collect();
    // A misspelt parameter is reported as misspelt, and not also as missing.
    let unknown = inputs.keys().filter(|name| {
        !parameters
            .iter()
            .any(|parameter| *parameter.name == ***name)
    });
    let misspelt: Vec<&str> = unknown
        .filter_map(|name| nearest_candidate(name, missing.iter().copied()))
        .collect();
    let missing: Vec<&str> = missing
        .into_iter()
        .filter(|name| !misspelt.contains(name))
        .collect();
    if missing.is_empty() {
        return;
    }
    let values = if missing.len() == 1 {
        "a value"
    } else {
        "values"
    };
    let finding = cx.finding(
        &RULE.meta,
        cx.case.subject.span,
        format!(
            "the task `{task}` needs {values} for {}",
            list_some(&missing)
        ),
    );
    out.push(finding.help("give it under `context.inputs`"));
}
