//! The decision whether a judge may gate, for one criterion.
//!
//! κ must have a lower bound of at least 0.6, at a level of 5 % over everything that was tried: the
//! k-th look at the v-th prompt version has 5 % / (k·v), since each is another chance to pass by
//! luck. With a look every ten labels from 30 to 200 and ten prompt versions a judge of κ 0.5 is then
//! trusted in 0.8 % of cases (by the bound alone, in 1.9 %; unpaid, in 19 %), and one of κ 0.6 in
//! 7.6 % (11 %, 83 %). The power of one look is that of the bound alone if classes are equal.

use super::agreement::{Estimate, Undefined};
use super::kappa::{KappaTarget, PairTable, Weighting};
use serde::Serialize;
use thiserror::Error;

/// The κ that the lower bound must exceed.
pub const MIN_KAPPA: f64 = 0.6;
/// The probability that a judge whose κ is the minimum is trusted, for one look at one prompt.
pub const LOOK_LEVEL: f64 = 0.05;
/// The minimum of TPR and TNR.
pub const MIN_RATE: f64 = 0.8;
/// The minimum number of labels of each class.
pub const MIN_CLASS_LABELS: u32 = 15;
/// The minimum number of labels.
pub const MIN_LABELS: u32 = 2 * MIN_CLASS_LABELS;
/// The maximum share of verdicts that change when the question is put differently, in percent.
pub const MAX_FLIP_PERCENT: u32 = 5;
/// The minimum number of verdicts in each form of the question.
pub const MIN_FORM_VERDICTS: u32 = 20;
/// The maximum share of held-out labels whose answers the judge has not scored, in percent.
pub const MAX_UNSCORED_PERCENT: u32 = 5;
/// The maximum number of labels that are asked for: a judge that needs more is not trusted.
pub const MAX_LABELS: u32 = 500;
/// The probability with which the labels asked for are to suffice.
const POWER: f64 = 0.8;

/// Everything that a decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct TrustEvidence<'a> {
    /// The ratings on labels that were held out from the writing of the prompt.
    pub table: &'a PairTable,
    /// The lowest category that passes; 1 for pass or fail.
    pub min_rating: usize,
    /// The looks at labels of this prompt version, this one included: one for each number of labels
    /// for which a decision was made, up to the first that trusted the judge.
    pub looks: u32,
    /// The prompt versions that were tried on these labels, this one included.
    pub prompt_versions: u32,
    /// The state of the calibration.
    pub calibration: CalibrationState,
    /// The verdicts in the form of the question that changes most of them; `None` if not measured.
    pub stability: Option<FlipCount>,
    /// The number of labels that were held out.
    pub held_out: u32,
    /// The number of these whose answers the judge has not scored.
    pub unscored: u32,
}

/// The relation of the judge to the one that was calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationState {
    /// Prompt, model and parameters have the hash of the calibration.
    Current,
    /// The hash differs.
    Void,
}

/// The verdicts that changed when the question was put differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlipCount {
    /// The number of changed verdicts.
    pub flips: u32,
    /// The number of verdicts.
    pub trials: u32,
}

/// A decision with the statistics that it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TrustReport {
    /// The decision.
    pub decision: TrustDecision,
    /// κ, weighted by squares on a scale of more than two categories.
    pub kappa: Result<Estimate, Undefined>,
    /// The lower bound of κ at the level of this look.
    pub lower_bound: Result<f64, Undefined>,
    /// The looks that are paid for.
    pub looks: u32,
    /// The prompt versions that are paid for.
    pub prompt_versions: u32,
    /// The probability that the bound exceeds the true κ: 5 %, over looks times prompt versions.
    pub level: f64,
    /// The share of the answers passed by people that the judge passes.
    pub true_positive_rate: Result<Estimate, Undefined>,
    /// The share of the answers failed by people that the judge fails.
    pub true_negative_rate: Result<Estimate, Undefined>,
}

