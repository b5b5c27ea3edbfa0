//! Host names: RFC 1123, with the internationalised labels of RFC 5890.

use super::{idna, punycode};

/// Bytes of a label and of a whole name as DNS carries them (RFC 1035, section 2.3.4), the latter in text form.
const LABEL_MAX: usize = 63;
const NAME_MAX: usize = 253;

/// Letters, digits and inner hyphens in labels between dots. A label that begins with `xn--` must be an A-label.
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= NAME_MAX && text.split('.').all(is_ascii_label)
}

/// As [`is_hostname`], with U-labels as well and any of the dots of IDNA.
pub(super) fn is_idn_hostname(text: &str) -> bool {
    // A character takes at least one byte in DNS, and at most four here.
    if text.len() > 4 * NAME_MAX {
        return false;
    }
    let mut length = 0;
    for label in text.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']) {
        length += 1 + match label.is_ascii() {
            true if is_ascii_label(label) => label.len(),
            false if label.chars().count() <= LABEL_MAX && idna::is_u_label(label) => {
                match a_label_length(label) {
                    Some(length) => length,
                    None => return false,
                }
            }
            _ => return false,
        };
    }
    length <= NAME_MAX + 1
}

fn is_ascii_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    let is_ldh = (1..=LABEL_MAX).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-');
    is_ldh
        && match label.get(..4) {
            Some(prefix) if prefix.eq_ignore_ascii_case("xn--") => {
                is_a_label(&label[4..].to_ascii_lowercase())
            }
            _ => true,
        }
}

/// Whether what follows the `xn--` is the one way to write a U-label.
fn is_a_label(encoded: &str) -> bool {
    punycode::decode(encoded).is_some_and(|label| {
        !label.is_ascii() && idna::is_u_label(&label) && punycode::encode(&label).as_deref() == Some(encoded)
    })
}

/// Bytes of the A-label of a U-label, unless it is too long for one.
fn a_label_length(label: &str) -> Option<usize> {
    let length = 4 + punycode::encode(label)?.len();
    (length <= LABEL_MAX).then_some(length)
}
