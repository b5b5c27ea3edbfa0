//! A kept receipt as one line of JSON, for moving a store to another: every member that is stored, always in the
//! same order, so that two stores with the same receipts export the same bytes.
//!
//! Public keys are not among the lines: they lie in the key folder, which is copied.

use crate::{ReceiptRow, StoredReceipt};
use countersign_core::canonical::{self, Hash};
use countersign_core::json::{Object, Value, read};
use std::fmt::Write as _;

/// Bytes of one line: no receipt of this program comes near it.
pub const LINE_BYTES_MAX: usize = 64 << 10;
/// Characters of an id that a caller gave.
const ID_CHARS_MAX: usize = 200;
/// Members of a line.
const MEMBERS: usize = 25;
/// Whole numbers beyond it are not exact in every JSON reader.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Why a line is no receipt: the member, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member} {wanted}")]
pub struct BadLine {
    member: &'static str,
    wanted: &'static str,
}

impl StoredReceipt {
    /// The line, without the end of line.
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = Line(Vec::with_capacity(1_024));
        let row = &self.row;
        line.whole("sequence", self.sequence.cast_signed());
        line.plain("verification_id", &uuid(&row.verification_id));
        line.text("task_id", Some(&row.task_id));
        line.text("agent_id", row.agent_id.as_deref());
        line.plain("output_hash", &hex(&row.output_hash.0));
        line.plain("schema_hash", &hex(&row.schema_hash.0));
        line.plain("rules_hash", &hex(&row.rules_hash.0));
        line.plain("request_hash", &hex(&row.request_hash.0));
        line.switch("passed", row.passed);
        line.text("blocking_checks", Some(&row.blocking_checks));
        line.whole("schema_passed", row.schema.0.cast_signed());
        line.whole("schema_total", row.schema.1.cast_signed());
        line.whole("integrity_passed", row.integrity.0.cast_signed());
        line.whole("integrity_total", row.integrity.1.cast_signed());
        line.whole("findings", row.findings.cast_signed());
        line.whole("flags", row.flags.cast_signed());
        line.switch("enforce_rules", row.enforce_rules);
        line.switch("strict_content_check", row.strict_content_check);
        line.switch("detail_full", row.detail_full);
        line.switch("is_test", row.is_test);
        line.switch("paid", row.paid);
        line.whole("verified_at_micros", row.verified_at_micros);
        line.text("key_version", Some(&row.key_version));
        line.text("verifier_version", Some(&row.verifier_version));
        line.plain("mac", &hex(&row.mac));
        line.0.push(b'}');
        line.0
    }

    /// Reads a line, strictly: every member once, none besides, each of its type and within its bounds.
    pub fn from_line(line: &[u8]) -> Result<StoredReceipt, BadLine> {
        let bad = |wanted| BadLine {
            member: "the line",
            wanted,
        };
        if line.len() > LINE_BYTES_MAX {
            return Err(bad("must be at most 64 KiB long"));
        }
        let value = read(line).map_err(|_| bad("must be JSON"))?;
        let object = value.as_object().ok_or(bad("must be an object"))?;
        if object.len() != MEMBERS {
            return Err(bad("must have every member of a receipt and no other"));
        }
        let line = Members(object);
        let sequence = line.count("sequence")?;
        if sequence == 0 {
            return Err(BadLine {
                member: "sequence",
                wanted: "must be 1 or more",
            });
        }
        let row = ReceiptRow {
            verification_id: line.uuid("verification_id")?,
            task_id: line.id("task_id")?.ok_or(BadLine {
                member: "task_id",
                wanted: "must be a string",
            })?,
            agent_id: line.id("agent_id")?,
            output_hash: Hash(line.bytes("output_hash")?),
            schema_hash: Hash(line.bytes("schema_hash")?),
            rules_hash: Hash(line.bytes("rules_hash")?),
            request_hash: Hash(line.bytes("request_hash")?),
            passed: line.switch("passed")?,
            blocking_checks: line.text("blocking_checks")?,
            schema: line.part("schema_passed", "schema_total")?,
            integrity: line.part("integrity_passed", "integrity_total")?,
            findings: line.count("findings")?,
            flags: line.count("flags")?,
            enforce_rules: line.switch("enforce_rules")?,
            strict_content_check: line.switch("strict_content_check")?,
            detail_full: line.switch("detail_full")?,
            is_test: line.switch("is_test")?,
            paid: line.switch("paid")?,
            verified_at_micros: line.whole("verified_at_micros")?,
            key_version: line.text("key_version")?,
            verifier_version: line.text("verifier_version")?,
            mac: line.bytes("mac")?,
        };
        Ok(StoredReceipt { sequence, row })
    }
}

