//! Says whether a check could be answered now.

use crate::app::App;
use crate::problem::{Problem, Unavailable};
use std::time::Duration;

/// Time that the store is given to answer.
const STORE_WITHIN: Duration = Duration::from_secs(2);

/// Ready, or what is not.
pub(crate) async fn tell_readiness(app: &App) -> Result<(), Problem> {
    let not_ready = |what| Problem::ServiceUnavailable(Unavailable::NotReady(what));
    app.signer
        .current(app.now())
        .map_err(|_| not_ready("receipt key"))?;
    match tokio::time::timeout(STORE_WITHIN, app.store.is_ready()).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(not_ready("store")),
    }
}
