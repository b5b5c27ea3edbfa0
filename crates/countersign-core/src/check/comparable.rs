//! What `gte`, `lte` and bounds compare: numbers with numbers, dates with dates (verification.md, section 10).

use super::date::Date;
use crate::json::{Number, Value};
use std::cmp::Ordering;

/// A value that has an order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Comparable<'v> {
    /// A number.
    Number(Number),
    /// A string that reads as a date.
    Date(Date<'v>),
}

/// The direction of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// At least.
    Gte,
    /// At most.
    Lte,
}

impl<'v> Comparable<'v> {
    /// The value, if it has an order.
    pub(crate) fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Comparable::Number(*number)),
            Value::String(text) => Date::parse(text).map(Comparable::Date),
            _ => None,
        }
    }

    /// How this compares with `other`; nothing if they are of two kinds.
    pub(crate) fn compare(&self, other: &Comparable<'_>) -> Option<Ordering> {
        match (self, other) {
            (Comparable::Number(a), Comparable::Number(b)) => a.value().partial_cmp(&b.value()),
            (Comparable::Date(a), Comparable::Date(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// The kind, as texts name it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Comparable::Number(_) => NUMBER,
            Comparable::Date(_) => DATE,
        }
    }
}

const NUMBER: &str = "a number";
const DATE: &str = "a date";

/// The kind that the counterpart of `value` should have had: a date if it is a string, else a number.
pub(crate) fn kind_sought_by(value: &Value) -> &'static str {
    if value.as_str().is_some() { DATE } else { NUMBER }
}

impl Op {
    /// Whether a value that compares so with its counterpart passes.
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Gte => order.is_ge(),
            Op::Lte => order.is_le(),
        }
    }

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Op::Gte => ">=",
            Op::Lte => "<=",
        }
    }
}
