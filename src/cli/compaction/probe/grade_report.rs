//! The grades of answers as data: `ctxc/compaction-grades/1`.

use super::command_line::GradeArgs;
use super::comparison_report::UncomparedProbe;
use crate::cli::prelude::*;
use crate::eval::agreement::{Estimate, ScorePair, spearman_rho};
use crate::scenario::rubric::{ProbeKind, Rubric};
use crate::schema::json::names;
use crate::session::probe::grade::{MeanScores, ProbeGrade};

/// The grades of answers: `ctxc compaction probe grade --json`.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct GradeReport {
    /// The version of the format.
    pub(super) schema: &'static str,
    /// The judge: `facts`, or a role.
    pub(super) judge: String,
    /// The seed of the order in which a judge received answers and criteria.
    pub(super) seed: u64,
    /// The graded answers.
    pub(super) grades: Vec<GradeRow>,
    /// The probes without a grade.
    pub(super) ungraded: Vec<UncomparedProbe>,
    /// The means of answers from contexts that can be read.
    pub(super) readable: MeanScores,
    /// The means of answers after opaque compactions; null if there are none.
    pub(super) opaque: Option<MeanScores>,
    /// The agreement of the judge with others on the same answers.
    pub(super) agreement: Vec<GradeAgreement>,
}

/// A graded answer.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GradeRow {
    /// The session.
    pub(super) session: String,
    /// The number of the compaction in the session, from 1.
    pub(super) number: usize,
    /// The probe.
    pub(super) probe: String,
    /// The type of the probe.
    pub(super) kind: ProbeKind,
    /// True after an opaque compaction.
    pub(super) opaque: bool,
    /// The hash of question and answer, which labels of people name.
    pub(super) answer: String,
    /// The grade.
    pub(super) output: ProbeGrade,
}

/// The agreement of the judge with others on a criterion.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GradeAgreement {
    /// The others: `labels` of people, or the `facts` without a model.
    #[schemars(extend("enum" = ["labels", "facts"]))]
    pub(super) with: &'static str,
    /// The criterion; null for all of them together.
    pub(super) criterion: Option<String>,
    /// The number of pairs of scores.
    pub(super) pairs: usize,
    /// Spearman's ρ; null if it is undefined.
    pub(super) spearman: Option<Estimate>,
    /// The reason why it is undefined; null if it is not.
    pub(super) reason: Option<String>,
}

impl GradeAgreement {
    /// Computes the agreement of some scores.
    pub(super) fn new(with: &'static str, criterion: Option<String>, pairs: &[ScorePair]) -> Self {
        let rho = spearman_rho(pairs);
        Self {
            with,
            criterion,
            pairs: pairs.len(),
            reason: rho.as_ref().err().map(ToString::to_string),
            spearman: rho.ok(),
        }
    }
}

impl GradeReport {
    /// Creates the report of some grades.
    pub(super) fn new(grades: Vec<GradeRow>, args: &GradeArgs, rubric: &Rubric) -> Self {
        let means = |opaque: bool| {
            let own = grades.iter().filter(|row| row.opaque == opaque);
            MeanScores::new(own.map(|row| &*row.output.criterion_results), rubric)
        };
        Self {
            schema: names::COMPACTION_GRADES,
            judge: args.judge.clone().unwrap_or_else(|| "facts".to_owned()),
            seed: args.asking.seed,
            readable: means(false),
            opaque: Some(means(true)).filter(|means| means.overall.is_some()),
            ungraded: Vec::new(),
            agreement: Vec::new(),
            grades,
        }
    }
}

/// Prints the means, the probes without a grade, and the agreement.
pub(super) fn print_grades(report: &GradeReport, cx: &mut Cx) -> Result<()> {
    cx.print_line(&format!(
        "{} graded by {}",
        pluralize(report.grades.len(), "answer"),
        escape_line(&report.judge)
    ))?;
    print_means("from contexts that can be read", &report.readable, cx)?;
    if let Some(opaque) = &report.opaque {
        print_means("after opaque compactions", opaque, cx)?;
    }
    for one in &report.ungraded {
        cx.print_hanging(&one.describe("without a grade"), 2)?;
    }
    for row in report
        .agreement
        .iter()
        .filter(|row| row.criterion.is_none())
    {
        let rho = match (&row.spearman, &row.reason) {
            (Some(rho), _) => format!("{:.2}", rho.value),
            (None, reason) => format!("undefined: {}", reason.as_deref().unwrap_or_default()),
        };
        cx.print_hanging(
            &format!(
                "Spearman's ρ with {} on {}: {rho}",
                row.with,
                pluralize(row.pairs, "score")
            ),
            2,
        )?;
    }
    Ok(())
}

fn print_means(title: &str, means: &MeanScores, cx: &mut Cx) -> Result<()> {
    let Some(overall) = means.overall else {
        return Ok(());
    };
    cx.print_line(&format!("{title}: {overall:.2} of 5"))?;
    for (name, mean) in &means.dimensions {
        cx.print_line(&format!("  {name:<22} {mean:.2}"))?;
    }
    Ok(())
}
