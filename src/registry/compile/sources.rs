//! The files that a template includes (texts by `src`, and the schemas of answers): read once,
//! inside the project, before entries are written.
//!
//! A path that leaves the project's folder, by `..` or through a link, is rejected without being
//! read.

use super::canonical::IncludedTexts;
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::ReadFs;
use crate::project::packages::PackageNames;
use crate::rules::input::hidden_text;
use crate::rules::links::{bad_schema, missing_source};
use crate::scenario::json_schema::{JsonSchemaFault, JsonSchemaFaultKind, schema_faults};
use crate::syntax::decode;
use crate::template::json_schema::{self, AnswerSchemaFault};
#[cfg(feature = "lsp")]
use crate::template::names::LinkedFile;
use crate::template::names::{FileFacts, LinkedFileKind};
use crate::template::shape::ValueShape;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The size limit of one file of a context, in bytes.
pub(crate) const MAX_CONTEXT_FILE_BYTES: u64 = 10 << 20;

/// The access to files inside a folder.
#[derive(Clone, Copy)]
pub(crate) struct FileAccess<'a> {
    pub(crate) root: &'a Path,
    pub(crate) files: &'a dyn ReadFs,
    pub(crate) limit: u64,
}

/// The texts and schemas, by the path as written in the template.
#[derive(Debug, Default)]
pub(super) struct LoadedTexts {
    texts: BTreeMap<Box<str>, Arc<str>>,
    schemas: BTreeMap<Box<str>, Box<str>>,
    /// The findings of hidden characters.
    pub(super) hidden: Vec<Diagnostic>,
    /// The package of the template.
    package: Option<Arc<PackageNames>>,
}

impl LoadedTexts {
    /// Sets the package of the template.
    pub(super) fn set_package(&mut self, package: Option<&Arc<PackageNames>>) {
        self.package = package.map(Arc::clone);
    }

    /// The shared text of a `src`; `None` if it could not be read.
    pub(super) fn shared_text(&self, written: &str) -> Option<Arc<str>> {
        self.texts.get(written).map(Arc::clone)
    }

    /// Adds the sizes of included texts to their definitions, and the shapes of schemas to the
    /// facts.
    pub(super) fn apply_to_facts(&self, facts: &mut FileFacts) {
        let schema = |text: &str| {
            serde_json::from_str(text)
                .ok()
                .map(|schema| ValueShape::from_schema(&schema))
        };
        facts.schemas = self
            .schemas
            .iter()
            .filter_map(|(path, text)| Some((path.clone(), schema(text)?)))
            .collect();
        for source in facts
            .sources
            .iter()
            .filter(|source| source.kind == LinkedFileKind::Text)
        {
            let Some(owner) = facts.definitions.get_mut(source.owner as usize) else {
                continue;
            };
            owner.bytes = owner
                .bytes
                .saturating_add(self.text(&source.path).map_or(0, |text| text.len() as u64));
        }
    }
}

impl IncludedTexts for LoadedTexts {
    fn text(&self, written: &str) -> Option<&str> {
        self.texts.get(written).map(|text| &**text)
    }

    fn schema(&self, written: &str) -> Option<&str> {
        self.schemas.get(written).map(|schema| &**schema)
    }

    fn full_name<'n>(&self, written: &'n str) -> Cow<'n, str> {
        match &self.package {
            Some(package) => Cow::Owned(package.full_name(written)),
            None => Cow::Borrowed(written),
        }
    }
}

/// Reads every file that the facts of a template name; each unreadable one is a finding.
pub(super) fn read_sources(
    door: FileAccess<'_>,
    path: &Arc<str>,
    facts: &FileFacts,
    found: &mut Vec<Diagnostic>,
) -> LoadedTexts {
    let mut texts = LoadedTexts::default();
    for source in &facts.sources {
        let is_known = match source.kind {
            LinkedFileKind::Text => texts.texts.contains_key(&source.path),
            LinkedFileKind::Schema => texts.schemas.contains_key(&source.path),
            // Files for an agent are read when they are shown.
            LinkedFileKind::File => true,
        };
        if is_known {
            continue;
        }
        let text = match read_beside_template(door, path, &source.path) {
            Ok(text) => text,
            Err(why) => {
                found.push(missing_source::report(path, source, &why));
                continue;
            }
        };
        let hidden = hidden_text::find_in_included(path, source.span, &source.path, &text);
        texts.hidden.extend(hidden);
        if source.kind == LinkedFileKind::Text {
            texts.texts.insert(source.path.clone(), text.into());
            continue;
        }
        match json_schema::compact_schema(&text)
            .and_then(|schema| check_schema(&schema).map(|()| schema))
        {
            Ok(schema) => {
                texts.schemas.insert(source.path.clone(), schema.into());
            }
            Err(fault) => found.push(bad_schema::report(path, source, &fault)),
        }
    }
    texts
}

/// Checks a schema as a run compiles it.
fn check_schema(schema: &str) -> Result<(), AnswerSchemaFault> {
    let Ok(value) = serde_json::from_str(schema) else {
        return Ok(());
    };
    let bad = |fault: JsonSchemaFault| match fault.kind {
        JsonSchemaFaultKind::BadValue { expected, near } => Some(AnswerSchemaFault::Unsound {
            at: fault.path,
            expected,
            near,
        }),
        // It may be an extension keyword, which a run ignores.
        JsonSchemaFaultKind::UnknownKeyword { .. } => None,
    };
    schema_faults(&value)
        .into_iter()
        .find_map(bad)
        .map_or(Ok(()), Err)
}

fn read_beside_template(
    door: FileAccess<'_>,
    template: &str,
    written: &str,
) -> Result<String, String> {
    let folder = Path::new(template).parent().unwrap_or(Path::new(""));
    read_inside_project(door, &folder.join(written))
}

/// The reason why a text cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextReadError {
    /// Its bytes cannot be read.
    #[error("{0}")]
    Refused(contained_path::PathRefusal),
    /// They are not text.
    #[error("{0}")]
    Undecodable(decode::DecodeFault),
}

/// The text of a file inside the project's folder, by its path relative to the folder. Links that
/// lead outside are not followed.
pub(crate) fn read_inside_project(door: FileAccess<'_>, path: &Path) -> Result<String, String> {
    read_text(door, path).map_err(|refused| refused.to_string())
}

/// Like [`read_inside_project`], with the reason of a failure as data.
pub(super) fn read_text(door: FileAccess<'_>, path: &Path) -> Result<String, TextReadError> {
    let bytes = contained_path::read_file(door.files, door.root, path, door.limit)
        .map_err(TextReadError::Refused)?;
    decode::decode(&bytes)
        .map(std::borrow::Cow::into_owned)
        .map_err(TextReadError::Undecodable)
}

/// The name in findings of a file that a template refers to; `None` if it lies outside the project.
#[cfg(feature = "lsp")]
pub(crate) fn source_name(template: &str, source: &LinkedFile) -> Option<String> {
    match source.kind {
        LinkedFileKind::Text | LinkedFileKind::Schema => {
            contained_path::resolve_beside(template, &source.path)
        }
        LinkedFileKind::File => contained_path::normalize_path(Path::new(&*source.path))
            .map(|path| contained_path::slash_path(&path)),
    }
}
