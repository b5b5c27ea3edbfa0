//! How the server is reached: settings of a connection, TLS, and what its errors mean.

use crate::StoreError;
use crate::target::{Server, Tls};
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long making a connection may take: name, TCP, TLS and password.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// Data that is not acknowledged for so long means that the other side is gone.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);
/// A silent connection is asked after so long whether it lives, then every few seconds.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Between questions whether it lives, of which three may stay without an answer.
const SILENCE_STEP: Duration = Duration::from_secs(3);

/// What the server is told about every connection.
///
/// `synchronous_commit`: an answered receipt is on the disk, whatever the role or the server is set to.
/// The times bound what a statement, a lock or a forgotten transaction can hold up, in milliseconds; a batch
/// takes a few. `plan_cache_mode`: our statements have one good plan each, and making plans costs more than some
/// of them. The schema of ours is the only one that is looked into.
const SESSION: &str = "-c search_path=countersign -c synchronous_commit=on -c statement_timeout=30000 \
    -c lock_timeout=10000 -c idle_in_transaction_session_timeout=30000 -c plan_cache_mode=force_generic_plan \
    -c client_min_messages=warning";

/// Pauses between vain tries to connect: this long at first, doubled each time.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// The longest pause: after a restart of the server, nobody waits longer.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A pool of at most `size` connections, made when they are needed.
pub(super) fn pool(server: &Server, size: usize) -> Result<Pool, StoreError> {
    let config = config(server);
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = match &server.tls {
        Tls::Off => Manager::from_config(config, NoTls, recycling),
        Tls::Verified { roots } => {
            let tls = MakeRustlsConnect::new(verifying(roots.as_deref())?);
            Manager::from_config(config, tls, recycling)
        }
    };
    Pool::builder(manager)
        .max_size(size)
        .create_timeout(Some(CONNECT_WAIT * 2))
        .recycle_timeout(Some(CONNECT_WAIT))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(StoreError::unavailable)
}

fn config(server: &Server) -> Config {
    let mut config = Config::new();
    config
        .host(&server.host)
        .port(server.port)
        .user(&server.user)
        .dbname(&server.database)
        .application_name("countersign")
        .options(SESSION)
        .connect_timeout(CONNECT_WAIT)
        .tcp_user_timeout(UNACKNOWLEDGED_MAX)
        .keepalives(true)
        .keepalives_idle(SILENCE_MAX)
        .keepalives_interval(SILENCE_STEP)
        .keepalives_retries(3)
        // Never `Prefer`: that falls back to plain text when the other side says so.
        .ssl_mode(match server.tls {
            Tls::Off => SslMode::Disable,
            Tls::Verified { .. } => SslMode::Require,
        });
    if let Some(password) = &server.password {
        config.password(password.0.as_bytes());
    }
    config
}

/// A client that takes no certificate but a verified one, made out to the host.
fn verifying(roots: Option<&Path>) -> Result<ClientConfig, StoreError> {
    let mut trusted = RootCertStore::empty();
    match roots {
        Some(path) => {
            let told = |error: &dyn std::fmt::Display| {
                StoreError::unavailable(format!("sslrootcert {}: {error}", path.display()))
            };
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| told(&error))? {
                let certificate = certificate.map_err(|error| told(&error))?;
                trusted.add(certificate).map_err(|error| told(&error))?;
            }
        }
        None => {
            trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if trusted.is_empty() {
        return Err(StoreError::unavailable(
            "there is no root certificate to check the database's with; name one with sslrootcert",
        ));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(StoreError::unavailable)?;
    Ok(builder.with_root_certificates(trusted).with_no_client_auth())
}

/// Connections, and patience with a server that is away: while it pauses, whoever asks is told at once why.
pub(super) struct Gate {
    pool: Pool,
    pause: Duration,
    closed: Option<(Instant, StoreError)>,
}

impl Gate {
    pub(super) fn new(pool: Pool) -> Self {
        Gate {
            pool,
            pause: Duration::ZERO,
            closed: None,
        }
    }

    /// A connection. Waits for a free one; does not wait for a server that was away a moment ago.
    pub(super) async fn connection(&mut self) -> Result<Object, StoreError> {
        if let Some((until, error)) = &self.closed
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        match self.pool.get().await {
            Ok(connection) => {
                (self.pause, self.closed) = (Duration::ZERO, None);
                Ok(connection)
            }
            Err(error) => {
                let error = unreachable(error);
                self.pause = (self.pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
                self.closed = Some((Instant::now() + self.pause, error.clone()));
                Err(error)
            }
        }
    }

    /// Waits until the server may be tried again.
    pub(super) async fn rest(&self) {
        if let Some((until, _)) = &self.closed {
            tokio::time::sleep_until(*until).await;
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// Why there is no connection.
pub(super) fn unreachable(error: PoolError) -> StoreError {
    match error {
        PoolError::Backend(error) => told(&error),
        other => StoreError::unavailable(format!("no connection to the database: {other}")),
    }
}

/// An error of the server or of the way to it, as whose move it is. Of the server's own words only the message
/// is told: its details may hold a value of a row.
pub(super) fn told(error: &tokio_postgres::Error) -> StoreError {
    if is_number_taken(error) {
        return StoreError::Corrupt("the counter of receipts is behind the newest receipt");
    }
    if let Some(database) = error.as_db_error() {
        let message = database.message();
        let remedy = match database.code() {
            &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => {
                return StoreError::Corrupt("PostgreSQL finds the database damaged");
            }
            &SqlState::UNDEFINED_TABLE | &SqlState::UNDEFINED_COLUMN | &SqlState::UNDEFINED_FUNCTION => {
                return StoreError::Corrupt("a table of this program is missing or changed");
            }
            &SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                "; look at the user in store and at store_password_file"
            }
            &SqlState::INVALID_CATALOG_NAME => "; make it with: createdb",
            &SqlState::READ_ONLY_SQL_TRANSACTION => "; this server only reads, as a standby does",
            &SqlState::DISK_FULL => "; the disk of the database is full",
            &SqlState::INSUFFICIENT_PRIVILEGE => "; the user must own the database",
            _ => "",
        };
        return StoreError::unavailable(format!("PostgreSQL says: {message}{remedy}"));
    }
    let source = std::error::Error::source(error);
    if source.is_some_and(<dyn std::error::Error>::is::<rustls::Error>) || error.to_string().contains("TLS") {
        return StoreError::unavailable(format!(
            "no encrypted connection to the database: {}",
            with_sources(error)
        ));
    }
    if is_about_a_value(error) {
        return StoreError::Corrupt("a row has a value that this program never writes");
    }
    StoreError::unavailable(format!("the database is away: {}", with_sources(error)))
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let words = source.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = source.source();
    }
    text
}

/// Whether a value that was read is of a type that it should not be.
fn is_about_a_value(error: &tokio_postgres::Error) -> bool {
    let text = error.to_string();
    text.starts_with("error deserializing") || text.starts_with("invalid column")
}

/// Whether the server said that it undid the statement. Without that word, and also when it says that it ends
/// the connection, the statement may have been committed.
pub(super) fn is_undone(error: &tokio_postgres::Error) -> bool {
    error
        .as_db_error()
        .is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// Whether a name is taken that may be there once.
pub(super) fn is_taken(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::UNIQUE_VIOLATION) && !is_number_taken(error)
}

/// Whether a receipt has the number already that the counter gave.
fn is_number_taken(error: &tokio_postgres::Error) -> bool {
    let database = error.as_db_error();
    database.and_then(tokio_postgres::error::DbError::constraint) == Some("receipt_number_once")
}
