//! `POST /mcp`: every row of the front door's table, in both eras, and what the tools answer.

use crate::rig::{Answer, FAILING, MINIMAL, Rig, vector};
use countersign_core::json::{Value, read};
use countersign_service::Patience;

const SETTINGS: &str = "public_url = \"https://verify.example\"\n[http]\nallowed_hosts = [\"x\"]";

/// How a request speaks to the door.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn rig() -> Rig {
    Rig::with(SETTINGS, Patience::default())
}

fn post(rig: &Rig, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let json = [("Content-Type", "application/json")];
    let given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let missing = json.into_iter().filter(|(name, _)| !given(name));
    let headers: Vec<_> = missing.chain(headers.iter().copied()).collect();
    rig.request("POST", "/mcp", &headers, body)
}

/// A request with these members of `params`, as its era sends it.
fn call(rig: &Rig, era: Era, method: &str, params: &str) -> Answer {
    let comma = if params.is_empty() { "" } else { "," };
    match era {
        Era::Legacy => {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
            post(rig, &[("MCP-Protocol-Version", "2025-11-25")], body.as_bytes())
        }
        Era::Modern => {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}{comma}{params}}}}}"#
            );
            // Arguments may be what no reader takes: the name is cut out of the text.
            let name = params
                .strip_prefix("\"name\":\"")
                .and_then(|rest| rest.split('"').next());
            let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
            headers.extend(name.map(|name| ("Mcp-Name", name)));
            post(rig, &headers, body.as_bytes())
        }
    }
}

fn tool(rig: &Rig, era: Era, name: &str, arguments: &str) -> Answer {
    call(
        rig,
        era,
        "tools/call",
        &format!(r#""name":"{name}","arguments":{arguments}"#),
    )
}

fn at<'a>(document: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(document, |value, name| {
        value
            .get(name)
            .unwrap_or_else(|| panic!("{name} of {path:?} in {value:?}"))
    })
}

fn code(answer: &Answer) -> i64 {
    at(&answer.json(), &["error", "code"])
        .as_number()
        .unwrap()
        .value() as i64
}

#[track_caller]
fn refused(answer: &Answer, status: u16, expected: i64, id: Option<&str>) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(code(answer), expected, "{}", answer.text());
    let found = answer.json().get("id").map(countersign_core::canonical::bytes);
    assert_eq!(found, id.map(|id| id.as_bytes().to_vec()), "{}", answer.text());
    assert_eq!(at(&answer.json(), &["jsonrpc"]).as_str(), Some("2.0"));
}

#[test]
fn other_methods_and_paths_are_told_as_anywhere() {
    let rig = rig();
    for method in ["GET", "DELETE", "PUT", "PATCH", "HEAD"] {
        let answer = rig.request(method, "/mcp", &[], b"");
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("POST, OPTIONS")),
            "{method}"
        );
        if method != "HEAD" {
            assert_eq!(answer.member("code"), "method_not_allowed");
        }
    }
    for path in ["/mcp/", "/mcp/x", "/mcp/.well-known/oauth-protected-resource"] {
        assert_eq!(rig.post(path, b"{}").member("code"), "not_found", "{path}");
    }
    let preflight = [
        ("Origin", "http://localhost:5173"),
        ("Access-Control-Request-Method", "POST"),
    ];
    let answer = rig.request("OPTIONS", "/mcp", &preflight, b"");
    assert_eq!(answer.status, 204);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("http://localhost:5173")
    );
    assert_eq!(
        answer.header("access-control-allow-methods"),
        Some("POST, OPTIONS")
    );
    assert_eq!(answer.header("vary"), Some("Origin"));
}

