//! Kills the service at random moments under load: no answered receipt is lost, and the sequence has no gap.

use super::file;
use super::serve::{Served, exchange};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const KILLS: u64 = 20;
const CLIENTS: usize = 8;

/// Ids of the receipts that clients got whole until the service was killed.
fn load_until_killed(data: &Path, body: &[u8], after: Duration) -> Vec<String> {
    let mut served = Served::start(data);
    let over = AtomicBool::new(false);
    let ids = thread::scope(|scope| {
        let client = || {
            let mut ids = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let Some((200, receipt)) = exchange(&served.address, "POST", "/verify/schema", body) else {
                    continue;
                };
                let receipt: serde_json::Value = serde_json::from_slice(&receipt).unwrap();
                ids.push(receipt["verification_id"].as_str().unwrap().to_owned());
            }
            ids
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        thread::sleep(after);
        let pid = served.child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args(["-KILL", &pid])
                .status()
                .unwrap()
                .success()
        );
        over.store(true, Ordering::Relaxed);
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    });
    // Its port and its lock are free once it is gone.
    served.child.wait().unwrap();
    ids
}

#[test]
fn twenty_kills_lose_no_answered_receipt_and_leave_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let body = std::fs::read(file("examples/invoice-final.json")).unwrap();
    let mut answered = Vec::new();
    for kill in 0..KILLS {
        // Spread over the start, the first commits and steady load; no two runs meet the same moment anyway.
        let after = Duration::from_millis(5 + kill * kill * 7 % 160);
        answered.extend(load_until_killed(folder.path(), &body, after));
    }
    assert!(
        answered.len() > 100,
        "only {} answers: not much of a load",
        answered.len()
    );

    let served = Served::start(folder.path());
    for id in &answered {
        let (status, _) = exchange(&served.address, "GET", &format!("/receipts/{id}"), b"").unwrap();
        assert_eq!(status, 200, "an answered receipt is gone");
    }
    drop(served);

    let database = rusqlite::Connection::open(folder.path().join("countersign.db")).unwrap();
    let (first, last, rows): (i64, i64, i64) = database
        .query_row(
            "SELECT min(sequence), max(sequence), count(*) FROM receipt",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!((first, last), (1, rows), "the sequence has a gap");
    assert!(usize::try_from(rows).unwrap() >= answered.len());
}
