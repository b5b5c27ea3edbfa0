//! What can go wrong with a file, and what the store then says.
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
use std::fs;
use std::io::{Seek, SeekFrom, Write};

/// Opens what `spoil` made of a closed database with three receipts.
async fn spoilt(spoil: impl FnOnce(&Home)) -> (Home, Result<Store, StoreError>) {
    let home = Home::new();
    let store = home.store();
    for number in 1..=3 {
        store.keep_receipt(receipt(number)).await.unwrap();
    }
    store.close().unwrap();
    spoil(&home);
    let opened = home.open();
    (home, opened)
}

fn sql(home: &Home, sql: &str) {
    Connection::open(home.path()).unwrap().execute_batch(sql).unwrap();
}

/// The text of a refusal, which must be of the kind that asks for a person or of the kind that asks for time.
fn refusal(opened: Result<Store, StoreError>) -> String {
    match opened.map(drop) {
        Err(error @ (StoreError::Corrupt(_) | StoreError::Unavailable(_))) => error.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_right_is_refused() {
    type Spoil = fn(&Home);
    let rows: [(&str, &str, Spoil); 9] = [
        ("a missing file", "no database file at this path", |home| {
            fs::remove_file(home.path()).unwrap();
        }),
        ("a folder", "not a file", |home| {
            fs::remove_file(home.path()).unwrap();
            fs::create_dir(home.path()).unwrap();
        }),
        ("a text", "not a SQLite database", |home| {
            fs::write(
                home.path(),
                "a long text of some other program, in its own file. ".repeat(99),
            )
            .unwrap();
        }),
        ("pages of noise", "damaged", |home| {
            let mut file = fs::OpenOptions::new().write(true).open(home.path()).unwrap();
            let bytes = file.metadata().unwrap().len();
            let kept = 4_096.min(bytes);
            file.seek(SeekFrom::Start(kept)).unwrap();
            file.write_all(&vec![0xA5; (bytes - kept) as usize]).unwrap();
        }),
        ("the database of another program", "another program", |home| {
            fs::remove_file(home.path()).unwrap();
            sql(home, "CREATE TABLE diary (entry TEXT)");
        }),
        ("a newer database", "newer version", |home| {
            sql(home, "INSERT INTO migration VALUES (1000)");
        }),
        ("a counter that lags", "counter", |home| {
            sql(home, "UPDATE receipt_counter SET last = 2");
        }),
        ("a counter that leads", "counter", |home| {
            sql(home, "UPDATE receipt_counter SET last = 4");
        }),
        ("no counter", "never writes", |home| {
            sql(home, "DELETE FROM receipt_counter");
        }),
    ];
    for (name, expected, spoil) in rows {
        let (_home, opened) = spoilt(spoil).await;
        let refusal = refusal(opened);
        assert!(refusal.contains(expected), "{name}: {refusal}");
    }
}

#[tokio::test]
async fn a_refused_database_is_left_as_it_was() {
    let foreign = |home: &Home| {
        fs::remove_file(home.path()).unwrap();
        sql(
            home,
            "CREATE TABLE diary (entry TEXT); INSERT INTO diary VALUES ('dear diary')",
        );
    };
    let newer = |home: &Home| sql(home, "INSERT INTO migration VALUES (1000)");
    for spoil in [foreign, newer] {
        let mut before = Vec::new();
        let (home, opened) = spoilt(|home| {
            spoil(home);
            before = fs::read(home.path()).unwrap();
        })
        .await;
        refusal(opened);
        refusal(Store::create(&home.target(), HalfLife::DEFAULT));
        assert!(fs::read(home.path()).unwrap() == before);
    }
}

#[tokio::test]
async fn create_makes_no_folder_and_open_makes_no_file() {
    let home = Home::new();
    let nowhere = home.path().join("no/such/folder.db");
    refusal(Store::create(&Target::Sqlite(nowhere), HalfLife::DEFAULT));
    refusal(home.open());
    assert!(!home.path().exists());
    // What a create leaves that died at once.
    fs::write(home.path(), "").unwrap();
    home.open().unwrap().is_ready().await.unwrap();
}

#[cfg(unix)]
#[test]
fn only_its_owner_reads_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let _store = home.store();
    for file in fs::read_dir(home.path().parent().unwrap()).unwrap() {
        let file = file.unwrap();
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o077,
            0,
            "{:?}",
            file.file_name()
        );
    }
}

