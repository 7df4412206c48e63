//! The criteria of an expectation, read from its rubric.

use crate::base::hash::Hash;
use crate::base::suggest;
use crate::context::request::Files;
use crate::scenario::expect::judge::{JudgeTest, RubricSource};
use crate::scenario::paths::resolve_beside;
use crate::scenario::rubric::{Criterion, Rubric};
use std::collections::BTreeMap;
use std::ops::Deref;

/// The digits of a hash that distinguish rubrics without a file.
const HASH_DIGITS: usize = 11;

/// A criterion with the name that its labels are kept under.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCriterion {
    /// Its name in the project: `scenarios/rubrics/answer.yaml#accuracy`, or its own words.
    pub key: String,
    /// The guide of its rubric.
    pub(super) guide: Option<String>,
    criterion: Criterion,
}

/// A criterion with the lowest score that meets it.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedScale {
    /// The criterion.
    pub criterion: JudgedCriterion,
    /// The lowest score that meets it.
    pub min: u64,
}

/// The lowest whole score that is not below a minimum.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the key table bounds it by 0 and 100"
)]
pub(super) fn lowest_score(min_score: f64) -> u64 {
    min_score.ceil() as u64
}

impl JudgedCriterion {
    /// Creates a criterion of a rubric with the name that its labels are kept under.
    pub fn new(key: String, rubric: &Rubric, criterion: Criterion) -> Self {
        Self {
            key,
            guide: rubric.guide.clone(),
            criterion,
        }
    }
}

impl Deref for JudgedCriterion {
    type Target = Criterion;

    fn deref(&self) -> &Criterion {
        &self.criterion
    }
}

/// The criteria of `rubric: WORDS`: the words hold or do not.
pub(in crate::eval) fn words_criterion(words: &str) -> JudgedCriterion {
    let meanings = [(0, "it does not hold"), (1, "it holds")];
    JudgedCriterion {
        key: format!("rubric: {}", words.trim()),
        guide: None,
        criterion: Criterion {
            max_score: 1,
            anchors: meanings
                .into_iter()
                .map(|(score, meaning)| (score, meaning.to_owned()))
                .collect::<BTreeMap<_, _>>(),
            ..Criterion::new("criterion", words.trim())
        },
    }
}

/// The criteria of `judge`, in the order of the rubric or of the expectation.
///
/// # Errors
/// The rubric cannot be read, or lacks a criterion; the reason is in the text.
pub(in crate::eval) fn rubric_criteria(
    test: &JudgeTest,
    scenario: &str,
    beside: &dyn Files,
) -> Result<Vec<JudgedCriterion>, String> {
    let names = || test.criteria.iter().map(|one| one.value.as_str());
    let with_key = |place: String, guide: Option<String>| {
        move |criterion: Criterion| JudgedCriterion {
            key: format!("{place}#{}", criterion.id),
            guide: guide.clone(),
            criterion,
        }
    };
    let path = match &test.rubric {
        Some(RubricSource::File(path)) => &path.value,
        Some(RubricSource::Text(guide)) => {
            let digest = Hash::digest(guide.value.as_bytes()).to_string();
            let place = format!("text:{}", digest.get(3..HASH_DIGITS).unwrap_or_default());
            if test.criteria.is_empty() {
                let whole = Criterion::new("answer", guide.value.as_str());
                return Ok(vec![with_key(place, None)(whole)]);
            }
            let own = names().map(|name| Criterion::new(name, name));
            return Ok(own
                .map(with_key(place, Some(guide.value.clone())))
                .collect());
        }
        None => {
            let own = names().map(|name| Criterion::new(name, name));
            return Ok(own.map(with_key("words".to_owned(), None)).collect());
        }
    };
    let content = beside
        .text(path)
        .map_err(|why| format!("the rubric `{path}` cannot be read: {why}"))?;
    let (rubric, faults) = Rubric::read(&content);
    if !faults.is_empty() {
        return Err(format!(
            "the rubric `{path}` has errors: `ctxc check` shows them"
        ));
    }
    let place = resolve_beside(scenario, path).unwrap_or_else(|| path.clone());
    let chosen = if test.criteria.is_empty() {
        rubric.criteria
    } else {
        names()
            .map(|name| find_criterion(&rubric, name, path))
            .collect::<Result<_, _>>()?
    };
    Ok(chosen
        .into_iter()
        .map(with_key(place, rubric.guide))
        .collect())
}

fn find_criterion(rubric: &Rubric, name: &str, path: &str) -> Result<Criterion, String> {
    let found = rubric.criteria.iter().find(|one| one.id == name);
    found.cloned().ok_or_else(|| {
        let ids = rubric.criteria.iter().map(|one| one.id.as_str());
        let near = suggest::nearest_candidate(name, ids.clone()).map_or_else(
            || format!("; it has {}", ids.collect::<Vec<_>>().join(", ")),
            |near| format!("; did you mean `{near}`?"),
        );
        format!("the rubric `{path}` has no criterion `{name}`{near}")
    })
}
