//! Receipts: insert, look up, count.

use super::agents::limit;
use super::column::{self, SEQUENCE_MAX};
use super::connection::told;
use crate::{ReceiptRow, StoreError, StoredReceipt};
use countersign_core::canonical::Hash;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

const INSERT: &str = "INSERT INTO receipt (sequence, verification_id, task_id, agent_id, output_hash, schema_hash, \
    rules_hash, request_hash, passed, blocking_checks, schema_passed, schema_total, integrity_passed, \
    integrity_total, findings, flags, enforce_rules, strict_content_check, detail_full, is_test, paid, \
    verified_at, key_version, verifier_version, mac) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

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

/// The number of the newest receipt, 0 if there is none. Refuses a database whose counter and rows disagree, as
/// after a restore from half a backup: going on would leave a gap, or number two receipts alike.
pub(super) fn last_sequence(connection: &Connection) -> Result<i64, StoreError> {
    let mut both = connection
        .prepare_cached("SELECT last, (SELECT COALESCE(MAX(sequence), 0) FROM receipt) FROM receipt_counter")
        .map_err(told)?;
    let (last, newest): (i64, i64) = both
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(told)?;
    if last == newest && (0..SEQUENCE_MAX).contains(&last) {
        Ok(last)
    } else {
        Err(StoreError::Corrupt(
            "the counter of receipts disagrees with the newest receipt",
        ))
    }
}

pub(super) fn set_last_sequence(connection: &Connection, last: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE receipt_counter SET last = ?")?
        .execute([last])
        .map(drop)
}

pub(super) fn insertion(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached(INSERT)
}

pub(super) fn insert(
    insertion: &mut CachedStatement<'_>,
    sequence: i64,
    row: &ReceiptRow,
) -> rusqlite::Result<()> {
    insertion
        .execute(params![
            sequence,
            row.verification_id,
            row.task_id,
            row.agent_id,
            row.output_hash.0,
            row.schema_hash.0,
            row.rules_hash.0,
            row.request_hash.0,
            row.passed,
            row.blocking_checks,
            count(row.schema.0),
            count(row.schema.1),
            count(row.integrity.0),
            count(row.integrity.1),
            count(row.findings),
            count(row.flags),
            row.enforce_rules,
            row.strict_content_check,
            row.detail_full,
            row.is_test,
            row.paid,
            row.verified_at_micros,
            row.key_version,
            row.verifier_version,
            row.mac,
        ])
        .map(drop)
}

/// Writes as much as a long receipt, in the places where the next one goes, and takes it back.
pub(super) fn rehearse(
    connection: &Connection,
    insertion: &mut CachedStatement<'_>,
    last: i64,
) -> rusqlite::Result<()> {
    let hash = Hash([0xFF; 32]);
    // 200 characters of four bytes.
    let id = "x".repeat(800);
    let row = ReceiptRow {
        verification_id: [0xFF; 16],
        task_id: id.clone(),
        agent_id: Some(id),
        output_hash: hash,
        schema_hash: hash,
        rules_hash: hash,
        request_hash: hash,
        passed: false,
        blocking_checks: String::new(),
        schema: (0, 0),
        integrity: (0, 0),
        findings: 0,
        flags: 0,
        enforce_rules: false,
        strict_content_check: false,
        detail_full: false,
        is_test: true,
        paid: false,
        verified_at_micros: 0,
        key_version: String::new(),
        verifier_version: String::new(),
        mac: [0; 32],
    };
    insert(insertion, last + 1, &row)?;
    set_last_sequence(connection, last + 1)?;
    connection
        .prepare_cached("DELETE FROM receipt WHERE sequence = ?")?
        .execute([last + 1])?;
    set_last_sequence(connection, last)
}

/// Counts are bounded by the limits of one request, far below 2^63.
fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn find(connection: &Connection, id: [u8; 16]) -> Result<Option<StoredReceipt>, StoreError> {
    let mut select = connection
        .prepare_cached(select!("WHERE verification_id = ?"))
        .map_err(told)?;
    select.query_row([id], stored).optional().map_err(told)
}

/// In the order of their numbers, those above `sequence`.
pub(super) fn after(
    connection: &Connection,
    sequence: u64,
    most: usize,
) -> Result<Vec<StoredReceipt>, StoreError> {
    let mut select = connection
        .prepare_cached(select!("WHERE sequence > ? ORDER BY sequence LIMIT ?"))
        .map_err(told)?;
    let rows = select.query_map([limit(sequence), limit(most)], stored);
    rows.and_then(Iterator::collect).map_err(told)
}

/// What a row says.
fn stored(row: &Row<'_>) -> rusqlite::Result<StoredReceipt> {
    let count = |column| column::count(row, column);
    let switch = |column| column::switch(row, column);
    let hash = |column| row.get(column).map(Hash);
    Ok(StoredReceipt {
        sequence: column::sequence(row, 0)?,
        row: ReceiptRow {
            verification_id: row.get(1)?,
            task_id: row.get(2)?,
            agent_id: row.get(3)?,
            output_hash: hash(4)?,
            schema_hash: hash(5)?,
            rules_hash: hash(6)?,
            request_hash: hash(7)?,
            passed: switch(8)?,
            blocking_checks: row.get(9)?,
            schema: (count(10)?, count(11)?),
            integrity: (count(12)?, count(13)?),
            findings: count(14)?,
            flags: count(15)?,
            enforce_rules: switch(16)?,
            strict_content_check: switch(17)?,
            detail_full: switch(18)?,
            is_test: switch(19)?,
            paid: switch(20)?,
            verified_at_micros: row.get(21)?,
            key_version: row.get(22)?,
            verifier_version: row.get(23)?,
            mac: row.get(24)?,
        },
    })
}
