//! The labels that people gave to answers, the scores of the judge on the same answers, and the
//! decision that follows from both. Does no I/O.
//!
//! Three of four labels are held out from the writing of the prompt, chosen by the hash of criterion
//! and answer. Decisions are made at every tenth of them from the thirtieth on, so that looking again
//! between two of these changes nothing.

use super::criteria::JudgedScale;
use crate::base::hash::Hash;
use crate::base::words::words;
use crate::eval::kappa::{PairTable, RatingPair};
use crate::eval::trust_decision::{
    CalibrationState, FlipCount, MIN_FORM_VERDICTS, MIN_LABELS, TrustDecision, TrustEvidence,
    TrustReport, decide_trust,
};
use crate::scenario::date;
use crate::schema::json::names;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The folder of labels and scores.
pub const LABEL_FOLDER: &str = "labels";
/// The name of the file of scores, which no person may have.
pub const SCORE_FILE: &str = "judge.jsonl";
/// The number of labels between two decisions.
const LOOK_INTERVAL: usize = 10;
/// The number of parts of the labels, one of which is for the writing of the prompt.
const LABEL_PARTS: u8 = 4;
/// The number of seconds by which the clock of a person may be ahead.
const MAX_CLOCK_SKEW: i64 = 86_400;

/// The verdict of a person on one answer: a line of `labels/NAME.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Label {
    /// The version of the format.
    pub schema: String,
    /// The criterion, by its name in the project: `scenarios/rubrics/answer.yaml#accuracy`, or its
    /// own words.
    pub criterion: String,
    /// The hash of the request and the answer.
    pub answer: String,
    /// The scenario with the answer.
    pub case: String,
    /// The score.
    pub score: u64,
    /// The highest score of the scale.
    pub max: u64,
    /// The person.
    pub by: String,
    /// The time in UTC.
    pub at: String,
}

words! {
    /// The form in which the judge is asked about an answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum QuestionForm {
        /// As in an evaluation.
        Plain = "plain",
        /// The same a second time.
        Second = "second",
        /// The same a third time.
        Third = "third",
        /// The criteria in the opposite order.
        Order = "order",
        /// The answer with empty words behind it.
        Filler = "filler",
        /// The answer with each line as an item of a list.
        Layout = "layout",
    }
}

/// A score of the judge for a labelled answer: a line of `labels/judge.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct JudgeScore {
    /// The version of the format.
    pub schema: String,
    /// The criterion, as in a label.
    pub criterion: String,
    /// The hash of the judge's prompt, model and parameters, with the criterion.
    pub judge: String,
    /// The hash of the request and the answer.
    pub answer: String,
    /// The form of the question.
    pub form: QuestionForm,
    /// The score.
    pub score: u64,
}

impl JudgeScore {
    /// The score of a judge for an answer.
    pub fn new(place: ScorePlace, score: u64) -> Self {
        let ScorePlace {
            criterion,
            judge,
            answer,
            form,
        } = place;
        Self {
            schema: names::JUDGE_SCORE.to_owned(),
            criterion,
            judge,
            answer,
            form,
            score,
        }
    }
}

/// The question that a score answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScorePlace {
    /// The criterion.
    pub criterion: String,
    /// The hash of the judge.
    pub judge: String,
    /// The hash of the answer.
    pub answer: String,
    /// The form of the question.
    pub form: QuestionForm,
}

/// A line of `labels/` that cannot be read.
#[derive(Debug, Error)]
#[error("{path}:{line}: {why}")]
pub struct LabelFault {
    path: String,
    line: usize,
    why: String,
}

/// The labels and scores of a project.
#[derive(Clone, Debug, Default)]
pub struct LabelStore {
    labels: Vec<Label>,
    scores: BTreeMap<ScorePlace, u64>,
    /// The time of reading, in seconds since 1970.
    now: i64,
}

/// A labelled answer. Of several labels the earliest counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledAnswer {
    /// The hash of the answer.
    pub answer: String,
    /// The scenario with the answer.
    pub case: String,
    /// The score of the person.
    pub person: u64,
    /// The score of the judge; `None` if this judge has not scored it.
    pub judge: Option<u64>,
    /// True if it is held out from the writing of the prompt.
    pub is_held_out: bool,
}

/// The agreement of the judge with people on one criterion, and the decision.
#[derive(Clone, Debug)]
pub struct JudgeAssessment {
    /// The hash of the judge's prompt, model and parameters, with the criterion.
    pub judge: String,
    /// The labelled answers, in the order of labelling.
    pub answers: Vec<LabelledAnswer>,
    /// The ratings that the decision is made by.
    pub pairs: Vec<RatingPair>,
    /// The verdicts that changed with the form of the question, by the form.
    pub stability: BTreeMap<QuestionForm, FlipCount>,
    /// The decision.
    pub report: TrustReport,
    /// The number of labels that are to be given until the next decision that can trust the judge,
    /// if all other conditions hold.
    pub more_labels: Option<u32>,
}

