//! `exists_in`: every value of one path is found in a set (verification.md, section 10).

use crate::check::equality::Classes;
use crate::check::finding::Finding;
use crate::check::name::CheckName;
use crate::check::offence::Offence;
use crate::check::path::Path;
use crate::check::selection::{Offender, Offenders, Selections};
use crate::json::Value;

/// Where values must be found.
#[derive(Clone, Debug)]
pub(super) enum Set {
    /// `in_field`: among what a path selects.
    Field(Path),
    /// `values`: among these.
    Values(Vec<Value>, Classes),
}

pub(super) fn check<'a>(
    (field, set, if_present): (&'a Path, &'a Set, bool),
    output: &'a Value,
    selections: &mut Selections<'a>,
) -> Option<Finding> {
    let selection = selections.select(output, field);
    if selection.is_empty(if_present) {
        return None;
    }
    let (outside, missing_in_set) = match set {
        Set::Values(set, classes) => (
            selection.classes().outside(&selection.values, (classes, set)),
            None,
        ),
        Set::Field(path) => {
            let set = selections.select(output, path);
            if if_present && set.is_missing() {
                return None;
            }
            let is_told = set.missing.count > 0 && !if_present && !selection.values.is_empty();
            (selections.outside(&selection, &set), is_told.then_some(set))
        }
    };
    let offenders = selection.missing.with(if_present, outside.count, outside.first);
    if let Some(set) = missing_in_set {
        // Told before the elements: what they are not found in may be what is missing.
        let offence = Offence::missing(&set.place(output, Offender::Missing));
        let count = set.missing.count + offenders.map_or(0, |offenders| offenders.count);
        return Some(offence.finding(CheckName::ConsistencyExistsIn, field, count));
    }
    let Offenders { count, first } = offenders?;
    let place = selection.place(output, first);
    let offence = match first {
        Offender::Missing => Offence::missing(&place),
        Offender::Value(index) => {
            let expected = match set {
                Set::Values(set, _) => format!("one of {} listed values", set.len()),
                Set::Field(path) => format!("a value found at {}", path.field()),
            };
            Offence::unlike(&place, selection.values[index], expected)
        }
    };
    Some(offence.finding(CheckName::ConsistencyExistsIn, field, count))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, told};

    fn exists(members: &str, output: &str) -> String {
        told(
            &format!(r#"{{"type":"exists_in","field":"a[]",{members}}}"#),
            &format!("{{{output}}}"),
        )
    }

    #[test]
    fn values_must_be_listed() {
        let rows = [
            (r#""values":[1,2,"x"]"#, r#""a":[2.0,"x",1]"#, ""),
            (r#""values":[1]"#, r#""a":[]"#, ""),
            (r#""values":[]"#, r#""a":[]"#, ""),
            (
                r#""values":[]"#,
                r#""a":[1]"#,
                "value at a[0] is 1, expected one of 0 listed values",
            ),
            (
                r#""values":["USD","EUR"]"#,
                r#""a":["EUR","usd"]"#,
                r#"value at a[1] is "usd", expected one of 2 listed values"#,
            ),
            (
                r#""values":[1]"#,
                r#""a":[1,true,"1"]"#,
                "value at a[1] is true, expected one of 1 listed values (and 1 more)",
            ),
            (
                r#""values":[""]"#,
                r#""a":[[]]"#,
                "value at a[0] is array, expected one of 1 listed values",
            ),
            (
                r#""values":[[]]"#,
                r#""a":[""]"#,
                r#"value at a[0] is "", expected one of 1 listed values"#,
            ),
            (r#""values":[{"x":1,"y":[2]}]"#, r#""a":[{"y":[2],"x":1.0}]"#, ""),
            (r#""values":[null,1]"#, r#""a":[1,null]"#, "no value at a[1]"),
            (
                r#""values":[1]"#,
                r#""a":[null,2]"#,
                "no value at a[0] (and 1 more)",
            ),
            (
                r#""values":[1]"#,
                r#""a":[2,null]"#,
                "value at a[0] is 2, expected one of 1 listed values (and 1 more)",
            ),
            (r#""values":[1]"#, "", "no value at a"),
            (r#""values":[1],"if_present":true"#, "", ""),
            (r#""values":[1],"if_present":true"#, r#""a":[null,1]"#, ""),
            (
                r#""values":[1],"if_present":true"#,
                r#""a":[null,2]"#,
                "value at a[1] is 2, expected one of 1 listed values",
            ),
            (r#""values":[""],"if_present":true"#, r#""a":[""]"#, ""),
            (
                r#""values":["x"],"if_present":true"#,
                r#""a":[""]"#,
                r#"value at a[0] is "", expected one of 1 listed values"#,
            ),
        ];
        for (members, output, expected) in rows {
            assert_eq!(exists(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn values_must_be_found_in_another_field() {
        let rows = [
            (
                r#""in_field":"s[].id""#,
                r#""a":["x","y","x"],"s":[{"id":"y"},{"id":"x"}]"#,
                "",
            ),
            (
                r#""in_field":"$.s[]""#,
                r#""a":[1,3,4],"s":[1,2]"#,
                "value at a[1] is 3, expected a value found at s[] (and 1 more)",
            ),
            (
                r#""in_field":"s""#,
                r#""a":["x"],"s":["x"]"#,
                r#"value at a[0] is "x", expected a value found at s"#,
            ),
            (r#""in_field":"s""#, r#""a":[["x"]],"s":["x"]"#, ""),
            (
                r#""in_field":"s[]""#,
                r#""a":[1],"s":[]"#,
                "value at a[0] is 1, expected a value found at s[]",
            ),
            (
                r#""in_field":"s[]","if_present":true"#,
                r#""a":[1],"s":[]"#,
                "value at a[0] is 1, expected a value found at s[]",
            ),
            (r#""in_field":"a[]""#, r#""a":[1,2,2]"#, ""),
        ];
        for (members, output, expected) in rows {
            assert_eq!(exists(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn what_is_missing_in_the_set_is_told_before_the_elements() {
        let rows = [
            (
                r#""in_field":"s[]""#,
                r#""a":[1,2],"s":null"#,
                "no value at s (and 2 more)",
            ),
            (
                r#""in_field":"s[]""#,
                r#""a":[1,2]"#,
                "no value at s (and 2 more)",
            ),
            (
                r#""in_field":"s[]""#,
                r#""a":[1,2],"s":[2,null,1,null]"#,
                "no value at s[1] (and 1 more)",
            ),
            (
                r#""in_field":"s[].x""#,
                r#""a":[1],"s":[{"x":1},{}]"#,
                "no value at s[1].x",
            ),
            (r#""in_field":"s[]""#, r#""a":[],"s":null"#, ""),
            (r#""in_field":"s[]""#, r#""a":null,"s":null"#, "no value at a"),
            (r#""in_field":"s[]","if_present":true"#, r#""a":[1],"s":null"#, ""),
            (
                r#""in_field":"s[]","if_present":true"#,
                r#""a":[1],"s":[null]"#,
                "",
            ),
            (
                r#""in_field":"s[]","if_present":true"#,
                r#""a":[1],"s":[null,1]"#,
                "",
            ),
            (
                r#""in_field":"s[]","if_present":true"#,
                r#""a":[1],"s":[null,2]"#,
                "value at a[0] is 1, expected a value found at s[]",
            ),
        ];
        for (members, output, expected) in rows {
            assert_eq!(exists(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn findings_say_what_would_pass() {
        let long = "x".repeat(79);
        let rows = [
            (
                r#""values":[1,1]"#,
                r#""a":["x"]"#,
                "one of 2 listed values",
                r#""x" at a[0]"#.to_owned(),
            ),
            (
                r#""in_field":"$.s[]""#,
                r#""a":[1.50],"s":[]"#,
                "a value found at s[]",
                "1.5 at a[0]".to_owned(),
            ),
            (
                r#""values":[]"#,
                &format!(r#""a":["{long}"]"#),
                "one of 0 listed values",
                "string at a[0]".to_owned(),
            ),
            (
                r#""in_field":"s""#,
                r#""a":[1]"#,
                "a value",
                "nothing at s".to_owned(),
            ),
        ];
        for (members, output, expected, found) in rows {
            let rule = format!(r#"{{"type":"exists_in","field":"a[]",{members}}}"#);
            let finding = finding(&rule, &format!("{{{output}}}")).unwrap();
            assert_eq!((finding.expected.as_str(), finding.found), (expected, found));
        }
    }
}
