//! Agents: the sums over their counted checks, and the checks themselves.

use super::column;
use super::connection::told;
use crate::tally::Tally;
use crate::{AgentRecord, CountedCheck, StoreError};
use countersign_core::score::{HalfLife, Sums};
use rusqlite::{Connection, OptionalExtension, Row, params};

const SELECT: &str = "SELECT verified, passed, first_seen, last_seen, weights, passed_weights, squares FROM agent \
    WHERE agent_id = ?";

const REPLACE: &str = "INSERT INTO agent (agent_id, verified, passed, first_seen, last_seen, weights, \
    passed_weights, squares) VALUES (?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (agent_id) DO UPDATE SET verified = excluded.verified, passed = excluded.passed, \
    first_seen = excluded.first_seen, last_seen = excluded.last_seen, weights = excluded.weights, \
    passed_weights = excluded.passed_weights, squares = excluded.squares";

pub(super) fn find(connection: &Connection, agent: &str) -> rusqlite::Result<Option<AgentRecord>> {
    connection
        .prepare_cached(SELECT)?
        .query_row([agent], |row| record(row, 0))
        .optional()
}

/// Adds what a batch counted. Part of the transaction that numbers the batch.
pub(super) fn add(connection: &Connection, tally: &Tally<'_>) -> rusqlite::Result<()> {
    for (agent, new) in tally.iter() {
        let record = match find(connection, agent)? {
            Some(known) => known.with(new, tally.half_life()),
            None => new,
        };
        put(connection, agent, &record)?;
    }
    Ok(())
}

fn put(connection: &Connection, agent: &str, record: &AgentRecord) -> rusqlite::Result<()> {
    connection
        .prepare_cached(REPLACE)?
        .execute(params![
            agent,
            record.verified.cast_signed(),
            record.passed.cast_signed(),
            record.first_seen_micros,
            record.last_seen_micros,
            record.sums.weights,
            record.sums.passed_weights,
            record.sums.squares,
        ])
        .map(drop)
}

/// Reads a record whose columns begin at `first`.
pub(super) fn record(row: &Row<'_>, first: usize) -> rusqlite::Result<AgentRecord> {
    let last_seen_micros = row.get(first + 3)?;
    Ok(AgentRecord {
        verified: column::count(row, first)?,
        passed: column::count(row, first + 1)?,
        first_seen_micros: row.get(first + 2)?,
        last_seen_micros,
        sums: Sums {
            newest_micros: last_seen_micros,
            weights: row.get(first + 4)?,
            passed_weights: row.get(first + 5)?,
            squares: row.get(first + 6)?,
        },
    })
}

/// Newest first.
pub(super) fn newest_checks(
    connection: &Connection,
    agent: &str,
    most: usize,
) -> Result<Vec<CountedCheck>, StoreError> {
    const NEWEST: &str = "SELECT sequence, verified_at, passed FROM receipt \
        WHERE agent_id = ? AND is_test = 0 ORDER BY sequence DESC LIMIT ?";
    let mut select = connection.prepare_cached(NEWEST).map_err(told)?;
    let rows = select.query_map(params![agent, limit(most)], check);
    rows.and_then(Iterator::collect).map_err(told)
}

/// In the order of their numbers, those above `after`.
pub(super) fn checks_after(
    connection: &Connection,
    agent: &str,
    after: u64,
    most: usize,
) -> Result<Vec<CountedCheck>, StoreError> {
    const AFTER: &str = "SELECT sequence, verified_at, passed FROM receipt \
        WHERE agent_id = ? AND is_test = 0 AND sequence > ? ORDER BY sequence LIMIT ?";
    let mut select = connection.prepare_cached(AFTER).map_err(told)?;
    let rows = select.query_map(params![agent, limit(after), limit(most)], check);
    rows.and_then(Iterator::collect).map_err(told)
}

fn check(row: &Row<'_>) -> rusqlite::Result<CountedCheck> {
    Ok(CountedCheck {
        sequence: column::sequence(row, 0)?,
        verified_at_micros: row.get(1)?,
        passed: column::switch(row, 2)?,
    })
}

/// SQLite has no unsigned numbers; nothing that is stored is beyond its largest.
pub(super) fn limit(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Makes every record anew from the receipts, with this half-life; part of a transaction.
///
/// The receipts come agent by agent in the order of their numbers, so one record is in memory at a time.
pub(super) fn sum_anew(connection: &Connection, half_life: HalfLife) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM agent", [])?;
    each_summed(connection, half_life, |agent, record| {
        put(connection, agent, record)
    })?;
    connection
        .execute(
            "UPDATE receipt_counter SET half_life_days = ?",
            [half_life.days()],
        )
        .map(drop)
}

/// Sums the receipts of every agent directly, and hands over one agent after another.
pub(super) fn each_summed(
    connection: &Connection,
    half_life: HalfLife,
    mut hand_over: impl FnMut(&str, &AgentRecord) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut select = connection.prepare(
        "SELECT agent_id, verified_at, passed FROM receipt \
         WHERE agent_id IS NOT NULL AND is_test = 0 ORDER BY agent_id, sequence",
    )?;
    let mut rows = select.query([])?;
    let mut open: Option<(String, AgentRecord)> = None;
    while let Some(row) = rows.next()? {
        let agent = row.get_ref(0)?.as_str()?;
        let one = AgentRecord::of(row.get(1)?, column::switch(row, 2)?);
        match &mut open {
            Some((known, record)) if known == agent => *record = record.with(one, half_life),
            _ => {
                if let Some((known, record)) = open.replace((agent.to_owned(), one)) {
                    hand_over(&known, &record)?;
                }
            }
        }
    }
    open.map_or(Ok(()), |(known, record)| hand_over(&known, &record))
}

/// The half-life that the sums are made with, in days; 0: they are still to be made.
pub(super) fn half_life_days(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("SELECT half_life_days FROM receipt_counter", [], |row| row.get(0))
}
