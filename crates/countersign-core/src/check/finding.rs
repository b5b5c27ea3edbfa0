//! What a check has to say: findings, and the counts beside them.

use super::name::CheckName;
use crate::place::Place;

/// One thing a check has to say about an output. Texts are complete here; they are cut to
/// [`crate::limits::TEXT_CHARS_MAX`] where the response is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check that says it.
    pub check: CheckName,
    /// Where, without a root marker: a concrete place (schema), a member path (content) or the path as parsed
    /// (rules, bounds). The root is `$`.
    pub field: String,
    /// Whether that is the root and not a member named `$`.
    pub is_root: bool,
    /// The first value that it is about, for those who show it in the output's text. What is absent has a place
    /// too; where names are long, the place ends above them.
    pub place: Place,
    /// What would pass.
    pub expected: String,
    /// What is there instead.
    pub found: String,
    /// The sentence of `message` and of a flag.
    pub detail: String,
}

/// The findings of one source in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first [`crate::limits::LIST_ENTRIES_MAX`] of them.
    pub shown: Vec<Finding>,
    /// How many there are in all.
    pub total: u64,
    /// The distinct names among all of them, in order of first appearance.
    pub checks: Vec<CheckName>,
}

/// How many of how many passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Those that passed.
    pub passed: u64,
    /// All of them.
    pub total: u64,
}

impl Findings {
    /// Appends one finding; beyond the limit it is counted only.
    pub fn push(&mut self, finding: Finding) {
        if !self.checks.contains(&finding.check) {
            self.checks.push(finding.check);
        }
        if self.shown.len() < crate::limits::LIST_ENTRIES_MAX {
            self.shown.push(finding);
        }
        self.total += 1;
    }
}

impl std::ops::Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count {
            passed: self.passed + other.passed,
            total: self.total + other.total,
        }
    }
}
