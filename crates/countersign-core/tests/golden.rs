//! The golden examples of the contract (verification.md, section 26), rebuilt byte for byte.

// What a test cannot read fails it; reading the vectors is its business.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use base64::Engine;
use countersign_core::canonical::Hash;
use countersign_core::check::budget::Budget;
use countersign_core::check::request::{CompileAnew, Request};
use countersign_core::json::{self, Value};
use countersign_core::key::{KeyList, PublicKey};
use countersign_core::receipt::{Facts, Issuer, Outcome, Supplied, verify};
use countersign_core::time::Timestamp;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../vectors/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn keys() -> KeyList {
    KeyList::parse(&file("public-keys.json")).unwrap()
}

struct Golden {
    name: &'static str,
    id: &'static str,
    verified_at: i64,
    signed_bytes: (usize, &'static str),
    request_hash: &'static str,
}

const GOLDEN: [Golden; 2] = [
    Golden {
        name: "invoice-draft",
        id: "28afb453-7c39-4993-a9c4-fcade1b7924f",
        verified_at: 1_790_816_469_606_993,
        signed_bytes: (
            2218,
            "58f60d64270fd89a96c9229b03e7536e1c4659eb973cf84dc175adbaa01eb63a",
        ),
        request_hash: "e4bf9733726b24a19ec546ecc79015c9b1cb7a6829b409b41ef56b1c8f60b881",
    },
    Golden {
        name: "invoice-final",
        id: "96b4f722-04c3-47c7-8708-5bba97fd18b5",
        verified_at: 1_790_816_475_158_857,
        signed_bytes: (
            1120,
            "903b5dc01060a002fa95e5b7bfcdae57d9528f1d94e03c692e1d30db449144a9",
        ),
        request_hash: "2889228122eca5637b7798f53fdf5e286c269d2f690dbdbf598c49f8b7a46224",
    },
];

fn uuid(text: &str) -> [u8; 16] {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    u128::from_str_radix(&digits, 16).unwrap().to_be_bytes()
}

/// The members of a JSON text in the order of the text, at every level, as one line.
fn with_order(text: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(text).unwrap();
    let compact = serde_json::to_string(&value).unwrap();
    // Order and spelling of the text itself: white space outside strings removed.
    let (mut out, mut in_string, mut escaped) = (String::new(), false, false);
    for c in String::from_utf8(text.to_vec()).unwrap().chars() {
        if in_string || !c.is_whitespace() {
            out.push(c);
        }
        if in_string {
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else {
            in_string = c == '"';
        }
    }
    assert_eq!(out.len(), compact.len(), "only white space was removed");
    out
}

#[test]
fn golden_receipts_are_rebuilt_byte_for_byte() {
    for golden in GOLDEN {
        let request = Request::parse(&file(&format!("{}.request.json", golden.name)), &CompileAnew).unwrap();
        assert_eq!(request.hashes.request.to_string(), golden.request_hash);
        let report = request
            .demand
            .check(&request.output, &mut Budget::default())
            .unwrap();
        let facts = Facts::new(
            &request,
            &report,
            uuid(golden.id),
            Timestamp(golden.verified_at),
            "0.4.1",
        );
        let issuer = Issuer {
            public_url: "https://fastapi-service-5ag4.onrender.com",
            service_name: "Agent Output Verifier",
            key_version: "v1-2026-09c",
        };
        let unsigned = facts.receipt(&report, request.detail, &issuer);
        let (length, digest) = golden.signed_bytes;
        assert_eq!(unsigned.signed_bytes.len(), length);
        assert_eq!(Hash::of(&unsigned.signed_bytes).to_string(), digest);

        let response = file(&format!("{}.response.json", golden.name));
        let given = json::read(&response).unwrap();
        let signature = given
            .get("attestation")
            .and_then(|a| a.get("signature"))
            .and_then(Value::as_str)
            .unwrap();
        let KeyList::Listed(listed) = keys() else {
            panic!("a list")
        };
        assert!(listed[0].public_key.verifies(&unsigned.signed_bytes, signature));

        let signature = base64::engine::general_purpose::STANDARD
            .decode(signature)
            .unwrap();
        let answer = unsigned.seal(&signature.try_into().unwrap());
        assert_eq!(
            String::from_utf8(answer).unwrap(),
            with_order(&response),
            "member order and spelling too"
        );
    }
}

#[test]
fn golden_receipts_verify_with_their_requests() {
    for golden in GOLDEN {
        let request = Request::parse(&file(&format!("{}.request.json", golden.name)), &CompileAnew).unwrap();
        let response = file(&format!("{}.response.json", golden.name));
        let verified = verify(&response, &keys(), &request.hashes.into()).unwrap();
        assert_eq!(verified.outcome(), Outcome::Valid);
        let other = Request::parse(&file("invoice-final.request.json"), &CompileAnew).unwrap();
        let expected = if golden.name == "invoice-final" {
            Outcome::Valid
        } else {
            Outcome::HashMismatch
        };
        assert_eq!(
            verify(&response, &keys(), &other.hashes.into())
                .unwrap()
                .outcome(),
            expected
        );
        let pinned = PublicKey::from_base64("d2IHH0/Xduci/5J8IewYmauUvgqf+gFIeCEXDwjHUhw=").unwrap();
        let verified = verify(&response, &KeyList::Pinned(pinned), &Supplied::default()).unwrap();
        assert_eq!(verified.outcome(), Outcome::Valid);
    }
}

#[test]
fn request_hash_vectors_have_their_hash_result_and_counts() {
    let vectors: serde_json::Value = serde_json::from_slice(&file("request-hash.json")).unwrap();
    let expected = [
        ("minimal", (3, 3), (1, 1)),
        ("rules-and-bounds", (12, 12), (7, 7)),
        ("strict-and-unicode", (3, 3), (4, 4)),
    ];
    let text = String::from_utf8(file("request-hash.json")).unwrap();
    // The spelling of numbers in the file must reach the reader, so each request is cut out of the text.
    let requests: Vec<&str> = text
        .split("\"request\": ")
        .skip(1)
        .map(|rest| rest.split(",\n    \"canonical\"").next().unwrap())
        .collect();
    for (index, (name, schema, integrity)) in expected.into_iter().enumerate() {
        let vector = &vectors[index];
        assert_eq!(vector["name"], name);
        let request = Request::parse(requests[index].as_bytes(), &CompileAnew).unwrap();
        assert_eq!(
            request.hashes.request.to_string(),
            vector["request_hash"].as_str().unwrap()
        );
        assert_eq!(
            Hash::of(vector["canonical"].as_str().unwrap().as_bytes()),
            request.hashes.request
        );
        let report = request
            .demand
            .check(&request.output, &mut Budget::default())
            .unwrap();
        let count = |count: countersign_core::check::finding::Count| (count.passed, count.total);
        assert_eq!(
            (
                count(report.schema_compliance()),
                count(report.integrity_checks())
            ),
            (schema, integrity),
            "{name}"
        );
        assert!(report.blocking_checks().is_empty());
    }
}

#[test]
fn hashes_of_what_was_not_supplied() {
    let hash = |rules: &str| {
        let body = format!(r#"{{"task_id":"t","expected_schema":{{}},"submitted_output":1{rules}}}"#);
        Request::parse(body.as_bytes(), &CompileAnew).unwrap().hashes
    };
    let nothing = "1f775c90569b00e3e1574c29268cbb78953b2bb264c2df9a04c41fbf555fc918";
    let empty = "a1d53e596bab0a8404291bb60cc7baf00371a823c2cf163a763b2b7e6bceb571";
    assert_eq!(hash("").rules.to_string(), nothing);
    assert_eq!(hash(r#","rules":null,"bounds":null"#).rules.to_string(), nothing);
    assert_eq!(hash(r#","rules":[],"bounds":{}"#).rules.to_string(), empty);
    assert_eq!(hash("").request, hash(r#","rules":[],"bounds":{}"#).request);
    assert_eq!(hash("").request, hash(r#","detail":"compact""#).request);
}