#[test]
fn hosts_and_origins_are_the_allowed_ones() {
    let rig = rig();
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (origin, admitted) in [
        ("https://verify.example", true),
        ("http://127.0.0.1:9", true),
        ("https://evil.example", false),
        ("null", false),
    ] {
        let answer = post(&rig, &[("Origin", origin)], ping);
        if admitted {
            assert_eq!(answer.status, 200, "{origin}");
            assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        } else {
            refused(&answer, 403, -32600, None);
            assert_eq!(
                at(&answer.json(), &["error", "data", "code"]).as_str(),
                Some("forbidden_origin")
            );
            assert_eq!(answer.header("access-control-allow-origin"), None);
            let preflight = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
            assert_eq!(rig.request("OPTIONS", "/mcp", &preflight, b"").status, 403);
        }
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
    for (host, status) in [
        ("verify.example", 200),
        ("localhost:1", 200),
        ("x", 200),
        ("evil.example", 403),
    ] {
        let mut client = rig.client();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            ping.len()
        );
        client.write([head.as_bytes(), ping].concat());
        assert_eq!(client.receive("POST").status, status, "{host}");
    }
}

#[test]
fn media_types_are_judged_before_the_body() {
    let rig = rig();
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "text/event-stream",
        "",
    ] {
        refused(&post(&rig, &[("Content-Type", kind)], ping), 415, -32600, None);
    }
    refused(&rig.request("POST", "/mcp", &[], ping), 415, -32600, None);
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
    ] {
        assert_eq!(post(&rig, &[("Content-Type", kind)], ping).status, 200, "{kind}");
    }
    for accept in [
        "*/*",
        "application/*",
        "application/json",
        "text/event-stream",
        "application/json, text/event-stream",
    ] {
        let answer = post(&rig, &[("Accept", accept)], ping);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("application/json")),
            "{accept}"
        );
    }
    for accept in ["text/html", "application/json;q=0"] {
        refused(&post(&rig, &[("Accept", accept)], ping), 406, -32600, None);
    }
}

#[test]
fn a_body_or_a_head_over_the_limit_is_refused_by_its_status() {
    let rig = rig();
    let answer = post(&rig, &[], &vec![b' '; (1 << 20) + 1]);
    refused(&answer, 413, -32600, None);
    let max = at(&answer.json(), &["error", "data", "max_bytes"])
        .as_number()
        .unwrap()
        .value();
    assert!((max - 1_048_576.0).abs() < 0.5);
    let long = "a".repeat(33 << 10);
    refused(&post(&rig, &[("X-Long", &long)], b"{}"), 431, -32600, None);
}

