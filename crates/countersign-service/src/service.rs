//! Puts the parts together, runs them, and takes them apart again.

use crate::app::{App, Clock, Letterhead, now, system_clock};
use crate::bench::Bench;
use crate::config::{Config, StoreSetting};
use crate::http::{Patience, Server, Workers, allow_open_files};
use crate::key_watch::KeyWatch;
use crate::origin::Gate;
use crate::schemas::SchemaCache;
use crate::signer::{Signer, SignerError, new_key};
use crate::telemetry;
use countersign_core::time::Timestamp;
use countersign_store::{BadTarget, Password, Store, StoreError, Target};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use tokio::signal::unix::{SignalKind, signal};

/// Why the service did not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] SignerError),
    /// A database without the keys that its receipts were signed with: a key made anew could take their version.
    #[error("{} has no key register, but there is a database; restore the folder from a backup, or copy it from another node; for a new database make the first key with: countersign key new", .0.display())]
    KeysLost(PathBuf),
    /// The database named in the settings does not exist.
    #[error("the database {} does not exist; make it with: countersign store create", .0.display())]
    NoStore(PathBuf),
    /// The setting names no store.
    #[error("setting store {0}")]
    BadStore(BadTarget),
    /// The password cannot be used.
    #[error("setting store_password_file: {0}")]
    BadPassword(BadTarget),
    /// The database cannot be used.
    #[error("the database {place}: {error}")]
    Store {
        /// Where it is.
        place: String,
        /// What the store says.
        error: StoreError,
    },
    /// A folder cannot be made.
    #[error("cannot make the folder {}: {error}", .path.display())]
    Folder {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// Threads or signals are not to be had.
    #[error("the system refused: {0}")]
    System(#[from] std::io::Error),
}

/// Serves until SIGTERM or SIGINT, then finishes what runs and closes the store. Writes the log to standard
/// error, and `listening on http://HOST:PORT` once, when ready.
pub fn serve(config: &Config) -> Result<(), ServeError> {
    telemetry::start(config.log, config.log_json);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _guard = runtime.enter();
    // Before the start: a signal that comes early must not kill a service that has begun to write.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    allow_open_files(config.connections);
    let service = Service::start(config, Patience::default())?;
    telemetry::say(&format!("listening on http://{}", service.address()));
    runtime.block_on(async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    });
    tracing::info!("Stopping: finishing what runs");
    service.stop()
}

/// Makes the store of these settings, or leaves the one that exists as it is. Says where it is.
pub fn create_store(config: &Config) -> Result<String, ServeError> {
    let target = store_target(config)?;
    make_folder_of(&target)?;
    let closed = Store::create(&target, config.half_life).and_then(Store::close);
    closed.map_err(|error| store_error(&target, error))?;
    Ok(target.to_string())
}

/// Where the store of these settings is. Reads the password, if there is one.
pub fn store_target(config: &Config) -> Result<Target, ServeError> {
    match &config.store {
        StoreSetting::Sqlite(location) => Ok(Target::Sqlite(location.path.clone())),
        StoreSetting::Postgres { url, password_file } => {
            let password = password_file.as_deref().map(Password::read).transpose();
            Target::parse(url, password.map_err(ServeError::BadPassword)?).map_err(ServeError::BadStore)
        }
    }
}

/// A running service.
pub struct Service {
    address: SocketAddr,
    store: Target,
    app: Arc<App>,
    workers: Workers,
    keys: KeyWatch,
}

impl Service {
    /// Starts a service by the system's clock and comes back when it accepts connections.
    pub fn start(config: &Config, patience: Patience) -> Result<Service, ServeError> {
        Service::start_at(config, patience, system_clock(), None)
    }

