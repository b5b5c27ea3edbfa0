//! Tells the pass and fail history of an agent (verification.md, section 21): unsigned, and without a score.

use super::look_up_score::tampered;
use crate::agent_id::AgentId;
use crate::app::App;
use crate::kept;
use crate::problem::Problem;
use crate::wire;
use bytes::Bytes;

/// Checks that are listed one by one, the newest.
const RECENT_MAX: usize = 20;

/// The history of this agent: counts, first and last time, and the newest checks.
pub(crate) async fn look_up_reputation(app: &App, agent: &AgentId) -> Result<Bytes, Problem> {
    let stored = app.store.agent(agent.as_str()).await?;
    let record = stored.as_ref().map(kept::record).transpose().map_err(tampered)?;
    // A check that is kept between the two reads shows here already, and in the counts the next time.
    let recent = match record {
        Some(_) => {
            app.store
                .counted_checks_newest(agent.as_str(), RECENT_MAX)
                .await?
        }
        None => Vec::new(),
    };
    Ok(wire::reputation(app, agent, record.as_ref(), &recent).into())
}
