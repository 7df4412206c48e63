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
    let config = SeriesConfig::read(first)?;
    let mut series = CaseSeries {
        id: id.to_owned(),
        live,
        provider: config.provider.clone(),
        model: config.model.clone(),
        context_hash: config.context_hash.clone(),
        now: vec![read_point(first)?],
        before: Vec::new(),
    };
    let mut other = None;
    while let Some(row) = rows.next()? {
        if config.is_of(row)? {
            // Alternating configurations are not a change from one to the other.
            series.before.clear();
            other = None;
            series.now.push(read_point(row)?);
        } else {
            let before = match other.take() {
                Some(other) => other,
                None => SeriesConfig::read(row)?,
            };
            if !before.is_of(row)? {
                break;
            }
            other = Some(before);
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

/// The configuration of a run in a series.
struct SeriesConfig {
    provider: Option<String>,
    model: Option<String>,
    context_hash: Option<String>,
}

impl SeriesConfig {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            provider: row.get(6)?,
            model: row.get(7)?,
            context_hash: row.get(8)?,
        })
    }

    /// Returns true if the run of a row has this configuration.
    fn is_of(&self, row: &Row<'_>) -> rusqlite::Result<bool> {
        let is = |column: usize, value: &Option<String>| {
            Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()? == value.as_deref())
        };
        Ok(is(6, &self.provider)? && is(7, &self.model)? && is(8, &self.context_hash)?)
    }
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
