//! Which members or elements of one value have been evaluated: what `unevaluatedProperties` and
//! `unevaluatedItems` look at.

/// A set of indexes into the members or elements of one value.
#[derive(Debug, Default)]
pub(super) struct Marks {
    all: bool,
    /// Every index below this one is in.
    below: usize,
    /// The indexes 0 to 63.
    first: u64,
    /// The indexes from 64 on; grows to the highest one marked.
    more: Vec<u64>,
}

impl Marks {
    /// Marks one index.
    pub(super) fn mark(&mut self, index: usize) {
        if index < 64 {
            self.first |= 1 << index;
            return;
        }
        let word = index / 64 - 1;
        if self.more.len() <= word {
            self.more.resize(word + 1, 0);
        }
        self.more[word] |= 1 << (index % 64);
    }

    /// Marks every index below this one.
    pub(super) fn mark_below(&mut self, index: usize) {
        self.below = self.below.max(index);
    }

    /// Marks every index there is.
    pub(super) fn mark_all(&mut self) {
        self.all = true;
    }

    /// Whether an index is marked.
    pub(super) fn has(&self, index: usize) -> bool {
        if self.all || index < self.below {
            return true;
        }
        let word = match index / 64 {
            0 => self.first,
            word => self.more.get(word - 1).copied().unwrap_or(0),
        };
        word & (1 << (index % 64)) != 0
    }

    /// Adds what another set has.
    pub(super) fn merge(&mut self, other: &Marks) {
        self.all |= other.all;
        if self.all {
            return;
        }
        self.below = self.below.max(other.below);
        self.first |= other.first;
        if self.more.len() < other.more.len() {
            self.more.resize(other.more.len(), 0);
        }
        self.more
            .iter_mut()
            .zip(&other.more)
            .for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// How much a merge reads, in indexes.
    pub(super) fn read(&self) -> usize {
        if self.all { 0 } else { self.more.len() * 64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_kept_and_merged() {
        let mut marks = Marks::default();
        let mut other = Marks::default();
        for index in [0, 63, 64, 200] {
            marks.mark(index);
        }
        for index in [1, 65, 1000] {
            other.mark(index);
        }
        other.mark_below(4);
        marks.merge(&other);
        let marked: Vec<usize> = (0..2000).filter(|index| marks.has(*index)).collect();
        assert_eq!(marked, [0, 1, 2, 3, 63, 64, 65, 200, 1000]);
        marks.mark_all();
        assert!(marks.has(100_000));
        assert!(!other.has(100_000));
    }
}