/// A line in the making.
struct Line(Vec<u8>);

impl Line {
    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn whole(&mut self, name: &str, number: i64) {
        self.name(name);
        self.0.extend_from_slice(number.to_string().as_bytes());
    }

    fn switch(&mut self, name: &str, on: bool) {
        self.name(name);
        self.0.extend_from_slice(if on { b"true" } else { b"false" });
    }

    fn text(&mut self, name: &str, text: Option<&str>) {
        self.name(name);
        match text {
            Some(text) => canonical::write_string(text, &mut self.0),
            None => self.0.extend_from_slice(b"null"),
        }
    }

    /// Text without anything to escape.
    fn plain(&mut self, name: &str, text: &str) {
        self.name(name);
        self.0.push(b'"');
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'"');
    }
}

/// The members of a line that is read.
struct Members<'line>(&'line Object);

impl Members<'_> {
    fn member<T>(
        &self,
        member: &'static str,
        wanted: &'static str,
        take: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, BadLine> {
        self.0
            .get(member)
            .and_then(take)
            .ok_or(BadLine { member, wanted })
    }

    fn text(&self, member: &'static str) -> Result<String, BadLine> {
        self.member(member, "must be a string", |value| {
            value.as_str().map(str::to_owned)
        })
    }

    fn id(&self, member: &'static str) -> Result<Option<String>, BadLine> {
        self.member(
            member,
            "must be null or a string of at most 200 characters",
            |value| match value.as_str() {
                Some(text) => (text.chars().count() <= ID_CHARS_MAX).then(|| Some(text.to_owned())),
                None => value.is_null().then_some(None),
            },
        )
    }

    fn switch(&self, member: &'static str) -> Result<bool, BadLine> {
        self.member(member, "must be true or false", Value::as_bool)
    }

    fn whole(&self, member: &'static str) -> Result<i64, BadLine> {
        self.member(member, "must be a whole number", |value| {
            let number = value
                .as_number()
                .filter(|number| number.is_integer_literal())?
                .value();
            (number.abs() <= WHOLE_MAX).then_some(number as i64)
        })
    }

    fn count(&self, member: &'static str) -> Result<u64, BadLine> {
        let wanted = "must be a whole number that is not negative";
        u64::try_from(self.whole(member)?).map_err(|_| BadLine { member, wanted })
    }

    fn part(&self, passed: &'static str, total: &'static str) -> Result<(u64, u64), BadLine> {
        let (part, whole) = (self.count(passed)?, self.count(total)?);
        if part > whole {
            return Err(BadLine {
                member: passed,
                wanted: "must not be more than its total",
            });
        }
        Ok((part, whole))
    }

    fn bytes<const BYTES: usize>(&self, member: &'static str) -> Result<[u8; BYTES], BadLine> {
        self.member(
            member,
            "must be the bytes in lower-case hexadecimal, all of them",
            |value| from_hex(value.as_str()?.as_bytes()),
        )
    }

    fn uuid(&self, member: &'static str) -> Result<[u8; 16], BadLine> {
        self.member(member, "must be a UUID in lower case", |value| {
            let text = value.as_str()?;
            let id = from_hex(text.replace('-', "").as_bytes())?;
            (uuid(&id) == text).then_some(id)
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn uuid(id: &[u8; 16]) -> String {
    let mut text = hex(id);
    [20, 16, 12, 8]
        .into_iter()
        .for_each(|place| text.insert(place, '-'));
    text
}

fn from_hex<const BYTES: usize>(text: &[u8]) -> Option<[u8; BYTES]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * BYTES {
        return None;
    }
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? * 16 + digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> StoredReceipt {
        StoredReceipt {
            sequence: 7,
            row: ReceiptRow {
                verification_id: *b"\x01\x98\xab\xcd\xef\x01\x72\x34\x85\x67\x89\xab\xcd\xef\x01\x23",
                task_id: "task \"7\"\u{0}\u{1F600}".to_owned(),
                agent_id: None,
                output_hash: Hash([1; 32]),
                schema_hash: Hash([2; 32]),
                rules_hash: Hash([3; 32]),
                request_hash: Hash([4; 32]),
                passed: true,
                blocking_checks: String::new(),
                schema: (10, 11),
                integrity: (12, 13),
                findings: 14,
                flags: 15,
                enforce_rules: true,
                strict_content_check: false,
                detail_full: true,
                is_test: false,
                paid: true,
                verified_at_micros: 1_790_000_000_000_001,
                key_version: "v1-2026-10a".to_owned(),
                verifier_version: "0.1.0".to_owned(),
                mac: [0xAB; 32],
            },
        }
    }

    #[test]
    fn a_line_has_every_member_in_one_order_and_is_read_again() {
        let (one, two) = ("01".repeat(32), "02".repeat(32));
        let (three, four) = ("03".repeat(32), "04".repeat(32));
        let mac = "ab".repeat(32);
        let expected = format!(
            r#"{{"sequence":7,"verification_id":"0198abcd-ef01-7234-8567-89abcdef0123","task_id":"task \"7\"\u0000😀","agent_id":null,"output_hash":"{one}","schema_hash":"{two}","rules_hash":"{three}","request_hash":"{four}","passed":true,"blocking_checks":"","schema_passed":10,"schema_total":11,"integrity_passed":12,"integrity_total":13,"findings":14,"flags":15,"enforce_rules":true,"strict_content_check":false,"detail_full":true,"is_test":false,"paid":true,"verified_at_micros":1790000000000001,"key_version":"v1-2026-10a","verifier_version":"0.1.0","mac":"{mac}"}}"#
        );
        let line = example().to_line();
        assert_eq!(String::from_utf8(line.clone()).unwrap(), expected);
        assert_eq!(StoredReceipt::from_line(&line).unwrap(), example());
        let mut early = example();
        early.row.verified_at_micros = -1;
        early.row.agent_id = Some(String::new());
        assert_eq!(StoredReceipt::from_line(&early.to_line()).unwrap(), early);
    }

    #[test]
    fn a_line_that_is_not_exactly_one_is_refused() {
        let line = String::from_utf8(example().to_line()).unwrap();
        let long = format!("\"task_id\":\"{}\"", "x".repeat(201));
        let rows = [
            ("", "", "the line must be JSON"),
            (
                "{\"sequence\":7",
                "{\"sequence\":7,\"sequence\":7",
                "the line must be JSON",
            ),
            ("{\"sequence\":7,", "{", "the line must have every member"),
            (
                "{\"sequence\"",
                "{\"more\":1,\"sequence\"",
                "the line must have every member",
            ),
            ("\"sequence\":7", "\"sequel\":7", "sequence must be a whole"),
            ("\"sequence\":7", "\"sequence\":0", "sequence must be 1"),
            ("\"sequence\":7", "\"sequence\":7.5", "sequence must be a whole"),
            ("\"sequence\":7", "\"sequence\":7e0", "sequence must be a whole"),
            ("\"sequence\":7", "\"sequence\":\"7\"", "sequence must be a whole"),
            ("0198abcd-ef01", "0198abcdef01-", "verification_id must be a UUID"),
            ("0198abcd", "0198ABCD", "verification_id must be a UUID"),
            (
                "\"task_id\":\"task \\\"7\\\"\\u0000😀\"",
                "\"task_id\":null",
                "task_id must be a string",
            ),
            (
                "\"task_id\":\"task \\\"7\\\"\\u0000😀\"",
                &long,
                "task_id must be null or",
            ),
            ("\"agent_id\":null", "\"agent_id\":7", "agent_id must be"),
            ("\"passed\":true", "\"passed\":1", "passed must be true or false"),
            (
                "\"schema_passed\":10",
                "\"schema_passed\":12",
                "schema_passed must not be more",
            ),
            ("\"findings\":14", "\"findings\":-14", "findings must be a whole"),
            ("\"flags\":15", "\"flags\":1e300", "flags must be a whole"),
            ("\"mac\":\"ab", "\"mac\":\"AB", "mac must be the bytes"),
            ("\"mac\":\"ab", "\"mac\":\"", "mac must be the bytes"),
        ];
        for (from, to, expected) in rows {
            let changed = if from.is_empty() {
                String::new()
            } else {
                line.replacen(from, to, 1)
            };
            assert_ne!(changed, line, "{from}");
            let error = StoredReceipt::from_line(changed.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{from} -> {to}: {error}");
        }
    }
}
