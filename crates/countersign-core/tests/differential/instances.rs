//! Instances that nearly fit a schema: each node follows what the schema asks of it, and now and then strays.

use crate::choices::Choices;
use crate::schemas::{Draft, NAMES};
use serde_json::{Map, Value, json};

/// How deep an instance goes before it ends in scalars.
const DEPTH_MAX: usize = 5;
/// How many references and branches are followed at one place.
const STEPS_MAX: usize = 8;

/// Strings of every sort: for each pattern and format some that fit, and some that nearly do.
const STRINGS: [&str; 18] = [
    "",
    "a",
    "ab",
    "abc",
    "foo",
    "bar",
    "123",
    "x-1",
    "zeb",
    "é",
    "日本",
    "😀",
    "aab",
    "a-b",
    "a b",
    "A1_",
    "xx",
    "longer string",
];

/// For each format: two that fit, then two that do not.
const FORMATS: [(&str, [&str; 4]); 19] = [
    (
        "date-time",
        [
            "2024-02-29T12:00:00Z",
            "1990-12-31T23:59:59.5-08:00",
            "2023-02-29T12:00:00Z",
            "2024-01-01T12:00:00",
        ],
    ),
    (
        "email",
        [
            "a@example.com",
            "first.last@example.org",
            "example.com",
            "a@@example.com",
        ],
    ),
    ("hostname", ["example.com", "a-b.c", "-a.com", "a_b.com"]),
    ("ipv4", ["127.0.0.1", "10.20.30.40", "256.1.1.1", "1.2.3"]),
    ("ipv6", ["::1", "2001:db8::ff00:42:8329", "1::2::3", "12345::"]),
    (
        "uri",
        [
            "https://example.com/a?b#c",
            "urn:isbn:1",
            "/relative",
            "https://a b",
        ],
    ),
    ("json-pointer", ["", "/a/~0b/0", "a", "/~2"]),
    ("uri-reference", ["/a/b?c", "#x", "\\\\server", "a b"]),
    (
        "uri-template",
        ["https://example.com/{id}", "/{a,b}", "/{a", "/{}"],
    ),
    ("date", ["2024-02-29", "1999-12-31", "2023-02-29", "1-1-2000"]),
    (
        "time",
        ["12:00:00Z", "23:59:59.123+02:00", "24:00:00Z", "12:00:00"],
    ),
    ("regex", ["^a+$", "[a-z]{2,}", "(", "[z-a]"]),
    ("relative-json-pointer", ["0", "1/a", "/a", "-1"]),
    (
        "iri",
        [
            "https://example.com/é",
            "https://example.com",
            "/é",
            "https://a b",
        ],
    ),
    ("iri-reference", ["/é", "#é", "\\\\é", "a b"]),
    (
        "idn-email",
        ["a@example.com", "é@example.com", "é", "a@@example.com"],
    ),
    ("idn-hostname", ["example.com", "a-b.c", "-a.com", "a_b.com"]),
    ("duration", ["P1D", "PT36H", "P", "P1"]),
    (
        "uuid",
        [
            "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "98D80576-482E-427F-8434-7F86890AB222",
            "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        ],
    ),
];

/// Draws instances for one schema.
pub(crate) struct Sampler<'a> {
    /// The whole schema, for references.
    pub(crate) root: &'a Value,
    /// Its draft.
    pub(crate) draft: Draft,
}

/// The schema objects that apply at one place, as far as one way through them goes.
type View<'a> = Vec<&'a Map<String, Value>>;

impl<'a> Sampler<'a> {
    /// An instance that nearly fits.
    pub(crate) fn sample(&self, choices: &mut Choices) -> Value {
        self.value(self.root, choices, 0)
    }

