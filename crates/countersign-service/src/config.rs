//! Every setting: its name, default, unit and bounds. Files, variables and flags are read here alone.
//!
//! `config.toml` beside this file is the commented default file; a test holds the two equal.

use crate::client::TrustedProxies;
use countersign_core::score::{HALF_LIFE_DAYS, HalfLife};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// The commented default file, as `--print-config` prints it.
pub const DEFAULT_FILE: &str = include_str!("config.toml");

/// What variables of ours begin with.
const VARIABLE_PREFIX: &str = "COUNTERSIGN_";
/// Variables that belong to tests and are no settings.
const TEST_VARIABLE_PREFIX: &str = "COUNTERSIGN_TEST_";
/// Characters of `service_name` and of `public_url`: both are in every receipt.
const NAME_CHARS_MAX: usize = 200;
/// Body limits that may be set, in bytes. The lowest lets a problem's example request through; the highest keeps
/// a parsed body within a gigabyte.
const BODY_BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 24;
/// Connection limits that may be set.
const CONNECTIONS: std::ops::RangeInclusive<u64> = 1..=1 << 16;
/// Limits on a client's requests a minute that may be set; 0 is none.
const RATE_PER_MINUTE: std::ops::RangeInclusive<u64> = 0..=1_000_000;
/// Entries of a setting that is a list.
const LIST_ENTRIES_MAX: usize = 256;

/// The settings of one process. A `Config` that exists is readable and free of contradictions; whether its
/// files exist shows when they are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Address of the public door.
    pub listen: SocketAddr,
    /// The configured base URL; `None`: made from the address that is bound.
    pub public_url: Option<String>,
    /// Folder of what is not configured elsewhere.
    pub data: Location,
    /// The database.
    pub store: StoreSetting,
    /// `verify.service` in receipts.
    pub service_name: String,
    /// Folder of the private keys.
    pub keys_folder: Location,
    /// Bytes of one request body.
    pub body_bytes: usize,
    /// Connections open at a time.
    pub connections: usize,
    /// The proxies whose `X-Forwarded-For` is read.
    pub trusted_proxies: TrustedProxies,
    /// Requests a minute of one client; `None`: as many as it likes.
    pub rate_per_minute: Option<NonZeroU32>,
    /// The age at which a check counts half as much in a score.
    pub half_life: HalfLife,
    /// The least severe events that are logged; `None`: none at all.
    pub log: Option<tracing::Level>,
    /// Whether log lines are JSON.
    pub log_json: bool,
}

/// A path, and whether somebody named it. What is named must exist, so that a mistyped path cannot start an
/// empty memory; what is not named may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path, joined to the folder it is relative to.
    pub path: PathBuf,
    /// Whether a file, a variable or a flag gave it.
    pub named: bool,
}

/// Which database keeps the receipts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreSetting {
    /// A file of SQLite.
    Sqlite(Location),
    /// A database of a PostgreSQL server.
    Postgres {
        /// `postgres://user@host/database`, without a password.
        url: String,
        /// The file that holds the password.
        password_file: Option<PathBuf>,
    },
}

/// Settings given on the command line: pairs of a setting's path (`limits.body_bytes`) and its text.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<(String, String)>);

/// Why the settings cannot be used. The text names the setting and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file {0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// The file is not TOML.
    #[error("the configuration file {0} is not TOML: {1}")]
    NotToml(PathBuf, Box<toml::de::Error>),
    /// No setting has this name.
    #[error("unknown setting {0}; `countersign serve --print-config` lists all")]
    Unknown(String),
    /// A setting's value cannot be used.
    #[error("setting {0} {1}")]
    Unusable(String, String),
}

impl Flags {
    /// Adds one flag.
    #[must_use]
    pub fn with(mut self, setting: &str, text: impl Into<String>) -> Self {
        self.0.push((setting.to_owned(), text.into()));
        self
    }
}

