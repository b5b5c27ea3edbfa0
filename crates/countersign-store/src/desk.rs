//! The desk between callers and a backend: two bounded queues, and what may lie in them. It is the same for both
//! backends, which only differ in who takes the questions and how they answer.

use crate::answer::{Answer, question};
use crate::queue::{Queue, Refused};
use crate::{AgentRecord, CountedCheck, PublicKeyRow, ReceiptRow, StoreError, StoredReceipt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes that may wait. One more is answered `Busy`: a queue that is always full only makes everybody late.
const WRITES_WAITING_MAX: usize = 1_024;
/// Reads that may wait.
const READS_WAITING_MAX: usize = 1_024;

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
    /// Writes, and changes nothing.
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
    /// Whether the last batch failed; only then does a readiness probe write.
    pub(crate) failing: Arc<AtomicBool>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Desk {
            writes: Arc::new(Queue::new(WRITES_WAITING_MAX)),
            reads: Arc::new(Queue::new(READS_WAITING_MAX)),
            failing: Arc::default(),
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
        // A store that only reads would fail its first write after a full disk was mended, if nothing but
        // readiness brought traffic back; so the probe writes for it.
        if self.failing.load(Ordering::Relaxed) || self.writes.is_closed() {
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
