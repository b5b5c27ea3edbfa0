//! Memory: what the service must still know tomorrow. The only crate that knows SQL; it knows no HTTP, no
//! clock and no randomness, and is handed the time.
//!
//! [`Store`] has one method a sentence. Every write goes through one queue and one writer, which commits many
//! rows at once; a method that writes comes back only after its row is on the disk.

mod agent;
mod answer;
mod error;
mod public_key;
mod queue;
mod receipt;
mod sqlite;
mod tally;

pub use agent::{AgentRecord, CountedCheck};
pub use error::{Cause, StoreError};
pub use public_key::PublicKeyRow;
pub use receipt::{ReceiptRow, StoredReceipt};

use countersign_core::score::HalfLife;
use sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;

/// The one memory of a service. Clones are handles of the same store.
///
/// When the last handle is dropped, what is queued is still written; [`Store::close`] does the same and says
/// how it ended.
#[derive(Clone)]
pub struct Store {
    backend: Arc<Sqlite>,
}

impl Store {
    /// Opens the SQLite database at `path`, making an empty one first when there is no file. An older database
    /// is brought up to date.
    ///
    /// One process at a time holds a database: the second is refused with `Unavailable`. A database whose sums
    /// were made with another half-life is refused with [`StoreError::HalfLife`].
    pub fn create_sqlite(path: &Path, half_life: HalfLife) -> Result<Store, StoreError> {
        Ok(Store {
            backend: Arc::new(Sqlite::create(path, half_life)?),
        })
    }

    /// Like [`Store::create_sqlite`], but a missing file is refused, so that a mistyped path cannot start an
    /// empty memory.
    pub fn open_sqlite(path: &Path, half_life: HalfLife) -> Result<Store, StoreError> {
        Ok(Store {
            backend: Arc::new(Sqlite::open(path, half_life)?),
        })
    }

    /// Opens a database to read it, also while another process serves it. It must be up to date; whatever would
    /// write to it is `Unavailable`.
    pub fn read_sqlite(path: &Path) -> Result<Store, StoreError> {
        Ok(Store {
            backend: Arc::new(Sqlite::open_to_read(path)?),
        })
    }

    /// Brings a database up to date, and makes the sums of all agents anew when they have another half-life;
    /// in one transaction, while nobody serves it.
    pub fn migrate_sqlite(path: &Path, half_life: HalfLife) -> Result<(), StoreError> {
        Sqlite::migrate(path, half_life)
    }

    /// Keeps a receipt and comes back with its sequence number, once the commit is durable.
    ///
    /// The row is queued by the call itself, not by the first poll; whoever drops the future afterwards loses
    /// the answer and not the row. A full queue is `Busy` at once. `Conflict` when the verification id is
    /// taken: nothing was written and no number was spent. After `Unavailable` the row is normally absent, but
    /// may be there when the disk failed in the middle of the commit; a new try takes a new id.
    pub fn keep_receipt(
        &self,
        row: ReceiptRow,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send + 'static {
        self.backend.keep_receipt(row)
    }

    /// The receipt with this verification id.
    pub async fn receipt(&self, id: [u8; 16]) -> Result<Option<StoredReceipt>, StoreError> {
        self.backend.receipt(id).await
    }

    /// Receipts in the order of their numbers, those above `sequence`, at most `most`.
    pub async fn receipts_after(&self, sequence: u64, most: usize) -> Result<Vec<StoredReceipt>, StoreError> {
        self.backend.receipts_after(sequence, most).await
    }

    /// The number of the newest receipt, 0 when there is none.
    pub async fn newest(&self) -> Result<u64, StoreError> {
        self.backend.newest().await
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
        self.backend.import(receipts)
    }

    /// The record of an agent, if any of its checks is counted.
    pub async fn agent(&self, agent: &str) -> Result<Option<AgentRecord>, StoreError> {
        self.backend.agent(agent).await
    }

    /// An agent's counted checks, newest first, at most `most`.
    pub async fn counted_checks_newest(
        &self,
        agent: &str,
        most: usize,
    ) -> Result<Vec<CountedCheck>, StoreError> {
        self.backend.counted_checks_newest(agent, most).await
    }

    /// An agent's counted checks in the order of their numbers, those above `after`, at most `most`. The next
    /// page begins after the last number of this one; a page with fewer than `most` is the last.
    pub async fn counted_checks(
        &self,
        agent: &str,
        after: u64,
        most: usize,
    ) -> Result<Vec<CountedCheck>, StoreError> {
        self.backend.counted_checks(agent, after, most).await
    }

    /// Lists a public key, or gives a listed one a new status; the time of its first listing stays, and so does
    /// the status `compromised`, whatever a node that does not know of it yet says. An
    /// endorsement and the time from which it signs are replaced by given ones, and otherwise stay.
    ///
    /// `Conflict` when the version belongs to another key, or the key to another version: neither is ever used
    /// twice (verification.md, section 20).
    pub fn keep_public_key(
        &self,
        row: PublicKeyRow,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        self.backend.keep_public_key(row)
    }

    /// Every public key ever listed, in the order of listing.
    pub async fn public_keys(&self) -> Result<Vec<PublicKeyRow>, StoreError> {
        self.backend.public_keys().await
    }

    /// Whether the next receipt could be kept: the files are where they were, the counter is right, and the
    /// disk took a commit in the last few seconds; if there was none, writes as much as a receipt and takes it
    /// back. It has no time limit of its own; who asks should have one.
    pub async fn is_ready(&self) -> Result<(), StoreError> {
        self.backend.is_ready().await
    }

    /// Writes what is queued, folds the log into the database file and ends the threads; blocks until that is
    /// done. Every other handle of this store answers `Unavailable` from now on.
    pub fn close(self) -> Result<(), StoreError> {
        self.backend.close()
    }
}
