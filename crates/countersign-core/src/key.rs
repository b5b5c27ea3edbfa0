//! Ed25519 public keys and the list of every key that a service ever used (verification.md, section 20).

use crate::json::{Fault, Value, read};
use crate::limits::KEY_LIST_ENTRIES_MAX;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use std::collections::BTreeSet;

mod succession;

pub use succession::{Endorsement, NamedKey, Rooted};

/// The beginning of the `uri` of the agent card's extension that lists receipt keys; a version follows.
pub const ATTESTATION_EXTENSION: &str = "urn:json-schema-verifier:extension:attestation:";
/// `publicKeyEncoding` of every listed key.
pub const PUBLIC_KEY_ENCODING: &str = "base64 of the raw 32-byte Ed25519 public key";
/// The one signature algorithm.
pub const ALGORITHM: &str = "Ed25519";

/// What a listed key is for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// Listed, not yet in use.
    Next,
    /// Signs now.
    Current,
    /// Signed once; its receipts stay valid.
    Previous,
    /// Its private half may be known to others: nothing it signed proves anything.
    Compromised,
}

impl KeyStatus {
    /// The status as the key list spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyStatus::Next => "next",
            KeyStatus::Current => "current",
            KeyStatus::Previous => "previous",
            KeyStatus::Compromised => "compromised",
        }
    }

    fn named(name: &str) -> Option<Self> {
        use KeyStatus::{Compromised, Current, Next, Previous};
        [Next, Current, Previous, Compromised]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

/// The raw 32 bytes of an Ed25519 public key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Reads standard base64 with padding, canonical.
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(PublicKey)
    }

    /// Standard base64 with padding.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// Whether `signature` (standard base64 with padding) is this key's over `message`. Strict: canonical
    /// base64, canonical scalar, no key and no commitment of small order.
    pub fn verifies(self, message: &[u8], signature: &str) -> bool {
        let signature = STANDARD
            .decode(signature)
            .ok()
            .and_then(|bytes| Signature::from_slice(&bytes).ok());
        let key = VerifyingKey::from_bytes(&self.0).ok();
        match (key, signature) {
            (Some(key), Some(signature)) => key.verify_strict(message, &signature).is_ok(),
            _ => false,
        }
    }
}

/// The base64 form of a signature, as an attestation carries it.
pub fn signature_text(signature: &[u8; 64]) -> String {
    STANDARD.encode(signature)
}

/// One key of a key list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKey {
    /// The name that attestations use: `v1-2026-09c`.
    pub key_version: String,
    /// The key.
    pub public_key: PublicKey,
    /// Its status; absent in lists that tell none.
    pub status: Option<KeyStatus>,
    /// The word of the key before it; none for a first key. Not checked by reading it.
    pub endorsement: Option<Endorsement>,
}

impl ListedKey {
    /// Version and key, which an endorsement binds.
    pub fn named(&self) -> NamedKey<'_> {
        (&self.key_version, self.public_key)
    }
}

/// The keys that a caller trusts for one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyList {
    /// A list, each version once.
    Listed(Vec<ListedKey>),
    /// One key, pinned by hand: used whatever version a receipt names.
    Pinned(PublicKey),
    /// A list from anywhere, and the one key of it that is trusted.
    Rooted(Rooted),
}

/// A key list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKeyList {
    /// Not strict JSON.
    #[error("the key list is not strict JSON (line {}, column {}); save it again from its source", .0.line, .0.column)]
    Json(Box<Fault>),
    /// No array of keys where a key list or an agent card has one.
    #[error(
        "no keys found; give an agent card with the attestation extension, or {{\"publicKeys\": [...]}}, \
         {{\"keys\": [...]}} or a bare array of keys"
    )]
    NoKeys,
    /// An entry that is no key.
    #[error(
        "entry {0} of the key list needs keyVersion, algorithm and a canonical base64 publicKey of 32 bytes"
    )]
    Entry(usize),
    /// Two entries with one version.
    #[error("two entries of the key list have the same keyVersion; keep the one you trust")]
    Repeated,
    /// Two entries with one key, in a list that is not trusted: which status is the key's?
    #[error("two entries of the key list have the same publicKey; fetch the list again from its source")]
    RepeatedKey,
    /// A longer list than anybody needs.
    #[error("the key list has more than {KEY_LIST_ENTRIES_MAX} entries; give one service's list alone")]
    TooLong,
    /// An entry that leaves unsaid what decides about a list that is not trusted.
    #[error(
        "entry {0} of the key list lacks algorithm, publicKeyEncoding or status in their known form, which a list \
         to be followed from --root-key needs; fetch the service's agent card"
    )]
    Unsaid(usize),
}

impl KeyList {
    /// Reads an agent card, an object with `publicKeys` or `keys`, or a bare array of keys. Keys of other
    /// algorithms are left out.
    pub fn parse(text: &[u8]) -> Result<Self, BadKeyList> {
        read_entries(text, Saying::Enough).map(KeyList::Listed)
    }

    /// Reads the same kinds of list, not trusting it: only `root` is trusted, and what it leads to by valid
    /// endorsements. Each entry must say everything that an agent card says of a key.
    pub fn parse_rooted(text: &[u8], root: PublicKey) -> Result<Self, BadKeyList> {
        let keys = read_entries(text, Saying::All)?;
        Rooted::new(vec![root], keys).map(KeyList::Rooted)
    }

