//! The history: kept in order, each trial once, opened with distrust.

use ctxc::internals::store::SqliteHistory;
use ctxc::internals::store::history::{
    CaseRecord, EvalHistory, HistoryError, OpenTrial, RunRecord, RunUsage, TrialRecord,
};
use pretty_assertions::assert_eq;
use serde_json::value::RawValue;
use std::path::PathBuf;

const NOTHING: RunUsage = usage(0, 0, 0.0);

const fn usage(calls: u64, tokens: u64, usd: f64) -> RunUsage {
    RunUsage { calls, tokens, usd }
}

pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("history.db")
    }

    fn open(&self) -> SqliteHistory {
        SqliteHistory::open_or_create(&self.path()).unwrap()
    }
}

fn run(id: &str, order: i64) -> RunRecord {
    RunRecord {
        id: id.to_owned(),
        order,
        at: "2026-11-23T17:00:00Z".to_owned(),
        planned: 2,
        ..RunRecord::default()
    }
}

fn trial(index: u32, verdict: &str) -> TrialRecord {
    let (tokens_in, tokens_out) = (100, u64::from(index));
    TrialRecord {
        index,
        verdict: verdict.to_owned(),
        tokens_in,
        tokens_out,
        cost_usd: Some(0.5),
        latency_ms: Some(7),
        decomposes: Some(false),
    }
}

fn case(id: &str, key: &str, verdict: &str, trials: u32) -> CaseRecord {
    CaseRecord {
        id: id.to_owned(),
        key: key.to_owned(),
        context_hash: Some("b3:c".to_owned()),
        provider: Some("acme".to_owned()),
        model: None,
        live: true,
        verdict: verdict.to_owned(),
        trials: (1..=trials).map(|index| trial(index, verdict)).collect(),
        result: RawValue::from_string(format!("{{\"id\":\"{id}\"}}")).ok(),
        answers: RawValue::from_string("[{}]".to_owned()).ok(),
    }
}

/// The stored cases, without values that cannot be compared.
fn comparable_cases(cases: &[CaseRecord]) -> Vec<(&str, &str, &str, usize)> {
    cases
        .iter()
        .map(|case| (&*case.id, &*case.key, &*case.verdict, case.trials.len()))
        .collect()
}

#[test]
fn what_is_written_twice_counts_once() {
    let folder = Folder::new();
    let mut history = folder.open();
    let first = history.begin_run(&run("a", 5)).unwrap();
    for _ in 0..3 {
        history
            .add_cases(first, &[case("x", "k1", "pass", 3)], NOTHING)
            .unwrap();
        history
            .add_cases(first, &[case("y", "k2", "fail", 0)], NOTHING)
            .unwrap();
    }
    // It was edited before it was run again, so that its earlier trials belong to no case.
    history
        .add_cases(first, &[case("x", "k9", "fail", 2)], NOTHING)
        .unwrap();
    let mut replayed = case("x", "k9", "pass", 1);
    replayed.live = false;
    history.add_cases(first, &[replayed], NOTHING).unwrap();
    history
        .add_cases(first, &[case("z", "k3", "stale", 0)], usage(4, 100, 0.5))
        .unwrap();
    history.end_run(first).unwrap();
    drop(history);
    let history = folder.open();
    let cases = history.load_cases(first).unwrap();
    assert_eq!(
        comparable_cases(&cases),
        [
            ("x", "k9", "pass", 1),
            ("y", "k2", "fail", 0),
            ("z", "k3", "stale", 0)
        ]
    );
    assert_eq!(cases[0].trials, [trial(1, "pass")]);
    assert_eq!(cases[0].result.as_ref().unwrap().get(), "{\"id\":\"x\"}");
    let runs = history.load_runs().unwrap();
    assert_eq!(
        runs,
        [RunRecord {
            finished: true,
            calls: 4,
            tokens: 100,
            cost_usd: 0.5,
            cases: 3,
            passed: 1,
            ..run("a", 5)
        }]
    );
}

#[test]
fn runs_are_in_the_order_in_which_they_began_even_if_the_clock_goes_back() {
    let folder = Folder::new();
    let mut history = folder.open();
    let orders: Vec<i64> = [("a", 100), ("b", 100), ("c", 7), ("d", 500)]
        .into_iter()
        .map(|(id, order)| history.begin_run(&run(id, order)).unwrap())
        .collect();
    assert_eq!(orders, [100, 101, 102, 500]);
    let ids: Vec<String> = history
        .load_runs()
        .unwrap()
        .into_iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    // The last is that of the last run.
    for (order, verdict) in [(100, "pass"), (102, "fail"), (101, "pass")] {
        history
            .add_cases(order, &[case("x", "k", verdict, 1)], NOTHING)
            .unwrap();
    }
    let last = |key: &str, context: &str| {
        history
            .last_result("x", key, context)
            .unwrap()
            .map(|earlier| earlier.verdict)
    };
    assert_eq!(
        (last("k", "b3:c"), last("k2", "b3:c"), last("k", "b3:d")),
        (Some("fail".to_owned()), None, None)
    );
}

