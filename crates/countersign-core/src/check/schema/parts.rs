//! The places inside a schema where it has further schemas.

use super::compile::{Compiler, Here, Spot};
use super::draft::{Draft, Word};
use super::fault::Fix;
use super::node::{
    Dependent, FALSE, Keyword, Location, LocationStep, Matched, Named, NodeId, Search, Span, TRUE,
};
use crate::json::{Number, Object, Value};

impl<'v> Compiler<'v> {
    pub(super) fn dependent_required(&mut self, spot: Spot, value: &Value) -> Option<Keyword> {
        let object = self.or_fault(spot, value.as_object(), Fix::NameLists)?;
        let first = self.tables.dependents.len();
        for member in object.members() {
            let required = self.names(spot, &member.value, Some((&member.name, member.at)));
            self.tables.dependents.push(Dependent {
                trigger: member.name.clone(),
                required: required.unwrap_or_default(),
            });
        }
        Some(Keyword::DependentRequired(Span::since(
            first,
            self.tables.dependents.len(),
        )))
    }

    pub(super) fn dependencies(&mut self, spot: Spot, value: &'v Value) -> Option<Keyword> {
        let object = self.or_fault(spot, value.as_object(), Fix::Dependencies)?;
        let lists = || {
            object
                .members()
                .iter()
                .filter(|member| member.value.as_array().is_some())
        };
        let first = self.tables.dependents.len();
        for member in lists() {
            let required = self.names(spot, &member.value, Some((&member.name, member.at)));
            self.tables.dependents.push(Dependent {
                trigger: member.name.clone(),
                required: required.unwrap_or_default(),
            });
        }
        let dependents = Span::since(first, self.tables.dependents.len());
        if dependents.len > 0 {
            self.pending.push(Keyword::DependentRequired(dependents));
        }
        let mapped = self.map(spot, value)?;
        (lists().count() < object.len()).then_some(Keyword::DependentSchemas(mapped))
    }

    fn location(&mut self, parent: u32, step: LocationStep) -> u32 {
        self.tables.locations.push(Location { parent, step });
        self.tables.locations.len() as u32 - 1
    }

    pub(super) fn subschema(&mut self, spot: Spot, value: &'v Value) -> NodeId {
        let location = self.location(spot.here.location, LocationStep::Word(spot.word));
        let here = Here {
            location,
            depth: spot.here.depth + 1,
            ..spot.here
        };
        self.schema(value, here)
    }

    pub(super) fn subschema_or_flag(&mut self, spot: Spot, value: &'v Value) -> NodeId {
        match value {
            Value::Bool(true) => TRUE,
            Value::Bool(false) => FALSE,
            value => self.subschema(spot, value),
        }
    }

    pub(super) fn list(&mut self, spot: Spot, value: &'v Value) -> Option<Span> {
        let schemas = value.as_array().filter(|schemas| !schemas.is_empty());
        let schemas = self.or_fault(spot, schemas, Fix::Schemas)?;
        let first = self.tables.lists.len();
        self.tables.lists.resize(first + schemas.len(), TRUE);
        let parent = self.location(spot.here.location, LocationStep::Word(spot.word));
        for (index, schema) in schemas.iter().enumerate() {
            let location = self.location(parent, LocationStep::Index(index as u32));
            let here = Here {
                location,
                depth: spot.here.depth + 2,
                ..spot.here
            };
            self.tables.lists[first + index] = self.schema(schema, here);
        }
        Some(Span::since(first, first + schemas.len()))
    }

    /// An object of schemas; in `dependencies`, members that are lists are passed over.
    pub(super) fn map(&mut self, spot: Spot, value: &'v Value) -> Option<Span> {
        let object = self.or_fault(spot, value.as_object(), Fix::SchemaMap)?;
        let first = self.tables.named.len();
        self.tables
            .named
            .extend(object.members().iter().map(|member| Named {
                name: member.name.clone(),
                node: TRUE,
            }));
        let parent = self.location(spot.here.location, LocationStep::Word(spot.word));
        for (index, member) in object.members().iter().enumerate() {
            if spot.word == Word::Dependencies && member.value.as_array().is_some() {
                continue;
            }
            let location = self.location(parent, LocationStep::Name((first + index) as u32));
            let here = Here {
                location,
                at: member.at,
                depth: spot.here.depth + 2,
                ..spot.here
            };
            self.tables.named[first + index].node = self.schema(&member.value, here);
        }
        Some(Span::since(first, first + object.len()))
    }

    pub(super) fn pattern_map(&mut self, spot: Spot, value: &'v Value) -> Option<Span> {
        let named = self.map(spot, value)?;
        let first = self.tables.matched.len();
        let members = value.as_object().map_or(&[][..], Object::members);
        for (index, member) in named.range().zip(members) {
            let here = Here {
                at: member.at,
                ..spot.here
            };
            let Some(pattern) = self.pattern(Spot { here, ..spot }, &member.name, true) else {
                continue;
            };
            let parent = self.location(spot.here.location, LocationStep::Word(spot.word));
            let location = self.location(parent, LocationStep::Name(index as u32));
            let node = self.tables.named[index].node;
            self.tables.matched.push(Matched {
                pattern,
                node,
                location,
            });
        }
        Some(Span::since(first, self.tables.matched.len()))
    }

    pub(super) fn contains(&mut self, spot: Spot, value: &'v Value, beside: &Object) -> Keyword {
        let node = self.subschema(spot, value);
        let bounded = self.draft >= Draft::Draft201909;
        let bound = |name| beside.get(name).filter(|_| bounded).and_then(Value::as_number);
        self.tables.searches.push(Search {
            node,
            min: bound("minContains").unwrap_or(Number::new(1.0, true)),
            max: bound("maxContains"),
            marks: self.draft == Draft::Draft202012,
        });
        Keyword::Contains(self.tables.searches.len() as u32 - 1)
    }
}
