//! The public half of every key that ever signed (verification.md, section 20).

/// A public key in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeyRow {
    /// The key's name, never used twice.
    pub key_version: String,
    /// Ed25519, raw.
    pub public_key: [u8; 32],
    /// The service's word for where the key stands; `compromised` stays for ever.
    pub status: String,
    /// When the key was first listed: microseconds since 1970, UTC.
    pub listed_at_micros: i64,
    /// From when the key signs, where somebody said so: microseconds since 1970, UTC.
    pub signs_from_micros: Option<i64>,
    /// The statement of the outgoing key that vouches for this one, as JSON.
    pub endorsement: Option<String>,
}
