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
    let repeats = selection.classes().repeats();
    let (count, first) = repeats.map_or((0, usize::MAX), |repeats| (repeats.count, repeats.first));
    let offenders = selection.with_missing(if_present, count, first)?;
    let place = selection.place(output, offenders.first);
    let offence = match (offenders.first, repeats) {
        (Offender::Value(_), Some(repeats)) => {
            let original = selection.place(output, Offender::Value(repeats.original));
            Offence {
                expected: "unique values".to_owned(),
                found: format!("duplicate at {place}"),
                detail: format!("value at {place} repeats the one at {original}"),
            }
        }
        _ => Offence::missing(&place),
    };
    Some(offence.finding(CheckName::ConsistencyUnique, field, offenders.count))
}
