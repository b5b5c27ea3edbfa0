//! The files of a key folder. Each is written whole or not at all: a temporary file beside it, synced, renamed,
//! and the folder synced. After a crash a file has its old content or its new one.

use super::SignerError;
use super::register::Register;
use aws_lc_rs::rand;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::key::PublicKey;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// What stands before the 32 bytes of the seed in a PKCS#8 version 1 file (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
const PEM_HEAD: &str = "-----BEGIN PRIVATE KEY-----\n";
const PEM_FOOT: &str = "\n-----END PRIVATE KEY-----\n";
/// Bytes of one file in the folder: a register of a thousand keys has fewer.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A folder of keys, which need not exist yet.
pub(super) struct KeyFolder {
    pub(super) path: PathBuf,
}

impl KeyFolder {
    pub(super) fn at(path: &Path) -> Self {
        KeyFolder {
            path: path.to_owned(),
        }
    }

    /// Makes the folder, for its owner alone.
    pub(super) fn create(&self) -> Result<(), SignerError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.path)
            .map_err(|error| SignerError::File(self.path.clone(), error))
    }

    /// Keeps other processes from changing the folder until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, SignerError> {
        let path = self.path.join(".lock");
        let lock = || {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => self.no_keys(),
            _ => SignerError::File(path.clone(), error),
        })
    }

    /// What it means that there is no register: no key was ever listed, or the list of them is lost.
    pub(super) fn no_keys(&self) -> SignerError {
        match self.holds_private_keys() {
            Ok(true) => SignerError::RegisterLost(self.path.clone()),
            Ok(false) => SignerError::NoKeys(self.path.clone()),
            Err(error) => SignerError::File(self.path.clone(), error),
        }
    }

    fn holds_private_keys(&self) -> io::Result<bool> {
        let files = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            files => files?,
        };
        for file in files {
            let name = file?.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("receipt-") && name.ends_with(".pem") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn unreadable(&self, version: &str, problem: &'static str) -> SignerError {
        SignerError::Unreadable(self.receipt_key_path(version), problem)
    }

    pub(super) fn receipt_key_path(&self, version: &str) -> PathBuf {
        self.path.join(format!("receipt-{version}.pem"))
    }

    /// Whether the private half of this listed version is here, named or not.
    pub(super) fn holds(&self, version: &str) -> bool {
        let path = self.receipt_key_path(version);
        path.exists() || temporary(&path).exists()
    }

    fn mac_key_path(&self) -> PathBuf {
        self.path.join("row-mac.key")
    }

    fn register_path(&self) -> PathBuf {
        self.path.join("receipt-keys.json")
    }

    /// The register, if there is one. Refused when others could change it, or replace it.
    pub(super) fn register(&self) -> Result<Option<Register>, SignerError> {
        let path = self.register_path();
        #[cfg(unix)]
        if let Ok(about) = fs::metadata(&self.path) {
            refuse_if_open(&self.path, &about, 0o022)?;
        }
        let Some(text) = read(&path, 0o022)? else {
            return Ok(None);
        };
        let problem = "is not a key register; restore it from a backup";
        let register = Register::parse(&text).ok_or(SignerError::Unreadable(path, problem))?;
        Ok(Some(register))
    }

    pub(super) fn write_register(&self, register: &Register) -> Result<(), SignerError> {
        self.write(&self.register_path(), &register.to_json())
    }

    /// The private key of this listed version, if its file exists.
    pub(super) fn receipt_key(&self, version: &str) -> Result<Option<Ed25519KeyPair>, SignerError> {
        let path = self.receipt_key_path(version);
        let mut text = read(&path, 0o077)?;
        if text.is_none() && temporary(&path).exists() {
            // Whoever made it died before naming it, or is about to.
            self.name_receipt_key(version)?;
            text = read(&path, 0o077)?;
        }
        let Some(text) = text else {
            return Ok(None);
        };
        let pair = read_pem(&text).and_then(|der| Ed25519KeyPair::from_pkcs8(&der).ok());
        let problem = "is not a PKCS#8 version 1 file with one Ed25519 key";
        pair.map(Some).ok_or(SignerError::Unreadable(path, problem))
    }

    /// Makes a private key and returns its public half. The file has a temporary name until
    /// [`KeyFolder::name_receipt_key`].
    pub(super) fn create_receipt_key(&self, version: &str) -> Result<PublicKey, SignerError> {
        let seed = random_bytes()?;
        let mut der = Zeroizing::new([0; PKCS8_PREFIX.len() + 32]);
        der[..PKCS8_PREFIX.len()].copy_from_slice(&PKCS8_PREFIX);
        der[PKCS8_PREFIX.len()..].copy_from_slice(&*seed);
        let refused = |_| SignerError::Cryptography("a new key was refused");
        let pair = Ed25519KeyPair::from_pkcs8(&*der).map_err(refused)?;
        let body = Zeroizing::new(STANDARD.encode(der.as_slice()));
        let pem = Zeroizing::new([PEM_HEAD, body.as_str(), PEM_FOOT].concat());
        self.prepare(&self.receipt_key_path(version), pem.as_bytes())?;
        let mut public_key = [0; 32];
        public_key.copy_from_slice(pair.public_key().as_ref());
        Ok(PublicKey(public_key))
    }

    /// Gives a private key that is listed its name. Nothing happens if another process was first.
    pub(super) fn name_receipt_key(&self, version: &str) -> Result<(), SignerError> {
        let path = self.receipt_key_path(version);
        match self.put_in_place(&path) {
            Err(SignerError::File(_, error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            named => named,
        }
    }

    pub(super) fn mac_key(&self) -> Result<Zeroizing<[u8; 32]>, SignerError> {
        let path = self.mac_key_path();
        let problem = "is missing; restore it from a backup: without it no stored receipt can be trusted";
        let Some(bytes) = read(&path, 0o077)? else {
            return Err(SignerError::Unreadable(path, problem));
        };
        let key = bytes.as_slice().try_into().map(Zeroizing::new);
        key.map_err(|_| SignerError::Unreadable(path, "is not 32 bytes long"))
    }

    /// Makes the MAC key unless there is one.
    pub(super) fn create_mac_key(&self) -> Result<(), SignerError> {
        let path = self.mac_key_path();
        if path.exists() {
            return Ok(());
        }
        self.write(&path, &*random_bytes()?)
    }

    /// Writes a file that its owner alone can read.
    fn write(&self, path: &Path, content: &[u8]) -> Result<(), SignerError> {
        self.prepare(path, content)?;
        self.put_in_place(path)
    }

    /// Writes the file under its temporary name.
    fn prepare(&self, path: &Path, content: &[u8]) -> Result<(), SignerError> {
        let temporary = temporary(path);
        let write = || {
            #[cfg(test)]
            death::step()?;
            // One left behind by a crash may have other permissions: start anew.
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&temporary)?;
            #[cfg(test)]
            death::step()?;
            file.write_all(content)?;
            file.sync_all()?;
            #[cfg(test)]
            death::step()?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|error| SignerError::File(path.to_owned(), error))
    }

    /// Gives a prepared file its name.
    fn put_in_place(&self, path: &Path) -> Result<(), SignerError> {
        let name = || {
            fs::rename(temporary(path), path)?;
            #[cfg(test)]
            death::step()?;
            File::open(&self.path)?.sync_all()
        };
        name().map_err(|error| SignerError::File(path.to_owned(), error))
    }
}

fn temporary(path: &Path) -> PathBuf {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    temporary.into()
}

/// A file's content; `None` if there is no such file. Refused when others have one of the `forbidden` rights.
fn read(path: &Path, forbidden: u32) -> Result<Option<Zeroizing<Vec<u8>>>, SignerError> {
    let failed = |error| SignerError::File(path.to_owned(), error);
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let about = file.metadata().map_err(failed)?;
    #[cfg(unix)]
    refuse_if_open(path, &about, forbidden)?;
    if about.len() > FILE_BYTES_MAX {
        return Err(SignerError::Unreadable(path.to_owned(), "is too large"));
    }
    let mut content = Zeroizing::new(Vec::with_capacity(about.len() as usize));
    file.take(FILE_BYTES_MAX)
        .read_to_end(&mut content)
        .map_err(failed)?;
    Ok(Some(content))
}

#[cfg(unix)]
fn refuse_if_open(path: &Path, about: &fs::Metadata, forbidden: u32) -> Result<(), SignerError> {
    if std::os::unix::fs::MetadataExt::mode(about) & forbidden == 0 {
        return Ok(());
    }
    let path = path.to_owned();
    Err(if forbidden & 0o044 == 0 {
        SignerError::Writable(path)
    } else {
        SignerError::TooOpen(path)
    })
}

fn read_pem(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let body = text
        .strip_prefix(PEM_HEAD.trim_end())?
        .strip_suffix(PEM_FOOT.trim())?;
    let der = Zeroizing::new(STANDARD.decode(body.trim()).ok()?);
    (der.len() == PKCS8_PREFIX.len() + 32 && der.starts_with(&PKCS8_PREFIX)).then_some(der)
}

fn random_bytes() -> Result<Zeroizing<[u8; 32]>, SignerError> {
    let mut bytes = Zeroizing::new([0; 32]);
    rand::fill(&mut *bytes).map_err(|_| SignerError::Cryptography("no randomness"))?;
    Ok(bytes)
}

/// For tests: a process that dies between two steps of its writes. Nothing here tidies up after an error, so an
/// error leaves what a death would.
#[cfg(test)]
pub(super) mod death {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static STEPS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// This thread lives for so many steps; `None`: as long as it likes.
    pub(in crate::signer) fn after(steps: Option<u32>) {
        STEPS_LEFT.set(steps);
    }

    pub(super) fn step() -> io::Result<()> {
        match STEPS_LEFT.get() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("dead")),
            Some(left) => {
                STEPS_LEFT.set(Some(left - 1));
                Ok(())
            }
        }
    }
}
