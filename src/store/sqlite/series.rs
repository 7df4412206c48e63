//! Reads the last runs of each case, without reading earlier ones.

use super::history::SqliteHistory;
use crate::store::history::{CaseSeries, HistoryError, MAX_EARLIER_RUNS, SeriesPoint};
use rusqlite::{Row, Statement, params};

/// The name of the next case: jumps from name to name without scanning the runs in between.
const SELECT_NEXT_CASE: &str = "SELECT min(id) FROM cases WHERE id > ?1";

const SELECT_CASE_RUNS: &str = "
    SELECT key, verdict = 'pass', tokens, latency_ms, told, split, provider, model, context_hash FROM cases
    WHERE id = ?1 AND live = ?2 AND trials > 0 AND verdict IN ('pass', 'fail') ORDER BY run DESC
";

impl SqliteHistory {
    pub(super) fn read_series(
        &self,
        window: usize,
        each: &mut dyn FnMut(CaseSeries),
    ) -> Result<(), HistoryError> {
        let mut next = self.connection.prepare_cached(SELECT_NEXT_CASE)?;
        let mut runs = self.connection.prepare_cached(SELECT_CASE_RUNS)?;
        let mut id = String::new();
        while let Some(found) = next.query_row([&id], |row| row.get::<_, Option<String>>(0))? {
            id = found;
            preferred_series(&mut runs, &id, window)?
                .into_iter()
                .for_each(&mut *each);
        }
        Ok(())
    }

    pub(super) fn read_series_of(
        &self,
        id: &str,
        window: usize,
    ) -> Result<Option<CaseSeries>, HistoryError> {
        let mut runs = self.connection.prepare_cached(SELECT_CASE_RUNS)?;
        Ok(preferred_series(&mut runs, id, window)?)
    }
}

/// Answers of models take precedence over replayed and scripted ones.
fn preferred_series(
    runs: &mut Statement<'_>,
    id: &str,
    window: usize,
) -> rusqlite::Result<Option<CaseSeries>> {
    match case_series(runs, id, true, window)? {
        None => case_series(runs, id, false, window),
        series => Ok(series),
    }
}

fn case_series(
    runs: &mut Statement<'_>,
    id: &str,
    live: bool,
    window: usize,
) -> rusqlite::Result<Option<CaseSeries>> {
    let mut rows = runs.query(params![id, live])?;
    let Some(first) = rows.next()? else {
        return Ok(None);
    };
    let (provider, model, context_hash) = read_config(first)?;
    let mut series = CaseSeries {
        id: id.to_owned(),
        live,
        provider,
        model,
        context_hash,
        now: vec![read_point(first)?],
        before: Vec::new(),
    };
    let mut other = None;
    while let Some(row) = rows.next()? {
        if has_config(row, (&series.provider, &series.model, &series.context_hash))? {
            // Alternating configurations are not a change from one to the other.
            series.before.clear();
            other = None;
            series.now.push(read_point(row)?);
        } else {
            let (provider, model, context_hash) = match other.take() {
                Some(other) => other,
                None => read_config(row)?,
            };
            if !has_config(row, (&provider, &model, &context_hash))? {
                break;
            }
            other = Some((provider, model, context_hash));
            series.before.push(read_point(row)?);
        }
        if series.now.len() == window + MAX_EARLIER_RUNS || series.before.len() == MAX_EARLIER_RUNS
        {
            break;
        }
    }
    series.now.reverse();
    series.before.reverse();
    Ok(Some(series))
}

type SeriesConfig = (Option<String>, Option<String>, Option<String>);

fn read_config(row: &Row<'_>) -> rusqlite::Result<SeriesConfig> {
    Ok((row.get(6)?, row.get(7)?, row.get(8)?))
}

fn has_config(
    row: &Row<'_>,
    config: (&Option<String>, &Option<String>, &Option<String>),
) -> rusqlite::Result<bool> {
    let is = |at: usize, one: &Option<String>| {
        Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str_or_null()? == one.as_deref())
    };
    Ok(is(6, config.0)? && is(7, config.1)? && is(8, config.2)?)
}

fn read_point(row: &Row<'_>) -> rusqlite::Result<SeriesPoint> {
    Ok(SeriesPoint {
        key: row.get(0)?,
        passed: row.get(1)?,
        tokens: row.get(2)?,
        latency: row.get(3)?,
        classified: row.get(4)?,
        splitting: row.get(5)?,
    })
}
