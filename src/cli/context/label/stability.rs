//! The scores of the judge on labelled answers: those of its recorded judgements, and those that it
//! gives to the same answers in other forms.

use super::item::LabelItem;
use crate::base::parallel;
use crate::cli::prelude::*;
use crate::eval::judge::labels::{JudgeScore, LabelStore, QuestionForm, ScorePlace};
use crate::eval::judge::{JudgedAnswer, JudgedScale, criterion_hash};
use crate::eval::prepared_case::RunContext;
use crate::provider::limiter::MAX_CALLS;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The number of labelled answers that the judge is asked about in other forms.
const MAX_ANSWERS: usize = 20;

/// The scores of the judge for the criteria of an answer.
#[derive(Clone, Copy)]
struct FormScores<'a> {
    form: QuestionForm,
    scores: &'a [u64],
}

/// A question to the judge.
struct FormQuestion<'a> {
    judged: &'a JudgedAnswer,
    form: QuestionForm,
}

/// Adds the scores of recorded judgements on labelled answers. Returns the number of new ones.
pub(super) fn add_recorded_scores(
    store: &mut LabelStore,
    run: &RunContext<'_>,
    answers: &[JudgedAnswer],
) -> usize {
    let mut added = 0;
    for judged in answers {
        if let Some(scores) = &judged.scores {
            added += add_scores(
                store,
                run,
                judged,
                FormScores {
                    form: QuestionForm::Plain,
                    scores,
                },
            );
        }
    }
    added
}

/// Adds scores for the labelled criteria of an answer. Returns the number of new ones.
fn add_scores(
    store: &mut LabelStore,
    run: &RunContext<'_>,
    judged: &JudgedAnswer,
    given: FormScores<'_>,
) -> usize {
    let FormScores { form, scores } = given;
    let mut added = 0;
    for (scale, score) in judged.criteria.iter().zip(scores) {
        if let Some(place) = labelled_place(store, run, item_of(judged, scale), form) {
            added += usize::from(store.add_score(JudgeScore::new(place, *score)));
        }
    }
    added
}

/// The place of a score, if the answer is labelled.
fn labelled_place(
    store: &LabelStore,
    run: &RunContext<'_>,
    item: LabelItem<'_>,
    form: QuestionForm,
) -> Option<ScorePlace> {
    let LabelItem { judged, criterion } = item;
    let answer = judged.answer_hash();
    let labels = store.labels_by_answer(&criterion.key, criterion.max_score);
    labels.get(answer.as_str())?;
    Some(ScorePlace {
        criterion: criterion.key.clone(),
        judge: criterion_hash(run.answers.judge?, run, criterion).ok()?,
        answer,
        form,
    })
}

const fn item_of<'a>(judged: &'a JudgedAnswer, scale: &'a JudgedScale) -> LabelItem<'a> {
    LabelItem {
        judged,
        criterion: &scale.criterion,
    }
}

/// Asks the judge about labelled answers in the forms that are not known yet. Returns the number of
/// new scores.
///
/// # Errors
/// The judge gave no answer to any question.
pub(super) fn ask_other_forms(
    store: &mut LabelStore,
    run: &RunContext<'_>,
    answers: &[JudgedAnswer],
    cx: &mut Cx,
) -> Result<usize> {
    let questions = open_questions(store, run, answers);
    if questions.is_empty() {
        return Ok(0);
    }
    cx.print_note(&format!(
        "asking the judge {}",
        pluralize(questions.len(), "question")
    ));
    let threads = NonZeroUsize::new(MAX_CALLS);
    let answered = parallel::map_items(&questions, threads, |question| {
        question.judged.ask_in_form(run, question.form)
    });
    let (mut added, mut failures) = (0, BTreeMap::new());
    for (question, scores) in questions.iter().zip(answered) {
        match scores {
            Ok(scores) => {
                let given = FormScores {
                    form: question.form,
                    scores: &scores,
                };
                added += add_scores(store, run, question.judged, given);
            }
            Err(why) => *failures.entry(why).or_insert(0) += 1,
        }
    }
    for (why, count) in &failures {
        cx.print_note(&format!(
            "{} without an answer: {}",
            pluralize(*count, "question"),
            escape_line(why)
        ));
    }
    match failures.keys().next() {
        Some(why) if added == 0 => Err(CliError::new(
            CliErrorKind::Infrastructure,
            format!("the judge cannot be asked: {why}"),
        )),
        _ => Ok(added),
    }
}

/// The questions about judged and labelled answers that have no score yet.
fn open_questions<'a>(
    store: &LabelStore,
    run: &RunContext<'_>,
    answers: &'a [JudgedAnswer],
) -> Vec<FormQuestion<'a>> {
    let mut counts: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let mut open = Vec::new();
    for judged in answers.iter().filter(|one| one.scores.is_some()) {
        let place = |form| {
            let places = judged
                .criteria
                .iter()
                .map(move |scale| labelled_place(store, run, item_of(judged, scale), form));
            places.flatten().collect::<Vec<ScorePlace>>()
        };
        let names: Vec<&str> = judged
            .criteria
            .iter()
            .map(|one| one.criterion.key.as_str())
            .collect();
        let count = counts.entry(names).or_default();
        if *count == MAX_ANSWERS || place(QuestionForm::Plain).is_empty() {
            continue;
        }
        *count += 1;
        let is_open = |form: &QuestionForm| {
            place(*form)
                .iter()
                .any(|place| store.find_score(place).is_none())
        };
        let forms = judged.stability_forms().filter(is_open);
        open.extend(forms.map(|form| FormQuestion { judged, form }));
    }
    open
}
