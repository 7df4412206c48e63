//! `cargo bench --bench micro`: one floor of the compiler at a time, in memory, on one thread,
//! compared with the building blocks of other programs. Every row reads the same 1,000 files of
//! `gen_corpus.py`; throughput is in bytes of XML.
#![allow(
    clippy::disallowed_methods,
    reason = "reads its corpus and runs its generator"
)]
#![allow(
    clippy::expect_used,
    reason = "a benchmark without a corpus has nothing to measure"
)]

use ctxc::internals::base::fs::MemoryFs;
use ctxc::internals::base::rule_meta::RuleMeta;
use ctxc::internals::project::config::{Config, ConfigInput};
use ctxc::internals::registry::compile::{CompileBuffers, CompileReason, Compiler};
use ctxc::internals::rules::check::ActiveRules;
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use ctxc::internals::template::scope::LinkDetail;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The well-formed files of the corpus.
static CORPUS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let target = folder.path().join("corpus");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/gen_corpus.py");
    let made = std::process::Command::new("python3")
        .arg(script)
        .arg(&target)
        .arg("1000")
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "python3 benches/gen_corpus.py failed"
    );
    let files = ignore::Walk::new(&target)
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok());
    let files: Vec<String> = files
        .filter(|text| roxmltree::Document::parse(text).is_ok())
        .collect();
    assert!(files.len() > 900, "only {} files", files.len());
    files
});

fn main() {
    divan::main();
}

/// Runs `work` over every file and counts the bytes.
fn bench_corpus(bencher: Bencher<'_, '_>, mut work: impl FnMut(&str)) {
    let bytes: usize = CORPUS.iter().map(String::len).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| CORPUS.iter().for_each(|text| work(black_box(text))));
}

#[divan::bench]
fn a_memchr_of_every_tag(bencher: Bencher<'_, '_>) {
    bench_corpus(bencher, |text| {
        black_box(memchr::memchr_iter(b'<', text.as_bytes()).count());
    });
}

#[divan::bench]
fn b_quick_xml_events(bencher: Bencher<'_, '_>) {
    bench_corpus(bencher, |text| {
        let mut reader = quick_xml::Reader::from_str(text);
        while !matches!(
            black_box(reader.read_event()),
            Ok(quick_xml::events::Event::Eof) | Err(_)
        ) {}
    });
}

#[divan::bench]
fn c_roxmltree_tree(bencher: Bencher<'_, '_>) {
    bench_corpus(bencher, |text| {
        drop(black_box(roxmltree::Document::parse(text)));
    });
}

#[divan::bench]
fn d_ctxc_tree(bencher: Bencher<'_, '_>) {
    let (mut reader, limits) = (XmlReader::new(), XmlLimits::default());
    bench_corpus(bencher, |text| {
        reader.read(text, &limits);
        black_box(reader.document(text).tree.len());
    });
}

#[divan::bench]
fn e_ctxc_tree_and_model(bencher: Bencher<'_, '_>) {
    let (mut reader, limits) = (XmlReader::new(), XmlLimits::default());
    bench_corpus(bencher, |text| {
        reader.read(text, &limits);
        drop(black_box(ctxc::internals::template::lower_document(
            reader.document(text),
        )));
    });
}

#[divan::bench]
fn f_ctxc_check(bencher: Bencher<'_, '_>) {
    let (config, files) = (Config::default(), MemoryFs::new());
    let active = ActiveRules::new(&config);
    let compiler = Compiler {
        config: &config,
        active: &active,
        root: Path::new(""),
        files: &files,
        purpose: LinkDetail::Findings,
        package: None,
    };
    let (mut scratch, path) = (CompileBuffers::new(), Arc::from("a.xml"));
    bench_corpus(bencher, |text| {
        drop(black_box(compiler.compile_text(
            &path,
            text,
            CompileReason::Named,
            &mut scratch,
        )));
    });
}

