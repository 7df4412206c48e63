//! Drift over a million stored trials: 10,000 cases, 100 runs.
//!
//! Creates the history once, in `target/`, which takes a while.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

use ctxc::internals::eval::drift::find_drift;
use ctxc::internals::project::eval::Eval;
use ctxc::internals::store::SqliteHistory;
use ctxc::internals::store::history::{CaseRecord, EvalHistory, RunRecord, TrialRecord};
use std::path::{Path, PathBuf};

const RUNS: i64 = 100;
const CASES: u64 = 10_000;

fn main() {
    divan::main();
}

fn case_record(run: i64, number: u64) -> CaseRecord {
    let noise = (number * 7_919 + run.unsigned_abs() * 104_729) % 97;
    let trial = TrialRecord {
        index: 1,
        verdict: "pass".to_owned(),
        tokens_in: 1_000 + noise,
        tokens_out: 100,
        cost_usd: Some(0.001),
        latency_ms: Some(700 + noise),
        decomposes: Some(false),
    };
    CaseRecord {
        id: format!("suite/case-{number:05}"),
        key: format!("b3:{number:064x}"),
        context_hash: Some(format!("b3:{:064x}", number * 31)),
        provider: Some("openai".to_owned()),
        model: Some("small-1".to_owned()),
        live: true,
        verdict: "pass".to_owned(),
        trials: vec![trial],
        result: None,
        answers: None,
    }
}

/// Returns the path of the history; creates it if it does not exist.
fn history_path() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/drift-bench.db");
    let mut history = SqliteHistory::open_or_create(&path).unwrap();
    for run in i64::try_from(history.load_runs().unwrap().len()).unwrap()..RUNS {
        let head = RunRecord {
            id: format!("r{run}"),
            order: run,
            finished: true,
            ..RunRecord::default()
        };
        let cases: Vec<CaseRecord> = (0..CASES).map(|number| case_record(run, number)).collect();
        history.adopt_run(&head, &cases).unwrap();
    }
    path
}

#[divan::bench(sample_count = 10)]
fn a_million_trials(bencher: divan::Bencher<'_, '_>) {
    let path = history_path();
    let limits = Eval::default().drift;
    bencher.bench(|| {
        let history = SqliteHistory::open(&path).unwrap().unwrap();
        let mut found = 0;
        history
            .each_series(5, &mut |series| found += find_drift(&series, &limits).len())
            .unwrap();
        assert_eq!(found, 0);
    });
}
