//! Agents: the sums over their counted checks, and the checks themselves.
//!
//! The sums in `agent` are over the receipts up to the number `summed`; the receipts after it are the *tail*. The
//! writer keeps the tail's sums in memory and adds them to the table now and then, in the transaction that keeps
//! a batch. Whoever reads adds up both within one snapshot, so a record is exact at every moment and after every
//! crash.

use super::column;
use super::connection::told;
use crate::tally::Tally;
use crate::{AgentRecord, CountedCheck, StoreError};
use countersign_core::score::{HalfLife, Sums};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Receipts after which the tail's sums are added to the table. More would make that commit long.
const TAIL_MAX: usize = 4_096;
/// Receipts an agent of the tail after which adding is cheap enough to be done at once.
const TAIL_PER_AGENT: usize = 16;
/// Receipts that one part of the index spans, as a power of two; also in the index of migration 3.
const PART_BITS: u32 = 12;

const REPLACE: &str = "INSERT INTO agent (agent_id, verified, passed, first_seen, last_seen, weights, \
    passed_weights, squares) VALUES (?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (agent_id) DO UPDATE SET verified = excluded.verified, passed = excluded.passed, \
    first_seen = excluded.first_seen, last_seen = excluded.last_seen, weights = excluded.weights, \
    passed_weights = excluded.passed_weights, squares = excluded.squares";

/// Whether the tail is to be added to the table with this commit.
pub(super) fn is_due(receipts: usize, agents: usize) -> bool {
    receipts >= TAIL_MAX || receipts >= agents * TAIL_PER_AGENT
}

/// The tail's sums as the database has them.
pub(super) fn tail(connection: &Connection, half_life: HalfLife) -> rusqlite::Result<Tally> {
    let mut tally = Tally::new(half_life);
    let mut select = connection.prepare(
        "SELECT agent_id, verified_at, passed, is_test FROM receipt \
         WHERE sequence > (SELECT summed FROM receipt_counter) ORDER BY sequence",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        match row.get_ref(0)?.as_str_or_null()? {
            Some(agent) if !column::switch(row, 3)? => {
                tally.count_check(agent, row.get(1)?, column::switch(row, 2)?);
            }
            _ => tally.pass_by(),
        }
    }
    Ok(tally)
}

/// Adds a tail to the table. Part of the transaction that numbers the last of its receipts; `last` is that number.
pub(super) fn add(connection: &Connection, tails: &[&Tally], last: i64) -> rusqlite::Result<()> {
    for tally in tails {
        for (agent, new) in tally.iter() {
            let record = match summed(connection, agent)? {
                Some(known) => known.with(new, tally.half_life()),
                None => new,
            };
            put(connection, agent, &record)?;
        }
    }
    connection
        .prepare_cached("UPDATE receipt_counter SET summed = ?")?
        .execute([last])
        .map(drop)
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

/// The record of an agent. Asked within a transaction or not: it makes its own snapshot if there is none.
pub(super) fn find(connection: &Connection, agent: &str) -> rusqlite::Result<Option<AgentRecord>> {
    if connection.is_autocommit() {
        let snapshot = connection.unchecked_transaction()?;
        return find(&snapshot, agent);
    }
    let (last, summed_to, days) = connection
        .prepare_cached("SELECT last, summed, half_life_days FROM receipt_counter")?
        .query_row([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get(2)?))
        })?;
    let half_life = HalfLife::of_days(days).unwrap_or(HalfLife::DEFAULT);
    let mut record = summed(connection, agent)?;
    for part in part_of(summed_to + 1)..=part_of(last) {
        let mut select = connection.prepare_cached(
            "SELECT verified_at, passed FROM receipt INDEXED BY receipt_counted \
             WHERE sequence >> 12 = ? AND agent_id = ? AND is_test = 0 AND sequence > ? ORDER BY sequence",
        )?;
        let mut rows = select.query(params![part, agent, summed_to])?;
        while let Some(row) = rows.next()? {
            let one = AgentRecord::of(row.get(0)?, column::switch(row, 1)?);
            record = Some(record.map_or(one, |record| record.with(one, half_life)));
        }
    }
    Ok(record)
}

