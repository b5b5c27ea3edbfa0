//! `POST /verify/schema` and `POST /verify/deliverable`.

use crate::rig::{FAILING, MINIMAL, Rig, START_MICROS, compact, vector};
use countersign_core::json::{Value, read};
use countersign_core::receipt::{Outcome, Supplied, verify};
use countersign_core::time::Timestamp;

#[test]
fn a_pass_is_a_signed_receipt() {
    let rig = Rig::start();
    let answer = rig.post("/verify/schema", MINIMAL.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.member("result"), "pass");
    assert_eq!(answer.member("verified_at"), Timestamp(START_MICROS).to_string());
    assert_eq!(
        answer.member("request_hash"),
        "5366542000b4226c5efb411c15ec8f0aac3c63844343997aa1bcc3c585086f97"
    );
    let verified = verify(&answer.body, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(verified.outcome(), Outcome::Valid);
    let document = answer.json();
    let about = document.get("verify").unwrap();
    let text = |name: &str| about.get(name).and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(
        text("public_key_url"),
        format!("http://{}/.well-known/agent-card.json", rig.address)
    );
    assert_eq!(text("service"), "Agent Output Verifier");
    assert_eq!(text("key_version"), "v1-2026-11a");
    // Version 7, so that the store's index grows at its end.
    assert_eq!(&answer.member("verification_id")[14..15], "7");
}

#[test]
fn a_fail_is_an_answer_too() {
    let rig = Rig::start();
    let answer = rig.post("/verify/schema", FAILING.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.member("result"), "fail");
    assert!(answer.text().contains("values sum to 3, expected total (4)"));
    let short = rig.post("/verify/schema", compact(FAILING).as_bytes());
    assert_eq!(short.member("result"), "fail");
    assert!(!short.text().contains("\"errors\""), "compact has no lists");
    for body in [&answer.body, &short.body] {
        let verified = verify(body, &rig.keys(), &Supplied::default()).unwrap();
        assert_eq!(verified.outcome(), Outcome::Valid);
    }
}

#[test]
fn the_golden_invoices_come_out_as_published() {
    let rig = Rig::start();
    for name in ["invoice-draft", "invoice-final"] {
        let answer = rig.post("/verify/schema", &vector(&format!("{name}.request.json")));
        let published = read(&vector(&format!("{name}.response.json"))).unwrap();
        let published = published.as_object().unwrap().members();
        let document = answer.json();
        assert_eq!(document.as_object().unwrap().len(), published.len(), "{name}");
        for member in published {
            // What differs by nature: id, time, version, key and address.
            let ours = [
                "verification_id",
                "verified_at",
                "verifier_version",
                "verify",
                "attestation",
            ];
            if !ours.contains(&member.name.as_str()) {
                assert_eq!(
                    document.get(&member.name),
                    Some(&member.value),
                    "{name}: {}",
                    member.name
                );
            }
        }
        let verified = verify(&answer.body, &rig.keys(), &Supplied::default()).unwrap();
        assert_eq!(verified.outcome(), Outcome::Valid);
    }
}

#[test]
fn a_schema_that_is_not_valid_and_an_output_that_breaks_it_are_told_apart() {
    let rig = Rig::start();
    let request = |schema: &str, output: &str| {
        let body = format!(r#"{{"task_id":"t","expected_schema":{schema},"submitted_output":{output}}}"#);
        rig.post("/verify/schema", body.as_bytes())
    };
    let fail = request(
        r#"{"properties":{"total":{"type":"number"}}}"#,
        r#"{"total":"x"}"#,
    );
    assert_eq!((fail.status, fail.member("result")), (200, "fail".to_owned()));
    assert!(
        fail.text()
            .contains("schema:type at '$.total': expected number, found string"),
        "{}",
        fail.text()
    );
    let invalid = request(r#"{"type":"nonsense"}"#, "{}");
    assert_eq!(
        (invalid.status, invalid.member("code")),
        (422, "invalid_request".to_owned())
    );
    assert!(invalid.text().contains("\"guidance\"") && invalid.text().contains("expected_schema.type"));
}

#[test]
fn a_hostile_schema_costs_a_422_and_nobody_else_anything() {
    let rig = Rig::start();
    // Each definition applies the next one twice: 2^40 evaluations.
    let doubling: Vec<_> = (0..40)
        .map(|level| {
            format!(
                r##""d{level}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                level + 1
            )
        })
        .collect();
    let doubling = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d40":{{"type":"null"}}}}}}"##,
        doubling.join(",")
    );
    // A chain of references that goes no deeper into the output.
    let chain: Vec<_> = (0..4_000)
        .map(|level| format!(r##""d{level}":{{"$ref":"#/$defs/d{}"}}"##, level + 1))
        .collect();
    let chain = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d4000":{{}}}}}}"##,
        chain.join(",")
    );
    for schema in [doubling, chain, r##"{"$ref":"#"}"##.to_owned()] {
        let body = format!(r#"{{"task_id":"t","expected_schema":{schema},"submitted_output":null}}"#);
        let answer = rig.post("/verify/schema", body.as_bytes());
        assert_eq!(
            (answer.status, answer.member("code")),
            (422, "invalid_request".to_owned()),
            "{}",
            answer.text()
        );
        assert!(
            answer.member("message").contains("expected_schema"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(rig.post("/verify/schema", MINIMAL.as_bytes()).status, 200);
}

#[test]
fn both_routes_give_the_same_but_for_id_and_signature() {
    let rig = Rig::start();
    let stripped = |path: &str| {
        let text = rig.post(path, FAILING.as_bytes()).text();
        let document = read(text.as_bytes()).unwrap();
        let id = document
            .get("verification_id")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        let text = text.replace(&id, "ID");
        text[..text.find("\"signature\"").unwrap()].to_owned()
    };
    assert_eq!(stripped("/verify/schema"), stripped("/verify/deliverable"));
}

#[test]
fn the_published_hashes_come_out() {
    let rig = Rig::start();
    let vectors = read(&vector("request-hash.json")).unwrap();
    for entry in vectors.as_array().unwrap() {
        let request = countersign_core::canonical::bytes(entry.get("request").unwrap());
        let answer = rig.post("/verify/schema", &request);
        assert_eq!(
            answer.member("request_hash"),
            entry.get("request_hash").unwrap().as_str().unwrap(),
            "{}",
            answer.text()
        );
    }
}

#[test]
fn a_request_that_breaks_the_contract_is_told_what_to_mend() {
    let rig = Rig::start();
    let rows: &[(&str, &str)] = &[
        ("", "body is empty"),
        (" \n", "body is empty"),
        ("nonsense", "body is not valid JSON at line 1, column 2"),
        ("[]", "body is not one JSON object"),
        ("{}", "task_id is required"),
        (
            r#"{"task_id":"a","task_id":"b"}"#,
            "body has two members with the same name",
        ),
        (&MINIMAL.replace("tv-1", ""), "task_id is empty"),
        (&MINIMAL.replace("\"tv-1\"", "7"), "task_id is not a string"),
        (
            &MINIMAL.replace("true}", "1e400}"),
            "submitted_output.ok is a number beyond",
        ),
        (
            &MINIMAL.replace("true}", "9007199254740993}"),
            "submitted_output.ok is an integer that",
        ),
        (
            &MINIMAL.replacen('{', r#"{"enforce_rule":true,"#, 1),
            "body has a member that the contract",
        ),
        (
            &MINIMAL.replacen('{', r#"{"rules":[{"type":"sum","field":"a"}],"#, 1),
            "rules[0].type is not one",
        ),
        (
            &format!("\u{feff}{MINIMAL}"),
            "body begins with a byte order mark",
        ),
    ];
    for path in ["/verify/schema", "/verify/deliverable"] {
        for (body, expected) in rows {
            let answer = rig.post(path, body.as_bytes());
            assert_eq!(answer.status, 422, "{body}");
            assert_eq!(answer.member("code"), "invalid_request");
            let message = answer.member("message");
            assert!(
                message.starts_with(&format!("The request is invalid: {expected}")),
                "{body}: {message}"
            );
            assert_eq!(answer.header("retry-after"), None);
        }
    }
    let bad_utf8 = rig.post("/verify/schema", b"{\"task_id\":\"\xff\"}");
    assert!(
        bad_utf8.member("message").contains("body is not UTF-8"),
        "{}",
        bad_utf8.text()
    );
}

#[test]
fn no_value_of_a_caller_comes_back_in_a_problem() {
    let rig = Rig::start();
    let body = MINIMAL
        .replacen(
            '{',
            r#"{"secret-name":"secret-value","detail":"secret-detail","#,
            1,
        )
        .replace("\"tv-1\"", "[\"secret-task\"]");
    let answer = rig.post("/verify/schema", body.as_bytes());
    assert_eq!(answer.status, 422);
    assert!(!answer.text().contains("secret"), "{}", answer.text());
}

#[test]
fn content_type_and_encoding_are_not_examined() {
    let rig = Rig::start();
    for (name, value) in [
        ("Content-Type", "text/plain"),
        ("Content-Encoding", "gzip"),
        ("Accept", "text/html"),
    ] {
        let answer = rig.request("POST", "/verify/schema", &[(name, value)], MINIMAL.as_bytes());
        assert_eq!(answer.status, 200, "{name}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[test]
fn a_schema_with_a_pattern_and_a_large_output_are_checked_on_the_bench() {
    let rig = Rig::start();
    let pattern = r#"{"task_id":"t","expected_schema":{"pattern":"^a+$"},"submitted_output":"aaa"}"#;
    for _ in 0..3 {
        let answer = rig.post("/verify/schema", pattern.as_bytes());
        assert_eq!((answer.status, answer.member("result")), (200, "pass".to_owned()));
    }
    let numbers = vec!["1"; 50_000].join(",");
    let large = format!(r#"{{"task_id":"t","expected_schema":{{}},"submitted_output":[{numbers}]}}"#);
    let answer = rig.post("/verify/schema", large.as_bytes());
    assert_eq!((answer.status, answer.member("result")), (200, "pass".to_owned()));
    let broken = rig.post("/verify/schema", &large.as_bytes()[..large.len() - 1]);
    assert_eq!(broken.status, 422);
}
