//! A pattern as instructions over characters, for both machines.

use super::BadPattern;
use super::set::Set;
use super::tree::{Around, Assertion, Node, Repeat, Tree};
use crate::limits::PATTERN_BYTES_MAX;
use std::collections::BTreeMap;

/// Bytes of one instruction.
pub(super) const INST_BYTES: usize = size_of::<Inst>();

/// One instruction. Where it names another, that is its index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    /// The whole pattern matches.
    Match,
    /// Nothing matches here.
    Fail,
    /// Takes one character.
    Char(char),
    /// Takes one character of a set.
    Set(u32),
    /// As `Char`, going backwards.
    CharBack(char),
    /// As `Set`, going backwards.
    SetBack(u32),
    /// Goes on at the first or, when that fails, at the second.
    Split(u32, u32),
    Jump(u32),
    /// Goes on when the place is right.
    Assert(Assertion),
    /// Remembers where a group is entered.
    Open(u32),
    /// Remembers what a group matched.
    Close(u32),
    /// Forgets the groups from one up to another.
    Forget(u32, u32),
    /// Remembers in a register where a round of a repetition begins.
    Mark(u32),
    /// Goes on when the round took a character.
    Moved(u32),
    /// What follows, up to `AroundEnd`, must match here; the register holds the place.
    Around(u32),
    AroundEnd(u32),
    /// What follows, up to `NotAroundEnd`, must not match here; if so, goes on at the second.
    NotAround(u32, u32),
    NotAroundEnd(u32),
    /// Takes what a group matched.
    Reference(u32),
    /// As `Reference`, going backwards.
    ReferenceBack(u32),
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) sets: Vec<Set>,
    /// Capturing groups.
    pub(super) groups: u32,
    /// Registers that `Mark`, `Around` and `NotAround` use.
    pub(super) registers: u32,
    /// Whether every match starts at the start of the text.
    pub(super) anchored: bool,
    /// Whether it needs the machine that backtracks.
    pub(super) backtracks: bool,
}

impl Program {
    /// Compiles a pattern, unless that would take more than [`PATTERN_BYTES_MAX`].
    pub(super) fn compile(tree: &Tree) -> Result<Program, BadPattern> {
        let mut compiler = Compiler {
            insts: Vec::new(),
            sets: BTreeMap::new(),
            registers: 0,
            named: &tree.named,
            backtracks: tree.backtracks,
            backwards: false,
        };
        // Counted first: repetitions of repetitions multiply.
        let count = compiler.count(&tree.root).saturating_add(1);
        if count.saturating_mul(INST_BYTES as u64) > PATTERN_BYTES_MAX as u64 {
            return Err(BadPattern::TooLarge);
        }
        compiler.insts.reserve_exact(count as usize);
        compiler.node(&tree.root);
        compiler.insts.push(Inst::Match);
        debug_assert_eq!(count, compiler.insts.len() as u64);
        let mut sets: Vec<(&Set, u32)> = compiler.sets.into_iter().collect();
        sets.sort_by_key(|(_, index)| *index);
        let program = Program {
            insts: compiler.insts,
            sets: sets.into_iter().map(|(set, _)| set.clone()).collect(),
            groups: tree.groups,
            registers: compiler.registers,
            anchored: tree.root.is_anchored(),
            backtracks: tree.backtracks,
        };
        if program.bytes() > PATTERN_BYTES_MAX {
            Err(BadPattern::TooLarge)
        } else {
            Ok(program)
        }
    }

    /// Bytes that the instructions and their sets take.
    pub(super) fn bytes(&self) -> usize {
        INST_BYTES * self.insts.len()
            + self
                .sets
                .iter()
                .map(|set| size_of::<Set>() + set.bytes())
                .sum::<usize>()
    }
}

struct Compiler<'a> {
    insts: Vec<Inst>,
    sets: BTreeMap<&'a Set, u32>,
    registers: u32,
    named: &'a [u32],
    backtracks: bool,
    backwards: bool,
}

impl<'a> Compiler<'a> {
    /// How many instructions [`Self::node`] makes.
    fn count(&self, node: &Node) -> u64 {
        match node {
            Node::Empty => 0,
            Node::Char(_) | Node::Set(_) | Node::Assertion(_) | Node::Reference(_) | Node::Named(_) => 1,
            Node::Capture(_, body) => self
                .count(body)
                .saturating_add(if self.backtracks { 2 } else { 0 }),
            Node::Sequence(parts) => self.count_all(parts),
            Node::Choice(parts) => self.count_all(parts).saturating_add(2 * (parts.len() as u64 - 1)),
            Node::Repeat(repeat) => {
                let (min, max) = repeat.bounds();
                let body = self.count(&repeat.body) + u64::from(self.forgets(repeat));
                let round = body.saturating_add(if self.marks(repeat) { 3 } else { 1 });
                let rounds = match max {
                    None => round.saturating_add(1),
                    Some(max) => round.saturating_mul(u64::from(max - min)),
                };
                body.saturating_mul(u64::from(min)).saturating_add(rounds)
            }
            Node::Around(around) => self.count(&around.body).saturating_add(2),
        }
    }

