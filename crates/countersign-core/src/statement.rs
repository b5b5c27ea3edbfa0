//! The signed envelope: what is signed, how it goes out, and how it is checked again (section 20).
//!
//! The document itself is [`crate::document`]'s: its canonical bytes, which are signed, and the answer come from
//! one description.

use crate::canonical;
use crate::document::Document;
use crate::json::{Object, Value};
use crate::key::{ALGORITHM, signature_text};
use crate::time::Timestamp;

/// What kind of document a signature is over. One context string per kind and version: a signature over one
/// kind is worthless for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// A check, by either route, in both shapes, and by MCP.
    Check,
    /// A score.
    Score,
    /// The outgoing key's word for its successor.
    KeySuccession,
}

impl Context {
    /// The context string that is signed.
    pub fn as_str(self) -> &'static str {
        match self {
            Context::Check => "json-schema-verifier/verify-schema-attestation/v1",
            Context::Score => "json-schema-verifier/trust-score-attestation/v1",
            Context::KeySuccession => "countersign/key-succession/v1",
        }
    }
}
/// A document with everything but its signature.
pub struct Unsigned<'a> {
    /// The bytes to sign: RFC 8785, five members.
    pub signed_bytes: Vec<u8>,
    answer: Document,
    key_version: &'a str,
    attested_at: Timestamp,
}

impl<'a> Unsigned<'a> {
    /// Makes the bytes to sign.
    pub fn new(context: Context, key_version: &'a str, attested_at: Timestamp, answer: Document) -> Self {
        let mut signed_bytes = Vec::with_capacity(4096);
        write_head(context, key_version, &attested_at.to_string(), &mut signed_bytes);
        answer.write_canonical(&mut signed_bytes);
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
        self.answer.object("attestation", |attestation| {
            attestation.text("algorithm", ALGORITHM);
            attestation.text("key_version", self.key_version);
            attestation.time("timestamp", self.attested_at);
            attestation.text("signature", &signature_text(signature));
        });
        self.answer.finish()
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
        let mut document = Document::default();
        document.ratio("b", 1.0);
        document.text("a", "é\n\"");
        let unsigned = Unsigned::new(Context::Check, "v1", Timestamp(0), document);
        let signed = unsigned.signed_bytes.clone();
        let answer = unsigned.seal(&[7; 64]);
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
