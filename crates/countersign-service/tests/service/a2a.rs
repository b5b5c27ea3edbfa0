//! `POST /a2a`: every row of its table.

use crate::rig::{Answer, FAILING, MINIMAL, Rig, START_MICROS};
use countersign_core::json::{Value, read};
use countersign_core::time::Timestamp;
use countersign_service::Patience;

fn rig() -> Rig {
    Rig::with("[http]\nallowed_hosts = [\"x\"]", Patience::default())
}

fn post(rig: &Rig, version: Option<&str>, body: &str) -> Answer {
    let mut headers = vec![("Content-Type", "application/json")];
    headers.extend(version.map(|version| ("A2A-Version", version)));
    rig.request("POST", "/a2a", &headers, body.as_bytes())
}

fn call(rig: &Rig, method: &str, params: &str) -> Answer {
    let body = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{params}}}"#);
    post(rig, Some("1.0"), &body)
}

/// Sends a message with these parts, and these further members.
fn send(rig: &Rig, parts: &str, more: &str) -> Answer {
    let message = format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{parts}]{more}}}}}"#);
    call(rig, "SendMessage", &message)
}

fn at<'a>(document: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(document, |value, name| {
        value
            .get(name)
            .unwrap_or_else(|| panic!("{name} of {path:?} in {value:?}"))
    })
}

#[track_caller]
fn refused(answer: &Answer, status: u16, code: i64) {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (status, Some("application/json"))
    );
    let document = answer.json();
    let found = at(&document, &["error", "code"]).as_number().unwrap().value() as i64;
    assert_eq!(found, code, "{}", answer.text());
}

