//! The path from a task to one of its agents: the nodes on the way, through `ref` and `call`, and
//! the list of all agents.
//!
//! A node is named by its path: `/steps/1`, and through a reference by the path behind it,
//! `/steps/1/steps/0`. Loads each definition once. Bounded: circular references, which a compiled
//! registry never contains, end in a fault.

use super::fault::{Fault, FaultKind};
use crate::base::expansion::MAX_DEPTH;
use crate::base::parallel;
use crate::kernel::agent_node::AgentNode;
use crate::registry::agents::{self, DefinedNode};
use crate::registry::node::NodeTarget;
use crate::registry::result_names::{self, ResultNames};
use crate::registry::{Child, Node, Registry, Task};
use crate::settings::data::SettingsData;
use crate::template::shape::ValueShape;
use crate::template::trust::TrustNode;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// The trees of a task and of all definitions that it refers to.
#[derive(Debug)]
pub struct TaskGraph<'r> {
    /// The registry that contains the definitions.
    pub registry: &'r Registry,
    tasks: BTreeMap<&'r str, DefinitionTree<'r>>,
    templates: BTreeMap<&'r str, DefinitionTree<'r>>,
}

/// Steps of a sequence by number, with the names found in each.
type CheckedSteps = Vec<(usize, BTreeSet<String>)>;

/// A definition with its nodes.
#[derive(Debug)]
pub(super) struct DefinitionTree<'r> {
    /// The definition.
    pub task: Task<'r>,
    /// Its tree.
    pub root: Node,
    /// The sources of its values.
    pub trust: Vec<TrustNode>,
    /// Its file, relative to the project root.
    pub path: String,
    /// The results of its nodes, computed on demand.
    results: OnceLock<ResultNames>,
    /// The steps that the author marked as checked, fully or for some arguments, by the node of the
    /// sequence; computed on demand.
    checked_steps: OnceLock<BTreeMap<String, CheckedSteps>>,
}

/// One node on the way to an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainLink<'f> {
    /// The definition that contains the node.
    pub tree: &'f DefinitionTree<'f>,
    /// The node.
    pub node: &'f Node,
    /// Its place in the previous node; `None` for the root of a definition.
    pub child: Option<&'f Child>,
    /// The length of the prefix of the requested path that leads to its definition.
    pub base: usize,
}

impl<'r> DefinitionTree<'r> {
    /// Returns its root.
    fn defined_root(&self) -> DefinedNode<'_> {
        DefinedNode {
            definition: self.task.name(),
            node: &self.root,
        }
    }

    fn from_task(task: Task<'r>) -> Result<Self, Fault> {
        let (root, trust, path) = (task.root()?, task.trust()?, task.source()?.path);
        Ok(Self {
            task,
            root,
            trust,
            path,
            results: OnceLock::new(),
            checked_steps: OnceLock::new(),
        })
    }

    /// Returns the steps of a sequence for which `checked` returns names, by step number.
    pub(super) fn checked_steps(
        &self,
        sequence: &Node,
        checked: fn(&Child) -> BTreeSet<String>,
    ) -> &[(usize, BTreeSet<String>)] {
        let of_all = || {
            let mut found = BTreeMap::<String, CheckedSteps>::new();
            let mut open = vec![&self.root];
            while let Some(node) = open.pop() {
                for child in &node.children {
                    if let Some(number) = child.slot_number().filter(|_| child.slot == "steps") {
                        let names = checked(child);
                        if !names.is_empty() {
                            found
                                .entry(node.id.clone())
                                .or_default()
                                .push((number, names));
                        }
                    }
                    open.push(&child.node);
                }
            }
            found
        };
        self.checked_steps
            .get_or_init(of_all)
            .get(&sequence.id)
            .map_or(&[], Vec::as_slice)
    }

    fn runtime_files(&self) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        let mut open = vec![&self.root];
        while let Some(node) = open.pop() {
            files.extend(
                node.body
                    .file_paths
                    .iter()
                    .flat_map(|files| &files.paths)
                    .map(ToString::to_string),
            );
            files.extend(
                node.body
                    .output_format
                    .as_ref()
                    .and_then(|format| super::answer_format::schema_file(format, &self.path)),
            );
            open.extend(node.children.iter().map(|child| &child.node));
        }
        files
    }
}

