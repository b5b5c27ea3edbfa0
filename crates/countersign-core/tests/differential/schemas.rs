//! Random schemas of all five drafts, with every keyword that is counted and every applicator.
//!
//! References that stay at the same place of the instance only lead to definitions with a higher number, so no
//! schema refers to itself without going deeper; that corner belongs to the evaluator's own tests.

use crate::choices::Choices;
use serde_json::{Map, Value, json};

/// The five drafts, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl Draft {
    /// The value of `$schema`.
    pub(crate) fn uri(self) -> &'static str {
        match self {
            Draft::D4 => "http://json-schema.org/draft-04/schema#",
            Draft::D6 => "http://json-schema.org/draft-06/schema#",
            Draft::D7 => "http://json-schema.org/draft-07/schema#",
            Draft::D2019 => "https://json-schema.org/draft/2019-09/schema",
            Draft::D2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The name of the member that holds definitions.
    pub(crate) fn definitions(self) -> &'static str {
        if self >= Draft::D2019 {
            "$defs"
        } else {
            "definitions"
        }
    }

    fn id(self) -> &'static str {
        if self == Draft::D4 { "id" } else { "$id" }
    }

    /// The formats that this draft defines, with those of the drafts before it. A name that a draft does not know
    /// is asserted here in every draft and by neither oracle, so none is generated.
    fn formats(self) -> &'static [&'static str] {
        const ALL: [&str; 19] = [
            "date-time",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uri",
            "json-pointer",
            "uri-reference",
            "uri-template",
            "date",
            "time",
            "regex",
            "relative-json-pointer",
            "iri",
            "iri-reference",
            "idn-email",
            "idn-hostname",
            "duration",
            "uuid",
        ];
        match self {
            Draft::D4 => &ALL[..6],
            Draft::D6 => &ALL[..9],
            Draft::D7 => &ALL[..17],
            Draft::D2019 | Draft::D2020 => &ALL,
        }
    }
}

/// Member names that schemas and instances share.
pub(crate) const NAMES: [&str; 8] = ["a", "b", "c", "d", "x-1", "x-long name", "é", "0"];

/// Patterns that all three engines read alike.
pub(crate) const PATTERNS: [&str; 12] = [
    "^a",
    "b$",
    "^[a-z]+$",
    "^\\d{3}$",
    "^x-",
    "^\\w+$",
    "[0-9]",
    "^(foo|bar)$",
    "^.{2,4}$",
    "^\\p{L}+$",
    "^\\S*$",
    "^[^-]+(-[^-]+)*$",
];

/// Patterns with look-around or a backreference, which boon refuses.
pub(crate) const BACKTRACKING: [&str; 3] = ["^(?!a)", "^(.)\\1", "(?<=b)b"];

/// How references may name a definition, besides by a pointer to it.
#[derive(Clone, Copy, PartialEq)]
enum Name {
    Pointer,
    Anchor,
    Id,
}

/// A schema under construction.
struct Generator<'a> {
    choices: &'a mut Choices,
    draft: Draft,
    /// The definitions.
    definitions: Vec<Name>,
    /// Definitions with a number below this one must not be referred to at the same place of the instance.
    floor: usize,
    /// Whether the subschema in work lies inside a definition with an `$id` of its own.
    embedded: bool,
    /// Whether `$dynamicRef` or `$recursiveRef` is in use.
    dynamic: bool,
    /// Whether the resource in work has the dynamic anchor.
    anchored: bool,
}

/// A random schema; the root carries `$schema` unless that is 2020-12 and left out.
pub(crate) fn schema(choices: &mut Choices) -> (Draft, Value) {
    let draft = match choices.below(12) {
        0..=5 => Draft::D2020,
        6 | 7 => Draft::D2019,
        8 | 9 => Draft::D7,
        10 => Draft::D6,
        _ => Draft::D4,
    };
    let dynamic = draft >= Draft::D2019 && choices.percent(15);
    let named = choices.percent(if dynamic { 70 } else { 35 });
    let name = |choices: &mut Choices| match choices.below(4) {
        0 | 1 if named => Name::Id,
        2 if named => Name::Anchor,
        _ => Name::Pointer,
    };
    let definitions = match choices.percent(50) {
        true => (0..=choices.below(3)).map(|_| name(choices)).collect(),
        false => Vec::new(),
    };
    let mut generator = Generator {
        choices,
        draft,
        definitions,
        floor: 0,
        embedded: false,
        dynamic,
        anchored: false,
    };
    let value = generator.root();
    (draft, value)
}

