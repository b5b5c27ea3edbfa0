//! What can go wrong with a server and on the way to it, and what the store then says and does.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test says it by its name, and fails by a panic"
)]

#[path = "parts/cluster.rs"]
mod cluster;
#[path = "parts/proxy.rs"]
mod proxy;
#[path = "parts/sample.rs"]
mod sample;

use cluster::Cluster;
use countersign_core::score::HalfLife;
use countersign_store::{ReceiptRow, Store, StoreError, Target};
use proxy::{Cut, Proxy};
use sample::{id, receipt};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn create(target: &Target) -> Store {
    Store::create(target, HalfLife::DEFAULT).unwrap()
}

fn refusal<T>(result: Result<T, StoreError>) -> String {
    match result.map(drop) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("not refused"),
    }
}

/// Fails unless the whole database holds together, with so many receipts.
fn assert_whole(target: &Target, receipts: u64) {
    let checked = Store::check(target).unwrap();
    assert_eq!((checked.problems, checked.receipts), (0, receipts), "{checked:?}");
}

#[test]
fn what_cannot_be_opened_says_what_to_do() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let port = cluster.port();
    let at = |setting: &str, password: &str| {
        let target = Cluster::target_with(setting, password);
        let refusal = refusal(Store::create(&target, HalfLife::DEFAULT));
        assert!(!refusal.contains("hunter"), "{refusal}");
        refusal
    };
    let good = format!("postgres://countersign@127.0.0.1:{port}/{database}");
    let rows = [
        (
            good.clone(),
            "hunter3",
            "look at the user in store and at store_password_file",
        ),
        (
            format!("postgres://nobody@127.0.0.1:{port}/{database}"),
            "hunter2",
            "store_password_file",
        ),
        (
            format!("postgres://countersign@127.0.0.1:{port}/nothing"),
            "hunter2",
            "createdb",
        ),
        (
            format!("{good}?sslmode=require"),
            "hunter2",
            "no encrypted connection",
        ),
        (
            "postgres://countersign@127.0.0.1:1/db".to_owned(),
            "hunter2",
            "the database is away",
        ),
        (
            "postgres://countersign@nowhere.invalid/db?sslmode=disable".to_owned(),
            "hunter2",
            "is away",
        ),
    ];
    for (setting, password, expected) in rows {
        let refusal = at(&setting, password);
        assert!(refusal.contains(expected), "{setting}: {refusal}");
    }
    let target = cluster.target(&database);
    for refusal in [
        refusal(Store::open(&target, HalfLife::DEFAULT)),
        refusal(Store::look(&target)),
    ] {
        assert!(refusal.contains("countersign store create"), "{refusal}");
    }
    assert_eq!(
        cluster.sql(
            &database,
            "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'countersign'"
        ),
        "0"
    );
}

