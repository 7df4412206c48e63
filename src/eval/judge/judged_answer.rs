//! Answers as the judge meets them, and the forms in which it can be asked about them.

use super::criteria::JudgedScale;
use super::labels::QuestionForm;
use crate::base::hash::Hasher;
use std::borrow::Cow;

/// Words that add nothing to an answer.
const FILLER: &str =
    "\n\nI hope this helps. Please let me know if there is anything else that you need.";

/// An answer with the criteria that it is judged by.
#[derive(Clone, Debug)]
pub struct JudgedAnswer {
    /// The scenario's file, relative to the project.
    pub path: String,
    /// The name of the case.
    pub case: String,
    /// The request that was answered.
    pub request: String,
    /// The answer.
    pub answer: String,
    /// The criteria.
    pub criteria: Vec<JudgedScale>,
    /// The scores of the judge, one for each criterion; `None` if it has not judged the answer.
    pub scores: Option<Vec<u64>>,
}

impl JudgedAnswer {
    /// The hash of the request and the answer: a short answer can be right for one request and wrong
    /// for another.
    pub fn answer_hash(&self) -> String {
        let mut hasher = Hasher::new();
        hasher.add_field(&self.request).add_field(&self.answer);
        hasher.finish().to_string()
    }

    /// The forms in which the judge can be asked about it for its stability.
    pub fn stability_forms(&self) -> impl Iterator<Item = QuestionForm> {
        forms_for(self.criteria.len())
    }

    /// The answer as it is shown in a form.
    pub(super) fn text_in_form(&self, form: QuestionForm) -> Cow<'_, str> {
        match form {
            QuestionForm::Filler => format!("{}{FILLER}", self.answer.trim_end()).into(),
            QuestionForm::Layout => as_list(&self.answer).into(),
            QuestionForm::Plain
            | QuestionForm::Second
            | QuestionForm::Third
            | QuestionForm::Order => self.answer.as_str().into(),
        }
    }
}

/// The forms in which the judge has to be asked about a criterion for its stability. Its order counts
/// if one of the expectations has several criteria.
pub fn stability_forms<'c>(
    criterion: &str,
    expectations: impl Iterator<Item = &'c [JudgedScale]>,
) -> Vec<QuestionForm> {
    let of_criterion = expectations.filter(|scales| {
        let mut keys = scales.iter().map(|scale| &scale.criterion.key);
        keys.any(|key| key == criterion)
    });
    forms_for(of_criterion.map(<[_]>::len).max().unwrap_or(1)).collect()
}

fn forms_for(criteria: usize) -> impl Iterator<Item = QuestionForm> {
    let has_order = criteria > 1;
    QuestionForm::ALL
        .into_iter()
        .filter(move |form| *form != QuestionForm::Plain)
        .filter(move |form| has_order || *form != QuestionForm::Order)
}

/// The lines of a text as items of a list.
fn as_list(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let items: Vec<String> = lines
        .map(|line| format!("- {}", line.trim_start()))
        .collect();
    items.join("\n")
}