fn newest_number(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT last FROM receipt_counter")?
        .query_row([], |row| row.get(0))
}

fn part_of(sequence: i64) -> i64 {
    sequence >> PART_BITS
}

/// The record of an agent over the receipts that are summed.
fn summed(connection: &Connection, agent: &str) -> rusqlite::Result<Option<AgentRecord>> {
    connection
        .prepare_cached(
            "SELECT verified, passed, first_seen, last_seen, weights, passed_weights, squares FROM agent \
             WHERE agent_id = ?",
        )?
        .query_row([agent], record)
        .optional()
}

fn record(row: &Row<'_>) -> rusqlite::Result<AgentRecord> {
    let last_seen_micros = row.get(3)?;
    Ok(AgentRecord {
        verified: column::count(row, 0)?,
        passed: column::count(row, 1)?,
        first_seen_micros: row.get(2)?,
        last_seen_micros,
        sums: Sums {
            newest_micros: last_seen_micros,
            weights: row.get(4)?,
            passed_weights: row.get(5)?,
            squares: row.get(6)?,
        },
    })
}

/// Newest first.
pub(super) fn newest_checks(
    connection: &Connection,
    agent: &str,
    most: usize,
) -> Result<Vec<CountedCheck>, StoreError> {
    let newest = || {
        let snapshot = connection.unchecked_transaction()?;
        // Whose checks are all found is not looked for in older receipts.
        let most = find(&snapshot, agent)?.map_or(0, |record| most.min(record.verified as usize));
        let parts = (0..=part_of(newest_number(&snapshot)?)).rev();
        collect(&snapshot, parts, most, NEWEST, agent, i64::MAX)
    };
    newest().map_err(told)
}

/// In the order of their numbers, those above `after`.
pub(super) fn checks_after(
    connection: &Connection,
    agent: &str,
    after: u64,
    most: usize,
) -> Result<Vec<CountedCheck>, StoreError> {
    let next = || {
        let snapshot = connection.unchecked_transaction()?;
        let after = limit(after);
        let parts = part_of(after)..=part_of(newest_number(&snapshot)?);
        collect(&snapshot, parts, most, NEXT, agent, after)
    };
    next().map_err(told)
}

const NEWEST: &str = "SELECT sequence, verified_at, passed FROM receipt INDEXED BY receipt_counted \
    WHERE sequence >> 12 = ?1 AND agent_id = ?2 AND is_test = 0 AND sequence <= ?3 \
    ORDER BY sequence DESC LIMIT ?4";

const NEXT: &str = "SELECT sequence, verified_at, passed FROM receipt INDEXED BY receipt_counted \
    WHERE sequence >> 12 = ?1 AND agent_id = ?2 AND is_test = 0 AND sequence > ?3 \
    ORDER BY sequence LIMIT ?4";

/// Collects up to `most` checks from these parts of the index.
fn collect(
    snapshot: &Connection,
    parts: impl Iterator<Item = i64>,
    most: usize,
    select: &str,
    agent: &str,
    edge: i64,
) -> rusqlite::Result<Vec<CountedCheck>> {
    let mut select = snapshot.prepare_cached(select)?;
    let mut found = Vec::new();
    for part in parts {
        if found.len() >= most {
            break;
        }
        let rows = select.query_map(params![part, agent, edge, limit(most - found.len())], check)?;
        for row in rows {
            found.push(row?);
        }
    }
    Ok(found)
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
pub(super) fn sum_anew(connection: &Connection, half_life: HalfLife) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM agent", [])?;
    each_summed(connection, half_life, |agent, record| {
        put(connection, agent, record)
    })?;
    connection
        .execute(
            "UPDATE receipt_counter SET half_life_days = ?, summed = last",
            [half_life.days()],
        )
        .map(drop)
}

/// Sums the receipts of every agent directly, and hands over one agent after another. SQLite sorts them in a
/// file of its own, so one record is in memory at a time.
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
