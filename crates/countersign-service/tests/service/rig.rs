//! A service in a folder of its own, and a client that shows the bytes.

use countersign_core::json::{Value, read};
use countersign_core::key::KeyList;
use countersign_core::time::Timestamp;
use countersign_service::config::{Config, Flags};
use countersign_service::signer::RELOAD_SECONDS;
use countersign_service::{Patience, ServeError, Service};
use countersign_store::Store;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// 2026-11-05T00:00:00 UTC, where the clock of a rig stands until a test moves it.
pub(crate) const START_MICROS: i64 = 1_793_836_800_000_000;

/// A service, its folder and its clock.
pub(crate) struct Rig {
    pub(crate) folder: TempDir,
    pub(crate) clock: RigClock,
    pub(crate) address: SocketAddr,
    service: Option<Service>,
    patience: Patience,
    settings: String,
}

/// A clock that stands still until it is moved, and can be made to panic.
#[derive(Clone)]
pub(crate) struct RigClock {
    micros: Arc<AtomicI64>,
    broken: Arc<AtomicBool>,
}

impl RigClock {
    pub(crate) fn forward(&self, seconds: u32) {
        self.micros
            .fetch_add(i64::from(seconds) * 1_000_000, Ordering::SeqCst);
    }

    pub(crate) fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        assert!(!self.broken.load(Ordering::SeqCst), "a panic on purpose");
        Timestamp(self.micros.load(Ordering::SeqCst))
    }
}

impl Rig {
    pub(crate) fn start() -> Rig {
        Rig::with("", Patience::default())
    }

    /// Starts a service with these lines of configuration.
    pub(crate) fn with(settings: &str, patience: Patience) -> Rig {
        let mut rig = Rig::at_rest(settings, patience);
        rig.restart();
        rig
    }

