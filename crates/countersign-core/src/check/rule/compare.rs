//! `gte` and `lte`: every value of one path reaches its counterpart (verification.md, section 10).

use crate::check::comparable::{Comparable, Op, kind_sought_by};
use crate::check::finding::Finding;
use crate::check::name::CheckName;
use crate::check::offence::Offence;
use crate::check::path::{Path, Step, Stop, walk};
use crate::check::selection::{Offender, PairsKey, Selections};
use crate::check::wording;
use crate::decimal::difference_up;
use crate::json::{Number, Value};
use crate::place::Place;
use std::ops::ControlFlow;

/// What values are compared with.
#[derive(Clone, Debug)]
pub(super) enum Counterpart {
    /// `value`: this number or date.
    Value(Value),
    /// `other_field` without a `[]` that `field` has: one value for every element.
    One(Path),
    /// `other_field` where the first so many steps, the last a `[]`, are those of `field`: a value for each
    /// element of that.
    Paired(Path, usize),
}

/// A comparison as its rule asks for it.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) op: Op,
    pub(super) counterpart: Counterpart,
    /// By how much a number may miss its counterpart.
    pub(super) tolerance: Number,
}

impl Counterpart {
    /// The counterpart at `other` of the elements of `field`; nothing if `other` selects more elements.
    pub(super) fn of(field: &Path, other: Path) -> Option<Self> {
        let shared = field
            .steps()
            .iter()
            .zip(other.steps())
            .take_while(|(a, b)| a == b)
            .count();
        let paired = field.steps()[..shared]
            .iter()
            .rposition(|step| *step == Step::Every);
        let paired = paired.map_or(0, |last| last + 1);
        if other.steps()[paired..].contains(&Step::Every) {
            return None;
        }
        Some(if paired == 0 {
            Counterpart::One(other)
        } else {
            Counterpart::Paired(other, paired)
        })
    }
}

impl Comparison {
    pub(super) fn check<'a>(
        &'a self,
        (field, if_present): (&'a Path, bool),
        output: &'a Value,
        selections: &mut Selections<'a>,
    ) -> Option<Finding> {
        let (offence, count) = match &self.counterpart {
            Counterpart::Value(value) => {
                self.check_each(field, if_present, Some(value), output, selections)?
            }
            Counterpart::One(other) => {
                let selection = selections.select(output, other);
                let value = selection.values.first().copied();
                if value.is_none() && if_present {
                    return None;
                }
                self.check_each(field, if_present, value, output, selections)?
            }
            Counterpart::Paired(other, paired) => {
                let pairing = Pairing {
                    field,
                    other,
                    paired: *paired,
                };
                self.check_pairs(&pairing, if_present, output, selections)?
            }
        };
        let check = match self.op {
            Op::Gte => CheckName::ConsistencyGte,
            Op::Lte => CheckName::ConsistencyLte,
        };
        Some(offence.finding(check, field, count))
    }

