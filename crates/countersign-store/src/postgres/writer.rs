//! The task that writes: takes what is queued, keeps the receipts of a batch in one statement, answers each
//! waiter.
//!
//! Crash story. A batch is one statement and so one transaction: while it is not committed, none of its rows
//! exists, no number is spent, and no caller has an answer. When the connection breaks after the statement was
//! sent and before its end was told, nobody here knows whether it was committed; it may even still be running.
//! So the rows are *in doubt*: on a new connection we look their ids up. What is there was committed, and is
//! answered with its number. What is not there is sent again, and now three things can happen:
//! - The first statement never ran, or was undone: the second one keeps the rows.
//! - It was still running and commits after our look: the second one waits for it at the counter, then meets
//!   its ids, which are unique, and is undone; we look again and find the rows.
//! - It begins only after the second one: it meets the ids and is undone itself, with its numbers.
//!
//! A row is taken for ours only if it is the same in every member. So no check is numbered twice, none that was
//! answered is lost, and what ends without an answer (`Unavailable`, when the server stays away) is there once
//! or not at all. When this process dies, its callers' answers die with it; the rows that it had committed are
//! found by their ids.

use super::connection::{Gate, is_taken, is_undone, told};
use super::{public_keys, receipts};
use crate::answer::Bell;
use crate::desk::{Change, LastCommit, Write};
use crate::queue::Queue;
use crate::{PublicKeyRow, ReceiptRow, StoreError, StoredReceipt};
use countersign_core::score::HalfLife;
use deadpool_postgres::Object;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Rows of one statement. More would make the first of them wait without saving much.
const BATCH_ROWS_MAX: usize = 512;
/// How long rows in doubt wait for the server to come back. Afterwards their callers are told `Unavailable`.
const DOUBT_MAX: Duration = Duration::from_secs(10);
/// How long a statement may take before its connection is given up: the server's own limits come first, unless
/// the way to it is cut without a word.
const STATEMENT_WAIT: Duration = Duration::from_secs(35);
/// Times that a batch is sent again because of a taken id which nobody then finds.
const VAIN_TRIES_MAX: u32 = 3;

pub(super) struct Writer {
    gate: Gate,
    half_life: HalfLife,
    last_commit: Arc<LastCommit>,
    open: Option<Object>,
    bell: Bell<u64>,
}

/// Why a statement was not carried out.
enum Failure {
    /// Nothing was written.
    Refused(StoreError),
    /// Somebody has one of its names; nothing was written.
    Taken,
    /// Nobody knows.
    InDoubt(StoreError),
}

type Kept = Result<u64, StoreError>;

impl Writer {
    pub(super) fn new(gate: Gate, half_life: HalfLife, last_commit: Arc<LastCommit>) -> Self {
        Writer {
            gate,
            half_life,
            last_commit,
            open: None,
            bell: Bell::new(),
        }
    }

    /// Writes until the queue is closed and empty.
    pub(super) async fn run(mut self, writes: &Queue<Write>) {
        let mut batch = Vec::new();
        // After a panic the queue is closed before the batch at hand is dropped, and its callers told.
        let _guard = writes.abandon_on_drop();
        while writes
            .next(&mut batch, BATCH_ROWS_MAX, self.bell.rest_max())
            .await
        {
            if batch.is_empty() {
                self.bell.wake_rest();
            } else {
                self.keep(&mut batch).await;
            }
        }
    }

    async fn keep(&mut self, batch: &mut Vec<Write>) {
        let mut results = Vec::with_capacity(batch.len());
        while let Some(write) = batch.get(results.len()) {
            match &write.change {
                Change::Receipt(_) => {
                    let group = group(&batch[results.len()..]);
                    results.extend(self.keep_receipts(&group).await);
                }
                Change::Import(receipts) => results.push(self.import(receipts).await),
                Change::PublicKey(row) => results.push(self.keep_public_key(row).await),
                Change::Probe => results.push(self.probe().await),
                #[cfg(test)]
                Change::Panic => panic!("a panic on purpose"),
            }
        }
        let failing = results.iter().any(|result| match result {
            Ok(_) | Err(StoreError::Conflict | StoreError::OutOfSequence { .. }) => false,
            Err(_) => true,
        });
        self.last_commit.tell((!failing).then(std::time::Instant::now));
        for (write, result) in batch.drain(..).zip(results) {
            self.bell.give(write.answer, result);
        }
        self.bell.ring();
    }

