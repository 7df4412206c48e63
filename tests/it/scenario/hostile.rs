//! Any text is read: no panic, every position inside the text, and at most linear time.

use ctxc::internals::scenario::read_suite;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const WORDS: &[&str] = &[
    "name",
    "task",
    "role",
    "context",
    "input",
    "objective",
    "expect_context",
    "expected",
    "segment",
    "contains",
    "in",
    "patterns",
    "tokens",
    "of",
    "setting",
    "value",
    "any_of",
    "not",
    "rule",
    "runs",
    "pass",
    "cases",
    "id",
    "defaults",
    "cases_from",
    "fixtures",
    "memory",
    "answers",
    "when",
    "reviewed",
    "field_matches",
    "path",
    "pattern",
    "exact",
    "inputs",
    "kept",
    "true",
    "5",
    "-1",
    "2026-01-01",
    "'['",
    "$.a[",
    "é",
    "!file x",
    "&a x",
    "*a",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "<<",
];

fn hold(text: &str) {
    for fault in read_suite("scenarios/a.yaml", text).1 {
        assert!(
            text.get(fault.span.start as usize..fault.span.end as usize)
                .is_some(),
            "{fault:?} in {text:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        hold(&text);
    }

    #[test]
    fn any_words_of_the_format_are_read(lines in prop::collection::vec((0_usize..5, prop::bool::ANY, 0..WORDS.len(), 0..WORDS.len(), prop::bool::ANY), 0..30)) {
        let line = |(depth, item, key, value, bare): &(usize, bool, usize, usize, bool)| {
            let value = if *bare { "" } else { WORDS[*value] };
            format!("{}{}{}: {value}\n", "  ".repeat(*depth), if *item { "- " } else { "" }, WORDS[*key])
        };
        hold(&lines.iter().map(line).collect::<Vec<_>>().concat());
    }

    #[test]
    fn any_cut_of_a_whole_scenario_is_read(at in 0..include_str!("whole.yaml").len(), insert in prop::sample::select(WORDS)) {
        let whole = include_str!("whole.yaml");
        hold(&format!("{}{insert}{}", &whole[..at], &whole[at..]));
        hold(&whole[..at]);
    }
}

#[test]
fn large_files_end_soon() {
    let head = "name: a\ntask: t\ncontext: {objective: x}\n";
    let texts = [
        format!("{head}tags: [{}]\n", "5, ".repeat(40_000)),
        format!(
            "{head}expectations:\n{}",
            "  - contains: '('\n".repeat(8_000)
        ),
        format!(
            "{head}{}",
            (0..200_000)
                .map(|at| format!("k{at}: 1"))
                .collect::<Vec<_>>()
                .join("\n")
        ),
        format!("id: s\ncases:\n{}", "  - {id: 1}\n".repeat(8_000)),
        format!("name: {}\n", "x".repeat(2_000_000)),
        format!("name: {}\n", "'".repeat(200_000)),
        format!(
            "{head}expectations: [{}{}]\n",
            "{not: ".repeat(5_000),
            "}".repeat(5_000)
        ),
        format!(
            "{head}expectations: [{{contains: '{}'}}]\n",
            "(".repeat(100_000)
        ),
        format!(
            "{head}expectations: [{{field_matches: {{pattern: x, path: '${}'}}}}]\n",
            "[?(@".repeat(20_000)
        ),
    ];
    for text in texts {
        let begun = Instant::now();
        let (_, faults) = read_suite("a.yaml", &text);
        assert!(faults.len() <= 1000, "{}", faults.len());
        let limit = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
        assert!(
            begun.elapsed() < limit,
            "{:?} for {}",
            begun.elapsed(),
            &text[..60]
        );
    }
}
