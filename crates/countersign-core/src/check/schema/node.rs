//! A compiled schema: nodes and keywords in flat tables, tied by indexes, so that a reference is a number and
//! a cycle is harmless.

use super::draft::Word;
use super::equal::Choices;
use super::format::Format;
use super::pattern::Pattern;
use crate::json::{Number, Value};
use crate::place::{Place, Step};
use compact_str::CompactString;

/// Index into [`Tables::nodes`].
pub(super) type NodeId = u32;

/// The node of `true` and `{}`: nothing to evaluate.
pub(super) const TRUE: NodeId = 0;
/// The node of `false`: one keyword, [`Keyword::False`].
pub(super) const FALSE: NodeId = 1;

/// The location of the schema itself in [`Tables::locations`].
pub(super) const ROOT: u32 = 0;

/// A run of entries in a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub first: u32,
    pub len: u32,
}

impl Span {
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.len as usize
    }

    pub(super) fn since(first: usize, end: usize) -> Span {
        Span {
            first: first as u32,
            len: (end - first) as u32,
        }
    }
}

/// One schema: a run of keywords in canonical order of their names.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub keywords: Span,
    /// How many of the keywords count (section 16).
    pub counted: u32,
    /// The resource (a schema with a base URI of its own) that it belongs to.
    pub resource: u32,
    /// Where it stands in `expected_schema`.
    pub location: u32,
    /// Whether applying it takes more than running its keywords: it keeps track of what was evaluated, or the
    /// path through resources matters to a dynamic reference.
    pub special: bool,
}

/// What one keyword asks. What several keywords say together (`minContains` with `contains`) is one entry.
#[derive(Debug)]
pub(super) enum Keyword {
    /// The `false` schema.
    False,
    Type(Types),
    Enum(u32),
    Const(u32),
    MultipleOf(Number),
    Maximum(Number),
    Minimum(Number),
    ExclusiveMaximum(Number),
    ExclusiveMinimum(Number),
    /// Draft 04: `maximum` with `exclusiveMaximum: true`.
    BelowMaximum(Number),
    /// Draft 04: `minimum` with `exclusiveMinimum: true`.
    AboveMinimum(Number),
    MaxLength(Number),
    MinLength(Number),
    MaxItems(Number),
    MinItems(Number),
    MaxProperties(Number),
    MinProperties(Number),
    Pattern(u32),
    Format(Format),
    UniqueItems(bool),
    /// Index into [`Tables::searches`].
    Contains(u32),
    /// Names in [`Tables::names`], sorted.
    Required(Span),
    /// Entries of [`Tables::dependents`], sorted by trigger.
    DependentRequired(Span),
    /// Entries of [`Tables::named`], sorted.
    Properties(Span),
    /// Entries of [`Tables::matched`].
    PatternProperties(Span),
    /// Index into [`Tables::siblings`].
    AdditionalProperties(NodeId, u32),
    PropertyNames(NodeId),
    /// Entries of [`Tables::lists`]: `prefixItems`, or an array of `items` before 2020-12.
    PrefixItems(Span),
    /// `items` for all elements from an index on; also `additionalItems`.
    Items(NodeId, u32),
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
    AllOf(Span),
    AnyOf(Span),
    OneOf(Span),
    Not(NodeId),
    /// `if`, with the `else` that runs where it does not hold.
    If(NodeId, NodeId),
    Then(NodeId),
    /// Entries of [`Tables::named`], sorted.
    DependentSchemas(Span),
    /// Index into [`Tables::targets`].
    Ref(u32),
    /// Index into [`Tables::targets`], and the name in [`Tables::anchors`]. [`RECURSIVE`] for `$recursiveRef`.
    DynamicRef(u32, u32),
}

/// The anchor name that `$recursiveAnchor: true` stands for.
pub(super) const RECURSIVE: u32 = 0;

impl Keyword {
    /// Whether section 16 counts it.
    pub(super) fn counts(&self) -> bool {
        match self {
            Keyword::AdditionalProperties(node, _)
            | Keyword::Items(node, _)
            | Keyword::UnevaluatedItems(node)
            | Keyword::UnevaluatedProperties(node) => *node == FALSE,
            Keyword::Properties(_)
            | Keyword::PatternProperties(_)
            | Keyword::PropertyNames(_)
            | Keyword::PrefixItems(_)
            | Keyword::AllOf(_)
            | Keyword::If(..)
            | Keyword::Then(_)
            | Keyword::DependentSchemas(_)
            | Keyword::Ref(_)
            | Keyword::DynamicRef(..) => false,
            _ => true,
        }
    }
}

/// The types of a `type` keyword: as a set to test, and in the order written, for texts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Types {
    set: u8,
    written: [u8; 7],
    len: u8,
}

/// Type names of JSON Schema; the position of each is its bit.
pub(super) const TYPE_NAMES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];
const INTEGER: u8 = 2;
const NUMBER: u8 = 4;

impl Types {
    /// Adds the type of this name; false if there is none or it is there already.
    pub(super) fn add(&mut self, name: &str) -> bool {
        let Some(index) = TYPE_NAMES.iter().position(|known| *known == name) else {
            return false;
        };
        let index = index as u8;
        if self.written[..usize::from(self.len)].contains(&index) {
            return false;
        }
        self.written[usize::from(self.len)] = index;
        self.len += 1;
        self.set |= 1 << index;
        if index == NUMBER {
            self.set |= 1 << INTEGER;
        }
        true
    }

