//! `unique`: no two values of one path are equal (verification.md, section 10).

use crate::check::finding::Finding;
use crate::check::name::CheckName;
use crate::check::offence::Offence;
use crate::check::path::Path;
use crate::check::selection::{Offender, Selections};
use crate::json::Value;

pub(super) fn check<'a>(
    (field, if_present): (&'a Path, bool),
    output: &'a Value,
    selections: &mut Selections<'a>,
) -> Option<Finding> {
    let selection = selections.select(output, field);
    let repeats = selection.repeats();
    let (count, first) = repeats.map_or((0, None), |repeats| (repeats.count, Some(repeats.first)));
    let offenders = selection.missing.with(if_present, count, first)?;
    let place = selection.place(output, offenders.first);
    let offence = match (offenders.first, repeats) {
        (Offender::Value(_), Some(repeats)) => {
            let original = selection.place(output, Offender::Value(repeats.original));
            Offence {
                expected: "unique values".to_owned(),
                found: format!("duplicate at {place}"),
                detail: format!("value at {place} repeats the one at {original}"),
                place,
            }
        }
        _ => Offence::missing(&place),
    };
    Some(offence.finding(CheckName::ConsistencyUnique, field, offenders.count))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, told};

    fn unique(members: &str, output: &str) -> String {
        told(
            &format!(r#"{{"type":"unique","field":"a[]"{members}}}"#),
            &format!(r#"{{"a":{output}}}"#),
        )
    }

    #[test]
    fn values_must_not_repeat() {
        let rows = [
            ("", "[]", ""),
            ("", "[1,2]", ""),
            ("", r#"[1,true,"1","",[],0]"#, ""),
            ("", "[1,1.0]", "value at a[1] repeats the one at a[0]"),
            (
                "",
                "[1,2,3,2,1,2]",
                "value at a[3] repeats the one at a[1] (and 2 more)",
            ),
            (
                "",
                r#"[{"x":1,"y":2},{"y":2,"x":1}]"#,
                "value at a[1] repeats the one at a[0]",
            ),
            ("", r#"[[],"",{},0,false]"#, ""),
            ("", "[1,null]", "no value at a[1]"),
            ("", "[1,null,1]", "no value at a[1] (and 1 more)"),
            (
                "",
                "[1,1,null]",
                "value at a[1] repeats the one at a[0] (and 1 more)",
            ),
            ("", "[null,null]", "no value at a[0] (and 1 more)"),
            ("", "null", "no value at a"),
            ("", "{}", "no value at a"),
            (r#","if_present":true"#, "[null,null]", ""),
            (r#","if_present":true"#, "null", ""),
            (
                r#","if_present":true"#,
                "[null,1,null,1]",
                "value at a[3] repeats the one at a[1]",
            ),
            (r#","tolerance":5,"equals":null,"values":null"#, "[1,2]", ""),
        ];
        for (members, output, expected) in rows {
            assert_eq!(unique(members, output), expected, "{members} {output}");
        }
    }

    #[test]
    fn one_key_may_not_stand_twice_whatever_is_beside_it() {
        let rule = r#"{"type":"unique","field":"parts[].ref"}"#;
        let output = r#"{"parts":[{"ref":"x","n":1},{"ref":"x","n":2}]}"#;
        let finding = finding(rule, output).unwrap();
        assert_eq!(
            finding.detail,
            "value at parts[1].ref repeats the one at parts[0].ref"
        );
        assert_eq!(
            (finding.expected.as_str(), finding.found.as_str()),
            ("unique values", "duplicate at parts[1].ref")
        );
    }

    #[test]
    fn nested_arrays_are_one_list() {
        let rule = r#"{"type":"unique","field":"a[][].x"}"#;
        let output = r#"{"a":[[{"x":1},{"x":2}],[],[{"x":3},{"x":2}]]}"#;
        assert_eq!(
            told(rule, output),
            "value at a[2][1].x repeats the one at a[0][1].x"
        );
    }
}
