//! Reading a database that another process serves.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test says it by its name, and fails by a panic"
)]

#[path = "parts/home.rs"]
mod home;
#[path = "parts/sample.rs"]
mod sample;

use countersign_store::{Store, StoreError};
use home::Home;
use rusqlite::Connection;
use sample::{id, receipt};

#[tokio::test]
async fn a_reader_sees_what_is_kept_while_another_writes() {
    let home = Home::new();
    let store = home.store();
    store.keep_receipt(receipt(1)).await.unwrap();
    let reader = Store::look(&home.target()).unwrap();
    assert!(reader.receipt(id(1)).await.unwrap().is_some());
    assert!(reader.receipt(id(2)).await.unwrap().is_none());
    store.keep_receipt(receipt(2)).await.unwrap();
    assert!(reader.receipt(id(2)).await.unwrap().is_some());
    let checks = reader.counted_checks("agent 2", 0, 10).await.unwrap();
    assert_eq!(checks.len(), 1);
    assert_eq!(reader.agent("agent 2").await.unwrap().unwrap().verified, 1);
    // The one that writes is closed first and folds its log; the reader goes on, and so does the next writer.
    store.close().unwrap();
    assert!(reader.receipt(id(2)).await.unwrap().is_some());
    let store = home.store();
    store.keep_receipt(receipt(3)).await.unwrap();
    assert!(reader.receipt(id(3)).await.unwrap().is_some());
    reader.close().unwrap();
    assert!(store.receipt(id(3)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_reader_writes_nothing() {
    let home = Home::new();
    home.store().close().unwrap();
    let before = std::fs::read(home.path()).unwrap();
    let reader = Store::look(&home.target()).unwrap();
    let refused = reader.keep_receipt(receipt(1)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(matches!(reader.is_ready().await, Err(StoreError::Unavailable(_))));
    assert_eq!(reader.newest().await.unwrap(), 0);
    reader.close().unwrap();
    assert_eq!(std::fs::read(home.path()).unwrap(), before);
}

#[tokio::test]
async fn a_reader_refuses_what_it_does_not_know_and_mends_nothing() {
    let home = Home::new();
    let refusal = || match Store::look(&home.target()).map(drop) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("not refused"),
    };
    assert!(refusal().contains("no database file at this path"));
    assert!(!home.path().exists());
    std::fs::write(home.path(), "").unwrap();
    assert!(refusal().contains("an older version of this program"));
    std::fs::remove_file(home.path()).unwrap();

    home.store().close().unwrap();
    let sql = |sql: &str| Connection::open(home.path()).unwrap().execute_batch(sql).unwrap();
    sql("INSERT INTO migration (version) VALUES (99)");
    assert!(refusal().contains("a newer version of this program"));
    sql("DELETE FROM migration WHERE version > 2");
    assert!(refusal().contains("countersign store migrate"));
    sql("PRAGMA application_id = 7");
    assert!(refusal().contains("belongs to another program"));
}
