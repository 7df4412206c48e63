//! The answers to probes as people label them: `ctxc label answers.json`.

use super::command_line::RubricArgs;
use super::read_probes::{read_document, read_rubric};
use crate::cli::prelude::*;
use crate::eval::judge::{JudgedAnswer, JudgedCriterion, JudgedScale};
use crate::scenario::rubric::{Criterion, Rubric};
use crate::session::probe::document::ProbePoint;

impl RubricArgs {
    /// Returns the name that the labels of a criterion are kept under.
    pub(super) fn label_key(&self, criterion: &Criterion) -> String {
        let place = self.rubric.as_ref();
        let place = place.map_or("compression".into(), |path| path.to_string_lossy());
        format!("{place}#{}", criterion.id)
    }
}

/// Reads the answers of a document of probes, each with the criteria that apply to it.
///
/// # Errors
/// The document or the rubric cannot be read.
pub(in crate::cli) fn read_probe_answers(
    path: &Path,
    args: &RubricArgs,
) -> Result<Vec<JudgedAnswer>> {
    let rubric = read_rubric(args)?;
    let mut points = read_document(path)?.points;
    for point in &mut points {
        point.probes.retain(|probe| probe.model_response.is_some());
    }
    Ok(judged_answers(&points, args, &rubric))
}

/// Returns the answers to all probes, in their order; the text of one that is missing is empty. The
/// request has the expected facts, so that the same answer to other facts is another one.
pub(super) fn judged_answers(
    points: &[ProbePoint],
    args: &RubricArgs,
    rubric: &Rubric,
) -> Vec<JudgedAnswer> {
    let probes = points.iter().flat_map(|point| &point.probes);
    probes
        .map(|probe| {
            let own = rubric.criteria.iter();
            let own = own.filter(|one| probe.criteria.contains(&one.id));
            JudgedAnswer {
                path: String::new(),
                case: format!("probe {}", probe.id),
                request: format!(
                    "{}\n\nExpected facts:\n{}",
                    probe.probe_question,
                    probe.ground_truth()
                ),
                answer: probe.model_response.clone().unwrap_or_default(),
                criteria: own
                    .map(|one| JudgedScale {
                        criterion: JudgedCriterion::new(args.label_key(one), rubric, one.clone()),
                        min: 0,
                    })
                    .collect(),
                scores: None,
            }
        })
        .collect()
}
