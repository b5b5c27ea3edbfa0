//! What every backend promises, one story a noun. What only SQLite can do wrong is in `sqlite.rs`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test says it by its name, and fails by a panic"
)]

#[path = "parts/sample.rs"]
mod sample;

use countersign_store::{PublicKeyRow, Store, StoreError};
use sample::{Home, id, receipt};
use std::future::{Future, poll_fn};
use std::task::Poll;

/// Checks that a result is one of the errors, by its variant.
macro_rules! assert_error {
    ($result:expr, $variant:pat) => {
        let result = $result;
        assert!(matches!(result, Err($variant)), "{result:?}");
    };
}

#[tokio::test]
async fn a_receipt_is_kept_and_found_again() {
    let home = Home::new();
    let store = home.store();
    let mut bare = receipt(2);
    bare.agent_id = None;
    bare.blocking_checks = String::new();
    bare.passed = true;
    bare.paid = true;
    bare.verified_at_micros = -1;
    let mut wide = receipt(3);
    wide.task_id = "\u{1F600}".repeat(200);
    wide.agent_id = Some(String::new());
    wide.schema = (2_000_000, 2_000_000);
    for (row, sequence) in [(receipt(1), 1), (bare, 2), (wide, 3)] {
        assert_eq!(store.keep_receipt(row.clone()).await.unwrap(), sequence);
        let found = store.receipt(row.verification_id).await.unwrap().unwrap();
        assert_eq!((found.sequence, found.row), (sequence, row));
    }
    assert_eq!(store.receipt(id(4)).await.unwrap(), None);
}

#[tokio::test]
async fn a_taken_id_is_a_conflict_and_spends_no_number() {
    let home = Home::new();
    let store = home.store();
    store.keep_receipt(receipt(1)).await.unwrap();
    let mut second = receipt(1);
    second.task_id = "another".to_owned();
    // Queued together, so that they share a commit with good neighbours.
    let before = store.keep_receipt(receipt(2));
    let taken = store.keep_receipt(second);
    let after = store.keep_receipt(receipt(3));
    let twin = store.keep_receipt(receipt(3));
    assert_eq!(before.await.unwrap(), 2);
    assert_error!(taken.await, StoreError::Conflict);
    assert_eq!(after.await.unwrap(), 3);
    assert_error!(twin.await, StoreError::Conflict);
    assert_eq!(
        store.receipt(id(1)).await.unwrap().unwrap().row,
        receipt(1),
        "the first one stays"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_writers_leave_no_gap() {
    const EACH: u64 = 25;
    let home = Home::new();
    let store = home.store();
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut kept = Vec::new();
                for number in 0..EACH {
                    let row = receipt(writer * EACH + number);
                    let sequence = store.keep_receipt(row.clone()).await.unwrap();
                    let found = store.receipt(row.verification_id).await.unwrap().unwrap();
                    assert_eq!(
                        (found.sequence, found.row),
                        (sequence, row),
                        "visible once it is answered"
                    );
                    assert_error!(
                        store.keep_receipt(receipt(writer * EACH)).await,
                        StoreError::Conflict
                    );
                    kept.push(sequence);
                }
                assert!(kept.is_sorted(), "one writer's numbers rise");
                kept
            })
        })
        .collect();
    let mut all = Vec::new();
    for writer in writers {
        all.extend(writer.await.unwrap());
    }
    all.sort_unstable();
    assert!(all.into_iter().eq(1..=64 * EACH));
}

