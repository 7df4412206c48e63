//! The stored facts about files, and the transaction that changes them.

use super::base::{IndexDatabase, IndexDatabaseError};
use crate::store::passage::split_passages;
use crate::store::search_words::index_text;
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::BTreeMap;

/// The stored facts about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct IndexedFile {
    /// Its stamp in stored form.
    pub(in crate::store) stamp: String,
    /// True if its stamp is reliable: a file that changed shortly before it was read may change
    /// again without a new stamp.
    pub(in crate::store) is_settled: bool,
    /// The hash of its bytes.
    pub(in crate::store) hash: [u8; 32],
    /// The kind of its content.
    pub(in crate::store) holds: ContentKind,
}

/// The kind of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum ContentKind {
    /// Text, which is split into passages.
    Text,
    /// Not a text.
    Binary,
    /// A file written by ctxc or for it, which is never context.
    Own,
    /// A key or credentials.
    Key,
}

impl ContentKind {
    const fn to_number(self) -> i64 {
        match self {
            Self::Text => 0,
            Self::Binary => 1,
            Self::Own => 2,
            Self::Key => 3,
        }
    }

    const fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Text,
            1 => Self::Binary,
            2 => Self::Own,
            _ => Self::Key,
        }
    }
}

/// A change of the index, which takes effect when it is committed.
pub(in crate::store) struct IndexChange<'b> {
    making: Transaction<'b>,
}

impl IndexDatabase {
    /// Returns the stored facts about every file, by path.
    pub(in crate::store) fn indexed_files(
        &self,
    ) -> Result<BTreeMap<String, IndexedFile>, IndexDatabaseError> {
        let mut rows = self
            .connection
            .prepare("SELECT path, stamp, settled, hash, holds FROM files ORDER BY path")?;
        let rows = rows.query_map((), |row| {
            let known = IndexedFile {
                stamp: row.get(1)?,
                is_settled: row.get(2)?,
                hash: row.get(3)?,
                holds: ContentKind::from_number(row.get(4)?),
            };
            Ok((row.get(0)?, known))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Begins a change; other programs can still read, but not write.
    pub(in crate::store) fn begin_change(&mut self) -> Result<IndexChange<'_>, IndexDatabaseError> {
        let making = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        Ok(IndexChange { making })
    }
}

impl IndexChange<'_> {
    /// Updates the facts about a file with unchanged bytes.
    pub(in crate::store) fn update_facts(
        &self,
        path: &str,
        known: &IndexedFile,
    ) -> Result<(), IndexDatabaseError> {
        let mut write = self.making.prepare_cached(
            "INSERT INTO files (path, stamp, settled, hash, holds) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (path) DO UPDATE SET stamp = ?2, settled = ?3, hash = ?4, holds = ?5",
        )?;
        write.execute(params![
            path,
            known.stamp,
            known.is_settled,
            known.hash,
            known.holds.to_number()
        ])?;
        Ok(())
    }

    /// Stores a file with its current text.
    pub(in crate::store) fn store_file(
        &self,
        path: &str,
        known: &IndexedFile,
        text: &str,
    ) -> Result<(), IndexDatabaseError> {
        self.remove_passages(path)?;
        self.update_facts(path, known)?;
        if known.holds != ContentKind::Text {
            return Ok(());
        }
        let name = index_text(path);
        let parts = split_passages(path, text);
        let is_whole = parts.len() == 1;
        for part in parts {
            let text = text.get(part.range).unwrap_or("");
            let mut write = self.making.prepare_cached(
                "INSERT INTO passages (path, first, last, piece, whole, size, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            let id = write.insert(params![
                path,
                part.first,
                part.last,
                part.piece,
                is_whole,
                text.len() as u32,
                text
            ])?;
            let mut index = self
                .making
                .prepare_cached("INSERT INTO words (rowid, path, text) VALUES (?1, ?2, ?3)")?;
            index.execute(params![id, name, index_text(text)])?;
        }
        Ok(())
    }

    /// Removes a file.
    pub(in crate::store) fn remove_file(&self, path: &str) -> Result<(), IndexDatabaseError> {
        self.remove_passages(path)?;
        self.making
            .prepare_cached("DELETE FROM files WHERE path = ?1")?
            .execute([path])?;
        Ok(())
    }

    /// Removes the passages of a file. The full-text index stores no text, so a deletion must
    /// repeat the indexed text.
    fn remove_passages(&self, path: &str) -> Result<(), IndexDatabaseError> {
        let name = index_text(path);
        let mut next = self
            .making
            .prepare_cached("SELECT id, text FROM passages WHERE path = ?1 LIMIT 1")?;
        let mut forget = self.making.prepare_cached(
            "INSERT INTO words (words, rowid, path, text) VALUES ('delete', ?1, ?2, ?3)",
        )?;
        let mut remove = self
            .making
            .prepare_cached("DELETE FROM passages WHERE id = ?1")?;
        let mut find = || {
            next.query_row([path], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
            })
            .optional()
        };
        while let Some((id, text)) = find()? {
            forget.execute(params![id, name, index_text(&text)])?;
            remove.execute([id])?;
        }
        Ok(())
    }

    /// Commits the change.
    pub(in crate::store) fn commit(self) -> Result<(), IndexDatabaseError> {
        Ok(self.making.commit()?)
    }
}
