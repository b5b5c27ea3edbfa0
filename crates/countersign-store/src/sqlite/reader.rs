//! A thread that reads. It opens its connection when it is first asked, and anew after an error.

use super::connection::told;
use super::{agents, connection, public_keys, receipts};
use crate::StoreError;
use crate::desk::Read;
use crate::queue::Queue;
use rusqlite::Connection;
use std::path::Path;

/// Answers until the queue is closed.
pub(super) fn run(reads: &Queue<Read>, path: &Path) {
    let mut open = None;
    let mut batch = Vec::with_capacity(1);
    let _guard = reads.abandon_on_drop();
    while reads.take(&mut batch, 1, None) {
        for read in batch.drain(..) {
            answer_one(read, &mut open, path);
        }
    }
}

fn answer_one(read: Read, open: &mut Option<Connection>, path: &Path) {
    let newest = |connection: &Connection| receipts::last_sequence(connection).map(i64::unsigned_abs);
    match read {
        Read::Receipt(id, answer) => answer.give(with(open, path, |c| receipts::find(c, id))),
        Read::ReceiptsAfter(sequence, most, answer) => {
            answer.give(with(open, path, |c| receipts::after(c, sequence, most)));
        }
        Read::Newest(answer) => answer.give(with(open, path, newest)),
        Read::Agent(agent, answer) => {
            answer.give(with(open, path, |c| agents::find(c, &agent).map_err(told)));
        }
        Read::NewestChecks(agent, most, answer) => {
            answer.give(with(open, path, |c| agents::newest_checks(c, &agent, most)));
        }
        Read::ChecksAfter(agent, after, most, answer) => {
            answer.give(with(open, path, |c| agents::checks_after(c, &agent, after, most)));
        }
        Read::PublicKeys(answer) => answer.give(with(open, path, public_keys::all)),
        Read::Probe(answer) => answer.give(with(open, path, newest).map(drop)),
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
