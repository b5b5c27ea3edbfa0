//! `sum_equals`: the numbers of one path add up to a target (verification.md, section 10).

use crate::check::finding::Finding;
use crate::check::name::CheckName;
use crate::check::offence::Offence;
use crate::check::path::Path;
use crate::check::selection::{Offender, Selections};
use crate::check::wording;
use crate::json::{Number, Value};
use crate::place::Place;

/// What the sum is compared with.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// `equals`: this number.
    Number(Number),
    /// `equals_field`: the one number that a path selects.
    Field(Path),
}

pub(super) fn check<'a>(
    (field, target, tolerance, if_present): (&'a Path, &'a Target, Number, bool),
    output: &'a Value,
    selections: &mut Selections<'a>,
) -> Option<Finding> {
    let selection = selections.select(output, field);
    let total = selection.total();
    if let Some(offenders) = selection
        .missing
        .with(if_present, total.others, total.first_other)
    {
        let place = selection.place(output, offenders.first);
        let offence = match offenders.first {
            Offender::Missing => Offence::missing(&place),
            Offender::Value(index) => not_a_number(&place, selection.values[index]),
        };
        return Some(offence.finding(CheckName::ConsistencySumEquals, field, offenders.count));
    }
    if selection.is_missing() {
        return None;
    }
    let (target, path) = match target {
        Target::Number(number) => (*number, None),
        Target::Field(path) => {
            let found = selections.select(output, path);
            if if_present && found.is_missing() {
                return None;
            }
            match found.values.iter().find_map(|value| value.as_number()) {
                Some(number) if found.numbers() == 1 => (number, Some(path)),
                _ => {
                    let offence = bad_target(path, found.numbers());
                    return Some(offence.finding(CheckName::ConsistencySumEquals, field, 1));
                }
            }
        }
    };
    let mut difference = total.sum.clone();
    difference.subtract(target);
    if difference.is_within(tolerance) {
        return None;
    }
    let (sum, target) = (total.sum.text(), wording::number(target));
    let shown = match path {
        None => target,
        Some(path) => [path.field(), " (", &target, ")"].concat(),
    };
    let offence = Offence {
        detail: ["values sum to ", &sum, ", expected ", &shown].concat(),
        expected: ["a sum equal to ", &shown].concat(),
        found: ["sum ", &sum].concat(),
        place: field.container(),
    };
    Some(offence.finding(CheckName::ConsistencySumEquals, field, 1))
}

fn not_a_number(place: &Place, value: &Value) -> Offence {
    let type_name = value.type_name();
    Offence {
        expected: "numbers".to_owned(),
        found: format!("{type_name} at {place}"),
        detail: format!("value at {place} is {type_name}, expected a number"),
        place: place.clone(),
    }
}

