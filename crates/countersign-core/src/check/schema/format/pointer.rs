//! JSON Pointers (RFC 6901), relative ones (draft-bhutton-relative-json-pointer-00), and UUIDs (RFC 4122).

/// A JSON Pointer in its string form.
pub(super) fn is_json_pointer(text: &str) -> bool {
    let escapes_fit = || text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    text.is_empty() || (text.starts_with('/') && escapes_fit())
}

/// A count of levels, perhaps another index, then `#` or a JSON Pointer.
pub(super) fn is_relative_json_pointer(text: &str) -> bool {
    let Some(rest) = after_number(text) else {
        return false;
    };
    let rest = match rest.strip_prefix(['+', '-']) {
        // The manipulation of an index is by a positive number.
        Some(index) if !index.starts_with('0') => match after_number(index) {
            Some(rest) => rest,
            None => return false,
        },
        Some(_) => return false,
        None => rest,
    };
    rest == "#" || is_json_pointer(rest)
}

/// What follows a decimal number without leading zeros.
fn after_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    (digits == "0" || (!digits.is_empty() && !digits.starts_with('0'))).then_some(rest)
}

/// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
