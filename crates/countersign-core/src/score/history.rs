//! The record that a score is computed from, check by check: one line of JSON each, and the sums taken directly.
//! Anyone can redo our arithmetic with it.

use super::{HalfLife, Record, Sums};
use crate::document::{Members, Part, json};
use crate::json::{Number, Object, Value, read};
use crate::time::Timestamp;

/// Counted checks of one history: a gigabyte of memory.
pub const HISTORY_CHECKS_MAX: usize = 100_000_000;
/// The members of a line.
const MEMBERS: [&str; 3] = ["sequence", "verified_at", "result"];

/// One check that counts, as a line tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCheck {
    /// The number of its receipt; numbers between belong to others.
    pub sequence: u64,
    /// When it ran.
    pub verified_at: Timestamp,
    /// Whether its result is `pass`.
    pub passed: bool,
}

/// Why a line is no counted check, to be read after the number of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LineFault(&'static str);

impl CountedCheck {
    /// The line, without its end.
    pub fn line(&self) -> Vec<u8> {
        let members: Members<'_> = vec![
            ("sequence", Part::Integer(self.sequence)),
            ("verified_at", self.verified_at.to_string().into()),
            ("result", if self.passed { "pass" } else { "fail" }.into()),
        ];
        json(&members)
    }

    /// Reads a line: strict JSON, exactly the three members, each in the one spelling that [`Self::line`] writes.
    pub fn parse(line: &[u8]) -> Result<Self, LineFault> {
        let wanted = LineFault("is not a JSON object of sequence, verified_at and result");
        let value = read(line).map_err(|_| wanted)?;
        let object = value.as_object().ok_or(wanted)?;
        if object.len() != MEMBERS.len() || MEMBERS.iter().any(|name| object.get(name).is_none()) {
            return Err(wanted);
        }
        let text = |name| object.get(name).and_then(Value::as_str);
        let verified_at = text("verified_at").and_then(Timestamp::parse);
        Ok(CountedCheck {
            sequence: sequence(object)
                .ok_or(LineFault("has a sequence that is no whole number from 1 on"))?,
            verified_at: verified_at.ok_or(LineFault(
                "has a verified_at that is not written as 2026-10-01T01:01:09.606993+00:00",
            ))?,
            passed: match text("result") {
                Some("pass") => true,
                Some("fail") => false,
                _ => return Err(LineFault("has a result that is neither pass nor fail")),
            },
        })
    }
}

fn sequence(object: &Object) -> Option<u64> {
    let number = object.get("sequence").and_then(Value::as_number);
    let whole = number
        .filter(|number| number.is_integer_literal())
        .map(Number::value)?;
    // The strict reader keeps every digit of an integer up to 2^53 - 1; longer ones are powers of ten and the like.
    #[expect(clippy::cast_sign_loss, reason = "from 1 to below 2^53")]
    (1.0..9_007_199_254_740_992.0)
        .contains(&whole)
        .then_some(whole as u64)
}

/// The counted checks of an agent in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct History {
    times: Vec<i64>,
    passed: Vec<bool>,
    last_sequence: u64,
}

impl History {
    /// Adds the next check.
    pub fn push(&mut self, check: CountedCheck) -> Result<(), LineFault> {
        if check.sequence <= self.last_sequence {
            return Err(LineFault("has a sequence that is not above the one before"));
        }
        if self.times.len() == HISTORY_CHECKS_MAX {
            return Err(LineFault("is one more than the 100,000,000 checks that fit"));
        }
        self.last_sequence = check.sequence;
        self.times.push(check.verified_at.0);
        self.passed.push(check.passed);
        Ok(())
    }

