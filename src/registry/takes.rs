//! What a compiled task is given and what its agents can be shown, with everything that it refers to. Knows names alone: which of them
//! a call brings is decided where contexts are put together.

use super::artifact::{ReferenceKind, Registry, Task};
use super::node::Node;
use super::results;
use crate::rules::scenario::cx::{Parameter, Results, Takes, Tasks};
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Tasks for Registry {
    fn names(&self) -> Vec<&str> {
        self.tasks().map(Task::name).collect()
    }

    fn takes(&self, task: &str) -> Option<Rc<Takes>> {
        of(self, task).map(Rc::new)
    }

    fn results(&self, task: &str, node: Option<&str>) -> Option<Results> {
        results::of(self, task, node)
    }
}

/// What a task takes; `None` where there is none, or the registry cannot be read.
fn of(registry: &Registry, name: &str) -> Option<Takes> {
    let task = registry.find(name)?;
    let parameters = task.parameters().ok()?;
    let parameter = |found: super::artifact::Parameter| Parameter {
        name: found.name.into(),
        kind: found.kind.map(String::into),
        required: found.required && found.default.is_none(),
    };
    let mut takes = Takes { parameters: parameters.into_iter().map(parameter).collect(), ..Takes::default() };
    let mut seen = BTreeSet::from([(ReferenceKind::Ref, name.to_owned())]);
    let mut open = vec![task];
    while let Some(task) = open.pop() {
        takes.sources.insert(task.name().to_owned());
        nodes(&task.root().ok()?, &mut takes);
        for reference in task.references().ok()? {
            let found = match reference.kind {
                ReferenceKind::Ref => registry.find(&reference.name),
                ReferenceKind::Call => registry.template(&reference.name),
                ReferenceKind::From | ReferenceKind::Use => None,
            };
            takes.sources.insert(reference.name.clone());
            open.extend(found.filter(|_| seen.insert((reference.kind, reference.name))));
        }
    }
    Some(takes)
}

fn nodes(root: &Node, takes: &mut Takes) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let list = |key: &str| node.body.get(key).and_then(Value::as_array).into_iter().flatten();
        takes.inputs.extend(list("inputs").filter_map(|input| Some(input.get("name")?.as_str()?.to_owned())));
        if let Some(files) = node.body.get("file_paths") {
            let paths = files.get("paths").and_then(Value::as_array).into_iter().flatten();
            takes.files.extend(paths.filter_map(|path| path.as_str().map(str::to_owned)));
            takes.finds_files |= files.get("source").and_then(Value::as_str) != Some("literal");
        }
        takes.hears |= node.body.contains_key("history");
        takes.sources.extend(node.children.iter().filter_map(|child| child.name.clone()));
        open.extend(node.children.iter().map(|child| &child.node));
    }
}
