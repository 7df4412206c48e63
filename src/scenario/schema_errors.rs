//! Slips in a JSON Schema that stands in a scenario, each at its own place.

use super::fault::FaultKind;
use super::fault_collector::{Path, Sink};
use super::json_schema::{Slip, SlipKind, Step, keywords, slips};
use crate::base::span::Span;
use crate::syntax::yaml::Node;

/// Reports what is wrong with a schema.
pub(super) fn report(sink: &mut Sink<'_>, path: &Path<'_>, schema: &Node<'_>) {
    for slip in slips(&schema.to_json()) {
        told(sink, path, schema, slip);
    }
}

fn told(sink: &mut Sink<'_>, path: &Path<'_>, schema: &Node<'_>, Slip { path: steps, kind }: Slip) {
    let words = |steps: &[Step]| {
        let mut words = vec![path.text()];
        words.extend(steps.iter().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Item(number) => number.to_string(),
        }));
        words.join(".")
    };
    let place = place(schema, &steps);
    match kind {
        SlipKind::Bad { expected, near } => {
            let Some((_, Some(node))) = place else { return };
            let path = Path { parent: None, name: &words(&steps) };
            sink.bad_value(&path, node, expected, near.as_deref());
        }
        SlipKind::Unknown { near } => {
            let (Some((span, _)), Some((Step::Key(key), before))) = (place, steps.split_last()) else { return };
            let table = format!("a JSON Schema (`{}`)", words(before));
            sink.report(
                span,
                FaultKind::UnknownKey { table, key: key.clone(), near, valid: keywords().collect(), elsewhere: None },
            );
        }
    }
}

/// Where a path leads: the place of its last key, and the node.
fn place<'n, 't>(schema: &'n Node<'t>, steps: &[Step]) -> Option<(Span, Option<&'n Node<'t>>)> {
    let mut node = schema;
    let mut span = schema.span;
    for step in steps {
        match step {
            Step::Key(key) => {
                // What is written twice counts as it is written last.
                let entry = node.entries()?.iter().rev().find(|entry| entry.key.value == *key)?;
                (node, span) = (&entry.value, entry.key.span);
            }
            Step::Item(number) => {
                node = node.items()?.get(*number)?;
                span = node.span;
            }
        }
    }
    Some((span, Some(node)))
}