    /// The key that a receipt of `key_version` must verify under, and its status.
    pub fn find(&self, key_version: &str) -> Option<(PublicKey, Option<KeyStatus>)> {
        match self {
            KeyList::Pinned(key) => Some((*key, None)),
            KeyList::Listed(keys) => {
                let found = keys.iter().find(|key| key.key_version == key_version)?;
                Some((found.public_key, found.status))
            }
            KeyList::Rooted(rooted) => {
                let found = rooted.find(key_version)?;
                Some((found.public_key, found.status))
            }
        }
    }
}

/// How much an entry has to say.
#[derive(Clone, Copy, PartialEq)]
enum Saying {
    /// Version and key, as other services' lists do.
    Enough,
    /// All members that are no endorsement. A list that is not trusted shall not pass with a name misspelt: what
    /// an entry leaves out would be filled in with the best.
    All,
}

fn read_entries(text: &[u8], saying: Saying) -> Result<Vec<ListedKey>, BadKeyList> {
    let document = read(text).map_err(BadKeyList::Json)?;
    let entries = key_array(&document).ok_or(BadKeyList::NoKeys)?;
    if entries.len() > KEY_LIST_ENTRIES_MAX {
        return Err(BadKeyList::TooLong);
    }
    let mut keys = Vec::with_capacity(entries.len());
    let mut versions = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let text = |name| entry.get(name).and_then(Value::as_str);
        if text("algorithm").is_some_and(|algorithm| algorithm != ALGORITHM) {
            continue;
        }
        let key = read_entry(entry).ok_or(BadKeyList::Entry(index))?;
        let says_all = key.status.is_some()
            && text("algorithm").is_some()
            && text("publicKeyEncoding") == Some(PUBLIC_KEY_ENCODING);
        if saying == Saying::All && !says_all {
            return Err(BadKeyList::Unsaid(index));
        }
        if !versions.insert(key.key_version.clone()) {
            return Err(BadKeyList::Repeated);
        }
        keys.push(key);
    }
    Ok(keys)
}

fn read_entry(entry: &Value) -> Option<ListedKey> {
    let text = |name| entry.get(name).and_then(Value::as_str);
    let status = match entry.get("status") {
        None => None,
        Some(status) => Some(status.as_str().and_then(KeyStatus::named)?),
    };
    Some(ListedKey {
        key_version: text("keyVersion")?.to_owned(),
        public_key: text("publicKey").and_then(PublicKey::from_base64)?,
        status,
        // One that cannot be read endorses nobody, and says nothing against the key.
        endorsement: entry.get("endorsement").and_then(Endorsement::read),
    })
}

fn key_array(document: &Value) -> Option<&[Value]> {
    let extension = || {
        let extensions = document.get("capabilities")?.get("extensions")?.as_array()?;
        let attestation = extensions.iter().find(|extension| {
            extension
                .get("uri")
                .and_then(Value::as_str)
                .is_some_and(|uri| uri.starts_with(ATTESTATION_EXTENSION))
        })?;
        attestation.get("params")?.get("publicKeys")?.as_array()
    };
    document
        .as_array()
        .or_else(|| document.get("publicKeys")?.as_array())
        .or_else(|| document.get("keys")?.as_array())
        .or_else(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "d2IHH0/Xduci/5J8IewYmauUvgqf+gFIeCEXDwjHUhw=";

    #[test]
    fn key_lists_come_in_four_shapes() {
        let entry = format!(r#"{{"keyVersion":"v1","algorithm":"Ed25519","publicKey":"{KEY}"}}"#);
        let shapes = [
            format!("[{entry}]"),
            format!(r#"{{"keys":[{entry}]}}"#),
            format!(r#"{{"publicKeys":[{entry}]}}"#),
            format!(
                r#"{{"capabilities":{{"extensions":[{{"uri":"x"}},{{"uri":"{ATTESTATION_EXTENSION}v1","params":{{"publicKeys":[{entry}]}}}}]}}}}"#
            ),
        ];
        for shape in shapes {
            let list = KeyList::parse(shape.as_bytes()).unwrap();
            assert_eq!(
                list.find("v1"),
                PublicKey::from_base64(KEY).map(|key| (key, None)),
                "{shape}"
            );
            assert_eq!(list.find("v2"), None);
        }
    }

    #[test]
    fn unreadable_lists_are_refused() {
        let entry = |key: &str| format!(r#"{{"keyVersion":"v1","publicKey":"{key}"}}"#);
        let rows = [
            ("{".to_owned(), "strict JSON"),
            ("{}".to_owned(), "no keys found"),
            (format!("[{}]", entry("AA==")), "entry 0"),
            (format!("[{}]", entry(&KEY[..43])), "entry 0"),
            (format!("[{}]", entry(&KEY.replace("hw=", "hx="))), "entry 0"),
            (format!("[{},{}]", entry(KEY), entry(KEY)), "the same keyVersion"),
            (r#"[{"keyVersion":"v1"}]"#.to_owned(), "entry 0"),
            (
                format!(r#"[{{"keyVersion":"v1","publicKey":"{KEY}","status":"good"}}]"#),
                "entry 0",
            ),
            (format!("[{}]", vec!["{}"; 10_001].join(",")), "more than 10000"),
        ];
        for (text, expected) in rows {
            let error = KeyList::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
