//! CTX523–CTX527, CTX529: models, providers, and the choice among them.

use super::project_prelude::*;
use crate::project::routing::Disqualification;

/// A name alone defines neither a context window nor a price.
pub(super) static UNKNOWN_MODEL: Rule = Rule::new(
    meta!(
        error,
        523,
        "unknown-model",
        "a role names a model that the project does not define"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_model),
);

fn report_unknown_model(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnknownModel { found, near, valid } = &fault.kind else {
        return None;
    };
    let message = format!("the project has no model `{found}`");
    let finding = cx.finding(&UNKNOWN_MODEL, fault, message);
    if near.is_some() {
        return Some(suggest_name(
            finding,
            fault.span,
            near.as_deref(),
            NameForm::QuotedText,
        ));
    }
    let finding = if valid.is_empty() {
        finding
    } else {
        finding.note(format!("its models are {}", name_list(valid)))
    };
    Some(finding.help(format!("define it under `[models.{found}]`")))
}

/// The model could not be called.
pub(super) static UNKNOWN_PROVIDER: Rule = Rule::new(
    meta!(
        error,
        524,
        "unknown-provider",
        "a model names a provider that the project does not define"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_provider),
);

fn report_unknown_provider(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnknownProvider { found, near, valid } = &fault.kind else {
        return None;
    };
    let message =
        format!("the project has no provider `{found}`, and it is not a known kind of provider");
    let finding = cx.finding(&UNKNOWN_PROVIDER, fault, message);
    let finding = finding.note(format!("expected one of {}", name_list(valid)));
    if near.is_some() {
        return Some(suggest_name(
            finding,
            fault.span,
            near.as_deref(),
            NameForm::QuotedText,
        ));
    }
    Some(finding.help(format!(
        "define it under `[providers.{found}]` with its `kind`"
    )))
}

/// A role without a model cannot be called.
pub(super) static NO_MODEL: Rule = Rule::new(
    meta!(
        error,
        525,
        "no-model-qualifies",
        "a role asks for a tier or capabilities that no model of the project has"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_no_model),
);

fn report_no_model(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::NoModel {
        role,
        tier,
        capabilities,
        refused,
        near,
    } = &fault.kind
    else {
        return None;
    };
    let mut wanted: Vec<String> = tier
        .iter()
        .map(|tier| format!("tier `{}` or better", tier.word()))
        .collect();
    if !capabilities.is_empty() {
        wanted.push(format!("the capabilities {}", capabilities.join(", ")));
    }
    let message = format!(
        "no model of the project has {}, which role `{role}` asks for",
        wanted.join(" and ")
    );
    let mut finding = cx.finding(&NO_MODEL, fault, message);
    for (model, unfit) in refused {
        finding = finding.note(format!("`{model}` {}", describe_unfit(unfit)));
    }
    Some(match near {
        Some((written, near)) => {
            suggest_name(finding, written.span, Some(near), NameForm::QuotedText)
        }
        None if refused.is_empty() => {
            finding.help("define one under `[models.NAME]` with provider, tier and context_window")
        }
        None => finding.help("ask for less, or define a model under `[models.NAME]` that has it"),
    })
}

fn describe_unfit(unfit: &Disqualification) -> String {
    let tier = unfit.tier.map(|tier| format!("is only {}", tier.word()));
    let lacks = (!unfit.lacks.is_empty()).then(|| format!("lacks {}", unfit.lacks.join(", ")));
    [tier, lacks]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}

/// No role can get the model, so its entry is maintained in vain.
pub(super) static UNUSED_MODEL: Rule = Rule::new(
    meta!(info, 526, "unused-model", "a model that no role can get"),
    Check::Config(report_unused_model),
);

fn report_unused_model(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnusedModel { model } = &fault.kind else {
        return None;
    };
    let message = format!("no role of the project can get the model `{model}`");
    let finding = cx.finding(&UNUSED_MODEL, fault, message);
    Some(
        finding
            .help("remove it, or check its tier and capabilities against what the roles ask for"),
    )
}

/// Such a budget has no effect.
pub(super) static BUDGET_OVER_WINDOW: Rule = Rule::new(
    meta!(
        warning,
        527,
        "budget-over-window",
        "a role's budget is larger than its model's window allows"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_budget_over_window),
);

fn report_budget_over_window(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::BudgetOverWindow {
        role,
        tokens,
        model,
        room,
    } = &fault.kind
    else {
        return None;
    };
    let message = format!(
        "role `{role}` may use {tokens} tokens, but its model `{model}` has room for {room} beside its answer"
    );
    let finding = cx.finding(&BUDGET_OVER_WINDOW, fault, message);
    let finding = finding.note("the smaller limit applies, so this budget has no effect");
    let edit = Edit::replace(fault.span, room.to_string());
    Some(finding.fix(Fix::suggested(
        format!("write {room}, the room that the model has"),
        vec![edit],
    )))
}

/// A shared file is no place for a key. The finding never stands on a line that contains the value,
/// and does not show it.
pub(super) static KEY_IN_FILE: Rule = Rule::new(
    meta!(
        locked_error,
        529,
        "key-in-project-file",
        "a provider's key is in the project file"
    ),
    Check::Config(report_key_in_file),
);

fn report_key_in_file(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::KeyInFile { provider, key, at } = &fault.kind else {
        return None;
    };
    let line = |span: Span| {
        cx.config
            .position(fault.file, span.start)
            .map(|(_, position)| position.line)
    };
    // On a single line, the value would be shown beside the provider's name, so the finding moves
    // to the start of the file.
    let span = if line(fault.span) == line(*at) {
        Span::empty_at(0)
    } else {
        fault.span
    };
    let message = match *key {
        "api_key_env" => format!(
            "`api_key_env` of provider `{provider}` is not the name of a variable: is it the key itself?"
        ),
        "base_url" => {
            format!("`base_url` of provider `{provider}` carries a user, a password or a query")
        }
        _ => format!("provider `{provider}` has `{key}`, and a key never stands in a project file"),
    };
    let finding = Diagnostic::new(&KEY_IN_FILE.meta, &cx.path(fault.file), span, message);
    let finding = finding
        .note("the value is not shown here; if it was ever committed, replace it at the provider");
    Some(match *key {
        "base_url" => finding.help("write the address alone: `https://host/path`"),
        _ => finding.help(
            "name the variable that holds it, in capitals: `api_key_env = \"OPENAI_API_KEY\"`",
        ),
    })
}
