//! Checks a receipt against the service's own keys; stores nothing, fetches nothing (verification.md,
//! section 20).

use crate::app::App;
use crate::problem::Problem;
use bytes::Bytes;
use countersign_core::receipt::VerifyRequest;
use std::sync::Arc;

/// The answer to one `POST /receipts/verify`.
pub(crate) async fn verify_receipt(app: &Arc<App>, body: Bytes) -> Result<Bytes, Problem> {
    // On the bench whatever its size: the request inside may hold a schema that is heavy to compile.
    let bench_app = app.clone();
    let work = move || {
        let asked = VerifyRequest::parse(&body)?;
        let keys = bench_app.signer.key_list(bench_app.now());
        Ok(asked.verify(&keys)?.answer().into())
    };
    app.bench.run(work).await?
}
