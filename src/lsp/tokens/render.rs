//! Renders the context of an agent. Values that only a run produces are shown as ⟨descriptions⟩.

use crate::context::assemble::preview_context;
use crate::context::options::{ModelSettings, Options};
use crate::context::request::Request;
use crate::context::tokens;
use crate::kernel::budget::Counting;
use crate::kernel::tokens::{ByteCounter, TokenCounter};
use crate::lsp::state::snapshot::DocumentSnapshot;
use crate::project::config::Config;
use crate::registry::workspace::request::CheckGoal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The agent to render.
#[derive(Debug)]
pub(in crate::lsp) struct RenderSelection {
    pub(in crate::lsp) task: String,
    /// `None` for the first agent.
    pub(in crate::lsp) node: Option<String>,
}

/// Renders the context of an agent as a text with a title.
pub(in crate::lsp) fn render_context(
    snapshot: &DocumentSnapshot,
    wanted: &RenderSelection,
    counters: &NamedCounters,
) -> Result<Value, String> {
    let errors = |count: usize| {
        format!("the texts have {count} errors: what an agent would receive is not certain")
    };
    let registry = snapshot.compile(CheckGoal::Registry).map_err(errors)?;
    let forest = crate::context::TaskGraph::load(&registry, &wanted.task)
        .map_err(|fault| fault.to_string())?;
    let forest = forest.ok_or_else(|| format!("there is no task `{}`", wanted.task))?;
    let agents = forest
        .agents(&wanted.task)
        .map_err(|fault| fault.to_string())?;
    let wanted_node = wanted.node.as_deref();
    // A node without an agent of its own stands for the first agent inside it.
    let inside = |node: &str| {
        wanted_node.is_none_or(|wanted_node| {
            wanted_node == "/"
                || node == wanted_node
                || node.starts_with(&format!("{wanted_node}/"))
        })
    };
    let agent = agents
        .iter()
        .find(|agent| inside(&agent.node))
        .or_else(|| agents.first());
    let Some(agent) = agent else {
        return Err(format!("`{}` calls no agent", wanted.task));
    };
    let request = Request {
        node: &agent.node,
        files: snapshot,
        ..Request::new(&wanted.task)
    };
    let options = Options {
        counting: Counting::Always,
        ..counters.assembly_options(snapshot.config())
    };
    let assembly =
        preview_context(&registry, &request, &options).map_err(|refused| refused.to_string())?;
    let title = format!("{}{}", wanted.task, agent.node.trim_end_matches('/'));
    let mut text = String::new();
    for (number, message) in assembly.messages.iter().enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{gap}[{}]\n{}",
            message.speaker.word(),
            message.as_str()
        );
    }
    let others: Vec<&str> = agents.iter().map(|agent| agent.node.as_str()).collect();
    Ok(
        json!({"title": title, "task": wanted.task, "node": agent.node, "nodes": others, "text": text}),
    )
}

pub(in crate::lsp) fn lock_mutex<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All token counters by name, and the default one. Each model of the project selects its counter.
#[derive(Debug)]
pub(in crate::lsp) struct NamedCounters(
    BTreeMap<&'static str, Arc<dyn TokenCounter>>,
    Arc<dyn TokenCounter>,
);

impl NamedCounters {
    pub(in crate::lsp) fn new() -> Self {
        let named = tokens::counter_names().filter_map(|name| Some((name, tokens::counter(name)?)));
        Self(
            named.collect(),
            tokens::counter(tokens::DEFAULT_COUNTER).unwrap_or_else(|| Arc::new(ByteCounter)),
        )
    }

    /// Returns the assembly options of a project, as on the command line.
    pub(in crate::lsp) fn assembly_options<'a>(&'a self, config: &'a Config) -> Options<'a> {
        Options {
            counter: &*self.1,
            models: Some(ModelSettings::from_config(config, &self.0)),
            ..Options::default()
        }
    }
}
