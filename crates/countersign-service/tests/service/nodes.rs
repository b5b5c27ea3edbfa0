//! Several nodes on one store: keys pass from one to the next, and away from a compromised one, while they serve.

use crate::rig::{MINIMAL, Rig, compact, refusal};
use countersign_core::json::read;
use countersign_core::key::{KeyList, PublicKey};
use countersign_core::receipt::{Outcome, Supplied, verify};
use countersign_core::score::HalfLife;
use countersign_core::time::Timestamp;
use countersign_service::Patience;
use countersign_service::signer::{
    LISTED_BEFORE_USE_SECONDS, compromise_key, list_keys, new_key, rotate_key,
};
use countersign_store::{PublicKeyRow, Store, Target};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A store and a first key, which nodes start from.
struct Cluster {
    folder: TempDir,
    store: Store,
}

const START: Timestamp = Timestamp(crate::rig::START_MICROS);

impl Cluster {
    fn new() -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        new_key(&folder.path().join("keys"), START).unwrap();
        let store =
            Store::create(&Target::Sqlite(folder.path().join("store.db")), HalfLife::DEFAULT).unwrap();
        Cluster { folder, store }
    }

    fn keys(&self) -> PathBuf {
        self.folder.path().join("keys")
    }

    fn node(&self, ahead: i64) -> Rig {
        Rig::node(&self.store, &self.keys(), ahead)
    }

    fn root(&self) -> PublicKey {
        list_keys(&self.keys(), START).unwrap()[0].public_key
    }
}

/// Asks a node for receipts until told to stop; every one has to be answered.
fn load(node: &Rig, over: &AtomicBool) -> Vec<Vec<u8>> {
    let mut client = node.client();
    let mut receipts = Vec::new();
    while !over.load(Ordering::Relaxed) {
        client.send("POST", "/verify/schema", &[], MINIMAL.as_bytes());
        let answer = client.receive("POST");
        assert_eq!(
            answer.status,
            200,
            "request {}: {}",
            receipts.len(),
            answer.text()
        );
        receipts.push(answer.body);
        std::thread::sleep(Duration::from_millis(1));
    }
    receipts
}

fn key_of(receipt: &[u8]) -> String {
    let receipt = read(receipt).unwrap();
    let version = receipt.get("attestation").and_then(|it| it.get("key_version"));
    version.and_then(|it| it.as_str()).unwrap().to_owned()
}

fn outcome(receipt: &[u8], keys: &KeyList) -> Outcome {
    verify(receipt, keys, &Supplied::default()).unwrap().outcome()
}

/// The versions that these receipts were signed with, in the order of their first one.
fn versions(receipts: &[Vec<u8>]) -> Vec<String> {
    let mut versions: Vec<String> = receipts.iter().map(|receipt| key_of(receipt)).collect();
    versions.dedup();
    versions
}

#[test]
fn rotations_under_load_on_nodes_with_clocks_apart_fail_no_request() {
    let cluster = Cluster::new();
    // Ten minutes between them, and each rotates once, to a key that only it has.
    let (one, other) = (cluster.node(0), cluster.node(-600));
    let over = AtomicBool::new(false);
    let rotate = |node: &Rig, version: &str, nodes: [&Rig; 2]| {
        assert_eq!(rotate_key(&node.key_folder(), node.clock.now()).unwrap(), version);
        for node in nodes {
            node.until_card_says(&format!("\"keyVersion\":\"{version}\""));
        }
        std::thread::sleep(Duration::from_millis(200));
        for node in nodes {
            node.clock.forward(LISTED_BEFORE_USE_SECONDS);
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let [by_one, by_other] = std::thread::scope(|scope| {
        let loads: Vec<_> = [&one, &one, &other, &other]
            .into_iter()
            .map(|node| scope.spawn(|| load(node, &over)))
            .collect();
        let changed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            rotate(&one, "v1-2026-11b", [&one, &other]);
            rotate(&other, "v1-2026-11c", [&one, &other]);
        }));
        over.store(true, Ordering::Relaxed);
        let mut receipts: Vec<_> = loads.into_iter().map(|load| load.join().unwrap()).collect();
        changed.unwrap();
        let by_other = receipts.split_off(2);
        [receipts, by_other]
    });
    for receipts in &by_one {
        assert_eq!(versions(receipts), ["v1-2026-11a", "v1-2026-11b"]);
    }
    for receipts in &by_other {
        assert_eq!(versions(receipts), ["v1-2026-11a", "v1-2026-11c"]);
    }
    for node in [&one, &other] {
        let card = node.get("/.well-known/agent-card.json").body;
        let lists = [
            KeyList::parse(&card),
            KeyList::parse_rooted(&card, cluster.root()),
        ];
        for keys in lists.map(Result::unwrap) {
            for receipt in by_one.iter().chain(&by_other).flatten() {
                assert_eq!(outcome(receipt, &keys), Outcome::Valid);
            }
        }
    }

    // Either gives the other's receipts: what it cannot sign with the same key, it signs with its own.
    let receipt = one.post("/verify/schema", compact(MINIMAL).as_bytes());
    let path = format!("/receipts/{}", receipt.member("verification_id"));
    assert_eq!(one.get(&path).body, receipt.body, "the very bytes");
    let anew = other.get(&path).body;
    assert_eq!(key_of(&anew), "v1-2026-11c");
    assert_eq!(outcome(&anew, &one.keys()), Outcome::Valid);
}