#[test]
fn a_run_of_another_history_is_taken_over_once_at_its_own_place() {
    let folder = Folder::new();
    let mut history = folder.open();
    history.begin_run(&run("a", 100)).unwrap();
    assert!(
        history
            .adopt_run(&run("b", 50), &[case("x", "k", "pass", 2)])
            .unwrap()
    );
    assert!(
        !history
            .adopt_run(&run("b", 50), &[case("x", "k", "fail", 2)])
            .unwrap()
    );
    assert!(history.adopt_run(&run("c", 100), &[]).unwrap());
    assert_eq!(
        history
            .load_runs()
            .unwrap()
            .iter()
            .map(|run| run.order)
            .collect::<Vec<_>>(),
        [50, 100, 101]
    );
    assert_eq!(history.load_cases(50).unwrap()[0].verdict, "pass");
    history.forget_runs(&[50, 101]).unwrap();
    assert_eq!(history.load_runs().unwrap().len(), 1);
    assert!(
        history.load_cases(50).unwrap().is_empty()
            && history.last_result("x", "k", "b3:c").unwrap().is_none()
    );
}

#[test]
fn whole_results_are_kept_of_the_last_runs() {
    let folder = Folder::new();
    let mut history = folder.open();
    for number in 0..60 {
        let run = history
            .begin_run(&run(&format!("r{number}"), number))
            .unwrap();
        history
            .add_cases(run, &[case("x", "k", "pass", 1)], NOTHING)
            .unwrap();
    }
    let whole: Vec<bool> = (0..60)
        .map(|run| history.load_cases(run).unwrap()[0].result.is_some())
        .collect();
    assert_eq!(whole.iter().filter(|is_whole| **is_whole).count(), 51);
    assert!(!whole[8] && whole[9]);
    assert_eq!(history.load_runs().unwrap()[0].passed, 1);
}

#[test]
fn what_is_no_history_of_this_version_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    let refused = |bytes: &[u8]| {
        std::fs::write(folder.path(), bytes).unwrap();
        let error = SqliteHistory::open_or_create(&folder.path()).unwrap_err();
        assert_eq!(std::fs::read(folder.path()).unwrap(), bytes);
        error
    };
    assert!(matches!(refused(&[b'x'; 5_000]), HistoryError::Foreign(_)));
    assert!(matches!(
        refused(b"SQLite format 3\0 and no more"),
        HistoryError::Foreign(_)
    ));
    // That of the index, which is another database of ctxc.
    let mut history = Folder::new();
    drop(history.open());
    let mut bytes = std::fs::read(history.path()).unwrap();
    // `user_version` is at 60, `application_id` at 68, each with its highest byte first.
    bytes[63] = 7;
    assert_eq!(refused(&bytes), HistoryError::Newer(7, 3));
    bytes[63] = 3;
    bytes[71] ^= 1;
    assert!(matches!(refused(&bytes), HistoryError::Foreign(_)));
    bytes[71] ^= 1;
    let _ = std::fs::remove_file(folder.path());
    history = folder;
    std::fs::write(history.path(), &bytes).unwrap();
    history.open().begin_run(&run("a", 1)).unwrap();
    std::fs::remove_file(history.path()).unwrap();
    std::fs::create_dir(history.path()).unwrap();
    assert!(matches!(
        SqliteHistory::open_or_create(&history.path()).unwrap_err(),
        HistoryError::Foreign(_)
    ));
}

#[test]
fn a_history_of_version_1_continues_with_what_it_has() {
    let folder = Folder::new();
    let mut history = folder.open();
    let first = history.begin_run(&run("a", 1)).unwrap();
    history
        .add_cases(first, &[case("x", "k", "pass", 1)], NOTHING)
        .unwrap();
    drop(history);
    let file = rusqlite::Connection::open(folder.path()).unwrap();
    file.execute_batch("DROP TABLE answers; DROP TABLE open_trials; PRAGMA user_version = 1;")
        .unwrap();
    drop(file);
    let mut history = folder.open();
    let earlier = &history.load_cases(first).unwrap()[0];
    assert_eq!(
        (earlier.trials.len(), earlier.answers.is_some()),
        (1, false)
    );
    let second = history.begin_run(&run("b", 2)).unwrap();
    history
        .add_cases(second, &[case("x", "k", "pass", 1)], NOTHING)
        .unwrap();
    drop(history);
    assert_eq!(
        folder.open().load_cases(second).unwrap()[0]
            .answers
            .as_ref()
            .unwrap()
            .get(),
        "[{}]"
    );
    // That of version 2 as well.
    let file = rusqlite::Connection::open(folder.path()).unwrap();
    file.execute_batch("DROP TABLE open_trials; PRAGMA user_version = 2;")
        .unwrap();
    drop(file);
    assert_eq!(folder.open().open_trials(second).unwrap().len(), 0);
}

