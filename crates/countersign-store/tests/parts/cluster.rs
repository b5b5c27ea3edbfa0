//! A PostgreSQL server of the tests' own: made by `initdb` in a temporary folder, started by `pg_ctl` on a free
//! port of the loopback address, gone with the process that made it, however that ends.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use countersign_store::{Password, Target};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The role that the tests connect as, and its password.
const USER: &str = "countersign";
const PASSWORD: &str = "hunter2";

/// Waits for a line on stdin and does what it says; its end ends the server and removes its folder.
const KEEPER: &str = r#"
up() { "$BIN/pg_ctl" -w -t 60 -s -D "$HOME_OF/data" -l "$HOME_OF/log" -o "$OPTIONS" start && echo up; }
down() { "$BIN/pg_ctl" -w -t 60 -s -D "$HOME_OF/data" -m "$1" stop && echo down; }
printf '%s' "$WORD" >"$HOME_OF/word" &&
"$BIN/initdb" -D "$HOME_OF/data" -U "$ROLE" --pwfile="$HOME_OF/word" --auth=scram-sha-256 -E UTF8 \
    --locale=C >"$HOME_OF/log" 2>&1 || { cat "$HOME_OF/log" >&2; exit 1; }
while read -r order mode; do
    "$order" "$mode" </dev/null
done
down immediate >/dev/null 2>&1
rm -rf "$HOME_OF"
"#;

pub(crate) struct Cluster {
    bin: PathBuf,
    folder: PathBuf,
    port: u16,
    orders: Option<ChildStdin>,
    answers: BufReader<std::process::ChildStdout>,
    keeper: Child,
}

impl Cluster {
    /// The one server of this test binary.
    pub(crate) fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(Cluster::start)
    }

    /// A server of one's own, for whoever stops it.
    pub(crate) fn start() -> Cluster {
        let bin = programs();
        let folder = tempfile::Builder::new()
            .prefix("countersign-pg-")
            .tempdir()
            .unwrap()
            .keep();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={} -c fsync=on \
             -c max_connections=200 -c shared_buffers=64MB",
            folder.display()
        );
        let mut command = unprivileged(&folder);
        let mut keeper = command
            .args(["sh", "-c", KEEPER])
            .current_dir("/")
            .envs([("BIN", bin.as_os_str()), ("HOME_OF", folder.as_os_str())])
            .envs([("ROLE", USER), ("WORD", PASSWORD), ("OPTIONS", &options)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut cluster = Cluster {
            bin,
            folder,
            port,
            orders: keeper.stdin.take(),
            answers: BufReader::new(keeper.stdout.take().unwrap()),
            keeper,
        };
        cluster.up();
        cluster
    }

    /// Starts the server that was stopped or killed.
    pub(crate) fn up(&mut self) {
        self.order("up -", "up");
    }

    /// Stops the server: `fast` ends its connections well, `immediate` is as good as a kill.
    pub(crate) fn down(&mut self, mode: &str) {
        self.order(&format!("down {mode}"), "down");
    }

    fn order(&mut self, order: &str, expected: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert_eq!(answer.trim(), expected, "PostgreSQL said:\n{}", log());
    }

    /// Makes an empty database, and comes back with its name.
    pub(crate) fn database(&self) -> String {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", MADE.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    pub(crate) fn target(&self, database: &str) -> Target {
        Cluster::target_at(database, self.port)
    }

    /// The database by another way, such as a proxy's port.
    pub(crate) fn target_at(database: &str, port: u16) -> Target {
        Cluster::target_with(
            &format!("postgres://{USER}@127.0.0.1:{port}/{database}"),
            PASSWORD,
        )
    }

    /// The store that a setting names, with a password of its own.
    pub(crate) fn target_with(setting: &str, password: &str) -> Target {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{password}").unwrap();
        let password = Password::read(file.path()).unwrap();
        Target::parse(setting, Some(password)).unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs SQL in a database as its owner, and comes back with what it prints.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args([
            "-X",
            "-q",
            "-t",
            "-A",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-U",
            USER,
        ])
        .args(["-p", &self.port.to_string(), "-d", database, "-c", sql])
        .env("PGPASSWORD", PASSWORD)
        .env(
            "PGOPTIONS",
            "-c search_path=countersign,public -c client_min_messages=warning",
        );
        let mut output = psql.output().unwrap();
        // A server that comes back from a crash refuses for a moment.
        for _ in 0..200 {
            if output.status.success() || !String::from_utf8_lossy(&output.stderr).contains("connection to") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            output = psql.output().unwrap();
        }
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The shared one is never dropped: the end of the process closes its keeper's stdin.
        drop(self.orders.take());
        let _ = self.keeper.wait();
    }
}

/// Where the server's programs are.
fn programs() -> PathBuf {
    let mut versions: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            let bin = entry.path().join("bin");
            bin.join("initdb").exists().then_some((version, bin))
        })
        .collect();
    versions.sort();
    if let Some((_, bin)) = versions.pop() {
        return bin;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find(|folder| folder.join("initdb").exists());
    found.expect("PostgreSQL's programs are needed and not there: apt-get install -y postgresql")
}

/// A command that runs what follows as an ordinary user, who owns `folder`: `initdb` refuses root.
fn unprivileged(folder: &Path) -> Command {
    let id = |option: &str| {
        let output = Command::new("id").args([option, "postgres"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let me = Command::new("id").arg("-u").output().unwrap().stdout;
    if me.trim_ascii() != b"0" {
        return Command::new("env");
    }
    let (user, group) = match (id("-u"), id("-g")) {
        (user, group) if !user.is_empty() => (user, group),
        _ => ("65534".to_owned(), "65534".to_owned()),
    };
    let owner: (u32, u32) = (user.parse().unwrap(), group.parse().unwrap());
    std::os::unix::fs::chown(folder, Some(owner.0), Some(owner.1)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--clear-groups", "--reuid", &user, "--regid", &group, "--"]);
    command
}
