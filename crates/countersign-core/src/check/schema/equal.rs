//! Equality of values, in time that grows with what is read: `enum`, `const` and `uniqueItems`.
//!
//! A value is hashed once and compared only where hashes agree; where somebody made hashes agree on purpose, a
//! total order keeps sorting at n log n. Every function adds what it reads to `read`, for the budget.

use crate::json::{Value, compare_names};
use crate::limits::VALUE_READ;
use std::cmp::Ordering;

/// Entries up to which looking at each is cheaper than hashing.
const FEW: usize = 8;

/// The values of an `enum`, or the one of a `const`.
#[derive(Debug)]
pub(super) struct Choices {
    pub values: Vec<Value>,
    /// Hash and index of each value, sorted; empty where there are few.
    hashed: Vec<(u64, u32)>,
}

impl Choices {
    pub(super) fn new(values: Vec<Value>) -> Choices {
        let mut hashed = Vec::new();
        if values.len() > FEW {
            hashed.extend(
                values
                    .iter()
                    .zip(0..)
                    .map(|(value, index)| (hash(value, &mut 0), index)),
            );
            hashed.sort_unstable();
        }
        Choices { values, hashed }
    }

    /// Whether one of the values equals `value`.
    #[inline]
    pub(super) fn contain(&self, value: &Value, read: &mut usize) -> bool {
        if self.hashed.is_empty() {
            return self.values.iter().any(|choice| equal(choice, value, read));
        }
        let sought = hash(value, read);
        let first = self.hashed.partition_point(|(hash, _)| *hash < sought);
        let mut alike = self.hashed[first..]
            .iter()
            .take_while(|(hash, _)| *hash == sought);
        alike.any(|(_, index)| equal(&self.values[*index as usize], value, read))
    }

    pub(super) fn size(&self) -> usize {
        let spare = (self.values.capacity() - self.values.len()) * size_of::<Value>();
        let values: usize = self.values.iter().map(size).sum();
        spare + values + self.hashed.capacity() * size_of::<(u64, u32)>() + size_of::<Choices>()
    }
}

/// Bytes that a value takes.
fn size(value: &Value) -> usize {
    let text = |text: &compact_str::CompactString| {
        if text.is_heap_allocated() {
            text.capacity()
        } else {
            0
        }
    };
    size_of::<Value>()
        + match value {
            Value::String(string) => text(string),
            Value::Array(elements) => elements.iter().map(size).sum(),
            Value::Object(object) => object
                .members()
                .iter()
                .map(|member| 32 + text(&member.name) + size(&member.value))
                .sum(),
            _ => 0,
        }
}

/// Whether two values are equal: numbers by value, objects without order, texts by code point.
pub(super) fn equal(a: &Value, b: &Value, read: &mut usize) -> bool {
    *read += VALUE_READ;
    match (a, b) {
        (Value::String(a), Value::String(b)) => {
            *read += if a.len() == b.len() { a.len() } else { 0 };
            a == b
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, read))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.members().iter().zip(b.members()).all(|(a, b)| {
                    *read += if a.name.len() == b.name.len() {
                        a.name.len()
                    } else {
                        0
                    };
                    a.name == b.name && equal(&a.value, &b.value, read)
                })
        }
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Null, Value::Null) => true,
        _ => false,
    }
}

