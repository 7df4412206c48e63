//! The history in an SQLite database: cases with their trials are committed as they are added.
//! Several programs may write at once, each its own runs.
//!
//! The figures for detecting drift are stored in columns, clustered by case, so that the last runs
//! of a case are read without the earlier ones. Like the index, it is opened as an untrusted file;
//! it is never rebuilt, because its data exists nowhere else.

use super::base::{harden_connection, read_schema};
use crate::base::fs;
use crate::store::history::{
    CaseRecord, CaseSeries, EarlierResult, EvalHistory, HistoryError, OpenTrial, RunRecord,
    RunUsage, TrialRecord,
};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};
use serde_json::value::RawValue;
use std::path::Path;
use std::time::{Duration, Instant};

/// The application id of the file: `ctxh` in ASCII.
const HISTORY_APPLICATION_ID: i32 = 0x6374_7868;
/// Changes with the tables.
const HISTORY_VERSION: i32 = 3;
/// The maximum wait of a statement for another program.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The number of runs whose whole results are stored; earlier ones keep only verdicts and figures.
const MAX_WHOLE_RUNS: i64 = 50;

const TABLES: &str = "
    CREATE TABLE runs (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, tool TEXT NOT NULL, mode TEXT NOT NULL, registry_hash TEXT NOT NULL, selection TEXT NOT NULL, planned INTEGER NOT NULL, finished INTEGER NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, cost_usd REAL NOT NULL);
    CREATE TABLE cases (id TEXT NOT NULL, live INTEGER NOT NULL, run INTEGER NOT NULL, key TEXT NOT NULL, context_hash TEXT, provider TEXT, model TEXT, verdict TEXT NOT NULL, trials INTEGER NOT NULL, tokens REAL, latency_ms REAL, told INTEGER NOT NULL, split INTEGER NOT NULL, PRIMARY KEY (id, live, run)) WITHOUT ROWID;
    CREATE TABLE results (run INTEGER NOT NULL, id TEXT NOT NULL, live INTEGER NOT NULL, result TEXT, PRIMARY KEY (run, id)) WITHOUT ROWID;
    CREATE TABLE trials (run INTEGER NOT NULL, key TEXT NOT NULL, trial INTEGER NOT NULL, verdict TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost_usd REAL, latency_ms INTEGER, decomposes INTEGER, PRIMARY KEY (run, key, trial)) WITHOUT ROWID;
";

/// The additions of each version to the previous one.
const ADDED_TABLES: [&str; 2] = [
    "CREATE TABLE answers (run INTEGER NOT NULL, id TEXT NOT NULL, given TEXT NOT NULL, PRIMARY KEY (run, id)) WITHOUT ROWID;",
    "CREATE TABLE open_trials (run INTEGER NOT NULL, id TEXT NOT NULL, trial TEXT NOT NULL, key TEXT NOT NULL, context_hash TEXT NOT NULL, given TEXT, used TEXT NOT NULL, PRIMARY KEY (run, id, trial)) WITHOUT ROWID;",
];

const SELECT_RUNS: &str = "
    SELECT runs.id, seq, at, tool, mode, registry_hash, selection, planned, finished, calls, tokens, cost_usd,
        (SELECT count(*) FROM results WHERE run = seq),
        (SELECT count(*) FROM results JOIN cases USING (id, live, run) WHERE run = seq AND verdict = 'pass')
    FROM runs ORDER BY seq
";

const SELECT_CASES: &str = "
    SELECT id, key, context_hash, provider, model, live, verdict, result, given FROM results JOIN cases USING (id, live, run)
    LEFT JOIN answers USING (run, id) WHERE run = ?1 ORDER BY id
";

const SELECT_TRIALS: &str = "
    SELECT trial, verdict, tokens_in, tokens_out, cost_usd, latency_ms, decomposes FROM trials
    WHERE run = ?1 AND key = ?2 ORDER BY trial
";

const SELECT_LAST: &str = "
    SELECT verdict, registry_hash, result FROM cases JOIN runs ON seq = run LEFT JOIN results USING (id, live, run)
    WHERE cases.id = ?1 AND key = ?2 AND context_hash = ?3 ORDER BY run DESC LIMIT 1
