//! `ctxc label report`: the agreement of the judge with people, by criterion.

use super::ask::unreadable;
use super::command_line::ReportArgs;
use super::stability::{add_recorded_scores, ask_other_forms};
use crate::base::fs;
use crate::cli::context::eval::{JudgeCalls, live_judge, read_labels, with_judged_answers};
use crate::cli::context::project::CompiledProject;
use crate::cli::overwrite;
use crate::cli::prelude::*;
use crate::eval::agreement::{Estimate, Measurement, ScorePair, krippendorff_alpha, spearman_rho};
use crate::eval::judge::labels::{
    JudgeAssessment, LABEL_FOLDER, LabelStore, QuestionForm, SCORE_FILE,
};
use crate::eval::judge::{JudgedAnswer, JudgedScale, criterion_hash, stability_forms};
use crate::eval::kappa::{JudgeRates, PairTable, RatingPair, Weighting, corrected_pass_rate};
use crate::eval::prepared_case::RunContext;
use crate::eval::trust_decision::{FlipCount, TrustDecision};
use crate::provider::spending::SpendLimit;
use crate::schema::json::names;
use std::collections::BTreeMap;

/// The agreement of the judge with people: `ctxc label report --json`.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct LabelReport {
    /// The version of the format.
    schema: &'static str,
    /// The criteria of the project's scenarios.
    criteria: Vec<CriterionReport>,
}

/// The agreement on one criterion.
#[derive(Debug, JsonSchema, Serialize)]
struct CriterionReport {
    /// The criterion, by its name in the project, or its own words.
    criterion: String,
    /// The lowest score that meets it.
    min: u64,
    /// The highest score; the lowest is 0.
    max: u64,
    /// The hash of the judge's prompt, model and parameters, with the criterion; null without a
    /// judge.
    judge: Option<String>,
    /// True if the scores of the judge count; else they inform.
    trusted: bool,
    /// The reason why they inform; null if they count.
    reason: Option<String>,
    /// The number of labelled answers.
    labels: usize,
    /// The number of these that are held out from the writing of the prompt.
    held_out: usize,
    /// The number of labelled answers without a score of this judge.
    unscored: usize,
    /// The statistics; null without a label.
    agreement: Option<Agreement>,
    /// The agreement of people on answers that two of them labelled; null if there are none.
    people: Option<PeopleAgreement>,
    /// Answers on which the judge and a person disagree, among those that are not held out.
    disagreements: Vec<Disagreement>,
}

/// Statistics of the ratings that the decision is made by.
#[derive(Debug, JsonSchema, Serialize)]
struct Agreement {
    /// The number of these ratings.
    ratings: usize,
    /// The decisions that are paid for by a stricter bound.
    looks: u32,
    /// The versions of the judge that are paid for by a stricter bound.
    prompt_versions: u32,
    /// Cohen's κ, on scales weighted by squares; null if undefined.
    kappa: Option<Estimate>,
    /// The lower bound of κ that is compared with 0.6; null if undefined.
    kappa_lower_bound: Option<f64>,
    /// Krippendorff's α for ordered scores; null if undefined.
    alpha: Option<Estimate>,
    /// Spearman's ρ; null if undefined.
    spearman: Option<Estimate>,
    /// The share passed by the judge among answers that people pass; null if there are none.
    true_positive_rate: Option<Estimate>,
    /// The share failed by the judge among answers that people fail; null if there are none.
    true_negative_rate: Option<Estimate>,
    /// The share of all current answers that the judge passes; null without any.
    pass_rate: Option<f64>,
    /// That share as people would give it; null if undefined.
    corrected_pass_rate: Option<f64>,
    /// The verdicts in each other form of the question.
    stability: Vec<FormRow>,
}

/// Verdicts on questions in another form.
#[derive(Debug, JsonSchema, Serialize)]
struct FormRow {
    /// The form.
    form: QuestionForm,
    /// The number of verdicts.
    verdicts: u32,
    /// The number of these that differ from the verdict on the plain question.
    changed: u32,
}

/// The agreement of two people.
#[derive(Debug, JsonSchema, Serialize)]
struct PeopleAgreement {
    /// The number of answers with labels of two people or more; the first two count.
    answers: u32,
    /// Cohen's κ, on scales weighted by squares; null if undefined.
    kappa: Option<Estimate>,
}

/// An answer on which the judge and a person disagree.
#[derive(Debug, JsonSchema, Serialize)]
struct Disagreement {
    /// The scenario.
    case: String,
    /// The hash of the answer.
    answer: String,
    /// The score of the person.
    person: u64,
    /// The score of the judge.
    judge: u64,
}

