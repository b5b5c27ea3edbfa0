//! A place for a store of either kind, so that one suite can be run on both.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::cluster::Cluster;
use countersign_core::score::HalfLife;
use countersign_store::{Store, StoreError, Target};

/// A place that nobody else uses.
pub(crate) enum Home {
    /// A folder that is gone with the test.
    Sqlite(tempfile::TempDir),
    /// The name of a database on the shared server.
    Postgres(String),
}

impl Home {
    pub(crate) fn sqlite() -> Self {
        Home::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Self {
        Home::Postgres(Cluster::shared().database())
    }

    /// Another one of the same kind.
    pub(crate) fn another(&self) -> Self {
        match self {
            Home::Sqlite(_) => Home::sqlite(),
            Home::Postgres(_) => Home::postgres(),
        }
    }

    pub(crate) fn target(&self) -> Target {
        match self {
            Home::Sqlite(folder) => Target::Sqlite(folder.path().join("countersign.db")),
            Home::Postgres(database) => Cluster::shared().target(database),
        }
    }

    pub(crate) fn store(&self) -> Store {
        Store::create(&self.target(), HalfLife::DEFAULT).unwrap()
    }

    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.target(), HalfLife::DEFAULT)
    }
}
