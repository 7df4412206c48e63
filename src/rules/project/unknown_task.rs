//! CTX522: a role that plays a task which does not exist.

use super::words::{Form, meant};
use crate::rules::prelude::*;
use crate::rules::rule::Scope;
use crate::template::names::DefinitionKind;

/// A role without a task receives nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(522, "unknown-task", "a role plays a task that the project does not have", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Link(check),
};

const PAGE: &str = "\
`template` of a role names the task that it plays; without the key it is the task of the role's own name. A task that no file of the project
defines cannot be played: the role would receive nothing.

It is looked for when the whole project is checked.";

const BAD: &[Example] =
    &[project("[roles.clerk]\ntemplate = \"traige\"\n"), project("[roles.clerk]\ndescription = \"sorts tickets\"\n")];

const GOOD: &[Example] =
    &[project("[roles.clerk]\ntemplate = \"triage\"\n"), project("[roles.triage]\ndescription = \"sorts tickets\"\n")];

fn check(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let LinkCx { index, config, scope, .. } = *cx;
    if scope == Scope::Part || index.files().is_empty() {
        return;
    }
    let Some(file) = config.files.first() else { return };
    for role in config.roles.values() {
        let task = &role.task;
        if index.find(DefinitionKind::Task, &task.value).is_some() {
            continue;
        }
        let name = &role.name.value;
        let message = format!("role `{name}` plays the task `{}`, which no file defines", task.value);
        let finding = Diagnostic::new(&RULE.meta, &file.path, task.span, message);
        let is_own = task.span == role.name.span;
        let near = nearest(&task.value, index.names(DefinitionKind::Task));
        out.push(match near {
            _ if is_own => finding.help(format!("name the task: `template = \"{}\"`", near.unwrap_or("NAME"))),
            Some(near) => meant(finding, task.span, Some(near), Form::Text),
            None if index.find(DefinitionKind::Template, &task.value).is_some() => {
                finding.note("there is a function template of that name; a role plays a task").help("write a task that calls it")
            }
            None => finding.help("define the task, or add the file that does to `[templates] include`"),
        });
    }
}
