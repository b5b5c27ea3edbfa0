//! The front door of the protocols at `/mcp` and `/a2a` (interfaces.md 3.3 and 5.3): method, host, origin, media types
//! and size are settled here, before a message is looked at.

use super::answer::Answer;
use super::headers::JSON;
use super::route::{self, Protocol};
use super::{Door, Refusal, accept};
use crate::a2a;
use crate::origin::Gate;
use crate::problem::Problem;
use crate::rpc::Reply;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Uri};

/// Who asks at the address of a protocol.
pub(super) struct Caller {
    /// The page's origin, if it is an allowed one.
    origin: Option<HeaderValue>,
}

impl Caller {
    /// The caller, if the request is for a protocol.
    pub(super) fn of<B>(request: &Request<B>, gate: &Gate) -> Option<Self> {
        route::protocol(request.uri().path())?;
        let origin = only(request.headers(), ORIGIN);
        let admitted = |origin: &&HeaderValue| origin.to_str().is_ok_and(|text| gate.admits_origin(text));
        Some(Caller {
            origin: origin.filter(admitted).cloned(),
        })
    }

    /// Lets the page of this caller, and no other, read the answer.
    pub(super) fn mark(self, headers: &mut HeaderMap) {
        headers.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    }
}

impl Door {
    /// Answers at the address of a protocol.
    pub(super) async fn speak(
        &self,
        protocol: Protocol,
        allow: &'static str,
        head: &Parts,
        body: Incoming,
        request_id: &HeaderValue,
    ) -> Result<Answer, Refusal> {
        if let Err(problem) = admit(protocol, allow, head, &self.app.gate) {
            self.discard(body);
            return Err(problem.into());
        }
        if head.method == Method::OPTIONS {
            self.discard(body);
            let preflight = head.headers.contains_key("access-control-request-method");
            return Ok(Answer::options(allow, preflight));
        }
        let body = self.read(body).await?;
        let request_id = request_id.to_str().unwrap_or_default();
        Ok(Answer::reply(match protocol {
            Protocol::Mcp => self.mcp.answer(&head.headers, &body, request_id).await,
            Protocol::A2a => a2a::answer(&self.app, &head.headers, &body, request_id).await,
        }))
    }
}

/// A refusal in the form of the protocol. What there is no protocol at, or no method of it, is told as anywhere.
pub(super) fn refusal(problem: &Problem, request_id: &str) -> Answer {
    match problem {
        Problem::NotFound | Problem::MethodNotAllowed { .. } => Answer::problem(problem, request_id),
        _ => Answer::reply(Reply::problem(problem, request_id)),
    }
}

fn admit(protocol: Protocol, allow: &'static str, head: &Parts, gate: &Gate) -> Result<(), Problem> {
    let is_post = head.method == Method::POST;
    if !is_post && head.method != Method::OPTIONS {
        return Err(Problem::MethodNotAllowed { allow });
    }
    if !admits_host(&head.uri, &head.headers, gate) || !admits_origin(&head.headers, gate) {
        return Err(Problem::ForbiddenOrigin);
    }
    if is_post && !is_json(only(&head.headers, CONTENT_TYPE)) {
        return Err(Problem::UnsupportedMediaType);
    }
    // An A2A client that takes no JSON could not have sent any.
    let accept = head.headers.get_all(ACCEPT);
    if is_post && protocol == Protocol::Mcp && !accept::admits_json_or_events(&accept) {
        return Err(Problem::NotAcceptable);
    }
    Ok(())
}

/// Whether the request is for one of our names: by its address, if that has one, and by its `Host`.
fn admits_host(uri: &Uri, headers: &HeaderMap, gate: &Gate) -> bool {
    let named = uri
        .authority()
        .is_none_or(|authority| gate.admits_host(authority.as_str()));
    let host = only(headers, HOST).and_then(|host| host.to_str().ok());
    named && host.is_some_and(|host| gate.admits_host(host))
}

/// Whether the request comes from no page, or from one that is allowed.
fn admits_origin(headers: &HeaderMap, gate: &Gate) -> bool {
    if !headers.contains_key(ORIGIN) {
        return true;
    }
    let origin = only(headers, ORIGIN).and_then(|origin| origin.to_str().ok());
    origin.is_some_and(|origin| gate.admits_origin(origin))
}

/// Whether a body is declared to be JSON. Parameters say nothing: JSON is UTF-8 (RFC 8259, 11).
fn is_json(content_type: Option<&HeaderValue>) -> bool {
    let declared = content_type.and_then(|value| value.to_str().ok());
    let essence = declared.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(JSON))
}

/// The header's value, if it was sent once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}
