//! What a node knows of keys beside its own register: when it saw a key first, and what other nodes put into the
//! store they share.
//!
//! The store is not trusted with keys: another node's key counts here only as long as endorsements lead to it from
//! a key of this node's own register. That a key is compromised is believed whoever says so, and stays so until
//! the process ends: it can only make a node more careful.

use super::register::{Entry, Register, is_version};
use super::ring::active_from;
use super::{LISTED_BEFORE_USE_SECONDS, Signer, SignerError};
use countersign_core::key::{Endorsement, PublicKey};
use countersign_core::limits::KEY_LIST_ENTRIES_MAX;
use countersign_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A key as nodes share it through the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedKey {
    pub(crate) version: String,
    pub(crate) public_key: [u8; 32],
    pub(crate) compromised: bool,
    pub(crate) listed_at: Timestamp,
    /// From when it signs, by the clock of the node that made it.
    pub(crate) signs_from: Option<Timestamp>,
    /// As a key list shows it, in JSON.
    pub(crate) endorsement: Option<String>,
}

/// What a look at the store's keys changed here, each by version.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Meeting {
    /// Listed here from now on.
    pub(crate) adopted: Vec<String>,
    /// Not listed here, since no key of this node leads to them.
    pub(crate) refused: Vec<String>,
    /// Compromised, as another node says.
    pub(crate) compromised: Vec<String>,
    /// Keys of this node that do not sign, since the store knows another key by that name.
    pub(crate) clashing: Vec<String>,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Beyond {
    /// The versions that the store is known to have as this node has them. `None` where there is no store: every
    /// key may sign.
    clear: Option<BTreeSet<String>>,
    /// Versions that the store said were compromised.
    compromised: BTreeSet<String>,
    /// Versions of this node's keys that the store knows as other keys. These never sign here, and are not listed:
    /// the others are.
    clashing: BTreeSet<String>,
    /// Keys of other nodes, vouched for or not.
    others: Vec<Entry>,
    /// When a key that waits was first seen, by this node's clock.
    seen: BTreeMap<String, Timestamp>,
    told: Told,
}

/// What was told of the last look, so that it is told once.
#[derive(Clone, Default, PartialEq, Eq)]
struct Told {
    refused: Vec<String>,
    clashing: Vec<String>,
}

impl Signer {
    /// From now on a key signs only once the store has it under its name: no two nodes give one name to two keys.
    pub(crate) fn wait_for_store(&self) -> Result<(), SignerError> {
        self.change(|known| {
            known.beyond.clear.get_or_insert_default();
        })
    }

    /// What this node knows and the store does not yet.
    pub(crate) fn unshared(&self, stored: &[SharedKey]) -> Vec<SharedKey> {
        let known = self.known();
        let stored: BTreeMap<_, _> = stored.iter().map(|key| (key.version.as_str(), key)).collect();
        let news = |entry: &Entry| match stored.get(entry.version.as_str()) {
            None => !entry.elsewhere,
            Some(row) => row.public_key == entry.public_key.0 && entry.compromised && !row.compromised,
        };
        known
            .beyond
            .registered(&known.register)
            .filter(news)
            .map(share)
            .collect()
    }

    /// Takes up what the store says of keys. What is adopted is written into the register too, if that can be
    /// done, so that no later key gets the same name.
    pub(crate) fn meet(&self, stored: &[SharedKey], now: Timestamp) -> Result<Meeting, SignerError> {
        let listed_before: BTreeSet<String> = self.versions();
        let mut meeting = Meeting::default();
        self.change(|known| known.beyond.meet(&known.register, stored, now, &mut meeting))?;
        let listed = self.versions();
        meeting.adopted = listed.difference(&listed_before).cloned().collect();
        let mut known = self.known();
        let others = known.beyond.others.iter().map(|entry| &entry.version);
        let refused: Vec<_> = others
            .filter(|version| !listed.contains(*version))
            .cloned()
            .collect();
        meeting.refused = told_once(&mut known.beyond.told.refused, refused);
        let clashing = std::mem::take(&mut meeting.clashing);
        meeting.clashing = told_once(&mut known.beyond.told.clashing, clashing);
        Ok(meeting)
    }

