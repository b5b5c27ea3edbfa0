//! Looking a whole store over: is what is kept complete, and do the sums follow from it?

use crate::AgentRecord;

/// Problems that are told one by one; more are only counted.
const TOLD_MAX: usize = 20;
/// How far kept sums may be from those that are summed directly, as a part of the larger.
const SUM_TOLERANCE: f64 = 1e-9;

/// What a check of a whole store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Rows of receipts.
    pub receipts: u64,
    /// Agents with counted checks.
    pub agents: u64,
    /// Listed public keys.
    pub public_keys: u64,
    /// The number of the newest receipt, by the counter.
    pub newest: u64,
    /// How many problems there are.
    pub problems: u64,
    /// The first of them in words.
    pub told: Vec<String>,
}

impl Checked {
    /// Notes a problem.
    pub(crate) fn problem(&mut self, text: impl Into<String>) {
        self.problems += 1;
        if self.told.len() < TOLD_MAX {
            self.told.push(text.into());
        }
    }

    /// Compares counter and numbers: from 1 to the newest, each once, if there are as many rows as that.
    pub(crate) fn numbers(&mut self, rows: u64, lowest: u64, highest: u64, counter: u64) {
        (self.receipts, self.newest) = (rows, counter);
        if highest != counter {
            self.problem(format!(
                "the counter says {counter} and the newest receipt has number {highest}"
            ));
        }
        if rows > 0 && (lowest != 1 || highest != rows) {
            self.problem(format!(
                "{rows} receipts have numbers from {lowest} to {highest}: some are missing"
            ));
        }
    }

    /// Compares the record that follows from an agent's receipts with the one that is kept.
    pub(crate) fn agent(&mut self, agent: &str, direct: &AgentRecord, kept: Option<&AgentRecord>) {
        match kept {
            Some(kept) if alike(kept, direct) => {}
            Some(_) => self.problem(format!(
                "the record of agent {agent:?} does not follow from its receipts"
            )),
            None => self.problem(format!("agent {agent:?} has receipts and no record")),
        }
    }

    /// Compares how many records are kept with how many agents have receipts.
    pub(crate) fn agents(&mut self, kept: u64, direct: u64) {
        self.agents = direct;
        if kept > direct {
            self.problem(format!("{} agents have a record and no receipts", kept - direct));
        }
    }
}

fn alike(one: &AgentRecord, other: &AgentRecord) -> bool {
    let near =
        |one: f64, other: f64| (one - other).abs() <= SUM_TOLERANCE * one.abs().max(other.abs()).max(1.0);
    let whole = |record: &AgentRecord| {
        let AgentRecord {
            verified,
            passed,
            first_seen_micros,
            last_seen_micros,
            ..
        } = *record;
        (verified, passed, first_seen_micros, last_seen_micros)
    };
    whole(one) == whole(other)
        && near(one.sums.weights, other.sums.weights)
        && near(one.sums.passed_weights, other.sums.passed_weights)
        && near(one.sums.squares, other.sums.squares)
}
