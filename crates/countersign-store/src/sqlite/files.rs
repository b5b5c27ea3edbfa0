//! The files of a database that is served, watched by name: a file that is deleted or replaced goes on taking
//! rows for whoever has it open, and they are gone with the process.

use super::connection::{Lock, beside};
use crate::StoreError;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The database, its log, the log's index and the lock, as they were when they were opened. SQLite keeps the
/// first three for as long as it has a connection, so their inodes are not given to other files meanwhile.
pub(super) struct Files {
    database: Watched,
    others: [Watched; 3],
    /// Bytes that the database file has had at most: only a `VACUUM` of another program makes it shorter.
    bytes_max: AtomicU64,
}

struct Watched {
    path: PathBuf,
    identity: Identity,
}

/// Device and inode. Where the system has none, only a missing file is noticed.
#[derive(PartialEq, Eq)]
struct Identity(u64, u64);

impl Files {
    /// To be called while a connection is open, so that all of them exist.
    pub(super) fn of(database: &Path, lock: &Lock) -> Result<Self, StoreError> {
        let watched = |path: PathBuf| {
            let about = fs::metadata(&path).map_err(StoreError::unavailable)?;
            let identity = Identity::of(&about);
            Ok(Watched { path, identity })
        };
        let files = Files {
            database: watched(database.to_owned())?,
            others: [
                watched(beside(database, "-wal"))?,
                watched(beside(database, "-shm"))?,
                Watched {
                    path: Lock::path(database),
                    identity: Identity::of(&lock.metadata()?),
                },
            ],
            bytes_max: AtomicU64::new(0),
        };
        files.check()?;
        Ok(files)
    }

    /// Refuses unless what is written now is written to the files that the next start will find. Four calls of the
    /// system, about 8 µs of CPU.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        for file in &self.others {
            file.check()?;
        }
        let bytes = self.database.check()?.len();
        if bytes < self.bytes_max.fetch_max(bytes, Ordering::Relaxed) {
            return Err(StoreError::Corrupt(
                "the database file became shorter while it was served; stop the service and restore it from a \
                 backup, or just start again if it was a VACUUM",
            ));
        }
        Ok(())
    }
}

impl Watched {
    fn check(&self) -> Result<Metadata, StoreError> {
        let what = match fs::metadata(&self.path) {
            Ok(about) if Identity::of(&about) == self.identity => return Ok(about),
            Ok(_) => "was replaced",
            Err(error) if error.kind() == io::ErrorKind::NotFound => "was deleted or moved",
            Err(error) => return Err(StoreError::unavailable(error)),
        };
        let path = self.path.display();
        Err(StoreError::unavailable(format!(
            "{path} {what} while it was served, and what is written now would be lost; stop the service, put \
             the right files back and start again"
        )))
    }
}

impl Identity {
    #[cfg(unix)]
    fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Identity(about.dev(), about.ino())
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Self {
        Identity(0, 0)
    }
}