#[test]
fn a_revision_that_is_not_served_is_named_beside_those_that_are() {
    let rig = rig();
    for version in ["2024-11-05", "2099-01-01", "x"] {
        let ping = br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
        let answer = post(&rig, &[("MCP-Protocol-Version", version)], ping);
        refused(&answer, 400, -32022, Some("\"a\""));
        let document = answer.json();
        assert_eq!(
            at(&document, &["error", "data", "requested"]).as_str(),
            Some(version)
        );
        let supported = at(&document, &["error", "data", "supported"]).as_array().unwrap();
        let supported: Vec<_> = supported
            .iter()
            .map(|version| version.as_str().unwrap())
            .collect();
        assert_eq!(
            supported,
            ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]
        );
        let heard = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        refused(
            &post(&rig, &[("MCP-Protocol-Version", version)], heard),
            400,
            -32022,
            None,
        );
    }
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answer = post(&rig, &[("MCP-Protocol-Version", version)], ping);
        assert_eq!(answer.text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let rig = rig();
    let bad_utf8 = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}".as_slice();
    let rows: &[(&[u8], i64, Option<&str>)] = &[
        (b"", -32700, None),
        (b" ", -32700, None),
        (b"nonsense", -32700, None),
        (b"{", -32700, None),
        (bad_utf8, -32700, None),
        (br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, -32700, None),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"verify_schema","arguments":{"a":01}}}"#, -32700, None),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, None),
        (b"7", -32600, None),
        (br#"{"id":1,"method":"ping"}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, Some("1")),
        (br#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"verify_schema","arguments":{},"arguments":{}}}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":-9007199254740992,"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None),
        (br#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#, -32600, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1e400}}}"#, -32602, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":9007199254740993}}}"#, -32602, Some("1")),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1,"a":1}}}"#, -32602, Some("1")),
    ];
    for version in ["2025-11-25", "2026-07-28"] {
        for (body, expected, id) in rows {
            let headers = [("MCP-Protocol-Version", version), ("Mcp-Method", "ping")];
            refused(&post(&rig, &headers, body), 400, *expected, *id);
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{{"a":{}{}}}}}}}"#,
            "[".repeat(70),
            "]".repeat(70)
        );
        refused(
            &post(&rig, &[("MCP-Protocol-Version", version)], deep.as_bytes()),
            400,
            -32602,
            Some("1"),
        );
    }
    for (sent, id) in [
        ("\"a\\u0062\"", "\"ab\""),
        ("-9007199254740991", "-9007199254740991"),
        ("0", "0"),
        ("1.0", "1"),
    ] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{sent},"method":"ping"}}"#);
        let answer = post(&rig, &[], ping.as_bytes());
        assert_eq!(
            answer.text(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
}

#[test]
fn parameters_and_methods_are_refused_as_the_era_says() {
    let rig = rig();
    let rows = [
        ("tools/call", ""),
        ("tools/call", r#""name":7"#),
        ("tools/call", r#""name":"nothing""#),
        ("tools/call", r#""name":"verify_schema","arguments":[]"#),
        ("tools/call", r#""name":"verify_schema","arguments":"{}""#),
        ("tools/list", r#""cursor":"x""#),
        ("tools/list", r#""cursor":7"#),
    ];
    for era in ERAS {
        let (wrong, unknown) = if era == Era::Legacy {
            (200, 200)
        } else {
            (400, 404)
        };
        for (method, params) in rows {
            refused(&call(&rig, era, method, params), wrong, -32602, Some("1"));
        }
        for method in [
            "nothing",
            "prompts/list",
            "resources/list",
            "resources/read",
            "logging/setLevel",
            "subscriptions/listen",
            "completion/complete",
            "notifications/initialized",
        ] {
            refused(&call(&rig, era, method, ""), unknown, -32601, Some("1"));
        }
    }
    refused(&call(&rig, Era::Modern, "ping", ""), 404, -32601, Some("1"));
    refused(
        &call(&rig, Era::Legacy, "server/discover", ""),
        200,
        -32601,
        Some("1"),
    );
    for params in [
        "",
        r#""protocolVersion":7,"capabilities":{},"clientInfo":{"name":"a","version":"1"}"#,
    ] {
        refused(
            &call(&rig, Era::Legacy, "initialize", params),
            200,
            -32602,
            Some("1"),
        );
    }
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#;
    refused(&post(&rig, &[], list), 200, -32602, Some("1"));
}

#[test]
fn the_modern_era_asks_for_headers_that_agree_with_the_body() {
    let rig = rig();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{META},"name":"verify_schema"}}}}"#
    );
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "verify_schema"));
    let rows: &[&[(&str, &str)]] = &[
        &[version, name],
        &[version, ("Mcp-Method", "tools/list"), name],
        &[version, method],
        &[version, method, ("Mcp-Name", "x")],
        &[version, method, method, name],
        &[method, name],
        &[("MCP-Protocol-Version", "2025-11-25"), method, name],
    ];
    for headers in rows {
        refused(&post(&rig, headers, body.as_bytes()), 400, -32020, Some("1"));
    }
    let encoded = ("Mcp-Name", "=?base64?dmVyaWZ5X3NjaGVtYQ==?=");
    for name in [name, encoded] {
        assert_eq!(post(&rig, &[version, method, name], body.as_bytes()).status, 200);
    }
    for meta in [
        "",
        r#","params":{"_meta":{}}"#,
        r#","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
        r#","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#,
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{meta}}}"#);
        let answer = post(&rig, &[version, ("Mcp-Method", "tools/list")], body.as_bytes());
        refused(&answer, 400, -32602, Some("1"));
    }
}

#[test]
fn a_notification_of_any_name_is_heard() {
    let rig = rig();
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "nothing",
        "tools/call",
    ] {
        for version in ["2025-11-25", "2026-07-28"] {
            let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
            let answer = post(&rig, &[("MCP-Protocol-Version", version)], body.as_bytes());
            assert_eq!(
                (answer.status, answer.body.len(), answer.header("content-type")),
                (202, 0, None)
            );
        }
    }
}

