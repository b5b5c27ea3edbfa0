//! `GET /receipts/{verification_id}` and `POST /receipts/verify`.

use crate::rig::{FAILING, MINIMAL, Rig, compact};
use countersign_core::receipt::{Outcome, Supplied, verify};
use countersign_service::Patience;
use countersign_service::signer::{LISTED_BEFORE_USE_SECONDS, compromise_key, rotate_key};

fn path_of(rig: &Rig, request: &str) -> (String, Vec<u8>) {
    let answer = rig.post("/verify/schema", request.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    (
        format!("/receipts/{}", answer.member("verification_id")),
        answer.body,
    )
}

#[test]
fn a_stored_receipt_has_the_very_bytes_of_the_compact_answer() {
    let mut rig = Rig::with("public_url = \"https://verify.example\"", Patience::default());
    for request in [MINIMAL, FAILING, &FAILING.replace("true}", "false}")] {
        let (path, sent) = path_of(&rig, &compact(request));
        rig.clock.forward(3_600);
        assert_eq!(rig.get(&path).body, sent);
        rig.restart();
        let fetched = rig.get(&path);
        assert_eq!((fetched.status, fetched.body), (200, sent));
        let head = rig.request("HEAD", &path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0));
    }
}

#[test]
fn a_receipt_is_found_after_the_service_has_moved() {
    let mut rig = Rig::with("public_url = \"https://old.example\"", Patience::default());
    let (path, sent) = path_of(&rig, &compact(MINIMAL));
    rig.restart_with("public_url = \"https://new.example\"");
    let fetched = rig.get(&path);
    assert_eq!(fetched.status, 200);
    let moved = String::from_utf8(sent)
        .unwrap()
        .replace("https://old.example", "https://new.example");
    let unsigned = |text: &str| text.split("\"signature\"").next().unwrap().to_owned();
    assert_eq!(unsigned(&fetched.text()), unsigned(&moved));
    let verified = verify(&fetched.body, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(verified.outcome(), Outcome::Valid);
}

#[test]
fn a_full_answer_is_stored_as_a_compact_receipt() {
    let rig = Rig::start();
    let (path, _) = path_of(&rig, FAILING);
    let fetched = rig.get(&path);
    assert!(!fetched.text().contains("\"errors\""));
    assert!(fetched.text().contains("request_full_detail"));
    let verified = verify(&fetched.body, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(verified.outcome(), Outcome::Valid);
}

#[test]
fn unknown_and_malformed_ids_are_not_found() {
    let rig = Rig::start();
    let (path, _) = path_of(&rig, MINIMAL);
    let id = path.strip_prefix("/receipts/").unwrap();
    let rows = [
        "01890a5d-ac96-774b-bcce-b302099a8057".to_owned(),
        "00000000-0000-0000-0000-000000000000".to_owned(),
        id.to_uppercase(),
        id.replace('-', ""),
        format!("{{{id}}}").replace(['{', '}'], "%7B"),
        format!("{id}/"),
        format!("urn:uuid:{id}"),
        id[..35].to_owned(),
        "x".repeat(5_000),
        "%00".to_owned(),
        // Paths match byte for byte (interfaces.md 2).
        id.replacen('0', "%30", 1),
    ];
    for id in rows {
        let answer = rig.get(&format!("/receipts/{id}"));
        assert_eq!(
            (answer.status, answer.member("code")),
            (404, "not_found".to_owned()),
            "{id}"
        );
    }
}

#[test]
fn a_row_that_somebody_changed_is_never_signed() {
    let mut rig = Rig::start();
    let (failed, _) = path_of(&rig, FAILING);
    let (passed, _) = path_of(&rig, MINIMAL);
    rig.stop();
    let database = rusqlite::Connection::open(rig.data().join("countersign.db")).unwrap();
    let changed = database
        .execute(
            "UPDATE receipt SET passed = 1, blocking_checks = '' WHERE passed = 0",
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
    drop(database);
    rig.restart();
    let answer = rig.get(&failed);
    assert_eq!(
        (answer.status, answer.member("code")),
        (503, "service_unavailable".to_owned())
    );
    assert_eq!(answer.header("retry-after"), Some("3600"));
    assert!(
        answer
            .member("message")
            .contains("will not help before the operator")
    );
    assert_eq!(rig.get(&passed).status, 200, "the other row is as it was");
}

#[test]
fn a_rotated_key_takes_over_without_a_restart_and_old_receipts_keep_their_key() {
    let rig = Rig::start();
    let (path, sent) = path_of(&rig, &compact(MINIMAL));
    let folder = rig.data().join("keys");
    assert_eq!(rotate_key(&folder, rig.clock.now()).unwrap(), "v1-2026-11b");
    rig.until_card_says("\"status\":\"next\"");
    let listed = |text: &str| rig.get("/.well-known/agent-card.json").text().contains(text);
    assert!(listed(
        "\"endorsement\":{\"keyVersion\":\"v1-2026-11a\",\"attestedAt\":\"2026-11-05T00:00:00.000000+00:00\","
    ));
    let signs = || {
        rig.post("/verify/schema", MINIMAL.as_bytes())
            .text()
            .contains("v1-2026-11b")
    };
    assert!(!signs());
    rig.clock.forward(LISTED_BEFORE_USE_SECONDS);
    assert!(signs());
    assert!(listed("\"status\":\"previous\"") && !listed("\"status\":\"next\""));
    assert_eq!(rig.get(&path).body, sent);
    let verified = verify(&sent, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(verified.key_status.unwrap().as_str(), "previous");
}

#[test]
fn a_receipt_whose_key_is_gone_is_signed_anew_by_the_current_one() {
    let mut rig = Rig::start();
    let (path, _) = path_of(&rig, MINIMAL);
    let folder = rig.data().join("keys");
    rotate_key(&folder, rig.clock.now()).unwrap();
    rig.clock.forward(2 * LISTED_BEFORE_USE_SECONDS);
    std::fs::remove_file(folder.join("receipt-v1-2026-11a.pem")).unwrap();
    rig.restart();
    let fetched = rig.get(&path);
    let verified = verify(&fetched.body, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(
        (verified.outcome(), verified.key_version.as_str()),
        (Outcome::Valid, "v1-2026-11b")
    );
    assert_eq!(verified.attested_at, rig.clock.now().to_string());
    assert_ne!(
        fetched.member("verified_at"),
        verified.attested_at,
        "the check is as old as it was"
    );
}

#[test]
fn a_receipt_can_be_checked_by_the_service() {
    let rig = Rig::start();
    let receipt = rig.post("/verify/schema", MINIMAL.as_bytes()).text();
    let ask = |members: &str| rig.post("/receipts/verify", format!("{{{members}}}").as_bytes());
    let given = format!("\"receipt\":{receipt}");
    let schema = r#"{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}}"#;
    let rows = [
        (
            String::new(),
            true,
            r#""output_hash":"not_checked","schema_hash":"not_checked""#,
        ),
        (
            r#","submitted_output":{"ok":true}"#.to_owned(),
            true,
            r#""output_hash":"match""#,
        ),
        (
            r#","submitted_output":{"ok":false}"#.to_owned(),
            false,
            r#""output_hash":"mismatch""#,
        ),
        (
            format!(r#","expected_schema":{schema}"#),
            true,
            r#""schema_hash":"match""#,
        ),
        (r#","rules":null"#.to_owned(), true, r#""rules_hash":"match""#),
        (r#","rules":[]"#.to_owned(), false, r#""rules_hash":"mismatch""#),
        (
            format!(r#","request":{MINIMAL}"#),
            true,
            r#""request_hash":"match""#,
        ),
        (
            format!(r#","request":{}"#, MINIMAL.replace("tv-1", "tv-2")),
            false,
            r#""request_hash":"mismatch""#,
        ),
    ];
    for (more, valid, expected) in rows {
        let answer = ask(&format!("{given}{more}"));
        assert_eq!(answer.status, 200, "{more}: {}", answer.text());
        let start =
            format!(r#"{{"valid":{valid},"signature":"valid","context":"json-schema-verifier/verify-schema"#);
        assert!(answer.text().starts_with(&start), "{more}: {}", answer.text());
        assert!(answer.text().contains(expected), "{more}: {}", answer.text());
        assert!(
            answer
                .text()
                .contains(r#""key_version":"v1-2026-11a","key_status":"current""#)
        );
    }
    let forged = ask(&given.replace("\"pass\"", "\"fail\""));
    assert!(
        forged
            .text()
            .starts_with(r#"{"valid":false,"signature":"bad_signature""#),
        "{}",
        forged.text()
    );
    let foreign = ask(&given.replace("v1-2026-11a", "v1-2020-01a"));
    assert!(
        foreign
            .text()
            .starts_with(r#"{"valid":false,"signature":"unknown_key""#),
        "{}",
        foreign.text()
    );
}

#[test]
fn what_is_no_receipt_is_told_so() {
    let rig = Rig::start();
    let receipt = rig.post("/verify/schema", MINIMAL.as_bytes()).text();
    let twice = receipt.replacen('{', r#"{"result":"pass","#, 1);
    let rows = [
        (String::new(), "body is empty"),
        ("{}".to_owned(), "receipt is required"),
        (r#"{"receipt":{}}"#.to_owned(), "receipt is not a receipt"),
        (r#"{"receipt":"text"}"#.to_owned(), "receipt is not a receipt"),
        (
            format!(r#"{{"receipt":{receipt},"fetch":"http://a"}}"#),
            "body has a member",
        ),
        (
            format!(r#"{{"receipt":{receipt},"request":{MINIMAL},"rules":[]}}"#),
            "request is given beside",
        ),
        (
            format!(r#"{{"receipt":{twice}}}"#),
            "receipt has two members with the same name",
        ),
    ];
    for (body, expected) in rows {
        let answer = rig.post("/receipts/verify", body.as_bytes());
        assert_eq!(
            (answer.status, answer.member("code")),
            (422, "invalid_request".to_owned()),
            "{body}"
        );
        assert!(
            answer.member("message").contains(expected),
            "{body}: {}",
            answer.text()
        );
    }
}

#[test]
fn a_compromised_key_proves_nothing_and_signs_nothing() {
    let mut rig = Rig::start();
    let (path, sent) = path_of(&rig, &compact(MINIMAL));
    compromise_key(&rig.key_folder(), "v1-2026-11a", rig.clock.now()).unwrap();
    rig.restart();
    rig.clock.forward(60);
    let answer = rig.post("/verify/schema", MINIMAL.as_bytes());
    assert_eq!(answer.status, 200, "the key in its place signs at once");
    assert!(answer.text().contains("\"key_version\":\"v1-2026-11b\""));
    let fetched = rig.get(&path);
    let verified = verify(&fetched.body, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(
        (verified.outcome(), verified.key_version.as_str()),
        (Outcome::Valid, "v1-2026-11b")
    );
    assert_eq!(verified.attested_at, rig.clock.now().to_string());
    let body = format!("{{\"receipt\":{}}}", String::from_utf8(sent).unwrap());
    let answer = rig.post("/receipts/verify", body.as_bytes()).text();
    assert!(
        answer.starts_with(r#"{"valid":false,"signature":"valid""#),
        "{answer}"
    );
    assert!(answer.contains(r#""key_status":"compromised""#), "{answer}");
}
