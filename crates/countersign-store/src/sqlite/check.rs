//! Looks a whole database over, in one snapshot of it and beside whoever serves it.

use super::connection::told;
use super::{agents, connection, migration};
use crate::StoreError;
use crate::check::Checked;
use countersign_core::score::HalfLife;
use rusqlite::Connection;
use std::path::Path;

pub(super) fn check(path: &Path) -> Result<Checked, StoreError> {
    let path = connection::existing(path)?;
    connection::is_whole(&path)?;
    let mut connection = connection::reading(&path)?;
    let snapshot = connection.transaction().map_err(told)?;
    migration::check_up_to_date(&snapshot)?;
    let mut checked = Checked::default();
    if !pages(&snapshot, &mut checked)? {
        return Ok(checked);
    }
    numbers(&snapshot, &mut checked).map_err(told)?;
    let days = agents::half_life_days(&snapshot).map_err(told)?;
    match HalfLife::of_days(days) {
        Some(half_life) => sums(&snapshot, half_life, &mut checked).map_err(told)?,
        None => checked.problem(format!(
            "the sums have a half-life of {days} days, which cannot be"
        )),
    }
    Ok(checked)
}

/// Has SQLite look at every page and every index; false when it found something, and rows cannot be trusted.
fn pages(snapshot: &Connection, checked: &mut Checked) -> Result<bool, StoreError> {
    let mut pragma = snapshot.prepare("PRAGMA integrity_check").map_err(told)?;
    let lines = pragma
        .query_map([], |row| row.get::<_, String>(0))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
        .map_err(told)?;
    if lines == ["ok"] {
        return Ok(true);
    }
    lines
        .into_iter()
        .for_each(|line| checked.problem(format!("SQLite says: {line}")));
    Ok(false)
}

fn numbers(snapshot: &Connection, checked: &mut Checked) -> rusqlite::Result<()> {
    let select = "SELECT COUNT(*), COALESCE(MIN(sequence), 0), COALESCE(MAX(sequence), 0), \
        COALESCE((SELECT last FROM receipt_counter), -1), (SELECT COUNT(*) FROM public_key) FROM receipt";
    snapshot.query_row(select, [], |row| {
        let count = |column| {
            row.get::<_, i64>(column)
                .map(|count| u64::try_from(count).unwrap_or(0))
        };
        checked.numbers(count(0)?, count(1)?, count(2)?, count(3)?);
        checked.public_keys = count(4)?;
        Ok(())
    })
}

fn sums(snapshot: &Connection, half_life: HalfLife, checked: &mut Checked) -> rusqlite::Result<()> {
    let mut agents_with_receipts = 0;
    agents::each_summed(snapshot, half_life, |agent, record| {
        agents_with_receipts += 1;
        checked.agent(agent, record, agents::find(snapshot, agent)?.as_ref());
        Ok(())
    })?;
    // Agents whose receipts are all in the tail have none yet.
    let kept: i64 = snapshot.query_row("SELECT COUNT(*) FROM agent", [], |row| row.get(0))?;
    checked.agents(kept.unsigned_abs(), agents_with_receipts);
    Ok(())
}
