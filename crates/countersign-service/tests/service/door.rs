//! Paths, methods and headers.

use crate::rig::{Client, MINIMAL, Rig, vector};
use countersign_core::json::{Value, read};
use countersign_service::Patience;

const GETS: &[&str] = &[
    "/",
    "/health",
    "/health/ready",
    "/.well-known/agent-card.json",
    "/.well-known/agent-card",
    "/score/seller-7",
    "/reputation/seller-7",
];
const POSTS: &[&str] = &["/verify/schema", "/verify/deliverable", "/receipts/verify"];
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"];

#[test]
fn a_path_takes_its_methods_and_names_them_to_others() {
    let rig = Rig::start();
    let receipt = format!(
        "/receipts/{}",
        rig.post("/verify/schema", MINIMAL.as_bytes())
            .member("verification_id")
    );
    let gets = GETS
        .iter()
        .copied()
        .chain([receipt.as_str()])
        .map(|path| (path, "GET, HEAD, OPTIONS"));
    let posts = POSTS.iter().map(|path| (*path, "POST, OPTIONS"));
    for (path, allow) in gets.chain(posts) {
        for method in METHODS {
            let answer = rig.request(method, path, &[], MINIMAL.as_bytes());
            if allow.split(", ").any(|allowed| allowed == *method) {
                assert!(
                    answer.status == 200 || answer.status == 422,
                    "{method} {path}: {}",
                    answer.status
                );
                continue;
            }
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
            if *method != "HEAD" {
                assert_eq!(answer.member("code"), "method_not_allowed");
            }
        }
        let options = rig.request("OPTIONS", path, &[], b"");
        assert_eq!(
            (options.status, options.header("allow")),
            (204, Some(allow)),
            "{path}"
        );
        assert_eq!(
            options.header("access-control-allow-methods"),
            None,
            "no preflight"
        );
        let preflight = [
            ("Origin", "https://a.example"),
            ("Access-Control-Request-Method", "POST"),
        ];
        let preflight = rig.request("OPTIONS", path, &preflight, b"");
        assert_eq!(preflight.header("access-control-allow-methods"), Some(allow));
        assert_eq!(preflight.header("access-control-max-age"), Some("600"));
        let allowed = preflight.header("access-control-allow-headers").unwrap();
        assert!(allowed.contains("Payment-Signature, X-Payment") && allowed.contains("X-Request-Id"));
    }
}

#[test]
fn an_empty_post_is_invalid_and_asks_for_no_payment() {
    let rig = Rig::start();
    for path in POSTS {
        let answer = rig.request("POST", path, &[("Payment-Signature", "x")], b"");
        assert_eq!(answer.status, 422, "{path}");
        assert_eq!(answer.header("payment-required"), None);
    }
}

#[test]
fn every_answer_has_the_headers_of_its_kind() {
    let rig = Rig::with("public_url = \"https://verify.example\"", Patience::default());
    let rows = [
        ("GET", "/", 200, "public, max-age=300"),
        ("HEAD", "/", 200, "public, max-age=300"),
        ("GET", "/.well-known/agent-card.json", 200, "public, max-age=300"),
        ("GET", "/health", 200, "no-store"),
        ("GET", "/health/ready", 200, "no-store"),
        ("POST", "/verify/schema", 200, "no-store"),
        ("POST", "/receipts/verify", 422, "no-store"),
        ("GET", "/receipts/x", 404, "no-store"),
        ("GET", "/nowhere", 404, "no-store"),
        ("PUT", "/", 405, "no-store"),
        ("OPTIONS", "/", 204, "no-store"),
    ];
    for (method, path, status, cache) in rows {
        let answer = rig.request(method, path, &[], MINIMAL.as_bytes());
        assert_eq!(answer.status, status, "{method} {path}");
        let expected = [
            ("cache-control", cache),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("strict-transport-security", "max-age=31536000"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'",
            ),
            ("access-control-allow-origin", "*"),
        ];
        for (name, value) in expected {
            assert_eq!(answer.header(name), Some(value), "{method} {path}");
        }
        assert!(
            answer
                .header("access-control-expose-headers")
                .unwrap()
                .contains("X-Request-Id")
        );
        assert!(answer.header("x-request-id").is_some() && answer.header("date").is_some());
        assert_eq!(answer.header("server"), None);
        assert_eq!(answer.header("set-cookie"), None);
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let json = (status != 204).then_some("application/json");
        assert_eq!(answer.header("content-type"), json, "{method} {path}");
        assert_eq!(
            answer.header("etag").is_some(),
            cache.starts_with("public"),
            "{method} {path}"
        );
    }
    let plain = Rig::start();
    assert_eq!(
        plain.get("/health").header("strict-transport-security"),
        None,
        "the base URL is http"
    );
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let rig = Rig::start();
    for path in GETS {
        let (get, head) = (rig.get(path), rig.request("HEAD", path, &[], b""));
        for name in ["content-length", "content-type", "etag", "cache-control"] {
            assert_eq!(get.header(name), head.header(name), "{path} {name}");
        }
        assert_eq!((get.status, head.status, head.body.len()), (200, 200, 0));
        assert!(!get.body.is_empty());
        // Nothing stands behind the head of a HEAD.
        let mut client = rig.client();
        client.send("HEAD", path, &[("Connection", "close")], b"");
        client.receive("HEAD");
        assert!(client.is_closed(), "{path}");
    }
}

