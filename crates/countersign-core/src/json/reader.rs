//! The reader: bytes in, a [`Value`] or the first fault out.

use super::plain::plain_run;
use super::value::{Member, Number, Object, Value};
use crate::canonical;
use crate::limits::NESTING_MAX;
use crate::place::{Place, Step};
use compact_str::CompactString;

/// Why a text was refused: the first fault in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The value that is at fault, for a structural fault; the root for a syntax fault.
    pub place: Place,
    /// Byte offset of the fault.
    pub at: usize,
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault in Unicode scalar values, from 1.
    pub column: usize,
}

/// What the strict reader refuses (section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing but white space.
    Empty,
    /// The text is not JSON.
    Syntax,
    /// A byte order mark in front.
    ByteOrderMark,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// Something after the value.
    TrailingText,
    /// Two members of one object have the same name; the place is the object.
    DuplicateName,
    /// A surrogate escape without its other half; the place is the string, or the object of a name.
    LoneSurrogate,
    /// A number beyond the range of a double.
    NumberTooLarge,
    /// An integer literal that RFC 8785 would not print back digit for digit.
    IntegerNotExact,
    /// Nesting deeper than the limit; the place is the container that is too deep.
    TooDeep,
}

impl FaultKind {
    /// Whether the fault lies in the grammar (told by line and column) and not in a value (told by its place).
    pub fn is_syntax(self) -> bool {
        use FaultKind::{ByteOrderMark, Empty, InvalidUtf8, Syntax, TrailingText};
        matches!(self, Empty | Syntax | ByteOrderMark | InvalidUtf8 | TrailingText)
    }
}

/// Reads one value, at most [`NESTING_MAX`] levels deep.
pub fn read(text: &[u8]) -> Result<Value, Box<Fault>> {
    read_nested(text, NESTING_MAX, |_| NESTING_MAX - 1)
}

