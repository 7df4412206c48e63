//! One definition as one line of the registry, written straight from the model.
//!
//! The hash of its own content sees what the definition means: not where it stands, not how it is laid out, not where
//! a setting came from.

use super::canonical::{Sources, canonical};
use super::json::Json;
use super::layout::HASH_LEN;
use super::tree::{Shared, Tree};
use crate::base::diagnostic::Diagnostic;
use crate::base::hash::{Hash, Hasher};
use crate::project::index::RefId;
use crate::registry::artifact::Warning;
use crate::settings::layers::Layers;
use crate::settings::resolve::Resolved;
use crate::template::model::{Definition, Fragment, Task, Template};
use crate::template::names::Param;
use crate::template::trust::TrustNode;
use serde::Serialize;

/// A compiled definition: its line of the registry with the hash still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index of the definition in its file's facts.
    pub definition: u32,
    /// Hash of its own content: what it means, not where or how it is written.
    pub own: Hash,
    /// The line, without a line break.
    pub bytes: Vec<u8>,
    /// Where in `bytes` the 67 bytes of the hash belong, once everything it refers to is known.
    pub hash_at: u32,
    /// Where the list of its parameters ends, before the bracket; 0 of a fragment.
    parameters_end: u32,
}

impl Entry {
    /// The same with what is known of it where all definitions are: parameters that it takes for what it refers to, and what its values
    /// are made of, which follows of what the hashes of all are made of.
    pub(in crate::registry) fn linked(&self, extra: &[(Param, RefId)], trust: &[TrustNode]) -> Self {
        let mut list = Json::default();
        let (before, after) = self.bytes.split_at_checked(self.parameters_end as usize).unwrap_or((&self.bytes, &[]));
        for (number, (Param { name, kind, .. }, _)) in extra.iter().enumerate() {
            if number > 0 || !before.ends_with(b"[") {
                list.raw(",");
            }
            list.value(&Variable { name, kind: kind.as_deref(), required: true, default: None, implicit: true });
        }
        let own = if extra.is_empty() { self.own } else { Hasher::new().field(self.own.0).field(&list.bytes).finish() };
        let (bracket, after) = after.split_at_checked(1).unwrap_or_default();
        list.bytes.extend_from_slice(bracket);
        if !trust.is_empty() {
            list.key("trust");
            list.value(&trust);
        }
        let bytes = [before, &list.bytes, after].concat();
        Self { own, bytes, ..*self }
    }
}

/// One file whose definitions are written.
#[derive(Clone, Copy)]
pub(super) struct FileInput<'a> {
    /// Relative to the project root.
    pub path: &'a str,
    /// The defaults of the project.
    pub layers: &'a Layers,
    /// The settings of each task body by its number; `None` where a body has none of its own (`ref`).
    pub resolved: &'a [Option<Resolved>],
    /// What its texts are pulled from.
    pub sources: &'a dyn Sources,
}

/// One definition to be written.
#[derive(Clone, Copy)]
pub(super) struct DefinitionInput<'a> {
    /// Its index in the file's facts.
    pub index: u32,
    /// The model.
    pub definition: &'a Definition<'a>,
    /// Its name: as written, else the file's stem.
    pub name: &'a str,
    /// The variables it takes, in order.
    pub parameters: &'a [Variable<'a>],
    /// Its findings, none of them an error.
    pub warnings: &'a [&'a Diagnostic],
}

/// A variable that a definition takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its declared type.
    #[serde(rename = "type")]
    pub kind: Option<&'a str>,
    /// Whether a run without a value fails.
    pub required: bool,
    /// The value it has when none is given.
    pub default: Option<&'a str>,
    /// Found in the texts rather than declared.
    pub implicit: bool,
}

/// Writes one definition. `None` for a template without its task, which is an error reported elsewhere.
pub(super) fn write(file: &FileInput<'_>, input: &DefinitionInput<'_>) -> Option<Entry> {
    match input.definition {
        Definition::Fragment(fragment) => Some(fragment_line(file, input, fragment)),
        Definition::Task(task) => Some(task_line(file, input, task, None)),
        Definition::Template(template) => Some(task_line(file, input, template.task.as_deref()?, Some(template))),
    }
}