";

/// A history in a file.
#[derive(Debug)]
pub struct SqliteHistory {
    pub(super) connection: Connection,
}

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::NotADatabase) => Self::Foreign(message),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(message),
            _ => Self::System(message),
        }
    }
}

impl SqliteHistory {
    /// Opens the history in a file; `None` if the file does not exist.
    ///
    /// # Errors
    /// It is of a newer version, not a history, damaged, or in use.
    pub fn open(path: &Path) -> Result<Option<Self>, HistoryError> {
        if fs::exists(path) {
            Self::open_or_create(path).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Opens the history in a file, and creates the file if needed. Its folder must exist.
    ///
    /// # Errors
    /// As for `open`, or the file cannot be created.
    pub fn open_or_create(path: &Path) -> Result<Self, HistoryError> {
        if fs::is_link(path) || fs::exists(path) && !fs::is_file(path) {
            return Err(HistoryError::Foreign(
                "it is a link, or no regular file".to_owned(),
            ));
        }
        let mut connection = Connection::open(path)?;
        match prepare_database(&mut connection) {
            Ok(()) => Ok(Self { connection }),
            Err(HistoryError::Damaged(message)) => {
                let found = connection
                    .query_row("PRAGMA quick_check(1)", (), |row| row.get::<_, String>(0));
                Err(HistoryError::Damaged(found.unwrap_or(message)))
            }
            Err(other) => Err(other),
        }
    }

    /// Checks the integrity of the whole database: lookups in a damaged index miss rows without an
    /// error.
    ///
    /// # Errors
    /// The first damage that was found.
    pub fn check_integrity(&self) -> Result<(), HistoryError> {
        let found = self
            .connection
            .query_row("PRAGMA quick_check(1)", (), |row| row.get::<_, String>(0))?;
        if found == "ok" {
            Ok(())
        } else {
            Err(HistoryError::Damaged(found))
        }
    }

    fn read_trials(&self, run: i64, key: &str) -> Result<Vec<TrialRecord>, HistoryError> {
        let mut ask = self.connection.prepare_cached(SELECT_TRIALS)?;
        let trial = |row: &Row<'_>| {
            Ok(TrialRecord {
                index: row.get(0)?,
                verdict: row.get(1)?,
                tokens_in: row.get::<_, i64>(2)?.unsigned_abs(),
                tokens_out: row.get::<_, i64>(3)?.unsigned_abs(),
                cost_usd: row.get(4)?,
                latency_ms: row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs),
                decomposes: row.get(6)?,
            })
        };
        Ok(ask
            .query_map(params![run, key], trial)?
            .collect::<rusqlite::Result<_>>()?)
    }
}

/// Checks the identity of a database, and creates its tables if it is empty.
fn prepare_database(connection: &mut Connection) -> Result<(), HistoryError> {
    harden_connection(connection, BUSY_TIMEOUT)?;
    let number = |connection: &Connection, name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0))
    };
    let application = number(connection, "application_id")?;
    let version = number(connection, "user_version")?;
    if application == HISTORY_APPLICATION_ID && version > HISTORY_VERSION {
        return Err(HistoryError::Newer(version, HISTORY_VERSION));
    }
    let begun = Instant::now();
    // Changing the mode ignores the busy timeout, so the loop waits instead.
    while let Err(error) = connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(HistoryError::from)
    {
        if error != HistoryError::Busy || begun.elapsed() > BUSY_TIMEOUT {
            return Err(error);
        }
        std::thread::sleep(BUSY_POLL_INTERVAL);
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let empty = Connection::open_in_memory()?;
    let making = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    if read_schema(&making)?.is_empty() && application == 0 {
        drop(making);
        let making = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another program may have created them meanwhile.
        if read_schema(&making)?.is_empty() {
            making.execute_batch(TABLES)?;
            making.execute_batch(&ADDED_TABLES.concat())?;
            making.pragma_update(None, "application_id", HISTORY_APPLICATION_ID)?;
            making.pragma_update(None, "user_version", HISTORY_VERSION)?;
        }
        making.commit()?;
    } else {
        drop(making);
    }
    empty.execute_batch(TABLES)?;
    for (before, added) in (1..).zip(ADDED_TABLES) {
        if application == HISTORY_APPLICATION_ID && version <= before {
            let making = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if number(&making, "user_version")? == before
                && read_schema(&making)? == read_schema(&empty)?
            {
                making.execute_batch(added)?;
                making.pragma_update(None, "user_version", before + 1)?;
            }
            making.commit()?;
        }
        empty.execute_batch(added)?;
    }
    if number(connection, "application_id")? == HISTORY_APPLICATION_ID
        && read_schema(connection)? == read_schema(&empty)?
    {
        return Ok(());
    }
    Err(HistoryError::Foreign("its tables are others".to_owned()))
}

