//! Expectations on the answer in words, as reports name them.

use crate::base::span::Spanned;
use crate::scenario::model::{AnswerTest, Frozen, Risk};

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// The word of a risk.
pub(super) const fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

/// A risk by its word.
pub(super) fn of_word(word: &str) -> Option<Risk> {
    [Risk::Low, Risk::Medium, Risk::High, Risk::Critical].into_iter().find(|known| risk(*known).eq_ignore_ascii_case(word))
}

/// The beginning of a text, on one line.
pub(super) fn short(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or("").replace('\n', "⏎"))
}

fn list(texts: &[Spanned<String>], open: &str, close: &str) -> String {
    texts.iter().map(|text| format!("{open}{}{close}", text.value)).collect::<Vec<_>>().join(", ")
}

/// An expectation in words.
pub fn described(test: &AnswerTest) -> String {
    let inside = |inner: &[Spanned<AnswerTest>]| inner.iter().map(|one| described(&one.value)).collect::<Vec<_>>().join("; ");
    match test {
        AnswerTest::FieldMatches { path, pattern } => format!("{} matches /{}/", path.value, pattern.value),
        AnswerTest::Absent(patterns) => format!("the answer does not contain {}", list(patterns, "/", "/")),
        AnswerTest::Contains(patterns) => format!("the answer contains {}", list(patterns, "/", "/")),
        AnswerTest::MaxRisk(most) => format!("risk at most {}", risk(*most)),
        AnswerTest::Decomposes(true) => "the task is decomposed".to_owned(),
        AnswerTest::Decomposes(false) => "the task is not decomposed".to_owned(),
        AnswerTest::MaxTokens(most) => format!("at most {most} tokens in and out"),
        AnswerTest::ReferencesFiles(paths) => format!("the answer mentions {}", list(paths, "`", "`")),
        AnswerTest::Exact(value) => format!("the answer is {}", short(&value.to_string())),
        AnswerTest::Schema(Frozen::File(path)) => format!("the answer fits {path}"),
        AnswerTest::Schema(Frozen::Value(_)) => "the answer fits the schema".to_owned(),
        AnswerTest::CallsTool(name) => format!("calls `{}`", name.value),
        AnswerTest::NeverCallsTool(name) => format!("never calls `{}`", name.value),
        AnswerTest::MaxLatency(most) => format!("at most {most} ms"),
        AnswerTest::MaxCost(most) => format!("at most US$ {most}"),
        AnswerTest::Judge { criteria, min_score } => {
            format!("a judge gives {min_score} or more for {}", list(criteria, "“", "”"))
        }
        AnswerTest::Rubric(criterion) => format!("a judge finds “{}”", short(&criterion.value)),
        AnswerTest::Command(argv) => format!("`{}` accepts it", list(argv, "", "").replace(", ", " ")),
        AnswerTest::Not(inner) => format!("not ({})", described(&inner.value)),
        AnswerTest::AnyOf(inner) => format!("any of ({})", inside(inner)),
        AnswerTest::AllOf(inner) => format!("all of ({})", inside(inner)),
    }
}
