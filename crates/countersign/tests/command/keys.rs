//! Rotation and compromise from outside, and the way from a root key over lists that nobody vouches for.

use super::{countersign, file, json, path, run, status};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A data folder and the receipts that were made with it.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Home {
        let home = Home {
            folder: tempfile::tempdir().unwrap(),
        };
        home.key(&["new"]);
        home
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run(&[arguments, &["--data", path(self.folder.path())]].concat())
    }

    /// What a `key` command prints; it has to end well.
    fn key(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["key"], arguments].concat());
        assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn list(&self) -> Vec<Value> {
        json(&self.run(&["key", "list"])).as_array().unwrap().clone()
    }

    fn statuses(&self) -> Vec<String> {
        let status = |key: &Value| key["status"].as_str().unwrap().to_owned();
        self.list().iter().map(status).collect()
    }

    /// Rotates and lets the wait for the new key be over.
    fn rotate(&self) -> String {
        let version = self.key(&["rotate"]);
        let register = self.at("keys/receipt-keys.json");
        let mut keys: Value = serde_json::from_slice(&std::fs::read(&register).unwrap()).unwrap();
        for key in keys["keys"].as_array_mut().unwrap() {
            key["signs_from_micros"] = 1.into();
        }
        std::fs::write(&register, keys.to_string()).unwrap();
        version
    }

    /// A receipt signed now, and the version that signed it.
    fn receipt(&self, name: &str) -> (PathBuf, String) {
        let request = file("examples/invoice-final.json");
        let output = self.run(&["check", path(&request)]);
        std::fs::write(self.at(name), &output.stdout).unwrap();
        let version = json(&output)["attestation"]["key_version"]
            .as_str()
            .unwrap()
            .to_owned();
        (self.at(name), version)
    }

    /// The key list as it is now, in a file.
    fn keys(&self) -> PathBuf {
        std::fs::write(self.at("keys.json"), Value::from(self.list()).to_string()).unwrap();
        self.at("keys.json")
    }
}

fn public_key(key: &Value) -> &str {
    key["publicKey"].as_str().unwrap()
}

/// Outcome and status of the key, as the command tells them.
fn from_root(receipt: &Path, keys: &Path, root: &str) -> (i32, String, Value) {
    let verify = [
        "receipt",
        "verify",
        path(receipt),
        "--keys",
        path(keys),
        "--root-key",
        root,
    ];
    let output = run(&verify);
    let answer = json(&output);
    (
        status(&output),
        answer["outcome"].as_str().unwrap().to_owned(),
        answer["key_status"].clone(),
    )
}

fn told(code: i32, outcome: &str, key_status: impl Into<Value>) -> (i32, String, Value) {
    (code, outcome.to_owned(), key_status.into())
}

#[test]
fn a_root_key_leads_to_the_keys_after_it_until_one_is_compromised() {
    let home = Home::new();
    let (first, a) = home.receipt("first.json");
    let b = home.rotate();
    let (second, signed_by) = home.receipt("second.json");
    assert_eq!(signed_by, b);
    let c = home.rotate();
    let (third, _) = home.receipt("third.json");
    let list = home.list();
    assert!(list[0].get("endorsement").is_none(), "absent, not null");
    assert_eq!(list[2]["endorsement"]["keyVersion"], b.as_str());
    let root = public_key(&list[0]).to_owned();
    let keys = home.keys();
    let verify = |receipt: &Path| from_root(receipt, &keys, &root);
    assert_eq!(verify(&first), told(0, "valid", "previous"));
    assert_eq!(verify(&second), told(0, "valid", "previous"));
    assert_eq!(verify(&third), told(0, "valid", "current"));
    assert_eq!(
        from_root(&first, &keys, public_key(&list[1])),
        told(1, "unknown_key", Value::Null),
        "no way leads back"
    );

    let said = home.key(&["compromise", &b]);
    for expected in [
        format!("{b} is compromised, for ever"),
        format!("{c} signs."),
        format!("The root key is {c} {}.", public_key(&list[2])),
        "GET /receipts/{id}".to_owned(),
        "Copy this key folder".to_owned(),
    ] {
        assert!(said.contains(&expected), "{expected}: {said}");
    }
    let keys = home.keys();
    let verify = |receipt: &Path| from_root(receipt, &keys, &root);
    assert_eq!(verify(&first), told(0, "valid", "previous"));
    assert_eq!(verify(&second), told(1, "key_compromised", "compromised"));
    assert_eq!(verify(&third), told(1, "unknown_key", Value::Null));
    assert_eq!(
        from_root(&third, &keys, public_key(&list[2])),
        told(0, "valid", "current")
    );
    // Who trusts the list itself loses the one key alone.
    let trusted = |receipt: &Path| {
        json(&run(&["receipt", "verify", path(receipt), "--keys", path(&keys)]))["outcome"].clone()
    };
    assert_eq!(
        [&first, &second, &third].map(|it| trusted(it)),
        ["valid", "key_compromised", "valid"]
    );

    home.key(&["compromise", &a]);
    let keys = home.keys();
    assert_eq!(
        from_root(&first, &keys, &root),
        told(1, "key_compromised", "compromised")
    );
}