    fn value(&self, schema: &'a Value, choices: &mut Choices, depth: usize) -> Value {
        let mut view = View::new();
        self.collect(schema, choices, &mut view);
        if depth >= DEPTH_MAX || choices.percent(4) {
            return scalar(choices);
        }
        if let Some(listed) = listed(&view, choices) {
            return listed;
        }
        match self.kind(&view, choices) {
            "object" => self.object(&view, choices, depth),
            "array" => self.array(&view, choices, depth),
            "string" => string(&view, choices),
            "integer" => number(&view, choices, true),
            "number" => number(&view, choices, false),
            "boolean" => json!(choices.percent(50)),
            _ => Value::Null,
        }
    }

    /// What applies here: through references, every `allOf`, one branch each of `anyOf`, `oneOf` and `if`.
    fn collect(&self, schema: &'a Value, choices: &mut Choices, view: &mut View<'a>) {
        let Some(schema) = schema.as_object() else { return };
        if view.len() >= STEPS_MAX {
            return;
        }
        let target = ["$ref", "$dynamicRef", "$recursiveRef"]
            .iter()
            .find_map(|name| schema.get(*name)?.as_str());
        if let Some(target) = target.map(|reference| self.resolve(reference)) {
            self.collect(target, choices, view);
            if self.draft <= Draft::D7 {
                return;
            }
        }
        view.push(schema);
        let branches = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for branch in branches("allOf").into_iter().flatten() {
            self.collect(branch, choices, view);
        }
        for branches in [branches("anyOf"), branches("oneOf")].into_iter().flatten() {
            self.collect(&branches[choices.below(branches.len())], choices, view);
        }
        if let Some(condition) = schema.get("if") {
            let holds = choices.percent(50);
            if holds {
                self.collect(condition, choices, view);
            }
            if let Some(branch) = schema.get(if holds { "then" } else { "else" }) {
                self.collect(branch, choices, view);
            }
        }
    }

