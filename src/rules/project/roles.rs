//! CTX513, CTX522, CTX528–CTX530, CTX533: names and contradictions in roles, and in requirements on
//! roles.

use super::project_prelude::*;
use crate::rules::rule::CheckScope;
use crate::rules::structure::structure_prelude::short_excerpt;
use crate::template::names::DefinitionKind;

/// A policy for an unknown role is always met.
pub(super) static UNKNOWN_ROLE: Rule = Rule::new(
    meta!(
        error,
        513,
        "unknown-role",
        "a `[[require]]` names an agent role that the project does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_role),
);

fn report_unknown_role(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnknownRole { found, near } = &fault.kind else {
        return None;
    };
    let message = format!("the project has no agent role `{found}`");
    let finding = cx.finding(&UNKNOWN_ROLE, fault, message);
    let finding = if near.is_none() {
        finding.help(format!("define it under `[roles.{found}]`"))
    } else {
        finding
    };
    Some(suggest_name(
        finding,
        fault.span,
        near.as_deref(),
        NameForm::QuotedText,
    ))
}

/// A role without a task receives no context.
pub(super) static UNKNOWN_TASK: Rule = Rule::new(
    meta!(
        locked_error,
        522,
        "unknown-task",
        "a role plays a task that the project does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Link(check_tasks),
);

fn check_tasks(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let LinkCx {
        index,
        config,
        scope,
        ..
    } = *cx;
    if scope == CheckScope::NamedFiles || index.files().is_empty() {
        return;
    }
    let Some(file) = config.files.first() else {
        return;
    };
    let mut budget = ComparisonBudget::default();
    for role in config.roles.values() {
        let task = &role.task;
        if index
            .find_definition(DefinitionKind::Task, &task.value)
            .is_some()
        {
            continue;
        }
        let extends = role.extends.as_ref();
        if extends.is_some_and(|base| config.lacks_package_of(&base.value)) {
            continue;
        }
        let name = &role.name.value;
        let is_own = task.span == role.name.span;
        // A misspelt key is reported at the key.
        let table = format!("roles.{name}");
        let is_slip = |fault: &ProjectFault| matches!(&fault.kind, ProjectFaultKind::UnknownKey { table: own, near, .. } if *own == table && near.as_deref() == Some("template"));
        if is_own && config.faults.iter().any(is_slip) {
            continue;
        }
        let message = format!(
            "role `{name}` plays the task `{}`, which no file defines",
            task.value
        );
        let finding = Diagnostic::new(&UNKNOWN_TASK.meta, &file.path, task.span, message);
        let near = budget.nearest_candidate(&task.value, index.names_of_kind(DefinitionKind::Task));
        out.push(match near {
            _ if is_own => finding.help(format!(
                "name the task: `template = \"{}\"`",
                near.unwrap_or("NAME")
            )),
            Some(near) => suggest_name(finding, task.span, Some(near), NameForm::QuotedText),
            None if index
                .find_definition(DefinitionKind::Template, &task.value)
                .is_some() =>
            {
                finding
                    .note("there is a function template of that name; a role plays a task")
                    .help("write a task that calls it")
            }
            None => {
                finding.help("define the task, or add the file that does to `[templates] include`")
            }
        });
    }
}

/// Without it, the agent does not learn its role.
pub(super) static SYSTEM_PROMPT: Rule = Rule::new(
    meta!(
        locked_error,
        528,
        "unreadable-system-prompt",
        "the file of a role's system prompt is missing, empty or outside the project"
    ),
    Check::Config(report_system_prompt),
);

fn report_system_prompt(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::SystemPrompt { role, path, why } = &fault.kind else {
        return None;
    };
    let message = format!("the system prompt of role `{role}` cannot be read: `{path}`: {why}");
    let finding = cx.finding(&SYSTEM_PROMPT, fault, message);
    Some(finding.help("paths are relative to the folder of ctxc.toml; a short text can be written here: `system = \"You …\"`"))
}

/// Only one of the two could apply, and the author may mean the other.
pub(super) static CONTRADICTORY_ROLE: Rule = Rule::new(
    meta!(
        error,
        530,
        "contradictory-role",
        "a role both names its model and says what it must be, or blocks a tool that it allows"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_contradictory_role),
);

fn report_contradictory_role(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&CONTRADICTORY_ROLE, fault, message);
    if let ProjectFaultKind::ToolBlocked {
        role,
        tool,
        blocked,
    } = &fault.kind
    {
        let finding = found(format!(
            "role `{role}` allows `{tool}`, but `{}` in its blocked tools rules it out",
            blocked.value
        ));
        let finding = cx.add_label(finding, fault.file, blocked.span, "blocked here");
        return Some(finding.help("take it out of one of the two lists"));
    }
    let ProjectFaultKind::TwoModels { role, key } = &fault.kind else {
        return None;
    };
    let finding = found(format!(
        "role `{role}` names its `model`, so its `{key}` would have no effect"
    ));
    let finding = finding.note("a role names its model, or says what a model has to be");
    let whole = fault_line(cx, fault);
    let text = cx
        .config
        .files
        .get(fault.file as usize)
        .map_or("", |file| whole.slice(&file.text))
        .trim();
    // Only if the key and its value have the line to themselves.
    if text.starts_with(key) && ends_on_line(text) {
        return Some(finding.fix(Fix::suggested(
            format!("remove `{key}`"),
            vec![Edit::replace(whole, "")],
        )));
    }
    Some(finding.help(format!("remove `{key}`, or remove `model`")))
}

/// True if a value ends on its line.
fn ends_on_line(line: &str) -> bool {
    let count = |c: char| line.matches(c).count();
    count('[') == count(']')
        && count('{') == count('}')
        && count('"') % 2 == 0
        && !line.contains("\"\"\"")
}

/// The agent would read the braces literally.
pub(super) static PROMPT_VALUE: Rule = Rule::new(
    meta!(
        warning,
        533,
        "value-in-system-prompt",
        "a `{{…}}` in a role's system prompt, where nothing replaces it"
    ),
    Check::Config(report_prompt_value),
);

fn report_prompt_value(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::PromptValue {
        role,
        written,
        line,
    } = &fault.kind
    else {
        return None;
    };
    let place = line
        .as_ref()
        .map_or_else(String::new, |(path, line)| format!(", {path}:{line}"));
    let written = short_excerpt(written);
    let message = format!(
        "role `{role}` would read `{written}` literally{place}: no values are filled into its system prompt"
    );
    let finding = cx.finding(&PROMPT_VALUE, fault, message);
    Some(
        finding.help("move the sentence to the task that it plays, into `<system>` or `<instructions>`, where values are put in"),
    )
}
