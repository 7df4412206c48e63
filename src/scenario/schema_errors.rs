//! Reports the mistakes in a JSON Schema inside a scenario, each at its own place.

use super::fault::FaultKind;
use super::fault_collector::{Path, Sink};
use super::json_schema::{Slip, SlipKind, keywords, slips, steps};
use crate::base::span::Span;
use crate::syntax::yaml::Node;

/// Reports the mistakes in a schema.
pub(super) fn report(sink: &mut Sink<'_>, path: &Path<'_>, schema: &Node<'_>) {
    for slip in slips(&schema.to_json()) {
        told(sink, path, schema, slip);
    }
}

fn told(
    sink: &mut Sink<'_>,
    path: &Path<'_>,
    schema: &Node<'_>,
    Slip {
        path: pointer,
        kind,
    }: Slip,
) {
    let words = |pointer: &str| {
        [path.text()]
            .into_iter()
            .chain(steps(pointer))
            .collect::<Vec<_>>()
            .join(".")
    };
    let Some((span, node)) = place(schema, &pointer) else {
        return;
    };
    match kind {
        SlipKind::Bad { expected, near } => {
            let path = Path {
                parent: None,
                name: &words(&pointer),
            };
            sink.bad_value(&path, node, expected, near.as_deref());
        }
        SlipKind::Unknown { near } => {
            let (Some(key), Some((before, _))) = (steps(&pointer).last(), pointer.rsplit_once('/'))
            else {
                return;
            };
            let table = format!("a JSON Schema (`{}`)", words(before));
            sink.report(
                span,
                FaultKind::UnknownKey {
                    table,
                    key,
                    near,
                    valid: keywords().collect(),
                    elsewhere: None,
                },
            );
        }
    }
}

/// Resolves a pointer to the place of its last key and the node.
fn place<'n, 't>(schema: &'n Node<'t>, pointer: &str) -> Option<(Span, &'n Node<'t>)> {
    let mut node = schema;
    let mut span = schema.span;
    for step in steps(pointer) {
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
