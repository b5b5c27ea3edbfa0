//! Which values of a list are equal, and which are in another list (verification.md, section 10).
//!
//! Values are sorted by a fingerprint and, where fingerprints meet, by the values themselves. So no choice of
//! values takes longer than sorting them does.

use crate::json::{Value, compare_names};
use std::borrow::Borrow;
use std::cmp::Ordering;

/// The values of one list, equal ones side by side.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// Of each value: its fingerprint (upper half), whether it is the first of its class, its index in the list.
    /// Sorted by fingerprint, then by value, then by index.
    entries: Vec<u64>,
}

/// Marks the first entry of each class.
const FIRST: u64 = 1 << 31;

/// The values that repeat an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// How many there are.
    pub(crate) count: usize,
    /// The index of the first of them.
    pub(crate) first: usize,
    /// The index of the value that it repeats.
    pub(crate) original: usize,
}

/// The values of one list that are not in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outside {
    /// How many there are.
    pub(crate) count: usize,
    /// The index of the first of them.
    pub(crate) first: Option<usize>,
}

impl Classes {
    pub(crate) fn of<T: Borrow<Value>>(values: &[T]) -> Self {
        let entry = |(index, value): (usize, &T)| u64::from(fingerprint(value.borrow())) << 32 | index as u64;
        let mut entries: Vec<u64> = values.iter().enumerate().map(entry).collect();
        entries.sort_unstable();
        for run in entries.chunk_by_mut(|a, b| fingerprint_of(*a) == fingerprint_of(*b)) {
            part(run, values);
        }
        Classes { entries }
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn classes(&self) -> impl Iterator<Item = &[u64]> {
        self.entries.chunk_by(|_, next| next & FIRST == 0)
    }

    /// The values that repeat an earlier one, if any do.
    pub(crate) fn repeats(&self) -> Option<Repeats> {
        let mut repeats: Option<Repeats> = None;
        for class in self.classes() {
            let [original, first, ..] = *class else {
                continue;
            };
            let found = Repeats {
                count: class.len() - 1 + repeats.map_or(0, |repeats| repeats.count),
                first: index_of(first),
                original: index_of(original),
            };
            repeats = Some(match repeats {
                Some(earlier) if earlier.first < found.first => Repeats {
                    count: found.count,
                    ..earlier
                },
                _ => found,
            });
        }
        repeats
    }

    /// Those of `values`, which these are the classes of, that equal none of `others`.
    pub(crate) fn outside<T: Borrow<Value>, U: Borrow<Value>>(
        &self,
        values: &[T],
        (others, their_values): (&Classes, &[U]),
    ) -> Outside {
        let mut outside = Outside {
            count: 0,
            first: None,
        };
        let mut candidates = others.classes().map(|class| class[0]).peekable();
        for class in self.classes() {
            // Both lists have the same order: what stands before this class stands before the next as well.
            let mut order_of_next = Ordering::Greater;
            while let Some(candidate) = candidates.peek() {
                let by_fingerprint = fingerprint_of(*candidate).cmp(&fingerprint_of(class[0]));
                order_of_next = by_fingerprint.then_with(|| {
                    let value = values[index_of(class[0])].borrow();
                    order(their_values[index_of(*candidate)].borrow(), value)
                });
                if order_of_next == Ordering::Greater {
                    break;
                }
                candidates.next();
                if order_of_next == Ordering::Equal {
                    break;
                }
            }
            if order_of_next != Ordering::Equal {
                let first = index_of(class[0]);
                outside.count += class.len();
                outside.first = Some(outside.first.map_or(first, |earlier| earlier.min(first)));
            }
        }
        outside
    }
}

fn fingerprint_of(entry: u64) -> u64 {
    entry >> 32
}

fn index_of(entry: u64) -> usize {
    (entry & (FIRST - 1)) as usize
}

/// Parts entries of one fingerprint, sorted by index, into classes.
fn part<T: Borrow<Value>>(run: &mut [u64], values: &[T]) {
    let value = |entry: u64| values[index_of(entry)].borrow();
    // Nearly always the values are equal, and stand in order.
    if run.windows(2).any(|pair| value(pair[0]) != value(pair[1])) {
        run.sort_unstable_by(|a, b| order(value(*a), value(*b)).then(a.cmp(b)));
        for index in (1..run.len()).rev() {
            if value(run[index]) != value(run[index - 1]) {
                run[index] |= FIRST;
            }
        }
    }
    run[0] |= FIRST;
}

/// A total order of values whose equality is JSON equality.
fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.value().total_cmp(&b.value()),
        (Value::String(a), Value::String(b)) => a.as_str().cmp(b.as_str()),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| order(a, b));
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pairs = a.members().iter().zip(b.members());
            let pairs =
                pairs.map(|(a, b)| compare_names(&a.name, &b.name).then_with(|| order(&a.value, &b.value)));
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>) -> Ordering {
    pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// 32 bits that are the same for equal values and seldom for others.
fn fingerprint(value: &Value) -> u32 {
    let mut state = 0;
    mix(value, &mut state);
    (state >> 32) as u32
}

/// The same for a name.
pub(crate) fn fingerprint_of_name(name: &str) -> u32 {
    let mut state = 0;
    mix_text(name, &mut state);
    (state >> 32) as u32
}

fn mix(value: &Value, state: &mut u64) {
    match value {
        Value::Null => mix_word(1, state),
        Value::Bool(value) => mix_word(2 + u64::from(*value), state),
        Value::Number(number) => mix_word(number.value().to_bits(), state),
        Value::String(text) => mix_text(text, state),
        Value::Array(elements) => {
            mix_word(4 + ((elements.len() as u64) << 3), state);
            for element in elements {
                mix(element, state);
            }
        }
        Value::Object(object) => {
            mix_word(5 + ((object.len() as u64) << 3), state);
            for member in object.members() {
                mix_text(&member.name, state);
                mix(&member.value, state);
            }
        }
    }
}

fn mix_text(text: &str, state: &mut u64) {
    mix_word(6 + ((text.len() as u64) << 3), state);
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    for word in words {
        mix_word(u64::from_le_bytes(*word), state);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix_word(u64::from_le_bytes(last), state);
}

fn mix_word(word: u64, state: &mut u64) {
    let mixed = (*state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    *state = mixed ^ (mixed >> 32);
    *state = state.wrapping_mul(0xD6E8_FEB8_6659_FD93);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn values(text: &str) -> Vec<Value> {
        read(text.as_bytes()).unwrap().as_array().unwrap().to_vec()
    }

    #[test]
    fn repeats_are_told_in_the_order_of_the_list() {
        let rows = [
            ("[]", None),
            ("[1]", None),
            ("[1,true,\"1\",[1],{\"1\":1},null,false,0,\"\",[],{}]", None),
            ("[1,1.0]", Some((1, 1, 0))),
            ("[2,1,1e0,2,10e-1]", Some((3, 2, 1))),
            (r#"["a","b","b","a"]"#, Some((2, 2, 1))),
            (r#"[{"a":1,"b":[2]},{"b":[2.0],"a":1.0}]"#, Some((1, 1, 0))),
            (r#"["\u00e9","e\u0301"]"#, None),
            ("[[1,2],[2,1],[1],[1,2,3],[]]", None),
            ("[0,-0,0.0]", Some((2, 1, 0))),
        ];
        for (text, expected) in rows {
            let found = Classes::of(&values(text)).repeats();
            let found = found.map(|repeats| (repeats.count, repeats.first, repeats.original));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_outside_a_list_is_counted_with_repeats() {
        let rows = [
            ("[1,2,3]", "[3,2,1]", (0, None)),
            ("[1,2,3]", "[]", (3, Some(0))),
            ("[]", "[1]", (0, None)),
            ("[1,4,4,5]", "[1,1,2]", (3, Some(1))),
            (r#"["1",true,null]"#, "[1,0]", (3, Some(0))),
            (r#"[[1,{"a":null}],1]"#, r#"[[1.0,{"a":null}],1]"#, (0, None)),
        ];
        for (ours, theirs, expected) in rows {
            let (ours, theirs) = (values(ours), values(theirs));
            let found = Classes::of(&ours).outside(&ours, (&Classes::of(&theirs), &theirs));
            assert_eq!((found.count, found.first), expected, "{ours:?}");
        }
    }

    #[test]
    fn values_of_one_fingerprint_are_told_apart() {
        let list = values(r#"[3,"x",1,[2],3,{"a":1},"x",2,{"a":1},1,true,[2],null,{"a":2},{"b":1}]"#);
        let mut run: Vec<u64> = (0..list.len() as u64).collect();
        part(&mut run, &list);
        let classes = Classes { entries: run };
        let expected = Repeats {
            count: 5,
            first: 4,
            original: 0,
        };
        assert_eq!(classes.repeats(), Some(expected));
        assert_eq!(classes.classes().count(), 10);
        assert_eq!(classes.outside(&list, (&classes, &list)).count, 0);
        let mut others: Vec<u64> = (0..3).collect();
        part(&mut others, &list[..3]);
        let others = Classes { entries: others };
        let expected = Outside {
            count: 9,
            first: Some(3),
        };
        assert_eq!(classes.outside(&list, (&others, &list[..3])), expected);
    }

    #[test]
    fn a_list_agrees_with_comparing_every_pair() {
        let mut state = 7;
        let mut list: Vec<Value> = Vec::new();
        for index in 0..400u32 {
            mix_word(u64::from(index), &mut state);
            let text = ["{}", "\"{}\"", "[{}]", "{\"a\":{}}"][(state >> 40) as usize % 4];
            let digits = ((state >> 50) % 90).to_string();
            list.push(read(text.replace("{}", &digits).as_bytes()).unwrap());
        }
        let repeated: Vec<usize> = (0..list.len())
            .filter(|index| list[..*index].contains(&list[*index]))
            .collect();
        let repeats = Classes::of(&list).repeats().unwrap();
        assert_eq!((repeats.count, repeats.first), (repeated.len(), repeated[0]));
        let (ours, theirs) = list.split_at(200);
        let outside: Vec<usize> = (0..200).filter(|index| !theirs.contains(&ours[*index])).collect();
        let found = Classes::of(ours).outside(ours, (&Classes::of(theirs), theirs));
        assert_eq!(
            (found.count, found.first),
            (outside.len(), outside.first().copied())
        );
    }
}
