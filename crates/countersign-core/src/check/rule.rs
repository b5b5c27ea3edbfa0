use super::finding::Finding;
use super::invalid::FieldProblem;
use crate::json::Value;
pub struct Rule;
pub struct Selections<'a>(&'a Value);
pub const MEMBERS: [&str; 1] = ["type"];
impl<'a> Selections<'a> {
    pub fn new(v: &'a Value) -> Self {
        Selections(v)
    }
}
impl Rule {
    pub fn parse(_: &Value, _: usize) -> Result<Rule, Vec<FieldProblem>> {
        Ok(Rule)
    }
    pub fn check(&self, _: &Value, _: &mut Selections<'_>) -> Option<Finding> {
        None
    }
    pub fn write_filled(_: &Value, _: &mut Vec<u8>) {}
}
