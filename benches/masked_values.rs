//! Prints the values that masks find in the files below some folders, with their surroundings, for
//! review: `cargo bench --bench masked_values -- FOLDER …`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "reads files of others and prints what is found"
)]

use ctxc::internals::record::redact::Redactor;
use std::path::{Path, PathBuf};

/// The number of bytes shown before and after a value.
const CONTEXT_BYTES: usize = 60;

fn main() {
    let (redactor, mut files, mut count) = (Redactor::new([7; 32], []), Vec::new(), 0);
    std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .for_each(|folder| collect_files(Path::new(&folder), &mut files));
    files.sort();
    for path in &files {
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        for (range, kind) in redactor.find_ranges(&text) {
            let part = |start: usize, end: usize| {
                text.get(start..end)
                    .unwrap_or("")
                    .replace(['\n', '\r', '\t'], " ")
            };
            let start = text.floor_char_boundary(range.start.saturating_sub(CONTEXT_BYTES));
            let end = text.ceil_char_boundary((range.end + CONTEXT_BYTES).min(text.len()));
            let (before, value, behind) = (
                part(start, range.start),
                part(range.start, range.end),
                part(range.end, end),
            );
            println!("{kind}\t{}\t{before}«{value}»{behind}", path.display());
            count += 1;
        }
    }
    eprintln!("{count} values in {} files", files.len());
}

/// Adds the files below a folder, without links.
fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
    {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect_files(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}
