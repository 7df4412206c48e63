//! The settings of every task body of a file, resolved once. All higher rooms read them here.

use super::layers::{Layers, RowFault, RowId};
use super::operators::{BodyPart, Operator};
use super::resolve::{ResolvedSettings, resolve};
use crate::template::model::{BodySlot, TaskBody, TemplateFile};
use crate::template::nodes;
use crate::template::scope::ContextReach;
use crate::template::setting::{Fresh, Inherit};

/// One task body, resolved.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedBody {
    /// Its settings; those of `atomic` if its type is unknown.
    pub resolved: ResolvedSettings,
    /// The operator of the language that is its type or the base of its type; `None` if its type is
    /// unknown.
    pub operator: Option<Operator>,
    /// The reason why it has no row of its own.
    pub fault: Option<RowFault>,
}

/// All bodies of a file by number, without those that only refer to a task. Reused from file to
/// file for its memory.
#[derive(Clone, Debug, Default)]
pub struct ResolvedBodies(Vec<Option<ResolvedBody>>);

impl ResolvedBodies {
    /// Resolves a file; discards the previous one.
    pub fn resolve(&mut self, file: &TemplateFile<'_>, layers: &Layers) {
        self.0.clear();
        self.0.resize(file.bodies as usize, None);
        nodes::visit_bodies(file, |task, parent| {
            if task.reference.is_some() {
                // A reference uses a registered task unchanged, with the settings of that task.
                return;
            }
            let (row, fault) = body_row(task, parent, layers);
            let operator =
                (fault != Some(RowFault::UnknownOperator)).then(|| layers.get(row).base());
            let resolved = resolve(row, layers, &task.written_settings());
            if let Some(slot) = self.0.get_mut(task.body as usize) {
                *slot = Some(ResolvedBody {
                    resolved,
                    operator,
                    fault,
                });
            }
        });
    }

    /// The resolved settings of a body; `None` for one that only refers to a task.
    pub fn get(&self, task: &TaskBody<'_>) -> Option<&ResolvedBody> {
        self.0.get(task.body as usize)?.as_ref()
    }

    /// The context that reaches a body, by its number.
    pub fn context_reach(&self, body: u32) -> ContextReach {
        let Some(ResolvedBody {
            resolved, fault, ..
        }) = self.0.get(body as usize).and_then(Option::as_ref)
        else {
            return ContextReach::default();
        };
        ContextReach {
            inherits: resolved.inherit_context.value != Inherit::None,
            accumulates: fault
                .is_none()
                .then_some(resolved.accumulate_data.applies && resolved.is_accumulating()),
            looks_up: resolved.fresh_context.value == Fresh::Enabled,
        }
    }

    /// The settings of each body by its number; `None` for a body that only refers to a task
    /// (`ref`).
    pub fn resolved_settings(&self) -> Vec<Option<ResolvedSettings>> {
        self.0
            .iter()
            .map(|body| body.as_ref().map(|body| body.resolved))
            .collect()
    }
}

fn body_row(
    task: &TaskBody<'_>,
    parent: Option<&TaskBody<'_>>,
    layers: &Layers,
) -> (RowId, Option<RowFault>) {
    // A part belongs to the type of the body around it. If that body is itself a part, its written
    // type decides.
    if let (Some(part), Some(parent)) = (body_part(task.slot), parent) {
        let (parent, _) = written_row(parent, layers);
        return (layers.part_row(parent, part), None);
    }
    written_row(task, layers)
}

/// The row of the written type.
fn written_row(task: &TaskBody<'_>, layers: &Layers) -> (RowId, Option<RowFault>) {
    let operator = task
        .operator
        .as_ref()
        .map_or("atomic", |operator| &*operator.value);
    let subtype = task.subtype.as_ref().map(|subtype| &*subtype.value);
    match layers.resolve_row(operator, subtype) {
        Ok(row) => (row, None),
        Err(fault @ RowFault::UnknownSubtype(row)) => (row, Some(fault)),
        Err(fault @ RowFault::UnknownOperator) => (RowId::ATOMIC, Some(fault)),
    }
}

const fn body_part(slot: BodySlot) -> Option<BodyPart> {
    match slot {
        BodySlot::InnerTask => Some(BodyPart::InnerTask),
        BodySlot::ReductionTask => Some(BodyPart::ReductionTask),
        BodySlot::Director => Some(BodyPart::Director),
        BodySlot::Evaluator => Some(BodyPart::Evaluator),
        BodySlot::Root
        | BodySlot::Template
        | BodySlot::Step(_)
        | BodySlot::Case(_)
        | BodySlot::Input(_)
        | BodySlot::Arg(_)
        | BodySlot::ScriptExecution => None,
    }
}
