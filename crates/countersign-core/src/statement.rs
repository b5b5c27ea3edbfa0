//! The signed envelope: what is signed, how it goes out, and how it is checked again (section 20).
//!
//! A document is described once, in the order of members that the contract gives the answer. Its canonical
//! bytes, which are signed, come from the same description, so the two cannot differ.

use crate::canonical::{self, Hash};
use crate::json::{Number, Object, Value};
use crate::key::{ALGORITHM, signature_text};
use crate::time::Timestamp;
use std::borrow::Cow;

/// What kind of document a signature is over. One context string per kind and version: a signature over one
/// kind is worthless for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// A check, by either route, in both shapes, and by MCP.
    Check,
    /// A score.
    Score,
}

impl Context {
    /// The context string that is signed.
    pub fn as_str(self) -> &'static str {
        match self {
            Context::Check => "json-schema-verifier/verify-schema-attestation/v1",
            Context::Score => "json-schema-verifier/trust-score-attestation/v1",
        }
    }
}

/// A part of a document that is going to be signed.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A count, below 2^53.
    Integer(u64),
    /// A ratio or score, finite: written with a decimal point in the answer (`1.0`), canonical when signed.
    Ratio(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// A digest: its lower-case hex.
    Hash(Hash),
    /// A point in time.
    Time(Timestamp),
    /// A UUID in its usual form, lower case.
    Uuid([u8; 16]),
    /// An array.
    List(Vec<Part<'a>>),
    /// An object, its members in the contract's order.
    Object(Members<'a>),
}

/// The members of an object in the contract's order. Names are ASCII, so sorting by bytes is RFC 8785's order.
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

/// A document with everything but its signature.
pub struct Unsigned<'a> {
    /// The bytes to sign: RFC 8785, five members.
    pub signed_bytes: Vec<u8>,
    answer: Vec<u8>,
    key_version: &'a str,
    attested_at: Timestamp,
}

impl<'a> Unsigned<'a> {
    /// Makes the bytes to sign and the answer around them.
    pub fn new(
        context: Context,
        key_version: &'a str,
        attested_at: Timestamp,
        mut members: Members<'_>,
    ) -> Self {
        let mut answer = Vec::with_capacity(4096);
        write_object(&members, &mut answer, Spelling::Answer);
        // The closing brace makes room for the attestation.
        answer.pop();
        sort(&mut members);
        let mut signed_bytes = Vec::with_capacity(answer.len() + 256);
        write_head(context, key_version, &attested_at.to_string(), &mut signed_bytes);
        write_object(&members, &mut signed_bytes, Spelling::Canonical);
        signed_bytes.push(b'}');
        Unsigned {
            signed_bytes,
            answer,
            key_version,
            attested_at,
        }
    }

    /// The whole answer, with the signature over [`Self::signed_bytes`].
    pub fn seal(mut self, signature: &[u8; 64]) -> Vec<u8> {
        self.answer.extend_from_slice(b",\"attestation\":");
        let attestation = vec![
            ("algorithm", ALGORITHM.into()),
            ("key_version", self.key_version.into()),
            ("timestamp", Part::Time(self.attested_at)),
            ("signature", signature_text(signature).into()),
        ];
        write_object(&attestation, &mut self.answer, Spelling::Answer);
        self.answer.push(b'}');
        self.answer
    }
}

/// The bytes that a signature over a received document must be over: its members without `attestation`.
pub fn signed_bytes(context: Context, key_version: &str, attested_at: &str, response: &Object) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    write_head(context, key_version, attested_at, &mut out);
    out.push(b'{');
    let mut first = true;
    for member in response
        .members()
        .iter()
        .filter(|member| member.name != "attestation")
    {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        canonical::write_string(&member.name, &mut out);
        out.push(b':');
        canonical::write(&member.value, &mut out);
    }
    out.extend_from_slice(b"}}");
    out
}

/// The four members before `response`, which stand in canonical order.
fn write_head(context: Context, key_version: &str, attested_at: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"algorithm\":\"Ed25519\",\"attested_at\":");
    canonical::write_string(attested_at, out);
    out.extend_from_slice(b",\"context\":");
    canonical::write_string(context.as_str(), out);
    out.extend_from_slice(b",\"key_version\":");
    canonical::write_string(key_version, out);
    out.extend_from_slice(b",\"response\":");
}

/// The JSON text of an object that is not signed, in the order given.
pub fn json(members: &Members<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    write_object(members, &mut out, Spelling::Answer);
    out
}

/// The JSON text of any part that is not signed.
pub fn json_of(part: &Part<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    write_part(part, &mut out, Spelling::Answer);
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    Answer,
    Canonical,
}

