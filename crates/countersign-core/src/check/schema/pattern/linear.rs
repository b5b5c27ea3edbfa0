//! The machine for all other patterns: reads each character once, following all ways together.
//!
//! Most patterns in use have few states: those are found when the pattern is compiled, and a character is one look-up.
//! The others follow their ways anew in each match; on a long text the match keeps what it finds, as far as there is
//! room. Nothing is kept from one match to the next, so that a match takes the same steps everywhere and always.

use super::BadPattern;
use super::OutOfSteps;
use super::alphabet::Alphabet;
use super::backtrack::{is_word, spend};
use super::program::{Inst, Program};
use super::tree::Assertion;
use crate::limits::PATTERN_BYTES_MAX;
use std::collections::BTreeMap;
use std::str::Chars;
use std::sync::Arc;

/// Bytes of the table of all states that a compiled pattern may have.
const TABLE_BYTES_MAX: usize = 8 << 10;
/// Entries of that table; a program with more instructions or classes than that is not tried.
const TABLE_LEN_MAX: usize = TABLE_BYTES_MAX / size_of::<u32>();
/// What finding all states may cost, about 200 µs; then the pattern goes without the table.
const TABLE_COST_MAX: u64 = 1 << 16;
/// Bytes of text from which a match keeps the states it finds.
const LONG_TEXT_BYTES: usize = 1 << 10;
/// Bytes of states that one match keeps; then it follows the ways without.
const KEPT_BYTES_MAX: usize = 256 << 10;
/// Classes, the end included, beyond which a match keeps no states: each has a place for every class.
const ROW_MAX: u32 = 256;

// What the parts of a match cost, in units of about 3 ns. A part's cost is fixed, whatever it took.

/// Units for one step. A check's steps, [`crate::limits::PATTERN_STEPS_MAX`], are some 200 ms of one core.
const UNITS_PER_STEP: u64 = 64;
/// Looking up what follows by an ASCII character, and by any other, whose class is searched for.
const ASCII_COST: u64 = 1;
const OTHER_COST: u64 = 8;
/// An instruction followed. One with a set costs a unit more each time the set's size doubles.
const INST_COST: u64 = 2;
/// Reading a character without look-up, beside the instructions followed.
const FOLLOW_COST: u64 = 4;
/// Finding what follows and keeping it, beside the instructions followed.
const FIND_COST: u64 = 160;
/// The same for an entry of the table of all states, most of which lead to a state known already.
const ENTRY_COST: u64 = 32;
/// Beginning a match without a table, beside its set of instructions, of which one unit makes this many ready.
const BEGIN_COST: u64 = 96;
const INSTS_READY_PER_UNIT: u64 = 1 << 10;

/// What is found at the end of a way.
const UNKNOWN: u32 = u32::MAX;
const MATCH: u32 = u32::MAX - 1;
const DEAD: u32 = u32::MAX - 2;
/// There are ways on, but no room to keep the state.
const NO_ROOM: u32 = u32::MAX - 3;

/// What stands before a place, as far as the program asks.
const AT_START: u32 = 0;
const AFTER_WORD: u32 = 1;
const AFTER_OTHER: u32 = 2;

/// A program without look-around and back-references.
#[derive(Debug)]
pub(super) struct Automaton {
    program: Program,
    alphabet: Alphabet,
    asks_start: bool,
    asks_words: bool,
    /// Per state and class the next state, when there are few.
    table: Option<Box<[u32]>>,
}

impl Automaton {
    pub(super) fn new(program: Program) -> Result<Automaton, BadPattern> {
        let asks = |assertions: &[Assertion]| {
            program
                .insts
                .iter()
                .any(|inst| matches!(inst, Inst::Assert(a) if assertions.contains(a)))
        };
        let mut automaton = Automaton {
            asks_start: asks(&[Assertion::Start]),
            asks_words: asks(&[Assertion::Word, Assertion::NotWord]),
            alphabet: Alphabet::new(&program)?,
            program,
            table: None,
        };
        if automaton.bytes() > PATTERN_BYTES_MAX {
            return Err(BadPattern::TooLarge);
        }
        if automaton.bytes() + TABLE_BYTES_MAX <= PATTERN_BYTES_MAX {
            automaton.table = automaton.all_states();
        }
        Ok(automaton)
    }

    /// Bytes of program and tables. A match takes, while it runs, about twice the program and [`KEPT_BYTES_MAX`].
    pub(super) fn bytes(&self) -> usize {
        let table = self.table.as_ref().map_or(0, |table| size_of_val(&**table));
        self.program.bytes() + self.alphabet.bytes() + table
    }

