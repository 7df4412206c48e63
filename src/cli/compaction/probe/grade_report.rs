//! The grades of answers as data: `ctxc/compaction-grades/1`.

use super::comparison_report::UncomparedProbe;
use super::grade_agreement::{GradeAgreement, print_agreement};
use super::grade_points::{EvidenceCounts, ScoreEvidence};
use crate::cli::prelude::*;
use crate::scenario::rubric::ProbeKind;
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
    /// The number of votes of a role on each answer; their median counts.
    pub(super) votes: usize,
    /// The graded answers.
    pub(super) grades: Vec<GradeRow>,
    /// The probes without a grade.
    pub(super) ungraded: Vec<UncomparedProbe>,
    /// The means of answers from contexts that can be read.
    pub(super) readable: MeanScores,
    /// The means of answers after opaque compactions; null if there are none.
    pub(super) opaque: Option<MeanScores>,
    /// The counts of the evidence; null without a role that judges.
    pub(super) evidence: Option<EvidenceCounts>,
    /// The agreement of judges and people on the same answers.
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
    /// The hash of question, expected facts and answer, which labels of people name.
    pub(super) answer: String,
    /// The grade.
    pub(super) output: ProbeGrade,
    /// The evidence of a role for each score.
    pub(super) evidence: Vec<ScoreEvidence>,
}

/// Prints the means, the probes without a grade, the evidence and the agreement.
pub(super) fn print_grades(report: &GradeReport, cx: &mut Cx) -> Result<()> {
    let votes = match report.votes {
        1 => String::new(),
        votes => format!(", the median of {votes} votes each"),
    };
    cx.print_line(&format!(
        "{} graded by {}{votes}",
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
    if let Some(evidence) = report.evidence {
        cx.print_hanging(&evidence.describe(), 2)?;
    }
    print_agreement(&report.agreement, cx)
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
