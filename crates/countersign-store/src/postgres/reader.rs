//! The task that answers questions: each gets a connection of the pool, several are under way at once.

use super::connection::{Gate, unreachable};
use super::{agents, public_keys, receipts};
use crate::StoreError;
use crate::desk::Read;
use crate::queue::Queue;
use countersign_core::score::HalfLife;
use deadpool_postgres::{ClientWrapper, Object, Pool};
use tokio::task::JoinSet;

/// Answers until the queue is closed and what is under way has ended. Without a half-life, a probe only reads.
pub(super) async fn run(reads: &Queue<Read>, mut gate: Gate, half_life: Option<HalfLife>) {
    let _guard = reads.abandon_on_drop();
    let mut under_way = JoinSet::new();
    let mut batch = Vec::with_capacity(1);
    while reads.next(&mut batch, 1, None).await {
        while under_way.try_join_next().is_some() {}
        for read in batch.drain(..) {
            match gate.connection().await {
                // The pool's size bounds how many are under way.
                Ok(connection) => {
                    under_way.spawn_local(answer_one(read, connection, gate.pool().clone(), half_life));
                }
                Err(error) => refuse(read, error),
            }
        }
    }
    while under_way.join_next().await.is_some() {}
}

async fn answer_one(read: Read, connection: Object, pool: Pool, half_life: Option<HalfLife>) {
    let mut ask = Asking { connection, pool };
    match read {
        Read::Receipt(id, answer) => answer.give(ask.with(async |c| receipts::find(c, id).await).await),
        Read::ReceiptsAfter(sequence, most, answer) => {
            answer.give(ask.with(async |c| receipts::after(c, sequence, most).await).await);
        }
        Read::Newest(answer) => {
            answer.give(ask.with(async |c| Ok(receipts::counter(c).await?.0)).await);
        }
        Read::Agent(agent, answer) => answer.give(ask.with(async |c| agents::find(c, &agent).await).await),
        Read::NewestChecks(agent, most, answer) => {
            answer.give(
                ask.with(async |c| agents::newest_checks(c, &agent, most).await)
                    .await,
            );
        }
        Read::ChecksAfter(agent, after, most, answer) => {
            answer.give(
                ask.with(async |c| agents::checks_after(c, &agent, after, most).await)
                    .await,
            );
        }
        Read::PublicKeys(answer) => answer.give(ask.with(async |c| public_keys::all(c).await).await),
        Read::Probe(answer) => {
            let probe = async |c: &ClientWrapper| match half_life {
                Some(half_life) => receipts::probe(c, half_life).await,
                None => receipts::counter(c).await.map(drop),
            };
            answer.give(ask.with(probe).await);
        }
    }
}

fn refuse(read: Read, error: StoreError) {
    match read {
        Read::Receipt(_, answer) => answer.give(Err(error)),
        Read::ReceiptsAfter(_, _, answer) => answer.give(Err(error)),
        Read::Newest(answer) => answer.give(Err(error)),
        Read::Agent(_, answer) => answer.give(Err(error)),
        Read::NewestChecks(_, _, answer) | Read::ChecksAfter(_, _, _, answer) => answer.give(Err(error)),
        Read::PublicKeys(answer) => answer.give(Err(error)),
        Read::Probe(answer) => answer.give(Err(error)),
    }
}

struct Asking {
    connection: Object,
    pool: Pool,
}

impl Asking {
    /// Asks the connection; once more on another one when it had died in the pool, as after a restart of the
    /// server. Reading twice does no harm.
    async fn with<T>(
        &mut self,
        ask: impl AsyncFn(&ClientWrapper) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let answer = ask(&self.connection).await;
        if answer.is_ok() || !self.connection.is_closed() {
            return answer;
        }
        self.connection = self.pool.get().await.map_err(unreachable)?;
        ask(&self.connection).await
    }
}
