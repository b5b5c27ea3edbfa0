//! JSON-RPC 2.0 as `/mcp` and `/a2a` speak it over HTTP: one message a body, read strictly, and its answer. What the
//! methods are is the doors' business.

mod envelope;
mod skim;

pub(crate) use envelope::{Call, Cut, Id, Message, Step, Way, read};

use crate::problem::Problem;
use bytes::Bytes;
use countersign_core::canonical::write_string;
use countersign_core::document::{Members, Part, json_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The text is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The message is not a JSON-RPC request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The method does not take these parameters.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// A fault of ours.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// Too many requests; the number is that of HTTP.
const RATE_LIMITED: i32 = 429;

/// What a door answers: the status, and a JSON body or none.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
    pub(crate) retry_after: Option<u64>,
}

/// What a request of the protocol got wrong. `message` and `data` hold no value of the caller's.
pub(crate) struct RpcError {
    pub(crate) status: u16,
    pub(crate) code: i32,
    pub(crate) message: &'static str,
    pub(crate) data: Option<Part<'static>>,
}

impl Reply {
    /// An answer with a JSON body.
    pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Reply {
            status,
            body: body.into(),
            retry_after: None,
        }
    }

    /// 202 without a body: a notification was heard.
    pub(crate) fn heard() -> Self {
        Reply::json(202, Bytes::new())
    }

    /// The result of a request, whose JSON text this is.
    pub(crate) fn result(id: &Id, result: &[u8]) -> Self {
        let mut body = Vec::with_capacity(result.len() + 64);
        body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        body.extend_from_slice(id.json().as_bytes());
        body.extend_from_slice(b",\"result\":");
        body.extend_from_slice(result);
        body.push(b'}');
        Reply::json(200, body)
    }

    /// A refusal of what came, before or after its id could be read. An id that could not is left out: null would
    /// be another's.
    pub(crate) fn error(id: Option<&Id>, error: &RpcError) -> Self {
        let data = error.data.as_ref().map(json_of);
        Reply::json(
            error.status,
            error_json(id, error.code, error.message, data.as_deref()),
        )
    }

    /// A problem that ends a request before the protocol has begun: its status, and its code in `data`.
    pub(crate) fn problem(problem: &Problem, request_id: &str) -> Self {
        let code = problem.code();
        let mut data: Members<'_> = vec![("code", code.name.into())];
        if let Problem::BodyTooLarge { max_bytes } | Problem::HeadersTooLarge { max_bytes } = problem {
            data.push(("max_bytes", Part::Integer(*max_bytes as u64)));
        }
        if let Some(seconds) = problem.retry_after() {
            data.push(("retry_after", Part::Integer(seconds)));
        }
        let rpc_code = match code.status {
            429 => RATE_LIMITED,
            500.. => INTERNAL_ERROR,
            _ => INVALID_REQUEST,
        };
        let data = json_of(&Part::Object(data));
        let body = error_json(None, rpc_code, &problem.message(request_id), Some(&data));
        Reply {
            retry_after: problem.retry_after(),
            ..Reply::json(code.status, body)
        }
    }
}

impl RpcError {
    /// An error without data.
    pub(crate) fn new(status: u16, code: i32, message: &'static str) -> Self {
        RpcError {
            status,
            code,
            message,
            data: None,
        }
    }
}

fn error_json(id: Option<&Id>, code: i32, message: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut body = b"{\"jsonrpc\":\"2.0\"".to_vec();
    if let Some(id) = id {
        body.extend_from_slice(b",\"id\":");
        body.extend_from_slice(id.json().as_bytes());
    }
    body.extend_from_slice(format!(",\"error\":{{\"code\":{code},\"message\":").as_bytes());
    write_string(message, &mut body);
    if let Some(data) = data {
        body.extend_from_slice(b",\"data\":");
        body.extend_from_slice(data);
    }
    body.extend_from_slice(b"}}");
    body
}

/// Does a tool's or a task's work. What panics is that one's work: its caller gets a problem, in the form of the
/// protocol.
pub(crate) async fn caught<T>(work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    let mut work = pin!(work);
    std::future::poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(_) => Poll::Ready(Err(Problem::InternalError("a handler panicked".to_owned()))),
        },
    )
    .await
}
