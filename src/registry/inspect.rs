//! The definitions of a project, and the resolved settings of every node of one of them, even if
//! other parts of the project have errors. Runs no rule and writes no entry; a file that cannot be
//! read has no definitions.

use super::compile::CompileReason;
use super::compile::is_foreign;
use super::workspace::files::{self, FileSelection, SelectedFile};
use super::workspace::packages;
use super::workspace::request::NoSuchPath;
use crate::base::fs::{self, RealFs};
use crate::base::span::Span;
use crate::kernel::sampling::Sampling;
use crate::project::config::Config;
use crate::rules::file_stem::default_task_name;
use crate::settings::bodies::ResolvedBodies;
use crate::settings::data::SettingsData;
use crate::settings::explain::SettingsView;
use crate::syntax::decode;
use crate::syntax::reader::XmlReader;
use crate::template;
use crate::template::names::{DefinitionFacts, DefinitionKind};
use crate::template::nodes::{self, TaskNode};
use serde::Serialize;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// The place where a task or a function template is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefinitionPlace {
    /// Its name.
    pub name: Box<str>,
    /// Task or template.
    pub kind: DefinitionKind,
    /// Its file, relative to the project root.
    pub path: Arc<str>,
    /// Its number among the file's definitions.
    pub definition: u32,
    /// The span of its name.
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
    /// The type; null for calls and choices, and for a reference to another task.
    pub operator: Option<String>,
    /// The subtype or part; null if it has none.
    pub subtype: Option<String>,
    /// The name of its result; null if it has none.
    #[serde(rename = "as")]
    pub result: Option<String>,
    /// The task or function template that it refers to; null if it is no reference.
    pub reference: Option<String>,
    /// The four settings; null if it has no context of its own.
    pub settings: Option<SettingsData>,
    /// The sampling parameters of its model, if it sets them itself.
    #[serde(skip_serializing_if = "Sampling::is_empty")]
    #[cfg_attr(
        feature = "cli",
        schemars(schema_with = "crate::kernel::sampling::sampling_schema")
    )]
    pub sampling: Sampling,
}

/// Lists every task and function template of a project, by name.
///
/// # Errors
/// The project includes a path that does not exist.
pub fn find_definitions(
    root: &Path,
    config: &Config,
    threads: Option<NonZeroUsize>,
) -> Result<Vec<DefinitionPlace>, NoSuchPath> {
    let found = files::map_files(
        FileSelection {
            root,
            config,
            given: &[],
            threads,
        },
        &|file| Some(definitions_in_file(file, config)),
    )?;
    let mut places: Vec<DefinitionPlace> =
        found.into_iter().flat_map(|(_, places)| places).collect();
    for (package, path, bytes) in packages::read_templates(config, root, &RealFs) {
        let file = SelectedFile {
            name: &path,
            path: Path::new(&path),
            chosen: CompileReason::Found,
            bytes: Ok(&bytes),
        };
        let own = definitions_in_file(&file, &package.config).into_iter();
        let own = own.map(|place| DefinitionPlace {
            name: package.names.own_name(&place.name).into(),
            ..place
        });
        places.extend(own.filter(|place| package.exports_definition(place.kind, &place.name)));
    }
    places.sort();
    places.dedup();
    Ok(places)
}

fn definitions_in_file(file: &SelectedFile<'_>, config: &Config) -> Vec<DefinitionPlace> {
    let Some(text) = file
        .bytes
        .as_ref()
        .ok()
        .and_then(|bytes| decode::decode(bytes).ok())
    else {
        return Vec::new();
    };
    let mut reader = XmlReader::new();
    reader.read(&text, &config.limits);
    let document = reader.document(&text);
    if is_foreign(document) {
        return Vec::new();
    }
    let facts = template::facts::collect(
        &template::lower_document(document),
        default_task_name(file.name),
    );
    let path: Arc<str> = Arc::from(file.name);
    let tasks = facts
        .definitions
        .into_iter()
        .zip(0..)
        .filter(|(definition, _)| definition.kind != DefinitionKind::Fragment);
    let place = |(found, definition): (DefinitionFacts, u32)| {
        let DefinitionFacts {
            name, kind, span, ..
        } = found;
        DefinitionPlace {
            name,
            kind,
            path: Arc::clone(&path),
            definition,
            span,
        }
    };
    tasks.map(place).collect()
}

/// Resolves the nodes of a definition, in document order, each with its settings.
///
/// # Errors
/// The file can no longer be read.
pub fn resolve_nodes(
    root: &Path,
    config: &Config,
    place: &DefinitionPlace,
) -> io::Result<Vec<ResolvedNode>> {
    let mut bytes = Vec::new();
    let path = config.packages.real_path(root, &place.path);
    fs::read_regular(&path, config.limits.file, &mut bytes)?;
    let package = config.packages.of_file(&place.path);
    let config = package.map_or(config, |package| &*package.config);
    let text = decode::decode(&bytes)
        .map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault.to_string()))?;
    let mut reader = XmlReader::new();
    reader.read(&text, &config.limits);
    let file = template::lower_document(reader.document(&text));
    let mut bodies = ResolvedBodies::default();
    bodies.resolve(&file, &config.layers);
    let mut out = Vec::new();
    if let Some(task) = file
        .definitions
        .get(place.definition as usize)
        .and_then(template::model::Definition::task)
    {
        nodes::visit_nodes(task, &mut |node, id| {
            out.push(resolve_node(node, id, &bodies, config, &place.path));
        });
    }
    Ok(out)
}

fn resolve_node(
    node: TaskNode<'_, '_>,
    id: &str,
    bodies: &ResolvedBodies,
    config: &Config,
    path: &str,
) -> ResolvedNode {
    let owned = |value: &Option<template::parts::Str<'_>>| {
        value.as_ref().map(|value| value.value.to_string())
    };
    let mut out = ResolvedNode {
        id: id.to_owned(),
        element: String::new(),
        operator: None,
        subtype: None,
        result: None,
        reference: None,
        settings: None,
        sampling: Sampling::new(),
    };
    match node {
        TaskNode::Call(call) => {
            "call".clone_into(&mut out.element);
            (out.result, out.reference) = (owned(&call.result), owned(&call.template));
        }
        TaskNode::Cond(cond) => {
            cond.element.name().clone_into(&mut out.element);
            out.result = owned(&cond.result);
        }
        TaskNode::Task(task) => {
            task.element.name().clone_into(&mut out.element);
            (out.result, out.reference) = (owned(&task.result), owned(&task.reference));
            out.sampling = task.sampling.clone();
            // A task that refers to a registered one has the settings of that one.
            if let Some(body) = bodies.get(task).filter(|_| task.reference.is_none()) {
                let row = config.layers.get(body.resolved.row);
                out.operator = Some(row.operator().to_string());
                out.subtype = row.subtype().map(ToString::to_string);
                out.settings = Some(
                    SettingsView {
                        resolved: &body.resolved,
                        layers: &config.layers,
                        path,
                    }
                    .settings_data(),
                );
            }
        }
    }
    out
}
