//! What is kept of one check (verification.md, section 24).

use countersign_core::canonical::Hash;

/// One check as it is kept: hashes, counts and switches. Never the output, the schema, the rules or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the switches of the contract, each under its own name"
)]
pub struct ReceiptRow {
    /// The UUID of the check. Unique in the store.
    pub verification_id: [u8; 16],
    /// As sent, at most 200 characters.
    pub task_id: String,
    /// As sent, at most 200 characters; none if none was given.
    pub agent_id: Option<String>,
    /// Hash of the output.
    pub output_hash: Hash,
    /// Hash of the schema.
    pub schema_hash: Hash,
    /// Hash of rules and bounds.
    pub rules_hash: Hash,
    /// Hash of the whole request.
    pub request_hash: Hash,
    /// Whether the result is `pass`.
    pub passed: bool,
    /// Names of the blocking checks in their order, joined by commas; empty for a pass.
    pub blocking_checks: String,
    /// Passed and total of `schema_compliance`.
    pub schema: (u64, u64),
    /// Passed and total of `integrity_checks`.
    pub integrity: (u64, u64),
    /// How many findings there were.
    pub findings: u64,
    /// How many flags there were; `next_actions` of a rebuilt receipt needs to know.
    pub flags: u64,
    /// The switch, as applied.
    pub enforce_rules: bool,
    /// The switch, as applied.
    pub strict_content_check: bool,
    /// Whether the answer was given in full detail.
    pub detail_full: bool,
    /// Whether the task id begins with `test-`; nothing counts such a row.
    pub is_test: bool,
    /// Whether the check was paid for.
    pub paid: bool,
    /// Microseconds since 1970, UTC.
    pub verified_at_micros: i64,
    /// The key that signed.
    pub key_version: String,
    /// The program that checked.
    pub verifier_version: String,
    /// Keyed MAC over the fields above. The service makes and checks it; the store only keeps it.
    pub mac: [u8; 32],
}

/// A receipt as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReceipt {
    /// Its number, from 1 on and without a gap in one database.
    pub sequence: u64,
    /// What was kept.
    pub row: ReceiptRow,
}
