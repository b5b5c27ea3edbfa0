//! What is said about an output: findings in the order of section 13, in the words of section 14.
//!
//! An output of 1 MiB can be wrong in half a million ways. Only the first findings, and the first of each check,
//! are kept while they arrive; only what is kept is put into words.

use super::node::{Keyword, Tables};
use crate::canonical;
use crate::check::finding::{Finding, Findings};
use crate::check::name::CheckName;
use crate::check::wording;
use crate::json::{Value, compare_names};
use crate::limits::{LIST_ENTRIES_MAX, NESTING_MAX, PLACE_BYTES_MAX, TEXT_CHARS_MAX};
use crate::place::{Place, Step};
use std::cmp::Ordering;
use std::fmt::Write;

/// No member name is being looked at.
const NO_NAME: u32 = u32::MAX;

/// A finding before it is put into words.
#[derive(Clone, Debug)]
struct Entry<'s> {
    /// The way from the root of the output. A child at index `n` is `2n + 1`; one that is absent and would
    /// stand in front of it is `2n`, so that a place sorts where its member would.
    place: Box<[u32]>,
    /// The name of what is absent.
    absent: Option<&'s str>,
    check: CheckName,
    /// Index of the keyword.
    keyword: u32,
    /// Index of the member whose name is at fault, or [`NO_NAME`].
    name: u32,
    number: usize,
}

/// Takes findings as they arrive and keeps those that will be shown.
pub(super) struct Collector<'s> {
    level: usize,
    place: [u32; NESTING_MAX],
    name: u32,
    total: u64,
    /// The first ones, in order; of equal place and check in order of arrival, which is that of their way
    /// through the schema.
    kept: Vec<Entry<'s>>,
    /// The first one of each check, in order of arrival.
    firsts: Vec<Entry<'s>>,
}

impl Default for Collector<'_> {
    fn default() -> Self {
        Collector {
            level: 0,
            place: [0; NESTING_MAX],
            name: NO_NAME,
            total: 0,
            kept: Vec::new(),
            firsts: Vec::new(),
        }
    }
}

impl<'s> Collector<'s> {
    /// Goes down to the child at this index; false if that is deeper than any output that was read.
    #[inline]
    pub(super) fn enter(&mut self, index: usize) -> bool {
        let Some(step) = self.place.get_mut(self.level) else {
            return false;
        };
        *step = 2 * index as u32 + 1;
        self.level += 1;
        true
    }

    /// Comes back up.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.level -= 1;
    }

    /// Turns to the name of the member at this index.
    pub(super) fn enter_name(&mut self, index: usize) {
        self.name = index as u32;
    }

    /// Turns back from a name.
    pub(super) fn leave_name(&mut self) {
        self.name = NO_NAME;
    }

    /// Adds a finding of a keyword at the current place, or at the absent member that would stand in front of
    /// a member's index.
    #[cold]
    pub(super) fn add(
        &mut self,
        tables: &Tables,
        keyword: usize,
        number: usize,
        absent: Option<(&'s str, usize)>,
    ) {
        self.total += 1;
        let check = check(&tables.keywords[keyword]);
        let mut level = self.level;
        if let Some((_, gap)) = absent {
            // An object at the deepest level has no members, but it may lack some.
            if level == NESTING_MAX {
                level -= 1;
            } else {
                self.place[level] = 2 * gap as u32;
                level += 1;
            }
        }
        let place = &self.place[..level];
        let absent = absent.map(|(name, _)| name);
        let first = self.firsts.iter().position(|entry| entry.check == check);
        let is_first = first.is_none_or(|index| compare_places(place, absent, &self.firsts[index]).is_lt());
        let last = self.kept.last().filter(|_| self.kept.len() == LIST_ENTRIES_MAX);
        let is_kept = last.is_none_or(|last| {
            compare_places(place, absent, last)
                .then(check.cmp(&last.check))
                .is_lt()
        });
        if !is_first && !is_kept {
            return;
        }
        let entry = Entry {
            place: place.into(),
            absent,
            check,
            keyword: keyword as u32,
            name: self.name,
            number,
        };
        if is_first {
            match first {
                Some(index) => self.firsts[index] = entry.clone(),
                None => self.firsts.push(entry.clone()),
            }
        }
        if is_kept {
            let index = self.kept.partition_point(|kept| kept.order(&entry).is_le());
            self.kept.truncate(LIST_ENTRIES_MAX - 1);
            self.kept.insert(index, entry);
        }
    }

    /// Puts what was kept into words.
    pub(super) fn told(mut self, tables: &Tables, output: &Value) -> Findings {
        self.firsts.sort_by(Entry::order);
        Findings {
            shown: self.kept.iter().map(|entry| entry.told(tables, output)).collect(),
            total: self.total,
            checks: self.firsts.iter().map(|entry| entry.check).collect(),
        }
    }
}

