//! The SQLite backend: one file, one writer thread, two reader threads, one thread that folds the log into the
//! file. Blocking calls stay on these threads, so that no async worker waits for a disk.

mod agents;
mod checkpoint;
mod column;
mod connection;
mod files;
mod migration;
mod public_keys;
mod reader;
mod receipts;
mod writer;

use crate::answer::{Answer, question};
use crate::queue::{Queue, Refused};
use crate::{AgentRecord, CountedCheck, PublicKeyRow, ReceiptRow, StoreError, StoredReceipt};
use checkpoint::Checkpoint;
use connection::Lock;
use countersign_core::score::HalfLife;
use files::Files;
use migration::OtherHalfLife;
use reader::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use writer::{Change, Write, Writer};

/// Writes that may wait. One more is answered `Busy`: a queue that is always full only makes everybody late.
const WRITES_WAITING_MAX: usize = 1_024;
/// Reads that may wait.
const READS_WAITING_MAX: usize = 1_024;
/// Age of the last commit from which on readiness makes one: a probe is a sync of the disk, and anybody may ask.
const PROBE_AFTER: Duration = Duration::from_secs(3);
/// Threads that read, each with its own connection.
const READERS: usize = 2;

pub(crate) struct Sqlite {
    writes: Arc<Queue<Write>>,
    reads: Arc<Queue<Read>>,
    last_commit: Arc<LastCommit>,
    /// None where only reading was asked for.
    files: Option<Arc<Files>>,
    /// Taken by whoever ends the threads.
    running: Mutex<Option<Running>>,
}

/// When the last batch was committed; none before the first, and while the last one failed.
#[derive(Default)]
struct LastCommit(Mutex<Option<Instant>>);

impl LastCommit {
    fn tell(&self, at: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn is_fresh(&self) -> bool {
        let at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < PROBE_AFTER)
    }
}

struct Running {
    readers: Vec<JoinHandle<()>>,
    /// None where only reading was asked for.
    writing: Option<Writing>,
}

struct Writing {
    writer: JoinHandle<()>,
    checkpointer: JoinHandle<()>,
    checkpoint: Arc<Checkpoint>,
    /// Given up last, so that the next process finds the file at rest.
    _lock: Lock,
}

impl Sqlite {
    pub(crate) fn create(path: &Path, half_life: HalfLife) -> Result<Self, StoreError> {
        connection::create_file(path)?;
        Self::open(path, half_life)
    }

    /// Brings the tables up to date and makes the sums anew if they have another half-life; then lets go.
    pub(crate) fn migrate(path: &Path, half_life: HalfLife) -> Result<(), StoreError> {
        let path = connection::existing(path)?;
        let _lock = Lock::take(&path)?;
        let mut first = connection::writing(&path)?;
        migration::bring_up_to_date(&mut first, half_life, OtherHalfLife::SumAnew)?;
        Checkpoint::new(first).truncate()
    }

    pub(crate) fn open(path: &Path, half_life: HalfLife) -> Result<Self, StoreError> {
        let path = connection::existing(path)?;
        let lock = Lock::take(&path)?;
        connection::is_whole(&path)?;
        let mut first = connection::writing(&path)?;
        migration::bring_up_to_date(&mut first, half_life, OtherHalfLife::Refuse)?;
        receipts::last_sequence(&first)?;
        let files = Arc::new(Files::of(&path, &lock)?);

        let writes = Arc::new(Queue::new(WRITES_WAITING_MAX));
        let last_commit = Arc::new(LastCommit::default());
        let checkpoint = Arc::new(Checkpoint::new(connection::writing(&path)?));

        let work = Writer::new(
            path.clone(),
            first,
            half_life,
            files.clone(),
            last_commit.clone(),
            checkpoint.clone(),
        )?;
        let writing = Writing {
            writer: {
                let writes = writes.clone();
                start("store-write", move || work.run(&writes))?
            },
            checkpointer: {
                let checkpoint = checkpoint.clone();
                start("store-fold", move || checkpoint.run())?
            },
            checkpoint,
            _lock: lock,
        };
        Self::with_readers(&path, writes, last_commit, Some(files), Some(writing))
    }

