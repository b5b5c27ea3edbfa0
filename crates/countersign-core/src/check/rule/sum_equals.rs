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
    if let Some(offenders) = selection.with_missing(if_present, total.others, total.first_other) {
        let place = selection.place(output, offenders.first);
        let offence = match offenders.first {
            Offender::Missing => Offence::missing(&place),
            Offender::Value(index) => not_a_number(&place, selection.values[index]),
        };
        return Some(offence.finding(CheckName::ConsistencySumEquals, field, offenders.count));
    }
    if selection.values.is_empty() && selection.missing > 0 {
        return None;
    }
    let (target, shown) = match target {
        Target::Number(number) => (*number, wording::number(*number)),
        Target::Field(path) => {
            let found = selections.select(output, path);
            if if_present && found.values.is_empty() && found.missing > 0 {
                return None;
            }
            match found.values.iter().find_map(|value| value.as_number()) {
                Some(number) if found.numbers() == 1 => {
                    (number, format!("{} ({})", path.field(), wording::number(number)))
                }
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
    let sum = total.sum.text();
    let offence = Offence {
        detail: format!("values sum to {sum}, expected {shown}"),
        expected: format!("a sum equal to {shown}"),
        found: format!("sum {sum}"),
    };
    Some(offence.finding(CheckName::ConsistencySumEquals, field, 1))
}

fn not_a_number(place: &Place, value: &Value) -> Offence {
    let type_name = value.type_name();
    Offence {
        expected: "numbers".to_owned(),
        found: format!("{type_name} at {place}"),
        detail: format!("value at {place} is {type_name}, expected a number"),
    }
}

fn bad_target(path: &Path, count: usize) -> Offence {
    let field = path.field();
    Offence {
        expected: format!("one number at {field}"),
        found: format!("{count} numbers"),
        detail: format!("expected exactly one number at {field}, found {count}"),
    }
}
