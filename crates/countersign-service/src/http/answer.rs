//! An answer before it is HTTP: status, body, and the few headers that differ.

use super::headers::{ALLOWED, HTML, HeaderSets, PAGE_POLICY, X_REQUEST_ID};
use crate::problem::Problem;
use crate::rpc::Reply;
use bytes::Bytes;
use countersign_core::canonical::Hash;
use http_body_util::Full;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ALLOW,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, GetAll, HeaderName, HeaderValue, RETRY_AFTER, VARY,
};
use hyper::{Response, StatusCode};

/// An answer of the door.
pub(super) struct Answer {
    status: StatusCode,
    body: Bytes,
    kind: Kind,
    /// Whether the same path has another form for another `Accept`.
    varies: bool,
}

enum Kind {
    Json,
    Page,
    Document {
        etag: HeaderValue,
        media_type: &'static str,
    },
    Problem {
        retry_after: Option<u64>,
        allow: Option<&'static str>,
    },
    Options {
        allow: &'static str,
        preflight: bool,
    },
    Reply {
        retry_after: Option<u64>,
    },
}

impl Answer {
    /// 200 with JSON that nobody may keep.
    pub(super) fn json(body: Bytes) -> Self {
        Answer {
            status: StatusCode::OK,
            body,
            kind: Kind::Json,
            varies: false,
        }
    }

    /// 200 with a page that nobody may keep.
    pub(super) fn page(html: String) -> Self {
        Answer {
            status: StatusCode::OK,
            body: html.into(),
            kind: Kind::Page,
            varies: true,
        }
    }

    /// The same answer, which has another form for another `Accept`.
    pub(super) fn varying(self) -> Self {
        Answer { varies: true, ..self }
    }

    /// 200 with a public document, or 304 when the client has it already.
    pub(super) fn document(body: Bytes, media_type: &'static str, has: &GetAll<'_, HeaderValue>) -> Self {
        let hash = Hash::of(&body).to_string();
        let etag = format!("\"{}\"", &hash[..32]);
        let known = has.iter().filter_map(|value| value.to_str().ok());
        let mut known = known.flat_map(|list| list.split(',')).map(str::trim);
        // A cache may have weakened our tag; the document is the same (RFC 9110, 13.1.2).
        let fresh = known.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag);
        Answer {
            status: if fresh {
                StatusCode::NOT_MODIFIED
            } else {
                StatusCode::OK
            },
            body: if fresh { Bytes::new() } else { body },
            kind: Kind::Document {
                etag: HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("\"\"")),
                media_type,
            },
            varies: false,
        }
    }

    /// What the table says about a problem.
    pub(super) fn problem(problem: &Problem, request_id: &str) -> Self {
        let allow = match problem {
            Problem::MethodNotAllowed { allow } => Some(*allow),
            _ => None,
        };
        Answer {
            status: StatusCode::from_u16(problem.code().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            body: problem.json(request_id).into(),
            kind: Kind::Problem {
                retry_after: problem.retry_after(),
                allow,
            },
            varies: false,
        }
    }

    /// What a protocol answers.
    pub(super) fn reply(reply: Reply) -> Self {
        Answer {
            status: StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            body: reply.body,
            kind: Kind::Reply {
                retry_after: reply.retry_after,
            },
            varies: false,
        }
    }

    /// 204 with the methods of a path, and what a browser asks before it sends a request.
    pub(super) fn options(allow: &'static str, preflight: bool) -> Self {
        Answer {
            status: StatusCode::NO_CONTENT,
            body: Bytes::new(),
            kind: Kind::Options { allow, preflight },
            varies: false,
        }
    }

    pub(super) fn into_response(self, sets: &HeaderSets, request_id: HeaderValue) -> Response<Full<Bytes>> {
        let set = match &self.kind {
            Kind::Json | Kind::Problem { .. } => &sets.json,
            Kind::Page => &sets.page,
            Kind::Document { .. } => &sets.document,
            Kind::Reply { .. } if self.body.is_empty() => &sets.empty,
            Kind::Reply { .. } => &sets.json,
            Kind::Options { .. } => &sets.empty,
        };
        let mut headers = set.clone();
        headers.insert(X_REQUEST_ID, request_id);
        let mut add = |name: HeaderName, value: &'static str| {
            headers.insert(name, HeaderValue::from_static(value));
        };
        if self.varies {
            add(VARY, "Accept");
        }
        match self.kind {
            Kind::Json | Kind::Page => {}
            Kind::Document { etag, media_type } => {
                if media_type == HTML {
                    add(CONTENT_SECURITY_POLICY, PAGE_POLICY);
                }
                add(CONTENT_TYPE, media_type);
                headers.insert(ETAG, etag);
            }
            Kind::Options { allow, preflight } => {
                add(ALLOW, allow);
                if preflight {
                    add(ACCESS_CONTROL_ALLOW_METHODS, allow);
                    add(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
                    add(ACCESS_CONTROL_MAX_AGE, "600");
                }
            }
            Kind::Reply { retry_after } => {
                if let Some(seconds) = retry_after {
                    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
            }
            Kind::Problem { retry_after, allow } => {
                if let Some(allow) = allow {
                    add(ALLOW, allow);
                }
                if let Some(seconds) = retry_after {
                    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
            }
        }
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }
}
