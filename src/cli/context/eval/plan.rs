//! `ctxc eval --plan`: the calls of a run, their cost, and the outcome of its rules for cases with
//! a given pass rate. Makes no call.

use super::choose::StoredCase;
use super::load::ChosenCase;
use super::scorecard_text::describe_calls;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape_line;
use crate::cli::render::summary::pluralize;
use crate::eval::case_result::CostEstimate;
use crate::eval::{statistics, trials};
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::model::TrialRule;
use crate::schema::json::names::PLAN;
use schemars::JsonSchema;
use serde::Serialize;

/// The assumed number of parallel calls without `--jobs`.
const DEFAULT_PARALLEL_CALLS: usize = 10;
/// Pass rates of trials, in percent.
const PASS_RATES: [u32; 6] = [99, 90, 70, 50, 30, 10];

/// The calls that a run would make: `ctxc eval --plan --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct EvalPlan {
    /// The version of the format.
    schema: &'static str,
    /// The scenarios.
    cases: Vec<PlannedCase>,
    /// The calls of all scenarios, one after the other.
    total: PlannedCalls,
    /// The number of concurrent calls.
    at_once: u64,
    /// Seconds that the run takes with this concurrency, at least and at most; null if some were
    /// not recorded, or if no model would be asked.
    seconds: Option<[u64; 2]>,
    /// The rules of the scenarios for which a model would be asked.
    rules: Vec<RuleOutlook>,
}

/// A scenario.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "CaseRow")]
struct PlannedCase {
    /// The name of the scenario.
    id: String,
    /// The model, role or revision of a comparison that it is run with; absent outside of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<String>,
    /// The planned calls; null if no model would be asked.
    asks: Option<PlannedCalls>,
    /// The program of the project that its compaction would run, once `ctxc trust` permits it; null
    /// without one.
    runs: Option<String>,
    /// The reason that no model can be asked; null if one can, or none is needed.
    trouble: Option<String>,
}

/// Calls with their cost and time, at least and at most.
#[derive(Clone, Copy, JsonSchema, Serialize)]
#[schemars(rename = "AskRow")]
struct PlannedCalls {
    /// Calls of a model.
    calls: [u64; 2],
    /// US$; null if `ctxc.toml` names no price.
    usd: Option<[f64; 2]>,
    /// Milliseconds, one call after the other; null if nothing was recorded.
    ms: Option<[u64; 2]>,
}

/// A rule of trials.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "RuleRow")]
struct RuleOutlook {
    /// The rule in words: `2 of 3, then 7 of 10`.
    rule: String,
    /// The outcome of the rule for scenarios that pass at given rates.
    rates: Vec<RateOutlook>,
}

/// The outcome for scenarios whose trials each pass at a given rate.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "RateRow")]
struct RateOutlook {
    /// The rate, in percent.
    percent: u32,
    /// The chance that such a scenario passes.
    passes: f64,
    /// Trials, on average.
    trials: f64,
}

/// The options of a run that its plan depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanOptions {
    /// The number of concurrent calls; `None` if it is not given.
    pub(super) jobs: Option<usize>,
    /// True if failed cases are confirmed by further trials.
    pub(super) confirms: bool,
}

/// Returns the plan of a run of these scenarios.
pub(super) fn build_plan(
    chosen: &[ChosenCase<'_>],
    finished: &[Option<StoredCase>],
    options: PlanOptions,
) -> EvalPlan {
    let mut total = PlannedCalls {
        calls: [0, 0],
        usd: Some([0.0, 0.0]),
        ms: Some([0, 0]),
    };
    let (mut asked, mut longest) = (0, 0);
    let mut rules: Vec<TrialRule> = Vec::new();
    let mut cases = Vec::new();
    for (case, done) in chosen
        .iter()
        .zip(finished)
        .filter_map(|(case, done)| Some((case, done.as_ref()?)))
    {
        let asks = done
            .new_answer_cost
            .map(|CostEstimate { calls, usd, ms }| PlannedCalls {
                calls: calls.into(),
                usd: usd.map(Into::into),
                ms: ms.map(Into::into),
            });
        if let Some(one) = asks {
            total = total.add(one);
            longest = longest.max(one.ms.map_or(0, |ms| ms[1]));
            asked += 1;
            if !rules.contains(&case.case.rule) {
                rules.push(case.case.rule);
            }
        }
        cases.push(PlannedCase {
            id: case.case.name.value.clone(),
            with: None,
            asks,
            runs: case
                .case
                .subject
                .value
                .compaction_program()
                .map(OwnCheck::describe),
            trouble: done.row.trouble.clone(),
        });
    }
    let jobs = options.jobs.unwrap_or(DEFAULT_PARALLEL_CALLS);
    let at_once = jobs.min(asked).max(1) as u64;
    let seconds = |ms: u64| ms.div_ceil(1000);
    let seconds = total.ms.filter(|_| asked > 0).map(|[min, max]| {
        [
            seconds(min / at_once),
            seconds((max / at_once).max(longest)),
        ]
    });
    let rules = rules
        .iter()
        .map(|rule| rule_outlook(rule, options))
        .collect();
    EvalPlan {
        schema: PLAN,
        cases,
        total,
        at_once,
        seconds,
        rules,
    }
}

impl EvalPlan {
    /// Sets the side of a comparison that each of the cases is run with.
    pub(super) fn with_sides<'s>(mut self, sides: impl Iterator<Item = &'s str>) -> Self {
        for (case, side) in self.cases.iter_mut().zip(sides) {
            case.with = Some(side.to_owned());
        }
        self
    }
}

