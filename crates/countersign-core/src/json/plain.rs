//! The bytes of a string that stand for themselves: neither quote nor backslash nor a control below 0x20. The
//! reader copies such a run as it is, and so does RFC 8785 when it writes.

const EVERY: u64 = u64::MAX / 0xFF;
const HIGH_BITS: u64 = 0x80 * EVERY;

/// How many of the leading bytes stand for themselves.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call took as long as a usual string does")]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((eight, after)) = rest.split_first_chunk() {
        if let Some(first) = first_special(u64::from_le_bytes(*eight)) {
            return bytes.len() - rest.len() + first;
        }
        rest = after;
    }
    plain_to_the_end(bytes)
}

/// [`plain_run`] where all but the last bytes, seven at most, are known to be plain.
#[inline(never)]
fn plain_to_the_end(bytes: &[u8]) -> usize {
    // The last bytes are read as a part of the last eight, or as two halves of four: what is seen twice is plain.
    // One by one, the tails of short texts took longer than all the rest of writing them.
    if let Some(last) = bytes.last_chunk() {
        return first_special(u64::from_le_bytes(*last)).map_or(bytes.len(), |first| first + bytes.len() - 8);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let word = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        return match first_special(word) {
            None => bytes.len(),
            Some(first) if first < 4 => first,
            Some(first) => first + bytes.len() - 8,
        };
    }
    bytes
        .iter()
        .position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\')
        .unwrap_or(bytes.len())
}

/// The index of the first byte of a little-endian word that does not stand for itself.
fn first_special(word: u64) -> Option<usize> {
    // A borrow can only mark bytes above one that is marked rightly, so the lowest mark is true.
    let marks =
        (below(word, 0x20) | zero(word ^ (0x22 * EVERY)) | zero(word ^ (0x5C * EVERY))) & !word & HIGH_BITS;
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

/// Marks the high bit of each byte that is below `limit`, which is at most 0x80, and of some that have it already.
fn below(word: u64, limit: u64) -> u64 {
    word.wrapping_sub(limit * EVERY)
}

/// Marks the high bit of each byte that is zero, and of some that have it already.
fn zero(word: u64) -> u64 {
    below(word, 1)
}

/// Whether every character is one of ASCII that is printed, as nearly always. Looks at all of them, so that the
/// compiler may take many at a time.
pub(crate) fn is_printable_ascii(text: &str) -> bool {
    text.bytes()
        .fold(true, |printable, byte| printable & matches!(byte, 0x20..0x7F))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_told_at_every_position() {
        for length in 0..20 {
            for position in 0..length {
                for byte in 0..=255_u8 {
                    for other in [b'a', b'!', b'#', b'[', b']', 0x7F, 0x80, 0xFF, b' '] {
                        let mut bytes = vec![other; length];
                        bytes[position] = byte;
                        let plain = byte >= 0x20 && byte != b'"' && byte != b'\\';
                        assert_eq!(
                            plain_run(&bytes),
                            if plain { length } else { position },
                            "{byte} at {position}"
                        );
                    }
                }
            }
        }
    }
}
