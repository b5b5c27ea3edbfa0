//! The MCP door (interfaces.md 5 and 6): the hosted tools over Streamable HTTP.

pub(crate) mod revision;
pub(crate) mod tools;