#[test]
fn a_compromise_on_one_node_stops_the_key_on_all() {
    let cluster = Cluster::new();
    let (one, other) = (cluster.node(0), cluster.node(-600));
    let before = one.post("/verify/schema", compact(MINIMAL).as_bytes());
    let path = format!("/receipts/{}", before.member("verification_id"));
    assert_eq!(one.get(&path).body, before.body);

    let done = compromise_key(&one.key_folder(), "v1-2026-11a", one.clock.now()).unwrap();
    assert_eq!(done.signs.key_version, "v1-2026-11b");
    for node in [&one, &other] {
        node.until_card_says("\"status\":\"compromised\"");
    }
    // The first goes on with a new key; the other has no key until the folder is copied.
    one.until_card_says("\"status\":\"current\"");
    one.clock.forward(60);
    let after = one.post("/verify/schema", MINIMAL.as_bytes());
    assert_eq!((after.status, key_of(&after.body).as_str()), (200, "v1-2026-11b"));
    let refused = other.post("/verify/schema", MINIMAL.as_bytes());
    assert_eq!(
        (refused.status, refused.member("code").as_str()),
        (503, "service_unavailable")
    );
    assert_eq!(other.get("/health/ready").status, 503);

    // What it signed is worth nothing now, and is signed anew when asked for.
    assert_eq!(outcome(&before.body, &one.keys()), Outcome::KeyCompromised);
    let anew = one.get(&path).body;
    let verified = verify(&anew, &one.keys(), &Supplied::default()).unwrap();
    assert_eq!(
        (verified.outcome(), verified.key_version.as_str()),
        (Outcome::Valid, "v1-2026-11b")
    );
    assert_eq!(verified.attested_at, one.clock.now().to_string());

    let card = one.get("/.well-known/agent-card.json").body;
    let from = |root| KeyList::parse_rooted(&card, root).unwrap();
    assert_eq!(
        outcome(&anew, &from(cluster.root())),
        Outcome::UnknownKey,
        "no way from the old root"
    );
    assert_eq!(outcome(&anew, &from(done.root.public_key)), Outcome::Valid);
    assert_eq!(
        outcome(&before.body, &from(cluster.root())),
        Outcome::KeyCompromised
    );

    copy_keys(&one.key_folder(), &other.key_folder());
    other.until_card_says("\"status\":\"current\"");
    let answer = other.post("/verify/schema", MINIMAL.as_bytes());
    assert_eq!(
        (answer.status, key_of(&answer.body).as_str()),
        (200, "v1-2026-11b")
    );
}

fn copy_keys(from: &Path, to: &Path) {
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn a_store_that_knows_the_key_as_another_stops_the_start() {
    let mut rig = Rig::start();
    rig.stop();
    // Another folder's key, in the place of the one that the store knows by that name.
    let folder = rig.key_folder();
    std::fs::remove_dir_all(&folder).unwrap();
    new_key(&folder, rig.clock.now()).unwrap();
    let refused = refusal(rig.folder.path(), "").to_string();
    assert!(
        refused.contains("key v1-2026-11a is another one in the store"),
        "{refused}"
    );
}

#[test]
fn keys_that_nobody_here_endorsed_are_not_listed() {
    let cluster = Cluster::new();
    let row = PublicKeyRow {
        key_version: "v1-2026-11x".to_owned(),
        public_key: [3; 32],
        status: "listed".to_owned(),
        listed_at_micros: START.0,
        signs_from_micros: None,
        endorsement: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(cluster.store.keep_public_key(row)).unwrap();
    let node = cluster.node(0);
    assert!(
        !node
            .get("/.well-known/agent-card.json")
            .text()
            .contains("v1-2026-11x")
    );
    assert_eq!(node.post("/verify/schema", MINIMAL.as_bytes()).status, 200);
    let shared = runtime.block_on(cluster.store.public_keys()).unwrap();
    let versions: Vec<_> = shared.iter().map(|row| row.key_version.as_str()).collect();
    assert_eq!(versions, ["v1-2026-11a", "v1-2026-11x"]);
}

#[test]
fn a_panic_does_not_end_the_watch() {
    let rig = Rig::with("", Patience::default());
    rig.clock.set_broken(true);
    std::thread::sleep(Duration::from_secs(
        u64::from(countersign_service::signer::RELOAD_SECONDS) + 1,
    ));
    rig.clock.set_broken(false);
    rotate_key(&rig.key_folder(), rig.clock.now()).unwrap();
    rig.until_card_says("\"status\":\"next\"");
}
