//! `vectors/check`: requests, and what a check says about them.

use super::{run_all, text};
use countersign_core::check::budget::{Budget, Exhausted};
use countersign_core::check::invalid::field_inside;
use countersign_core::check::request::{CompileAnew, Request};
use countersign_core::place::Place;
use countersign_core::receipt::{Facts, Issuer};
use countersign_core::time::Timestamp;
use serde_json::{Value, json};

/// The whole answer to a request, as the vectors speak of it.
fn answer(body: &str) -> Value {
    let request = match Request::parse(body.as_bytes(), &CompileAnew) {
        Ok(request) => request,
        Err(invalid) => {
            let field = |problem: &countersign_core::check::invalid::FieldProblem| json!({"field": problem.field, "problem": problem.problem, "fix": problem.fix});
            let fields: Vec<Value> = invalid.0.iter().map(field).collect();
            return json!({"class": "invalid", "problem": "invalid_request", "fields": fields});
        }
    };
    let report = match request.demand.check(&request.output, &mut Budget::default()) {
        Ok(report) => report,
        Err(exhausted) => {
            let place = match exhausted {
                Exhausted::Evaluations | Exhausted::OutOfTime => Place::default(),
                Exhausted::References(place) | Exhausted::PatternSteps(place) => place,
            };
            let field = field_inside("expected_schema", &place);
            return json!({"class": "exhausted", "problem": "invalid_request", "fields": [{"field": field}]});
        }
    };
    let facts = Facts::new(&request, &report, [7; 16], Timestamp(0), "0.0.0");
    let issuer = Issuer {
        public_url: "https://verify.example",
        service_name: "s",
        key_version: "v1",
    };
    let unsigned = facts.receipt(&report, request.detail, &issuer);
    let mut answer: Value = serde_json::from_slice(&unsigned.seal(&[0; 64])).unwrap();
    answer["class"] = answer["result"].clone();
    answer["blocking_checks"] = answer["summary"]["blocking_checks"].clone();
    answer
}

/// Where the first difference is; `expect` names what is compared, `{}` matches anything.
fn difference(at: &str, expect: &Value, found: &Value) -> Option<String> {
    match (expect, found) {
        (Value::Object(expect), found) => expect.iter().find_map(|(name, expect)| {
            let found = &found[name];
            match expect.as_array().filter(|_| name == "class") {
                Some(words) => {
                    (!words.contains(found)).then(|| format!("class is {found}, not one of {words:?}"))
                }
                None => difference(&format!("{at}.{name}"), expect, found),
            }
        }),
        (Value::Array(expect), Value::Array(found)) => {
            let differs = |(index, (expect, found))| difference(&format!("{at}[{index}]"), expect, found);
            let inside = expect.iter().zip(found).enumerate().find_map(differs);
            let lengths = (expect.len() != found.len())
                .then(|| format!("{at}: {found:?} has not {} entries", expect.len()));
            inside.or(lengths)
        }
        (Value::Number(expect), Value::Number(found)) if expect.as_f64() == found.as_f64() => None,
        (expect, found) => (expect != found).then(|| format!("{at} is {found}, not {expect}")),
    }
}

fn served_check(case: &Value) -> Result<(), String> {
    let input = &case["input"];
    let body = match input.get("request") {
        Some(request) => request.to_string(),
        None => text(&input["text"]),
    };
    let answer = answer(&body);
    difference("", &case["expect"], &answer).map_or(Ok(()), |difference| {
        Err(format!(
            "{difference}\n    in: {body:.300}\n    out: {:.500}",
            answer.to_string()
        ))
    })
}

#[test]
fn checks() {
    run_all("check", 1500, served_check);
}
