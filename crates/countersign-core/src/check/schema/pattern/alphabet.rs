//! The characters that a program does not tell apart, as one class each.

use super::BadPattern;
use super::escape::WORD;
use super::program::{Inst, Program};
use super::set::Set;
use super::tree::Assertion;
use std::borrow::Cow;
use std::ops::Range;

/// Steps to find the classes. They grow with sets times ranges; patterns in use need some thousands.
const STEPS_MAX: usize = 1 << 20;
/// No class yet.
const NONE: u32 = u32::MAX;

/// Which class each character is in.
#[derive(Debug)]
pub(super) struct Alphabet {
    ascii: [u32; 128],
    /// The first characters of runs in one class, in order, and that class.
    runs: Vec<(char, u32)>,
    /// A character of each class.
    examples: Vec<char>,
}

impl Alphabet {
    /// The classes that the characters, sets and assertions of a program make.
    pub(super) fn new(program: &Program) -> Result<Alphabet, BadPattern> {
        let mut singles: Vec<char> = Vec::new();
        let mut words = false;
        for inst in &program.insts {
            match inst {
                Inst::Char(c) => singles.push(*c),
                Inst::Assert(Assertion::Word | Assertion::NotWord) => words = true,
                _ => {}
            }
        }
        singles.sort_unstable();
        singles.dedup();
        let mut sets: Vec<Cow<[(char, char)]>> = Vec::new();
        sets.extend(program.sets.iter().map(|set: &Set| Cow::Borrowed(set.ranges())));
        sets.extend(words.then_some(Cow::Borrowed(WORD)));

        let mut starts = vec!['\0'];
        starts.extend(singles.iter().flat_map(|c| [Some(*c), successor(*c)]).flatten());
        for (low, high) in sets.iter().flat_map(|ranges| ranges.iter()) {
            starts.push(*low);
            starts.extend(successor(*high));
        }
        starts.sort_unstable();
        starts.dedup();

        let mut classes = Classes {
            of: vec![0; starts.len()],
            starts,
            split_off: vec![0],
            steps: 0,
        };
        for ranges in &sets {
            classes.tell_apart(ranges)?;
        }
        for c in singles {
            classes.tell_apart(&[(c, c)])?;
        }
        Ok(classes.finish())
    }

    /// The class of a character.
    pub(super) fn class(&self, c: char) -> u32 {
        if c.is_ascii() {
            return self.ascii[c as usize];
        }
        let after = self.runs.partition_point(|(start, _)| *start <= c);
        self.runs[after - 1].1
    }

    /// A character of each class, by class.
    pub(super) fn examples(&self) -> &[char] {
        &self.examples
    }

    /// Bytes that the tables take.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Alphabet>()
            + size_of::<(char, u32)>() * self.runs.len()
            + size_of::<char>() * self.examples.len()
    }
}

/// The classes while they are found: those of the intervals that begin at `starts`.
struct Classes {
    starts: Vec<char>,
    of: Vec<u32>,
    /// Per class the one that was split off it last.
    split_off: Vec<u32>,
    steps: usize,
}

impl Classes {
    /// Parts each class into what is in some ranges and what is not.
    fn tell_apart(&mut self, ranges: &[(char, char)]) -> Result<(), BadPattern> {
        // The intervals in the ranges, or those that are not, whichever are fewer: they are told apart just the same.
        let bounds = |(low, high): &(char, char)| {
            let first = self.starts.partition_point(|start| start < low);
            first..self.starts.partition_point(|start| start <= high)
        };
        let mut moved: Vec<Range<usize>> = ranges.iter().map(bounds).collect();
        if 2 * moved.iter().map(ExactSizeIterator::len).sum::<usize>() > self.starts.len() {
            let ends = moved.iter().map(|range| range.start).chain([self.starts.len()]);
            let begins = [0].into_iter().chain(moved.iter().map(|range| range.end));
            moved = begins.zip(ends).map(|(begin, end)| begin..end).collect();
        }
        self.steps += moved.iter().map(|range| 1 + range.len()).sum::<usize>();
        if self.steps > STEPS_MAX {
            return Err(BadPattern::TooLarge);
        }
        let known = self.split_off.len() as u32;
        for interval in moved.into_iter().flatten() {
            let old = self.of[interval] as usize;
            // The part split off in this call, if there is one already, has a number from `known` on.
            if self.split_off[old] < known {
                self.split_off[old] = self.split_off.len() as u32;
                self.split_off.push(0);
            }
            self.of[interval] = self.split_off[old];
        }
        Ok(())
    }

    /// Numbers the classes from 0 in order of their first characters, so that those of ASCII come first.
    fn finish(self) -> Alphabet {
        let mut numbers = vec![NONE; self.split_off.len()];
        let mut alphabet = Alphabet {
            ascii: [0; 128],
            runs: Vec::new(),
            examples: Vec::new(),
        };
        for (start, class) in self.starts.iter().zip(&self.of) {
            let number = &mut numbers[*class as usize];
            if *number == NONE {
                *number = alphabet.examples.len() as u32;
                alphabet.examples.push(*start);
            }
            if alphabet.runs.last().is_none_or(|(_, last)| last != number) {
                alphabet.runs.push((*start, *number));
            }
        }
        for c in 0..128_u8 {
            let c = char::from(c);
            let after = alphabet.runs.partition_point(|(start, _)| *start <= c);
            alphabet.ascii[c as usize] = alphabet.runs[after - 1].1;
        }
        alphabet
    }
}

fn successor(c: char) -> Option<char> {
    match c {
        '\u{d7ff}' => Some('\u{e000}'),
        c => char::from_u32(u32::from(c) + 1),
    }
}
