//! The offline receipt check: five steps, no network (section 20).

use crate::canonical::Hash;
use crate::check::request::{Hashes, levels_of};
use crate::document::{Members, Part};
use crate::json::{Object, Value, read_nested};
use crate::key::{KeyList, KeyStatus};
use crate::limits::NESTING_MAX;
use crate::statement::{Attestation, Context, signed_bytes};

/// How a receipt check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The signature is a listed key's and no hash differs.
    Valid,
    /// As valid, but the list says that the key is compromised: the receipt proves nothing.
    KeyCompromised,
    /// The signature is good, but an input at hand is not the one that was checked.
    HashMismatch,
    /// The signature is not the key's over these members.
    BadSignature,
    /// The key list has no key of that version.
    UnknownKey,
    /// This is not a receipt.
    Malformed,
}

/// What became of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureCheck {
    /// It is the key's over these members.
    Valid,
    /// It is not.
    BadSignature,
    /// There is no such key in the list.
    UnknownKey,
}

/// What became of one hash that the receipt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashCheck {
    /// The input at hand has this hash.
    Match,
    /// It has another.
    Mismatch,
    /// There was no input to compare.
    NotChecked,
}

/// The inputs at hand, to compare their hashes.
#[derive(Clone, Debug, Default)]
pub struct Supplied {
    /// Of the output.
    pub output: Option<Hash>,
    /// Of the schema.
    pub schema: Option<Hash>,
    /// Of rules and bounds.
    pub rules: Option<Hash>,
    /// Of the whole request.
    pub request: Option<Hash>,
}

impl From<Hashes> for Supplied {
    fn from(hashes: Hashes) -> Self {
        Supplied {
            output: Some(hashes.output),
            schema: Some(hashes.schema),
            rules: Some(hashes.rules),
            request: Some(hashes.request),
        }
    }
}

/// What a receipt turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The kind of document.
    pub context: Context,
    /// What became of the signature.
    pub signature: SignatureCheck,
    /// The key that the receipt names.
    pub key_version: String,
    /// Its status, if the list tells one.
    pub key_status: Option<KeyStatus>,
    /// When it was signed, as the receipt says.
    pub attested_at: String,
    /// The hashes that the receipt carries, and what became of each.
    pub hashes: Vec<(&'static str, HashCheck)>,
}

impl Verified {
    /// The one word for it.
    pub fn outcome(&self) -> Outcome {
        match self.signature {
            SignatureCheck::UnknownKey => Outcome::UnknownKey,
            SignatureCheck::BadSignature => Outcome::BadSignature,
            SignatureCheck::Valid if self.hashes.iter().any(|(_, check)| *check == HashCheck::Mismatch) => {
                Outcome::HashMismatch
            }
            SignatureCheck::Valid if self.key_status == Some(KeyStatus::Compromised) => {
                Outcome::KeyCompromised
            }
            SignatureCheck::Valid => Outcome::Valid,
        }
    }

    /// The members that both the command and the service tell.
    pub fn members(&self) -> Members<'_> {
        let hashes = self
            .hashes
            .iter()
            .map(|(name, check)| (*name, check.as_str().into()))
            .collect();
        vec![
            ("key_version", self.key_version.as_str().into()),
            (
                "key_status",
                self.key_status
                    .map_or(Part::Null, |status| status.as_str().into()),
            ),
            ("attested_at", self.attested_at.as_str().into()),
            ("hashes", Part::Object(hashes)),
        ]
    }
}

/// Checks a receipt's text. `None` is [`Outcome::Malformed`]: not strict JSON, or not the shape of a receipt.
pub fn verify(receipt: &[u8], keys: &KeyList, supplied: &Supplied) -> Option<Verified> {
    let receipt = read_nested(receipt, NESTING_MAX, levels_of).ok()?;
    verify_value(&receipt, keys, supplied)
}

/// Checks a receipt that the strict reader has read.
pub fn verify_value(receipt: &Value, keys: &KeyList, supplied: &Supplied) -> Option<Verified> {
    let receipt = receipt.as_object()?;
    let attestation = Attestation::of(receipt)?;
    let context = context_of(receipt)?;
    let key = keys.find(attestation.key_version);
    let signature = match key {
        None => SignatureCheck::UnknownKey,
        Some((key, _)) => {
            let message = signed_bytes(context, attestation.key_version, attestation.attested_at, receipt);
            if key.verifies(&message, attestation.signature) {
                SignatureCheck::Valid
            } else {
                SignatureCheck::BadSignature
            }
        }
    };
    Some(Verified {
        context,
        signature,
        key_version: attestation.key_version.to_owned(),
        key_status: key.and_then(|(_, status)| status),
        attested_at: attestation.attested_at.to_owned(),
        hashes: compare(receipt, supplied),
    })
}

fn context_of(receipt: &Object) -> Option<Context> {
    if receipt.get("verification_id").is_some() {
        Some(Context::Check)
    } else {
        receipt.get("trust_score").map(|_| Context::Score)
    }
}

fn compare(receipt: &Object, supplied: &Supplied) -> Vec<(&'static str, HashCheck)> {
    let inputs = [
        ("output_hash", supplied.output),
        ("schema_hash", supplied.schema),
        ("rules_hash", supplied.rules),
        ("request_hash", supplied.request),
    ];
    let check = |(name, input): (&'static str, Option<Hash>)| {
        let carried = receipt.get(name)?;
        let check = match input {
            None => HashCheck::NotChecked,
            Some(hash) if carried.as_str() == Some(&hash.to_string()) => HashCheck::Match,
            Some(_) => HashCheck::Mismatch,
        };
        Some((name, check))
    };
    inputs.into_iter().filter_map(check).collect()
}

impl Outcome {
    /// The outcome's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Valid => "valid",
            Outcome::KeyCompromised => "key_compromised",
            Outcome::HashMismatch => "hash_mismatch",
            Outcome::BadSignature => "bad_signature",
            Outcome::UnknownKey => "unknown_key",
            Outcome::Malformed => "malformed",
        }
    }
}

impl SignatureCheck {
    /// The name that the service's answer uses.
    pub fn as_str(self) -> &'static str {
        match self {
            SignatureCheck::Valid => "valid",
            SignatureCheck::BadSignature => "bad_signature",
            SignatureCheck::UnknownKey => "unknown_key",
        }
    }
}

impl HashCheck {
    fn as_str(self) -> &'static str {
        match self {
            HashCheck::Match => "match",
            HashCheck::Mismatch => "mismatch",
            HashCheck::NotChecked => "not_checked",
        }
    }
}
