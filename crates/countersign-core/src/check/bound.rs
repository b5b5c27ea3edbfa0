//! Bounds: the lowest and highest that a path may have (verification.md, section 11).

use super::comparable::{Comparable, Op};
use super::finding::Finding;
use super::invalid::{FieldProblem, bound_field};
use super::member::{DATE_FIX, Members};
use super::name::CheckName;
use super::offence::Offence;
use super::path::Path;
use super::selection::{Offender, Selections};
use super::{rule, wording};
use crate::json::Value;
use std::cmp::Ordering;

/// A well-formed bound: at least one limit; two are of one kind and not crossed.
#[derive(Clone, Debug)]
pub struct Bound {
    path: Path,
    min: Option<Value>,
    max: Option<Value>,
    if_present: bool,
}

/// The members of a bound in canonical order, each with what `request_hash` has in its place if it is absent.
const DEFAULTS: [(&str, &str); 3] = [("if_present", "false"), ("max", "null"), ("min", "null")];
const MEMBERS_FIX: &str = "Use only 'min', 'max' and 'if_present'.";
const LIMITS_FIX: &str = "Give 'min', 'max' or both, as numbers or as dates.";

impl Bound {
    /// Reads the member `key` of `bounds`, which stands at the offset `at` of the request's text. `Err` holds
    /// every problem of it in the order of the text.
    pub fn parse(key: &str, value: &Value, at: u32) -> Result<Bound, Vec<FieldProblem>> {
        let name = || bound_field(key);
        let path = Path::parse(key).map_err(|bad| FieldProblem::new(at, name(), bad.to_string(), bad.fix()));
        let Some(members) = Members::of(value, &name) else {
            let shape = FieldProblem::new(at, name(), "must be an object", LIMITS_FIX);
            return Err(path.err().into_iter().chain([shape]).collect());
        };
        let mut members = members.at(at);
        members.refuse_unknown(
            |name| DEFAULTS.iter().any(|(known, _)| *known == name),
            MEMBERS_FIX,
        );
        let (min, max) = (read_limit(&mut members, "min"), read_limit(&mut members, "max"));
        let if_present = members.boolean("if_present");
        if let (Ok(min), Ok(max)) = (min, max)
            && let Err((problem, fix)) = compare_limits(min, max)
        {
            members.refuse_whole(problem, fix);
        }
        let limits = min.ok().zip(max.ok());
        let read = members.finish(limits);
        match (path, read) {
            (Ok(path), Ok((min, max))) => Ok(Bound {
                path,
                min: min.cloned(),
                max: max.cloned(),
                if_present,
            }),
            (path, read) => Err(path
                .err()
                .into_iter()
                .chain(read.err().into_iter().flatten())
                .collect()),
        }
    }

    /// Checks an output: at most one finding, which names the first value outside and counts the others.
    pub fn check<'a>(&'a self, output: &'a Value, selections: &mut Selections<'a>) -> Option<Finding> {
        let limit = |limit: &'a Option<Value>| limit.as_ref().and_then(Comparable::of);
        let (min, max) = (limit(&self.min), limit(&self.max));
        let selection = selections.select(output, &self.path);
        let offenders = selection.offenders(self.if_present, |value| {
            let Some(value) = Comparable::of(value) else {
                return true;
            };
            let misses = |limit: Option<Comparable<'_>>, op: Op| {
                limit.is_some_and(|limit| value.compare(&limit).is_none_or(|order| !op.holds(order)))
            };
            misses(min, Op::Gte) || misses(max, Op::Lte)
        })?;
        let place = selection.place(output, offenders.first);
        let offence = match offenders.first {
            Offender::Missing => Offence::missing(&place),
            Offender::Value(index) => {
                let value = selection.values[index];
                let kind = min.or(max).map(|limit| limit.kind());
                match kind.filter(|kind| Comparable::of(value).is_none_or(|value| value.kind() != *kind)) {
                    Some(kind) => Offence::not_comparable(&place, value, kind),
                    None => Offence::unlike(&place, value, self.expected()),
                }
            }
        };
        Some(offence.finding(CheckName::BoundsRange, &self.path, offenders.count))
    }

    fn expected(&self) -> String {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => format!("{} to {}", wording::value(min), wording::value(max)),
            (Some(min), None) => format!(">= {}", wording::value(min)),
            (None, max) => format!("<= {}", max.as_ref().map(wording::value).unwrap_or_default()),
        }
    }

    /// Appends the RFC 8785 form of a bound as `request_hash` needs it: `value`, which must be one that
    /// [`Bound::parse`] accepts, with every default filled in (section 17).
    pub fn write_filled(value: &Value, out: &mut Vec<u8>) {
        rule::write_filled(value, &DEFAULTS, out);
    }
}

