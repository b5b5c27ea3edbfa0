//! From a value to a compiled schema: one walk over every place where its draft has a schema, then the
//! references. What the draft's meta-schema refuses is a fault, annotations included (section 27).

use super::Formats;
use super::draft::{Draft, Word};
use super::equal::Choices;
use super::fault::{Faults, Fix, SchemaFault, Spotted};
use super::format::Format;
use super::node::{FALSE, Keyword, Location, LocationStep, Node, NodeId, ROOT, Siblings, Span, TRUE, Tables};
use super::reference::References;
use super::shapes::Patterns;
use crate::json::{Object, Value};
use crate::limits::NESTING_MAX;
use crate::place::Step;

/// Where the walk stands.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// The location of the schema.
    pub location: u32,
    /// The resource around it.
    pub resource: u32,
    /// Byte offset of the nearest member.
    pub at: u32,
    /// Levels of nesting above it.
    pub depth: usize,
}

impl Here {
    pub(super) fn spotted(self, word: Option<Word>) -> Spotted {
        Spotted {
            at: self.at,
            location: self.location,
            word,
            step: None,
        }
    }
}

/// The keyword that the walk stands at.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub here: Here,
    pub word: Word,
}

pub(super) struct Compiler<'v> {
    pub draft: Draft,
    formats: Formats,
    pub tables: Tables,
    pub faults: Faults,
    pub references: References<'v>,
    /// Keywords of the nodes that are being walked, innermost last.
    pub pending: Vec<Keyword>,
    pub patterns: Patterns<'v>,
}

/// Compiles a schema. The faults are at most as many as a response lists, in order of the text.
pub(super) fn compile(root: &Value, formats: Formats) -> Result<Tables, Vec<SchemaFault>> {
    let mut compiler = Compiler {
        draft: Draft::Draft202012,
        formats,
        tables: Tables::default(),
        faults: Faults::default(),
        references: References::new(root),
        pending: Vec::new(),
        patterns: Patterns::default(),
    };
    compiler.prepare();
    compiler.choose_draft(root);
    let here = Here {
        location: ROOT,
        resource: 0,
        at: 0,
        depth: 0,
    };
    compiler.tables.root = compiler.schema(root, here);
    compiler.resolve_references();
    if compiler.faults.is_empty() {
        compiler.finish();
        Ok(compiler.tables)
    } else {
        Err(compiler.faults.told(&compiler.tables))
    }
}

impl<'v> Compiler<'v> {
    fn prepare(&mut self) {
        let root = LocationStep::Index(0);
        self.tables.locations.push(Location {
            parent: ROOT,
            step: root,
        });
        self.tables.nodes.push(Node::default());
        self.tables.keywords.push(Keyword::False);
        self.tables.nodes.push(Node {
            keywords: Span { first: 0, len: 1 },
            counted: 1,
            ..Node::default()
        });
    }

    fn choose_draft(&mut self, root: &Value) {
        let Some(Ok(index)) = root.as_object().map(|object| object.position("$schema")) else {
            return;
        };
        let Some(member) = root.as_object().map(|object| &object.members()[index]) else {
            return;
        };
        match member.value.as_str().and_then(Draft::named) {
            Some(draft) => self.draft = draft,
            None => self.faults.add(
                Spotted {
                    at: member.at,
                    location: ROOT,
                    word: Some(Word::SchemaUri),
                    step: None,
                },
                Fix::Draft,
            ),
        }
    }

    fn finish(&mut self) {
        self.tables.anchors = self.references.take_dynamic_anchors();
        let dynamic = self.tables.dynamic;
        for node in &mut self.tables.nodes {
            let keywords = &self.tables.keywords[node.keywords.range()];
            node.counted = keywords.iter().filter(|keyword| keyword.counts()).count() as u32;
            let unevaluated = |keyword: &Keyword| {
                matches!(
                    keyword,
                    Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedProperties(_)
                )
            };
            node.special = dynamic || keywords.iter().any(unevaluated);
        }
    }