fn task_line(file: &FileInput<'_>, input: &DefinitionInput<'_>, task: &Task<'_>, template: Option<&Template<'_>>) -> Entry {
    let FileInput { layers, .. } = *file;
    let shared = Shared { path: file.path, layers, resolved: file.resolved, sources: file.sources };
    let mut tree = Tree::new(shared);
    // What is resolved is said in full, and takes about twice the room of what is written.
    tree.out.bytes.reserve(input.definition.element().span().len() as usize * 2);
    tree.task(task);
    let row = file.resolved.get(task.body as usize).and_then(Option::as_ref).map(|resolved| layers.get(resolved.row));
    let version = task.version.as_ref().map(|version| &*version.value);
    let mut head = Json { bytes: Vec::with_capacity(tree.out.bytes.len() + 512) };
    head.raw("{\"name\":");
    head.str(input.name);
    head.raw(",\"version\":");
    head.value(&version);
    head.raw(",\"operator\":");
    // A task that is nothing but a `ref` has no type of its own.
    head.str(row.map_or("ref", |row| row.operator()));
    head.raw(",\"subtype\":");
    head.value(&row.and_then(|row| row.subtype()).map(|subtype| &**subtype));
    let hash_at = source_and_hash(&mut head, file.path, input);
    let parameters = head.bytes.len();
    if let Some(template) = template {
        head.key("returns");
        head.value(&template.returns.as_ref().map(|returns| &*returns.value));
        head.key("params");
    } else {
        head.key("parameters");
    }
    head.value(&input.parameters);
    let parameters_end = head.bytes.len() as u32 - 1;
    let mut content = Vec::with_capacity(tree.out.bytes.len());
    tree.canonical(&mut content);
    let mut hasher = Hasher::new();
    hasher.field(input.definition.kind().word()).field(input.name).field(version.unwrap_or("\0"));
    hasher.field(head.bytes.get(parameters..).unwrap_or(&[])).field(&content);
    head.raw(",\"references\":");
    head.value(&tree.references);
    head.raw(",\"warnings\":");
    head.value(&input.warnings.iter().map(|found| warning(found)).collect::<Vec<_>>());
    head.raw(",\"root\":");
    head.bytes.extend_from_slice(&tree.out.bytes);
    head.raw("}");
    Entry { definition: input.index, own: hasher.finish(), bytes: head.bytes, hash_at, parameters_end }
}

/// `{"name":…,"hash":…,"source":…,"text":…}`.
fn fragment_line(file: &FileInput<'_>, input: &DefinitionInput<'_>, fragment: &Fragment<'_>) -> Entry {
    let mut line = Json::default();
    line.raw("{\"name\":");
    line.str(input.name);
    let hash_at = source_and_hash(&mut line, file.path, input);
    line.raw(",\"text\":");
    let start = line.bytes.len();
    line.value(&canonical(&fragment.text, file.sources, &mut Vec::new()));
    let mut hasher = Hasher::new();
    hasher.field(input.definition.kind().word()).field(input.name).field(line.bytes.get(start..).unwrap_or(&[]));
    line.raw("}");
    Entry { definition: input.index, own: hasher.finish(), bytes: line.bytes, hash_at, parameters_end: 0 }
}

/// Appends the source and an open hash; where the hash belongs.
fn source_and_hash(out: &mut Json, path: &str, input: &DefinitionInput<'_>) -> u32 {
    out.raw(",\"source\":{\"path\":");
    out.str(path);
    out.raw(",\"span\":");
    out.value(&input.definition.element().span());
    out.raw("},\"hash\":\"");
    let hash_at = out.bytes.len() as u32;
    out.bytes.resize(out.bytes.len() + HASH_LEN, b'0');
    out.raw("\"");
    hash_at
}

fn warning(found: &Diagnostic) -> Warning {
    Warning { code: found.rule.code.to_string(), name: found.rule.name.to_owned(), span: found.span }
}
