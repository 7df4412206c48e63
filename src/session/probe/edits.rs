//! The changes that tool calls make to files, as their new lines.

use crate::session::sentences::one_line;
use serde_json::Value;

/// The maximum number of characters of a change.
const MAX_CHARS: usize = 200;
/// The arguments that contain new text.
const NEW_TEXTS: [&str; 6] = [
    "new_string",
    "new_str",
    "newText",
    "content",
    "new_source",
    "contents",
];

/// A change of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The path, as written.
    pub path: String,
    /// The new text, in one line.
    pub text: String,
}

/// Returns the changes that a call makes: by its own arguments, or by a patch in them.
pub fn file_edits(arguments: &Value) -> Vec<FileEdit> {
    let text = |value: &Value, keys: &[&str]| {
        let found = keys.iter().find_map(|key| value.get(key)?.as_str());
        found.map(str::to_owned)
    };
    let paths = ["file_path", "path", "absolute_path", "notebook_path"];
    if let Some(path) = text(arguments, &paths) {
        let edits = arguments.get("edits").and_then(Value::as_array);
        let all = edits.into_iter().flatten().chain([arguments]);
        let new: Vec<String> = all.filter_map(|one| text(one, &NEW_TEXTS)).collect();
        let text = one_line(&new.join(" "), MAX_CHARS);
        let is_change = !text.is_empty();
        return is_change
            .then_some(FileEdit { path, text })
            .into_iter()
            .collect();
    }
    find_patch(arguments).map_or_else(Vec::new, read_patch)
}

/// Returns the patch among the arguments of a call.
fn find_patch(arguments: &Value) -> Option<&str> {
    const BEGINNING: &str = "*** Begin Patch";
    let entries = arguments
        .as_object()
        .into_iter()
        .flat_map(|all| all.values());
    let items = entries.clone().filter_map(Value::as_array).flatten();
    let mut texts = std::iter::once(arguments)
        .chain(entries)
        .chain(items)
        .filter_map(Value::as_str);
    texts.find(|text| text.contains(BEGINNING))
}

fn read_patch(patch: &str) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    for line in patch.lines() {
        let file = ["*** Add File: ", "*** Update File: "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        if let Some(file) = file {
            edits.push(FileEdit {
                path: file.trim().to_owned(),
                text: String::new(),
            });
        } else if let (Some(new), Some(edit)) = (line.strip_prefix('+'), edits.last_mut()) {
            edit.text = one_line(&format!("{} {new}", edit.text), MAX_CHARS);
        }
    }
    edits.retain(|edit| !edit.text.is_empty());
    edits
}
