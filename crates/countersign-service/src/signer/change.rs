//! The changes of a key folder: the first key, a new key, a compromised key. Each holds the folder's lock, so the
//! second of two commands waits for the first and sees what it did.
//!
//! Each is one write of the register: before it, a new private half lies under a temporary name; after it, it gets
//! its own. If we die before the write, nothing was listed or marked, and the same command does it all anew. If we
//! die after it, all is done but the name, which whoever opens the key gives it; the same command finds it done.
//! So a private key with a name and without a register was listed once.

use super::key_file::KeyFolder;
use super::register::{Entry, Register};
use super::ring::{Held, Ring, active_from};
use super::{LISTED_BEFORE_USE_SECONDS, SignerError, SigningKey};
use countersign_core::key::{Endorsement, ListedKey};
use countersign_core::time::Timestamp;
use std::path::Path;
use std::sync::Arc;

/// What a key folder is like once a key of it is compromised.
#[derive(Debug, PartialEq, Eq)]
pub struct Compromised {
    /// Whether that was not known before.
    pub newly: bool,
    /// Keys that waited to take over from it and now never sign: they lay beside it, and nothing is lost with them.
    pub given_up: Vec<String>,
    /// The key that was made in its place, if it signed or waited to.
    pub made: Option<String>,
    /// The key that signs from now on.
    pub signs: ListedKey,
    /// The oldest key from which endorsements still lead to the one that signs: the one to publish as root.
    pub root: ListedKey,
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
    let mut register = Register::default();
    let version = free_version(&folder, &register, now)?;
    add_key(&folder, &mut register, &version, (now, now), None)?;
    keep(&folder, &register, Some(&version))?;
    Ok(version)
}

/// Lists a new receipt key at once, endorsed by the one that signs now; it signs from
/// [`LISTED_BEFORE_USE_SECONDS`] later, and the old key stays listed for ever. Returns the new key's version.
///
/// Where the private half of the key that signs is not in this folder, nothing endorses the new one.
pub fn rotate_key(folder: &Path, now: Timestamp) -> Result<String, SignerError> {
    let folder = KeyFolder::at(folder);
    let _lock = folder.lock()?;
    let mut register = folder.register()?.ok_or_else(|| folder.no_keys())?;
    if let Some(next) = register.entries.iter().find(|entry| waits(entry, now)) {
        return Err(SignerError::NextExists(next.version.clone()));
    }
    let version = free_version(&folder, &register, now)?;
    add_next(&folder, &mut register, &version, now)?;
    keep(&folder, &register, Some(&version))?;
    Ok(version)
}

/// Marks a receipt key as compromised, for ever. If it signs now, or waits to, another is made in its place: the
/// one in place of the signing key signs at once and is endorsed by nobody, since the one key that could is the
/// one whose word is worth nothing now.
///
/// Done again, it changes nothing.
pub fn compromise_key(folder: &Path, version: &str, now: Timestamp) -> Result<Compromised, SignerError> {
    let folder = KeyFolder::at(folder);
    let _lock = folder.lock()?;
    let mut register = folder.register()?.ok_or_else(|| folder.no_keys())?;
    let signed = Ring::of_folder(&folder, &register)?.signs(now, version);
    let entry = register.entries.iter_mut().find(|entry| entry.version == version);
    let entry = entry.ok_or_else(|| SignerError::UnknownKey(folder.path.clone()))?;
    let waited = waits(entry, now);
    let newly = !std::mem::replace(&mut entry.compromised, true);
    let mut given_up = Vec::new();
    let mut made = None;
    if signed || Ring::of_folder(&folder, &register)?.current(now).is_none() {
        for next in register.entries.iter_mut().filter(|entry| waits(entry, now)) {
            next.compromised = true;
            given_up.push(next.version.clone());
        }
        let version = version_in_need(&folder, &register, now)?;
        add_key(&folder, &mut register, &version, (now, now), None)?;
        made = Some(version);
    } else if waited {
        let version = version_in_need(&folder, &register, now)?;
        add_next(&folder, &mut register, &version, now)?;
        made = Some(version);
    }
    if newly || made.is_some() {
        keep(&folder, &register, made.as_deref())?;
    }
    let ring = Ring::of_folder(&folder, &register)?;
    let signs = ring.current(now).ok_or(SignerError::NoCurrentKey)?;
    let listed = |entry: &Entry| {
        ring.list(now)
            .into_iter()
            .find(|key| key.key_version == entry.version)
    };
    let (signs, root) = (listed(&signs.entry), listed(root_of(&register, &signs.entry)));
    let (signs, root) = signs.zip(root).ok_or(SignerError::NoCurrentKey)?;
    Ok(Compromised {
        newly,
        given_up,
        made,
        signs,
        root,
    })
}

