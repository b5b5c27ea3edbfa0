//! A finite stream of choices that `proptest` makes and shrinks. Where it runs dry every choice is the first one,
//! so a shorter or smaller stream builds a simpler case.

use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;

/// The choices for one schema or one instance.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    words: Vec<u32>,
    at: usize,
}

/// A strategy for streams of this many choices.
pub(crate) fn choices(length: impl Into<SizeRange>) -> impl Strategy<Value = Choices> {
    vec(any::<u32>(), length).prop_map(|words| Choices { words, at: 0 })
}

impl Choices {
    fn next(&mut self) -> u32 {
        let word = self.words.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        word
    }

    /// A number below `n`; 0 is the simplest.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    /// True in so many of a hundred cases; false is the simpler.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.next() % 100 >= 100 - percent
    }

    /// One of these; the first is the simplest.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, options: &[&'a T]) -> &'a T {
        options[self.below(options.len())]
    }

    /// One of these, by value.
    pub(crate) fn one_of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())].clone()
    }
}
