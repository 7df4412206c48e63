//! Facts of a task body for the conditions of `[[require]]`, from the model and the resolved
//! settings.

use crate::kernel::agent_node::TestedAgents;
use crate::project::require::{Fact, Field, Measure, RequirementFacts, Thing};
use crate::rules::rule::FileCx;
use crate::settings::bodies::ResolvedBody;
use crate::settings::operators::Operator;
use crate::template::model::TaskBody;
use crate::template::nodes::{self, TaskNode};

/// Default number of iterations of a director-evaluator loop.
const DEFAULT_ITERATIONS: u64 = 5;

/// A task body with all its known facts.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskFacts<'a> {
    pub(super) cx: &'a FileCx<'a>,
    pub(super) task: &'a TaskBody<'a>,
    pub(super) body: &'a ResolvedBody,
    /// The name that scenarios use for it; `None` for a template, which is tested through the tasks
    /// that call it.
    pub(super) name: Option<&'a str>,
    /// The model of a role that plays it. It takes precedence over the task's own model.
    pub(super) model: Option<&'a str>,
}

impl TaskFacts<'_> {
    /// True if scenarios test each agent of the task. Scripts are excluded, because they receive no
    /// context, and so are agents behind a reference, which are tested at their definition.
    fn is_tested(&self, tested: &TestedAgents, name: &str) -> bool {
        let mut agents = Vec::new();
        nodes::visit_nodes(self.task, &mut |node, path| {
            let TaskNode::Task(task) = node else { return };
            let is_atomic = |body: &ResolvedBody| body.operator == Some(Operator::Atomic);
            if task.reference.is_none() && self.cx.bodies.get(task).is_some_and(is_atomic) {
                agents.push((
                    path.to_owned(),
                    task.result.as_ref().map(|result| &*result.value),
                ));
            }
        });
        let is_only = agents.len() == 1;
        agents
            .iter()
            .all(|(path, result)| tested.contains_agent(name, path, *result, is_only))
    }
}

impl RequirementFacts for TaskFacts<'_> {
    fn has(&self, thing: Thing) -> Fact<bool> {
        let task = self.task;
        Fact::Known(match thing {
            Thing::Description => task.description.is_some(),
            Thing::Version => task.version.is_some(),
            Thing::Owner => self.cx.config.owner(self.cx.path).is_some(),
            Thing::Model => task.model.is_some() || self.model.is_some(),
            Thing::Provider => task.provider.is_some(),
            Thing::Instructions => task.instructions.is_some(),
            Thing::System => task.system.is_some(),
            Thing::Criteria => task.criteria.is_some(),
            Thing::Constraints => !task.constraints.is_empty(),
            Thing::Parameters => !task.parameters.is_empty(),
            Thing::Inputs => !task.inputs.is_empty(),
            Thing::FilePaths => task.files.is_some(),
            Thing::ContextRelevance => !task.relevance.is_empty(),
            Thing::OutputFormat => task.output.is_some(),
            Thing::Examples => !task.examples.is_empty(),
            Thing::ContextManagement => task.settings.is_some(),
            Thing::Scenario => {
                let known = self.cx.config.tested.as_ref().zip(self.name);
                return known.map_or(Fact::Unknown, |(tested, name)| {
                    Fact::Known(self.is_tested(tested, name))
                });
            }
        })
    }

    fn number(&self, measure: Measure) -> Fact<Option<u64>> {
        let task = self.task;
        Fact::Known(match measure {
            Measure::ManifestTokens => return Fact::Unknown,
            Measure::Parameters => Some(task.parameters.len() as u64),
            Measure::Inputs => Some(task.inputs.len() as u64),
            Measure::Steps => task.steps_element.map(|_| task.steps.len() as u64),
            Measure::MaxIterations => {
                let cycle = task.cycle.as_ref();
                cycle.map(|cycle| {
                    cycle
                        .max_iterations
                        .map_or(DEFAULT_ITERATIONS, |written| u64::from(written.value))
                })
            }
        })
    }

    fn text(&self, field: Field) -> Fact<Option<&str>> {
        if let Some(name) = field.setting() {
            return Fact::Known(Some(self.body.resolved.get(name).value.as_str()));
        }
        let word = match field {
            Field::Model if self.model.is_some() => return Fact::Known(self.model),
            Field::Model => &self.task.model,
            Field::Provider => &self.task.provider,
            Field::Version => &self.task.version,
            Field::Owner => return Fact::Known(self.cx.config.owner(self.cx.path)),
            Field::OutputFormat => {
                return Fact::Known(
                    self.task
                        .output
                        .as_ref()
                        .and_then(|output| output.kind.as_ref())
                        .map(|kind| &*kind.value),
                );
            }
            Field::InheritContext
            | Field::AccumulateData
            | Field::AccumulationFormat
            | Field::FreshContext => &None,
        };
        Fact::Known(word.as_ref().map(|word| &*word.value))
    }
}
