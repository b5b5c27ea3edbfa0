//! Reads a pattern by the grammar of ECMA-262 (14th edition, "Patterns") with the `u` flag.
//!
//! One liberty (verification.md, section 27): a backslash before any ASCII punctuation character makes that
//! character stand for itself, outside and inside classes.

use super::BadPattern;
use super::escape;
use super::set::Set;
use super::tree::{Around, Assertion, Node, Repeat, Tree};
use crate::limits::PATTERN_BYTES_MAX;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Groups inside one another. What walks the tree calls itself once for each.
const GROUPS_NESTED_MAX: usize = 200;
/// Parts of one pattern. Each compiles to at least one instruction, so that more could not fit
/// [`PATTERN_BYTES_MAX`].
const NODES_MAX: usize = PATTERN_BYTES_MAX / super::program::INST_BYTES;

/// Reads a pattern.
pub(super) fn parse(text: &str) -> Result<Tree, BadPattern> {
    let mut parser = Parser {
        rest: text,
        nodes: 0,
        set_bytes: 0,
        groups: 0,
        backtracks: false,
        names: BTreeMap::new(),
        names_used: Vec::new(),
        highest_reference: 0,
        sets: BTreeMap::new(),
    };
    let root = parser.disjunction()?;
    if parser.highest_reference > parser.groups {
        return Err(BadPattern::Syntax);
    }
    let named = parser
        .names_used
        .iter()
        .map(|name| parser.names.get(name).copied());
    Ok(Tree {
        root,
        groups: parser.groups,
        named: named.collect::<Option<_>>().ok_or(BadPattern::Syntax)?,
        backtracks: parser.backtracks,
    })
}

/// Where the text is read, and what was met so far.
pub(super) struct Parser<'a> {
    pub(super) rest: &'a str,
    nodes: usize,
    set_bytes: usize,
    groups: u32,
    backtracks: bool,
    names: BTreeMap<String, u32>,
    names_used: Vec<String>,
    highest_reference: u32,
    /// Sets of escapes by what follows the backslash, so that each is made once.
    pub(super) sets: BTreeMap<&'a str, Rc<Set>>,
}

/// A group that is not closed yet; the whole pattern is one as well.
struct Open {
    kind: Kind,
    alternatives: Vec<Node>,
    terms: Vec<Node>,
    groups_before: u32,
}

enum Kind {
    Whole,
    Plain,
    Capture(u32),
    Around { ahead: bool, negative: bool },
}

impl<'a> Parser<'a> {
    fn disjunction(&mut self) -> Result<Node, BadPattern> {
        let mut outer: Vec<Open> = Vec::new();
        let mut open = Open::new(Kind::Whole, 0);
        while let Some(c) = self.next() {
            match c {
                '|' => open.end_alternative(),
                '(' => {
                    if outer.len() == GROUPS_NESTED_MAX {
                        return Err(BadPattern::TooLarge);
                    }
                    let groups_before = self.groups;
                    let inner = Open::new(self.group_kind()?, groups_before);
                    outer.push(std::mem::replace(&mut open, inner));
                }
                ')' => {
                    let around = outer.pop().ok_or(BadPattern::Syntax)?;
                    let closed = std::mem::replace(&mut open, around);
                    let groups_before = closed.groups_before;
                    let node = match closed.kind {
                        Kind::Around { .. } => closed.close(),
                        _ => self.quantified(closed.close(), groups_before)?,
                    };
                    open.terms.push(node);
                }
                '^' => open.terms.push(Node::Assertion(Assertion::Start)),
                '$' => open.terms.push(Node::Assertion(Assertion::End)),
                '*' | '+' | '?' | '{' | '}' | ']' => return Err(BadPattern::Syntax),
                '\\' if self.eat("b") => open.terms.push(Node::Assertion(Assertion::Word)),
                '\\' if self.eat("B") => open.terms.push(Node::Assertion(Assertion::NotWord)),
                _ => {
                    let atom = self.atom(c)?;
                    let node = self.quantified(atom, self.groups)?;
                    open.terms.push(node);
                }
            }
            self.count_node()?;
        }
        if outer.is_empty() {
            Ok(open.close())
        } else {
            Err(BadPattern::Syntax)
        }
    }

