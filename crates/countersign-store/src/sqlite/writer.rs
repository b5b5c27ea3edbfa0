//! The one thread that writes: takes what is queued, commits it as one transaction, answers each waiter.

use super::checkpoint::{Checkpoint, Pace};
use super::connection::{self, told};
use super::files::Files;
use super::{agents, public_keys, receipts};
use crate::answer::Bell;
use crate::desk::{Change, LastCommit, Write};
use crate::queue::Queue;
use crate::tally::Tally;
use crate::{ReceiptRow, StoreError, StoredReceipt};
use countersign_core::score::HalfLife;
use rusqlite::{CachedStatement, Connection, ffi};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// Rows of one transaction. More would make the first of them wait without saving much.
const BATCH_ROWS_MAX: usize = 512;

pub(super) struct Writer {
    path: PathBuf,
    half_life: HalfLife,
    /// The sums over the receipts that the table of agents has not yet.
    tail: Tally,
    /// None after a failure: the next batch opens a new one, so that nothing of the failure lives on.
    open: Option<Connection>,
    files: Arc<Files>,
    last_commit: Arc<LastCommit>,
    checkpoint: Arc<Checkpoint>,
    pace: Pace,
    /// Pages in the log after the last commit.
    log_pages: Arc<AtomicI64>,
    /// Of the batch at hand, in its order.
    results: Vec<Result<u64, StoreError>>,
    bell: Bell<u64>,
}

impl Writer {
    pub(super) fn new(
        path: PathBuf,
        first: Connection,
        half_life: HalfLife,
        files: Arc<Files>,
        last_commit: Arc<LastCommit>,
        checkpoint: Arc<Checkpoint>,
    ) -> Result<Self, StoreError> {
        let mut writer = Writer {
            path,
            half_life,
            tail: Tally::new(half_life),
            open: None,
            files,
            last_commit,
            checkpoint,
            pace: Pace::START,
            log_pages: Arc::default(),
            results: Vec::new(),
            bell: Bell::new(),
        };
        writer.open = Some(writer.watch(first)?);
        Ok(writer)
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self, writes: &Queue<Write>) {
        let mut batch = Vec::new();
        // After a panic the queue is closed before the batch at hand is dropped, and its callers told.
        let _guard = writes.abandon_on_drop();
        while writes.take(&mut batch, BATCH_ROWS_MAX, self.bell.rest_max()) {
            if batch.is_empty() {
                self.bell.wake_rest();
            } else {
                self.keep(&mut batch);
            }
        }
        // When this fails, the next start has a tail to read, and nothing is missing.
        let _ = self.add_tail();
    }

    /// Adds the tail to the table, so that a store which is closed well is summed to its end.
    fn add_tail(&mut self) -> Result<(), StoreError> {
        let Some(connection) = self.open.take().filter(|_| self.tail.receipts() > 0) else {
            return Ok(());
        };
        run(&connection, "BEGIN IMMEDIATE")?;
        let last = receipts::last_sequence(&connection)?;
        agents::add(&connection, &[&self.tail], last).map_err(told)?;
        run(&connection, "COMMIT")
    }

    /// Commits a batch and answers it. Crash story: before the commit is synced, no caller has an answer and
    /// none of the rows exists; after it, all of them do, and a caller whose answer is lost finds its receipt.
    fn keep(&mut self, batch: &mut Vec<Write>) {
        self.results.clear();
        let committed = self.commit(batch);
        self.last_commit.tell(committed.is_ok().then(Instant::now));
        if let Err(error) = &committed {
            self.results.clear();
            self.results.resize(batch.len(), Err(error.clone()));
        }
        for (write, result) in batch.drain(..).zip(self.results.drain(..)) {
            self.bell.give(write.answer, result);
        }
        self.bell.ring();
        if committed.is_ok() {
            self.pace
                .after_commit(self.log_pages.load(Ordering::Relaxed), &self.checkpoint);
        }
    }

    /// One transaction for the whole batch. Either every row is written or has its own `Conflict` in
    /// `results`, or nothing is written.
    fn commit(&mut self, batch: &[Write]) -> Result<(), StoreError> {
        self.files.check()?;
        let connection = match self.open.take() {
            Some(connection) => connection,
            None => self.watch(connection::writing(&self.path)?)?,
        };
        // On an error the connection is dropped, and the transaction with it.
        write_all(&connection, &mut self.tail, batch, &mut self.results)?;
        self.open = Some(connection);
        Ok(())
    }

