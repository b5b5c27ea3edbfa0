//! URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570).

use super::address::is_ipv6;

/// `URI`: with a scheme.
pub(super) fn is_uri(text: &str) -> bool {
    is_reference(text, is_unreserved, is_unreserved, true)
}

/// `URI-reference`.
pub(super) fn is_uri_reference(text: &str) -> bool {
    is_reference(text, is_unreserved, is_unreserved, false)
}

/// `IRI`: with a scheme.
pub(super) fn is_iri(text: &str) -> bool {
    is_reference(text, is_iunreserved, is_in_iquery, true)
}

/// `IRI-reference`.
pub(super) fn is_iri_reference(text: &str) -> bool {
    is_reference(text, is_iunreserved, is_in_iquery, false)
}

/// `URI-Template`.
pub(super) fn is_uri_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '{' => match rest[1..].split_once('}') {
                Some((expression, rest)) if is_expression(expression) => rest,
                _ => return false,
            },
            '%' => match after_percent(rest) {
                Some(rest) => rest,
                None => return false,
            },
            // The prose of section 2.1 allows what a URI may hold, so the apostrophe as well.
            '!' | '#'..='$' | '&'..=';' | '=' | '?'..='[' | ']' | '_' | 'a'..='z' | '~' => &rest[1..],
            c if is_ucschar(c) || is_iprivate(c) => &rest[c.len_utf8()..],
            _ => return false,
        };
    }
    true
}

/// A reference whose parts may hold `plain` characters, the query `in_query`.
fn is_reference(text: &str, plain: fn(char) -> bool, in_query: fn(char) -> bool, needs_scheme: bool) -> bool {
    let (text, fragment) = split(text, '#');
    let (text, query) = split(text, '?');
    let scheme = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme));
    let (relative, hierarchy) = match scheme {
        Some((_, hierarchy)) => (false, hierarchy),
        None => (true, text),
    };
    let (authority, path) = match hierarchy.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (Some(authority), path)
        }
        None => (None, hierarchy),
    };
    // Without scheme, a colon in the first segment would read as the end of one.
    let first_segment = path.split('/').next().unwrap_or_default();
    if relative && (needs_scheme || (authority.is_none() && first_segment.contains(':'))) {
        return false;
    }
    authority.is_none_or(|authority| is_authority(authority, plain))
        && holds(path, |c| {
            plain(c) || is_sub_delim(c) || matches!(c, ':' | '@' | '/')
        })
        && query.is_none_or(|q| {
            holds(q, |c| {
                in_query(c) || is_sub_delim(c) || matches!(c, ':' | '@' | '/' | '?')
            })
        })
        && fragment.is_none_or(|f| {
            holds(f, |c| {
                plain(c) || is_sub_delim(c) || matches!(c, ':' | '@' | '/' | '?')
            })
        })
}

/// What stands before a delimiter, and what stands behind it if it is there.
fn split(text: &str, delimiter: char) -> (&str, Option<&str>) {
    match text.split_once(delimiter) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn is_authority(text: &str, plain: fn(char) -> bool) -> bool {
    let host_and_port = match text.split_once('@') {
        Some((user, rest)) if holds(user, |c| plain(c) || is_sub_delim(c) || c == ':') => rest,
        Some(_) => return false,
        None => text,
    };
    let (host_fits, port) = if let Some(literal) = host_and_port.strip_prefix('[') {
        match literal.split_once(']') {
            Some((literal, port)) => (is_ip_literal(literal), port),
            None => return false,
        }
    } else {
        // An IPv4 address is a registered name by its characters.
        let (host, port) = host_and_port.split_at(host_and_port.find(':').unwrap_or(host_and_port.len()));
        (holds(host, |c| plain(c) || is_sub_delim(c)), port)
    };
    if !host_fits {
        return false;
    }
    port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// An IPv6 address or an address of a version yet to come.
fn is_ip_literal(text: &str) -> bool {
    match text.strip_prefix(['v', 'V']) {
        Some(future) => future.split_once('.').is_some_and(|(version, address)| {
            !version.is_empty()
                && version.bytes().all(|b| b.is_ascii_hexdigit())
                && !address.is_empty()
                && address
                    .chars()
                    .all(|c| is_unreserved(c) || is_sub_delim(c) || c == ':')
        }),
        None => is_ipv6(text),
    }
}

/// Whether a text holds only such characters and whole percent-encodings.
fn holds(text: &str, allowed: impl Fn(char) -> bool) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match after_percent(rest) {
            Some(rest) => rest,
            None if allowed(c) => &rest[c.len_utf8()..],
            None => return false,
        };
    }
    true
}

/// What follows a percent-encoding at the start of a text.
fn after_percent(text: &str) -> Option<&str> {
    match text.as_bytes() {
        [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => Some(&text[3..]),
        _ => None,
    }
}

/// What stands between the braces of a template.
fn is_expression(text: &str) -> bool {
    let operators = ['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|'];
    text.strip_prefix(operators)
        .unwrap_or(text)
        .split(',')
        .all(is_variable)
}

/// A variable with its modifier, if any: `name:3`, `name*`.
fn is_variable(text: &str) -> bool {
    let name = match text.split_once(':') {
        // From 1 to 9999.
        Some((name, length)) => {
            let digits = length.len() <= 4 && length.bytes().all(|b| b.is_ascii_digit());
            if !digits || length.is_empty() || length.starts_with('0') {
                return false;
            }
            name
        }
        None => text.strip_suffix('*').unwrap_or(text),
    };
    name.split('.')
        .all(|part| !part.is_empty() && holds(part, |c| c.is_ascii_alphanumeric() || c == '_'))
}

fn is_unreserved(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~')
}

fn is_iunreserved(c: char) -> bool {
    is_unreserved(c) || is_ucschar(c)
}

fn is_in_iquery(c: char) -> bool {
    is_iunreserved(c) || is_iprivate(c)
}

fn is_sub_delim(c: char) -> bool {
    "!$&'()*+,;=".contains(c)
}

/// `ucschar` of RFC 3987, without the characters that section 4.1 forbids: those that set a direction.
fn is_ucschar(c: char) -> bool {
    match c {
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => false,
        '\u{a0}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{ffef}' => true,
        // Each plane but the last two of its characters; of the fifteenth only from U+E1000.
        '\u{10000}'..='\u{effff}' => {
            u32::from(c) & 0xffff < 0xfffe && !matches!(c, '\u{e0000}'..='\u{e0fff}')
        }
        _ => false,
    }
}

fn is_iprivate(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}')
}
