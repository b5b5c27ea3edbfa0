//! The body of `POST /receipts/verify` (section 20).

use super::verify::{Outcome, SignatureCheck, Supplied, Verified, verify_value};
use crate::canonical::Hash;
use crate::check::invalid::{FieldProblem, InvalidRequest};
use crate::check::request::{self, CompileAnew, Request, levels_of, not_one_object, read_body, rules_hash};
use crate::document::{Members, Part, json};
use crate::json::{Object, Value};
use crate::key::KeyList;
use crate::place::Step;

/// A receipt to be checked, and the inputs to compare with it.
pub struct VerifyRequest {
    receipt: Value,
    supplied: Supplied,
}

const FIELDS: [&str; 6] = [
    "receipt",
    "submitted_output",
    "expected_schema",
    "rules",
    "bounds",
    "request",
];
/// The inputs that `request` stands in for.
const PARTS: [&str; 4] = ["submitted_output", "expected_schema", "rules", "bounds"];

impl VerifyRequest {
    /// Reads the body: strict JSON, then the fields, all problems at once.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidRequest> {
        // A receipt is as deep as any value; the request inside has its own members one level further down.
        let levels = |field: &str| {
            if field == "request" {
                levels_of("rules") + 1
            } else {
                levels_of(field)
            }
        };
        let Value::Object(document) = read_body(body, levels, field_of)? else {
            return Err(InvalidRequest(vec![not_one_object()]));
        };
        let mut problems = Vec::new();
        for member in document
            .members()
            .iter()
            .filter(|member| !FIELDS.contains(&member.name.as_str()))
        {
            let fix = format!("Use only: {}.", FIELDS.join(", "));
            problems.push(FieldProblem::new(
                member.at,
                "body",
                "has a member that the contract does not know",
                fix,
            ));
        }
        match document.member("receipt") {
            None => problems.push(FieldProblem::new(
                0,
                "receipt",
                "is required",
                "Add receipt: a check or score answer of this service, full or compact.",
            )),
            Some(member) if !has_the_shape(&member.value) => problems.push(malformed(member.at)),
            Some(_) => {}
        }
        let supplied = supplied(&document, &mut problems);
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.at);
            problems.dedup_by(|a, b| a.field == b.field && a.problem == b.problem);
            return Err(InvalidRequest(problems));
        }
        let receipt = document.take("receipt").unwrap_or(Value::Null);
        Ok(VerifyRequest { receipt, supplied })
    }

    /// Checks the receipt against the service's own keys.
    pub fn verify(&self, keys: &KeyList) -> Result<Verified, InvalidRequest> {
        verify_value(&self.receipt, keys, &self.supplied).ok_or_else(|| InvalidRequest(vec![malformed(0)]))
    }
}

impl Verified {
    /// The answer of `POST /receipts/verify`.
    pub fn answer(&self) -> Vec<u8> {
        let mut members: Members<'_> = vec![
            ("valid", Part::Bool(self.outcome() == Outcome::Valid)),
            ("signature", self.signature.as_str().into()),
            ("context", self.context.as_str().into()),
        ];
        members.extend(self.members());
        json(&members)
    }

    /// Whether the signature is good, whatever the hashes and the key's status say.
    pub fn is_signed(&self) -> bool {
        self.signature == SignatureCheck::Valid
    }
}

/// The field text of a place in the body. Inside the receipt every name is ours and none is shown.
fn field_of(steps: &[Step]) -> String {
    match steps {
        [Step::Name(first), rest @ ..] if first == "request" => in_request(&request::field_of(rest)),
        [Step::Name(first), ..] if first == "receipt" => first.to_string(),
        [Step::Name(first), ..] if PARTS.contains(&first.as_str()) => request::field_of(steps),
        _ => "body".to_owned(),
    }
}

/// The field text of what is `field` in the request inside.
fn in_request(field: &str) -> String {
    match field {
        "body" => "request".to_owned(),
        field => format!("request.{field}"),
    }
}

fn has_the_shape(receipt: &Value) -> bool {
    verify_value(receipt, &KeyList::Listed(Vec::new()), &Supplied::default()).is_some()
}

fn malformed(at: u32) -> FieldProblem {
    FieldProblem::new(
        at,
        "receipt",
        "is not a receipt",
        "Send the whole answer of a check or a score, with its attestation of exactly algorithm, key_version, \
         timestamp and signature.",
    )
}

fn supplied(document: &Object, problems: &mut Vec<FieldProblem>) -> Supplied {
    let Some(request) = document.member("request") else {
        let hash = |name: &str| document.get(name).map(Hash::of_value);
        let (rules, bounds) = (document.get("rules"), document.get("bounds"));
        return Supplied {
            output: hash("submitted_output"),
            schema: hash("expected_schema"),
            rules: (rules.is_some() || bounds.is_some()).then(|| rules_hash(rules, bounds)),
            request: None,
        };
    };
    if PARTS.iter().any(|part| document.get(part).is_some()) {
        let fix = format!("Send either request, or any of: {}.", PARTS.join(", "));
        problems.push(FieldProblem::new(
            request.at,
            "request",
            "is given beside its parts",
            fix,
        ));
        return Supplied::default();
    }
    match Request::from_value(request.value.clone(), &CompileAnew) {
        Ok(request) => request.hashes.into(),
        Err(InvalidRequest(found)) => {
            problems.extend(found.into_iter().map(|problem| FieldProblem {
                field: in_request(&problem.field),
                at: problem.at.max(request.at),
                ..problem
            }));
            Supplied::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_at_the_member_that_it_is_in() {
        let deep = "[".repeat(100) + &"]".repeat(100);
        let rows = [
            (r#"{"receipt":{"a":1,"a":2}}"#, "receipt"),
            (r#"{"receipt":{"schema_compliance":{"total":1e999}}}"#, "receipt"),
            (&format!(r#"{{"receipt":{deep}}}"#), "receipt"),
            (
                r#"{"receipt":{},"submitted_output":{"x":{"a":1,"a":2}}}"#,
                "submitted_output.x",
            ),
            (
                r#"{"receipt":{},"expected_schema":{"a":1,"a":2}}"#,
                "expected_schema",
            ),
            (r#"{"receipt":{},"rules":[{"field":"\ud800"}]}"#, "rules[0].field"),
            (
                r#"{"receipt":{},"bounds":{"a":{"min":1e999}}}"#,
                "bounds['a'].min",
            ),
            (r#"{"request":{"a":1,"a":2}}"#, "request"),
            (r#"{"request":{"x":{"a":1,"a":2}}}"#, "request"),
            (r#"{"request":{"task_id":"\ud800"}}"#, "request.task_id"),
            (
                r#"{"request":{"submitted_output":[{"a":1,"a":2}]}}"#,
                "request.submitted_output[0]",
            ),
            (r#"{"receipt":{},"receipt":{}}"#, "body"),
            (r#"{"task_id":{"a":1,"a":2}}"#, "body"),
            (r#"{"other":{"a":1,"a":2}}"#, "body"),
            ("[1e999]", "body"),
        ];
        for (body, field) in rows {
            let InvalidRequest(problems) = VerifyRequest::parse(body.as_bytes()).err().unwrap();
            let fields: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
            assert_eq!(fields, [field], "{body}");
        }
    }
}
