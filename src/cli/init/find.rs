//! The existing content of a folder: templates, and prompts of other formats. Reads, never writes.

use crate::base::fs;
use crate::base::patterns::SkippedFolders;
use crate::cli::import;
use crate::syntax::decode;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::template;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// The maximum size of a template or prompt in bytes.
const MAX_FILE_BYTES: u64 = 10 << 20;

/// Numbers of files, by their folder at the top; the empty name is the project's folder itself.
#[derive(Debug, Default)]
pub(super) struct FolderContents {
    /// Files whose root is a task, a template or a library, or whose root cannot be determined.
    pub(super) templates: BTreeMap<String, usize>,
    /// Prompts that `ctxc import` can convert, by the names of their formats.
    pub(super) prompts: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl FolderContents {
    /// Searches a folder. Ignored files and installed packages are left out.
    pub(super) fn search(root: &Path) -> Self {
        let mut found = Self::default();
        let mut reader = XmlReader::new();
        let barred = SkippedFolders::default();
        if !barred.allows_start(root) {
            return found;
        }
        let mut walk = ignore::WalkBuilder::new(root);
        barred.guard_own_files(&mut walk);
        for entry in walk.build().filter_map(Result::ok) {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry.path();
            let is_xml = path.extension().and_then(OsStr::to_str) == Some("xml");
            let list = match import::prompt_format(path, MAX_FILE_BYTES) {
                _ if is_xml && is_template(path, &mut reader) => &mut found.templates,
                Some(format) if !is_xml => found.prompts.entry(format.name).or_default(),
                Some(_) | None => continue,
            };
            *list.entry(top_folder(root, path)).or_default() += 1;
        }
        found
    }
}

fn top_folder(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let mut parts = inside.components();
    let first = parts.next();
    let folder = parts
        .next()
        .and(first)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    folder.unwrap_or_default()
}

fn is_template(path: &Path, reader: &mut XmlReader) -> bool {
    let mut bytes = Vec::new();
    if fs::read_regular(path, MAX_FILE_BYTES, &mut bytes).is_err() {
        return false;
    }
    let Ok(text) = decode::decode(&bytes) else {
        return false;
    };
    reader.read(&text, &XmlLimits::default());
    reader
        .document(&text)
        .root()
        .is_some_and(|root| template::root_kind(root).is_some())
}
