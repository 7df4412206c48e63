//! `[eval]` with its tables `gate`, `drift` and `stability`.

use super::row::{
    KeyReader, KeyValue, optional_row, read_rows, required_row, row_keys, with_names,
};
use super::value::{FaultSink, TomlKey, TomlValue, read_table, to_span};
use crate::base::span::Spanned;
use crate::project::eval::{
    DriftSettings, Eval, GateSettings, StabilityPolicy, StalePolicy, UncoveredPolicy,
};
use crate::project::glob::{Globs, is_pattern};
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use crate::scenario::keys::MAX_RUNS;
use crate::scenario::table::NamedThingKind;
use crate::scenario::{paths, pattern};

/// A number of trials.
const TRIALS: ConfigShape = ConfigShape::Whole((1, MAX_RUNS));
/// A growth as a fraction, up to a hundredfold.
const GROWTH: ConfigShape = ConfigShape::Number((0.0, 100.0));
/// A fraction of a whole.
const RATE: ConfigShape = ConfigShape::Number((0.0, 1.0));
/// The cost of a run in US$.
const DOLLARS: ConfigShape = ConfigShape::Number((0.0, 1e9));
/// The values of `stale`.
const STALE_WORDS: [&str; 2] = ["error", "warn"];

/// `[eval]`.
pub(super) static EVAL: ConfigTable = of(
    "scenarios and their trials",
    &row_keys::<_, { ROWS.len() }>(ROWS),
);

const ROWS: &[KeyReader<Eval>] = &[
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "scenarios",
            ConfigShape::Texts,
            "files and folders of scenarios, and patterns of them; default: `scenarios`",
            read_scenarios,
        ),
    ),
    optional_row(
        "runs",
        TRIALS,
        "trials of a case without `runs`",
        |at, eval| eval.runs = at.read_whole().map(|runs| runs.value as u32),
    ),
    optional_row(
        "pass",
        TRIALS,
        "trials of them that must pass",
        |at, eval| {
            eval.pass = at.read_whole().map(|pass| pass.map(|pass| pass as u32));
        },
    ),
    optional_row(
        "plan_path",
        ConfigShape::Text,
        "the JSONPath at which an answer has the parts of its plan",
        read_plan_path,
    ),
    optional_row(
        "stale_after_days",
        ConfigShape::Whole((1, 36_500)),
        "days after which a scenario is due for review",
        |at, eval| {
            eval.stale_after_days = at
                .read_whole()
                .map_or(eval.stale_after_days, |days| days.value as u32);
        },
    ),
    optional_row(
        "stale",
        ConfigShape::Word(&STALE_WORDS),
        "the severity of a stale result",
        |at, eval| {
            let is_warning = at
                .read_word(STALE_WORDS)
                .is_some_and(|found| found.value == "warn");
            eval.stale = if is_warning {
                StalePolicy::Warn
            } else {
                StalePolicy::Error
            };
        },
    ),
    optional_row(
        "gate",
        ConfigShape::Table(&GATE),
        "limits on results that may not get worse",
        |at, eval| at.read_table(GATE_ROWS, &mut eval.gate),
    ),
    optional_row(
        "drift",
        ConfigShape::Table(&DRIFT),
        "thresholds of drift",
        |at, eval| at.read_table(DRIFT_ROWS, &mut eval.drift),
    ),
    optional_row(
        "stability",
        ConfigShape::Table(&STABILITY),
        "conditions under which runs with live models may gate",
        |at, eval| {
            eval.stability = read_stability(at);
        },
    ),
];

/// Values of `uncovered`.
const UNCOVERED_WORDS: [&str; 3] = ["warn", "fail", "off"];

/// `[eval.gate]`.
static GATE: ConfigTable = of(
    "limits on results that may not get worse",
    &row_keys::<_, { GATE_ROWS.len() }>(GATE_ROWS),
);

const GATE_ROWS: &[KeyReader<GateSettings>] = &[
    optional_row(
        "manifest_tokens",
        GROWTH,
        "growth of a manifest, as a part of it",
        |at, gate| {
            gate.manifest_tokens = at
                .read_number()
                .map_or(gate.manifest_tokens, |part| part.value);
        },
    ),
    optional_row(
        "pass_rate",
        RATE,
        "the minimum share of cases that pass",
        |at, gate| {
            gate.pass_rate = at.read_number().map(|rate| rate.value);
        },
    ),
    optional_row(
        "tokens",
        GROWTH,
        "growth of the tokens of a run",
        |at, gate| gate.tokens = at.read_number().map(|part| part.value),
    ),
    optional_row("cost_usd", DOLLARS, "US$ of a run", |at, gate| {
        gate.cost_usd = at.read_number().map(|usd| usd.value);
    }),
    optional_row(
        "uncovered",
        ConfigShape::Word(&UNCOVERED_WORDS),
        "the severity of text that a change removes and that no scenario covered",
        |at, gate| {
            gate.uncovered = match at.read_word(["warn", "off"]).map(|found| found.value) {
                Some("fail") => UncoveredPolicy::Fail,
                Some("off") => UncoveredPolicy::Off,
                _ => UncoveredPolicy::Warn,
            };
        },
    ),
    optional_row(
        "accepters",
        ConfigShape::Set,
        "people who may accept the relaxations in a change; `codeowners` for the owners of baselines/LOG.jsonl",
        |at, gate| gate.accepters = at.read_unique_texts(),
    ),
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "link",
            ConfigShape::Set,
            "folders of dependencies outside git, for the project's own checks as of the base",
            |at, gate| {
                gate.link = at.read_unique_texts();
            },
        ),
    ),
];

