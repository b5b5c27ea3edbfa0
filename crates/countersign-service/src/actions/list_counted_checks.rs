//! Lists the checks that a score is computed from, without a server: what `countersign agent` does.

use crate::config::Config;
use crate::service::{ServeError, store_error, store_target};
use countersign_core::score::CountedCheck;
use countersign_core::time::Timestamp;
use countersign_store::Store;

/// Checks that are in memory at a time.
const PAGE_CHECKS: usize = 10_000;

/// Hands over the agent's counted checks in the order of their numbers, page by page. What is kept meanwhile comes
/// at the end. A database that a service uses can be read as well.
pub fn list_counted_checks<E: From<ServeError>>(
    config: &Config,
    agent: &str,
    mut hand_over: impl FnMut(&[CountedCheck]) -> Result<(), E>,
) -> Result<(), E> {
    let target = store_target(config)?;
    let failed = |error| store_error(&target, error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    let store = Store::look(&target).map_err(failed)?;
    let mut after = 0;
    loop {
        let page = runtime.block_on(store.counted_checks(agent, after, PAGE_CHECKS));
        let page = page.map_err(failed)?;
        let checks: Vec<_> = page
            .iter()
            .map(|check| CountedCheck {
                sequence: check.sequence,
                verified_at: Timestamp(check.verified_at_micros),
                passed: check.passed,
            })
            .collect();
        hand_over(&checks)?;
        match checks.last() {
            Some(last) if checks.len() == PAGE_CHECKS => after = last.sequence,
            _ => return store.close().map_err(failed).map_err(E::from),
        }
    }
}