/// Every key ever listed in a folder, without opening a private one.
pub fn list_keys(folder: &Path, now: Timestamp) -> Result<Vec<ListedKey>, SignerError> {
    let folder = KeyFolder::at(folder);
    let register = folder.register()?.ok_or_else(|| folder.no_keys())?;
    Ok(Ring::of_folder(&folder, &register)?.list(now))
}

impl Ring {
    /// The ring that a register describes, with no private half opened.
    fn of_folder(folder: &KeyFolder, register: &Register) -> Result<Ring, SignerError> {
        Ring::of(register.entries.clone(), |entry| {
            Ok(Held {
                usable: folder.holds(&entry.version),
                active_from: active_from(&entry),
                signing: None,
                entry,
            })
        })
    }
}

/// Whether this folder's key was to take over later.
fn waits(entry: &Entry, now: Timestamp) -> bool {
    active_from(entry) > now && !entry.compromised && !entry.elsewhere
}

/// The oldest key from which endorsements lead to this one, past none that is compromised.
fn root_of<'a>(register: &'a Register, entry: &'a Entry) -> &'a Entry {
    let mut root = entry;
    // An endorser was listed before the key it endorsed; the count keeps a register that says otherwise from
    // going round for ever.
    for _ in 0..register.entries.len() {
        let endorser = root
            .endorsement
            .as_ref()
            .and_then(|word| register.entry(&word.key_version));
        match endorser.filter(|endorser| !endorser.compromised) {
            Some(endorser) => root = endorser,
            None => break,
        }
    }
    root
}

/// Makes a key that signs later, endorsed by the one that signs now.
fn add_next(
    folder: &KeyFolder,
    register: &mut Register,
    version: &str,
    now: Timestamp,
) -> Result<(), SignerError> {
    let ring = Ring::of_folder(folder, register)?;
    let endorser = ring.current(now).map(|held| &held.entry);
    let endorser = match endorser {
        Some(entry) => folder.signing_key(entry)?.map(|key| (entry, key)),
        None => None,
    };
    let signs_from = Timestamp(now.0 + i64::from(LISTED_BEFORE_USE_SECONDS) * 1_000_000);
    add_key(folder, register, version, (now, signs_from), endorser)
}

/// Writes the register, then gives the private half that was made for it its name.
fn keep(folder: &KeyFolder, register: &Register, made: Option<&str>) -> Result<(), SignerError> {
    folder.write_register(register)?;
    made.map_or(Ok(()), |version| folder.name_receipt_key(version))
}

/// Makes the private half, not named yet, and adds the key to the register, not written yet.
fn add_key(
    folder: &KeyFolder,
    register: &mut Register,
    version: &str,
    (listed_at, signs_from): (Timestamp, Timestamp),
    endorser: Option<(&Entry, Arc<SigningKey>)>,
) -> Result<(), SignerError> {
    let public_key = folder.create_receipt_key(version)?;
    // Later than the endorser's own endorsement, on which readers insist: by this clock the endorser was listed
    // before it came to sign.
    let endorsement = endorser.map(|(entry, key)| {
        Endorsement::new(entry.named(), (version, public_key), listed_at, |statement| {
            key.sign(statement)
        })
    });
    register.entries.push(Entry {
        version: version.to_owned(),
        public_key,
        listed_at,
        signs_from,
        compromised: false,
        endorsement,
        elsewhere: false,
    });
    Ok(())
}

