//! Punycode (RFC 3492), for labels of host names. Its work grows with the square of a label's length: callers
//! bound that.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_N: u32 = 128;

/// What a lower-case text encodes; `None` when it encodes nothing.
pub(super) fn decode(text: &str) -> Option<String> {
    let (basic, extended) = text.rsplit_once('-').unwrap_or(("", text));
    let mut output: Vec<char> = basic.chars().collect();
    let mut digits = extended.bytes();
    let (mut n, mut i, mut bias) = (INITIAL_N, 0_u32, INITIAL_BIAS);
    while digits.len() > 0 {
        let before = i;
        let mut weight = 1_u32;
        let mut k = BASE;
        loop {
            let digit = match digits.next()? {
                letter @ b'a'..=b'z' => u32::from(letter - b'a'),
                number @ b'0'..=b'9' => u32::from(number - b'0') + 26,
                _ => return None,
            };
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let threshold = threshold(k, bias);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
            k += BASE;
        }
        let length = output.len() as u32 + 1;
        bias = adapt(i - before, length, before == 0);
        n = n.checked_add(i / length)?;
        i %= length;
        output.insert(i as usize, char::from_u32(n)?);
        i += 1;
    }
    Some(output.into_iter().collect())
}

/// The encoding of a label; `None` when numbers grow beyond 32 bits, as they do for no label of a host name.
pub(super) fn encode(label: &str) -> Option<String> {
    let mut output: String = label.chars().filter(char::is_ascii).collect();
    let total = label.chars().count() as u32;
    let basic = output.len() as u32;
    if basic > 0 {
        output.push('-');
    }
    let (mut n, mut delta, mut bias, mut handled) = (INITIAL_N, 0_u32, INITIAL_BIAS, basic);
    while handled < total {
        let next = label.chars().map(u32::from).filter(|code| *code >= n).min()?;
        delta = delta.checked_add((next - n).checked_mul(handled + 1)?)?;
        n = next;
        for code in label.chars().map(u32::from) {
            if code < n {
                delta = delta.checked_add(1)?;
            }
            if code == n {
                write_delta(delta, bias, &mut output);
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta = delta.checked_add(1)?;
        n += 1;
    }
    Some(output)
}

fn write_delta(delta: u32, bias: u32, output: &mut String) {
    let mut rest = delta;
    let mut k = BASE;
    loop {
        let threshold = threshold(k, bias);
        if rest < threshold {
            break;
        }
        output.push(digit(threshold + (rest - threshold) % (BASE - threshold)));
        rest = (rest - threshold) / (BASE - threshold);
        k += BASE;
    }
    output.push(digit(rest));
}

fn digit(value: u32) -> char {
    // Below 36: a remainder of less than BASE, or less than T_MAX.
    char::from_digit((value + 10) % BASE, BASE).unwrap_or('0')
}

fn threshold(k: u32, bias: u32) -> u32 {
    k.saturating_sub(bias).clamp(T_MIN, T_MAX)
}

fn adapt(delta: u32, length: u32, first: bool) -> u32 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / length;
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_go_there_and_back() {
        // From RFC 3492, section 7.1, and the registry of top-level domains.
        let rows = [
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("bücher", "bcher-kva"),
            ("ü", "tda"),
            ("рф", "p1ai"),
        ];
        for (label, encoded) in rows {
            assert_eq!(encode(label).as_deref(), Some(encoded));
            assert_eq!(decode(encoded).as_deref(), Some(label));
        }
    }

    #[test]
    fn what_is_no_encoding_is_refused() {
        for text in ["x", "a-é", "99999999", "0", "a-*"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