/// The decision about a judge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "decision")]
pub enum TrustDecision {
    /// The judge may gate.
    Trusted,
    /// The judge informs.
    NotTrusted {
        /// Every condition that does not hold, in the order of the conditions.
        reasons: Vec<Doubt>,
    },
    /// The judge informs until there are more labels; all other conditions hold.
    TooFewLabels {
        /// The number of labels with which it is trusted in four of five cases, if it agrees with
        /// people as on the labels so far.
        more: u32,
    },
}

/// A condition of trust that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Error, Serialize)]
#[serde(rename_all = "kebab-case", tag = "doubt")]
pub enum Doubt {
    /// κ, or its lower bound with the maximum number of labels, does not exceed the minimum.
    #[error(
        "κ is {kappa:.2}, at least {lower_bound:.2}; expected at least {MIN_KAPPA} within {MAX_LABELS} labels: make the rubric more precise"
    )]
    Kappa {
        /// The κ of the sample.
        kappa: f64,
        /// Its lower bound.
        lower_bound: f64,
    },
    /// The judge fails too many answers that people pass.
    #[error(
        "the judge passes {rate:.2} of what people pass, expected at least {MIN_RATE}: it is too strict"
    )]
    TruePositiveRate {
        /// The share in the sample.
        rate: f64,
    },
    /// The judge passes too many answers that people fail.
    #[error(
        "the judge fails {rate:.2} of what people fail, expected at least {MIN_RATE}: it is too lenient"
    )]
    TrueNegativeRate {
        /// The share in the sample.
        rate: f64,
    },
    /// Prompt, model or parameters are not those of the calibration.
    #[error(
        "prompt, model or parameters differ from those that the labels were judged with: judge them again"
    )]
    Calibration,
    /// Verdicts depend on how the question is put.
    #[error(
        "{flips} of {trials} verdicts change with the form of the question, expected at most {MAX_FLIP_PERCENT} % in each"
    )]
    Unstable {
        /// The number of changed verdicts.
        flips: u32,
        /// The number of verdicts.
        trials: u32,
    },
    /// The stability was not measured.
    #[error(
        "the stability of the judge's verdicts is not measured, which takes {MIN_FORM_VERDICTS} in each form of the question: `ctxc label report --record` asks for them"
    )]
    StabilityUnknown,
    /// Too many labels were left out, since the judge has not scored their answers.
    #[error(
        "{unscored} of {held_out} labelled answers have no score, expected at most {MAX_UNSCORED_PERCENT} %: record judgements of them, or remove the labels of answers that are gone"
    )]
    Unscored {
        /// The number of labels that were left out.
        unscored: u32,
        /// The number of labels that were held out.
        held_out: u32,
    },
    /// A verdict is so rare among the labels that more of them would not help.
    #[error(
        "people pass {passes} of {labels} answers, expected at least {MIN_CLASS_LABELS} of each verdict within {MAX_LABELS} labels: set another minimum score, or label other answers"
    )]
    RareClass {
        /// The number of labels that pass.
        passes: u32,
        /// The number of labels.
        labels: u32,
    },
    /// A statistic is undefined.
    #[error("{reason}")]
    Undefined {
        /// The reason.
        #[serde(flatten)]
        reason: Undefined,
    },
}