    fn count_all(&self, parts: &[Node]) -> u64 {
        parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(self.count(part)))
    }

    /// Only who looks back at groups sees that a round forgets them.
    fn forgets(&self, repeat: &Repeat) -> bool {
        self.backtracks && !repeat.groups.is_empty()
    }

    /// A round that takes nothing leads nowhere; the other machine sees that by itself.
    fn marks(&self, repeat: &Repeat) -> bool {
        self.backtracks && repeat.body.can_be_empty()
    }

    fn node(&mut self, node: &'a Node) {
        match node {
            Node::Empty => {}
            Node::Char(code) => self.insts.push(match char::from_u32(*code) {
                None => Inst::Fail,
                Some(c) if self.backwards => Inst::CharBack(c),
                Some(c) => Inst::Char(c),
            }),
            Node::Set(set) => {
                let next = self.sets.len() as u32;
                let index = *self.sets.entry(set).or_insert(next);
                self.insts.push(if self.backwards {
                    Inst::SetBack(index)
                } else {
                    Inst::Set(index)
                });
            }
            Node::Assertion(assertion) => self.insts.push(Inst::Assert(*assertion)),
            Node::Capture(group, body) => {
                if self.backtracks {
                    self.insts.push(Inst::Open(*group));
                }
                self.node(body);
                if self.backtracks {
                    self.insts.push(Inst::Close(*group));
                }
            }
            Node::Sequence(parts) if self.backwards => parts.iter().rev().for_each(|part| self.node(part)),
            Node::Sequence(parts) => parts.iter().for_each(|part| self.node(part)),
            Node::Choice(parts) => self.choice(parts),
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Around(around) => self.around(around),
            Node::Reference(group) => self.reference(*group),
            Node::Named(name) => self.reference(self.named[*name as usize]),
        }
    }

    fn reference(&mut self, group: u32) {
        let inst = if self.backwards {
            Inst::ReferenceBack(group)
        } else {
            Inst::Reference(group)
        };
        self.insts.push(inst);
    }

    fn choice(&mut self, parts: &'a [Node]) {
        let mut jumps = Vec::new();
        for (position, part) in parts.iter().enumerate() {
            if position + 1 == parts.len() {
                self.node(part);
                break;
            }
            let split = self.hole();
            self.node(part);
            jumps.push(self.hole());
            self.insts[split] = Inst::Split(split as u32 + 1, self.here());
        }
        let end = self.here();
        for jump in jumps {
            self.insts[jump] = Inst::Jump(end);
        }
    }

    fn repeat(&mut self, repeat: &'a Repeat) {
        let (min, max) = repeat.bounds();
        for _ in 0..min {
            self.round(repeat);
        }
        let rounds = max.map_or(1, |max| max - min);
        let register = self.marks(repeat).then(|| self.register());
        let mut splits = Vec::new();
        for _ in 0..rounds {
            splits.push(self.hole());
            self.insts.extend(register.map(Inst::Mark));
            self.round(repeat);
            self.insts.extend(register.map(Inst::Moved));
            if max.is_none() {
                self.insts.push(Inst::Jump(splits[0] as u32));
            }
        }
        let end = self.here();
        for split in splits {
            let into = split as u32 + 1;
            self.insts[split] = if repeat.greedy {
                Inst::Split(into, end)
            } else {
                Inst::Split(end, into)
            };
        }
    }

    fn round(&mut self, repeat: &'a Repeat) {
        if self.forgets(repeat) {
            self.insts
                .push(Inst::Forget(repeat.groups.start, repeat.groups.end));
        }
        self.node(&repeat.body);
    }

    fn around(&mut self, around: &'a Around) {
        let register = self.register();
        let begin = self.hole();
        let outside = std::mem::replace(&mut self.backwards, !around.ahead);
        self.node(&around.body);
        self.backwards = outside;
        if around.negative {
            self.insts.push(Inst::NotAroundEnd(register));
            self.insts[begin] = Inst::NotAround(register, self.here());
        } else {
            self.insts.push(Inst::AroundEnd(register));
            self.insts[begin] = Inst::Around(register);
        }
    }

    fn here(&self) -> u32 {
        self.insts.len() as u32
    }

    /// An instruction that is set later.
    fn hole(&mut self) -> usize {
        self.insts.push(Inst::Fail);
        self.insts.len() - 1
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }
}

impl Repeat {
    /// How often, at least and at most. What never takes a character is the same once and many times.
    fn bounds(&self) -> (u32, Option<u32>) {
        if self.body.is_always_empty() {
            (self.min.min(1), Some(self.max.unwrap_or(1).min(1)))
        } else {
            (self.min, self.max)
        }
    }
}
