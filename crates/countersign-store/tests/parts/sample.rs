//! Rows to keep.

use countersign_core::canonical::Hash;
use countersign_store::ReceiptRow;

/// An id that rises with its number, as those of the service rise with time.
pub(crate) fn id(number: u64) -> [u8; 16] {
    let mut id = [0x7F; 16];
    id[..8].copy_from_slice(&number.to_be_bytes());
    id
}

/// A row in which no two fields of one type are alike, so that a mixed-up column shows.
pub(crate) fn receipt(number: u64) -> ReceiptRow {
    ReceiptRow {
        verification_id: id(number),
        task_id: format!("task {number}"),
        agent_id: Some(format!("agent {number}")),
        output_hash: Hash([1; 32]),
        schema_hash: Hash([2; 32]),
        rules_hash: Hash([3; 32]),
        request_hash: Hash([4; 32]),
        passed: number.is_multiple_of(2),
        blocking_checks: "schema:type,integrity:sum_equals".to_owned(),
        schema: (10, 11),
        integrity: (12, 13),
        findings: 14,
        flags: 15,
        enforce_rules: number.is_multiple_of(3),
        strict_content_check: number.is_multiple_of(5),
        detail_full: number.is_multiple_of(7),
        is_test: number.is_multiple_of(11),
        paid: number.is_multiple_of(13),
        verified_at_micros: 1_790_000_000_000_000 + number.cast_signed(),
        key_version: "v1-2026-10a".to_owned(),
        verifier_version: "0.1.0".to_owned(),
        mac: [5; 32],
    }
}
