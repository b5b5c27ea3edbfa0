//! URI references as RFC 3986 resolves them, on text. Enough to tell whether a reference names a place inside
//! the document: nothing is ever fetched.

/// Splits at the first `#`: what comes before it, and the fragment if there is one.
pub(super) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

/// The parts of a reference without fragment (RFC 3986, appendix B).
fn parts(text: &str) -> Parts<'_> {
    let scheme_end = text
        .find([':', '/', '?'])
        .filter(|&end| end > 0 && text.as_bytes()[end] == b':');
    let (scheme, rest) = match scheme_end {
        Some(end) => (Some(&text[..end]), &text[end + 1..]),
        None => (None, text),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            (Some(&after[..end]), &after[end..])
        }
        None => (None, rest),
    };
    Parts {
        scheme,
        authority,
        path,
        query,
    }
}

/// Resolves `reference` (without fragment) against `base` (RFC 3986, section 5.2). A base without a scheme is
/// resolved against as far as it goes.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    let to = parts(reference);
    let from = parts(base);
    let mut path = String::new();
    let (scheme, authority, query);
    if to.scheme.is_some() {
        (scheme, authority, query) = (to.scheme, to.authority, to.query);
        remove_dots(to.path, &mut path);
    } else if to.authority.is_some() {
        (scheme, authority, query) = (from.scheme, to.authority, to.query);
        remove_dots(to.path, &mut path);
    } else if to.path.is_empty() {
        (scheme, authority, query) = (from.scheme, from.authority, to.query.or(from.query));
        path.push_str(from.path);
    } else {
        (scheme, authority, query) = (from.scheme, from.authority, to.query);
        if to.path.starts_with('/') {
            remove_dots(to.path, &mut path);
        } else {
            let folder = match from.path.rfind('/') {
                Some(slash) => &from.path[..=slash],
                None if from.authority.is_some() => "/",
                None => "",
            };
            remove_dots(&format!("{folder}{}", to.path), &mut path);
        }
    }
    let mut resolved = String::with_capacity(base.len() + reference.len());
    if let Some(scheme) = scheme {
        resolved.extend([scheme, ":"]);
    }
    if let Some(authority) = authority {
        resolved.extend(["//", authority]);
    }
    resolved.push_str(&path);
    if let Some(query) = query {
        resolved.extend(["?", query]);
    }
    resolved
}

/// RFC 3986, section 5.2.4: `.` and `..` segments are walked, not kept.
fn remove_dots(path: &str, out: &mut String) {
    if !path.split('/').any(|segment| matches!(segment, "." | "..")) {
        out.push_str(path);
        return;
    }
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            ".." => _ = kept.pop(),
            "." => {}
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    if rooted {
        out.push('/');
    }
    out.push_str(&kept.join("/"));
}

/// Undoes percent-encoding; `None` if it is broken or what it spells is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_in_rfc_3986_section_5_4() {
        let base = "http://a/b/c/d;p?q";
        let rows = [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
        ];
        for (reference, expected) in rows {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
    }

    #[test]
    fn a_base_without_scheme_goes_as_far_as_it_goes() {
        let rows = [
            ("", "item.json", "item.json"),
            ("folder/a.json", "b.json", "folder/b.json"),
            ("/folder/a.json", "/b.json", "/b.json"),
            ("urn:uuid:1", "#x", "urn:uuid:1#x"),
            ("http://a", "b", "http://a/b"),
        ];
        for (base, reference, expected) in rows {
            let (uri, fragment) = split_fragment(reference);
            let fragment = fragment
                .map(|fragment| format!("#{fragment}"))
                .unwrap_or_default();
            assert_eq!(resolve(base, uri) + &fragment, expected);
        }
    }

    #[test]
    fn percent_encoding_is_undone_or_refused() {
        assert_eq!(decode("a%25b%22%C3%A9").as_deref(), Some("a%b\"é"));
        assert_eq!(decode("plain").as_deref(), Some("plain"));
        assert_eq!(decode("%"), None);
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%zz"), None);
        assert_eq!(decode("%FF"), None);
    }
}