    /// What a group is, by what follows its opening parenthesis.
    fn group_kind(&mut self) -> Result<Kind, BadPattern> {
        const AROUND: [(&str, bool, bool); 4] = [
            ("=", true, false),
            ("!", true, true),
            ("<=", false, false),
            ("<!", false, true),
        ];
        if !self.eat("?") {
            return Ok(self.capture());
        }
        if self.eat(":") {
            return Ok(Kind::Plain);
        }
        for (mark, ahead, negative) in AROUND {
            if self.eat(mark) {
                self.backtracks = true;
                return Ok(Kind::Around { ahead, negative });
            }
        }
        if !self.eat("<") {
            return Err(BadPattern::Syntax);
        }
        let name = escape::group_name(self)?;
        match self.names.insert(name, self.groups) {
            None => Ok(self.capture()),
            Some(_) => Err(BadPattern::Syntax),
        }
    }

    fn capture(&mut self) -> Kind {
        let group = self.groups;
        self.groups += 1;
        Kind::Capture(group)
    }

    /// One atom that is no group, from its first character.
    fn atom(&mut self, first: char) -> Result<Node, BadPattern> {
        Ok(match first {
            '.' => Node::Set(self.escape_set(".")?),
            '[' => Node::Set(Rc::new(self.class()?)),
            '\\' if self.eat("k") => {
                if !self.eat("<") {
                    return Err(BadPattern::Syntax);
                }
                self.backtracks = true;
                let name = escape::group_name(self)?;
                self.names_used.push(name);
                Node::Named(self.names_used.len() as u32 - 1)
            }
            '\\' if self.rest.starts_with(|c| matches!(c, '1'..='9')) => {
                self.backtracks = true;
                let group = self.decimal();
                self.highest_reference = self.highest_reference.max(group);
                Node::Reference(group - 1)
            }
            '\\' => match escape::character_class(self)? {
                Some(name) => Node::Set(self.escape_set(name)?),
                None => Node::Char(escape::character(self)?),
            },
            c => Node::Char(u32::from(c)),
        })
    }