    /// Writes other nodes' keys that count here into the register, public halves alone.
    pub(crate) fn remember_adopted(&self) -> Result<(), SignerError> {
        let listed = self.versions();
        let adopted = |known: &Register, others: &[Entry]| -> Vec<Entry> {
            let new = others
                .iter()
                .filter(|entry| known.entry(&entry.version).is_none());
            new.filter(|entry| listed.contains(&entry.version))
                .cloned()
                .collect()
        };
        let others = self.known().beyond.others.clone();
        if adopted(&self.known().register, &others).is_empty() {
            return Ok(());
        }
        // A command that runs at the same time waits, or is waited for; what it wrote is read again.
        let _lock = self.folder.lock()?;
        let mut register = self.folder.register()?.ok_or_else(|| self.folder.no_keys())?;
        let new = adopted(&register, &others);
        register.entries.extend(new);
        self.folder.write_register(&register)
    }

    /// Every version that the key list has.
    fn versions(&self) -> BTreeSet<String> {
        let ring = self.ring();
        ring.keys.iter().map(|held| held.entry.version.clone()).collect()
    }
}

impl Beyond {
    /// Notes when keys of the new register that are not in the old one were seen.
    pub(super) fn see(&mut self, old: &Register, new: &Register, now: Timestamp) {
        for entry in new
            .entries
            .iter()
            .filter(|entry| old.entry(&entry.version).is_none())
        {
            self.seen.entry(entry.version.clone()).or_insert(now);
        }
    }

    /// Believes of every key of this register that it is compromised, where the register says so.
    pub(super) fn believe(&mut self, register: &Register) {
        let compromised = register.entries.iter().filter(|entry| entry.compromised);
        self.compromised
            .extend(compromised.map(|entry| entry.version.clone()));
    }

    /// All keys that are known, vouched for or not.
    pub(super) fn entries(&self, register: &Register) -> Vec<Entry> {
        let own = self
            .registered(register)
            .filter(|entry| !self.clashing.contains(&entry.version));
        let mut entries: Vec<Entry> = own.collect();
        let new = |entry: &&Entry| {
            let same = |known: &Entry| known.version == entry.version || known.public_key == entry.public_key;
            !entries.iter().any(same)
        };
        let others: Vec<Entry> = self.others.iter().filter(new).cloned().collect();
        entries.extend(others.into_iter().map(|entry| self.with_belief(entry)));
        entries
    }

    pub(super) fn is_clear(&self, version: &str) -> bool {
        self.clear.as_ref().is_none_or(|clear| clear.contains(version))
    }

    /// When a key may sign by this node's clock. One that was seen to be listed is waited for from then on; so it
    /// waits as long as it was told to, however much clocks differ.
    pub(super) fn active_from(&self, entry: &Entry) -> Timestamp {
        match self.seen.get(&entry.version) {
            Some(seen) if entry.wait() != 0 => Timestamp(seen.0.saturating_add(entry.wait())),
            _ => active_from(entry),
        }
    }

