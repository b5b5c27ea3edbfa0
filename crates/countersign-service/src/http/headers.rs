//! The headers of every answer, put together once (interfaces.md 3.2 to 3.5).

use hyper::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(super) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Characters of a caller's request id.
const REQUEST_ID_CHARS_MAX: usize = 64;

const EXPOSED: &str = "Payment-Required, Payment-Response, Free-Allowance-Remaining, Free-Allowance-Limit, \
                       Free-Allowance-Resets, Retry-After, X-Request-Id, ETag, Date, Link, Allow";

/// Request headers that a page may send.
pub(super) const ALLOWED: &str = "Content-Type, Accept, Payment-Signature, X-Payment, Sign-In-With-X, X-Request-Id, MCP-Protocol-Version, \
     Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, A2A-Version, A2A-Extensions, \
     Access-Control-Expose-Headers";

pub(super) const JSON: &str = "application/json";
pub(super) const HTML: &str = "text/html; charset=utf-8";

/// What a page may load: our own files and data, and nothing else.
pub(super) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Ready-made headers, to be copied into an answer.
pub(super) struct HeaderSets {
    /// JSON that nobody may keep.
    pub(super) json: HeaderMap,
    /// A document that anybody may keep for five minutes.
    pub(super) document: HeaderMap,
    /// A page that nobody may keep.
    pub(super) page: HeaderMap,
    /// No content.
    pub(super) empty: HeaderMap,
}

impl HeaderSets {
    pub(super) fn new(public_url: &str) -> Self {
        let mut empty = HeaderMap::with_capacity(16);
        let policy = "default-src 'none'; frame-ancestors 'none'";
        for (name, value) in [
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (CONTENT_SECURITY_POLICY, policy),
            (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED),
            (CACHE_CONTROL, "no-store"),
        ] {
            empty.insert(name, HeaderValue::from_static(value));
        }
        if public_url.starts_with("https://") {
            let year = HeaderValue::from_static("max-age=31536000");
            empty.insert(STRICT_TRANSPORT_SECURITY, year);
        }
        let mut json = empty.clone();
        json.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let mut page = empty.clone();
        page.insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
        page.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
        let mut document = json.clone();
        document.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        HeaderSets {
            json,
            document,
            page,
            empty,
        }
    }
}

/// Whether a caller's request id may stand in a log line: `[A-Za-z0-9._-]{1,64}`.
pub(super) fn is_harmless(id: &[u8]) -> bool {
    let harmless = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    (1..=REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.iter().all(harmless)
}
