//! The revisions of MCP that are served, and what tells them apart (interfaces.md 5.2).

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

/// Whether a revision is served.
pub(crate) fn is_served(version: &str) -> bool {
    PROTOCOL_VERSIONS.contains(&version)
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
