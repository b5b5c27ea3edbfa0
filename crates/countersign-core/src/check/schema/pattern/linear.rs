//! The machine for all other patterns: reads each character once, following all ways together.
//!
//! What was found to follow from a state is kept, so that the next time costs one look-up.

use super::BadPattern;
use super::OutOfSteps;
use super::alphabet::Alphabet;
use super::backtrack::{is_word, spend};
use super::program::{Inst, Program};
use super::tree::Assertion;
use crate::limits::PATTERN_BYTES_MAX;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of what one pattern keeps of the states it met; then it forgets them and starts anew.
const KEPT_BYTES_MAX: usize = 256 << 10;
/// The same between two checks, for as long as a compiled schema lives.
pub(super) const RESTING_BYTES_MAX: usize = 8 << 10;
/// Classes with a row of their own in the table of a state; further ones, rare, are looked up.
const ROW_MAX: u32 = 256;
/// What finding the next state costs beside the instructions followed, in instructions.
const FIND_COST: u64 = 32;
/// Instructions that one match may follow while it finds states before any counts; honest patterns meet few
/// states, and the rest of the text costs them nothing.
const FREE_COST: u64 = 1 << 20;
/// The same, for each byte of the text.
const FREE_COST_PER_BYTE: u64 = 16;
/// Instructions, beyond those, for one step.
const COST_PER_STEP: u64 = 64;

/// What is found at the end of a way.
const UNKNOWN: u32 = u32::MAX;
const MATCH: u32 = u32::MAX - 1;
const DEAD: u32 = u32::MAX - 2;

/// What stands before a place, as far as the program asks.
const AT_START: u32 = 0;
const AFTER_WORD: u32 = 1;
const AFTER_OTHER: u32 = 2;

/// A program without look-around and back-references, with what it learned so far.
#[derive(Debug)]
pub(super) struct Automaton {
    program: Program,
    alphabet: Alphabet,
    asks_start: bool,
    asks_words: bool,
    /// Taken out while a match runs. A second match at that time starts with none.
    memory: Mutex<Option<Box<Memory>>>,
}

#[derive(Debug)]
struct Memory {
    /// Per state the instructions where its ways stand, in order, and last what stands before it.
    states: Vec<Arc<[u32]>>,
    index: BTreeMap<Arc<[u32]>, u32>,
    /// Per state and class of the row the next state.
    table: Vec<u32>,
    /// The same for the other classes.
    rare: BTreeMap<(u32, u32), u32>,
    bytes: usize,
    /// How often the room was filled and all states forgotten.
    filled: u64,
    /// The instructions that it took to find what it knows.
    learned: u64,
    seen: Seen,
}

/// The instructions met on the way to one next state.
#[derive(Debug, Default)]
struct Seen {
    bits: Vec<u64>,
    list: Vec<u32>,
}

impl Automaton {
    pub(super) fn new(program: Program) -> Result<Automaton, BadPattern> {
        let asks = |assertions: &[Assertion]| {
            program
                .insts
                .iter()
                .any(|inst| matches!(inst, Inst::Assert(a) if assertions.contains(a)))
        };
        let automaton = Automaton {
            asks_start: asks(&[Assertion::Start]),
            asks_words: asks(&[Assertion::Word, Assertion::NotWord]),
            alphabet: Alphabet::new(&program)?,
            program,
            memory: Mutex::new(None),
        };
        if automaton.bytes() > PATTERN_BYTES_MAX {
            Err(BadPattern::TooLarge)
        } else {
            Ok(automaton)
        }
    }

    /// Bytes of program and tables, without what is learned while it runs: that is bounded by
    /// [`KEPT_BYTES_MAX`].
    pub(super) fn bytes(&self) -> usize {
        self.program.bytes() + self.alphabet.bytes()
    }