    /// Compares each element with the same counterpart, which may be missing.
    fn check_each<'a>(
        &'a self,
        field: &'a Path,
        if_present: bool,
        counterpart: Option<&'a Value>,
        output: &'a Value,
        selections: &mut Selections<'a>,
    ) -> Option<(Offence, usize)> {
        let selection = selections.select(output, field);
        let comparable = counterpart.and_then(Comparable::of);
        // How far down a number may go; worked out for the first that needs the tolerance.
        let mut edge = None;
        let offenders = selection.offenders(if_present, |value| match (&comparable, value) {
            (Some(Comparable::Number(counterpart)), Value::Number(value)) => {
                let (value, counterpart) = (self.upward(*value), self.upward(*counterpart));
                value.value() < counterpart.value()
                    && value.value() < *edge.get_or_insert_with(|| difference_up(counterpart, self.tolerance))
            }
            (Some(counterpart), value) => !self.holds(value, counterpart),
            (None, _) => true,
        })?;
        let place = selection.place(output, offenders.first);
        let offence = match (offenders.first, &self.counterpart) {
            (Offender::Missing, _) => Offence::missing(&place),
            (Offender::Value(index), Counterpart::Value(bound)) => {
                let bound = Shown {
                    value: bound,
                    text: wording::value(bound),
                    place: Place::default(),
                };
                self.offence(&place, selection.values[index], &bound)
            }
            (Offender::Value(index), Counterpart::One(other) | Counterpart::Paired(other, _)) => {
                let at_other = selections.select(output, other);
                match counterpart {
                    None => Offence::missing(&at_other.place(output, Offender::Missing)),
                    Some(value) => {
                        let place_of_other = at_other.place(output, Offender::Value(0));
                        let shown = Shown::at(other, value, place_of_other);
                        self.offence(&place, selection.values[index], &shown)
                    }
                }
            }
        };
        Some((offence, offenders.count))
    }

    /// Compares each element with the counterpart that shares its indexes.
    fn check_pairs<'a>(
        &'a self,
        pairing: &Pairing<'a>,
        if_present: bool,
        output: &'a Value,
        selections: &mut Selections<'a>,
    ) -> Option<(Offence, usize)> {
        let key = PairsKey {
            op: self.op,
            field: pairing.field,
            other: pairing.other,
        };
        let shortfalls = selections.pairs(key, || {
            let mut shortfalls = Vec::new();
            pairing.walk(output, |pair, _| {
                shortfalls.push(self.shortfall(pair.value.value, pair.counterpart.value));
                ControlFlow::Continue(())
            });
            shortfalls
        });
        let tolerance = self.tolerance.value();
        let offends = |shortfall: f64| shortfall > tolerance || (shortfall.is_nan() && !if_present);
        let count = shortfalls.iter().filter(|shortfall| offends(**shortfall)).count();
        let mut left = shortfalls.iter().position(|shortfall| offends(*shortfall))?;
        let mut offence = None;
        pairing.walk(output, |pair, indexes| {
            if left > 0 {
                left -= 1;
                return ControlFlow::Continue(());
            }
            let place = pairing.field.place(pair.value.taken, indexes);
            let place_of_other = || pairing.other.place(pair.counterpart.taken, indexes);
            offence = Some(match (pair.value.value, pair.counterpart.value) {
                (None, _) => Offence::missing(&place),
                (Some(_), None) => Offence::missing(&place_of_other()),
                (Some(value), Some(counterpart)) => {
                    let shown = Shown::at(pairing.other, counterpart, place_of_other());
                    self.offence(&place, value, &shown)
                }
            });
            ControlFlow::Break(())
        });
        Some((offence?, count))
    }

    /// The least tolerance with which a pair passes: 0 if it needs none, infinite if none helps, NaN if a
    /// value is missing.
    fn shortfall(&self, value: Option<&Value>, counterpart: Option<&Value>) -> f64 {
        match (value, counterpart) {
            (Some(Value::Number(value)), Some(Value::Number(counterpart))) => {
                let (value, counterpart) = (self.upward(*value), self.upward(*counterpart));
                if value.value() >= counterpart.value() {
                    0.0
                } else {
                    difference_up(counterpart, value)
                }
            }
            (Some(value), Some(counterpart)) => {
                let holds =
                    Comparable::of(counterpart).is_some_and(|counterpart| self.holds(value, &counterpart));
                if holds { 0.0 } else { f64::INFINITY }
            }
            _ => f64::NAN,
        }
    }

    /// Whether a value passes without a tolerance.
    fn holds(&self, value: &Value, counterpart: &Comparable<'_>) -> bool {
        let order = Comparable::of(value).and_then(|value| value.compare(counterpart));
        order.is_some_and(|order| self.op.holds(order))
    }

    /// The number, negated for `lte`, so that more is always better.
    fn upward(&self, number: Number) -> Number {
        match self.op {
            Op::Gte => number,
            Op::Lte => Number::new(-number.value(), number.is_integer_literal()),
        }
    }

    fn offence(&self, place: &Place, value: &Value, counterpart: &Shown<'_>) -> Offence {
        let Some(comparable) = Comparable::of(counterpart.value) else {
            let kind = kind_sought_by(value);
            return Offence::not_comparable(&counterpart.place, counterpart.value, kind);
        };
        if Comparable::of(value).is_none_or(|value| value.kind() != comparable.kind()) {
            return Offence::not_comparable(place, value, comparable.kind());
        }
        Offence::unlike(place, value, format!("{} {}", self.op.symbol(), counterpart.text))
    }
}

/// A counterpart as texts show it.
struct Shown<'a> {
    value: &'a Value,
    text: String,
    place: Place,
}

impl<'a> Shown<'a> {
    fn at(path: &Path, value: &'a Value, place: Place) -> Self {
        let text = format!("{} ({})", path.field(), wording::value(value));
        Shown { value, text, place }
    }
}

/// Two paths whose first steps, up to a `[]`, are the same.
struct Pairing<'a> {
    field: &'a Path,
    other: &'a Path,
    paired: usize,
}

/// An element and its counterpart.
struct Pair<'a> {
    value: Stop<'a>,
    counterpart: Stop<'a>,
}

impl<'a> Pairing<'a> {
    /// Visits every element of `field` with its counterpart, in array order, until the visitor breaks.
    fn walk(&self, output: &'a Value, mut visit: impl FnMut(Pair<'a>, &[usize]) -> ControlFlow<()>) {
        let shared = &self.field.steps()[..self.paired];
        let _ = walk(output, shared, 0, &mut Vec::new(), &mut |stop, indexes| {
            let Some(element) = stop.value else {
                return visit(
                    Pair {
                        value: stop,
                        counterpart: stop,
                    },
                    indexes,
                );
            };
            let mut counterpart = stop;
            let _ = walk(
                element,
                self.other.steps(),
                self.paired,
                &mut Vec::new(),
                &mut |stop, _| {
                    counterpart = stop;
                    ControlFlow::Break(())
                },
            );
            walk(
                element,
                self.field.steps(),
                self.paired,
                indexes,
                &mut |value, indexes| visit(Pair { value, counterpart }, indexes),
            )
        });
    }
}
