//! `[eval]`: its keys, their defaults, and the findings on them.

use super::reading::{found, read, shown};
use ctxc::internals::project::eval::{Eval, StalePolicy};
use insta::assert_snapshot;
use pretty_assertions::assert_eq;

const WHOLE: &str = "\
[eval]
scenarios = [\"scenarios\", \"more/refunds.yaml\"]
runs = 5
pass = 4
plan_path = \"$.plan.steps\"
stale_after_days = 30
stale = \"warn\"

[eval.gate]
manifest_tokens = 0.05
pass_rate = 0.9
tokens = 1
cost_usd = 2.5

[eval.drift]
token_inflation = 0.2
window = 8
latency_regression = 0.4
batches = 2

[eval.stability]
reruns = 3
variance = 0.1
cost_usd = 5.0
accepters = [\"ada\"]
";

#[test]
fn every_key_is_read() {
    let config = read(WHOLE);
    assert_eq!(shown(&config), "");
    let eval = &config.eval;
    assert_eq!(eval.scenario_roots(), ["scenarios", "more/refunds.yaml"]);
    assert_eq!(
        (
            eval.trial_rule().runs,
            eval.trial_rule().pass,
            eval.stale_after_days,
            eval.stale
        ),
        (5, 4, 30, StalePolicy::Warn)
    );
    assert_eq!(
        eval.plan_path.as_ref().map(|path| path.span.slice(WHOLE)),
        Some("\"$.plan.steps\"")
    );
    assert_eq!(
        (
            eval.gate.manifest_tokens,
            eval.gate.pass_rate,
            eval.gate.tokens,
            eval.gate.cost_usd
        ),
        (0.05, Some(0.9), Some(1.0), Some(2.5))
    );
    assert_eq!(
        (
            eval.drift.token_inflation,
            eval.drift.window,
            eval.drift.latency_regression,
            eval.drift.batches
        ),
        (0.2, 8, 0.4, 2)
    );
    let stability = eval.stability.as_ref().unwrap();
    assert_eq!(
        (
            stability.reruns,
            stability.variance,
            stability.cost_usd,
            stability.accepters.len()
        ),
        (3, 0.1, 5.0, 1)
    );
    assert_eq!(eval.section.map(|span| span.slice(WHOLE)), Some("eval"));
}

#[test]
fn without_the_section_defaults_hold() {
    let eval = read("").eval;
    assert_eq!(eval, Eval::default());
    assert_eq!(
        (
            eval.scenario_roots(),
            eval.trial_rule().runs,
            eval.trial_rule().pass,
            eval.stale_after_days
        ),
        (vec!["scenarios".to_owned()], 3, 2, 90)
    );
    assert_eq!(
        (
            eval.gate.manifest_tokens,
            eval.drift.token_inflation,
            eval.drift.window
        ),
        (0.10, 0.30, 5)
    );
    // A default threshold is lowered to the number of runs.
    assert_eq!(read("[eval]\nruns = 1\n").eval.trial_rule().pass, 1);
}

#[test]
fn what_cannot_be_taken_is_reported() {
    assert_snapshot!(found("[eval]\nruns = 2\npass = 3\nscenario = \"a\"\nscenarios = [\"../a\", \"/b\"]\nplan_path = \"steps\"\nstale = \"no\"\nstale_after_days = 0\n"), @r#"
    error CTX504 ctxc.toml:3:8 `3`: `eval.pass` is `3`; expected a number from 1 to 2, since `eval.runs` is 2
    error CTX503 ctxc.toml:4:1 `scenario`: `[eval]` has no key `scenario`
      = nothing reads it, so it has no effect; the keys are `scenarios`, `runs`, `pass`, `plan_path`, `stale_after_days`, `stale`, `gate`, `drift`, `stability`
      ? did you mean `scenarios`?
      > write `scenarios` (`scenario` -> `scenarios`)
    error CTX504 ctxc.toml:5:14 `\"../a\"`: `eval.scenarios` is `../a`; expected a file or folder of the project, relative to its root
    error CTX504 ctxc.toml:5:22 `\"/b\"`: `eval.scenarios` is `/b`; expected a file or folder of the project, relative to its root
    error CTX504 ctxc.toml:6:13 `\"steps\"`: `eval.plan_path` is `steps`; expected a JSONPath of RFC 9535: `$.subtasks`
    error CTX504 ctxc.toml:7:9 `\"no\"`: `eval.stale` is `no`; expected `error` or `warn`
    error CTX504 ctxc.toml:8:20 `0`: `eval.stale_after_days` is `0`; expected a number from 1 to 36500
    "#);
    assert_snapshot!(found("[eval.gate]\npass_rate = 1.5\ntoken = 1\n[eval.drift]\nwindow = 1\nbatches = \"3\"\n[eval.stability]\nreruns = 3\n"), @r#"
    error CTX504 ctxc.toml:2:13 `1.5`: `eval.gate.pass_rate` is `1.5`; expected a number from 0 to 1
    error CTX503 ctxc.toml:3:1 `token`: `[eval.gate]` has no key `token`
      = nothing reads it, so it has no effect; the keys are `manifest_tokens`, `pass_rate`, `tokens`, `cost_usd`, `uncovered`, `accepters`, `link`
      ? did you mean `tokens`?
      > write `tokens` (`token` -> `tokens`)
    error CTX504 ctxc.toml:5:10 `1`: `eval.drift.window` is `1`; expected a number from 2 to 1000
    error CTX504 ctxc.toml:6:11 `\"3\"`: `eval.drift.batches` is a text; expected a whole number
      > take the quotes off (`\"3\"` -> `3`)
    error CTX532 ctxc.toml:7:7 `stability`: `eval.stability` lacks the required key `accepters`
      ? add the people who may accept a baseline: `accepters = ["ada"]`
    error CTX532 ctxc.toml:7:7 `stability`: `eval.stability` lacks the required key `cost_usd`
      ? add the budget of one run in US$: `cost_usd = 5.0`
    error CTX532 ctxc.toml:7:7 `stability`: `eval.stability` lacks the required key `variance`
      ? add the allowed variance of the pass rate: `variance = 0.1`
    "#);
}
