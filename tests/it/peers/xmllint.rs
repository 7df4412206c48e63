//! libxml2 as the oracle of well-formedness: it accepts every text that our reader accepts, and
//! reads every text that we write.

use crate::cli::report_formats::{checked, nasty};
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The shipped templates, each with single characters deleted, doubled, or replaced by a mark, at
/// places spread evenly.
fn mutants() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut mutants = Vec::new();
    for entry in ignore::Walk::new(folder).filter_map(Result::ok) {
        let Ok(text) = std::fs::read_to_string(entry.path()) else {
            continue;
        };
        let places: Vec<(usize, char)> = text.char_indices().collect();
        mutants.push(text.clone());
        for (number, &(at, old)) in places
            .iter()
            .enumerate()
            .skip(number_of(entry.path()) % 11)
            .step_by(11)
        {
            let (head, tail) = (&text[..at], &text[at + old.len_utf8()..]);
            let mark = [
                "<", ">", "&", "\"", "'", "=", "/", ":", " ", "1", "\u{1}", "]]>", "--", "?",
            ][number % 14];
            mutants.push(match number % 3 {
                0 => format!("{head}{tail}"),
                1 => format!("{head}{mark}{tail}"),
                _ => format!("{head}{mark}{old}{tail}"),
            });
        }
    }
    mutants
}

/// A number that differs from file to file, so that not all are mutated at the same places.
fn number_of(path: &Path) -> usize {
    path.as_os_str().len()
}

/// The numbers of the files that xmllint refuses.
fn refused(folder: &Path, count: usize) -> BTreeSet<usize> {
    let mut refused = BTreeSet::new();
    let names: Vec<String> = (0..count).map(|number| format!("{number}.xml")).collect();
    for names in names.chunks(2_000) {
        let output = Command::new("xmllint")
            .args(["--noout", "--nonet"])
            .args(names)
            .current_dir(folder)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        refused.extend(
            printed
                .lines()
                .filter(|line| line.contains("error :"))
                .filter_map(|line| line.split_once(".xml:")?.0.parse::<usize>().ok()),
        );
    }
    refused
}

#[test]
#[ignore = "needs xmllint: the oracle"]
fn xmllint_accepts_what_we_accept() {
    let (folder, mutants) = (tempfile::tempdir().unwrap(), mutants());
    assert!(mutants.len() > 1_000, "only {} mutants", mutants.len());
    for (number, text) in mutants.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.xml")), text).unwrap();
    }
    let refused = refused(folder.path(), mutants.len());
    let (mut reader, limits) = (XmlReader::new(), XmlLimits::default());
    let (mut accepted, mut wrong, mut stricter) = (0, Vec::new(), 0);
    for (number, text) in mutants.iter().enumerate() {
        reader.read(text, &limits);
        let ours = reader.faults().is_empty();
        accepted += u32::from(ours);
        stricter += u32::from(!ours && !refused.contains(&number));
        if ours && refused.contains(&number) {
            wrong.push(text);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {accepted} accepted documents are refused by xmllint; the first:\n{}",
        wrong.len(),
        wrong[0]
    );
    assert!(
        accepted > 100 && refused.len() > 500,
        "{accepted} accepted, {} refused: no test of either",
        refused.len()
    );
    // A colon in a name is all that a namespace-aware reader may refuse and xmllint merely warns
    // of.
    assert!(
        stricter * 20 < accepted,
        "{stricter} documents are refused by us alone"
    );
}

#[test]
#[ignore = "needs xmllint: the oracle"]
fn xmllint_takes_what_junit_and_checkstyle_write() {
    let project = nasty();
    for format in ["junit", "checkstyle"] {
        project.write_file("report.xml", checked(&project, format));
        let status = Command::new("xmllint")
            .arg("--noout")
            .arg(project.path("report.xml"))
            .status()
            .unwrap();
        assert!(status.success(), "{format}");
    }
}
