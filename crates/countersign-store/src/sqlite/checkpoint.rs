//! Folding the write-ahead log into the database file, so that the log stays small and no commit waits long.
//!
//! A fold that runs beside a busy writer never reaches the end of the log, and only a log that is folded to
//! its end starts over. So there are two: a thread folds most of it beside the writer, and when the log is
//! long, the writer stops for the little that is left. After a backup, which holds the log up for its whole
//! time, much is left; then the thread folds first, and the writer goes on meanwhile.
//!
//! Crash story: a fold copies pages that are durable in the log already, and the log starts over only after
//! the file was synced. A process that dies in between leaves the log; the next start reads it.

use super::connection::{PAGE_BYTES, told};
use crate::StoreError;
use crate::queue::Queue;
use rusqlite::Connection;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Pages of log after which the thread folds.
const BESIDE_PAGES: i64 = (8 << 20) / PAGE_BYTES;
/// Pages of log after which the writer folds what is left. A reader of another program that stays in the
/// middle of the log, such as a backup, lets it grow beyond that until it ends.
const INLINE_PAGES: i64 = (16 << 20) / PAGE_BYTES;
/// Pages that the writer folds at most: it waits meanwhile, and so does everybody who writes.
const LEFT_PAGES_MAX: i64 = 2 * INLINE_PAGES;

pub(super) struct Checkpoint {
    /// Its own connection; the mutex also keeps the two folds apart.
    connection: Mutex<Connection>,
    wanted: Queue<()>,
    /// Pages of the log that the last fold has in the file.
    folded: AtomicI64,
}

impl Checkpoint {
    pub(super) fn new(connection: Connection) -> Self {
        Checkpoint {
            connection: Mutex::new(connection),
            wanted: Queue::new(1),
            folded: AtomicI64::new(0),
        }
    }

    /// The thread: folds when asked, until closed.
    pub(super) fn run(&self) {
        let mut wishes = Vec::with_capacity(1);
        while self.wanted.take(&mut wishes, 1, None) {
            wishes.clear();
            self.fold();
        }
    }

    pub(super) fn close(&self) {
        self.wanted.close();
    }

    /// Folds everything and empties the log; for the end.
    pub(super) fn truncate(&self) -> Result<(), StoreError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(told)
    }

    /// Folds as far as it gets without waiting for anybody. What fails is tried again after more log; the rows
    /// are safe in the log meanwhile.
    fn fold(&self) {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let folded = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2));
        if let Ok(folded) = folded {
            self.folded.store(folded, Ordering::Relaxed);
        }
    }

    /// Asks the thread; it may be at it already.
    fn ask(&self) {
        let _ = self.wanted.push(());
    }
}

/// The writer's side: decides after each commit whether to fold.
pub(super) struct Pace {
    /// Pages in the log at the last fold.
    folded_at: i64,
    /// Pages at which the thread is asked.
    beside_at: i64,
}

impl Pace {
    /// For a log that was just started.
    pub(super) const START: Pace = Pace {
        folded_at: 0,
        beside_at: BESIDE_PAGES,
    };

    /// Called after a commit that left `pages` in the log.
    pub(super) fn after_commit(&mut self, pages: i64, checkpoint: &Checkpoint) {
        if pages < self.folded_at {
            // The log started over.
            checkpoint.folded.store(0, Ordering::Relaxed);
            *self = Pace::START;
        }
        let left = pages - checkpoint.folded.load(Ordering::Relaxed);
        if pages >= self.folded_at + INLINE_PAGES && left <= LEFT_PAGES_MAX {
            checkpoint.fold();
            *self = Pace {
                folded_at: pages,
                beside_at: pages + BESIDE_PAGES,
            };
        } else if pages >= self.beside_at {
            checkpoint.ask();
            self.beside_at = pages + BESIDE_PAGES;
        }
    }
}
