//! Gives the compact receipt of a stored check, rebuilt and signed again (verification.md, section 20).

use crate::app::App;
use crate::kept;
use crate::problem::{Problem, Unavailable};
use bytes::Bytes;
use countersign_core::receipt::Facts;
use countersign_core::time::Timestamp;
use countersign_store::StoredReceipt;
use uuid::Uuid;

/// A stored check, signed again.
pub(crate) struct Reissued {
    pub(crate) stored: StoredReceipt,
    pub(crate) facts: Facts,
    /// The compact receipt's bytes.
    pub(crate) json: Bytes,
    /// The key that signed now.
    pub(crate) key_version: String,
    pub(crate) attested_at: Timestamp,
}

/// The compact receipt of the check with this id. Malformed and unknown ids are both `NotFound`.
pub(crate) async fn read_receipt(app: &App, id: &str) -> Result<Reissued, Problem> {
    let id = parse_id(id).ok_or(Problem::NotFound)?;
    let stored = app.store.receipt(id).await?.ok_or(Problem::NotFound)?;
    let Some(facts) = kept::facts(&stored.row, &app.signer) else {
        let story = format!(
            "ALARM: stored receipt number {} fails its MAC; it was changed by somebody other than this service",
            stored.sequence
        );
        return Err(Problem::ServiceUnavailable(Unavailable::Tampered(story)));
    };
    // The key of the original gives the very bytes of the original. If it is gone or compromised, the current
    // key vouches, at the time it does so.
    let (key, attested_at) = if let Some(key) = app.signer.key(&stored.row.key_version) {
        (key, facts.verified_at)
    } else {
        let now = app.now();
        let current = app.signer.current(now);
        let failed = |error: crate::signer::SignerError| Unavailable::Signing(error.to_string());
        (current.map_err(failed).map_err(Problem::ServiceUnavailable)?, now)
    };
    let unsigned = facts.compact(&app.letterhead.issuer(&key.version), attested_at);
    let signature = key.sign(&unsigned.signed_bytes);
    Ok(Reissued {
        json: unsigned.seal(&signature).into(),
        key_version: key.version.clone(),
        stored,
        facts,
        attested_at,
    })
}

/// The one spelling of an id: 36 characters, lower case.
fn parse_id(text: &str) -> Option<[u8; 16]> {
    let id = Uuid::try_parse(text).ok()?;
    (id.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text).then(|| id.into_bytes())
}
