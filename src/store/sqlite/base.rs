//! Opens or creates the database, and sets its wait for other programs.
//!
//! A database is opened only if its tables are exactly those of this version. Nothing stored in it
//! is executed, and no statement can change its tables.

use crate::base::fs;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The application id of the file: `ctxc` in ASCII.
const INDEX_APPLICATION_ID: i32 = 0x6374_7863;
/// Changes with the tables, and with the rules for words, passages and keys.
const INDEX_VERSION: i32 = 5;
/// The maximum wait of a statement for another program.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

const TABLES: &str = "
    CREATE TABLE files (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, settled INTEGER NOT NULL, hash BLOB NOT NULL, holds INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE passages (id INTEGER PRIMARY KEY, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, piece INTEGER NOT NULL, whole INTEGER NOT NULL, size INTEGER NOT NULL, text TEXT NOT NULL);
    CREATE INDEX passages_of ON passages (path, first, piece);
    CREATE VIRTUAL TABLE words USING fts5(path, text, content='', tokenize='ascii');
";

/// An open database with the tables of this version.
#[derive(Debug)]
pub(in crate::store) struct IndexDatabase {
    pub(super) connection: Connection,
}

/// The reason why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::store) enum IndexDatabaseError {
    /// Damaged, of another version, or of another program: it must be rebuilt.
    #[error("{0}")]
    Useless(String),
    /// The file, the disk or another program prevents access.
    #[error("{0}")]
    InTheWay(String),
}

impl From<rusqlite::Error> for IndexDatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        let in_the_way = [
            ErrorCode::DatabaseBusy,
            ErrorCode::DatabaseLocked,
            ErrorCode::PermissionDenied,
            ErrorCode::ReadOnly,
            ErrorCode::SystemIoFailure,
            ErrorCode::DiskFull,
            ErrorCode::CannotOpen,
            ErrorCode::OutOfMemory,
            ErrorCode::FileLockingProtocolFailed,
        ];
        match error.sqlite_error_code() {
            Some(code) if in_the_way.contains(&code) => Self::InTheWay(message),
            _ => Self::Useless(message),
        }
    }
}

impl IndexDatabase {
    /// Opens an existing database. `None` if it does not exist.
    pub(in crate::store) fn open(path: &Path) -> Result<Option<Self>, IndexDatabaseError> {
        if !fs::is_file(path) || fs::is_link(path) {
            return Ok(None);
        }
        let connection = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        harden_connection(&connection, BUSY_TIMEOUT)?;
        let number =
            |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let application = number("application_id")?;
        let version = number("user_version")?;
        if (application, version) != (INDEX_APPLICATION_ID, INDEX_VERSION) {
            return Err(IndexDatabaseError::Useless(format!(
                "it is of version {version} of application {application:#x}"
            )));
        }
        if read_schema(&connection)? != read_schema(&Self::in_memory()?.connection)? {
            return Err(IndexDatabaseError::Useless(
                "its tables are others".to_owned(),
            ));
        }
        Ok(Some(Self { connection }))
    }

    /// Creates a database at a free path. The caller excludes concurrent creation.
    pub(in crate::store) fn create(path: &Path) -> Result<Self, IndexDatabaseError> {
        Self::create_tables(Connection::open(path)?)
    }

    /// Creates a private database in memory.
    pub(in crate::store) fn in_memory() -> Result<Self, IndexDatabaseError> {
        Self::create_tables(Connection::open_in_memory()?)
    }

    fn create_tables(mut connection: Connection) -> Result<Self, IndexDatabaseError> {
        harden_connection(&connection, BUSY_TIMEOUT)?;
        // The database can be rebuilt, so fewer synchronous writes are enough.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let making = connection.transaction()?;
        making.execute_batch(TABLES)?;
        making.pragma_update(None, "application_id", INDEX_APPLICATION_ID)?;
        making.pragma_update(None, "user_version", INDEX_VERSION)?;
        making.commit()?;
        Ok(Self { connection })
    }
}

/// Sets the safety options of a connection, which assume an untrusted file.
pub(super) fn harden_connection(
    connection: &Connection,
    patience: Duration,
) -> rusqlite::Result<()> {
    connection.busy_timeout(patience)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Returns everything that a database defines: tables, indexes and triggers.
pub(super) fn read_schema(
    connection: &Connection,
) -> rusqlite::Result<Vec<(String, String, String)>> {
    let mut ask = connection
        .prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")?;
    ask.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}
