//! Checks an output and gives a signed receipt: parse, admit, check, sign, keep, answer.
//!
//! Each step takes the value of the step before, so leaving one out does not compile.

use super::issue_receipt::issue_receipt;
use crate::app::{App, Deadline};
use crate::kept;
use crate::pay::{Admission, admit};
use crate::problem::{Problem, Unavailable};
use crate::schemas::LightSchemas;
use bytes::Bytes;
use countersign_core::check::budget::{Budget, Exhausted};
use countersign_core::check::invalid::InvalidRequest;
use countersign_core::check::report::Report;
use countersign_core::check::request::{Request, Schemas};
use countersign_core::time::Timestamp;
use countersign_store::ReceiptRow;
use std::sync::Arc;

/// Bytes of a body that is parsed and checked where it was read: about 1 ms. A larger one goes to the bench.
const LIGHT_BYTES_MAX: usize = 64 << 10;
/// What a check may spend where its body was read, about a quarter of a millisecond. One that needs more is
/// done again from the start on the bench, with the whole budget; so the result is the same on either path.
const LIGHT_EVALUATIONS: u64 = 20_000;
const LIGHT_PATTERN_STEPS: u64 = 10_000;

/// An answer that is kept. Only [`keep`] makes one, and nothing else leaves.
pub(crate) struct Kept {
    pub(crate) answer: Bytes,
    pub(crate) verified_at: Timestamp,
}

/// What null says in a member of the request that need not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// What the contract says.
    AsSent,
    /// Nothing: frameworks of agents write it for everything that was left out.
    Absent,
}

/// A signed receipt, and the row that has to be kept before it may leave.
struct Signed {
    answer: Vec<u8>,
    verified_at: Timestamp,
    row: ReceiptRow,
}

/// One check, from the body's bytes to the receipt's.
pub(crate) async fn check_output(app: &Arc<App>, body: Bytes, nulls: Nulls) -> Result<Kept, Problem> {
    let deadline = Deadline::of_a_check();
    // If the process dies before the row is kept, nothing has happened: no receipt exists, nothing was charged,
    // and the caller, who got no answer, sends the request again.
    let signed = match lightly(app, &body, nulls, deadline)? {
        Light::Signed(signed) => *signed,
        Light::TooHeavy(None) => {
            let bench_app = app.clone();
            let work = move || {
                let request = parse(&body, nulls, &bench_app.schemas)?;
                fully(&bench_app, &request, deadline)
            };
            app.bench.run(work).await??
        }
        Light::TooHeavy(Some(request)) => {
            let bench_app = app.clone();
            app.bench
                .run(move || fully(&bench_app, &request, deadline))
                .await??
        }
    };
    keep(app, signed).await
}

/// How far the quick path came.
enum Light {
    Signed(Box<Signed>),
    /// The bench has to do it, from the request if it could be parsed.
    TooHeavy(Option<Box<Request>>),
}

/// Tries the check where the body was read.
fn lightly(app: &App, body: &[u8], nulls: Nulls, deadline: Deadline) -> Result<Light, Problem> {
    if body.len() > LIGHT_BYTES_MAX {
        return Ok(Light::TooHeavy(None));
    }
    let schemas = LightSchemas::of(&app.schemas);
    let parsed = parse(body, nulls, &schemas);
    if schemas.refused() {
        return Ok(Light::TooHeavy(None));
    }
    let request = parsed?;
    let budget = Budget {
        evaluations: LIGHT_EVALUATIONS,
        pattern_steps: LIGHT_PATTERN_STEPS,
        out_of_time: &|| deadline.is_over(),
    };
    match check(app, &request, budget)? {
        Ok(signed) => Ok(Light::Signed(Box::new(signed))),
        Err(Exhausted::OutOfTime) => Err(Exhausted::OutOfTime.into()),
        Err(Exhausted::Evaluations | Exhausted::References(_) | Exhausted::PatternSteps(_)) => {
            Ok(Light::TooHeavy(Some(Box::new(request))))
        }
    }
}

fn parse(body: &[u8], nulls: Nulls, schemas: &dyn Schemas) -> Result<Request, InvalidRequest> {
    match nulls {
        Nulls::AsSent => Request::parse(body, schemas),
        Nulls::Absent => Request::parse_arguments(body, schemas),
    }
}

/// The check with its whole budget, for the bench.
fn fully(app: &App, request: &Request, deadline: Deadline) -> Result<Signed, Problem> {
    if deadline.is_over() {
        return Err(Problem::ServiceUnavailable(Unavailable::Overloaded));
    }
    let out_of_time = || deadline.is_over();
    let budget = Budget {
        out_of_time: &out_of_time,
        ..Budget::default()
    };
    Ok(check(app, request, budget)??)
}

/// Admits, checks and signs. The inner error is a spent budget: nothing was decided.
fn check(app: &App, request: &Request, mut budget: Budget<'_>) -> Result<Result<Signed, Exhausted>, Problem> {
    let admission = admit(request)?;
    match request.demand.check(&request.output, &mut budget) {
        Ok(report) => sign(app, request, &report, admission).map(Ok),
        Err(exhausted) => Ok(Err(exhausted)),
    }
}

/// Signs. If we die after this, a receipt existed for a moment that nobody saw.
fn sign(app: &App, request: &Request, report: &Report, proof: Admission) -> Result<Signed, Problem> {
    let issued = issue_receipt(&app.signer, &app.letterhead, app.now(), request, report, proof)?;
    Ok(Signed {
        verified_at: issued.facts.verified_at,
        row: kept::row(&issued.facts, request, report, &issued.key.version, &app.signer),
        answer: issued.answer,
    })
}

/// Keeps the receipt, then lets it go. If we die before the commit, no receipt exists. If we die after it and
/// before the answer is out, the receipt is kept, the caller has not seen it and asks again: there is one row
/// more than answers, and nobody holds a receipt that we do not know.
async fn keep(app: &App, signed: Signed) -> Result<Kept, Problem> {
    app.store.keep_receipt(signed.row).await?;
    Ok(Kept {
        answer: signed.answer.into(),
        verified_at: signed.verified_at,
    })
}
