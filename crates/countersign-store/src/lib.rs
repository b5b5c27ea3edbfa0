//! Memory: what the service must still know tomorrow. The only crate that knows SQL; it knows no HTTP, no
//! clock and no randomness, and is handed the time.
//!
//! [`Store`] has one method a sentence, the same for SQLite and PostgreSQL. Every write goes through one queue and
//! one writer, which commits many rows at once; a method that writes comes back only after its row is on the disk.

mod agent;
mod answer;
mod check;
mod desk;
mod error;
mod line;
mod postgres;
mod public_key;
mod queue;
mod receipt;
mod sqlite;
mod tally;
mod target;
mod transfer;

pub use agent::{AgentRecord, CountedCheck};
pub use check::Checked;
pub use error::{Cause, StoreError};
pub use line::{BadLine, LINE_BYTES_MAX};
pub use public_key::PublicKeyRow;
pub use receipt::{ReceiptRow, StoredReceipt};
pub use target::{BadTarget, Password, Server, Target};
pub use transfer::{Imported, TransferError};

use countersign_core::score::HalfLife;
use desk::{Change, Desk, Read};
use postgres::Postgres;
use sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;

/// The one memory of a service. Clones are handles of the same store.
///
/// When the last handle is dropped, what is queued is still written; [`Store::close`] does the same and says
/// how it ended.
#[derive(Clone)]
pub struct Store {
    desk: Desk,
    backend: Arc<Backend>,
}

enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    /// Opens the store, making an empty one first where there is none: the file of SQLite, the tables in a
    /// database of PostgreSQL, which must be there. An older store is brought up to date.
    ///
    /// One process at a time holds a SQLite database: the second is refused with `Unavailable`. Any number may
    /// serve a PostgreSQL database. A store whose sums were made with another half-life is refused with
    /// [`StoreError::HalfLife`].
    pub fn create(target: &Target, half_life: HalfLife) -> Result<Store, StoreError> {
        Store::start(|desk| match target {
            Target::Sqlite(path) => Sqlite::create(path, half_life, desk).map(Backend::Sqlite),
            Target::Postgres(server) => Postgres::open(server, half_life, true, desk).map(Backend::Postgres),
        })
    }

    /// Like [`Store::create`], but a missing store is refused, so that a mistyped name cannot start an empty
    /// memory.
    pub fn open(target: &Target, half_life: HalfLife) -> Result<Store, StoreError> {
        Store::start(|desk| match target {
            Target::Sqlite(path) => Sqlite::open(path, half_life, desk).map(Backend::Sqlite),
            Target::Postgres(server) => Postgres::open(server, half_life, false, desk).map(Backend::Postgres),
        })
    }

    /// Opens the store to read in it, beside whoever serves it; its methods that write are `Unavailable`. A
    /// store that is not up to date is refused.
    pub fn look(target: &Target) -> Result<Store, StoreError> {
        Store::start(|desk| match target {
            Target::Sqlite(path) => Sqlite::look(path, desk).map(Backend::Sqlite),
            Target::Postgres(server) => Postgres::look(server, desk).map(Backend::Postgres),
        })
    }

    fn start(open: impl FnOnce(&Desk) -> Result<Backend, StoreError>) -> Result<Store, StoreError> {
        let desk = Desk::new();
        let backend = Arc::new(open(&desk)?);
        Ok(Store { desk, backend })
    }

    /// Brings a store up to date, and makes the sums of all agents anew when they have another half-life; in
    /// one transaction. Nobody may serve a SQLite database meanwhile. What serves a PostgreSQL database with
    /// another half-life refuses to write from then on.
    pub fn migrate(target: &Target, half_life: HalfLife) -> Result<(), StoreError> {
        match target {
            Target::Sqlite(path) => Sqlite::migrate(path, half_life),
            Target::Postgres(server) => Postgres::migrate(server, half_life),
        }
    }

    /// Looks a whole store over, beside whoever serves it: pages (SQLite), counter, numbers, sums. `Err` means
    /// that it could not be looked at.
    pub fn check(target: &Target) -> Result<Checked, StoreError> {
        match target {
            Target::Sqlite(path) => Sqlite::check(path),
            Target::Postgres(server) => Postgres::check(server),
        }
    }

    /// Copies the SQLite database at `path` as of one moment into a new file, beside whoever serves it.
    pub fn backup_sqlite(path: &Path, file: &Path) -> Result<(), StoreError> {
        Sqlite::backup(path, file)
    }

    /// Keeps a receipt and comes back with its sequence number, once the commit is durable.
    ///
    /// The row is queued by the call itself, not by the first poll; whoever drops the future afterwards loses
    /// the answer and not the row. A full queue is `Busy` at once. `Conflict` when the verification id is
    /// taken: nothing was written and no number was spent. After `Unavailable` the row is normally absent, but
    /// may be there when the disk failed in the middle of the commit, or the database went away there and did not
    /// come back in time; a new try takes a new id.
    pub fn keep_receipt(
        &self,
        row: ReceiptRow,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send + 'static {
        self.desk.write(Change::Receipt(row))
    }

    /// The receipt with this verification id.
    pub async fn receipt(&self, id: [u8; 16]) -> Result<Option<StoredReceipt>, StoreError> {
        self.desk.read(|answer| Read::Receipt(id, answer)).await
    }

    /// Receipts in the order of their numbers, those above `sequence`, at most `most`.
    pub async fn receipts_after(&self, sequence: u64, most: usize) -> Result<Vec<StoredReceipt>, StoreError> {
        self.desk
            .read(|answer| Read::ReceiptsAfter(sequence, most, answer))
            .await
    }

    /// The number of the newest receipt, 0 when there is none.
    pub async fn newest(&self) -> Result<u64, StoreError> {
        self.desk.read(Read::Newest).await
    }

    /// Keeps receipts of another store under the ids and numbers that they have there: all of them or none.
    /// What is counted follows.
    ///
    /// The first must have the number after this store's newest, and each the one after its neighbour's, or
    /// they are refused as [`StoreError::OutOfSequence`]; `Conflict` when a verification id is taken.
    pub fn import(
        &self,
        receipts: Vec<StoredReceipt>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let kept = self.desk.write(Change::Import(receipts));
        async { kept.await.map(drop) }
    }

    /// The record of an agent, if any of its checks is counted.
    pub async fn agent(&self, agent: &str) -> Result<Option<AgentRecord>, StoreError> {
        let agent = agent.to_owned();
        self.desk.read(|answer| Read::Agent(agent, answer)).await
    }

    /// An agent's counted checks, newest first, at most `most`.
    pub async fn counted_checks_newest(
        &self,
        agent: &str,
        most: usize,
    ) -> Result<Vec<CountedCheck>, StoreError> {
        let agent = agent.to_owned();
        self.desk
            .read(|answer| Read::NewestChecks(agent, most, answer))
            .await
    }

    /// An agent's counted checks in the order of their numbers, those above `after`, at most `most`. The next
    /// page begins after the last number of this one; a page with fewer than `most` is the last.
    pub async fn counted_checks(
        &self,
        agent: &str,
        after: u64,
        most: usize,
    ) -> Result<Vec<CountedCheck>, StoreError> {
        let agent = agent.to_owned();
        self.desk
            .read(|answer| Read::ChecksAfter(agent, after, most, answer))
            .await
    }

    /// Lists a public key, or gives a listed one a new status. The time of its first listing stays, and so does the
    /// status `compromised`: a node that does not know of it yet may say otherwise. An endorsement and the time from
    /// which it signs are replaced by given ones, and otherwise stay.
    ///
    /// `Conflict` when the version belongs to another key, or the key to another version: neither is ever used
    /// twice (verification.md, section 20).
    pub fn keep_public_key(
        &self,
        row: PublicKeyRow,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let kept = self.desk.write(Change::PublicKey(row));
        async { kept.await.map(drop) }
    }

    /// Every public key ever listed, in the order of listing.
    pub async fn public_keys(&self) -> Result<Vec<PublicKeyRow>, StoreError> {
        self.desk.read(Read::PublicKeys).await
    }

    /// Whether the next receipt could be kept: the database is there and the counter is right, and the disk took a
    /// commit in the last few seconds; if there was none, writes a little and takes it back. It has no time limit
    /// of its own; who asks should have one.
    pub async fn is_ready(&self) -> Result<(), StoreError> {
        if let Backend::Sqlite(sqlite) = &*self.backend {
            sqlite.check_files()?;
        }
        self.desk.is_ready().await
    }

    /// Writes what is queued, folds the log into the database file and ends the threads; blocks until that is
    /// done. Every other handle of this store answers `Unavailable` from now on.
    pub fn close(self) -> Result<(), StoreError> {
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.close(),
            Backend::Postgres(postgres) => postgres.close(),
        }
    }
}