/// Returns the path of a node's property in its definition, in the format of
/// [`TrustNode::at`](crate::template::trust::TrustNode::at).
pub(super) fn path_in_node(node: &Node, what: &str) -> String {
    format!("{}/{what}", node.id.trim_end_matches('/'))
}

#[cfg(feature = "cli")]
impl DefinitionTree<'_> {
    fn source_files(&self) -> BTreeSet<String> {
        let mut sources = BTreeSet::new();
        let mut open = vec![&self.root];
        while let Some(node) = open.pop() {
            let sources_of = node.body.texts().filter_map(|text| text.src.as_deref());
            sources.extend(
                sources_of.map(|src| super::answer_format::path_beside_template(&self.path, src)),
            );
            open.extend(node.children.iter().map(|child| &child.node));
        }
        sources
    }
}

impl<'r> TaskGraph<'r> {
    /// Loads a task and all definitions that it refers to; `None` if the task does not exist.
    pub fn load(registry: &'r Registry, task: &str) -> Result<Option<Self>, Fault> {
        let Some(root) = registry.find(task) else {
            return Ok(None);
        };
        let mut forest = Self {
            registry,
            tasks: BTreeMap::new(),
            templates: BTreeMap::new(),
        };
        let mut open = vec![(root, false)];
        while let Some((task, is_template)) = open.pop() {
            let tree = DefinitionTree::from_task(task)?;
            for reference in task.references()? {
                let found = match reference.kind {
                    crate::registry::ReferenceKind::Ref => {
                        registry.find(&reference.name).map(|task| (task, false))
                    }
                    crate::registry::ReferenceKind::Call => {
                        registry.template(&reference.name).map(|task| (task, true))
                    }
                    crate::registry::ReferenceKind::From | crate::registry::ReferenceKind::Use => {
                        None
                    }
                };
                open.extend(found.filter(|(task, is_template)| {
                    !forest
                        .definition_trees(*is_template)
                        .contains_key(task.name())
                }));
            }
            if is_template {
                forest.templates.insert(task.name(), tree);
            } else {
                forest.tasks.insert(task.name(), tree);
            }
        }
        Ok(Some(forest))
    }

    /// Loads every task and template, each once.
    pub fn load_all(registry: &'r Registry) -> Result<Self, Fault> {
        Self::load_all_on(registry, Some(NonZeroUsize::MIN))
    }

