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
    let (classes, values) = (selection.classes(), &selection.values);
    let (count, first, expected, missing_in_set) = match set {
        Set::Values(set, set_classes) => {
            let (count, first) = classes.outside(values, (set_classes, set));
            (count, first, format!("one of {} listed values", set.len()), None)
        }
        Set::Field(path) => {
            let set = selections.select(output, path);
            if if_present && set.values.is_empty() && set.missing > 0 {
                return None;
            }
            let (count, first) = classes.outside(values, (set.classes(), &set.values));
            let told = set.missing > 0 && !if_present && !values.is_empty();
            (
                count,
                first,
                format!("a value found at {}", path.field()),
                told.then_some(set),
            )
        }
    };
    let offenders = selection.with_missing(if_present, count, first);
    if let Some(set) = missing_in_set {
        // Told before the elements: what they are not found in may be what is missing.
        let offence = Offence::missing(&set.place(output, Offender::Missing));
        let count = set.missing + offenders.map_or(0, |offenders| offenders.count);
        return Some(offence.finding(CheckName::ConsistencyExistsIn, field, count));
    }
    let Offenders { count, first } = offenders?;
    let place = selection.place(output, first);
    let offence = match first {
        Offender::Missing => Offence::missing(&place),
        Offender::Value(index) => Offence::unlike(&place, values[index], expected),
    };
    Some(offence.finding(CheckName::ConsistencyExistsIn, field, count))
}