impl EvalHistory for SqliteHistory {
    fn begin_run(&mut self, run: &RunRecord) -> Result<i64, HistoryError> {
        let making = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let last: Option<i64> =
            making.query_row("SELECT max(seq) FROM runs", (), |row| row.get(0))?;
        let seq = last.map_or(run.order, |last| run.order.max(last.saturating_add(1)));
        insert_run(&making, seq, run)?;
        making.execute(
            "UPDATE results SET result = NULL WHERE result NOT NULL AND run < (SELECT seq FROM runs ORDER BY seq DESC LIMIT 1 OFFSET ?1)",
            [MAX_WHOLE_RUNS],
        )?;
        for table in ["answers", "open_trials"] {
            let old = format!(
                "DELETE FROM {table} WHERE run < (SELECT seq FROM runs ORDER BY seq DESC LIMIT 1 OFFSET ?1)"
            );
            making.execute(&old, [MAX_WHOLE_RUNS])?;
        }
        making.commit()?;
        Ok(seq)
    }

    fn add_cases(
        &mut self,
        run: i64,
        cases: &[CaseRecord],
        used: RunUsage,
    ) -> Result<(), HistoryError> {
        let making = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for case in cases {
            put_case(&making, run, case)?;
        }
        if used.calls > 0 {
            set_usage(&making, run, used)?;
            let mut tried =
                making.prepare_cached("DELETE FROM open_trials WHERE run = ?1 AND id = ?2")?;
            // The trials of a case that ended with an error are kept for its next attempt.
            for case in cases.iter().filter(|case| case.verdict != "error") {
                tried.execute(params![run, case.id])?;
            }
        }
        Ok(making.commit()?)
    }

    fn add_trial(
        &mut self,
        run: i64,
        trial: &OpenTrial,
        used: RunUsage,
    ) -> Result<(), HistoryError> {
        let making = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let OpenTrial {
            id,
            trial,
            key,
            context_hash,
            answer,
            used: its,
        } = trial;
        making
            .prepare_cached(
                "INSERT OR REPLACE INTO open_trials (run, id, trial, key, context_hash, given, used) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![run, id, trial, key, context_hash, answer.as_ref().map(|answer| answer.get()), its.get()])?;
        set_usage(&making, run, used)?;
        Ok(making.commit()?)
    }

    fn open_trials(&self, run: i64) -> Result<Vec<OpenTrial>, HistoryError> {
        let mut ask = self.connection.prepare_cached(
            "SELECT id, trial, key, context_hash, given, used FROM open_trials WHERE run = ?1 ORDER BY id, trial",
        )?;
        let trial = |row: &Row<'_>| {
            Ok(OpenTrial {
                id: row.get(0)?,
                trial: row.get(1)?,
                key: row.get(2)?,
                context_hash: row.get(3)?,
                answer: row.get::<_, Option<String>>(4)?.and_then(raw_json),
                used: raw_json(row.get(5)?).unwrap_or_default(),
            })
        };
        Ok(ask
            .query_map([run], trial)?
            .collect::<rusqlite::Result<_>>()?)
    }

    fn end_run(&mut self, run: i64) -> Result<(), HistoryError> {
        let making = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        making.execute("UPDATE runs SET finished = 1 WHERE seq = ?1", [run])?;
        making.execute("DELETE FROM open_trials WHERE run = ?1", [run])?;
        Ok(making.commit()?)
    }

