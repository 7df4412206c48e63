//! `[eval]` with its tables `gate`, `drift` and `stability`.

use super::value::{Key, Sink, Table, Value, decimal, needs, number, rows, set, span, table, text, texts, word};
use crate::base::span::{Span, Spanned};
use crate::project::eval::{Eval, Stability, Stale};
use crate::project::fault::FaultKind;
use crate::project::glob::Globs;
use crate::project::keys;
use crate::project::places::is_pattern;
use crate::scenario::{paths, pattern};

pub(super) fn eval(sink: &mut Sink, key: &Key<'_>, value: &Value<'_>) -> Eval {
    let mut out = Eval::default();
    let Some(own) = table(sink, "eval", value) else { return out };
    out.section = Some(span(&key.span()));
    let mut pass_at = None;
    for (key, value) in own {
        match key.get_ref().as_ref() {
            "scenarios" => out.scenarios = scenarios(sink, value).unwrap_or(out.scenarios),
            "runs" => out.runs = number(sink, "eval.runs", value, keys::TRIALS).map(|runs| runs as u32),
            "pass" => {
                out.pass = number(sink, "eval.pass", value, keys::TRIALS).map(|pass| pass as u32);
                pass_at = Some(span(&value.span()));
            }
            "plan_path" => out.plan_path = plan_path(sink, value),
            "stale_after_days" => {
                let days = number(sink, "eval.stale_after_days", value, keys::DAYS);
                out.stale_after_days = days.map_or(out.stale_after_days, |days| days as u32);
            }
            "stale" => {
                let found = word(sink, "eval.stale", value, &keys::STALE, keys::STALE);
                out.stale = if found.is_some_and(|found| found.value == "warn") { Stale::Warn } else { Stale::Error };
            }
            "gate" => rows(sink, "eval.gate", value, &keys::GATE_ROWS, &mut out.gate),
            "drift" => rows(sink, "eval.drift", value, &keys::DRIFT_ROWS, &mut out.drift),
            "stability" => out.stability = stability(sink, key, value),
            _ => sink.unknown_key("eval", key, &keys::EVAL.names()),
        }
    }
    threshold(sink, &mut out, pass_at);
    out
}

/// More trials that must pass than there are.
fn threshold(sink: &mut Sink, out: &mut Eval, at: Option<Span>) {
    let rule = out.rule();
    if let Some(at) = at.filter(|_| rule.pass > rule.runs) {
        let kind = FaultKind::BadValue {
            key: "eval.pass".to_owned(),
            found: rule.pass.to_string(),
            expected: format!("a number from 1 to {}, since `eval.runs` is {0}", rule.runs),
            near: None,
        };
        sink.report(at, kind);
        out.pass = None;
    }
}

/// Paths inside the project.
fn scenarios(sink: &mut Sink, value: &Value<'_>) -> Option<Vec<Spanned<String>>> {
    let mut out = Vec::new();
    for place in texts(sink, "eval.scenarios", value) {
        let inside = paths::beside("ctxc.toml", place.value).filter(|path| !path.is_empty() || place.value == ".");
        let is_pattern = is_pattern(place.value);
        let is_sound = !is_pattern || Globs::default().add(place.value).is_ok();
        if let Some(path) = inside.filter(|_| is_sound) {
            out.push(Spanned::new(if path.is_empty() { ".".to_owned() } else { path }, place.span));
        } else {
            let what = if is_pattern { "a pattern of files or folders" } else { "a file or folder" };
            let expected = format!("{what} of the project, relative to its root");
            let found = place.value.to_owned();
            sink.report(place.span, FaultKind::BadValue { key: "eval.scenarios".to_owned(), found, expected, near: None });
        }
    }
    Some(out).filter(|out| !out.is_empty())
}

fn plan_path(sink: &mut Sink, value: &Value<'_>) -> Option<Spanned<String>> {
    let path = text(sink, "eval.plan_path", value)?;
    if pattern::path(path.value).is_ok() {
        return Some(path.map(str::to_owned));
    }
    let expected = "a JSONPath of RFC 9535: `$.subtasks`".to_owned();
    let found = path.value.to_owned();
    sink.report(path.span, FaultKind::BadValue { key: "eval.plan_path".to_owned(), found, expected, near: None });
    None
}

/// A policy is whole or none: half of one would let live runs gate by what nobody decided.
fn stability(sink: &mut Sink, at: &Key<'_>, value: &Value<'_>) -> Option<Stability> {
    let own: &Table<'_> = table(sink, "eval.stability", value)?;
    let (mut reruns, mut variance, mut cost_usd, mut accepters) = (None, None, None, None);
    for (key, value) in own {
        match key.get_ref().as_ref() {
            "reruns" => reruns = number(sink, "eval.stability.reruns", value, keys::TRIALS).map(|reruns| reruns as u32),
            "variance" => variance = decimal(sink, "eval.stability.variance", value, keys::RATE),
            "cost_usd" => cost_usd = decimal(sink, "eval.stability.cost_usd", value, keys::DOLLARS),
            "accepters" => accepters = Some(set(sink, "eval.stability.accepters", value)),
            _ => sink.unknown_key("eval.stability", key, &keys::STABILITY.names()),
        }
    }
    needs(sink, ("eval.stability", span(&at.span())), own, &keys::STABILITY);
    Some(Stability { reruns: reruns?, variance: variance?, cost_usd: cost_usd?, accepters: accepters? })
}