/// The project file of this repository, which every command reads before it starts.
#[divan::bench]
fn g_project_file(bencher: Bencher<'_, '_>) {
    let (text, files) = (include_str!("../ctxc.toml"), MemoryFs::new());
    let rules: Vec<&'static RuleMeta> = ctxc::internals::rules::list::all_rules()
        .map(|rule| &rule.meta)
        .collect();
    let input = ConfigInput {
        path: "ctxc.toml",
        text,
        root: Path::new(""),
        files: &files,
        rules: &rules,
    };
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| drop(black_box(Config::read(black_box(&input)))));
}

/// A project file with a fault in every line.
#[divan::bench]
fn h_project_file_full_of_faults(bencher: Bencher<'_, '_>) {
    let (text, files) = (
        "[lints]\nno-contxt = 3\n[defaults.atomik]\nfresh_contxt = true\n",
        MemoryFs::new(),
    );
    let rules: Vec<&'static RuleMeta> = ctxc::internals::rules::list::all_rules()
        .map(|rule| &rule.meta)
        .collect();
    let input = ConfigInput {
        path: "ctxc.toml",
        text,
        root: Path::new(""),
        files: &files,
        rules: &rules,
    };
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| drop(black_box(Config::read(black_box(&input)))));
}

/// Tokens of every file by an exact table, which is loaded beforehand.
#[divan::bench(args = ["o200k", "cl100k"])]
fn i_tokens(bencher: Bencher<'_, '_>, name: &str) {
    let counter = ctxc::internals::context::tokens::counter(name).expect("a table of the program");
    counter.count("");
    bench_corpus(bencher, |text| {
        black_box(counter.count(text));
    });
}

/// Megabyte texts that are hard on a tokenizer. None may take a second.
#[divan::bench(args = ["a", " ", "\n", "é", "=", "  x", "abcdefgh", "lossy"])]
fn j_tokens_of_hostile_texts(bencher: Bencher<'_, '_>, part: &str) {
    let counter =
        ctxc::internals::context::tokens::counter("o200k").expect("a table of the program");
    let mut seed = 88_172_645_463_325_252_u64;
    let mut random = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as u8
    };
    let text = match part {
        "lossy" => String::from_utf8_lossy(&(0..1_000_000).map(&mut random).collect::<Vec<u8>>())
            .into_owned(),
        part => part.repeat(1_000_000 / part.len()),
    };
    counter.count("");
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| black_box(counter.count(black_box(&text))));
}

/// The first thousand tokens of a megabyte text.
#[divan::bench(args = ["a", " ", "  x", "abcdefgh"])]
fn k_fit_a_thousand_tokens(bencher: Bencher<'_, '_>, part: &str) {
    let counter =
        ctxc::internals::context::tokens::counter("o200k").expect("a table of the program");
    let text = part.repeat(1_000_000 / part.len());
    counter.count("");
    bencher.bench_local(|| black_box(counter.fit(black_box(&text), 1000)));
}

/// A request of 2 MB: this program's own sources as tool results.
static REQUEST: LazyLock<String> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut paths: Vec<_> = ignore::Walk::new(folder)
        .filter_map(Result::ok)
        .map(ignore::DirEntry::into_path)
        .collect();
    paths.sort();
    let mut messages = Vec::new();
    let mut bytes = 0;
    for text in paths
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
    {
        bytes += text.len();
        messages.push(serde_json::json!({"role": "tool", "content": text}));
        if bytes > 2_000_000 {
            break;
        }
    }
    serde_json::json!({"model": "m", "messages": messages}).to_string()
});

#[divan::bench]
fn l_a_request_read_as_json(bencher: Bencher<'_, '_>) {
    let text = &*REQUEST;
    let read = || {
        drop(black_box(serde_json::from_str::<serde_json::Value>(
            black_box(text),
        )));
    };
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(read);
}

#[divan::bench]
fn m_a_request_masked(bencher: Bencher<'_, '_>) {
    let (text, redactor) = (
        &*REQUEST,
        ctxc::internals::record::redact::Redactor::new([7; 32], []),
    );
    let mask = || {
        drop(black_box(redactor.mask_json(
            black_box(text),
            "/request",
            &mut Vec::new(),
        )));
    };
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(mask);
}
