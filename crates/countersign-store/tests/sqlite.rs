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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_made_while_receipts_are_kept_and_is_whole() {
    let home = Home::new();
    let store = home.store();
    for number in 1..=100 {
        store.keep_receipt(receipt(number)).await.unwrap();
    }
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 101..=1_000 {
                store.keep_receipt(receipt(number)).await.unwrap();
            }
        }
    });
    for round in 0..5 {
        let copy = Home::new();
        Store::backup_sqlite(&home.path(), &copy.path()).unwrap();
        let files: Vec<_> = fs::read_dir(copy.path().parent().unwrap()).unwrap().collect();
        assert_eq!(files.len(), 1, "nothing but the copy is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(copy.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "only its owner reads it");
        }
        let checked = Store::check(&copy.target()).unwrap();
        assert!(
            checked.receipts >= 100 && checked.problems == 0,
            "{round}: {checked:?}"
        );
        // It is a store like any other, and goes on after its newest receipt.
        let copied = copy.open().unwrap();
        let newest = copied.newest().await.unwrap();
        assert_eq!(copied.keep_receipt(receipt(5_000)).await.unwrap(), newest + 1);
        copied.close().unwrap();
    }
    writer.await.unwrap();
    assert_eq!(store.newest().await.unwrap(), 1_000);
    store.close().unwrap();
    assert_eq!(Store::check(&home.target()).unwrap().problems, 0);
}

#[tokio::test]
async fn a_backup_replaces_nothing_and_leaves_no_half_file() {
    let home = Home::new();
    home.store().close().unwrap();
    let file = home.path().with_file_name("copy.db");
    let backup = || match Store::backup_sqlite(&home.path(), &file) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("not refused"),
    };
    fs::write(&file, "mine").unwrap();
    assert!(backup().contains("never replaces"));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    fs::remove_file(&file).unwrap();
    // What a backup left that was killed does not stop the next one.
    fs::write(home.path().with_file_name("copy.db.partial"), "half").unwrap();
    Store::backup_sqlite(&home.path(), &file).unwrap();
    assert_eq!(Store::check(&Target::Sqlite(file.clone())).unwrap().problems, 0);

    fs::remove_file(&file).unwrap();
    sql(&home, "INSERT INTO migration VALUES (1000)");
    assert!(backup().contains("newer version"));
    assert!(!file.exists() && !home.path().with_file_name("copy.db.partial").exists());
    fs::remove_file(home.path()).unwrap();
    assert!(backup().contains("no database file"));
    let nowhere = Store::backup_sqlite(&home.path(), &home.path().join("no/folder"));
    assert!(nowhere.is_err());
}

#[tokio::test]
async fn a_check_finds_what_does_not_follow() {
    type Spoil = fn(&Home);
    let rows: [(&str, &str, Spoil); 6] = [
        ("sums", "does not follow", |home| {
            sql(
                home,
                "UPDATE agent SET weights = weights + 0.001 WHERE agent_id = 'agent 2'",
            );
        }),
        ("counts", "does not follow", |home| {
            sql(home, "UPDATE agent SET verified = 2 WHERE agent_id = 'agent 2'");
        }),
        ("a record too many", "a record and no receipts", |home| {
            sql(home, "UPDATE receipt SET is_test = 1 WHERE sequence = 2");
        }),
        ("a record too few", "receipts and no record", |home| {
            sql(home, "DELETE FROM agent WHERE agent_id = 'agent 2'");
        }),
        ("a missing receipt", "some are missing", |home| {
            sql(home, "DELETE FROM receipt WHERE sequence = 2");
        }),
        ("a counter that leads", "the counter says 4", |home| {
            sql(home, "UPDATE receipt_counter SET last = 4");
        }),
    ];
    for (name, expected, spoil) in rows {
        let home = Home::new();
        let store = home.store();
        for number in 1..=3 {
            store.keep_receipt(receipt(number)).await.unwrap();
        }
        store.close().unwrap();
        let checked = Store::check(&home.target()).unwrap();
        assert_eq!((checked.receipts, checked.agents, checked.problems), (3, 3, 0));
        spoil(&home);
        let checked = Store::check(&home.target()).unwrap();
        assert!(
            checked.problems > 0 && checked.told.iter().any(|problem| problem.contains(expected)),
            "{name}: {checked:?}"
        );
    }
}

#[tokio::test]
async fn a_check_reads_every_page() {
    let home = Home::new();
    let store = home.store();
    for number in 1..=300 {
        store.keep_receipt(receipt(number)).await.unwrap();
    }
    store.close().unwrap();
    let whole = fs::read(home.path()).unwrap();
    for page in 1..whole.len() / 8_192 {
        let mut spoilt = whole.clone();
        spoilt[page * 8_192..][..64].fill(0xA5);
        fs::write(home.path(), spoilt).unwrap();
        match Store::check(&home.target()) {
            Ok(checked) => assert!(checked.problems > 0, "page {page}: {checked:?}"),
            Err(StoreError::Corrupt(_)) => {}
            Err(other) => panic!("page {page}: {other}"),
        }
    }
}

/// Runs this binary's test of this name again as a process that obeys the permissions of files: root does not,
/// unless it has given up its capabilities.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_only_reads_is_told_by_its_name() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    const FOLDER: &str = "COUNTERSIGN_TEST_READ_ONLY";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let target = Target::Sqlite(std::path::PathBuf::from(folder).join("countersign.db"));
        for open in [Store::open, Store::create] {
            let refused = refusal(open(&target, HalfLife::DEFAULT));
            assert!(
                refused.contains("countersign.db") && refused.contains("must be writable"),
                "{refused}"
            );
        }
        return;
    }
    let home = Home::new();
    home.store().close().unwrap();
    let folder = home.path().parent().unwrap().to_owned();
    let permit = |folder_mode, file_mode| {
        for file in fs::read_dir(&folder).unwrap() {
            fs::set_permissions(file.unwrap().path(), PermissionsExt::from_mode(file_mode)).unwrap();
        }
        fs::set_permissions(&folder, PermissionsExt::from_mode(folder_mode)).unwrap();
    };
    for (folder_mode, file_mode) in [(0o500, 0o400), (0o700, 0o400)] {
        permit(folder_mode, file_mode);
        let am_root = fs::File::options().append(true).open(home.path()).is_ok();
        let mut command = if am_root {
            let mut command = Command::new("setpriv");
            command.args(["--bounding-set=-all", "--inh-caps=-all", "--"]);
            command.arg(std::env::current_exe().unwrap());
            command
        } else {
            Command::new(std::env::current_exe().unwrap())
        };
        let child = command
            .args(["a_folder_that_only_reads_is_told_by_its_name", "--exact"])
            .env(FOLDER, &folder)
            .output()
            .unwrap();
        permit(0o700, 0o600);
        assert!(
            child.status.success(),
            "{}",
            String::from_utf8_lossy(&child.stdout)
        );
    }
}
