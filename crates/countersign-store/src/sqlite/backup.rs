//! A copy of the whole database, made beside whoever serves it.

use super::connection::{self, told};
use super::migration;
use crate::StoreError;
use rusqlite::params;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

/// Copies the database at `path` as of one moment into a new file. Writers go on meanwhile: SQLite reads from its
/// snapshot, and only the log grows until the end.
///
/// Crash story: the copy grows under the name of the file and `.partial`, is synced, and only then gets its
/// name; so a file of that name is whole. A `.partial` that was left behind is replaced by the next try.
pub(super) fn backup(path: &Path, file: &Path) -> Result<(), StoreError> {
    let path = connection::existing(path)?;
    connection::is_whole(&path)?;
    if fs::symlink_metadata(file).is_ok() {
        return Err(exists());
    }
    let partial = {
        let mut name = file.as_os_str().to_owned();
        name.push(".partial");
        PathBuf::from(name)
    };
    let cannot =
        |error: std::io::Error| StoreError::unavailable(format!("cannot write {}: {error}", file.display()));
    let copied = copy(&path, &partial)
        .and_then(|()| {
            File::open(&partial)
                .and_then(|copy| copy.sync_all())
                .map_err(cannot)
        })
        // Unlike a rename, a link never replaces a file that came in between.
        .and_then(|()| {
            fs::hard_link(&partial, file).map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => exists(),
                _ => cannot(error),
            })
        });
    let removed = fs::remove_file(&partial);
    copied?;
    removed.map_err(cannot)?;
    sync_folder_of(file).map_err(cannot)
}

fn exists() -> StoreError {
    StoreError::unavailable("there is a file of this name already; a backup never replaces one")
}

fn copy(path: &Path, partial: &Path) -> Result<(), StoreError> {
    // Its owner alone reads a copy, too; SQLite copies into an empty file.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(partial)
        .map_err(|error| StoreError::unavailable(format!("cannot write {}: {error}", partial.display())))?;
    let name = partial
        .to_str()
        .ok_or_else(|| StoreError::unavailable("the name of a backup must be UTF-8"))?;
    let connection = connection::copying(path)?;
    migration::check_up_to_date(&connection)?;
    connection
        .execute("VACUUM INTO ?", params![name])
        .map(drop)
        .map_err(told)
}

fn sync_folder_of(file: &Path) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
