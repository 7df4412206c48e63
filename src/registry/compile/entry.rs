//! One definition as one line of the registry, written directly from the model.
//!
//! The own hash of a definition covers its meaning only: not its place, its layout or the
//! provenance of a setting.

use super::canonical::{IncludedTexts, canonical_text};
use super::json::JsonBuffer;
use super::layout::HASH_LEN;
use super::tree::{TreeContext, TreeWriter};
use crate::base::diagnostic::Diagnostic;
use crate::base::hash::{Hash, Hasher};
use crate::project::index::RefId;
use crate::registry::artifact::Warning;
use crate::settings::layers::Layers;
use crate::settings::resolve::ResolvedSettings;
use crate::template::model::{Definition, Fragment, TaskBody, Template};
use crate::template::names::Param;
use crate::template::trust::TrustNode;
use serde::Serialize;

/// A compiled definition: its line of the registry, with the hash still to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryEntry {
    /// Index of the definition in its file's facts.
    pub definition: u32,
    /// The hash of its own content: its meaning, not its place or layout.
    pub own_hash: Hash,
    /// The line, without a line break.
    pub bytes: Vec<u8>,
    /// The offset in `bytes` of the 67 bytes of the hash, filled in once the hashes of all
    /// references are known.
    pub hash_at: u32,
    /// The offset of the bracket that closes the list of parameters; 0 for a fragment.
    parameters_end: u32,
}

impl RegistryEntry {
    /// The same entry completed after linking: parameters required by its references, and the trust
    /// of its values. Only the parameters change the own hash, since trust follows from the
    /// contents of all hashes.
    pub(in crate::registry) fn with_links(
        &self,
        extra: &[(Param, RefId)],
        trust: &[TrustNode],
    ) -> Self {
        let mut list = JsonBuffer::default();
        let (before, after) = self
            .bytes
            .split_at_checked(self.parameters_end as usize)
            .unwrap_or((&self.bytes, &[]));
        for (number, (Param { name, kind, .. }, _)) in extra.iter().enumerate() {
            if number > 0 || !before.ends_with(b"[") {
                list.push_raw(",");
            }
            list.push_value(&DefinitionVariable {
                name,
                kind: kind.as_deref(),
                required: true,
                default: None,
                implicit: true,
            });
        }
        let own = if extra.is_empty() {
            self.own_hash
        } else {
            Hasher::new()
                .add_field(self.own_hash.0)
                .add_field(&list.bytes)
                .finish()
        };
        let (bracket, after) = after.split_at_checked(1).unwrap_or_default();
        list.bytes.extend_from_slice(bracket);
        if !trust.is_empty() {
            list.push_key("trust");
            list.push_value(&trust);
        }
        let bytes = [before, &list.bytes, after].concat();
        Self {
            own_hash: own,
            bytes,
            ..*self
        }
    }
}

/// One file whose definitions are written.
#[derive(Clone, Copy)]
pub(super) struct FileInput<'a> {
    /// Relative to the project root.
    pub path: &'a str,
    /// The defaults of the project.
    pub layers: &'a Layers,
    /// The settings of each task body by its number; `None` if a body has none of its own (`ref`).
    pub resolved: &'a [Option<ResolvedSettings>],
    /// The texts that the file includes.
    pub sources: &'a dyn IncludedTexts,
}

/// One definition to be written.
#[derive(Clone, Copy)]
pub(super) struct DefinitionInput<'a> {
    /// Its index in the file's facts.
    pub index: u32,
    /// The model.
    pub definition: &'a Definition<'a>,
    /// Its name: as written, or else the file's stem.
    pub name: &'a str,
    /// The variables it takes, in order.
    pub parameters: &'a [DefinitionVariable<'a>],
    /// Its findings, none of them an error.
    pub warnings: &'a [&'a Diagnostic],
}

/// A variable that a definition takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DefinitionVariable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its declared type.
    #[serde(rename = "type")]
    pub kind: Option<&'a str>,
    /// True if a run fails without a value.
    pub required: bool,
    /// The value used if none is given.
    pub default: Option<&'a str>,
    /// True if the variable was found in the texts instead of declared.
    pub implicit: bool,
}

/// Writes one definition. `None` for a template without a task, which is an error reported
/// elsewhere.
pub(super) fn write_entry(
    file: &FileInput<'_>,
    input: &DefinitionInput<'_>,
) -> Option<RegistryEntry> {
    match input.definition {
        Definition::Fragment(fragment) => Some(fragment_line(file, input, fragment)),
        Definition::Task(task) => Some(task_line(file, input, task, None)),
        Definition::Template(template) => Some(task_line(
            file,
            input,
            template.task.as_deref()?,
            Some(template),
        )),
    }
}

