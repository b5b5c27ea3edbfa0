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
    let Some(mut members) = Members::of(value, format!("rules[{index}]")) else {
        let fix = "Send an object with 'type', 'field' and what the type needs.";
        return Err(vec![FieldProblem::new(
            0,
            format!("rules[{index}]"),
            "must be an object",
            fix,
        )]);
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
