//! The records of the agents of some receipts, so that each agent's row is read and written once for all of them.

use crate::{AgentRecord, ReceiptRow};
use countersign_core::score::HalfLife;
use std::collections::BTreeMap;

/// Sums by agent. Sorted, so that a database writes its agents in the order they lie in.
pub(crate) struct Tally {
    half_life: HalfLife,
    agents: BTreeMap<String, AgentRecord>,
    receipts: usize,
}

impl Tally {
    pub(crate) fn new(half_life: HalfLife) -> Self {
        Tally {
            half_life,
            agents: BTreeMap::new(),
            receipts: 0,
        }
    }

    pub(crate) fn half_life(&self) -> HalfLife {
        self.half_life
    }

    /// How many receipts were looked at, counted or not.
    pub(crate) fn receipts(&self) -> usize {
        self.receipts
    }

    /// How many agents have something to add.
    pub(crate) fn agents(&self) -> usize {
        self.agents.len()
    }

    /// Looks at a receipt, and counts it if it is one that is counted.
    pub(crate) fn count(&mut self, row: &ReceiptRow) {
        self.receipts += 1;
        if let Some(agent) = row.counted_agent() {
            self.add(agent, AgentRecord::of(row.verified_at_micros, row.passed));
        }
    }

    /// Looks at a receipt that is not counted.
    pub(crate) fn pass_by(&mut self) {
        self.receipts += 1;
    }

    /// Adds all that another one has.
    pub(crate) fn add_all(&mut self, later: &Tally) {
        self.receipts += later.receipts;
        later
            .agents
            .iter()
            .for_each(|(agent, record)| self.add(agent, *record));
    }

    fn add(&mut self, agent: &str, later: AgentRecord) {
        match self.agents.get_mut(agent) {
            Some(record) => *record = record.with(later, self.half_life),
            None => drop(self.agents.insert(agent.to_owned(), later)),
        }
    }

    /// Counts a check of this agent.
    pub(crate) fn count_check(&mut self, agent: &str, verified_at_micros: i64, passed: bool) {
        self.receipts += 1;
        self.add(agent, AgentRecord::of(verified_at_micros, passed));
    }

    pub(crate) fn clear(&mut self) {
        self.agents.clear();
        self.receipts = 0;
    }

    /// The agents in order, each with what is to be added to its record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, AgentRecord)> {
        self.agents
            .iter()
            .map(|(agent, record)| (agent.as_str(), *record))
    }
}
