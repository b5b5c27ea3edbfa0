//! The tables, brought forward one numbered file at a time. A file is never edited once released.

use super::agents;
use super::connection::told;
use crate::StoreError;
use crate::sqlite::OtherHalfLife;
use countersign_core::score::HalfLife;
use tokio_postgres::{Client, GenericClient};

const MIGRATIONS: [&str; 3] = [
    include_str!("../../migrations/postgres/0001_receipts.sql"),
    include_str!("../../migrations/postgres/0002_public_keys.sql"),
    include_str!("../../migrations/postgres/0003_agents.sql"),
];

/// `CSGN`: who holds this advisory lock brings the tables forward.
const LOCK: i64 = 0x4353_474E;

/// Applies what is missing, one node at a time: the others wait for the lock and find it done. With `make`, a
/// database without our schema gets it. A database of a newer program is refused untouched.
///
/// All of it is one transaction: a node that dies in the middle leaves the database as it was, and its lock goes
/// with its connection.
pub(super) async fn bring_up_to_date(
    client: &mut Client,
    make: bool,
    half_life: HalfLife,
    other: OtherHalfLife,
) -> Result<(), StoreError> {
    let transaction = client.transaction().await.map_err(|error| told(&error))?;
    // Old rows may take long to sum, and another node may be at it.
    let unhurried = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
        SET LOCAL idle_in_transaction_session_timeout = 0";
    transaction
        .batch_execute(&format!("{unhurried}; SELECT pg_advisory_xact_lock({LOCK})"))
        .await
        .map_err(|error| told(&error))?;
    let version = match version(&transaction).await? {
        Some(version) => version,
        None if make => {
            transaction
                .batch_execute(
                    "CREATE SCHEMA IF NOT EXISTS countersign; \
                     CREATE TABLE migration (version integer PRIMARY KEY)",
                )
                .await
                .map_err(|error| told(&error))?;
            0
        }
        None => return Err(no_store()),
    };
    for (migration, number) in missing(version)?.iter().zip(version + 1..) {
        transaction
            .batch_execute(&format!(
                "{migration}; INSERT INTO migration (version) VALUES ({number})"
            ))
            .await
            .map_err(|error| told(&error))?;
    }
    let kept = agents::half_life_days(&transaction).await?;
    if kept == 0 || (kept != half_life.days() && other == OtherHalfLife::SumAnew) {
        agents::sum_anew(&transaction, half_life).await?;
    } else if kept != half_life.days() {
        let set = half_life.days();
        return Err(StoreError::HalfLife { kept, set });
    }
    transaction.commit().await.map_err(|error| told(&error))
}

/// Refuses a database that is not exactly up to date, for whoever only reads.
pub(super) async fn check_version(client: &impl GenericClient) -> Result<(), StoreError> {
    match version(client).await? {
        Some(version) if missing(version)?.is_empty() => Ok(()),
        Some(_) => Err(StoreError::unavailable(
            "the database was written by an older version of this program; bring it up to date with: \
             countersign store migrate",
        )),
        None => Err(no_store()),
    }
}

fn no_store() -> StoreError {
    StoreError::unavailable(
        "there is no store in this database; correct the name, or make one with: countersign store create",
    )
}

fn missing(version: usize) -> Result<&'static [&'static str], StoreError> {
    MIGRATIONS.get(version..).ok_or(StoreError::Corrupt(
        "the database was written by a newer version of this program; upgrade it",
    ))
}

/// The number of the last migration; `None` for a database without our schema.
async fn version(client: &impl GenericClient) -> Result<Option<usize>, StoreError> {
    let version = async {
        let exists = client
            .query_one("SELECT to_regclass('countersign.migration') IS NOT NULL", &[])
            .await?;
        if !exists.try_get::<_, bool>(0)? {
            return Ok(None);
        }
        let newest = client
            .query_one("SELECT COALESCE(MAX(version), 0) FROM migration", &[])
            .await?;
        newest.try_get::<_, i32>(0).map(Some)
    };
    let version = version.await.map_err(|error| told(&error))?;
    Ok(version.map(|version| usize::try_from(version).unwrap_or(usize::MAX)))
}
