//! The command `ctxc.render`: renders the text that an agent would receive.

use crate::lsp::prelude::*;
use crate::lsp::state::snapshot::Snapshot;
use crate::lsp::tokens::counts::Work;
use crate::lsp::tokens::docs as token_docs;
use crate::lsp::tokens::render::Wanted;
use crate::template::model::Definition;
use crate::template::{self, nodes};
use gen_lsp_types::{Position, Uri};
use lsp_server::RequestId;
use serde::Deserialize;

/// The name of the command.
pub(in crate::lsp) const COMMAND: &str = "ctxc.render";

/// The arguments of the command.
#[derive(Debug, Deserialize)]
struct Asked {
    uri: Uri,
    /// Selects the task at the position; without it, the first task of the document.
    position: Option<Position>,
    task: Option<String>,
    node: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Params {
    command: String,
    #[serde(default)]
    arguments: Vec<Value>,
}

/// Starts `workspace/executeCommand`; the counting thread sends the answer.
pub(in crate::lsp) fn begin(
    server: &mut Server<'_>,
    id: RequestId,
    params: Value,
) -> Result<(), Refusal> {
    let params: Params =
        serde_json::from_value(params).map_err(|error| Refusal::invalid(error.to_string()))?;
    if params.command != COMMAND {
        return Err(Refusal::invalid(format!(
            "there is no command `{}`",
            params.command
        )));
    }
    let asked = params.arguments.into_iter().next().unwrap_or_default();
    let asked: Asked = serde_json::from_value(asked)
        .map_err(|error| Refusal::invalid(format!("{COMMAND}: {error}")))?;
    server.workspace.settle();
    let (project, name, buffer) = server.document(&asked.uri)?;
    let offset = asked.position.map(|position| {
        server
            .client
            .encoding
            .offset(&buffer.text, &buffer.index, position)
    });
    let wanted = match asked.task {
        Some(task) => Wanted {
            task,
            node: asked.node,
        },
        None => around(project, &name, offset)
            .ok_or_else(|| Refusal::invalid("there is no task in this document"))?,
    };
    let snapshot = Snapshot::of(project, &name);
    server
        .token_counts
        .begin(snapshot, Work::Render { id, wanted });
    Ok(())
}

/// Returns the task and node at an offset, or the first task of the document.
fn around(project: &ProjectState, name: &Arc<str>, offset: Option<u32>) -> Option<Wanted> {
    let buffer = project.open.get(name)?;
    let names = token_docs::names(project, name);
    place::with(&buffer.text, &project.config.limits, |document| {
        let file = template::lower(document);
        let tasks = file
            .definitions
            .iter()
            .zip(names)
            .filter_map(|(definition, name)| match definition {
                Definition::Task(task) => Some((task, name)),
                Definition::Template(_) | Definition::Fragment(_) => None,
            });
        let tasks: Vec<_> = tasks.collect();
        let held = tasks
            .iter()
            .find(|(task, _)| offset.is_some_and(|offset| task.element.span().contains(offset)));
        let (task, name) = held.or_else(|| tasks.first())?;
        let mut node = None;
        nodes::paths(task, &mut |found, path| {
            if let (nodes::Node::Task(found), Some(offset)) = (found, offset)
                && found.element.span().contains(offset)
            {
                node = Some(path.to_owned());
            }
        });
        Some(Wanted {
            task: name.clone(),
            node,
        })
    })
}
