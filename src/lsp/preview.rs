//! The command `ctxc.render`: the text that an agent would get, beside the file that it is written in. What only a run knows
//! stands as ⟨what it will be⟩.

use super::figures::{Figures, Memories, Work};
use super::place;
use super::server::{Refusal, Server};
use super::snapshot::Snapshot;
use super::told_figures;
use super::world::World;
use crate::context::assemble::{Options, preview};
use crate::context::request::Request;
use crate::kernel::fit::Counting;
use crate::template::model::Definition;
use crate::template::{self, nodes};
use gen_lsp_types::{Position, Uri};
use lsp_server::RequestId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// The name of the command.
pub(super) const COMMAND: &str = "ctxc.render";

/// What is to be rendered.
#[derive(Debug)]
pub(super) struct Wanted {
    task: String,
    /// `None` for the first agent.
    node: Option<String>,
}

/// What a client asks for.
#[derive(Debug, Deserialize)]
struct Asked {
    uri: Uri,
    /// The task around it is meant; else the first of the document.
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

/// Takes `workspace/executeCommand`; the thread that counts answers it.
pub(super) fn begin(server: &mut Server<'_>, id: RequestId, params: Value) -> Result<(), Refusal> {
    let params: Params = serde_json::from_value(params).map_err(|error| Refusal::invalid(error.to_string()))?;
    if params.command != COMMAND {
        return Err(Refusal::invalid(format!("there is no command `{}`", params.command)));
    }
    let asked = params.arguments.into_iter().next().unwrap_or_default();
    let asked: Asked = serde_json::from_value(asked).map_err(|error| Refusal::invalid(format!("{COMMAND}: {error}")))?;
    server.worlds.settle();
    let (world, name, buffer) = server.document(&asked.uri)?;
    let offset = asked.position.map(|position| server.client.encoding.offset(&buffer.text, &buffer.index, position));
    let wanted = match asked.task {
        Some(task) => Wanted { task, node: asked.node },
        None => around(world, &name, offset).ok_or_else(|| Refusal::invalid("there is no task in this document"))?,
    };
    let snapshot = Snapshot::of(world, &name);
    server.figures.begin(snapshot, Work::Render { id, wanted });
    Ok(())
}

/// The task around an offset, and the node there; the first task where there is none.
fn around(world: &World, name: &Arc<str>, offset: Option<u32>) -> Option<Wanted> {
    let buffer = world.open.get(name)?;
    let names = told_figures::names(world, name);
    place::with(&buffer.text, &world.config.limits, |document| {
        let file = template::lower(document);
        let tasks = file.definitions.iter().zip(names).filter_map(|(definition, name)| match definition {
            Definition::Task(task) => Some((task, name)),
            Definition::Template(_) | Definition::Fragment(_) => None,
        });
        let tasks: Vec<_> = tasks.collect();
        let held = tasks.iter().find(|(task, _)| offset.is_some_and(|offset| task.element.span().contains(offset)));
        let (task, name) = held.or_else(|| tasks.first())?;
        let mut node = None;
        nodes::paths(task, &mut |found, path| {
            if let (nodes::Node::Task(found), Some(offset)) = (found, offset)
                && found.element.span().contains(offset)
            {
                node = Some(path.to_owned());
            }
        });
        Some(Wanted { task: name.clone(), node })
    })
}

/// What an agent would get, as a text with a title.
pub(super) fn of(snapshot: &Snapshot, wanted: &Wanted, counters: &Memories) -> Result<Value, String> {
    let errors = |count: usize| format!("the texts have {count} errors: what an agent would receive is not certain");
    let registry = snapshot.compile().map_err(errors)?;
    let forest = crate::context::Forest::load(&registry, &wanted.task).map_err(|fault| fault.to_string())?;
    let forest = forest.ok_or_else(|| format!("there is no task `{}`", wanted.task))?;
    let agents = forest.agents(&wanted.task).map_err(|fault| fault.to_string())?;
    let asked = wanted.node.as_deref();
    // A node that calls others stands for the first of them.
    let inside = |node: &str| asked.is_none_or(|asked| asked == "/" || node == asked || node.starts_with(&format!("{asked}/")));
    let agent = agents.iter().find(|agent| inside(&agent.node)).or_else(|| agents.first());
    let Some(agent) = agent else { return Err(format!("`{}` calls no agent", wanted.task)) };
    let request = Request { node: &agent.node, files: snapshot, ..Request::new(&wanted.task) };
    let options = Options { counting: Counting::Always, ..counters.options(snapshot.config()) };
    let assembly = preview(&registry, &request, &options).map_err(|refused| refused.to_string())?;
    let title = format!("{}{}", wanted.task, agent.node.trim_end_matches('/'));
    let mut text = String::new();
    for (number, message) in assembly.messages.iter().enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{gap}[{}]\n{}", message.speaker.word(), message.as_str());
    }
    let others: Vec<&str> = agents.iter().map(|agent| agent.node.as_str()).collect();
    Ok(json!({"title": title, "task": wanted.task, "node": agent.node, "nodes": others, "text": text}))
}

impl Figures {
    /// Has the tasks of a document counted, unless that was asked for already.
    pub(super) fn want(&mut self, world: &World, name: &Arc<str>, is_told: bool) {
        let document = (world.root.clone(), Arc::clone(name));
        if world.open.get(name).is_none_or(|buffer| buffer.is_large()) || !self.is_new(&document, world.state) {
            return;
        }
        let tasks = told_figures::tasks(world, name);
        if !tasks.is_empty() {
            self.begin(Snapshot::of(world, name), Work::Count { document, tasks, state: world.state, is_told });
        }
    }
}
