//! What one kept receipt costs: `cargo bench -p countersign-store [-- FOLDER [THREADS [OUTSTANDING
//! [AGENTS]]]]`. The folder decides which disk is measured; without one it is a temporary folder. `postgres` in its
//! place measures PostgreSQL, on a server of the bench's own. AGENTS is how many agents the rows name without
//! order, 1 without it. Linux only for the CPU column, which has this process alone.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement for people"
)]

#[path = "../tests/parts/cluster.rs"]
mod cluster;

use cluster::Cluster;
use countersign_core::canonical::Hash;
use countersign_core::score::HalfLife;
use countersign_store::{ReceiptRow, Store, Target};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROWS: u64 = 150_000;

fn main() {
    let temporary = tempfile::tempdir().unwrap();
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let folder = arguments.first().map_or(temporary.path(), Path::new);
    let number = |index: usize| arguments.get(index).map(|number| number.parse().unwrap());
    let agents = number(3).unwrap_or(1);
    println!("threads  outstanding    rows/s  CPU µs/row   p50 ms   p99 ms   max ms  bytes/row");
    for threads in number(1).map_or(vec![1, 2], |threads| vec![threads]) {
        for outstanding in number(2).map_or(vec![1, 16, 64, 256], |outstanding| vec![outstanding]) {
            measure(folder, threads, outstanding, agents);
        }
    }
}

fn measure(folder: &Path, threads: u64, outstanding: u64, agents: u64) {
    let place = Place::new(folder, &format!("keep-{threads}-{outstanding}.db"));
    let store = Store::create(&place.target(), HalfLife::DEFAULT).unwrap();
    let rows = if outstanding == 1 { ROWS / 10 } else { ROWS };
    let next = Arc::new(AtomicU64::new(0));
    let (started, cpu) = (Instant::now(), cpu_micros());
    let mut waits: Vec<Duration> = std::thread::scope(|scope| {
        // One runtime a thread, as the service has it.
        let runtimes: Vec<_> = (0..threads)
            .map(|_| {
                let (store, next) = (store.clone(), next.clone());
                scope.spawn(move || drive(&store, &next, rows, outstanding / threads, agents))
            })
            .collect();
        runtimes
            .into_iter()
            .flat_map(|runtime| runtime.join().unwrap())
            .collect()
    });
    let (seconds, cpu) = (started.elapsed().as_secs_f64(), cpu_micros() - cpu);
    store.close().unwrap();
    let bytes = place.bytes() / rows;
    waits.sort_unstable();
    let wait = |part: usize| waits[(waits.len() - 1) * part / 1_000].as_secs_f64() * 1e3;
    println!(
        "{threads:7}  {outstanding:11}  {:8.0}  {:10.2}  {:7.2}  {:7.2}  {:7.2}  {bytes:9}",
        rows as f64 / seconds,
        cpu as f64 / rows as f64,
        wait(500),
        wait(990),
        wait(1_000),
    );
}

/// An empty place for a store.
enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Place {
    fn new(folder: &Path, name: &str) -> Self {
        if folder == Path::new("postgres") {
            return Place::Postgres(Cluster::shared().database());
        }
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.join(format!("{name}{end}")));
        }
        Place::Sqlite(folder.join(name))
    }

    fn target(&self) -> Target {
        match self {
            Place::Sqlite(path) => Target::Sqlite(path.clone()),
            Place::Postgres(database) => Cluster::shared().target(database),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Place::Sqlite(path) => std::fs::metadata(path).unwrap().len(),
            Place::Postgres(database) => {
                let size = format!("SELECT pg_database_size('{database}')");
                Cluster::shared().sql(database, &size).parse().unwrap()
            }
        }
    }
}

fn drive(store: &Store, next: &Arc<AtomicU64>, rows: u64, outstanding: u64, agents: u64) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..outstanding.max(1))
            .map(|_| {
                let (store, next) = (store.clone(), next.clone());
                tokio::spawn(async move {
                    let mut waits = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= rows {
                            return waits;
                        }
                        let began = Instant::now();
                        store.keep_receipt(row(number, agents)).await.unwrap();
                        waits.push(began.elapsed());
                    }
                })
            })
            .collect();
        let mut waits = Vec::new();
        for task in tasks {
            waits.extend(task.await.unwrap());
        }
        waits
    })
}

/// A row of usual size under an id like a UUID of version 7: a time that rises, then bits without order.
fn row(number: u64, agents: u64) -> ReceiptRow {
    let scattered = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut verification_id = [0; 16];
    verification_id[..8].copy_from_slice(&(number / 20).rotate_left(16).to_be_bytes());
    verification_id[8..].copy_from_slice(&scattered.to_be_bytes());
    ReceiptRow {
        verification_id,
        task_id: format!("invoice-2026-{number:08}"),
        agent_id: Some(format!("agent-billing-{:07}", (scattered >> 20) % agents)),
        output_hash: Hash([number as u8; 32]),
        schema_hash: Hash([2; 32]),
        rules_hash: Hash([3; 32]),
        request_hash: Hash([4; 32]),
        passed: false,
        blocking_checks: "integrity:sum_equals".to_owned(),
        schema: (22, 22),
        integrity: (7, 8),
        findings: 1,
        flags: 0,
        enforce_rules: true,
        strict_content_check: false,
        detail_full: true,
        is_test: false,
        paid: false,
        verified_at_micros: 1_790_000_000_000_000 + number.cast_signed(),
        key_version: "v1-2026-10a".to_owned(),
        verifier_version: "0.1.0".to_owned(),
        mac: [5; 32],
    }
}

/// User and system time of this process, in steps of 10 ms.
fn cpu_micros() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<i64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|field| field.parse().ok())
        .collect();
    // After the name come the state, which is no number, and the parent; user time is the eleventh number.
    let ticks: i64 = fields.iter().skip(10).take(2).sum();
    ticks.unsigned_abs() * 10_000
}