impl LabelStore {
    /// An empty store, at a time in seconds since 1970.
    pub fn at_time(now: i64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// Adds the lines of a file of labels or scores.
    ///
    /// # Errors
    /// A line is neither.
    pub fn add_file(&mut self, path: &str, text: &str) -> Result<(), LabelFault> {
        let is_scores = path.rsplit('/').next() == Some(SCORE_FILE);
        let lines = text.lines().enumerate();
        // A killed program can leave the beginning of a line, which is no label yet.
        let torn = (!text.ends_with('\n')).then(|| text.lines().count());
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            if torn == Some(number + 1) && serde_json::from_str::<serde_json::Value>(line).is_err()
            {
                continue;
            }
            let fault = |why: String| LabelFault {
                path: path.to_owned(),
                line: number + 1,
                why,
            };
            let check_schema = |found: &str, expected: &str| {
                if found == expected {
                    return Ok(());
                }
                Err(fault(format!(
                    "found `schema` {found:?}, expected {expected:?}"
                )))
            };
            if is_scores {
                let score: JudgeScore =
                    serde_json::from_str(line).map_err(|why| fault(why.to_string()))?;
                check_schema(&score.schema, names::JUDGE_SCORE)?;
                self.add_score(score);
            } else {
                let label: Label =
                    serde_json::from_str(line).map_err(|why| fault(why.to_string()))?;
                check_schema(&label.schema, names::LABEL)?;
                if label.score > label.max {
                    let why = format!(
                        "found the score {}, expected at most {}",
                        label.score, label.max
                    );
                    return Err(fault(why));
                }
                if label.by.contains(char::is_control) {
                    let why = "expected the name of a person in one line";
                    return Err(fault(format!("found `by` {:?}, {why}", label.by)));
                }
                let at = date::parse_time(&label.at);
                if at.is_none_or(|at| at > self.now + MAX_CLOCK_SKEW) {
                    let why = "expected a time that is past, such as 2026-11-21T08:30:00Z";
                    return Err(fault(format!("found `at` {:?}, {why}", label.at)));
                }
                self.labels.push(label);
            }
        }
        Ok(())
    }

    /// Adds a score, unless the question has one: asking again until the answer fits is no agreement.
    /// Returns true if it is new.
    pub fn add_score(&mut self, score: JudgeScore) -> bool {
        let JudgeScore {
            criterion,
            judge,
            answer,
            form,
            score,
            ..
        } = score;
        let place = ScorePlace {
            criterion,
            judge,
            answer,
            form,
        };
        let is_new = !self.scores.contains_key(&place);
        self.scores.entry(place).or_insert(score);
        is_new
    }

    /// The labels, in the order of their files.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The scores, in the order of criterion, judge, answer and form.
    pub fn scores(&self) -> impl Iterator<Item = (&ScorePlace, u64)> {
        self.scores.iter().map(|(place, score)| (place, *score))
    }

    /// The score for a question, if there is one.
    pub fn find_score(&self, place: &ScorePlace) -> Option<u64> {
        self.scores.get(place).copied()
    }

    /// The lines of the file of scores.
    pub fn score_lines(&self) -> String {
        let lines = self.scores.iter().map(|(place, score)| {
            let row = JudgeScore::new(place.clone(), *score);
            // Serializing strings and numbers cannot fail.
            serde_json::to_string(&row).unwrap_or_default() + "\n"
        });
        lines.collect()
    }

    /// The labels of a criterion by answer, each list in the order of time. Labels of another scale
    /// are left out.
    pub fn labels_by_answer(&self, criterion: &str, max: u64) -> BTreeMap<&str, Vec<&Label>> {
        let mut found: BTreeMap<&str, Vec<&Label>> = BTreeMap::new();
        let own = |label: &&Label| label.criterion == criterion && label.max == max;
        for label in self.labels.iter().filter(own) {
            found.entry(&label.answer).or_default().push(label);
        }
        for labels in found.values_mut() {
            labels.sort_by_key(|label| (&label.at, &label.by));
        }
        found
    }

