//! A folder to keep a SQLite database in.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use countersign_core::score::HalfLife;
use countersign_store::{Store, StoreError, Target};
use std::path::PathBuf;

/// A folder that is gone with the test.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("countersign.db")
    }

    pub(crate) fn target(&self) -> Target {
        Target::Sqlite(self.path())
    }

    pub(crate) fn store(&self) -> Store {
        Store::create(&self.target(), HalfLife::DEFAULT).unwrap()
    }

    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.target(), HalfLife::DEFAULT)
    }
}
