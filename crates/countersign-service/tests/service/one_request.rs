//! One request through each door: the same hashes, counts and findings, and the same refusals.

use crate::rig::{FAILING, MINIMAL, Rig, config, vector};
use countersign_core::json::{Value, read};
use countersign_service::{Patience, check_once, open_keys};

const DOORS: [&str; 4] = ["REST", "MCP", "A2A", "command"];

/// What a door answers to a request: the receipt or the problem.
fn through(door: &str, rig: &Rig, request: &str) -> Value {
    let json = ("Content-Type", "application/json");
    let text = match door {
        "REST" => rig.post("/verify/schema", request.as_bytes()).text(),
        "MCP" => {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"verify_schema","arguments":{request}}}}}"#
            );
            let answer = rig.request("POST", "/mcp", &[json], body.as_bytes()).json();
            let content = answer.get("result").and_then(|result| result.get("content"));
            let text = content
                .and_then(Value::as_array)
                .and_then(|content| content[0].get("text"));
            text.and_then(Value::as_str).unwrap().to_owned()
        }
        "A2A" => {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":{request}}}]}}}}}}"#
            );
            let answer = rig
                .request("POST", "/a2a", &[json, ("A2A-Version", "1.0")], body.as_bytes())
                .json();
            let task = answer
                .get("result")
                .and_then(|result| result.get("task"))
                .unwrap();
            let message = task.get("status").and_then(|status| status.get("message"));
            let holder = task
                .get("artifacts")
                .and_then(Value::as_array)
                .map(|artifacts| &artifacts[0]);
            let parts = holder.or(message).and_then(|holder| holder.get("parts")).unwrap();
            return parts.as_array().unwrap()[0].get("data").unwrap().clone();
        }
        _ => {
            let config = config(rig.folder.path(), "");
            let signer = open_keys(&config).unwrap();
            match check_once(&config, &signer, request.as_bytes(), None) {
                Ok(checked) => String::from_utf8(checked.answer).unwrap(),
                Err(problem) => String::from_utf8(problem.json("")).unwrap(),
            }
        }
    };
    read(text.as_bytes()).unwrap()
}

fn rig() -> Rig {
    Rig::with("[http]\nallowed_hosts = [\"x\"]", Patience::default())
}

#[test]
fn every_door_gives_the_same_receipt_but_for_id_time_and_signature() {
    let rig = rig();
    let golden = String::from_utf8(vector("invoice-draft.request.json")).unwrap();
    for request in [MINIMAL, FAILING, &golden] {
        let rest = through("REST", &rig, request);
        for door in DOORS {
            let receipt = through(door, &rig, request);
            for member in rest.as_object().unwrap().members() {
                if !["verification_id", "verified_at", "verify", "attestation"]
                    .contains(&member.name.as_str())
                {
                    assert_eq!(
                        receipt.get(&member.name),
                        Some(&member.value),
                        "{door}: {}",
                        member.name
                    );
                }
            }
            for hash in ["output_hash", "schema_hash", "rules_hash", "request_hash"] {
                assert!(
                    receipt.get(hash).and_then(Value::as_str).is_some(),
                    "{door}: {hash}"
                );
            }
        }
    }
}

#[test]
fn the_published_hashes_come_out_of_each() {
    let rig = rig();
    let text = String::from_utf8(vector("request-hash.json")).unwrap();
    let vectors = read(text.as_bytes()).unwrap();
    for entry in vectors.as_array().unwrap() {
        let canonical = countersign_core::canonical::bytes(entry.get("request").unwrap());
        let request = String::from_utf8(canonical).unwrap();
        for door in DOORS {
            let receipt = through(door, &rig, &request);
            assert_eq!(
                receipt.get("request_hash"),
                entry.get("request_hash"),
                "{door}: {request}"
            );
        }
    }
}

#[test]
fn what_would_be_read_in_two_ways_is_refused_at_each() {
    let rig = rig();
    let with = |output: &str| MINIMAL.replace("true}", &format!("{output}}}"));
    for (request, accepted) in [
        (with("9007199254740991"), true),
        (with("100000000000000000000"), true),
        (with("9007199254740993"), false),
        (with("1e400"), false),
        (with(r#""\ud800""#), false),
        (with(r#"{"a":1,"a":2}"#), false),
        (MINIMAL.replacen('{', r#"{"task_id":"b","#, 1), false),
    ] {
        for door in DOORS {
            let answer = through(door, &rig, &request);
            assert_eq!(answer.get("result").is_some(), accepted, "{door}: {request}");
            let code = answer.get("code").and_then(Value::as_str);
            assert_eq!(
                code,
                (!accepted).then_some("invalid_request"),
                "{door}: {request}"
            );
        }
    }
}
