//! What the evaluator promises as a whole.

mod budget;
mod counts;
mod faults;
mod hostile;
mod hostile_cases;
mod meaning;
mod told;

use super::{Evaluation, Schema};
use crate::check::budget::Budget;
use crate::json::read;

/// Members that choose a draft.
const D04: &str = r#""$schema":"http://json-schema.org/draft-04/schema#""#;
const D06: &str = r#""$schema":"http://json-schema.org/draft-06/schema#""#;
const D07: &str = r#""$schema":"http://json-schema.org/draft-07/schema#""#;
const D19: &str = r#""$schema":"https://json-schema.org/draft/2019-09/schema""#;
const D20: &str = r#""$schema":"https://json-schema.org/draft/2020-12/schema""#;

fn evaluate(schema: &str, output: &str) -> Evaluation {
    let compiled = read(schema.as_bytes()).unwrap_or_else(|fault| panic!("{schema}: {fault:?}"));
    let compiled = Schema::compile(&compiled).unwrap_or_else(|faults| panic!("{schema}: {faults:?}"));
    let output = read(output.as_bytes()).unwrap_or_else(|fault| panic!("{output}: {fault:?}"));
    let mut budget = Budget::default();
    let evaluation = compiled.evaluate(&output, &mut budget).unwrap();
    let quiet = compiled.is_valid(&output, &mut Budget::default());
    assert_eq!(quiet, Ok(evaluation.findings.total == 0), "{schema}");
    assert!(evaluation.count.passed <= evaluation.count.total);
    evaluation
}

#[test]
fn a_schema_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Schema>();
}