/// `v1-YYYY-MM` and the first letter that neither the register nor a file has.
fn free_version(folder: &KeyFolder, register: &Register, now: Timestamp) -> Result<String, SignerError> {
    let month = &now.to_string()[..7];
    ('a'..='z')
        .map(|letter| format!("v1-{month}{letter}"))
        .find(|version| register.entry(version).is_none() && !folder.receipt_key_path(version).exists())
        .ok_or(SignerError::MonthIsFull)
}

/// The same for a key that cannot wait for next month: it takes a name of a later one.
fn version_in_need(folder: &KeyFolder, register: &Register, now: Timestamp) -> Result<String, SignerError> {
    let months = (0..=12).map(|month| Timestamp(now.0 + month * 31 * 86_400 * 1_000_000));
    let mut names = months.map(|month| free_version(folder, register, month));
    names.find(Result::is_ok).unwrap_or(Err(SignerError::MonthIsFull))
}

#[cfg(test)]
mod tests {
    use super::super::Signer;
    use super::super::key_file::death;
    use super::*;
    use countersign_core::key::{KeyStatus, Rooted};
    use std::fs;
    use tempfile::TempDir;

    /// 2026-11-05T00:00:00 UTC.
    const NOW: Timestamp = Timestamp(1_793_836_800_000_000);
    const A: &str = "v1-2026-11a";
    const B: &str = "v1-2026-11b";
    const C: &str = "v1-2026-11c";

    fn later(seconds: u32) -> Timestamp {
        Timestamp(NOW.0 + i64::from(seconds) * 1_000_000)
    }

    /// A folder with so many keys, each the successor of the one before it, and the time when the last one signs.
    fn folder_of(keys: u32) -> (TempDir, Timestamp) {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        for turn in 1..keys {
            rotate_key(folder.path(), later(turn * 1_000)).unwrap();
        }
        (folder, later(keys * 1_000))
    }

    fn signs(folder: &TempDir, now: Timestamp) -> String {
        let signer = Signer::open(folder.path()).unwrap();
        signer.current(now).unwrap().version.clone()
    }

