//! What paths select in one output, found once and kept while its rules and bounds are checked.

use super::comparable::Op;
use super::equality::{Classes, Outside, Repeats};
use super::path::{Indexes, Path, walk};
use crate::decimal::Sum;
use crate::json::Value;
use crate::place::Place;
use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The selections of one output, each distinct path's made once: a hundred rules over the same array walk it
/// once, sort it once and add it up once.
///
/// Serves one output only. Keeps at most `KEPT_MAX` entries of eight bytes from rule to rule.
#[derive(Default)]
pub struct Selections<'a> {
    selected: Vec<Rc<Selection<'a>>>,
    outside: Vec<((&'a Path, &'a Path), Outside)>,
    pairs: Vec<(PairsKey<'a>, Rc<Pairs>)>,
}

/// Entries kept from one rule to the next. Paths that overlap could select the same values again and again;
/// what is dropped is found again.
const KEPT_MAX: usize = 3 << 19;

/// What one path selects: values, and the places where one is missing.
pub(crate) struct Selection<'a> {
    path: &'a Path,
    /// The values in array order.
    pub(crate) values: Vec<&'a Value>,
    pub(crate) missing: Missing,
    total: OnceCell<Total>,
    classes: OnceCell<Classes>,
    repeats: OnceCell<Option<Repeats>>,
}

/// The elements of a list that are missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missing {
    pub(crate) count: usize,
    /// How many values stand before the first that is missing.
    pub(crate) before: usize,
}

/// The sum of a selection's numbers.
pub(crate) struct Total {
    pub(crate) sum: Sum,
    /// How many values are no numbers.
    pub(crate) others: usize,
    /// The index of the first value that is none.
    pub(crate) first_other: Option<usize>,
}

/// The elements of one path paired with those of another, in array order; see `rule::compare`.
#[derive(Default)]
pub(crate) struct Pairs {
    /// Of each pair the least tolerance with which it passes: 0 if it needs none, infinite if none helps.
    pub(crate) shortfalls: Vec<f64>,
    /// The pairs of which one value is missing.
    pub(crate) missing: Missing,
}

/// What pairs are kept by.
#[derive(Clone, Copy)]
pub(crate) struct PairsKey<'a> {
    pub(crate) op: Op,
    pub(crate) field: &'a Path,
    pub(crate) other: &'a Path,
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
    /// The value, or the pair of two values, at this index.
    Value(usize),
}

impl<'a> Selections<'a> {
    /// No selections yet.
    pub fn new() -> Self {
        Selections::default()
    }

    /// What `path` selects.
    pub(crate) fn select(&mut self, output: &'a Value, path: &'a Path) -> Rc<Selection<'a>> {
        if let Some(known) = self.selected.iter().find(|known| is_same(known.path, path)) {
            return Rc::clone(known);
        }
        self.make_room();
        let selection = Rc::new(Selection::of(output, path));
        self.selected.push(Rc::clone(&selection));
        selection
    }

    /// The values of one selection that are not in another.
    pub(crate) fn outside(&mut self, field: &Selection<'a>, set: &Selection<'a>) -> Outside {
        let is_known = |known: &(&Path, &Path)| is_same(known.0, field.path) && is_same(known.1, set.path);
        if let Some((_, known)) = self.outside.iter().find(|(known, _)| is_known(known)) {
            return *known;
        }
        let outside = field
            .classes()
            .outside(&field.values, (set.classes(), &set.values));
        self.outside.push(((field.path, set.path), outside));
        outside
    }

    /// The pairs kept under this key, or those that `make` makes.
    pub(crate) fn pairs(&mut self, key: PairsKey<'a>, make: impl FnOnce() -> Pairs) -> Rc<Pairs> {
        let is_known = |known: &PairsKey<'_>| {
            known.op == key.op && is_same(known.field, key.field) && is_same(known.other, key.other)
        };
        if let Some((_, known)) = self.pairs.iter().find(|(known, _)| is_known(known)) {
            return Rc::clone(known);
        }
        self.make_room();
        let pairs = Rc::new(make());
        self.pairs.push((key, Rc::clone(&pairs)));
        pairs
    }

    /// Drops what is kept if it is too much.
    fn make_room(&mut self) {
        let selected = self.selected.iter().map(|selection| selection.entries());
        let paired = self.pairs.iter().map(|(_, pairs)| pairs.shortfalls.len());
        if selected.chain(paired).sum::<usize>() > KEPT_MAX {
            self.selected.clear();
            self.pairs.clear();
        }
    }
}