    /// Assesses the judge with this hash on a criterion, with its stability in all of `forms`; `None`
    /// without labels.
    pub fn assess(
        &self,
        scale: &JudgedScale,
        judge: String,
        forms: &[QuestionForm],
    ) -> Option<JudgeAssessment> {
        let (criterion, max) = (&scale.criterion.key, scale.criterion.max_score);
        let place = |answer: &str, form| ScorePlace {
            criterion: criterion.clone(),
            judge: judge.clone(),
            answer: answer.to_owned(),
            form,
        };
        let mut first: Vec<&Label> = self
            .labels_by_answer(criterion, max)
            .values()
            .filter_map(|labels| labels.first().copied())
            .collect();
        first.sort_by_key(|label| (&label.at, &label.answer));
        let answers: Vec<LabelledAnswer> = first
            .into_iter()
            .map(|label| LabelledAnswer {
                answer: label.answer.clone(),
                case: label.case.clone(),
                person: label.score,
                judge: self
                    .find_score(&place(&label.answer, QuestionForm::Plain))
                    .filter(|score| *score <= max),
                is_held_out: is_held_out(criterion, &label.answer),
            })
            .collect();
        if answers.is_empty() {
            return None;
        }
        let versions: BTreeSet<&str> = self
            .scores
            .keys()
            .filter(|one| one.criterion == *criterion)
            .map(|one| one.judge.as_str())
            .collect();
        let is_calibrated = versions.contains(judge.as_str()) || versions.is_empty();
        let mut pairs: Vec<RatingPair> = answers
            .iter()
            .filter(|one| one.is_held_out)
            .filter_map(LabelledAnswer::rating_pair)
            .collect();
        let stability = self.count_flips(scale, &judge);
        let held_out = answers.iter().filter(|one| one.is_held_out).count();
        let none = PairTable::default();
        let evidence = TrustEvidence {
            table: &none,
            min_rating: scale.min as usize,
            looks: 1,
            prompt_versions: (versions.len() + usize::from(!versions.contains(judge.as_str())))
                as u32,
            calibration: if is_calibrated {
                CalibrationState::Current
            } else {
                CalibrationState::Void
            },
            stability: worst_form(&stability, forms),
            held_out: held_out as u32,
            unscored: (held_out - pairs.len()) as u32,
        };
        let table = |count: usize| {
            let pairs = pairs.get(..count).unwrap_or_default();
            PairTable::from_pairs(max as usize + 1, pairs).unwrap_or_default()
        };
        let looks = look_points(pairs.len());
        let is_trusted = |(look, count): &(u32, usize)| {
            let table = table(*count);
            let evidence = TrustEvidence {
                table: &table,
                looks: *look,
                ..evidence
            };
            decide_trust(&evidence).decision == TrustDecision::Trusted
        };
        // A judge that was trusted once is not looked at again for that.
        let look = looks.iter().find(|one| is_trusted(one)).or(looks.last());
        let look = look.map_or(1, |(look, _)| *look);
        let count = looks.last().map_or(pairs.len(), |(_, count)| *count);
        let table = table(count);
        let report = decide_trust(&TrustEvidence {
            table: &table,
            looks: look,
            ..evidence
        });
        let more_labels = match report.decision {
            TrustDecision::TooFewLabels { more } => {
                let missing = (more as usize).saturating_sub(pairs.len() - count).max(1);
                let parts = usize::from(LABEL_PARTS);
                Some((missing * parts).div_ceil(parts - 1) as u32)
            }
            TrustDecision::Trusted | TrustDecision::NotTrusted { .. } => None,
        };
        pairs.truncate(count);
        Some(JudgeAssessment {
            judge,
            answers,
            pairs,
            stability,
            report,
            more_labels,
        })
    }

    /// Counts the verdicts that changed with the form of the question.
    fn count_flips(&self, scale: &JudgedScale, judge: &str) -> BTreeMap<QuestionForm, FlipCount> {
        let mut counts: BTreeMap<QuestionForm, FlipCount> = BTreeMap::new();
        let own = |place: &ScorePlace| {
            place.criterion == scale.criterion.key
                && place.judge == judge
                && place.form != QuestionForm::Plain
        };
        for (place, score) in self.scores.iter().filter(|(place, _)| own(place)) {
            let plain = self.find_score(&ScorePlace {
                form: QuestionForm::Plain,
                ..place.clone()
            });
            if let Some(plain) = plain {
                let count = counts.entry(place.form).or_default();
                count.trials += 1;
                count.flips += u32::from((plain >= scale.min) != (*score >= scale.min));
            }
        }
        counts
    }
}

/// The verdicts in the form that changes most of them; `None` if one of `forms` has too few.
fn worst_form(
    counts: &BTreeMap<QuestionForm, FlipCount>,
    forms: &[QuestionForm],
) -> Option<FlipCount> {
    let has_enough = |form: &QuestionForm| {
        let count = counts.get(form);
        count.is_some_and(|count| count.trials >= MIN_FORM_VERDICTS)
    };
    if !counts.keys().chain(forms).all(has_enough) {
        return None;
    }
    let counts = counts.values().copied();
    counts.max_by_key(|count| u64::from(count.flips) * 1_000_000 / u64::from(count.trials))
}

impl LabelledAnswer {
    /// Both ratings, if the judge has scored the answer.
    pub fn rating_pair(&self) -> Option<RatingPair> {
        Some(RatingPair {
            person: self.person as usize,
            judge: self.judge? as usize,
        })
    }
}

/// The decisions that are made on so many labels: the number of each, and of its labels.
fn look_points(labels: usize) -> Vec<(u32, usize)> {
    let counts = (MIN_LABELS as usize..=labels).step_by(LOOK_INTERVAL);
    (1..).zip(counts).collect()
}

/// True if the label of an answer is held out from the writing of the prompt.
pub fn is_held_out(criterion: &str, answer: &str) -> bool {
    let Hash([first, ..]) = Hash::digest(format!("{criterion}\0{answer}").as_bytes());
    first % LABEL_PARTS != 0
}
