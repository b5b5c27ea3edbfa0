//! The machine for patterns with look-around or back-references: tries one way after another, counting steps.

use super::OutOfSteps;
use super::escape::WORD;
use super::program::{Inst, Program};
use super::tree::Assertion;

/// No place in a text.
const NOWHERE: u32 = u32::MAX;

/// Whether the pattern matches somewhere in the text. Every instruction run, every character compared and every
/// entry put on the stack takes one of `steps`, which so bounds time and memory (16 bytes an entry).
pub(super) fn is_match(program: &Program, text: &str, steps: &mut u64) -> Result<bool, OutOfSteps> {
    if text.len() >= NOWHERE as usize {
        return Err(OutOfSteps);
    }
    // Per group where it was entered, and the start and end of what it matched; then the registers.
    let cells = 3 * program.groups as usize + program.registers as usize;
    spend(cells as u64 / 16, steps)?;
    let mut machine = Machine {
        program,
        text,
        steps,
        stack: Vec::new(),
        memory: vec![NOWHERE; cells],
        heights: vec![0; program.registers as usize],
    };
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    for start in starts.take(if program.anchored { 1 } else { usize::MAX }) {
        if machine.matches_at(start as u32)? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Machine<'a> {
    program: &'a Program,
    text: &'a str,
    steps: &'a mut u64,
    stack: Vec<Entry>,
    memory: Vec<u32>,
    /// Per register of a look-around, how high the stack was before it.
    heights: Vec<usize>,
}

/// What to do when a way fails.
#[derive(Clone, Copy)]
enum Entry {
    /// Go on at an instruction and a place.
    Resume(u32, u32),
    /// Put back what a cell of the memory held.
    Restore(u32, u32),
}

impl Machine<'_> {
    fn matches_at(&mut self, start: u32) -> Result<bool, OutOfSteps> {
        self.stack.clear();
        let (mut pc, mut at) = (0, start);
        loop {
            match self.step(pc, at)? {
                Next::Matched => return Ok(true),
                Next::Go(next_pc, next_at) => (pc, at) = (next_pc, next_at),
                Next::Failed => match self.resume() {
                    Some(next) => (pc, at) = next,
                    None => return Ok(false),
                },
            }
        }
    }

    /// Undoes what was done since the last other way, and returns that way.
    fn resume(&mut self) -> Option<(u32, u32)> {
        while let Some(entry) = self.stack.pop() {
            match entry {
                Entry::Resume(pc, at) => return Some((pc, at)),
                Entry::Restore(cell, value) => self.memory[cell as usize] = value,
            }
        }
        None
    }

    fn step(&mut self, pc: u32, at: u32) -> Result<Next, OutOfSteps> {
        self.spend(1)?;
        let go = |on: bool| if on { Next::Go(pc + 1, at) } else { Next::Failed };
        let take = |taken: Option<char>, ok: bool, back: bool| match taken {
            Some(c) if ok && back => Next::Go(pc + 1, at - c.len_utf8() as u32),
            Some(c) if ok => Next::Go(pc + 1, at + c.len_utf8() as u32),
            _ => Next::Failed,
        };
        let sets = &self.program.sets;
        Ok(match self.program.insts[pc as usize] {
            Inst::Match => Next::Matched,
            Inst::Fail => Next::Failed,
            Inst::Char(c) => take(Some(c), self.after(at) == Some(c), false),
            Inst::CharBack(c) => take(Some(c), self.before(at) == Some(c), true),
            Inst::Set(set) => {
                let c = self.after(at);
                take(c, c.is_some_and(|c| sets[set as usize].contains(c)), false)
            }
            Inst::SetBack(set) => {
                let c = self.before(at);
                take(c, c.is_some_and(|c| sets[set as usize].contains(c)), true)
            }
            Inst::Split(first, second) => {
                self.push(Entry::Resume(second, at))?;
                Next::Go(first, at)
            }
            Inst::Jump(target) => Next::Go(target, at),
            Inst::Assert(assertion) => go(self.holds(assertion, at)),
            Inst::Open(group) => {
                self.set(3 * group, at)?;
                go(true)
            }
            Inst::Close(group) => {
                // Going backwards a group is entered at its end.
                let entered = self.memory[3 * group as usize];
                self.set(3 * group + 1, entered.min(at))?;
                self.set(3 * group + 2, entered.max(at))?;
                go(true)
            }
            Inst::Forget(first, end) => {
                for group in first..end {
                    self.spend(1)?;
                    self.set(3 * group + 1, NOWHERE)?;
                }
                go(true)
            }
            Inst::Mark(register) => {
                self.set(self.cell(register), at)?;
                go(true)
            }
            Inst::Moved(register) => go(self.memory[self.cell(register) as usize] != at),
            Inst::Around(register) => {
                self.heights[register as usize] = self.stack.len();
                self.set(self.cell(register), at)?;
                go(true)
            }
            Inst::AroundEnd(register) => {
                self.drop_ways(self.heights[register as usize]);
                Next::Go(pc + 1, self.memory[self.cell(register) as usize])
            }
            Inst::NotAround(register, after) => {
                self.heights[register as usize] = self.stack.len();
                self.push(Entry::Resume(after, at))?;
                go(true)
            }
            Inst::NotAroundEnd(register) => {
                self.undo(self.heights[register as usize]);
                Next::Failed
            }
            Inst::Reference(group) => self.reference(group, pc, at, false)?,
            Inst::ReferenceBack(group) => self.reference(group, pc, at, true)?,
        })
    }

    fn reference(&mut self, group: u32, pc: u32, at: u32, back: bool) -> Result<Next, OutOfSteps> {
        let (start, end) = (
            self.memory[3 * group as usize + 1],
            self.memory[3 * group as usize + 2],
        );
        if start == NOWHERE {
            return Ok(Next::Go(pc + 1, at));
        }
        self.spend(u64::from(end - start))?;
        let matched = &self.text.as_bytes()[start as usize..end as usize];
        let (before, after) = self.text.as_bytes().split_at(at as usize);
        Ok(match back {
            true if before.ends_with(matched) => Next::Go(pc + 1, at - (end - start)),
            false if after.starts_with(matched) => Next::Go(pc + 1, at + (end - start)),
            _ => Next::Failed,
        })
    }

    /// Gives up the other ways above a height of the stack, keeping what restores the memory.
    fn drop_ways(&mut self, height: usize) {
        let mut kept = height;
        for position in height..self.stack.len() {
            if let Entry::Restore(..) = self.stack[position] {
                self.stack[kept] = self.stack[position];
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    /// Gives up the other ways above a height of the stack and what was done on them.
    fn undo(&mut self, height: usize) {
        for entry in self.stack.drain(height..).rev() {
            if let Entry::Restore(cell, value) = entry {
                self.memory[cell as usize] = value;
            }
        }
    }

    fn holds(&self, assertion: Assertion, at: u32) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(is_word);
        match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at as usize == self.text.len(),
            Assertion::Word => is_word(self.before(at)) != is_word(self.after(at)),
            Assertion::NotWord => is_word(self.before(at)) == is_word(self.after(at)),
        }
    }

    fn before(&self, at: u32) -> Option<char> {
        self.text[..at as usize].chars().next_back()
    }

    fn after(&self, at: u32) -> Option<char> {
        self.text[at as usize..].chars().next()
    }

    fn cell(&self, register: u32) -> u32 {
        3 * self.program.groups + register
    }

    fn set(&mut self, cell: u32, value: u32) -> Result<(), OutOfSteps> {
        let held = std::mem::replace(&mut self.memory[cell as usize], value);
        if held == value {
            Ok(())
        } else {
            self.push(Entry::Restore(cell, held))
        }
    }

    fn push(&mut self, entry: Entry) -> Result<(), OutOfSteps> {
        self.spend(1)?;
        self.stack.push(entry);
        Ok(())
    }

    fn spend(&mut self, count: u64) -> Result<(), OutOfSteps> {
        spend(count, self.steps)
    }
}

/// Takes steps, all that are left when there are fewer.
pub(super) fn spend(count: u64, steps: &mut u64) -> Result<(), OutOfSteps> {
    let left = steps.checked_sub(count);
    *steps = left.unwrap_or(0);
    left.map(|_| ()).ok_or(OutOfSteps)
}

enum Next {
    Go(u32, u32),
    Failed,
    Matched,
}

/// Whether a character is one for `\b`.
pub(super) fn is_word(c: char) -> bool {
    WORD.iter().any(|(low, high)| (*low..=*high).contains(&c))
}
