//! Where a page comes from, and which hosts and pages may speak to `/mcp` and `/a2a` (interfaces.md 3.3). A page that
//! a browser got under another name could otherwise drive a service on its user's machine (DNS rebinding).

use std::net::{Ipv4Addr, Ipv6Addr};

/// Characters of an origin or a host name that are looked at.
const CHARS_MAX: usize = 300;

/// An origin as a browser writes it (RFC 6454, 6.2): scheme, host and port, in lower case, without a default port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Reads an origin. `null`, which stands for no origin that could be named, is none.
    pub fn parse(text: &str) -> Option<Origin> {
        if text.len() > CHARS_MAX {
            return None;
        }
        let text = text.to_ascii_lowercase();
        let (scheme, authority) = text.split_once("://")?;
        let default_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        host_of(authority)?;
        let authority = authority.strip_suffix(default_port).unwrap_or(authority);
        Some(Origin(format!("{scheme}://{authority}")))
    }

    /// The origin of a URL.
    fn of_url(url: &str) -> Option<Origin> {
        let after_scheme = url.find("://")? + 3;
        let end = url[after_scheme..]
            .find('/')
            .map_or(url.len(), |at| after_scheme + at);
        Origin::parse(&url[..end])
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn host(&self) -> &str {
        let (_, authority) = self.0.split_once("://").unwrap_or_default();
        host_of(authority).unwrap_or_default()
    }
}

/// Whether this is a host name or a literal address, without a port.
pub(crate) fn is_host(text: &str) -> bool {
    host_of(text) == Some(text)
}

/// The host in `host` or `host:port`.
fn host_of(authority: &str) -> Option<&str> {
    if authority.len() > CHARS_MAX {
        return None;
    }
    let end = match authority.strip_prefix('[') {
        Some(literal) => literal.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_port =
        |digits: &str| digits.parse::<u16>().is_ok() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return None;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(plain),
    };
    is_host.then_some(host)
}

/// Whether a host is the machine itself, under one of the names that mean nothing else.
fn is_loopback(host: &str) -> bool {
    let literal = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
        || literal.is_some_and(|literal| literal.parse() == Ok(Ipv6Addr::LOCALHOST))
}

/// Who may speak to `/mcp` and `/a2a`.
pub(crate) struct Gate {
    hosts: Vec<String>,
    origins: Vec<Origin>,
}

impl Gate {
    /// The public URL's own host and origin, and those that the settings name; the loopback is always among them.
    pub(crate) fn new(public_url: &str, hosts: &[String], origins: &[Origin]) -> Self {
        let own = Origin::of_url(public_url);
        let own_host = own.as_ref().map(|origin| origin.host().to_owned());
        Gate {
            hosts: own_host.into_iter().chain(hosts.iter().cloned()).collect(),
            origins: own.into_iter().chain(origins.iter().cloned()).collect(),
        }
    }

    /// Whether a `Host` header, or the authority of a request's address, is one of ours.
    pub(crate) fn admits_host(&self, authority: &str) -> bool {
        let host = host_of(authority);
        host.is_some_and(|host| {
            is_loopback(host)
                || self
                    .hosts
                    .iter()
                    .any(|allowed| allowed.eq_ignore_ascii_case(host))
        })
    }

    /// Whether a page of this origin may speak here.
    pub(crate) fn admits_origin(&self, origin: &str) -> bool {
        let origin = Origin::parse(origin);
        origin.is_some_and(|origin| is_loopback(origin.host()) || self.origins.contains(&origin))
    }

    /// Both lists, as the log of the start shows them.
    pub(crate) fn lists(&self) -> (String, String) {
        let origins = self.origins.iter().map(Origin::as_str);
        let list = |names: Vec<&str>| [names, vec!["the loopback"]].concat().join(", ");
        (
            list(self.hosts.iter().map(String::as_str).collect()),
            list(origins.collect()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        let origins = [Origin::parse("http://app.example:8080").unwrap()];
        Gate::new(
            "https://Verify.example/base",
            &["proxy.example".to_owned()],
            &origins,
        )
    }

    #[test]
    fn hosts_are_compared_by_name() {
        let rows = [
            ("verify.example", true),
            ("VERIFY.example:443", true),
            ("proxy.example:8443", true),
            ("localhost:1", true),
            ("127.0.0.1", true),
            ("127.9.9.9:80", true),
            ("[::1]:8402", true),
            ("", false),
            ("evil.example", false),
            ("verify.example.evil.example", false),
            ("verify.example:", false),
            ("verify.example:x", false),
            ("verify.example:+1", false),
            ("verify.example@evil.example", false),
            ("128.0.0.1", false),
            ("[::2]", false),
            ("[::1", false),
            ("localhost.evil.example", false),
        ];
        for (host, admitted) in rows {
            assert_eq!(gate().admits_host(host), admitted, "{host}");
        }
    }

    #[test]
    fn origins_are_compared_whole() {
        let rows = [
            ("https://verify.example", true),
            ("https://verify.example:443", true),
            ("HTTPS://VERIFY.EXAMPLE", true),
            ("http://app.example:8080", true),
            ("http://localhost:5173", true),
            ("https://127.0.0.1:9", true),
            ("http://[::1]", true),
            ("http://verify.example", false),
            ("https://verify.example:8443", false),
            ("https://verify.example/", false),
            ("http://app.example", false),
            ("https://evil.example", false),
            ("null", false),
            ("", false),
            ("file://", false),
            ("https://", false),
            ("http://localhost@evil.example", false),
        ];
        for (origin, admitted) in rows {
            assert_eq!(gate().admits_origin(origin), admitted, "{origin}");
        }
    }

    #[test]
    fn both_lists_can_be_shown() {
        let (hosts, origins) = gate().lists();
        assert_eq!(hosts, "verify.example, proxy.example, the loopback");
        assert_eq!(
            origins,
            "https://verify.example, http://app.example:8080, the loopback"
        );
    }
}