#[tokio::test]
async fn a_database_that_cannot_be_right_is_refused() {
    let rows = [
        ("INSERT INTO migration VALUES (1000)", "newer version"),
        ("UPDATE receipt_counter SET last = 1", "counter"),
        ("UPDATE receipt_counter SET last = 3", "counter"),
        ("DELETE FROM receipt_counter", "counter"),
        ("DROP TABLE agent", "missing or changed"),
    ];
    let cluster = Cluster::shared();
    for (spoil, expected) in rows {
        let database = cluster.database();
        let target = cluster.target(&database);
        let store = create(&target);
        for number in 1..=2 {
            store.keep_receipt(receipt(number)).await.unwrap();
        }
        store.close().unwrap();
        cluster.sql(&database, spoil);
        let refused = match Store::open(&target, HalfLife::DEFAULT) {
            // What an opening does not look at shows when it is asked for.
            Ok(store) => refusal(store.agent("agent 1").await),
            Err(error) => error.to_string(),
        };
        assert!(refused.contains(expected), "{spoil}: {refused}");
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_right_is_corrupt_and_its_neighbours_are_not() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let store = create(&cluster.target(&database));
    for number in 1..=7 {
        store.keep_receipt(receipt(number)).await.unwrap();
    }
    let rows = [
        "UPDATE receipt SET mac = '\\x05' WHERE sequence = 2",
        "UPDATE receipt SET output_hash = '' WHERE sequence = 3",
        "UPDATE receipt SET task_id = '\\xff' WHERE sequence = 4",
        "UPDATE receipt SET flags = -1 WHERE sequence = 5",
        "UPDATE receipt SET sequence = -6 WHERE sequence = 6",
    ];
    for (damage, number) in rows.into_iter().zip(2..) {
        cluster.sql(&database, damage);
        let found = store.receipt(id(number)).await;
        assert!(
            matches!(found, Err(StoreError::Corrupt(_))),
            "{damage}: {found:?}"
        );
        assert_eq!(store.receipt(id(1)).await.unwrap().unwrap().sequence, 1);
    }
    assert_eq!(store.keep_receipt(receipt(8)).await.unwrap(), 8);
    cluster.sql(&database, "UPDATE receipt_counter SET last = 7");
    let kept = store.keep_receipt(receipt(9)).await;
    assert!(matches!(kept, Err(StoreError::Corrupt(_))), "{kept:?}");
    let ready = store.is_ready().await;
    assert!(matches!(ready, Err(StoreError::Corrupt(_))), "{ready:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_whose_end_nobody_hears_is_answered_truthfully() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let proxy = Proxy::start(cluster.port());
    let target = Cluster::target_at(&database, proxy.port());
    let store = create(&target);
    assert_eq!(store.keep_receipt(receipt(1)).await.unwrap(), 1);
    let mut next = 2;
    for round in 0..5 {
        for cut in [
            Cut::BeforeTheServer,
            Cut::BehindTheStatement,
            Cut::BeforeTheAnswer,
        ] {
            proxy.cut(cut);
            let waiting: Vec<_> = (next..next + 20)
                .map(|number| store.keep_receipt(receipt(number)))
                .collect();
            for (kept, number) in waiting.into_iter().zip(next..) {
                assert_eq!(kept.await.unwrap(), number, "{cut:?} in round {round}");
            }
            assert!(proxy.has_cut(), "{cut:?}");
            // An id that somebody has is a conflict even if the way breaks.
            proxy.cut(cut);
            let mut other = receipt(next);
            "another".clone_into(&mut other.task_id);
            let taken = store.keep_receipt(other).await;
            assert!(matches!(taken, Err(StoreError::Conflict)), "{cut:?}: {taken:?}");
            next += 20;
        }
    }
    for number in 1..next {
        let found = store.receipt(id(number)).await.unwrap().unwrap();
        assert_eq!((found.sequence, found.row), (number, receipt(number)));
    }
    assert_whole(&target, next - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_import_whose_end_nobody_hears_is_there_once() {
    let cluster = Cluster::shared();
    let (one, two) = (cluster.database(), cluster.database());
    let store = create(&cluster.target(&one));
    for number in 1..=90 {
        drop(store.keep_receipt(receipt(number)));
    }
    store.keep_receipt(receipt(91)).await.unwrap();
    let proxy = Proxy::start(cluster.port());
    let other = create(&Cluster::target_at(&two, proxy.port()));
    for (cut, after) in [
        (Cut::BeforeTheServer, 0),
        (Cut::BehindTheStatement, 30),
        (Cut::BeforeTheAnswer, 60),
    ] {
        let page = store.receipts_after(after, 30).await.unwrap();
        // The statement is prepared by the first import, which the proxy would cut instead.
        if after == 0 {
            other.import(Vec::from([page[0].clone()])).await.unwrap();
            proxy.cut(cut);
            other.import(page[1..].to_vec()).await.unwrap();
        } else {
            proxy.cut(cut);
            other.import(page).await.unwrap();
        }
        assert!(proxy.has_cut(), "{cut:?}");
    }
    assert_eq!(
        other.receipts_after(0, 100).await.unwrap(),
        store.receipts_after(0, 90).await.unwrap()
    );
    assert_whole(&cluster.target(&two), 90);
}

/// Writes until told to stop, in spite of errors; comes back with the numbers that were answered.
async fn write(store: Store, first: u64, stop: Arc<AtomicBool>) -> Vec<(u64, u64)> {
    let mut kept = Vec::new();
    for number in first.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let row = ReceiptRow {
            agent_id: Some(format!("agent {}", number % 7)),
            ..receipt(number)
        };
        match store.keep_receipt(row).await {
            Ok(sequence) => kept.push((sequence, number)),
            Err(StoreError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(other) => panic!("{other}"),
        }
    }
    kept
}

/// Lets two nodes write while `trouble` happens, and looks for everything that was answered.
async fn under_load(cluster: &mut Cluster, trouble: impl AsyncFnOnce(&mut Cluster, &str)) {
    let database = cluster.database();
    let target = cluster.target(&database);
    let nodes = [create(&target), create(&target)];
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..32)
        .map(|writer| {
            let store = nodes[writer as usize % 2].clone();
            tokio::spawn(write(store, writer * 1_000_000, stop.clone()))
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    trouble(cluster, &database).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Relaxed);
    let mut answered = Vec::new();
    for writer in writers {
        answered.extend(writer.await.unwrap());
    }
    for store in &nodes {
        recovered(store).await;
    }
    answered.sort_unstable();
    let numbers = answered.windows(2).all(|pair| pair[0].0 < pair[1].0);
    assert!(numbers, "a number was given twice");
    for &(sequence, number) in &answered {
        let found = nodes[0].receipt(id(number)).await.unwrap().unwrap();
        assert_eq!(
            (found.sequence, found.row.task_id),
            (sequence, receipt(number).task_id)
        );
    }
    let newest = nodes[1].newest().await.unwrap();
    assert!(newest >= answered.len() as u64 && !answered.is_empty());
    assert_whole(&target, newest);
}

/// Waits until a store serves again, which it does by itself.
async fn recovered(store: &Store) {
    for _ in 0..500 {
        if store.is_ready().await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not recover: {:?}", store.is_ready().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_share_numbers_and_sums() {
    under_load(&mut Cluster::start(), async |_, _| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn killed_backends_lose_nothing_that_was_answered() {
    let kill = async |cluster: &mut Cluster, database: &str| {
        for _ in 0..3 {
            let backends = format!("SELECT pid FROM pg_stat_activity WHERE datname = '{database}'");
            let pid = loop {
                // One is enough: the server ends the others, and starts anew.
                match cluster.sql("postgres", &backends).lines().next() {
                    Some(pid) => break pid.to_owned(),
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            };
            let killed = Command::new("kill").args(["-9", &pid]).status().unwrap();
            assert!(killed.success());
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    under_load(&mut Cluster::start(), kill).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_stops_and_comes_back_is_used_again() {
    let restart = async |cluster: &mut Cluster, database: &str| {
        let store = Store::open(&cluster.target(database), HalfLife::DEFAULT).unwrap();
        store.is_ready().await.unwrap();
        for mode in ["fast", "immediate"] {
            cluster.down(mode);
            for result in [
                store.is_ready().await,
                store.keep_receipt(receipt(77)).await.map(drop),
                store.receipt(id(1)).await.map(drop),
            ] {
                assert!(
                    matches!(result, Err(StoreError::Unavailable(_))),
                    "{mode}: {result:?}"
                );
            }
            cluster.up();
            recovered(&store).await;
        }
        store.close().unwrap();
    };
    under_load(&mut Cluster::start(), restart).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_nodes_with_one_id_one_is_first() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let target = cluster.target(&database);
    let (one, two) = (create(&target), create(&target));
    for number in 1..=100 {
        let mut other = receipt(number);
        "another".clone_into(&mut other.task_id);
        let pair = (one.keep_receipt(receipt(number)), two.keep_receipt(other));
        let pair = (pair.0.await, pair.1.await);
        let expected = |result: &Result<u64, StoreError>| match result {
            Ok(sequence) => *sequence == number,
            Err(error) => matches!(error, StoreError::Conflict),
        };
        assert!(
            pair.0.is_ok() != pair.1.is_ok() && expected(&pair.0) && expected(&pair.1),
            "{pair:?}"
        );
    }
    assert_whole(&target, 100);
}

#[tokio::test]
async fn nodes_that_start_at_once_make_the_tables_once() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let target = cluster.target(&database);
    let nodes: Vec<_> = (0..8)
        .map(|_| {
            let target = target.clone();
            std::thread::spawn(move || create(&target))
        })
        .collect();
    let nodes: Vec<Store> = nodes.into_iter().map(|node| node.join().unwrap()).collect();
    for (node, number) in nodes.iter().zip(1..) {
        assert_eq!(node.keep_receipt(receipt(number)).await.unwrap(), number);
    }
}

#[tokio::test]
async fn nodes_with_different_half_lives_do_not_mix() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let target = cluster.target(&database);
    let store = create(&target);
    for number in 1..=20 {
        store.keep_receipt(receipt(number)).await.unwrap();
    }
    let ten = HalfLife::of_days(10).unwrap();
    let refused = Store::open(&target, ten).map(drop);
    assert!(
        matches!(refused, Err(StoreError::HalfLife { kept: 30, set: 10 })),
        "{refused:?}"
    );
    Store::migrate(&target, ten).unwrap();
    assert_whole(&target, 20);
    // The node that was running notices with its next write, and says so to whoever asks whether it is ready.
    let kept = store.keep_receipt(receipt(21)).await.map(drop);
    for result in [kept, store.is_ready().await] {
        assert!(
            matches!(result, Err(StoreError::HalfLife { kept: 10, set: 30 })),
            "{result:?}"
        );
    }
    assert_eq!(store.newest().await.unwrap(), 20);
    let store = Store::open(&target, ten).unwrap();
    assert_eq!(store.keep_receipt(receipt(21)).await.unwrap(), 21);
    assert_whole(&target, 21);
}

#[tokio::test]
async fn sums_stay_right_when_checks_are_years_apart() {
    let cluster = Cluster::shared();
    let target = cluster.target(&cluster.database());
    let one = HalfLife::of_days(1).unwrap();
    let store = Store::create(&target, one).unwrap();
    // Weights of 2^-2000 and less: PostgreSQL refuses to compute what underflows.
    for (number, years) in [(1, 0), (2, 6), (3, 12), (4, -6), (5, 18), (6, 18)] {
        let mut row = receipt(number);
        row.is_test = false;
        row.agent_id = Some("a".to_owned());
        row.verified_at_micros += years * 365 * 86_400_000_000;
        row.passed = true;
        store.keep_receipt(row).await.unwrap();
    }
    let record = store.agent("a").await.unwrap().unwrap();
    assert_eq!(record.verified, 6);
    let sums = record.sums;
    for sum in [sums.weights, sums.passed_weights, sums.squares] {
        assert!((sum - 2.0).abs() < 1e-9, "{sum}");
    }
    assert_whole(&target, 6);
}

#[tokio::test]
async fn a_server_that_only_reads_is_not_ready() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let target = cluster.target(&database);
    create(&target).close().unwrap();
    let only_reads = format!("ALTER DATABASE {database} SET default_transaction_read_only = on");
    let store = create(&target);
    store.keep_receipt(receipt(1)).await.unwrap();
    store.close().unwrap();
    cluster.sql("postgres", &only_reads);
    let refused = refusal(Store::open(&target, HalfLife::DEFAULT));
    assert!(refused.contains("only reads"), "{refused}");
    let store = Store::look(&target).unwrap();
    assert_eq!(store.receipt(id(1)).await.unwrap().unwrap().sequence, 1);
}

#[tokio::test]
async fn a_lock_that_somebody_holds_delays_and_loses_nothing() {
    let cluster = Cluster::shared();
    let database = cluster.database();
    let store = create(&cluster.target(&database));
    store.keep_receipt(receipt(1)).await.unwrap();
    let port = cluster.port().to_string();
    let mut foreign = Command::new("psql")
        .args([
            "-X",
            "-q",
            "-h",
            "127.0.0.1",
            "-U",
            "countersign",
            "-p",
            &port,
            "-d",
            &database,
        ])
        .args([
            "-c",
            "BEGIN; UPDATE countersign.receipt_counter SET last = last; SELECT pg_sleep(1)",
        ])
        .env("PGPASSWORD", "hunter2")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut waiting = Vec::new();
    let busy = loop {
        let mut kept = Box::pin(store.keep_receipt(receipt(waiting.len() as u64 + 2)));
        let once = std::future::poll_fn(|context| std::task::Poll::Ready(kept.as_mut().poll(context))).await;
        match once {
            std::task::Poll::Pending => waiting.push(kept),
            std::task::Poll::Ready(result) => break result,
        }
    };
    assert!(matches!(busy, Err(StoreError::Busy)), "{busy:?}");
    foreign.wait().unwrap();
    for (sequence, kept) in (2..).zip(waiting) {
        assert_eq!(kept.await.unwrap(), sequence);
    }
}

/// A certificate for `name` and its key in the folder of the server, signed by a root of its own.
fn certificate(cluster: &Cluster, file: &str, name: &str) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let make = |file: &str, extensions: &[&str], signer: &[&str]| {
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ])
            .args(["-days", "30", "-subj", &format!("/CN={file}")])
            .args(extensions.iter().flat_map(|extension| ["-addext", extension]))
            .args(signer)
            .args(["-keyout", &format!("{file}.key"), "-out", &format!("{file}.pem")])
            .current_dir(cluster.folder())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    let root = format!("{file}-root");
    make(&root, &["keyUsage=critical,keyCertSign"], &[]);
    let signer = [format!("{root}.pem"), format!("{root}.key")];
    let names = format!("subjectAltName={name}");
    make(
        file,
        &[&names, "basicConstraints=critical,CA:FALSE"],
        &["-CA", &signer[0], "-CAkey", &signer[1]],
    );
    let folder = std::fs::metadata(cluster.folder()).unwrap();
    let key = cluster.folder().join(format!("{file}.key"));
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&key, Some(folder.uid()), Some(folder.gid())).unwrap();
}

/// Starts the server anew with this certificate; with none it speaks no TLS.
fn serve_with(cluster: &mut Cluster, file: Option<&str>) {
    let folder = cluster.folder().display().to_string();
    if let Some(file) = file {
        cluster.sql(
            "postgres",
            &format!("ALTER SYSTEM SET ssl_cert_file = '{folder}/{file}.pem'"),
        );
        cluster.sql(
            "postgres",
            &format!("ALTER SYSTEM SET ssl_key_file = '{folder}/{file}.key'"),
        );
    }
    let ssl = if file.is_some() { "on" } else { "off" };
    cluster.sql("postgres", &format!("ALTER SYSTEM SET ssl = {ssl}"));
    cluster.down("fast");
    cluster.up();
}

#[tokio::test]
async fn a_connection_is_encrypted_and_verified_or_refused() {
    let mut cluster = Cluster::start();
    certificate(&cluster, "right", "IP:127.0.0.1,DNS:localhost");
    certificate(&cluster, "wrong", "DNS:db.example");
    let (database, port) = (cluster.database(), cluster.port());
    let folder = cluster.folder().display().to_string();
    let at = |host: &str, root: Option<&str>, mode: &str| {
        let root = root.map_or(String::new(), |file| {
            format!("&sslrootcert={folder}/{file}-root.pem")
        });
        let setting = format!("postgres://countersign@{host}:{port}/{database}?sslmode={mode}{root}");
        Store::create(&Cluster::target_with(&setting, "hunter2"), HalfLife::DEFAULT)
    };

    serve_with(&mut cluster, Some("right"));
    for (number, (host, mode)) in (1..).zip([("127.0.0.1", "verify-full"), ("localhost", "require")]) {
        let store = at(host, Some("right"), mode).unwrap();
        assert_eq!(store.keep_receipt(receipt(number)).await.unwrap(), number);
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
            WHERE application_name = 'countersign'";
        assert_eq!(cluster.sql(&database, encrypted), "t");
        store.close().unwrap();
    }
    // Signed by nobody whom the system trusts, or by another than the one who was named.
    for root in [None, Some("wrong")] {
        let refused = refusal(at("127.0.0.1", root, "require"));
        assert!(refused.contains("no encrypted connection"), "{root:?}: {refused}");
    }
    let refused = refusal(at("127.0.0.1", Some("missing"), "require"));
    assert!(refused.contains("sslrootcert"), "{refused}");

    // Made out to another host.
    serve_with(&mut cluster, Some("wrong"));
    let refused = refusal(at("127.0.0.1", Some("wrong"), "verify-full"));
    assert!(refused.contains("no encrypted connection"), "{refused}");

    serve_with(&mut cluster, None);
    let refused = refusal(at("127.0.0.1", Some("right"), "require"));
    assert!(refused.contains("no encrypted connection"), "{refused}");
    at("127.0.0.1", None, "disable").unwrap().close().unwrap();
}