#[test]
fn in_the_place_of_a_compromised_key_that_signs_another_signs_at_once() {
    let home = Home::new();
    let (_, a) = home.receipt("first.json");
    let b = home.key(&["rotate"]);
    let said = home.key(&["compromise", &a]);
    assert_eq!(home.statuses(), ["compromised", "compromised", "current"]);
    let (second, c) = home.receipt("second.json");
    for expected in [
        format!("{b}, which was to take over from it, lay beside it and never signs."),
        format!(
            "{c} was made in its place. A running service signs with it within 5 s, and with {a} no more."
        ),
    ] {
        assert!(said.contains(&expected), "{expected}: {said}");
    }
    let list = home.list();
    assert!(list[2].get("endorsement").is_none());
    let keys = home.keys();
    assert_eq!(
        from_root(&second, &keys, public_key(&list[0])),
        told(1, "unknown_key", Value::Null)
    );
    assert_eq!(
        from_root(&second, &keys, public_key(&list[2])),
        told(0, "valid", "current")
    );

    let register = std::fs::read(home.at("keys/receipt-keys.json")).unwrap();
    assert!(home.key(&["compromise", &a]).contains(&format!("{c} signs.")));
    assert_eq!(
        std::fs::read(home.at("keys/receipt-keys.json")).unwrap(),
        register
    );
    let unknown = home.run(&["key", "compromise", "v1-2020-01a"]);
    assert_eq!(status(&unknown), 2);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("lists no key of that version"));
}

#[test]
fn a_key_whose_predecessor_is_gone_says_that_nobody_endorsed_it() {
    let home = Home::new();
    let (_, a) = home.receipt("first.json");
    std::fs::remove_file(home.at(&format!("keys/receipt-{a}.pem"))).unwrap();
    let output = home.run(&["key", "rotate"]);
    assert_eq!(status(&output), 0);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let list = home.list();
    assert!(
        said.contains("no key endorses the new one") && said.contains(public_key(&list[1])),
        "{said}"
    );
}