/// How a place compares with that of an entry.
fn compare_places(place: &[u32], absent: Option<&str>, entry: &Entry<'_>) -> Ordering {
    place
        .cmp(&entry.place)
        .then_with(|| match (absent, entry.absent) {
            (Some(a), Some(b)) => compare_names(a, b),
            _ => Ordering::Equal,
        })
}

impl Entry<'_> {
    fn order(&self, other: &Self) -> Ordering {
        compare_places(&self.place, self.absent, other).then(self.check.cmp(&other.check))
    }

    fn told(&self, tables: &Tables, output: &Value) -> Finding {
        let keyword = &tables.keywords[self.keyword as usize];
        let (mut place, value) = walk(output, &self.place);
        let name = value.as_object().filter(|_| self.name != NO_NAME).map(|object| {
            let member = &object.members()[self.name as usize];
            Value::String(member.name.clone())
        });
        let value = name.as_ref().unwrap_or(value);
        let found = self.found(keyword, value, &place);
        if let Some(name) = self.absent {
            place.0.push(Step::Name(name.into()));
        }
        let expected = expected(tables, keyword, self.number);
        Finding {
            check: self.check,
            field: place_text(&place),
            is_root: place.0.is_empty(),
            place: place.within(PLACE_BYTES_MAX),
            detail: format!("expected {expected}, found {found}"),
            expected,
            found,
        }
    }

    fn found(&self, keyword: &Keyword, value: &Value, place: &Place) -> String {
        match keyword {
            Keyword::Type(_) => value.type_name().to_owned(),
            Keyword::Required(_) | Keyword::DependentRequired(_) => "nothing".to_owned(),
            Keyword::MaxLength(_) | Keyword::MinLength(_) => {
                value.as_str().map_or(0, |text| text.chars().count()).to_string()
            }
            Keyword::MaxItems(_) | Keyword::MinItems(_) => {
                value.as_array().map_or(0, <[Value]>::len).to_string()
            }
            Keyword::MaxProperties(_) | Keyword::MinProperties(_) => {
                value.as_object().map_or(0, crate::json::Object::len).to_string()
            }
            Keyword::UniqueItems(_) => {
                let mut element = place.clone();
                element.0.push(Step::Index(self.number));
                format!("duplicate at {}", place_text(&element))
            }
            Keyword::Contains(_)
            | Keyword::AdditionalProperties(..)
            | Keyword::Items(..)
            | Keyword::UnevaluatedItems(_)
            | Keyword::UnevaluatedProperties(_) => self.number.to_string(),
            Keyword::False => "1".to_owned(),
            Keyword::AnyOf(_) => "no match".to_owned(),
            Keyword::OneOf(_) => format!("{} matches", self.number),
            Keyword::Not(_) => "a match".to_owned(),
            _ => wording::value(value),
        }
    }
}

/// The place that a way leads to, as far as it is there, and the value at it.
fn walk<'o>(output: &'o Value, way: &[u32]) -> (Place, &'o Value) {
    let mut value = output;
    let mut place = Place::default();
    for step in way.iter().filter(|step| *step % 2 == 1) {
        let index = (step / 2) as usize;
        match value {
            Value::Array(elements) => {
                place.0.push(Step::Index(index));
                value = &elements[index];
            }
            Value::Object(object) => {
                let member = &object.members()[index];
                place.0.push(Step::Name(member.name.clone()));
                value = &member.value;
            }
            _ => break,
        }
    }
    (place, value)
}

/// A text that the response will cut is not kept longer than it takes to be cut.
pub(super) fn bounded(text: &str) -> &str {
    let end = text.char_indices().nth(TEXT_CHARS_MAX + 1);
    end.map_or(text, |(end, _)| &text[..end])
}

fn place_text(place: &Place) -> String {
    let mut text = String::new();
    // Names can be long: no more of them than can be shown.
    for (position, step) in place.0.iter().enumerate() {
        let _ = match step {
            Step::Index(index) => write!(text, "[{index}]"),
            Step::Name(name) => {
                if position > 0 {
                    text.push('.');
                }
                crate::place::write_name(&mut text, bounded(name))
            }
        };
    }
    if place.0.is_empty() {
        return "$".to_owned();
    }
    bounded(&text).to_owned()
}

