//! The repository's own templates, and values with which every agent in them can be run.

use ctxc::Registry;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::context_source::Fixtures;
use ctxc::internals::context::fault::{FaultKind, MissingFrom};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Files, Request, StepResult};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The files of the repository.
#[derive(Debug)]
pub(crate) struct Here;

impl Files for Here {
    fn text(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(Path::new(ROOT).join(path)).map_err(|err| err.to_string())
    }
}

pub(crate) fn shipped() -> Registry {
    ctxc::Project::load(ROOT).unwrap().build().registry.unwrap()
}

/// The complete inputs of one agent.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) inputs: BTreeMap<String, Value>,
    pub(crate) results: BTreeMap<String, StepResult>,
}

impl Given {
    /// The value to which a name refers, as it was handed in.
    fn value(&mut self, name: &str) -> &mut Value {
        if self.inputs.contains_key(name) {
            return self.inputs.get_mut(name).unwrap();
        }
        &mut self
            .results
            .get_mut(name)
            .unwrap_or_else(|| panic!("{name} stands for another value"))
            .content
    }

    /// Adds the value that a fault reports as missing; returns `false` if no value mends it.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "what nothing mends is everything else"
    )]
    fn mend(&mut self, kind: &FaultKind) -> bool {
        match kind {
            FaultKind::Missing {
                name,
                origin: MissingFrom::Input,
            } => {
                // Jinja texts loop over some, and print fields of others.
                let value = match name.as_str() {
                    "strings" => {
                        json!([{"key": "inbox.unread", "en": "unread", "text": "unread", "note": "a count"}])
                    }
                    "passages" => {
                        json!([{"title": "Retention", "text": "Logs are kept for 90 days."}])
                    }
                    "commits" => json!([{"hash": "a1b2c3d", "subject": "Add retries"}]),
                    "customer" => json!({"name": "Zoë Adler", "plan": "team", "locale": "de"}),
                    _ => json!(format!("the {name}, with some words")),
                };
                self.inputs.insert(name.clone(), value);
            }
            FaultKind::Missing {
                name,
                origin: MissingFrom::Result,
            } => {
                let content = json!(format!("what {name} left"));
                self.results.insert(
                    name.clone(),
                    StepResult {
                        content,
                        notes: Some("noted".to_owned()),
                        ..StepResult::default()
                    },
                );
            }
            FaultKind::ResultForm { name, part, takes } => {
                let listed = takes
                    .split('`')
                    .nth(1)
                    .map_or(json!(3), |first| json!(first));
                let Some(result) = self.results.get_mut(name) else {
                    return false;
                };
                match part.split_once('.') {
                    Some((_, field)) => result.content[field] = listed,
                    None => result.content = listed,
                }
            }
            FaultKind::WrongType { name, kind, .. } => {
                let value = match kind.as_str() {
                    "number" | "integer" => json!(3),
                    "boolean" => json!(true),
                    "object" => json!({}),
                    "array" | "string[]" => json!(["one", "two"]),
                    _ => return false,
                };
                self.inputs.insert(name.clone(), value);
            }
            FaultKind::NoPart { name, path, .. } => {
                let field = path
                    .split('.')
                    .nth(1)
                    .unwrap_or_else(|| panic!("{path}"))
                    .to_owned();
                let value = self.value(name);
                if !value.is_object() {
                    *value = json!({});
                }
                value[field] = json!("a part");
            }
            _ => return false,
        }
        true
    }
}

/// Everything an agent needs, and its context; `None` if only a trusted run can supply it.
pub(crate) fn run(
    registry: &Registry,
    task: &str,
    node: &str,
    options: &Options<'_>,
) -> Option<(Given, Assembly)> {
    let mut given = Given::default();
    // The first round: without it a manifest leaves the values of later rounds open.
    for (slot, name, value) in [
        ("/director", "current_iteration", Value::from(1)),
        ("/director", "evaluation_feedback", Value::from("none yet")),
        ("/evaluator", "current_iteration", Value::from(1)),
        ("/evaluator", "evaluation_feedback", Value::from("none yet")),
        (
            "/inner_task",
            "current_input",
            Value::from("the input at hand"),
        ),
        (
            "/reduction_task",
            "current_input",
            Value::from("the input at hand"),
        ),
        (
            "/reduction_task",
            "accumulator",
            Value::from("nothing merged"),
        ),
    ] {
        if let Some((parent, _)) = node.split_once(slot) {
            let result = StepResult {
                content: value,
                ..StepResult::default()
            };
            given.results.insert(format!("{parent}/{name}"), result);
        }
    }
    for _ in 0..40 {
        let source = Fixtures(Vec::new());
        let request = Request {
            node,
            inputs: &given.inputs,
            results: &given.results,
            files: &Here,
            source: &source,
            ..Request::new(task)
        };
        let faults = match assemble(registry, &request, options) {
            Ok(assembly) => return Some((given, assembly)),
            Err(faults) => faults,
        };
        let mended = faults
            .iter()
            .filter(|fault| given.mend(&fault.kind))
            .count();
        if mended == 0 {
            assert!(
                faults
                    .iter()
                    .all(|fault| matches!(&*fault.kind, FaultKind::File { .. })),
                "{task}{node}: {faults:#?}"
            );
            return None;
        }
    }
    panic!("{task}{node} never has enough");
}

/// Every agent: its task and its node.
pub(crate) fn agents(registry: &Registry) -> Vec<(String, String)> {
    let of = |task: &str| {
        TaskGraph::load(registry, task)
            .unwrap()
            .unwrap()
            .agents(task)
            .unwrap()
    };
    let named = |task: &str| {
        of(task)
            .into_iter()
            .map(|agent| (task.to_owned(), agent.node))
            .collect::<Vec<_>>()
    };
    registry
        .tasks()
        .flat_map(|task| named(task.name()))
        .collect()
}