    /// Loads every task and template on the given number of threads; `None` for one thread per
    /// core.
    pub fn load_all_on(
        registry: &'r Registry,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, Fault> {
        let read = |tasks: Vec<Task<'r>>| {
            let trees =
                parallel::map_items(&tasks, threads, |task| DefinitionTree::from_task(*task));
            trees
                .into_iter()
                .zip(&tasks)
                .map(|(tree, task)| Ok((task.name(), tree?)))
                .collect::<Result<_, Fault>>()
        };
        let (tasks, templates) = (
            read(registry.tasks().collect())?,
            read(registry.templates().collect())?,
        );
        Ok(Self {
            registry,
            tasks,
            templates,
        })
    }

    /// Returns the file of the task with this name, otherwise that of the template.
    pub(super) fn definition_path(&self, name: &str) -> Option<&str> {
        let tree = self.tasks.get(name).or_else(|| self.templates.get(name))?;
        Some(&tree.path)
    }

    const fn definition_trees(&self, is_template: bool) -> &BTreeMap<&'r str, DefinitionTree<'r>> {
        if is_template {
            &self.templates
        } else {
            &self.tasks
        }
    }

    /// Returns the form of a node's answer, if it is known: its own, otherwise that of the last
    /// agent in it, as in `check`.
    pub(super) fn answer_shape(&self, node: &Node) -> Option<ValueShape> {
        let mut node = match self.referenced_tree(node) {
            Some(behind) => &behind.ok()?.root,
            None => node,
        };
        let format = loop {
            if let Some(format) = &node.body.output_format {
                break format;
            }
            let last = move |slot: &str| node.children.iter().rfind(|child| child.slot == slot);
            let reduction = || last("reduction_task").filter(|_| node.body.initial_value.is_none());
            node = &last("steps").or_else(reduction)?.node;
        };
        let of_word = |word: &str| ValueShape::for_type(word).clone();
        match &format.content {
            Some(content) => Some(ValueShape::from_schema(&content.value())),
            None => format.schema.as_deref().map(of_word),
        }
    }

    /// Returns the definition that a node refers to.
    fn referenced_tree(&self, node: &Node) -> Option<Result<&DefinitionTree<'r>, Fault>> {
        let (name, found) = match node.target()? {
            NodeTarget::Task(name) => (name, self.tasks.get(name)),
            NodeTarget::Template(name) => (name, self.templates.get(name)),
        };
        Some(found.ok_or_else(|| {
            FaultKind::Dangling {
                name: name.to_owned(),
            }
            .into()
        }))
    }

    /// The root of a task.
    #[cfg(feature = "eval")]
    pub(crate) fn task_root(&self, task: &str) -> Option<&Node> {
        self.tasks.get(task).map(|tree| &tree.root)
    }

    /// Returns a node that a task reaches, by its path.
    #[cfg(feature = "eval")]
    pub(crate) fn find_node(&self, task: &str, path: &str) -> Option<&Node> {
        Some(self.find_chain(task, path).ok()?.last()?.node)
    }

    /// Returns the root of the definition that a node refers to; `None` if the node is not a
    /// reference.
    #[cfg(feature = "eval")]
    pub(crate) fn referenced_root(&self, node: &Node) -> Option<Result<&Node, Fault>> {
        Some(self.referenced_tree(node)?.map(|tree| &tree.root))
    }

    /// Returns the nodes from a task's root to the node with an id, both included; a reference is
    /// followed by the root of its target.
    pub(super) fn find_chain(&self, task: &str, id: &str) -> Result<Vec<ChainLink<'_>>, Fault> {
        let unknown = || -> Fault {
            let there = self
                .agents(task)
                .unwrap_or_default()
                .into_iter()
                .map(|agent| agent.node)
                .collect();
            FaultKind::NoNode {
                node: id.to_owned(),
                there,
            }
            .into()
        };
        let tree = self.tasks.get(task).ok_or_else(|| {
            Fault::from(FaultKind::Dangling {
                name: task.to_owned(),
            })
        })?;
        let mut chain = vec![ChainLink {
            tree,
            node: &tree.root,
            child: None,
            base: 0,
        }];
        let mut base = String::new();
        let mut followed = 0;
        let asked = id.trim_end_matches('/');
        loop {
            let Some(&ChainLink { tree, node, .. }) = chain.last() else {
                return Err(unknown());
            };
            let inner = asked.strip_prefix(&base).unwrap_or("");
            // The task inside an argument of a call comes before the called definition.
            if let Some(child) = node.child_towards(inner) {
                chain.push(ChainLink {
                    tree,
                    node: &child.node,
                    child: Some(child),
                    base: base.len(),
                });
                continue;
            }
            if let Some(behind) = self.referenced_tree(node) {
                let tree = behind?;
                base.push_str(node.id.trim_end_matches('/'));
                followed += 1;
                if followed > MAX_DEPTH {
                    return Err(FaultKind::Dangling {
                        name: tree.task.name().to_owned(),
                    }
                    .into());
                }
                chain.push(ChainLink {
                    tree,
                    node: &tree.root,
                    child: None,
                    base: base.len(),
                });
                continue;
            }
            let here = [base.as_str(), node.id.trim_end_matches('/')].concat();
            return if here == asked {
                Ok(chain)
            } else {
                Err(unknown())
            };
        }
    }

    /// Returns the files that these definitions read when a context is assembled, by their path in
    /// the project, sorted: those of `<file_paths>`, and schemas of answers that the registry does
    /// not store.
    pub fn files(&self) -> BTreeSet<String> {
        self.files_of_each().flat_map(|(_, files)| files).collect()
    }

    /// Returns the files of [`Self::files`] separately for each definition, with its name.
    pub(crate) fn files_of_each(&self) -> impl Iterator<Item = (&str, BTreeSet<String>)> {
        self.tasks
            .iter()
            .chain(&self.templates)
            .map(|(name, tree)| (*name, tree.runtime_files()))
    }

    /// Returns the files that each definition includes by `src`, by their path in the project,
    /// sorted.
    #[cfg(feature = "cli")]
    pub(crate) fn source_files(&self) -> impl Iterator<Item = (&str, BTreeSet<String>)> {
        self.tasks
            .iter()
            .chain(&self.templates)
            .map(|(name, tree)| (*name, tree.source_files()))
    }

    /// Returns the settings of a node that a task reaches; `None` if the node has no context of its
    /// own.
    ///
    /// # Errors
    /// The task or node does not exist.
    pub fn settings(&self, task: &str, node: &str) -> Result<Option<&SettingsData>, Fault> {
        Ok(self
            .find_chain(task, node)?
            .last()
            .and_then(|link| link.node.settings.as_ref()))
    }

    /// Returns the paths of a node and of the nodes around it that have settings, innermost first.
    #[cfg(feature = "eval")]
    pub(crate) fn enclosing_nodes(&self, task: &str, node: &str) -> Vec<String> {
        let ends = node
            .match_indices('/')
            .map(|(at, _)| at.max(1))
            .chain([node.len()])
            .rev();
        let mut paths: Vec<String> = ends
            .filter_map(|end| node.get(..end))
            .map(str::to_owned)
            .collect();
        paths.dedup();
        paths.retain(|path| matches!(self.settings(task, path), Ok(Some(_))));
        paths
    }

    /// Changes the settings of a node, to compute the effect on contexts.
    ///
    /// # Errors
    /// The task or node does not exist.
    #[cfg(feature = "eval")]
    pub(crate) fn change_settings(
        &mut self,
        task: &str,
        node: &str,
        change: impl FnOnce(&mut SettingsData),
    ) -> Result<(), Fault> {
        let chain = self.find_chain(task, node)?;
        let Some(link) = chain.last() else {
            return Ok(());
        };
        let name = link.tree.task.name().to_owned();
        let id = link.node.id.clone();
        let is_template = self
            .templates
            .get(name.as_str())
            .is_some_and(|tree| std::ptr::eq(tree, link.tree));
        let trees = if is_template {
            &mut self.templates
        } else {
            &mut self.tasks
        };
        let Some(tree) = trees.get_mut(name.as_str()) else {
            return Ok(());
        };
        let mut found = &mut tree.root;
        while found.id != id {
            let leads = |child: &&mut Child| {
                let rest = id.strip_prefix(&child.node.id);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let Some(child) = found.children.iter_mut().find(leads) else {
                return Ok(());
            };
            found = &mut child.node;
        }
        if let Some(settings) = &mut found.settings {
            change(settings);
        }
        Ok(())
    }

    /// Returns the results of a task's nodes, by their names and paths.
    pub(super) fn result_names(&self, task: &str) -> &ResultNames {
        static NONE: ResultNames = ResultNames::new();
        let behind = |node: &'_ Node| Some(&self.referenced_tree(node)?.ok()?.root);
        self.tasks.get(task).map_or(&NONE, |tree| {
            tree.results
                .get_or_init(|| result_names::collect_results(&tree.root, &behind))
        })
    }

    /// Returns every agent that a task may call, in document order, including those of the tasks
    /// and templates that it refers to.
    pub fn agents(&self, task: &str) -> Result<Vec<AgentNode>, Fault> {
        let tree = self.tasks.get(task).ok_or_else(|| {
            Fault::from(FaultKind::Dangling {
                name: task.to_owned(),
            })
        })?;
        let behind = |node: &'_ Node| {
            Some(
                self.referenced_tree(node)?
                    .map(DefinitionTree::defined_root),
            )
        };
        agents::collect_agent_nodes(tree.defined_root(), &behind, Node::is_agent)
    }
}