    fn load_runs(&self) -> Result<Vec<RunRecord>, HistoryError> {
        let mut ask = self.connection.prepare(SELECT_RUNS)?;
        let run = |row: &Row<'_>| {
            Ok(RunRecord {
                id: row.get(0)?,
                order: row.get(1)?,
                at: row.get(2)?,
                tool: row.get(3)?,
                mode: row.get(4)?,
                registry_hash: row.get(5)?,
                selection: row.get(6)?,
                planned: row.get::<_, i64>(7)?.unsigned_abs(),
                finished: row.get(8)?,
                calls: row.get::<_, i64>(9)?.unsigned_abs(),
                tokens: row.get::<_, i64>(10)?.unsigned_abs(),
                cost_usd: row.get(11)?,
                cases: row.get::<_, i64>(12)?.unsigned_abs(),
                passed: row.get::<_, i64>(13)?.unsigned_abs(),
            })
        };
        Ok(ask.query_map((), run)?.collect::<rusqlite::Result<_>>()?)
    }

    fn case_names(&self, run: i64) -> Result<Vec<String>, HistoryError> {
        let mut ask = self
            .connection
            .prepare_cached("SELECT id FROM results WHERE run = ?1 ORDER BY id")?;
        let names = ask.query_map([run], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    fn load_cases(&self, run: i64) -> Result<Vec<CaseRecord>, HistoryError> {
        let mut ask = self.connection.prepare_cached(SELECT_CASES)?;
        let case = |row: &Row<'_>| {
            Ok(CaseRecord {
                id: row.get(0)?,
                key: row.get(1)?,
                context_hash: row.get(2)?,
                provider: row.get(3)?,
                model: row.get(4)?,
                live: row.get(5)?,
                verdict: row.get(6)?,
                trials: Vec::new(),
                result: row.get::<_, Option<String>>(7)?.and_then(raw_json),
                answers: row.get::<_, Option<String>>(8)?.and_then(raw_json),
            })
        };
        let mut cases = ask
            .query_map([run], case)?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        for case in &mut cases {
            case.trials = self.read_trials(run, &case.key)?;
        }
        Ok(cases)
    }

    fn last_result(
        &self,
        id: &str,
        key: &str,
        context_hash: &str,
    ) -> Result<Option<EarlierResult>, HistoryError> {
        let mut ask = self.connection.prepare_cached(SELECT_LAST)?;
        let earlier = |row: &Row<'_>| {
            let result = row.get::<_, Option<String>>(2)?.and_then(raw_json);
            Ok(EarlierResult {
                verdict: row.get(0)?,
                registry_hash: row.get(1)?,
                result,
            })
        };
        Ok(ask.query_row([id, key, context_hash], earlier).optional()?)
    }

    fn each_series(
        &self,
        window: usize,
        each: &mut dyn FnMut(CaseSeries),
    ) -> Result<(), HistoryError> {
        self.read_series(window, each)
    }

    fn series_of(&self, id: &str, window: usize) -> Result<Option<CaseSeries>, HistoryError> {
        self.read_series_of(id, window)
    }

    fn adopt_run(&mut self, run: &RunRecord, cases: &[CaseRecord]) -> Result<bool, HistoryError> {
        let making = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let exists = |column: &str, value: &dyn rusqlite::ToSql| {
            let ask = format!("SELECT 1 FROM runs WHERE {column} = ?1");
            making
                .query_row(&ask, [value], |_| Ok(()))
                .optional()
                .map(|found| found.is_some())
        };
        if exists("id", &run.id)? {
            return Ok(false);
        }
        let mut seq = run.order;
        while exists("seq", &seq)? {
            seq = seq.saturating_add(1);
        }
        insert_run(&making, seq, run)?;
        for case in cases {
            put_case(&making, seq, case)?;
        }
        making.commit()?;
        Ok(true)
    }

    fn forget_runs(&mut self, runs: &[i64]) -> Result<(), HistoryError> {
        let making = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for run in runs {
            making.execute(
                "DELETE FROM cases WHERE (id, live, run) IN (SELECT id, live, run FROM results WHERE run = ?1)",
                [run],
            )?;
            for table in ["results", "answers", "trials", "open_trials"] {
                making.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
            }
            making.execute("DELETE FROM runs WHERE seq = ?1", [run])?;
        }
        Ok(making.commit()?)
    }
}

