//! The member paths of one output: names from the root, indexes collapsed to `[]` (verification.md, sections 12
//! and 16).

use crate::check::equality::fingerprint_of_name;
use crate::limits::TEXT_CHARS_MAX;
use crate::place::write_name;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// The node below which its members are.
    node: u32,
    /// The nearest member path; [`Spot::ROOT`]'s if there is none.
    pub(super) path: u32,
}

impl Spot {
    pub(super) const ROOT: Spot = Spot { node: 0, path: 0 };
}

/// One step of a place or a member path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Name(&'a str),
    Index(usize),
    Every,
}

/// The checks that found something at a member path, a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) found: u8,
    /// Those whose finding is shown.
    pub(super) shown: u8,
}

/// Every member path seen so far: a tree of names, and of `[]` where elements have members.
pub(super) struct MemberPaths<'a> {
    nodes: Vec<Node<'a>>,
    /// The children of nodes that have many and are asked for one out of turn, by parent, fingerprint of the
    /// name and name: names are rarely looked at, and no choice of names makes this slow.
    index: BTreeMap<(u32, u32, &'a str), u32>,
}

struct Node<'a> {
    /// The name; none for the root and for the elements of an array.
    name: Option<&'a str>,
    parent: u32,
    /// The node of the elements, if this is an array whose elements may have members. 0 is none, here and below:
    /// the root is nobody's child.
    elements: u32,
    first_child: u32,
    last_child: u32,
    next: u32,
    children: u32,
    is_indexed: bool,
    marks: Marks,
}

/// The members of one object as they are read in canonical order.
pub(super) struct Members {
    node: u32,
    /// The child that comes next if the object is like those before it.
    next: u32,
    /// Whether no object here had members before, so that each name of this one is new.
    is_first: bool,
}

/// Children up to which a search goes through all of them; also how far it looks ahead.
const FEW: u32 = 8;

impl<'a> MemberPaths<'a> {
    pub(super) fn new() -> Self {
        let mut nodes = Vec::with_capacity(16);
        nodes.push(Node::new(None, 0));
        MemberPaths {
            nodes,
            index: BTreeMap::new(),
        }
    }

    /// Begins to read the members of an object.
    pub(super) fn members(&self, spot: Spot) -> Members {
        let next = self.nodes[spot.node as usize].first_child;
        Members {
            node: spot.node,
            next,
            is_first: next == 0,
        }
    }

    /// The spot of the next member.
    pub(super) fn member(&mut self, members: &mut Members, name: &'a str) -> Spot {
        let ahead = if self.nodes[members.node as usize].is_indexed {
            1
        } else {
            FEW
        };
        let known = if members.is_first {
            None
        } else {
            self.find(members.next, ahead, name)
        };
        let node = match known {
            Some(known) => known,
            None if members.is_first => self.add(members.node, name),
            None => self.find_or_add(members.node, name),
        };
        members.next = self.nodes[node as usize].next;
        Spot { node, path: node }
    }

    /// The spot of what stands in an array.
    pub(super) fn inside(&mut self, array: Spot) -> Spot {
        if self.nodes[array.node as usize].elements == 0 {
            self.nodes[array.node as usize].elements = self.nodes.len() as u32;
            self.nodes.push(Node::new(None, array.node));
        }
        Spot {
            node: self.nodes[array.node as usize].elements,
            path: array.path,
        }
    }

    /// Looks at the next `count` siblings, `node` the first of them.
    fn find(&self, mut node: u32, count: u32, name: &str) -> Option<u32> {
        for _ in 0..count {
            if node == 0 {
                return None;
            }
            let sibling = &self.nodes[node as usize];
            if sibling.name == Some(name) {
                return Some(node);
            }
            node = sibling.next;
        }
        None
    }

    /// Looks at all children, or adds one.
    fn find_or_add(&mut self, parent: u32, name: &'a str) -> u32 {
        let Node {
            first_child,
            children,
            is_indexed,
            ..
        } = self.nodes[parent as usize];
        if children <= FEW {
            return self
                .find(first_child, FEW, name)
                .unwrap_or_else(|| self.add(parent, name));
        }
        if !is_indexed {
            self.nodes[parent as usize].is_indexed = true;
            let mut child = first_child;
            while child != 0 {
                let node = &self.nodes[child as usize];
                let name = node.name.unwrap_or_default();
                self.index
                    .insert((parent, fingerprint_of_name(name), name), child);
                child = node.next;
            }
        }
        let next = self.nodes.len() as u32;
        match *self
            .index
            .entry((parent, fingerprint_of_name(name), name))
            .or_insert(next)
        {
            new if new == next => self.add(parent, name),
            known => known,
        }
    }

    /// Adds a child that there is not yet.
    fn add(&mut self, parent: u32, name: &'a str) -> u32 {
        let added = self.nodes.len() as u32;
        self.nodes.push(Node::new(Some(name), parent));
        let above = &mut self.nodes[parent as usize];
        above.children += 1;
        match std::mem::replace(&mut above.last_child, added) {
            0 => above.first_child = added,
            last => self.nodes[last as usize].next = added,
        }
        added
    }

    /// What was found at a member path.
    pub(super) fn marks(&mut self, path: u32) -> &mut Marks {
        &mut self.nodes[path as usize].marks
    }

    /// How many member paths there are, the root not counted.
    pub(super) fn count(&self) -> u64 {
        self.nodes.iter().filter(|node| node.name.is_some()).count() as u64
    }

    /// How many member paths a finding belongs to, the root counted.
    pub(super) fn count_with_findings(&self) -> u64 {
        self.nodes.iter().filter(|node| node.marks.found != 0).count() as u64
    }

    /// The text of a member path.
    pub(super) fn field(&self, path: u32) -> String {
        let above = |node: &u32| (*node != 0).then(|| self.nodes[*node as usize].parent);
        let nodes = std::iter::successors(Some(path), above).filter(|node| *node != 0);
        spell(
            nodes
                .map(|node| self.nodes[node as usize].name.map_or(Step::Every, Step::Name))
                .collect(),
        )
    }
}

impl<'a> Node<'a> {
    fn new(name: Option<&'a str>, parent: u32) -> Self {
        Node {
            name,
            parent,
            elements: 0,
            first_child: 0,
            last_child: 0,
            next: 0,
            children: 0,
            is_indexed: false,
            marks: Marks::default(),
        }
    }
}

/// The text of steps that are given from the last to the first. Ends one character beyond what a response
/// shows of any text: more would be cut, and names may be long.
pub(super) fn spell(steps_up: Vec<Step<'_>>) -> String {
    let mut text = Start {
        text: String::new(),
        chars_left: TEXT_CHARS_MAX + 1,
    };
    if steps_up.is_empty() {
        return "$".to_owned();
    }
    // An error means that the text is long enough.
    let _ = steps_up.into_iter().rev().try_for_each(|step| match step {
        Step::Index(index) => write!(text, "[{index}]"),
        Step::Every => text.write_str("[]"),
        Step::Name(name) => {
            if !text.text.is_empty() {
                text.write_char('.')?;
            }
            write_name(&mut text, name)
        }
    });
    text.text
}

/// The first characters of a text.
struct Start {
    text: String,
    chars_left: usize,
}

impl Write for Start {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        more.chars().try_for_each(|c| {
            self.chars_left = self.chars_left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
            Ok(())
        })
    }
}