/// Reads one value whose top-level members each have a depth of their own: `levels` for the root (1 if the root
/// may hold scalars only), and `levels_of(name)` for the value of each member of a root object.
pub fn read_nested(
    text: &[u8],
    levels: usize,
    levels_of: impl Fn(&str) -> usize,
) -> Result<Value, Box<Fault>> {
    let (valid, invalid_utf8) = match std::str::from_utf8(text) {
        Ok(valid) => (valid, false),
        Err(error) => {
            let (valid, _) = text.split_at(error.valid_up_to());
            (std::str::from_utf8(valid).unwrap_or_default(), true)
        }
    };
    let mut reader = Reader {
        text: valid,
        bytes: valid.as_bytes(),
        at: 0,
        // Room for the members that a usual request has open at once; each growth copies them.
        members: Vec::with_capacity(32),
        elements: Vec::with_capacity(8),
    };
    let outcome = reader.document(levels, &levels_of);
    // A fault in front of the broken bytes comes first; one at their very edge only sees the text end there.
    let broken = match &outcome {
        _ if !invalid_utf8 => None,
        Err(broken) if broken.at < valid.len() && broken.kind != FaultKind::Empty => None,
        _ => Some(Broken::new(FaultKind::InvalidUtf8, valid.len())),
    };
    match (broken, outcome) {
        (None, Ok(value)) => Ok(value),
        (Some(broken), _) | (None, Err(broken)) => Err(broken.into_fault(valid)),
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The members and elements of all containers that are open, innermost last: each container is allocated
    /// once, when its size is known.
    members: Vec<Member>,
    elements: Vec<Value>,
}

/// A fault whose place is still being put together, innermost step first.
struct Broken {
    kind: FaultKind,
    at: usize,
    steps: Vec<Step>,
}

impl Broken {
    fn new(kind: FaultKind, at: usize) -> Box<Self> {
        Box::new(Broken {
            kind,
            at,
            steps: Vec::new(),
        })
    }

    fn under(mut self: Box<Self>, step: Step) -> Box<Self> {
        self.steps.push(step);
        self
    }

    fn into_fault(mut self, text: &str) -> Box<Fault> {
        self.steps.reverse();
        let place = if self.kind.is_syntax() {
            Place::default()
        } else {
            Place(self.steps)
        };
        let mut before = self.at.min(text.len());
        while !text.is_char_boundary(before) {
            before -= 1;
        }
        let before = &text[..before];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Box::new(Fault {
            kind: self.kind,
            place,
            at: self.at,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        })
    }
}

type Read<T> = Result<T, Box<Broken>>;

impl Reader<'_> {
    fn document(&mut self, levels: usize, levels_of: &impl Fn(&str) -> usize) -> Read<Value> {
        if self.text.starts_with('\u{FEFF}') {
            return Err(Broken::new(FaultKind::ByteOrderMark, 0));
        }
        self.skip_space();
        if self.at == self.bytes.len() {
            return Err(Broken::new(FaultKind::Empty, self.at));
        }
        let value = if self.peek() == Some(b'{') {
            self.object(levels, levels_of)?
        } else {
            self.value(levels)?
        };
        self.skip_space();
        if self.at < self.bytes.len() {
            return Err(Broken::new(FaultKind::TrailingText, self.at));
        }
        Ok(value)
    }

    /// `levels` is how many levels of containers may still open. The recursion is as deep as that number.
    #[inline]
    fn value(&mut self, levels: usize) -> Read<Value> {
        if self.peek() == Some(b'"') {
            Ok(Value::String(self.string()?))
        } else {
            self.other_value(levels)
        }
    }

    /// A value that is no string, or that stands behind white space.
    fn other_value(&mut self, levels: usize) -> Read<Value> {
        match self.peek() {
            Some(b'{') => self.object(levels, &|_: &str| levels - 1),
            Some(b'[') => self.array(levels),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(self.number()?)),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b' ' | b'\t' | b'\n' | b'\r') => {
                self.skip_space();
                self.value(levels)
            }
            _ => Err(self.syntax()),
        }
    }

    fn object(&mut self, levels: usize, levels_of: &impl Fn(&str) -> usize) -> Read<Value> {
        if levels == 0 {
            return Err(Broken::new(FaultKind::TooDeep, self.at));
        }
        let start = self.members.len();
        let outcome = self.members(levels_of);
        // The names read so far stand in front of a fault: a repeat among them was there first.
        match Object::new(closed(&mut self.members, start)) {
            Err(at) => Err(Broken::new(FaultKind::DuplicateName, at as usize)),
            Ok(object) => outcome.map(|()| Value::Object(object)),
        }
    }

    fn members(&mut self, levels_of: &impl Fn(&str) -> usize) -> Read<()> {
        self.at += 1;
        if self.take_next(b'}') {
            return Ok(());
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.syntax());
            }
            let at = self.at as u32;
            let name = self.string()?;
            let levels = levels_of(&name);
            let index = self.members.len();
            self.members.push(Member {
                name,
                at,
                value: Value::Null,
            });
            if !self.take_next(b':') {
                return Err(self.syntax());
            }
            match self.value(levels) {
                Ok(value) => self.members[index].value = value,
                Err(broken) => {
                    let name = self.members[index].name.clone();
                    return Err(broken.under(Step::Name(name)));
                }
            }
            if !self.take_next(b',') {
                return if self.take(b'}') {
                    Ok(())
                } else {
                    Err(self.syntax())
                };
            }
        }
    }

    fn array(&mut self, levels: usize) -> Read<Value> {
        if levels == 0 {
            return Err(Broken::new(FaultKind::TooDeep, self.at));
        }
        let start = self.elements.len();
        self.at += 1;
        if self.take_next(b']') {
            return Ok(Value::Array(Vec::new()));
        }
        loop {
            let index = self.elements.len() - start;
            match self.value(levels - 1) {
                Ok(value) => self.elements.push(value),
                Err(broken) => return Err(broken.under(Step::Index(index))),
            }
            if self.take_next(b',') {
                continue;
            }
            return if self.take(b']') {
                Ok(Value::Array(closed(&mut self.elements, start)))
            } else {
                Err(self.syntax())
            };
        }
    }

    fn string(&mut self) -> Read<CompactString> {
        let start = self.at + 1;
        let end = start + plain_run(&self.bytes[start..]);
        let plain = &self.text[start..end];
        self.at = end;
        if self.take(b'"') {
            return Ok(CompactString::new(plain));
        }
        self.string_with_escapes(plain)
    }

    /// The rest of a string that begins with `plain`.
    #[inline(never)]
    fn string_with_escapes(&mut self, plain: &str) -> Read<CompactString> {
        let mut text = CompactString::new(plain);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => self.escape(&mut text)?,
                _ => return Err(self.syntax()),
            }
            let start = self.at;
            self.at += plain_run(&self.bytes[start..]);
            text.push_str(&self.text[start..self.at]);
        }
    }

    fn escape(&mut self, text: &mut CompactString) -> Read<()> {
        let start = self.at;
        let plain = match self.bytes.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self.hex4(start + 2)?;
                text.push(self.scalar(unit, start)?);
                return Ok(());
            }
            _ => {
                self.at = start + 1;
                return Err(self.syntax());
            }
        };
        self.at = start + 2;
        text.push(plain);
        Ok(())
    }

    /// The scalar value of the escape at `start` whose first code unit is `unit`; moves behind the escape, or
    /// behind both halves of a pair.
    fn scalar(&mut self, unit: u32, start: usize) -> Read<char> {
        let code = if let 0xD800..=0xDBFF = unit {
            let pair = self.bytes[start + 6..].starts_with(b"\\u");
            let low = if pair { self.hex4(start + 8)? } else { 0 };
            if !(0xDC00..=0xDFFF).contains(&low) {
                return Err(Broken::new(FaultKind::LoneSurrogate, start));
            }
            self.at = start + 12;
            0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        } else {
            self.at = start + 6;
            unit
        };
        char::from_u32(code).ok_or_else(|| Broken::new(FaultKind::LoneSurrogate, start))
    }

    fn hex4(&mut self, start: usize) -> Read<u32> {
        let mut unit = 0;
        for offset in start..start + 4 {
            let digit = self.bytes.get(offset).and_then(|&b| char::from(b).to_digit(16));
            let Some(digit) = digit else {
                self.at = offset.min(self.bytes.len());
                return Err(self.syntax());
            };
            unit = unit << 4 | digit;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Read<Number> {
        let start = self.at;
        let negative = self.take(b'-');
        let int_start = self.at;
        let mut mantissa: u64 = 0;
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(&mut mantissa),
            _ => return Err(self.syntax()),
        }
        let mut digits = self.at - int_start;
        let mut exponent: i64 = 0;
        let mut integer_literal = true;
        if self.take(b'.') {
            integer_literal = false;
            let fraction_start = self.at;
            self.digits(&mut mantissa);
            let fraction = self.at - fraction_start;
            if fraction == 0 {
                return Err(self.syntax());
            }
            digits += fraction;
            exponent = -(fraction as i64);
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer_literal = false;
            self.at += 1;
            let negative = self.peek() == Some(b'-');
            if matches!(self.peek(), Some(b'-' | b'+')) {
                self.at += 1;
            }
            let exponent_start = self.at;
            let mut written: u64 = 0;
            self.digits(&mut written);
            match self.at - exponent_start {
                0 => return Err(self.syntax()),
                // A longer exponent is left to the slow path below.
                1..=4 => {
                    exponent += if negative {
                        -(written as i64)
                    } else {
                        written as i64
                    }
                }
                _ => exponent = i64::MAX,
            }
        }
        let literal = &self.text[start..self.at];
        let value = match exact(mantissa, digits, exponent) {
            Some(value) => {
                if negative {
                    -value
                } else {
                    value
                }
            }
            None => literal.parse().unwrap_or(f64::INFINITY),
        };
        if !value.is_finite() {
            return Err(Broken::new(FaultKind::NumberTooLarge, start));
        }
        let number = Number::new(value, integer_literal);
        if integer_literal && value.abs() > MAX_SAFE_INTEGER && !canonical::spells(number, literal) {
            return Err(Broken::new(FaultKind::IntegerNotExact, start));
        }
        Ok(number)
    }

    /// Skips digits and adds them to `mantissa`, which is right as long as they are 19 at most.
    fn digits(&mut self, mantissa: &mut u64) {
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Read<Value> {
        let matching = word
            .bytes()
            .zip(&self.bytes[self.at..])
            .take_while(|(a, b)| a == *b)
            .count();
        self.at += matching;
        if matching < word.len() {
            Err(self.syntax())
        } else {
            Ok(value)
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes a byte that may stand behind white space. Most senders write none, so the byte is tried first.
    fn take_next(&mut self, byte: u8) -> bool {
        self.take(byte) || {
            self.skip_space();
            self.take(byte)
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn syntax(&self) -> Box<Broken> {
        Broken::new(FaultKind::Syntax, self.at)
    }
}

/// What a container holds, taken off the stack of those that are open.
fn closed<T>(open: &mut Vec<T>, start: usize) -> Vec<T> {
    // A container that has most of the stack takes it over, so that a large one is never there twice.
    if open.len() - start > start.max(1_000) {
        let below = open.drain(..start).collect();
        std::mem::replace(open, below)
    } else {
        open.split_off(start)
    }
}

/// 2^53 − 1: up to here every integer has one reading in every library.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// `mantissa × 10^exponent` where one correctly rounded operation gives it (Clinger's fast path): both the
/// mantissa and the power of ten are exact doubles.
fn exact(mantissa: u64, digits: usize, exponent: i64) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    if digits > 19 || mantissa > 1 << 53 {
        return None;
    }
    let power = *POWERS.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
    Some(if exponent < 0 {
        mantissa as f64 / power
    } else {
        mantissa as f64 * power
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (FaultKind, String) {
        let fault = read(text.as_bytes()).unwrap_err();
        (fault.kind, fault.place.to_string())
    }

    #[test]
    fn white_space_may_stand_between_any_two_tokens() {
        let tokens = [
            "{", "\"a\"", ":", "[", "1", ",", "{", "}", ",", "[", "]", ",", "\"x\"", "]", ",", "\"b\"", ":",
            "null", "}",
        ];
        let expected = read(tokens.concat().as_bytes()).unwrap();
        for space in [" ", "\t", "\r\n", "\n \n"] {
            let spaced = [space, &tokens.join(space), space].concat();
            assert_eq!(read(spaced.as_bytes()).unwrap(), expected, "{spaced:?}");
        }
    }

    #[test]
    fn large_containers_leave_those_around_them_whole() {
        let members: Vec<String> = (0..3_000).map(|n| format!("\"{n}\":[{n},[]]")).collect();
        let text = format!(
            r#"{{"b":[1,{{{0}}},[2,{{{0}}}]],"a":{{{0}}},"c":[3]}}"#,
            members.join(",")
        );
        let read = read(text.as_bytes()).unwrap();
        let object = |value: &Value| value.as_object().map(Object::len);
        let b = read.get("b").and_then(Value::as_array).unwrap();
        assert_eq!((b.len(), object(&b[1])), (3, Some(3_000)));
        assert_eq!(
            b[2].as_array().map(|inner| (inner.len(), object(&inner[1]))),
            Some((2, Some(3_000)))
        );
        assert_eq!(read.get("a").and_then(object), Some(3_000));
        assert_eq!(read.get("c").and_then(Value::as_array).map(<[_]>::len), Some(1));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let rows = [
            "",
            " ",
            "{",
            "[",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "tru",
            "nul",
            "01",
            "1.",
            ".5",
            "-",
            "+1",
            "0.3e+",
            "1e",
            "NaN",
            "Infinity",
            "-Infinity",
            "'a'",
            "\"a",
            "\"\u{1}\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "1 2",
            "{} x",
            "{\"a\" 1}",
            "{a:1}",
            "[1 2]",
            "\u{FEFF}1",
            "/* */ 1",
            "0x1",
            "1_0",
            "{\"a\":}",
            "\u{a0}1",
            "[1}",
            "{\"a\":1]",
            "\"\t\"",
        ];
        for row in rows {
            let fault = read(row.as_bytes()).unwrap_err();
            assert!(fault.kind.is_syntax(), "{row:?} gave {fault:?}");
        }
    }

    #[test]
    fn structural_faults_name_their_place() {
        use FaultKind::{DuplicateName, IntegerNotExact, LoneSurrogate, NumberTooLarge};
        let rows = [
            (r#"{"a":[{"x":1,"x":2}]}"#, DuplicateName, "a[0]"),
            (r#"{"a":1,"\u0061":2}"#, DuplicateName, "$"),
            (r#"{"a":{"b":"\ud800"}}"#, LoneSurrogate, "a.b"),
            (r#"["\ude00\ud83d"]"#, LoneSurrogate, "[0]"),
            (r#"["\ud83d\u0041"]"#, LoneSurrogate, "[0]"),
            (r#"{"\ud800":1}"#, LoneSurrogate, "$"),
            (r#"{"a":[0,1e400]}"#, NumberTooLarge, "a[1]"),
            ("-1e400", NumberTooLarge, "$"),
            ("9007199254740993", IntegerNotExact, "$"),
            ("18446744073709551615", IntegerNotExact, "$"),
            ("-9223372036854775808", IntegerNotExact, "$"),
            ("123456789012345678901234567890", IntegerNotExact, "$"),
            ("1000000000000000000000", IntegerNotExact, "$"),
        ];
        for (text, kind, place) in rows {
            assert_eq!(fault(text), (kind, place.to_owned()), "{text}");
        }
    }

    #[test]
    fn the_first_fault_of_the_text_is_told() {
        assert_eq!(fault(r#"{"a":1,"a":2,"b":1e999}"#).0, FaultKind::DuplicateName);
        assert_eq!(fault(r#"{"a":1e999,"a":2}"#).0, FaultKind::NumberTooLarge);
        assert_eq!(fault(r#"{"a":1,"a":{"b":1e999"#).0, FaultKind::DuplicateName);
        assert_eq!(read(b"[1,,\"\xff\"]").unwrap_err().kind, FaultKind::Syntax);
        assert_eq!(read(b"[1,\"\xff\",,]").unwrap_err().kind, FaultKind::InvalidUtf8);
        assert_eq!(
            read(b"[\"\xed\xa0\x80\"]").unwrap_err().kind,
            FaultKind::InvalidUtf8
        );
        let fault = read("[1,\n \"é\", x]".as_bytes()).unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 7));
    }

    #[test]
    fn numbers_are_the_nearest_double() {
        let rows = [
            ("0", 0.0),
            ("-0", 0.0),
            ("-0.0", 0.0),
            ("1e-400", 0.0),
            ("0.1", 0.1),
            ("135.0", 135.0),
            ("1E+2", 100.0),
            ("9007199254740991", 9_007_199_254_740_991.0),
            ("9007199254740992", 9_007_199_254_740_992.0),
            ("100000000000000000000", 1e20),
            ("295147905179352830000", 295_147_905_179_352_830_000.0),
            ("9007199254740993.0", 9_007_199_254_740_992.0),
            ("5e-324", 5e-324),
            ("2.2250738585072011e-308", 2.225_073_858_507_201e-308),
            ("1.7976931348623157e308", f64::MAX),
            ("0e99999999999999999999", 0.0),
            ("1e00000000000000000001", 10.0),
            ("123456789.123456789123456789", 123_456_789.123_456_79),
            ("-2.5", -2.5),
        ];
        for (text, expected) in rows {
            let number = read(text.as_bytes()).unwrap().as_number().unwrap();
            assert_eq!(number.value().to_bits(), expected.to_bits(), "{text}");
            assert_eq!(
                number.is_integer_literal(),
                !text.contains(['.', 'e', 'E']),
                "{text}"
            );
        }
    }

    #[test]
    fn depth_ends_at_the_limit() {
        let nested = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
        assert!(read(&nested(64)).is_ok());
        assert_eq!(read(&nested(65)).unwrap_err().kind, FaultKind::TooDeep);
        assert_eq!(read(&vec![b'['; 100_000]).unwrap_err().kind, FaultKind::TooDeep);
        let objects = format!("{}1{}", r#"{"a":"#.repeat(64), "}".repeat(64));
        assert!(read(objects.as_bytes()).is_ok());
    }

    #[test]
    fn strings_are_unescaped() {
        let text = r#""\"\\\/\b\f\n\r\t\u0041\ud83d\ude00é""#;
        assert_eq!(
            read(text.as_bytes()).unwrap().as_str(),
            Some("\"\\/\u{8}\u{c}\n\r\tA😀é")
        );
    }
}
