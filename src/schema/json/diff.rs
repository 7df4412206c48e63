//! `ctxc diff OLD NEW --json`.

use super::list::Draft;
use super::names::DIFF;
use super::shape::{describe, list, must, narrowed, object, one_of, only, part};
use super::shared::{any_value, by_setting, name, node_id, path, setting_name, span, values};
use super::value::Json;
use crate::registry::diff::Cause;

pub(super) fn draft() -> Draft {
    let mut parts = vec![span()];
    parts.extend(values());
    parts.push(("text_change", text_change()));
    parts.push(("resolved_change", resolved_change()));
    parts.push(("names", names()));
    let root = object(vec![
        must("schema", "the format", only(DIFF)),
        must("added", "tasks that only the new registry has", list(name())),
        must("removed", "tasks that only the old registry has", list(name())),
        must("text", "tasks whose own text changed", list(part("text_change"))),
        must("resolved", "settings that resolve to another value", list(part("resolved_change"))),
        must("referenced", "tasks that changed only because something they refer to did", list(name())),
        must("templates", "changes of function templates", part("names")),
        must("fragments", "changes of shared texts", part("names")),
    ]);
    Draft { format: DIFF, about: "What two registries say differently: `ctxc diff OLD NEW --json`.", root, parts }
}

fn text_change() -> Json {
    let fields = vec![
        must("task", "the task", name()),
        must("path", "the file it stands in now, relative to the project", path()),
        must("span", "where it stands in that file", part("span")),
    ];
    describe("a task whose own text changed", object(fields))
}

fn resolved_change() -> Json {
    let causes = Cause::ALL.map(Cause::as_str);
    let fields = vec![
        must("task", "the task", name()),
        must("node", "the node inside it; `/` is the task itself", node_id()),
        must("setting", "the setting that moved", setting_name()),
        must("from", "its value before; null for “does not apply”", any_value()),
        must("to", "its value now; null for “does not apply”", any_value()),
        must(
            "cause",
            "`text`: the template says something else; `default`: a default moved beneath the same text",
            one_of(causes),
        ),
    ];
    let conditions = by_setting(|value| narrowed([("from", value.clone()), ("to", value)]));
    describe("a setting that resolves to another value", object(fields).with("allOf", conditions))
}

fn names() -> Json {
    let fields = vec![
        must("added", "only in the new registry", list(name())),
        must("removed", "only in the old registry", list(name())),
        must("changed", "in both, with different content", list(name())),
    ];
    describe("changes of things that have no settings of their own", object(fields))
}