impl Config {
    /// Reads the settings: defaults, then the file, then variables, then flags, the last one given wins.
    pub fn load(
        file: Option<&Path>,
        flags: Flags,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Config, ConfigError> {
        let mut given = Given::default();
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|error| ConfigError::Unreadable(path.to_owned(), error))?;
            let table = text
                .parse::<toml::Table>()
                .map_err(|error| ConfigError::NotToml(path.to_owned(), Box::new(error)))?;
            given.take_table("", table)?;
        }
        for (name, text) in variables {
            let Some(rest) = name.strip_prefix(VARIABLE_PREFIX) else {
                continue;
            };
            if name.starts_with(TEST_VARIABLE_PREFIX) {
                continue;
            }
            let setting = SETTINGS
                .iter()
                .find(|setting| variable_part(setting.path) == rest);
            let setting = setting.ok_or_else(|| ConfigError::Unknown(name.clone()))?;
            setting.take(&mut given, &name, Source::Text(text))?;
        }
        for (path, text) in flags.0 {
            let setting = SETTINGS.iter().find(|setting| setting.path == path);
            let setting = setting.ok_or_else(|| ConfigError::Unknown(path.clone()))?;
            setting.take(&mut given, &path, Source::Text(text))?;
        }
        let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
        Ok(given.complete(folder))
    }

    /// What was understood, as the text of a file; what `--check-config` prints.
    pub fn describe(&self) -> String {
        let listen = self.listen.to_string();
        let public_url = self
            .public_url
            .clone()
            .unwrap_or_else(|| format!("http://{listen}"));
        let log = self
            .log
            .map_or("off".to_owned(), |level| level.as_str().to_lowercase());
        // Absolute, so that the reader sees where they lead, whatever they are relative to.
        let path = |location: &Location| {
            let path = std::path::absolute(&location.path);
            path.unwrap_or_else(|_| location.path.clone())
                .display()
                .to_string()
        };
        let (store, password_file) = match &self.store {
            StoreSetting::Sqlite(location) => (format!("sqlite:{}", path(location)), None),
            StoreSetting::Postgres { url, password_file } => (url.clone(), password_file.as_ref()),
        };
        let password_file = password_file.map_or_else(String::new, |file| {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            format!("store_password_file = {}\n", quoted(&file.display().to_string()))
        });
        let mut text = String::new();
        let _ = write!(
            text,
            "listen = {}\npublic_url = {}\ndata = {}\nstore = {}\n{password_file}service_name = {}\n\n[keys]\nfolder = {}\n\n\
             [limits]\nbody_bytes = {}\nconnections = {}\n\n[http]\ntrusted_proxies = {}\nrate_per_minute = {}\n\n[score]\nhalf_life_days = {}\n\n[telemetry]\nlog = {}\njson = {}\n",
            quoted(&listen),
            quoted(&public_url),
            quoted(&path(&self.data)),
            quoted(&store),
            quoted(&self.service_name),
            quoted(&path(&self.keys_folder)),
            self.body_bytes,
            self.connections,
            list(&self.trusted_proxies.texts()),
            self.rate_per_minute.map_or(0, NonZeroU32::get),
            self.half_life.days(),
            quoted(&log),
            self.log_json,
        );
        text
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list(texts: &[String]) -> String {
    toml::Value::from(texts.to_vec()).to_string()
}

fn variable_part(path: &str) -> String {
    path.to_uppercase().replace('.', "__")
}

/// What was given so far; `None` where nobody said anything.
#[derive(Default)]
struct Given {
    listen: Option<SocketAddr>,
    public_url: Option<String>,
    data: Option<String>,
    store: Option<String>,
    store_password_file: Option<String>,
    service_name: Option<String>,
    keys_folder: Option<String>,
    body_bytes: Option<u64>,
    connections: Option<u64>,
    trusted_proxies: Option<TrustedProxies>,
    rate_per_minute: Option<u64>,
    half_life: Option<HalfLife>,
    log: Option<Verbosity>,
    log_json: Option<bool>,
}

/// The least severe level that is logged; `None`: nothing is.
type Verbosity = Option<tracing::Level>;

/// One setting: its path in the file, and how its value is read. The inner error is read after the setting's
/// name.
struct Setting {
    path: &'static str,
    read: fn(&mut Given, Source) -> Result<(), String>,
}

const SETTINGS: &[Setting] = &[
    Setting {
        path: "listen",
        read: |given, source| keep(&mut given.listen, read_address(source)),
    },
    Setting {
        path: "public_url",
        read: |given, source| keep(&mut given.public_url, read_public_url(source)),
    },
    Setting {
        path: "data",
        read: |given, source| keep(&mut given.data, read_path(source)),
    },
    Setting {
        path: "store",
        read: |given, source| keep(&mut given.store, read_store(source)),
    },
    Setting {
        path: "store_password_file",
        read: |given, source| keep(&mut given.store_password_file, read_path(source)),
    },
    Setting {
        path: "service_name",
        read: |given, source| keep(&mut given.service_name, read_name(source)),
    },
    Setting {
        path: "keys.folder",
        read: |given, source| keep(&mut given.keys_folder, read_path(source)),
    },
    Setting {
        path: "limits.body_bytes",
        read: |given, source| keep(&mut given.body_bytes, source.whole_number(BODY_BYTES)),
    },
    Setting {
        path: "limits.connections",
        read: |given, source| keep(&mut given.connections, source.whole_number(CONNECTIONS)),
    },
    Setting {
        path: "http.trusted_proxies",
        read: |given, source| keep(&mut given.trusted_proxies, read_proxies(source)),
    },
    Setting {
        path: "http.rate_per_minute",
        read: |given, source| keep(&mut given.rate_per_minute, source.whole_number(RATE_PER_MINUTE)),
    },
    Setting {
        path: "score.half_life_days",
        read: |given, source| keep(&mut given.half_life, read_half_life(source)),
    },
    Setting {
        path: "telemetry.log",
        read: |given, source| keep(&mut given.log, read_level(source)),
    },
    Setting {
        path: "telemetry.json",
        read: |given, source| keep(&mut given.log_json, source.switch()),
    },
];

fn keep<T>(slot: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *slot = Some(value?);
    Ok(())
}

impl Setting {
    /// `name` is what the one who gave it calls it: a path or a variable.
    fn take(&self, given: &mut Given, name: &str, source: Source) -> Result<(), ConfigError> {
        (self.read)(given, source).map_err(|problem| ConfigError::Unusable(name.to_owned(), problem))
    }
}

/// A value as given: typed in a file, text in a variable or a flag.
enum Source {
    Toml(toml::Value),
    Text(String),
}

impl Source {
    fn text(self) -> Result<String, String> {
        match self {
            Source::Text(text) | Source::Toml(toml::Value::String(text)) => Ok(text),
            Source::Toml(_) => Err("must be a text in quotes".to_owned()),
        }
    }

    fn whole_number(self, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        let number = match self {
            Source::Text(text) => text.parse().ok(),
            Source::Toml(value) => value.as_integer().and_then(|number| u64::try_from(number).ok()),
        };
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("must be a whole number from {} to {}", range.start(), range.end()))
    }

    /// A list of texts; in a variable or a flag, separated by commas.
    fn texts(self) -> Result<Vec<String>, String> {
        let wanted = || format!("must be a list of at most {LIST_ENTRIES_MAX} texts");
        let texts: Vec<String> = match self {
            Source::Text(text) => {
                let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
                entries.map(str::to_owned).collect()
            }
            Source::Toml(toml::Value::Array(values)) => {
                let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(wanted)?
            }
            Source::Toml(_) => return Err(wanted()),
        };
        if texts.len() > LIST_ENTRIES_MAX {
            return Err(wanted());
        }
        Ok(texts)
    }

    fn switch(self) -> Result<bool, String> {
        let value = match self {
            Source::Text(text) => text.parse().ok(),
            Source::Toml(value) => value.as_bool(),
        };
        value.ok_or_else(|| "must be true or false".to_owned())
    }
}