/// Runs the verb.
pub(super) fn report_agreement(args: &ReportArgs, cx: &mut Cx) -> Result<Exit> {
    let project = CompiledProject::load(cx)?;
    let mut store = read_labels(&project).map_err(|why| unreadable(&why))?;
    let budget = SpendLimit {
        tokens: None,
        usd: args.budget_usd,
    };
    let asking = if args.record {
        live_judge(&project, budget, &args.trust, cx)?
    } else {
        None
    };
    let mut added = 0;
    let mut failure = None;
    let calls = JudgeCalls {
        models: asking.as_ref(),
        threads: cx.options.threads,
    };
    let report = with_judged_answers(&project, &args.what, calls, |run, answers| {
        added = add_recorded_scores(&mut store, run, &answers);
        if asking.is_some() {
            match ask_other_forms(&mut store, run, &answers, cx) {
                Ok(count) => added += count,
                Err(error) => failure = Some(error),
            }
        }
        Ok(build_report(&store, run, &answers))
    })?;
    if added > 0 {
        write_scores(&project, &store)?;
        cx.print_note(&format!(
            "added {} of the judge to {LABEL_FOLDER}/{SCORE_FILE}",
            pluralize(added, "score")
        ));
    }
    if let Some(error) = failure {
        return Err(error);
    }
    if report.criteria.is_empty() {
        return Err(CliError::usage(
            "found no criterion, expected an answer that `judge` or `rubric` of a scenario is about",
        ));
    }
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&report),
        DataFormat::Text => print_report(&report, cx),
    })?;
    Ok(Exit::Success)
}

fn write_scores(project: &CompiledProject, store: &LabelStore) -> Result<()> {
    let file = format!("{LABEL_FOLDER}/{SCORE_FILE}");
    overwrite::reject_links(&project.root, &file)?;
    let path = project.root.join(&file);
    fs::write_atomic(&path, store.score_lines().as_bytes())
        .map(|_| ())
        .map_err(|err| CliError::write_failed(&path, &err))
}

fn build_report(store: &LabelStore, run: &RunContext<'_>, answers: &[JudgedAnswer]) -> LabelReport {
    let mut scales: BTreeMap<(&str, u64), &JudgedScale> = BTreeMap::new();
    for scale in answers.iter().flat_map(|judged| &judged.criteria) {
        scales.insert((&scale.criterion.key, scale.min), scale);
    }
    let build = |scale: &&JudgedScale| {
        let judge = run.answers.judge.ok_or_else(String::new);
        let hash = judge.and_then(|judge| criterion_hash(judge, run, &scale.criterion));
        build_criterion(store, answers, scale, hash)
    };
    LabelReport {
        schema: names::LABEL_REPORT,
        criteria: scales.values().map(build).collect(),
    }
}

fn build_criterion(
    store: &LabelStore,
    answers: &[JudgedAnswer],
    scale: &JudgedScale,
    judge: std::result::Result<String, String>,
) -> CriterionReport {
    let (key, max) = (&scale.criterion.key, scale.criterion.max_score);
    let expectations = answers.iter().map(|judged| judged.criteria.as_slice());
    let forms = stability_forms(key, expectations);
    let found = store.assess(scale, judge.clone().unwrap_or_default(), &forms);
    let labelled = found.as_ref().map_or(&[][..], |found| &found.answers);
    let trusted = judge.is_ok()
        && found
            .as_ref()
            .is_some_and(|found| found.report.decision == TrustDecision::Trusted);
    let reason = match (&judge, &found) {
        (Err(why), _) => format!("no judge: {why}"),
        (Ok(_), None) => "no labels: `ctxc label` asks for them".to_owned(),
        (Ok(_), Some(found)) => found.describe_doubts(),
    };
    let disagreements = labelled
        .iter()
        .filter(|one| !one.is_held_out)
        .filter_map(|one| {
            let judge = one.judge?;
            ((judge >= scale.min) != (one.person >= scale.min)).then(|| Disagreement {
                case: one.case.clone(),
                answer: one.answer.clone(),
                person: one.person,
                judge,
            })
        });
    CriterionReport {
        criterion: key.clone(),
        min: scale.min,
        max,
        judge: judge.ok(),
        trusted,
        reason: (!trusted).then_some(reason),
        labels: labelled.len(),
        held_out: labelled.iter().filter(|one| one.is_held_out).count(),
        unscored: labelled.iter().filter(|one| one.judge.is_none()).count(),
        disagreements: disagreements.collect(),
        people: people_agreement(store, scale),
        agreement: found.map(|found| build_agreement(found, pass_rate(answers, scale))),
    }
}

fn build_agreement(found: JudgeAssessment, pass_rate: Option<f64>) -> Agreement {
    let report = found.report;
    #[allow(clippy::cast_precision_loss, reason = "scores are at most 100")]
    let scores = found.pairs.iter().map(|pair| ScorePair {
        person: pair.person as f64,
        judge: pair.judge as f64,
    });
    let scores: Vec<ScorePair> = scores.collect();
    let units = scores.iter().map(|pair| vec![pair.person, pair.judge]);
    let units: Vec<Vec<f64>> = units.collect();
    let positive = report.true_positive_rate.ok();
    let negative = report.true_negative_rate.ok();
    let rates = positive
        .zip(negative)
        .map(|(positive, negative)| JudgeRates {
            true_positive: positive.value,
            true_negative: negative.value,
        });
    let corrected = pass_rate.zip(rates);
    Agreement {
        ratings: found.pairs.len(),
        looks: report.looks,
        prompt_versions: report.prompt_versions,
        kappa: report.kappa.ok(),
        kappa_lower_bound: report.lower_bound.ok(),
        alpha: krippendorff_alpha(&units, Measurement::Ordinal).ok(),
        spearman: spearman_rho(&scores).ok(),
        true_positive_rate: positive,
        true_negative_rate: negative,
        pass_rate,
        corrected_pass_rate: corrected
            .and_then(|(rate, judge)| corrected_pass_rate(rate, judge).ok()),
        stability: found
            .stability
            .into_iter()
            .map(|(form, FlipCount { flips, trials })| FormRow {
                form,
                verdicts: trials,
                changed: flips,
            })
            .collect(),
    }
}