    /// A class, from after its opening bracket.
    fn class(&mut self) -> Result<Set, BadPattern> {
        let negative = self.eat("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        while let Some(low) = self.class_atom(&mut ranges)? {
            let mut high = low;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.eat("-");
                high = self.class_atom(&mut ranges)?.ok_or(BadPattern::Syntax)?;
                match (low, high) {
                    (ClassAtom::Char(low), ClassAtom::Char(high)) if low <= high => {}
                    _ => return Err(BadPattern::Syntax),
                }
            }
            if let (ClassAtom::Char(low), ClassAtom::Char(high)) = (low, high) {
                self.count_set_bytes(size_of::<(char, char)>())?;
                ranges.extend(scalar_values(low, high));
            }
        }
        let set = Set::from_ranges(ranges);
        Ok(if negative { set.negated() } else { set })
    }

    /// One atom of a class, `None` at the bracket that ends it. A set goes straight into `ranges`.
    fn class_atom(&mut self, ranges: &mut Vec<(char, char)>) -> Result<Option<ClassAtom>, BadPattern> {
        let c = match self.next().ok_or(BadPattern::Syntax)? {
            ']' => return Ok(None),
            '\\' if self.eat("b") => 8,
            '\\' => match escape::character_class(self)? {
                Some(name) => {
                    ranges.extend_from_slice(self.escape_set(name)?.ranges());
                    return Ok(Some(ClassAtom::Set));
                }
                None => escape::character(self)?,
            },
            c => u32::from(c),
        };
        Ok(Some(ClassAtom::Char(c)))
    }

    /// The atom with the quantifier that follows it, if one does.
    fn quantified(&mut self, body: Node, groups_before: u32) -> Result<Node, BadPattern> {
        let (min, max) = match self.rest.bytes().next() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => {
                self.rest = &self.rest[1..];
                let min = self.digits()?;
                let max = match self.eat(",") {
                    false => Some(min),
                    true if self.rest.starts_with('}') => None,
                    true => Some(self.digits()?),
                };
                (min, max)
            }
            _ => return Ok(body),
        };
        if max.is_some_and(|max| max < min) {
            return Err(BadPattern::Syntax);
        }
        // The last character of any of the four.
        let Some('*' | '+' | '?' | '}') = self.next() else {
            return Err(BadPattern::Syntax);
        };
        self.count_node()?;
        let greedy = !self.eat("?");
        let groups = groups_before..self.groups;
        Ok(Node::Repeat(Box::new(Repeat {
            min,
            max,
            greedy,
            body,
            groups,
        })))
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<u32, BadPattern> {
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            Ok(self.decimal())
        } else {
            Err(BadPattern::Syntax)
        }
    }

    /// The number that the next digits spell; one beyond 32 bits counts as the highest, which no pattern within
    /// the limits reaches.
    fn decimal(&mut self) -> u32 {
        let mut number: u32 = 0;
        while let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(10)) {
            self.rest = &self.rest[1..];
            number = number.saturating_mul(10).saturating_add(digit);
        }
        number
    }

    /// The set of `.` or of the escape with this name.
    fn escape_set(&mut self, name: &'a str) -> Result<Rc<Set>, BadPattern> {
        let set = if let Some(set) = self.sets.get(name) {
            Rc::clone(set)
        } else {
            let set = Rc::new(escape::set(name).ok_or(BadPattern::Syntax)?);
            self.sets.insert(name, Rc::clone(&set));
            set
        };
        self.count_set_bytes(set.bytes())?;
        Ok(set)
    }

    /// The next character, taken.
    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Takes these characters when they come next.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn count_node(&mut self) -> Result<(), BadPattern> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            Err(BadPattern::TooLarge)
        } else {
            Ok(())
        }
    }

    fn count_set_bytes(&mut self, bytes: usize) -> Result<(), BadPattern> {
        self.set_bytes += bytes;
        if self.set_bytes > PATTERN_BYTES_MAX {
            Err(BadPattern::TooLarge)
        } else {
            Ok(())
        }
    }
}

#[derive(Clone, Copy)]
enum ClassAtom {
    Char(u32),
    Set,
}

impl Open {
    fn new(kind: Kind, groups_before: u32) -> Open {
        Open {
            kind,
            alternatives: Vec::new(),
            terms: Vec::new(),
            groups_before,
        }
    }

    fn end_alternative(&mut self) {
        let mut terms = std::mem::take(&mut self.terms);
        self.alternatives.push(match terms.len() {
            0 => Node::Empty,
            1 => terms.remove(0),
            _ => Node::Sequence(terms),
        });
    }

    fn close(mut self) -> Node {
        self.end_alternative();
        let body = match self.alternatives.len() {
            1 => self.alternatives.remove(0),
            _ => Node::Choice(self.alternatives),
        };
        match self.kind {
            Kind::Whole | Kind::Plain => body,
            Kind::Capture(group) => Node::Capture(group, Box::new(body)),
            Kind::Around { ahead, negative } => Node::Around(Box::new(Around {
                ahead,
                negative,
                body,
            })),
        }
    }
}

/// The scalar values from one code point to another: what is left without surrogates.
fn scalar_values(low: u32, high: u32) -> Option<(char, char)> {
    let low = char::from_u32(low).unwrap_or('\u{e000}');
    let high = char::from_u32(high).unwrap_or('\u{d7ff}');
    (low <= high).then_some((low, high))
}