fn check(keyword: &Keyword) -> CheckName {
    match keyword {
        Keyword::Type(_) => CheckName::SchemaType,
        Keyword::Enum(_) => CheckName::SchemaEnum,
        Keyword::Const(_) => CheckName::SchemaConst,
        Keyword::MultipleOf(_) => CheckName::SchemaMultipleOf,
        Keyword::Maximum(_) | Keyword::BelowMaximum(_) => CheckName::SchemaMaximum,
        Keyword::Minimum(_) | Keyword::AboveMinimum(_) => CheckName::SchemaMinimum,
        Keyword::ExclusiveMaximum(_) => CheckName::SchemaExclusiveMaximum,
        Keyword::ExclusiveMinimum(_) => CheckName::SchemaExclusiveMinimum,
        Keyword::MaxLength(_) => CheckName::SchemaMaxLength,
        Keyword::MinLength(_) => CheckName::SchemaMinLength,
        Keyword::MaxItems(_) => CheckName::SchemaMaxItems,
        Keyword::MinItems(_) => CheckName::SchemaMinItems,
        Keyword::MaxProperties(_) => CheckName::SchemaMaxProperties,
        Keyword::MinProperties(_) => CheckName::SchemaMinProperties,
        Keyword::Pattern(_) => CheckName::SchemaPattern,
        Keyword::Format(_) => CheckName::SchemaFormat,
        Keyword::UniqueItems(_) => CheckName::SchemaUniqueItems,
        Keyword::Contains(_) => CheckName::SchemaContains,
        Keyword::Required(_) => CheckName::SchemaRequired,
        Keyword::DependentRequired(_) => CheckName::SchemaDependentRequired,
        Keyword::AdditionalProperties(..) => CheckName::SchemaAdditionalProperties,
        Keyword::Items(..) => CheckName::SchemaItems,
        Keyword::UnevaluatedItems(_) => CheckName::SchemaUnevaluatedItems,
        Keyword::UnevaluatedProperties(_) => CheckName::SchemaUnevaluatedProperties,
        Keyword::AnyOf(_) => CheckName::SchemaAnyOf,
        Keyword::OneOf(_) => CheckName::SchemaOneOf,
        Keyword::Not(_) => CheckName::SchemaNot,
        // The rest only applies schemas and never fails by itself.
        Keyword::False
        | Keyword::Properties(_)
        | Keyword::PatternProperties(_)
        | Keyword::PropertyNames(_)
        | Keyword::PrefixItems(_)
        | Keyword::AllOf(_)
        | Keyword::If(..)
        | Keyword::Then(_)
        | Keyword::DependentSchemas(_)
        | Keyword::Ref(_)
        | Keyword::DynamicRef(..) => CheckName::SchemaFalse,
    }
}

fn expected(tables: &Tables, keyword: &Keyword, number: usize) -> String {
    let show = |number: &crate::json::Number| wording::number(*number);
    let count = |number: &crate::json::Number| canonical::number_text(*number);
    match keyword {
        Keyword::Type(types) => wording::any_of(&types.names().collect::<Vec<_>>()),
        Keyword::Enum(choices) => {
            let mut text = "one of ".to_owned();
            for (index, value) in tables.choices[*choices as usize].values.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                text.push_str(&wording::value(value));
                // Every character takes at most four bytes: what follows would be cut.
                if text.len() > 4 * TEXT_CHARS_MAX {
                    break;
                }
            }
            bounded(&text).to_owned()
        }
        Keyword::Const(choices) => {
            let constant = tables.choices[*choices as usize].values.first();
            constant.map(wording::value).unwrap_or_default()
        }
        Keyword::MultipleOf(divisor) => format!("a multiple of {}", show(divisor)),
        Keyword::Maximum(limit) => format!("<= {}", show(limit)),
        Keyword::Minimum(limit) => format!(">= {}", show(limit)),
        Keyword::ExclusiveMaximum(limit) | Keyword::BelowMaximum(limit) => format!("< {}", show(limit)),
        Keyword::ExclusiveMinimum(limit) | Keyword::AboveMinimum(limit) => format!("> {}", show(limit)),
        Keyword::MaxLength(limit) => format!("at most {} characters", count(limit)),
        Keyword::MinLength(limit) => format!("at least {} characters", count(limit)),
        Keyword::MaxItems(limit) => format!("at most {} items", count(limit)),
        Keyword::MinItems(limit) => format!("at least {} items", count(limit)),
        Keyword::MaxProperties(limit) => format!("at most {} members", count(limit)),
        Keyword::MinProperties(limit) => format!("at least {} members", count(limit)),
        Keyword::Pattern(pattern) => {
            format!("a string matching {}", tables.pattern_texts[*pattern as usize])
        }
        Keyword::Format(format) => format!("format {}", format.name()),
        Keyword::UniqueItems(_) => "unique items".to_owned(),
        Keyword::Contains(search) => {
            let search = &tables.searches[*search as usize];
            match &search.max {
                Some(max) if number as f64 >= search.min.value() => {
                    format!("at most {} matching items", count(max))
                }
                _ => format!("at least {} matching items", count(&search.min)),
            }
        }
        Keyword::Required(_) | Keyword::DependentRequired(_) => "a value".to_owned(),
        Keyword::AdditionalProperties(..) | Keyword::UnevaluatedProperties(_) => {
            "no further members".to_owned()
        }
        Keyword::Items(..) | Keyword::UnevaluatedItems(_) => "no further items".to_owned(),
        Keyword::AnyOf(list) => format!("a match of at least one of {} schemas", list.len),
        Keyword::OneOf(_) => "exactly one".to_owned(),
        Keyword::Not(_) => "no match".to_owned(),
        _ => "nothing".to_owned(),
    }
}
