//! Files, locks and settings: everything that is decided when a connection is opened.

use crate::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a page, fixed when the file is made.
pub(super) const PAGE_BYTES: i64 = 8_192;
/// Memory for pages, a connection. The writer works at the end of two trees and the readers look up single
/// rows, so little is read twice.
const CACHE_KIB: i64 = 2_048;
/// `CSGN`: says that a SQLite file is ours.
pub(super) const APPLICATION_ID: i64 = 0x4353_474E;
/// How long a write waits for a foreign program that writes to the same file, such as a shell of SQLite.
const FOREIGN_WRITER_WAIT: Duration = Duration::from_secs(2);

/// Makes an empty file at `path` unless there is one, readable by its owner alone.
pub(super) fn create_file(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| unwritable(path, &error))?;
    file.sync_all().map_err(StoreError::unavailable)?;
    // SQLite syncs the folder for its log, not for the database itself: without this, a power cut could leave
    // acknowledged rows in a file without a name.
    #[cfg(unix)]
    if let Some(folder) = existing(path)?.parent() {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::unavailable)?;
    }
    Ok(())
}

/// The file's one true path, so that two links to it share a lock.
pub(super) fn existing(path: &Path) -> Result<PathBuf, StoreError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path).map_err(StoreError::unavailable),
        Ok(_) => Err(StoreError::unavailable("the path of the database is not a file")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StoreError::unavailable(
            "there is no database file at this path; correct the path, or create the store first",
        )),
        Err(error) => Err(StoreError::unavailable(error)),
    }
}

/// Keeps other processes from serving the same file. SQLite alone would let them take turns; sequence numbers
/// would stay right, but each would fold the other's log and neither would know why it waits.
///
/// The lock is an advisory one of the operating system on a file beside the database, so it ends with the
/// process, however that ends. It is not on the database file itself, because closing a second descriptor of
/// that file would drop SQLite's own locks.
pub(super) struct Lock(File);

impl Lock {
    pub(super) fn path(database: &Path) -> PathBuf {
        beside(database, ".lock")
    }

    pub(super) fn take(database: &Path) -> Result<Self, StoreError> {
        // The file stays when we go: a lock file that is removed can be locked by two.
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = Lock::path(database);
        let file = options.open(&path).map_err(|error| unwritable(&path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::unavailable(
                "another process serves this database; stop it first",
            )),
            Err(TryLockError::Error(error)) => Err(StoreError::unavailable(error)),
        }
    }

    pub(super) fn metadata(&self) -> Result<Metadata, StoreError> {
        self.0.metadata().map_err(StoreError::unavailable)
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::unavailable(format!(
        "cannot write {}: {error}; the folder of the database and the files in it must be writable",
        path.display()
    ))
}

/// The path of a file that belongs to the database.
pub(super) fn beside(database: &Path, end: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Refuses an empty file with a log: SQLite would take it for a new database and delete the log.
pub(super) fn is_whole(database: &Path) -> Result<(), StoreError> {
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
    if bytes(database) == 0 && bytes(&beside(database, "-wal")) > 0 {
        return Err(StoreError::Corrupt(
            "the database file is empty and its log is not; restore both from a backup",
        ));
    }
    Ok(())
}

/// A connection that may write. It never makes a file, and leaves the file of another program as it is.
pub(super) fn writing(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path)?;
    is_new(&connection)?;
    // Only an empty file takes the page size.
    connection
        .pragma_update(None, "page_size", PAGE_BYTES)
        .map_err(told)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(told)?;
    // A commit comes back after the log is synced to the disk.
    connection
        .pragma_update(None, "synchronous", "FULL")
        .map_err(told)?;
    // The log is folded by `checkpoint`, not inside a commit.
    connection
        .pragma_update(None, "wal_autocheckpoint", 0)
        .map_err(told)?;
    Ok(connection)
}

/// A connection that cannot write.
pub(super) fn reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path)?;
    connection.pragma_update(None, "query_only", true).map_err(told)?;
    Ok(connection)
}

/// A connection for whoever copies the database. Beside a server it changes nothing in it.
pub(super) fn copying(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path)?;
    connection
        .pragma_update(None, "wal_autocheckpoint", 0)
        .map_err(told)?;
    Ok(connection)
}

/// True for a database without a table, false for one of ours; that of another program is refused.
pub(super) fn is_new(connection: &Connection) -> Result<bool, StoreError> {
    let owner: i64 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(told)?;
    let tables: i64 = connection
        .query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(told)?;
    match (owner, tables) {
        (APPLICATION_ID, _) => Ok(false),
        (0, 0) => Ok(true),
        _ => Err(StoreError::Corrupt("the database belongs to another program")),
    }
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    // A connection never leaves its thread, or is behind a mutex of ours; SQLite needs none of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(told)?;
    connection.busy_timeout(FOREIGN_WRITER_WAIT).map_err(told)?;
    connection
        .pragma_update(None, "cache_size", -CACHE_KIB)
        .map_err(told)?;
    connection.set_prepared_statement_cache_capacity(16);
    Ok(connection)
}

/// An error of SQLite, as whose move it is.
pub(super) fn told(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Corrupt("the file is not a SQLite database"),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt("SQLite finds the file damaged"),
        Some(_) => StoreError::unavailable(error),
        // Not from SQLite but from reading a value: a type or a length that this store never wrote.
        None => StoreError::Corrupt("a row has a value that this program never writes"),
    }
}
