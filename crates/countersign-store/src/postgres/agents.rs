//! Agents: the sums over their counted checks, and the checks themselves.

use super::connection::told;
use super::receipts::{count_of, sequence, value};
use crate::tally::Tally;
use crate::{AgentRecord, CountedCheck, ReceiptRow, StoreError};
use countersign_core::score::{HalfLife, Sums};
use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, GenericClient, Row, Transaction};

/// Rows that are read at a time when all sums are made anew.
const PAGE_ROWS: i32 = 10_000;

/// What a batch adds to its agents' records, one array a column. Summed here, so that each agent has one row.
#[derive(Default)]
pub(super) struct Additions {
    agents: Vec<Vec<u8>>,
    verified: Vec<i64>,
    passed: Vec<i64>,
    first_seen: Vec<i64>,
    last_seen: Vec<i64>,
    weights: Vec<f64>,
    passed_weights: Vec<f64>,
    squares: Vec<f64>,
}

impl Additions {
    pub(super) fn of(rows: &[&ReceiptRow], half_life: HalfLife) -> Self {
        let mut tally = Tally::new(half_life);
        rows.iter().for_each(|row| tally.count(row));
        let mut additions = Additions::default();
        tally
            .iter()
            .for_each(|(agent, record)| additions.push(agent.as_bytes(), &record));
        additions
    }

    fn push(&mut self, agent: &[u8], record: &AgentRecord) {
        self.agents.push(agent.to_owned());
        self.verified.push(record.verified.cast_signed());
        self.passed.push(record.passed.cast_signed());
        self.first_seen.push(record.first_seen_micros);
        self.last_seen.push(record.last_seen_micros);
        self.weights.push(record.sums.weights);
        self.passed_weights.push(record.sums.passed_weights);
        self.squares.push(record.sums.squares);
    }

    pub(super) fn columns(&self) -> [&(dyn ToSql + Sync); 8] {
        [
            &self.agents,
            &self.verified,
            &self.passed,
            &self.first_seen,
            &self.last_seen,
            &self.weights,
            &self.passed_weights,
            &self.squares,
        ]
    }
}

pub(super) async fn find(client: &ClientWrapper, agent: &str) -> Result<Option<AgentRecord>, StoreError> {
    let statement = client
        .prepare_cached(
            "SELECT verified, passed, first_seen, last_seen, weights, passed_weights, squares FROM agent \
             WHERE agent_id = $1",
        )
        .await
        .map_err(|error| told(&error))?;
    let row = client.query_opt(&statement, &[&agent.as_bytes()]).await;
    let row = row.map_err(|error| told(&error))?;
    row.map(|row| record(&row, 0)).transpose()
}

/// Reads a record whose columns begin at `first`.
pub(super) fn record(row: &Row, first: usize) -> Result<AgentRecord, StoreError> {
    let whole = |column| value::<i64>(row, first + column);
    let sum = |column| value::<f64>(row, first + column);
    let last_seen_micros = whole(3)?;
    Ok(AgentRecord {
        verified: count_of(row, first, 0)?,
        passed: count_of(row, first + 1, 0)?,
        first_seen_micros: whole(2)?,
        last_seen_micros,
        sums: Sums {
            newest_micros: last_seen_micros,
            weights: sum(4)?,
            passed_weights: sum(5)?,
            squares: sum(6)?,
        },
    })
}

/// Newest first.
pub(super) async fn newest_checks(
    client: &ClientWrapper,
    agent: &str,
    most: usize,
) -> Result<Vec<CountedCheck>, StoreError> {
    let newest = "SELECT sequence, verified_at, passed FROM receipt \
        WHERE agent_id = $1 AND NOT is_test ORDER BY sequence DESC LIMIT $2";
    checks(client, newest, &[&agent.as_bytes(), &limit(most)]).await
}

/// In the order of their numbers, those above `after`.
pub(super) async fn checks_after(
    client: &ClientWrapper,
    agent: &str,
    after: u64,
    most: usize,
) -> Result<Vec<CountedCheck>, StoreError> {
    let next = "SELECT sequence, verified_at, passed FROM receipt \
        WHERE agent_id = $1 AND NOT is_test AND sequence > $2 ORDER BY sequence LIMIT $3";
    checks(client, next, &[&agent.as_bytes(), &limit(after), &limit(most)]).await
}

