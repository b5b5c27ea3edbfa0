//! Public keys: list, and list again with a new status.

use super::connection::told;
use crate::{PublicKeyRow, StoreError};
use deadpool_postgres::ClientWrapper;
use tokio_postgres::Error;

/// True when the key is listed now; false when its version belongs to another key.
pub(super) async fn upsert(client: &ClientWrapper, row: &PublicKeyRow) -> Result<bool, Error> {
    let upsert = client
        .prepare_cached(
            "INSERT INTO public_key AS known (key_version, public_key, status, listed_at, signs_from, \
                 endorsement) \
             VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (key_version) DO UPDATE SET \
                 status = CASE known.status WHEN 'compromised' THEN known.status ELSE excluded.status END, \
                 signs_from = COALESCE(excluded.signs_from, known.signs_from), \
                 endorsement = COALESCE(excluded.endorsement, known.endorsement) \
             WHERE known.public_key = excluded.public_key",
        )
        .await?;
    let changed = client
        .execute(
            &upsert,
            &[
                &row.key_version,
                &row.public_key.as_slice(),
                &row.status,
                &row.listed_at_micros,
                &row.signs_from_micros,
                &row.endorsement,
            ],
        )
        .await?;
    Ok(changed == 1)
}

pub(super) async fn all(client: &ClientWrapper) -> Result<Vec<PublicKeyRow>, StoreError> {
    let select = client
        .prepare_cached(
            "SELECT key_version, public_key, status, listed_at, signs_from, endorsement FROM public_key \
             ORDER BY listed_at, key_version COLLATE \"C\"",
        )
        .await
        .map_err(|error| told(&error))?;
    let rows = client.query(&select, &[]).await.map_err(|error| told(&error))?;
    rows.iter()
        .map(|row| {
            let told = |error| told(&error);
            Ok(PublicKeyRow {
                key_version: row.try_get(0).map_err(told)?,
                public_key: super::receipts::bytes(row, 1)?,
                status: row.try_get(2).map_err(told)?,
                listed_at_micros: row.try_get(3).map_err(told)?,
                signs_from_micros: row.try_get(4).map_err(told)?,
                endorsement: row.try_get(5).map_err(told)?,
            })
        })
        .collect()
}
