//! Reading a rule: every problem of it at once (verification.md, sections 4, 10 and 22).

use super::compare::{Comparison, Counterpart};
use super::exists_in::Set;
use super::sum_equals::Target;
use super::{DEFAULTS, Kind, Rule};
use crate::check::comparable::{Comparable, Op};
use crate::check::equality::Classes;
use crate::check::invalid::FieldProblem;
use crate::check::member::{DATE_FIX, Members, NUMBER_FIX};
use crate::check::path::Path;
use crate::json::{Number, Value};
use crate::limits::RULE_VALUES_MAX;

/// The tolerance of a rule that gives none.
const TOLERANCE: f64 = 1e-9;

const TYPES: [(&str, Type); 5] = [
    ("sum_equals", Type::SumEquals),
    ("gte", Type::Compare(Op::Gte)),
    ("lte", Type::Compare(Op::Lte)),
    ("exists_in", Type::ExistsIn),
    ("unique", Type::Unique),
];
const TYPE_FIX: &str = "Use one of: 'sum_equals', 'gte', 'lte', 'exists_in' or 'unique'.";
const FIELD_FIX: &str = "Give the path of the values to check, as in line_items[].total.";
const MEMBERS_FIX: &str = "Use only 'type', 'field', 'equals_field', 'equals', 'other_field', 'value', 'in_field', \
                           'values', 'tolerance' and 'if_present'.";
const REFERENCES: [&str; 6] = [
    "equals_field",
    "equals",
    "other_field",
    "value",
    "in_field",
    "values",
];

#[derive(Clone, Copy)]
enum Type {
    SumEquals,
    Compare(Op),
    ExistsIn,
    Unique,
}

impl Type {
    /// The references of which exactly one must be given.
    fn references(self) -> &'static [&'static str] {
        match self {
            Type::SumEquals => &["equals_field", "equals"],
            Type::Compare(_) => &["other_field", "value"],
            Type::ExistsIn => &["in_field", "values"],
            Type::Unique => &[],
        }
    }

    /// What a reference that the type does not use is told.
    fn reference_fix(self) -> &'static str {
        match self {
            Type::SumEquals => "Leave it out: 'sum_equals' takes 'equals_field' or 'equals'.",
            Type::Compare(_) => "Leave it out: 'gte' and 'lte' take 'other_field' or 'value'.",
            Type::ExistsIn => "Leave it out: 'exists_in' takes 'in_field' or 'values'.",
            Type::Unique => "Leave it out: 'unique' takes no reference.",
        }
    }
}

/// The references of a rule that are given and well-formed.
#[derive(Default)]
struct References {
    equals_field: Option<Path>,
    equals: Option<Number>,
    other_field: Option<Path>,
    value: Option<Value>,
    in_field: Option<Path>,
    values: Option<Vec<Value>>,
}

pub(super) fn rule(value: &Value, index: usize) -> Result<Rule, Vec<FieldProblem>> {
    let name = || format!("rules[{index}]");
    let Some(mut members) = Members::of(value, &name) else {
        let fix = "Send an object with 'type', 'field' and what the type needs.";
        return Err(vec![FieldProblem::new(0, name(), "must be an object", fix)]);
    };
    members.refuse_unknown(
        |name| DEFAULTS.iter().any(|(known, _)| *known == name),
        MEMBERS_FIX,
    );
    let rule_type = read_type(&mut members);
    let field = members
        .required("field", FIELD_FIX)
        .and_then(|member| members.path(member, FIELD_FIX));
    let mut references = read_references(&mut members, rule_type);
    let tolerance = read_tolerance(&mut members);
    let if_present = members.boolean("if_present");
    if let (Some(Type::Compare(_)), Some(field), Some(other)) = (rule_type, &field, &references.other_field)
        && Counterpart::of(field, other.clone()).is_none()
    {
        let fix = "Use [] in it only where 'field' begins with the same steps.";
        members.refuse("other_field", "must not select more elements than field", fix);
        references.other_field = None;
    }
    let rule = rule_type.zip(field).and_then(|(rule_type, field)| {
        let kind = kind(rule_type, &field, references, tolerance)?;
        Some(Rule {
            field,
            kind,
            if_present,
        })
    });
    members.finish(rule)
}

fn read_type(members: &mut Members<'_>) -> Option<Type> {
    let member = members.required("type", TYPE_FIX)?;
    let Some(text) = member.value.as_str() else {
        members.refuse("type", "must be a string", TYPE_FIX);
        return None;
    };
    let known = TYPES
        .iter()
        .find(|(name, _)| *name == text)
        .map(|(_, known)| *known);
    if known.is_none() {
        members.refuse("type", "is not one of the allowed values", TYPE_FIX);
    }
    known
}

