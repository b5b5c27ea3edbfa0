//! The record of an agent: what its score is made of (verification.md, section 21).

use crate::ReceiptRow;
use countersign_core::score::{HalfLife, Sums};

/// An agent's counted checks in numbers. A check is counted when it names an agent and is no test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentRecord {
    /// How many checks there were, at least 1.
    pub verified: u64,
    /// How many of them passed.
    pub passed: u64,
    /// Time of the oldest check by its own clock: microseconds since 1970, UTC.
    pub first_seen_micros: i64,
    /// Time of the newest, which is also the moment the sums are as of.
    pub last_seen_micros: i64,
    /// What the score is made of.
    pub sums: Sums,
}

/// One counted check of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCheck {
    /// The receipt's number.
    pub sequence: u64,
    /// Microseconds since 1970, UTC.
    pub verified_at_micros: i64,
    /// Whether the result was `pass`.
    pub passed: bool,
}

impl AgentRecord {
    /// That of one check.
    pub(crate) fn of(verified_at_micros: i64, passed: bool) -> Self {
        AgentRecord {
            verified: 1,
            passed: passed.into(),
            first_seen_micros: verified_at_micros,
            last_seen_micros: verified_at_micros,
            sums: Sums::of(verified_at_micros, passed),
        }
    }

    /// That of both together.
    pub(crate) fn with(self, later: AgentRecord, half_life: HalfLife) -> AgentRecord {
        let sums = self.sums.with(later.sums, half_life);
        AgentRecord {
            verified: self.verified + later.verified,
            passed: self.passed + later.passed,
            first_seen_micros: self.first_seen_micros.min(later.first_seen_micros),
            last_seen_micros: sums.newest_micros,
            sums,
        }
    }
}

impl ReceiptRow {
    /// The agent in whose record this check is counted, if it is.
    pub(crate) fn counted_agent(&self) -> Option<&str> {
        self.agent_id.as_deref().filter(|_| !self.is_test)
    }
}
