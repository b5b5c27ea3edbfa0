//! All keys that a node knows, at one moment: which of them signs, and what the key list says of each.

use super::register::Entry;
use super::{SignerError, SigningKey};
use countersign_core::key::{KeyStatus, ListedKey, Rooted};
use countersign_core::time::Timestamp;
use std::sync::Arc;

/// Every listed key, oldest first: the order of listing decides which is newest, since times may come from
/// clocks that differ.
#[derive(Default)]
pub(super) struct Ring {
    pub(super) keys: Vec<Held>,
}

pub(super) struct Held {
    pub(super) entry: Entry,
    /// The private half, where it is held and has been opened.
    pub(super) signing: Option<Arc<SigningKey>>,
    /// Whether nothing but time and a compromise can keep this node from signing with it.
    pub(super) usable: bool,
    /// From when, by this node's clock.
    pub(super) active_from: Timestamp,
}

/// When a key may sign by a clock that has agreed with the register's so far.
pub(super) fn active_from(entry: &Entry) -> Timestamp {
    if entry.wait() == 0 {
        // Needed at once by whoever made it: a clock that is behind must not make it wait.
        Timestamp(i64::MIN)
    } else {
        entry.signs_from
    }
}

impl Ring {
    /// Lists these keys, those of other nodes as far as own keys lead to them. Whoever can write to the store, or
    /// has a private half that is known to be compromised, cannot put a key in.
    pub(super) fn of(
        entries: Vec<Entry>,
        mut held: impl FnMut(Entry) -> Result<Held, SignerError>,
    ) -> Result<Ring, SignerError> {
        let vouched_for = vouched_for(&entries);
        let listed = entries
            .into_iter()
            .filter(|entry| !entry.elsewhere || vouched_for(&entry.version));
        let keys = listed.map(&mut held).collect::<Result<_, _>>()?;
        Ok(Ring { keys })
    }

    /// The key that this node signs with: the newest that may. Where none may yet, the first that waits: better a
    /// key that some cached list lacks than no answer; who trusts the list fetches it anew.
    pub(super) fn current(&self, now: Timestamp) -> Option<&Held> {
        let active = |held: &&Held| held.active_from <= now;
        let mut usable = self.keys.iter().filter(|held| held.can_sign());
        usable.clone().rfind(active).or_else(|| usable.next())
    }

    /// Whether this node signs with the key of this version.
    pub(super) fn signs(&self, now: Timestamp, version: &str) -> bool {
        self.current(now)
            .is_some_and(|held| held.entry.version == version)
    }

    /// The key list at this time.
    pub(super) fn list(&self, now: Timestamp) -> Vec<ListedKey> {
        let current = self.current(now).map(|held| held.entry.version.as_str());
        let listed = self.keys.iter().map(|held| ListedKey {
            key_version: held.entry.version.clone(),
            public_key: held.entry.public_key,
            status: Some(self.status(held, current, now)),
            endorsement: held.entry.endorsement.clone(),
        });
        listed.collect()
    }

    fn status(&self, held: &Held, current: Option<&str>, now: Timestamp) -> KeyStatus {
        let version = held.entry.version.as_str();
        if held.entry.compromised {
            KeyStatus::Compromised
        } else if current == Some(version) {
            KeyStatus::Current
        } else if held.active_from > now {
            KeyStatus::Next
        } else if held.entry.elsewhere && !self.is_superseded(version, now) {
            // Another node's newest, as far as is known here: it signs there.
            KeyStatus::Current
        } else {
            KeyStatus::Previous
        }
    }

    fn is_superseded(&self, version: &str, now: Timestamp) -> bool {
        let by = |held: &Held| {
            let endorsement = held.entry.endorsement.as_ref();
            held.active_from <= now && endorsement.is_some_and(|word| word.key_version == version)
        };
        self.keys.iter().any(by)
    }
}

impl Held {
    pub(super) fn can_sign(&self) -> bool {
        self.usable && !self.entry.compromised
    }
}

/// Which versions the node's own keys lead to.
fn vouched_for(entries: &[Entry]) -> impl Fn(&str) -> bool + use<> {
    let own = entries.iter().filter(|entry| !entry.elsewhere);
    let roots = own.map(|entry| entry.public_key).collect();
    let keys = entries.iter().map(|entry| ListedKey {
        key_version: entry.version.clone(),
        public_key: entry.public_key,
        // Whether an endorser was in use by this node's clock says nothing about the clock of its node.
        status: Some(if entry.compromised {
            KeyStatus::Compromised
        } else {
            KeyStatus::Current
        }),
        endorsement: entry.endorsement.clone(),
    });
    // A list with one key twice is no list: no other node's key counts.
    let rooted = Rooted::new(roots, keys.collect()).ok();
    move |version| rooted.as_ref().is_some_and(|keys| keys.find(version).is_some())
}