/// A limit that is given and comparable; `Err` when it is refused.
fn read_limit<'v>(members: &mut Members<'v>, name: &str) -> Result<Option<&'v Value>, ()> {
    let given = members.given(name).map(|member| &member.value);
    if given.is_some_and(|value| Comparable::of(value).is_none()) {
        members.refuse(name, "must be a number or an ISO 8601 date", DATE_FIX);
        return Err(());
    }
    Ok(given)
}

/// The problem of two limits together, and what to do about it.
fn compare_limits(min: Option<&Value>, max: Option<&Value>) -> Result<(), (&'static str, &'static str)> {
    let (min, max) = (min.and_then(Comparable::of), max.and_then(Comparable::of));
    match (min, max) {
        (None, None) => Err(("must have 'min' or 'max'", LIMITS_FIX)),
        (Some(min), Some(max)) => match min.compare(&max) {
            None => Err(("must not mix a number and a date", LIMITS_FIX)),
            Some(Ordering::Greater) => Err((
                "must not have 'min' above 'max'",
                "Exchange them, or correct one.",
            )),
            Some(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn parse(key: &str, bound: &str) -> Result<Bound, Vec<FieldProblem>> {
        Bound::parse(key, &read(bound.as_bytes()).unwrap(), 0)
    }

    fn finding(key: &str, bound: &str, output: &str) -> Option<Finding> {
        let output = read(output.as_bytes()).unwrap();
        parse(key, bound).unwrap().check(&output, &mut Selections::new())
    }

    const VALUES: [(&str, &str, &str, &str); 21] = [
        ("a", r#"{"min":0,"max":100}"#, r#"{"a":0}"#, ""),
        ("a", r#"{"min":0,"max":100}"#, r#"{"a":100.0}"#, ""),
        (
            "a",
            r#"{"min":0,"max":100}"#,
            r#"{"a":100.00000000000001}"#,
            "value at a is 100.00000000000001, expected 0 to 100",
        ),
        (
            "a",
            r#"{"min":0.5}"#,
            r#"{"a":0}"#,
            "value at a is 0, expected >= 0.5",
        ),
        (
            "a",
            r#"{"max":1.0,"min":null}"#,
            r#"{"a":2}"#,
            "value at a is 2, expected <= 1.0",
        ),
        ("a", r#"{"min":1,"max":1}"#, r#"{"a":1}"#, ""),
        (
            "$.a[].b",
            r#"{"max":1}"#,
            r#"{"a":[{"b":1},{"b":2},{"b":3}]}"#,
            "value at a[1].b is 2, expected <= 1 (and 1 more)",
        ),
        ("a[]", r#"{"max":1}"#, r#"{"a":[]}"#, ""),
        ("$", r#"{"max":1}"#, "2", "value at $ is 2, expected <= 1"),
        ("1%", r#"{"max":1}"#, r#"{"1%":1}"#, ""),
        (
            "a",
            r#"{"min":"2026-10-01"}"#,
            r#"{"a":"2026-10-01T00:00:00Z"}"#,
            "",
        ),
        (
            "a",
            r#"{"min":"2026-10-01","max":"2026-10-31"}"#,
            r#"{"a":"2026-11-01"}"#,
            r#"value at a is "2026-11-01", expected "2026-10-01" to "2026-10-31""#,
        ),
        (
            "a",
            r#"{"min":"2026-10-01"}"#,
            r#"{"a":5}"#,
            "value at a is integer, expected a date",
        ),
        (
            "a",
            r#"{"max":"2026-10-01"}"#,
            r#"{"a":"x"}"#,
            "value at a is string, expected a date",
        ),
        (
            "a",
            r#"{"max":1}"#,
            r#"{"a":"2026-10-01"}"#,
            "value at a is string, expected a number",
        ),
        (
            "a",
            r#"{"max":1}"#,
            r#"{"a":false}"#,
            "value at a is boolean, expected a number",
        ),
        (
            "a[]",
            r#"{"max":1}"#,
            r#"{"a":[null,2,"x"]}"#,
            "no value at a[0] (and 2 more)",
        ),
        (
            "a[]",
            r#"{"max":1}"#,
            r#"{"a":[2,null,"x"]}"#,
            "value at a[0] is 2, expected <= 1 (and 2 more)",
        ),
        (
            "a[]",
            r#"{"max":1,"if_present":true}"#,
            r#"{"a":[null,"x",1]}"#,
            "value at a[1] is string, expected a number",
        ),
        ("a.b", r#"{"max":1}"#, "{}", "no value at a"),
        ("a.b", r#"{"max":1,"if_present":true}"#, "{}", ""),
    ];

    #[test]
    fn values_must_lie_within_inclusive_limits() {
        for (key, bound, output, expected) in VALUES {
            let detail = finding(key, bound, output)
                .map(|finding| finding.detail)
                .unwrap_or_default();
            assert_eq!(detail, expected, "{key} {bound} {output}");
        }
        let finding = finding("$.a", r#"{"max":1}"#, r#"{"a":2}"#).unwrap();
        assert_eq!(
            (finding.check, finding.field.as_str()),
            (CheckName::BoundsRange, "a")
        );
        assert_eq!(
            (finding.expected.as_str(), finding.found.as_str()),
            ("<= 1", "2 at a")
        );
    }

    #[test]
    fn every_problem_of_a_bound_is_told() {
        let rows = [
            ("a..b", r#"{"min":1}"#, "bounds['a..b'] is not a valid path"),
            ("", r#"{"min":1}"#, "bounds[''] is not a valid path"),
            ("a", "5", "bounds['a'] must be an object"),
            ("a", "null", "bounds['a'] must be an object"),
            ("a", "[1,2]", "bounds['a'] must be an object"),
            (
                "[",
                "1",
                "bounds['['] is not a valid path; bounds['['] must be an object",
            ),
            ("a", "{}", "bounds['a'] must have 'min' or 'max'"),
            (
                "a",
                r#"{"min":null,"max":null}"#,
                "bounds['a'] must have 'min' or 'max'",
            ),
            (
                "a",
                r#"{"if_present":true}"#,
                "bounds['a'] must have 'min' or 'max'",
            ),
            (
                "a",
                r#"{"min":2,"max":1}"#,
                "bounds['a'] must not have 'min' above 'max'",
            ),
            (
                "a",
                r#"{"min":"2026-10-02","max":"2026-10-01T23:59"}"#,
                "bounds['a'] must not have 'min' above 'max'",
            ),
            (
                "a",
                r#"{"min":1,"max":"2026-10-01"}"#,
                "bounds['a'] must not mix a number and a date",
            ),
            ("a", r#"{"min":"1"}"#, "bounds['a'].min LIMIT"),
            (
                "a",
                r#"{"max":true,"min":[]}"#,
                "bounds['a'].max LIMIT; bounds['a'].min LIMIT",
            ),
            ("a", r#"{"min":1,"max":{}}"#, "bounds['a'].max LIMIT"),
            (
                "a",
                r#"{"min":1,"if_present":null}"#,
                "bounds['a'].if_present must be true or false",
            ),
            (
                "a",
                r#"{"min":1,"maximum":2}"#,
                "bounds['a'] has an unknown member",
            ),
            (
                "a.",
                r#"{"maximum":2,"if_present":"yes"}"#,
                "bounds['a.'] is not a valid path; bounds['a.'] must have 'min' or 'max'; \
                 bounds['a.'] has an unknown member; bounds['a.'].if_present must be true or false",
            ),
        ];
        for (key, bound, expected) in rows {
            let problems = parse(key, bound).unwrap_err();
            let told = problems
                .iter()
                .map(|problem| format!("{} {}", problem.field, problem.problem));
            let expected = expected.replace("LIMIT", "must be a number or an ISO 8601 date");
            assert_eq!(told.collect::<Vec<_>>().join("; "), expected, "{key} {bound}");
        }
    }

    #[test]
    fn long_keys_are_cut() {
        let rows = [
            ("[".repeat(64), format!("bounds['{}']", "[".repeat(64))),
            (
                format!("é[{}", "é".repeat(63)),
                format!("bounds['é[{}…']", "é".repeat(62)),
            ),
            ("a".repeat(501), format!("bounds['{}…']", "a".repeat(64))),
        ];
        for (key, field) in rows {
            assert_eq!(parse(&key, r#"{"min":1}"#).unwrap_err()[0].field, field);
        }
    }

    #[test]
    fn defaults_are_filled_in_for_the_hash() {
        let rows = [
            (
                r#"{"min":0,"max":100}"#,
                r#"{"if_present":false,"max":100,"min":0}"#,
            ),
            (r#"{"min":1.50}"#, r#"{"if_present":false,"max":null,"min":1.5}"#),
            (
                r#"{"min":null,"max":"2026-10-01","if_present":true}"#,
                r#"{"if_present":true,"max":"2026-10-01","min":null}"#,
            ),
        ];
        for (bound, expected) in rows {
            let mut filled = Vec::new();
            Bound::write_filled(&read(bound.as_bytes()).unwrap(), &mut filled);
            assert_eq!(String::from_utf8(filled).unwrap(), expected);
        }
    }
}