    /// Starts a service that is told the time.
    pub fn start_with_clock(
        config: &Config,
        patience: Patience,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Result<Service, ServeError> {
        Service::start_at(config, patience, Box::new(clock), None)
    }

    /// Starts a service that is told the time, on a store that is open already, as nodes on one database are; the
    /// first of them that stops closes it.
    pub fn start_beside(
        config: &Config,
        patience: Patience,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        store: Store,
    ) -> Result<Service, ServeError> {
        Service::start_at(config, patience, Box::new(clock), Some(store))
    }

    fn start_at(
        config: &Config,
        patience: Patience,
        clock: Clock,
        store: Option<Store>,
    ) -> Result<Service, ServeError> {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let target = store_target(config)?;
        let (signer, key_made) = keys_at(config, clock())?;
        let (store, database_made) = match store {
            Some(store) => (store, false),
            None => open_store(config, &target)?,
        };
        say_what_was_made(config, key_made, database_made);
        let listen = |error| ServeError::Listen {
            address: config.listen,
            error,
        };
        let server = Server::bind(config.listen, cores).map_err(listen)?;
        let address = server.address();
        let letterhead = Letterhead::new(config, address);
        let gate = Gate::new(
            &letterhead.public_url,
            &config.allowed_hosts,
            &config.allowed_origins,
        );
        let (hosts, origins) = gate.lists();
        tracing::info!("/mcp and /a2a take requests for the hosts {hosts}; from pages of {origins}");
        let app = Arc::new(App {
            store,
            signer,
            schemas: SchemaCache::new(),
            bench: Bench::new(cores)?,
            clock,
            letterhead,
            gate,
            body_bytes_max: config.body_bytes,
            half_life: config.half_life,
        });
        let keys = KeyWatch::start(app.clone())?;
        let workers = server.start(&app, config.connections, patience)?;
        Ok(Service {
            address,
            store: target,
            app,
            workers,
            keys,
        })
    }

    /// The address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more, finishes what runs, writes what is queued and closes the database.
    pub fn stop(self) -> Result<(), ServeError> {
        self.workers.stop();
        self.keys.stop();
        let closed = self.app.store.clone().close();
        closed.map_err(|error| store_error(&self.store, error))
    }
}

/// Opens the keys of these settings. Where no settings name a folder, makes it and its first key, and says so
/// in one line on standard error.
pub fn open_keys(config: &Config) -> Result<Signer, ServeError> {
    let (signer, made) = keys_at(config, now())?;
    say_what_was_made(config, made, false);
    Ok(signer)
}

/// Makes the first key of these settings, unless a database beside it says that there were keys before. Where
/// settings name the key folder, the database may be the older one.
pub fn first_key(config: &Config) -> Result<String, ServeError> {
    let folder = &config.keys_folder;
    match Signer::open(&folder.path) {
        Err(SignerError::NoKeys(path)) if !folder.named && has_file(config) => {
            Err(ServeError::KeysLost(path))
        }
        _ => Ok(new_key(&folder.path, now())?),
    }
}

/// Whether the database is a file that is there.
fn has_file(config: &Config) -> bool {
    matches!(&config.store, StoreSetting::Sqlite(location) if location.path.exists())
}

fn keys_at(config: &Config, now: Timestamp) -> Result<(Signer, Option<String>), ServeError> {
    let folder = &config.keys_folder;
    if folder.named {
        return Ok((Signer::open(&folder.path)?, None));
    }
    // Keys are made before the database: one without the other means that they were lost. Nodes that share a
    // database share its keys, so none of them makes its own.
    let shared = matches!(config.store, StoreSetting::Postgres { .. });
    if shared || has_file(config) {
        return match Signer::open(&folder.path) {
            Err(SignerError::NoKeys(path)) => Err(ServeError::KeysLost(path)),
            opened => Ok((opened?, None)),
        };
    }
    let (signer, made) = Signer::open_or_create(&folder.path, now)?;
    let version = if made {
        Some(signer.current(now)?.version.clone())
    } else {
        None
    };
    Ok((signer, version))
}

fn say_what_was_made(config: &Config, key: Option<String>, database: bool) {
    let key = key.map(|version| format!("key {version}"));
    let made: Vec<String> = key
        .into_iter()
        .chain(database.then(|| "a database".to_owned()))
        .collect();
    if !made.is_empty() {
        telemetry::say(&format!(
            "made {} with {}",
            config.data.path.display(),
            made.join(" and ")
        ));
    }
}

/// The store, and whether it was made.
fn open_store(config: &Config, target: &Target) -> Result<(Store, bool), ServeError> {
    let made = match &config.store {
        StoreSetting::Sqlite(location) if location.path.exists() => false,
        StoreSetting::Sqlite(location) if location.named => {
            return Err(ServeError::NoStore(location.path.clone()));
        }
        StoreSetting::Sqlite(_) => true,
        StoreSetting::Postgres { .. } => false,
    };
    make_folder_of(target)?;
    let opened = if made {
        Store::create(target, config.half_life)
    } else {
        Store::open(target, config.half_life)
    };
    Ok((opened.map_err(|error| store_error(target, error))?, made))
}

fn make_folder_of(target: &Target) -> Result<(), ServeError> {
    let Target::Sqlite(path) = target else {
        return Ok(());
    };
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| ServeError::Folder {
        path: folder.to_owned(),
        error,
    })
}

pub(crate) fn store_error(target: &Target, error: StoreError) -> ServeError {
    // A file is named by its path alone, as everywhere.
    let place = match target {
        Target::Sqlite(path) => path.display().to_string(),
        Target::Postgres(_) => target.to_string(),
    };
    ServeError::Store { place, error }
}
