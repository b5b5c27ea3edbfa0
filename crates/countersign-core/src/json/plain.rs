//! The bytes of a string that stand for themselves: neither quote nor backslash nor a control below 0x20. The
//! reader copies such a run as it is, and so does RFC 8785 when it writes.

const EVERY: u64 = u64::MAX / 0xFF;
const HIGH_BITS: u64 = 0x80 * EVERY;

/// How many of the leading bytes stand for themselves.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let mut run = 0;
    // Eight at a time; a borrow can only mark bytes above one that is marked rightly, so the lowest mark is true.
    while let Some(eight) = bytes.get(run..run + 8) {
        let word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        let marks =
            (below(word, 0x20) | zero(word ^ (0x22 * EVERY)) | zero(word ^ (0x5C * EVERY))) & HIGH_BITS;
        if marks != 0 {
            return run + marks.trailing_zeros() as usize / 8;
        }
        run += 8;
    }
    let rest = bytes[run..]
        .iter()
        .take_while(|byte| **byte >= 0x20 && **byte != b'"' && **byte != b'\\')
        .count();
    run + rest
}

/// Marks the high bit of each byte that is below `limit`, which is at most 0x80.
fn below(word: u64, limit: u64) -> u64 {
    word.wrapping_sub(limit * EVERY) & !word
}

/// Marks the high bit of each byte that is zero.
fn zero(word: u64) -> u64 {
    below(word, 1)
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