    /// Whether the pattern matches somewhere in the text. The steps it takes depend on the pattern and the text
    /// alone.
    pub(super) fn is_match(&self, text: &str, steps: &mut u64) -> Result<bool, OutOfSteps> {
        let mut meter = Meter { units: 0, steps };
        let mut chars = text.chars();
        if let Some(table) = &self.table {
            return self.look_up(table, chars, &mut meter);
        }
        meter.add(BEGIN_COST + self.program.insts.len() as u64 / INSTS_READY_PER_UNIT)?;
        let mut follower = Follower::new(self);
        if text.len() >= LONG_TEXT_BYTES
            && self.row() <= ROW_MAX
            && let Some(matched) = self.learn(&mut chars, &mut follower, &mut meter)?
        {
            return Ok(matched);
        }
        loop {
            let next = chars.next();
            let end = follower.advance(self, next);
            meter.add(FOLLOW_COST + follower.take_cost())?;
            if let Some(matched) = end {
                return Ok(matched);
            }
        }
    }

    fn look_up(&self, table: &[u32], chars: Chars, meter: &mut Meter) -> Result<bool, OutOfSteps> {
        let row = self.row();
        let mut state = 0;
        for c in chars {
            meter.add(look_up_cost(c))?;
            match table[(state * row + self.alphabet.class(c)) as usize] {
                MATCH => return Ok(true),
                DEAD => return Ok(false),
                next => state = next,
            }
        }
        // The last class is the end.
        Ok(table[(state * row + row - 1) as usize] == MATCH)
    }

    /// Reads characters, keeping the states met, up to the end of the match or, with nothing returned, of the room
    /// for them.
    fn learn(
        &self,
        chars: &mut Chars,
        follower: &mut Follower,
        meter: &mut Meter,
    ) -> Result<Option<bool>, OutOfSteps> {
        let end = self.row() - 1;
        let mut states = States::new(self.row());
        let mut state = states.number(follower);
        loop {
            let next_char = chars.next();
            let class = next_char.map_or(end, |c| self.alphabet.class(c));
            meter.add(next_char.map_or(ASCII_COST, look_up_cost))?;
            let mut next = states.known(state, class);
            if next == UNKNOWN {
                next = states.find(self, follower, state, class);
                meter.add(FIND_COST + follower.take_cost())?;
            }
            match next {
                MATCH => return Ok(Some(true)),
                DEAD => return Ok(Some(false)),
                NO_ROOM => return Ok(None),
                next => state = next,
            }
        }
    }

    /// The table of all states, if they are few and soon found.
    fn all_states(&self) -> Option<Box<[u32]>> {
        let row = self.row();
        if self.program.insts.len().max(row as usize) > TABLE_LEN_MAX {
            return None;
        }
        let mut follower = Follower::new(self);
        let mut states = States::new(row);
        let mut cost = 0;
        let mut state = states.number(&follower);
        while (state as usize) < states.list.len() {
            for class in 0..row {
                if cost > TABLE_COST_MAX || states.table.len() > TABLE_LEN_MAX {
                    return None;
                }
                if states.find(self, &mut follower, state, class) == NO_ROOM {
                    return None;
                }
                cost += ENTRY_COST + follower.take_cost();
            }
            state += 1;
        }
        Some(states.table.into())
    }

    /// How many classes there are, the end included.
    fn row(&self) -> u32 {
        self.alphabet.examples().len() as u32 + 1
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

fn look_up_cost(c: char) -> u64 {
    if c.is_ascii() { ASCII_COST } else { OTHER_COST }
}

/// Takes steps for units; what is left of a step at the end of a match is free.
struct Meter<'a> {
    units: u64,
    steps: &'a mut u64,
}

impl Meter<'_> {
    fn add(&mut self, units: u64) -> Result<(), OutOfSteps> {
        self.units += units;
        if self.units < UNITS_PER_STEP {
            return Ok(());
        }
        let whole = self.units / UNITS_PER_STEP;
        self.units %= UNITS_PER_STEP;
        spend(whole, self.steps)
    }
}

/// The states found so far. The first is the one before the first character.
struct States {
    /// How many classes each state has a place for.
    row: u32,
    /// Per state the instructions where its ways stand, in order, and last what stands before it.
    list: Vec<Arc<[u32]>>,
    index: BTreeMap<Arc<[u32]>, u32>,
    /// Per state and class the next state.
    table: Vec<u32>,
    bytes: usize,
}

impl States {
    fn new(row: u32) -> States {
        States {
            row,
            list: Vec::new(),
            index: BTreeMap::new(),
            table: Vec::new(),
            bytes: 0,
        }
    }

    fn known(&self, state: u32, class: u32) -> u32 {
        self.table[(state * self.row + class) as usize]
    }

    /// Finds what follows from a state by a character of a class, or by the end. Leaves the follower there.
    fn find(&mut self, automaton: &Automaton, follower: &mut Follower, state: u32, class: u32) -> u32 {
        if let Some((before, ways)) = self.list[state as usize].split_last() {
            follower.before = *before;
            follower.ways.clear();
            follower.ways.extend_from_slice(ways);
        }
        let next = automaton.alphabet.examples().get(class as usize).copied();
        let found = match follower.advance(automaton, next) {
            Some(true) => MATCH,
            Some(false) => DEAD,
            None => self.number(follower),
        };
        if found != NO_ROOM {
            self.table[(state * self.row + class) as usize] = found;
        }
        found
    }

