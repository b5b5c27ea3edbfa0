//! Receipts: keep a batch, look up, list.

use super::agents::Additions;
use super::connection::told;
use crate::{ReceiptRow, StoreError, StoredReceipt};
use countersign_core::canonical::Hash;
use countersign_core::score::HalfLife;
use deadpool_postgres::ClientWrapper;
use std::collections::HashMap;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

/// Numbers, rows and sums of a whole batch in one statement, which is one transaction and one round trip. Its
/// first part takes the counter's row and holds it until the commit, so batches of all nodes take turns, and the
/// numbers have no gap: a statement that fails gives its numbers back with everything else.
///
/// Nothing is written and no row comes back when the sums have another half-life ($2), or when an import ($3)
/// does not go on where the store ends.
const KEEP: &str = "WITH counter AS (\
        UPDATE receipt_counter SET last = last + $1 \
        WHERE half_life_days = $2 AND ($3::bigint IS NULL OR last = $3) \
        RETURNING last - $1 AS before\
    ), kept AS (\
        INSERT INTO receipt (sequence, schema_passed, schema_total, integrity_passed, integrity_total, findings, \
            flags, verified_at, passed, enforce_rules, strict_content_check, detail_full, is_test, paid, \
            verification_id, task_id, agent_id, output_hash, schema_hash, rules_hash, request_hash, \
            blocking_checks, key_version, verifier_version, mac) \
        SELECT counter.before + new.place, new.schema_passed, new.schema_total, new.integrity_passed, \
            new.integrity_total, new.findings, new.flags, new.verified_at, new.passed, new.enforce_rules, \
            new.strict_content_check, new.detail_full, new.is_test, new.paid, new.verification_id, new.task_id, \
            new.agent_id, new.output_hash, new.schema_hash, new.rules_hash, new.request_hash, \
            new.blocking_checks, new.key_version, new.verifier_version, new.mac \
        FROM counter, unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
            $9::bigint[], $10::bigint[], $11::boolean[], $12::boolean[], $13::boolean[], $14::boolean[], \
            $15::boolean[], $16::boolean[], $17::bytea[], $18::bytea[], $19::bytea[], $20::bytea[], \
            $21::bytea[], $22::bytea[], $23::bytea[], $24::text[], $25::text[], $26::text[], $27::bytea[]) \
            WITH ORDINALITY AS new (schema_passed, schema_total, integrity_passed, integrity_total, findings, \
            flags, verified_at, passed, enforce_rules, strict_content_check, detail_full, is_test, paid, \
            verification_id, task_id, agent_id, output_hash, schema_hash, rules_hash, request_hash, \
            blocking_checks, key_version, verifier_version, mac, place)\
    ), summed AS (\
        INSERT INTO agent AS known (agent_id, verified, passed, first_seen, last_seen, weights, passed_weights, \
            squares) \
        SELECT new.* FROM counter, unnest($28::bytea[], $29::bigint[], $30::bigint[], $31::bigint[], \
            $32::bigint[], $33::double precision[], $34::double precision[], $35::double precision[]) AS new \
        ON CONFLICT (agent_id) DO UPDATE SET \
            verified = known.verified + excluded.verified, \
            passed = known.passed + excluded.passed, \
            first_seen = LEAST(known.first_seen, excluded.first_seen), \
            last_seen = GREATEST(known.last_seen, excluded.last_seen), \
            weights = aged(known.weights, GREATEST(excluded.last_seen::float8 - known.last_seen, 0), $2, 1) \
                + aged(excluded.weights, GREATEST(known.last_seen::float8 - excluded.last_seen, 0), $2, 1), \
            passed_weights = \
                aged(known.passed_weights, GREATEST(excluded.last_seen::float8 - known.last_seen, 0), $2, 1) \
                + aged(excluded.passed_weights, GREATEST(known.last_seen::float8 - excluded.last_seen, 0), $2, 1), \
            squares = aged(known.squares, GREATEST(excluded.last_seen::float8 - known.last_seen, 0), $2, 2) \
                + aged(excluded.squares, GREATEST(known.last_seen::float8 - excluded.last_seen, 0), $2, 2)\
    ) SELECT before FROM counter";

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT sequence, verification_id, task_id, agent_id, output_hash, schema_hash, rules_hash, ",
            "request_hash, passed, blocking_checks, schema_passed, schema_total, integrity_passed, ",
            "integrity_total, findings, flags, enforce_rules, strict_content_check, detail_full, is_test, ",
            "paid, verified_at, key_version, verifier_version, mac FROM receipt ",
            $which
        )
    };
}

