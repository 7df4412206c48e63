//! CTX514: a task that does not meet a requirement of the project.

use super::task_facts::TaskFacts;
use crate::project::require::{
    Condition, ConditionOutcome, ConditionTest, Field, Requirement, Thing,
};
use crate::project::roles::{ModelChoice, Role};
use crate::rules::file_stem::default_task_name;
use crate::rules::prelude::*;
use crate::rules::setting_fixes::setting_fix;
use crate::settings::operators::RowKind;
use crate::syntax::tree::Element;
use crate::template::model::{Definition, TaskBody};
use crate::template::nodes;
use crate::template::setting::SettingName;

/// Locked: a policy that another table could switch off would be none. `level` of the `[[require]]`
/// sets the severity.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        514,
        "requirement-not-met",
        "a task does not meet a `[[require]]` of the project"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

/// The definition that is being traversed.
#[derive(Clone, Copy)]
struct WalkedDefinition<'a> {
    name: &'a str,
    is_task: bool,
}

/// A task body inside a definition.
struct WalkedBody<'a, 'b> {
    root: WalkedDefinition<'a>,
    task: &'b TaskBody<'b>,
    /// True for the body of the definition itself.
    is_root: bool,
}

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let requirements = &cx.config.requirements;
    if !requirements
        .iter()
        .any(|requirement| applies_to_path(requirement, cx.path))
    {
        return;
    }
    let mut definitions = cx
        .file
        .definitions
        .iter()
        .filter(|definition| definition.task().is_some());
    let mut root = WalkedDefinition {
        name: "",
        is_task: true,
    };
    nodes::visit_bodies(cx.file, |task, parent| {
        if parent.is_none() {
            let definition = definitions.next();
            let name = definition
                .and_then(Definition::name)
                .map(|name| &*name.value);
            let is_task = !matches!(definition, Some(Definition::Template(_)));
            root = WalkedDefinition {
                name: name.unwrap_or_else(|| default_task_name(cx.path)),
                is_task,
            };
        }
        // A reference to a registered task is checked at that task's definition.
        if task.reference.is_none() {
            for requirement in requirements
                .iter()
                .filter(|requirement| applies_to_path(requirement, cx.path))
            {
                let body = WalkedBody {
                    root,
                    task,
                    is_root: parent.is_none(),
                };
                check_requirement(cx, requirement, &body, out);
            }
        }
    });
}

fn applies_to_path(requirement: &Requirement, path: &str) -> bool {
    requirement
        .selector
        .path
        .as_ref()
        .is_none_or(|globs| globs.matches(path))
}

fn check_requirement(
    cx: &FileCx<'_>,
    requirement: &Requirement,
    &WalkedBody {
        root,
        task,
        is_root,
    }: &WalkedBody<'_, '_>,
    out: &mut Vec<Diagnostic>,
) {
    let Some(body) = cx.bodies.get(task).filter(|body| body.fault.is_none()) else {
        return;
    };
    let selector = &requirement.selector;
    if selector
        .name
        .as_ref()
        .is_some_and(|globs| !globs.matches_name(root.name))
        || !plays_any_role(cx, &selector.role, root.name)
    {
        return;
    }
    let is_typed = !selector.operator.is_empty() || !selector.subtype.is_empty();
    if is_typed && !has_selected_type(cx, requirement, task) {
        return;
    }
    let facts = TaskFacts {
        cx,
        task,
        body,
        name: root.is_task.then_some(root.name),
        model: None,
    };
    let models = if is_root {
        role_models(cx, &selector.role, root.name)
    } else {
        Vec::new()
    };
    for condition in requirement
        .conditions
        .iter()
        .filter(|one| is_typed || is_root || one.value.is_about_setting())
    {
        let is_about_model = matches!(
            condition.value.test,
            ConditionTest::Text(Field::Model, ..) | ConditionTest::Has(Thing::Model, _)
        ) && !models.is_empty();
        let all = if is_about_model { &*models } else { &[None] };
        let failed = all.iter().find_map(|model| {
            match condition.value.evaluate(&TaskFacts {
                model: *model,
                ..facts
            }) {
                ConditionOutcome::Fails(found) => Some(found),
                ConditionOutcome::Holds | ConditionOutcome::Unknown => None,
            }
        });
        if let Some(found) = failed {
            out.push(report(&facts, requirement, condition, found));
        }
    }
}

/// Returns the models of each selected role of the task; `None` stands for a role that leaves the
/// choice to the task.
fn role_models<'c>(cx: &FileCx<'c>, roles: &[Spanned<String>], name: &str) -> Vec<Option<&'c str>> {
    let is_meant = |role: &&Role| {
        role.task.value == name
            && (roles.is_empty() || roles.iter().any(|wanted| wanted.value == role.name.value))
    };
    let mut models = Vec::new();
    for role in cx.config.roles.values().filter(is_meant) {
        match &role.model {
            ModelChoice::Named(named) => {
                models.extend(named.iter().map(|model| Some(model.value.as_str())));
            }
            ModelChoice::Cheapest { .. } | ModelChoice::Open => models.push(None),
        }
    }
    models
}

