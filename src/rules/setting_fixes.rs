//! Fixes of findings about a setting, and the description of a row. Shared by several families.

use crate::base::fix::{Edit, Fix};
use crate::settings::layers::OperatorRow;
use crate::settings::operators::RowKind;
use crate::syntax::write::{insert_before, insert_child};
use crate::template::model::TaskBody;
use crate::template::setting::{SettingName, Word};

/// Returns the fix that gives a setting a value: replaces the written value, adds the element to
/// the existing block, or adds the block.
pub(super) fn setting_fix(
    task: &TaskBody<'_>,
    name: SettingName,
    value: &str,
    effect: &str,
) -> Fix {
    let word = name.word();
    let xml = format!("<{word}>{value}</{word}>");
    let Some(settings) = &task.settings else {
        let block = format!("<context_management>\n  {xml}\n</context_management>");
        return Fix::suggested(
            format!("add {xml} in a <context_management>: {effect}"),
            vec![insert_child(task.element, &block)],
        );
    };
    if let Some(span) = settings.written.span(name) {
        return Fix::suggested(
            format!("set {word} to {value}: {effect}"),
            vec![Edit::replace(span, value)],
        );
    }
    // In the order of the table, as the formatter does.
    let mut later = SettingName::ALL
        .iter()
        .skip_while(|other| **other != name)
        .skip(1);
    let next = later.find_map(|other| {
        settings
            .element
            .elements()
            .find(|child| child.name() == other.word())
    });
    let edit = next.map_or_else(
        || insert_child(settings.element, &xml),
        |next| insert_before(next, &xml),
    );
    Fix::suggested(format!("add {xml}: {effect}"), vec![edit])
}

/// Describes a row as an author does: “type atomic”, “type atomic with subtype subtask”,
/// “`inner_task` in type reduce”.
pub(crate) fn describe_row(row: &OperatorRow) -> String {
    let operator = row.operator();
    match (row.subtype(), row.kind()) {
        (Some(part), RowKind::Part) => format!("{part} in type {operator}"),
        (Some(subtype), RowKind::Operator | RowKind::Subtype) => {
            format!("type {operator} with subtype {subtype}")
        }
        (None, _) => format!("type {operator}"),
    }
}
