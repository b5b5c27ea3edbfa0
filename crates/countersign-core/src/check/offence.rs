//! What rules and bounds say of an element that offends (verification.md, section 14).

use super::finding::Finding;
use super::name::CheckName;
use super::path::Path;
use super::wording;
use crate::json::Value;
use crate::place::Place;
use std::fmt::Write;

/// The texts of one finding, without its check and field.
#[derive(Debug)]
pub(crate) struct Offence {
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) detail: String,
    pub(crate) place: Place,
}

impl Offence {
    /// No value where one is expected.
    pub(crate) fn missing(place: &Place) -> Self {
        Offence {
            expected: "a value".to_owned(),
            found: format!("nothing at {place}"),
            detail: format!("no value at {place}"),
            place: place.clone(),
        }
    }

    /// A value that is not what is expected.
    pub(crate) fn unlike(place: &Place, value: &Value, expected: String) -> Self {
        let shown = wording::value(value);
        Offence {
            found: format!("{shown} at {place}"),
            detail: format!("value at {place} is {shown}, expected {expected}"),
            expected,
            place: place.clone(),
        }
    }

    /// A value of the wrong kind; `kind` is `a number` or `a date`.
    pub(crate) fn not_comparable(place: &Place, value: &Value, kind: &str) -> Self {
        let type_name = value.type_name();
        Offence {
            expected: kind.to_owned(),
            found: format!("{type_name} at {place}"),
            detail: format!("value at {place} is {type_name}, expected {kind}"),
            place: place.clone(),
        }
    }

    /// The finding that names `offenders` elements, this one the first of them.
    pub(crate) fn finding(mut self, check: CheckName, path: &Path, offenders: usize) -> Finding {
        if offenders > 1 {
            // Writing to a String cannot fail.
            let _ = write!(self.detail, " (and {} more)", offenders - 1);
        }
        Finding {
            check,
            field: path.field().to_owned(),
            is_root: path.steps().is_empty(),
            place: self.place,
            expected: self.expected,
            found: self.found,
            detail: self.detail,
        }
    }
}
