//! The only holder of private keys: receipt keys (Ed25519), and the key of the MAC over stored rows.
//!
//! The key folder holds one PKCS#8 file per receipt key, a register of every key ever listed
//! (`receipt-keys.json`) and the MAC key. Whether a key is next, current or previous follows from the register
//! and the time handed in, so a serving process passes from one key to the next by itself.

mod key_file;
mod register;

use crate::signer::key_file::KeyFolder;
use crate::signer::register::{Entry, Register};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use countersign_core::key::{KeyList, KeyStatus, ListedKey};
use countersign_core::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Seconds between the listing of a key and its first signature: those for which a key list may be cached
/// (interfaces.md 3.4), and those until every serving process has read the register again.
pub const LISTED_BEFORE_USE_SECONDS: u32 = 300 + RELOAD_SECONDS;
/// Seconds between two looks of a serving process at the register.
pub const RELOAD_SECONDS: u32 = 5;

/// The keys of one folder, opened.
pub struct Signer {
    folder: KeyFolder,
    ring: RwLock<Arc<Ring>>,
    mac_key: hmac::Key,
}

/// One receipt key that can sign.
pub struct SigningKey {
    /// The name that attestations carry: `v1-2026-11a`.
    pub version: String,
    pair: Ed25519KeyPair,
}

