//! Fills a store with receipts and measures look-ups in it:
//!
//! `cargo run --release -p countersign-store --example fill_store -- STORE RECEIPTS [AGENTS [PASSWORD_FILE]]`
//!
//! STORE is `sqlite:FILE` or `postgres://user@host/db`. Receipts that are there already are left, so a store can be
//! filled further. AGENTS is how many agents the receipts name without order, 1,000 without it; the first agent
//! gets every tenth receipt.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement for people"
)]

use countersign_core::canonical::Hash;
use countersign_core::score::HalfLife;
use countersign_store::{Password, ReceiptRow, Store, StoredReceipt, Target};
use std::path::Path;
use std::time::{Duration, Instant};

/// Receipts of one transaction.
const PAGE: u64 = 10_000;
/// Look-ups of each kind.
const LOOKUPS: u64 = 20_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [setting, receipts, rest @ ..] = arguments.as_slice() else {
        panic!("STORE RECEIPTS [AGENTS [PASSWORD_FILE]]");
    };
    let receipts: u64 = receipts.parse().unwrap();
    let agents: u64 = rest.first().map_or(1_000, |agents| agents.parse().unwrap());
    let password = rest.get(1).map(|file| Password::read(Path::new(file)).unwrap());
    let target = Target::parse(setting, password).unwrap();
    let store = Store::create(&target, HalfLife::DEFAULT).unwrap();
    fill(&store, receipts, agents).await;
    measure(&store, receipts, agents).await;
    store.close().unwrap();
}

async fn fill(store: &Store, receipts: u64, agents: u64) {
    let (there, began) = (store.newest().await.unwrap(), Instant::now());
    let mut first = there + 1;
    // The next page is made while the last one is kept.
    let mut pending = None;
    while first <= receipts {
        let last = (first + PAGE - 1).min(receipts);
        let page = (first..=last).map(|sequence| stored(sequence, agents)).collect();
        if let Some(pending) = pending.replace(store.import(page)) {
            pending.await.unwrap();
        }
        first = last + 1;
    }
    if let Some(pending) = pending {
        pending.await.unwrap();
    }
    let made = receipts.saturating_sub(there);
    println!("filled {made} receipts in {:.1} s", began.elapsed().as_secs_f64());
}

async fn measure(store: &Store, receipts: u64, agents: u64) {
    let (mut lookups, mut records, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..LOOKUPS {
        let scattered = scatter(round + 1);
        let sequence = scattered % receipts + 1;
        let began = Instant::now();
        let found = store.receipt(id(sequence)).await.unwrap();
        lookups.push(began.elapsed());
        assert_eq!(found.unwrap().sequence, sequence);

        let agent = name((scattered >> 32) % agents);
        let began = Instant::now();
        let record = store.agent(&agent).await.unwrap();
        records.push(began.elapsed());
        if round % 100 == 0 {
            let began = Instant::now();
            let checks = store.counted_checks_newest(&agent, 20).await.unwrap();
            lists.push(began.elapsed());
            assert_eq!(
                checks.len() as u64,
                record.map_or(0, |record| record.verified.min(20))
            );
        }
    }
    let mut busiest = Vec::new();
    for _ in 0..1_000 {
        let began = Instant::now();
        store.agent(&name(0)).await.unwrap().unwrap();
        busiest.push(began.elapsed());
    }
    let busiest_checks = store.agent(&name(0)).await.unwrap().unwrap().verified;
    println!("                            p50 ms   p99 ms   max ms");
    tell("receipt by id", lookups);
    tell("record of an agent", records);
    tell("newest 20 of an agent", lists);
    tell(&format!("record, {busiest_checks} checks"), busiest);
}

fn tell(what: &str, mut waits: Vec<Duration>) {
    waits.sort_unstable();
    let wait = |part: usize| waits[(waits.len() - 1) * part / 1_000].as_secs_f64() * 1e3;
    println!(
        "{what:25}  {:7.3}  {:7.3}  {:7.3}",
        wait(500),
        wait(990),
        wait(1_000)
    );
}

fn scatter(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

/// An id like a UUID of version 7: a time that rises, then bits without order.
fn id(sequence: u64) -> [u8; 16] {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&(sequence / 20).rotate_left(16).to_be_bytes());
    id[8..].copy_from_slice(&scatter(sequence).to_be_bytes());
    id
}

fn name(agent: u64) -> String {
    format!("agent-billing-{agent:07}")
}

fn stored(sequence: u64, agents: u64) -> StoredReceipt {
    let agent = if sequence.is_multiple_of(10) {
        0
    } else {
        scatter(sequence) % agents
    };
    let row = ReceiptRow {
        verification_id: id(sequence),
        task_id: format!("invoice-2026-{sequence:08}"),
        agent_id: Some(name(agent)),
        output_hash: Hash([sequence as u8; 32]),
        schema_hash: Hash([2; 32]),
        rules_hash: Hash([3; 32]),
        request_hash: Hash([4; 32]),
        passed: !sequence.is_multiple_of(7),
        blocking_checks: String::new(),
        schema: (22, 22),
        integrity: (8, 8),
        findings: 0,
        flags: 0,
        enforce_rules: true,
        strict_content_check: false,
        detail_full: true,
        is_test: false,
        paid: false,
        verified_at_micros: 1_790_000_000_000_000 + sequence.cast_signed() * 1_000_000,
        key_version: "v1-2026-10a".to_owned(),
        verifier_version: "0.1.0".to_owned(),
        mac: [5; 32],
    };
    StoredReceipt { sequence, row }
}
