//! The command `ctxc.render`: renders the text that an agent would receive.

use crate::lsp::prelude::*;
use crate::lsp::state::snapshot::DocumentSnapshot;
use crate::lsp::tokens::counts::TokenWork;
use crate::lsp::tokens::docs as token_docs;
use crate::lsp::tokens::render::RenderSelection;
use crate::template::model::Definition;
use crate::template::{self, nodes};
use gen_lsp_types::{Position, Uri};
use lsp_server::RequestId;
use serde::Deserialize;

/// The name of the command.
pub(in crate::lsp) const RENDER_COMMAND: &str = "ctxc.render";

/// The arguments of the command.
#[derive(Debug, Deserialize)]
struct RenderArguments {
    uri: Uri,
    /// Selects the task at the position; without it, the first task of the document.
    position: Option<Position>,
    task: Option<String>,
    node: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ExecuteParams {
    command: String,
    #[serde(default)]
    arguments: Vec<Value>,
}

/// Starts `workspace/executeCommand`; the counting thread sends the answer.
pub(in crate::lsp) fn start_command(
    server: &mut LspServer<'_>,
    id: RequestId,
    params: Value,
) -> Result<(), RequestError> {
    let params: ExecuteParams =
        serde_json::from_value(params).map_err(|error| RequestError::invalid(error.to_string()))?;
    if params.command != RENDER_COMMAND {
        return Err(RequestError::invalid(format!(
            "there is no command `{}`",
            params.command
        )));
    }
    let arguments = params.arguments.into_iter().next().unwrap_or_default();
    let arguments: RenderArguments = serde_json::from_value(arguments)
        .map_err(|error| RequestError::invalid(format!("{RENDER_COMMAND}: {error}")))?;
    server.workspace.settle();
    let (project, name, buffer) = server.document(&arguments.uri)?;
    let offset = arguments.position.map(|position| {
        server
            .client
            .encoding
            .offset(&buffer.text, &buffer.index, position)
    });
    let wanted = match arguments.task {
        Some(task) => RenderSelection {
            task,
            node: arguments.node,
        },
        None => selection_at(project, &name, offset)
            .ok_or_else(|| RequestError::invalid("there is no task in this document"))?,
    };
    let snapshot = DocumentSnapshot::for_document(project, &name);
    server
        .token_counts
        .start_work(snapshot, TokenWork::Render { id, wanted });
    Ok(())
}

/// Returns the task and node at an offset, or the first task of the document.
fn selection_at(
    project: &ProjectState,
    name: &Arc<str>,
    offset: Option<u32>,
) -> Option<RenderSelection> {
    let buffer = project.open.get(name)?;
    let names = token_docs::definition_names(project, name);
    place::with_document(&buffer.text, &project.config.limits, |document| {
        let file = template::lower_document(document);
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
        nodes::visit_nodes(task, &mut |found, path| {
            if let (nodes::TaskNode::Task(found), Some(offset)) = (found, offset)
                && found.element.span().contains(offset)
            {
                node = Some(path.to_owned());
            }
        });
        Some(RenderSelection {
            task: name.clone(),
            node,
        })
    })
}
