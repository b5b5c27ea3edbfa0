//! The command from outside: what it prints, how it ends, and what a kill leaves behind.

// What a test cannot read fails it.
#![allow(clippy::unwrap_used)]

mod keys;
mod kill;
mod score;
mod serve;
mod store;

use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn countersign(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).env_clear();
    command
}

fn run(arguments: &[&str]) -> Output {
    countersign(arguments).output().unwrap()
}

fn with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = countersign(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn check_ends_with_0_for_a_pass_1_for_a_fail_and_2_for_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let draft = run(&[
        "check",
        path(&file("examples/invoice-draft.json")),
        "--data",
        data,
    ]);
    assert_eq!(
        (status(&draft), json(&draft)["result"].as_str()),
        (1, Some("fail"))
    );
    assert!(String::from_utf8_lossy(&draft.stderr).contains("with key v1-"));
    let last = run(&[
        "check",
        path(&file("examples/invoice-final.json")),
        "--data",
        data,
    ]);
    assert_eq!((status(&last), json(&last)["result"].as_str()), (0, Some("pass")));
    assert!(last.stderr.is_empty(), "the key is made once");
    let problem = with_input(&["check", "-", "--data", data], b"{\"task_id\":1}");
    assert_eq!(
        (status(&problem), json(&problem)["code"].as_str()),
        (2, Some("invalid_request"))
    );
    let large = with_input(&["check", "-", "--data", data], &vec![b' '; (1 << 20) + 1]);
    assert_eq!(
        (status(&large), json(&large)["code"].as_str()),
        (2, Some("body_too_large"))
    );
    let missing = run(&["check", "no-such-file", "--data", data]);
    assert_eq!((status(&missing), missing.stdout.len()), (2, 0));
    let kept: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(kept, ["keys"], "nothing but the key is kept");
}

#[test]
fn detail_on_the_command_line_wins() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let request = file("examples/invoice-final.json");
    let full = json(&run(&[
        "check",
        path(&request),
        "--data",
        data,
        "--detail",
        "full",
    ]));
    assert!(full.get("errors").is_some() && full.get("request_hash").is_some());
    let compact = json(&run(&[
        "check",
        path(&request),
        "--data",
        data,
        "--detail",
        "compact",
    ]));
    assert!(compact.get("errors").is_none() && compact.get("request_hash").is_none());
}

#[test]
fn receipts_verify_offline_with_a_list_a_card_or_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let data = path(folder.path());
    let request = file("examples/invoice-draft.json");
    std::fs::write(
        at("receipt.json"),
        run(&["check", path(&request), "--data", data]).stdout,
    )
    .unwrap();
    let list = run(&["key", "list", "--data", data]);
    std::fs::write(at("keys.json"), &list.stdout).unwrap();
    let key = json(&list)[0]["publicKey"].as_str().unwrap().to_owned();
    let (receipt, keys) = (at("receipt.json"), at("keys.json"));
    let verify = |more: &[&str]| {
        let output = run(&[&["receipt", "verify", path(&receipt)], more].concat());
        (
            status(&output),
            json(&output)["outcome"].as_str().unwrap().to_owned(),
        )
    };
    let valid = (0, "valid".to_owned());
    assert_eq!(verify(&["--keys", path(&keys)]), valid);
    assert_eq!(verify(&["--public-key", &key]), valid);
    assert_eq!(
        verify(&["--keys", path(&keys), "--request", path(&request)]),
        valid
    );
    let golden = file("vectors/public-keys.json");
    assert_eq!(verify(&["--keys", path(&golden)]), (1, "unknown_key".to_owned()));
    let golden_key = "d2IHH0/Xduci/5J8IewYmauUvgqf+gFIeCEXDwjHUhw=";
    assert_eq!(
        verify(&["--public-key", golden_key]),
        (1, "bad_signature".to_owned())
    );
    let other = file("examples/invoice-final.json");
    assert_eq!(
        verify(&["--keys", path(&keys), "--request", path(&other)]),
        (1, "hash_mismatch".to_owned())
    );

    // Each part by itself.
    let whole: Value = serde_json::from_slice(&std::fs::read(&request).unwrap()).unwrap();
    for (flag, part) in [
        ("--output", "submitted_output"),
        ("--schema", "expected_schema"),
        ("--rules", "rules"),
    ] {
        std::fs::write(at(part), whole[part].to_string()).unwrap();
        assert_eq!(
            verify(&["--keys", path(&keys), flag, path(&at(part))]),
            valid,
            "{flag}"
        );
        std::fs::write(at(part), "[]").unwrap();
        assert_eq!(
            verify(&["--keys", path(&keys), flag, path(&at(part))]).0,
            1,
            "{flag}"
        );
    }

    let malformed = with_input(&["receipt", "verify", "-", "--keys", path(&keys)], b"{}");
    assert_eq!(
        (status(&malformed), json(&malformed)["outcome"].as_str()),
        (2, Some("malformed"))
    );
    for unreadable in [&["--keys", "no-such-file"][..], &["--public-key", "AA=="], &[]] {
        assert_eq!(
            status(&run(
                &[&["receipt", "verify", path(&receipt)], unreadable].concat()
            )),
            2
        );
    }
}

#[test]
fn keys_are_made_once_rotated_once_and_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    assert_eq!(
        status(&run(&["key", "list", "--data", data])),
        2,
        "there is none yet"
    );
    assert_eq!(status(&run(&["key", "new", "--data", data])), 0);
    assert_eq!(
        status(&run(&["key", "new", "--data", data])),
        2,
        "there is one already"
    );
    assert_eq!(status(&run(&["key", "rotate", "--data", data])), 0);
    assert_eq!(
        status(&run(&["key", "rotate", "--data", data])),
        2,
        "the next one is waiting"
    );
    let list = json(&run(&["key", "list", "--data", data]));
    let statuses: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["current", "next"]);

    let keys = folder.path().join("keys");
    let pem = std::fs::read_dir(&keys)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pem = pem
        .filter(|path| path.extension().is_some_and(|e| e == "pem"))
        .min()
        .unwrap();
    assert_eq!(
        std::fs::metadata(&pem).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::set_permissions(&pem, std::fs::Permissions::from_mode(0o640)).unwrap();
    for refused in [
        &[
            "check",
            path(&file("examples/invoice-final.json")),
            "--data",
            data,
        ][..],
        &["serve", "--listen", "127.0.0.1:0", "--data", data],
    ] {
        let output = run(refused);
        assert_eq!(status(&output), 2);
        assert!(String::from_utf8_lossy(&output.stderr).contains("chmod 600"));
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_no_pass() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let request = file("examples/invoice-final.json");
    let mut command = countersign(&["check", path(&request), "--data", path(folder.path())]);
    let output = command.stdout(full).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the answer"));
}

#[test]
fn unknown_settings_stop_the_start() {
    let output = countersign(&["serve", "--check-config"])
        .env("COUNTERSIGN_LIMIT__BODY", "1")
        .output()
        .unwrap();
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("COUNTERSIGN_LIMIT__BODY"));
    assert_eq!(status(&run(&["serve", "--print-config"])), 0);
}
