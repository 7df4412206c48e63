//! Computes the findings that no file shows alone, from the facts of all files. Reads texts again
//! only for files with findings, to compute line numbers.

use crate::base::diagnostic::{self, Diagnostic};
use crate::base::source::LineIndex;
use crate::project::config::Config;
use crate::project::linked_names::Links;
use crate::rules::check;
use crate::rules::rule::CheckScope;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The findings about names and references, located and sorted. `text` returns the decoded text of
/// a file; the findings of a file that no longer exists have no line numbers.
pub fn link_files(
    config: &Config,
    links: &Links<'_>,
    scope: CheckScope,
    text: impl Fn(&str) -> Option<String>,
) -> Vec<Diagnostic> {
    let index = links.index;
    let mut found = check::link_findings(config, links, scope);
    if found.is_empty() {
        return found;
    }
    let mut texts = LineTexts {
        read: text,
        known: BTreeMap::new(),
    };
    for finding in &mut found {
        match config.files.iter().find(|file| file.path == finding.path) {
            Some(file) => finding.locate(&file.text, &file.lines),
            None => texts.locate(finding),
        }
    }
    let owners: BTreeMap<&str, u32> = index
        .files()
        .iter()
        .enumerate()
        .map(|(at, entry)| (&**entry.path, at as u32))
        .collect();
    for finding in &mut found {
        let Some(entry) = owners.get(&*finding.path).and_then(|at| index.file(*at)) else {
            continue;
        };
        let definitions = &entry.facts.definitions;
        // Definitions do not overlap, so the last one that begins before the finding contains it.
        let after =
            definitions.partition_point(|definition| definition.span.start <= finding.span.start);
        let holder = after.checked_sub(1).and_then(|at| definitions.get(at));
        finding.task = holder.map(|definition| Arc::from(&*definition.name));
    }
    diagnostic::sort_diagnostics(&mut found);
    found
}

/// The texts of files with findings; each file is read at most once.
struct LineTexts<F> {
    read: F,
    known: BTreeMap<Arc<str>, Option<(String, LineIndex)>>,
}

impl<F: Fn(&str) -> Option<String>> LineTexts<F> {
    /// Returns the text of a file with its line index; `None` if it cannot be read.
    fn get(&mut self, path: &Arc<str>) -> Option<&(String, LineIndex)> {
        if !self.known.contains_key(path) {
            let read = (self.read)(path).map(|text| {
                let index = LineIndex::new(&text);
                (text, index)
            });
            self.known.insert(Arc::clone(path), read);
        }
        self.known.get(path)?.as_ref()
    }

    fn locate(&mut self, finding: &mut Diagnostic) {
        let path = Arc::clone(&finding.path);
        if let Some((text, index)) = self.get(&path) {
            finding.locate(text, index);
        }
        for at in 0..finding.labels.len() {
            let Some((path, offset)) = finding
                .labels
                .get(at)
                .and_then(|label| Some((label.path.clone()?, label.span.start)))
            else {
                continue;
            };
            let start = self
                .get(&path)
                .map(|(text, index)| index.position(text, offset));
            if let (Some(label), Some(start)) = (finding.labels.get_mut(at), start) {
                label.start = start;
            }
        }
    }
}
