//! CTX506: a type or subtype that nobody knows.

use super::words::{Form, list, meant, slice};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// Defaults for a type that does not exist reach no task.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(506, "unknown-project-type", "the project file names a type or subtype that does not exist", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`[defaults.TYPE]`, `[defaults.TYPE.SUBTYPE]` and the selectors of `[[require]]` name types (the operators), their subtypes and their
parts (`[defaults.reduce.inner_task]`). A name that neither the language nor `[operators]` knows reaches no task.";

const BAD: &[Example] = &[
    project("[defaults.atomc]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n"),
    project("[defaults.reduce.inner]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n"),
    project("[defaults]\nfresh_context = \"disabled\"\n"),
];

const GOOD: &[Example] = &[project("[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&RULE, fault, message);
    if let FaultKind::UnknownOperator { found: name, near, valid } = &fault.kind {
        if valid.is_empty() {
            let finding = found(format!("`{name}` stands under `[defaults]` itself; expected a type in between"));
            return Some(finding.help(format!("write it under the type that it is for: `[defaults.atomic]`, then `{name} = …`")));
        }
        let finding = found(format!("there is no type `{name}`")).note(format!("the types are {}", list(valid)));
        return Some(meant(finding, fault.span, near.as_deref(), Form::AsBefore(slice(cx, fault))));
    }
    let FaultKind::UnknownSubtype { operator, found: name, near, valid } = &fault.kind else { return None };
    let message = if operator.is_empty() {
        format!("no type has a subtype `{name}`")
    } else {
        format!("type `{operator}` has no subtype or part `{name}`")
    };
    let finding = found(message).note(format!("known are {}", list(valid)));
    Some(meant(finding, fault.span, near.as_deref(), Form::AsBefore(slice(cx, fault))))
}
