//! The source lines of setting values, of agents and of the nodes around them. A manifest contains
//! neither.

use super::model::Entry;
use crate::base::source::LineIndex;
use crate::context::request::Files;
use crate::context::task_graph::TaskGraph;
use crate::registry::Registry;
use crate::settings::data::{OriginData, SettingsData};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

/// The positions of settings; empty for a manifest without its registry.
#[derive(Debug, Default)]
pub struct SettingPlaces<'r> {
    from: Option<(&'r Registry, &'r dyn Files)>,
    /// Loaded on demand; `None` for a registry that cannot be read.
    forest: OnceCell<Option<TaskGraph<'r>>>,
    /// Files with their line index, each read once.
    texts: RefCell<BTreeMap<String, Option<(String, LineIndex)>>>,
}

/// A node on the way to an agent.
#[derive(Clone, Debug)]
pub(super) struct ChainStage {
    /// A label for people: its definition, and the node inside that.
    pub(super) of: String,
    /// Its settings with their positions.
    pub(super) settings: SettingsData,
}

impl<'r> SettingPlaces<'r> {
    /// Creates the positions for the files that a registry was compiled from.
    pub fn from_registry(registry: &'r Registry, files: &'r dyn Files) -> Self {
        Self {
            from: Some((registry, files)),
            ..Self::default()
        }
    }

    /// Returns the nodes from the task to the agent, the agent last; empty if they are not known.
    pub(super) fn chain_stages(&self, entry: &Entry) -> Vec<ChainStage> {
        let Some((registry, _)) = self.from else {
            return Vec::new();
        };
        let Some(forest) = self
            .forest
            .get_or_init(|| TaskGraph::load_all(registry).ok())
        else {
            return Vec::new();
        };
        let chain = forest
            .find_chain(&entry.task, &entry.node)
            .unwrap_or_default();
        let stage = |link: &crate::context::task_graph::ChainLink<'_>| {
            let of = format!(
                "{}{}",
                link.tree.task.name(),
                link.node.id.trim_end_matches('/')
            );
            Some(ChainStage {
                of,
                settings: link.node.settings.clone()?,
            })
        };
        chain.iter().filter_map(stage).collect()
    }

    /// Returns the line of a value, from 1.
    pub(super) fn line(&self, origin: &OriginData) -> Option<u32> {
        let (_, files) = self.from?;
        let path = origin.path.as_ref()?;
        let span = origin.span?;
        let mut texts = self.texts.borrow_mut();
        let read = || {
            let text = files.text(path).ok()?;
            let index = LineIndex::new(&text);
            Some((text, index))
        };
        let (text, index) = texts.entry(path.clone()).or_insert_with(read).as_ref()?;
        Some(index.position(text, span.start).line)
    }
}
