//! The PostgreSQL backend: one thread with a runtime of its own, on which one task writes and one reads. Callers
//! are on other runtimes, so connections live here and questions come over the desk.
//!
//! Any number of processes may serve one database.

mod agents;
mod check;
mod connection;
mod migration;
mod public_keys;
mod reader;
mod receipts;
mod writer;

use crate::StoreError;
use crate::check::Checked;
use crate::desk::Desk;
use crate::sqlite::OtherHalfLife;
use crate::target::Server;
use connection::{Gate, unreachable};
use countersign_core::score::HalfLife;
use deadpool_postgres::Object;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::runtime::{self, Runtime};
use tokio::task::LocalSet;
use writer::Writer;

/// Connections that read at once. Each costs the server a process.
const READERS: usize = 4;

pub(crate) struct Postgres {
    desk: Desk,
    /// Taken by whoever ends the thread.
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What a process wants of the database.
#[derive(Clone, Copy)]
enum Use {
    Serve { half_life: HalfLife, make: bool },
    Look,
}

impl Postgres {
    /// Opens the store in this database; with `make`, makes it first where there is none. An older one is
    /// brought up to date.
    pub(crate) fn open(
        server: &Server,
        half_life: HalfLife,
        make: bool,
        desk: &Desk,
    ) -> Result<Self, StoreError> {
        Self::start(server, Use::Serve { half_life, make }, desk)
    }

    /// Opens the store to read in it.
    pub(crate) fn look(server: &Server, desk: &Desk) -> Result<Self, StoreError> {
        desk.writes.close();
        Self::start(server, Use::Look, desk)
    }

    fn start(server: &Server, what: Use, desk: &Desk) -> Result<Self, StoreError> {
        let (server, inside) = (server.clone(), desk.clone());
        let (opened, wait) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("store-postgres".to_owned())
            .spawn(move || {
                let (_writes, _reads) = (inside.writes.abandon_on_drop(), inside.reads.abandon_on_drop());
                match runtime() {
                    Ok(runtime) => LocalSet::new().block_on(&runtime, run(&server, what, &inside, &opened)),
                    Err(error) => drop(opened.send(Err(error))),
                }
            })
            .map_err(StoreError::unavailable)?;
        wait.recv().unwrap_or_else(|_| Err(StoreError::closed()))?;
        Ok(Postgres {
            desk: desk.clone(),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Brings the tables up to date, and makes the sums anew if they have another half-life.
    pub(crate) fn migrate(server: &Server, half_life: HalfLife) -> Result<(), StoreError> {
        once(async {
            let mut connection = connect(server).await?;
            migration::bring_up_to_date(&mut connection, false, half_life, OtherHalfLife::SumAnew).await
        })
    }

    pub(crate) fn check(server: &Server) -> Result<Checked, StoreError> {
        once(async {
            let mut connection = connect(server).await?;
            check::check(&mut connection).await
        })
    }

    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.desk.close();
        match thread.map(JoinHandle::join) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(StoreError::unavailable("its thread ended early")),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `close`.
        let _ = self.close();
    }
}

fn runtime() -> Result<Runtime, StoreError> {
    runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StoreError::unavailable)
}

/// Does one thing on a thread of its own, so that whoever asks may be on a runtime.
fn once<T: Send>(work: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StoreError> {
    thread::scope(|scope| scope.spawn(|| runtime()?.block_on(work)).join())
        .unwrap_or_else(|_| Err(StoreError::unavailable("its thread ended early")))
}

async fn connect(server: &Server) -> Result<Object, StoreError> {
    connection::pool(server, 1)?.get().await.map_err(unreachable)
}

/// The thread: opens, says how that went, then answers until the desk is closed.
async fn run(server: &Server, what: Use, desk: &Desk, opened: &mpsc::Sender<Result<(), StoreError>>) {
    let gates = match open(server, what).await {
        Ok(gates) => gates,
        Err(error) => {
            let _ = opened.send(Err(error));
            return;
        }
    };
    let _ = opened.send(Ok(()));
    let (writing, reading) = gates;
    let half_life = match what {
        Use::Serve { half_life, .. } => Some(half_life),
        Use::Look => None,
    };
    let reads = desk.reads.clone();
    let reader = tokio::task::spawn_local(async move { reader::run(&reads, reading, half_life).await });
    if let Some(half_life) = half_life {
        let writer = Writer::new(writing, half_life, desk.last_commit.clone());
        writer.run(&desk.writes).await;
    }
    let _ = reader.await;
}

/// The way for writes and the way for reads: so that no crowd of readers keeps the writer from its connection.
async fn open(server: &Server, what: Use) -> Result<(Gate, Gate), StoreError> {
    let (writing, reading) = (connection::pool(server, 1)?, connection::pool(server, READERS)?);
    match what {
        Use::Serve { half_life, make } => {
            let mut first = writing.get().await.map_err(unreachable)?;
            migration::bring_up_to_date(&mut first, make, half_life, OtherHalfLife::Refuse).await?;
            receipts::probe(&first, half_life).await?;
        }
        Use::Look => {
            let first = reading.get().await.map_err(unreachable)?;
            migration::check_version(&**first).await?;
        }
    }
    Ok((Gate::new(writing), Gate::new(reading)))
}
