//! Results of earlier steps as a caller hands them in, by the paths of their nodes from the task's root on.
//!
//! A name stands for the one result of the whole task that has it, and for none where several do: what one task left never stands for what
//! another of the same name leaves.

use super::fault::{Fault, FaultKind};
use super::request::{Request, StepResult};
use super::task_graph::{Link, TaskGraph};
use crate::registry::result_names;
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

    /// The result of a node on the way to the agent, or in front of that, by its path in the definition; and what it goes by.
    pub(super) fn get(&self, link: &Link<'_>, name: Option<&str>, id: &str) -> (String, Option<&'a StepResult>) {
        let path = [self.request.node.get(..link.base).unwrap_or(""), id].concat();
        match self.found.get(&*path) {
            Some((key, result)) => ((*key).to_owned(), Some(*result)),
            None => (result_names::handle(self.forest.result_names(self.request.task), name, &path), None),
        }
    }
}
