//! The signed statement about an agent: its bytes, and that nothing in it can be changed.

// What a test cannot read fails it.
#![allow(clippy::unwrap_used)]

use base64::Engine as _;
use countersign_core::canonical;
use countersign_core::json::{Value, read};
use countersign_core::key::{KeyList, PublicKey};
use countersign_core::receipt::{Issuer, Outcome, Supplied, VerifyRequest, verify};
use countersign_core::score::{CountedCheck, HalfLife, History, Implausible, Record, Scored};
use countersign_core::statement::Context;
use countersign_core::time::Timestamp;
use ed25519_dalek::{Signer, SigningKey};

const DAY: i64 = 86_400_000_000;
/// 2026-11-05.
const NOW: i64 = 1_793_836_800_000_000;
const ISSUER: Issuer<'static> = Issuer {
    public_url: "https://verify.example",
    service_name: "Agent Output Verifier",
    key_version: "v1-2026-11a",
};

/// Ages in days, and whether they passed, in the order of their numbers.
fn record(checks: &[(i64, bool)]) -> Record {
    let mut history = History::default();
    for (index, (age, passed)) in checks.iter().enumerate() {
        let check = CountedCheck {
            sequence: index as u64 + 1,
            verified_at: Timestamp(NOW - age * DAY),
            passed: *passed,
        };
        history.push(check).unwrap();
    }
    history.record(HalfLife::DEFAULT).unwrap()
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

fn keys() -> KeyList {
    let text = base64::prelude::BASE64_STANDARD.encode(key().verifying_key().as_bytes());
    KeyList::Pinned(PublicKey::from_base64(&text).unwrap())
}

fn signed(agent: &str, record: Option<Record>) -> String {
    let scored = Scored::new(agent, record, Timestamp(NOW + 1)).unwrap();
    let unsigned = scored.statement(&ISSUER);
    let signature = key().sign(&unsigned.signed_bytes).to_bytes();
    String::from_utf8(unsigned.seal(&signature)).unwrap()
}

fn without_signature(answer: &str) -> &str {
    answer.split_once("\"signature\":").unwrap().0
}

#[test]
fn a_score_has_the_members_of_the_contract_in_their_order() {
    let answer = signed("did:web:a/b", Some(record(&[(60, true), (30, false), (0, true)])));
    let expected = concat!(
        r#"{"agent_id":"did:web:a/b","trust_score":0.7143,"confidence_interval_95":[0.2005,0.9614],"sample_size":3,"#,
        r#""verified":3,"passed":2,"failed":1,"first_seen":"2026-09-06T00:00:00.000000+00:00","#,
        r#""last_seen":"2026-11-05T00:00:00.000000+00:00","identity_verified":false,"reason":null,"#,
        r#""computed_at":"2026-11-05T00:00:00.000001+00:00","next_actions":[],"verify":{"#,
        r#""public_key_url":"https://verify.example/.well-known/agent-card.json","key_version":"v1-2026-11a","#,
        r#""canonicalization":"RFC 8785 (JCS)","hash_algorithm":"SHA-256","service":"Agent Output Verifier","#,
        r#""mcp":"https://verify.example/mcp"},"attestation":{"algorithm":"Ed25519","key_version":"v1-2026-11a","#,
        r#""timestamp":"2026-11-05T00:00:00.000001+00:00","#,
    );
    assert_eq!(without_signature(&answer), expected);
}

#[test]
fn an_agent_without_a_record_has_no_data_and_that_is_signed() {
    let answer = signed("test-a", None);
    let expected = concat!(
        r#"{"agent_id":"test-a","trust_score":null,"confidence_interval_95":null,"sample_size":0,"verified":0,"#,
        r#""passed":0,"failed":0,"first_seen":null,"last_seen":null,"identity_verified":false,"reason":"no_data","#,
        r#""computed_at":"2026-11-05T00:00:00.000001+00:00","next_actions":[{"action":"verify_first_output"}],"#,
        r#""verify":{"#,
    );
    assert!(answer.starts_with(expected), "{answer}");
    let verified = verify(answer.as_bytes(), &keys(), &Supplied::default()).unwrap();
    assert_eq!(
        (verified.outcome(), verified.context),
        (Outcome::Valid, Context::Score)
    );
}

#[test]
fn the_ends_of_the_scale_are_written_as_ratios() {
    for (passed, expected) in [
        (true, r#""trust_score":1.0,"confidence_interval_95":[0.2065,1.0]"#),
        (
            false,
            r#""trust_score":0.0,"confidence_interval_95":[0.0,0.7935]"#,
        ),
    ] {
        let answer = signed("a", Some(record(&[(0, passed)])));
        assert!(answer.contains(expected), "{answer}");
    }
}

#[test]
fn what_is_signed_is_the_canonical_five_member_object() {
    let scored = Scored::new("a", Some(record(&[(0, true)])), Timestamp(NOW)).unwrap();
    let unsigned = scored.statement(&ISSUER);
    let bytes = unsigned.signed_bytes.clone();
    let value = read(&bytes).unwrap();
    assert_eq!(canonical::bytes(&value), bytes);
    let names: Vec<_> = value
        .as_object()
        .unwrap()
        .members()
        .iter()
        .map(|member| member.name.to_string())
        .collect();
    assert_eq!(
        names,
        ["algorithm", "attested_at", "context", "key_version", "response"]
    );
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(text("context"), "json-schema-verifier/trust-score-attestation/v1");
    assert_eq!(text("attested_at"), "2026-11-05T00:00:00.000000+00:00");
    let computed_at = value.get("response").unwrap().get("computed_at").unwrap();
    assert_eq!(computed_at.as_str().unwrap(), text("attested_at"));
}

#[test]
fn a_score_verifies_offline_and_by_the_service_and_no_member_can_be_changed() {
    let answer = signed("seller-7", Some(record(&[(60, true), (30, false), (0, true)])));
    let outcome =
        |answer: &str| verify(answer.as_bytes(), &keys(), &Supplied::default()).map(|v| v.outcome());
    assert_eq!(outcome(&answer), Some(Outcome::Valid));
    // White space and the order of members are not signed.
    assert_eq!(outcome(&answer.replace(",\"", " ,\n \"")), Some(Outcome::Valid));
    let body = format!("{{\"receipt\":{answer}}}");
    let told = VerifyRequest::parse(body.as_bytes())
        .unwrap()
        .verify(&keys())
        .unwrap()
        .answer();
    let told = String::from_utf8(told).unwrap();
    let start =
        r#"{"valid":true,"signature":"valid","context":"json-schema-verifier/trust-score-attestation/v1""#;
    assert!(told.starts_with(start), "{told}");
    assert!(
        told.ends_with(r#""hashes":{}}"#),
        "a score carries no hash: {told}"
    );

    let forgeries = [
        ("seller-7", "seller-8"),
        ("0.7143", "0.7144"),
        ("0.7143", "null"),
        ("0.2005,", "0.2006,"),
        ("0.9614]", "0.9999]"),
        ("\"sample_size\":3", "\"sample_size\":30"),
        ("\"verified\":3", "\"verified\":4"),
        ("\"passed\":2", "\"passed\":3"),
        ("\"failed\":1", "\"failed\":0"),
        ("2026-09-06", "2025-09-06"),
        ("\"last_seen\":\"2026-11-05", "\"last_seen\":\"2026-11-06"),
        ("\"identity_verified\":false", "\"identity_verified\":true"),
        ("\"reason\":null", "\"reason\":\"no_data\""),
        ("\"computed_at\":\"2026-11-05", "\"computed_at\":\"2027-11-05"),
        ("\"next_actions\":[]", "\"next_actions\":[{\"action\":\"pay\"}]"),
        ("verify.example/mcp", "verify.example/MCP"),
        ("\"timestamp\":\"2026", "\"timestamp\":\"2027"),
        ("{\"agent_id\"", "{\"verification_id\":\"x\",\"agent_id\""),
        ("{\"agent_id\"", "{\"note\":1,\"agent_id\""),
        (",\"reason\":null", ""),
    ];
    for (from, to) in forgeries {
        let changed = answer.replacen(from, to, 1);
        assert_ne!(changed, answer, "{from}");
        assert_eq!(outcome(&changed), Some(Outcome::BadSignature), "{from} -> {to}");
    }
    for (from, to) in [
        ("\"trust_score\":0.7143,", ""),
        ("{\"agent_id\"", "{\"agent_id\":\"seller-7\",\"agent_id\""),
        ("\"algorithm\":\"Ed25519\",\"key", "\"algorithm\":\"none\",\"key"),
        ("\"attestation\":{", "\"attestation\":{\"note\":1,"),
    ] {
        let changed = answer.replacen(from, to, 1);
        assert_ne!(changed, answer, "{from}");
        assert_eq!(outcome(&changed), None, "{from} -> {to}");
    }
}

#[test]
fn a_signature_over_a_score_is_worthless_for_a_check() {
    let answer = signed("a", Some(record(&[(0, true)])));
    let as_check = answer.replacen("\"trust_score\":1.0", "\"verification_id\":1.0", 1);
    let outcome = verify(as_check.as_bytes(), &keys(), &Supplied::default())
        .unwrap()
        .outcome();
    assert_eq!(outcome, Outcome::BadSignature);
}

#[test]
fn a_record_that_contradicts_itself_is_not_signed() {
    let good = record(&[(60, true), (30, false), (0, true)]);
    let changes: &[fn(&mut Record)] = &[
        |record| record.passed = 0,
        |record| record.failed = 0,
        |record| (record.passed, record.failed) = (0, 0),
        |record| (record.passed, record.failed) = (1, 0),
        |record| record.passed = u64::MAX,
        |record| record.first_seen = Timestamp(NOW + 1),
        |record| record.sums.newest_micros = 0,
        |record| record.sums.weights = f64::NAN,
        |record| record.sums.passed_weights = 3.0,
        |record| record.sums.squares = 0.0,
        |record| record.sums.weights = 4.0,
    ];
    assert!(Scored::new("a", Some(good), Timestamp(NOW)).is_ok());
    for (index, change) in changes.iter().enumerate() {
        let mut record = good;
        change(&mut record);
        let refused = Scored::new("a", Some(record), Timestamp(NOW)).map(drop);
        assert_eq!(refused, Err(Implausible), "change {index}");
    }
}

#[test]
fn a_check_so_old_that_it_weighs_nothing_is_still_counted() {
    let half_life = HalfLife::of_days(1).unwrap();
    let sums = |age: i64, passed| countersign_core::score::Sums::of(NOW - age * DAY, passed);
    let merged = sums(3_000, false).with(sums(0, true), half_life);
    let record = Record {
        passed: 1,
        failed: 1,
        first_seen: Timestamp(NOW - 3_000 * DAY),
        sums: merged,
    };
    let estimate = record.estimate().unwrap();
    assert_eq!((estimate.trust_score, estimate.low), (1.0, 0.206_5));
}
