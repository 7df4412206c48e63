//! The answer of the judge: one score for each criterion, or the reason why it is refused.

use crate::scenario::rubric::Criterion;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// The score of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CriterionScore {
    /// The criterion, by its name in the project: `scenarios/rubrics/answer.yaml#accuracy`, or its
    /// own words.
    pub criterion: String,
    /// The score.
    pub score: u64,
    /// The highest possible score; the lowest is 0.
    pub max: u64,
    /// The score from which the criterion counts as met.
    pub min: u64,
    /// The words of the answer that the judge names as evidence; empty if it names none.
    pub quote: String,
    /// True if these words occur in the answer.
    pub quoted: bool,
    /// The reason of the judge.
    pub reason: String,
    /// The hash of the scored text.
    pub answer: String,
    /// True if the judge is trusted on the criterion, so that its score counts; else it informs.
    pub counts: bool,
}

impl CriterionScore {
    /// True if the criterion is met.
    pub const fn is_met(&self) -> bool {
        self.score >= self.min
    }
}

/// The answer of a judge as written.
#[derive(Deserialize)]
struct JudgeAnswer {
    #[serde(alias = "criterionResults")]
    scores: Vec<ScoreEntry>,
}

#[derive(Deserialize)]
struct ScoreEntry {
    #[serde(alias = "criterionId")]
    criterion: String,
    score: serde_json::Value,
    #[serde(default)]
    quote: String,
    #[serde(default, alias = "reasoning")]
    reason: String,
}

/// A score as the judge gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawScore {
    /// The score.
    pub score: u64,
    /// The words that it names as evidence; empty if it names none.
    pub quote: String,
    /// Its reason.
    pub reason: String,
}

/// Reads the scores of some criteria, in their order. The entries have the keys `criterion`, `score`,
/// `quote` and `reason` in the list `scores`, or `criterionId`, `score`, `quote` and `reasoning` in
/// `criterionResults`.
///
/// # Errors
/// A score is missing, repeated, unknown, or not a whole number of its scale; the reason is in the
/// text.
pub fn read_scores<C: Deref<Target = Criterion>>(
    text: &str,
    criteria: &[C],
) -> Result<Vec<RawScore>, String> {
    // Models put JSON into a fence or a sentence.
    let json = text
        .find('{')
        .zip(text.rfind('}'))
        .and_then(|(start, end)| text.get(start..=end));
    let json = json.ok_or_else(|| "no JSON object in it".to_owned())?;
    let answer: JudgeAnswer = serde_json::from_str(json)
        .map_err(|error| format!("expected {{\"scores\": [{{\"criterion\", \"score\", \"quote\", \"reason\"}}]}}: {error}"))?;
    if let Some(unknown) = answer
        .scores
        .iter()
        .find(|entry| criteria.iter().all(|one| one.id != entry.criterion))
    {
        return Err(format!(
            "a score for `{}`, which was not asked",
            unknown.criterion
        ));
    }
    let read = |criterion: &C| {
        let id = &criterion.id;
        let mut found = answer.scores.iter().filter(|entry| entry.criterion == *id);
        let entry = found.next().ok_or_else(|| format!("no score for `{id}`"))?;
        if found.next().is_some() {
            return Err(format!("two scores for `{id}`"));
        }
        let score = entry.score.as_u64();
        let score = score.filter(|score| *score <= criterion.max_score);
        let score = score.ok_or_else(|| {
            format!(
                "the score {} for `{id}`, which is not a whole number from 0 to {}",
                entry.score, criterion.max_score
            )
        })?;
        Ok(RawScore {
            score,
            quote: entry.quote.trim().to_owned(),
            reason: entry.reason.trim().to_owned(),
        })
    };
    criteria.iter().map(read).collect()
}

/// True if a quote occurs in a text, however both are wrapped.
pub fn is_quoted(quote: &str, text: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    !quote.is_empty() && plain(text).contains(&plain(quote))
}