    /// Opens a database that another process may be serving; whatever would write is refused.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let path = connection::existing(path)?;
        connection::is_whole(&path)?;
        migration::check_up_to_date(&connection::reading(&path)?)?;
        let writes = Arc::new(Queue::new(WRITES_WAITING_MAX));
        writes.close();
        Self::with_readers(&path, writes, Arc::default(), None, None)
    }

    fn with_readers(
        path: &Path,
        writes: Arc<Queue<Write>>,
        last_commit: Arc<LastCommit>,
        files: Option<Arc<Files>>,
        writing: Option<Writing>,
    ) -> Result<Self, StoreError> {
        let reads = Arc::new(Queue::new(READS_WAITING_MAX));
        let readers = (0..READERS).map(|_| {
            let (reads, path) = (reads.clone(), path.to_owned());
            start("store-read", move || reader::run(&reads, &path))
        });
        let readers = readers.collect::<Result<_, _>>()?;
        Ok(Sqlite {
            writes,
            reads,
            last_commit,
            files,
            running: Mutex::new(Some(Running { readers, writing })),
        })
    }

    pub(crate) fn keep_receipt(
        &self,
        row: ReceiptRow,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send + 'static {
        self.write(Change::Receipt(row))
    }

    pub(crate) fn keep_public_key(
        &self,
        row: PublicKeyRow,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let kept = self.write(Change::PublicKey(row));
        async { kept.await.map(drop) }
    }

    pub(crate) async fn receipt(&self, id: [u8; 16]) -> Result<Option<StoredReceipt>, StoreError> {
        self.read(|answer| Read::Receipt(id, answer)).await
    }

    pub(crate) async fn public_keys(&self) -> Result<Vec<PublicKeyRow>, StoreError> {
        self.read(Read::PublicKeys).await
    }

    pub(crate) async fn receipts_after(
        &self,
        sequence: u64,
        most: usize,
    ) -> Result<Vec<StoredReceipt>, StoreError> {
        self.read(|answer| Read::ReceiptsAfter(sequence, most, answer))
            .await
    }

    pub(crate) async fn newest(&self) -> Result<u64, StoreError> {
        self.read(Read::Newest).await
    }

    pub(crate) fn import(
        &self,
        receipts: Vec<StoredReceipt>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let kept = self.write(Change::Import(receipts));
        async { kept.await.map(drop) }
    }

    pub(crate) async fn agent(&self, agent: &str) -> Result<Option<AgentRecord>, StoreError> {
        let agent = agent.to_owned();
        self.read(|answer| Read::Agent(agent, answer)).await
    }

    pub(crate) async fn counted_checks_newest(
        &self,
        agent: &str,
        most: usize,
    ) -> Result<Vec<CountedCheck>, StoreError> {
        let agent = agent.to_owned();
        self.read(|answer| Read::NewestChecks(agent, most, answer)).await
    }

    pub(crate) async fn counted_checks(
        &self,
        agent: &str,
        after: u64,
        most: usize,
    ) -> Result<Vec<CountedCheck>, StoreError> {
        let agent = agent.to_owned();
        self.read(|answer| Read::ChecksAfter(agent, after, most, answer))
            .await
    }

    pub(crate) async fn is_ready(&self) -> Result<(), StoreError> {
        if self.writes.is_full() {
            return Err(StoreError::Busy);
        }
        self.check_files()?;
        // Whether the disk takes a receipt is known only by writing one.
        if !self.last_commit.is_fresh() || self.writes.is_closed() {
            self.write(Change::Probe).await?;
        }
        self.read(Read::Probe).await
    }

    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else {
            return Ok(());
        };
        // The last connection to go deletes the log, so this is asked while all are there.
        let files = self.check_files();
        self.writes.close();
        self.reads.close();
        let mut whole = true;
        for reader in running.readers {
            whole &= reader.join().is_ok();
        }
        if let Some(writing) = running.writing {
            whole &= writing.writer.join().is_ok();
            writing.checkpoint.close();
            whole &= writing.checkpointer.join().is_ok();
            writing.checkpoint.truncate()?;
        }
        if !whole {
            return Err(StoreError::unavailable("a thread of it ended early"));
        }
        files
    }

    fn check_files(&self) -> Result<(), StoreError> {
        self.files.as_ref().map_or(Ok(()), |files| files.check())
    }

    fn write(&self, change: Change) -> impl Future<Output = Result<u64, StoreError>> + Send + 'static {
        let (answer, ticket) = question();
        answered(self.writes.push(Write { change, answer }), ticket)
    }

    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Answer<T>) -> Read,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        let (answer, ticket) = question();
        answered(self.reads.push(read(answer)), ticket)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `close`.
        let _ = self.close();
    }
}

/// Waits for the answer, unless the queue refused the question.
async fn answered<T>(
    pushed: Result<(), Refused>,
    ticket: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match pushed {
        Ok(()) => ticket.await,
        Err(Refused::Full) => Err(StoreError::Busy),
        Err(Refused::Closed) => Err(StoreError::closed()),
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(StoreError::unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_writer_that_panics_leaves_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::create(&folder.path().join("countersign.db"), HalfLife::DEFAULT).unwrap();
        store.is_ready().await.unwrap();
        let waiting = [
            store.write(Change::Probe),
            store.write(Change::Panic),
            store.write(Change::Probe),
        ];
        let [before, panicked, after] = waiting;
        // The first may have been a batch of its own.
        let _ = before.await;
        for result in [panicked.await, after.await, store.is_ready().await.map(|()| 0)] {
            assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
        }
        assert_eq!(store.public_keys().await.unwrap(), [], "reading goes on");
        assert!(store.close().is_err(), "the end of the thread is told");
    }
}
