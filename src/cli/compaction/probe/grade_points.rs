//! Grades answers by the expected facts or by a role, which receives nothing that names a method, a
//! session or a file of answers.

use super::command_line::VoteArgs;
use super::role_questions::{
    AskedRole, GRADE_PROBE, QuestionInputs, RoleQuestions, question_inputs,
};
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::eval::judge::{RawScore, describe_criteria, is_quoted, read_scores};
use crate::scenario::rubric::{Criterion, Rubric};
use crate::session::probe::deterministic_judge::{GradedText, grade_by_facts};
use crate::session::probe::document::{Probe, ProbePoint};
use crate::session::probe::grade::CriterionResult;
use std::collections::BTreeMap;

/// The scores of an answer, or the reason of their absence.
pub(super) type GradedProbe = std::result::Result<GradedAnswer, String>;

/// The scores of an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct GradedAnswer {
    /// In the order of the rubric.
    pub(super) results: Vec<CriterionResult>,
    /// The evidence of a role that judged.
    pub(super) evidence: Vec<ScoreEvidence>,
}

impl GradedAnswer {
    /// Returns the score of a criterion.
    pub(super) fn score(&self, criterion: &str) -> Option<u64> {
        let own = self.results.iter();
        let mut own = own.filter(|one| one.criterion_id == criterion);
        own.next().map(|one| one.score)
    }
}

/// The evidence for a score of a role.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct ScoreEvidence {
    /// The id of the criterion.
    pub(super) criterion: String,
    /// The words that the judge quoted; empty if it quoted none.
    pub(super) quote: String,
    /// True if they occur in the answer or in the compacted context.
    pub(super) occurs: bool,
    /// The scores of all votes, in ascending order; their median counts.
    pub(super) votes: Vec<u64>,
}

/// The evidence for all scores of a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub(crate) struct EvidenceCounts {
    /// The number of scores.
    pub(super) scores: usize,
    /// The number of scores with different votes.
    pub(super) split_votes: usize,
    /// The number of quotes.
    pub(super) quotes: usize,
    /// The number of quotes that occur neither in the answer nor in the compacted context.
    pub(super) missing_quotes: usize,
}

impl EvidenceCounts {
    /// Counts the evidence of some answers; `None` if no role judged them.
    pub(super) fn new<'e>(evidence: impl Iterator<Item = &'e ScoreEvidence>) -> Option<Self> {
        let mut counts = Self::default();
        for one in evidence {
            counts.scores += 1;
            counts.split_votes += usize::from(one.votes.first() != one.votes.last());
            let is_quote = !one.quote.is_empty();
            counts.quotes += usize::from(is_quote);
            counts.missing_quotes += usize::from(is_quote && !one.occurs);
        }
        (counts.scores > 0).then_some(counts)
    }

    /// Describes the counts for people.
    pub(super) fn describe(self) -> String {
        let Self {
            scores,
            split_votes,
            quotes,
            missing_quotes,
        } = self;
        let all = pluralize(scores, "score");
        let mut parts = vec![format!(
            "{missing_quotes} of {} of the judge {} neither in the answer nor in its context",
            pluralize(quotes, "quote"),
            if missing_quotes == 1 {
                "occurs"
            } else {
                "occur"
            },
        )];
        if quotes < scores {
            parts.push(format!("{} of {all} without a quote", scores - quotes));
        }
        if split_votes > 0 {
            parts.push(format!("votes differ on {split_votes} of {all}"));
        }
        parts.join("; ")
    }
}

/// A role that judges.
#[derive(Clone, Copy)]
pub(super) struct RoleJudge<'a> {
    pub(super) questions: &'a RoleQuestions<'a>,
    pub(super) role: &'a str,
    pub(super) votes: VoteArgs,
    pub(super) seed: u64,
    pub(super) rubric: &'a Rubric,
}

/// Grades the answers of some compactions by the expected facts.
pub(super) fn grade_points_by_facts(
    points: &[ProbePoint],
    form: GradedText,
    rubric: &Rubric,
) -> Vec<GradedProbe> {
    let probes = points.iter().flat_map(|point| &point.probes);
    probes
        .map(|probe| {
            let answer = probe.model_response.as_deref().ok_or("it has no answer")?;
            Ok(GradedAnswer {
                results: grade_by_facts(probe, answer, form, rubric),
                evidence: Vec::new(),
            })
        })
        .collect()
}

