//! Where a store is: the setting `store`, read once into values that can be connected to.

use std::fmt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Characters of a password file. A longer one is some other file.
const PASSWORD_BYTES_MAX: u64 = 1_024;

/// Where a store is.
#[derive(Clone, Debug)]
pub enum Target {
    /// The file of a SQLite database.
    Sqlite(PathBuf),
    /// A database of a PostgreSQL server, 15 or later.
    Postgres(Box<Server>),
}

/// A database of a PostgreSQL server, and how it is reached.
#[derive(Clone, Debug)]
pub struct Server {
    /// A name, an address, or a folder with the server's socket, which begins with `/`.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) tls: Tls,
    pub(crate) password: Option<Password>,
}

/// Whether the connection is encrypted. There is no way between: a connection that would be encrypted only if
/// the other side likes is not protected from who sits in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    Off,
    /// The certificate must be signed by one of these roots, or by one that the system trusts, and be made out
    /// to the host.
    Verified {
        roots: Option<PathBuf>,
    },
}

/// A password. It is in no log and in no error.
#[derive(Clone)]
pub struct Password(pub(crate) Zeroizing<String>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Why a setting names no store. The text is read after the setting's name, and says the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadTarget(String);

impl Target {
    /// Reads `sqlite:PATH` or `postgres://USER@HOST[:PORT]/DATABASE[?sslmode=…&sslrootcert=…]`.
    ///
    /// The password is never in it: it is handed in apart, and only PostgreSQL has one.
    pub fn parse(setting: &str, password: Option<Password>) -> Result<Target, BadTarget> {
        if let Some(path) = setting.strip_prefix("sqlite:") {
            if path.is_empty() {
                return refuse("must name a file, such as sqlite:countersign.db");
            }
            return Ok(Target::Sqlite(path.into()));
        }
        let rest = setting
            .strip_prefix("postgres://")
            .or_else(|| setting.strip_prefix("postgresql://"));
        match rest {
            Some(rest) => Server::parse(rest, password).map(|server| Target::Postgres(Box::new(server))),
            None => refuse("must begin with sqlite: or postgres://"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Target::Postgres(server) => {
                let host = server.host.replace('/', "%2F");
                let host = if host.contains(':') {
                    format!("[{host}]")
                } else {
                    host
                };
                write!(
                    f,
                    "postgres://{}@{host}:{}/{}",
                    server.user, server.port, server.database
                )
            }
        }
    }
}

impl Server {
    fn parse(text: &str, password: Option<Password>) -> Result<Server, BadTarget> {
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let Some((authority, database)) = text.split_once('/') else {
            return refuse("must name a database: postgres://user@host/database");
        };
        let Some((user, place)) = authority.rsplit_once('@') else {
            return refuse("must name a user: postgres://user@host/database");
        };
        if user.contains(':') {
            return refuse("must not hold a password; put it in a file and name that in store_password_file");
        }
        let (host, port) = split_port(place)?;
        let host = decoded(host)?;
        let (user, database) = (decoded(user)?, decoded(database)?);
        if user.is_empty() || host.is_empty() || database.is_empty() || database.contains('/') {
            return refuse("must name a user, a host and a database: postgres://user@host/database");
        }
        Ok(Server {
            tls: tls(&host, query)?,
            host,
            port,
            user,
            database,
            password,
        })
    }
}

fn refuse<T>(text: &str) -> Result<T, BadTarget> {
    Err(BadTarget(text.to_owned()))
}

/// Splits `host:port`, where the host may be an IPv6 address in brackets.
fn split_port(place: &str) -> Result<(&str, u16), BadTarget> {
    let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    match port.map_or(Ok(5432), str::parse) {
        Ok(port) if port > 0 => Ok((host, port)),
        _ => refuse("must have a port from 1 to 65535, or none for 5432"),
    }
}

/// Undoes percent-encoding, by which a socket's folder is written as a host: `%2Frun%2Fpostgresql`.
fn decoded(text: &str) -> Result<String, BadTarget> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
            match (digit(), digit()) {
                (Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => return refuse("must have two hexadecimal digits after each %"),
            }
        } else {
            byte
        };
        bytes.push(byte);
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => refuse("must be UTF-8"),
    }
}

/// Without a word about it, a connection that leaves the machine is encrypted.
fn tls(host: &str, query: &str) -> Result<Tls, BadTarget> {
    let (mut mode, mut roots) = (None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value),
            Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value)?)),
            _ => return refuse("takes the parameters sslmode and sslrootcert and no other"),
        }
    }
    let by_socket = host.starts_with('/');
    let address = host.parse::<std::net::IpAddr>();
    let stays_here = by_socket || host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    match mode {
        Some("require" | "verify-ca" | "verify-full") if by_socket => {
            refuse("names a socket, which has no TLS; leave sslmode out")
        }
        Some("require" | "verify-ca" | "verify-full") => Ok(Tls::Verified { roots }),
        Some("disable") if roots.is_none() => Ok(Tls::Off),
        None if stays_here && roots.is_none() => Ok(Tls::Off),
        None => Ok(Tls::Verified { roots }),
        Some(_) => refuse(
            "has an sslmode that is not one of: verify-full (require means the same here) and disable, which \
             takes no sslrootcert",
        ),
    }
}

