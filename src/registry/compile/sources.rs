//! What a file pulls in, texts by `src` and the schemas of answers: read once, inside the project, before entries are written.
//!
//! A path that leaves the project's folder, by `..` or through a link, is refused without being read.

use super::canonical::Sources;
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::ReadFs;
use crate::rules::links::{bad_schema, missing_source};
use crate::scenario::json_schema::{Slip, SlipKind, slips};
use crate::syntax::decode;
use crate::template::json_schema::{self, SchemaFault};
#[cfg(feature = "lsp")]
use crate::template::names::Source;
use crate::template::names::{FileFacts, SourceKind};
use crate::template::shape::Shape;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Bytes that one file of a context may have.
pub(crate) const CONTEXT_FILE: u64 = 10 << 20;

/// Where files are read from.
#[derive(Clone, Copy)]
pub(crate) struct FileAccess<'a> {
    pub(crate) root: &'a Path,
    pub(crate) files: &'a dyn ReadFs,
    pub(crate) limit: u64,
}

/// What was read, by the path that is written in the template.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: BTreeMap<Box<str>, Arc<str>>,
    schemas: BTreeMap<Box<str>, Box<str>>,
}

impl Texts {
    /// The text that a `src` names, shared; `None` where it could not be read.
    pub(super) fn shared(&self, written: &str) -> Option<Arc<str>> {
        self.texts.get(written).map(Arc::clone)
    }

    /// Counts what was pulled in as bytes of the definition that it belongs to, and says what schemas know of answers.
    pub(super) fn weigh(&self, facts: &mut FileFacts) {
        let schema = |text: &str| serde_json::from_str(text).ok().map(|schema| Shape::of_schema(&schema));
        facts.schemas = self.schemas.iter().filter_map(|(path, text)| Some((path.clone(), schema(text)?))).collect();
        for source in facts.sources.iter().filter(|source| source.kind == SourceKind::Text) {
            let Some(owner) = facts.definitions.get_mut(source.owner as usize) else { continue };
            owner.bytes = owner.bytes.saturating_add(self.text(&source.path).map_or(0, |text| text.len() as u64));
        }
    }
}

impl Sources for Texts {
    fn text(&self, written: &str) -> Option<&str> {
        self.texts.get(written).map(|text| &**text)
    }

    fn schema(&self, written: &str) -> Option<&str> {
        self.schemas.get(written).map(|schema| &**schema)
    }
}

/// Reads every file that the facts of a file name; each one that cannot be read is a finding.
pub(super) fn read(door: FileAccess<'_>, path: &Arc<str>, facts: &FileFacts, found: &mut Vec<Diagnostic>) -> Texts {
    let mut texts = Texts::default();
    for source in &facts.sources {
        let is_known = match source.kind {
            SourceKind::Text => texts.texts.contains_key(&source.path),
            SourceKind::Schema => texts.schemas.contains_key(&source.path),
            // What an agent is shown is read when it is shown.
            SourceKind::File => true,
        };
        if is_known {
            continue;
        }
        let text = match text(door, path, &source.path) {
            Ok(text) => text,
            Err(why) => {
                found.push(missing_source::word(path, source, &why));
                continue;
            }
        };
        if source.kind == SourceKind::Text {
            texts.texts.insert(source.path.clone(), text.into());
            continue;
        }
        match json_schema::compact(&text).and_then(|schema| sound(&schema).map(|()| schema)) {
            Ok(schema) => {
                texts.schemas.insert(source.path.clone(), schema.into());
            }
            Err(fault) => found.push(bad_schema::word(path, source, &fault)),
        }
    }
    texts
}

/// Holds a schema to what a run compiles it by.
fn sound(schema: &str) -> Result<(), SchemaFault> {
    let Ok(value) = serde_json::from_str(schema) else { return Ok(()) };
    let bad = |slip: Slip| match slip.kind {
        SlipKind::Bad { expected, near } => Some(SchemaFault::Unsound { at: slip.path, expected, near }),
        // It may be somebody's own, and a run passes over it.
        SlipKind::Unknown { .. } => None,
    };
    slips(&value).into_iter().find_map(bad).map_or(Ok(()), Err)
}

fn text(door: FileAccess<'_>, template: &str, written: &str) -> Result<String, String> {
    let folder = Path::new(template).parent().unwrap_or(Path::new(""));
    inside_text(door, &folder.join(written))
}

/// Why a text cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoText {
    /// Its bytes cannot be read.
    #[error("{0}")]
    Refused(contained_path::Refused),
    /// They are no text.
    #[error("{0}")]
    Undecodable(decode::DecodeFault),
}

/// The text of a file inside the project's folder, by its path relative to it. Links that lead outside are not followed.
pub(crate) fn inside_text(door: FileAccess<'_>, path: &Path) -> Result<String, String> {
    read_text(door, path).map_err(|refused| refused.to_string())
}

/// The same, with the reason as data.
pub(super) fn read_text(door: FileAccess<'_>, path: &Path) -> Result<String, NoText> {
    let bytes = contained_path::read(door.files, door.root, path, door.limit).map_err(NoText::Refused)?;
    decode::decode(&bytes).map(std::borrow::Cow::into_owned).map_err(NoText::Undecodable)
}

/// The name of a file that the facts of a template name, as findings give it; `None` when it lies outside the project.
#[cfg(feature = "lsp")]
pub(crate) fn name_of_source(template: &str, source: &Source) -> Option<String> {
    match source.kind {
        SourceKind::Text | SourceKind::Schema => contained_path::beside(template, &source.path),
        SourceKind::File => contained_path::plain(Path::new(&*source.path)).map(|path| contained_path::name(&path)),
    }
}
