//! What every backend promises, one story a noun, told of each backend. What only one of them can do wrong is in
//! `sqlite.rs` and `postgres.rs`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test says it by its name, and fails by a panic"
)]

#[path = "parts/both.rs"]
mod both;
#[path = "parts/cluster.rs"]
mod cluster;
#[path = "parts/sample.rs"]
mod sample;

use both::Home;
use countersign_core::score::HalfLife;
use countersign_store::{AgentRecord, CountedCheck, PublicKeyRow, ReceiptRow, StoreError, StoredReceipt};
use sample::{id, receipt};
use std::future::{Future, poll_fn};
use std::task::Poll;

/// Checks that a result is one of the errors, by its variant.
macro_rules! assert_error {
    ($result:expr, $variant:pat) => {
        let result = $result;
        assert!(matches!(result, Err($variant)), "{result:?}");
    };
}

/// Tells every story of both backends.
macro_rules! stories {
    ($($story:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                super::$story(super::Home::sqlite()).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                super::$story(super::Home::postgres()).await;
            })*
        }
    };
}

stories! {
    a_receipt_is_kept_and_found_again,
    a_taken_id_is_a_conflict_and_spends_no_number,
    sixty_four_writers_leave_no_gap,
    a_caller_who_goes_away_loses_the_answer_and_not_the_row,
    closing_writes_what_is_queued_and_answers_it,
    a_store_opened_again_goes_on,
    a_working_store_is_ready,
    public_keys_stay_listed_and_change_their_status,
    an_agents_record_is_that_of_its_counted_checks,
    counted_checks_are_listed_in_both_directions,
    an_import_keeps_ids_numbers_and_records,
    an_import_that_does_not_fit_leaves_nothing_behind,
}

async fn a_receipt_is_kept_and_found_again(home: Home) {
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
    let mut odd = receipt(5);
    "\u{0}".clone_into(&mut odd.task_id);
    odd.agent_id = Some("\u{0}\u{7}'\"\\%/: ".to_owned());
    odd.verified_at_micros = i64::MAX;
    for (row, sequence) in [(receipt(1), 1), (bare, 2), (wide, 3), (odd, 4)] {
        assert_eq!(store.keep_receipt(row.clone()).await.unwrap(), sequence);
        let found = store.receipt(row.verification_id).await.unwrap().unwrap();
        assert_eq!((found.sequence, found.row), (sequence, row));
    }
    assert_eq!(store.receipt(id(4)).await.unwrap(), None);
}