fn task_line(
    file: &FileInput<'_>,
    input: &DefinitionInput<'_>,
    task: &TaskBody<'_>,
    template: Option<&Template<'_>>,
) -> RegistryEntry {
    let FileInput { layers, .. } = *file;
    let shared = TreeContext {
        path: file.path,
        layers,
        resolved: file.resolved,
        sources: file.sources,
    };
    let mut tree = TreeWriter::new(shared);
    // Resolved settings are written in full and take about twice the size of the source.
    tree.out
        .bytes
        .reserve(input.definition.element().span().len() as usize * 2);
    tree.write_task(task);
    let row = file
        .resolved
        .get(task.body as usize)
        .and_then(Option::as_ref)
        .map(|resolved| layers.get(resolved.row));
    let version = task.version.as_ref().map(|version| &*version.value);
    let mut head = JsonBuffer {
        bytes: Vec::with_capacity(tree.out.bytes.len() + 512),
    };
    head.push_raw("{\"name\":");
    head.push_str(input.name);
    head.push_raw(",\"version\":");
    head.push_value(&version);
    head.push_raw(",\"operator\":");
    // A task that is only a `ref` has no type of its own.
    head.push_str(row.map_or("ref", |row| row.operator()));
    head.push_raw(",\"subtype\":");
    head.push_value(&row.and_then(|row| row.subtype()).map(|subtype| &**subtype));
    let hash_at = source_and_hash(&mut head, file.path, input);
    let parameters = head.bytes.len();
    if let Some(template) = template {
        head.push_key("returns");
        head.push_value(&template.returns.as_ref().map(|returns| &*returns.value));
        head.push_key("params");
    } else {
        head.push_key("parameters");
    }
    head.push_value(&input.parameters);
    let parameters_end = head.bytes.len() as u32 - 1;
    let mut content = Vec::with_capacity(tree.out.bytes.len());
    tree.push_canonical(&mut content);
    let mut hasher = Hasher::new();
    hasher
        .add_field(input.definition.kind().word())
        .add_field(input.name)
        .add_field(version.unwrap_or("\0"));
    hasher
        .add_field(head.bytes.get(parameters..).unwrap_or(&[]))
        .add_field(&content);
    head.push_raw(",\"references\":");
    head.push_value(&tree.references);
    head.push_raw(",\"warnings\":");
    head.push_value(
        &input
            .warnings
            .iter()
            .map(|found| registry_warning(found))
            .collect::<Vec<_>>(),
    );
    head.push_raw(",\"root\":");
    head.bytes.extend_from_slice(&tree.out.bytes);
    head.push_raw("}");
    RegistryEntry {
        definition: input.index,
        own_hash: hasher.finish(),
        bytes: head.bytes,
        hash_at,
        parameters_end,
    }
}

/// `{"name":…,"hash":…,"source":…,"text":…}`.
fn fragment_line(
    file: &FileInput<'_>,
    input: &DefinitionInput<'_>,
    fragment: &Fragment<'_>,
) -> RegistryEntry {
    let mut line = JsonBuffer::default();
    line.push_raw("{\"name\":");
    line.push_str(input.name);
    let hash_at = source_and_hash(&mut line, file.path, input);
    line.push_raw(",\"text\":");
    let start = line.bytes.len();
    line.push_value(&canonical_text(
        &fragment.text,
        file.sources,
        &mut Vec::new(),
    ));
    let mut hasher = Hasher::new();
    hasher
        .add_field(input.definition.kind().word())
        .add_field(input.name)
        .add_field(line.bytes.get(start..).unwrap_or(&[]));
    line.push_raw("}");
    RegistryEntry {
        definition: input.index,
        own_hash: hasher.finish(),
        bytes: line.bytes,
        hash_at,
        parameters_end: 0,
    }
}

/// Appends the source and a placeholder for the hash; returns the offset of the hash.
fn source_and_hash(out: &mut JsonBuffer, path: &str, input: &DefinitionInput<'_>) -> u32 {
    out.push_raw(",\"source\":{\"path\":");
    out.push_str(path);
    out.push_raw(",\"span\":");
    out.push_value(&input.definition.element().span());
    out.push_raw("},\"hash\":\"");
    let hash_at = out.bytes.len() as u32;
    out.bytes.resize(out.bytes.len() + HASH_LEN, b'0');
    out.push_raw("\"");
    hash_at
}

fn registry_warning(found: &Diagnostic) -> Warning {
    Warning {
        code: found.rule.code.to_string(),
        name: found.rule.name.to_owned(),
        span: found.span,
    }
}
