//! Section 7: what an evaluation costs, and what happens when that is more than there is.

use super::super::Schema;
use crate::check::budget::{Budget, Exhausted};
use crate::json::{Value, read};
use std::cell::Cell;

fn parsed(schema: &str, output: &str) -> (Schema, Value) {
    let schema = read(schema.as_bytes()).unwrap_or_else(|fault| panic!("{schema}: {fault:?}"));
    let output = read(output.as_bytes()).unwrap_or_else(|fault| panic!("{output}: {fault:?}"));
    (Schema::compile(&schema).unwrap(), output)
}

fn spent(schema: &str, output: &str) -> u64 {
    let (schema, output) = parsed(schema, output);
    let mut budget = Budget::default();
    schema.evaluate(&output, &mut budget).unwrap();
    Budget::default().evaluations - budget.evaluations
}

#[test]
fn a_keyword_costs_one_and_reading_costs_more() {
    let text = |bytes| format!("\"{}\"", "x".repeat(bytes));
    let list = |elements: usize| format!("[{}]", vec!["0"; elements].join(","));
    let rows = [
        ("{}", "1".to_owned(), 0),
        (
            r#"{"type":"integer","minimum":1,"maxLength":1}"#,
            "1".to_owned(),
            3,
        ),
        // A failure costs what a success does.
        (r#"{"type":"null","minimum":3}"#, "1".to_owned(), 2),
        (r#"{"maxLength":9999}"#, text(255), 1),
        (r#"{"maxLength":9999}"#, text(256), 2),
        (r#"{"pattern":"x$"}"#, text(1_024), 5),
        (r#"{"format":"date"}"#, text(512), 3),
        (r#"{"items":{"type":"integer"}}"#, list(1_000), 1_001),
        (r#"{"items":{}}"#, list(1_000), 1),
        (
            r#"{"properties":{"a":{"type":"integer","enum":[1]}}}"#,
            r#"{"a":1}"#.to_owned(),
            3,
        ),
        (
            r#"{"properties":{"a":{"type":"integer","enum":[1]}}}"#,
            r#"{"b":1}"#.to_owned(),
            1,
        ),
        // Branches are paid for, though they are not counted.
        (
            r#"{"anyOf":[{"type":"null"},{"type":"integer"},{"type":"integer"}]}"#,
            "1".to_owned(),
            3,
        ),
        (r#"{"allOf":[{},true,{"type":"integer"}]}"#, "1".to_owned(), 4),
        (r#"{"contains":{"const":1}}"#, "[0,0,1,0]".to_owned(), 4),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}}"##,
            "1".to_owned(),
            2,
        ),
        (r#"{"required":["a","b"]}"#, "{}".to_owned(), 3),
    ];
    for (schema, output, evaluations) in rows {
        assert_eq!(spent(schema, &output), evaluations, "{schema}");
    }
}

#[test]
fn an_honest_mebibyte_of_numbers_fits() {
    let numbers = format!("[{}]", vec!["0"; 400_000].join(","));
    assert!(
        spent(
            r#"{"type":"array","items":{"type":"number","minimum":0},"uniqueItems":false}"#,
            &numbers
        ) < 1_000_000
    );
}

#[test]
fn a_budget_that_is_spent_decides_nothing() {
    let (schema, output) = parsed(r#"{"items":{"type":"integer"}}"#, "[1,2,3,4,5,6,7,8,9]");
    for evaluations in 0..12 {
        let mut budget = Budget {
            evaluations,
            ..Budget::default()
        };
        let outcome = schema.evaluate(&output, &mut budget);
        if evaluations < 10 {
            assert_eq!(outcome, Err(Exhausted::Evaluations), "{evaluations}");
            assert_eq!(budget.evaluations, 0);
        } else {
            assert!(outcome.is_ok());
            assert_eq!(budget.evaluations, evaluations - 10);
        }
    }
}

#[test]
fn the_clock_is_looked_at_now_and_then() {
    let (schema, output) = parsed(
        r#"{"items":{"type":"integer"}}"#,
        &format!("[{}]", vec!["0"; 100_000].join(",")),
    );
    let looks = Cell::new(0);
    let mut budget = Budget {
        out_of_time: &|| {
            looks.set(looks.get() + 1);
            looks.get() > 20
        },
        ..Budget::default()
    };
    assert_eq!(schema.evaluate(&output, &mut budget), Err(Exhausted::OutOfTime));
    assert!(budget.evaluations > 1_900_000, "{}", budget.evaluations);

    // A check that is short does not ask.
    let (schema, output) = parsed(r#"{"type":"integer"}"#, "1");
    let mut budget = Budget {
        out_of_time: &|| true,
        ..Budget::default()
    };
    assert!(schema.evaluate(&output, &mut budget).is_ok());
}

#[test]
fn a_pattern_that_takes_too_many_steps_is_named() {
    let long = format!("\"{}!\"", "a".repeat(40));
    let rows = [
        (r#"{"pattern":"^(?=(a+)+$)b"}"#, long.clone(), "pattern"),
        (
            r#"{"properties":{"x":{"anyOf":[true,{"pattern":"^(?=(a+)+$)b"}]}},"allOf":[{"additionalProperties":{"pattern":"^(?=(a+)+$)b"}}]}"#,
            format!(r#"{{"x":{long}}}"#),
            "allOf[0].additionalProperties.pattern",
        ),
        (
            r#"{"patternProperties":{"^(?=(a+)+$)b":true}}"#,
            format!("{{{long}:1}}"),
            r"patternProperties.^(?=(a+)+$)b",
        ),
    ];
    for (schema, output, place) in rows {
        let (compiled, output) = parsed(schema, &output);
        match compiled.evaluate(&output, &mut Budget::default()) {
            Err(Exhausted::PatternSteps(at)) => assert_eq!(at.to_string(), place),
            other => panic!("{schema}: {other:?}"),
        }
    }
}