/// What later migrations made, undone.
const TO_VERSION_1: &str = "DROP TABLE public_key; DROP TABLE agent; DROP INDEX receipt_counted; \
    ALTER TABLE receipt_counter DROP COLUMN half_life_days; \
    ALTER TABLE receipt_counter DROP COLUMN summed; DELETE FROM migration WHERE version > 1";

#[tokio::test]
async fn an_older_database_is_brought_up_to_date() {
    let (_home, opened) = spoilt(|home| sql(home, TO_VERSION_1)).await;
    let store = opened.unwrap();
    assert_eq!(store.public_keys().await.unwrap(), []);
    assert_eq!(store.receipt(id(3)).await.unwrap().unwrap().row, receipt(3));
    let record = store.agent("agent 3").await.unwrap().unwrap();
    assert_eq!(
        (record.verified, record.last_seen_micros),
        (1, receipt(3).verified_at_micros)
    );
    assert_eq!(
        store.counted_checks("agent 3", 0, 9).await.unwrap()[0].sequence,
        3
    );
    assert_eq!(store.keep_receipt(receipt(4)).await.unwrap(), 4);
}

#[tokio::test]
async fn sums_of_another_half_life_are_refused_and_can_be_made_anew() {
    const DAY_MICROS: i64 = 86_400_000_000;
    let home = Home::new();
    let store = home.store();
    for (number, day) in [(1, 0), (2, 30), (3, 90)] {
        let mut row = receipt(number);
        row.agent_id = Some("a".to_owned());
        row.verified_at_micros = day * DAY_MICROS;
        store.keep_receipt(row).await.unwrap();
    }
    store.close().unwrap();
    let ten = HalfLife::of_days(10).unwrap();
    for open in [Store::open, Store::create] {
        let refused = open(&home.target(), ten).map(drop);
        assert!(
            matches!(refused, Err(StoreError::HalfLife { kept: 30, set: 10 })),
            "{refused:?}"
        );
    }
    Store::migrate(&home.target(), ten).unwrap();
    Store::migrate(&home.target(), ten).unwrap();
    let store = Store::open(&home.target(), ten).unwrap();
    let record = store.agent("a").await.unwrap().unwrap();
    let expected = 1.0 + 0.5_f64.powi(6) + 0.5_f64.powi(9);
    assert!((record.sums.weights - expected).abs() < 1e-12);
    assert_eq!(record.verified, 3);
    store.close().unwrap();
    assert!(home.open().is_err());
}

#[tokio::test]
async fn a_row_that_cannot_be_right_is_corrupt_and_its_neighbours_are_not() {
    let rows = [
        "UPDATE receipt SET mac = x'05' WHERE sequence = 2",
        "UPDATE receipt SET output_hash = x'' WHERE sequence = 2",
        "UPDATE receipt SET request_hash = zeroblob(33) WHERE sequence = 2",
        "UPDATE receipt SET passed = 7 WHERE sequence = 2",
        "UPDATE receipt SET paid = -1 WHERE sequence = 2",
        "UPDATE receipt SET is_test = 2 WHERE sequence = 2",
        "UPDATE receipt SET schema_passed = -schema_passed WHERE sequence = 2",
        "UPDATE receipt SET flags = -flags WHERE sequence = 2",
        "UPDATE receipt SET sequence = -2 WHERE sequence = 2",
        "UPDATE receipt SET task_id = CAST(x'FF' AS TEXT) WHERE sequence = 2",
    ];
    for damage in rows {
        let (_home, opened) = spoilt(|home| sql(home, damage)).await;
        let store = opened.unwrap();
        let found = store.receipt(id(2)).await;
        assert!(
            matches!(found, Err(StoreError::Corrupt(_))),
            "{damage}: {found:?}"
        );
        assert_eq!(
            store.receipt(id(1)).await.unwrap().unwrap().sequence,
            1,
            "{damage}"
        );
        assert_eq!(store.keep_receipt(receipt(4)).await.unwrap(), 4, "{damage}");
    }
}