/// Adds a case to a run, replacing an earlier version of it.
fn put_case(making: &Connection, run: i64, case: &CaseRecord) -> Result<(), HistoryError> {
    let CaseRecord {
        id,
        key,
        context_hash,
        provider,
        model,
        live,
        verdict,
        trials,
        result,
        answers,
    } = case;
    let earlier: Option<(String, bool)> = making
        .prepare_cached("SELECT key, live FROM results JOIN cases USING (id, live, run) WHERE run = ?1 AND id = ?2")?
        .query_row(params![run, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((key, live)) = earlier {
        making.execute(
            "DELETE FROM cases WHERE id = ?1 AND live = ?2 AND run = ?3",
            params![id, live, run],
        )?;
        making.execute(
            "DELETE FROM trials WHERE run = ?1 AND key = ?2",
            params![run, key],
        )?;
    }
    making
        .prepare_cached(
            "INSERT OR REPLACE INTO results (run, id, live, result) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            run,
            id,
            live,
            result.as_ref().map(|result| result.get())
        ])?;
    match answers {
        Some(given) => making
            .prepare_cached("INSERT OR REPLACE INTO answers (run, id, given) VALUES (?1, ?2, ?3)")?
            .execute(params![run, id, given.get()])?,
        None => making
            .prepare_cached("DELETE FROM answers WHERE run = ?1 AND id = ?2")?
            .execute(params![run, id])?,
    };
    let decompositions = trials.iter().filter_map(|trial| trial.decomposes);
    let (classified, split) = decompositions.fold((0_u32, 0_u32), |(classified, split), is| {
        (classified + 1, split + u32::from(is))
    });
    making
        .prepare_cached(
            "INSERT OR REPLACE INTO cases (id, live, run, key, context_hash, provider, model, verdict, trials, tokens, latency_ms, told, split)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            id,
            live,
            run,
            key,
            context_hash,
            provider,
            model,
            verdict,
            u32::try_from(trials.len()).unwrap_or(u32::MAX),
            case.mean_tokens(),
            case.median_latency(),
            classified,
            split
        ])?;
    for trial in trials {
        let TrialRecord {
            index,
            verdict,
            tokens_in,
            tokens_out,
            cost_usd,
            latency_ms,
            decomposes,
        } = trial;
        let (tokens_in, tokens_out) = (tokens_in.cast_signed(), tokens_out.cast_signed());
        let latency = latency_ms.map(u64::cast_signed);
        making
            .prepare_cached(
                "INSERT OR REPLACE INTO trials (run, key, trial, verdict, tokens_in, tokens_out, cost_usd, latency_ms, decomposes)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![run, key, index, verdict, tokens_in, tokens_out, cost_usd, latency, decomposes])?;
    }
    Ok(())
}

/// Sets the usage of a run so far.
fn set_usage(making: &Connection, run: i64, used: RunUsage) -> Result<(), HistoryError> {
    let mut spend = making
        .prepare_cached("UPDATE runs SET calls = ?2, tokens = ?3, cost_usd = ?4 WHERE seq = ?1")?;
    spend.execute(params![
        run,
        used.calls.cast_signed(),
        used.tokens.cast_signed(),
        used.usd
    ])?;
    Ok(())
}

fn insert_run(making: &Connection, seq: i64, run: &RunRecord) -> Result<(), HistoryError> {
    let RunRecord {
        id,
        at,
        tool,
        mode,
        registry_hash,
        selection,
        planned,
        finished,
        calls,
        tokens,
        cost_usd,
        ..
    } = run;
    let (planned, calls, tokens) = (
        planned.cast_signed(),
        calls.cast_signed(),
        tokens.cast_signed(),
    );
    making.execute(
        "INSERT INTO runs (seq, id, at, tool, mode, registry_hash, selection, planned, finished, calls, tokens, cost_usd)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![seq, id, at, tool, mode, registry_hash, selection, planned, finished, calls, tokens, cost_usd],
    )?;
    Ok(())
}

/// Parses stored JSON; invalid JSON counts as absent.
fn raw_json(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(text).ok()
}
