//! Reports the mistakes in a JSON Schema inside a scenario, each at its own place.

use super::fault::ScenarioFaultKind;
use super::fault_collector::{KeyPath, ScenarioFaultSink};
use super::json_schema::{
    JsonSchemaFault, JsonSchemaFaultKind, handwritten_keywords, pointer_steps, schema_faults,
};
use crate::base::span::Span;
use crate::syntax::yaml::YamlNode;

/// Reports the mistakes in a schema.
pub(super) fn report_schema_faults(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    schema: &YamlNode<'_>,
) {
    for slip in schema_faults(&schema.to_json()) {
        report_schema_fault(sink, path, schema, slip);
    }
}

fn report_schema_fault(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    schema: &YamlNode<'_>,
    JsonSchemaFault {
        path: pointer,
        kind,
    }: JsonSchemaFault,
) {
    let words = |pointer: &str| {
        [path.dotted()]
            .into_iter()
            .chain(pointer_steps(pointer))
            .collect::<Vec<_>>()
            .join(".")
    };
    let Some((span, node)) = locate_pointer(schema, &pointer) else {
        return;
    };
    match kind {
        JsonSchemaFaultKind::BadValue { expected, near } => {
            let path = KeyPath {
                parent: None,
                name: &words(&pointer),
            };
            sink.report_bad_value(&path, node, expected, near.as_deref());
        }
        JsonSchemaFaultKind::UnknownKeyword { near } => {
            let (Some(key), Some((before, _))) =
                (pointer_steps(&pointer).last(), pointer.rsplit_once('/'))
            else {
                return;
            };
            let table = format!("a JSON Schema (`{}`)", words(before));
            sink.report(
                span,
                ScenarioFaultKind::UnknownKey {
                    table,
                    key,
                    near,
                    valid: handwritten_keywords().collect(),
                    elsewhere: None,
                },
            );
        }
    }
}

/// Resolves a pointer to the place of its last key and the node.
fn locate_pointer<'n, 't>(
    schema: &'n YamlNode<'t>,
    pointer: &str,
) -> Option<(Span, &'n YamlNode<'t>)> {
    let mut node = schema;
    let mut span = schema.span;
    for step in pointer_steps(pointer) {
        if let Some(items) = node.items() {
            node = items.get(step.parse::<usize>().ok()?)?;
            span = node.span;
        } else {
            // Of a repeated key, the last value counts.
            let entry = node
                .entries()?
                .iter()
                .rev()
                .find(|entry| entry.key.value == step)?;
            (node, span) = (&entry.value, entry.key.span);
        }
    }
    Some((span, node))
}
