//! The signed statement about an agent: members and order of verification.md, section 21.

use super::Sums;
use super::estimate::{Estimate, ROUNDING_MAX};
use crate::document::Document;
use crate::receipt::Issuer;
use crate::statement::{Context, Unsigned};
use crate::time::Timestamp;

/// Checks that can be counted: JSON readers keep integers exactly up to here.
const COUNT_MAX: u64 = (1 << 53) - 1;

/// The counted checks of an agent, summed up. An agent without one has no record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// How many passed.
    pub passed: u64,
    /// How many did not.
    pub failed: u64,
    /// Time of the earliest.
    pub first_seen: Timestamp,
    /// What the score is made of, and the time of the latest.
    pub sums: Sums,
}

/// A record that no history has: counts and sums contradict each other, so somebody changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("counts, times and sums of an agent contradict each other")]
pub struct Implausible;

/// What is said of an agent at one time.
#[derive(Clone, Debug)]
pub struct Scored {
    agent_id: String,
    known: Option<(Record, Estimate)>,
    computed_at: Timestamp,
}

impl Record {
    /// How many checks count: those that passed and those that did not.
    pub fn verified(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }

    /// Time of the latest check.
    pub fn last_seen(&self) -> Timestamp {
        Timestamp(self.sums.newest_micros)
    }

    /// The score and its interval, rounded as they are published.
    pub fn estimate(&self) -> Result<Estimate, Implausible> {
        let estimate = Estimate::of(&self.sums).ok_or(Implausible)?;
        // An old weight may have shrunk to nothing, so what is counted need not show in the sums; but what shows
        // in the sums is counted.
        let share = estimate.trust_score;
        let adds_up = self.first_seen <= self.last_seen()
            && self.verified() <= COUNT_MAX
            && self.sums.weights <= self.verified() as f64 + ROUNDING_MAX * self.sums.weights
            && (self.passed > 0 || share <= ROUNDING_MAX)
            && (self.failed > 0 || share >= 1.0 - ROUNDING_MAX);
        adds_up.then(|| estimate.rounded()).ok_or(Implausible)
    }
}

impl Scored {
    /// What the record says; without one, that there is no data.
    pub fn new(agent_id: &str, record: Option<Record>, computed_at: Timestamp) -> Result<Self, Implausible> {
        let known = match record {
            None => None,
            Some(record) => Some((record, record.estimate()?)),
        };
        Ok(Scored {
            agent_id: agent_id.to_owned(),
            known,
            computed_at,
        })
    }

    /// The statement, ready to be signed at `computed_at`.
    pub fn statement<'a>(&self, issuer: &Issuer<'a>) -> Unsigned<'a> {
        let mut document = Document::default();
        document.text("agent_id", &self.agent_id);
        match &self.known {
            Some((record, estimate)) => {
                write_estimate(estimate, &mut document);
                write_counts(record, &mut document);
            }
            None => write_nothing(&mut document),
        }
        document.bool("identity_verified", false);
        document.text_or_null("reason", self.known.is_none().then_some(NO_DATA));
        document.time("computed_at", self.computed_at);
        document.list("next_actions", |actions| {
            if self.known.is_none() {
                actions.object("", |action| action.text("action", "verify_first_output"));
            }
        });
        issuer.write_verify(&mut document);
        Unsigned::new(Context::Score, issuer.key_version, self.computed_at, document)
    }
}

/// `reason` of an agent without a counted check.
pub const NO_DATA: &str = "no_data";

/// `trust_score` and `confidence_interval_95`.
fn write_estimate(estimate: &Estimate, document: &mut Document) {
    document.ratio("trust_score", estimate.trust_score);
    document.list("confidence_interval_95", |ends| {
        ends.ratio("", estimate.low);
        ends.ratio("", estimate.high);
    });
}

fn write_counts(record: &Record, document: &mut Document) {
    document.integer("sample_size", record.verified());
    document.integer("verified", record.verified());
    document.integer("passed", record.passed);
    document.integer("failed", record.failed);
    document.time("first_seen", record.first_seen);
    document.time("last_seen", record.last_seen());
}

fn write_nothing(document: &mut Document) {
    document.null("trust_score");
    document.null("confidence_interval_95");
    for count in ["sample_size", "verified", "passed", "failed"] {
        document.integer(count, 0);
    }
    document.null("first_seen");
    document.null("last_seen");
}
