//! The key watch: looks at the register and at the store's keys from time to time, so that a rotation or a
//! compromise needs no restart, on this node or on another.
//!
//! Nodes share the public halves of their keys through the store. Each puts its own there and takes up others as
//! `signer` allows. Nothing of it is on the way of a request: when the store is away, keys stay as they were.

use crate::app::App;
use crate::signer::{Meeting, RELOAD_SECONDS, SharedKey, SignerError};
use countersign_core::time::Timestamp;
use countersign_store::{PublicKeyRow, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Time that the store is given for one look.
const STORE_WITHIN: Duration = Duration::from_secs(10);
/// The store's word for a key that is compromised, and for any other: what else there is to say of a key follows
/// from its times.
const COMPROMISED: &str = "compromised";
const LISTED: &str = "listed";

/// The thread that looks.
pub(crate) struct KeyWatch {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl KeyWatch {
    /// Looks once, then from time to time until it is stopped. Refused when the store knows this node's keys as
    /// other keys, so that none may sign.
    pub(crate) fn start(app: Arc<App>) -> Result<Self, SignerError> {
        let refused = |error| SignerError::Thread(error);
        app.signer.wait_for_store()?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(refused)?;
        let (stop, stopped) = channel();
        let (first, looked) = channel();
        let work = move || {
            let mut watch = Watch::new(app, runtime);
            let outcome = watch.first_look();
            if first.send(outcome).is_ok() {
                watch.run(&stopped);
            }
        };
        let thread = thread::Builder::new()
            .name("keys".to_owned())
            .spawn(work)
            .map_err(refused)?;
        match looked.recv() {
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) | Err(_) => Ok(KeyWatch { stop, thread }),
        }
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

struct Watch {
    app: Arc<App>,
    runtime: Runtime,
    /// What went wrong at the last look: told once, not every time.
    told: Option<String>,
}

/// Why a look did not come to its end.
#[derive(Debug, thiserror::Error)]
enum Blind {
    #[error("the keys stay as they were: {0}")]
    Keys(#[from] SignerError),
    #[error("keys are not shared with other nodes: {0}")]
    Store(#[from] StoreError),
    #[error("keys are not shared with other nodes: the store took too long")]
    Late,
    #[error("the key watch panicked; it goes on")]
    Panic,
}

impl Watch {
    fn new(app: Arc<App>, runtime: Runtime) -> Self {
        Watch {
            app,
            runtime,
            told: None,
        }
    }

    fn first_look(&mut self) -> Result<(), SignerError> {
        let looked = self.runtime.block_on(within(share(&self.app)));
        match looked {
            Ok(meeting) => {
                let clashing = meeting.clashing.first().cloned();
                tell(&meeting);
                match clashing {
                    Some(version) if self.app.signer.current(self.app.now()).is_err() => {
                        Err(SignerError::Clash(version))
                    }
                    _ => Ok(()),
                }
            }
            Err(error) => {
                self.complain(&error);
                Ok(())
            }
        }
    }

    fn run(&mut self, stopped: &Receiver<()>) {
        let pause = Duration::from_secs(RELOAD_SECONDS.into());
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(pause) {
            let look = AssertUnwindSafe(|| self.runtime.block_on(within(look(&self.app))));
            match catch_unwind(look).unwrap_or(Err(Blind::Panic)) {
                Ok(()) => self.told = None,
                Err(error) => self.complain(&error),
            }
        }
    }

    fn complain(&mut self, error: &Blind) {
        let text = error.to_string();
        if self.told.as_ref() != Some(&text) {
            tracing::error!("{text}");
            self.told = Some(text);
        }
    }
}

async fn within<T>(look: impl Future<Output = Result<T, Blind>>) -> Result<T, Blind> {
    tokio::time::timeout(STORE_WITHIN, look)
        .await
        .unwrap_or(Err(Blind::Late))
}

async fn look(app: &App) -> Result<(), Blind> {
    // A register that cannot be read now does not keep other nodes' news away.
    let reloaded = app.signer.reload(app.now());
    if let Ok(true) = reloaded {
        tracing::info!("Read the key register again: it had changed");
    }
    tell(&share(app).await?);
    reloaded?;
    app.signer.remember_adopted()?;
    Ok(())
}

/// Puts into the store what this node knows and it does not, then takes up what it says.
///
/// If we die in between, the store has a key more, which every node would have got anyway.
async fn share(app: &App) -> Result<Meeting, Blind> {
    let mut stored = stored_keys(app).await?;
    let unshared = app.signer.unshared(&stored);
    for key in &unshared {
        match app.store.keep_public_key(row(key)).await {
            // Another node was first with this name: the next lines show whether with the same key.
            Ok(()) | Err(StoreError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if !unshared.is_empty() {
        stored = stored_keys(app).await?;
    }
    Ok(app.signer.meet(&stored, app.now())?)
}

async fn stored_keys(app: &App) -> Result<Vec<SharedKey>, StoreError> {
    let rows = app.store.public_keys().await?;
    Ok(rows.into_iter().map(key).collect())
}

fn row(key: &SharedKey) -> PublicKeyRow {
    PublicKeyRow {
        key_version: key.version.clone(),
        public_key: key.public_key,
        status: if key.compromised { COMPROMISED } else { LISTED }.to_owned(),
        listed_at_micros: key.listed_at.0,
        signs_from_micros: key.signs_from.map(|time| time.0),
        endorsement: key.endorsement.clone(),
    }
}

fn key(row: PublicKeyRow) -> SharedKey {
    SharedKey {
        compromised: row.status == COMPROMISED,
        version: row.key_version,
        public_key: row.public_key,
        listed_at: Timestamp(row.listed_at_micros),
        signs_from: row.signs_from_micros.map(Timestamp),
        endorsement: row.endorsement,
    }
}

fn tell(meeting: &Meeting) {
    let list = |versions: &[String]| versions.join(", ");
    if !meeting.adopted.is_empty() {
        tracing::info!(
            "Keys of other nodes are listed here now: {}",
            list(&meeting.adopted)
        );
    }
    if !meeting.compromised.is_empty() {
        tracing::warn!(
            "Compromised, as another node says: {}",
            list(&meeting.compromised)
        );
    }
    if !meeting.refused.is_empty() {
        tracing::warn!(
            "Keys in the store are not listed here, since no key of this node endorsed them or one before them: {}; \
             if they are yours, copy the key folder of the node that made them",
            list(&meeting.refused)
        );
    }
    for version in &meeting.clashing {
        tracing::error!("{}", SignerError::Clash(version.clone()));
    }
}
