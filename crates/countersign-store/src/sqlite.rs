//! The SQLite backend: one file, one writer thread, two reader threads, one thread that folds the log into the
//! file. Blocking calls stay on these threads, so that no async worker waits for a disk.

mod agents;
mod backup;
mod check;
mod checkpoint;
mod column;
mod connection;
mod files;
mod migration;
mod public_keys;
mod reader;
mod receipts;
mod writer;

use crate::StoreError;
use crate::check::Checked;
use crate::desk::Desk;
use checkpoint::Checkpoint;
use connection::Lock;
use countersign_core::score::HalfLife;
use files::Files;
pub(crate) use migration::OtherHalfLife;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use writer::Writer;

/// Threads that read, each with its own connection.
const READERS: usize = 2;

pub(crate) struct Sqlite {
    desk: Desk,
    /// None where only reading was asked for.
    files: Option<Arc<Files>>,
    /// Taken by whoever ends the threads.
    running: Mutex<Option<Running>>,
}

struct Running {
    readers: Vec<JoinHandle<()>>,
    /// None where only reading was asked for.
    writing: Option<Writing>,
}

struct Writing {
    writer: JoinHandle<()>,
    checkpointer: JoinHandle<()>,
    checkpoint: Arc<Checkpoint>,
    /// Given up last, so that the next process finds the file at rest.
    _lock: Lock,
}

impl Sqlite {
    pub(crate) fn create(path: &Path, half_life: HalfLife, desk: &Desk) -> Result<Self, StoreError> {
        connection::create_file(path)?;
        Self::open(path, half_life, desk)
    }

    /// Brings the tables up to date and makes the sums anew if they have another half-life; then lets go.
    pub(crate) fn migrate(path: &Path, half_life: HalfLife) -> Result<(), StoreError> {
        let path = connection::existing(path)?;
        let _lock = Lock::take(&path)?;
        connection::is_whole(&path)?;
        let mut first = connection::writing(&path)?;
        migration::bring_up_to_date(&mut first, half_life, OtherHalfLife::SumAnew)?;
        Checkpoint::new(first).truncate()
    }

    pub(crate) fn open(path: &Path, half_life: HalfLife, desk: &Desk) -> Result<Self, StoreError> {
        let path = connection::existing(path)?;
        let lock = Lock::take(&path)?;
        connection::is_whole(&path)?;
        let mut first = connection::writing(&path)?;
        migration::bring_up_to_date(&mut first, half_life, OtherHalfLife::Refuse)?;
        receipts::last_sequence(&first)?;
        let files = Arc::new(Files::of(&path, &lock)?);
        let checkpoint = Arc::new(Checkpoint::new(connection::writing(&path)?));

        let work = Writer::new(
            path.clone(),
            first,
            half_life,
            files.clone(),
            desk.last_commit.clone(),
            checkpoint.clone(),
        )?;
        let writing = Writing {
            writer: {
                let writes = desk.writes.clone();
                start("store-write", move || work.run(&writes))?
            },
            checkpointer: {
                let checkpoint = checkpoint.clone();
                start("store-fold", move || checkpoint.run())?
            },
            checkpoint,
            _lock: lock,
        };
        Self::reading(&path, Some(files), Some(writing), desk)
    }

    /// Opens the database to read in it, beside whoever serves it.
    pub(crate) fn look(path: &Path, desk: &Desk) -> Result<Self, StoreError> {
        let path = connection::existing(path)?;
        connection::is_whole(&path)?;
        migration::check_up_to_date(&connection::reading(&path)?)?;
        desk.writes.close();
        Self::reading(&path, None, None, desk)
    }

    pub(crate) fn check(path: &Path) -> Result<Checked, StoreError> {
        check::check(path)
    }

    pub(crate) fn backup(path: &Path, file: &Path) -> Result<(), StoreError> {
        backup::backup(path, file)
    }

    fn reading(
        path: &Path,
        files: Option<Arc<Files>>,
        writing: Option<Writing>,
        desk: &Desk,
    ) -> Result<Self, StoreError> {
        let readers = (0..READERS)
            .map(|_| {
                let (reads, path) = (desk.reads.clone(), path.to_owned());
                start("store-read", move || reader::run(&reads, &path))
            })
            .collect::<Result<_, _>>()?;
        Ok(Sqlite {
            desk: desk.clone(),
            files,
            running: Mutex::new(Some(Running { readers, writing })),
        })
    }

    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else {
            return Ok(());
        };
        // The last connection to go deletes the log, so this is asked while all are there.
        let files = self.check_files();
        self.desk.close();
        let mut whole = true;
        for reader in running.readers {
            whole &= reader.join().is_ok();
        }
        if let Some(writing) = running.writing {
            whole &= writing.writer.join().is_ok();
            writing.checkpoint.close();
            whole &= writing.checkpointer.join().is_ok();
            writing.checkpoint.truncate()?;
        }
        if !whole {
            return Err(StoreError::unavailable("a thread of it ended early"));
        }
        files
    }

    /// Refuses unless what is written goes to the files that the next start will find.
    pub(crate) fn check_files(&self) -> Result<(), StoreError> {
        self.files.as_ref().map_or(Ok(()), |files| files.check())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `close`.
        let _ = self.close();
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(StoreError::unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{Change, Read};

    #[tokio::test]
    async fn a_writer_that_panics_leaves_nobody_waiting() {
        let (folder, desk) = (tempfile::tempdir().unwrap(), Desk::new());
        let store = Sqlite::create(&folder.path().join("countersign.db"), HalfLife::DEFAULT, &desk).unwrap();
        desk.is_ready().await.unwrap();
        let waiting = [
            desk.write(Change::Probe),
            desk.write(Change::Panic),
            desk.write(Change::Probe),
        ];
        let [before, panicked, after] = waiting;
        // The first may have been a batch of its own.
        let _ = before.await;
        for result in [panicked.await, after.await, desk.is_ready().await.map(|()| 0)] {
            assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
        }
        assert_eq!(desk.read(Read::PublicKeys).await.unwrap(), [], "reading goes on");
        assert!(store.close().is_err(), "the end of the thread is told");
    }
}
