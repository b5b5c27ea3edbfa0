//! A check as the store keeps it, and back: which fields there are, and the MAC that makes them ours. The record
//! of an agent as it is kept.

use crate::signer::Signer;
use countersign_core::check::finding::Count;
use countersign_core::check::name::CheckName;
use countersign_core::check::report::Report;
use countersign_core::check::request::{Detail, Hashes, Request};
use countersign_core::receipt::Facts;
use countersign_core::score::{Implausible, Record};
use countersign_core::time::Timestamp;
use countersign_store::{AgentRecord, ReceiptRow};

/// What stands before the fields under the MAC. A change of the fields or their order is a new version.
const MAC_CONTEXT: &[u8] = b"countersign/receipt-row/v1";

/// The row of a check (verification.md, section 24), with its MAC.
pub(crate) fn row(
    facts: &Facts,
    request: &Request,
    report: &Report,
    key_version: &str,
    signer: &Signer,
) -> ReceiptRow {
    let counts = |count: Count| (count.passed, count.total);
    let names: Vec<_> = facts.blocking_checks.iter().map(|name| name.as_str()).collect();
    let mut row = ReceiptRow {
        verification_id: facts.verification_id,
        task_id: facts.task_id.clone(),
        agent_id: facts.agent_id.clone(),
        output_hash: facts.hashes.output,
        schema_hash: facts.hashes.schema,
        rules_hash: facts.hashes.rules,
        request_hash: facts.hashes.request,
        passed: facts.passed(),
        blocking_checks: names.join(","),
        schema: counts(report.schema_compliance()),
        integrity: counts(report.integrity_checks()),
        findings: report.schema.findings.total + report.flags_total(),
        flags: facts.flags_total,
        enforce_rules: facts.enforce_rules,
        strict_content_check: facts.strict_content_check,
        detail_full: request.detail == Detail::Full,
        is_test: request.is_test(),
        paid: false,
        verified_at_micros: facts.verified_at.0,
        key_version: key_version.to_owned(),
        verifier_version: facts.verifier_version.clone(),
        mac: [0; 32],
    };
    row.mac = signer.mac(&mac_input(&row));
    row
}

/// What a stored row says, if its MAC is right: whoever can write to the database cannot mint receipts.
pub(crate) fn facts(row: &ReceiptRow, signer: &Signer) -> Option<Facts> {
    if !signer.mac_is_right(&mac_input(row), &row.mac) {
        return None;
    }
    let names = row.blocking_checks.split(',').filter(|name| !name.is_empty());
    let known = |name: &str| {
        CheckName::ALL
            .iter()
            .find(|check| check.as_str() == name)
            .copied()
    };
    Some(Facts {
        verification_id: row.verification_id,
        task_id: row.task_id.clone(),
        agent_id: row.agent_id.clone(),
        hashes: Hashes {
            output: row.output_hash,
            schema: row.schema_hash,
            rules: row.rules_hash,
            request: row.request_hash,
        },
        blocking_checks: names.map(known).collect::<Option<_>>()?,
        flags_total: row.flags,
        enforce_rules: row.enforce_rules,
        strict_content_check: row.strict_content_check,
        verified_at: Timestamp(row.verified_at_micros),
        verifier_version: row.verifier_version.clone(),
    })
}

/// What a stored record says. There is no MAC over it, since it changes with every check: what contradicts itself
/// is refused, and what does not can be held against the receipts it sums up.
pub(crate) fn record(stored: &AgentRecord) -> Result<Record, Implausible> {
    let failed = stored.verified.checked_sub(stored.passed).ok_or(Implausible)?;
    if stored.last_seen_micros != stored.sums.newest_micros {
        return Err(Implausible);
    }
    let record = Record {
        passed: stored.passed,
        failed,
        first_seen: Timestamp(stored.first_seen_micros),
        sums: stored.sums,
    };
    record.estimate().map(|_| record)
}

