//! Moving receipts between stores: what comes out of one kind goes into the other, and comes out the same.
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
use countersign_core::canonical::Hash;
use countersign_store::{Imported, ReceiptRow, Store, StoreError, StoredReceipt, TransferError};
use sample::receipt;

/// Receipts of a few agents, some of them tests, with ids that have no order.
fn filled(home: &Home, count: u64) -> Store {
    let store = home.store();
    let mut lines = Vec::new();
    for number in 1..=count {
        let scattered = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut verification_id = [7; 16];
        verification_id[..8].copy_from_slice(&scattered.to_be_bytes());
        let row = ReceiptRow {
            verification_id,
            agent_id: (number % 5 > 0).then(|| format!("agent/{}\u{1F600}", number % 40)),
            verified_at_micros: receipt(0).verified_at_micros + (number.cast_signed() - 50) * 777_777_777,
            ..receipt(number)
        };
        lines.extend(
            StoredReceipt {
                sequence: number,
                row,
            }
            .to_line(),
        );
        lines.push(b'\n');
    }
    store.import_lines(&mut lines.as_slice()).unwrap();
    store
}

fn exported(store: &Store) -> Vec<u8> {
    let mut out = Vec::new();
    store.export(&mut out).unwrap();
    out
}

#[test]
fn a_hundred_thousand_receipts_go_from_one_kind_to_the_other_and_back() {
    const COUNT: u64 = 100_000;
    let (home, other, back) = (Home::sqlite(), Home::postgres(), Home::sqlite());
    let store = filled(&home, COUNT);
    let lines = exported(&store);
    assert_eq!(lines.split(|byte| *byte == b'\n').count() as u64 - 1, COUNT);
    for place in [&other, &back] {
        let copy = place.store();
        let imported = copy.import_lines(&mut lines.as_slice()).unwrap();
        assert_eq!(
            imported,
            Imported {
                kept: COUNT,
                there: 0
            }
        );
        assert_eq!(Hash::of(&exported(&copy)), Hash::of(&lines));
        copy.close().unwrap();
        let checked = Store::check(&place.target()).unwrap();
        assert_eq!((checked.problems, checked.receipts), (0, COUNT), "{checked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_and_lookups_are_the_same_in_both_kinds() {
    let (home, other) = (Home::sqlite(), Home::postgres());
    let store = filled(&home, 2_000);
    let copy = other.store();
    copy.import_lines(&mut exported(&store).as_slice()).unwrap();
    for number in [1, 999, 2_000] {
        let kept = store.receipts_after(number - 1, 1).await.unwrap().remove(0);
        let found = copy.receipt(kept.row.verification_id).await.unwrap();
        assert_eq!(found, Some(kept));
    }
    for agent in 0..40 {
        let agent = format!("agent/{agent}\u{1F600}");
        let (one, two) = (
            store.agent(&agent).await.unwrap(),
            copy.agent(&agent).await.unwrap(),
        );
        assert_eq!(one.is_some(), two.is_some());
        let (Some(one), Some(two)) = (one, two) else {
            continue;
        };
        assert_eq!(
            (
                one.verified,
                one.passed,
                one.first_seen_micros,
                one.last_seen_micros
            ),
            (
                two.verified,
                two.passed,
                two.first_seen_micros,
                two.last_seen_micros
            )
        );
        for (one, two) in [
            (one.sums.weights, two.sums.weights),
            (one.sums.passed_weights, two.sums.passed_weights),
            (one.sums.squares, two.sums.squares),
        ] {
            assert!((one - two).abs() <= 1e-9 * one.max(1.0), "{one} and {two}");
        }
        assert_eq!(
            store.counted_checks(&agent, 0, 9_999).await.unwrap(),
            copy.counted_checks(&agent, 0, 9_999).await.unwrap()
        );
    }
}

#[test]
fn an_import_that_was_broken_off_is_begun_again() {
    for home in [Home::sqlite(), Home::postgres()] {
        let source = Home::sqlite();
        let lines = exported(&filled(&source, 10_000));
        let store = home.store();
        // A bad line in the third page: the pages before it are kept, its own is not.
        let mut broken = lines.clone();
        let place = (0..9_000).fold(0, |at, _| {
            at + 1 + lines[at..].iter().position(|byte| *byte == b'\n').unwrap()
        });
        broken[place] = b'x';
        match store.import_lines(&mut broken.as_slice()) {
            Err(TransferError::BadLine { line: 9_001, problem }) => {
                assert_eq!(problem.to_string(), "the line must be JSON");
            }
            other => panic!("{other:?}"),
        }
        let imported = store.import_lines(&mut lines.as_slice()).unwrap();
        assert_eq!((imported.there, imported.kept), (8_192, 1_808));
        let again = store.import_lines(&mut lines.as_slice()).unwrap();
        assert_eq!((again.there, again.kept), (10_000, 0));
        assert!(exported(&store) == lines);
    }
}

#[test]
fn lines_of_another_store_are_refused() {
    for home in [Home::sqlite(), Home::postgres()] {
        let store = filled(&home, 10);
        let lines = exported(&store);
        let text = String::from_utf8(lines.clone()).unwrap();
        let import = |text: &str| store.import_lines(&mut text.as_bytes());
        let different = import(&text.replacen("\"task 4\"", "\"task 5\"", 1));
        assert!(
            matches!(different, Err(TransferError::Different { line: 4, sequence: 4 })),
            "{different:?}"
        );
        let twice = format!("{text}{}", text.lines().next().unwrap());
        let twice = import(&twice);
        assert!(
            matches!(
                twice,
                Err(TransferError::Different {
                    line: 11,
                    sequence: 1
                })
            ),
            "{twice:?}"
        );
        let far = import(
            &text
                .lines()
                .nth(4)
                .unwrap()
                .replace("\"sequence\":5,", "\"sequence\":12,"),
        );
        assert!(
            matches!(
                far,
                Err(TransferError::Refused {
                    first: 1,
                    last: 1,
                    error: StoreError::OutOfSequence { newest: 10 }
                })
            ),
            "{far:?}"
        );
        let taken = import(
            &text
                .lines()
                .nth(4)
                .unwrap()
                .replace("\"sequence\":5,", "\"sequence\":11,"),
        );
        assert!(
            matches!(
                taken,
                Err(TransferError::Refused {
                    error: StoreError::Conflict,
                    ..
                })
            ),
            "{taken:?}"
        );
        let endless = vec![b'x'; 1 << 20];
        let endless = store.import_lines(&mut endless.as_slice());
        assert!(
            matches!(endless, Err(TransferError::BadLine { line: 1, .. })),
            "{endless:?}"
        );
        assert_eq!(import("").unwrap(), Imported::default());
        assert!(exported(&store) == lines);
    }
}