    /// Compiles one schema and what is in it. A fault leaves a node that asks nothing.
    pub(super) fn schema(&mut self, value: &'v Value, here: Here) -> NodeId {
        let object = match value {
            Value::Bool(true) if self.draft > Draft::Draft04 => return TRUE,
            Value::Bool(false) if self.draft > Draft::Draft04 => return FALSE,
            Value::Object(object) if object.is_empty() && here.location != ROOT => return TRUE,
            Value::Object(object) if here.depth < NESTING_MAX => object,
            _ => {
                let fix = match value {
                    Value::Object(_) => Fix::TooDeep,
                    _ if self.draft == Draft::Draft04 => Fix::Draft04Schema,
                    _ => Fix::Schema,
                };
                self.faults.add(here.spotted(None), fix);
                return TRUE;
            }
        };
        if let Some(node) = self.references.compiled_late(value) {
            return node;
        }
        let node = self.tables.nodes.len() as NodeId;
        self.references.remember(value, node);
        self.tables.nodes.push(Node {
            location: here.location,
            ..Node::default()
        });
        let only_ref = self.draft.ignores_siblings_of_ref() && object.get("$ref").is_some();
        let resource = self.identify(value, object, here, node, only_ref);
        let start = self.pending.len();
        for member in object.members() {
            let Some(word) = Word::named(&member.name, self.draft) else {
                continue;
            };
            let here = Here {
                resource,
                at: member.at,
                ..here
            };
            self.keyword(Spot { here, word }, &member.value, object);
        }
        self.close(node, resource, start, only_ref);
        node
    }

    /// Moves the pending keywords of a node to their table.
    fn close(&mut self, node: NodeId, resource: u32, start: usize, only_ref: bool) {
        let mut properties = Span::default();
        let mut patterns = Span::default();
        for keyword in &self.pending[start..] {
            match keyword {
                Keyword::Properties(span) => properties = *span,
                Keyword::PatternProperties(span) => patterns = *span,
                _ => {}
            }
        }
        if let Some(index) = self.pending[start..].iter().find_map(|keyword| match keyword {
            Keyword::AdditionalProperties(_, siblings) => Some(*siblings),
            _ => None,
        }) {
            self.tables.siblings[index as usize] = Siblings { properties, patterns };
        }
        let first = self.tables.keywords.len();
        let own = self.pending.drain(start..);
        if only_ref {
            self.tables
                .keywords
                .extend(own.filter(|keyword| matches!(keyword, Keyword::Ref(_))));
        } else {
            self.tables.keywords.extend(own);
        }
        let node = &mut self.tables.nodes[node as usize];
        node.keywords = Span::since(first, self.tables.keywords.len());
        node.resource = resource;
    }

