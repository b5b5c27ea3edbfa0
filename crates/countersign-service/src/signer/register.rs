//! The register: every receipt key that was ever listed, oldest first, and from when it signs. Public.

use countersign_core::document::{Part, json};
use countersign_core::json::{Value, read};
use countersign_core::key::{Endorsement, NamedKey, PublicKey};
use countersign_core::time::Timestamp;

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Register {
    pub(super) entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) version: String,
    pub(super) public_key: PublicKey,
    pub(super) listed_at: Timestamp,
    pub(super) signs_from: Timestamp,
    pub(super) compromised: bool,
    /// The word of the key that signed when this one was made.
    pub(super) endorsement: Option<Endorsement>,
    /// Another node's key, learned from the store: it counts as long as its endorsements lead to a key of this
    /// node's own, and its private half is not missed here.
    pub(super) elsewhere: bool,
}

impl Register {
    /// Reads a register; `None` unless it is one, with at least one key and each version once.
    pub(super) fn parse(text: &[u8]) -> Option<Register> {
        let document = read(text).ok()?;
        let keys = document.get("keys")?.as_array()?;
        let mut entries: Vec<Entry> = Vec::with_capacity(keys.len());
        for key in keys {
            let entry = Entry::parse(key)?;
            if entries.iter().any(|known| known.version == entry.version) {
                return None;
            }
            entries.push(entry);
        }
        (!entries.is_empty()).then_some(Register { entries })
    }

    pub(super) fn entry(&self, version: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.version == version)
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let keys = self.entries.iter().map(Entry::part).collect();
        let mut text = json(&vec![("keys", Part::List(keys))]);
        text.push(b'\n');
        text
    }
}

/// Whether this text can name a key here: a version becomes part of a file name.
pub(super) fn is_version(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=64).contains(&text.len()) && text.chars().all(plain)
}

impl Entry {
    fn parse(key: &Value) -> Option<Entry> {
        let version = key.get("key_version")?.as_str()?;
        is_version(version).then_some(())?;
        let micros = |name| {
            let number = key.get(name)?.as_number()?;
            number.is_integer().then(|| Timestamp(number.value() as i64))
        };
        let endorsement = match key.get("endorsement") {
            None => None,
            Some(endorsement) => Some(Endorsement::read(endorsement)?),
        };
        let elsewhere = match key.get("elsewhere") {
            None => false,
            Some(elsewhere) => elsewhere.as_bool()?,
        };
        Some(Entry {
            version: version.to_owned(),
            public_key: PublicKey::from_base64(key.get("public_key")?.as_str()?)?,
            listed_at: micros("listed_at_micros")?,
            signs_from: micros("signs_from_micros")?,
            compromised: key.get("compromised")?.as_bool()?,
            endorsement,
            elsewhere,
        })
    }

    /// Version and key, which an endorsement binds.
    pub(super) fn named(&self) -> NamedKey<'_> {
        (&self.version, self.public_key)
    }

    /// Microseconds between listing and first signature, by one clock: 0 for a key that was needed at once.
    pub(super) fn wait(&self) -> i64 {
        self.signs_from.0 - self.listed_at.0
    }

    fn part(&self) -> Part<'_> {
        // Times are after 1970 and below 2^53 microseconds, the year 2255: exact in every JSON reader.
        let micros = |time: Timestamp| Part::Integer(u64::try_from(time.0).unwrap_or(0));
        let mut members = vec![
            ("key_version", self.version.as_str().into()),
            ("public_key", self.public_key.to_base64().into()),
            ("listed_at_micros", micros(self.listed_at)),
            ("signs_from_micros", micros(self.signs_from)),
            ("compromised", Part::Bool(self.compromised)),
        ];
        members.extend(self.endorsement.as_ref().map(|word| ("endorsement", word.part())));
        members.extend(self.elsewhere.then_some(("elsewhere", Part::Bool(true))));
        Part::Object(members)
    }
}