#[test]
fn unknown_paths_are_json_problems_for_every_method() {
    let rig = Rig::start();
    let rows = [
        "/verify/schema/",
        "//verify/schema",
        "/Verify/schema",
        "/verify/%73chema",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/mcp/.well-known/openid-configuration",
        "/register",
        "/authorize",
        "/token",
        "/../health",
    ];
    for path in rows {
        for method in ["GET", "POST", "OPTIONS", "DELETE"] {
            let answer = rig.request(method, path, &[], b"{}");
            assert_eq!(
                (answer.status, answer.member("code")),
                (404, "not_found".to_owned()),
                "{method} {path}"
            );
            assert_eq!(answer.header("www-authenticate"), None);
        }
    }
    assert_eq!(
        rig.get("/health?anything=1").status,
        200,
        "a query changes no path"
    );
}

#[test]
fn a_request_id_is_kept_if_it_is_harmless() {
    let rig = Rig::start();
    let long = "a".repeat(64);
    for id in ["a", "A-z_0.9", &long] {
        let answer = rig.request("GET", "/health", &[("X-Request-Id", id)], b"");
        assert_eq!(answer.header("x-request-id"), Some(id));
    }
    let longer = "a".repeat(65);
    for id in ["", "a b", "a\"b", "é", "a/b", "a{", &longer] {
        let answer = rig.request("GET", "/nowhere", &[("X-Request-Id", id)], b"");
        let given = answer.header("x-request-id").unwrap();
        assert_ne!(given, id);
        assert_eq!(
            (given.len(), given.matches('-').count()),
            (36, 4),
            "a UUID instead of {id:?}"
        );
    }
    let twice = [("X-Request-Id", "a"), ("X-Request-Id", "b")];
    assert_eq!(
        rig.request("GET", "/", &twice, b"")
            .header("x-request-id")
            .unwrap()
            .len(),
        36
    );
}

#[test]
fn a_document_that_the_client_has_is_not_sent_again() {
    let rig = Rig::start();
    for path in ["/", "/.well-known/agent-card.json"] {
        let etag = rig.get(path).header("etag").unwrap().to_owned();
        let rows = [
            (etag.clone(), 304),
            (format!("\"other\", {etag}"), 304),
            (format!("W/{etag}"), 304),
            ("*".to_owned(), 304),
            ("\"other\"".to_owned(), 200),
            (etag.replace('"', ""), 200),
        ];
        for (given, status) in rows {
            let answer = rig.request("GET", path, &[("If-None-Match", &given)], b"");
            assert_eq!(answer.status, status, "{path} {given}");
            assert_eq!(answer.header("etag"), Some(etag.as_str()));
            assert_eq!(answer.body.is_empty(), status == 304);
        }
    }
}

#[test]
fn the_card_lists_keys_and_vectors() {
    let rig = Rig::start();
    let answer = rig.get("/.well-known/agent-card.json");
    assert_eq!(answer.body, rig.get("/.well-known/agent-card").body);
    let card = answer.json();
    let extension = &card
        .get("capabilities")
        .unwrap()
        .get("extensions")
        .unwrap()
        .as_array()
        .unwrap()[0];
    assert_eq!(
        extension.get("uri").and_then(Value::as_str),
        Some("urn:json-schema-verifier:extension:attestation:v1")
    );
    let params = extension.get("params").unwrap();
    assert_eq!(
        params.get("requestHashTestVectors").unwrap(),
        &read(&vector("request-hash.json")).unwrap()
    );
    let keys = params.get("publicKeys").unwrap().as_array().unwrap();
    assert_eq!(keys.len(), 1);
    let member = |name: &str| keys[0].get(name).and_then(Value::as_str).unwrap();
    assert_eq!(
        (member("keyVersion"), member("status")),
        ("v1-2026-11a", "current")
    );
    assert_eq!((member("algorithm"), member("publicKey").len()), ("Ed25519", 44));
    assert_eq!(
        member("publicKeyEncoding"),
        "base64 of the raw 32-byte Ed25519 public key"
    );
}