fn sort(members: &mut Members<'_>) {
    // Eight letters decide nearly always.
    members.sort_unstable_by(|(a, _), (b, _)| first_letters(a).cmp(&first_letters(b)).then_with(|| a.cmp(b)));
    members.iter_mut().for_each(|(_, part)| sort_part(part));
}

fn sort_part(part: &mut Part<'_>) {
    match part {
        Part::Object(members) => sort(members),
        Part::List(parts) => parts.iter_mut().for_each(sort_part),
        Part::Null
        | Part::Bool(_)
        | Part::Integer(_)
        | Part::Ratio(_)
        | Part::Text(_)
        | Part::Hash(_)
        | Part::Time(_)
        | Part::Uuid(_) => {}
    }
}

/// The first eight letters of a name as one number, which sorts as they do.
fn first_letters(name: &str) -> u64 {
    let mut letters = [0; 8];
    let length = name.len().min(8);
    letters[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(letters)
}

/// A string that has nothing to escape.
fn write_plain(ascii: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(ascii);
    out.push(b'"');
}

/// A UUID in its usual form, lower case.
pub fn uuid_ascii(id: &[u8; 16]) -> [u8; 36] {
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

fn write_object(members: &Members<'_>, out: &mut Vec<u8>, spelling: Spelling) {
    out.push(b'{');
    for (index, (name, part)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        // Names are ours: ASCII without anything to escape.
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        write_part(part, out, spelling);
    }
    out.push(b'}');
}

fn write_part(part: &Part<'_>, out: &mut Vec<u8>, spelling: Spelling) {
    match part {
        Part::Null => out.extend_from_slice(b"null"),
        Part::Bool(true) => out.extend_from_slice(b"true"),
        Part::Bool(false) => out.extend_from_slice(b"false"),
        Part::Integer(count) => out.extend_from_slice(itoa::Buffer::new().format(*count).as_bytes()),
        Part::Ratio(ratio) => {
            let start = out.len();
            canonical::write_number(Number::new(*ratio, false), out);
            let has_mark = out[start..].iter().any(|byte| matches!(byte, b'.' | b'e'));
            if !has_mark && spelling == Spelling::Answer {
                out.extend_from_slice(b".0");
            }
        }
        Part::Text(text) => canonical::write_string(text, out),
        Part::Hash(hash) => write_plain(&hash.hex(), out),
        Part::Time(time) => write_plain(&time.ascii(), out),
        Part::Uuid(id) => write_plain(&uuid_ascii(id), out),
        Part::Object(members) => write_object(members, out, spelling),
        Part::List(parts) => {
            out.push(b'[');
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_part(part, out, spelling);
            }
            out.push(b']');
        }
    }
}

/// What an attestation says, once it has the shape of one.
pub struct Attestation<'a> {
    /// The key that signed.
    pub key_version: &'a str,
    /// When.
    pub attested_at: &'a str,
    /// The signature in base64.
    pub signature: &'a str,
}

impl<'a> Attestation<'a> {
    /// Reads a document's attestation: exactly its four members, since nothing else in it is signed.
    pub fn of(document: &'a Object) -> Option<Self> {
        let attestation = document.get("attestation")?.as_object()?;
        let text = |name| attestation.get(name).and_then(Value::as_str);
        if attestation.len() != 4 || text("algorithm")? != ALGORITHM {
            return None;
        }
        Some(Attestation {
            key_version: text("key_version")?,
            attested_at: text("timestamp")?,
            signature: text("signature")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    #[test]
    fn the_answer_reads_back_to_the_signed_bytes() {
        let members = vec![
            ("b", Part::Ratio(1.0)),
            (
                "a",
                Part::List(vec![
                    Part::Object(vec![("z", Part::Integer(3)), ("y", "é\n\"".into())]),
                    Part::Null,
                ]),
            ),
            ("c", Part::Bool(true)),
            ("r", Part::Ratio(0.000_001)),
        ];
        let unsigned = Unsigned::new(Context::Check, "v1", Timestamp(0), members);
        let signed = unsigned.signed_bytes.clone();
        let answer = unsigned.seal(&[7; 64]);
        let text = String::from_utf8(answer.clone()).unwrap();
        assert!(text.starts_with(r#"{"b":1.0,"a":[{"z":3,"y":"é\n\""},null],"c":true,"r":0.000001,"attestation":{"algorithm":"Ed25519","key_version":"v1","#), "{text}");
        let document = read(&answer).unwrap();
        let document = document.as_object().unwrap();
        let attestation = Attestation::of(document).unwrap();
        let again = signed_bytes(
            Context::Check,
            attestation.key_version,
            attestation.attested_at,
            document,
        );
        assert_eq!(again, signed);
        assert_eq!(canonical::bytes(&read(&signed).unwrap()), signed);
    }
}