    /// Keeps rows with different ids, and says of each what became of it.
    async fn keep_receipts(&mut self, rows: &[&ReceiptRow]) -> Vec<Kept> {
        let mut results: Vec<Option<Kept>> = vec![None; rows.len()];
        let mut doubt = None;
        let mut vain = 0;
        loop {
            let waiting: Vec<usize> = (0..rows.len())
                .filter(|&index| results[index].is_none())
                .collect();
            if waiting.is_empty() {
                break;
            }
            let tried = self.try_rows(rows, &waiting, doubt.is_some(), &mut results).await;
            let failed = match tried {
                Ok(()) => continue,
                Err(Failure::Refused(error)) => error,
                Err(Failure::Taken) if vain < VAIN_TRIES_MAX => {
                    vain += 1;
                    continue;
                }
                Err(Failure::Taken) => StoreError::unavailable("an id is taken, and nobody has it"),
                Err(Failure::InDoubt(error)) => {
                    if Instant::now() < *doubt.get_or_insert(Instant::now() + DOUBT_MAX) {
                        self.gate.rest().await;
                        continue;
                    }
                    error
                }
            };
            for index in waiting {
                results[index] = Some(Err(failed.clone()));
            }
        }
        let closed = || Err(StoreError::closed());
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(closed))
            .collect()
    }

    /// Sends the waiting rows once. `Ok` and `Taken` leave those waiting that are to be sent again.
    async fn try_rows(
        &mut self,
        rows: &[&ReceiptRow],
        waiting: &[usize],
        in_doubt: bool,
        results: &mut [Option<Kept>],
    ) -> Result<(), Failure> {
        if in_doubt && self.settle(rows, waiting, in_doubt, results).await? > 0 {
            return Ok(());
        }
        let batch: Vec<&ReceiptRow> = waiting.iter().map(|&index| rows[index]).collect();
        match self.send(None, &batch, in_doubt).await {
            Ok(before) => {
                for (&index, number) in waiting.iter().zip(before + 1..) {
                    results[index] = Some(Ok(number));
                }
                Ok(())
            }
            Err(Failure::Taken) if self.settle(rows, waiting, in_doubt, results).await? > 0 => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Looks the waiting rows up, and answers those that are there: what was in doubt and is the same in every
    /// member is ours. Comes back with how many there were.
    async fn settle(
        &mut self,
        rows: &[&ReceiptRow],
        waiting: &[usize],
        in_doubt: bool,
        results: &mut [Option<Kept>],
    ) -> Result<usize, Failure> {
        let ids: Vec<[u8; 16]> = waiting.iter().map(|&index| rows[index].verification_id).collect();
        let connection = self.connection(in_doubt).await?;
        let found = match timeout(STATEMENT_WAIT, receipts::find_all(&connection, &ids)).await {
            Ok(found) => found,
            Err(_) => Err(StoreError::unavailable("the database does not answer")),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                drop(Object::take(connection));
                // Only reading: what is in doubt stays so, and what is not was not written.
                return Err(if in_doubt {
                    Failure::InDoubt(error)
                } else {
                    Failure::Refused(error)
                });
            }
        };
        self.open = Some(connection);
        for &index in waiting {
            if let Some(there) = found.get(&rows[index].verification_id) {
                let ours = in_doubt && there.row == *rows[index];
                results[index] = Some(if ours {
                    Ok(there.sequence)
                } else {
                    Err(StoreError::Conflict)
                });
            }
        }
        Ok(found.len())
    }

    /// All of them under the numbers they have, or none.
    async fn import(&mut self, receipts: &[StoredReceipt]) -> Kept {
        let Some((first, last)) = receipts.first().zip(receipts.last()) else {
            return Ok(0);
        };
        let (first, last) = (first.sequence, last.sequence);
        let rows: Vec<&ReceiptRow> = receipts.iter().map(|receipt| &receipt.row).collect();
        let numbers = receipts.iter().map(|receipt| receipt.sequence);
        let ids: HashSet<_> = rows.iter().map(|row| row.verification_id).collect();
        if first == 0 || !numbers.eq(first..first + receipts.len() as u64) {
            let newest = self.newest().await?;
            return Err(StoreError::OutOfSequence { newest });
        }
        if ids.len() < rows.len() {
            return Err(StoreError::Conflict);
        }
        let before = i64::try_from(first - 1).unwrap_or(i64::MAX);
        let mut doubt = None;
        loop {
            match self.send(Some(before), &rows, doubt.is_some()).await {
                Ok(_) => return Ok(last),
                Err(Failure::Refused(StoreError::OutOfSequence { newest })) => {
                    // The doubtful one may have been committed. Others may have gone on since.
                    let there = self.connection(false).await;
                    let there = there.map_err(Failure::told)?;
                    let found = receipts::find_all(&there, &[rows[rows.len() - 1].verification_id]).await?;
                    self.open = Some(there);
                    let ours = found
                        .values()
                        .any(|found| found.sequence == last && found.row == *rows[rows.len() - 1]);
                    return if doubt.is_some() && ours {
                        Ok(last)
                    } else {
                        Err(StoreError::OutOfSequence { newest })
                    };
                }
                Err(Failure::Refused(error)) => return Err(error),
                Err(Failure::Taken) => return Err(StoreError::Conflict),
                Err(Failure::InDoubt(error)) => {
                    if Instant::now() >= *doubt.get_or_insert(Instant::now() + DOUBT_MAX) {
                        return Err(error);
                    }
                    self.gate.rest().await;
                }
            }
        }
    }

    async fn newest(&mut self) -> Kept {
        let connection = self.connection(false).await.map_err(Failure::told)?;
        let (newest, _) = receipts::counter(&connection).await?;
        self.open = Some(connection);
        Ok(newest)
    }

    /// Sends a batch, and comes back with the number before its first.
    async fn send(
        &mut self,
        before: Option<i64>,
        rows: &[&ReceiptRow],
        in_doubt: bool,
    ) -> Result<u64, Failure> {
        let half_life = self.half_life;
        let number = self
            .execute(in_doubt, async |client| {
                receipts::keep(client, half_life, before, rows).await
            })
            .await?;
        if let Some(before) = number {
            return Ok(before.unsigned_abs());
        }
        // Nothing was written, and the counter says why.
        let connection = self.connection(false).await?;
        let (newest, kept) = receipts::counter(&connection).await.map_err(Failure::Refused)?;
        self.open = Some(connection);
        let set = half_life.days();
        Err(Failure::Refused(if kept == set {
            StoreError::OutOfSequence { newest }
        } else {
            StoreError::HalfLife { kept, set }
        }))
    }

    /// Executes something that writes. A connection that failed is not used again.
    async fn execute<T>(
        &mut self,
        in_doubt: bool,
        write: impl AsyncFn(&Object) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Failure> {
        let connection = self.connection(in_doubt).await?;
        match timeout(STATEMENT_WAIT, write(&connection)).await {
            Ok(Ok(written)) => {
                self.open = Some(connection);
                Ok(written)
            }
            Ok(Err(error)) if is_undone(&error) => {
                self.open = Some(connection);
                Err(if is_taken(&error) {
                    Failure::Taken
                } else {
                    Failure::Refused(told(&error))
                })
            }
            Ok(Err(error)) => {
                // Out of the pool, which would otherwise hand it out again.
                drop(Object::take(connection));
                Err(Failure::InDoubt(told(&error)))
            }
            Err(_) => {
                drop(Object::take(connection));
                Err(Failure::InDoubt(StoreError::unavailable(
                    "the database does not answer",
                )))
            }
        }
    }

    /// The open connection or a new one. Whoever used it well puts it back into `open`.
    async fn connection(&mut self, in_doubt: bool) -> Result<Object, Failure> {
        if let Some(open) = self.open.take().filter(|open| !open.is_closed()) {
            return Ok(open);
        }
        self.gate.connection().await.map_err(|error| {
            if in_doubt {
                Failure::InDoubt(error)
            } else {
                Failure::Refused(error)
            }
        })
    }

    /// Written twice it says the same, so a doubtful one is sent again.
    async fn keep_public_key(&mut self, row: &PublicKeyRow) -> Kept {
        let upsert = async |client: &Object| public_keys::upsert(client, row).await;
        let mut listed = self.execute(false, upsert).await;
        if let Err(Failure::InDoubt(_)) = listed {
            listed = self.execute(false, upsert).await;
        }
        match listed {
            Ok(true) => Ok(0),
            Ok(false) | Err(Failure::Taken) => Err(StoreError::Conflict),
            Err(failure) => Err(failure.told()),
        }
    }

    async fn probe(&mut self) -> Kept {
        let probe = async |client: &Object| receipts::write_counter(client).await;
        self.execute(false, probe).await.map_err(Failure::told)?;
        Ok(0)
    }
}

impl Failure {
    fn told(self) -> StoreError {
        match self {
            Failure::Refused(error) | Failure::InDoubt(error) => error,
            Failure::Taken => StoreError::Conflict,
        }
    }
}

/// The receipts at the head of a batch, up to the first id that comes again: one statement cannot keep both, and
/// the second must be told by the first.
fn group(batch: &[Write]) -> Vec<&ReceiptRow> {
    let mut ids = HashSet::with_capacity(batch.len());
    batch
        .iter()
        .map_while(|write| match &write.change {
            Change::Receipt(row) => ids.insert(row.verification_id).then_some(row),
            _ => None,
        })
        .collect()
}
