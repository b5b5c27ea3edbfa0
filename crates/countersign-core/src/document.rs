//! A JSON document in the making: described once, written in the order of the contract, and in canonical form from
//! the same bytes.
//!
//! While the text is written, a mark per value remembers where it stands. The canonical form is the marks sorted
//! and their bytes copied, so the two forms cannot say different things.

use crate::canonical::{self, Hash, hex_digits};
use crate::json::Number;
use crate::time::Timestamp;
use std::borrow::Cow;

/// The text of a JSON object, and where its values stand in it.
///
/// Members are written in the order of the calls. Names are ASCII without anything to escape, and each is given
/// once per object; in a list the name is `""`.
pub struct Document {
    text: Vec<u8>,
    marks: Vec<Mark>,
}

/// Where a value stands. A document's text is far below 4 GiB.
#[derive(Clone, Copy)]
struct Mark {
    /// The name's first eight letters as one number, which sorts as they do.
    letters: u64,
    /// Where its name begins, quote included; in a list, where its text does.
    name: u32,
    /// Where its text begins.
    start: u32,
    /// Where its canonical text ends.
    end: u32,
    /// The mark behind this one and all inside it.
    after: u32,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Scalar,
    List,
    Object,
}

impl Default for Document {
    fn default() -> Self {
        let mut text = Vec::with_capacity(4096);
        text.push(b'{');
        Document {
            text,
            marks: Vec::with_capacity(96),
        }
    }
}

impl Document {
    /// `null`
    #[inline]
    pub fn null(&mut self, name: &'static str) {
        self.scalar(name, |text| text.extend_from_slice(b"null"));
    }

    /// `true` or `false`
    #[inline]
    pub fn bool(&mut self, name: &'static str, value: bool) {
        self.scalar(name, |text| {
            text.extend_from_slice(if value { b"true" } else { b"false" });
        });
    }

    /// A count, below 2^53.
    #[inline]
    pub fn integer(&mut self, name: &'static str, count: u64) {
        self.scalar(name, |text| {
            text.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
        });
    }

    /// A ratio or score, finite: with a decimal point in the document (`1.0`), without one in canonical form.
    pub fn ratio(&mut self, name: &'static str, ratio: f64) {
        let number = Number::new(ratio, false);
        self.scalar(name, |text| canonical::write_number(number, text));
        // The value alone: a name may have an `e` of its own.
        let start = self.marks.last().map_or(0, |mark| mark.start as usize);
        if !self.text[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
            self.text.extend_from_slice(b".0");
        }
    }

    /// A string.
    #[inline]
    pub fn text(&mut self, name: &'static str, value: &str) {
        self.scalar(name, |text| canonical::write_string(value, text));
    }

    /// A word of ours, which has nothing to escape.
    #[inline]
    pub fn word(&mut self, name: &'static str, word: &'static str) {
        self.scalar(name, |text| write_plain(word.as_bytes(), text));
    }

    /// A string put together from parts.
    #[inline]
    pub fn text_of(&mut self, name: &'static str, parts: &[&str]) {
        self.scalar(name, |text| {
            text.push(b'"');
            parts.iter().for_each(|part| canonical::write_escaped(part, text));
            text.push(b'"');
        });
    }

    /// A string, or null.
    pub fn text_or_null(&mut self, name: &'static str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    /// A digest, in lower-case hex.
    #[inline]
    pub fn hash(&mut self, name: &'static str, hash: &Hash) {
        self.scalar(name, |text| write_plain(&hash.hex(), text));
    }

    /// A point in time.
    #[inline]
    pub fn time(&mut self, name: &'static str, time: Timestamp) {
        self.scalar(name, |text| write_plain(&time.ascii(), text));
    }

    /// A UUID in its usual form, lower case.
    #[inline]
    pub fn uuid(&mut self, name: &'static str, id: &[u8; 16]) {
        self.scalar(name, |text| write_plain(&uuid_ascii(id), text));
    }

    /// An object, whose members `inside` writes.
    #[inline]
    pub fn object(&mut self, name: &'static str, inside: impl FnOnce(&mut Self)) {
        let mark = self.begin(name, Shape::Object);
        self.text.push(b'{');
        inside(self);
        self.text.push(b'}');
        self.end(mark);
    }

    /// An array, whose elements `inside` writes, each under the name `""`.
    #[inline]
    pub fn list(&mut self, name: &'static str, inside: impl FnOnce(&mut Self)) {
        let mark = self.begin(name, Shape::List);
        self.text.push(b'[');
        inside(self);
        self.text.push(b']');
        self.end(mark);
    }

    /// A part of any shape.
    pub fn part(&mut self, name: &'static str, part: &Part<'_>) {
        match part {
            Part::Null => self.null(name),
            Part::Bool(value) => self.bool(name, *value),
            Part::Integer(count) => self.integer(name, *count),
            Part::Ratio(ratio) => self.ratio(name, *ratio),
            Part::Text(text) => self.text(name, text),
            Part::List(parts) => self.list(name, |list| parts.iter().for_each(|part| list.part("", part))),
            Part::Object(members) => {
                self.object(name, |object| {
                    members.iter().for_each(|(name, part)| object.part(name, part));
                });
            }
        }
    }

    /// The document's text.
    pub fn finish(mut self) -> Vec<u8> {
        self.text.push(b'}');
        self.text
    }

    /// Appends the RFC 8785 form of what has been written so far.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        self.write_object((0, self.marks.len()), &mut Vec::with_capacity(64), out);
    }