/// True if the task plays one of the roles, or no role is given.
fn plays_any_role(cx: &FileCx<'_>, roles: &[Spanned<String>], name: &str) -> bool {
    roles.is_empty() || roles.iter().any(|role| cx.config.plays(&role.value, name))
}

fn has_selected_type(cx: &FileCx<'_>, requirement: &Requirement, task: &TaskBody<'_>) -> bool {
    let Some(body) = cx.bodies.get(task) else {
        return false;
    };
    let row = cx.config.layers.get(body.resolved.row);
    let operators = &requirement.selector.operator;
    let subtypes = &requirement.selector.subtype;
    let standard = (&**row.operator() == "atomic").then_some("standard");
    let subtype = row.subtype().map(|name| &**name).or(standard);
    let is_subtype = subtypes
        .iter()
        .any(|wanted| Some(wanted.value.as_str()) == subtype);
    // A part has no type of its own, so it is selected only by its name.
    let is_operator = operators.is_empty()
        || operators
            .iter()
            .any(|wanted| *wanted.value == **row.operator());
    is_operator
        && if subtypes.is_empty() {
            row.kind() != RowKind::Part
        } else {
            is_subtype
        }
}

/// True if a finding is only about the presence of a scenario for the task.
pub(crate) fn is_about_scenarios(finding: &Diagnostic) -> bool {
    finding.rule.code == RULE.meta.code
        && [true, false]
            .map(|has| presence_message(Thing::Scenario, has))
            .contains(&finding.message)
}

fn presence_message(thing: Thing, is_required: bool) -> String {
    let word = thing.word();
    if is_required {
        format!("has no {word}, which the project requires")
    } else {
        format!("has {word}, which the project does not want")
    }
}

fn report(
    facts: &TaskFacts<'_>,
    requirement: &Requirement,
    condition: &Spanned<Condition>,
    found: Option<String>,
) -> Diagnostic {
    let cx = facts.cx;
    let (span, setting) = condition_span(facts.task, &condition.value.test);
    let message = match (&condition.value.test, found) {
        (ConditionTest::Has(thing, is_required), _) => presence_message(*thing, *is_required),
        (ConditionTest::Text(field, ..), Some(found)) => {
            format!(
                "{} is `{found}`, and the project requires `{}`",
                field.word(),
                condition.value.text
            )
        }
        (ConditionTest::Text(field, ..), None) => format!(
            "has no {}, and the project requires `{}`",
            field.word(),
            condition.value.text
        ),
        (ConditionTest::Number(measure, ..), Some(found)) => {
            format!(
                "{} is {found}, and the project requires `{}`",
                measure.word(),
                condition.value.text
            )
        }
        (ConditionTest::Number(measure, ..), None) => {
            format!(
                "has no {}, and the project requires `{}`",
                measure.word(),
                condition.value.text
            )
        }
    };
    let mut finding =
        Diagnostic::new(&RULE.meta, cx.path, span, message).severity(requirement.level);
    if let Some((path, start)) = cx.config.position(requirement.file, condition.span.start) {
        finding = finding.label_in(path, condition.span, start, "required here");
    }
    if let Some(reason) = &requirement.reason {
        finding = finding.note(format!("the project's reason: {reason}"));
    }
    if let (ConditionTest::Has(Thing::Scenario, true), Some(task)) =
        (&condition.value.test, facts.name)
    {
        finding = finding.help(format!(
            "`ctxc new scenario {task}` writes one from what is received today"
        ));
    }
    if let (Some(name), ConditionTest::Text(_, true, values)) = (setting, &condition.value.test)
        && let [value] = values.as_slice()
        && name.allowed_words().contains(&value.as_str())
    {
        finding = finding.fix(setting_fix(
            facts.task,
            name,
            value,
            "what the project requires",
        ));
    }
    finding
}

/// Returns the span of the task at which a condition is reported.
fn condition_span(task: &TaskBody<'_>, test: &ConditionTest) -> (Span, Option<SettingName>) {
    let setting = match test {
        ConditionTest::Text(field, ..) => field.setting(),
        ConditionTest::Has(..) | ConditionTest::Number(..) => None,
    };
    let element = task
        .settings
        .as_ref()
        .zip(setting)
        .and_then(|(settings, name)| settings.setting_element(name));
    (
        element.map_or_else(|| task.head_span(), Element::span),
        setting,
    )
}