    /// Prepares a new connection. The tail is read from it: nobody knows whether a commit that failed is there.
    fn watch(&mut self, mut connection: Connection) -> Result<Connection, StoreError> {
        self.tail = agents::tail(&connection, self.half_life).map_err(told)?;
        let log_pages = self.log_pages.clone();
        let hook = move |_: &mut _, pages| {
            log_pages.store(i64::from(pages), Ordering::Relaxed);
            Ok(())
        };
        connection.wal_hook(Some(hook)).map_err(told)?;
        Ok(connection)
    }
}

fn write_all(
    connection: &Connection,
    tail: &mut Tally,
    batch: &[Write],
    results: &mut Vec<Result<u64, StoreError>>,
) -> Result<(), StoreError> {
    run(connection, "BEGIN IMMEDIATE")?;
    let before = receipts::last_sequence(connection)?;
    let mut open = Open {
        connection,
        insertion: receipts::insertion(connection).map_err(told)?,
        last: before,
        tally: Tally::new(tail.half_life()),
    };
    for write in batch {
        results.push(open.write(&write.change)?);
    }
    let Open { last, tally, .. } = open;
    if last == before {
        return run(connection, "COMMIT");
    }
    receipts::set_last_sequence(connection, last).map_err(told)?;
    let (receipts, agents) = (tail.receipts() + tally.receipts(), tail.agents() + tally.agents());
    let is_due = agents::is_due(receipts, agents);
    if is_due {
        agents::add(connection, &[tail, &tally], last).map_err(told)?;
    }
    run(connection, "COMMIT")?;
    if is_due {
        tail.clear();
    } else {
        tail.add_all(&tally);
    }
    Ok(())
}

/// A transaction at work.
struct Open<'batch> {
    connection: &'batch Connection,
    insertion: CachedStatement<'batch>,
    /// The newest number that was given.
    last: i64,
    tally: Tally,
}

impl<'batch> Open<'batch> {
    /// The inner result is the caller's; the outer one undoes the whole batch.
    ///
    /// A statement that meets a taken name undoes itself alone: its neighbours stay, and it spends no number,
    /// because the counter moves only after the insert.
    fn write(&mut self, change: &'batch Change) -> Result<Result<u64, StoreError>, StoreError> {
        match change {
            Change::Receipt(row) => {
                let kept = self.insert(row)?;
                if kept.is_ok() {
                    self.tally.count(row);
                }
                Ok(kept)
            }
            Change::Import(receipts) => self.import(receipts),
            Change::PublicKey(row) => match public_keys::upsert(self.connection, row) {
                Ok(true) => Ok(Ok(0)),
                Ok(false) => Ok(Err(StoreError::Conflict)),
                Err(error) => refused(error).map(Err),
            },
            Change::Probe => {
                receipts::rehearse(self.connection, &mut self.insertion, self.last).map_err(told)?;
                Ok(Ok(0))
            }
            #[cfg(test)]
            Change::Panic => panic!("a panic on purpose"),
        }
    }

    fn insert(&mut self, row: &ReceiptRow) -> Result<Result<u64, StoreError>, StoreError> {
        match receipts::insert(&mut self.insertion, self.last + 1, row) {
            Ok(()) => {
                self.last += 1;
                Ok(Ok(self.last.unsigned_abs()))
            }
            Err(error) => refused(error).map(Err),
        }
    }

    /// Undoes what it did when one of the receipts cannot be taken.
    fn import(&mut self, receipts: &'batch [StoredReceipt]) -> Result<Result<u64, StoreError>, StoreError> {
        let before = self.last;
        run(self.connection, "SAVEPOINT import")?;
        for receipt in receipts {
            let newest = self.last.unsigned_abs();
            let kept = if receipt.sequence == newest + 1 {
                self.insert(&receipt.row)?
            } else {
                Err(StoreError::OutOfSequence { newest })
            };
            if let Err(error) = kept {
                self.last = before;
                run(self.connection, "ROLLBACK TO import")?;
                run(self.connection, "RELEASE import")?;
                return Ok(Err(error));
            }
        }
        run(self.connection, "RELEASE import")?;
        receipts.iter().for_each(|receipt| self.tally.count(&receipt.row));
        Ok(Ok(self.last.unsigned_abs()))
    }
}

/// What an error of one statement means: `Ok` is the answer to its caller alone, `Err` undoes the batch.
fn refused(error: rusqlite::Error) -> Result<StoreError, StoreError> {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_CONSTRAINT_UNIQUE) => Ok(StoreError::Conflict),
        Some(ffi::SQLITE_CONSTRAINT_ROWID | ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => Err(StoreError::Corrupt(
            "the counter of receipts is behind the newest receipt",
        )),
        _ => Err(told(error)),
    }
}

fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]))
        .map(drop)
        .map_err(told)
}