#[test]
fn a_pass_and_a_fail_are_completed_tasks() {
    let rig = rig();
    for (request, expected) in [(MINIMAL, "pass"), (FAILING, "fail")] {
        let mut text = Vec::new();
        countersign_core::canonical::write_string(request, &mut text);
        let text = String::from_utf8(text).unwrap();
        for part in [
            format!(r#"{{"data":{request},"mediaType":"application/json"}}"#),
            format!(r#"{{"text":{text}}}"#),
        ] {
            let answer = send(&rig, &part, r#","contextId":"c-1""#);
            assert_eq!(answer.status, 200, "{}", answer.text());
            let document = answer.json();
            assert_eq!(at(&document, &["id"]).as_str(), Some("a"));
            let task = at(&document, &["result", "task"]);
            assert_eq!(at(task, &["contextId"]).as_str(), Some("c-1"));
            assert_eq!(
                at(task, &["status", "state"]).as_str(),
                Some("TASK_STATE_COMPLETED")
            );
            let time = Timestamp(START_MICROS).to_string().replace("+00:00", "Z");
            assert_eq!(at(task, &["status", "timestamp"]).as_str(), Some(time.as_str()));
            let artifacts = at(task, &["artifacts"]).as_array().unwrap();
            let parts = at(&artifacts[0], &["parts"]).as_array().unwrap();
            assert_eq!((artifacts.len(), parts.len()), (1, 2));
            assert_eq!(at(&parts[0], &["mediaType"]).as_str(), Some("application/json"));
            let receipt = at(&parts[1], &["text"]).as_str().unwrap();
            assert_eq!(&read(receipt.as_bytes()).unwrap(), at(&parts[0], &["data"]));
            assert_eq!(at(&parts[0], &["data", "result"]).as_str(), Some(expected));
            let verified = countersign_core::receipt::verify(
                receipt.as_bytes(),
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
fn what_the_contract_refuses_is_a_rejected_task() {
    let rig = rig();
    let exact = MINIMAL.replace("true}", "9007199254740993}");
    let twice = MINIMAL.replacen('{', r#"{"task_id":"b","#, 1);
    for (part, expected) in [
        ("{\"data\":{}}".to_owned(), "task_id is required"),
        ("{\"data\":7}".to_owned(), "body is not one JSON object"),
        ("{\"text\":\"nonsense\"}".to_owned(), "body is not valid JSON"),
        (
            format!("{{\"data\":{exact}}}"),
            "submitted_output.ok is an integer that",
        ),
        (format!("{{\"data\":{twice}}}"), "body has two members"),
    ] {
        let answer = send(&rig, &part, "");
        assert_eq!(answer.status, 200, "{}", answer.text());
        let document = answer.json();
        let task = at(&document, &["result", "task"]);
        assert_eq!(
            at(task, &["status", "state"]).as_str(),
            Some("TASK_STATE_REJECTED")
        );
        assert!(task.get("artifacts").is_none());
        let message = at(task, &["status", "message"]);
        assert_eq!(at(message, &["role"]).as_str(), Some("ROLE_AGENT"));
        let problem = at(&at(message, &["parts"]).as_array().unwrap()[0], &["data"]);
        assert_eq!(at(problem, &["code"]).as_str(), Some("invalid_request"));
        assert!(
            at(problem, &["message"]).as_str().unwrap().contains(expected),
            "{problem:?}"
        );
    }
}

#[test]
fn only_version_1_0_is_spoken() {
    let rig = rig();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#;
    for version in [None, Some("0.3"), Some("1"), Some("1.1"), Some("")] {
        let answer = post(&rig, version, body);
        refused(&answer, 200, -32009);
        let document = answer.json();
        let info = &at(&document, &["error", "data"]).as_array().unwrap()[0];
        assert_eq!(
            at(info, &["@type"]).as_str(),
            Some("type.googleapis.com/google.rpc.ErrorInfo")
        );
        assert_eq!(at(info, &["reason"]).as_str(), Some("VERSION_NOT_SUPPORTED"));
        assert_eq!(at(info, &["metadata", "supported"]).as_str(), Some("1.0"));
    }
}

#[test]
fn other_methods_have_their_codes() {
    let rig = rig();
    for (method, code) in [
        ("GetTask", -32001),
        ("CancelTask", -32001),
        ("SendStreamingMessage", -32004),
        ("SubscribeToTask", -32004),
        ("ListTasks", -32004),
        ("CreateTaskPushNotificationConfig", -32003),
        ("GetTaskPushNotificationConfig", -32003),
        ("ListTaskPushNotificationConfigs", -32003),
        ("DeleteTaskPushNotificationConfig", -32003),
        ("GetExtendedAgentCard", -32007),
        ("message/send", -32601),
        ("sendMessage", -32601),
    ] {
        refused(&call(&rig, method, "{}"), 200, code);
    }
}

#[test]
fn a_message_has_one_part_that_can_be_read() {
    let rig = rig();
    let data = format!(r#"{{"data":{MINIMAL}}}"#);
    for (parts, more, code) in [
        (data.as_str(), r#","taskId":"t""#, -32001),
        (r#"{"url":"https://a.example"}"#, "", -32005),
        (r#"{"raw":"AAAA"}"#, "", -32005),
        (r#"{"file":{}}"#, "", -32005),
        ("", "", -32602),
        (&format!("{data},{data}"), "", -32602),
        (r#"{"data":{},"text":"{}"}"#, "", -32602),
        ("{}", "", -32602),
        ("7", "", -32602),
        (r#"{"text":7}"#, "", -32602),
        (&data, r#","contextId":7"#, -32602),
    ] {
        refused(&send(&rig, parts, more), 200, code);
    }
    for message in [
        r#"{"role":"ROLE_USER","parts":[{"data":{}}]}"#,
        r#"{"messageId":"","role":"ROLE_USER","parts":[{"data":{}}]}"#,
        r#"{"messageId":7,"role":"ROLE_USER","parts":[{"data":{}}]}"#,
        r#"{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{}}]}"#,
        r#"{"messageId":"m","role":"user","parts":[{"data":{}}]}"#,
        r#"{"messageId":"m","parts":[{"data":{}}]}"#,
        "7",
    ] {
        refused(
            &call(&rig, "SendMessage", &format!(r#"{{"message":{message}}}"#)),
            200,
            -32602,
        );
    }
    refused(&call(&rig, "SendMessage", "[]"), 200, -32602);
}

#[test]
fn a_long_context_is_replaced() {
    let rig = rig();
    let data = format!(r#"{{"data":{MINIMAL}}}"#);
    for (length, kept) in [(200, true), (201, false)] {
        let context = "c".repeat(length);
        let answer = send(&rig, &data, &format!(r#","contextId":"{context}""#));
        let document = answer.json();
        let found = at(&document, &["result", "task", "contextId"]).as_str().unwrap();
        assert_eq!(found == context, kept);
        assert!(kept || found.len() == 36);
    }
}

#[test]
fn the_front_door_is_that_of_mcp() {
    let rig = rig();
    let json = ("Content-Type", "application/json");
    assert_eq!(rig.get("/a2a").status, 405);
    refused(
        &rig.request("POST", "/a2a", &[json, ("Origin", "https://evil.example")], b"{}"),
        403,
        -32600,
    );
    refused(
        &rig.request("POST", "/a2a", &[("Content-Type", "text/plain")], b"{}"),
        415,
        -32600,
    );
    refused(
        &rig.request("POST", "/a2a", &[json], &vec![b' '; (1 << 20) + 1]),
        413,
        -32600,
    );
    refused(&post(&rig, Some("1.0"), "nonsense"), 400, -32700);
    refused(&post(&rig, Some("1.0"), "[]"), 400, -32600);
    refused(
        &post(
            &rig,
            Some("1.0"),
            r#"{"jsonrpc":"2.0","id":null,"method":"GetTask"}"#,
        ),
        400,
        -32600,
    );
    let heard = post(&rig, Some("1.0"), r#"{"jsonrpc":"2.0","method":"SendMessage"}"#);
    assert_eq!((heard.status, heard.body.len()), (202, 0));
}
