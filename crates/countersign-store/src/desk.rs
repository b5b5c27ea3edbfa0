//! The desk between callers and a backend: two bounded queues, and what may lie in them. It is the same for both
//! backends, which only differ in who takes the questions and how they answer.

use crate::answer::{Answer, question};
use crate::queue::{Queue, Refused};
use crate::{AgentRecord, CountedCheck, PublicKeyRow, ReceiptRow, StoreError, StoredReceipt};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Writes that may wait. One more is answered `Busy`: a queue that is always full only makes everybody late.
const WRITES_WAITING_MAX: usize = 1_024;
/// Reads that may wait.
const READS_WAITING_MAX: usize = 1_024;

/// Age of the last commit from which on readiness makes one: a probe is a sync of the disk, and anybody may ask.
const PROBE_AFTER: Duration = Duration::from_secs(3);

/// One change, and where its caller waits for it.
pub(crate) struct Write {
    pub(crate) change: Change,
    /// The receipt's number; 0 for the others.
    pub(crate) answer: Answer<u64>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are receipts; a box each would cost an allocation a row"
)]
pub(crate) enum Change {
    Receipt(ReceiptRow),
    /// All of them or none, under the numbers they have.
    Import(Vec<StoredReceipt>),
    PublicKey(PublicKeyRow),
    /// Writes as much as a receipt, and changes nothing.
    Probe,
    #[cfg(test)]
    Panic,
}

/// One question.
pub(crate) enum Read {
    Receipt([u8; 16], Answer<Option<StoredReceipt>>),
    ReceiptsAfter(u64, usize, Answer<Vec<StoredReceipt>>),
    Newest(Answer<u64>),
    Agent(String, Answer<Option<AgentRecord>>),
    NewestChecks(String, usize, Answer<Vec<CountedCheck>>),
    ChecksAfter(String, u64, usize, Answer<Vec<CountedCheck>>),
    PublicKeys(Answer<Vec<PublicKeyRow>>),
    Probe(Answer<()>),
}

/// Where callers put their questions.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) writes: Arc<Queue<Write>>,
    pub(crate) reads: Arc<Queue<Read>>,
    pub(crate) last_commit: Arc<LastCommit>,
}

/// When the last batch was committed; none before the first, and while the last one failed.
#[derive(Default)]
pub(crate) struct LastCommit(Mutex<Option<Instant>>);

impl LastCommit {
    pub(crate) fn tell(&self, at: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn is_fresh(&self) -> bool {
        let at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < PROBE_AFTER)
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Desk {
            writes: Arc::new(Queue::new(WRITES_WAITING_MAX)),
            reads: Arc::new(Queue::new(READS_WAITING_MAX)),
            last_commit: Arc::default(),
        }
    }

    /// Takes no more questions; those inside are still answered.
    pub(crate) fn close(&self) {
        self.writes.close();
        self.reads.close();
    }

    pub(crate) async fn is_ready(&self) -> Result<(), StoreError> {
        if self.writes.is_full() {
            return Err(StoreError::Busy);
        }
        // Whether the disk takes a receipt is known only by writing one.
        if !self.last_commit.is_fresh() || self.writes.is_closed() {
            self.write(Change::Probe).await?;
        }
        self.read(Read::Probe).await
    }

    /// Queues a change at once, and comes back with what became of it.
    pub(crate) fn write(
        &self,
        change: Change,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send + use<> + 'static {
        let (answer, ticket) = question();
        answered(self.writes.push(Write { change, answer }), ticket)
    }

    /// Queues a question at once, and comes back with its answer.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Answer<T>) -> Read,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        let (answer, ticket) = question();
        answered(self.reads.push(read(answer)), ticket)
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