    fn statuses(folder: &TempDir, now: Timestamp) -> Vec<&'static str> {
        let keys = list_keys(folder.path(), now).unwrap();
        keys.iter().map(|key| key.status.unwrap().as_str()).collect()
    }

    /// Whether endorsements lead from this key to that one.
    fn leads(folder: &TempDir, now: Timestamp, from: &str, to: &str) -> bool {
        let keys = list_keys(folder.path(), now).unwrap();
        let root = keys
            .iter()
            .find(|key| key.key_version == from)
            .unwrap()
            .public_key;
        Rooted::new(vec![root], keys).unwrap().find(to).is_some()
    }

    fn register(folder: &TempDir) -> String {
        fs::read_to_string(folder.path().join("receipt-keys.json")).unwrap()
    }

    #[test]
    fn each_key_is_endorsed_by_the_one_it_takes_over_from() {
        let (folder, now) = folder_of(4);
        let keys = list_keys(folder.path(), now).unwrap();
        assert_eq!(keys[0].endorsement, None, "the first has nobody before it");
        for (key, before) in keys[1..].iter().zip(&keys) {
            let word = key.endorsement.as_ref().unwrap();
            assert!(word.verifies(before.named(), key.named()), "{}", key.key_version);
        }
        assert!(leads(&folder, now, A, "v1-2026-11d"));
        assert!(!leads(&folder, now, B, A), "and not the other way");
    }

    #[test]
    fn a_key_whose_predecessor_is_not_here_is_endorsed_by_nobody() {
        let (folder, now) = folder_of(1);
        fs::remove_file(folder.path().join(format!("receipt-{A}.pem"))).unwrap();
        assert_eq!(rotate_key(folder.path(), now).unwrap(), B);
        assert_eq!(list_keys(folder.path(), now).unwrap()[1].endorsement, None);
        assert_eq!(
            signs(&folder, now),
            B,
            "and need not wait, since no other can sign"
        );
    }

    #[test]
    fn in_the_place_of_the_key_that_signs_another_signs_at_once() {
        let (folder, now) = folder_of(2);
        rotate_key(folder.path(), now).unwrap();
        let done = compromise_key(folder.path(), B, now).unwrap();
        let made = "v1-2026-11d";
        assert!(done.newly);
        assert_eq!(
            (&done.given_up[..], done.made.as_deref()),
            (&[C.to_owned()][..], Some(made))
        );
        assert_eq!(
            (done.signs.key_version.as_str(), done.signs.endorsement.clone()),
            (made, None)
        );
        assert_eq!(done.root, done.signs);
        assert_eq!(signs(&folder, now), made);
        let behind = Timestamp(now.0 - 600_000_000);
        assert_eq!(signs(&folder, behind), made, "whatever the clock says");
        assert_eq!(
            statuses(&folder, now),
            ["previous", "compromised", "compromised", "current"]
        );
        assert!(!leads(&folder, now, A, made) && !leads(&folder, now, B, made));

        let kept = register(&folder);
        let again = compromise_key(folder.path(), B, later(9_000)).unwrap();
        assert_eq!((again.newly, again.made, again.signs), (false, None, done.signs));
        assert_eq!(register(&folder), kept);
        // Its successor has a predecessor again.
        assert_eq!(rotate_key(folder.path(), later(9_000)).unwrap(), "v1-2026-11e");
        assert!(leads(&folder, later(10_000), made, "v1-2026-11e"));
    }

    #[test]
    fn in_the_place_of_the_key_that_waits_another_waits() {
        let (folder, now) = folder_of(1);
        rotate_key(folder.path(), now).unwrap();
        let done = compromise_key(folder.path(), B, now).unwrap();
        assert_eq!((done.made.as_deref(), done.given_up.len()), (Some(C), 0));
        assert_eq!(
            (done.signs.key_version.as_str(), done.root.key_version.as_str()),
            (A, A)
        );
        assert_eq!(statuses(&folder, now), ["current", "compromised", "next"]);
        assert!(leads(&folder, later(9_000), A, C));
        let again = compromise_key(folder.path(), B, now).unwrap();
        assert_eq!((again.newly, again.made), (false, None));
    }

    #[test]
    fn a_superseded_key_that_is_compromised_moves_the_root() {
        let (folder, now) = folder_of(4);
        let done = compromise_key(folder.path(), B, now).unwrap();
        assert_eq!(
            (done.made, done.signs.key_version.as_str()),
            (None, "v1-2026-11d")
        );
        assert_eq!(done.root.key_version, C);
        assert!(!leads(&folder, now, A, "v1-2026-11d"));
        assert!(leads(&folder, now, C, "v1-2026-11d"));
        assert_eq!(
            statuses(&folder, now),
            ["previous", "compromised", "previous", "current"]
        );
    }

    #[test]
    fn what_cannot_be_marked_is_told() {
        let (folder, now) = folder_of(1);
        let kept = register(&folder);
        let error = compromise_key(folder.path(), "v1-2026-11z", now)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("lists no key of that version; look at: countersign key list"),
            "{error}"
        );
        assert_eq!(register(&folder), kept);
        let error = compromise_key(&folder.path().join("none"), A, now).unwrap_err();
        assert!(matches!(error, SignerError::NoKeys(_)), "{error}");
    }

    #[test]
    fn a_month_without_letters_does_not_keep_a_compromised_key() {
        let (folder, now) = folder_of(26);
        assert!(matches!(
            rotate_key(folder.path(), now),
            Err(SignerError::MonthIsFull)
        ));
        let done = compromise_key(folder.path(), "v1-2026-11z", now).unwrap();
        assert_eq!(done.made.as_deref(), Some("v1-2026-12a"));
    }

    #[test]
    fn registers_of_older_versions_are_read_and_go_on() {
        let (folder, now) = folder_of(2);
        let text = register(&folder);
        let (start, rest) = text.split_once(",\"endorsement\":{").unwrap();
        let (_, end) = rest.split_once('}').unwrap();
        fs::write(folder.path().join("receipt-keys.json"), format!("{start}{end}")).unwrap();
        assert_eq!(rotate_key(folder.path(), now).unwrap(), C);
        assert!(leads(&folder, later(9_000), B, C));
        assert!(!leads(&folder, later(9_000), A, B));
    }

    /// Lets a command die at each of its steps in turn, looks at what that leaves, and runs it again.
    fn at_every_death(
        start: impl Fn() -> TempDir,
        command: impl Fn(&Path) -> Result<(), SignerError>,
        left: impl Fn(&TempDir),
        done: impl Fn(&TempDir, Result<(), SignerError>),
    ) {
        let mut deaths = 0;
        loop {
            let folder = start();
            death::after(Some(deaths));
            let first = command(folder.path());
            death::after(None);
            if first.is_ok() {
                break;
            }
            left(&folder);
            done(&folder, command(folder.path()));
            deaths += 1;
        }
        assert!(deaths >= 6, "only {deaths} steps to die at");
    }

    #[test]
    fn who_dies_in_a_rotation_leaves_a_folder_that_goes_on() {
        at_every_death(
            || folder_of(1).0,
            |folder| rotate_key(folder, later(1_000)).map(drop),
            |folder| assert_eq!(signs(folder, later(1_001)), A),
            |folder, again| {
                assert!(
                    matches!(again, Ok(()) | Err(SignerError::NextExists(_))),
                    "{again:?}"
                );
                assert_eq!(statuses(folder, later(1_002)), ["current", "next"]);
                assert!(leads(folder, later(9_000), A, B));
                assert_eq!(signs(folder, later(9_000)), B);
            },
        );
    }

    #[test]
    fn who_dies_while_a_key_is_marked_leaves_a_folder_that_goes_on() {
        let at = later(2_000);
        at_every_death(
            || folder_of(2).0,
            |folder| compromise_key(folder, B, at).map(drop),
            // Either nothing happened, or all of it.
            |folder| match statuses(folder, at)[..] {
                ["previous", "current"] => assert_eq!(signs(folder, at), B),
                ["previous", "compromised", "current"] => assert_eq!(signs(folder, at), C),
                ref other => panic!("{other:?}"),
            },
            |folder, again| {
                again.unwrap();
                assert_eq!(statuses(folder, at), ["previous", "compromised", "current"]);
                assert_eq!(signs(folder, at), C);
            },
        );
    }

    #[test]
    fn who_dies_while_the_first_key_is_made_leaves_a_folder_that_goes_on() {
        at_every_death(
            || tempfile::tempdir().unwrap(),
            |folder| new_key(folder, NOW).map(drop),
            |_| {},
            |folder, again| {
                assert!(
                    matches!(again, Ok(()) | Err(SignerError::KeysExist(_))),
                    "{again:?}"
                );
                assert_eq!(signs(folder, NOW), A);
            },
        );
    }

    #[test]
    fn of_commands_at_the_same_time_the_second_sees_what_the_first_did() {
        let (folder, now) = folder_of(1);
        let many = |command: &(dyn Fn() -> bool + Sync)| {
            std::thread::scope(|scope| {
                let runs: Vec<_> = (0..8).map(|_| scope.spawn(command)).collect();
                runs.into_iter()
                    .map(|run| run.join().unwrap())
                    .filter(|did| *did)
                    .count()
            })
        };
        let rotated = many(&|| match rotate_key(folder.path(), now) {
            Ok(_) => true,
            Err(error) => {
                assert!(matches!(error, SignerError::NextExists(_)), "{error}");
                false
            }
        });
        assert_eq!(rotated, 1);
        let made = many(&|| compromise_key(folder.path(), A, now).unwrap().made.is_some());
        assert_eq!(made, 1);
        assert_eq!(statuses(&folder, now), ["compromised", "compromised", "current"]);
        let status = list_keys(folder.path(), now).unwrap()[2].status;
        assert_eq!(status, Some(KeyStatus::Current));
    }
}