impl PlannedCalls {
    fn add(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.calls, other.calls);
        Self {
            calls: [a + c, b + d],
            usd: self
                .usd
                .zip(other.usd)
                .map(|([a, b], [c, d])| [a + c, b + d]),
            ms: self.ms.zip(other.ms).map(|([a, b], [c, d])| [a + c, b + d]),
        }
    }

    fn describe(self) -> String {
        describe_calls(self.calls, self.usd)
    }
}

/// Prints the plan.
pub(super) fn print_plan(plan: &EvalPlan, cx: &mut Cx) -> Result<()> {
    for case in &plan.cases {
        let what = case.asks.map(PlannedCalls::describe);
        let program = case.runs.as_deref().filter(|_| case.trouble.is_none());
        let program = program.map(|program| {
            let program = escape_line(program);
            format!("runs {program}, which `ctxc trust` has to permit; no call")
        });
        let what = what.or(program).unwrap_or_else(|| {
            case.trouble
                .as_deref()
                .map_or("no call".into(), escape_line)
                .into_owned()
        });
        let with = case.with.as_deref();
        let with = with.map_or_else(String::new, |with| format!(" with {}", escape_line(with)));
        cx.print_line(&format!("{}{with}: {what}", escape_line(&case.id)))?;
    }
    let called = plan.cases.iter().filter(|case| case.asks.is_some()).count();
    cx.print_line(&format!(
        "{} of {} would be asked: {}",
        pluralize(called, "scenario"),
        plan.cases.len(),
        plan.total.describe()
    ))?;
    if let Some([min, max]) = plan.seconds {
        cx.print_line(&format!(
            "by the recorded times {min} to {max} s, with {} at once",
            plan.at_once
        ))?;
    } else if called > 0 {
        cx.print_line("how long that takes is known once all of them were recorded")?;
    }
    for RuleOutlook { rule, rates } in &plan.rules {
        cx.print_line(&format!(
            "{rule}: a scenario whose trials pass at this rate passes, in so many trials on average"
        ))?;
        for RateOutlook {
            percent,
            passes,
            trials,
        } in rates
        {
            cx.print_line(&format!(
                "  {percent} %: {:.1} %, {trials:.1}",
                passes * 100.0
            ))?;
        }
    }
    Ok(())
}

/// Returns the chances of a rule for each pass rate.
fn rule_outlook(rule: &TrialRule, options: PlanOptions) -> RuleOutlook {
    let confirm = trials::confirm_rule(rule).filter(|_| options.confirms);
    let first = rule.sequential.map_or_else(
        || format!("{} of {}", rule.pass, rule.runs),
        |test| format!("a sequential test of {} against {}", test.p1, test.p0),
    );
    let second = confirm.map_or_else(String::new, |rule| {
        format!(", then {} of {}", rule.pass, rule.runs)
    });
    let rate = |percent: u32| {
        let outlook =
            statistics::combined_outlook(rule, confirm.as_ref(), f64::from(percent) / 100.0);
        RateOutlook {
            percent,
            passes: outlook.pass,
            trials: outlook.trials,
        }
    };
    RuleOutlook {
        rule: first + &second,
        rates: PASS_RATES.map(rate).into(),
    }
}