fn bad_target(path: &Path, count: usize) -> Offence {
    let field = path.field();
    Offence {
        expected: format!("one number at {field}"),
        found: format!("{count} numbers"),
        detail: format!("expected exactly one number at {field}, found {count}"),
        place: path.container(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, told};

    fn sum(members: &str, output: &str) -> String {
        told(
            &format!(r#"{{"type":"sum_equals","field":"a[]",{members}}}"#),
            &format!("{{{output}}}"),
        )
    }

    #[test]
    fn sums_are_compared_with_their_target() {
        let rows = [
            (r#""equals_field":"t""#, r#""a":[185.76,14.29],"t":200.05"#, ""),
            (
                r#""equals_field":"t","tolerance":0"#,
                r#""a":[185.76,14.29],"t":200.05"#,
                "",
            ),
            (
                r#""equals_field":"t""#,
                r#""a":[8468852.54,2254372.60],"t":10723225.14"#,
                "",
            ),
            (r#""equals_field":"t""#, r#""a":[1225.60,196.10],"t":1421.70"#, ""),
            (r#""equals":0.3,"tolerance":0"#, r#""a":[0.1,0.2]"#, ""),
            (r#""equals":0"#, r#""a":[]"#, ""),
            (r#""equals":1"#, r#""a":[]"#, "values sum to 0, expected 1"),
            (r#""equals":6"#, r#""a":[1,2,3]"#, ""),
            (r#""equals":7"#, r#""a":[1,2,3]"#, "values sum to 6, expected 7"),
            (
                r#""equals":7.0"#,
                r#""a":[1,2,3.0]"#,
                "values sum to 6.0, expected 7.0",
            ),
            (
                r#""equals_field":"$.t""#,
                r#""a":[87.0,42.5],"t":135.0"#,
                "values sum to 129.5, expected t (135.0)",
            ),
            (r#""equals_field":"t[]""#, r#""a":[1],"t":[1]"#, ""),
            (
                r#""equals_field":"t[]""#,
                r#""a":[1],"t":[2]"#,
                "values sum to 1, expected t[] (2)",
            ),
            (
                r#""equals":10723225.14,"tolerance":0"#,
                r#""a":[10723225.15]"#,
                "values sum to 10723225.15, expected 10723225.14",
            ),
            (
                r#""equals":1e300,"tolerance":0"#,
                r#""a":[1e300,1e-300]"#,
                "values sum to 1.0000000000000000e+300, expected 1e+300",
            ),
        ];
        for (members, output, expected) in rows {
            assert_eq!(sum(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn the_tolerance_is_absolute_and_inclusive() {
        let rows = [
            ("", "1.000000001", true),
            ("", "1.0000000010001", false),
            ("", "0.999999999", true),
            (r#","tolerance":0.01"#, "1.01", true),
            (r#","tolerance":0.01"#, "0.99", true),
            (r#","tolerance":0.01"#, "1.0101", false),
            (r#","tolerance":0"#, "1.0000000000000002", false),
            (r#","tolerance":1"#, "0", true),
            (r#","tolerance":1e308"#, "-1e308", false),
        ];
        for (tolerance, target, passes) in rows {
            let told = sum(&format!(r#""equals":{target}{tolerance}"#), r#""a":[0.4,0.6]"#);
            assert_eq!(told.is_empty(), passes, "{target}{tolerance}: {told}");
        }
        // Ten lines rounded to cents each, the total not: half a cent a line is what such a buyer allows.
        let lines = r#""a":[174.06,174.06,174.06,174.06,174.06,174.06,174.06,174.06,174.06,174.06]"#;
        assert_eq!(
            sum(r#""equals":1740.55"#, lines),
            "values sum to 1740.6, expected 1740.55"
        );
        assert_eq!(sum(r#""equals":1740.55,"tolerance":0.05"#, lines), "");
    }

    #[test]
    fn what_is_no_number_is_told_before_the_target() {
        let rows = [
            (
                r#""equals":1"#,
                r#""a":[1,"2",true,3]"#,
                "value at a[1] is string, expected a number (and 1 more)",
            ),
            (
                r#""equals":1"#,
                r#""a":[[],1]"#,
                "value at a[0] is array, expected a number",
            ),
            (
                r#""equals_field":"t""#,
                r#""a":[1,true]"#,
                "value at a[1] is boolean, expected a number",
            ),
            (
                r#""equals":1"#,
                r#""a":[1,null,"x"]"#,
                "no value at a[1] (and 1 more)",
            ),
            (
                r#""equals":1"#,
                r#""a":["x",null,1]"#,
                "value at a[0] is string, expected a number (and 1 more)",
            ),
            (r#""equals":1"#, r#""b":1"#, "no value at a"),
            (
                r#""equals":1,"if_present":true"#,
                r#""a":["x",null,1]"#,
                "value at a[0] is string, expected a number",
            ),
        ];
        for (members, output, expected) in rows {
            assert_eq!(sum(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn the_target_must_be_one_number() {
        let rows = [
            (
                r#""equals_field":"t""#,
                r#""a":[1]"#,
                "expected exactly one number at t, found 0",
            ),
            (
                r#""equals_field":"t""#,
                r#""a":[1],"t":null"#,
                "expected exactly one number at t, found 0",
            ),
            (
                r#""equals_field":"t""#,
                r#""a":[1],"t":"1""#,
                "expected exactly one number at t, found 0",
            ),
            (
                r#""equals_field":"t[]""#,
                r#""a":[1],"t":[]"#,
                "expected exactly one number at t[], found 0",
            ),
            (
                r#""equals_field":"t[]""#,
                r#""a":[1],"t":[1,1]"#,
                "expected exactly one number at t[], found 2",
            ),
            (
                r#""equals_field":"t""#,
                r#""a":[]"#,
                "expected exactly one number at t, found 0",
            ),
            (r#""equals_field":"t","if_present":true"#, r#""a":[1]"#, ""),
            (
                r#""equals_field":"t","if_present":true"#,
                r#""a":[1],"t":null"#,
                "",
            ),
            (
                r#""equals_field":"t","if_present":true"#,
                r#""a":[1],"t":"1""#,
                "expected exactly one number at t, found 0",
            ),
            (
                r#""equals_field":"t[]","if_present":true"#,
                r#""a":[1],"t":[]"#,
                "expected exactly one number at t[], found 0",
            ),
        ];
        for (members, output, expected) in rows {
            assert_eq!(sum(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn missing_values_are_skipped_where_that_is_asked_for() {
        let rows = [
            (r#""equals":5"#, ""),
            (r#""a":null"#, ""),
            (r#""a":[null,null]"#, ""),
            (r#""a":[null,5]"#, ""),
            (r#""a":[null,4]"#, "values sum to 4, expected 5"),
            (r#""a":[]"#, "values sum to 0, expected 5"),
        ];
        for (output, expected) in rows {
            assert_eq!(
                sum(r#""equals":5,"if_present":true"#, output),
                expected,
                "{output}"
            );
        }
        let line = r#""a":[{"x":1},{}]"#;
        let rule = r#"{"type":"sum_equals","field":"a[].x","equals":1}"#;
        assert_eq!(
            told(rule, &format!("{{{line}}}")),
            "no value at a[1].x",
            "no partial sum"
        );
    }

    #[test]
    fn findings_say_what_would_pass() {
        let rows = [
            (
                r#""equals_field":"t""#,
                r#""a":[1.5],"t":2"#,
                "a sum equal to t (2)",
                "sum 1.5",
            ),
            (r#""equals":2.0"#, r#""a":[1]"#, "a sum equal to 2.0", "sum 1"),
            (r#""equals":2"#, r#""a":[true]"#, "numbers", "boolean at a[0]"),
            (
                r#""equals_field":"t""#,
                r#""a":[1]"#,
                "one number at t",
                "0 numbers",
            ),
            (r#""equals":2"#, r#""a":[null]"#, "a value", "nothing at a[0]"),
        ];
        for (members, output, expected, found) in rows {
            let rule = format!(r#"{{"type":"sum_equals","field":"$.a[]",{members}}}"#);
            let finding = finding(&rule, &format!("{{{output}}}")).unwrap();
            assert_eq!(
                (finding.expected.as_str(), finding.found.as_str()),
                (expected, found)
            );
            assert_eq!(finding.field, "a[]");
        }
    }
}
