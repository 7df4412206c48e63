//! `[eval]` with its tables `gate`, `drift` and `stability`.

use super::row::{At, Row, keys, naming, needed, row, rows};
use super::value::{Key, Sink, Value, span, table};
use crate::base::span::Spanned;
use crate::project::eval::{Drift, Eval, Gate, Stability, Stale, Uncovered};
use crate::project::glob::Globs;
use crate::project::path_patterns::is_pattern;
use crate::project::table::{Shape, Table, table as of};
use crate::scenario::keys::RUNS;
use crate::scenario::table::Thing;
use crate::scenario::{paths, pattern};

/// A number of trials.
const TRIALS: Shape = Shape::Whole((1, RUNS));
/// A growth as a fraction, up to a hundredfold.
const PART: Shape = Shape::Number((0.0, 100.0));
/// A fraction of a whole.
const RATE: Shape = Shape::Number((0.0, 1.0));
/// The cost of a run in US$.
const DOLLARS: Shape = Shape::Number((0.0, 1e9));
/// The values of `stale`.
const STALE: [&str; 2] = ["error", "warn"];

/// `[eval]`.
pub(super) static EVAL: Table = of(
    "scenarios and how they are tried",
    &keys::<_, { ROWS.len() }>(ROWS),
);

const ROWS: &[Row<Eval>] = &[
    naming(
        Thing::Path,
        &row(
            "scenarios",
            Shape::Texts,
            "files and folders of scenarios, and patterns of them; `scenarios` where it is left out",
            scenarios,
        ),
    ),
    row(
        "runs",
        TRIALS,
        "trials of a case that says nothing",
        |at, eval| eval.runs = at.whole().map(|runs| runs.value as u32),
    ),
    row(
        "pass",
        TRIALS,
        "trials of them that must pass",
        |at, eval| {
            eval.pass = at.whole().map(|pass| pass.map(|pass| pass as u32));
        },
    ),
    row(
        "plan_path",
        Shape::Text,
        "the JSONPath at which an answer has the parts of its plan",
        plan_path,
    ),
    row(
        "stale_after_days",
        Shape::Whole((1, 36_500)),
        "days after which a scenario is due for review",
        |at, eval| {
            eval.stale_after_days = at
                .whole()
                .map_or(eval.stale_after_days, |days| days.value as u32);
        },
    ),
    row(
        "stale",
        Shape::Word(&STALE),
        "what a stale result is",
        |at, eval| {
            let is_warning = at.word(STALE).is_some_and(|found| found.value == "warn");
            eval.stale = if is_warning {
                Stale::Warn
            } else {
                Stale::Error
            };
        },
    ),
    row(
        "gate",
        Shape::Table(&GATE),
        "what may not get worse",
        |at, eval| at.rows(GATE_ROWS, &mut eval.gate),
    ),
    row(
        "drift",
        Shape::Table(&DRIFT),
        "what counts as drift",
        |at, eval| at.rows(DRIFT_ROWS, &mut eval.drift),
    ),
    row(
        "stability",
        Shape::Table(&STABILITY),
        "when runs with live models may gate",
        |at, eval| {
            eval.stability = stability(at);
        },
    ),
];

/// Values of `uncovered`.
const UNCOVERED: [&str; 3] = ["warn", "fail", "off"];

/// `[eval.gate]`.
static GATE: Table = of(
    "what may not get worse",
    &keys::<_, { GATE_ROWS.len() }>(GATE_ROWS),
);

const GATE_ROWS: &[Row<Gate>] = &[
    row(
        "manifest_tokens",
        PART,
        "growth of a manifest, as a part of it",
        |at, gate| {
            gate.manifest_tokens = at.number().map_or(gate.manifest_tokens, |part| part.value);
        },
    ),
    row(
        "pass_rate",
        RATE,
        "the least part of cases that pass",
        |at, gate| {
            gate.pass_rate = at.number().map(|rate| rate.value);
        },
    ),
    row(
        "tokens",
        PART,
        "growth of the tokens of a run",
        |at, gate| gate.tokens = at.number().map(|part| part.value),
    ),
    row("cost_usd", DOLLARS, "US$ of a run", |at, gate| {
        gate.cost_usd = at.number().map(|usd| usd.value);
    }),
    row(
        "uncovered",
        Shape::Word(&UNCOVERED),
        "what text is that a change takes away and no scenario held",
        |at, gate| {
            gate.uncovered = match at.word(["warn", "off"]).map(|found| found.value) {
                Some("fail") => Uncovered::Fail,
                Some("off") => Uncovered::Off,
                _ => Uncovered::Warn,
            };
        },
    ),
    row(
        "accepters",
        Shape::Set,
        "who may accept what a change loosens; `codeowners` for those of baselines/LOG.jsonl",
        |at, gate| gate.accepters = at.set(),
    ),
    naming(
        Thing::Path,
        &row(
            "link",
            Shape::Set,
            "folders of dependencies that git does not hold, for checks of the project's own as the base has them",
            |at, gate| {
                gate.link = at.set();
            },
        ),
    ),
];

