//! Addresses: IP (RFC 2673 and RFC 4291) and mail (RFC 5321 and RFC 6531).

use super::host;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Bytes of what stands before the `@` (RFC 5321, section 4.5.3.1.1).
const LOCAL_PART_MAX: usize = 64;

/// Four decimal numbers up to 255, without leading zeros.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

/// The text forms of RFC 4291, section 2.2, without zone.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// `Mailbox` of RFC 5321.
pub(super) fn is_email(text: &str) -> bool {
    text.is_ascii() && is_mailbox(text, host::is_hostname)
}

/// `Mailbox` as RFC 6531 extends it.
pub(super) fn is_idn_email(text: &str) -> bool {
    is_mailbox(text, host::is_idn_hostname)
}

fn is_mailbox(text: &str, is_domain: fn(&str) -> bool) -> bool {
    // A domain has no `@`; a quoted local part may.
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let local_fits = local.len() <= LOCAL_PART_MAX && (is_dot_string(local) || is_quoted_string(local));
    local_fits
        && match domain
            .strip_prefix('[')
            .and_then(|literal| literal.strip_suffix(']'))
        {
            Some(literal) => match literal.get(..5) {
                Some(tag) if tag.eq_ignore_ascii_case("IPv6:") => is_ipv6(&literal[5..]),
                _ => is_ipv4(literal),
            },
            None => is_domain(domain),
        }
}

/// `Dot-string`: atoms between single dots.
fn is_dot_string(text: &str) -> bool {
    let is_atom_char =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    text.split('.')
        .all(|atom| !atom.is_empty() && atom.chars().all(is_atom_char))
}

/// `Quoted-string`: printable characters between quotes, those and backslashes escaped.
fn is_quoted_string(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return false;
    };
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let fits = match c {
            '"' => false,
            '\\' => chars.next().is_some_and(|escaped| matches!(escaped, ' '..='~')),
            c => !c.is_ascii() || matches!(c, ' '..='~'),
        };
        if !fits {
            return false;
        }
    }
    true
}
