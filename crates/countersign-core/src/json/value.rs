//! The value type that hashes, schema step and rules share.

use compact_str::CompactString;
use std::cmp::Ordering;

/// A JSON value as read by the strict reader.
///
/// Equality is JSON equality on canonical values: `1` equals `1.0`, `true` is not `1`, objects are unordered.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(Number),
    /// A string, unescaped.
    String(CompactString),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

/// A number: the double that every JSON library agrees on, and how it was written.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    value: f64,
    integer_literal: bool,
}

/// 2^53: from here on every double is whole.
const MAX_FRACTIONAL: f64 = 9_007_199_254_740_992.0;

/// The members of an object, sorted by UTF-16 code units of their names, each name once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    members: Vec<Member>,
}

/// One member of an object.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name, unescaped.
    pub name: CompactString,
    /// Byte offset of the name's opening quote in the text; 0 for a value made in code.
    pub at: u32,
    /// The value.
    pub value: Value,
}

impl Value {
    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The type name that texts use, by value: `1.0` is an `integer` (section 14).
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_integer() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// The member with this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object().and_then(|object| object.get(name))
    }
}

impl Number {
    /// A number as the reader found it. `value` must be finite; `-0` becomes `0`.
    pub fn new(value: f64, integer_literal: bool) -> Self {
        debug_assert!(value.is_finite());
        Number {
            value: if value == 0.0 { 0.0 } else { value },
            integer_literal,
        }
    }

    /// The double: finite, never `-0`.
    pub fn value(self) -> f64 {
        self.value
    }

    /// Whether it was written without `.` and exponent.
    pub fn is_integer_literal(self) -> bool {
        self.integer_literal
    }

    /// Whether its value is whole, however it was written.
    pub fn is_integer(self) -> bool {
        // `fract` is a call into the C library where the processor is not known to have rounding.
        let whole = self.value as i64;
        (whole as f64).to_bits() == self.value.to_bits() || self.value.abs() >= MAX_FRACTIONAL
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

impl Object {
    /// Sorts the members; `Err` holds the offset of the first name, in the order given, that repeats an
    /// earlier one.
    pub fn new(mut members: Vec<Member>) -> Result<Self, u32> {
        let sorted = |pair: &[Member]| compare_names(&pair[0].name, &pair[1].name) == Ordering::Less;
        if !members.windows(2).all(sorted) {
            // Two equal names end side by side, and no sort can put them there without comparing the two.
            let mut repeated = false;
            members.sort_by(|a, b| {
                compare_names(&a.name, &b.name).then_with(|| {
                    repeated = true;
                    a.at.cmp(&b.at)
                })
            });
            let repeats = members.windows(2).filter(|pair| pair[0].name == pair[1].name);
            if repeated && let Some(at) = repeats.map(|pair| pair[1].at).min() {
                return Err(at);
            }
        }
        Ok(Object { members })
    }

    /// The members in canonical order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The value of the member with this name, taken out of the object.
    pub fn take(mut self, name: &str) -> Option<Value> {
        let index = self.position(name).ok()?;
        Some(self.members.swap_remove(index).value)
    }

    /// The object without the members that `keep` says no to.
    #[must_use]
    pub fn retaining(mut self, keep: impl FnMut(&Member) -> bool) -> Self {
        self.members.retain(keep);
        self
    }

    /// The member with this name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        // Most objects are small: comparing lengths and bytes beats a binary search there.
        if self.members.len() <= 8 {
            return self.members.iter().find(|member| member.name == name);
        }
        self.position(name).ok().map(|index| &self.members[index])
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The index of the member with this name in canonical order, or where it would stand.
    pub fn position(&self, name: &str) -> Result<usize, usize> {
        self.members
            .binary_search_by(|member| compare_names(&member.name, name))
    }

    /// The value of the member with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.member(name).map(|member| &member.value)
    }
}

/// Compares two names by UTF-16 code units, as RFC 8785 section 3.2.3 sorts members.
///
/// On UTF-8 that is byte order, except that a lead byte from 0xF0 on (a surrogate pair in UTF-16) stands before
/// 0xEE and 0xEF (U+E000 to U+FFFF).
pub fn compare_names(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Two names mostly differ in their first letter, which then decides.
    if let (Some(x), Some(y)) = (a.first(), b.first())
        && x != y
        && (x | y) < 0x80
    {
        return x.cmp(y);
    }
    let common = a.len().min(b.len());
    match a[..common].iter().zip(&b[..common]).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((&x, &y)) if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) => y.cmp(&x),
        Some((x, y)) => x.cmp(y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_utf16_code_units() {
        let mut names = vec![
            "\u{1F600}",
            "\u{FB33}",
            "z",
            "",
            "\u{20ac}",
            "\r",
            "1",
            "\u{80}",
            "\u{10FFFF}",
            "zzzz\u{FB33}",
            "zzzz\u{1F600}",
            "zz\u{FB33}",
            "zz\u{1F600}",
            "\u{D7FF}",
            "\u{E000}",
            "a",
            "a\0",
        ];
        names.sort_by(|a, b| compare_names(a, b));
        let mut expected = names.clone();
        expected.sort_by_key(|name| name.encode_utf16().collect::<Vec<_>>());
        assert_eq!(names, expected);
        assert_eq!(compare_names("\u{1F600}", "\u{FB33}"), Ordering::Less);
    }

    #[test]
    fn whole_numbers_are_told_from_fractions_of_any_size() {
        let rows = [
            (0.0, true),
            (-7.0, true),
            (0.5, false),
            (-1e-300, false),
            (4_503_599_627_370_495.5, false),
            (9_007_199_254_740_991.0, true),
            (9_223_372_036_854_775_808.0, true),
            (-1e300, true),
        ];
        for (value, whole) in rows {
            assert_eq!(Number::new(value, false).is_integer(), whole, "{value}");
        }
    }

    #[test]
    fn a_value_takes_32_bytes() {
        // A 1 MiB array of numbers becomes half a million values: their size is the server's peak memory.
        assert_eq!(size_of::<Value>(), 32);
        assert_eq!(size_of::<Member>(), 64);
    }
}
