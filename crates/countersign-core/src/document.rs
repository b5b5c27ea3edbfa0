//! A JSON document in the making: described once, written in the order of the contract, and in canonical form from
//! the same bytes.
//!
//! While the text is written, a mark per value remembers where it stands. The canonical form is the marks sorted
//! and their bytes copied, so the two forms cannot say different things.

use crate::canonical::{self, Hash};
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

/// Where a value stands.
#[derive(Clone, Copy)]
struct Mark {
    name: &'static str,
    /// The name's first eight letters as one number, which sorts as they do.
    letters: u64,
    /// Where the value's text begins.
    start: usize,
    /// Where its canonical text ends.
    end: usize,
    /// The mark behind this one and all inside it.
    after: usize,
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
            marks: Vec::with_capacity(128),
        }
    }
}

impl Document {
    /// `null`
    pub fn null(&mut self, name: &'static str) {
        self.scalar(name, |text| text.extend_from_slice(b"null"));
    }

    /// `true` or `false`
    pub fn bool(&mut self, name: &'static str, value: bool) {
        self.scalar(name, |text| {
            text.extend_from_slice(if value { b"true" } else { b"false" });
        });
    }

    /// A count, below 2^53.
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
        let start = self.marks.last().map_or(0, |mark| mark.start);
        if !self.text[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
            self.text.extend_from_slice(b".0");
        }
    }

    /// A string.
    pub fn text(&mut self, name: &'static str, value: &str) {
        self.scalar(name, |text| canonical::write_string(value, text));
    }

    /// A string, or null.
    pub fn text_or_null(&mut self, name: &'static str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    /// A digest, in lower-case hex.
    pub fn hash(&mut self, name: &'static str, hash: &Hash) {
        self.scalar(name, |text| write_plain(&hash.hex(), text));
    }

    /// A point in time.
    pub fn time(&mut self, name: &'static str, time: Timestamp) {
        self.scalar(name, |text| write_plain(&time.ascii(), text));
    }

    /// A UUID in its usual form, lower case.
    pub fn uuid(&mut self, name: &'static str, id: &[u8; 16]) {
        self.scalar(name, |text| write_plain(&uuid_ascii(id), text));
    }

    /// An object, whose members `inside` writes.
    pub fn object(&mut self, name: &'static str, inside: impl FnOnce(&mut Self)) {
        let mark = self.begin(name, Shape::Object);
        self.text.push(b'{');
        inside(self);
        self.text.push(b'}');
        self.end(mark);
    }

    /// An array, whose elements `inside` writes, each under the name `""`.
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
        self.write_object(0, self.marks.len(), &mut Vec::with_capacity(64), out);
    }

    /// `order` is scratch room: the marks of the objects that are open, each object's sorted.
    fn write_object(&self, from: usize, to: usize, order: &mut Vec<(u64, usize)>, out: &mut Vec<u8>) {
        let base = order.len();
        let mut next = from;
        while next < to {
            order.push((self.marks[next].letters, next));
            next = self.marks[next].after;
        }
        // Names are ASCII, so sorting by bytes is RFC 8785's order; eight letters decide nearly always.
        order[base..].sort_unstable_by(|a, b| {
            let names = || self.marks[a.1].name.cmp(self.marks[b.1].name);
            a.0.cmp(&b.0).then_with(names)
        });
        out.push(b'{');
        for position in base..order.len() {
            let (_, index) = order[position];
            out.extend_from_slice(if position == base { b"\"" } else { b",\"" });
            out.extend_from_slice(self.marks[index].name.as_bytes());
            out.extend_from_slice(b"\":");
            self.write_value(index, order, out);
        }
        out.push(b'}');
        order.truncate(base);
    }

    fn write_value(&self, index: usize, order: &mut Vec<(u64, usize)>, out: &mut Vec<u8>) {
        let mark = &self.marks[index];
        match mark.shape {
            Shape::Scalar => out.extend_from_slice(&self.text[mark.start..mark.end]),
            Shape::Object => self.write_object(index + 1, mark.after, order, out),
            Shape::List => {
                out.push(b'[');
                let mut element = index + 1;
                while element < mark.after {
                    if element > index + 1 {
                        out.push(b',');
                    }
                    self.write_value(element, order, out);
                    element = self.marks[element].after;
                }
                out.push(b']');
            }
        }
    }

    fn scalar(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<u8>)) {
        let mark = self.begin(name, Shape::Scalar);
        write(&mut self.text);
        self.end(mark);
    }

    fn begin(&mut self, name: &'static str, shape: Shape) -> usize {
        if !matches!(self.text.last(), Some(b'{' | b'[')) {
            self.text.push(b',');
        }
        if !name.is_empty() {
            self.text.push(b'"');
            self.text.extend_from_slice(name.as_bytes());
            self.text.extend_from_slice(b"\":");
        }
        let mark = self.marks.len();
        self.marks.push(Mark {
            name,
            letters: first_letters(name),
            start: self.text.len(),
            end: 0,
            after: 0,
            shape,
        });
        mark
    }

    fn end(&mut self, mark: usize) {
        let after = self.marks.len();
        let mark = &mut self.marks[mark];
        mark.end = self.text.len();
        mark.after = after;
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
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    // Each pair of digits stands behind as many hyphens as there are groups before it.
    for (index, byte) in id.iter().enumerate() {
        let hyphens = [4, 6, 8, 10].iter().filter(|start| index >= **start).count();
        text[2 * index + hyphens] = HEX[usize::from(byte >> 4)];
        text[2 * index + hyphens + 1] = HEX[usize::from(byte & 15)];
    }
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
