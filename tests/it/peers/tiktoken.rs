//! Counts of tokens, made again by the tokenizer's own program.

use super::editors::script;
use crate::assembly::shipped::{agents, run, shipped};
use crate::support::profiles::fenced_profiles;
use ctxc::internals::context::options::Options;
use ctxc::internals::context::tokens::counter;
use ctxc::internals::kernel::budget::Counting;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The counts of tiktoken, with the tables that are part of the program.
fn counted(texts: &[Value]) -> Vec<usize> {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/src/context/tokens");
    let mut python = Command::new("python3");
    python
        .arg(script("count.py"))
        .arg(tables)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let mut child = python
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("python3: {error}"));
    let mut input = child.stdin.take().unwrap();
    let texts = serde_json::to_vec(texts).unwrap();
    let writer = std::thread::spawn(move || input.write_all(&texts));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "count.py failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every agent of every shipped template, in every profile: the messages have the tokens that the
/// manifest reports.
#[test]
#[ignore = "needs tiktoken: the tokenizer's package from its requirements"]
fn tiktoken_counts_what_every_shipped_agent_receives_as_we_do() {
    let registry = shipped();
    let (mut texts, mut expected) = (Vec::new(), Vec::new());
    for table in ["o200k", "cl100k"] {
        let counter = counter(table).unwrap();
        for (task, node) in agents(&registry) {
            for profile in fenced_profiles() {
                let options = Options {
                    profile,
                    counter: &*counter,
                    counting: Counting::Always,
                    ..Options::default()
                };
                let Some((_, assembly)) = run(&registry, &task, &node, &options) else {
                    continue;
                };
                expected.push((
                    format!("{task}{node} as {profile:?} by {table}"),
                    assembly.messages.len(),
                    assembly.report.tokens.unwrap(),
                ));
                texts.extend(
                    assembly
                        .messages
                        .iter()
                        .map(|message| json!({ "table": table, "text": message.text.text() })),
                );
            }
        }
    }
    let counts = counted(&texts);
    let mut counts = counts.into_iter();
    for (title, messages, tokens) in &expected {
        assert_eq!(
            counts.by_ref().take(*messages).sum::<usize>(),
            *tokens,
            "{title}"
        );
    }
    assert!(expected.len() > 250, "only {} compared", expected.len());
}

/// Pieces of texts that are hard for tokenizers.
const PARTS: &[&str] = &[
    "the",
    "Hello",
    "'s",
    "'S",
    "'re",
    "’s",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "123456",
    "é",
    "ſ",
    "'ſ",
    "日本語",
    "😀",
    "👩\u{200d}👩\u{200d}👧",
    "!!!",
    "/",
    "//\n",
    "<|endoftext|>",
    "<|fim_prefix|>",
    "A",
    "ab",
    "XYZ",
    "ǅ",
    "ʰ",
    "e\u{301}",
    "\u{a0}",
    "\u{2028}",
    "\u{3000}",
    "½",
    "٣",
    "_",
    "-----",
    " {\n    \"key\": ",
    "fn main() {",
    "aaaaaaaaaaaaaaa",
    "=",
    "\0",
    "\u{200b}",
    "ñ",
    "Straße",
    "ИВАН",
    "иван",
];

/// Texts that tokenizers get wrong: joints of scripts, spaces and lines, apostrophes, special
/// tokens, long runs.
#[test]
#[ignore = "needs tiktoken: the tokenizer's package from its requirements"]
fn tiktoken_counts_hard_texts_as_we_do() {
    // A linear congruential generator (Knuth, MMIX): the same texts on every machine.
    let mut state = 20_261_121_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut texts = Vec::new();
    for _ in 0..3_000 {
        let length = 1 + random(60);
        texts.push(
            (0..length)
                .map(|_| PARTS[random(PARTS.len())])
                .collect::<String>(),
        );
        let (part, times) = (PARTS[random(PARTS.len())], 1 + random(700));
        texts.push(part.repeat(times) + PARTS[random(PARTS.len())]);
        texts.push(
            (0..length)
                .filter_map(|_| char::from_u32(random(0x1_1000) as u32))
                .collect(),
        );
    }
    let items: Vec<Value> = ["o200k", "cl100k"]
        .iter()
        .flat_map(|table| {
            texts
                .iter()
                .map(move |text| json!({ "table": table, "text": text }))
        })
        .collect();
    let counts = counted(&items);
    assert_eq!(counts.len(), items.len());
    for (item, count) in items.iter().zip(counts) {
        let text = item["text"].as_str().unwrap();
        assert_eq!(
            counter(item["table"].as_str().unwrap())
                .unwrap()
                .count(text),
            count,
            "{text:?} by {}",
            item["table"]
        );
    }
}
