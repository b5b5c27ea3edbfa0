//! Key succession: the outgoing key's signed word for the new one, and the way along such words from a pinned root
//! key (its page in docs/decisions).
//!
//! An endorsement proves descent, not freshness: who serves a list can leave out its newest entries, and with them
//! the news that a key was compromised.

use super::{BadKeyList, KeyStatus, ListedKey, PublicKey, signature_text};
use crate::document::{Document, Part, json_of};
use crate::json::{Value, read};
use crate::limits::KEY_CHAIN_MAX;
use crate::statement::{Context, Unsigned};
use crate::time::Timestamp;

/// The word of one key for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endorsement {
    /// The version of the key that signed.
    pub key_version: String,
    /// When it signed, as it says.
    pub attested_at: Timestamp,
    /// The signature in base64.
    pub signature: String,
}

/// A key by its version and its bytes: an endorsement binds both, of both keys.
pub type NamedKey<'a> = (&'a str, PublicKey);

impl Endorsement {
    /// Endorses a key; `sign` signs with the endorser's private half.
    pub fn new(
        endorser: NamedKey<'_>,
        heir: NamedKey<'_>,
        attested_at: Timestamp,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Self {
        Endorsement {
            key_version: endorser.0.to_owned(),
            attested_at,
            signature: signature_text(&sign(&statement(endorser, heir, attested_at))),
        }
    }

    /// Reads the `endorsement` of a key list's entry: exactly its three members, since nothing else in it is
    /// signed.
    pub fn read(value: &Value) -> Option<Self> {
        let members = value.as_object().filter(|members| members.len() == 3)?;
        let text = |name| members.get(name).and_then(Value::as_str);
        Some(Endorsement {
            key_version: text("keyVersion")?.to_owned(),
            attested_at: Timestamp::parse(text("attestedAt")?)?,
            signature: text("signature")?.to_owned(),
        })
    }

    /// The same from JSON text.
    pub fn parse(text: &[u8]) -> Option<Self> {
        Endorsement::read(&read(text).ok()?)
    }

    /// As a key list's entry shows it.
    pub fn part(&self) -> Part<'_> {
        Part::Object(vec![
            ("keyVersion", self.key_version.as_str().into()),
            ("attestedAt", self.attested_at.to_string().into()),
            ("signature", self.signature.as_str().into()),
        ])
    }

    /// The same as JSON text.
    pub fn to_json(&self) -> Vec<u8> {
        json_of(&self.part())
    }

    /// Whether this is the endorser's word for the heir. Strict, as every signature check.
    pub fn verifies(&self, endorser: NamedKey<'_>, heir: NamedKey<'_>) -> bool {
        endorser.0 == self.key_version
            && endorser
                .1
                .verifies(&statement(endorser, heir, self.attested_at), &self.signature)
    }
}

/// The bytes that are signed: the five-member envelope of every statement, under the endorser's version.
fn statement(endorser: NamedKey<'_>, heir: NamedKey<'_>, attested_at: Timestamp) -> Vec<u8> {
    let mut response = Document::default();
    response.text("key_version", heir.0);
    response.text("public_key", &heir.1.to_base64());
    response.text("endorser_public_key", &endorser.1.to_base64());
    Unsigned::new(Context::KeySuccession, endorser.0, attested_at, response).signed_bytes
}

/// A key list that is not trusted, and the keys of it that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rooted {
    /// Sorted.
    roots: Vec<PublicKey>,
    /// Sorted by version, each once; each public key once.
    keys: Vec<ListedKey>,
}

impl Rooted {
    /// A list in which each version is there once.
    pub fn new(mut roots: Vec<PublicKey>, mut keys: Vec<ListedKey>) -> Result<Self, BadKeyList> {
        let mut public_keys: Vec<_> = keys.iter().map(|key| key.public_key).collect();
        public_keys.sort_unstable();
        if public_keys.windows(2).any(|two| two[0] == two[1]) {
            return Err(BadKeyList::RepeatedKey);
        }
        roots.sort_unstable();
        keys.sort_unstable_by(|a, b| a.key_version.cmp(&b.key_version));
        Ok(Rooted { roots, keys })
    }

    /// The key of this version, if a root leads to it. It may itself be compromised; its status tells.
    ///
    /// A root leads to itself. A key that a root leads to leads on to every key that it endorsed, if it is not
    /// compromised (whoever has the private half can make any endorsement, of any date), if it has been in use,
    /// and if it was itself endorsed earlier. At most [`KEY_CHAIN_MAX`] endorsements lie between root and key.
    pub fn find(&self, key_version: &str) -> Option<&ListedKey> {
        let found = self.entry(key_version)?;
        let mut chain = Vec::new();
        let (mut heir, mut before) = (found, None);
        // On the way up times only fall, so no way leads round in a circle. Signatures are checked once the way is
        // known to reach a root: a list of somebody else costs none.
        while self.roots.binary_search(&heir.public_key).is_err() {
            let endorsement = heir.endorsement.as_ref()?;
            let endorser = self.entry(&endorsement.key_version)?;
            let in_time = before.is_none_or(|time| endorsement.attested_at < time);
            if !in_time || !may_endorse(endorser) || chain.len() == KEY_CHAIN_MAX {
                return None;
            }
            chain.push((endorsement, endorser, heir));
            (heir, before) = (endorser, Some(endorsement.attested_at));
        }
        let holds = |(endorsement, endorser, heir): (&Endorsement, &ListedKey, &ListedKey)| {
            endorsement.verifies(endorser.named(), heir.named())
        };
        chain.into_iter().all(holds).then_some(found)
    }

    fn entry(&self, key_version: &str) -> Option<&ListedKey> {
        let at = self
            .keys
            .binary_search_by(|key| key.key_version.as_str().cmp(key_version));
        self.keys.get(at.ok()?)
    }
}

fn may_endorse(endorser: &ListedKey) -> bool {
    matches!(endorser.status, Some(KeyStatus::Current | KeyStatus::Previous))
}
