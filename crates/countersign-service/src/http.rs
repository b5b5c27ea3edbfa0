//! The public door: from an HTTP request to an action and back. A door only translates.

mod accept;
mod answer;
mod body;
mod connection;
mod headers;
mod protocol;
mod route;
mod server;
mod socket;
mod turn;

pub(crate) use server::{Server, Workers, allow_open_files};

use crate::actions::{
    check_output::{self, Nulls},
    look_up_reputation, look_up_score, read_receipt, tell_readiness, verify_receipt,
};
use crate::agent_id::AgentId;
use crate::app::{App, new_id};
use crate::mcp::Mcp;
use crate::problem::{Problem, Unavailable};
use crate::{pages, wire};
use answer::Answer;
use body::{BodyRoom, Unread};
use bytes::Bytes;
use headers::{HTML, HeaderSets, JSON};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::header::{ACCEPT, CONNECTION, HeaderMap, HeaderValue, IF_NONE_MATCH, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response};
use protocol::Caller;
use route::Target;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Bytes of a request's line and headers. More are answered 431.
pub(crate) const HEAD_BYTES_MAX: usize = 32 << 10;
/// Headers of a request. More are answered 431.
pub(crate) const HEADERS_MAX: usize = 100;

/// How long the door waits for whom. Shorter in tests.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the head of a request, counted from the end of the one before.
    pub head: Duration,
    /// For the whole of a body.
    pub body: Duration,
    /// For a client that does not read its answer.
    pub answer: Duration,
    /// For what runs when the service stops.
    pub stop: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            answer: Duration::from_secs(30),
            stop: Duration::from_secs(10),
        }
    }
}

/// What one worker answers with.
pub(crate) struct Door {
    app: Arc<App>,
    headers: HeaderSets,
    mcp: Mcp,
    room: Arc<BodyRoom>,
    patience: Patience,
}

/// The connection cannot go on: its client did not send what it announced.
#[derive(Debug, thiserror::Error)]
#[error("the client did not send its body in time")]
pub(crate) struct Abandoned;

impl Door {
    pub(crate) fn new(app: Arc<App>, room: Arc<BodyRoom>, patience: Patience) -> Self {
        Door {
            headers: HeaderSets::new(&app.letterhead.public_url),
            mcp: Mcp::new(&app),
            app,
            room,
            patience,
        }
    }