async fn checks(
    client: &ClientWrapper,
    select: &str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<Vec<CountedCheck>, StoreError> {
    let statement = client
        .prepare_cached(select)
        .await
        .map_err(|error| told(&error))?;
    let rows = client
        .query(&statement, parameters)
        .await
        .map_err(|error| told(&error))?;
    rows.iter()
        .map(|row| {
            Ok(CountedCheck {
                sequence: sequence(row, 0)?,
                verified_at_micros: value(row, 1)?,
                passed: value(row, 2)?,
            })
        })
        .collect()
}

fn limit(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The half-life that the sums are made with, in days; 0: they are still to be made.
pub(super) async fn half_life_days(client: &impl GenericClient) -> Result<u32, StoreError> {
    let select = "SELECT half_life_days FROM receipt_counter";
    let row = client
        .query_opt(select, &[])
        .await
        .map_err(|error| told(&error))?;
    let row = row.ok_or(StoreError::Corrupt("the counter of receipts is missing"))?;
    value::<i32>(&row, 0).map(i32::unsigned_abs)
}

/// Makes every record anew from the receipts, with this half-life; part of a transaction. Other nodes wait at
/// the counter until it ends, and then find a half-life that is not theirs.
pub(super) async fn sum_anew(transaction: &Transaction<'_>, half_life: HalfLife) -> Result<(), StoreError> {
    let days = half_life.days().cast_signed();
    transaction
        .execute("UPDATE receipt_counter SET half_life_days = $1", &[&days])
        .await
        .map_err(|error| told(&error))?;
    transaction
        .batch_execute("DELETE FROM agent")
        .await
        .map_err(|error| told(&error))?;
    let mut sums = DirectSums::begin(transaction, half_life).await?;
    loop {
        let page = sums.page().await?;
        if page.is_empty() {
            return Ok(());
        }
        let mut additions = Additions::default();
        page.iter()
            .for_each(|(agent, record)| additions.push(agent, record));
        insert(transaction, &additions)
            .await
            .map_err(|error| told(&error))?;
    }
}

async fn insert(transaction: &Transaction<'_>, additions: &Additions) -> Result<(), Error> {
    let insert = "INSERT INTO agent (agent_id, verified, passed, first_seen, last_seen, weights, \
        passed_weights, squares) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], \
        $5::bigint[], $6::double precision[], $7::double precision[], $8::double precision[])";
    transaction.execute(insert, &additions.columns()).await.map(drop)
}

/// The records of all agents, summed directly from the receipts, agent by agent in the order of their ids. One
/// page of receipts is in memory at a time.
pub(super) struct DirectSums<'transaction> {
    transaction: &'transaction Transaction<'transaction>,
    portal: tokio_postgres::Portal,
    half_life: HalfLife,
    /// The agent whose receipts may go on in the next page.
    open: Option<(Vec<u8>, AgentRecord)>,
    ended: bool,
}

impl<'transaction> DirectSums<'transaction> {
    pub(super) async fn begin(
        transaction: &'transaction Transaction<'transaction>,
        half_life: HalfLife,
    ) -> Result<Self, StoreError> {
        let select = "SELECT agent_id, verified_at, passed FROM receipt \
            WHERE agent_id IS NOT NULL AND NOT is_test ORDER BY agent_id, sequence";
        let statement = transaction.prepare(select).await.map_err(|error| told(&error))?;
        let portal = transaction
            .bind(&statement, &[])
            .await
            .map_err(|error| told(&error))?;
        Ok(DirectSums {
            transaction,
            portal,
            half_life,
            open: None,
            ended: false,
        })
    }

    /// Some more agents whose receipts are all summed; none at the end.
    pub(super) async fn page(&mut self) -> Result<Vec<(Vec<u8>, AgentRecord)>, StoreError> {
        let mut whole = Vec::new();
        while whole.is_empty() && !self.ended {
            let rows = self.transaction.query_portal(&self.portal, PAGE_ROWS).await;
            let rows = rows.map_err(|error| told(&error))?;
            self.ended = rows.is_empty();
            for row in &rows {
                let agent: &[u8] = value(row, 0)?;
                let one = AgentRecord::of(value(row, 1)?, value(row, 2)?);
                match &mut self.open {
                    Some((known, record)) if known == agent => *record = record.with(one, self.half_life),
                    _ => whole.extend(self.open.replace((agent.to_owned(), one))),
                }
            }
            if self.ended {
                whole.extend(self.open.take());
            }
        }
        Ok(whole)
    }
}