    /// Starts a node on a store that others use too, with a copy of this key folder, its clock so many seconds
    /// ahead. It is not to be restarted.
    pub(crate) fn node(store: &Store, keys: &Path, ahead: i64) -> Rig {
        let mut rig = Rig::at_rest("", Patience::default());
        let own = rig.data().join("keys");
        std::fs::create_dir_all(&own).unwrap();
        for file in std::fs::read_dir(keys).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), own.join(file.file_name())).unwrap();
        }
        rig.clock.micros.fetch_add(ahead * 1_000_000, Ordering::SeqCst);
        let clock = rig.clock.clone();
        let config = config(rig.folder.path(), &rig.settings);
        let started = Service::start_beside(&config, rig.patience, move || clock.now(), store.clone());
        let service = started.unwrap();
        rig.address = service.address();
        rig.service = Some(service);
        rig
    }

    fn at_rest(settings: &str, patience: Patience) -> Rig {
        let clock = RigClock {
            micros: Arc::new(AtomicI64::new(START_MICROS)),
            broken: Arc::new(AtomicBool::new(false)),
        };
        Rig {
            folder: tempfile::tempdir().unwrap(),
            clock,
            address: SocketAddr::from(([0, 0, 0, 0], 0)),
            service: None,
            patience,
            settings: settings.to_owned(),
        }
    }

    /// Stops the service if it runs, and starts it again on the same folder, on another port.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let config = config(self.folder.path(), &self.settings);
        let clock = self.clock.clone();
        let service = Service::start_with_clock(&config, self.patience, move || clock.now()).unwrap();
        self.address = service.address();
        self.service = Some(service);
    }

    /// Starts the service again with other settings.
    pub(crate) fn restart_with(&mut self, settings: &str) {
        settings.clone_into(&mut self.settings);
        self.restart();
    }

    pub(crate) fn stop(&mut self) {
        if let Some(service) = self.service.take() {
            service.stop().unwrap();
        }
    }

    /// Takes the service out, to stop it elsewhere.
    pub(crate) fn take(&mut self) -> Service {
        self.service.take().unwrap()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("countersign-data")
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &[u8]) -> Answer {
        self.request("POST", path, &[], body)
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut client = self.client();
        client.send(method, path, headers, body);
        client.receive(method)
    }

    /// The folder of its keys.
    pub(crate) fn key_folder(&self) -> PathBuf {
        self.data().join("keys")
    }

    /// Waits until the agent card says this.
    pub(crate) fn until_card_says(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(u64::from(RELOAD_SECONDS) + 30);
        while !self.get("/.well-known/agent-card.json").text().contains(text) {
            assert!(Instant::now() < deadline, "the card does not say {text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The key list, as a caller gets it.
    pub(crate) fn keys(&self) -> KeyList {
        KeyList::parse(&self.get("/.well-known/agent-card.json").body).unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.clock.set_broken(false);
            self.stop();
        }
    }
}

/// The settings of a folder: a free port, and these lines.
pub(crate) fn config(folder: &Path, settings: &str) -> Config {
    let file = folder.join("countersign.toml");
    std::fs::write(&file, settings).unwrap();
    let flags = Flags::default().with("listen", "127.0.0.1:0");
    Config::load(Some(&file), flags, std::iter::empty()).unwrap()
}

/// Why a service did not start on this folder with these lines.
pub(crate) fn refusal(folder: &Path, settings: &str) -> ServeError {
    let started = Service::start(&config(folder, settings), Patience::default());
    started.err().expect("the start is refused")
}

/// One connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Client {
            stream,
            unread: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let length = body.len().to_string();
        let mut lines = vec![format!("{method} {path} HTTP/1.1"), "Host: x".to_owned()];
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        if !body.is_empty() || method == "POST" {
            lines.push(format!("Content-Length: {length}"));
        }
        let head = lines.join("\r\n") + "\r\n\r\n";
        self.write([head.as_bytes(), body].concat());
    }

    /// Reads one answer to a request with this method.
    pub(crate) fn receive(&mut self, method: &str) -> Answer {
        self.try_receive(method).expect("an answer before the end")
    }

    /// As `receive`; `None` if the connection ended first.
    pub(crate) fn try_receive(&mut self, method: &str) -> Option<Answer> {
        let head_end = loop {
            if let Some(at) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.read_more() {
                return None;
            }
        };
        let head = String::from_utf8(self.unread.drain(..head_end).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<_> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        let length = answer
            .header("content-length")
            .map_or(0, |text| text.parse().unwrap());
        if method != "HEAD" && status != 304 {
            while self.unread.len() < length {
                assert!(self.read_more(), "the body ended early");
            }
            answer.body = self.unread.drain(..length).collect();
        }
        Some(answer)
    }

    /// Whether the other side closed without another byte.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && !self.read_more()
    }

    fn read_more(&mut self) -> bool {
        let mut piece = [0; 16384];
        match self.stream.read(&mut piece) {
            Ok(0) => false,
            Ok(length) => {
                self.unread.extend_from_slice(&piece[..length]);
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => false,
            Err(error) => panic!("no answer: {error}"),
        }
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        read(&self.body).unwrap_or_else(|_| panic!("JSON and not {:?}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A string member at the top.
    pub(crate) fn member(&self, name: &str) -> String {
        let document = self.json();
        let text = document.get(name).and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("{name} in {}", self.text()))
            .to_owned()
    }
}

/// A request of the shared vectors.
pub(crate) fn vector(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors")
        .join(name);
    std::fs::read(path).unwrap()
}

/// The smallest valid request.
pub(crate) const MINIMAL: &str = r#"{"task_id":"tv-1","expected_schema":{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}},"submitted_output":{"ok":true}}"#;

/// A request whose rule does not hold: a fail.
pub(crate) const FAILING: &str = r#"{"task_id":"t","agent_id":"seller-7","expected_schema":{},"submitted_output":{"items":[1,2],"total":4},"rules":[{"type":"sum_equals","field":"items[]","equals_field":"total"}],"enforce_rules":true}"#;

/// The same with another shape of the answer.
pub(crate) fn compact(request: &str) -> String {
    request.replacen('{', r#"{"detail":"compact","#, 1)
}