#[test]
fn each_era_has_its_opening() {
    let rig = rig();
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{asked}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"a","version":"1"}}}}}}"#
        );
        let answer = post(&rig, &[], body.as_bytes());
        let document = answer.json();
        assert_eq!(
            at(&document, &["result", "protocolVersion"]).as_str(),
            Some(agreed),
            "{}",
            answer.text()
        );
        assert_eq!(answer.header("mcp-session-id"), None);
        assert_eq!(
            at(&document, &["result", "capabilities"]),
            &read(br#"{"tools":{}}"#).unwrap()
        );
        assert_eq!(
            at(&document, &["result", "serverInfo", "name"]).as_str(),
            Some("countersign")
        );
        assert_eq!(
            at(&document, &["result", "serverInfo", "title"]).as_str(),
            Some("Agent Output Verifier")
        );
        let instructions = at(&document, &["result", "instructions"]).as_str().unwrap();
        assert!(instructions.len() < 500 && instructions.contains("https://verify.example/llms.txt"));
        assert!(at(&document, &["result"]).get("resultType").is_none());
    }
    let answer = call(&rig, Era::Modern, "server/discover", "");
    let document = answer.json();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        at(&document, &["result", "supportedVersions"])
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(
        at(&document, &["result", "capabilities"]),
        &read(br#"{"tools":{}}"#).unwrap()
    );
    assert!(at(&document, &["result", "instructions"]).as_str().is_some());
    modern_result(&document, true);
}

fn modern_result(document: &Value, cacheable: bool) {
    let result = at(document, &["result"]);
    assert_eq!(at(result, &["resultType"]).as_str(), Some("complete"));
    let info = at(result, &["_meta", "io.modelcontextprotocol/serverInfo"]);
    assert_eq!(at(info, &["name"]).as_str(), Some("countersign"));
    assert_eq!(at(info, &["version"]).as_str(), Some(env!("CARGO_PKG_VERSION")));
    if cacheable {
        assert_eq!(at(result, &["ttlMs"]), &read(b"300000").unwrap());
        assert_eq!(at(result, &["cacheScope"]).as_str(), Some("public"));
    }
}

#[test]
fn both_tools_are_listed_in_one_order() {
    let rig = rig();
    for era in ERAS {
        let answer = call(&rig, era, "tools/list", "");
        let document = answer.json();
        let tools = at(&document, &["result", "tools"]).as_array().unwrap();
        let names: Vec<_> = tools
            .iter()
            .map(|tool| at(tool, &["name"]).as_str().unwrap())
            .collect();
        assert_eq!(names, ["verify_schema", "get_verification_record"]);
        assert!(at(&document, &["result"]).get("nextCursor").is_none());
        for (tool, read_only) in tools.iter().zip([false, true]) {
            for (hint, value) in [
                ("readOnlyHint", read_only),
                ("destructiveHint", false),
                ("idempotentHint", false),
                ("openWorldHint", false),
            ] {
                assert_eq!(at(tool, &["annotations", hint]).as_bool(), Some(value), "{hint}");
            }
            assert_eq!(at(tool, &["outputSchema", "anyOf"]).as_array().unwrap().len(), 3);
            assert!(at(tool, &["title"]).as_str().is_some());
        }
        if era == Era::Modern {
            modern_result(&document, true);
        } else {
            assert!(
                at(&document, &["result"]).get("ttlMs").is_none()
                    && at(&document, &["result"]).get("_meta").is_none()
            );
        }
    }
}

/// The result of a tool: the text, read and compared with what is structured.
#[track_caller]
fn result(answer: &Answer, era: Era, is_error: bool) -> String {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/json")),
        "{}",
        answer.text()
    );
    let document = answer.json();
    let result = at(&document, &["result"]);
    assert_eq!(
        at(result, &["isError"]).as_bool(),
        Some(is_error),
        "{}",
        answer.text()
    );
    let content = at(result, &["content"]).as_array().unwrap();
    assert_eq!(
        (content.len(), at(&content[0], &["type"]).as_str()),
        (1, Some("text"))
    );
    let text = at(&content[0], &["text"]).as_str().unwrap();
    assert_eq!(
        &read(text.as_bytes()).unwrap(),
        at(result, &["structuredContent"])
    );
    if era == Era::Modern {
        modern_result(&document, false);
    } else {
        assert!(result.get("resultType").is_none() && result.get("_meta").is_none());
    }
    text.to_owned()
}

