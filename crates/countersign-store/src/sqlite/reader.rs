//! A thread that reads. It opens its connection when it is first asked, and anew after an error.

use super::{connection, public_keys, receipts};
use crate::answer::Answer;
use crate::queue::Queue;
use crate::{PublicKeyRow, StoreError, StoredReceipt};
use rusqlite::Connection;
use std::path::Path;

/// One question.
pub(super) enum Read {
    Receipt([u8; 16], Answer<Option<StoredReceipt>>),
    PublicKeys(Answer<Vec<PublicKeyRow>>),
    Probe(Answer<()>),
}

/// Answers until the queue is closed.
pub(super) fn run(reads: &Queue<Read>, path: &Path) {
    let mut open = None;
    let mut batch = Vec::with_capacity(1);
    let _guard = reads.abandon_on_drop();
    while reads.take(&mut batch, 1, None) {
        for read in batch.drain(..) {
            match read {
                Read::Receipt(id, answer) => {
                    answer.give(with(&mut open, path, |connection| receipts::find(connection, id)));
                }
                Read::PublicKeys(answer) => answer.give(with(&mut open, path, public_keys::all)),
                Read::Probe(answer) => {
                    let probe = |connection: &Connection| receipts::last_sequence(connection).map(drop);
                    answer.give(with(&mut open, path, probe));
                }
            }
        }
    }
}

/// Asks the open connection, or a new one; one that failed is not asked again.
fn with<T>(
    open: &mut Option<Connection>,
    path: &Path,
    ask: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let connection = match open.take() {
        Some(connection) => connection,
        None => connection::reading(path)?,
    };
    let answer = ask(&connection)?;
    *open = Some(connection);
    Ok(answer)
}
