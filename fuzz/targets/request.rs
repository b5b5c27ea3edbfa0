//! Bytes as a request, and what is valid through the check to a receipt: no panic, counts that agree with findings,
//! the same answer for canonical bytes, and a receipt that reads back with matching hashes.
#![no_main]

use countersign_core::canonical;
use countersign_core::check::budget::Budget;
use countersign_core::check::request::{CompileAnew, Request};
use countersign_core::json;
use countersign_core::key::{KeyList, PublicKey};
use countersign_core::receipt::{Facts, HashCheck, Issuer, SignatureCheck, verify};
use countersign_core::time::Timestamp;
use libfuzzer_sys::fuzz_target;

const ISSUER: Issuer<'_> = Issuer {
    public_url: "https://verifier.example",
    service_name: "Verifier",
    key_version: "v1",
};

fuzz_target!(|body: &[u8]| {
    let request = match Request::parse(body, &CompileAnew) {
        Ok(request) => request,
        Err(invalid) => {
            assert!(!invalid.0.is_empty());
            assert!(
                invalid
                    .0
                    .iter()
                    .all(|problem| !problem.problem.is_empty() && !problem.fix.is_empty())
            );
            return;
        }
    };
    let report = request.demand.check(&request.output, &mut Budget::default());

    // Canonical bytes are the same request, and get the same answer (section 6). The body is no deeper than it
    // was, so it is read with one level more than a lone value has.
    let document = json::read_nested(body, 80, |_| 80).expect("a request is JSON");
    let again = Request::parse(&canonical::bytes(&document), &CompileAnew).expect("a valid request");
    assert_eq!(again.hashes, request.hashes);
    let report_again = again.demand.check(&again.output, &mut Budget::default());
    let report = match (report, report_again) {
        (Ok(report), Ok(report_again)) => {
            assert_eq!(report_again.schema.count, report.schema.count);
            assert_eq!(report_again.integrity_count, report.integrity_count);
            assert_eq!(report_again.blocking_checks(), report.blocking_checks());
            report
        }
        (Err(spent), Err(spent_again)) => {
            assert_eq!(spent_again, spent);
            return;
        }
        _ => panic!("canonical bytes spend another budget"),
    };
    let count = report.schema.count;
    assert!(count.passed <= count.total);
    assert_eq!(report.schema.findings.total == 0, count.passed == count.total);

    let facts = Facts::new(
        &request,
        &report,
        [7; 16],
        Timestamp(1_790_000_000_000_000),
        "0.0.0",
    );
    let receipt = facts.receipt(&report, request.detail, &ISSUER).seal(&[7; 64]);
    let keys = KeyList::Pinned(PublicKey([7; 32]));
    let verified = verify(&receipt, &keys, &request.hashes.into()).expect("a receipt has the shape of one");
    assert_eq!(verified.signature, SignatureCheck::BadSignature);
    assert!(
        verified
            .hashes
            .iter()
            .all(|(_, check)| *check == HashCheck::Match)
    );
});
