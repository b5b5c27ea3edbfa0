//! The money bracket. In open mode there is none: every valid request may run.

use crate::problem::Problem;
use countersign_core::check::request::Request;

/// Proof that this check may run. Only [`admit`] makes one, and no receipt is signed without it.
pub(crate) struct Admission(());

/// Admits a valid request.
#[expect(
    clippy::unnecessary_wraps,
    reason = "an instance that charges refuses here; its callers are written for that"
)]
pub(crate) fn admit(_request: &Request) -> Result<Admission, Problem> {
    Ok(Admission(()))
}
