//! Reads the shared file of `extends`, pinned by the hash of its text with line ends as `\n`.

use super::draft::{ConfigDraft, FileOwner, read_draft};
use super::extends::SharedFile;
use super::value::FaultSink;
use crate::base::contained_path::describe_io_error;
use crate::base::fs::ReadFs;
use crate::base::hash::Hash;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::project::config::{ConfigFile, ConfigInput, MAX_FILE_BYTES};
use crate::project::project_fault::ProjectFaultKind;
use crate::template::text::normalize_line_ends;
use std::path::Path;

/// The index of the shared file among the project's files.
pub(super) const SHARED_FILE: u16 = 1;

/// Reads the shared file of a project. A file that differs from its pinned hash is not parsed, and
/// none of its text is stored or printed.
pub(super) fn load_shared(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
    extends: &SharedFile,
) -> Option<(ConfigFile, ConfigDraft)> {
    let path = extends.path.value.as_str();
    let mut unreadable = |reason: String| {
        let kind = ProjectFaultKind::SharedUnreadable {
            path: path.to_owned(),
            reason,
        };
        sink.report(extends.path.span, kind);
        None
    };
    let bytes = match read_file(input.files, &input.root.join(path)) {
        Ok(bytes) => bytes,
        Err(reason) => return unreadable(reason),
    };
    let hash = Hash::digest(normalize_line_ends(&String::from_utf8_lossy(&bytes)).as_bytes());
    let file = |text: &str| ConfigFile {
        path: path.into(),
        lines: LineIndex::new(text),
        text: text.into(),
        hash,
    };
    if !extends.is_pinned_hash(hash) {
        report_pin(sink, extends, hash);
        return Some((file(""), ConfigDraft::default()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some((
            file(&text),
            read_draft(&text, SHARED_FILE, FileOwner::Shared, input.rules),
        )),
        Err(_) => unreadable("it is not UTF-8".to_owned()),
    }
}

fn read_file(files: &dyn ReadFs, path: &Path) -> Result<Vec<u8>, String> {
    files
        .read(path, MAX_FILE_BYTES)
        .map_err(|error| describe_io_error(&error))
}

impl SharedFile {
    /// True if the hash is the pinned one.
    fn is_pinned_hash(&self, hash: Hash) -> bool {
        self.hash
            .as_ref()
            .and_then(|pinned| Hash::parse(&pinned.value))
            == Some(hash)
    }
}

/// Reports a missing, invalid or wrong hash, with the edit that writes the right one.
fn report_pin(sink: &mut FaultSink, extends: &SharedFile, actual: Hash) {
    let pinned = extends.hash.as_ref();
    let edit = match (pinned, &extends.pin) {
        (Some(hash), _) => Some((hash.span, format!("\"{actual}\""))),
        (None, Some((at, before, after))) => Some((*at, format!("{before}{actual}{after}"))),
        (None, None) => Some((
            Span::empty_at(extends.path.span.end),
            format!("\nhash = \"{actual}\""),
        )),
    };
    let kind = ProjectFaultKind::SharedHash {
        path: extends.path.value.clone(),
        pinned: pinned.map(|hash| hash.value.clone()),
        actual,
        edit,
    };
    sink.report(pinned.map_or(extends.path.span, |hash| hash.span), kind);
}
