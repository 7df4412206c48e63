//! What is asked of a project: `ctxc explain`, `ctxc show` and `ctxc defaults`, as JSON.

use super::list::Draft;
use super::names::{DEFAULTS, EXPLAIN, SHOW};
use super::shape::{describe, list, must, narrowed, object, only, or_null, part, text};
use super::shared::{
    Written, any_value, beaten_values, by_setting, element, name, node_id, operator, origin, path, setting_fields, setting_name,
    settings, span, subtype, values,
};

/// One setting of one node.
pub(super) fn explain() -> Draft {
    let mut fields = vec![
        must("schema", "the format", only(EXPLAIN)),
        must("task", "the task", name()),
        must("node", "the node inside it; `/` is the task itself", node_id()),
        must("setting", "the setting", setting_name()),
    ];
    fields.extend(setting_fields(any_value()));
    let conditions = by_setting(|value| narrowed([("value", value.clone()), ("beaten", beaten_values(value))]));
    let mut parts = vec![span(), origin(Written::ByTemplates)];
    parts.extend(values());
    let root = object(fields).with("allOf", conditions);
    Draft { format: EXPLAIN, about: "How one setting came about: `ctxc explain TASK[/NODE].SETTING --json`.", root, parts }
}

/// Every node of a task.
pub(super) fn show() -> Draft {
    let node = object(vec![
        must("id", "its path inside the task; `/` is the task itself", node_id()),
        must("element", "the element it is written as", element()),
        must("operator", "its type; null for calls and choices, and where it stands for another task", or_null(operator())),
        must("subtype", "its subtype or part; null where it has none", subtype()),
        must("as", "the name that its result gets; null where it gets none", or_null(text())),
        must("reference", "the task or function template that it stands for; null where it stands for itself", or_null(text())),
        must("settings", "the four settings; null where it has no context of its own", or_null(part("settings"))),
    ]);
    let mut parts = vec![("node", describe("a task, call or choice", node))];
    parts.extend(settings(Written::ByTemplates));
    let root = object(vec![
        must("schema", "the format", only(SHOW)),
        must("task", "the name of the task", name()),
        must("path", "the file it stands in, relative to the project", path()),
        must("nodes", "the task and everything inside it, in document order", list(part("node"))),
    ]);
    Draft { format: SHOW, about: "A task as it resolves: `ctxc show TASK --json`.", root, parts }
}

/// The operator table as it holds in a project.
pub(super) fn defaults() -> Draft {
    let row = object(vec![
        must("operator", "the type", operator()),
        must("subtype", "the subtype or part; null for the type itself", subtype()),
        must("settings", "what a task of this type gets that writes nothing itself", part("settings")),
    ]);
    let mut parts = vec![("row", describe("one type with its settings", row))];
    parts.extend(settings(Written::Never));
    let rows = must("rows", "the types of the language, then those that the project declares", list(part("row")));
    let root = object(vec![must("schema", "the format", only(DEFAULTS)), rows]);
    let about = "The default settings of every type, as they hold in a project: `ctxc defaults --json`.";
    Draft { format: DEFAULTS, about, root, parts }
}