#[tokio::test]
async fn a_caller_who_goes_away_loses_the_answer_and_not_the_row() {
    let home = Home::new();
    let store = home.store();
    drop(store.keep_receipt(receipt(1)));
    let mut polled = Box::pin(store.keep_receipt(receipt(2)));
    poll_fn(|context| {
        let _ = polled.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
    drop(polled);
    assert_eq!(store.keep_receipt(receipt(3)).await.unwrap(), 3);
    for number in 1..=3 {
        assert_eq!(store.receipt(id(number)).await.unwrap().unwrap().sequence, number);
    }
}

#[tokio::test]
async fn closing_writes_what_is_queued_and_answers_it() {
    let home = Home::new();
    let store = home.store();
    let other = store.clone();
    let waiting: Vec<_> = (1..=500)
        .map(|number| store.keep_receipt(receipt(number)))
        .collect();
    store.close().unwrap();
    for (sequence, kept) in (1..).zip(waiting) {
        assert_eq!(kept.await.unwrap(), sequence);
    }
    assert_error!(other.keep_receipt(receipt(501)).await, StoreError::Unavailable(_));
    assert_error!(
        other.keep_public_key(key("v1-2026-10a", 1, "next", 1)).await,
        StoreError::Unavailable(_)
    );
    assert_error!(other.receipt(id(1)).await, StoreError::Unavailable(_));
    assert_error!(other.public_keys().await, StoreError::Unavailable(_));
    assert_error!(other.is_ready().await, StoreError::Unavailable(_));
    other.close().unwrap();
}

#[tokio::test]
async fn a_store_opened_again_goes_on() {
    let home = Home::new();
    let store = home.store();
    assert_eq!(store.keep_receipt(receipt(1)).await.unwrap(), 1);
    store.close().unwrap();

    let store = Store::open_sqlite(&home.path()).unwrap();
    assert_eq!(store.keep_receipt(receipt(2)).await.unwrap(), 2);
    // Without a close: the last handle writes what is queued.
    drop(store.keep_receipt(receipt(3)));
    drop(store);

    let store = Store::create_sqlite(&home.path()).unwrap();
    assert_eq!(store.keep_receipt(receipt(4)).await.unwrap(), 4);
    for number in 1..=4 {
        let found = store.receipt(id(number)).await.unwrap().unwrap();
        assert_eq!((found.sequence, found.row), (number, receipt(number)));
    }
}

#[tokio::test]
async fn a_working_store_is_ready() {
    let home = Home::new();
    let store = home.store();
    store.is_ready().await.unwrap();
    store.keep_receipt(receipt(1)).await.unwrap();
    store.is_ready().await.unwrap();
}

fn key(version: &str, byte: u8, status: &str, listed_at_micros: i64) -> PublicKeyRow {
    PublicKeyRow {
        key_version: version.to_owned(),
        public_key: [byte; 32],
        status: status.to_owned(),
        listed_at_micros,
    }
}

#[tokio::test]
async fn public_keys_stay_listed_and_change_their_status() {
    let home = Home::new();
    let store = home.store();
    assert_eq!(store.public_keys().await.unwrap(), []);
    store
        .keep_public_key(key("v1-2026-11a", 2, "next", 20))
        .await
        .unwrap();
    store
        .keep_public_key(key("v1-2026-10a", 1, "current", 10))
        .await
        .unwrap();
    // Listed again: the status moves, the first listing's time stays.
    store
        .keep_public_key(key("v1-2026-10a", 1, "previous", 30))
        .await
        .unwrap();
    store
        .keep_public_key(key("v1-2026-11a", 2, "current", 30))
        .await
        .unwrap();

    let refused = [
        ("a version of another key", key("v1-2026-10a", 3, "current", 40)),
        ("a key of another version", key("v1-2026-12a", 1, "current", 40)),
    ];
    for (name, row) in refused {
        let result = store.keep_public_key(row).await;
        assert!(matches!(result, Err(StoreError::Conflict)), "{name}: {result:?}");
    }
    let expected = [
        key("v1-2026-10a", 1, "previous", 10),
        key("v1-2026-11a", 2, "current", 20),
    ];
    assert_eq!(
        store.public_keys().await.unwrap(),
        expected,
        "in the order of listing"
    );

    assert_eq!(
        store.keep_receipt(receipt(1)).await.unwrap(),
        1,
        "keys spend no number"
    );
    store.close().unwrap();
    assert_eq!(home.store().public_keys().await.unwrap(), expected);
}
