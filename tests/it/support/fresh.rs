//! Generated files are stored in the repository and tested to be fresh: equal to the current output
//! of their generators. `CTXC_UPDATE=1 cargo test` writes them instead.

use std::path::Path;

/// The handling of a stale file.
#[derive(Clone, Copy, Debug)]
enum StaleHandling {
    Report,
    Rewrite,
}

/// Asserts that the file `path` of the repository contains `generated`, or writes it under
/// `CTXC_UPDATE=1`.
pub(crate) fn assert_fresh(path: &str, generated: &str) {
    let stale = if std::env::var_os("CTXC_UPDATE").is_some() {
        StaleHandling::Rewrite
    } else {
        StaleHandling::Report
    };
    if let Err(message) = compare_or_rewrite(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        path,
        generated,
        stale,
    ) {
        panic!("{message}");
    }
}

fn compare_or_rewrite(
    root: &Path,
    path: &str,
    generated: &str,
    stale: StaleHandling,
) -> Result<(), String> {
    let place = root.join(path);
    let stored = std::fs::read_to_string(&place).unwrap_or_default();
    if stored == generated {
        return Ok(());
    }
    if matches!(stale, StaleHandling::Rewrite) {
        let written = place
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&place, generated));
        return written.map_err(|error| format!("{path}: {error}"));
    }
    let line = stored
        .lines()
        .zip(generated.lines())
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (
        stored.lines().nth(line).unwrap_or("(nothing)"),
        generated.lines().nth(line).unwrap_or("(nothing)"),
    );
    let line = line + 1;
    Err(format!(
        "{path} is stale; run CTXC_UPDATE=1 cargo test\nline {line} holds:     {old}\nit should be: {new}"
    ))
}

#[test]
fn a_stale_file_is_found_and_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let run = |stale| compare_or_rewrite(folder.path(), "docs/a.md", "one\ntwo\n", stale);
    assert!(
        run(StaleHandling::Report)
            .unwrap_err()
            .starts_with("docs/a.md is stale"),
        "a file that is missing is stale"
    );
    run(StaleHandling::Rewrite).unwrap();
    run(StaleHandling::Report).unwrap();
    std::fs::write(folder.path().join("docs/a.md"), "one\nthree\n").unwrap();
    let message = run(StaleHandling::Report).unwrap_err();
    assert!(
        message.contains("line 2 holds:     three") && message.contains("should be: two"),
        "{message}"
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("docs/a.md")).unwrap(),
        "one\nthree\n",
        "a report changes nothing"
    );
}