    fn registered<'a>(&'a self, register: &'a Register) -> impl Iterator<Item = Entry> {
        register
            .entries
            .iter()
            .map(|entry| self.with_belief(entry.clone()))
    }

    fn with_belief(&self, mut entry: Entry) -> Entry {
        entry.compromised |= self.compromised.contains(&entry.version);
        entry
    }

    fn meet(&mut self, register: &Register, stored: &[SharedKey], now: Timestamp, meeting: &mut Meeting) {
        let stored = &stored[..stored.len().min(KEY_LIST_ENTRIES_MAX)];
        for row in stored {
            let own = register.entry(&row.version);
            let same = own.is_some_and(|own| own.public_key.0 == row.public_key);
            if let (true, Some(clear)) = (same, &mut self.clear) {
                clear.insert(row.version.clone());
            }
            let about_another = own.is_some() && !same;
            if row.compromised && !about_another && self.compromised.insert(row.version.clone()) {
                let news = own.is_none_or(|own| !own.compromised);
                meeting.compromised.extend(news.then(|| row.version.clone()));
            }
        }
        let names = |entry: &Entry| -> bool {
            let taken =
                |row: &SharedKey| row.version == entry.version || row.public_key == entry.public_key.0;
            stored.iter().any(taken)
        };
        let own = register.entries.iter().filter(|entry| !entry.elsewhere);
        // One that the store had as it is before is not doubted again.
        let clashing = own.filter(|entry| !self.is_clear(&entry.version) && names(entry));
        self.clashing = clashing.map(|entry| entry.version.clone()).collect();
        meeting.clashing = self.clashing.iter().cloned().collect();
        let is_own = |version: &str| register.entry(version).is_some() && !self.clashing.contains(version);
        let unknown = stored.iter().filter(|row| !is_own(&row.version));
        let mut others: Vec<Entry> = unknown.filter_map(entry_of).collect();
        for entry in &others {
            self.seen.entry(entry.version.clone()).or_insert(now);
        }
        // One that vanished from the store stays: keys stay listed for ever.
        others.extend(self.others.drain(..).filter(|known| !names(known)));
        self.others = others;
    }
}

fn share(entry: Entry) -> SharedKey {
    let word = entry.endorsement.as_ref().map(Endorsement::to_json);
    SharedKey {
        version: entry.version,
        public_key: entry.public_key.0,
        compromised: entry.compromised,
        listed_at: entry.listed_at,
        signs_from: Some(entry.signs_from),
        endorsement: word.and_then(|json| String::from_utf8(json).ok()),
    }
}

/// Another node's key; `None` for a row that is none.
fn entry_of(row: &SharedKey) -> Option<Entry> {
    // Below 2^53 microseconds, as every time of a register.
    let in_range = |time: &Timestamp| (0..1 << 53).contains(&time.0);
    let usual = Timestamp(
        row.listed_at
            .0
            .saturating_add(i64::from(LISTED_BEFORE_USE_SECONDS) * 1_000_000),
    );
    let signs_from = row.signs_from.unwrap_or(usual);
    let usable = is_version(&row.version) && in_range(&row.listed_at) && in_range(&signs_from);
    let word = row
        .endorsement
        .as_ref()
        .and_then(|json| Endorsement::parse(json.as_bytes()));
    usable.then(|| Entry {
        version: row.version.clone(),
        public_key: PublicKey(row.public_key),
        listed_at: row.listed_at,
        signs_from,
        compromised: row.compromised,
        endorsement: word,
        elsewhere: true,
    })
}

fn told_once(told: &mut Vec<String>, mut now: Vec<String>) -> Vec<String> {
    now.sort_unstable();
    if *told == now {
        return Vec::new();
    }
    told.clone_from(&now);
    now
}

#[cfg(test)]
mod tests {
    use super::super::{RELOAD_SECONDS, compromise_key, new_key, rotate_key};
    use super::*;
    use countersign_core::key::{ListedKey, signature_text};
    use std::fs;
    use std::path::Path;
    use tempfile::TempDir;

    /// 2026-11-05T00:00:00 UTC.
    const NOW: Timestamp = Timestamp(1_793_836_800_000_000);
    const A: &str = "v1-2026-11a";
    const B: &str = "v1-2026-11b";
    const C: &str = "v1-2026-11c";

    fn after(time: Timestamp, seconds: u32) -> Timestamp {
        Timestamp(time.0 + i64::from(seconds) * 1_000_000)
    }