fn read_address(source: Source) -> Result<SocketAddr, String> {
    let wanted = "must be an address and a port, such as 127.0.0.1:8402 or [::1]:8402";
    source.text()?.parse().map_err(|_| wanted.to_owned())
}

/// A base URL that can stand in front of `/mcp` in a signed document: http or https, a host, perhaps a path.
fn read_public_url(source: Source) -> Result<String, String> {
    let url = source.text()?;
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:[]/%".contains(c);
    match rest {
        Some(rest)
            if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
                && rest.chars().all(plain)
                && !rest.ends_with('/')
                && url.len() <= NAME_CHARS_MAX =>
        {
            Ok(url)
        }
        _ => Err(
            "must be an http or https URL of at most 200 characters, without user, query, fragment or \
                  trailing slash"
                .to_owned(),
        ),
    }
}

fn read_path(source: Source) -> Result<String, String> {
    let path = source.text()?;
    if path.is_empty() {
        return Err("must not be empty".to_owned());
    }
    Ok(path)
}

/// Which kind of store it is; the store's own room reads the rest.
fn read_store(source: Source) -> Result<String, String> {
    let store = source.text()?;
    let begins = ["sqlite:", "postgres://", "postgresql://"];
    if begins
        .iter()
        .any(|begin| store.len() > begin.len() && store.starts_with(begin))
    {
        return Ok(store);
    }
    Err(
        "must be sqlite: and the path of a file, such as sqlite:countersign.db, or the address of a PostgreSQL \
         database, such as postgres://user@host/database"
            .to_owned(),
    )
}