    /// Forgets what is too much to keep for another check.
    pub(super) fn rest(&self) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory
            .as_ref()
            .is_some_and(|memory| memory.bytes > RESTING_BYTES_MAX)
        {
            *memory = None;
        }
    }

    /// Whether the pattern matches somewhere in the text. Takes steps only when the ways keep parting anew, long
    /// beyond what the text's length explains.
    pub(super) fn is_match(&self, text: &str, steps: &mut u64) -> Result<bool, OutOfSteps> {
        let kept = self.memory.lock().unwrap_or_else(PoisonError::into_inner).take();
        // What took more than is free to learn may save steps to no text; see `run_warm`.
        let kept = kept.filter(|memory| memory.learned > 0 && memory.learned <= FREE_COST);
        let known = kept.and_then(|mut memory| Some((self.run_warm(&mut memory, text)?, memory)));
        let (result, memory) = if let Some((matched, memory)) = known {
            (Ok(matched), memory)
        } else {
            let mut memory = Box::new(Memory::new(self));
            (self.run(&mut memory, text, steps), memory)
        };
        *self.memory.lock().unwrap_or_else(PoisonError::into_inner) = Some(memory);
        result
    }

    /// Runs with what earlier texts taught, so that the steps taken never depend on them: all that is known then
    /// took no more to learn than is free, so this text alone would have taken no step either. `None` where that
    /// is not so; then it is to be run as the first.
    fn run_warm(&self, memory: &mut Memory, text: &str) -> Option<bool> {
        let filled = memory.filled;
        let end = self.alphabet.examples().len() as u32;
        let row = self.row();
        let mut state = memory.start(self);
        for class in text.chars().map(|c| self.alphabet.class(c)).chain([end]) {
            let mut next = memory.known(state, class, row);
            if next == UNKNOWN {
                (next, _) = memory.find(self, state, class);
                if memory.learned > FREE_COST || memory.filled != filled {
                    return None;
                }
            }
            match next {
                MATCH => return Some(true),
                DEAD => return Some(false),
                next => state = next,
            }
        }
        Some(false)
    }

    fn run(&self, memory: &mut Memory, text: &str, steps: &mut u64) -> Result<bool, OutOfSteps> {
        let mut free = FREE_COST + FREE_COST_PER_BYTE * text.len() as u64;
        let end = self.alphabet.examples().len() as u32;
        let mut state = memory.start(self);
        for class in text.chars().map(|c| self.alphabet.class(c)).chain([end]) {
            let mut next = memory.known(state, class, self.row());
            if next == UNKNOWN {
                let cost;
                (next, cost) = memory.find(self, state, class);
                let beyond = cost.saturating_sub(free);
                free = free.saturating_sub(cost);
                if beyond > 0 {
                    spend(beyond.div_ceil(COST_PER_STEP), steps)?;
                }
            }
            match next {
                MATCH => return Ok(true),
                DEAD => return Ok(false),
                next => state = next,
            }
        }
        // The end leads nowhere but to one of both.
        Ok(false)
    }

    /// How many classes, the end included, have a place in a state's row.
    fn row(&self) -> u32 {
        ROW_MAX.min(self.alphabet.examples().len() as u32 + 1)
    }

    /// What a program that asks this much sees before a place.
    fn context(&self, before: Option<char>) -> u32 {
        match before {
            None if self.asks_start => AT_START,
            Some(c) if self.asks_words && is_word(c) => AFTER_WORD,
            _ => AFTER_OTHER,
        }
    }
}

impl Memory {
    fn new(automaton: &Automaton) -> Memory {
        let bits = vec![0; automaton.program.insts.len().div_ceil(64)];
        Memory {
            states: Vec::new(),
            index: BTreeMap::new(),
            table: Vec::new(),
            rare: BTreeMap::new(),
            bytes: 0,
            filled: 0,
            learned: 0,
            seen: Seen {
                bits,
                list: Vec::new(),
            },
        }
    }

    /// The state before the first character.
    fn start(&mut self, automaton: &Automaton) -> u32 {
        self.state(vec![0, automaton.context(None)], automaton.row())
    }

    fn known(&self, state: u32, class: u32, row: u32) -> u32 {
        if class < row {
            self.table[(state * row + class) as usize]
        } else {
            self.rare.get(&(state, class)).copied().unwrap_or(UNKNOWN)
        }
    }