/// Every field but the MAC; texts with their lengths, so that no two rows have the same bytes. The sequence
/// number is not in it: the store gives it later, and it stands in no receipt. Taking the row apart by name makes a new field an error here.
fn mac_input(row: &ReceiptRow) -> Vec<u8> {
    let ReceiptRow {
        verification_id,
        task_id,
        agent_id,
        output_hash,
        schema_hash,
        rules_hash,
        request_hash,
        passed,
        blocking_checks,
        schema,
        integrity,
        findings,
        flags,
        enforce_rules,
        strict_content_check,
        detail_full,
        is_test,
        paid,
        verified_at_micros,
        key_version,
        verifier_version,
        mac: _,
    } = row;
    let mut input = Vec::with_capacity(512);
    let text = |text: &str, input: &mut Vec<u8>| {
        input.extend_from_slice(&(text.len() as u64).to_be_bytes());
        input.extend_from_slice(text.as_bytes());
    };
    input.extend_from_slice(MAC_CONTEXT);
    input.extend_from_slice(verification_id);
    text(task_id, &mut input);
    input.push(u8::from(agent_id.is_some()));
    text(agent_id.as_deref().unwrap_or_default(), &mut input);
    for hash in [output_hash, schema_hash, rules_hash, request_hash] {
        input.extend_from_slice(&hash.0);
    }
    text(blocking_checks, &mut input);
    for count in [schema.0, schema.1, integrity.0, integrity.1, *findings, *flags] {
        input.extend_from_slice(&count.to_be_bytes());
    }
    for switch in [
        passed,
        enforce_rules,
        strict_content_check,
        detail_full,
        is_test,
        paid,
    ] {
        input.push(u8::from(*switch));
    }
    input.extend_from_slice(&verified_at_micros.to_be_bytes());
    text(key_version, &mut input);
    text(verifier_version, &mut input);
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::canonical::Hash;

    fn sample() -> ReceiptRow {
        ReceiptRow {
            verification_id: [1; 16],
            task_id: "task".to_owned(),
            agent_id: Some("agent".to_owned()),
            output_hash: Hash([2; 32]),
            schema_hash: Hash([3; 32]),
            rules_hash: Hash([4; 32]),
            request_hash: Hash([5; 32]),
            passed: false,
            blocking_checks: "consistency:sum_equals,schema:type".to_owned(),
            schema: (21, 22),
            integrity: (7, 8),
            findings: 2,
            flags: 1,
            enforce_rules: true,
            strict_content_check: false,
            detail_full: true,
            is_test: false,
            paid: false,
            verified_at_micros: 1_790_816_469_606_993,
            key_version: "v1-2026-11a".to_owned(),
            verifier_version: "0.1.0".to_owned(),
            mac: [0; 32],
        }
    }

    #[test]
    fn a_row_with_any_field_changed_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        crate::signer::new_key(folder.path(), Timestamp(0)).unwrap();
        let signer = Signer::open(folder.path()).unwrap();
        let mut row = sample();
        row.mac = signer.mac(&mac_input(&row));
        let read = facts(&row, &signer).unwrap();
        assert_eq!(
            read.blocking_checks,
            [CheckName::ConsistencySumEquals, CheckName::SchemaType]
        );

        let changes: &[fn(&mut ReceiptRow)] = &[
            |row| row.verification_id[0] = 9,
            |row| row.task_id.push('x'),
            |row| row.agent_id = None,
            |row| row.agent_id = Some(String::new()),
            |row| row.output_hash.0[0] = 9,
            |row| row.schema_hash.0[0] = 9,
            |row| row.rules_hash.0[0] = 9,
            |row| row.request_hash.0[0] = 9,
            |row| row.passed = true,
            |row| row.blocking_checks.clear(),
            |row| row.schema.0 = 22,
            |row| row.schema.1 = 21,
            |row| row.integrity = (8, 7),
            |row| row.findings = 0,
            |row| row.flags = 0,
            |row| row.enforce_rules = false,
            |row| row.strict_content_check = true,
            |row| row.detail_full = false,
            |row| row.is_test = true,
            |row| row.paid = true,
            |row| row.verified_at_micros += 1,
            |row| row.key_version.push('x'),
            |row| row.verifier_version.push('x'),
            |row| row.mac[31] ^= 1,
            // The end of one text moved to the beginning of the next.
            |row| {
                row.key_version = "v1-2026-11".to_owned();
                row.verifier_version = "a0.1.0".to_owned();
            },
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut other = row.clone();
            change(&mut other);
            assert!(facts(&other, &signer).is_none(), "change {index}");
        }
    }
}
