//! The only holder of private keys: receipt keys (Ed25519), and the key of the MAC over stored rows.
//!
//! The key folder holds one PKCS#8 file per receipt key, a register of every key ever listed
//! (`receipt-keys.json`) and the MAC key. Whether a key is next, current or previous follows from the register
//! and the time handed in, so a serving process passes from one key to the next by itself. What it learns of
//! other nodes' keys is in `cluster`; what commands do to a folder is in `change`.

mod change;
mod cluster;
mod key_file;
mod register;
mod ring;

pub use change::{Compromised, compromise_key, list_keys, new_key, rotate_key};
pub(crate) use cluster::{Meeting, SharedKey};

use crate::signer::cluster::Beyond;
use crate::signer::key_file::KeyFolder;
use crate::signer::register::{Entry, Register};
use crate::signer::ring::{Held, Ring};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use countersign_core::key::{KeyList, ListedKey};
use countersign_core::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Seconds between the listing of a key and its first signature: those for which a key list may be cached
/// (interfaces.md 3.4), and those until every serving process has read the register again.
pub const LISTED_BEFORE_USE_SECONDS: u32 = 300 + RELOAD_SECONDS;
/// Seconds between two looks of a serving process at the register.
pub const RELOAD_SECONDS: u32 = 5;

/// The keys of one folder, opened.
pub struct Signer {
    folder: KeyFolder,
    /// What the ring is made from. Locked by whoever changes it, never by who signs.
    known: Mutex<Known>,
    ring: RwLock<Arc<Ring>>,
    mac_key: hmac::Key,
}

/// Everything that a node knows about keys.
#[derive(Clone, PartialEq, Eq)]
struct Known {
    register: Register,
    beyond: Beyond,
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
    /// No key of this version was ever listed.
    #[error("{} lists no key of that version; look at: countersign key list", .0.display())]
    UnknownKey(PathBuf),
    /// The store knows another key under a name that this folder gave to its own.
    #[error(
        "key {0} is another one in the store: two nodes made a key at the same time, or folder and store do not \
         belong together; it will not sign. Rotate again here, or copy the other node's key folder"
    )]
    Clash(String),
    /// All letters of a month are used.
    #[error("all 26 key versions of this month are used; rotate again next month")]
    MonthIsFull,
    /// No key may sign at this time.
    #[error("no receipt key may sign now; look at: countersign key list")]
    NoCurrentKey,
    /// The thread that looks at the keys cannot be had.
    #[error("the system refused a thread for the keys: {0}")]
    Thread(std::io::Error),
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
        let known = Known {
            register,
            beyond: Beyond::default(),
        };
        let ring = known.ring(&folder)?;
        let mac_key = hmac::Key::new(hmac::HMAC_SHA256, &*folder.mac_key()?);
        Ok(Signer {
            folder,
            known: Mutex::new(known),
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
        let held = ring.keys.iter().find(|held| held.entry.version == version)?;
        held.signing.clone().filter(|_| held.can_sign())
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

    /// Reads the register again; says whether it had changed. On an error the keys stay as they were.
    ///
    /// A key that waits is waited for from now, by this node's clock: another machine's clock wrote the register.
    pub fn reload(&self, now: Timestamp) -> Result<bool, SignerError> {
        let register = self.folder.register()?.ok_or_else(|| self.folder.no_keys())?;
        let mut known = self.known();
        if known.register == register {
            return Ok(false);
        }
        let mut new = known.clone();
        new.beyond.see(&known.register, &register, now);
        new.register = register;
        if let Err(error) = self.install(&mut known, &new) {
            // What must not sign any more does not, even where the key in its place cannot be read yet.
            let mut careful = known.clone();
            careful.beyond.believe(&new.register);
            self.install(&mut known, &careful)?;
            return Err(error);
        }
        Ok(true)
    }

    /// Changes what is known, or nothing on an error.
    fn change(&self, change: impl FnOnce(&mut Known)) -> Result<(), SignerError> {
        let mut known = self.known();
        let mut new = known.clone();
        change(&mut new);
        self.install(&mut known, &new)
    }

    /// Puts what is known now in the place of what was known, in one step.
    fn install(&self, known: &mut Known, new: &Known) -> Result<(), SignerError> {
        if new == known {
            return Ok(());
        }
        let ring = Arc::new(new.ring(&self.folder)?);
        known.clone_from(new);
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = ring;
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) -> Arc<Ring> {
        // Whoever panicked with a lock held had not begun to change what is behind it: both are replaced in one step.
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

impl Known {
    fn ring(&self, folder: &KeyFolder) -> Result<Ring, SignerError> {
        // The private half of a key that was superseded may have been destroyed; one that signs now or later may
        // not.
        let needed = |entry: &&Entry| !entry.elsewhere && !entry.compromised;
        let newest = self
            .register
            .entries
            .iter()
            .rfind(needed)
            .map(|entry| entry.version.clone());
        Ring::of(self.beyond.entries(&self.register), |entry| {
            let signing = folder.signing_key(&entry)?;
            if signing.is_none() && newest.as_ref() == Some(&entry.version) {
                let problem = "is missing; restore it from a backup, or rotate the key";
                return Err(folder.unreadable(&entry.version, problem));
            }
            Ok(Held {
                usable: signing.is_some() && self.beyond.is_clear(&entry.version),
                active_from: self.beyond.active_from(&entry),
                signing,
                entry,
            })
        })
    }
}

impl KeyFolder {
    /// The private half of a listed key, if it is here.
    fn signing_key(&self, entry: &Entry) -> Result<Option<Arc<SigningKey>>, SignerError> {
        let Some(pair) = self.receipt_key(&entry.version)? else {
            return Ok(None);
        };
        if pair.public_key().as_ref() != entry.public_key.0 {
            if entry.elsewhere {
                // A file that a command left when it died, of a name that another node then gave.
                return Ok(None);
            }
            let problem = "is not the private half of the key that the register lists";
            return Err(self.unreadable(&entry.version, problem));
        }
        let version = entry.version.clone();
        Ok(Some(Arc::new(SigningKey { version, pair })))
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
        assert!(signer.reload(later(60)).unwrap());
        assert!(!signer.reload(later(70)).unwrap());
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
        // Nothing else can sign, so the new one need not wait.
        assert_eq!(signer.current(NOW).unwrap().version, "v1-2026-11b");
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
        assert_eq!(signer.current(NOW).unwrap().version, "v1-2026-11b");
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