/// Reads the references that are given. One that the type does not use is refused for that alone.
fn read_references(members: &mut Members<'_>, rule_type: Option<Type>) -> References {
    let mut read = References::default();
    let mut given = 0;
    for name in REFERENCES {
        let Some(member) = members.given(name) else {
            continue;
        };
        if let Some(rule_type) = rule_type {
            if !rule_type.references().contains(&name) {
                members.refuse(name, "is not used by this type", rule_type.reference_fix());
                continue;
            }
            given += 1;
        }
        match name {
            "equals_field" => read.equals_field = members.path(member, FIELD_FIX),
            "other_field" => read.other_field = members.path(member, FIELD_FIX),
            "in_field" => read.in_field = members.path(member, FIELD_FIX),
            "equals" => {
                read.equals = member.value.as_number();
                if read.equals.is_none() {
                    members.refuse(name, "must be a number", NUMBER_FIX);
                }
            }
            "value" => {
                read.value = Comparable::of(&member.value).map(|_| member.value.clone());
                if read.value.is_none() {
                    members.refuse(name, "must be a number or an ISO 8601 date", DATE_FIX);
                }
            }
            _ => read.values = read_values(members, &member.value),
        }
    }
    match rule_type.map(Type::references) {
        Some([field, value]) if given != 1 => {
            let fix = format!("Give '{field}' or '{value}', not both.");
            members.refuse_whole(format!("must have exactly one of '{field}' and '{value}'"), fix);
        }
        _ => {}
    }
    read
}

fn read_values(members: &mut Members<'_>, value: &Value) -> Option<Vec<Value>> {
    let Some(values) = value.as_array() else {
        members.refuse(
            "values",
            "must be an array",
            "Send the allowed values as an array.",
        );
        return None;
    };
    if values.len() > RULE_VALUES_MAX {
        let problem = format!("has too many entries (at most {RULE_VALUES_MAX})");
        members.refuse(
            "values",
            problem,
            "List fewer values, or put them into the output and use 'in_field'.",
        );
        return None;
    }
    Some(values.to_vec())
}

fn read_tolerance(members: &mut Members<'_>) -> Number {
    let default = Number::new(TOLERANCE, false);
    let Some(member) = members.get("tolerance") else {
        return default;
    };
    match member.value.as_number() {
        Some(tolerance) if tolerance.value() >= 0.0 => return tolerance,
        Some(_) => members.refuse("tolerance", "must not be negative", "Send 0 or more."),
        None => members.refuse("tolerance", "must be a number", NUMBER_FIX),
    }
    default
}

