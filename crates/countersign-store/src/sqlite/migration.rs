//! The tables, brought forward one numbered file at a time. A file is never edited once released.

use super::agents;
use super::connection::{APPLICATION_ID, is_new, told};
use crate::StoreError;
use countersign_core::score::HalfLife;
use rusqlite::{Connection, TransactionBehavior};
use std::cmp::Ordering;

const MIGRATIONS: [&str; 4] = [
    include_str!("../../migrations/sqlite/0001_receipts.sql"),
    include_str!("../../migrations/sqlite/0002_public_keys.sql"),
    include_str!("../../migrations/sqlite/0003_agents.sql"),
    include_str!("../../migrations/sqlite/0004_endorsements.sql"),
];

/// What to do with sums that were made with another half-life than the one that was set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherHalfLife {
    Refuse,
    SumAnew,
}

const NEWER: StoreError =
    StoreError::Corrupt("the database was written by a newer version of this program; upgrade it");

/// Applies what is missing. A database of somebody else, or of a newer program, is refused untouched.
///
/// All of it is one transaction: a process that dies in the middle leaves the database as it was, and the next
/// start begins again.
pub(super) fn bring_up_to_date(
    connection: &mut Connection,
    half_life: HalfLife,
    other: OtherHalfLife,
) -> Result<(), StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(told)?;
    if is_new(&transaction)? {
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(told)?;
        transaction
            .execute_batch("CREATE TABLE migration (version INTEGER PRIMARY KEY) STRICT")
            .map_err(told)?;
    }
    let version = version(&transaction)?;
    let missing = MIGRATIONS.get(version..).ok_or(NEWER)?;
    for (migration, number) in missing.iter().zip(version + 1..) {
        transaction.execute_batch(migration).map_err(told)?;
        let number = u32::try_from(number).expect("the list is short");
        transaction
            .execute("INSERT INTO migration (version) VALUES (?)", [number])
            .map_err(told)?;
    }
    // SQL has no 2 to the power of x in every build of SQLite, so the sums of old rows are made here.
    let kept = agents::half_life_days(&transaction).map_err(told)?;
    if kept == 0 || (kept != half_life.days() && other == OtherHalfLife::SumAnew) {
        agents::sum_anew(&transaction, half_life).map_err(told)?;
    } else if kept != half_life.days() {
        let set = half_life.days();
        return Err(StoreError::HalfLife { kept, set });
    }
    transaction.commit().map_err(told)
}

/// Refuses a database whose tables this program does not know; for who only reads, and so must not mend it.
pub(super) fn check_up_to_date(connection: &Connection) -> Result<(), StoreError> {
    let version = if is_new(connection)? {
        0
    } else {
        version(connection)?
    };
    match version.cmp(&MIGRATIONS.len()) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(StoreError::unavailable(
            "the database was written by an older version of this program; bring it up to date with: countersign \
             store migrate",
        )),
        Ordering::Greater => Err(NEWER),
    }
}

/// How many of the migrations have been applied.
fn version(connection: &Connection) -> Result<usize, StoreError> {
    let version: u32 = connection
        .query_row("SELECT COALESCE(MAX(version), 0) FROM migration", [], |row| {
            row.get(0)
        })
        .map_err(told)?;
    Ok(version as usize)
}
