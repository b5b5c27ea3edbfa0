//! What paths select in one output, found once and kept while its rules and bounds are checked.

use super::comparable::Op;
use super::equality::Classes;
use super::path::{Path, Stop, walk};
use crate::decimal::Sum;
use crate::json::Value;
use crate::place::Place;
use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The selections of one output, each distinct path's made once: a hundred rules over the same array walk it
/// once, sort it once and add it up once.
///
/// Serves one output only. Keeps at most [`KEPT_MAX`] entries of eight bytes from rule to rule.
#[derive(Default)]
pub struct Selections<'a> {
    selections: Vec<Rc<Selection<'a>>>,
    pairs: Vec<(PairsKey<'a>, Rc<[f64]>)>,
}

/// What pairs are kept by; see `rule::compare`.
#[derive(Clone, Copy)]
pub(crate) struct PairsKey<'a> {
    pub(crate) op: Op,
    pub(crate) field: &'a Path,
    pub(crate) other: &'a Path,
}

/// Entries kept from one rule to the next. Paths that overlap could select the same values again and again;
/// what is dropped is found again.
const KEPT_MAX: usize = 3 << 19;

/// What one path selects: values, and the places where one is missing.
pub(crate) struct Selection<'a> {
    path: &'a Path,
    /// The values in array order.
    pub(crate) values: Vec<&'a Value>,
    /// How many are missing.
    pub(crate) missing: usize,
    /// How many values stand before the first that is missing.
    before_missing: usize,
    total: OnceCell<Total>,
    classes: OnceCell<Classes>,
}

/// The sum of a selection's numbers.
pub(crate) struct Total {
    pub(crate) sum: Sum,
    /// How many values are no numbers.
    pub(crate) others: usize,
    /// The index of the first value that is none.
    pub(crate) first_other: usize,
}

/// The elements that offend: how many, and the first in array order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offenders {
    pub(crate) count: usize,
    pub(crate) first: Offender,
}

/// An element that offends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offender {
    /// The first that is missing.
    Missing,
    /// The value at this index of the selection.
    Value(usize),
}

impl<'a> Selections<'a> {
    /// No selections yet.
    pub fn new() -> Self {
        Selections::default()
    }

    /// What `path` selects.
    pub(crate) fn select(&mut self, output: &'a Value, path: &'a Path) -> Rc<Selection<'a>> {
        let known = self
            .selections
            .iter()
            .find(|known| known.path.steps() == path.steps());
        if let Some(known) = known {
            return Rc::clone(known);
        }
        self.make_room();
        let selection = Rc::new(Selection::of(output, path));
        self.selections.push(Rc::clone(&selection));
        selection
    }

    /// The pairs kept under this key, or those that `make` makes.
    pub(crate) fn pairs(&mut self, key: PairsKey<'a>, make: impl FnOnce() -> Vec<f64>) -> Rc<[f64]> {
        let same = |known: &PairsKey<'_>| {
            known.op == key.op
                && known.field.steps() == key.field.steps()
                && known.other.steps() == key.other.steps()
        };
        if let Some((_, known)) = self.pairs.iter().find(|(known, _)| same(known)) {
            return Rc::clone(known);
        }
        self.make_room();
        let pairs: Rc<[f64]> = make().into();
        self.pairs.push((key, Rc::clone(&pairs)));
        pairs
    }

    /// Drops what is kept if it is too much.
    fn make_room(&mut self) {
        let selected = self.selections.iter().map(|selection| selection.entries());
        let paired = self.pairs.iter().map(|(_, pairs)| pairs.len());
        if selected.chain(paired).sum::<usize>() > KEPT_MAX {
            self.selections.clear();
            self.pairs.clear();
        }
    }
}

impl<'a> Selection<'a> {
    fn of(output: &'a Value, path: &'a Path) -> Self {
        let mut selection = Selection {
            path,
            values: Vec::new(),
            missing: 0,
            before_missing: 0,
            total: OnceCell::new(),
            classes: OnceCell::new(),
        };
        let _ = walk(output, path.steps(), 0, &mut Vec::new(), &mut |stop, _| {
            if let Some(value) = stop.value {
                selection.values.push(value);
            } else {
                if selection.missing == 0 {
                    selection.before_missing = selection.values.len();
                }
                selection.missing += 1;
            }
            ControlFlow::Continue(())
        });
        selection
    }

    /// Whether no element is left to check.
    pub(crate) fn is_empty(&self, if_present: bool) -> bool {
        self.values.is_empty() && (if_present || self.missing == 0)
    }

    /// The values, equal ones side by side. Sorted when first asked for.
    pub(crate) fn classes(&self) -> &Classes {
        self.classes.get_or_init(|| Classes::of(&self.values))
    }

    /// The sum of the numbers. Added up when first asked for.
    pub(crate) fn total(&self) -> &Total {
        self.total.get_or_init(|| Total::of(&self.values))
    }

    /// How many of the values are numbers.
    pub(crate) fn numbers(&self) -> usize {
        self.values.len() - self.total().others
    }

    /// How many entries of eight bytes this keeps.
    fn entries(&self) -> usize {
        self.values.len() + self.classes.get().map_or(0, Classes::len)
    }

    /// The elements that offend, when `offends` says which values do, and missing ones do unless `if_present`.
    pub(crate) fn offenders(
        &self,
        if_present: bool,
        mut offends: impl FnMut(&Value) -> bool,
    ) -> Option<Offenders> {
        let (mut count, mut first) = (0, usize::MAX);
        for (index, value) in self.values.iter().enumerate() {
            if offends(value) {
                count += 1;
                first = first.min(index);
            }
        }
        self.with_missing(if_present, count, first)
    }

    /// The elements that offend: `count` values, the first of them at the index `first`, and the missing ones
    /// unless `if_present`.
    pub(crate) fn with_missing(&self, if_present: bool, count: usize, first: usize) -> Option<Offenders> {
        let missing = if if_present { 0 } else { self.missing };
        let missing_first = missing > 0 && (count == 0 || self.before_missing <= first);
        (count + missing > 0).then_some(Offenders {
            count: count + missing,
            first: if missing_first {
                Offender::Missing
            } else {
                Offender::Value(first)
            },
        })
    }

    /// Where an element is. Walks the output again: only a finding asks.
    pub(crate) fn place(&self, output: &'a Value, element: Offender) -> Place {
        let mut values_left = match element {
            Offender::Missing => self.before_missing,
            Offender::Value(index) => index,
        };
        let wants_value = element != Offender::Missing;
        first_place(output, self.path, |stop| {
            if stop.value.is_some() == wants_value && values_left == 0 {
                return true;
            }
            values_left -= usize::from(stop.value.is_some());
            false
        })
    }
}

/// The place of the first stop that is wanted.
fn first_place(output: &Value, path: &Path, mut is_wanted: impl FnMut(Stop<'_>) -> bool) -> Place {
    let mut place = Place::default();
    let _ = walk(output, path.steps(), 0, &mut Vec::new(), &mut |stop, indexes| {
        if is_wanted(stop) {
            place = path.place(stop.taken, indexes);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    place
}

impl Total {
    fn of(values: &[&Value]) -> Self {
        let mut total = Total {
            sum: Sum::default(),
            others: 0,
            first_other: usize::MAX,
        };
        for (index, value) in values.iter().enumerate() {
            if let Value::Number(number) = value {
                total.sum.add(*number);
            } else {
                total.others += 1;
                total.first_other = total.first_other.min(index);
            }
        }
        total
    }
}
