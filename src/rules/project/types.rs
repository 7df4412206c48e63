//! CTX506–CTX508: types and subtypes that the project file names or declares, and defaults without
//! effect on them.

use super::project_prelude::*;
use crate::project::project_fault::DeclarationRefusal;

/// Defaults of a type that does not exist apply to no task.
pub(super) static UNKNOWN_TYPE: Rule = Rule::new(
    meta!(
        locked_error,
        506,
        "unknown-project-type",
        "the project file names a type or subtype that does not exist"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_type),
);

fn report_unknown_type(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&UNKNOWN_TYPE, fault, message);
    if let ProjectFaultKind::UnknownOperator {
        found: name,
        near,
        valid,
    } = &fault.kind
    {
        if valid.is_empty() {
            let finding = found(format!(
                "`{name}` is directly under `[defaults]`; expected a type in between"
            ));
            return Some(finding.help(format!(
                "write it under the type that it is for: `[defaults.atomic]`, then `{name} = …`"
            )));
        }
        let finding = found(format!("there is no type `{name}`"))
            .note(format!("the types are {}", name_list(valid)));
        return Some(suggest_name(
            finding,
            fault.span,
            near.as_deref(),
            NameForm::LikeReplaced(fault_text(cx, fault)),
        ));
    }
    let ProjectFaultKind::UnknownSubtype {
        operator,
        found: name,
        near,
        valid,
    } = &fault.kind
    else {
        return None;
    };
    let message = if operator.is_empty() {
        format!("no type has a subtype `{name}`")
    } else {
        format!("type `{operator}` has no subtype or part `{name}`")
    };
    let finding = found(message).note(format!("known are {}", name_list(valid)));
    Some(suggest_name(
        finding,
        fault.span,
        near.as_deref(),
        NameForm::LikeReplaced(fault_text(cx, fault)),
    ))
}

/// A declared type needs a name of its own and a base.
pub(super) static BAD_DECLARATION: Rule = Rule::new(
    meta!(
        locked_error,
        507,
        "bad-declaration",
        "a type or subtype that cannot be declared"
    ),
    Check::Config(report_bad_declaration),
);

fn report_bad_declaration(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::BadDeclaration { row, why } = &fault.kind else {
        return None;
    };
    let found = |message: String| cx.finding(&BAD_DECLARATION, fault, message);
    Some(match why {
        DeclarationRefusal::Language => found(format!("`{row}` is part of the language and cannot be declared again"))
            .help(format!("to change what it starts from, write the settings under `[defaults.{row}]`")),
        DeclarationRefusal::Legacy { modern, subtype } => {
            let subtype = subtype.map(|subtype| format!(" subtype=\"{subtype}\"")).unwrap_or_default();
            found(format!("`{row}` is a type of an older dialect and cannot be declared"))
                .note(format!("templates that have it are read as type=\"{modern}\"{subtype}, with the defaults of that"))
                .help("give the new type a name of its own")
        }
        DeclarationRefusal::NoBase => found(format!("type `{row}` has no `base`; expected one of the types of the language"))
            .note("the base says which children a task of the new type may have")
            .help("add `base = \"atomic\"` (or `sequential`, `reduce`, `script`, `director_evaluator_loop`)"),
        DeclarationRefusal::BadName => {
            found(format!("`{row}` cannot be a name; expected letters, digits, `_` and `-`, beginning with a letter"))
        }
        DeclarationRefusal::TooMany => found(format!("`{row}` is one type too many; a project can declare at most 1,000")),
    })
}

/// A type without steps accumulates no results.
pub(super) static DEFAULT_WITHOUT_EFFECT: Rule = Rule::new(
    meta!(
        warning,
        508,
        "default-without-effect",
        "a project default for accumulation where there are no steps"
    ),
    Check::Config(report_default_without_effect),
);

fn report_default_without_effect(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::DefaultWithoutEffect { row, setting, base } = &fault.kind else {
        return None;
    };
    let message = format!(
        "`{setting}` has no effect for `{row}`: it has no steps whose results could be carried"
    );
    let finding = cx.finding(&DEFAULT_WITHOUT_EFFECT, fault, message);
    let finding = if row.as_str() == base.word() {
        finding
    } else {
        finding.note(format!("`{row}` is built on `{}`", base.word()))
    };
    Some(finding.help("remove the line; `sequential` and `director_evaluator_loop` are the types that carry results"))
}
