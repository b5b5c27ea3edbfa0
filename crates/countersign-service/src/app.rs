//! What an action is handed: store, signer, compiled schemas, bench, clock and the settings that receipts show.

use crate::bench::Bench;
use crate::config::Config;
use crate::origin::Gate;
use crate::schemas::SchemaCache;
use crate::signer::Signer;
use countersign_core::receipt::Issuer;
use countersign_core::score::HalfLife;
use countersign_core::time::Timestamp;
use countersign_store::Store;
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use uuid::{NoContext, Uuid};

/// The version that receipts carry: that of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Wall-clock time that one check may take, from the moment its body is there. A safety net against overload;
/// it never decides a result (verification.md, section 7).
const CHECK_SECONDS_MAX: Duration = Duration::from_secs(5);

/// What an action is handed. Made once, shared by all.
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) signer: Signer,
    pub(crate) schemas: SchemaCache,
    pub(crate) bench: Bench,
    pub(crate) clock: Clock,
    pub(crate) letterhead: Letterhead,
    /// Who may speak to `/mcp` and `/a2a`.
    pub(crate) gate: Gate,
    pub(crate) body_bytes_max: usize,
    /// What a check counts for in scores, by its age; shown in the agent card.
    pub(crate) half_life: HalfLife,
}

/// The settings that stand in every receipt.
pub(crate) struct Letterhead {
    /// The public base URL, without a trailing slash.
    pub(crate) public_url: String,
    pub(crate) service_name: String,
}

/// The time of day: the system's, or a test's.
pub(crate) type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// When the work on one check has to end.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl App {
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl Letterhead {
    /// The settings' own; without a configured URL, that of the address that is listened on.
    pub(crate) fn new(config: &Config, address: SocketAddr) -> Self {
        let public_url = config
            .public_url
            .clone()
            .unwrap_or_else(|| format!("http://{address}"));
        Letterhead {
            public_url,
            service_name: config.service_name.clone(),
        }
    }

    pub(crate) fn issuer<'a>(&'a self, key_version: &'a str) -> Issuer<'a> {
        Issuer {
            public_url: &self.public_url,
            service_name: &self.service_name,
            key_version,
        }
    }
}

impl Deadline {
    /// That of a check whose body has just arrived.
    pub(crate) fn of_a_check() -> Self {
        Deadline(Instant::now() + CHECK_SECONDS_MAX)
    }

    pub(crate) fn is_over(self) -> bool {
        Instant::now() >= self.0
    }
}

/// The system's clock.
pub(crate) fn system_clock() -> Clock {
    Box::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    })
}

/// The time by the system's clock.
pub fn now() -> Timestamp {
    (system_clock())()
}

/// A new id: a UUID of version 7, so that the store's index grows at its end; 74 of its bits are random.
pub(crate) fn new_id(now: Timestamp) -> Uuid {
    let micros = u64::try_from(now.0).unwrap_or(0);
    let (seconds, nanos) = (micros / 1_000_000, (micros % 1_000_000) as u32 * 1_000);
    Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, seconds, nanos))
}