/// Whether two paths select the same, however they are written.
fn is_same(a: &Path, b: &Path) -> bool {
    a.steps() == b.steps()
}

impl<'a> Selection<'a> {
    fn of(output: &'a Value, path: &'a Path) -> Self {
        let (mut values, mut missing) = (Vec::with_capacity(4), Missing::default());
        let _ = walk(
            output,
            (path.steps(), 0),
            &mut 0,
            Indexes::default(),
            &mut |stop, _| {
                match stop.value {
                    Some(value) => values.push(value),
                    None => missing.add(values.len()),
                }
                ControlFlow::Continue(())
            },
        );
        Selection {
            path,
            values,
            missing,
            total: OnceCell::new(),
            classes: OnceCell::new(),
            repeats: OnceCell::new(),
        }
    }

    /// Whether no element is left to check.
    pub(crate) fn is_empty(&self, if_present: bool) -> bool {
        self.values.is_empty() && (if_present || self.missing.count == 0)
    }

    /// Whether all there is, and there is something, is missing.
    pub(crate) fn is_missing(&self) -> bool {
        self.values.is_empty() && self.missing.count > 0
    }

    /// The values, equal ones side by side. Sorted when first asked for.
    pub(crate) fn classes(&self) -> &Classes {
        self.classes.get_or_init(|| Classes::of(&self.values))
    }

    /// The values that repeat an earlier one. Found when first asked for.
    pub(crate) fn repeats(&self) -> Option<Repeats> {
        *self.repeats.get_or_init(|| self.classes().repeats())
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
    pub(crate) fn offenders(&self, if_present: bool, offends: impl Fn(&Value) -> bool) -> Option<Offenders> {
        let count = self.values.iter().filter(|value| offends(value)).count();
        let first = if count == 0 {
            None
        } else {
            self.values.iter().position(|value| offends(value))
        };
        self.missing.with(if_present, count, first)
    }

    /// Where an element is. Walks the output again: only a finding asks.
    pub(crate) fn place(&self, output: &'a Value, element: Offender) -> Place {
        let mut place = Place::default();
        let mut sought = Sought::new(element, self.missing);
        let _ = walk(
            output,
            (self.path.steps(), 0),
            &mut 0,
            Indexes::default(),
            &mut |stop, indexes| {
                if !sought.is_here(stop.value.is_some()) {
                    return ControlFlow::Continue(());
                }
                place = self.path.place(stop.taken, indexes);
                ControlFlow::Break(())
            },
        );
        place
    }
}

impl Missing {
    /// Adds one that is missing after so many values.
    pub(crate) fn add(&mut self, values: usize) {
        if self.count == 0 {
            self.before = values;
        }
        self.count += 1;
    }

    /// The elements that offend: `count` values, the first of them at the index `first`, and what is missing
    /// unless `if_present`.
    pub(crate) fn with(self, if_present: bool, count: usize, first: Option<usize>) -> Option<Offenders> {
        let missing = if if_present { 0 } else { self.count };
        let first = match first {
            Some(first) if missing == 0 || first < self.before => Offender::Value(first),
            None if missing == 0 => return None,
            _ => Offender::Missing,
        };
        Some(Offenders {
            count: count + missing,
            first,
        })
    }
}

/// An element that is looked for in array order.
pub(crate) struct Sought {
    is_value: bool,
    values_left: usize,
}

impl Sought {
    pub(crate) fn new(element: Offender, missing: Missing) -> Self {
        match element {
            Offender::Missing => Sought {
                is_value: false,
                values_left: missing.before,
            },
            Offender::Value(index) => Sought {
                is_value: true,
                values_left: index,
            },
        }
    }

