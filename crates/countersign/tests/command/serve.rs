//! A served instance: its process, and a client as plain as can be.

use super::{countersign, file, json, path, run};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A serving process.
pub(super) struct Served {
    pub(super) child: Child,
    pub(super) address: String,
}

impl Served {
    /// Starts one and waits until it says that it is ready.
    pub(super) fn start(data: &Path) -> Served {
        let mut command = countersign(&["serve", "--listen", "127.0.0.1:0", "--data", path(data)]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("the service says when it is ready").unwrap();
            if let Some((_, address)) = line.split_once("listening on http://") {
                break address.to_owned();
            }
        };
        // Keeps the pipe open and empty.
        std::thread::spawn(move || lines.for_each(drop));
        Served { child, address }
    }

    /// Sends SIGTERM.
    pub(super) fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request on one connection; `None` if the answer did not arrive whole.
pub(super) fn exchange(address: &str, method: &str, target: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length: usize = head
        .split("content-length: ")
        .nth(1)?
        .split("\r\n")
        .next()?
        .parse()
        .ok()?;
    (answer.len() - end == length).then(|| (status, answer[end..].to_vec()))
}

#[test]
fn an_orderly_stop_finishes_what_runs_and_ends_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path());
    let draft = std::fs::read(file("examples/invoice-draft.json")).unwrap();
    let (status, receipt) = exchange(&served.address, "POST", "/verify/schema", &draft).unwrap();
    assert_eq!(status, 200);
    served.terminate();
    assert_eq!(served.child.wait().unwrap().code(), Some(0));

    // What it signed verifies offline with the keys that it left.
    std::fs::write(folder.path().join("receipt.json"), receipt).unwrap();
    std::fs::write(
        folder.path().join("keys.json"),
        run(&["key", "list", "--data", path(folder.path())]).stdout,
    )
    .unwrap();
    let verified = run(&[
        "receipt",
        "verify",
        path(&folder.path().join("receipt.json")),
        "--keys",
        path(&folder.path().join("keys.json")),
        "--request",
        path(&file("examples/invoice-draft.json")),
    ]);
    assert_eq!(json(&verified)["outcome"], "valid");
}

#[test]
fn lost_keys_beside_a_database_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path());
    served.terminate();
    served.child.wait().unwrap();
    let keys = folder.path().join("keys");
    let lost = |lose: &dyn Fn()| {
        lose();
        let output = run(&["serve", "--listen", "127.0.0.1:0", "--data", path(folder.path())]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("; restore "));
        for command in [
            &["key", "new"][..],
            &["check", path(&file("examples/invoice-draft.json"))],
        ] {
            let output = run(&[command, &["--data", path(folder.path())]].concat());
            assert_eq!(output.status.code(), Some(2), "{command:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("; restore "));
        }
    };
    lost(&|| std::fs::remove_file(keys.join("receipt-keys.json")).unwrap());
    lost(&|| std::fs::remove_dir_all(&keys).unwrap());
}