#[test]
fn the_pointers_lead_to_what_there_is() {
    let rig = Rig::start();
    let document = rig.get("/").json();
    assert_eq!(document.get("mode").and_then(Value::as_str), Some("open"));
    for link in document.get("links").unwrap().as_object().unwrap().members() {
        let base = format!("http://{}", rig.address);
        let path = link.value.as_str().unwrap().strip_prefix(&base).unwrap();
        let path = path.replace("{verification_id}", "x");
        assert_eq!(rig.request("OPTIONS", &path, &[], b"").status, 204, "{path}");
    }
}

#[test]
fn health_says_ok() {
    let rig = Rig::start();
    for path in ["/health", "/health/ready"] {
        assert_eq!(rig.get(path).text(), r#"{"status":"ok"}"#);
    }
}

#[test]
fn one_connection_takes_many_requests_also_before_their_answers() {
    let rig = Rig::start();
    let mut client = rig.client();
    for _ in 0..20 {
        client.send("POST", "/verify/schema", &[], MINIMAL.as_bytes());
    }
    client.send("GET", "/nowhere", &[], b"");
    client.send("POST", "/nowhere", &[], MINIMAL.as_bytes());
    client.send("GET", "/health", &[], b"");
    for _ in 0..20 {
        assert_eq!(client.receive("POST").status, 200);
    }
    assert_eq!(client.receive("GET").status, 404);
    assert_eq!(client.receive("POST").status, 404);
    assert_eq!(client.receive("GET").status, 200);
}

#[test]
fn what_is_no_http_is_refused_and_harms_nobody() {
    let rig = Rig::start();
    let rows: &[&[u8]] = &[
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: \x00\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /verify/schema HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n",
    ];
    for row in rows {
        let mut client = rig.client();
        client.write(row);
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
        let status = client.try_receive("GET").map(|answer| answer.status);
        assert!(matches!(status, None | Some(400..=499)), "{row:?}: {status:?}");
        assert!(client.is_closed(), "{row:?}");
    }
    assert_eq!(rig.get("/health").status, 200);
}

#[test]
fn a_body_in_another_coding_than_chunked_is_refused() {
    let rig = Rig::start();
    let chunked = format!("{:x}\r\n{MINIMAL}\r\n0\r\n\r\n", MINIMAL.len());
    let rows = [
        ("Transfer-Encoding: chunked", 200),
        ("Transfer-Encoding: Chunked", 200),
        ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501),
        ("Transfer-Encoding: chunked, chunked", 501),
        ("Transfer-Encoding: , chunked", 501),
        ("Transfer-Encoding: identity, chunked", 501),
        // Chunked goes before the length, and the connection ends: what follows may be read otherwise elsewhere.
        ("Transfer-Encoding: chunked\r\nContent-Length: 3", 200),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", 200),
    ];
    for (framing, status) in rows {
        for path in ["/verify/schema", "/nowhere"] {
            let mut client = rig.client();
            client.write(format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n{chunked}"
            ));
            let answer = client.receive("POST");
            if status == 501 {
                assert_eq!(
                    (answer.status, answer.member("code")),
                    (501, "unsupported_transfer_encoding".to_owned()),
                    "{framing}"
                );
            } else {
                let expected = if path == "/nowhere" { 404 } else { status };
                assert_eq!(answer.status, expected, "{framing}: {}", answer.text());
            }
            if status == 501 || framing.contains("Length") {
                assert_eq!(answer.header("connection"), Some("close"), "{framing}");
                assert!(client.is_closed(), "{framing}");
            }
        }
    }
}

#[test]
fn a_panic_is_an_internal_error_and_the_connection_lives_on() {
    let rig = Rig::start();
    let mut client: Client = rig.client();
    let pattern = r#"{"task_id":"t","expected_schema":{"pattern":"^a"},"submitted_output":"a"}"#;
    rig.clock.set_broken(true);
    // The first panics where it was read, the second on the bench.
    for body in [MINIMAL, pattern] {
        client.send(
            "POST",
            "/verify/schema",
            &[("X-Request-Id", "story-7")],
            body.as_bytes(),
        );
        let answer = client.receive("POST");
        assert_eq!(
            (answer.status, answer.member("code")),
            (500, "internal_error".to_owned())
        );
        assert_eq!(answer.header("x-request-id"), Some("story-7"));
        assert_eq!(answer.header("retry-after"), Some("2"));
        assert!(answer.member("message").contains("story-7"));
    }
    rig.clock.set_broken(false);
    for body in [MINIMAL, pattern] {
        client.send("POST", "/verify/schema", &[], body.as_bytes());
        assert_eq!(client.receive("POST").status, 200);
    }
}