/// A total order in which equal values, and no others, are equal.
fn order(a: &Value, b: &Value, read: &mut usize) -> Ordering {
    *read += VALUE_READ;
    match (a, b) {
        (Value::String(a), Value::String(b)) => {
            *read += a.len().min(b.len());
            a.cmp(b)
        }
        (Value::Array(a), Value::Array(b)) => {
            let unequal = a
                .iter()
                .zip(b)
                .map(|(a, b)| order(a, b, read))
                .find(|order| order.is_ne());
            unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pairs = a.members().iter().zip(b.members());
            let unequal = pairs.map(|(a, b)| {
                *read += a.name.len().min(b.name.len());
                compare_names(&a.name, &b.name).then_with(|| order(&a.value, &b.value, read))
            });
            let unequal = { unequal }.find(|order| order.is_ne());
            unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Number(a), Value::Number(b)) => {
            // Numbers are finite: the comparison cannot fail.
            a.value().partial_cmp(&b.value()).unwrap_or(Ordering::Equal)
        }
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
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

/// A hash that equal values share. It decides the cost of a comparison, never its outcome.
fn hash(value: &Value, read: &mut usize) -> u64 {
    *read += VALUE_READ;
    let seed = u64::from(rank(value)) + 1;
    match value {
        Value::Null => mix(seed, 0),
        Value::Bool(value) => mix(seed, u64::from(*value)),
        Value::Number(number) => mix(seed, number.value().to_bits()),
        Value::String(text) => hash_text(seed, text, read),
        Value::Array(elements) => elements
            .iter()
            .fold(seed, |so_far, element| mix(so_far, hash(element, read))),
        Value::Object(object) => object.members().iter().fold(seed, |so_far, member| {
            let name = hash_text(so_far, &member.name, read);
            mix(name, hash(&member.value, read))
        }),
    }
}

fn hash_text(seed: u64, text: &str, read: &mut usize) -> u64 {
    *read += text.len();
    let chunks = text.as_bytes().chunks(8);
    chunks.fold(mix(seed, text.len() as u64), |so_far, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(so_far, u64::from_le_bytes(word))
    })
}

/// Folds a word into a hash: the two halves of a 128-bit product, which every bit of both factors moves.
fn mix(so_far: u64, word: u64) -> u64 {
    let product = u128::from(so_far ^ 0x9E37_79B9_7F4A_7C15) * u128::from(word ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ ((product >> 64) as u64) ^ so_far.rotate_left(23)
}

/// The first element that equals an earlier one.
pub(super) fn first_duplicate(elements: &[Value], read: &mut usize) -> Option<usize> {
    if elements.len() <= FEW {
        return (1..elements.len()).find(|&index| {
            elements[..index]
                .iter()
                .any(|earlier| equal(earlier, &elements[index], read))
        });
    }
    let mut hashed: Vec<(u64, u32)> = elements
        .iter()
        .zip(0..)
        .map(|(e, index)| (hash(e, read), index))
        .collect();
    hashed.sort_unstable();
    let mut first: Option<u32> = None;
    for alike in hashed.chunk_by_mut(|a, b| a.0 == b.0) {
        if alike.len() > 1 {
            let element = |entry: &(u64, u32)| &elements[entry.1 as usize];
            alike.sort_by(|a, b| order(element(a), element(b), read));
            // The sort is stable: of equal elements the second is the first that repeats.
            let repeats = alike
                .windows(2)
                .filter(|pair| equal(element(&pair[0]), element(&pair[1]), read));
            let earliest = repeats.map(|pair| pair[1].1).min();
            first = match (first, earliest) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
    first.map(|index| index as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read as read_json;

    fn elements(text: &str) -> Vec<Value> {
        read_json(text.as_bytes()).unwrap().as_array().unwrap().to_vec()
    }

    #[test]
    fn the_first_repeated_element_is_found() {
        let rows = [
            ("[1,2,1.0]", Some(2)),
            ("[[false],[0]]", None),
            ("[1,true]", None),
            ("[0,-0]", Some(1)),
            (r#"[{"a":1,"b":2},{"b":2,"a":1}]"#, Some(1)),
            (r#"["\u00e9","e\u0301"]"#, None),
            ("[]", None),
            ("[1,2,3,4,5,6,7,8,9,10,5,9,1]", Some(10)),
            ("[1,2,3,4,5,6,7,8,9,10,[1],[1,2],[1.0]]", Some(12)),
            (r#"["a","b","c","d","e","f","g","h","i","j"]"#, None),
            (
                "[null,false,0,\"\",[],{},true,1,\"0\",[0],{\"\":0},null]",
                Some(11),
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(first_duplicate(&elements(text), &mut 0), expected, "{text}");
        }
    }

    #[test]
    fn order_hash_and_equality_agree() {
        let values = elements(
            r#"[null,true,false,0,1,1.0,1.5,"","a","ab",[],[0],[0,1],[1],{},{"a":1},{"a":1.0},{"b":1},{"a":1,"b":2}]"#,
        );
        for a in &values {
            for b in &values {
                assert_eq!(equal(a, b, &mut 0), a == b, "{a:?} {b:?}");
                assert_eq!(order(a, b, &mut 0).is_eq(), a == b, "{a:?} {b:?}");
                assert_eq!(order(a, b, &mut 0), order(b, a, &mut 0).reverse());
                assert_eq!(hash(a, &mut 0) == hash(b, &mut 0), a == b, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn few_and_many_choices_answer_alike() {
        for count in [1, 8, 9, 500] {
            let choices = Choices::new(
                (0..count)
                    .map(|n| elements(&format!("[[{n}]]"))[0].clone())
                    .collect(),
            );
            let contain = |text| choices.contain(&elements(text)[0], &mut 0);
            assert!(contain("[[0.0]]"));
            assert!(!contain("[[0.5]]") && !contain("[0]"));
        }
    }

    #[test]
    fn what_is_read_is_told() {
        let long = "x".repeat(10_000);
        let [a, b] =
            [format!("[\"{long}\"]"), format!("[\"{long}\"]")].map(|text| elements(&text)[0].clone());
        let mut read = 0;
        assert!(equal(&a, &b, &mut read));
        assert!(read >= 10_000);
        let mut read = 0;
        assert!(!equal(&a, &elements("[\"y\"]")[0], &mut read));
        assert!(read < 100, "texts of unequal length need no reading");
    }
}
