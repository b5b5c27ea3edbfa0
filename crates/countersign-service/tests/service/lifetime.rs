//! Start and stop.

use crate::rig::{Client, MINIMAL, Rig, config, refusal};
use countersign_service::{Patience, Service, create_store, signer};
use std::time::{Duration, Instant};

#[test]
fn without_settings_a_database_and_a_key_are_made_and_found_again() {
    let mut rig = Rig::start();
    let data = rig.data();
    for name in ["countersign.db", "keys/receipt-keys.json", "keys/row-mac.key"] {
        assert!(data.join(name).exists(), "{name}");
    }
    let before = rig.keys();
    rig.restart();
    assert_eq!(rig.keys(), before);
}

#[test]
fn what_is_named_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let error = refusal(path, "[keys]\nfolder = \"my-keys\"").to_string();
    assert!(
        error.contains("my-keys holds no receipt keys; make the first with: countersign key new"),
        "{error}"
    );
    let error = refusal(path, "store = \"sqlite:mine.db\"").to_string();
    assert!(
        error.contains("mine.db does not exist; make it with: countersign store create"),
        "{error}"
    );
    assert!(
        !path.join("countersign-data/mine.db").exists(),
        "nothing is made on the way"
    );

    let settings = "store = \"sqlite:mine.db\"\n[keys]\nfolder = \"my-keys\"";
    let named = config(path, settings);
    create_store(&named).unwrap();
    signer::new_key(&named.keys_folder.path, countersign_core::time::Timestamp(0)).unwrap();
    let service = Service::start(&named, Patience::default()).unwrap();
    service.stop().unwrap();
    assert!(create_store(&named).is_ok(), "what exists is left as it is");
}

#[test]
fn an_address_in_use_and_a_second_instance_are_refused() {
    let rig = Rig::start();
    let folder = tempfile::tempdir().unwrap();
    let mut taken = config(folder.path(), "");
    taken.listen = rig.address;
    let error = Service::start(&taken, Patience::default())
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.starts_with(&format!("cannot listen on {}", rig.address)),
        "{error}"
    );
    // The same folder on another port: the database belongs to the first.
    let error = refusal(rig.folder.path(), "").to_string();
    assert!(error.contains("countersign.db"), "{error}");
    assert_eq!(rig.get("/health").status, 200);
}

#[test]
fn a_database_that_is_taken_away_stops_checks_until_it_is_back() {
    let rig = Rig::start();
    let statuses = || {
        let check = rig.post("/verify/schema", MINIMAL.as_bytes()).status;
        (check, rig.get("/health/ready").status, rig.get("/health").status)
    };
    assert_eq!(statuses(), (200, 200, 200));
    let (here, away) = (rig.data().join("countersign.db"), rig.data().join("away.db"));
    std::fs::rename(&here, &away).unwrap();
    assert_eq!(statuses(), (503, 503, 200));
    std::fs::rename(&away, &here).unwrap();
    assert_eq!(statuses(), (200, 200, 200));
}

#[test]
fn a_stop_finishes_what_runs_and_keeps_what_was_answered() {
    let mut rig = Rig::start();
    let (half, rest) = MINIMAL.split_at(20);
    let mut busy = rig.client();
    busy.write(format!(
        "POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{half}",
        MINIMAL.len()
    ));
    let mut idle = rig.client();
    idle.send("GET", "/health", &[], b"");
    assert_eq!(idle.receive("GET").status, 200);
    std::thread::sleep(Duration::from_millis(100));

    let (address, service) = (rig.address, rig.take());
    let stopping = std::thread::spawn(move || service.stop());
    assert!(
        idle.is_closed(),
        "a connection without a request is closed at once"
    );
    let deadline = Instant::now() + Duration::from_secs(5);
    while std::net::TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < deadline, "no more connections are taken");
        std::thread::sleep(Duration::from_millis(10));
    }
    busy.write(rest);
    let answer = busy.receive("POST");
    assert_eq!(answer.status, 200);
    assert!(busy.is_closed());
    stopping.join().unwrap().unwrap();

    rig.restart();
    let path = format!("/receipts/{}", answer.member("verification_id"));
    assert_eq!(rig.get(&path).status, 200);
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let patience = Patience {
        stop: Duration::from_millis(300),
        ..Patience::default()
    };
    let mut rig = Rig::with("", patience);
    let mut stuck = Client::connect(rig.address);
    stuck.write("POST /verify/schema HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    rig.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(stuck.is_closed());
}
