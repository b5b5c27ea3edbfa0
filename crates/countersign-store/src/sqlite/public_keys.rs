//! Public keys: list, and list again with a new status.

use super::connection::told;
use crate::{PublicKeyRow, StoreError};
use rusqlite::{Connection, params};

/// True when the key is listed now; false when its version belongs to another key.
pub(super) fn upsert(connection: &Connection, row: &PublicKeyRow) -> rusqlite::Result<bool> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO public_key (key_version, public_key, status, listed_at, signs_from, endorsement) \
         VALUES (?, ?, ?, ?, ?, ?) \
         ON CONFLICT (key_version) DO UPDATE SET \
             status = CASE status WHEN 'compromised' THEN status ELSE excluded.status END, \
             signs_from = COALESCE(excluded.signs_from, signs_from), \
             endorsement = COALESCE(excluded.endorsement, endorsement) \
         WHERE public_key = excluded.public_key",
    )?;
    let changed = upsert.execute(params![
        row.key_version,
        row.public_key,
        row.status,
        row.listed_at_micros,
        row.signs_from_micros,
        row.endorsement,
    ])?;
    Ok(changed == 1)
}

pub(super) fn all(connection: &Connection) -> Result<Vec<PublicKeyRow>, StoreError> {
    let mut select = connection
        .prepare_cached(
            "SELECT key_version, public_key, status, listed_at, signs_from, endorsement FROM public_key \
             ORDER BY listed_at, key_version",
        )
        .map_err(told)?;
    let rows = select.query_map([], |row| {
        Ok(PublicKeyRow {
            key_version: row.get(0)?,
            public_key: row.get(1)?,
            status: row.get(2)?,
            listed_at_micros: row.get(3)?,
            signs_from_micros: row.get(4)?,
            endorsement: row.get(5)?,
        })
    });
    rows.and_then(Iterator::collect).map_err(told)
}
