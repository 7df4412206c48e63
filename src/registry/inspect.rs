//! One task as it resolves, whatever else is wrong with the project: where definitions are, and the settings of every
//! node of one. Asks no rule and writes no entry; what cannot be read is no definition.

use super::compile::is_foreign;
use super::walk::{Found, Missing, Plan, Visit};
use crate::base::fs;
use crate::base::span::Span;
use crate::project::config::Config;
use crate::rules::check::stem;
use crate::settings::bodies::Bodies;
use crate::settings::explain::{SettingsData, View};
use crate::syntax::decode;
use crate::syntax::reader::Reader;
use crate::template;
use crate::template::names::DefinitionKind;
use crate::template::nodes::{self, Node};
use serde::Serialize;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a task or a function template is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its name.
    pub name: Box<str>,
    /// Task or template.
    pub kind: DefinitionKind,
    /// Its file, relative to the project root.
    pub path: Arc<str>,
    /// Its number among the file's definitions.
    pub definition: u32,
    /// Where its name stands.
    pub span: Span,
}

/// A task, call or choice, resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ResolvedNode {
    /// The path inside the task; `/` is the task itself.
    pub id: String,
    /// The element that it is written as.
    pub element: String,
    /// The type; null for calls and choices, and where it stands for another task.
    pub operator: Option<String>,
    /// The subtype or part; null where it has none.
    pub subtype: Option<String>,
    /// The name that its result gets; null where it gets none.
    #[serde(rename = "as")]
    pub result: Option<String>,
    /// The task or function template that it stands for; null where it stands for itself.
    pub reference: Option<String>,
    /// The four settings; null where it has no context of its own.
    pub settings: Option<SettingsData>,
}

/// The files that may be templates of a project, by their names alone, sorted.
///
/// # Errors
/// The project includes a path that does not exist.
pub fn files(root: &Path, config: &Config) -> Result<Vec<Arc<str>>, PathBuf> {
    let templates = &config.templates;
    let plan = Plan::new(root, &[], templates.include.as_ref(), &templates.exclude).map_err(|Missing(path)| path)?;
    let all = Mutex::new(Vec::new());
    plan.run(plan.threads(None), || Lister { found: Vec::new(), all: &all });
    let mut files: Vec<Arc<str>> = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort();
    files.dedup();
    Ok(files)
}

struct Lister<'w> {
    found: Vec<Arc<str>>,
    all: &'w Mutex<Vec<Arc<str>>>,
}

impl Visit for Lister<'_> {
    fn file(&mut self, found: &Found<'_>) {
        self.found.push(Arc::from(found.name));
    }

    fn unreadable(&mut self, _: &str, _: io::Error) {}
}

impl Drop for Lister<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

/// Every task and function template of a project, by name.
///
/// # Errors
/// The project includes a path that does not exist.
pub fn places(root: &Path, config: &Config, threads: Option<NonZeroUsize>) -> Result<Vec<Place>, PathBuf> {
    let templates = &config.templates;
    let plan = Plan::new(root, &[], templates.include.as_ref(), &templates.exclude).map_err(|Missing(path)| path)?;
    let all = Mutex::new(Vec::new());
    plan.run(plan.threads(threads), || Worker { config, reader: Reader::new(), bytes: Vec::new(), found: Vec::new(), all: &all });
    let mut places = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    places.sort();
    places.dedup();
    Ok(places)
}

struct Worker<'w> {
    config: &'w Config,
    reader: Reader,
    bytes: Vec<u8>,
    found: Vec<Place>,
    all: &'w Mutex<Vec<Place>>,
}

impl Visit for Worker<'_> {
    fn file(&mut self, found: &Found<'_>) {
        if fs::read_into(found.path, self.config.limits.file, &mut self.bytes).is_err() {
            return;
        }
        let Ok(text) = decode::decode(&self.bytes) else { return };
        self.reader.read(&text, &self.config.limits);
        let document = self.reader.document(&text);
        if is_foreign(document) {
            return;
        }
        let facts = template::facts::collect(&template::lower(document), stem(found.name));
        let path: Arc<str> = Arc::from(found.name);
        for (at, definition) in facts.definitions.into_iter().enumerate() {
            if definition.kind != DefinitionKind::Fragment {
                let (path, definition_at) = (Arc::clone(&path), at as u32);
                let (name, kind, span) = (definition.name, definition.kind, definition.span);
                self.found.push(Place { name, kind, path, definition: definition_at, span });
            }
        }
    }

    fn unreadable(&mut self, _: &str, _: io::Error) {}
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

/// The nodes of a definition in document order, each with its settings.
///
/// # Errors
/// The file cannot be read any more.
pub fn nodes(root: &Path, config: &Config, place: &Place) -> io::Result<Vec<ResolvedNode>> {
    let mut bytes = Vec::new();
    fs::read_own(&root.join(&*place.path), config.limits.file, &mut bytes)?;
    let text = decode::decode(&bytes).map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault.to_string()))?;
    let mut reader = Reader::new();
    reader.read(&text, &config.limits);
    let file = template::lower(reader.document(&text));
    let mut bodies = Bodies::default();
    bodies.resolve(&file, &config.layers);
    let mut out = Vec::new();
    if let Some(task) = file.definitions.get(place.definition as usize).and_then(template::model::Definition::task) {
        nodes::paths(task, &mut |node, id| out.push(resolved(node, id, &bodies, config, &place.path)));
    }
    Ok(out)
}

fn resolved(node: Node<'_, '_>, id: &str, bodies: &Bodies, config: &Config, path: &str) -> ResolvedNode {
    let owned = |value: &Option<template::model::Str<'_>>| value.as_ref().map(|value| value.value.to_string());
    let mut out = ResolvedNode {
        id: id.to_owned(),
        element: String::new(),
        operator: None,
        subtype: None,
        result: None,
        reference: None,
        settings: None,
    };
    match node {
        Node::Call(call) => {
            call.element.name().clone_into(&mut out.element);
            (out.result, out.reference) = (owned(&call.result), owned(&call.template));
        }
        Node::Cond(cond) => {
            cond.element.name().clone_into(&mut out.element);
            out.result = owned(&cond.result);
        }
        Node::Task(task) => {
            task.element.name().clone_into(&mut out.element);
            (out.result, out.reference) = (owned(&task.result), owned(&task.reference));
            // A task that stands for a registered one has that one's settings.
            if let Some(body) = bodies.get(task).filter(|_| task.reference.is_none()) {
                let row = config.layers.get(body.resolved.row);
                out.operator = Some(row.operator().to_string());
                out.subtype = row.subtype().map(ToString::to_string);
                out.settings = Some(View { resolved: &body.resolved, layers: &config.layers, path }.settings());
            }
        }
    }
    out
}
