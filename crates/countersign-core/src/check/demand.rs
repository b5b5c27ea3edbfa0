//! What the buyer asks of an output: schema, rules and bounds as one. How a rule decides is `rule`'s business.

use super::bound::Bound;
use super::budget::{Budget, Exhausted};
use super::content;
use super::finding::{Count, Findings};
use super::report::Report;
use super::rule::Rule;
use super::schema::Schema;
use super::selection::Selections;
use crate::json::Value;
use std::sync::Arc;

/// What the buyer asks. A `Demand` that exists is well-formed: its schema compiles and its rules and bounds
/// name paths that parse.
pub struct Demand {
    /// The compiled `expected_schema`.
    pub schema: Arc<Schema>,
    /// The rules in request order.
    pub rules: Vec<Rule>,
    /// The bounds by key.
    pub bounds: Vec<Bound>,
    /// Whether rule and bound findings block.
    pub enforce_rules: bool,
    /// Whether content findings block.
    pub strict_content_check: bool,
}

impl Demand {
    /// Runs every check. What the output got wrong is in the report; `Exhausted` means that a budget ran out
    /// first and nothing was decided.
    pub fn check(&self, output: &Value, budget: &mut Budget<'_>) -> Result<Report, Exhausted> {
        let schema = self.schema.evaluate(output, budget)?;
        let content = content::check(output);
        let mut selections = Selections::new();
        let mut integrity = Findings::default();
        let mut integrity_count = Count::default();
        let rules = self.rules.iter().map(Asked::Rule);
        for asked in rules.chain(self.bounds.iter().map(Asked::Bound)) {
            if (budget.out_of_time)() {
                return Err(Exhausted::OutOfTime);
            }
            let finding = match asked {
                Asked::Rule(rule) => rule.check(output, &mut selections),
                Asked::Bound(bound) => bound.check(output, &mut selections),
            };
            integrity_count.total += 1;
            match finding {
                None => integrity_count.passed += 1,
                Some(finding) => integrity.push(finding),
            }
        }
        Ok(Report {
            schema,
            content,
            integrity,
            integrity_count,
            enforce_rules: self.enforce_rules,
            strict_content_check: self.strict_content_check,
        })
    }
}

enum Asked<'a> {
    Rule(&'a Rule),
    Bound(&'a Bound),
}
