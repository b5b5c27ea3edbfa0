//! How many assertion keywords a schema asks of an instance (verification.md, section 16), counted once more by a
//! plain walk that shares nothing with the evaluator.

use crate::draft::Draft;
use crate::instances::Sampler;
use serde_json::{Map, Value};

/// Counted wherever their schema is applied, in the drafts from the one given.
const ASSERTIONS: [(&str, Draft); 20] = [
    ("type", Draft::D4),
    ("enum", Draft::D4),
    ("const", Draft::D6),
    ("multipleOf", Draft::D4),
    ("maximum", Draft::D4),
    ("exclusiveMaximum", Draft::D6),
    ("minimum", Draft::D4),
    ("exclusiveMinimum", Draft::D6),
    ("maxLength", Draft::D4),
    ("minLength", Draft::D4),
    ("pattern", Draft::D4),
    ("format", Draft::D4),
    ("maxItems", Draft::D4),
    ("minItems", Draft::D4),
    ("uniqueItems", Draft::D4),
    ("contains", Draft::D6),
    ("maxProperties", Draft::D4),
    ("minProperties", Draft::D4),
    ("required", Draft::D4),
    ("dependentRequired", Draft::D2019),
];

/// Counted as one each, whatever their branches hold.
const CHOICES: [&str; 3] = ["anyOf", "oneOf", "not"];

/// The total for a schema and an instance; `None` where it hangs on what is valid (`if`, `unevaluated*` with a
/// schema) or on the dynamic scope.
pub(crate) fn total(root: &Sampler<'_>, schema: &Value, instance: &Value) -> Option<u64> {
    let schema = match schema {
        Value::Object(schema) => schema,
        other => return Some(u64::from(other == &Value::Bool(false))),
    };
    let at_least = |draft| root.draft >= draft;
    if ["if", "$dynamicRef", "$recursiveRef"]
        .iter()
        .any(|keyword| schema.contains_key(*keyword))
    {
        return None;
    }
    let mut sum = 0;
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        sum += total(root, root.resolve(target), instance)?;
        if !at_least(Draft::D2019) {
            return Some(sum);
        }
    }
    sum += ASSERTIONS
        .iter()
        .filter(|(name, draft)| at_least(*draft) && schema.contains_key(*name))
        .count() as u64;
    sum += CHOICES.iter().filter(|name| schema.contains_key(**name)).count() as u64;
    for branch in schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        sum += total(root, branch, instance)?;
    }
    for keyword in ["unevaluatedItems", "unevaluatedProperties"] {
        match schema.get(keyword) {
            None => {}
            Some(Value::Bool(unevaluated)) => sum += u64::from(!unevaluated),
            Some(_) => return None,
        }
    }
    sum += dependencies(root, schema, instance)?;
    sum += of_elements(root, schema, instance)?;
    Some(sum + of_members(root, schema, instance)?)
}

fn dependencies(root: &Sampler<'_>, schema: &Map<String, Value>, instance: &Value) -> Option<u64> {
    let mut sum = 0;
    let dependencies = |keyword| schema.get(keyword).and_then(Value::as_object);
    // With lists it is `dependentRequired`: one, whatever is present.
    sum += u64::from(dependencies("dependencies").is_some_and(|names| names.values().any(Value::is_array)));
    for keyword in ["dependencies", "dependentSchemas"] {
        for (name, dependent) in dependencies(keyword).into_iter().flatten() {
            if instance.get(name).is_some() && !dependent.is_array() {
                sum += total(root, dependent, instance)?;
            }
        }
    }
    Some(sum)
}

/// A schema for what remains: one where it is `false`, else what it asks of each that remains.
fn of_rest<'a>(
    root: &Sampler<'_>,
    schema: Option<&Value>,
    rest: impl Iterator<Item = &'a Value>,
) -> Option<u64> {
    match schema {
        None => Some(0),
        Some(Value::Bool(false)) => Some(1),
        Some(schema) => rest.map(|instance| total(root, schema, instance)).sum(),
    }
}

fn of_elements(root: &Sampler<'_>, schema: &Map<String, Value>, instance: &Value) -> Option<u64> {
    let items = schema.get("items");
    let (tuple, rest) = match (root.draft, items) {
        (Draft::D2020, _) => (schema.get("prefixItems").and_then(Value::as_array), items),
        (_, Some(Value::Array(tuple))) => (Some(tuple), schema.get("additionalItems")),
        _ => (None, items),
    };
    let tuple = tuple.map_or(&[][..], Vec::as_slice);
    let elements = instance.as_array().map_or(&[][..], Vec::as_slice);
    let first: Option<u64> = tuple
        .iter()
        .zip(elements)
        .map(|(schema, element)| total(root, schema, element))
        .sum();
    Some(first? + of_rest(root, rest, elements.iter().skip(tuple.len()))?)
}

fn of_members(root: &Sampler<'_>, schema: &Map<String, Value>, instance: &Value) -> Option<u64> {
    let none = Map::new();
    let members = instance.as_object().unwrap_or(&none);
    let object = |keyword| schema.get(keyword).and_then(Value::as_object).unwrap_or(&none);
    let (properties, patterns) = (object("properties"), object("patternProperties"));
    let mut sum = 0;
    let mut rest = Vec::new();
    for (name, member) in members {
        let mut claimed = false;
        let by_pattern = patterns
            .iter()
            .filter(|(pattern, _)| names(pattern, name))
            .map(|(_, schema)| schema);
        for schema in properties.get(name).into_iter().chain(by_pattern) {
            claimed = true;
            sum += total(root, schema, member)?;
        }
        if !claimed {
            rest.push(member);
        }
        if let Some(schema) = schema.get("propertyNames").filter(|_| root.draft >= Draft::D6) {
            sum += total(root, schema, &Value::from(name.as_str()))?;
        }
    }
    Some(sum + of_rest(root, schema.get("additionalProperties"), rest.into_iter())?)
}

/// Whether a pattern of the generator's `patternProperties` names a member.
fn names(pattern: &str, name: &str) -> bool {
    match pattern {
        "^x-" => name.starts_with("x-"),
        "^[ab]$" => name == "a" || name == "b",
        "\\d" => name.bytes().any(|byte| byte.is_ascii_digit()),
        other => panic!("the generator has a new pattern for names: {other}"),
    }
}
