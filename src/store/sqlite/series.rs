//! Reads the last runs of each case, without reading earlier ones.

use super::history::SqliteHistory;
use crate::store::history::{BEFORE, HistoryError, Point, Series};
use rusqlite::{Row, Statement, params};

/// The name of the next case: jumps from name to name without scanning the runs in between.
const NEXT: &str = "SELECT min(id) FROM cases WHERE id > ?1";

const RUNS: &str = "
    SELECT key, verdict = 'pass', tokens, latency_ms, told, split, provider, model, context_hash FROM cases
    WHERE id = ?1 AND live = ?2 AND trials > 0 AND verdict IN ('pass', 'fail') ORDER BY run DESC
";

impl SqliteHistory {
    pub(super) fn read_series(
        &self,
        window: usize,
        each: &mut dyn FnMut(Series),
    ) -> Result<(), HistoryError> {
        let mut next = self.connection.prepare_cached(NEXT)?;
        let mut runs = self.connection.prepare_cached(RUNS)?;
        let mut id = String::new();
        while let Some(found) = next.query_row([&id], |row| row.get::<_, Option<String>>(0))? {
            id = found;
            either(&mut runs, &id, window)?
                .into_iter()
                .for_each(&mut *each);
        }
        Ok(())
    }

    pub(super) fn read_series_of(
        &self,
        id: &str,
        window: usize,
    ) -> Result<Option<Series>, HistoryError> {
        let mut runs = self.connection.prepare_cached(RUNS)?;
        Ok(either(&mut runs, id, window)?)
    }
}

/// Answers of models take precedence over replayed and scripted ones.
fn either(runs: &mut Statement<'_>, id: &str, window: usize) -> rusqlite::Result<Option<Series>> {
    match of_case(runs, id, true, window)? {
        None => of_case(runs, id, false, window),
        series => Ok(series),
    }
}

fn of_case(
    runs: &mut Statement<'_>,
    id: &str,
    live: bool,
    window: usize,
) -> rusqlite::Result<Option<Series>> {
    let mut rows = runs.query(params![id, live])?;
    let Some(first) = rows.next()? else {
        return Ok(None);
    };
    let (provider, model, context_hash) = config(first)?;
    let mut series = Series {
        id: id.to_owned(),
        live,
        provider,
        model,
        context_hash,
        now: vec![point(first)?],
        before: Vec::new(),
    };
    let mut other = None;
    while let Some(row) = rows.next()? {
        if is_of(row, (&series.provider, &series.model, &series.context_hash))? {
            // Alternating configurations are not a change from one to the other.
            series.before.clear();
            other = None;
            series.now.push(point(row)?);
        } else {
            let (provider, model, context_hash) = match other.take() {
                Some(other) => other,
                None => config(row)?,
            };
            if !is_of(row, (&provider, &model, &context_hash))? {
                break;
            }
            other = Some((provider, model, context_hash));
            series.before.push(point(row)?);
        }
        if series.now.len() == window + BEFORE || series.before.len() == BEFORE {
            break;
        }
    }
    series.now.reverse();
    series.before.reverse();
    Ok(Some(series))
}

type Config = (Option<String>, Option<String>, Option<String>);

fn config(row: &Row<'_>) -> rusqlite::Result<Config> {
    Ok((row.get(6)?, row.get(7)?, row.get(8)?))
}

fn is_of(
    row: &Row<'_>,
    config: (&Option<String>, &Option<String>, &Option<String>),
) -> rusqlite::Result<bool> {
    let is = |at: usize, one: &Option<String>| {
        Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str_or_null()? == one.as_deref())
    };
    Ok(is(6, config.0)? && is(7, config.1)? && is(8, config.2)?)
}

fn point(row: &Row<'_>) -> rusqlite::Result<Point> {
    Ok(Point {
        key: row.get(0)?,
        passed: row.get(1)?,
        tokens: row.get(2)?,
        latency: row.get(3)?,
        told: row.get(4)?,
        split: row.get(5)?,
    })
}
