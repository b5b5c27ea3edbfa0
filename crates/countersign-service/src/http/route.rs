//! The one table of routes. Paths match byte for byte: no other spelling reaches a handler.

use crate::pages::{Asset, asset};
use hyper::Method;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    Check,
    VerifyReceipt,
    Receipt(&'a str),
    /// The rest of the path, as it was sent.
    Score(&'a str),
    /// The same.
    Reputation(&'a str),
    Health,
    Ready,
    Pointers,
    AgentCard,
    Asset(Asset),
    Protocol(Protocol),
}

/// A door for agents: JSON-RPC behind one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Mcp,
    A2a,
}

/// The protocol that is spoken at this path.
pub(super) fn protocol(path: &str) -> Option<Protocol> {
    match path {
        "/mcp" => Some(Protocol::Mcp),
        "/a2a" => Some(Protocol::A2a),
        _ => None,
    }
}

/// A path that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route<'a> {
    pub(super) target: Target<'a>,
    posts: bool,
}

/// What a path leads to, if anything.
pub(super) fn find(path: &str) -> Option<Route<'_>> {
    if let Some(protocol) = protocol(path) {
        let target = Target::Protocol(protocol);
        return Some(Route { target, posts: true });
    }
    let (target, posts) = match path {
        "/verify/schema" | "/verify/deliverable" => (Target::Check, true),
        "/receipts/verify" => (Target::VerifyReceipt, true),
        "/health" => (Target::Health, false),
        "/health/ready" => (Target::Ready, false),
        "/" => (Target::Pointers, false),
        "/.well-known/agent-card.json" | "/.well-known/agent-card" => (Target::AgentCard, false),
        _ => (below(path)?, false),
    };
    Some(Route { target, posts })
}

/// Targets below a folder: an asset, or an id. An agent's id is all of the rest, whatever it holds; whether it is one, the
/// action says, so that who sends none is told.
fn below(path: &str) -> Option<Target<'_>> {
    if let Some(name) = path.strip_prefix("/assets/") {
        return asset(name).map(Target::Asset);
    }
    if let Some(agent) = path.strip_prefix("/score/") {
        return Some(Target::Score(agent));
    }
    if let Some(agent) = path.strip_prefix("/reputation/") {
        return Some(Target::Reputation(agent));
    }
    let id = path.strip_prefix("/receipts/")?;
    (!id.is_empty() && !id.contains('/')).then_some(Target::Receipt(id))
}

impl Route<'_> {
    /// The methods, as `Allow` lists them.
    pub(super) fn allow(self) -> &'static str {
        if self.posts {
            "POST, OPTIONS"
        } else {
            "GET, HEAD, OPTIONS"
        }
    }

    /// Whether the path has this method.
    pub(super) fn takes(self, method: &Method) -> bool {
        if self.posts {
            method == Method::POST
        } else {
            method == Method::GET || method == Method::HEAD
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_path_leads_anywhere() {
        let known = [
            ("/", Target::Pointers),
            ("/verify/schema", Target::Check),
            ("/verify/deliverable", Target::Check),
            ("/receipts/verify", Target::VerifyReceipt),
            ("/receipts/x", Target::Receipt("x")),
            ("/score/a", Target::Score("a")),
            ("/score/a/b%2F//", Target::Score("a/b%2F//")),
            ("/score/", Target::Score("")),
            ("/reputation/did:web:a", Target::Reputation("did:web:a")),
            ("/reputation/receipts/x", Target::Reputation("receipts/x")),
            ("/health", Target::Health),
            ("/health/ready", Target::Ready),
            ("/.well-known/agent-card.json", Target::AgentCard),
            ("/.well-known/agent-card", Target::AgentCard),
            ("/mcp", Target::Protocol(Protocol::Mcp)),
            ("/a2a", Target::Protocol(Protocol::A2a)),
        ];
        for (path, target) in known {
            assert_eq!(find(path).map(|route| route.target), Some(target), "{path}");
        }
        let unknown = [
            "",
            "*",
            "//",
            "/verify",
            "/verify/schema/",
            "/verify//schema",
            "//verify/schema",
            "/Verify/schema",
            "/verify/%73chema",
            "/verify/schema;a=b",
            "/verify/./schema",
            "/receipts",
            "/receipts/",
            "/receipts/a/b",
            "/score",
            "/Score/a",
            "//score/a",
            "/scor%65/a",
            "/score%2Fa",
            "/reputation",
            "/health/",
            "/.well-known/agent-card.json/",
            "/.well-known/oauth-protected-resource",
            "/register",
            "/mcp/",
            "/MCP",
            "/a2a/x",
        ];
        for path in unknown {
            assert_eq!(find(path), None, "{path}");
        }
    }
}