impl RoleJudge<'_> {
    /// Grades the answers of some compactions, in the order of the probes.
    ///
    /// # Errors
    /// The role cannot be asked.
    pub(super) fn grade_points(
        &self,
        points: &[ProbePoint],
        cx: &mut Cx,
    ) -> Result<Vec<GradedProbe>> {
        let mut asked: Vec<QuestionInputs> = Vec::new();
        let mut parts: Vec<GradePart<'_>> = Vec::new();
        let mut graded: Vec<GradedProbe> = Vec::new();
        let all = points
            .iter()
            .flat_map(|point| point.probes.iter().map(move |probe| (point, probe)));
        for (place, (point, probe)) in all.enumerate() {
            let Some(answer) = probe.model_response.as_deref() else {
                graded.push(Err("it has no answer".to_owned()));
                continue;
            };
            graded.push(Ok(GradedAnswer::default()));
            let context = point.compacted_context.as_deref();
            let truth = probe.ground_truth();
            for criteria in self.criteria_of_calls(probe, answer) {
                let guide = self.rubric.guide.as_deref();
                let described = describe_criteria(guide, criteria.iter().copied());
                asked.push(question_inputs([
                    ("probe_question", Some(&probe.probe_question)),
                    ("model_response", Some(answer)),
                    ("compacted_context", context),
                    ("ground_truth", Some(&truth)),
                    ("rubric_criteria", Some(&described)),
                ]));
                parts.push(GradePart {
                    place,
                    criteria,
                    texts: [answer, context.unwrap_or_default()],
                });
            }
        }
        let read = |number: usize, text: &str| {
            let own = parts.get(number).map(|part| part.criteria.as_slice());
            read_scores(text, own.unwrap_or_default())
        };
        let to = AskedRole {
            name: self.role,
            template: &GRADE_PROBE,
            votes: self.votes.votes,
        };
        let answers = self.questions.ask(to, asked, read, cx)?;
        for (part, votes) in parts.iter().zip(answers) {
            let Some(own) = graded.get_mut(part.place) else {
                continue;
            };
            match (own.as_mut(), votes) {
                (Ok(own), Ok(votes)) => part.add_scores(&votes, own),
                (Ok(_), Err(why)) => *own = Err(why),
                (Err(_), _) => {}
            }
        }
        let ids: Vec<&str> = self
            .rubric
            .criteria
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        for own in graded.iter_mut().flatten() {
            let place = |id: &str| ids.iter().position(|own| *own == id);
            own.results.sort_by_key(|one| place(&one.criterion_id));
            own.evidence.sort_by_key(|one| place(&one.criterion));
        }
        Ok(graded)
    }

    /// The criteria of each call about an answer, in a seeded order: a fixed one would favour the first.
    fn criteria_of_calls(&self, probe: &Probe, answer: &str) -> Vec<Vec<&Criterion>> {
        let mut calls: BTreeMap<&str, Vec<&Criterion>> = BTreeMap::new();
        let mut criteria: Vec<&Criterion> = self.rubric.criteria.iter().collect();
        criteria.retain(|one| probe.criteria.contains(&one.id));
        criteria.sort_by_cached_key(|one| {
            let place = format!(
                "{}\0{}\0{answer}\0{}",
                self.seed, probe.probe_question, one.id
            );
            Hash::digest(place.as_bytes())
        });
        for criterion in criteria {
            let call = if self.votes.by_dimension {
                criterion.dimension()
            } else {
                ""
            };
            calls.entry(call).or_default().push(criterion);
        }
        calls.into_values().collect()
    }
}

/// Criteria that a role is asked about at once.
struct GradePart<'a> {
    /// The number of the probe.
    place: usize,
    criteria: Vec<&'a Criterion>,
    /// The texts that a quote can be from.
    texts: [&'a str; 2],
}

impl GradePart<'_> {
    /// Adds the median of the votes on each criterion, with the reason and the quote of one of these
    /// votes. The number of votes is odd, so that the median is a score that was given.
    fn add_scores(&self, votes: &[Vec<RawScore>], own: &mut GradedAnswer) {
        for (at, criterion) in self.criteria.iter().enumerate() {
            let mut scores: Vec<&RawScore> = votes.iter().filter_map(|vote| vote.get(at)).collect();
            scores.sort_by_key(|one| one.score);
            let Some(median) = scores.get(scores.len() / 2) else {
                continue;
            };
            own.results.push(CriterionResult {
                criterion_id: criterion.id.clone(),
                score: median.score,
                reasoning: median.reason.clone(),
            });
            own.evidence.push(ScoreEvidence {
                criterion: criterion.id.clone(),
                occurs: self.texts.iter().any(|text| is_quoted(&median.quote, text)),
                quote: median.quote.clone(),
                votes: scores.iter().map(|one| one.score).collect(),
            });
        }
    }
}