    /// Whether the next element, which is a value or missing, is the one.
    pub(crate) fn is_here(&mut self, is_value: bool) -> bool {
        if is_value == self.is_value && self.values_left == 0 {
            return true;
        }
        self.values_left -= usize::from(is_value);
        false
    }
}

impl Total {
    fn of(values: &[&Value]) -> Self {
        let mut total = Total {
            sum: Sum::default(),
            others: 0,
            first_other: None,
        };
        for (index, value) in values.iter().enumerate() {
            if let Value::Number(number) = value {
                total.sum.add(*number);
            } else {
                total.others += 1;
                total.first_other.get_or_insert(index);
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Number, read};

    #[test]
    fn paths_written_in_two_ways_are_walked_once() {
        let output = read(br#"{"a":[1,null,2]}"#).unwrap();
        let paths = ["a[]", "$.a[]", "a[0]", "a[00]"].map(|path| Path::parse(path).unwrap());
        let mut selections = Selections::new();
        let selected: Vec<_> = paths
            .iter()
            .map(|path| selections.select(&output, path))
            .collect();
        assert!(Rc::ptr_eq(&selected[0], &selected[1]) && Rc::ptr_eq(&selected[2], &selected[3]));
        assert_eq!(selections.selected.len(), 2);
        assert_eq!(
            (
                selected[0].values.len(),
                selected[0].missing.count,
                selected[0].missing.before
            ),
            (2, 1, 1)
        );
    }

    #[test]
    fn what_is_dropped_to_make_room_is_found_again() {
        let numbers = (0..400_000)
            .map(|n| Value::Number(Number::new(f64::from(n / 2), true)))
            .collect();
        let output = Value::Array(vec![Value::Array(numbers), Value::Array(Vec::new())]);
        let paths = ["[][]", "[0][]", "[1][]", "[0][7]"].map(|path| Path::parse(path).unwrap());
        let mut selections = Selections::new();
        for _ in 0..2 {
            let repeats = paths
                .each_ref()
                .map(|path| selections.select(&output, path).repeats());
            assert_eq!(
                repeats.map(|repeats| repeats.map(|repeats| repeats.count)),
                [Some(200_000), Some(200_000), None, None]
            );
            let kept: usize = selections
                .selected
                .iter()
                .map(|selection| selection.entries())
                .sum();
            assert!(kept <= KEPT_MAX + 800_000, "{kept}");
        }
        let place = selections
            .select(&output, &paths[0])
            .place(&output, Offender::Value(399_999));
        assert_eq!(place.to_string(), "[0][399999]");
    }

    #[test]
    fn missing_elements_stand_in_array_order_with_those_that_are_wrong() {
        let missing = Missing { count: 2, before: 3 };
        let rows = [
            (missing, false, 0, None, Some((2, Offender::Missing))),
            (missing, false, 1, Some(2), Some((3, Offender::Value(2)))),
            (missing, false, 1, Some(3), Some((3, Offender::Missing))),
            (missing, true, 1, Some(3), Some((1, Offender::Value(3)))),
            (missing, true, 0, None, None),
            (Missing::default(), false, 0, None, None),
            (
                Missing::default(),
                false,
                4,
                Some(0),
                Some((4, Offender::Value(0))),
            ),
        ];
        for (missing, if_present, count, first, expected) in rows {
            let offenders = missing.with(if_present, count, first);
            assert_eq!(
                offenders.map(|offenders| (offenders.count, offenders.first)),
                expected,
                "{missing:?}"
            );
        }
    }
}