#[test]
fn answered_trials_stay_until_their_case_is_finished() {
    let folder = Folder::new();
    let mut history = folder.open();
    let run = history.begin_run(&run("a", 1)).unwrap();
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    let trial = |id: &str, trial: &str| OpenTrial {
        id: id.to_owned(),
        trial: trial.to_owned(),
        key: "k".to_owned(),
        context_hash: "c".to_owned(),
        answer: Some(raw("{}")),
        used: raw("{}"),
    };
    for (number, (id, label)) in [
        ("x", "first 1"),
        ("x", "first 2"),
        ("y", "first 1"),
        ("x", "first 2"),
    ]
    .into_iter()
    .enumerate()
    {
        history
            .add_trial(run, &trial(id, label), usage(number as u64 + 1, 10, 0.5))
            .unwrap();
    }
    drop(history);
    let mut history = folder.open();
    let names = |history: &SqliteHistory| -> Vec<String> {
        history
            .open_trials(run)
            .unwrap()
            .into_iter()
            .map(|one| format!("{} {}", one.id, one.trial))
            .collect()
    };
    assert_eq!(names(&history), ["x first 1", "x first 2", "y first 1"]);
    assert_eq!(
        (
            history.load_runs().unwrap()[0].calls,
            history.load_runs().unwrap()[0].tokens
        ),
        (4, 10)
    );
    // A case that could not be finished is tried again, with its answers.
    history
        .add_cases(run, &[case("y", "k", "error", 1)], usage(5, 10, 0.5))
        .unwrap();
    history
        .add_cases(run, &[case("x", "k", "pass", 1)], usage(5, 10, 0.5))
        .unwrap();
    assert_eq!(names(&history), ["y first 1"]);
    history.end_run(run).unwrap();
    assert_eq!(names(&history), [""; 0]);
}

#[test]
fn a_damaged_history_is_never_silently_empty() {
    let folder = Folder::new();
    let mut history = folder.open();
    let first = history.begin_run(&run("a", 1)).unwrap();
    for number in 0..200 {
        history
            .add_cases(
                first,
                &[case(&format!("case {number}"), "k", "pass", 3)],
                NOTHING,
            )
            .unwrap();
    }
    drop(history);
    let whole = std::fs::read(folder.path()).unwrap();
    let count = |folder: &Folder| {
        let history = SqliteHistory::open_or_create(&folder.path())?;
        Ok::<usize, HistoryError>(
            history
                .load_runs()?
                .len()
                .min(history.load_cases(first)?.len()),
        )
    };
    assert_eq!(count(&folder), Ok(1));
    let mut refused = 0;
    for at in (0..whole.len()).step_by(211) {
        let mut bytes = whole.clone();
        bytes[at..(at + 64).min(whole.len())].fill(0xa5);
        std::fs::write(folder.path(), &bytes).unwrap();
        refused += usize::from(count(&folder).is_err());
    }
    assert!(refused > 10, "{refused}");
    std::fs::write(folder.path(), &whole[..whole.len() / 2]).unwrap();
    assert!(count(&folder).is_err());
}

#[test]
fn programs_that_write_at_once_wait_for_each_other() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = &folder;
            scope.spawn(move || {
                let mut history = folder.open();
                let order = history.begin_run(&run(&format!("w{writer}"), 10)).unwrap();
                for number in 0..50 {
                    history
                        .add_cases(
                            order,
                            &[case(&format!("c{number}"), "k", "pass", 2)],
                            NOTHING,
                        )
                        .unwrap();
                }
                history.end_run(order).unwrap();
            });
        }
    });
    let runs = folder.open().load_runs().unwrap();
    assert_eq!(
        runs.iter()
            .map(|run| (run.order, run.finished, run.cases, run.passed))
            .collect::<Vec<_>>(),
        [
            (10, true, 50, 50),
            (11, true, 50, 50),
            (12, true, 50, 50),
            (13, true, 50, 50)
        ]
    );
}
