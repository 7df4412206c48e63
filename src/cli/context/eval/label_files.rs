//! The labels of a project and the scores of its judge, read from one revision.

use crate::base::fs;
use crate::cli::context::project::CompiledProject;
use crate::context::request::Files;
use crate::eval::judge::labels::{LABEL_FOLDER, LabelStore};

/// The time, in seconds since 1970.
pub(in crate::cli::context) fn now_seconds() -> i64 {
    i64::try_from(fs::now_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
}

/// Reads all files of labels and scores.
///
/// # Errors
/// A file cannot be read; the reason is in the text.
pub(in crate::cli) fn read_labels(
    project: &CompiledProject,
) -> std::result::Result<LabelStore, String> {
    let in_folder = |path: &&str| {
        let name = path.strip_prefix(LABEL_FOLDER)?.strip_prefix('/')?;
        (!name.contains('/')).then_some(())
    };
    let mut paths: Vec<String> = match project.revision_files() {
        Some(files) => files
            .into_iter()
            .filter(|path| in_folder(path).is_some())
            .map(str::to_owned)
            .collect(),
        None => fs::list_names(&project.root.join(LABEL_FOLDER))
            .into_iter()
            .map(|name| format!("{LABEL_FOLDER}/{name}"))
            .collect(),
    };
    paths.retain(|path| path.strip_suffix(".jsonl").is_some());
    paths.sort();
    let mut store = LabelStore::at_time(now_seconds());
    for path in paths {
        let text = project.files().text(&path);
        let text = text.map_err(|why| format!("{path}: {why}"))?;
        store
            .add_file(&path, &text)
            .map_err(|why| why.to_string())?;
    }
    Ok(store)
}