    /// Answers one request. `Err` closes the connection without an answer.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Abandoned> {
        let request_id = self.request_id(request.headers());
        let caller = Caller::of(&request, &self.app.gate);
        let answered = {
            let mut work = pin!(self.route(request, &request_id));
            // What panics is one request's work: locks recover from poison, and everything else that it
            // touched is dropped with it.
            std::future::poll_fn(|context| {
                match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
                    Ok(poll) => poll,
                    Err(_) => Poll::Ready(Err(Refusal::Problem(Problem::InternalError(
                        "a handler panicked".to_owned(),
                    )))),
                }
            })
            .await
        };
        let (answer, is_last) = match answered {
            Ok(answer) => (answer, false),
            Err(Refusal::Abandoned) => return Err(Abandoned),
            Err(Refusal::Problem(problem)) => {
                let id = request_id.to_str().unwrap_or_default();
                problem.log_cause(id);
                let answer = match &caller {
                    Some(_) => protocol::refusal(&problem, id),
                    None => Answer::problem(&problem, id),
                };
                (answer, ends_connection(&problem))
            }
        };
        let mut response = answer.into_response(&self.headers, request_id);
        if let Some(caller) = caller {
            caller.mark(response.headers_mut());
        }
        if is_last {
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(response)
    }

    async fn route(&self, request: Request<Incoming>, request_id: &HeaderValue) -> Result<Answer, Refusal> {
        let (head, body) = request.into_parts();
        if let Err(problem) = check_head(&head) {
            self.discard(body);
            return Err(problem.into());
        }
        let Some(route) = route::find(head.uri.path()) else {
            self.discard(body);
            return Err(Problem::NotFound.into());
        };
        let allow = route.allow();
        if let Target::Protocol(protocol) = route.target {
            return self.speak(protocol, allow, &head, body, request_id).await;
        }
        if head.method == Method::OPTIONS {
            self.discard(body);
            let preflight = head.headers.contains_key("access-control-request-method");
            return Ok(Answer::options(allow, preflight));
        }
        if !route.takes(&head.method) {
            self.discard(body);
            return Err(Problem::MethodNotAllowed { allow }.into());
        }
        let app = &self.app;
        let has = head.headers.get_all(IF_NONE_MATCH);
        let page = || accept::prefers_page(&head.headers.get_all(ACCEPT));
        let answer = match route.target {
            Target::Check => {
                let body = self.read(body).await?;
                Answer::json(check_output::check_output(app, body, Nulls::AsSent).await?.answer)
            }
            Target::VerifyReceipt => {
                let body = self.read(body).await?;
                Answer::json(verify_receipt::verify_receipt(app, body).await?)
            }
            Target::Receipt(id) => {
                let receipt = read_receipt::read_receipt(app, id).await?;
                if page() {
                    Answer::page(pages::receipt(app, &receipt))
                } else {
                    Answer::json(receipt.json).varying()
                }
            }
            Target::Score(agent) => {
                let agent = AgentId::from_path(agent).map_err(Problem::from)?;
                Answer::json(look_up_score::look_up_score(app, &agent).await?)
            }
            Target::Reputation(agent) => {
                let agent = AgentId::from_path(agent).map_err(Problem::from)?;
                Answer::json(look_up_reputation::look_up_reputation(app, &agent).await?)
            }
            // Spoken above.
            Target::Protocol(_) => return Err(Problem::NotFound.into()),
            Target::Health => Answer::json(Bytes::from_static(wire::OK)),
            Target::Ready => {
                tell_readiness::tell_readiness(app).await?;
                Answer::json(Bytes::from_static(wire::OK))
            }
            Target::Pointers if page() => Answer::document(pages::front(app).into(), HTML, &has).varying(),
            Target::Pointers => Answer::document(wire::pointers(app).into(), JSON, &has).varying(),
            Target::AgentCard => Answer::document(wire::agent_card(app).into(), JSON, &has),
            Target::Asset(asset) => {
                Answer::document(Bytes::from_static(asset.text.as_bytes()), asset.media_type, &has)
            }
        };
        Ok(answer)
    }

    /// Reads a body under the limit and in time.
    async fn read(&self, body: Incoming) -> Result<Bytes, Refusal> {
        let max_bytes = self.app.body_bytes_max;
        match body::read(body, max_bytes, &self.room, self.patience.body).await {
            Ok(bytes) => Ok(bytes),
            Err(Unread::TooLarge(rest)) => {
                self.discard(rest);
                Err(Problem::BodyTooLarge { max_bytes }.into())
            }
            Err(Unread::NoRoom(rest)) => {
                self.discard(rest);
                Err(Problem::ServiceUnavailable(Unavailable::Overloaded).into())
            }
            Err(Unread::Broken) => Err(Refusal::Abandoned),
        }
    }

    /// Reads and drops what a client still sends, beside the answer, so that simple clients, which read only
    /// once they have written, see the answer.
    fn discard(&self, body: Incoming) {
        if !body.is_end_stream() {
            tokio::spawn(body::discard(body, self.app.body_bytes_max, self.patience.body));
        }
    }

    /// The caller's request id if it is harmless in a log line, else one of ours.
    fn request_id(&self, headers: &HeaderMap) -> HeaderValue {
        let mut given = headers.get_all(headers::X_REQUEST_ID).iter();
        match (given.next(), given.next()) {
            (Some(id), None) if headers::is_harmless(id.as_bytes()) => id.clone(),
            _ => {
                let mut text = uuid::Uuid::encode_buffer();
                let id = new_id(self.app.now());
                HeaderValue::from_str(id.hyphenated().encode_lower(&mut text))
                    .unwrap_or(HeaderValue::from_static("unknown"))
            }
        }
    }
}

/// Why there is no answer of the usual kind.
enum Refusal {
    Problem(Problem),
    Abandoned,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Refusal::Problem(problem)
    }
}

/// Refuses a head that is too much, and a body whose end two readers could see in two places: a coding that we
/// do not read may hide another length (RFC 9112, 6.1).
fn check_head(head: &Parts) -> Result<(), Problem> {
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let is_read = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    if !is_read {
        return Err(Problem::UnsupportedTransferEncoding);
    }
    if head_bytes(head) > HEAD_BYTES_MAX || head.headers.len() > HEADERS_MAX {
        let max_bytes = HEAD_BYTES_MAX;
        return Err(Problem::HeadersTooLarge { max_bytes });
    }
    Ok(())
}

/// Whether nothing that follows on the connection is worth reading: its client sends too much, or may not mean
/// what we understand.
fn ends_connection(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::BodyTooLarge { .. } | Problem::HeadersTooLarge { .. } | Problem::UnsupportedTransferEncoding
    )
}

/// Bytes of the request line and headers, as they were sent or a few less.
fn head_bytes(head: &Parts) -> usize {
    let uri = head.uri.path_and_query().map_or(1, |path| path.as_str().len());
    let headers = head.headers.iter();
    // `: ` and the line end around each header; method, spaces and version on the first line.
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + 4);
    uri + 16 + headers.sum::<usize>()
}
