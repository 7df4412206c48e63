//! The parameters of a compiled task and the names of the segments that its agents can receive,
//! including everything that it refers to. Names only: the context assembly decides which of them a
//! call receives.

use super::artifact::{ReferenceKind, Registry, Task};
use super::node::Node;
use super::results;
use crate::rules::scenario::cx::{AgentResults, SignatureParameter, TaskSignature, Tasks};
use crate::template::keywords::FileSource;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Tasks for Registry {
    fn names(&self) -> Vec<&str> {
        self.tasks().map(Task::name).collect()
    }

    fn signature(&self, task: &str) -> Option<Rc<TaskSignature>> {
        read_signature(self, task).map(Rc::new)
    }

    fn results(&self, task: &str, node: Option<&str>) -> Option<AgentResults> {
        results::find_results(self, task, node)
    }
}

/// The signature of a task; `None` if there is no such task or the registry cannot be read.
fn read_signature(registry: &Registry, name: &str) -> Option<TaskSignature> {
    let task = registry.find(name)?;
    let parameters = task.parameters().ok()?;
    let parameter = |found: super::artifact::RegistryParameter| SignatureParameter {
        name: found.name.into(),
        kind: found.kind.map(String::into),
        required: found.required && found.default.is_none(),
    };
    let mut signature = TaskSignature {
        parameters: parameters.into_iter().map(parameter).collect(),
        ..TaskSignature::default()
    };
    let mut seen = BTreeSet::from([(ReferenceKind::Ref, name.to_owned())]);
    let mut open = vec![task];
    while let Some(task) = open.pop() {
        signature.sources.insert(task.name().to_owned());
        add_nodes(&task.root().ok()?, &mut signature);
        for reference in task.references().ok()? {
            let found = match reference.kind {
                ReferenceKind::Ref => registry.find(&reference.name),
                ReferenceKind::Call => registry.template(&reference.name),
                ReferenceKind::From | ReferenceKind::Use => None,
            };
            signature.sources.insert(reference.name.clone());
            open.extend(found.filter(|_| seen.insert((reference.kind, reference.name))));
        }
    }
    [signature.agents, signature.scripts] = results::find_leaves(registry, name)?;
    Some(signature)
}

fn add_nodes(root: &Node, signature: &mut TaskSignature) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        signature.inputs.extend(
            node.body
                .inputs
                .iter()
                .filter_map(|input| Some(input.name.as_ref()?.to_string())),
        );
        if let Some(files) = &node.body.file_paths {
            signature
                .files
                .extend(files.paths.iter().map(ToString::to_string));
            signature.finds_files |= files.source != FileSource::Literal;
        }
        signature.receives_history |= node.body.history.is_some();
        signature
            .sources
            .extend(node.children.iter().filter_map(|child| child.name.clone()));
        open.extend(node.children.iter().map(|child| &child.node));
    }
}