    fn copy(from: &Path) -> TempDir {
        let to = tempfile::tempdir().unwrap();
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.path().join(file.file_name())).unwrap();
        }
        to
    }

    /// Nodes that share a store, each with a folder of its own that began as a copy of one.
    struct Node {
        folder: TempDir,
        signer: Signer,
    }

    fn node(folder: TempDir) -> Node {
        let signer = Signer::open(folder.path()).unwrap();
        signer.wait_for_store().unwrap();
        Node { folder, signer }
    }

    fn two_nodes() -> (Node, Node, Vec<SharedKey>) {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        let (a, b) = (node(copy(folder.path())), node(folder));
        let mut store = Vec::new();
        a.look(&mut store, NOW);
        b.look(&mut store, NOW);
        (a, b, store)
    }

    impl Node {
        /// What the key watch does at each look; here the store is a list.
        fn look(&self, store: &mut Vec<SharedKey>, now: Timestamp) -> Meeting {
            self.signer.reload(now).unwrap();
            for key in self.signer.unshared(store) {
                match store.iter_mut().find(|row| row.version == key.version) {
                    Some(row) => row.compromised |= key.compromised,
                    None => store.push(key),
                }
            }
            let meeting = self.signer.meet(store, now).unwrap();
            self.signer.remember_adopted().unwrap();
            meeting
        }

        fn signs(&self, now: Timestamp) -> Option<String> {
            self.signer.current(now).ok().map(|key| key.version.clone())
        }

        fn statuses(&self, now: Timestamp) -> Vec<(String, &'static str)> {
            let status = |key: ListedKey| (key.key_version, key.status.unwrap().as_str());
            self.signer.list(now).into_iter().map(status).collect()
        }
    }

    fn told(rows: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        rows.iter()
            .map(|(version, status)| ((*version).to_owned(), *status))
            .collect()
    }

    #[test]
    fn another_node_s_key_is_listed_and_each_node_signs_with_its_own() {
        let (a, b, mut store) = two_nodes();
        rotate_key(a.folder.path(), NOW).unwrap();
        assert_eq!(a.look(&mut store, NOW).adopted, [B; 0]);
        assert_eq!(b.look(&mut store, NOW).adopted, [B]);
        assert_eq!(b.look(&mut store, NOW), Meeting::default(), "told once");
        for node in [&a, &b] {
            assert_eq!(node.statuses(NOW), told(&[(A, "current"), (B, "next")]));
        }
        let then = after(NOW, LISTED_BEFORE_USE_SECONDS);
        assert_eq!(
            (a.signs(then), b.signs(then)),
            (Some(B.to_owned()), Some(A.to_owned()))
        );
        assert_eq!(a.statuses(then), told(&[(A, "previous"), (B, "current")]));
        assert_eq!(b.statuses(then), told(&[(A, "current"), (B, "current")]));

        // The other node's turn: its key gets a name of its own, also after a restart and without the store.
        let b = node(b.folder);
        assert_eq!(rotate_key(b.folder.path(), then).unwrap(), C);
        b.look(&mut store, then);
        assert_eq!(a.look(&mut store, then).adopted, [C]);
        let last = after(then, LISTED_BEFORE_USE_SECONDS);
        assert_eq!(
            (a.signs(last), b.signs(last)),
            (Some(B.to_owned()), Some(C.to_owned()))
        );
        assert_eq!(a.signer.list(last).len(), 3);
        assert_eq!(
            b.statuses(last),
            told(&[(A, "previous"), (B, "current"), (C, "current")])
        );
        let restored = node(copy(a.folder.path()));
        assert_eq!(
            restored.signer.list(last).len(),
            3,
            "what was adopted outlives the store"
        );
    }

    #[test]
    fn clocks_apart_change_nothing_about_how_long_a_key_waits() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        // Three nodes on one folder: in time, ten minutes behind, ten minutes ahead.
        let skews = [0, -600_000_000, 600_000_000];
        let at = |skew: i64, seconds: u32| Timestamp(after(NOW, seconds).0 + skew);
        let signers = skews.map(|_| Signer::open(folder.path()).unwrap());
        for (rotation, machine) in [0, 600_000_000].into_iter().enumerate() {
            let start = 2_000 * (rotation as u32 + 1);
            let before = signers[0].current(at(0, start)).unwrap().version.clone();
            let made = rotate_key(folder.path(), at(machine, start)).unwrap();
            for (signer, skew) in signers.iter().zip(skews) {
                let seen = start + RELOAD_SECONDS;
                assert!(signer.reload(at(skew, seen)).unwrap());
                let signs = |seconds| signer.current(at(skew, seconds)).unwrap().version.clone();
                assert_eq!(signs(seen + LISTED_BEFORE_USE_SECONDS - 1), before, "{skew}");
                assert_eq!(signs(seen + LISTED_BEFORE_USE_SECONDS), made, "{skew}");
            }
        }
        // Compromised on the machine that is ahead: no node waits until its clock gets there.
        let last = signers[0].current(at(0, 9_000)).unwrap().version.clone();
        let done = compromise_key(folder.path(), &last, at(600_000_000, 9_000)).unwrap();
        for (signer, skew) in signers.iter().zip(skews) {
            signer.reload(at(skew, 9_001)).unwrap();
            assert_eq!(
                signer.current(at(skew, 9_001)).unwrap().version,
                done.signs.key_version
            );
            // A restart changes nothing about that.
            let again = Signer::open(folder.path()).unwrap();
            assert_eq!(
                again.current(at(skew, 9_001)).unwrap().version,
                done.signs.key_version
            );
        }
    }

    /// A key that somebody else made, with the word of `by` for it if there is one.
    fn smuggled(by: Option<&Node>, now: Timestamp) -> SharedKey {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        let public_key = Signer::open(folder.path()).unwrap().list(now)[0].public_key;
        let version = "v1-2026-11x";
        let word = by.map(|node| {
            let key = node.signer.key(A).unwrap();
            let listed = node.signer.list(now)[0].public_key;
            Endorsement::new((A, listed), (version, public_key), now, |statement| {
                key.sign(statement)
            })
        });
        SharedKey {
            version: version.to_owned(),
            public_key: public_key.0,
            compromised: false,
            listed_at: now,
            signs_from: None,
            endorsement: word.map(|word| String::from_utf8(word.to_json()).unwrap()),
        }
    }

    #[test]
    fn who_can_write_to_the_store_puts_no_key_in() {
        let (a, _, mut store) = two_nodes();
        let honest = smuggled(Some(&a), NOW);
        let nobody = smuggled(None, NOW);
        let other = SharedKey {
            public_key: nobody.public_key,
            ..honest.clone()
        };
        let renamed = SharedKey {
            version: "v1-2026-11y".to_owned(),
            ..honest.clone()
        };
        let unsigned = |word: &str| SharedKey {
            endorsement: Some(word.to_owned()),
            ..nobody.clone()
        };
        let zeros = signature_text(&[0; 64]);
        let forged = format!(
            r#"{{"keyVersion":"{A}","attestedAt":"2026-11-05T00:00:00.000000+00:00","signature":"{zeros}"}}"#
        );
        for row in [
            nobody.clone(),
            other,
            renamed,
            unsigned("{}"),
            unsigned("no JSON"),
            unsigned(&forged),
        ] {
            let mut spoiled = store.clone();
            spoiled.push(row.clone());
            let meeting = a.look(&mut spoiled, NOW);
            assert_eq!(meeting.adopted, [A; 0], "{row:?}");
            assert_eq!(a.signer.list(NOW).len(), 1);
        }
        // Names and times that no node gives.
        for row in [
            SharedKey {
                version: "../../x".to_owned(),
                ..honest.clone()
            },
            SharedKey {
                version: String::new(),
                ..honest.clone()
            },
            SharedKey {
                listed_at: Timestamp(-1),
                ..honest.clone()
            },
            SharedKey {
                listed_at: Timestamp(i64::MAX),
                ..honest.clone()
            },
            SharedKey {
                signs_from: Some(Timestamp(i64::MAX)),
                ..honest.clone()
            },
        ] {
            assert_eq!(
                a.look(&mut [store.clone(), vec![row]].concat(), NOW).adopted,
                [A; 0]
            );
        }
        store.push(honest);
        assert_eq!(
            a.look(&mut store, NOW).adopted,
            ["v1-2026-11x"],
            "the word of a key makes the difference"
        );
    }

    #[test]
    fn what_a_stolen_key_endorsed_counts_no_more() {
        let (a, b, mut store) = two_nodes();
        store.push(smuggled(Some(&a), NOW));
        for node in [&a, &b] {
            node.look(&mut store, NOW);
            assert_eq!(node.signer.list(NOW).len(), 2);
        }
        let made = compromise_key(a.folder.path(), A, after(NOW, 1))
            .unwrap()
            .made
            .unwrap();
        a.look(&mut store, after(NOW, 2));
        assert_eq!(
            a.statuses(after(NOW, 2)),
            told(&[(A, "compromised"), (&made, "current")])
        );
        let meeting = b.look(&mut store, after(NOW, 2));
        assert_eq!(meeting.compromised, [A]);
        assert_eq!(b.statuses(after(NOW, 2)), told(&[(A, "compromised")]));
        assert_eq!(b.signs(after(NOW, 2)), None, "better nothing than by that key");

        // The folder of the first node, copied over it file by file, in the worst order.
        let names = ["receipt-keys.json", &format!("receipt-{made}.pem")];
        for (turn, name) in names.into_iter().enumerate() {
            fs::copy(a.folder.path().join(name), b.folder.path().join(name)).unwrap();
            if turn == 0 {
                assert!(
                    b.signer.reload(after(NOW, 3)).is_err(),
                    "the key is not there yet"
                );
                assert_eq!(b.signs(after(NOW, 3)), None);
            }
        }
        b.look(&mut store, after(NOW, 4));
        assert_eq!(b.signs(after(NOW, 4)), Some(made));
    }

    #[test]
    fn a_compromised_key_stays_so_whatever_the_store_says_later() {
        let (_, b, mut store) = two_nodes();
        store[0].compromised = true;
        assert_eq!(b.look(&mut store, NOW).compromised, [A]);
        assert_eq!((b.signs(NOW), b.signer.key(A).is_none()), (None, true));
        store[0].compromised = false;
        b.look(&mut store, NOW);
        assert_eq!(b.signs(NOW), None);
        assert!(store[0].compromised, "and it tells the others again");
    }

    #[test]
    fn no_two_nodes_sign_with_one_name() {
        let (a, b, mut store) = two_nodes();
        // Both at once: neither can know of the other.
        rotate_key(a.folder.path(), NOW).unwrap();
        rotate_key(b.folder.path(), NOW).unwrap();
        assert_eq!(a.look(&mut store, NOW).clashing, [B; 0]);
        assert_eq!(b.look(&mut store, NOW).clashing, [B]);
        assert_eq!(b.look(&mut store, NOW).clashing, [B; 0], "told once");
        let then = after(NOW, LISTED_BEFORE_USE_SECONDS);
        assert_eq!(
            (a.signs(then), b.signs(then)),
            (Some(B.to_owned()), Some(A.to_owned()))
        );
        assert!(
            b.signer.key(B).is_none(),
            "nor does it sign a receipt of that name anew"
        );
        let listed = |node: &Node| node.signer.list(then)[1].public_key;
        assert_eq!(listed(&a), listed(&b), "and it lists the other's");
        // The next one has a name of its own.
        assert_eq!(rotate_key(b.folder.path(), then).unwrap(), C);
        b.look(&mut store, then);
        let last = after(then, LISTED_BEFORE_USE_SECONDS);
        assert_eq!(b.signs(last), Some(C.to_owned()));
    }

    #[test]
    fn a_key_signs_only_once_the_store_has_it() {
        let folder = tempfile::tempdir().unwrap();
        new_key(folder.path(), NOW).unwrap();
        let node = node(folder);
        assert_eq!(node.signs(NOW), None);
        let mut store = Vec::new();
        node.look(&mut store, NOW);
        assert_eq!(node.signs(NOW), Some(A.to_owned()));
        // Out of reach afterwards: what signed goes on.
        rotate_key(node.folder.path(), NOW).unwrap();
        node.signer.reload(NOW).unwrap();
        assert_eq!(node.signs(after(NOW, 9_000)), Some(A.to_owned()));
    }
}
