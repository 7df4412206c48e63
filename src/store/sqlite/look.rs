//! Asking: how many passages hold a word, and which passages answer best.

use super::base::{Base, Broken};
use rusqlite::{OptionalExtension, Row as Record, params};

/// A passage that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct Row {
    /// Its file.
    pub(in crate::store) path: String,
    /// Its first line, from 1.
    pub(in crate::store) first: u32,
    /// Its last line.
    pub(in crate::store) last: u32,
    /// Which part of a long line; else 0.
    pub(in crate::store) piece: u32,
    /// Whether it is its file.
    pub(in crate::store) is_whole: bool,
    /// Its text.
    pub(in crate::store) text: String,
    /// How well it answers, in billionths: whole numbers, so that what every machine computes alike is a tie on every machine.
    pub(in crate::store) score: i64,
}

/// Words of a path count twice.
const BEST: &str = "
    SELECT passages.path, first, last, piece, whole, passages.text, CAST(-bm25(words, 2.0, 1.0) * 1e9 AS INTEGER) AS score
    FROM words JOIN passages ON passages.id = words.rowid
    WHERE words MATCH ?1 ORDER BY score DESC, passages.path, first, piece LIMIT ?2
";

impl Base {
    /// How many passages there are.
    pub(in crate::store) fn passages(&self) -> Result<u64, Broken> {
        Ok(self.connection.query_row("SELECT count(*) FROM passages", (), count)?)
    }

    /// In how many passages each word stands.
    pub(in crate::store) fn frequencies(&self, words: &[String]) -> Result<Vec<u64>, Broken> {
        self.connection
            .execute_batch("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'words', 'row')")?;
        let mut ask = self.connection.prepare_cached("SELECT doc FROM temp.vocabulary WHERE term = ?1")?;
        words.iter().map(|word| Ok(ask.query_row([word], count).optional()?.unwrap_or(0))).collect()
    }

    /// The passages that hold one of some words, best first, ties by path and line. Words hold letters and digits alone.
    pub(in crate::store) fn best(&self, words: &[&str], limit: usize) -> Result<Vec<Row>, Broken> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let asked = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut ask = self.connection.prepare_cached(BEST)?;
        let rows = ask.query_map(params![asked, limit], row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The text of a file, as it was indexed.
    pub(in crate::store) fn text(&self, path: &str) -> Result<String, Broken> {
        let mut ask = self.connection.prepare_cached("SELECT text FROM passages WHERE path = ?1 ORDER BY first, piece")?;
        let rows = ask.query_map([path], |row| row.get::<_, String>(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn count(record: &Record<'_>) -> rusqlite::Result<u64> {
    record.get::<_, i64>(0).map(i64::unsigned_abs)
}

fn row(record: &Record<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        path: record.get(0)?,
        first: record.get(1)?,
        last: record.get(2)?,
        piece: record.get(3)?,
        is_whole: record.get(4)?,
        text: record.get(5)?,
        score: record.get(6)?,
    })
}
