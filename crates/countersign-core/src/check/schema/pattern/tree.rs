//! What the parser makes of a pattern.

use super::set::Set;
use std::ops::Range;
use std::rc::Rc;

/// A pattern as read.
pub(super) struct Tree {
    /// The whole.
    pub(super) root: Node,
    /// How many capturing groups there are; they are numbered from 0 in order of their opening parentheses.
    pub(super) groups: u32,
    /// The group that each name used in a `\k<name>` stands for, in order of their use.
    pub(super) named: Vec<u32>,
    /// Whether there are look-arounds or back-references.
    pub(super) backtracks: bool,
}

/// One part of a pattern.
pub(super) enum Node {
    /// Nothing: matches everywhere.
    Empty,
    /// One code point; a surrogate matches nowhere.
    Char(u32),
    /// One character of a set.
    Set(Rc<Set>),
    /// A place between characters.
    Assertion(Assertion),
    /// A capturing group.
    Capture(u32, Box<Node>),
    /// One after another.
    Sequence(Vec<Node>),
    /// Any of them, the first preferred.
    Choice(Vec<Node>),
    /// Several times.
    Repeat(Box<Repeat>),
    /// Look-ahead or look-behind.
    Around(Box<Around>),
    /// What a group matched, by its number.
    Reference(u32),
    /// What a group matched, by its place in [`Tree::named`].
    Named(u32),
}

/// What must hold at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    /// `^`: before the first character.
    Start,
    /// `$`: after the last character.
    End,
    /// `\b`: between a word character (`[0-9A-Z_a-z]`) and none.
    Word,
    /// `\B`: anywhere else.
    NotWord,
}

pub(super) struct Repeat {
    pub(super) min: u32,
    /// `None`: no end.
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    pub(super) body: Node,
    /// The capturing groups in the body.
    pub(super) groups: Range<u32>,
}

pub(super) struct Around {
    pub(super) ahead: bool,
    pub(super) negative: bool,
    pub(super) body: Node,
}

impl Node {
    /// Whether a match can take no character.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Node::Char(_) | Node::Set(_) => false,
            Node::Empty | Node::Assertion(_) | Node::Around(_) | Node::Reference(_) | Node::Named(_) => true,
            Node::Capture(_, body) => body.can_be_empty(),
            Node::Sequence(parts) => parts.iter().all(Node::can_be_empty),
            Node::Choice(parts) => parts.iter().any(Node::can_be_empty),
            Node::Repeat(repeat) => repeat.min == 0 || repeat.body.can_be_empty(),
        }
    }

    /// Whether no match takes a character.
    pub(super) fn is_always_empty(&self) -> bool {
        match self {
            Node::Char(_) | Node::Set(_) | Node::Reference(_) | Node::Named(_) => false,
            Node::Empty | Node::Assertion(_) | Node::Around(_) => true,
            Node::Capture(_, body) => body.is_always_empty(),
            Node::Sequence(parts) | Node::Choice(parts) => parts.iter().all(Node::is_always_empty),
            Node::Repeat(repeat) => repeat.max == Some(0) || repeat.body.is_always_empty(),
        }
    }

    /// Whether every match starts at the start of the text, as far as the outline tells.
    pub(super) fn is_anchored(&self) -> bool {
        match self {
            Node::Assertion(Assertion::Start) => true,
            Node::Capture(_, body) => body.is_anchored(),
            Node::Sequence(parts) => parts.first().is_some_and(Node::is_anchored),
            Node::Choice(parts) => parts.iter().all(Node::is_anchored),
            _ => false,
        }
    }
}
