//! Our own JSON Schema evaluator: drafts 04, 06, 07, 2019-09 and 2020-12, compiled once, fuelled and counted.
//!
//! A schema becomes flat tables (`node`), so no input can make compiling or evaluating run away: every loop is
//! paid for from a [`Budget`], every nesting has a named maximum, and a reference never leaves the document.
//! Read `compile` for what is a valid schema, `evaluate` for what a keyword means, `findings` for what is
//! said about an output.

mod compile;
mod draft;
mod elements;
mod equal;
mod evaluate;
mod fault;
mod findings;
pub mod format;
mod marks;
mod members;
mod node;
mod parts;
pub mod pattern;
mod reference;
mod shapes;
mod uri;

use super::budget::{Budget, Exhausted};
use super::finding::{Count, Findings};
use crate::json::Value;
pub use fault::SchemaFault;

/// A schema that is valid by its draft's meta-schema and whose references all lead to a schema inside it.
/// Immutable; to be shared between threads and kept for the next output.
#[derive(Debug)]
pub struct Schema {
    tables: node::Tables,
    /// Bytes that the tables hold.
    size: usize,
}

/// What a `format` keyword does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// It is an assertion for the formats of section 8. What every request gets.
    Asserted,
    /// It is an annotation for all; the official test suite's default.
    Annotation,
}

/// What a schema says about an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Assertion keywords by instance location (section 16).
    pub count: Count,
    /// What the output got wrong, in the order of section 13.
    pub findings: Findings,
}

impl Schema {
    /// Compiles a schema. The faults are in order of the text, at most
    /// [`LIST_ENTRIES_MAX`](crate::limits::LIST_ENTRIES_MAX) of them.
    pub fn compile(schema: &Value) -> Result<Schema, Vec<SchemaFault>> {
        Schema::compile_with(schema, Formats::Asserted)
    }

    /// As [`Schema::compile`], with a say about `format`.
    #[doc(hidden)]
    pub fn compile_with(schema: &Value, formats: Formats) -> Result<Schema, Vec<SchemaFault>> {
        let tables = compile::compile(schema, formats)?;
        let size = tables.size() + size_of::<Schema>();
        Ok(Schema { tables, size })
    }

    /// Evaluates an output. Nothing is decided when a budget runs out.
    pub fn evaluate(&self, output: &Value, budget: &mut Budget<'_>) -> Result<Evaluation, Exhausted> {
        evaluate::evaluate(&self.tables, output, budget)
    }

    /// Whether an output is valid, without saying why.
    pub fn is_valid(&self, output: &Value, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
        evaluate::is_valid(&self.tables, output, budget)
    }

    /// Bytes that it holds, for a cache that is bounded by bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests;
