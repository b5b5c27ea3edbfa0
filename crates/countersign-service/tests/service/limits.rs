//! What is too much: bytes, time, connections.

use crate::rig::{MINIMAL, Rig};
use countersign_service::Patience;
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

/// A valid request of exactly so many bytes.
fn sized(bytes: usize) -> Vec<u8> {
    let mut body = MINIMAL.as_bytes().to_vec();
    body.resize(bytes, b' ');
    body
}

fn hasty() -> Patience {
    Patience {
        head: Duration::from_millis(300),
        body: Duration::from_millis(300),
        answer: Duration::from_millis(500),
        stop: Duration::from_secs(2),
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_accepted_and_one_byte_more_is_not() {
    let rig = Rig::start();
    for path in ["/verify/schema", "/verify/deliverable"] {
        assert_eq!(rig.post(path, &sized(1_048_576)).status, 200);
        let answer = rig.post(path, &sized(1_048_577));
        assert_eq!(
            (answer.status, answer.member("code")),
            (413, "body_too_large".to_owned())
        );
        assert!(
            answer
                .text()
                .contains(r#""next_actions":[{"action":"reduce_request_size","max_bytes":1048576}]"#)
        );
        assert!(answer.member("message").contains("1048576 bytes"));
    }
    assert_eq!(rig.post("/receipts/verify", &sized(1_048_577)).status, 413);
}

#[test]
fn the_limit_is_a_setting_and_holds_while_reading() {
    let rig = Rig::with("[limits]\nbody_bytes = 2000", Patience::default());
    let chunked = |bytes: usize| {
        let mut client = rig.client();
        client.write("POST /verify/schema HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        for chunk in sized(bytes).chunks(700) {
            client.write(format!("{:x}\r\n", chunk.len()));
            client.write(chunk);
            client.write("\r\n");
        }
        client.write("0\r\n\r\n");
        client.receive("POST")
    };
    assert_eq!(rig.post("/verify/schema", &sized(2_000)).status, 200);
    assert_eq!(rig.post("/verify/schema", &sized(2_001)).status, 413);
    assert_eq!(chunked(2_000).status, 200);
    let answer = chunked(2_001);
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("\"max_bytes\":2000"));
}

#[test]
fn a_simple_client_sees_the_413_after_it_has_written_everything() {
    let rig = Rig::start();
    let mut client = rig.client();
    let body = sized(4 << 20);
    client.send("POST", "/verify/schema", &[], &body);
    let answer = client.receive("POST");
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    assert!(client.is_closed());
    // Where no body was expected, the rest is dropped and the connection goes on.
    let mut client = rig.client();
    client.send("POST", "/nowhere", &[], &body);
    assert_eq!(client.receive("POST").status, 404);
    client.send("PUT", "/verify/schema", &[], &body);
    assert_eq!(client.receive("PUT").status, 405);
}

#[test]
fn a_413_ends_the_connection_though_the_body_never_comes() {
    let rig = Rig::start();
    let mut client = rig.client();
    client.write("POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    let answer = client.receive("POST");
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    assert!(client.is_closed());
}

#[test]
fn a_client_that_waits_for_leave_is_told_413_before_it_sends() {
    let rig = Rig::start();
    let head = |length: usize| {
        format!(
            "POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
        )
    };
    let mut client = rig.client();
    client.write(head(1_048_577));
    assert_eq!(client.receive("POST").status, 413);
    let mut client = rig.client();
    client.write(head(MINIMAL.len()));
    assert_eq!(client.receive("POST").status, 100);
    client.write(MINIMAL);
    assert_eq!(client.receive("POST").status, 200);
}

#[test]
fn a_head_over_32_kib_is_refused() {
    let rig = Rig::start();
    let status = |bytes: usize| {
        let filler = "a".repeat(bytes);
        rig.request("GET", "/health", &[("X-Filler", &filler)], b"")
    };
    assert_eq!(status(32_000).status, 200);
    let answer = status(33_000);
    assert_eq!(
        (answer.status, answer.member("code")),
        (431, "headers_too_large".to_owned())
    );
    assert_eq!(status(100_000).status, 431);
}

#[test]
fn more_than_100_headers_are_refused_and_end_the_connection() {
    let rig = Rig::start();
    let ask = |count: usize| {
        let mut client = rig.client();
        // And `Host`.
        client.send("GET", "/health", &vec![("X-Filler", "a"); count - 1], b"");
        (client.receive("GET"), client)
    };
    assert_eq!(ask(100).0.status, 200);
    for count in [101, 200, 500] {
        let (answer, mut client) = ask(count);
        assert_eq!(
            (answer.status, answer.member("code")),
            (431, "headers_too_large".to_owned())
        );
        assert_eq!(answer.header("x-request-id").unwrap().len(), 36);
        assert_eq!(answer.header("connection"), Some("close"));
        assert!(answer.member("message").contains("or more than 100"));
        assert!(client.is_closed());
    }
    let (bare, mut client) = ask(501);
    assert_eq!((bare.status, bare.body.len()), (431, 0));
    assert!(client.is_closed());
}

#[test]
fn a_slow_head_and_a_slow_body_end_the_connection() {
    let rig = Rig::with("", hasty());
    let rows = [
        "",
        "GET /health HTTP/1.1\r\nHost: x\r\n",
        "POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
        "POST /verify/schema HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ];
    for row in rows {
        let begun = Instant::now();
        let mut client = rig.client();
        client.write(row);
        // What is unknown is answered before its body has come.
        if row.contains("nowhere") {
            assert_eq!(client.receive("POST").status, 404);
        }
        assert!(client.is_closed(), "{row}");
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{row}: {:?}",
            begun.elapsed()
        );
    }
    assert_eq!(rig.get("/health").status, 200);
}

#[test]
fn dripping_a_head_does_not_keep_a_connection() {
    let rig = Rig::with("", hasty());
    let mut client = rig.client();
    client.write("GET /health HTTP/1.1\r\nHost: x\r\nX-Filler: ");
    let begun = Instant::now();
    let ended = loop {
        std::thread::sleep(Duration::from_millis(50));
        if client.stream.write_all(b"a").is_err() {
            break true;
        }
        if begun.elapsed() > Duration::from_secs(5) {
            break false;
        }
    };
    assert!(ended, "a byte at a time kept the connection for 5 s");
}

#[test]
fn a_client_that_does_not_read_its_answers_loses_the_connection() {
    let rig = Rig::with("", hasty());
    let mut client = rig.client();
    client
        .stream
        .set_write_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let request = "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000);
    let ended = (0..200).any(|_| match client.stream.write_all(request.as_bytes()) {
        Ok(()) => false,
        Err(error) => {
            assert!(
                !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
                "the server still holds the connection"
            );
            true
        }
    });
    assert!(ended, "everything was taken in");
}

#[test]
fn one_connection_too_many_is_told_so() {
    let rig = Rig::with("[limits]\nconnections = 3", Patience::default());
    let mut open: Vec<_> = (0..3).map(|_| rig.client()).collect();
    for client in &mut open {
        client.send("GET", "/health", &[], b"");
        assert_eq!(client.receive("GET").status, 200);
    }
    let mut refused = rig.client();
    refused.send("POST", "/verify/schema", &[], MINIMAL.as_bytes());
    let answer = refused.receive("POST");
    assert_eq!(
        (answer.status, answer.member("code")),
        (503, "service_unavailable".to_owned())
    );
    assert_eq!(answer.header("retry-after"), Some("2"));
    assert_eq!(answer.header("x-request-id").unwrap().len(), 36);
    assert!(refused.is_closed());
    // A place that becomes free can be taken.
    drop(open.pop());
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let mut client = rig.client();
        client.send("GET", "/health", &[], b"");
        if client
            .try_receive("GET")
            .is_some_and(|answer| answer.status == 200)
        {
            break;
        }
        assert!(Instant::now() < deadline, "the place is free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn many_abandoned_connections_harm_nobody() {
    let rig = Rig::with("", hasty());
    for round in 0..300 {
        let mut client = rig.client();
        match round % 3 {
            0 => {}
            1 => client.write("POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{"),
            _ => client.send("POST", "/verify/schema", &[], MINIMAL.as_bytes()),
        }
    }
    assert_eq!(rig.post("/verify/schema", MINIMAL.as_bytes()).status, 200);
}

#[test]
fn a_client_that_asks_too_often_is_told_when_to_come_again() {
    let settings = "[http]\nrate_per_minute = 3\ntrusted_proxies = [\"127.0.0.1\"]";
    let rig = Rig::with(settings, Patience::default());
    let ask = |client: &str| {
        let headers = [("X-Forwarded-For", client)];
        rig.request("POST", "/verify/schema", &headers, MINIMAL.as_bytes())
    };
    for _ in 0..3 {
        assert_eq!(ask("198.51.100.7").status, 200);
    }
    let refused = ask("198.51.100.7");
    assert_eq!(
        (refused.status, refused.member("code")),
        (429, "rate_limited".to_owned())
    );
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=20).contains(&seconds), "{seconds}");
    let action = format!(r#""next_actions":[{{"action":"retry_after","seconds":{seconds}}}]"#);
    for part in [
        action,
        format!("\"retry_after\":{seconds}"),
        "\"retryable\":true".to_owned(),
    ] {
        assert!(refused.text().contains(&part), "{part}");
    }
    assert!(!refused.text().contains("198.51.100.7"));
    // What is no work is not counted, and another client is not touched; an entry that the client wrote itself,
    // left of its own address, changes nothing.
    for _ in 0..5 {
        assert_eq!(
            rig.request("GET", "/health", &[("X-Forwarded-For", "198.51.100.7")], b"")
                .status,
            200
        );
    }
    assert_eq!(ask("198.51.100.8").status, 200);
    assert_eq!(ask("203.0.113.1, 198.51.100.7").status, 429);
    // A path that does not exist is told before anything is counted.
    let unknown = rig.request("GET", "/nothing", &[("X-Forwarded-For", "198.51.100.7")], b"");
    assert_eq!(unknown.status, 404);
}

#[test]
fn without_a_trusted_proxy_the_peer_is_the_client() {
    let rig = Rig::with("[http]\nrate_per_minute = 2", Patience::default());
    let ask = |client: &str| {
        let headers = [("X-Forwarded-For", client)];
        rig.request("POST", "/verify/schema", &headers, MINIMAL.as_bytes())
            .status
    };
    assert_eq!(
        [ask("198.51.100.7"), ask("198.51.100.8"), ask("198.51.100.9")],
        [200, 200, 429]
    );
}