    /// The number of the state where a follower is, new or known.
    fn number(&mut self, follower: &Follower) -> u32 {
        let mut state = Vec::with_capacity(follower.ways.len() + 1);
        state.extend_from_slice(&follower.ways);
        // Mostly runs in order already, which this sort profits from and the unstable one does not.
        #[allow(clippy::stable_sort_primitive)]
        state.sort();
        state.push(follower.before);
        if let Some(number) = self.index.get(state.as_slice()) {
            return *number;
        }
        // 96 for what a state takes in the index and the list.
        let bytes = size_of_val(state.as_slice()) + size_of::<u32>() * self.row as usize + 96;
        if self.bytes + bytes > KEPT_BYTES_MAX {
            return NO_ROOM;
        }
        self.bytes += bytes;
        let number = self.list.len() as u32;
        let state: Arc<[u32]> = state.into();
        self.list.push(Arc::clone(&state));
        self.index.insert(state, number);
        self.table.resize(self.table.len() + self.row as usize, UNKNOWN);
        number
    }
}

/// Where all ways through a program stand in a text.
struct Follower {
    /// The instructions where they stand, each once.
    ways: Vec<u32>,
    /// What stands before.
    before: u32,
    next_ways: Vec<u32>,
    seen: Seen,
    cost: u64,
}

impl Follower {
    /// Before the first character.
    fn new(automaton: &Automaton) -> Follower {
        Follower {
            ways: vec![0],
            before: automaton.context(None),
            next_ways: Vec::new(),
            seen: Seen {
                bits: vec![0; automaton.program.insts.len().div_ceil(64)],
                list: Vec::new(),
            },
            cost: 0,
        }
    }

    /// What it cost since this was last asked.
    fn take_cost(&mut self) -> u64 {
        std::mem::take(&mut self.cost)
    }

    /// Follows all ways to behind the next character, or the end of the text. Returns whether the pattern matches
    /// when that is decided.
    fn advance(&mut self, automaton: &Automaton, next: Option<char>) -> Option<bool> {
        let program = &automaton.program;
        self.next_ways.clear();
        if !program.anchored {
            self.next_ways.push(0);
        }
        let matched = self.follow(program, next);
        self.cost += INST_COST * self.seen.clear();
        if matched {
            return Some(true);
        }
        if next.is_none() || self.next_ways.is_empty() {
            return Some(false);
        }
        std::mem::swap(&mut self.ways, &mut self.next_ways);
        self.before = automaton.context(next);
        None
    }

    /// Follows ways as far as they take no character, and puts into `next_ways` where those stand that take `next`.
    /// Returns whether one is at the end of the pattern.
    fn follow(&mut self, program: &Program, next: Option<char>) -> bool {
        let next_is_word = next.is_some_and(is_word);
        // A repeated set stands many times in a row.
        let (mut last_set, mut in_last_set) = (u32::MAX, false);
        for pc in &self.ways {
            self.seen.meet(*pc);
        }
        let mut position = 0;
        while let Some(pc) = self.seen.list.get(position).copied() {
            position += 1;
            match program.insts[pc as usize] {
                Inst::Match => return true,
                Inst::Char(c) if next == Some(c) => self.next_ways.push(pc + 1),
                Inst::Set(set) => {
                    if last_set != set {
                        let ranges = &program.sets[set as usize];
                        (last_set, in_last_set) = (set, next.is_some_and(|c| ranges.contains(c)));
                        self.cost += u64::from((ranges.ranges().len() | 1).ilog2());
                    }
                    if in_last_set {
                        self.next_ways.push(pc + 1);
                    }
                }
                Inst::Split(first, second) => {
                    self.seen.meet(first);
                    self.seen.meet(second);
                }
                Inst::Jump(target) => self.seen.meet(target),
                Inst::Assert(assertion) => {
                    let holds = match assertion {
                        Assertion::Start => self.before == AT_START,
                        Assertion::End => next.is_none(),
                        Assertion::Word => (self.before == AFTER_WORD) != next_is_word,
                        Assertion::NotWord => (self.before == AFTER_WORD) == next_is_word,
                    };
                    if holds {
                        self.seen.meet(pc + 1);
                    }
                }
                // The rest takes another character or belongs to the other machine.
                _ => {}
            }
        }
        false
    }
}

/// The instructions met on the way to the next character.
struct Seen {
    bits: Vec<u64>,
    list: Vec<u32>,
}

impl Seen {
    fn meet(&mut self, pc: u32) {
        let bit = 1 << (pc % 64);
        let word = &mut self.bits[pc as usize / 64];
        if *word & bit == 0 {
            *word |= bit;
            self.list.push(pc);
        }
    }

    /// Forgets what was met; returns how many that were.
    fn clear(&mut self) -> u64 {
        for pc in &self.list {
            self.bits[*pc as usize / 64] = 0;
        }
        let met = self.list.len() as u64;
        self.list.clear();
        met
    }
}