    /// Writes the object whose marks stand in this range. `order` is scratch room: the marks of the objects that are
    /// open, each object's sorted.
    fn write_object(&self, (from, to): (usize, usize), order: &mut Vec<u128>, out: &mut Vec<u8>) {
        let base = order.len();
        let mut next = from;
        while next < to {
            let mark = &self.marks[next];
            order.push(u128::from(mark.letters) << 64 | next as u128);
            next = mark.after as usize;
        }
        self.sort(&mut order[base..]);
        out.push(b'{');
        for position in base..order.len() {
            if position > base {
                out.push(b',');
            }
            self.write_member(order[position] as u64 as usize, order, out);
        }
        out.push(b'}');
        order.truncate(base);
    }

    /// Writes a value behind its name, or an element of a list, which has none.
    fn write_member(&self, index: usize, order: &mut Vec<u128>, out: &mut Vec<u8>) {
        let Mark {
            name,
            start,
            end,
            after,
            shape,
            ..
        } = self.marks[index];
        let (name, start, end, after) = (name as usize, start as usize, end as usize, after as usize);
        match shape {
            // Name and value stand side by side in the text: one copy takes both.
            Shape::Scalar => out.extend_from_slice(&self.text[name..end]),
            Shape::Object => {
                out.extend_from_slice(&self.text[name..start]);
                self.write_object((index + 1, after), order, out);
            }
            Shape::List => {
                out.extend_from_slice(&self.text[name..=start]);
                let mut element = index + 1;
                while element < after {
                    if element > index + 1 {
                        out.push(b',');
                    }
                    self.write_member(element, order, out);
                    element = self.marks[element].after as usize;
                }
                out.push(b']');
            }
        }
    }

    /// Sorts members, each its first letters in front of its mark, by their names. These are ASCII, so that their
    /// bytes decide; eight letters do nearly always, and are sorted as numbers in half the time of a comparison.
    fn sort(&self, members: &mut [u128]) {
        members.sort_unstable();
        for index in 1..members.len() {
            let mut place = index;
            while place > 0
                && members[place] >> 64 == members[place - 1] >> 64
                && self.name(members[place]) < self.name(members[place - 1])
            {
                members.swap(place, place - 1);
                place -= 1;
            }
        }
    }

    fn name(&self, member: u128) -> &[u8] {
        let Mark { name, start, .. } = self.marks[member as u64 as usize];
        // Between the quotes and the colon.
        self.text
            .get(name as usize + 1..start as usize - 2)
            .unwrap_or_default()
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as `begin`")]
    fn scalar(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<u8>)) {
        let mark = self.begin(name, Shape::Scalar);
        write(&mut self.text);
        self.end(mark);
    }

    // A name is a constant where its value is written: inlined, it is copied without a call, and its letters are
    // constants too. That saves a tenth of writing a receipt.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "the compiler leaves it a call, since it is called often"
    )]
    fn begin(&mut self, name: &'static str, shape: Shape) -> usize {
        if !matches!(self.text.last(), Some(b'{' | b'[')) {
            self.text.push(b',');
        }
        let at = self.text.len();
        if !name.is_empty() {
            self.text.push(b'"');
            self.text.extend_from_slice(name.as_bytes());
            self.text.extend_from_slice(b"\":");
        }
        let mark = self.marks.len();
        self.marks.push(Mark {
            letters: first_letters(name),
            name: at as u32,
            start: self.text.len() as u32,
            end: 0,
            after: 0,
            shape,
        });
        mark
    }

    fn end(&mut self, mark: usize) {
        let after = self.marks.len();
        let mark = &mut self.marks[mark];
        mark.end = self.text.len() as u32;
        mark.after = after as u32;
    }
}

