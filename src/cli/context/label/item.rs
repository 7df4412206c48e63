//! The questions for people.

use crate::eval::judge::{JudgedAnswer, JudgedCriterion};
use std::collections::BTreeMap;

/// An answer and a criterion to be judged by a person.
#[derive(Clone, Copy, Debug)]
pub(super) struct LabelItem<'a> {
    pub(super) judged: &'a JudgedAnswer,
    pub(super) criterion: &'a JudgedCriterion,
}

/// The questions, each once, in an order that depends on the answers alone.
pub(super) fn label_items(answers: &[JudgedAnswer]) -> Vec<LabelItem<'_>> {
    let mut items: BTreeMap<(&str, String), LabelItem<'_>> = BTreeMap::new();
    for judged in answers {
        for scale in &judged.criteria {
            let item = LabelItem {
                judged,
                criterion: &scale.criterion,
            };
            let key = scale.criterion.key.as_str();
            items.entry((key, judged.answer_hash())).or_insert(item);
        }
    }
    items.into_values().collect()
}
