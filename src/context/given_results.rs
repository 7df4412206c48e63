//! Results of earlier steps as a caller hands them in, by the paths of their nodes from the task's root on.
//!
//! A name stands for the one result of the whole task that has it, and for none where several do: what one task left never stands for what
//! another of the same name leaves.

use super::fault::{Fault, FaultKind};
use super::request::{Request, StepResult};
use super::task_graph::{Link, TaskGraph};
use crate::kernel::context::Trust;
use std::collections::BTreeMap;

/// The results of a request.
#[derive(Debug)]
pub(super) struct GivenResults<'a> {
    forest: &'a TaskGraph<'a>,
    request: &'a Request<'a>,
    /// By path, each with what the caller calls it.
    found: BTreeMap<&'a str, (&'a str, &'a StepResult)>,
}

impl<'a> GivenResults<'a> {
    /// Finds out which result each of them is.
    pub(super) fn of(forest: &'a TaskGraph<'a>, request: &'a Request<'a>) -> Result<Self, Vec<Fault>> {
        let mut given = Self { forest, request, found: BTreeMap::new() };
        let mut faults = Vec::new();
        for (key, result) in request.results {
            let paths = if key.starts_with('/') {
                std::slice::from_ref(key)
            } else {
                forest.result_names(request.task).get(key).map_or(&[][..], Vec::as_slice)
            };
            if let [path] = paths
                && given.found.insert(path, (key, result)).is_none()
            {
                continue;
            }
            if !paths.is_empty() {
                faults.push(FaultKind::AmbiguousResult { name: key.clone(), paths: paths.to_vec() }.into());
            }
        }
        if faults.is_empty() { Ok(given) } else { Err(faults) }
    }

    /// The result of a node on the way to the agent, or in front of that, by its path in the definition; with what the caller calls it.
    pub(super) fn find(&self, link: &Link<'_>, id: &str) -> Option<(&'a str, &'a StepResult)> {
        if self.found.is_empty() { None } else { self.found.get(&*self.path(link, id)).copied() }
    }

    /// The nodes of the definition of a link whose results a run has seen to be untrusted, by their paths there.
    pub(super) fn untrusted_in(&self, link: &Link<'_>) -> impl Iterator<Item = &str> {
        let base = self.request.node.get(..link.base).unwrap_or("");
        let untrusted = self.found.iter().filter(|(_, (_, result))| result.trust == Trust::Untrusted);
        untrusted.filter_map(move |(path, _)| path.strip_prefix(base)).map(|id| if id.is_empty() { "/" } else { id })
    }

    /// What the result of such a node goes by: its name where it alone has that, else its path.
    pub(super) fn handle(&self, link: &Link<'_>, name: Option<&str>, id: &str) -> String {
        let names = self.forest.result_names(self.request.task);
        let is_own = |name: &&str| names.get(*name).is_some_and(|paths| paths.len() == 1);
        name.filter(is_own).map_or_else(|| self.path(link, id), str::to_owned)
    }

    fn path(&self, link: &Link<'_>, id: &str) -> String {
        [self.request.node.get(..link.base).unwrap_or(""), id].concat()
    }
}
