//! `gte` and `lte`: every value of one path reaches its counterpart (verification.md, section 10).

use crate::check::comparable::{Comparable, Op, kind_sought_by};
use crate::check::finding::Finding;
use crate::check::name::CheckName;
use crate::check::offence::Offence;
use crate::check::path::{Indexes, Path, Step, Stop, walk};
use crate::check::selection::{Offender, Pairs, PairsKey, Selections, Sought};
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
        let offenders = match counterpart.and_then(Comparable::of) {
            Some(Comparable::Number(counterpart)) => {
                let edge = difference_up(self.upward(counterpart), self.tolerance);
                selection.offenders(if_present, |value| match value {
                    Value::Number(value) => self.upward(*value).value() < edge,
                    _ => true,
                })
            }
            Some(date) => selection.offenders(if_present, |value| !self.holds(value, &date)),
            None => selection.offenders(if_present, |_| true),
        }?;
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
        let pairs = selections.pairs(key, || {
            let mut pairs = Pairs::default();
            pairing.walk(output, |pair, _| {
                match pair.values() {
                    Some((value, counterpart)) => pairs.shortfalls.push(self.shortfall(value, counterpart)),
                    None => pairs.missing.add(pairs.shortfalls.len()),
                }
                ControlFlow::Continue(())
            });
            pairs
        });
        let tolerance = self.tolerance.value();
        let count = pairs
            .shortfalls
            .iter()
            .filter(|shortfall| **shortfall > tolerance)
            .count();
        let first = pairs
            .shortfalls
            .iter()
            .position(|shortfall| *shortfall > tolerance);
        let offenders = pairs.missing.with(if_present, count, first)?;
        let mut sought = Sought::new(offenders.first, pairs.missing);
        let mut offence = None;
        pairing.walk(output, |pair, indexes| {
            if !sought.is_here(pair.values().is_some()) {
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
        Some((offence?, offenders.count))
    }

    /// The least tolerance with which a pair passes: 0 if it needs none, infinite if none helps.
    fn shortfall(&self, value: &Value, counterpart: &Value) -> f64 {
        if let (Value::Number(value), Value::Number(counterpart)) = (value, counterpart) {
            let (value, counterpart) = (self.upward(*value), self.upward(*counterpart));
            return if value.value() >= counterpart.value() {
                0.0
            } else {
                difference_up(counterpart, value)
            };
        }
        let holds = Comparable::of(counterpart).is_some_and(|counterpart| self.holds(value, &counterpart));
        if holds { 0.0 } else { f64::INFINITY }
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
    fn walk(&self, output: &'a Value, mut visit: impl FnMut(Pair<'a>, Indexes<'_>) -> ControlFlow<()>) {
        let shared = &self.field.steps()[..self.paired];
        let (mut hint, mut hint_of_other) = (0, 0);
        let _ = walk(
            output,
            (shared, 0),
            &mut 0,
            Indexes::default(),
            &mut |stop, indexes| {
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
                let other = (self.other.steps(), self.paired);
                let _ = walk(element, other, &mut hint_of_other, indexes, &mut |stop, _| {
                    counterpart = stop;
                    ControlFlow::Break(())
                });
                let field = (self.field.steps(), self.paired);
                walk(element, field, &mut hint, indexes, &mut |value, indexes| {
                    visit(Pair { value, counterpart }, indexes)
                })
            },
        );
    }
}

impl<'a> Pair<'a> {
    /// Both values, if none is missing.
    fn values(&self) -> Option<(&'a Value, &'a Value)> {
        self.value.value.zip(self.counterpart.value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, told};

    /// What `gte` (`>=`) or `lte` (`<=`) says, from a row such as `a[] >= "value":1`.
    fn compare(rule: &str, output: &str) -> String {
        let (field, rest) = rule.split_once(' ').unwrap();
        let (op, members) = rest.split_once(' ').unwrap();
        let op = if op == ">=" { "gte" } else { "lte" };
        told(
            &format!(r#"{{"type":"{op}","field":"{field}",{members}}}"#),
            &format!("{{{output}}}"),
        )
    }

    fn check(rows: &[(&str, &str, &str)]) {
        for (rule, output, expected) in rows {
            assert_eq!(compare(rule, output), *expected, "{rule} {output}");
        }
    }

    #[test]
    fn every_value_is_compared_with_one() {
        check(&[
            (r#"a >= "value":5"#, r#""a":5"#, ""),
            (r#"a >= "value":5"#, r#""a":4"#, "value at a is 4, expected >= 5"),
            (
                r#"a <= "value":5.0"#,
                r#""a":6.50"#,
                "value at a is 6.5, expected <= 5.0",
            ),
            (
                r#"a[] >= "value":2"#,
                r#""a":[1,2,0,3]"#,
                "value at a[0] is 1, expected >= 2 (and 1 more)",
            ),
            (r#"a[] >= "value":2"#, r#""a":[]"#, ""),
            (
                r#"a[] <= "other_field":"b""#,
                r#""a":[1,2,3],"b":2"#,
                "value at a[2] is 3, expected <= b (2)",
            ),
            (
                r#"a[] <= "other_field":"$.b.c""#,
                r#""a":[3],"b":{"c":2.0}"#,
                "value at a[0] is 3, expected <= b.c (2.0)",
            ),
            (r#"a[] <= "other_field":"b[1]""#, r#""a":[2],"b":[0,2]"#, ""),
            (
                r#"a[] <= "other_field":"a[0]""#,
                r#""a":[2,1,3]"#,
                "value at a[2] is 3, expected <= a[0] (2)",
            ),
            (
                r#"a <= "other_field":"b""#,
                r#""a":"2026-10-01","b":"2026-09-30""#,
                r#"value at a is "2026-10-01", expected <= b ("2026-09-30")"#,
            ),
            (
                r#"a >= "value":"2026-10-01""#,
                r#""a":"2026-10-01T00:00+00:00""#,
                "",
            ),
            (
                r#"a >= "value":"2026-10-01T00:00:00Z""#,
                r#""a":"2026-10-01T00:59:59.999+01:00""#,
                r#"value at a is "2026-10-01T00:59:59.999+01:00", expected >= "2026-10-01T00:00:00Z""#,
            ),
        ]);
    }

    #[test]
    fn numbers_are_widened_by_the_tolerance_exactly() {
        check(&[
            (r#"a >= "value":1"#, r#""a":0.999999999"#, ""),
            (
                r#"a >= "value":1"#,
                r#""a":0.9999999989"#,
                "value at a is 0.9999999989, expected >= 1",
            ),
            (
                r#"a >= "value":1,"tolerance":0"#,
                r#""a":0.9999999999999999"#,
                "value at a is 0.9999999999999999, expected >= 1",
            ),
            (r#"a >= "value":0.3,"tolerance":0.1"#, r#""a":0.2"#, ""),
            (
                r#"a >= "value":0.3,"tolerance":0.1"#,
                r#""a":0.19999999999999998"#,
                "value at a is 0.19999999999999998, expected >= 0.3",
            ),
            (r#"a <= "value":0.1,"tolerance":0.2"#, r#""a":0.3"#, ""),
            (
                r#"a <= "value":0.1,"tolerance":0.2"#,
                r#""a":0.30000000000000004"#,
                "value at a is 0.30000000000000004, expected <= 0.1",
            ),
            (r#"a <= "value":-1,"tolerance":0.5"#, r#""a":-0.5"#, ""),
            (
                r#"a >= "value":1e21,"tolerance":1"#,
                r#""a":999999999999999900000"#,
                "value at a is 999999999999999900000, expected >= 1e+21",
            ),
            (
                r#"a >= "value":1e308,"tolerance":1e308"#,
                r#""a":-5e-324"#,
                "value at a is -5e-324, expected >= 1e+308",
            ),
            (r#"a >= "value":-1e308,"tolerance":1e308"#, r#""a":-1.7e308"#, ""),
            (
                r#"a >= "value":"2026-10-01","tolerance":1e9"#,
                r#""a":"2026-09-30""#,
                r#"value at a is "2026-09-30", expected >= "2026-10-01""#,
            ),
            (
                r#"p[].a >= "other_field":"p[].b","tolerance":0.1"#,
                r#""p":[{"a":0.2,"b":0.3},{"a":5,"b":1}]"#,
                "",
            ),
            (
                r#"p[].a >= "other_field":"p[].b","tolerance":0.1"#,
                r#""p":[{"a":0.2,"b":0.30000000000000004}]"#,
                "value at p[0].a is 0.2, expected >= p[].b (0.30000000000000004)",
            ),
            (
                r#"p[].a <= "other_field":"p[].b","tolerance":0.1"#,
                r#""p":[{"a":0.3,"b":0.2},{"a":0.31,"b":0.2}]"#,
                "value at p[1].a is 0.31, expected <= p[].b (0.2)",
            ),
            (
                r#"p[].a <= "other_field":"p[].b","tolerance":1.7e308"#,
                r#""p":[{"a":1e308,"b":-1e308}]"#,
                "value at p[0].a is 1e+308, expected <= p[].b (-1e+308)",
            ),
        ]);
    }

    #[test]
    fn elements_pair_along_the_longest_common_prefix_that_ends_in_every() {
        check(&[
            (
                r#"items[].end >= "other_field":"items[].start""#,
                r#""items":[{"start":1,"end":2},{"start":3,"end":2},{"start":5,"end":4}]"#,
                "value at items[1].end is 2, expected >= items[].start (3) (and 1 more)",
            ),
            (
                r#"items[].price <= "other_field":"budget""#,
                r#""items":[{"price":1},{"price":3}],"budget":2"#,
                "value at items[1].price is 3, expected <= budget (2)",
            ),
            (
                r#"orders[].items[].qty <= "other_field":"orders[].max_qty""#,
                r#""orders":[{"max_qty":2,"items":[{"qty":1},{"qty":2}]},{"max_qty":1,"items":[{"qty":1},{"qty":2}]},{"items":[]}]"#,
                "value at orders[1].items[1].qty is 2, expected <= orders[].max_qty (1)",
            ),
            (
                r#"$.a[][].x <= "other_field":"a[][].y.z""#,
                r#""a":[[{"x":1,"y":{"z":1}}],[{"x":2,"y":{"z":1}}]]"#,
                "value at a[1][0].x is 2, expected <= a[][].y.z (1)",
            ),
            (
                r#"a[][] <= "other_field":"a[][0]""#,
                r#""a":[[2,1,3],[5]]"#,
                "value at a[0][2] is 3, expected <= a[][0] (2)",
            ),
            (r#"[].x <= "other_field":"$[].y""#, "", "no value at $"),
            (r#"a[] <= "other_field":"a[]""#, r#""a":[1,2]"#, ""),
            (
                r#"a[].x[].v <= "other_field":"a[].x[1].v""#,
                r#""a":[{"x":[{"v":3},{"v":2}]}]"#,
                "value at a[0].x[0].v is 3, expected <= a[].x[1].v (2)",
            ),
            (
                r#"a[0].x[].v <= "other_field":"a[0].x[].w""#,
                r#""a":[{"x":[{"v":3,"w":3},{"v":3,"w":2}]}]"#,
                "value at a[0].x[1].v is 3, expected <= a[0].x[].w (2)",
            ),
            (
                r#"a[].e >= "other_field":"a[].s""#,
                r#""a":[{"s":"2026-01-01","e":"2026-01-02"},{"s":"2026-01-02","e":"2026-01-01"}]"#,
                r#"value at a[1].e is "2026-01-01", expected >= a[].s ("2026-01-02")"#,
            ),
        ]);
        let root = r#"{"type":"gte","field":"$[].x","other_field":"[].y"}"#;
        assert_eq!(
            told(root, r#"[{"x":1,"y":1},{"x":1,"y":2}]"#),
            "value at [1].x is 1, expected >= [].y (2)"
        );
    }

    #[test]
    fn what_does_not_compare_is_a_finding() {
        check(&[
            (
                r#"a >= "value":1"#,
                r#""a":"2""#,
                "value at a is string, expected a number",
            ),
            (
                r#"a >= "value":1"#,
                r#""a":true"#,
                "value at a is boolean, expected a number",
            ),
            (
                r#"a >= "value":1"#,
                r#""a":"2026-10-01""#,
                "value at a is string, expected a number",
            ),
            (
                r#"a >= "value":"2026-10-01""#,
                r#""a":20261001"#,
                "value at a is integer, expected a date",
            ),
            (
                r#"a >= "value":"2026-10-01""#,
                r#""a":1.5"#,
                "value at a is number, expected a date",
            ),
            (
                r#"a >= "value":"2026-10-01""#,
                r#""a":"tomorrow""#,
                "value at a is string, expected a date",
            ),
            (
                r#"a >= "value":"2026-10-01""#,
                r#""a":"0000-01-01""#,
                "value at a is string, expected a date",
            ),
            (
                r#"a[] >= "other_field":"b""#,
                r#""a":[1,2],"b":true"#,
                "value at b is boolean, expected a number (and 1 more)",
            ),
            (
                r#"a[] >= "other_field":"b""#,
                r#""a":["x"],"b":{}"#,
                "value at b is object, expected a date",
            ),
            (
                r#"a >= "other_field":"b""#,
                r#""a":[],"b":[]"#,
                "value at b is array, expected a number",
            ),
            (
                r#"a >= "other_field":"b""#,
                r#""a":1,"b":"soon""#,
                "value at b is string, expected a number",
            ),
            (
                r#"a >= "other_field":"b""#,
                r#""a":1,"b":"2026-10-01""#,
                "value at a is integer, expected a date",
            ),
            (
                r#"p[].a >= "other_field":"p[].b""#,
                r#""p":[{"a":1,"b":1},{"a":1,"b":"x"},{"a":"x","b":1}]"#,
                "value at p[1].b is string, expected a number (and 1 more)",
            ),
            (
                r#"p[].a >= "other_field":"p[].b""#,
                r#""p":[{"a":"2026-10-01","b":7}]"#,
                "value at p[0].a is string, expected a number",
            ),
            (
                r#"p[].a >= "other_field":"p[]""#,
                r#""p":[{"a":1}]"#,
                "value at p[0] is object, expected a number",
            ),
        ]);
    }

    #[test]
    fn missing_values_and_counterparts_offend_unless_they_may_be_absent() {
        check(&[
            (
                r#"a[] >= "value":1"#,
                r#""a":[0,null,1]"#,
                "value at a[0] is 0, expected >= 1 (and 1 more)",
            ),
            (
                r#"a[] >= "value":1"#,
                r#""a":[2,null,0]"#,
                "no value at a[1] (and 1 more)",
            ),
            (
                r#"a[] >= "value":1,"if_present":true"#,
                r#""a":[null,0]"#,
                "value at a[1] is 0, expected >= 1",
            ),
            (r#"a >= "value":1,"if_present":true"#, "", ""),
            (r#"a >= "value":1"#, "", "no value at a"),
            (
                r#"a[] >= "other_field":"b""#,
                r#""a":[1,2,3]"#,
                "no value at b (and 2 more)",
            ),
            (
                r#"a[] >= "other_field":"b""#,
                r#""a":[null,2]"#,
                "no value at a[0] (and 1 more)",
            ),
            (
                r#"a[] >= "other_field":"b""#,
                r#""a":[2,null]"#,
                "no value at b (and 1 more)",
            ),
            (r#"a[] >= "other_field":"b""#, r#""a":[]"#, ""),
            (r#"a[] >= "other_field":"b""#, "", "no value at a"),
            (
                r#"a[] >= "other_field":"b","if_present":true"#,
                r#""a":[1,2]"#,
                "",
            ),
            (
                r#"p[].a >= "other_field":"p[].b""#,
                r#""p":[{"a":1},{"b":1},{},null,{"a":1,"b":1}]"#,
                "no value at p[0].b (and 3 more)",
            ),
            (
                r#"p[].a >= "other_field":"p[].b""#,
                r#""p":[{"a":1,"b":1},{"b":1}]"#,
                "no value at p[1].a",
            ),
            (
                r#"p[].a >= "other_field":"p[].b.c""#,
                r#""p":[{"a":1,"b":5}]"#,
                "no value at p[0].b",
            ),
            (
                r#"p[].a >= "other_field":"p[].b","if_present":true"#,
                r#""p":[{"a":1},{"b":1},{},null,{"a":0,"b":1}]"#,
                "value at p[4].a is 0, expected >= p[].b (1)",
            ),
            (r#"p[].a >= "other_field":"p[].b""#, r#""p":{}"#, "no value at p"),
            (
                r#"o[].i[].q <= "other_field":"o[].m""#,
                r#""o":[{"i":[{"q":1},{"q":2}]}]"#,
                "no value at o[0].m (and 1 more)",
            ),
            (
                r#"o[].i[].q <= "other_field":"o[].m""#,
                r#""o":[{"m":1}]"#,
                "no value at o[0].i",
            ),
        ]);
    }

    #[test]
    fn findings_say_what_would_pass() {
        let rows = [
            (
                r#""value":"2026-10-01""#,
                r#""a":["2026-09-30"]"#,
                r#">= "2026-10-01""#,
                r#""2026-09-30" at a[0]"#,
            ),
            (
                r#""other_field":"$.b""#,
                r#""a":[1],"b":2.0"#,
                ">= b (2.0)",
                "1 at a[0]",
            ),
            (r#""value":2"#, r#""a":["x"]"#, "a number", "string at a[0]"),
            (
                r#""value":"2026-10-01""#,
                r#""a":[{}]"#,
                "a date",
                "object at a[0]",
            ),
            (r#""other_field":"b""#, r#""a":[1]"#, "a value", "nothing at b"),
        ];
        for (members, output, expected, found) in rows {
            let rule = format!(r#"{{"type":"gte","field":"a[]",{members}}}"#);
            let finding = finding(&rule, &format!("{{{output}}}")).unwrap();
            assert_eq!(
                (finding.expected.as_str(), finding.found.as_str()),
                (expected, found)
            );
            assert_eq!(finding.check.as_str(), "consistency:gte");
        }
    }
}