#[test]
fn lists_that_are_hostile_lead_nowhere() {
    let home = Home::new();
    home.rotate();
    let (receipt, b) = home.receipt("receipt.json");
    let list = home.list();
    let root = public_key(&list[0]).to_owned();
    let verify = |keys: Vec<Value>| {
        std::fs::write(home.at("hostile.json"), Value::from(keys).to_string()).unwrap();
        let hostile = home.at("hostile.json");
        run(&[
            "receipt",
            "verify",
            path(&receipt),
            "--keys",
            path(&hostile),
            "--root-key",
            &root,
        ])
    };
    assert_eq!(status(&verify(list.clone())), 0);
    let with = |name: &str, value: Value| {
        let mut keys = list.clone();
        keys[1][name] = value;
        keys
    };
    let word = &list[1]["endorsement"];
    let unread = [
        with("keyVersion", list[0]["keyVersion"].clone()),
        with("publicKey", list[0]["publicKey"].clone()),
        with("publicKey", "AAAA".into()),
        with("publicKey", root.trim_end_matches('=').into()),
        with("status", "trusted".into()),
        with("status", Value::Null),
        with("algorithm", Value::Null),
        [list.clone(), list.clone()].concat(),
        vec![list[0].clone(); 10_001],
    ];
    for keys in unread {
        let output = verify(keys);
        assert_eq!(
            (status(&output), output.stdout.len()),
            (2, 0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let mut cut = word.clone();
    cut["signature"] = word["signature"].as_str().unwrap()[..80].into();
    let mut by_itself = word.clone();
    by_itself["keyVersion"] = b.as_str().into();
    let mut many = list.clone();
    many.remove(1);
    for number in many.len()..10_000 {
        let mut key = list[1].clone();
        key["keyVersion"] = format!("v1-{number}").into();
        key["publicKey"] = base64_of(number).into();
        many.push(key);
    }
    let nowhere = [
        vec![],
        vec![list[1].clone()],
        with("endorsement", Value::Null),
        with("endorsement", cut),
        with("endorsement", by_itself),
        many,
    ];
    for keys in nowhere {
        let output = verify(keys);
        assert_eq!(
            (status(&output), json(&output)["outcome"].as_str()),
            (1, Some("unknown_key"))
        );
    }
    for root in ["", "AAAA", "=", &root[1..]] {
        let keys = home.keys();
        let output = run(&[
            "receipt",
            "verify",
            path(&receipt),
            "--keys",
            path(&keys),
            "--root-key",
            root,
        ]);
        assert_eq!(status(&output), 2, "{root}");
    }
    let alone = run(&["receipt", "verify", path(&receipt), "--root-key", &root]);
    assert_eq!(status(&alone), 2, "a root without a list");
    let pinned = [
        "receipt",
        "verify",
        path(&receipt),
        "--public-key",
        &root,
        "--root-key",
        &root,
    ];
    assert_eq!(status(&run(&pinned)), 2);
}

/// Base64 of 32 bytes that end in this number.
fn base64_of(number: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |place: u32| char::from(ALPHABET[number >> (6 * place) & 63]);
    format!("{}{}{}{}A=", "B".repeat(39), digit(2), digit(1), digit(0))
}

#[test]
fn killed_at_any_moment_a_command_is_finished_by_the_same_command() {
    let home = Home::new();
    let mut expected = 1;
    for turn in 0..24_u64 {
        let current = home
            .list()
            .iter()
            .position(|key| key["status"] == "current")
            .unwrap();
        let version = home.list()[current]["keyVersion"].as_str().unwrap().to_owned();
        let arguments = if turn % 2 == 0 {
            vec!["key", "rotate"]
        } else {
            vec!["key", "compromise", &version]
        };
        let arguments = [&arguments[..], &["--data", path(home.folder.path())]].concat();
        let mut child = countersign(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(turn * turn * 40));
        let _ = child.kill();
        child.wait().unwrap();

        let again = run(&arguments);
        let said = String::from_utf8_lossy(&again.stderr).into_owned();
        let statuses = home.statuses();
        let count = |status: &str| statuses.iter().filter(|known| *known == status).count();
        assert_eq!(count("current"), 1, "{statuses:?}");
        if turn % 2 == 0 {
            assert!(status(&again) == 0 || said.contains("not in use yet"), "{said}");
            assert_eq!(count("next"), 1, "{statuses:?}");
            expected += 1;
        } else {
            assert_eq!(status(&again), 0, "{said}");
            assert_eq!(count("next"), 0, "{statuses:?}");
            assert_eq!(home.list()[current]["status"], "compromised");
            expected += 1;
        }
        assert_eq!(statuses.len(), expected, "{statuses:?}");
        let (_, signed_by) = home.receipt("receipt.json");
        let signs = home
            .list()
            .into_iter()
            .find(|key| key["status"] == "current")
            .unwrap();
        assert_eq!(signs["keyVersion"], signed_by.as_str());
    }
}
