//! CTX612: a value for a parameter that the task does not have.

use super::scenario_prelude::*;

/// A value that reaches no prompt tests nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        612,
        "unknown-input",
        "a value for a parameter that the task does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    let parameters = &takes.parameters;
    let inputs = &cx.case.situation.inputs;
    for (name, value) in inputs {
        if parameters.iter().any(|parameter| *parameter.name == **name) {
            continue;
        }
        let span = cx.key_span(name, value.span);
        let finding = cx.finding(
            &RULE.meta,
            span,
            format!("the task `{task}` takes no value `{name}`"),
        );
        let finding = match cx.input_column(name) {
            Some(place) => finding.note(format!(
                "{place} is the column of that name; a column that is no key of a case is an input"
            )),
            None => finding,
        };
        // A parameter that already has a value was not meant.
        let free: Vec<&str> = parameters
            .iter()
            .map(|parameter| &*parameter.name)
            .filter(|name| !inputs.contains_key(*name))
            .collect();
        let all: Vec<&str> = parameters
            .iter()
            .map(|parameter| &*parameter.name)
            .collect();
        let near = nearest_candidate(name, free.iter().copied());
        let finding = match near {
            Some(_) => finding,
            None if all.is_empty() => finding.note("it takes none"),
            None => finding.note(format!("it takes {}", list_some(&all))),
        };
        out.push(match near {
            // A fix needs the span of the key, which a table row does not have.
            Some(near) if span == value.span => finding.help(format!("did you mean `{near}`?")),
            _ => cx.suggest_name(finding, span, near),
        });
    }
}