async fn a_taken_id_is_a_conflict_and_spends_no_number(home: Home) {
    let store = home.store();
    store.keep_receipt(receipt(1)).await.unwrap();
    let mut second = receipt(1);
    "another".clone_into(&mut second.task_id);
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

async fn sixty_four_writers_leave_no_gap(home: Home) {
    const EACH: u64 = 25;
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

async fn a_caller_who_goes_away_loses_the_answer_and_not_the_row(home: Home) {
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

async fn closing_writes_what_is_queued_and_answers_it(home: Home) {
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

async fn a_store_opened_again_goes_on(home: Home) {
    let store = home.store();
    assert_eq!(store.keep_receipt(receipt(1)).await.unwrap(), 1);
    store.close().unwrap();

    let store = home.open().unwrap();
    assert_eq!(store.keep_receipt(receipt(2)).await.unwrap(), 2);
    // Without a close: the last handle writes what is queued.
    drop(store.keep_receipt(receipt(3)));
    drop(store);

    let store = home.store();
    assert_eq!(store.keep_receipt(receipt(4)).await.unwrap(), 4);
    for number in 1..=4 {
        let found = store.receipt(id(number)).await.unwrap().unwrap();
        assert_eq!((found.sequence, found.row), (number, receipt(number)));
    }
}

async fn a_working_store_is_ready(home: Home) {
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
        signs_from_micros: None,
        endorsement: None,
    }
}

async fn public_keys_stay_listed_and_change_their_status(home: Home) {
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
    let endorsed = |status: &str, signs_from_micros, endorsement: Option<&str>| PublicKeyRow {
        signs_from_micros,
        endorsement: endorsement.map(str::to_owned),
        ..key("v1-2026-11a", 2, status, 20)
    };
    let statement = Some("{\"endorsed\":true}");
    store
        .keep_public_key(endorsed("next", Some(25), statement))
        .await
        .unwrap();
    store
        .keep_public_key(key("v1-2026-11a", 2, "current", 30))
        .await
        .unwrap();

    for status in ["compromised", "listed", "current"] {
        store
            .keep_public_key(key("v1-2026-09a", 9, status, 5))
            .await
            .unwrap();
    }

    let refused = [
        ("a version of another key", key("v1-2026-10a", 3, "current", 40)),
        ("a key of another version", key("v1-2026-12a", 1, "current", 40)),
    ];
    for (name, row) in refused {
        let result = store.keep_public_key(row).await;
        assert!(matches!(result, Err(StoreError::Conflict)), "{name}: {result:?}");
    }
    let expected = [
        key("v1-2026-09a", 9, "compromised", 5),
        key("v1-2026-10a", 1, "previous", 10),
        endorsed("current", Some(25), statement),
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

const DAY_MICROS: i64 = 86_400_000_000;

/// A receipt of this agent, so many days after the first of its kind.
fn check(number: u64, agent: Option<&str>, day: i64, passed: bool) -> ReceiptRow {
    ReceiptRow {
        agent_id: agent.map(str::to_owned),
        is_test: false,
        verified_at_micros: receipt(0).verified_at_micros + day * DAY_MICROS,
        passed,
        ..receipt(number)
    }
}

fn close_to(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs().max(1.0)
}

/// Compares a record with one that is summed directly from the rows, in their order.
fn assert_record(record: &AgentRecord, rows: &[&ReceiptRow], half_life: HalfLife) {
    let times = || rows.iter().map(|row| row.verified_at_micros);
    let newest = times().max().unwrap();
    let (mut weights, mut passed_weights, mut squares) = (0.0, 0.0, 0.0);
    for row in rows {
        let days = (newest - row.verified_at_micros) as f64 / DAY_MICROS as f64;
        let weight = 0.5_f64.powf(days / f64::from(half_life.days()));
        weights += weight;
        passed_weights += if row.passed { weight } else { 0.0 };
        squares += weight * weight;
    }
    let passed = rows.iter().filter(|row| row.passed).count();
    assert_eq!(
        (record.verified, record.passed),
        (rows.len() as u64, passed as u64)
    );
    assert_eq!(record.first_seen_micros, times().min().unwrap());
    assert_eq!(
        (record.last_seen_micros, record.sums.newest_micros),
        (newest, newest)
    );
    let sums = &record.sums;
    for (kept, direct) in [
        (sums.weights, weights),
        (sums.passed_weights, passed_weights),
        (sums.squares, squares),
    ] {
        assert!(close_to(kept, direct), "{kept} for {direct}");
    }
}

async fn an_agents_record_is_that_of_its_counted_checks(home: Home) {
    let store = home.store();
    assert_eq!(store.agent("a").await.unwrap(), None);
    let mut rows = Vec::new();
    // Clocks of several nodes: the times do not rise with the numbers.
    for (number, day) in (1..).zip([0, 400, 30, 31, 31, 7, 1_500, 1_499]) {
        rows.push(check(number, Some("a"), day, !number.is_multiple_of(3)));
    }
    rows.push(check(20, Some("a/b:c \u{1F600}"), 3, true));
    rows.push(check(21, Some(""), 3, false));
    rows.push(check(22, None, 3, true));
    rows.push(ReceiptRow {
        is_test: true,
        ..check(23, Some("a"), 2_000, false)
    });
    // Half of them share commits, half come alone.
    let together: Vec<_> = rows[..6]
        .iter()
        .map(|row| store.keep_receipt(row.clone()))
        .collect();
    for kept in together {
        kept.await.unwrap();
    }
    for row in &rows[6..] {
        store.keep_receipt(row.clone()).await.unwrap();
    }
    // What is refused is not counted.
    assert_error!(
        store.keep_receipt(check(1, Some("a"), 9_000, true)).await,
        StoreError::Conflict
    );

    for agent in ["a", "a/b:c \u{1F600}", ""] {
        let counted: Vec<_> = rows
            .iter()
            .filter(|row| !row.is_test && row.agent_id.as_deref() == Some(agent))
            .collect();
        let record = store.agent(agent).await.unwrap().unwrap();
        assert_record(&record, &counted, HalfLife::DEFAULT);
    }
    assert_eq!(
        store.agent("A").await.unwrap(),
        None,
        "names are compared as they are"
    );
    assert_eq!(store.agent("nobody").await.unwrap(), None);
}

async fn counted_checks_are_listed_in_both_directions(home: Home) {
    let store = home.store();
    for number in 1..=30 {
        let agent = ["a", "b", "c"][number as usize % 3];
        let row = ReceiptRow {
            is_test: number == 15,
            ..check(
                number,
                Some(agent),
                -(number.cast_signed()),
                number.is_multiple_of(2),
            )
        };
        assert_eq!(store.keep_receipt(row).await.unwrap(), number);
    }
    let listed = |sequence: u64| CountedCheck {
        sequence,
        verified_at_micros: receipt(0).verified_at_micros - sequence.cast_signed() * DAY_MICROS,
        passed: sequence.is_multiple_of(2),
    };
    let all: Vec<_> = [3, 6, 9, 12, 18, 21, 24, 27, 30].map(listed).into();
    let newest = store.counted_checks_newest("a", 4).await.unwrap();
    assert_eq!(newest, [30, 27, 24, 21].map(listed));
    assert_eq!(
        store.counted_checks_newest("a", 100).await.unwrap().len(),
        all.len()
    );
    let (mut pages, mut after) = (Vec::new(), 0);
    loop {
        let page = store.counted_checks("a", after, 4).await.unwrap();
        let last = page.len() < 4;
        after = page.last().map_or(after, |check| check.sequence);
        pages.extend(page);
        if last {
            break;
        }
    }
    assert_eq!(pages, all);
    assert_eq!(store.counted_checks("nobody", 0, 4).await.unwrap(), []);
    assert_eq!(store.counted_checks("a", u64::MAX, 4).await.unwrap(), []);
}

async fn an_import_keeps_ids_numbers_and_records(home: Home) {
    let store = home.store();
    for number in 1..=30 {
        store
            .keep_receipt(check(
                number,
                Some(["a", "b"][number as usize % 2]),
                number.cast_signed(),
                true,
            ))
            .await
            .unwrap();
    }
    let other_home = home.another();
    let other = other_home.store();
    assert_eq!(
        (store.newest().await.unwrap(), other.newest().await.unwrap()),
        (30, 0)
    );
    let mut after = 0;
    loop {
        let page = store.receipts_after(after, 7).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.sequence;
        other.import(page).await.unwrap();
    }
    let whole = store.receipts_after(0, 100).await.unwrap();
    assert_eq!(whole.len(), 30);
    assert_eq!(other.receipts_after(0, 100).await.unwrap(), whole);
    for agent in ["a", "b"] {
        let (one, copy) = (
            store.agent(agent).await.unwrap(),
            other.agent(agent).await.unwrap(),
        );
        let (one, copy) = (one.unwrap(), copy.unwrap());
        assert!(close_to(one.sums.weights, copy.sums.weights));
        assert_eq!((one.verified, one.passed), (copy.verified, copy.passed));
    }
    assert_eq!(other.keep_receipt(receipt(31)).await.unwrap(), 31, "and goes on");
    other.import(Vec::new()).await.unwrap();
}

async fn an_import_that_does_not_fit_leaves_nothing_behind(home: Home) {
    let store = home.store();
    for number in 1..=3 {
        store
            .keep_receipt(check(number, Some("a"), 1, true))
            .await
            .unwrap();
    }
    let before = store.agent("a").await.unwrap();
    let stored = |sequence, number| StoredReceipt {
        sequence,
        row: check(number, Some("a"), 2, true),
    };
    let out_of_sequence = [
        ("too far", vec![stored(5, 5)]),
        ("a number again", vec![stored(3, 5)]),
        ("a gap inside", vec![stored(4, 4), stored(6, 6)]),
        ("a number twice", vec![stored(4, 4), stored(4, 5)]),
    ];
    for (name, receipts) in out_of_sequence {
        let result = store.import(receipts).await;
        assert!(
            matches!(result, Err(StoreError::OutOfSequence { .. })),
            "{name}: {result:?}"
        );
    }
    for receipts in [
        vec![stored(4, 4), stored(5, 2), stored(6, 6)],
        vec![stored(4, 4), stored(5, 4)],
    ] {
        assert_error!(store.import(receipts).await, StoreError::Conflict);
    }
    // A neighbour in the same commit is not undone with it.
    let (refused, kept) = (
        store.import(vec![stored(4, 4), stored(5, 2)]),
        store.keep_receipt(check(9, Some("b"), 1, true)),
    );
    assert_error!(refused.await, StoreError::Conflict);
    assert_eq!(kept.await.unwrap(), 4);
    assert_eq!(store.agent("a").await.unwrap(), before);
    assert_eq!(store.receipt(id(4)).await.unwrap(), None);
}