/// Decides whether a judge may gate.
pub fn decide_trust(evidence: &TrustEvidence<'_>) -> TrustReport {
    let (table, weighting) = (evidence.table, Weighting::Quadratic);
    let level = level(evidence.looks, evidence.prompt_versions);
    let mut report = TrustReport {
        decision: TrustDecision::Trusted,
        kappa: table.kappa(weighting),
        lower_bound: table.kappa_lower_bound(weighting, level),
        looks: evidence.looks,
        prompt_versions: evidence.prompt_versions,
        level,
        true_positive_rate: table.true_positive_rate(evidence.min_rating),
        true_negative_rate: table.true_negative_rate(evidence.min_rating),
    };
    let labels = table.total();
    let class_labels = missing_class_labels(table, evidence.min_rating);
    let missing = class_labels.max(MIN_LABELS.saturating_sub(labels));
    let (mut reasons, mut more) = (Vec::new(), missing);
    let passes = table.passes(evidence.min_rating);
    let is_rare = missing > MAX_LABELS || passes == 0 || passes == labels;
    if labels >= MIN_LABELS && is_rare {
        reasons.push(Doubt::RareClass { passes, labels });
    } else if labels >= MIN_LABELS {
        match kappa_labels(evidence, &report) {
            Ok(labels) => more = more.max(labels),
            Err(doubt) => reasons.push(doubt),
        }
    }
    if missing == 0 {
        let rates = [report.true_positive_rate, report.true_negative_rate];
        let [positive, negative] = rates.map(|rate| rate.map_or(0.0, |rate| rate.value));
        if positive < MIN_RATE {
            reasons.push(Doubt::TruePositiveRate { rate: positive });
        }
        if negative < MIN_RATE {
            reasons.push(Doubt::TrueNegativeRate { rate: negative });
        }
    }
    let (held_out, unscored) = (evidence.held_out, evidence.unscored);
    if is_above(unscored, held_out, MAX_UNSCORED_PERCENT) {
        reasons.push(Doubt::Unscored { unscored, held_out });
    }
    if evidence.calibration == CalibrationState::Void {
        reasons.push(Doubt::Calibration);
    }
    reasons.extend(stability_doubt(evidence.stability));
    // Stability is worth its calls only once there are enough labels.
    let is_early = more > 0 && matches!(reasons[..], [Doubt::StabilityUnknown]);
    report.decision = if !reasons.is_empty() && !is_early {
        TrustDecision::NotTrusted { reasons }
    } else if more > 0 {
        TrustDecision::TooFewLabels { more }
    } else {
        TrustDecision::Trusted
    };
    report
}

/// The error that a look may have: that of one look, over everything that was tried.
fn level(looks: u32, prompt_versions: u32) -> f64 {
    LOOK_LEVEL / (f64::from(looks.max(1)) * f64::from(prompt_versions.max(1)))
}

/// The number of labels that κ's lower bound lacks for exceeding the minimum at the next look; 0 if it
/// does so now.
fn kappa_labels(evidence: &TrustEvidence<'_>, report: &TrustReport) -> Result<u32, Doubt> {
    let undefined = |reason| Doubt::Undefined { reason };
    let kappa = report.kappa.map_err(undefined)?.value;
    let lower_bound = report.lower_bound.map_err(undefined)?;
    if lower_bound >= MIN_KAPPA {
        return Ok(0);
    }
    let target = KappaTarget {
        minimum: MIN_KAPPA,
        level: level(evidence.looks.saturating_add(1), evidence.prompt_versions),
        power: POWER,
    };
    let (table, weighting) = (evidence.table, Weighting::Quadratic);
    match table.required_pairs(weighting, target).map_err(undefined)? {
        Some(labels) if labels <= MAX_LABELS => Ok(labels.saturating_sub(table.total()).max(1)),
        _ => Err(Doubt::Kappa { kappa, lower_bound }),
    }
}

/// The number of labels after which each class has enough, if both go on as they are. A class counts
/// as if it had one label more, so that an absent one has a share.
fn missing_class_labels(table: &PairTable, min_rating: usize) -> u32 {
    let (labels, passes) = (table.total(), table.passes(min_rating));
    let missing = [passes, labels - passes].map(|own| {
        let missing = u64::from(MIN_CLASS_LABELS.saturating_sub(own));
        (missing * (u64::from(labels) + 2)).div_ceil(u64::from(own) + 1) as u32
    });
    missing.into_iter().max().unwrap_or(0)
}

fn stability_doubt(stability: Option<FlipCount>) -> Option<Doubt> {
    let Some(FlipCount { flips, trials }) = stability.filter(|count| count.trials > 0) else {
        return Some(Doubt::StabilityUnknown);
    };
    is_above(flips, trials, MAX_FLIP_PERCENT).then_some(Doubt::Unstable { flips, trials })
}

/// True if a part of a number is more than so many percent of it.
const fn is_above(part: u32, whole: u32, percent: u32) -> bool {
    part as u64 * 100 > whole as u64 * percent as u64
}
