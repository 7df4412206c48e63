//! Every file of `fuzz/corpus/TARGET/` goes through what TARGET asserts, and so do templates and
//! bytes around them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The inputs of a target: its corpus, and each of them cut at a few places.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let (name, bytes) = (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            std::fs::read(&path).unwrap(),
        );
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
    let failed = inputs
        .iter()
        .filter(|(_, bytes)| catch_unwind(AssertUnwindSafe(|| check(bytes))).is_err());
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

#[test]
fn the_corpus_of_the_requests() {
    replay("requests", super::requests::check);
}

#[test]
fn the_corpus_of_the_recordings() {
    replay("recordings", super::recordings::check);
}

#[test]
fn the_corpus_of_the_proxy() {
    replay("proxy", super::proxy::check);
}

/// The next pseudo-random number.
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 16).unwrap()
}

/// A few random edits of one input: a byte changed, a piece taken out, doubled, or brought in from
/// another.
fn mutated(inputs: &[(String, Vec<u8>)], state: &mut u64) -> Vec<u8> {
    let mut bytes = inputs[next(state) % inputs.len()].1.clone();
    let other = &inputs[next(state) % inputs.len()].1;
    for _ in 0..=(next(state) % 6) {
        let (at, len) = (next(state) % (bytes.len() + 1), next(state) % 24);
        let end = (at + len).min(bytes.len());
        match next(state) % 4 {
            0 if at < bytes.len() => bytes[at] = u8::try_from(next(state) % 256).unwrap(),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            _ => {
                let from = next(state) % (other.len() + 1);
                let piece = other[from..(from + len).min(other.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
        }
    }
    bytes
}

/// The target of one input.
type Check = fn(&[u8]);

/// Fuzzing without a nightly compiler: random edits of the corpora, for `CTXC_FUZZ_SECONDS` a
/// target.
#[test]
#[ignore = "needs mutated: random edits of the corpora, for as long as CTXC_FUZZ_SECONDS says"]
fn mutated_corpora_of_requests() {
    let seconds = std::env::var("CTXC_FUZZ_SECONDS").map_or(30, |seconds| seconds.parse().unwrap());
    let checks: [Check; 3] = [
        super::requests::check,
        super::recordings::check,
        super::proxy::check,
    ];
    for (target, check) in ["requests", "recordings", "proxy"].into_iter().zip(checks) {
        let inputs = inputs(target);
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let (start, mut count) = (std::time::Instant::now(), 0_u64);
        while start.elapsed().as_secs() < seconds {
            let bytes = mutated(&inputs, &mut state);
            count += 1;
            let failed = catch_unwind(AssertUnwindSafe(|| check(&bytes))).is_err();
            assert!(!failed, "{target} fails on {}", bytes.escape_ascii());
        }
        println!("{target}: {count} inputs");
    }
}