    #[allow(clippy::too_many_lines)] // One line a keyword: a table reads better whole.
    fn keyword(&mut self, spot: Spot, value: &'v Value, beside: &'v Object) {
        let keyword = match spot.word {
            Word::Comment
            | Word::ContentEncoding
            | Word::ContentMediaType
            | Word::Description
            | Word::Title => {
                _ = self.text(spot, value);
                None
            }
            Word::Deprecated | Word::ReadOnly | Word::WriteOnly => {
                _ = self.flag(spot, value);
                None
            }
            Word::Examples => {
                if value.as_array().is_none() {
                    self.fault(spot, Fix::Array);
                }
                None
            }
            // That of the root has chosen the draft.
            Word::SchemaUri if spot.here.location == ROOT => None,
            Word::SchemaUri => {
                if let Some(uri) = self.text(spot, value)
                    && self.draft > Draft::Draft04
                    && !Format::Uri.matches(uri)
                {
                    self.fault(spot, Fix::Uri);
                }
                None
            }
            Word::Vocabulary => {
                self.vocabulary(spot, value);
                None
            }
            Word::Id | Word::DollarId => {
                self.id_shape(spot, value);
                None
            }
            Word::Anchor | Word::DynamicAnchor => {
                self.anchor_shape(spot, value);
                None
            }
            Word::RecursiveAnchor => {
                if self.draft == Draft::Draft201909 {
                    _ = self.flag(spot, value);
                } else {
                    self.anchor_shape(spot, value);
                }
                None
            }
            Word::Ref => self.reference(spot, value),
            Word::DynamicRef => self.reference(spot, value),
            Word::RecursiveRef if self.draft == Draft::Draft201909 => self.reference(spot, value),
            Word::RecursiveRef => {
                _ = self.uri_reference(spot, value);
                None
            }
            Word::Defs | Word::Definitions => {
                _ = self.map(spot, value);
                None
            }
            Word::ContentSchema => {
                _ = self.subschema(spot, value);
                None
            }
            Word::MinContains | Word::MaxContains => {
                _ = self.count(spot, value);
                None
            }
            Word::Type => self.types(spot, value).map(Keyword::Type),
            Word::Enum => self.values(spot, value).map(Keyword::Enum),
            Word::Const => {
                self.tables.choices.push(Choices::new(vec![value.clone()]));
                Some(Keyword::Const(self.tables.choices.len() as u32 - 1))
            }
            Word::MultipleOf => self.divisor(spot, value).map(Keyword::MultipleOf),
            Word::Maximum => self
                .number(spot, value)
                .map(|limit| match beside.get("exclusiveMaximum") {
                    Some(Value::Bool(true)) if self.draft == Draft::Draft04 => Keyword::BelowMaximum(limit),
                    _ => Keyword::Maximum(limit),
                }),
            Word::Minimum => self
                .number(spot, value)
                .map(|limit| match beside.get("exclusiveMinimum") {
                    Some(Value::Bool(true)) if self.draft == Draft::Draft04 => Keyword::AboveMinimum(limit),
                    _ => Keyword::Minimum(limit),
                }),
            Word::ExclusiveMaximum | Word::ExclusiveMinimum if self.draft == Draft::Draft04 => {
                let (needed, fix) = match spot.word {
                    Word::ExclusiveMaximum => ("maximum", Fix::NeedsMaximum),
                    _ => ("minimum", Fix::NeedsMinimum),
                };
                if self.flag(spot, value).is_some() && beside.get(needed).is_none() {
                    self.fault(spot, fix);
                }
                None
            }
            Word::ExclusiveMaximum => self.number(spot, value).map(Keyword::ExclusiveMaximum),
            Word::ExclusiveMinimum => self.number(spot, value).map(Keyword::ExclusiveMinimum),
            Word::MaxLength => self.count(spot, value).map(Keyword::MaxLength),
            Word::MinLength => self.count(spot, value).map(Keyword::MinLength),
            Word::MaxItems => self.count(spot, value).map(Keyword::MaxItems),
            Word::MinItems => self.count(spot, value).map(Keyword::MinItems),
            Word::MaxProperties => self.count(spot, value).map(Keyword::MaxProperties),
            Word::MinProperties => self.count(spot, value).map(Keyword::MinProperties),
            Word::UniqueItems => self.flag(spot, value).map(Keyword::UniqueItems),
            Word::Pattern => {
                let text = self.text(spot, value);
                text.and_then(|text| self.pattern(spot, text, false))
                    .map(Keyword::Pattern)
            }
            Word::Format => {
                let name = self.text(spot, value);
                let asserted = self.formats == Formats::Asserted;
                name.filter(|_| asserted)
                    .and_then(Format::named)
                    .map(Keyword::Format)
            }
            Word::Required => self.names(spot, value, None).map(Keyword::Required),
            Word::DependentRequired => self.dependent_required(spot, value),
            Word::Dependencies => self.dependencies(spot, value),
            Word::DependentSchemas => self.map(spot, value).map(Keyword::DependentSchemas),
            Word::Properties => self.map(spot, value).map(Keyword::Properties),
            Word::PatternProperties => self.pattern_map(spot, value).map(Keyword::PatternProperties),
            Word::AdditionalProperties => {
                let node = self.subschema_or_flag(spot, value);
                self.tables.siblings.push(Siblings {
                    properties: Span::default(),
                    patterns: Span::default(),
                });
                Some(Keyword::AdditionalProperties(
                    node,
                    self.tables.siblings.len() as u32 - 1,
                ))
            }
            Word::PropertyNames => Some(Keyword::PropertyNames(self.subschema(spot, value))),
            Word::PrefixItems => self.list(spot, value).map(Keyword::PrefixItems),
            Word::Items if value.as_array().is_some() && self.draft <= Draft::Draft201909 => {
                self.list(spot, value).map(Keyword::PrefixItems)
            }
            Word::Items => {
                let prefix = match self.draft {
                    Draft::Draft202012 => beside.get("prefixItems").and_then(Value::as_array),
                    _ => None,
                };
                Some(Keyword::Items(
                    self.subschema(spot, value),
                    prefix.map_or(0, <[Value]>::len) as u32,
                ))
            }
            Word::AdditionalItems => {
                let node = self.subschema_or_flag(spot, value);
                // Without an array in `items` there is nothing additional.
                let items = beside.get("items").and_then(Value::as_array);
                items.map(|items| Keyword::Items(node, items.len() as u32))
            }
            Word::Contains => Some(self.contains(spot, value, beside)),
            Word::UnevaluatedItems => Some(Keyword::UnevaluatedItems(self.subschema(spot, value))),
            Word::UnevaluatedProperties => Some(Keyword::UnevaluatedProperties(self.subschema(spot, value))),
            Word::AllOf => self.list(spot, value).map(Keyword::AllOf),
            Word::AnyOf => self.list(spot, value).map(Keyword::AnyOf),
            Word::OneOf => self.list(spot, value).map(Keyword::OneOf),
            Word::Not => Some(Keyword::Not(self.subschema(spot, value))),
            Word::Else => {
                let otherwise = self.subschema(spot, value);
                // Findings of `else` stand before those of what is called `i…` to `t…`, so it runs here.
                let condition = beside.position("if").ok().map(|index| &beside.members()[index]);
                condition.map(|member| {
                    let here = Here {
                        at: member.at,
                        ..spot.here
                    };
                    let spot = Spot { here, word: Word::If };
                    Keyword::If(self.subschema(spot, &member.value), otherwise)
                })
            }
            Word::If if beside.get("else").is_some() => None,
            Word::If => Some(Keyword::If(self.subschema(spot, value), TRUE)),
            Word::Then => {
                let node = self.subschema(spot, value);
                beside.get("if").map(|_| Keyword::Then(node))
            }
        };
        self.pending.extend(keyword);
    }

    pub(super) fn fault(&mut self, spot: Spot, fix: Fix) {
        self.faults.add(spot.here.spotted(Some(spot.word)), fix);
    }

    /// A fault inside the value of a keyword.
    pub(super) fn fault_at(&mut self, spot: Spot, at: u32, step: Step, fix: Fix) {
        let spotted = Spotted {
            at,
            step: Some(step),
            ..spot.here.spotted(Some(spot.word))
        };
        self.faults.add(spotted, fix);
    }

    fn reference(&mut self, spot: Spot, value: &'v Value) -> Option<Keyword> {
        let text = self.uri_reference(spot, value)?;
        let target = self.tables.targets.len() as u32;
        self.tables.targets.push(TRUE);
        // Whether it is a dynamic one is known when its target is.
        let keyword = match spot.word {
            Word::Ref => Keyword::Ref(target),
            _ => Keyword::DynamicRef(target, u32::MAX),
        };
        self.references.note(spot.word, text, target, spot.here);
        Some(keyword)
    }
}