/// What the rule does; nothing if the reference it needs is not there.
fn kind(rule_type: Type, field: &Path, references: References, tolerance: Number) -> Option<Kind> {
    Some(match rule_type {
        Type::SumEquals => {
            let target = references.equals_field.map(Target::Field);
            Kind::SumEquals(target.or(references.equals.map(Target::Number))?, tolerance)
        }
        Type::Compare(op) => {
            let other = references
                .other_field
                .and_then(|other| Counterpart::of(field, other));
            let counterpart = other.or(references.value.map(Counterpart::Value))?;
            Kind::Compare(Comparison {
                op,
                counterpart,
                tolerance,
            })
        }
        Type::ExistsIn => {
            let listed = |values: Vec<Value>| {
                let classes = Classes::of(&values);
                Set::Values(values, classes)
            };
            Kind::ExistsIn(
                references
                    .in_field
                    .map(Set::Field)
                    .or(references.values.map(listed))?,
            )
        }
        Type::Unique => Kind::Unique,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    /// The problems of a rule, each as its field and what is wrong.
    fn problems(rule: &str) -> Vec<String> {
        let problems = super::rule(&read(rule.as_bytes()).unwrap(), 3)
            .err()
            .unwrap_or_default();
        assert!(problems.is_sorted_by_key(|problem| problem.at), "{rule}");
        problems
            .iter()
            .map(|problem| format!("{} {}", problem.field, problem.problem))
            .collect()
    }

    #[test]
    fn well_formed_rules_are_read() {
        let rows = [
            r#"{"type":"sum_equals","field":"a","equals_field":"b"}"#,
            r#"{"type":"sum_equals","field":"$","equals":0,"equals_field":null,"values":null,"tolerance":0}"#,
            r#"{"type":"gte","field":"a","value":1,"other_field":null,"if_present":true,"tolerance":1e308}"#,
            r#"{"type":"lte","field":"a","value":"2026-10-01T12:00"}"#,
            r#"{"type":"gte","field":"a[].b[].c","other_field":"a[].b[].d"}"#,
            r#"{"type":"gte","field":"a[].b[].c","other_field":"a[].d"}"#,
            r#"{"type":"gte","field":"a[].b","other_field":"a[0].b"}"#,
            r#"{"type":"gte","field":"$.a[].b","other_field":"a[].c"}"#,
            r#"{"type":"exists_in","field":"a","values":[]}"#,
            r#"{"type":"exists_in","field":"a","in_field":"b[][]","value":null,"tolerance":5}"#,
            r#"{"type":"unique","field":"a","tolerance":0.5,"if_present":false}"#,
        ];
        for rule in rows {
            assert_eq!(problems(rule), Vec::<String>::new(), "{rule}");
        }
    }

    const FAULTY: [(&str, &str); 45] = [
        ("5", "rules[3] must be an object"),
        ("null", "rules[3] must be an object"),
        ("[]", "rules[3] must be an object"),
        ("{}", "rules[3].type is required; rules[3].field is required"),
        (r#"{"type":"unique"}"#, "rules[3].field is required"),
        (r#"{"field":"a"}"#, "rules[3].type is required"),
        (
            r#"{"type":"sum","field":"a"}"#,
            "rules[3].type is not one of the allowed values",
        ),
        (
            r#"{"type":"Unique","field":"a"}"#,
            "rules[3].type is not one of the allowed values",
        ),
        (r#"{"type":null,"field":"a"}"#, "rules[3].type must be a string"),
        (
            r#"{"type":["unique"],"field":"a"}"#,
            "rules[3].type must be a string",
        ),
        (
            r#"{"type":"unique","field":null}"#,
            "rules[3].field must be a string",
        ),
        (
            r#"{"type":"unique","field":7}"#,
            "rules[3].field must be a string",
        ),
        (
            r#"{"type":"unique","field":"a..b"}"#,
            "rules[3].field is not a valid path",
        ),
        (
            r#"{"type":"unique","field":""}"#,
            "rules[3].field is not a valid path",
        ),
        (r#"{"type":"sum_equals","field":"a"}"#, "SUM"),
        (r#"{"type":"sum_equals","field":"a","equals":null}"#, "SUM"),
        (
            r#"{"type":"sum_equals","field":"a","equals":1,"equals_field":"b"}"#,
            "SUM",
        ),
        (
            r#"{"type":"sum_equals","field":"a","equals":"1"}"#,
            "rules[3].equals must be a number",
        ),
        (
            r#"{"type":"sum_equals","field":"a","equals":true}"#,
            "rules[3].equals must be a number",
        ),
        (
            r#"{"type":"sum_equals","field":"a","equals_field":5}"#,
            "rules[3].equals_field must be a string",
        ),
        (
            r#"{"type":"sum_equals","field":"a","equals_field":"["}"#,
            "rules[3].equals_field is not a valid path",
        ),
        (
            r#"{"type":"sum_equals","field":"a","equals":1,"value":1}"#,
            "rules[3].value is not used by this type",
        ),
        (
            r#"{"type":"sum_equals","field":"a","values":[1]}"#,
            "SUM; rules[3].values is not used by this type",
        ),
        (r#"{"type":"gte","field":"a"}"#, "COMPARED"),
        (
            r#"{"type":"lte","field":"a","value":1,"other_field":"b"}"#,
            "COMPARED",
        ),
        (
            r#"{"type":"gte","field":"a","value":"soon"}"#,
            "rules[3].value must be a number or an ISO 8601 date",
        ),
        (
            r#"{"type":"gte","field":"a","value":false}"#,
            "rules[3].value must be a number or an ISO 8601 date",
        ),
        (
            r#"{"type":"gte","field":"a","value":"12:30"}"#,
            "rules[3].value must be a number or an ISO 8601 date",
        ),
        (r#"{"type":"gte","field":"a","other_field":"b[]"}"#, "MORE"),
        (
            r#"{"type":"gte","field":"a[].b","other_field":"a[].c[]"}"#,
            "MORE",
        ),
        (r#"{"type":"gte","field":"a[].b","other_field":"b[].b"}"#, "MORE"),
        (r#"{"type":"gte","field":"a[0].b","other_field":"a[].b"}"#, "MORE"),
        (r#"{"type":"exists_in","field":"a"}"#, "SET"),
        (
            r#"{"type":"exists_in","field":"a","in_field":"b","values":[]}"#,
            "SET",
        ),
        (
            r#"{"type":"exists_in","field":"a","values":{}}"#,
            "rules[3].values must be an array",
        ),
        (
            r#"{"type":"exists_in","field":"a","in_field":["b"]}"#,
            "rules[3].in_field must be a string",
        ),
        (
            r#"{"type":"unique","field":"a","in_field":"b"}"#,
            "rules[3].in_field is not used by this type",
        ),
        (
            r#"{"type":"unique","field":"a","tolerance":null}"#,
            "rules[3].tolerance must be a number",
        ),
        (
            r#"{"type":"unique","field":"a","tolerance":"0"}"#,
            "rules[3].tolerance must be a number",
        ),
        (
            r#"{"type":"unique","field":"a","tolerance":-1e-9}"#,
            "rules[3].tolerance must not be negative",
        ),
        (
            r#"{"type":"unique","field":"a","if_present":null}"#,
            "rules[3].if_present must be true or false",
        ),
        (
            r#"{"type":"unique","field":"a","if_present":1}"#,
            "rules[3].if_present must be true or false",
        ),
        (
            r#"{"type":"unique","field":"a","if_presnt":true,"x":1}"#,
            "rules[3] has an unknown member",
        ),
        (
            r#"{"x":1,"type":"nonsense","tolerance":-1,"in_field":7,"value":"x","if_present":0}"#,
            "rules[3] has an unknown member; rules[3].field is required; \
             rules[3].type is not one of the allowed values; rules[3].tolerance must not be negative; \
             rules[3].in_field must be a string; rules[3].value must be a number or an ISO 8601 date; \
             rules[3].if_present must be true or false",
        ),
        (
            r#"{"type":"gte","other_field":"..","equals":1,"field":"a]","x":1}"#,
            "rules[3].other_field is not a valid path; rules[3].equals is not used by this type; \
             rules[3].field is not a valid path; rules[3] has an unknown member",
        ),
    ];

    #[test]
    fn every_problem_of_a_rule_is_told() {
        for (rule, expected) in FAULTY {
            let expected = expected
                .replace(
                    "SUM",
                    "rules[3] must have exactly one of 'equals_field' and 'equals'",
                )
                .replace(
                    "COMPARED",
                    "rules[3] must have exactly one of 'other_field' and 'value'",
                )
                .replace("SET", "rules[3] must have exactly one of 'in_field' and 'values'")
                .replace(
                    "MORE",
                    "rules[3].other_field must not select more elements than field",
                );
            assert_eq!(problems(rule).join("; "), expected, "{rule}");
        }
    }

    #[test]
    fn fixes_say_what_is_allowed() {
        let rows = [
            (
                r#"{"type":"x","field":"a"}"#,
                "Use one of: 'sum_equals', 'gte', 'lte', 'exists_in' or 'unique'.",
            ),
            (r#"{"type":"unique","field":"a","y":1}"#, MEMBERS_FIX),
            (
                r#"{"type":"gte","field":"a"}"#,
                "Give 'other_field' or 'value', not both.",
            ),
            (
                r#"{"type":"unique","field":"a","equals":1}"#,
                "Leave it out: 'unique' takes no reference.",
            ),
        ];
        for (rule, fix) in rows {
            assert_eq!(
                super::rule(&read(rule.as_bytes()).unwrap(), 0).unwrap_err()[0].fix,
                fix
            );
        }
    }

    #[test]
    fn limits_hold_at_their_edges() {
        let listed = |count: usize| {
            format!(
                r#"{{"type":"exists_in","field":"a","values":[{}]}}"#,
                vec!["0"; count].join(",")
            )
        };
        let path = |chars: usize| format!(r#"{{"type":"unique","field":"{}"}}"#, "é".repeat(chars));
        let dotted =
            |parts: usize| format!(r#"{{"type":"unique","field":"{}"}}"#, vec!["a"; parts].join("."));
        let rows = [
            (listed(1000), None),
            (
                listed(1001),
                Some("rules[3].values has too many entries (at most 1000)"),
            ),
            (path(500), None),
            (
                path(501),
                Some("rules[3].field is too long (at most 500 characters)"),
            ),
            (dotted(32), None),
            (
                dotted(33),
                Some("rules[3].field has too many segments (at most 32)"),
            ),
        ];
        for (rule, expected) in rows {
            assert_eq!(problems(&rule).first().map(String::as_str), expected);
        }
    }

    #[test]
    fn problems_show_nothing_of_the_caller() {
        let rule =
            r#"{"SECRET":"SECRET","type":"SECRET","field":"SECRET..","equals":"SECRET","value":"SECRET"}"#;
        for problem in super::rule(&read(rule.as_bytes()).unwrap(), 0).unwrap_err() {
            assert!(!format!("{problem:?}").contains("SECRET"), "{problem:?}");
        }
    }
}
