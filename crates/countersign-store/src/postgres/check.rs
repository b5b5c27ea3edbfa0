//! Looks a whole database over, in one snapshot of it and beside whoever serves it.

use super::agents::{self, DirectSums};
use super::connection::told;
use super::migration;
use super::receipts::value;
use crate::StoreError;
use crate::check::Checked;
use countersign_core::score::HalfLife;
use std::collections::HashMap;
use tokio_postgres::{Client, IsolationLevel, Transaction};

pub(super) async fn check(client: &mut Client) -> Result<Checked, StoreError> {
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await
        .map_err(|error| told(&error))?;
    let unhurried = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
    transaction
        .batch_execute(unhurried)
        .await
        .map_err(|error| told(&error))?;
    migration::check_version(&transaction).await?;
    let mut checked = Checked::default();
    numbers(&transaction, &mut checked).await?;
    let days = agents::half_life_days(&transaction).await?;
    match HalfLife::of_days(days) {
        Some(half_life) => sums(&transaction, half_life, &mut checked).await?,
        None => checked.problem(format!(
            "the sums have a half-life of {days} days, which cannot be"
        )),
    }
    Ok(checked)
}

async fn numbers(transaction: &Transaction<'_>, checked: &mut Checked) -> Result<(), StoreError> {
    let select = "SELECT COUNT(*), COALESCE(MIN(sequence), 0), COALESCE(MAX(sequence), 0), \
        COALESCE((SELECT last FROM receipt_counter), -1), (SELECT COUNT(*) FROM public_key) FROM receipt";
    let row = transaction
        .query_one(select, &[])
        .await
        .map_err(|error| told(&error))?;
    let count = |column| value::<i64>(&row, column).map(|count| u64::try_from(count).unwrap_or(0));
    checked.numbers(count(0)?, count(1)?, count(2)?, count(3)?);
    checked.public_keys = count(4)?;
    Ok(())
}

async fn sums(
    transaction: &Transaction<'_>,
    half_life: HalfLife,
    checked: &mut Checked,
) -> Result<(), StoreError> {
    let mut direct = DirectSums::begin(transaction, half_life).await?;
    let mut agents_with_receipts = 0;
    loop {
        let page = direct.page().await?;
        if page.is_empty() {
            break;
        }
        let ids: Vec<&[u8]> = page.iter().map(|(agent, _)| agent.as_slice()).collect();
        let select = "SELECT agent_id, verified, passed, first_seen, last_seen, weights, passed_weights, \
            squares FROM agent WHERE agent_id = ANY ($1)";
        let rows = transaction
            .query(select, &[&ids])
            .await
            .map_err(|error| told(&error))?;
        let mut kept = HashMap::with_capacity(rows.len());
        for row in &rows {
            kept.insert(value::<Vec<u8>>(row, 0)?, agents::record(row, 1)?);
        }
        agents_with_receipts += page.len() as u64;
        for (agent, record) in &page {
            checked.agent(&String::from_utf8_lossy(agent), record, kept.get(agent));
        }
    }
    let row = transaction
        .query_one("SELECT COUNT(*) FROM agent", &[])
        .await
        .map_err(|error| told(&error))?;
    checked.agents(value::<i64>(&row, 0)?.unsigned_abs(), agents_with_receipts);
    Ok(())
}