#[test]
fn a_check_answers_with_the_receipt_of_rest_byte_for_byte() {
    let rig = rig();
    for era in ERAS {
        for request in [MINIMAL, FAILING, &crate::rig::compact(FAILING)] {
            let text = result(&tool(&rig, era, "verify_schema", request), era, false);
            let receipt = read(text.as_bytes()).unwrap();
            let rest = rig.post("/verify/schema", request.as_bytes()).text();
            // A receipt that is read again has the bytes of its first answer, in its compact form.
            let id = at(&receipt, &["verification_id"]).as_str().unwrap();
            let rest_id = read(rest.as_bytes()).unwrap();
            let rest_id = at(&rest_id, &["verification_id"]).as_str().unwrap();
            let until = |text: &str, id: &str| {
                let text = text.replace(id, "ID");
                text[..text.find("\"signature\"").unwrap()].to_owned()
            };
            assert_eq!(until(&text, id), until(&rest, rest_id));
            if request.contains("compact") {
                assert_eq!(rig.get(&format!("/receipts/{id}")).text(), text);
            }
            let verified = countersign_core::receipt::verify(
                text.as_bytes(),
                &rig.keys(),
                &countersign_core::receipt::Supplied::default(),
            );
            assert_eq!(
                verified.unwrap().outcome(),
                countersign_core::receipt::Outcome::Valid
            );
        }
    }
}

