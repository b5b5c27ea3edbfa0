//! A set of characters: ranges in order, none touching the next.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// A set of Unicode scalar values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::check::schema) struct Set(Box<[(char, char)]>);

impl Set {
    /// The union of some ranges, each with both its ends.
    pub(in crate::check::schema) fn from_ranges(ranges: impl IntoIterator<Item = (char, char)>) -> Set {
        let ranges = ranges
            .into_iter()
            .map(|(low, high)| ClassUnicodeRange::new(low, high));
        Set::from_class(&ClassUnicode::new(ranges))
    }

    pub(super) fn from_class(class: &ClassUnicode) -> Set {
        Set(class
            .ranges()
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect())
    }

    /// All characters that are not in this set.
    pub(super) fn negated(&self) -> Set {
        let mut class = ClassUnicode::new(
            self.0
                .iter()
                .map(|(low, high)| ClassUnicodeRange::new(*low, *high)),
        );
        class.negate();
        Set::from_class(&class)
    }

    /// The ranges in order.
    pub(super) fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    /// Whether a character is in the set.
    pub(in crate::check::schema) fn contains(&self, c: char) -> bool {
        let after = self.0.partition_point(|(low, _)| *low <= c);
        after > 0 && c <= self.0[after - 1].1
    }

    /// Bytes that the set takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<(char, char)>() * self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_and_its_complement_share_no_character() {
        let set = Set::from_ranges([('b', 'd'), ('c', 'f'), ('\u{e000}', '\u{ffff}'), ('x', 'x')]);
        assert_eq!(set.ranges(), [('b', 'f'), ('x', 'x'), ('\u{e000}', '\u{ffff}')]);
        let others = set.negated();
        for c in [
            '\0',
            'a',
            'b',
            'f',
            'g',
            'x',
            'y',
            '\u{d7ff}',
            '\u{e000}',
            '\u{10000}',
            '\u{10ffff}',
        ] {
            assert_ne!(set.contains(c), others.contains(c), "{c:?}");
        }
        assert_eq!(Set::default().negated().ranges(), [('\0', '\u{10ffff}')]);
        assert_eq!(others.negated(), set);
    }
}
