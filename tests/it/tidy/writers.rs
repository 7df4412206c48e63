//! Contexts, requests and answers pass `secret_check` before they are written to a file: every file
//! of `cli/` that writes is in a list, with the reason why its texts need no check, or passes a
//! `Checked` on.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;

/// Calls that write a file. The types of `rewrite::create_file` and `rewrite::write_checked` guarantee
/// checked texts.
const WRITE_CALLS: [&str; 8] = [
    "write_atomic(",
    "write_private(",
    "write_cache(",
    "append_line(",
    "FileDraft::new(",
    "LineFile::create(",
    "rewrite::write_change(",
    " append_call(&",
];

/// Files of `cli/` that write, and their protection against secrets.
const KNOWN_WRITERS: [(&str, &str); 19] = [
    (
        "src/cli/compaction/probe/role_questions.rs",
        "recordings are masked, and each call is checked before it is added",
    ),
    (
        "src/cli/compaction/stored_session.rs",
        "sessions are masked as recordings are, and lie in the user's own folder",
    ),
    (
        "src/cli/context/eval/answer_recorder.rs",
        "recordings are masked, and each call is checked before it is added",
    ),
    (
        "src/cli/context/gate/accept.rs",
        "the line of the log is checked before anything is written",
    ),
    (
        "src/cli/context/label/ask.rs",
        "each line is checked before it is added",
    ),
    (
        "src/cli/context/label/report.rs",
        "scores and hashes, with the names of criteria from lines that were checked",
    ),
    (
        "src/cli/context/lookup.rs",
        "files of a revision, in a folder for the time of a lookup; none that are named as keys are",
    ),
    (
        "src/cli/context/run/traces.rs",
        "traces are masked, and lie in the user's own folder",
    ),
    (
        "src/cli/context/sent_requests.rs",
        "requests are masked, and are for another job of a pipeline, not for the repository",
    ),
    (
        "src/cli/cx.rs",
        "every result that goes to a file is checked",
    ),
    ("src/cli/fix.rs", "the author's own text"),
    (
        "src/cli/init/judge.rs",
        "the author's own text, with a role of this program behind it",
    ),
    ("src/cli/init/verb.rs", "texts of this program"),
    (
        "src/cli/package/dependency_set.rs",
        "names, sources and hashes of packages; the author's own text",
    ),
    (
        "src/cli/package/pack.rs",
        "every text of a package is checked before the archive is written",
    ),
    (
        "src/cli/package/verify.rs",
        "hashes and versions, in a lock that this program wrote",
    ),
    (
        "src/cli/rewrite.rs",
        "takes texts that were checked, and those of authors",
    ),
    ("src/cli/suppress.rs", "names of findings and of files"),
    ("src/cli/verbs/fmt.rs", "the author's own text"),
];

fn find_writers(sources: &[SourceText]) -> BTreeSet<&str> {
    let writes = |source: &&SourceText| {
        WRITE_CALLS
            .iter()
            .any(|writer| source.text.contains(writer))
    };
    sources
        .iter()
        .filter(writes)
        .map(|source| source.path.as_str())
        .collect()
}

#[test]
fn whatever_writes_a_file_is_known() {
    let sources = source::rust_sources(&["src/cli/"]);
    let known: BTreeSet<&str> = KNOWN_WRITERS.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        find_writers(&sources),
        known,
        "make it take a `Checked` of `secret_check`, or add it here with a reason"
    );
}

#[test]
fn a_new_writer_is_found() {
    let source = |text: &str| [SourceText::new("src/cli/x.rs", text)];
    assert_eq!(
        find_writers(&source("fs::write_atomic(&path, bytes)")).len(),
        1
    );
    assert_eq!(
        find_writers(&source("rewrite::create_file(&path, text, checked)")).len(),
        0
    );
}