fn read_name(source: Source) -> Result<String, String> {
    let name = source.text()?;
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return Err("must have 1 to 200 characters, none of them a control character".to_owned());
    }
    Ok(name)
}

fn read_proxies(source: Source) -> Result<TrustedProxies, String> {
    TrustedProxies::read(source.texts()?.iter().map(String::as_str))
}

fn read_half_life(source: Source) -> Result<HalfLife, String> {
    let (lowest, highest) = HALF_LIFE_DAYS.into_inner();
    let days = source.whole_number(lowest.into()..=highest.into())?;
    Ok(u32::try_from(days)
        .ok()
        .and_then(HalfLife::of_days)
        .unwrap_or(HalfLife::DEFAULT))
}

fn read_level(source: Source) -> Result<Verbosity, String> {
    match source.text()?.as_str() {
        "off" => Ok(None),
        "error" => Ok(Some(tracing::Level::ERROR)),
        "warn" => Ok(Some(tracing::Level::WARN)),
        "info" => Ok(Some(tracing::Level::INFO)),
        "debug" => Ok(Some(tracing::Level::DEBUG)),
        "trace" => Ok(Some(tracing::Level::TRACE)),
        _ => Err("must be off, error, warn, info, debug or trace".to_owned()),
    }
}

impl Given {
    fn take_table(&mut self, prefix: &str, table: toml::Table) -> Result<(), ConfigError> {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key
            } else {
                format!("{prefix}.{key}")
            };
            let is_table = SETTINGS.iter().any(|setting| {
                setting
                    .path
                    .strip_prefix(&path)
                    .is_some_and(|rest| rest.starts_with('.'))
            });
            match (SETTINGS.iter().find(|setting| setting.path == path), value) {
                (Some(setting), value) => setting.take(self, &path, Source::Toml(value))?,
                (None, toml::Value::Table(inner)) if is_table => self.take_table(&path, inner)?,
                (None, _) if is_table => {
                    return Err(ConfigError::Unusable(path, "must be a table".to_owned()));
                }
                (None, _) => return Err(ConfigError::Unknown(path)),
            }
        }
        Ok(())
    }

    fn complete(self, folder: &Path) -> Config {
        let place = |given: Option<String>, default: &str, folder: &Path| Location {
            named: given.is_some(),
            path: folder.join(given.as_deref().unwrap_or(default)),
        };
        let data = place(self.data, "countersign-data", folder);
        let file = self.store.as_deref().map(|store| store.strip_prefix("sqlite:"));
        let store = match (&self.store, file) {
            (Some(url), Some(None)) => StoreSetting::Postgres {
                url: url.clone(),
                password_file: self.store_password_file.map(|file| folder.join(file)),
            },
            (_, file) => {
                let file = file.flatten().map(str::to_owned);
                StoreSetting::Sqlite(place(file, "countersign.db", &data.path))
            }
        };
        Config {
            listen: self.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8402))),
            public_url: self.public_url,
            store,
            keys_folder: place(self.keys_folder, "keys", &data.path),
            data,
            service_name: self
                .service_name
                .unwrap_or_else(|| "Agent Output Verifier".to_owned()),
            body_bytes: self.body_bytes.map_or(1 << 20, |bytes| bytes as usize),
            connections: self.connections.map_or(4096, |connections| connections as usize),
            trusted_proxies: self.trusted_proxies.unwrap_or_default(),
            rate_per_minute: self.rate_per_minute.and_then(|rate| NonZeroU32::new(rate as u32)),
            half_life: self.half_life.unwrap_or(HalfLife::DEFAULT),
            log: self.log.unwrap_or(Some(tracing::Level::INFO)),
            log_json: self.log_json.unwrap_or(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str, flags: Flags, variables: &[(&str, &str)]) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("countersign.toml");
        std::fs::write(&path, file).unwrap();
        let variables = variables
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let text = |error: ConfigError| error.to_string();
        let mut config = Config::load(Some(&path), flags, variables).map_err(text)?;
        // Paths relative to the temporary folder compare equal between two of them.
        let database = match &mut config.store {
            StoreSetting::Sqlite(location) => Some(location),
            StoreSetting::Postgres { .. } => None,
        };
        for location in [&mut config.data, &mut config.keys_folder]
            .into_iter()
            .chain(database)
        {
            if let Ok(relative) = location.path.strip_prefix(folder.path()) {
                location.path = Path::new("FOLDER").join(relative);
            }
        }
        Ok(config)
    }

    fn file_of(store: &mut StoreSetting) -> &mut Location {
        match store {
            StoreSetting::Sqlite(location) => location,
            StoreSetting::Postgres { .. } => panic!("{store:?}"),
        }
    }

    #[test]
    fn the_default_file_is_the_defaults_in_code() {
        let defaults = load("", Flags::default(), &[]).unwrap();
        assert_eq!(load(DEFAULT_FILE, Flags::default(), &[]).unwrap(), defaults);
        // The lines that are commented out, because giving them means naming them, show the defaults as well.
        let uncommented = DEFAULT_FILE
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(setting) if setting.contains(" = ") => setting,
                _ => line,
            })
            .collect::<Vec<_>>()
            .join("\n");
        let mut named = load(&uncommented, Flags::default(), &[]).unwrap();
        assert_eq!(
            named.public_url.take().unwrap(),
            format!("http://{}", named.listen)
        );
        for location in [&mut named.data, file_of(&mut named.store), &mut named.keys_folder] {
            assert!(std::mem::take(&mut location.named));
            location.path = location.path.components().collect();
        }
        assert_eq!(named, defaults);
        // And it shows every setting.
        let mut shown = Vec::new();
        let table = uncommented.parse::<toml::Table>().unwrap();
        for (key, value) in &table {
            match value.as_table() {
                None => shown.push(key.clone()),
                Some(inner) => shown.extend(inner.keys().map(|name| format!("{key}.{name}"))),
            }
        }
        shown.sort();
        let mut known: Vec<_> = SETTINGS.iter().map(|setting| setting.path.to_owned()).collect();
        known.sort();
        assert_eq!(shown, known);
    }

    #[test]
    fn a_flag_beats_a_variable_beats_the_file() {
        let file = "service_name = \"file\"\n[limits]\nbody_bytes = 2000\nconnections = 20";
        let variables = [
            ("COUNTERSIGN_SERVICE_NAME", "variable"),
            ("COUNTERSIGN_LIMITS__BODY_BYTES", "3000"),
            ("COUNTERSIGN_TEST_POSTGRES", "is not ours"),
            ("PATH", "/bin"),
        ];
        let flags = Flags::default().with("service_name", "flag");
        let config = load(file, flags, &variables).unwrap();
        assert_eq!(config.service_name, "flag");
        assert_eq!((config.body_bytes, config.connections), (3000, 20));
    }

    #[test]
    fn what_was_understood_can_be_read_again() {
        let file = "data = \"/d\"\n[telemetry]\nlog = \"off\"\njson = true";
        let config = load(file, Flags::default(), &[]).unwrap();
        let again = load(&config.describe(), Flags::default(), &[]).unwrap();
        assert_eq!(again.describe(), config.describe());
        assert_eq!((again.log, again.log_json), (None, true));
    }

    #[test]
    fn paths_are_relative_to_the_file_and_to_data() {
        let rows = [
            ("", "FOLDER/countersign-data/countersign.db", false),
            ("data = \"d\"", "FOLDER/d/countersign.db", false),
            ("store = \"sqlite:s.db\"", "FOLDER/countersign-data/s.db", true),
            ("data = \"d\"\nstore = \"sqlite:/abs/s.db\"", "/abs/s.db", true),
        ];
        for (file, path, named) in rows {
            let StoreSetting::Sqlite(store) = load(file, Flags::default(), &[]).unwrap().store else {
                panic!("{file}");
            };
            assert_eq!(
                (store.path.to_str().unwrap(), store.named),
                (path, named),
                "{file}"
            );
        }
        let config = Config::load(None, Flags::default(), std::iter::empty()).unwrap();
        assert_eq!(config.keys_folder.path, Path::new("countersign-data/keys"));
    }

    #[test]
    fn a_postgres_store_has_an_address_and_a_password_file() {
        let file = "store = \"postgres://me@db.example/receipts\"\nstore_password_file = \"pg.password\"";
        let config = load(file, Flags::default(), &[]).unwrap();
        let StoreSetting::Postgres { url, password_file } = &config.store else {
            panic!("{:?}", config.store);
        };
        assert_eq!(url, "postgres://me@db.example/receipts");
        assert!(password_file.as_ref().unwrap().ends_with("pg.password"));
        let again = load(&config.describe(), Flags::default(), &[]).unwrap();
        assert_eq!(again.describe(), config.describe());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let rows = [
            ("lisen = \"127.0.0.1:1\"", "unknown setting lisen;"),
            ("[limits]\nbody_byte = 1", "unknown setting limits.body_byte;"),
            ("[limit]\nbody_bytes = 1", "unknown setting limit;"),
            ("limits = 3", "setting limits must be a table"),
            ("keys = \"keys\"", "setting keys must be a table"),
            ("listen = \"localhost\"", "setting listen must be an address"),
            ("listen = 8402", "setting listen must be a text in quotes"),
            (
                "[limits]\nbody_bytes = 1023",
                "setting limits.body_bytes must be a whole",
            ),
            (
                "[limits]\nbody_bytes = 16777217",
                "setting limits.body_bytes must be",
            ),
            ("[limits]\nbody_bytes = -1", "setting limits.body_bytes must be"),
            (
                "[limits]\nbody_bytes = \"2000\"",
                "setting limits.body_bytes must be",
            ),
            ("[limits]\nconnections = 0", "setting limits.connections must be"),
            (
                "[score]\nhalf_life_days = 0",
                "setting score.half_life_days must be",
            ),
            (
                "[telemetry]\njson = \"true\"",
                "setting telemetry.json must be true",
            ),
            (
                "[telemetry]\nlog = \"loud\"",
                "setting telemetry.log must be off,",
            ),
            ("store = \"countersign.db\"", "setting store must be sqlite:"),
            ("store = \"postgres://\"", "setting store must be sqlite:"),
            ("store_password_file = \"\"", "setting store_password_file must"),
            ("store = \"sqlite:\"", "setting store must be sqlite:"),
            ("data = \"\"", "setting data must not be empty"),
            ("service_name = \"\"", "setting service_name must have 1"),
            ("service_name = \"a\\u0007\"", "setting service_name must have 1"),
            ("public_url = \"verify.example\"", "setting public_url must be"),
            (
                "public_url = \"https://verify.example/\"",
                "setting public_url must be",
            ),
            (
                "public_url = \"https://me@verify.example\"",
                "setting public_url must be",
            ),
            (
                "public_url = \"https://verify.example?a\"",
                "setting public_url must be",
            ),
            ("public_url = \"https://\"", "setting public_url must be"),
            ("listen = ", "the configuration file"),
        ];
        for (file, expected) in rows {
            let error = load(file, Flags::default(), &[]).unwrap_err();
            assert!(error.starts_with(expected), "{file}: {error}");
        }
        let error = load("", Flags::default(), &[("COUNTERSIGN_LIMITS_BODY_BYTES", "1")]).unwrap_err();
        assert!(
            error.starts_with("unknown setting COUNTERSIGN_LIMITS_BODY_BYTES;"),
            "{error}"
        );
        let error = load("", Flags::default(), &[("COUNTERSIGN_LISTEN", "x")]).unwrap_err();
        assert!(error.starts_with("setting COUNTERSIGN_LISTEN must be"), "{error}");
        let error = load("", Flags::default().with("nothing", "x"), &[]).unwrap_err();
        assert!(error.starts_with("unknown setting nothing;"), "{error}");
        let error = Config::load(
            Some(Path::new("/nowhere.toml")),
            Flags::default(),
            std::iter::empty(),
        );
        assert!(error.unwrap_err().to_string().starts_with("cannot read"));
    }

    #[test]
    fn public_urls_with_ports_and_paths_are_accepted() {
        for url in [
            "https://verify.example",
            "http://127.0.0.1:8402",
            "http://[::1]:8402",
            "https://a.example/verifier",
        ] {
            let config = load(&format!("public_url = \"{url}\""), Flags::default(), &[]).unwrap();
            assert_eq!(config.public_url.as_deref(), Some(url));
        }
    }
}
