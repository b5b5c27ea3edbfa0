//! `GET /score/{agent_id}` and `GET /reputation/{agent_id}`.

use crate::rig::{Answer, FAILING, MINIMAL, Rig};
use countersign_core::json::Value;
use countersign_core::receipt::{Outcome, Supplied, verify};
use countersign_core::statement::Context;
use countersign_service::Patience;

const DAY_SECONDS: u32 = 86_400;

/// One check of this agent; ids are JSON strings.
fn check(rig: &Rig, task: &str, agent: &str, passes: bool) {
    let output = if passes { "1" } else { "\"1\"" };
    let body = format!(
        r#"{{"task_id":{task},"agent_id":{agent},"expected_schema":{{"type":"integer"}},"submitted_output":{output},"detail":"compact"}}"#
    );
    let answer = rig.post("/verify/schema", body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.member("result"), if passes { "pass" } else { "fail" });
}

fn checks(rig: &Rig, agent: &str, results: &[bool]) {
    results
        .iter()
        .for_each(|passes| check(rig, "\"task\"", agent, *passes));
}

fn score(rig: &Rig, path: &str) -> Answer {
    let answer = rig.get(&format!("/score/{path}"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let verified = verify(&answer.body, &rig.keys(), &Supplied::default()).unwrap();
    assert_eq!(
        (verified.outcome(), verified.context),
        (Outcome::Valid, Context::Score)
    );
    assert_eq!(verified.attested_at, answer.member("computed_at"));
    answer
}

fn assert_says(answer: &Answer, parts: &[&str]) {
    for part in parts {
        assert!(answer.text().contains(part), "{part} in {}", answer.text());
    }
}

#[test]
fn a_score_is_signed_and_follows_from_the_counted_checks() {
    let mut rig = Rig::with("public_url = \"https://verify.example\"", Patience::default());
    let nine_of_ten: Vec<_> = (0..10).map(|index| index != 4).collect();
    checks(&rig, "\"seller-7\"", &nine_of_ten);
    checks(&rig, "\"seller-8\"", &[false]);
    let said = concat!(
        r#"{"agent_id":"seller-7","trust_score":0.9,"confidence_interval_95":[0.5958,0.9821],"sample_size":10,"#,
        r#""verified":10,"passed":9,"failed":1,"first_seen":"2026-11-05T00:00:00.000000+00:00","#,
        r#""last_seen":"2026-11-05T00:00:00.000000+00:00","identity_verified":false,"reason":null,"computed_at":"#,
    );
    let first = score(&rig, "seller-7");
    assert!(first.text().starts_with(said), "{}", first.text());
    let rest = r#","next_actions":[],"verify":{"public_key_url":"https://verify.example/.well-known/agent-card.json","#;
    assert_says(&first, &[rest]);
    // It does not age when nothing happens, and survives a restart; only the time of signing is another.
    rig.clock.forward(90 * DAY_SECONDS);
    let later = score(&rig, "seller-7");
    assert!(later.text().starts_with(said), "{}", later.text());
    assert_ne!(later.member("computed_at"), first.member("computed_at"));
    rig.restart();
    assert_eq!(
        score(&rig, "seller-7").body,
        later.body,
        "the same time gives the same bytes"
    );
}

#[test]
fn old_checks_weigh_less() {
    let rig = Rig::start();
    for passes in [true, false, true] {
        checks(&rig, "\"a\"", &[passes]);
        rig.clock.forward(30 * DAY_SECONDS);
    }
    assert_says(
        &score(&rig, "a"),
        &[r#""trust_score":0.7143,"confidence_interval_95":[0.2005,0.9614],"sample_size":3"#],
    );
    let rig = Rig::with("[score]\nhalf_life_days = 15", Patience::default());
    checks(&rig, "\"a\"", &[false]);
    rig.clock.forward(30 * DAY_SECONDS);
    checks(&rig, "\"a\"", &[true]);
    assert_says(&score(&rig, "a"), &[r#""trust_score":0.8,"#]);
    assert_says(
        &rig.get("/.well-known/agent-card.json"),
        &[r#""halfLifeDays":15,"#],
    );
}

#[test]
fn an_agent_without_a_counted_check_has_no_data_and_that_is_signed() {
    let rig = Rig::start();
    rig.post("/verify/schema", MINIMAL.as_bytes()); // Names no agent.
    let said = concat!(
        r#""trust_score":null,"confidence_interval_95":null,"sample_size":0,"verified":0,"passed":0,"failed":0,"#,
        r#""first_seen":null,"last_seen":null,"identity_verified":false,"reason":"no_data","computed_at":"#,
    );
    let action = r#""next_actions":[{"action":"verify_first_output"}],"#;
    for agent in ["nobody", "null", "test-nobody"] {
        assert_says(&score(&rig, agent), &[said, action]);
        let reputation = rig.get(&format!("/reputation/{agent}"));
        let expected = format!(
            concat!(
                r#"{{"agent_id":"{agent}","verified":0,"passed":0,"failed":0,"first_seen":null,"last_seen":null,"#,
                r#""recent":[],"identity_verified":false,"reason":"no_data","score":{{"url":"http://{address}/score/"#,
                r#"{agent}","price":"free on this instance"}}}}"#,
            ),
            agent = agent,
            address = rig.address
        );
        assert_eq!((reputation.status, reputation.text()), (200, expected));
    }
}

#[test]
fn ids_are_whatever_a_check_may_name() {
    let rig = Rig::start();
    let long = format!("\"{}\"", "ä".repeat(200));
    let long_path = "%C3%A4".repeat(200);
    let rows: &[(&str, &[&str])] = &[
        ("\"seller-7\"", &["seller-7", "seller%2D7", "%73eller-7"]),
        (
            "\"did:web:a.example\"",
            &["did:web:a.example", "did%3Aweb%3aa.example"],
        ),
        (
            "\"org/team/agent\"",
            &["org/team/agent", "org%2Fteam%2fagent", "org/team%2Fagent"],
        ),
        ("\"/\"", &["/", "%2F"]),
        ("\"a/\"", &["a/", "a%2F"]),
        ("\"a//b\"", &["a//b"]),
        ("\"../health\"", &["../health", "..%2Fhealth"]),
        ("\"a b+c\"", &["a%20b+c", "a%20b%2Bc"]),
        ("\"100%\"", &["100%25"]),
        ("\"%2F\"", &["%252F"]),
        ("\"a?b#c\"", &["a%3Fb%23c"]),
        ("\"Zoë €\"", &["Zo%C3%AB%20%E2%82%AC", "Zoë%20€"]),
        ("\"\u{1F600}\"", &["%F0%9F%98%80"]),
        ("\"e\u{301}\"", &["e%CC%81"]),
        ("\"\u{e9}\"", &["%C3%A9"]),
        ("\"Test-a\"", &["Test-a"]),
        ("\"a\\\"b\\\\c\"", &["a%22b%5Cc"]),
        (&long, &[&long_path]),
    ];
    for (agent, _) in rows {
        checks(&rig, agent, &[true]);
    }
    for (agent, paths) in rows {
        for path in *paths {
            let answer = score(&rig, path);
            let start = format!("{{\"agent_id\":{agent},\"trust_score\":1.0,");
            assert!(answer.text().starts_with(&start), "{path}: {}", answer.text());
            assert_says(&answer, &["\"sample_size\":1,"]);
            let reputation = rig.get(&format!("/reputation/{path}")).json();
            // The address of the score leads to the same agent.
            let url = reputation
                .get("score")
                .and_then(|score| score.get("url"))
                .and_then(Value::as_str)
                .unwrap();
            let (_, encoded) = url.split_once("/score/").unwrap();
            assert!(!encoded.contains('/') && encoded.is_ascii(), "{url}");
            assert!(score(&rig, encoded).text().starts_with(&start), "{url}");
        }
    }
}

#[test]
fn what_begins_with_test_never_counts() {
    let rig = Rig::start();
    check(&rig, "\"test-1\"", "\"a\"", false);
    check(&rig, "\"task\"", "\"test-a\"", true);
    check(&rig, "\"test-1\"", "\"test-a\"", true);
    for agent in ["a", "test-a"] {
        assert_says(
            &score(&rig, agent),
            &[r#""sample_size":0,"#, r#""reason":"no_data""#],
        );
        assert_says(&rig.get(&format!("/reputation/{agent}")), &[r#""recent":[],"#]);
    }
    // Exactly so, in lower case, at the beginning.
    for task in ["\"Test-1\"", "\"a-test-1\"", "\"test\"", "\" test-1\""] {
        check(&rig, task, "\"a\"", true);
    }
    assert_says(
        &score(&rig, "a"),
        &[r#""trust_score":1.0,"#, r#""sample_size":4,"#],
    );
    assert_says(
        &rig.get("/reputation/a"),
        &[r#""verified":4,"passed":4,"failed":0,"#],
    );
}

#[test]
fn an_id_that_no_check_can_name_is_told_so_and_not_repeated() {
    let rig = Rig::start();
    let long = "secret".repeat(34);
    let rows = [
        ("", "agent_id is empty"),
        (long.as_str(), "agent_id is longer than 200 characters"),
        ("secret%00", "agent_id contains a control character"),
        ("secret%0A", "agent_id contains a control character"),
        ("secret%C2%9F", "agent_id contains a control character"),
        ("secret%", "agent_id is not percent-encoded UTF-8"),
        ("secret%2", "agent_id is not percent-encoded UTF-8"),
        ("secret%zz", "agent_id is not percent-encoded UTF-8"),
        ("secret%FF", "agent_id is not percent-encoded UTF-8"),
        ("secret%C0%AF", "agent_id is not percent-encoded UTF-8"),
    ];
    for (path, expected) in rows {
        for route in ["score", "reputation"] {
            let answer = rig.get(&format!("/{route}/{path}"));
            assert_eq!(
                (answer.status, answer.member("code")),
                (422, "invalid_request".to_owned()),
                "{path}"
            );
            let message = answer.member("message");
            assert!(
                message.starts_with(&format!("The request is invalid: {expected}.")),
                "{message}"
            );
            assert_says(
                &answer,
                &[
                    "\"fix_request_fields\",\"fields\":[\"agent_id\"]",
                    "\"guidance\":{",
                ],
            );
            assert!(!answer.text().contains("secret"), "{}", answer.text());
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }
    for path in ["/score", "/reputation", "/Score/a", "/scores/a", "//score/a"] {
        assert_eq!(rig.get(path).status, 404, "{path}");
    }
}

#[test]
fn both_routes_have_the_headers_of_the_door() {
    let rig = Rig::start();
    checks(&rig, "\"a/b\"", &[true]);
    for path in ["/score/a/b", "/reputation/a/b"] {
        let get = rig.get(path);
        for (name, value) in [
            ("content-type", "application/json"),
            ("cache-control", "no-store"),
            ("access-control-allow-origin", "*"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(get.header(name), Some(value), "{path} {name}");
        }
        assert_eq!(get.header("etag"), None);
        let head = rig.request("HEAD", path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(
            head.header("content-length"),
            get.header("content-length"),
            "{path}"
        );
        let post = rig.post(path, b"{}");
        assert_eq!(
            (post.status, post.header("allow")),
            (405, Some("GET, HEAD, OPTIONS"))
        );
    }
    // In open mode a payment that is sent along is not looked at.
    let paid = rig.request("GET", "/score/a/b", &[("Payment-Signature", "x")], b"");
    assert_eq!(paid.status, 200);
}

#[test]
fn a_reputation_lists_the_newest_twenty_and_carries_no_score() {
    let rig = Rig::with("public_url = \"https://verify.example\"", Patience::default());
    for number in 0..23 {
        checks(&rig, "\"a\"", &[number % 4 != 3]);
        rig.clock.forward(60);
    }
    let answer = rig.get("/reputation/a");
    let start = concat!(
        r#"{"agent_id":"a","verified":23,"passed":18,"failed":5,"first_seen":"2026-11-05T00:00:00.000000+00:00","#,
        r#""last_seen":"2026-11-05T00:22:00.000000+00:00","recent":["#,
        r#"{"verified_at":"2026-11-05T00:22:00.000000+00:00","result":"pass"},"#,
        r#"{"verified_at":"2026-11-05T00:21:00.000000+00:00","result":"pass"},"#,
        r#"{"verified_at":"2026-11-05T00:20:00.000000+00:00","result":"pass"},"#,
        r#"{"verified_at":"2026-11-05T00:19:00.000000+00:00","result":"fail"},"#,
    );
    assert!(answer.text().starts_with(start), "{}", answer.text());
    let end = concat!(
        r#"{"verified_at":"2026-11-05T00:03:00.000000+00:00","result":"fail"}],"identity_verified":false,"#,
        r#""reason":null,"score":{"url":"https://verify.example/score/a","price":"free on this instance"}}"#,
    );
    assert!(answer.text().ends_with(end), "{}", answer.text());
    let document = answer.json();
    assert_eq!(
        document.get("recent").and_then(Value::as_array).unwrap().len(),
        20
    );
    assert!(document.get("trust_score").is_none() && document.get("attestation").is_none());
}

#[test]
fn the_service_checks_its_own_scores() {
    let rig = Rig::start();
    checks(&rig, "\"a\"", &[true, false]);
    let signed = score(&rig, "a").text();
    let ask = |receipt: &str| {
        rig.post(
            "/receipts/verify",
            format!("{{\"receipt\":{receipt}}}").as_bytes(),
        )
        .text()
    };
    let valid = ask(&signed);
    let start =
        r#"{"valid":true,"signature":"valid","context":"json-schema-verifier/trust-score-attestation/v1""#;
    assert!(valid.starts_with(start), "{valid}");
    for (from, to) in [
        ("\"trust_score\":0.5", "\"trust_score\":0.99"),
        ("\"agent_id\":\"a\"", "\"agent_id\":\"b\""),
        ("\"failed\":1", "\"failed\":0"),
        ("\"identity_verified\":false", "\"identity_verified\":true"),
    ] {
        let forged = ask(&signed.replacen(from, to, 1));
        assert!(
            forged.starts_with(r#"{"valid":false,"signature":"bad_signature""#),
            "{from}: {forged}"
        );
    }
    // A score is kept nowhere; its record is what can be computed again.
    assert!(ask(&FAILING.replace("task_id", "trust_score")).contains("\"invalid_request\""));
}

#[test]
fn a_record_that_somebody_changed_into_nonsense_is_never_signed() {
    let mut rig = Rig::start();
    checks(&rig, "\"a\"", &[true, false]);
    checks(&rig, "\"b\"", &[true]);
    for nonsense in [
        "weights = 1e300",
        "passed_weights = 7",
        "squares = 0",
        "passed = 3",
        "passed = 2",
        "verified = 0",
        "last_seen = first_seen - 1",
    ] {
        rig.stop();
        let database = rusqlite::Connection::open(rig.data().join("countersign.db")).unwrap();
        let copy = "DROP TABLE IF EXISTS kept; CREATE TEMP TABLE kept AS SELECT * FROM agent";
        database.execute_batch(copy).unwrap();
        database
            .execute(&format!("UPDATE agent SET {nonsense} WHERE agent_id = 'a'"), [])
            .unwrap();
        rig.restart();
        for path in ["/score/a", "/reputation/a"] {
            let answer = rig.get(path);
            assert_eq!(
                (answer.status, answer.member("code")),
                (503, "service_unavailable".to_owned()),
                "{nonsense}"
            );
            assert_eq!(answer.header("retry-after"), Some("3600"));
        }
        assert_eq!(rig.get("/score/b").status, 200, "the other agent is as it was");
        rig.stop();
        database
            .execute_batch("DELETE FROM agent; INSERT INTO agent SELECT * FROM kept")
            .unwrap();
    }
    rig.restart();
    score(&rig, "a");
}

#[test]
fn the_agent_card_publishes_the_method() {
    let rig = Rig::start();
    let card = rig.get("/.well-known/agent-card.json");
    assert_says(
        &card,
        &[
            concat!(
                r#""contexts":["json-schema-verifier/verify-schema-attestation/v1","#,
                r#""json-schema-verifier/trust-score-attestation/v1"]"#,
            ),
            r#""scoreMethod":{"halfLifeDays":30,"weight":"w = 0.5^(age in days / halfLifeDays)"#,
            r#""z":1.959964,"#,
            r#""decimals":4,"#,
        ],
    );
    assert_says(
        &rig.get("/"),
        &["/score/{agent_id}\"", "/reputation/{agent_id}\""],
    );
}
