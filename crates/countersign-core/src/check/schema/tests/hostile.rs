//! Whatever a schema asks for, it gets an answer, and the process lives.

use super::super::Schema;
use super::hostile_cases::{Case, Ends, cases};
use crate::check::budget::{Budget, Exhausted};
use crate::json::read;

fn end(case: &Case) -> Ends {
    let schema = read(case.schema.as_bytes()).unwrap_or_else(|fault| panic!("{}: {fault:?}", case.name));
    let output = read(case.output.as_bytes()).unwrap_or_else(|fault| panic!("{}: {fault:?}", case.name));
    let Ok(schema) = Schema::compile(&schema) else {
        return Ends::Refused;
    };
    match schema.evaluate(&output, &mut Budget::default()) {
        Ok(evaluation) => {
            assert!(evaluation.findings.shown.len() <= 50);
            Ends::Findings(evaluation.findings.total)
        }
        Err(Exhausted::Evaluations) => Ends::TooComplex,
        Err(Exhausted::References(_)) => Ends::References,
        Err(Exhausted::PatternSteps(_)) => Ends::Patterns,
        Err(Exhausted::OutOfTime) => panic!("{}: there is no clock", case.name),
    }
}

#[test]
fn every_hostile_case_is_answered_on_a_small_stack() {
    // Half of what a thread has by default; the server's own frames need some.
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let all = thread.spawn(|| {
        for case in cases() {
            assert!(
                case.schema.len() <= 1 << 20 && case.output.len() <= 1 << 20,
                "{}",
                case.name
            );
            assert_eq!(end(&case), case.ends, "{}", case.name);
        }
    });
    all.unwrap().join().unwrap();
}
