//! Kill the process, fill the disk: what was acknowledged is there, and the numbers have no gap.
//!
//! Each test starts its own binary again as the process that suffers; the child tells each acknowledged row on
//! stderr, and ends when nobody listens any more.
#![cfg(unix)]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test says it by its name, and fails by a panic"
)]

#[path = "parts/home.rs"]
mod home;
#[path = "parts/sample.rs"]
mod sample;

use countersign_core::score::HalfLife;
use countersign_store::{Store, StoreError, Target};
use home::Home;
use rusqlite::Connection;
use sample::{id, receipt};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const CHILD_PATH: &str = "COUNTERSIGN_TEST_STORE";
const CHILD_FIRST: &str = "COUNTERSIGN_TEST_FIRST";

/// In the child: the database, and the number of its first row.
fn child() -> Option<(PathBuf, u64)> {
    let path = std::env::var_os(CHILD_PATH)?;
    Some((path.into(), std::env::var(CHILD_FIRST).unwrap().parse().unwrap()))
}

/// Makes `command` run the test of this name, alone and as a child.
fn become_child(command: &mut Command, test: &str, path: &Path, first: u64) {
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_PATH, path)
        .env(CHILD_FIRST, first.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
}

fn tell(text: &str) {
    // One write a line: a kill cannot tear it. A parent that is gone ends the child here.
    std::io::stderr()
        .write_all(format!("{text}\n").as_bytes())
        .unwrap();
}

#[test]
fn acknowledged_receipts_survive_a_kill() {
    if let Some((path, first)) = child() {
        return keep_until_killed(&path, first);
    }
    let home = Home::new();
    home.store().close().unwrap();
    // Row number by sequence number, of all rounds.
    let mut acknowledged = BTreeMap::new();
    for round in 0..20 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        become_child(
            &mut command,
            "acknowledged_receipts_survive_a_kill",
            &home.path(),
            round * 1_000_000,
        );
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // The first row says that the child is at work.
        note(&mut acknowledged, &lines.next().unwrap().unwrap());
        if round == 0 {
            let refused = home.open().map(drop).unwrap_err();
            assert!(
                refused.to_string().contains("another process serves"),
                "{refused}"
            );
        }
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(RandomState::new().hash_one(round) % 60_000));
            child.kill().unwrap();
            child.wait().unwrap();
        });
        for line in lines {
            note(&mut acknowledged, &line.unwrap());
        }
        killer.join().unwrap();
        verify(&home.path(), &acknowledged);
    }
}

fn note(acknowledged: &mut BTreeMap<u64, u64>, line: &str) {
    let (sequence, number) = line.split_once(' ').unwrap();
    let twice = acknowledged.insert(sequence.parse().unwrap(), number.parse().unwrap());
    assert_eq!(twice, None, "sequence number {sequence} was given twice");
}

#[tokio::main]
async fn keep_until_killed(path: &Path, first: u64) {
    let store = Store::open(&Target::Sqlite(path.to_owned()), HalfLife::DEFAULT).unwrap();
    let next = std::sync::Arc::new(AtomicU64::new(first));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (store, next) = (store.clone(), next.clone());
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let sequence = store.keep_receipt(receipt(number)).await.unwrap();
                tell(&format!("{sequence} {number}"));
            }
        });
    }
    // None of them ends but by a panic, and that one ends the child.
    tasks.join_next().await.unwrap().unwrap();
}

/// Opens what the child left, looks every acknowledged row up, and counts.
#[tokio::main(flavor = "current_thread")]
async fn verify(path: &Path, acknowledged: &BTreeMap<u64, u64>) {
    let store = Store::open(&Target::Sqlite(path.to_owned()), HalfLife::DEFAULT).unwrap();
    for (&sequence, &number) in acknowledged {
        let found = store.receipt(id(number)).await.unwrap().unwrap();
        assert_eq!((found.sequence, found.row), (sequence, receipt(number)));
    }
    store.close().unwrap();
    let (rows, newest, counter): (u64, u64, u64) = Connection::open(path)
        .unwrap()
        .query_row(
            "SELECT COUNT(*), MAX(sequence), (SELECT last FROM receipt_counter) FROM receipt",
            [],
            |row| {
                let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
                Ok((count(0)?, count(1)?, count(2)?))
            },
        )
        .unwrap();
    assert_eq!(
        (rows, counter),
        (newest, newest),
        "numbers from 1 on without a gap"
    );
    assert!(rows >= acknowledged.len() as u64);
}

/// A limit on the size of files stands for a full disk: writes fail in the middle, and later succeed again.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_a_mended_one_is_used_again() {
    if let Some((path, first)) = child() {
        return keep_in_spite_of_errors(&path, first);
    }
    let home = Home::new();
    home.store().close().unwrap();
    let mut command = Command::new("sh");
    // Half a MiB. The signal that goes with the limit would kill; without it the write fails, as on a full disk.
    command
        .args(["-c", "trap '' XFSZ; ulimit -S -f 1024; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap());
    become_child(
        &mut command,
        "a_full_disk_is_told_and_a_mended_one_is_used_again",
        &home.path(),
        1,
    );
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut acknowledged = BTreeMap::new();

    read_until(&mut lines, &mut acknowledged, |line, _| line == "away");
    let before = acknowledged.len();
    assert!(before > 0, "there was room at first");
    let mended = Command::new("prlimit")
        .args(["--fsize=unlimited:unlimited", "--pid"])
        .arg(child.id().to_string())
        .status();
    assert!(mended.unwrap().success());
    read_until(&mut lines, &mut acknowledged, |_, acknowledged| {
        acknowledged.len() >= before + 100
    });

    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        acknowledged.keys().copied().eq(1..=acknowledged.len() as u64),
        "what failed spent no number"
    );
    verify(&home.path(), &acknowledged);
}

fn read_until(
    lines: &mut std::io::Lines<BufReader<ChildStderr>>,
    acknowledged: &mut BTreeMap<u64, u64>,
    enough: impl Fn(&str, &BTreeMap<u64, u64>) -> bool,
) {
    for line in lines {
        let line = line.unwrap();
        if line != "away" {
            note(acknowledged, &line);
        }
        if enough(&line, acknowledged) {
            return;
        }
    }
    panic!("the child ended early");
}

#[tokio::main(flavor = "current_thread")]
async fn keep_in_spite_of_errors(path: &Path, first: u64) {
    let store = Store::open(&Target::Sqlite(path.to_owned()), HalfLife::DEFAULT).unwrap();
    for number in first.. {
        match store.keep_receipt(receipt(number)).await {
            Ok(sequence) => tell(&format!("{sequence} {number}")),
            Err(StoreError::Unavailable(_)) => {
                // The probe writes, so it meets the same full disk until that is mended.
                if store.is_ready().await.is_err() {
                    tell("away");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(other) => panic!("{other}"),
        }
    }
}
