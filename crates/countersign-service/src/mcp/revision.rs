//! The revisions of MCP that are served, and what tells them apart (interfaces.md 5.2).

use crate::rpc::{Call, INVALID_PARAMS, RpcError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::document::Part;
use countersign_core::json::Value;
use hyper::header::HeaderMap;

/// Every revision that is served, newest first.
pub(crate) const PROTOCOL_VERSIONS: [&str; 4] = [MODERN, NEWEST_LEGACY, "2025-06-18", "2025-03-26"];

/// The revision without a handshake: each request says what it needs said.
pub(crate) const MODERN: &str = "2026-07-28";
/// What `initialize` agrees on when the client asks for what is not served.
const NEWEST_LEGACY: &str = "2025-11-25";

/// How a request speaks to us. It is told from each request alone; nothing is remembered between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// The revisions that open with `initialize`.
    Legacy,
    /// 2026-07-28, with the version and more in `_meta` of each request.
    Modern,
}

/// The revision of a client that names none.
const UNNAMED: &str = "2025-03-26";
/// Characters of a revision that is not served, as its refusal repeats them.
const REQUESTED_CHARS_MAX: usize = 32;

/// A header that disagrees with the body, or is missing.
const HEADER_MISMATCH: i32 = -32020;
/// A revision that is not served.
const UNSUPPORTED_VERSION: i32 = -32022;

/// `_meta` members that a request of the modern era has.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The revision that a request's header names; `None` if it names none.
pub(super) fn named(headers: &HeaderMap) -> Result<Option<&'static str>, RpcError> {
    let mut values = headers.get_all("mcp-protocol-version").iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str().unwrap_or_default();
            served(text).map(Some).ok_or_else(|| not_served(text))
        }
        (Some(_), Some(_)) => Err(not_served("")),
    }
}

/// The era of a request, and its revision. Whatever the modern era asks for beside the parameters of a method is
/// there when this says so.
pub(super) fn era(headers: &HeaderMap, call: &Call) -> Result<(Era, &'static str), RpcError> {
    let named = named(headers)?;
    let meta = call.params.as_ref().and_then(|params| params.get("_meta"));
    let version = meta.and_then(|meta| meta.get(META_VERSION));
    // The handshake exists in the older revisions alone, whatever it asks for.
    if call.method == "initialize" || (version.is_none() && named != Some(MODERN)) {
        return Ok((Era::Legacy, named.unwrap_or(UNNAMED)));
    }
    let mismatch = |message| RpcError::new(400, HEADER_MISMATCH, message);
    if !says(headers, "mcp-method", &call.method) {
        return Err(mismatch(
            "Send the Mcp-Method header once, with the method of the body.",
        ));
    }
    let tool = call
        .params
        .as_ref()
        .and_then(|params| params.get("name"))
        .and_then(Value::as_str);
    if call.method == "tools/call" && tool.is_some_and(|name| !says(headers, "mcp-name", name)) {
        return Err(mismatch(
            "Send the Mcp-Name header once, with the name of the tool.",
        ));
    }
    let missing = |message| RpcError::new(400, INVALID_PARAMS, message);
    let version = version.and_then(Value::as_str).ok_or_else(|| {
        missing("Send the protocol version in params._meta, under io.modelcontextprotocol/protocolVersion.")
    })?;
    if named != Some(version) {
        return Err(mismatch(
            "Send the MCP-Protocol-Version header with the version that params._meta names.",
        ));
    }
    let capabilities = meta.and_then(|meta| meta.get(META_CAPABILITIES));
    if capabilities.and_then(Value::as_object).is_none() {
        return Err(missing(
            "Send the client's capabilities in params._meta, under io.modelcontextprotocol/clientCapabilities.",
        ));
    }
    Ok((Era::Modern, MODERN))
}

fn served(version: &str) -> Option<&'static str> {
    PROTOCOL_VERSIONS.into_iter().find(|served| *served == version)
}

/// The refusal says what was asked for, since the protocol wants it there: a few characters of a version.
fn not_served(version: &str) -> RpcError {
    let requested: String = version.chars().take(REQUESTED_CHARS_MAX).collect();
    let supported = PROTOCOL_VERSIONS
        .iter()
        .map(|version| (*version).into())
        .collect();
    RpcError {
        data: Some(Part::Object(vec![
            ("supported", Part::List(supported)),
            ("requested", requested.into()),
        ])),
        ..RpcError::new(400, UNSUPPORTED_VERSION, "This protocol version is not served.")
    }
}

/// Whether a header was sent once and says this, plainly or as `=?base64?…?=`.
fn says(headers: &HeaderMap, name: &str, expected: &str) -> bool {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let value = value.as_bytes();
    let encoded = value
        .strip_prefix(b"=?base64?")
        .and_then(|rest| rest.strip_suffix(b"?="));
    match encoded {
        Some(encoded) => STANDARD
            .decode(encoded)
            .is_ok_and(|decoded| decoded == expected.as_bytes()),
        None => value == expected.as_bytes(),
    }
}

/// The revision that `initialize` agrees on: the one asked for if it has a handshake and is served.
pub(super) fn agreed_on(asked: &str) -> &'static str {
    let legacy = PROTOCOL_VERSIONS.into_iter().filter(|version| *version != MODERN);
    legacy
        .into_iter()
        .find(|version| *version == asked)
        .unwrap_or(NEWEST_LEGACY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialize_agrees_on_a_revision_that_has_it() {
        let rows = [
            ("2025-11-25", "2025-11-25"),
            ("2025-06-18", "2025-06-18"),
            ("2025-03-26", "2025-03-26"),
            ("2026-07-28", "2025-11-25"),
            ("2024-11-05", "2025-11-25"),
            ("", "2025-11-25"),
        ];
        for (asked, agreed) in rows {
            assert_eq!(agreed_on(asked), agreed, "{asked}");
        }
    }
}