    /// Finds what follows from a state by a character of a class, or by the end. Returns the instructions that it
    /// took beside.
    fn find(&mut self, automaton: &Automaton, state: u32, class: u32) -> (u32, u64) {
        let program = &automaton.program;
        let row = automaton.row();
        let next_char = automaton.alphabet.examples().get(class as usize).copied();
        let from = Arc::clone(&self.states[state as usize]);
        let before = from[from.len() - 1];
        let mut followed = ways_of(&from);
        let mut ways = Vec::with_capacity(followed.len() + 2);
        if !program.anchored {
            ways.push(0);
        }
        let mut cost = FIND_COST;
        let mut matched = false;
        let filled_before = self.filled;
        // Where a match may begin anywhere, all states share the way that begins here. What follows from it alone
        // is found once for all of them.
        if let ([0, others @ ..], false) = (followed, program.anchored || followed.len() == 1) {
            followed = others;
            let alone = self.state(vec![0, before], row);
            let mut next = self.known(alone, class, row);
            if next == UNKNOWN {
                let cost_alone;
                (next, cost_alone) = self.find(automaton, alone, class);
                cost += cost_alone;
            }
            match next {
                MATCH => matched = true,
                DEAD => {}
                next => ways.extend_from_slice(ways_of(&self.states[next as usize])),
            }
        }
        matched = matched || self.seen.follow(program, before, followed, next_char, &mut ways);
        let met = self.seen.clear() as u64;
        cost += met;
        // What the way that begins here cost has been added already.
        self.learned += FIND_COST + met;
        let found = match next_char {
            _ if matched => MATCH,
            None => DEAD,
            Some(_) => {
                if ways.is_empty() {
                    DEAD
                } else {
                    // Mostly runs in order already, which this sort profits from and the unstable one does not.
                    #[allow(clippy::stable_sort_primitive)]
                    ways.sort();
                    ways.dedup();
                    ways.push(automaton.context(next_char));
                    if self.bytes > KEPT_BYTES_MAX && !self.index.contains_key(ways.as_slice()) {
                        self.forget();
                    }
                    self.state(ways, row)
                }
            }
        };
        // Unless the state itself was forgotten.
        if self.filled == filled_before {
            if class < row {
                self.table[(state * row + class) as usize] = found;
            } else {
                self.rare.insert((state, class), found);
                self.bytes += 32;
            }
        }
        (found, cost)
    }

    /// The number of a state, new or known.
    fn state(&mut self, ways: Vec<u32>, row: u32) -> u32 {
        if let Some(state) = self.index.get(ways.as_slice()) {
            return *state;
        }
        let ways: Arc<[u32]> = ways.into();
        let state = self.states.len() as u32;
        // The two places that hold it and its row; 96 for what a state takes in the index and the list.
        self.bytes += size_of_val(&*ways) + size_of::<u32>() * row as usize + 96;
        self.states.push(Arc::clone(&ways));
        self.index.insert(ways, state);
        self.table.resize(self.table.len() + row as usize, UNKNOWN);
        state
    }

    fn forget(&mut self) {
        self.filled += 1;
        self.states.clear();
        self.index.clear();
        self.table.clear();
        self.rare.clear();
        self.bytes = 0;
    }
}

/// The instructions where the ways of a state stand.
fn ways_of(state: &[u32]) -> &[u32] {
    state.split_last().map_or(&[], |(_, ways)| ways)
}

impl Seen {
    /// Follows ways that take no character, and puts into `ways` where those stand that take `next`. Returns whether
    /// one is at the end of the pattern.
    fn follow(
        &mut self,
        program: &Program,
        before: u32,
        from: &[u32],
        next: Option<char>,
        ways: &mut Vec<u32>,
    ) -> bool {
        let next_is_word = next.is_some_and(is_word);
        for pc in from {
            self.meet(*pc);
        }
        let mut position = 0;
        while let Some(pc) = self.list.get(position).copied() {
            position += 1;
            match program.insts[pc as usize] {
                Inst::Match => return true,
                Inst::Char(c) if next == Some(c) => ways.push(pc + 1),
                Inst::Set(set) if next.is_some_and(|c| program.sets[set as usize].contains(c)) => {
                    ways.push(pc + 1);
                }
                Inst::Split(first, second) => {
                    self.meet(first);
                    self.meet(second);
                }
                Inst::Jump(target) => self.meet(target),
                Inst::Assert(assertion) => {
                    let holds = match assertion {
                        Assertion::Start => before == AT_START,
                        Assertion::End => next.is_none(),
                        Assertion::Word => (before == AFTER_WORD) != next_is_word,
                        Assertion::NotWord => (before == AFTER_WORD) == next_is_word,
                    };
                    if holds {
                        self.meet(pc + 1);
                    }
                }
                // The rest takes another character or belongs to the other machine.
                _ => {}
            }
        }
        false
    }

    fn meet(&mut self, pc: u32) {
        let bit = 1 << (pc % 64);
        let word = &mut self.bits[pc as usize / 64];
        if *word & bit == 0 {
            *word |= bit;
            self.list.push(pc);
        }
    }

    /// Forgets what was met; returns how many that were.
    fn clear(&mut self) -> usize {
        for pc in &self.list {
            self.bits[*pc as usize / 64] = 0;
        }
        let met = self.list.len();
        self.list.clear();
        met
    }
}