/// `[eval.drift]`.
static DRIFT: ConfigTable = of(
    "thresholds of drift",
    &row_keys::<_, { DRIFT_ROWS.len() }>(DRIFT_ROWS),
);

const DRIFT_ROWS: &[KeyReader<DriftSettings>] = &[
    optional_row(
        "token_inflation",
        GROWTH,
        "growth of the mean tokens",
        |at, drift| {
            drift.token_inflation = at
                .read_number()
                .map_or(drift.token_inflation, |part| part.value);
        },
    ),
    optional_row(
        "window",
        ConfigShape::Whole((2, 1000)),
        "runs that are compared",
        |at, drift| {
            drift.window = at
                .read_whole()
                .map_or(drift.window, |runs| runs.value as u32);
        },
    ),
    optional_row(
        "latency_regression",
        GROWTH,
        "growth of the mean time",
        |at, drift| {
            drift.latency_regression = at
                .read_number()
                .map_or(drift.latency_regression, |part| part.value);
        },
    ),
    optional_row(
        "batches",
        ConfigShape::Whole((1, 1000)),
        "batches in a row below the pass rate",
        |at, drift| {
            drift.batches = at
                .read_whole()
                .map_or(drift.batches, |batches| batches.value as u32);
        },
    ),
];

/// `[eval.stability]`.
static STABILITY: ConfigTable = of(
    "conditions under which runs with live models may gate: all keys, or none",
    &row_keys::<_, { STABILITY_ROWS.len() }>(STABILITY_ROWS),
);

const STABILITY_ROWS: &[KeyReader<WrittenStability>] = &[
    required_row(
        "reruns",
        TRIALS,
        "the minimum number of trials of each case",
        |at, out| {
            out.reruns = at.read_whole().map(|runs| runs.value as u32);
        },
    ),
    required_row(
        "variance",
        RATE,
        "the maximum variance of the verdicts of a case's trials: r·(1 − r) for a pass rate r",
        |at, out| out.variance = at.read_number().map(|rate| rate.value),
    ),
    required_row(
        "cost_usd",
        DOLLARS,
        "the maximum cost of a run in US$",
        |at, out| {
            out.cost_usd = at.read_number().map(|usd| usd.value);
        },
    ),
    required_row(
        "accepters",
        ConfigShape::Set,
        "people who may accept a baseline",
        |at, out| out.accepters = Some(at.read_unique_texts()),
    ),
];

/// `[eval.stability]` as written.
#[derive(Default)]
struct WrittenStability {
    reruns: Option<u32>,
    variance: Option<f64>,
    cost_usd: Option<f64>,
    accepters: Option<Vec<Spanned<String>>>,
}

pub(super) fn read_eval(sink: &mut FaultSink, key: &TomlKey<'_>, value: &TomlValue<'_>) -> Eval {
    let section = read_table(sink, "eval", value).map(|_| to_span(&key.span()));
    let mut out = Eval {
        section,
        ..Eval::default()
    };
    if out.section.is_some() {
        read_rows(sink, "eval", value, ROWS, &mut out);
        check_pass_threshold(sink, &mut out);
    }
    out
}

/// Reports a pass threshold above the number of trials.
fn check_pass_threshold(sink: &mut FaultSink, out: &mut Eval) {
    let rule = out.trial_rule();
    if let Some(pass) = out.pass.filter(|_| rule.pass > rule.runs) {
        let expected = format!("a number from 1 to {}, since `eval.runs` is {0}", rule.runs);
        sink.bad_value(
            "eval.pass",
            &Spanned::new(&rule.pass.to_string(), pass.span),
            expected,
            None,
        );
        out.pass = None;
    }
}

/// Reads the places of scenarios, which must be inside the project.
fn read_scenarios(at: &mut KeyValue<'_, '_>, eval: &mut Eval) {
    let mut out = Vec::new();
    for place in at.read_texts() {
        let inside = paths::resolve_beside("ctxc.toml", &place.value)
            .filter(|path| !path.is_empty() || place.value == ".");
        let is_pattern = is_pattern(&place.value);
        let is_sound = !is_pattern || Globs::default().add_pattern(&place.value).is_ok();
        if let Some(path) = inside.filter(|_| is_sound) {
            out.push(Spanned::new(
                if path.is_empty() {
                    ".".to_owned()
                } else {
                    path
                },
                place.span,
            ));
        } else {
            let what = if is_pattern {
                "a pattern of files or folders"
            } else {
                "a file or folder"
            };
            at.report_bad_value(
                &place,
                format!("{what} of the project, relative to its root"),
            );
        }
    }
    if !out.is_empty() {
        eval.scenarios = out;
    }
}

fn read_plan_path(at: &mut KeyValue<'_, '_>, eval: &mut Eval) {
    eval.plan_path = at.read_string();
    if let Some(path) = eval
        .plan_path
        .take_if(|path| pattern::check_path(&path.value).is_err())
    {
        at.report_bad_value(&path, "a JSONPath of RFC 9535: `$.subtasks`");
    }
}

/// Reads the stability policy. It must be complete: with half a policy, live runs would gate by
/// limits that were never decided.
fn read_stability(at: &mut KeyValue<'_, '_>) -> Option<StabilityPolicy> {
    let own = read_table(at.sink, &at.path, at.value)?;
    let mut found = WrittenStability::default();
    at.read_table(STABILITY_ROWS, &mut found);
    at.report_missing_keys(at.key, own, &STABILITY);
    let WrittenStability {
        reruns,
        variance,
        cost_usd,
        accepters,
    } = found;
    Some(StabilityPolicy {
        reruns: reruns?,
        variance: variance?,
        cost_usd: cost_usd?,
        accepters: accepters?,
    })
}