#[test]
fn arguments_that_the_contract_refuses_are_a_problem_with_fields() {
    let rig = rig();
    let with = |output: &str| MINIMAL.replace("true}", &format!("{output}}}"));
    let deep = with(&format!("{}{}", "[".repeat(70), "]".repeat(70)));
    let rows = [
        ("{}".to_owned(), "task_id is required"),
        (with("1e400"), "submitted_output.ok is a number beyond"),
        (with("9007199254740993"), "submitted_output.ok is an integer that"),
        (with("\"\\ud800\""), "submitted_output.ok has a surrogate escape"),
        (
            with("{\"a\":1,\"a\":2}"),
            "submitted_output.ok has two members with the same name",
        ),
        (deep, "submitted_output.ok"),
        (
            MINIMAL.replacen('{', r#"{"task_id":"b","#, 1),
            "body has two members with the same name",
        ),
        (
            MINIMAL.replacen('{', r#"{"nothing":1,"#, 1),
            "body has a member that the contract",
        ),
        (
            MINIMAL.replacen('{', r#"{"rules":[{"type":"sum","field":"a"}],"#, 1),
            "rules[0].type is not one",
        ),
        (MINIMAL.replace("\"tv-1\"", "null"), "task_id is not a string"),
    ];
    for era in ERAS {
        for (arguments, expected) in &rows {
            let text = result(&tool(&rig, era, "verify_schema", arguments), era, true);
            let problem = read(text.as_bytes()).unwrap();
            assert_eq!(at(&problem, &["code"]).as_str(), Some("invalid_request"));
            assert!(!at(&problem, &["fields"]).as_array().unwrap().is_empty());
            let message = at(&problem, &["message"]).as_str().unwrap();
            assert!(message.contains(expected), "{arguments}: {message}");
            // The same words as on REST.
            assert_eq!(rig.post("/verify/schema", arguments.as_bytes()).text(), text);
        }
        for params in [
            r#""name":"verify_schema""#,
            r#""name":"verify_schema","arguments":null"#,
        ] {
            let text = result(&call(&rig, era, "tools/call", params), era, true);
            assert!(text.contains("task_id is required"), "{text}");
        }
    }
}

#[test]
fn null_for_what_need_not_be_there_counts_as_absent() {
    let rig = rig();
    let nulls = MINIMAL.replacen(
        '{',
        r#"{"agent_id":null,"rules":null,"bounds":null,"enforce_rules":null,"strict_content_check":null,"detail":null,"#,
        1,
    );
    let text = result(
        &tool(&rig, Era::Modern, "verify_schema", &nulls),
        Era::Modern,
        false,
    );
    let receipt = read(text.as_bytes()).unwrap();
    assert_eq!(
        at(&receipt, &["request_hash"]).as_str(),
        Some("5366542000b4226c5efb411c15ec8f0aac3c63844343997aa1bcc3c585086f97")
    );
    assert_eq!(rig.post("/verify/schema", nulls.as_bytes()).status, 422);
    let null = r#"{"task_id":"t","expected_schema":{"type":"null"},"submitted_output":null}"#;
    assert!(
        result(
            &tool(&rig, Era::Legacy, "verify_schema", null),
            Era::Legacy,
            false
        )
        .contains("\"pass\"")
    );
}

#[test]
fn a_score_is_that_of_rest() {
    let rig = rig();
    rig.post("/verify/schema", FAILING.as_bytes());
    for era in ERAS {
        for agent in ["seller-7", "unknown"] {
            let arguments = format!(r#"{{"agent_id":"{agent}"}}"#);
            let text = result(
                &tool(&rig, era, "get_verification_record", &arguments),
                era,
                false,
            );
            assert_eq!(rig.get(&format!("/score/{agent}")).text(), text);
        }
        for (arguments, expected) in [
            ("{}", "agent_id is required"),
            (r#"{"agent_id":7}"#, "agent_id is not a string"),
            (r#"{"agent_id":null}"#, "agent_id is not a string"),
            (r#"{"agent_id":""}"#, "agent_id is empty"),
            (r#"{"agent_id":1e400}"#, "agent_id is a number beyond"),
            (r#"{"agent_id":"a","x":1}"#, "body has a member"),
            (r#"{"agent_id":"a","agent_id":"b"}"#, "body has two members"),
        ] {
            let text = result(&tool(&rig, era, "get_verification_record", arguments), era, true);
            assert!(text.contains(expected), "{arguments}: {text}");
        }
    }
}

#[test]
fn a_fault_of_ours_is_a_result_that_names_the_request() {
    let rig = rig();
    rig.clock.set_broken(true);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"verify_schema","arguments":{MINIMAL}}}}}"#
    );
    let answer = post(&rig, &[("X-Request-Id", "r-7")], body.as_bytes());
    rig.clock.set_broken(false);
    let text = result(&answer, Era::Legacy, true);
    assert!(text.contains("internal_error") && text.contains("r-7"), "{text}");
}

#[test]
fn the_golden_receipts_fit_the_output_schema() {
    let rig = rig();
    let document = call(&rig, Era::Legacy, "tools/list", "").json();
    let tools = at(&document, &["result", "tools"]).as_array().unwrap();
    let text = |value: &Value| String::from_utf8(countersign_core::canonical::bytes(value)).unwrap();
    let fits = |schema: &Value, answer: &str| {
        let body = format!(
            r#"{{"task_id":"t","expected_schema":{},"submitted_output":{answer}}}"#,
            text(schema)
        );
        rig.post("/verify/schema", body.as_bytes()).member("result") == "pass"
    };
    let (check, score) = (at(&tools[0], &["outputSchema"]), at(&tools[1], &["outputSchema"]));
    for name in ["invoice-draft", "invoice-final"] {
        let golden = String::from_utf8(vector(&format!("{name}.response.json"))).unwrap();
        assert!(fits(check, &golden) && !fits(score, &golden), "{name}");
    }
    let compact = rig
        .post("/verify/schema", crate::rig::compact(MINIMAL).as_bytes())
        .text();
    let problem = rig.post("/verify/schema", b"{}").text();
    let (unknown, known) = (
        rig.get("/score/unknown").text(),
        rig.get("/score/seller-7").text(),
    );
    assert!(fits(check, &compact) && fits(check, &problem) && fits(score, &problem));
    assert!(fits(score, &unknown) && fits(score, &known) && !fits(check, &unknown) && !fits(check, "{}"));
}
