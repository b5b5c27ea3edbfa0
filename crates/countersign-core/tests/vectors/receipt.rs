//! `vectors/receipt`: the offline check.

use super::{folder, run_all};
use countersign_core::canonical::Hash;
use countersign_core::check::request::{CompileAnew, Request, rules_hash};
use countersign_core::json::{self, read};
use countersign_core::key::{KeyList, PublicKey};
use countersign_core::receipt::{Outcome, Supplied, verify};
use serde_json::Value;

fn keys(input: &Value) -> KeyList {
    let list = match &input["keys"] {
        Value::String(file) => std::fs::read(folder("receipt").join(file)).unwrap(),
        list => list.to_string().into_bytes(),
    };
    match input.get("root_key") {
        None => KeyList::parse(&list).unwrap(),
        Some(root) => {
            let root = PublicKey::from_base64(root.as_str().unwrap()).unwrap();
            KeyList::parse_rooted(&list, root).unwrap()
        }
    }
}

fn supplied(input: &Value) -> Supplied {
    let value =
        |name: &str| -> Option<json::Value> { Some(read(input.get(name)?.as_str()?.as_bytes()).unwrap()) };
    if let Some(request) = input.get("request") {
        return Request::parse(request.as_str().unwrap().as_bytes(), &CompileAnew)
            .unwrap()
            .hashes
            .into();
    }
    let (rules, bounds) = (value("rules"), value("bounds"));
    Supplied {
        output: value("submitted_output").as_ref().map(Hash::of_value),
        schema: value("expected_schema").as_ref().map(Hash::of_value),
        rules: (rules.is_some() || bounds.is_some()).then(|| rules_hash(rules.as_ref(), bounds.as_ref())),
        request: None,
    }
}

fn offline_check(case: &Value) -> Result<(), String> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let verified = verify(
        input["receipt"].as_str().unwrap().as_bytes(),
        &keys(input),
        &supplied(input),
    );
    let outcome = verified
        .as_ref()
        .map_or(Outcome::Malformed, countersign_core::receipt::Verified::outcome)
        .as_str();
    let allowed = expect["outcome"]
        .as_array()
        .map_or_else(|| vec![&expect["outcome"]], |list| list.iter().collect());
    if !allowed.iter().any(|allowed| **allowed == outcome) {
        return Err(format!("{outcome} is not {}", expect["outcome"]));
    }
    let Some(verified) = verified else { return Ok(()) };
    let told: Value = serde_json::from_slice(&countersign_core::document::json(&verified.members())).unwrap();
    for name in ["key_version", "key_status", "attested_at", "hashes"] {
        if let Some(wanted) = expect.get(name).filter(|wanted| told[name] != **wanted) {
            return Err(format!("{name} is {}, not {wanted}", told[name]));
        }
    }
    Ok(())
}

#[test]
fn receipts() {
    run_all("receipt", 300, offline_check);
}
