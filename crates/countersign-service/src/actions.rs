//! What the service does, one verb a file. Actions know no HTTP: bytes in, bytes or a [`crate::problem::Problem`]
//! out.

pub(crate) mod check_once;
pub(crate) mod check_output;
mod issue_receipt;
pub(crate) mod list_counted_checks;
pub(crate) mod look_up_reputation;
pub(crate) mod look_up_score;
pub(crate) mod read_receipt;
pub(crate) mod tell_readiness;
pub(crate) mod verify_receipt;
