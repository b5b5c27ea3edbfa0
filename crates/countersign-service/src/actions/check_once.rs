//! One check without a server, a store or a network: what `countersign check` does.

use super::issue_receipt::issue_receipt;
use crate::app::{Deadline, Letterhead, now};
use crate::config::Config;
use crate::pay::admit;
use crate::problem::Problem;
use crate::signer::Signer;
use countersign_core::check::budget::Budget;
use countersign_core::check::report::Report;
use countersign_core::check::request::{CompileAnew, Detail, Request};

/// A signed answer that nothing remembers.
pub struct Checked {
    /// The receipt's bytes.
    pub answer: Vec<u8>,
    /// Whether the result is `pass`.
    pub passed: bool,
    /// What the check found.
    pub report: Report,
}

/// Checks the body that one would POST and signs the answer. `detail` overrides what the request says.
pub fn check_once(
    config: &Config,
    signer: &Signer,
    body: &[u8],
    detail: Option<Detail>,
) -> Result<Checked, Problem> {
    if body.len() > config.body_bytes {
        return Err(Problem::BodyTooLarge {
            max_bytes: config.body_bytes,
        });
    }
    let deadline = Deadline::of_a_check();
    let mut request = Request::parse(body, &CompileAnew)?;
    request.detail = detail.unwrap_or(request.detail);
    let admission = admit(&request)?;
    let out_of_time = || deadline.is_over();
    let mut budget = Budget {
        out_of_time: &out_of_time,
        ..Budget::default()
    };
    let report = request.demand.check(&request.output, &mut budget)?;
    let letterhead = Letterhead::new(config, config.listen);
    let issued = issue_receipt(signer, &letterhead, now(), &request, &report, admission)?;
    Ok(Checked {
        answer: issued.answer,
        passed: issued.facts.passed(),
        report,
    })
}