impl Generator<'_> {
    fn root(&mut self) -> Value {
        self.anchored = self.dynamic && !self.choices.percent(40);
        let mut root = self.object_schema(0);
        self.anchor(&mut root);
        if !self.definitions.is_empty() {
            let mut definitions = Map::new();
            for number in 0..self.definitions.len() {
                definitions.insert(format!("d{number}"), self.definition(number));
            }
            root.insert(self.draft.definitions().into(), definitions.into());
        }
        if self.definitions.contains(&Name::Id) {
            root.insert(self.draft.id().into(), json!("https://example.com/root.json"));
        }
        if self.draft != Draft::D2020 || self.choices.percent(50) {
            root.insert("$schema".into(), json!(self.draft.uri()));
        }
        root.into()
    }

    fn definition(&mut self, number: usize) -> Value {
        // What stands in place inside a definition may lead to the later ones only.
        self.floor = number + 1;
        let outer = self.anchored;
        self.embedded = self.definitions[number] == Name::Id;
        if self.embedded {
            self.anchored = self.dynamic && self.choices.percent(70);
        }
        let mut schema = self.object_schema(1);
        match self.definitions[number] {
            Name::Pointer => {}
            Name::Anchor if self.draft >= Draft::D2019 => {
                schema.insert("$anchor".into(), json!(format!("d{number}")));
            }
            Name::Anchor => {
                schema.insert(self.draft.id().into(), json!(format!("#d{number}")));
            }
            Name::Id => {
                schema.insert(self.draft.id().into(), json!(format!("d{number}.json")));
                self.anchor(&mut schema);
            }
        }
        (self.embedded, self.anchored, self.floor) = (false, outer, 0);
        schema.into()
    }

    fn anchor(&mut self, schema: &mut Map<String, Value>) {
        if self.anchored {
            match self.draft {
                Draft::D2020 => schema.insert("$dynamicAnchor".into(), json!("node")),
                _ => schema.insert("$recursiveAnchor".into(), json!(true)),
            };
        }
    }

    /// A subschema for a deeper place of the instance: any reference may stand there.
    fn child(&mut self, depth: usize) -> Value {
        let floor = std::mem::replace(&mut self.floor, 0);
        let child = self.any(depth + 1, true);
        self.floor = floor;
        child
    }

    /// A subschema for the same place.
    fn in_place(&mut self, depth: usize) -> Value {
        self.any(depth + 1, false)
    }

    fn any(&mut self, depth: usize, deeper: bool) -> Value {
        if self.draft >= Draft::D6 && self.choices.percent(4) {
            return json!(!self.choices.percent(70));
        }
        if self.choices.percent(20) {
            if let Some(reference) = self.reference(deeper) {
                return reference;
            }
        }
        self.object_schema(depth).into()
    }

    fn reference(&mut self, deeper: bool) -> Option<Value> {
        let dynamic = self.dynamic && deeper && self.choices.percent(60);
        if dynamic && self.draft == Draft::D2019 {
            return Some(json!({"$recursiveRef": "#"}));
        } else if dynamic && self.anchored {
            return Some(json!({"$dynamicRef": "#node"}));
        }
        if deeper && self.choices.percent(15) {
            return Some(json!({"$ref": if self.embedded { "root.json" } else { "#" }}));
        }
        let mut schema = Map::new();
        schema.insert("$ref".into(), self.target()?.into());
        if self.choices.percent(20) {
            // Ignored up to draft-07, evaluated later.
            schema.insert("type".into(), json!(self.choices.pick(&["object", "string"])));
        }
        Some(schema.into())
    }

    /// A reference to one of the definitions that may stand here.
    fn target(&mut self) -> Option<String> {
        let open = self
            .definitions
            .len()
            .checked_sub(self.floor)
            .filter(|open| *open > 0)?;
        let number = self.floor + self.choices.below(open);
        let base = if self.embedded { "root.json" } else { "" };
        let by_name = self.choices.percent(60);
        Some(match self.definitions[number] {
            Name::Id if by_name => format!("d{number}.json"),
            Name::Anchor if by_name => format!("{base}#d{number}"),
            _ => format!("{base}#/{}/d{number}", self.draft.definitions()),
        })
    }

    fn object_schema(&mut self, depth: usize) -> Map<String, Value> {
        let mut schema = Map::new();
        let kinds = if depth >= 4 { 5 } else { 12 };
        match self.choices.below(kinds) {
            0 => self.number(&mut schema),
            1 | 2 => self.string(&mut schema),
            3 => self.listed(&mut schema),
            4 if self.choices.percent(50) => self.types(&mut schema),
            4 => self.number(&mut schema),
            5..=7 => self.array(&mut schema, depth),
            _ => self.object(&mut schema, depth),
        }
        if depth < 4 {
            self.combine(&mut schema, depth);
        }
        schema
    }

    fn types(&mut self, schema: &mut Map<String, Value>) {
        let one = [
            "string", "integer", "number", "boolean", "null", "array", "object",
        ];
        let first = self.choices.pick(&one);
        let second = self.choices.pick(&one);
        let value = if first == second {
            json!(first)
        } else {
            json!([first, second])
        };
        schema.insert("type".into(), value);
    }

    fn type_of(&mut self, schema: &mut Map<String, Value>, name: &str) {
        if self.choices.percent(85) {
            let value = if self.choices.percent(10) {
                json!([name, "null"])
            } else {
                json!(name)
            };
            schema.insert("type".into(), value);
        }
    }

    fn listed(&mut self, schema: &mut Map<String, Value>) {
        let values = [
            json!("a"),
            json!("foo"),
            json!(1),
            json!(2.5),
            json!(null),
            json!(true),
            json!([1]),
            json!({"a": 1}),
        ];
        let first = self.choices.one_of(&values);
        let second = self.choices.one_of(&values);
        if self.draft >= Draft::D6 && self.choices.percent(50) {
            schema.insert("const".into(), first);
        } else if first == second {
            schema.insert("enum".into(), json!([first]));
        } else {
            schema.insert("enum".into(), json!([first, second]));
        }
    }

    fn limit(&mut self) -> Value {
        let limits = [
            json!(0),
            json!(1),
            json!(3),
            json!(10),
            json!(-2),
            json!(2.5),
            json!(4.0),
            json!(-0.25),
            json!(100),
        ];
        self.choices.one_of(&limits)
    }

    fn number(&mut self, schema: &mut Map<String, Value>) {
        let name = self.choices.pick(&["integer", "number"]);
        self.type_of(schema, name);
        for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            match self.choices.below(5) {
                0 | 1 => {}
                2 | 3 => {
                    schema.insert(limit.into(), self.limit());
                    if self.draft == Draft::D4 && self.choices.percent(50) {
                        schema.insert(exclusive.into(), json!(true));
                    }
                }
                _ if self.draft == Draft::D4 => {}
                _ => {
                    schema.insert(exclusive.into(), self.limit());
                }
            }
        }
        if self.choices.percent(35) {
            let steps = [
                json!(2),
                json!(3),
                json!(0.5),
                json!(0.1),
                json!(0.01),
                json!(5),
                json!(1.0),
            ];
            schema.insert("multipleOf".into(), self.choices.one_of(&steps));
        }
    }

    fn string(&mut self, schema: &mut Map<String, Value>) {
        self.type_of(schema, "string");
        if self.choices.percent(35) {
            schema.insert("minLength".into(), json!(self.choices.below(4)));
        }
        if self.choices.percent(35) {
            schema.insert("maxLength".into(), json!(1 + self.choices.below(6)));
        }
        match self.choices.below(4) {
            0 => {}
            1 => {
                let patterns = if self.choices.percent(5) {
                    &BACKTRACKING[..]
                } else {
                    &PATTERNS
                };
                let pattern = self.choices.pick(patterns);
                schema.insert("pattern".into(), json!(pattern));
            }
            _ => {
                let format = self.choices.pick(self.draft.formats());
                schema.insert("format".into(), json!(format));
            }
        }
    }

    fn array(&mut self, schema: &mut Map<String, Value>, depth: usize) {
        self.type_of(schema, "array");
        let prefix = if self.draft == Draft::D2020 {
            "prefixItems"
        } else {
            "items"
        };
        let rest = if self.draft == Draft::D2020 {
            "items"
        } else {
            "additionalItems"
        };
        match self.choices.below(4) {
            0 => {
                schema.insert("items".into(), self.child(depth));
            }
            1 | 2 => {
                let tuple: Vec<Value> = (0..=self.choices.below(2)).map(|_| self.child(depth)).collect();
                schema.insert(prefix.into(), tuple.into());
                match self.choices.below(4) {
                    0 | 1 => {}
                    2 => {
                        schema.insert(rest.into(), self.child(depth));
                    }
                    _ => {
                        schema.insert(rest.into(), json!(false));
                    }
                }
            }
            _ => {}
        }
        if self.choices.percent(25) {
            schema.insert("minItems".into(), json!(self.choices.below(4)));
        }
        if self.choices.percent(25) {
            schema.insert("maxItems".into(), json!(1 + self.choices.below(3)));
        }
        if self.choices.percent(25) {
            schema.insert("uniqueItems".into(), json!(true));
        }
        if self.draft >= Draft::D6 && self.choices.percent(30) {
            schema.insert("contains".into(), self.child(depth));
            if self.draft >= Draft::D2019 && self.choices.percent(40) {
                schema.insert("minContains".into(), json!(self.choices.below(3)));
            }
            if self.draft >= Draft::D2019 && self.choices.percent(40) {
                schema.insert("maxContains".into(), json!(1 + self.choices.below(2)));
            }
        }
        let unevaluated = if schema.contains_key("contains") { 50 } else { 25 };
        if self.draft >= Draft::D2019 && self.choices.percent(unevaluated) {
            let unevaluated = if self.choices.percent(75) {
                json!(false)
            } else {
                self.child(depth)
            };
            schema.insert("unevaluatedItems".into(), unevaluated);
        }
    }

    fn object(&mut self, schema: &mut Map<String, Value>, depth: usize) {
        self.type_of(schema, "object");
        let mut properties = Map::new();
        for _ in 0..self.choices.below(4) {
            let name = self.choices.pick(&NAMES);
            properties.insert(name.into(), self.child(depth));
        }
        if !properties.is_empty() {
            schema.insert("properties".into(), properties.into());
        }
        let required = self.some_names(3);
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        if self.choices.percent(15) {
            let pattern = self.choices.pick(&["^x-", "^[ab]$", "\\d"]);
            schema.insert("patternProperties".into(), json!({ pattern: self.child(depth) }));
        }
        match self.choices.below(5) {
            0 => {
                schema.insert("additionalProperties".into(), json!(false));
            }
            1 => {
                schema.insert("additionalProperties".into(), self.child(depth));
            }
            _ => {}
        }
        if self.draft >= Draft::D6 && self.choices.percent(8) {
            let mut names = Map::new();
            self.string(&mut names);
            schema.insert("propertyNames".into(), names.into());
        }
        if self.choices.percent(15) {
            schema.insert("minProperties".into(), json!(self.choices.below(4)));
        }
        if self.choices.percent(15) {
            schema.insert("maxProperties".into(), json!(1 + self.choices.below(3)));
        }
        self.dependencies(schema, depth);
        if self.draft >= Draft::D2019 && self.choices.percent(25) {
            let unevaluated = if self.choices.percent(75) {
                json!(false)
            } else {
                self.child(depth)
            };
            schema.insert("unevaluatedProperties".into(), unevaluated);
        }
    }

    fn some_names(&mut self, most: usize) -> Vec<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..self.choices.below(most + 1) {
            let name = self.choices.pick(&NAMES);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn dependencies(&mut self, schema: &mut Map<String, Value>, depth: usize) {
        let name = self.choices.pick(&NAMES[..4]);
        if self.choices.percent(20) {
            let needed = self.some_names(2);
            if self.draft >= Draft::D2019 {
                schema.insert("dependentRequired".into(), json!({ name: needed }));
            } else if !needed.is_empty() {
                schema.insert("dependencies".into(), json!({ name: needed }));
            }
        } else if self.choices.percent(8) {
            let dependent = self.in_place(depth);
            let keyword = if self.draft >= Draft::D2019 {
                "dependentSchemas"
            } else {
                "dependencies"
            };
            schema.insert(keyword.into(), json!({ name: dependent }));
        }
    }

    fn combine(&mut self, schema: &mut Map<String, Value>, depth: usize) {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if self.choices.percent(10) {
                let branches: Vec<Value> = (0..=self.choices.below(3))
                    .map(|_| self.in_place(depth))
                    .collect();
                schema.insert(keyword.into(), branches.into());
            }
        }
        if self.choices.percent(6) {
            schema.insert("not".into(), self.in_place(depth));
        }
        if self.draft >= Draft::D2019 && self.choices.percent(6) {
            if let Some(target) = self.target() {
                schema.insert("$ref".into(), target.into());
            }
        }
        if self.draft >= Draft::D7 && self.choices.percent(8) {
            schema.insert("if".into(), self.in_place(depth));
            for keyword in ["then", "else"] {
                if self.choices.percent(80) {
                    schema.insert(keyword.into(), self.in_place(depth));
                }
            }
        }
    }
}