    /// The target of a generated reference: whatever names `d1` is that definition, anything else the root.
    fn resolve(&self, reference: &str) -> &'a Value {
        let digit = reference
            .as_bytes()
            .windows(2)
            .find(|pair| pair[0] == b'd' && pair[1].is_ascii_digit());
        digit
            .and_then(|pair| {
                self.root
                    .get(self.draft.definitions())?
                    .get(format!("d{}", char::from(pair[1])))
            })
            .unwrap_or(self.root)
    }

    fn kind(&self, view: &View<'a>, choices: &mut Choices) -> &'a str {
        let mut kinds: Vec<&str> = Vec::new();
        for schema in view {
            match schema.get("type") {
                Some(Value::String(name)) => return name,
                Some(Value::Array(names)) => kinds.extend(names.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
        if kinds.is_empty() {
            let asks = |keywords: &[&str]| {
                view.iter()
                    .any(|schema| keywords.iter().any(|k| schema.contains_key(*k)))
            };
            if asks(&[
                "properties",
                "required",
                "additionalProperties",
                "unevaluatedProperties",
                "minProperties",
            ]) {
                kinds.push("object");
            }
            if asks(&[
                "items",
                "prefixItems",
                "contains",
                "minItems",
                "uniqueItems",
                "unevaluatedItems",
            ]) {
                kinds.push("array");
            }
            if asks(&["pattern", "format", "minLength", "maxLength"]) {
                kinds.push("string");
            }
            if asks(&[
                "minimum",
                "maximum",
                "multipleOf",
                "exclusiveMinimum",
                "exclusiveMaximum",
            ]) {
                kinds.push("number");
            }
        }
        if kinds.is_empty() {
            kinds = vec![
                "integer", "string", "number", "array", "object", "null", "boolean",
            ];
        }
        kinds[choices.below(kinds.len())]
    }

    fn object(&self, view: &View<'a>, choices: &mut Choices, depth: usize) -> Value {
        let mut object = Map::new();
        let forbidden = |schema: &Value| schema == &Value::Bool(false);
        for schema in view {
            for (name, property) in schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let wanted = if forbidden(property) { 15 } else { 75 };
                if choices.percent(wanted) {
                    object.insert(name.clone(), self.value(property, choices, depth + 1));
                }
            }
        }
        for schema in view {
            for name in schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let name = name.as_str().unwrap_or_default();
                if !object.contains_key(name) && !choices.percent(8) {
                    let value = self.member(view, name, choices, depth);
                    object.insert(name.into(), value);
                }
            }
            if choices.percent(70) {
                self.add_dependents(schema, view, &mut object, choices, depth);
            }
        }
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| {
                view.iter()
                    .any(|schema| schema.get(*keyword).is_some_and(forbidden))
            });
        if choices.percent(if closed { 6 } else { 35 }) {
            let name = choices.pick(&NAMES);
            if !object.contains_key(name) {
                let value = self.member(view, name, choices, depth);
                object.insert(name.into(), value);
            }
        }
        let least = largest(view, "minProperties");
        for name in NAMES {
            if object.len() as u64 >= least || choices.percent(15) {
                break;
            }
            if !object.contains_key(name) {
                let value = self.member(view, name, choices, depth);
                object.insert(name.into(), value);
            }
        }
        object.into()
    }

    fn add_dependents(
        &self,
        schema: &'a Map<String, Value>,
        view: &View<'a>,
        object: &mut Map<String, Value>,
        choices: &mut Choices,
        depth: usize,
    ) {
        for keyword in ["dependentRequired", "dependencies"] {
            for (name, needed) in schema
                .get(keyword)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                if !object.contains_key(name) {
                    continue;
                }
                for name in needed.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !object.contains_key(name) {
                        let value = self.member(view, name, choices, depth);
                        object.insert(name.into(), value);
                    }
                }
            }
        }
    }

    /// A value for a member that need not be among `properties`.
    fn member(&self, view: &View<'a>, name: &str, choices: &mut Choices, depth: usize) -> Value {
        let property = view.iter().find_map(|schema| schema.get("properties")?.get(name));
        let patterns = || {
            view.iter()
                .find_map(|schema| schema.get("patternProperties")?.as_object()?.values().next())
        };
        let rest = || view.iter().find_map(|schema| schema.get("additionalProperties"));
        match property.or_else(|| if choices.percent(50) { patterns() } else { rest() }) {
            Some(schema) if schema.is_object() => self.value(schema, choices, depth + 1),
            _ => scalar(choices),
        }
    }

    fn array(&self, view: &View<'a>, choices: &mut Choices, depth: usize) -> Value {
        let tuple = view
            .iter()
            .find_map(|schema| schema.get("prefixItems").or(schema.get("items"))?.as_array());
        let tuple = tuple.map_or(&[][..], Vec::as_slice);
        let rest = view.iter().find_map(|schema| match self.draft {
            Draft::D2020 => schema.get("items"),
            _ => schema
                .get("additionalItems")
                .or(schema.get("items").filter(|items| !items.is_array())),
        });
        let contained = view.iter().find_map(|schema| schema.get("contains"));
        let closed = [
            rest,
            view.iter().find_map(|schema| schema.get("unevaluatedItems")),
        ];
        let closed = closed.contains(&Some(&Value::Bool(false)));
        let least = largest(view, "minItems") as usize;
        let most = smallest(view, "maxItems").unwrap_or(4).max(1) as usize;
        let mut length = if closed && !choices.percent(12) {
            tuple.len().max(least)
        } else {
            choices.below(4).max(least)
        };
        if length > most && !choices.percent(15) {
            length = most;
        }
        match choices.below(12) {
            0 | 1 if most < 4 && !closed => length = most + 1,
            2 => length = length.saturating_sub(1),
            3 if closed => length += 1,
            _ => {}
        }
        let mut elements: Vec<Value> = Vec::new();
        for index in 0..length.min(8) {
            let schema = match contained {
                Some(contained) if index == 0 || choices.percent(25) => Some(contained),
                _ => tuple.get(index).or(rest),
            };
            let unique = view.iter().any(|schema| schema.contains_key("uniqueItems"));
            let mut element = match schema {
                Some(schema) => self.value(schema, choices, depth + 1),
                None => scalar(choices),
            };
            if elements.contains(&element) && unique && choices.percent(70) {
                element = scalar(choices);
            } else if !elements.is_empty() && choices.percent(8) {
                element = elements[0].clone();
            }
            elements.push(element);
        }
        elements.into()
    }
}

