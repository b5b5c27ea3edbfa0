//! Why a schema is refused: where, what is wrong, what to do. Never with a value of the caller.

use super::draft::{Draft, Word};
use super::node::{TYPE_NAMES, Tables};
use crate::limits::{LIST_ENTRIES_MAX, PATTERNS_MAX};
use crate::place::{Place, Step};

/// One thing to mend in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where, inside `expected_schema`.
    pub place: Place,
    /// Byte offset of the nearest member in the request's text, for the order of problems.
    pub at: u32,
    /// What is wrong, to be read after the field.
    pub problem: String,
    /// What to do.
    pub fix: String,
}

/// Where a fault stands, to be spelled out if it is among the first.
#[derive(Clone, Debug)]
pub(super) struct Spotted {
    pub at: u32,
    pub location: u32,
    /// The keyword at that location.
    pub word: Option<Word>,
    /// The step inside its value.
    pub step: Option<Step>,
}

/// The first faults of a schema in order of the text, at most [`LIST_ENTRIES_MAX`].
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(Spotted, Fix)>);

impl Faults {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a fault; one that comes after enough others is dropped.
    pub(super) fn add(&mut self, spotted: Spotted, fix: Fix) {
        let index = self.0.partition_point(|(earlier, _)| earlier.at <= spotted.at);
        if index < LIST_ENTRIES_MAX {
            self.0.insert(index, (spotted, fix));
            self.0.truncate(LIST_ENTRIES_MAX);
        }
    }

    /// The faults with their texts.
    pub(super) fn told(self, tables: &Tables) -> Vec<SchemaFault> {
        let mut told: Vec<SchemaFault> = Vec::new();
        for (
            Spotted {
                at,
                location,
                word,
                step,
            },
            fix,
        ) in self.0
        {
            let mut place = tables.place(location, word);
            place.0.extend(step);
            let fault = SchemaFault {
                place,
                at,
                problem: fix.problem().to_owned(),
                fix: fix.fix(),
            };
            // A schema that is reached as a part and by a pointer may have been looked at twice.
            if !told.contains(&fault) {
                told.push(fault);
            }
        }
        told
    }
}

/// What is wrong and how to mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fix {
    Draft,
    Schema,
    Draft04Schema,
    TooDeep,
    Text,
    Flag,
    Array,
    Number,
    Count,
    Divisor,
    Type,
    UniqueValues,
    Names,
    SomeNames,
    NameLists,
    Dependencies,
    Schemas,
    SchemaMap,
    Vocabulary,
    Uri,
    UriReference,
    IdWithoutFragment,
    LongIds,
    Anchor,
    NeedsMaximum,
    NeedsMinimum,
    Pattern,
    PatternName,
    LargePattern,
    Patterns,
    Unresolved,
    Ambiguous,
}

impl Fix {
    fn problem(self) -> &'static str {
        match self {
            Fix::Draft => "does not name a draft that is known here",
            Fix::TooDeep => "is nested too deeply",
            Fix::NeedsMaximum | Fix::NeedsMinimum => "stands alone",
            Fix::Pattern => "is not a regular expression that can be used",
            Fix::PatternName => "has a member name that is not a regular expression that can be used",
            Fix::LargePattern => "compiles to too large a pattern",
            Fix::Patterns => "is one pattern too many",
            Fix::Unresolved => "does not lead to a schema inside this document",
            Fix::Ambiguous => "leads to more than one schema",
            Fix::LongIds => "makes the URIs of this schema too long",
            _ => "is not a valid value for this keyword",
        }
    }

    fn fix(self) -> String {
        let fixed = match self {
            Fix::Draft => return format!("Use one of: {}; or leave it out for 2020-12.", Draft::names()),
            Fix::Type => {
                let names: Vec<String> = TYPE_NAMES.iter().map(|name| format!("\"{name}\"")).collect();
                return format!(
                    "Use one of: {}; or an array of them, each once.",
                    names.join(", ")
                );
            }
            Fix::Patterns => return format!("Use at most {PATTERNS_MAX} patterns in one schema."),
            Fix::Schema => "Use a JSON Schema: an object, true or false.",
            Fix::Draft04Schema => "Use a JSON Schema: an object.",
            Fix::TooDeep => "Flatten the schema, or move its parts to definitions and refer to them.",
            Fix::Text => "Use a string.",
            Fix::Flag => "Use true or false.",
            Fix::Array => "Use an array.",
            Fix::Number => "Use a number.",
            Fix::Count => "Use a whole number, 0 or more.",
            Fix::Divisor => "Use a number greater than 0.",
            Fix::UniqueValues => "Use an array of at least one value, each once.",
            Fix::Names => "Use an array of strings, each once.",
            Fix::SomeNames => "Use an array of at least one string, each once.",
            Fix::NameLists => "Use an object whose values are arrays of strings.",
            Fix::Dependencies => "Use an object whose values are JSON Schemas or arrays of strings.",
            Fix::Schemas => "Use an array of at least one JSON Schema.",
            Fix::SchemaMap => "Use an object whose values are JSON Schemas.",
            Fix::Vocabulary => "Use an object whose names are URIs and whose values are true or false.",
            Fix::Uri => "Use a URI.",
            Fix::UriReference => "Use a URI reference.",
            Fix::IdWithoutFragment => {
                "Use a URI reference without a fragment; a fragment's name goes into $anchor."
            }
            Fix::LongIds => "Shorten the URIs in $id and $ref.",
            Fix::Anchor => "Use a letter, then letters, digits, '-', '.' or '_'.",
            Fix::NeedsMaximum => "Add maximum beside it, or leave it out.",
            Fix::NeedsMinimum => "Add minimum beside it, or leave it out.",
            Fix::Pattern | Fix::PatternName => "Use a regular expression of ECMA-262, read with the u flag.",
            Fix::LargePattern => "Shorten the pattern or lower its repeat counts.",
            Fix::Unresolved => {
                "Use a reference that begins with # or names an $id of this schema; nothing is ever fetched."
            }
            Fix::Ambiguous => "Give each $id and each anchor to one schema only.",
        };
        fixed.to_owned()
    }
}