    /// Whether the value is of one of the types; `1.0` is an integer in every draft (section 6).
    #[inline]
    pub(super) fn admit(self, value: &Value) -> bool {
        let bit = match value {
            Value::Array(_) => 0,
            Value::Bool(_) => 1,
            Value::Number(number) if self.set & (1 << NUMBER) == 0 && number.is_integer() => INTEGER,
            Value::Null => 3,
            Value::Number(_) => NUMBER,
            Value::Object(_) => 5,
            Value::String(_) => 6,
        };
        self.set & (1 << bit) != 0
    }

    /// The names as written.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.written[..usize::from(self.len)]
            .iter()
            .map(|index| TYPE_NAMES[usize::from(*index)])
    }
}

/// A member name and the schema that belongs to it.
#[derive(Debug)]
pub(super) struct Named {
    pub name: CompactString,
    pub node: NodeId,
}

/// A pattern for member names and the schema that belongs to it.
#[derive(Debug)]
pub(super) struct Matched {
    pub pattern: u32,
    pub node: NodeId,
    /// Its place in the schema, for a pattern that takes too many steps.
    pub location: u32,
}

/// What `additionalProperties` leaves to its neighbours.
#[derive(Debug)]
pub(super) struct Siblings {
    pub properties: Span,
    pub patterns: Span,
}

/// `contains` with its bounds.
#[derive(Debug)]
pub(super) struct Search {
    pub node: NodeId,
    pub min: Number,
    pub max: Option<Number>,
    /// From 2020-12 on, what matches counts as evaluated.
    pub marks: bool,
}

/// One member of `dependentRequired`.
#[derive(Debug)]
pub(super) struct Dependent {
    pub trigger: CompactString,
    /// Names in [`Tables::names`], sorted.
    pub required: Span,
}

/// A dynamic anchor: `name` stands for `node` in `resource`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DynamicAnchor {
    pub name: u32,
    pub resource: u32,
    pub node: NodeId,
}

/// One step of a location in `expected_schema`.
#[derive(Clone, Copy, Debug)]
pub(super) enum LocationStep {
    Word(Word),
    Index(u32),
    /// A name in [`Tables::named`].
    Name(u32),
}

/// A location: a step below another one. The root is its own parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub parent: u32,
    pub step: LocationStep,
}

/// Everything that a compiled schema holds.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub nodes: Vec<Node>,
    pub keywords: Vec<Keyword>,
    pub root: NodeId,
    /// Whether it has a dynamic reference, so that the path through its resources matters.
    pub dynamic: bool,
    pub choices: Vec<Choices>,
    pub patterns: Vec<Pattern>,
    /// The text of each pattern, as much of it as can be shown.
    pub pattern_texts: Vec<CompactString>,
    pub names: Vec<CompactString>,
    pub named: Vec<Named>,
    pub matched: Vec<Matched>,
    pub siblings: Vec<Siblings>,
    pub searches: Vec<Search>,
    pub dependents: Vec<Dependent>,
    pub lists: Vec<NodeId>,
    pub targets: Vec<NodeId>,
    /// Sorted by name, then resource.
    pub anchors: Vec<DynamicAnchor>,
    pub locations: Vec<Location>,
}

impl Tables {
    /// The place of a location, and of `word` below it.
    pub(super) fn place(&self, mut location: u32, word: Option<Word>) -> Place {
        let mut steps: Vec<Step> = word
            .map(|word| Step::Name(word.as_str().into()))
            .into_iter()
            .collect();
        while location != ROOT {
            let Location { parent, step } = self.locations[location as usize];
            steps.push(match step {
                LocationStep::Word(word) => Step::Name(word.as_str().into()),
                LocationStep::Index(index) => Step::Index(index as usize),
                LocationStep::Name(name) => Step::Name(self.named[name as usize].name.clone()),
            });
            location = parent;
        }
        steps.reverse();
        Place(steps)
    }

    /// Bytes that the tables hold, texts and values included.
    pub(super) fn size(&self) -> usize {
        fn of<T>(table: &Vec<T>) -> usize {
            table.capacity() * size_of::<T>()
        }
        fn heap(text: &CompactString) -> usize {
            if text.is_heap_allocated() {
                text.capacity()
            } else {
                0
            }
        }
        let flat = of(&self.nodes)
            + of(&self.keywords)
            + of(&self.names)
            + of(&self.named)
            + of(&self.matched)
            + of(&self.siblings)
            + of(&self.searches)
            + of(&self.dependents)
            + of(&self.lists)
            + of(&self.targets)
            + of(&self.anchors)
            + of(&self.locations);
        flat + self.choices.iter().map(Choices::size).sum::<usize>()
            + self.patterns.iter().map(Pattern::size).sum::<usize>()
            + self.pattern_texts.iter().map(heap).sum::<usize>()
            + self.names.iter().map(heap).sum::<usize>()
            + self.named.iter().map(|named| heap(&named.name)).sum::<usize>()
            + self
                .dependents
                .iter()
                .map(|dependent| heap(&dependent.trigger))
                .sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_takes_little_beside_its_texts() {
        // A schema of 1 MiB can have 100,000 nodes: their size is what compiling it takes.
        assert_eq!((size_of::<Keyword>(), size_of::<Node>()), (24, 24));
        assert_eq!((size_of::<Named>(), size_of::<Location>()), (32, 12));
    }
}
