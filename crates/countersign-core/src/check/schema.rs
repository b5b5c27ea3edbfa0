pub mod format;
pub mod pattern;
use super::budget::*;
use super::finding::*;
use crate::json::Value;
use crate::place::Place;
pub struct Schema;
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub count: Count,
    pub findings: Findings,
}
pub struct SchemaFault {
    pub place: Place,
    pub at: u32,
    pub problem: String,
    pub fix: String,
}
impl Schema {
    pub fn compile(_: &Value) -> Result<Schema, Vec<SchemaFault>> {
        Ok(Schema)
    }
    pub fn evaluate(&self, _: &Value, _: &mut Budget<'_>) -> Result<Evaluation, Exhausted> {
        Ok(Evaluation {
            count: Count::default(),
            findings: Findings::default(),
        })
    }
}
