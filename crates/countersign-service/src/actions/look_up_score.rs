//! Gives the signed score of an agent (verification.md, section 21).

use crate::agent_id::AgentId;
use crate::app::App;
use crate::kept;
use crate::problem::{Problem, Unavailable};
use bytes::Bytes;
use countersign_core::score::Scored;

/// The score of this agent; without a counted check the statement that there is no data, signed like any other.
pub(crate) async fn look_up_score(app: &App, agent: &AgentId) -> Result<Bytes, Problem> {
    let stored = app.store.agent(agent.as_str()).await?;
    let record = stored.as_ref().map(kept::record).transpose().map_err(tampered)?;
    let now = app.now();
    let score = Scored::new(agent.as_str(), record, now).map_err(tampered)?;
    let current = app.signer.current(now);
    let failed = |error: crate::signer::SignerError| Unavailable::Signing(error.to_string());
    let key = current.map_err(failed).map_err(Problem::ServiceUnavailable)?;
    let unsigned = score.statement(&app.letterhead.issuer(&key.version));
    let signature = key.sign(&unsigned.signed_bytes);
    Ok(unsigned.seal(&signature).into())
}

/// The alarm for a record that contradicts itself.
pub(super) fn tampered(fault: countersign_core::score::Implausible) -> Problem {
    let story =
        format!("ALARM: {fault}; they were changed by somebody other than this service, or are damaged");
    Problem::ServiceUnavailable(Unavailable::Tampered(story))
}
