//! Every file of `fuzz/corpus/TARGET/` goes through what TARGET asserts, and so do templates and bytes around them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The inputs of a target: its corpus, and each of them cut at a few places.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let (name, bytes) = (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap());
        for part in 1..8 {
            let cut = bytes.len() * part / 8;
            inputs.push((format!("{name} up to {cut}"), bytes[..cut].to_vec()));
            inputs.push((format!("{name} from {cut}"), bytes[cut..].to_vec()));
        }
        inputs.push((name, bytes));
    }
    inputs
}

fn replay(target: &str, check: fn(&[u8])) {
    let inputs = inputs(target);
    assert!(inputs.len() >= 30, "the corpus of {target} is empty");
    let failed = inputs.iter().filter(|(_, bytes)| catch_unwind(AssertUnwindSafe(|| check(bytes))).is_err());
    let failed: Vec<&str> = failed.map(|(name, _)| name.as_str()).collect();
    assert!(failed.is_empty(), "{target} fails on {failed:?}");
}

#[test]
fn the_corpus_of_the_reader() {
    replay("reader", super::reader::check);
}

#[test]
fn the_corpus_of_the_project_file() {
    replay("project", super::project::check);
}

#[test]
fn the_corpus_of_the_language_server() {
    replay("lsp", super::lsp::check);
}

#[test]
fn the_corpus_of_the_registry() {
    replay("registry", super::registry::check);
}

#[test]
fn the_corpus_of_the_assembler() {
    replay("assembler", super::assembler::check);
}

#[test]
fn the_corpus_of_the_scenarios() {
    replay("scenario", super::scenario::check);
}

#[test]
fn the_corpus_of_the_texts() {
    replay("texts", super::texts::check);
}

#[test]
fn the_corpus_of_the_pipeline() {
    replay("pipeline", super::pipeline::check);
}