/// A part of a document as a value, for documents that are put together from several places.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A count, below 2^53.
    Integer(u64),
    /// Any other finite number.
    Ratio(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Part<'a>>),
    /// An object, its members in the order they are written in.
    Object(Members<'a>),
}

/// The members of an object, in the order they are written in.
pub type Members<'a> = Vec<(&'static str, Part<'a>)>;

impl<'a> From<&'a str> for Part<'a> {
    fn from(text: &'a str) -> Self {
        Part::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Part<'_> {
    fn from(text: String) -> Self {
        Part::Text(Cow::Owned(text))
    }
}

/// The JSON text of these members.
pub fn json(members: &Members<'_>) -> Vec<u8> {
    let mut document = Document::default();
    members.iter().for_each(|(name, part)| document.part(name, part));
    document.finish()
}

/// The JSON text of any part.
pub fn json_of(part: &Part<'_>) -> Vec<u8> {
    let mut document = Document {
        text: Vec::with_capacity(512),
        marks: Vec::new(),
    };
    // An open bracket stands for the place of a list's first element: nothing is written before it.
    document.text.push(b'[');
    document.part("", part);
    document.text.split_off(1)
}

#[inline]
fn first_letters(name: &str) -> u64 {
    let name = name.as_bytes();
    match name.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => (0..8).fold(0, |letters, at| {
            letters << 8 | name.get(at).map_or(0, |letter| u64::from(*letter))
        }),
    }
}

/// A string that has nothing to escape.
fn write_plain(ascii: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(ascii);
    out.push(b'"');
}

/// A UUID in its usual form, lower case.
fn uuid_ascii(id: &[u8; 16]) -> [u8; 36] {
    let digits = id.map(hex_digits);
    let digits = digits.as_flattened();
    let mut text = [b'-'; 36];
    text[..8].copy_from_slice(&digits[..8]);
    text[9..13].copy_from_slice(&digits[8..12]);
    text[14..18].copy_from_slice(&digits[12..16]);
    text[19..23].copy_from_slice(&digits[16..20]);
    text[24..].copy_from_slice(&digits[20..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    #[test]
    fn both_forms_say_the_same() {
        let mut document = Document::default();
        document.ratio("b", 1.0);
        document.list("a", |list| {
            list.object("", |object| {
                object.integer("z", 3);
                object.text("y", "é\n\"");
                object.object("x", |_| {});
            });
            list.null("");
            list.list("", |_| {});
        });
        document.bool("c", true);
        document.ratio("r", 0.000_001);
        document.ratio("s", 0.875);
        document.ratio("score", 1.0);
        document.time("t", Timestamp(0));
        document.uuid("u", &[0xAB; 16]);
        document.text_or_null("errors_total", None);
        document.text("errors", "");
        let mut canonical = Vec::new();
        document.write_canonical(&mut canonical);
        let text = document.finish();
        let shown = String::from_utf8(text.clone()).unwrap();
        let expected = concat!(
            r#"{"b":1.0,"a":[{"z":3,"y":"é\n\"","x":{}},null,[]],"c":true,"r":0.000001,"s":0.875,"score":1.0,"#,
            r#""t":"1970-01-01T00:00:00.000000+00:00","u":"abababab-abab-abab-abab-abababababab","#,
            r#""errors_total":null,"errors":""}"#
        );
        assert_eq!(shown, expected);
        assert_eq!(canonical, canonical::bytes(&read(&text).unwrap()));
    }

    #[test]
    fn names_that_begin_alike_stand_in_canonical_order() {
        const NAMES: [&str; 24] = [
            "errors_detail_total",
            "errors_detail",
            "errors",
            "errors_total",
            "errors_detail_omitted",
            "z",
            "y",
            "x",
            "w",
            "v",
            "u",
            "t",
            "s",
            "r",
            "q",
            "p",
            "o",
            "n",
            "m",
            "errors_d",
            "k",
            "j",
            "i",
            "a",
        ];
        let mut document = Document::default();
        for name in NAMES {
            document.word(name, "our own");
        }
        document.text_of("url", &["a\"", "/b"]);
        let mut canonical = Vec::new();
        document.write_canonical(&mut canonical);
        let text = document.finish();
        assert!(text.ends_with(br#","a":"our own","url":"a\"/b"}"#));
        assert_eq!(canonical, canonical::bytes(&read(&text).unwrap()));
    }

    #[test]
    fn parts_of_any_shape_are_written() {
        assert_eq!(json_of(&Part::Null), b"null");
        let list = Part::List(vec![Part::Bool(false), Part::Object(vec![("a", "x".into())])]);
        assert_eq!(json_of(&list), br#"[false,{"a":"x"}]"#);
        assert_eq!(
            json(&vec![("n", Part::Integer(1)), ("l", list)]),
            br#"{"n":1,"l":[false,{"a":"x"}]}"#
        );
    }
}