/// Why keys cannot be used or made. Each text names the file and the remedy, never what is in it.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// A file or the folder cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// Others than the owner may read a private key.
    #[error("{} can be read by others; run: chmod 600 {}", .0.display(), .0.display())]
    TooOpen(PathBuf),
    /// Others than the owner may change the list of keys.
    #[error("{} can be changed by others; run: chmod go-w {}", .0.display(), .0.display())]
    Writable(PathBuf),
    /// A file is not what it should be.
    #[error("{} {problem}", .0.display(), problem = .1)]
    Unreadable(PathBuf, &'static str),
    /// There is no key yet.
    #[error("{} holds no receipt keys; make the first with: countersign key new", .0.display())]
    NoKeys(PathBuf),
    /// There are private keys, and nothing says which versions were ever used: a key made anew could take one.
    #[error("{} holds private keys and no receipt-keys.json; restore that file from a backup, or move the folder away, and its database with it", .0.display())]
    RegisterLost(PathBuf),
    /// There is a key already.
    #[error("{} holds receipt keys already; the next one is made with: countersign key rotate", .0.display())]
    KeysExist(PathBuf),
    /// The key that a rotation made before is not in use yet.
    #[error("key {0} is listed and not in use yet; rotate again once it signs")]
    NextExists(String),
    /// All letters of a month are used.
    #[error("all 26 key versions of this month are used; rotate again next month")]
    MonthIsFull,
    /// No key may sign at this time.
    #[error("no receipt key may sign now; look at: countersign key list")]
    NoCurrentKey,
    /// The system gave no randomness, or the cryptographic library refused.
    #[error("the system's cryptography failed: {0}")]
    Cryptography(&'static str),
}

impl Signer {
    /// Opens the keys of a folder. Refused when there are none, when a file is readable by others, and when one
    /// is missing that is needed: the MAC key, or the private half of a key that signs now or later.
    pub fn open(folder: &Path) -> Result<Signer, SignerError> {
        let folder = KeyFolder::at(folder);
        let register = folder.register()?.ok_or_else(|| folder.no_keys())?;
        let ring = Ring::load(&folder, register)?;
        let mac_key = hmac::Key::new(hmac::HMAC_SHA256, &*folder.mac_key()?);
        Ok(Signer {
            folder,
            ring: RwLock::new(Arc::new(ring)),
            mac_key,
        })
    }

    /// Opens the keys of a folder; makes the folder and its first key where there are none. Says whether it
    /// made them.
    pub fn open_or_create(folder: &Path, now: Timestamp) -> Result<(Signer, bool), SignerError> {
        match Signer::open(folder) {
            Err(SignerError::NoKeys(_)) => {}
            opened => return opened.map(|signer| (signer, false)),
        }
        match new_key(folder, now) {
            // Another process was first: its keys are as good.
            Ok(_) | Err(SignerError::KeysExist(_)) => Ok((Signer::open(folder)?, true)),
            Err(error) => Err(error),
        }
    }

    /// The key that signs at this time.
    pub fn current(&self, now: Timestamp) -> Result<Arc<SigningKey>, SignerError> {
        let ring = self.ring();
        let current = ring.current(now).and_then(|held| held.signing.clone());
        current.ok_or(SignerError::NoCurrentKey)
    }

    /// The key of this version, if its private half is still held and it is not compromised.
    pub fn key(&self, version: &str) -> Option<Arc<SigningKey>> {
        let ring = self.ring();
        let held = ring.0.iter().find(|held| held.entry.version == version)?;
        held.signing.clone().filter(|_| !held.entry.compromised)
    }

    /// Every key ever listed, oldest first, with its status at this time.
    pub fn list(&self, now: Timestamp) -> Vec<ListedKey> {
        self.ring().list(now)
    }

    /// The same as core checks receipts with it.
    pub fn key_list(&self, now: Timestamp) -> KeyList {
        KeyList::Listed(self.list(now))
    }

    /// HMAC-SHA256 over a stored row's fields.
    pub fn mac(&self, row: &[u8]) -> [u8; 32] {
        let mut mac = [0; 32];
        mac.copy_from_slice(hmac::sign(&self.mac_key, row).as_ref());
        mac
    }

    /// Whether this is the MAC of these fields, compared in constant time.
    pub fn mac_is_right(&self, row: &[u8], mac: &[u8; 32]) -> bool {
        hmac::verify(&self.mac_key, row, mac).is_ok()
    }

    /// Reads the register again if it changed; says whether it did. On an error the keys stay as they were.
    pub fn reload(&self) -> Result<bool, SignerError> {
        let register = self.folder.register()?.ok_or_else(|| self.folder.no_keys())?;
        if self
            .ring()
            .0
            .iter()
            .map(|held| &held.entry)
            .eq(register.entries.iter())
        {
            return Ok(false);
        }
        let ring = Arc::new(Ring::load(&self.folder, register)?);
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = ring;
        Ok(true)
    }

    fn ring(&self) -> Arc<Ring> {
        // Whoever panicked with the lock held had not begun to change the ring: it is replaced in one step.
        self.ring.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SigningKey {
    /// Signs. About 15 µs for a full receipt: worth doing where one stands.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.pair.sign(message).as_ref());
        signature
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({}, [secret])", self.version)
    }
}

/// Makes the first receipt key of a folder, and the MAC key. Returns the key's version.
pub fn new_key(folder: &Path, now: Timestamp) -> Result<String, SignerError> {
    let folder = KeyFolder::at(folder);
    folder.create()?;
    let _lock = folder.lock()?;
    if folder.register()?.is_some() {
        return Err(SignerError::KeysExist(folder.path));
    }
    if let lost @ SignerError::RegisterLost(_) = folder.no_keys() {
        return Err(lost);
    }
    // The MAC key first: if we die before the register is written, the folder still counts as empty, and the
    // next attempt keeps this MAC key.
    folder.create_mac_key()?;
    add_key(&folder, Register::default(), now, now)
}

/// Lists a new receipt key at once; it signs from [`LISTED_BEFORE_USE_SECONDS`] later, and the key that signs
/// now stays listed for ever. Returns the new key's version.
pub fn rotate_key(folder: &Path, now: Timestamp) -> Result<String, SignerError> {
    let folder = KeyFolder::at(folder);
    let _lock = folder.lock()?;
    let register = folder.register()?.ok_or_else(|| folder.no_keys())?;
    if let Some(next) = register.entries.iter().find(|entry| entry.signs_from > now) {
        return Err(SignerError::NextExists(next.version.clone()));
    }
    let signs_from = Timestamp(now.0 + i64::from(LISTED_BEFORE_USE_SECONDS) * 1_000_000);
    add_key(&folder, register, now, signs_from)
}

/// Every key ever listed in a folder, without opening a private one.
pub fn list_keys(folder: &Path, now: Timestamp) -> Result<Vec<ListedKey>, SignerError> {
    let folder = KeyFolder::at(folder);
    let register = folder.register()?.ok_or_else(|| folder.no_keys())?;
    Ok(Ring::of(register, |_| Ok(None))?.list(now))
}

/// The private half under a temporary name, the register, the private half's name. If we die before the register
/// is written, the key was never listed and the next attempt makes another of this version; if we die after it,
/// whoever opens the key names it. So a private key with a name and without a register was listed once.
fn add_key(
    folder: &KeyFolder,
    mut register: Register,
    now: Timestamp,
    signs_from: Timestamp,
) -> Result<String, SignerError> {
    let version = free_version(folder, &register, now)?;
    let public_key = folder.create_receipt_key(&version)?;
    register.entries.push(Entry {
        version: version.clone(),
        public_key,
        listed_at: now,
        signs_from,
        compromised: false,
    });
    folder.write_register(&register)?;
    folder.name_receipt_key(&version)?;
    Ok(version)
}

/// `v1-YYYY-MM` and the first letter that neither the register nor a file has.
fn free_version(folder: &KeyFolder, register: &Register, now: Timestamp) -> Result<String, SignerError> {
    let month = &now.to_string()[..7];
    ('a'..='z')
        .map(|letter| format!("v1-{month}{letter}"))
        .find(|version| {
            !register.entries.iter().any(|entry| entry.version == *version)
                && !folder.receipt_key_path(version).exists()
        })
        .ok_or(SignerError::MonthIsFull)
}

/// Every listed key, with its private half where that is held.
struct Ring(Vec<Held>);

struct Held {
    entry: Entry,
    signing: Option<Arc<SigningKey>>,
}

impl Ring {
    fn load(folder: &KeyFolder, register: Register) -> Result<Ring, SignerError> {
        let newest = register
            .entries
            .iter()
            .map(|entry| entry.signs_from)
            .max()
            .unwrap_or(Timestamp(0));
        Ring::of(register, |entry| {
            let Some(pair) = folder.receipt_key(&entry.version)? else {
                // The private half of a key that was superseded may have been destroyed; one that signs now
                // or later may not.
                let superseded = entry.signs_from < newest;
                return if superseded || entry.compromised {
                    Ok(None)
                } else {
                    let problem = "is missing; restore it from a backup, or rotate the key";
                    Err(folder.unreadable(&entry.version, problem))
                };
            };
            if pair.public_key().as_ref() != entry.public_key.0 {
                let problem = "is not the private half of the key that the register lists";
                return Err(folder.unreadable(&entry.version, problem));
            }
            let version = entry.version.clone();
            Ok(Some(Arc::new(SigningKey { version, pair })))
        })
    }

    fn of(
        register: Register,
        signing: impl Fn(&Entry) -> Result<Option<Arc<SigningKey>>, SignerError>,
    ) -> Result<Ring, SignerError> {
        let held = register.entries.into_iter().map(|entry| {
            let signing = signing(&entry)?;
            Ok(Held { entry, signing })
        });
        held.collect::<Result<_, _>>().map(Ring)
    }

    /// The key that came into use last and is not compromised.
    fn current(&self, now: Timestamp) -> Option<&Held> {
        let usable = self
            .0
            .iter()
            .filter(|held| !held.entry.compromised && held.entry.signs_from <= now);
        usable.max_by_key(|held| held.entry.signs_from)
    }

    fn list(&self, now: Timestamp) -> Vec<ListedKey> {
        let current = self.current(now).map(|held| &held.entry.version);
        let listed = self.0.iter().map(|Held { entry, .. }| ListedKey {
            key_version: entry.version.clone(),
            public_key: entry.public_key,
            status: Some(if entry.compromised {
                KeyStatus::Compromised
            } else if entry.signs_from > now {
                KeyStatus::Next
            } else if current == Some(&entry.version) {
                KeyStatus::Current
            } else {
                KeyStatus::Previous
            }),
        });
        listed.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// 2026-11-05T00:00:00 UTC.
    const NOW: Timestamp = Timestamp(1_793_836_800_000_000);

    fn later(seconds: u32) -> Timestamp {
        Timestamp(NOW.0 + i64::from(seconds) * 1_000_000)
    }

    fn statuses(signer: &Signer, now: Timestamp) -> Vec<(String, &'static str)> {
        let status = |key: ListedKey| (key.key_version, key.status.unwrap().as_str());
        signer.list(now).into_iter().map(status).collect()
    }

    #[test]
    fn a_rotated_key_waits_then_signs_and_the_old_one_stays_listed() {
        let folder = tempfile::tempdir().unwrap();
        let (signer, made) = Signer::open_or_create(folder.path(), NOW).unwrap();
        assert!(made);
        assert_eq!(statuses(&signer, NOW), [("v1-2026-11a".to_owned(), "current")]);
        assert_eq!(rotate_key(folder.path(), later(60)).unwrap(), "v1-2026-11b");
        assert!(signer.reload().unwrap());
        assert!(!signer.reload().unwrap());
        let rows = [
            (60, "v1-2026-11a", ["current", "next"]),
            (60 + 300, "v1-2026-11a", ["current", "next"]),
            (
                60 + LISTED_BEFORE_USE_SECONDS,
                "v1-2026-11b",
                ["previous", "current"],
            ),
        ];
        for (seconds, signs, expected) in rows {
            assert_eq!(signer.current(later(seconds)).unwrap().version, signs);
            let found: Vec<_> = statuses(&signer, later(seconds))
                .iter()
                .map(|(_, status)| *status)
                .collect();
            assert_eq!(found, expected, "{seconds}");
        }
        let refused = rotate_key(folder.path(), later(61)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "key v1-2026-11b is listed and not in use yet; rotate again once it signs"
        );
        assert_eq!(
            list_keys(folder.path(), later(60)).unwrap(),
            signer.list(later(60))
        );
    }

    #[test]
    fn a_signature_verifies_under_the_listed_key_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        let signer = Signer::open(folder.path()).unwrap();
        let signature = signer.current(NOW).unwrap().sign(b"message");
        let again = Signer::open(folder.path()).unwrap();
        let listed = &again.list(NOW)[0];
        let text = countersign_core::key::signature_text(&signature);
        assert!(listed.public_key.verifies(b"message", &text));
        assert!(!listed.public_key.verifies(b"massage", &text));
        assert_eq!(again.key("v1-2026-11a").unwrap().sign(b"message"), signature);
        assert!(again.key("v1-2026-11b").is_none());
        let mac = signer.mac(b"row");
        assert!(again.mac_is_right(b"row", &mac));
        assert!(!again.mac_is_right(b"raw", &mac));
    }

    #[test]
    fn key_files_are_pkcs8_v1_and_for_the_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        for name in ["receipt-v1-2026-11a.pem", "row-mac.key"] {
            let mode = fs::metadata(folder.path().join(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let pem = fs::read_to_string(folder.path().join("receipt-v1-2026-11a.pem")).unwrap();
        let lines: Vec<_> = pem.lines().collect();
        assert_eq!(
            (lines[0], lines[2]),
            ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")
        );
        // 48 bytes are 64 characters.
        assert_eq!((lines.len(), lines[1].len()), (3, 64));
        assert_eq!(&lines[1][..20], "MC4CAQAwBQYDK2VwBCIE");
    }

    /// One way to spoil a key folder, and what is said about it.
    type Spoiled = (fn(&Path), &'static str);

    #[test]
    fn a_spoiled_folder_is_refused_and_the_file_named() {
        const PEM: &str = "receipt-v1-2026-11a.pem";
        let rows: &[Spoiled] = &[
            (
                |folder| fs::set_permissions(folder.join(PEM), fs::Permissions::from_mode(0o640)).unwrap(),
                "receipt-v1-2026-11a.pem can be read by others; run: chmod 600 ",
            ),
            (
                |folder| {
                    let open = fs::Permissions::from_mode(0o604);
                    fs::set_permissions(folder.join("row-mac.key"), open).unwrap();
                },
                "row-mac.key can be read by others; run: chmod 600 ",
            ),
            (
                |folder| fs::remove_file(folder.join(PEM)).unwrap(),
                "receipt-v1-2026-11a.pem is missing;",
            ),
            (
                |folder| fs::remove_file(folder.join("row-mac.key")).unwrap(),
                "row-mac.key is missing;",
            ),
            (
                |folder| fs::write(folder.join(PEM), "-----BEGIN PRIVATE KEY-----\n").unwrap(),
                "receipt-v1-2026-11a.pem is not a PKCS#8 version 1 file",
            ),
            (
                |folder| fs::write(folder.join("row-mac.key"), "short").unwrap(),
                "row-mac.key is not 32 bytes long",
            ),
            (
                |folder| fs::write(folder.join("receipt-keys.json"), "{}").unwrap(),
                "receipt-keys.json is not a key register",
            ),
            (
                |folder| {
                    let other = tempfile::tempdir().unwrap();
                    new_key(other.path(), NOW).unwrap();
                    fs::copy(other.path().join(PEM), folder.join(PEM)).unwrap();
                },
                "receipt-v1-2026-11a.pem is not the private half",
            ),
            (
                |folder| fs::remove_file(folder.join("receipt-keys.json")).unwrap(),
                "holds private keys and no receipt-keys.json; restore that file from a backup",
            ),
            (
                |folder| {
                    let open = fs::Permissions::from_mode(0o620);
                    fs::set_permissions(folder.join("receipt-keys.json"), open).unwrap();
                },
                "receipt-keys.json can be changed by others; run: chmod go-w ",
            ),
            (
                |folder| fs::set_permissions(folder, fs::Permissions::from_mode(0o702)).unwrap(),
                " can be changed by others; run: chmod go-w ",
            ),
        ];
        for (spoil, expected) in rows {
            let folder = tempfile::tempdir().unwrap();
            new_key(folder.path(), NOW).unwrap();
            spoil(folder.path());
            let error = Signer::open(folder.path()).err().unwrap().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
        }
        let error = Signer::open(Path::new("/nowhere")).err().unwrap();
        assert!(matches!(error, SignerError::NoKeys(_)), "{error}");
    }

    #[test]
    fn the_private_half_of_a_previous_key_may_be_gone() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        rotate_key(folder.path(), NOW).unwrap();
        fs::remove_file(folder.path().join("receipt-v1-2026-11a.pem")).unwrap();
        let signer = Signer::open(folder.path()).unwrap();
        assert!(signer.key("v1-2026-11a").is_none());
        // Until the new one comes into use nothing can sign.
        assert!(matches!(signer.current(NOW), Err(SignerError::NoCurrentKey)));
        assert_eq!(
            signer.current(later(LISTED_BEFORE_USE_SECONDS)).unwrap().version,
            "v1-2026-11b"
        );
    }

    #[test]
    fn a_compromised_key_signs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        rotate_key(folder.path(), NOW).unwrap();
        let path = folder.path().join("receipt-keys.json");
        let register = fs::read_to_string(&path).unwrap();
        fs::write(
            &path,
            register.replacen("\"compromised\":false", "\"compromised\":true", 1),
        )
        .unwrap();
        let signer = Signer::open(folder.path()).unwrap();
        assert!(signer.key("v1-2026-11a").is_none());
        assert!(signer.current(NOW).is_err());
        let status = |seconds| statuses(&signer, later(seconds))[0].1;
        assert_eq!((status(0), status(900)), ("compromised", "compromised"));
    }

    #[test]
    fn a_lost_register_is_never_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        fs::remove_file(folder.path().join("receipt-keys.json")).unwrap();
        let refusals = [
            Signer::open_or_create(folder.path(), NOW).err(),
            new_key(folder.path(), NOW).err(),
            rotate_key(folder.path(), NOW).err(),
            list_keys(folder.path(), NOW).err(),
        ];
        for refusal in refusals {
            assert!(
                matches!(refusal, Some(SignerError::RegisterLost(_))),
                "{refusal:?}"
            );
        }
        assert!(!folder.path().join("receipt-keys.json").exists());
    }

    #[test]
    fn who_dies_while_making_a_key_leaves_a_folder_that_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        // Dead before the register: nothing was listed.
        let half_made = KeyFolder::at(folder.path());
        half_made.create_mac_key().unwrap();
        half_made.create_receipt_key("v1-2026-11a").unwrap();
        assert!(matches!(Signer::open(folder.path()), Err(SignerError::NoKeys(_))));
        let (signer, made) = Signer::open_or_create(folder.path(), NOW).unwrap();
        assert!(made);
        let signature = signer.current(NOW).unwrap().sign(b"message");
        // Dead after it: the key is listed, and only its file has no name yet.
        fs::rename(
            file("receipt-v1-2026-11a.pem"),
            file("receipt-v1-2026-11a.pem.new"),
        )
        .unwrap();
        let signer = Signer::open(folder.path()).unwrap();
        assert_eq!(signer.current(NOW).unwrap().sign(b"message"), signature);
        assert!(file("receipt-v1-2026-11a.pem").exists());
    }

    #[test]
    fn versions_are_never_given_twice() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        assert!(matches!(
            new_key(folder.path(), NOW),
            Err(SignerError::KeysExist(_))
        ));
        // The letter of a private key that is not listed stays its own.
        fs::write(folder.path().join("receipt-v1-2026-11b.pem"), "").unwrap();
        for (turn, letter) in (0..).zip('c'..='z') {
            let now = later(1_000 * turn);
            assert_eq!(
                rotate_key(folder.path(), now).unwrap(),
                format!("v1-2026-11{letter}")
            );
        }
        let error = rotate_key(folder.path(), later(100_000)).unwrap_err();
        assert!(matches!(error, SignerError::MonthIsFull));
        let december = later(30 * 86_400);
        assert_eq!(rotate_key(folder.path(), december).unwrap(), "v1-2026-12a");
        assert_eq!(Signer::open(folder.path()).unwrap().list(december).len(), 26);
    }
}