impl Password {
    /// Reads the first line of a file that only its owner may read.
    pub fn read(path: &Path) -> Result<Password, BadTarget> {
        let told = |error: std::io::Error| BadTarget(format!("{}: {error}", path.display()));
        let file = std::fs::File::open(path).map_err(told)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if file.metadata().map_err(told)?.mode() & 0o077 != 0 {
                return Err(BadTarget(format!(
                    "{} can be read by others; take that from them: chmod 600",
                    path.display()
                )));
            }
        }
        let mut text = Zeroizing::new(String::new());
        let limited = std::io::Read::take(file, PASSWORD_BYTES_MAX + 1);
        std::io::Read::read_to_string(&mut { limited }, &mut text).map_err(told)?;
        let line = text.trim_end_matches(['\r', '\n']);
        if line.is_empty() || text.len() as u64 > PASSWORD_BYTES_MAX || line.contains(['\n', '\0']) {
            return Err(BadTarget(format!(
                "{} must hold a password on one line and nothing else",
                path.display()
            )));
        }
        Ok(Password(Zeroizing::new(line.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(setting: &str) -> Server {
        match Target::parse(setting, None) {
            Ok(Target::Postgres(server)) => *server,
            other => panic!("{setting}: {other:?}"),
        }
    }

    #[test]
    fn a_setting_says_where_the_store_is() {
        let rows = [
            ("postgres://me@db.example/receipts", "db.example", 5432, false),
            ("postgresql://me@127.0.0.1:6000/receipts", "127.0.0.1", 6000, true),
            ("postgres://me@[::1]:6000/receipts", "::1", 6000, true),
            (
                "postgres://me@%2Frun%2Fpostgresql/receipts",
                "/run/postgresql",
                5432,
                true,
            ),
            (
                "postgres://me@localhost/receipts?sslmode=verify-full",
                "localhost",
                5432,
                false,
            ),
            (
                "postgres://me@db.example/receipts?sslmode=disable",
                "db.example",
                5432,
                true,
            ),
            (
                "postgres://me@db.example/receipts?sslmode=require",
                "db.example",
                5432,
                false,
            ),
        ];
        for (setting, host, port, plain) in rows {
            let server = server(setting);
            assert_eq!((server.host.as_str(), server.port), (host, port), "{setting}");
            assert_eq!(
                (server.user.as_str(), server.database.as_str()),
                ("me", "receipts")
            );
            assert_eq!(server.tls == Tls::Off, plain, "{setting}");
        }
        let rooted = server("postgres://me@localhost/r?sslrootcert=%2Fetc%2Froot.pem");
        assert_eq!(
            rooted.tls,
            Tls::Verified {
                roots: Some("/etc/root.pem".into())
            }
        );
        assert!(
            matches!(Target::parse("sqlite:a.db", None), Ok(Target::Sqlite(path)) if path == Path::new("a.db"))
        );
    }

    #[test]
    fn a_setting_that_cannot_be_used_says_why() {
        let rows = [
            ("countersign.db", "must begin with sqlite:"),
            ("mysql://me@host/db", "must begin with sqlite:"),
            ("sqlite:", "must name a file"),
            ("postgres://me@host", "must name a database"),
            ("postgres://me@host/", "must name a user, a host and"),
            ("postgres://host/db", "must name a user"),
            ("postgres://me@/db", "must name a user, a host and"),
            ("postgres://me:hunter2@host/db", "must not hold a password"),
            ("postgres://me@host:0/db", "must have a port"),
            ("postgres://me@host:x/db", "must have a port"),
            ("postgres://me@host/db?sslmode=prefer", "has an sslmode"),
            (
                "postgres://me@host/db?sslmode=disable&sslrootcert=a",
                "has an sslmode",
            ),
            ("postgres://me@host/db?user=you", "takes the parameters"),
            ("postgres://me@%2Ftmp/db?sslmode=require", "names a socket"),
            ("postgres://me@ho%2/db", "must have two hexadecimal"),
        ];
        for (setting, expected) in rows {
            let error = Target::parse(setting, None).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{setting}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_password_is_read_from_a_file_of_ones_own_and_told_to_nobody() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pg.password");
        let with = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            Password::read(&path)
        };
        let password = with("hunter2\n", 0o600).unwrap();
        assert_eq!(password.0.as_str(), "hunter2");
        let target = Target::parse("postgres://me@host/db", Some(password)).unwrap();
        assert!(!format!("{target:?} {target}").contains("hunter2"));
        for (text, mode, expected) in [
            ("hunter2", 0o640, "can be read by others"),
            ("hunter2", 0o604, "can be read by others"),
            ("", 0o600, "must hold a password"),
            ("hunter2\nmore", 0o600, "must hold a password"),
            (&"x".repeat(2_000), 0o600, "must hold a password"),
        ] {
            let error = with(text, mode).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(Password::read(&path).is_err());
    }
}