/// The value of `const`, or one of `enum`, most of the time.
fn listed(view: &View<'_>, choices: &mut Choices) -> Option<Value> {
    let schema = view
        .iter()
        .find(|schema| schema.contains_key("const") || schema.contains_key("enum"))?;
    if choices.percent(12) {
        return Some(scalar(choices));
    }
    match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
        (Some(constant), _) => Some(constant.clone()),
        (None, Some(values)) => Some(values[choices.below(values.len())].clone()),
        (None, None) => None,
    }
}

fn largest(view: &View<'_>, keyword: &str) -> u64 {
    view.iter()
        .filter_map(|schema| schema.get(keyword)?.as_u64())
        .max()
        .unwrap_or(0)
}

fn smallest(view: &View<'_>, keyword: &str) -> Option<u64> {
    view.iter()
        .filter_map(|schema| schema.get(keyword)?.as_u64())
        .min()
}

/// A scalar, or a small container.
fn scalar(choices: &mut Choices) -> Value {
    let number = choices.below(8);
    match choices.below(10) {
        0..=2 => json!(number),
        3 => json!(f64::from(number as u8) - 2.5),
        4 => json!(f64::from(number as u8)),
        5 => json!(choices.pick(&STRINGS)),
        6 => Value::Null,
        7 => json!(number > 3),
        8 => json!([number]),
        _ => json!({"a": number}),
    }
}

fn string(view: &View<'_>, choices: &mut Choices) -> Value {
    let format = view.iter().find_map(|schema| schema.get("format")?.as_str());
    if let Some((_, examples)) = FORMATS.iter().find(|(name, _)| Some(*name) == format) {
        return json!(
            examples[match choices.below(10) {
                0..=4 => 0,
                5..=7 => 1,
                8 => 2,
                _ => 3,
            }]
        );
    }
    let (least, most) = (
        largest(view, "minLength"),
        smallest(view, "maxLength").unwrap_or(99),
    );
    let mut text = choices.pick(&STRINGS);
    for _ in 0..3 {
        if (least..=most).contains(&(text.chars().count() as u64)) {
            break;
        }
        text = choices.pick(&STRINGS);
    }
    json!(text)
}

/// A number near the limits that apply; the third try stands, whether it fits or not.
fn number(view: &View<'_>, choices: &mut Choices, integer: bool) -> Value {
    let asked = |keyword: &str| view.iter().find_map(|schema| schema.get(keyword)?.as_f64());
    let step = asked("multipleOf").unwrap_or(if integer { 1.0 } else { 0.5 });
    let least = asked("minimum").or(asked("exclusiveMinimum")).unwrap_or(-20.0);
    let most = asked("maximum").or(asked("exclusiveMaximum")).unwrap_or(200.0);
    let mut value = 0.0;
    for _ in 0..3 {
        let from = [least, most, 0.0][choices.below(3)];
        let steps = f64::from(choices.below(13) as u8) - 6.0;
        // To hundredths: what all three read alike, and what spells 0.3 rather than 0.30000000000000004.
        let near = if choices.percent(10) {
            from + steps
        } else {
            ((from / step).round() + steps) * step
        };
        value = (near * 100.0).round() / 100.0;
        if value >= least && value <= most && (!integer || value.fract() == 0.0) {
            break;
        }
    }
    match value {
        whole if whole.fract() == 0.0 && !choices.percent(15) => json!(whole as i64),
        other => json!(other),
    }
}
