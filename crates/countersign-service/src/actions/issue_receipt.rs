//! Makes the statement about a check and signs it.

use crate::app::{Letterhead, VERSION, new_id};
use crate::pay::Admission;
use crate::problem::{Problem, Unavailable};
use crate::signer::{Signer, SigningKey};
use countersign_core::check::report::Report;
use countersign_core::check::request::Request;
use countersign_core::receipt::Facts;
use countersign_core::time::Timestamp;
use std::sync::Arc;

/// A signed receipt that nobody has seen yet.
pub(crate) struct Issued {
    pub(crate) facts: Facts,
    pub(crate) key: Arc<SigningKey>,
    pub(crate) answer: Vec<u8>,
}

/// Signs what a check found, in the shape that was asked for.
pub(crate) fn issue_receipt(
    signer: &Signer,
    letterhead: &Letterhead,
    now: Timestamp,
    request: &Request,
    report: &Report,
    _proof: Admission,
) -> Result<Issued, Problem> {
    let key = signer
        .current(now)
        .map_err(|error| Problem::ServiceUnavailable(Unavailable::Signing(error.to_string())))?;
    let facts = Facts::new(request, report, new_id(now).into_bytes(), now, VERSION);
    let unsigned = facts.receipt(report, request.detail, &letterhead.issuer(&key.version));
    let signature = key.sign(&unsigned.signed_bytes);
    let answer = unsigned.seal(&signature);
    Ok(Issued { facts, key, answer })
}