/// The parameters of a batch: one array a column, in the statement's order.
macro_rules! columns {
    ($rows:expr, $($column:expr),* $(,)?) => {
        [$(Box::new($rows.iter().map($column).collect::<Vec<_>>()) as Box<dyn ToSql + Sync + Send + '_>),*]
    };
}

/// Keeps a batch, and comes back with the number before its first; `None`: nothing was written (see [`KEEP`]).
/// `before` is the number that an import must find as the newest.
pub(super) async fn keep(
    client: &ClientWrapper,
    half_life: HalfLife,
    before: Option<i64>,
    rows: &[&ReceiptRow],
) -> Result<Option<i64>, Error> {
    let statement = client.prepare_cached(KEEP).await?;
    let additions = Additions::of(rows, half_life);
    let columns = columns!(
        rows,
        |row| count(row.schema.0),
        |row| count(row.schema.1),
        |row| count(row.integrity.0),
        |row| count(row.integrity.1),
        |row| count(row.findings),
        |row| count(row.flags),
        |row| row.verified_at_micros,
        |row| row.passed,
        |row| row.enforce_rules,
        |row| row.strict_content_check,
        |row| row.detail_full,
        |row| row.is_test,
        |row| row.paid,
        |row| row.verification_id.as_slice(),
        |row| row.task_id.as_bytes(),
        |row| row.agent_id.as_ref().map(String::as_bytes),
        |row| row.output_hash.0.as_slice(),
        |row| row.schema_hash.0.as_slice(),
        |row| row.rules_hash.0.as_slice(),
        |row| row.request_hash.0.as_slice(),
        |row| row.blocking_checks.as_str(),
        |row| row.key_version.as_str(),
        |row| row.verifier_version.as_str(),
        |row| row.mac.as_slice(),
    );
    let number = count(rows.len() as u64);
    let days = half_life.days().cast_signed();
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&number, &days, &before];
    parameters.extend(columns.iter().map(|column| &**column as &(dyn ToSql + Sync)));
    parameters.extend(additions.columns());
    let row = client.query_opt(&statement, &parameters).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Counts are bounded by the limits of one request, far below 2^63.
fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Those of the ids that are there.
pub(super) async fn find_all(
    client: &ClientWrapper,
    ids: &[[u8; 16]],
) -> Result<HashMap<[u8; 16], StoredReceipt>, StoreError> {
    let ids: Vec<&[u8]> = ids.iter().map(<[u8; 16]>::as_slice).collect();
    let found = ask(client, select!("WHERE verification_id = ANY ($1)"), &[&ids]).await?;
    Ok(found
        .into_iter()
        .map(|receipt| (receipt.row.verification_id, receipt))
        .collect())
}

pub(super) async fn find(client: &ClientWrapper, id: [u8; 16]) -> Result<Option<StoredReceipt>, StoreError> {
    let found = ask(client, select!("WHERE verification_id = $1"), &[&id.as_slice()]).await?;
    Ok(found.into_iter().next())
}

/// In the order of their numbers, those above `sequence`.
pub(super) async fn after(
    client: &ClientWrapper,
    sequence: u64,
    most: usize,
) -> Result<Vec<StoredReceipt>, StoreError> {
    let (sequence, most) = (count(sequence), count(most as u64));
    let which = select!("WHERE sequence > $1 ORDER BY sequence LIMIT $2");
    ask(client, which, &[&sequence, &most]).await
}

async fn ask(
    client: &ClientWrapper,
    select: &str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<Vec<StoredReceipt>, StoreError> {
    let statement = client
        .prepare_cached(select)
        .await
        .map_err(|error| told(&error))?;
    let rows = client
        .query(&statement, parameters)
        .await
        .map_err(|error| told(&error))?;
    rows.iter().map(stored).collect()
}

fn stored(row: &Row) -> Result<StoredReceipt, StoreError> {
    let whole = |column| value::<i64>(row, column);
    let counted = |column| count_of(row, column, 0);
    let switch = |column| value::<bool>(row, column);
    let hash = |column| bytes(row, column).map(Hash);
    Ok(StoredReceipt {
        sequence: sequence(row, 0)?,
        row: ReceiptRow {
            verification_id: bytes(row, 1)?,
            task_id: text(value(row, 2)?)?,
            agent_id: value::<Option<Vec<u8>>>(row, 3)?.map(text).transpose()?,
            output_hash: hash(4)?,
            schema_hash: hash(5)?,
            rules_hash: hash(6)?,
            request_hash: hash(7)?,
            passed: switch(8)?,
            blocking_checks: value(row, 9)?,
            schema: (counted(10)?, counted(11)?),
            integrity: (counted(12)?, counted(13)?),
            findings: counted(14)?,
            flags: counted(15)?,
            enforce_rules: switch(16)?,
            strict_content_check: switch(17)?,
            detail_full: switch(18)?,
            is_test: switch(19)?,
            paid: switch(20)?,
            verified_at_micros: whole(21)?,
            key_version: value(row, 22)?,
            verifier_version: value(row, 23)?,
            mac: bytes(row, 24)?,
        },
    })
}

pub(super) fn value<'row, T: tokio_postgres::types::FromSql<'row>>(
    row: &'row Row,
    column: usize,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(|error| told(&error))
}

pub(super) fn bytes<const BYTES: usize>(row: &Row, column: usize) -> Result<[u8; BYTES], StoreError> {
    value::<&[u8]>(row, column)?.try_into().map_err(|_| odd())
}

fn text(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|_| odd())
}

fn odd() -> StoreError {
    StoreError::Corrupt("a row has a value that this program never writes")
}

/// The number of a receipt, from 1 on.
pub(super) fn sequence(row: &Row, column: usize) -> Result<u64, StoreError> {
    count_of(row, column, 1)
}

/// How many. A number that is never written is an error of the row: who can write to the database must not find
/// two spellings of one row, because the MAC covers what is read.
pub(super) fn count_of(row: &Row, column: usize, least: u64) -> Result<u64, StoreError> {
    let count = u64::try_from(value::<i64>(row, column)?);
    count.ok().filter(|count| *count >= least).ok_or_else(odd)
}

/// The newest number, and the half-life that the sums are made with, in days. Refuses a database whose counter
/// and rows disagree, as after a restore from half a backup: going on would leave a gap, or number two receipts
/// alike.
pub(super) async fn counter(client: &ClientWrapper) -> Result<(u64, u32), StoreError> {
    let statement = client
        .prepare_cached(
            "SELECT last, half_life_days, last = COALESCE((SELECT MAX(sequence) FROM receipt), 0) \
             FROM receipt_counter",
        )
        .await
        .map_err(|error| told(&error))?;
    let row = client
        .query_opt(&statement, &[])
        .await
        .map_err(|error| told(&error))?;
    let row = row.ok_or(StoreError::Corrupt("the counter of receipts is missing"))?;
    if !value::<bool>(&row, 2)? {
        return Err(StoreError::Corrupt(
            "the counter of receipts disagrees with the newest receipt",
        ));
    }
    Ok((count_of(&row, 0, 0)?, value::<i32>(&row, 1)?.unsigned_abs()))
}

/// Asks whether the server takes writes and the sums are ours, without writing.
pub(super) async fn probe(client: &ClientWrapper, half_life: HalfLife) -> Result<(), StoreError> {
    let (_, kept) = counter(client).await?;
    if kept != half_life.days() {
        let set = half_life.days();
        return Err(StoreError::HalfLife { kept, set });
    }
    let statement = client
        .prepare_cached("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean")
        .await
        .map_err(|error| told(&error))?;
    let row = client
        .query_one(&statement, &[])
        .await
        .map_err(|error| told(&error))?;
    if value(&row, 0)? {
        return Err(StoreError::unavailable(
            "the server of the database only reads, as a standby does",
        ));
    }
    Ok(())
}

/// Writes the counter as it is; tells about the disk.
pub(super) async fn write_counter(client: &ClientWrapper) -> Result<(), Error> {
    let statement = client
        .prepare_cached("UPDATE receipt_counter SET last = last")
        .await?;
    client.execute(&statement, &[]).await.map(drop)
}