#[tokio::test]
async fn an_agent_whose_numbers_cannot_be_right_is_corrupt() {
    let spoil = |home: &Home| {
        sql(
            home,
            "UPDATE receipt SET passed = 7 WHERE sequence = 1; \
             UPDATE agent SET verified = -verified WHERE agent_id = 'agent 2'",
        );
    };
    let (_home, opened) = spoilt(spoil).await;
    let store = opened.unwrap();
    let checks = store.counted_checks("agent 1", 0, 9).await;
    assert!(matches!(checks, Err(StoreError::Corrupt(_))), "{checks:?}");
    let record = store.agent("agent 2").await;
    assert!(matches!(record, Err(StoreError::Corrupt(_))), "{record:?}");
    assert_eq!(store.agent("agent 3").await.unwrap().unwrap().verified, 1);
}

#[tokio::test]
async fn a_database_is_held_by_one_at_a_time() {
    let home = Home::new();
    let store = home.store();
    let refused = refusal(home.open());
    assert!(refused.contains("another process serves"), "{refused}");
    #[cfg(unix)]
    {
        let link = home.path().with_file_name("link.db");
        std::os::unix::fs::symlink(home.path(), &link).unwrap();
        let refused = refusal(Store::open(&Target::Sqlite(link), HalfLife::DEFAULT));
        assert!(
            refused.contains("another process serves"),
            "by another name: {refused}"
        );
    }
    // Being asked by a second one does not disturb the first.
    assert_eq!(store.keep_receipt(receipt(1)).await.unwrap(), 1);
    store.close().unwrap();
    home.open().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_are_moved_or_replaced_stop_the_service_until_they_are_back() {
    for end in ["", "-wal", "-shm", ".lock"] {
        let home = Home::new();
        let store = home.store();
        store.keep_receipt(receipt(1)).await.unwrap();
        let file = home.path().with_extension(format!("db{end}"));
        let away = home.path().with_extension("away");
        let refuses = async |what: &str| {
            for result in [
                store.keep_receipt(receipt(2)).await.map(drop),
                store.is_ready().await,
            ] {
                match result {
                    Err(StoreError::Unavailable(cause)) => {
                        assert!(cause.to_string().contains(what), "{end}: {cause}");
                    }
                    other => panic!("{end}: {other:?}"),
                }
            }
        };
        fs::rename(&file, &away).unwrap();
        refuses("was deleted or moved while it was served").await;
        fs::copy(&away, &file).unwrap();
        refuses("was replaced while it was served").await;
        fs::rename(&away, &file).unwrap();
        store.is_ready().await.unwrap();
        assert_eq!(store.keep_receipt(receipt(2)).await.unwrap(), 2, "{end}");
        fs::remove_file(&file).unwrap();
        let closed = store.close().map_err(|error| error.to_string());
        assert!(closed.unwrap_err().contains("was deleted"), "{end}");
    }
}

#[tokio::test]
async fn a_file_that_is_cut_off_while_it_is_served_is_corrupt() {
    let home = Home::new();
    home.store().close().unwrap();
    let store = home.store();
    store.keep_receipt(receipt(1)).await.unwrap();
    fs::File::options()
        .write(true)
        .open(home.path())
        .unwrap()
        .set_len(8_192)
        .unwrap();
    for result in [
        store.keep_receipt(receipt(2)).await.map(drop),
        store.is_ready().await,
    ] {
        assert!(matches!(result, Err(StoreError::Corrupt(_))), "{result:?}");
    }
}

#[tokio::test]
async fn an_empty_file_with_a_log_is_not_taken_for_a_new_database() {
    let spoil = |home: &Home| {
        fs::write(home.path(), "").unwrap();
        fs::write(home.path().with_extension("db-wal"), "a log").unwrap();
    };
    let (home, opened) = spoilt(spoil).await;
    assert!(refusal(opened).contains("its log is not"));
    assert!(home.path().with_extension("db-wal").exists());
}

#[tokio::test]
async fn readiness_tells_what_no_receipt_has_met_yet() {
    let home = Home::new();
    let store = home.store();
    let foreign = Connection::open(home.path()).unwrap();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ready = store.is_ready().await;
    assert!(matches!(ready, Err(StoreError::Unavailable(_))), "{ready:?}");
    foreign.execute_batch("COMMIT").unwrap();
    store.is_ready().await.unwrap();
    let rows: i64 = foreign
        .query_row("SELECT COUNT(*) FROM receipt", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0, "what the probe wrote is taken back");
    assert_eq!(store.keep_receipt(receipt(1)).await.unwrap(), 1);
    for spoil in [
        "UPDATE receipt_counter SET last = 7",
        "UPDATE receipt_counter SET last = -1",
        "DELETE FROM receipt_counter",
    ] {
        foreign.execute_batch(spoil).unwrap();
        for result in [
            store.is_ready().await,
            store.keep_receipt(receipt(2)).await.map(drop),
        ] {
            assert!(
                matches!(result, Err(StoreError::Corrupt(_))),
                "{spoil}: {result:?}"
            );
        }
    }
    foreign
        .execute_batch("INSERT INTO receipt_counter (only_row, last, half_life_days) VALUES (1, 1, 30)")
        .unwrap();
    store.is_ready().await.unwrap();
    assert_eq!(store.keep_receipt(receipt(2)).await.unwrap(), 2);
}

#[tokio::test]
async fn a_full_queue_is_busy_at_once_and_what_is_queued_is_kept() {
    let home = Home::new();
    let store = home.store();
    // A foreign program in the middle of a write makes the writer wait.
    let foreign = Connection::open(home.path()).unwrap();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut waiting = Vec::new();
    let busy = loop {
        let mut kept = Box::pin(store.keep_receipt(receipt(waiting.len() as u64 + 1)));
        match futures_once(&mut kept).await {
            None => waiting.push(kept),
            Some(result) => break result,
        }
    };
    assert!(matches!(busy, Err(StoreError::Busy)), "{busy:?}");
    assert!(
        (1_024..=2_048).contains(&waiting.len()),
        "{} were taken in",
        waiting.len()
    );
    let ready = store.is_ready().await;
    assert!(matches!(ready, Err(StoreError::Busy)), "{ready:?}");
    foreign.execute_batch("COMMIT").unwrap();
    for (sequence, kept) in (1..).zip(waiting) {
        assert_eq!(kept.await.unwrap(), sequence);
    }
    store.is_ready().await.unwrap();
}

/// The result of one poll.
async fn futures_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    use std::task::Poll;
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn a_store_that_cannot_write_says_so_and_recovers_by_itself() {
    let home = Home::new();
    let store = home.store();
    store.keep_receipt(receipt(1)).await.unwrap();
    let foreign = Connection::open(home.path()).unwrap();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let both = (store.keep_receipt(receipt(2)), store.keep_receipt(receipt(3)));
    for result in [both.0.await, both.1.await, store.is_ready().await.map(|()| 0)] {
        assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
    }
    assert_eq!(
        store.receipt(id(1)).await.unwrap().unwrap().sequence,
        1,
        "reading goes on"
    );
    foreign.execute_batch("COMMIT").unwrap();
    store.is_ready().await.unwrap();
    assert_eq!(
        store.receipt(id(2)).await.unwrap(),
        None,
        "what was refused is not there"
    );
    assert_eq!(store.keep_receipt(receipt(2)).await.unwrap(), 2);
}

#[tokio::test]
async fn the_log_stays_small() {
    let home = Home::new();
    let store = home.store();
    let log = home.path().with_extension("db-wal");
    let mut largest = 0;
    for number in 1..=600 {
        let mut row = receipt(number);
        row.task_id = "a long row soon makes a long log. ".repeat(3_000);
        store.keep_receipt(row).await.unwrap();
        largest = largest.max(fs::metadata(&log).unwrap().len());
    }
    assert!((8 << 20..20 << 20).contains(&largest), "{largest} bytes");
    store.close().unwrap();
    assert!(!log.exists(), "a closed database is one file");
}
