//! Compiled schemas, kept by hash, so that a schema in use is compiled once. Bounded by weight, since callers
//! choose the schemas.

use countersign_core::canonical::Hash;
use countersign_core::check::request::Schemas;
use countersign_core::check::schema::{Schema, SchemaFault};
use countersign_core::json::Value;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::cell::Cell;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

/// Bytes of all compiled schemas together.
const CACHE_BYTES_MAX: u64 = 32 << 20;
/// Schemas that the cache is laid out for: those of a few hundred sellers.
const SCHEMAS_EXPECTED: usize = 512;
/// Values of a schema that is compiled where it was read; a larger one, or one with a pattern, goes to the
/// bench, since compiling it may take milliseconds.
const LIGHT_VALUES_MAX: u64 = 2_000;

/// The cache.
pub(crate) struct SchemaCache {
    compiled: Cache<Key, Arc<Schema>, WeightOfCompiled>,
    /// Keyed anew in each process, so that nobody can look for two schemas with one spelling.
    spellings: RandomState,
}

/// A schema's canonical form, and how its whole numbers were written: texts show `1` and `1.0` differently, and
/// the same request must get the same texts whatever was compiled before it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    hash: [u8; 32],
    spelling: u64,
}

#[derive(Clone)]
struct WeightOfCompiled;

impl Weighter<Key, Arc<Schema>> for WeightOfCompiled {
    fn weight(&self, _: &Key, compiled: &Arc<Schema>) -> u64 {
        (compiled.size() + size_of::<Key>()) as u64
    }
}

impl SchemaCache {
    pub(crate) fn new() -> Self {
        SchemaCache {
            compiled: Cache::with_weighter(SCHEMAS_EXPECTED, CACHE_BYTES_MAX, WeightOfCompiled),
            spellings: RandomState::new(),
        }
    }

    fn key(&self, hash: &Hash, schema: &Value) -> Key {
        let mut spelling = self.spellings.build_hasher();
        each_value(schema, &mut |value, _| {
            if let Value::Number(number) = value
                && number.is_integer()
            {
                spelling.write_u8(u8::from(number.is_integer_literal()));
            }
        });
        Key {
            hash: hash.0,
            spelling: spelling.finish(),
        }
    }

    fn compile(&self, key: Key, schema: &Value) -> Result<Arc<Schema>, Vec<SchemaFault>> {
        let compiled = Arc::new(Schema::compile(schema)?);
        self.compiled.insert(key, compiled.clone());
        Ok(compiled)
    }
}

impl Schemas for SchemaCache {
    fn compiled(&self, hash: &Hash, schema: &Value) -> Result<Arc<Schema>, Vec<SchemaFault>> {
        let key = self.key(hash, schema);
        match self.compiled.get(&key) {
            Some(compiled) => Ok(compiled),
            None => self.compile(key, schema),
        }
    }
}

/// The cache as the quick path sees it: compiles light schemas only, and remembers that it refused one.
pub(crate) struct LightSchemas<'a> {
    cache: &'a SchemaCache,
    refused: Cell<bool>,
}

impl<'a> LightSchemas<'a> {
    pub(crate) fn of(cache: &'a SchemaCache) -> Self {
        LightSchemas {
            cache,
            refused: Cell::new(false),
        }
    }

    /// Whether a schema was too heavy to compile here: then whatever was parsed with it says nothing.
    pub(crate) fn refused(&self) -> bool {
        self.refused.get()
    }
}

impl Schemas for LightSchemas<'_> {
    fn compiled(&self, hash: &Hash, schema: &Value) -> Result<Arc<Schema>, Vec<SchemaFault>> {
        let key = self.cache.key(hash, schema);
        if let Some(compiled) = self.cache.compiled.get(&key) {
            return Ok(compiled);
        }
        let cost = Cost::of(schema);
        if cost.patterns > 0 || cost.values > LIGHT_VALUES_MAX {
            self.refused.set(true);
            return Err(Vec::new());
        }
        self.cache.compile(key, schema)
    }
}

/// What compiling a schema takes, roughly.
#[derive(Clone, Copy, Default)]
struct Cost {
    values: u64,
    patterns: u64,
}

impl Cost {
    fn of(schema: &Value) -> Self {
        let mut cost = Cost::default();
        each_value(schema, &mut |value, name| {
            cost.values += 1;
            match (name, value) {
                (Some("pattern"), Value::String(_)) => cost.patterns += 1,
                (Some("patternProperties"), Value::Object(members)) => cost.patterns += members.len() as u64,
                _ => {}
            }
        });
        cost
    }
}

/// Every value in a document, the root first, with the name of the member that it is.
fn each_value(value: &Value, visit: &mut impl FnMut(&Value, Option<&str>)) {
    // The reader bounds the depth.
    fn walk(value: &Value, name: Option<&str>, visit: &mut impl FnMut(&Value, Option<&str>)) {
        visit(value, name);
        match value {
            Value::Array(elements) => elements.iter().for_each(|element| walk(element, None, visit)),
            Value::Object(object) => {
                let members = object.members().iter();
                members.for_each(|member| walk(&member.value, Some(&member.name), visit));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    walk(value, None, visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::json::read;

    fn same(cache: &SchemaCache, first: &str, second: &str) -> bool {
        let compiled = |text: &str| {
            let schema = read(text.as_bytes()).unwrap();
            cache.compiled(&Hash::of_value(&schema), &schema).ok().unwrap()
        };
        Arc::ptr_eq(&compiled(first), &compiled(second))
    }

    #[test]
    fn a_schema_is_compiled_once_for_each_spelling_of_its_numbers() {
        let cache = SchemaCache::new();
        let rows = [
            (
                r#"{"minimum":1,"type":"number"}"#,
                r#"{ "type":"number", "minimum":1 }"#,
                true,
            ),
            (r#"{"minimum":1}"#, r#"{"minimum":1.0}"#, false),
            (r#"{"minimum":1.0}"#, r#"{"minimum":10e-1}"#, true),
            (r#"{"minimum":0.5}"#, r#"{"minimum":5e-1}"#, true),
            (r#"{"minimum":1}"#, r#"{"minimum":2}"#, false),
        ];
        for (first, second, expected) in rows {
            assert_eq!(same(&cache, first, second), expected, "{first} {second}");
        }
    }

    #[test]
    fn patterns_and_large_schemas_are_left_to_the_bench_until_they_are_compiled() {
        let large = format!(r#"{{"enum":[{}]}}"#, vec!["1"; 2_000].join(","));
        let rows = [
            (r#"{"type":"object"}"#, false),
            (r#"{"pattern":"^a$"}"#, true),
            (r#"{"patternProperties":{"^a$":{}}}"#, true),
            (r#"{"properties":{"pattern":{"type":"string"}}}"#, false),
            (&large, true),
        ];
        for (text, refused) in rows {
            let cache = SchemaCache::new();
            let schema = read(text.as_bytes()).unwrap();
            let hash = Hash::of_value(&schema);
            let light = LightSchemas::of(&cache);
            assert_eq!(light.compiled(&hash, &schema).is_err(), refused, "{text}");
            assert_eq!(light.refused(), refused, "{text}");
            assert!(cache.compiled(&hash, &schema).is_ok());
            assert!(
                LightSchemas::of(&cache).compiled(&hash, &schema).is_ok(),
                "{text}"
            );
        }
    }
}
