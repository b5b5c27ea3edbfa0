use super::finding::Finding;
use super::invalid::FieldProblem;
use super::rule::Selections;
use crate::json::Value;
pub struct Bound;
impl Bound {
    pub fn parse(_: &str, _: &Value, _: u32) -> Result<Bound, Vec<FieldProblem>> {
        Ok(Bound)
    }
    pub fn check(&self, _: &Value, _: &mut Selections<'_>) -> Option<Finding> {
        None
    }
    pub fn write_filled(_: &Value, _: &mut Vec<u8>) {}
}
