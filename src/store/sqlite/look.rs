//! Queries the index for the best passages.

use super::base::{IndexDatabase, IndexDatabaseError};
use crate::store::search_words::QueryWord;
use rusqlite::Row as Record;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A passage that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct ScoredPassage {
    /// Its file.
    pub(in crate::store) path: String,
    /// Its first line, from 1.
    pub(in crate::store) first: u32,
    /// Its last line.
    pub(in crate::store) last: u32,
    /// The number of the piece of a long line; otherwise 0.
    pub(in crate::store) piece: u32,
    /// True if it is the whole file.
    pub(in crate::store) is_whole: bool,
    /// Its text.
    pub(in crate::store) text: String,
    /// Its score, in billionths of the maximum: an integer, so that ties are the same on every
    /// machine.
    pub(in crate::store) score: i64,
}

/// The occurrences of a word in each passage, those in its path counted twice, and the bytes of its
/// text.
const SELECT_OCCURRENCES: &str = "
    SELECT doc, size, sum(CASE col WHEN 'path' THEN 2 ELSE 1 END)
    FROM temp.vocabulary JOIN passages ON passages.id = doc WHERE term = ?1 GROUP BY doc
";
const VOCABULARY: &str = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'words', 'instance')";
const SELECT_PASSAGE: &str =
    "SELECT path, first, last, piece, whole, text FROM passages WHERE id = ?1";

/// The parameters of BM25: the saturation of repeated words, the weight of the length, and the
/// length in bytes without correction.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
const USUAL_LENGTH: f64 = 1_500.0;

impl IndexDatabase {
    /// Returns the number of passages.
    pub(in crate::store) fn passage_count(&self) -> Result<u64, IndexDatabaseError> {
        Ok(self
            .connection
            .query_row("SELECT count(*) FROM passages", (), |record| {
                record.get::<_, i64>(0).map(i64::unsigned_abs)
            })?)
    }

    /// Returns the files that have passages, each with their number.
    pub(in crate::store) fn passages_by_file(
        &self,
    ) -> Result<Vec<(String, u64)>, IndexDatabaseError> {
        let mut counted = self
            .connection
            .prepare_cached("SELECT path, count(*) FROM passages GROUP BY path ORDER BY path")?;
        let rows = counted.query_map((), |record| {
            Ok((record.get(0)?, record.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
    }

    /// Returns the passages of accessible files that contain one of some words, best first, ties by
    /// path and line. A score depends only on the words and on the passage, so that other files
    /// never change it.
    pub(in crate::store) fn best_passages(
        &self,
        words: &[QueryWord],
        limit: usize,
        is_open: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<ScoredPassage>, IndexDatabaseError> {
        self.connection.execute_batch(VOCABULARY)?;
        let mut holding = self.connection.prepare_cached(SELECT_OCCURRENCES)?;
        let all = f64::from(words.iter().map(|word| word.weight).sum::<u32>());
        let mut scores = BTreeMap::<i64, i64>::new();
        for word in words {
            let mut rows = holding.query([&word.word])?;
            while let Some(row) = rows.next()? {
                let (id, size, times) = (row.get(0)?, row.get::<_, u32>(1)?, row.get::<_, u32>(2)?);
                let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * f64::from(size) / USUAL_LENGTH;
                let times = f64::from(times);
                let share = f64::from(word.weight) / all * times / (times + SATURATION * length);
                *scores.entry(id).or_default() += (share * 1e9).round() as i64;
            }
        }
        let mut ranked: Vec<(i64, i64)> =
            scores.into_iter().map(|(id, score)| (score, id)).collect();
        ranked.sort_by_key(|(score, _)| Reverse(*score));
        let mut passage = self.connection.prepare_cached(SELECT_PASSAGE)?;
        let mut rows: Vec<ScoredPassage> = Vec::new();
        for (score, id) in ranked {
            // Ties at the last place are broken by path and line, which only the rows contain.
            if rows.len() >= limit && rows.last().is_none_or(|last| last.score > score) {
                break;
            }
            let row = passage.query_row([id], |record| scored_passage(record, score))?;
            if is_open(&row.path) {
                rows.push(row);
            }
        }
        rows.sort_by(|a, b| {
            (b.score, &a.path, a.first, a.piece).cmp(&(a.score, &b.path, b.first, b.piece))
        });
        rows.truncate(limit);
        Ok(rows)
    }

    /// Returns the text of a file as it was indexed.
    pub(in crate::store) fn file_text(&self, path: &str) -> Result<String, IndexDatabaseError> {
        let mut ask = self
            .connection
            .prepare_cached("SELECT text FROM passages WHERE path = ?1 ORDER BY first, piece")?;
        let rows = ask.query_map([path], |row| row.get::<_, String>(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn scored_passage(record: &Record<'_>, score: i64) -> rusqlite::Result<ScoredPassage> {
    Ok(ScoredPassage {
        path: record.get(0)?,
        first: record.get(1)?,
        last: record.get(2)?,
        piece: record.get(3)?,
        is_whole: record.get(4)?,
        text: record.get(5)?,
        score,
    })
}