/// `[eval.drift]`.
static DRIFT: Table = of(
    "what counts as drift",
    &keys::<_, { DRIFT_ROWS.len() }>(DRIFT_ROWS),
);

const DRIFT_ROWS: &[Row<Drift>] = &[
    row(
        "token_inflation",
        PART,
        "growth of the mean tokens",
        |at, drift| {
            drift.token_inflation = at.number().map_or(drift.token_inflation, |part| part.value);
        },
    ),
    row(
        "window",
        Shape::Whole((2, 1000)),
        "runs that are compared",
        |at, drift| {
            drift.window = at.whole().map_or(drift.window, |runs| runs.value as u32);
        },
    ),
    row(
        "latency_regression",
        PART,
        "growth of the mean time",
        |at, drift| {
            drift.latency_regression = at
                .number()
                .map_or(drift.latency_regression, |part| part.value);
        },
    ),
    row(
        "batches",
        Shape::Whole((1, 1000)),
        "batches in a row below the pass rate",
        |at, drift| {
            drift.batches = at
                .whole()
                .map_or(drift.batches, |batches| batches.value as u32);
        },
    ),
];

/// `[eval.stability]`.
static STABILITY: Table = of(
    "when runs with live models may gate: all of it, or none",
    &keys::<_, { STABILITY_ROWS.len() }>(STABILITY_ROWS),
);

const STABILITY_ROWS: &[Row<Written>] = &[
    needed(
        "reruns",
        TRIALS,
        "the least number of trials of each case",
        |at, out| {
            out.reruns = at.whole().map(|runs| runs.value as u32);
        },
    ),
    needed(
        "variance",
        RATE,
        "the most that the verdicts of a case's trials may vary: of a pass rate r, r·(1 − r)",
        |at, out| out.variance = at.number().map(|rate| rate.value),
    ),
    needed("cost_usd", DOLLARS, "US$ that a run may cost", |at, out| {
        out.cost_usd = at.number().map(|usd| usd.value);
    }),
    needed(
        "accepters",
        Shape::Set,
        "who may accept a baseline",
        |at, out| out.accepters = Some(at.set()),
    ),
];

/// `[eval.stability]` as written.
#[derive(Default)]
struct Written {
    reruns: Option<u32>,
    variance: Option<f64>,
    cost_usd: Option<f64>,
    accepters: Option<Vec<Spanned<String>>>,
}

pub(super) fn eval(sink: &mut Sink, key: &Key<'_>, value: &Value<'_>) -> Eval {
    let section = table(sink, "eval", value).map(|_| span(&key.span()));
    let mut out = Eval {
        section,
        ..Eval::default()
    };
    if out.section.is_some() {
        rows(sink, "eval", value, ROWS, &mut out);
        threshold(sink, &mut out);
    }
    out
}

/// Reports a pass threshold above the number of trials.
fn threshold(sink: &mut Sink, out: &mut Eval) {
    let rule = out.rule();
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
fn scenarios(at: &mut At<'_, '_>, eval: &mut Eval) {
    let mut out = Vec::new();
    for place in at.texts() {
        let inside = paths::beside("ctxc.toml", &place.value)
            .filter(|path| !path.is_empty() || place.value == ".");
        let is_pattern = is_pattern(&place.value);
        let is_sound = !is_pattern || Globs::default().add(&place.value).is_ok();
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
            at.bad(
                &place,
                format!("{what} of the project, relative to its root"),
            );
        }
    }
    if !out.is_empty() {
        eval.scenarios = out;
    }
}

fn plan_path(at: &mut At<'_, '_>, eval: &mut Eval) {
    eval.plan_path = at.spanned();
    if let Some(path) = eval
        .plan_path
        .take_if(|path| pattern::path(&path.value).is_err())
    {
        at.bad(&path, "a JSONPath of RFC 9535: `$.subtasks`");
    }
}

/// Reads the stability policy. It must be complete: with half a policy, live runs would gate by
/// limits that were never decided.
fn stability(at: &mut At<'_, '_>) -> Option<Stability> {
    let own = table(at.sink, &at.path, at.value)?;
    let mut found = Written::default();
    at.rows(STABILITY_ROWS, &mut found);
    at.needs(at.key, own, &STABILITY);
    let Written {
        reruns,
        variance,
        cost_usd,
        accepters,
    } = found;
    Some(Stability {
        reruns: reruns?,
        variance: variance?,
        cost_usd: cost_usd?,
        accepters: accepters?,
    })
}
