//! The values that keywords may have, as the meta-schemas say it.

use super::compile::{Compiler, Spot};
use super::draft::Draft;
use super::equal::{Choices, first_duplicate};
use super::fault::Fix;
use super::findings::bounded;
use super::format::Format;
use super::members::sort_names;
use super::node::{Span, TYPE_NAMES, Types};
use super::pattern::{BadPattern, Pattern};
use crate::json::{Number, Value};
use crate::limits::{PATTERN_BYTES_MAX, PATTERNS_MAX, SCHEMA_PATTERNS_BYTES_MAX};
use crate::place::Step;
use std::collections::BTreeMap;

/// A pattern by its text, compiled once: its index, or why it has none.
type Compiled = Result<u32, BadPattern>;

/// The patterns met so far.
#[derive(Default)]
pub(super) struct Patterns<'v> {
    by_text: BTreeMap<&'v str, Compiled>,
    /// How many, repeats included.
    seen: usize,
    /// Bytes of those that were compiled.
    bytes: usize,
}

impl<'v> Compiler<'v> {
    pub(super) fn or_fault<T>(&mut self, spot: Spot, found: Option<T>, fix: Fix) -> Option<T> {
        if found.is_none() {
            self.fault(spot, fix);
        }
        found
    }

    pub(super) fn text(&mut self, spot: Spot, value: &'v Value) -> Option<&'v str> {
        self.or_fault(spot, value.as_str(), Fix::Text)
    }

    pub(super) fn flag(&mut self, spot: Spot, value: &Value) -> Option<bool> {
        self.or_fault(spot, value.as_bool(), Fix::Flag)
    }

    pub(super) fn number(&mut self, spot: Spot, value: &Value) -> Option<Number> {
        self.or_fault(spot, value.as_number(), Fix::Number)
    }

    pub(super) fn count(&mut self, spot: Spot, value: &Value) -> Option<Number> {
        let count = value
            .as_number()
            .filter(|number| number.is_integer() && number.value() >= 0.0);
        self.or_fault(spot, count, Fix::Count)
    }

    pub(super) fn divisor(&mut self, spot: Spot, value: &Value) -> Option<Number> {
        let divisor = value.as_number().filter(|number| number.value() > 0.0);
        self.or_fault(spot, divisor, Fix::Divisor)
    }

    pub(super) fn uri_reference(&mut self, spot: Spot, value: &'v Value) -> Option<&'v str> {
        let text = self.text(spot, value)?;
        let fits = self.draft == Draft::Draft04 || Format::UriReference.matches(text);
        self.or_fault(spot, fits.then_some(text), Fix::UriReference)
    }

    pub(super) fn id_shape(&mut self, spot: Spot, value: &'v Value) {
        if let Some(id) = self.uri_reference(spot, value)
            && self.draft >= Draft::Draft201909
            && id
                .split_once('#')
                .is_some_and(|(_, fragment)| !fragment.is_empty())
        {
            self.fault(spot, Fix::IdWithoutFragment);
        }
    }

    pub(super) fn anchor_shape(&mut self, spot: Spot, value: &'v Value) {
        let Some(name) = self.text(spot, value) else {
            return;
        };
        let newer = self.draft == Draft::Draft202012;
        let mut chars = name.chars();
        let starts = |c: char| c.is_ascii_alphabetic() || (newer && c == '_');
        let continues = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || (!newer && c == ':');
        if !(chars.next().is_some_and(starts) && chars.all(continues)) {
            self.fault(spot, Fix::Anchor);
        }
    }

    pub(super) fn vocabulary(&mut self, spot: Spot, value: &Value) {
        let fits = value.as_object().is_some_and(|object| {
            let mut members = object.members().iter();
            members.all(|member| member.value.as_bool().is_some() && Format::Uri.matches(&member.name))
        });
        if !fits {
            self.fault(spot, Fix::Vocabulary);
        }
    }

    pub(super) fn types(&mut self, spot: Spot, value: &Value) -> Option<Types> {
        let mut types = Types::default();
        match value {
            Value::String(name) if types.add(name) => Some(types),
            Value::Array(names) if !names.is_empty() => {
                let mut repeats = false;
                for (index, name) in names.iter().enumerate() {
                    match name.as_str().filter(|name| TYPE_NAMES.contains(name)) {
                        Some(name) => repeats |= !types.add(name),
                        None => self.fault_at(spot, spot.here.at, Step::Index(index), Fix::Type),
                    }
                }
                if repeats {
                    self.fault(spot, Fix::Type);
                }
                Some(types)
            }
            _ => {
                self.fault(spot, Fix::Type);
                None
            }
        }
    }

    pub(super) fn values(&mut self, spot: Spot, value: &Value) -> Option<u32> {
        let values = self.or_fault(spot, value.as_array(), Fix::Array)?;
        // The meta-schemas of the first two drafts ask for more.
        let strict = self.draft <= Draft::Draft06;
        if strict && (values.is_empty() || first_duplicate(values, &mut 0).is_some()) {
            self.fault(spot, Fix::UniqueValues);
        }
        self.tables.choices.push(Choices::new(values.to_vec()));
        Some(self.tables.choices.len() as u32 - 1)
    }

    /// A list of names, each once; `name` is the member of the keyword's value that holds it.
    pub(super) fn names(&mut self, spot: Spot, value: &Value, name: Option<(&str, u32)>) -> Option<Span> {
        let empty_is_wrong = self.draft == Draft::Draft04;
        let fix = if empty_is_wrong {
            Fix::SomeNames
        } else {
            Fix::Names
        };
        let list = value
            .as_array()
            .filter(|list| !(empty_is_wrong && list.is_empty()));
        let mut names: Vec<_> = list.into_iter().flatten().filter_map(Value::as_str).collect();
        let all_texts = list.is_some_and(|list| list.len() == names.len());
        let once = sort_names(&mut names);
        if !all_texts || !once {
            match name {
                None => self.fault(spot, fix),
                Some((name, at)) => self.fault_at(spot, at, Step::Name(name.into()), fix),
            }
            return None;
        }
        let first = self.tables.names.len();
        self.tables.names.extend(names.into_iter().map(Into::into));
        Some(Span::since(first, self.tables.names.len()))
    }

    /// Compiles a pattern, or finds it where the same text was compiled before. `is_name` if it is a name of
    /// `patternProperties`, which no text may show.
    pub(super) fn pattern(&mut self, spot: Spot, text: &'v str, is_name: bool) -> Option<u32> {
        self.patterns.seen += 1;
        if self.patterns.seen > PATTERNS_MAX {
            self.fault(spot, Fix::Patterns);
            return None;
        }
        let compiled = match self.patterns.by_text.get(text) {
            Some(compiled) => *compiled,
            None => self.compile_pattern(text),
        };
        match compiled {
            Ok(index) => Some(index),
            Err(bad) => {
                let fix = match bad {
                    BadPattern::Syntax if is_name => Fix::PatternName,
                    BadPattern::Syntax => Fix::Pattern,
                    BadPattern::TooLarge => Fix::LargePattern,
                };
                self.fault(spot, fix);
                None
            }
        }
    }

    pub(super) fn compile_pattern(&mut self, text: &'v str) -> Compiled {
        if self.patterns.bytes > SCHEMA_PATTERNS_BYTES_MAX {
            return Err(BadPattern::TooLarge);
        }
        let compiled = match Pattern::compile(text) {
            Err(bad) => {
                // It may have taken as long as the largest one.
                self.patterns.bytes += if bad == BadPattern::TooLarge {
                    PATTERN_BYTES_MAX
                } else {
                    text.len()
                };
                Err(bad)
            }
            Ok(pattern) => {
                self.patterns.bytes += pattern.size();
                self.tables.patterns.push(pattern);
                self.tables.pattern_texts.push(bounded(text).into());
                Ok(self.tables.patterns.len() as u32 - 1)
            }
        };
        self.patterns.by_text.insert(text, compiled);
        compiled
    }
}
