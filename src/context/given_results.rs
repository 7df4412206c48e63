//! Results of earlier steps that a caller passes in, by the paths of their nodes from the task's
//! root.
//!
//! A name stands for the only result of the whole task that has it. If several results share the
//! name, it stands for none of them, so a result never replaces another of the same name.

use super::fault::{Fault, FaultKind};
use super::request::{Request, StepResult};
use super::task_graph::{ChainLink, TaskGraph};
use crate::kernel::context::Trust;
use std::collections::BTreeMap;

/// The results of a request.
#[derive(Debug)]
pub(super) struct GivenResults<'a> {
    forest: &'a TaskGraph<'a>,
    request: &'a Request<'a>,
    /// Each result by path, with the key that the caller used.
    found: BTreeMap<&'a str, (&'a str, &'a StepResult)>,
}

impl<'a> GivenResults<'a> {
    /// Resolves the key of each result to a path.
    pub(super) fn resolve(
        forest: &'a TaskGraph<'a>,
        request: &'a Request<'a>,
    ) -> Result<Self, Vec<Fault>> {
        let mut given = Self {
            forest,
            request,
            found: BTreeMap::new(),
        };
        let mut faults = Vec::new();
        for (key, result) in request.results {
            let paths = if key.starts_with('/') {
                std::slice::from_ref(key)
            } else {
                forest
                    .result_names(request.task)
                    .get(key)
                    .map_or(&[][..], Vec::as_slice)
            };
            if let [path] = paths
                && given.found.insert(path, (key, result)).is_none()
            {
                continue;
            }
            if !paths.is_empty() {
                faults.push(
                    FaultKind::AmbiguousResult {
                        name: key.clone(),
                        paths: paths.to_vec(),
                    }
                    .into(),
                );
            }
        }
        if faults.is_empty() {
            Ok(given)
        } else {
            Err(faults)
        }
    }

    /// Returns the result of a node by its path in the definition, with the key that the caller
    /// used. The node leads to the agent or comes before it.
    pub(super) fn find(&self, link: &ChainLink<'_>, id: &str) -> Option<(&'a str, &'a StepResult)> {
        if self.found.is_empty() {
            None
        } else {
            self.found.get(&*self.full_path(link, id)).copied()
        }
    }

    /// Returns the paths, in the definition of a link, of the nodes whose results a run has found
    /// to be untrusted.
    pub(super) fn untrusted_in(&self, link: &ChainLink<'_>) -> impl Iterator<Item = &str> {
        let base = self.request.node.get(..link.base).unwrap_or("");
        let untrusted = self
            .found
            .iter()
            .filter(|(_, (_, result))| result.trust == Trust::Untrusted);
        untrusted
            .filter_map(move |(path, _)| path.strip_prefix(base))
            .map(|id| if id.is_empty() { "/" } else { id })
    }

    /// Returns the name of such a node if it is unique in the task, otherwise its full path.
    pub(super) fn display_name(
        &self,
        link: &ChainLink<'_>,
        name: Option<&str>,
        id: &str,
    ) -> String {
        let names = self.forest.result_names(self.request.task);
        let is_own = |name: &&str| names.get(*name).is_some_and(|paths| paths.len() == 1);
        name.filter(is_own)
            .map_or_else(|| self.full_path(link, id), str::to_owned)
    }

    fn full_path(&self, link: &ChainLink<'_>, id: &str) -> String {
        [self.request.node.get(..link.base).unwrap_or(""), id].concat()
    }
}
