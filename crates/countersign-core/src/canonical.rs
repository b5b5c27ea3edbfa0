//! RFC 8785 bytes and their SHA-256 (verification.md, sections 6 and 17).

use crate::json::plain::plain_run;
use crate::json::{Number, Value};
use sha2::{Digest, Sha256};
use std::fmt;

/// The RFC 8785 form of a value.
pub fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(value, &mut out);
    out
}

/// Appends the RFC 8785 form of a value. Members are sorted already.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(*number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => {
            out.push(b'[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(element, out);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (index, member) in object.members().iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(&member.name, out);
                out.push(b':');
                write(&member.value, out);
            }
            out.push(b'}');
        }
    }
}

/// Appends a number as ECMAScript prints it: `10`, `1e+21`, `0.000001`, `1e-9`.
pub fn write_number(number: Number, out: &mut Vec<u8>) {
    let value = number.value();
    if number.is_integer() && value.abs() < 1e15 {
        out.extend_from_slice(itoa::Buffer::new().format(value as i64).as_bytes());
    } else if !write_millionths(value, out) {
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
    }
}

/// Appends a fraction of at most six places and fifteen digits, as money and ratios have; false for any other. At most
/// 15 digits that read back as the same double are its shortest spelling, since no other decimal of 15 digits does.
/// Takes a fifth of the time of the search for the shortest.
#[allow(clippy::cast_sign_loss, reason = "what is cast is an absolute value")]
fn write_millionths(value: f64, out: &mut Vec<u8>) -> bool {
    let millionths = (value.abs() * 1e6 + 0.5) as u64;
    // The quotient of two exact doubles is rounded once: it is the double that the decimal reads as.
    if millionths >= 1_000_000_000_000_000 || (millionths as f64 / 1e6).to_bits() != value.abs().to_bits() {
        return false;
    }
    if value < 0.0 {
        out.push(b'-');
    }
    out.extend_from_slice(itoa::Buffer::new().format(millionths / 1_000_000).as_bytes());
    let mut fraction = *b".000000";
    let mut rest = millionths % 1_000_000;
    for digit in fraction[1..].iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    let zeros = fraction.iter().rev().take_while(|digit| **digit == b'0').count();
    out.extend_from_slice(&fraction[..fraction.len() - zeros]);
    true
}

/// The canonical spelling of a number.
pub fn number_text(number: Number) -> String {
    let mut text = Vec::with_capacity(24);
    write_number(number, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Whether `literal` is the canonical spelling of `number`.
pub fn spells(number: Number, literal: &str) -> bool {
    ryu_js::Buffer::new().format_finite(number.value()) == literal
}

/// Appends a string with the escapes of RFC 8785 section 3.2.2.2, everything else as literal UTF-8.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_escaped(text, out);
    out.push(b'"');
}

/// Appends a string as [`write_string`] does, without the quotes.
pub fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let (plain, rest) = text.as_bytes().split_at(plain_run(text.as_bytes()));
    out.extend_from_slice(plain);
    if !rest.is_empty() {
        write_from_escape(rest, out);
    }
}

/// Appends the rest of a string from its first byte on that needs an escape.
#[inline(never)]
fn write_from_escape(mut rest: &[u8], out: &mut Vec<u8>) {
    while let Some((byte, after)) = rest.split_first() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0A => out.extend_from_slice(b"\\n"),
            0x0C => out.extend_from_slice(b"\\f"),
            0x0D => out.extend_from_slice(b"\\r"),
            control => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&hex_digits(*control));
            }
        }
        let (plain, escaped) = after.split_at(plain_run(after));
        out.extend_from_slice(plain);
        rest = escaped;
    }
}

/// The two digits of a byte, lower case. Arithmetic and not a table, so that a digest's are made many at a time.
pub(crate) fn hex_digits(byte: u8) -> [u8; 2] {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    [digit(byte >> 4), digit(byte & 15)]
}

/// A SHA-256 digest; displays as lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Hash(Sha256::digest(bytes).into())
    }

    /// The digest of a value's canonical form.
    pub fn of_value(value: &Value) -> Self {
        Hash::of(&bytes(value))
    }
}

impl Hash {
    /// The digest in lower-case hex.
    pub fn hex(&self) -> [u8; 64] {
        let mut hex = [0; 64];
        for (digits, byte) in hex.as_chunks_mut().0.iter_mut().zip(self.0) {
            *digits = hex_digits(byte);
        }
        hex
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn canonical(text: &str) -> String {
        String::from_utf8(bytes(&read(text.as_bytes()).unwrap())).unwrap()
    }

    #[test]
    fn canonical_forms() {
        let rows = [
            (
                "[10.0,1e21,1e-06,1e-9,-0,-0.0,1E2]",
                "[10,1e+21,0.000001,1e-9,0,0,100]",
            ),
            (
                "[100000000000000000000.0,295147905179352830000,1e20]",
                "[100000000000000000000,295147905179352830000,100000000000000000000]",
            ),
            (
                "[999999999999999,1000000000000000,-1000000000000000.5]",
                "[999999999999999,1000000000000000,-1000000000000000.5]",
            ),
            (r#"{"b":1,"a":{"d":[],"c":{}}}"#, r#"{"a":{"c":{},"d":[]},"b":1}"#),
            (
                "{\"\u{FB33}\":1,\"\u{1F600}\":2}",
                "{\"\u{1F600}\":2,\"\u{FB33}\":1}",
            ),
            (
                r#""\u0000\u001f\u007f\u2028\/\"\\\b\t\n\f\r""#,
                "\"\\u0000\\u001f\u{7f}\u{2028}/\\\"\\\\\\b\\t\\n\\f\\r\"",
            ),
            ("[true , false,null]", "[true,false,null]"),
        ];
        for (text, expected) in rows {
            assert_eq!(canonical(text), expected);
            assert_eq!(canonical(expected), expected, "canonical twice is canonical once");
        }
    }

    #[test]
    fn short_fractions_are_spelled_as_ecmascript_does() {
        let mut state: u64 = 1;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state
        };
        for _ in 0..20_000 {
            let digits = (next() >> 11) % 10_u64.pow((next() >> 60) as u32 + 1);
            let decimal = digits as f64 / 10_f64.powi((next() >> 61) as i32);
            for value in [decimal, -decimal, decimal.next_up(), decimal.next_down()] {
                let value = Number::new(value, false);
                let expected = ryu_js::Buffer::new().format_finite(value.value()).to_owned();
                assert_eq!(number_text(value), expected);
            }
        }
    }

    #[test]
    fn hashes_are_lower_case_hex() {
        let nothing = read(br#"{"bounds":null,"rules":null}"#).unwrap();
        let expected = "1f775c90569b00e3e1574c29268cbb78953b2bb264c2df9a04c41fbf555fc918";
        assert_eq!(Hash::of_value(&nothing).to_string(), expected);
    }
}