/// The share of the current answers that the judge passes.
fn pass_rate(answers: &[JudgedAnswer], scale: &JudgedScale) -> Option<f64> {
    let score_of = |judged: &JudgedAnswer| {
        let own =
            |one: &JudgedScale| one.criterion.key == scale.criterion.key && one.min == scale.min;
        let place = judged.criteria.iter().position(own)?;
        judged.scores.as_ref()?.get(place).copied()
    };
    let scores: Vec<u64> = answers.iter().filter_map(score_of).collect();
    let passed = scores.iter().filter(|score| **score >= scale.min).count();
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 answers")]
    (!scores.is_empty()).then(|| passed as f64 / scores.len() as f64)
}

fn people_agreement(store: &LabelStore, scale: &JudgedScale) -> Option<PeopleAgreement> {
    let max = scale.criterion.max_score;
    let labels = store.labels_by_answer(&scale.criterion.key, max);
    let pairs = labels.values().filter_map(|labels| {
        let first = labels.first()?;
        let second = labels.iter().find(|label| label.by != first.by)?;
        Some(RatingPair {
            person: first.score as usize,
            judge: second.score as usize,
        })
    });
    let pairs: Vec<RatingPair> = pairs.collect();
    let table = PairTable::from_pairs(max as usize + 1, &pairs).ok()?;
    (!pairs.is_empty()).then(|| PeopleAgreement {
        answers: table.total(),
        kappa: table.kappa(Weighting::Quadratic).ok(),
    })
}

fn print_report(report: &LabelReport, cx: &mut Cx) -> Result<()> {
    for one in &report.criteria {
        let verdict = if one.trusted { "TRUSTED" } else { "informs" };
        cx.print_hanging(
            &format!(
                "{verdict}  {}, {} or more of {}",
                escape_line(&one.criterion),
                one.min,
                one.max
            ),
            9,
        )?;
        for line in describe_criterion(one) {
            cx.print_hanging(&format!("         {line}"), 11)?;
        }
    }
    Ok(())
}

fn describe(estimate: Option<Estimate>) -> String {
    estimate.map_or("undefined".to_owned(), |estimate| estimate.to_string())
}

fn describe_criterion(one: &CriterionReport) -> Vec<String> {
    let mut lines: Vec<String> = one
        .reason
        .iter()
        .map(|why| escape_line(why).into_owned())
        .collect();
    if one.labels > 0 {
        lines.push(format!(
            "{}, {} held out; {} without a score of this judge",
            pluralize(one.labels, "label"),
            one.held_out,
            one.unscored
        ));
    }
    if let Some(found) = one.agreement.as_ref().filter(|found| found.ratings > 0) {
        let bound = found
            .kappa_lower_bound
            .map_or_else(String::new, |bound| format!(", at least {bound:.2}"));
        lines.push(format!(
            "by {}: κ {}{bound} with {} and {}",
            pluralize(found.ratings, "rating"),
            describe(found.kappa),
            pluralize(found.looks as usize, "look"),
            pluralize(found.prompt_versions as usize, "version") + " of the judge",
        ));
        lines.push(format!(
            "passes {} of what people pass, fails {} of what people fail",
            describe(found.true_positive_rate),
            describe(found.true_negative_rate)
        ));
        lines.push(format!(
            "α {}, ρ {}",
            describe(found.alpha),
            describe(found.spearman)
        ));
    }
    if let Some(found) = &one.agreement {
        let forms = found.stability.iter().map(|row| {
            let FormRow {
                form,
                verdicts,
                changed,
            } = row;
            format!("{changed} of {verdicts} in the form `{}`", form.word())
        });
        let forms: Vec<String> = forms.collect();
        if !forms.is_empty() {
            lines.push(format!("verdicts that change: {}", forms.join(", ")));
        }
        if let Some(rate) = found.pass_rate {
            let corrected = found
                .corrected_pass_rate
                .map_or_else(String::new, |rate| format!(", {rate:.2} as people would"));
            lines.push(format!(
                "passes {rate:.2} of the current answers{corrected}"
            ));
        }
    }
    if let Some(people) = &one.people {
        lines.push(format!(
            "people among themselves: κ {} on {}",
            describe(people.kappa),
            pluralize(people.answers as usize, "answer")
        ));
    }
    for other in &one.disagreements {
        lines.push(format!(
            "{}: a person gave {}, the judge {}",
            escape_line(&other.case),
            other.person,
            other.judge
        ));
    }
    lines
}