    /// The record with its sums taken directly: each weight from the age back from the newest check, added in
    /// the order of the numbers. `None` without a check.
    pub fn record(&self, half_life: HalfLife) -> Option<Record> {
        let (first, newest) = (*self.times.iter().min()?, *self.times.iter().max()?);
        let mut sums = Sums {
            newest_micros: newest,
            weights: 0.0,
            passed_weights: 0.0,
            squares: 0.0,
        };
        for (time, passed) in self.times.iter().zip(&self.passed) {
            let weight = half_life.weight(newest.saturating_sub(*time));
            sums.weights += weight;
            sums.passed_weights += if *passed { weight } else { 0.0 };
            sums.squares += weight * weight;
        }
        let passed = self.passed.iter().filter(|passed| **passed).count() as u64;
        Some(Record {
            passed,
            failed: self.passed.len() as u64 - passed,
            first_seen: Timestamp(first),
            sums,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"sequence":7,"verified_at":"2026-10-01T01:01:09.606993+00:00","result":"pass"}"#;

    #[test]
    fn a_line_is_written_as_it_is_read() {
        let check = CountedCheck::parse(LINE.as_bytes()).unwrap();
        let expected = CountedCheck {
            sequence: 7,
            verified_at: Timestamp(1_790_816_469_606_993),
            passed: true,
        };
        assert_eq!(check, expected);
        assert_eq!(check.line(), LINE.as_bytes());
        let largest = LINE.replace(":7,", ":9007199254740991,");
        let check = CountedCheck::parse(largest.as_bytes()).unwrap();
        assert_eq!(check.line(), largest.as_bytes());
        let shuffled =
            r#" { "result":"fail", "sequence":8, "verified_at":"1970-01-01T00:00:00.000000+00:00" } "#;
        assert!(!CountedCheck::parse(shuffled.as_bytes()).unwrap().passed);
    }

    #[test]
    fn what_is_no_line_is_refused_and_says_why() {
        let rows = [
            (String::new(), "is not a JSON object"),
            ("[]".to_owned(), "is not a JSON object"),
            (format!("{LINE}{LINE}"), "is not a JSON object"),
            (LINE.replace("\"sequence\":7,", ""), "is not a JSON object"),
            (LINE.replace('}', ",\"agent_id\":\"a\"}"), "is not a JSON object"),
            (
                LINE.replace("\"sequence\":7", "\"sequence\":7,\"sequence\":7"),
                "is not a JSON object",
            ),
            (LINE.replace("\"sequence\"", "\"number\""), "is not a JSON object"),
            (LINE.replace(":7,", ":0,"), "has a sequence"),
            (LINE.replace(":7,", ":-1,"), "has a sequence"),
            (LINE.replace(":7,", ":1.0,"), "has a sequence"),
            (LINE.replace(":7,", ":1e3,"), "has a sequence"),
            (LINE.replace(":7,", ":\"7\","), "has a sequence"),
            (LINE.replace(":7,", ":9007199254740992,"), "has a sequence"),
            (LINE.replace("+00:00", "Z"), "has a verified_at"),
            (LINE.replace(".606993", ""), "has a verified_at"),
            (LINE.replace("10-01T", "02-30T"), "has a verified_at"),
            (LINE.replace("\"pass\"", "\"PASS\""), "has a result"),
            (LINE.replace("\"pass\"", "true"), "has a result"),
        ];
        for (line, expected) in rows {
            let fault = CountedCheck::parse(line.as_bytes()).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{line}: {fault}");
        }
    }

    #[test]
    fn numbers_must_ascend_and_times_need_not() {
        let check = |sequence, micros| CountedCheck {
            sequence,
            verified_at: Timestamp(micros),
            passed: true,
        };
        let mut history = History::default();
        assert_eq!(history.record(HalfLife::DEFAULT), None);
        history.push(check(5, 300)).unwrap();
        history.push(check(9, 100)).unwrap();
        assert!(history.push(check(9, 400)).is_err());
        assert!(history.push(check(8, 400)).is_err());
        let record = history.record(HalfLife::DEFAULT).unwrap();
        assert_eq!(
            (record.first_seen, record.last_seen()),
            (Timestamp(100), Timestamp(300))
        );
        assert_eq!((record.passed, record.failed), (2, 0));
    }
}
