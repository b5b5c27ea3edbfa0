//! The records of the agents in one batch, so that each agent's row is read and written once for all of them.

use crate::{AgentRecord, ReceiptRow};
use countersign_core::score::HalfLife;
use std::collections::BTreeMap;

/// Sums of a batch by agent. Sorted, so that a database writes its agents in the order they lie in, and two
/// nodes that write the same agents take their locks in one order.
pub(crate) struct Tally<'rows> {
    half_life: HalfLife,
    agents: BTreeMap<&'rows str, AgentRecord>,
}

impl<'rows> Tally<'rows> {
    pub(crate) fn new(half_life: HalfLife) -> Self {
        Tally {
            half_life,
            agents: BTreeMap::new(),
        }
    }

    pub(crate) fn half_life(&self) -> HalfLife {
        self.half_life
    }

    /// Counts a receipt, if it is one that is counted.
    pub(crate) fn count(&mut self, row: &'rows ReceiptRow) {
        let Some(agent) = row.counted_agent() else { return };
        let one = AgentRecord::of(row.verified_at_micros, row.passed);
        let half_life = self.half_life;
        self.agents
            .entry(agent)
            .and_modify(|record| *record = record.with(one, half_life))
            .or_insert(one);
    }

    /// The agents in order, each with what the batch adds to its record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'rows str, AgentRecord)> {
        self.agents.iter().map(|(agent, record)| (*agent, *record))
    }
}
