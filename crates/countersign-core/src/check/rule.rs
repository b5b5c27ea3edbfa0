//! The rules: what one part of an output says about another (verification.md, section 10). How each type decides
//! is its own room's business.

mod compare;
mod exists_in;
mod read;
mod sum_equals;
mod unique;

pub use super::selection::Selections;

use super::finding::Finding;
use super::invalid::FieldProblem;
use super::path::Path;
use crate::canonical;
use crate::json::{Number, Object, Value};
use compare::Comparison;
use exists_in::Set;
use sum_equals::Target;

/// A well-formed rule.
#[derive(Clone, Debug)]
pub struct Rule {
    field: Path,
    kind: Kind,
    if_present: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    SumEquals(Target, Number),
    Compare(Comparison),
    ExistsIn(Set),
    Unique,
}

/// The members of a rule in canonical order, each with what `request_hash` has in its place if it is absent.
const DEFAULTS: [(&str, &str); 10] = [
    ("equals", "null"),
    ("equals_field", "null"),
    ("field", "null"),
    ("if_present", "false"),
    ("in_field", "null"),
    ("other_field", "null"),
    ("tolerance", "1e-9"),
    ("type", "null"),
    ("value", "null"),
    ("values", "null"),
];

/// The contract's spelling of a rule's member, if this names one.
pub(super) fn member_named(name: &str) -> Option<&'static str> {
    DEFAULTS
        .iter()
        .map(|(known, _)| *known)
        .find(|known| *known == name)
}

impl Rule {
    /// Reads the entry `index` of `rules`. `Err` holds every problem of it in the order of the request's text;
    /// problems of the whole rule and missing members stand at its first member, or at 0 if it has none.
    pub fn parse(value: &Value, index: usize) -> Result<Rule, Vec<FieldProblem>> {
        read::rule(value, index)
    }

    /// Checks an output: at most one finding, which names the first element that offends and counts the others.
    pub fn check<'a>(&'a self, output: &'a Value, selections: &mut Selections<'a>) -> Option<Finding> {
        let (field, if_present) = (&self.field, self.if_present);
        match &self.kind {
            Kind::SumEquals(target, tolerance) => {
                sum_equals::check((field, target, *tolerance, if_present), output, selections)
            }
            Kind::Compare(comparison) => comparison.check((field, if_present), output, selections),
            Kind::ExistsIn(set) => exists_in::check((field, set, if_present), output, selections),
            Kind::Unique => unique::check((field, if_present), output, selections),
        }
    }

    /// Appends the RFC 8785 form of a rule as `request_hash` needs it: `value`, which must be one that
    /// [`Rule::parse`] accepts, with every default filled in (section 17).
    pub fn write_filled(value: &Value, out: &mut Vec<u8>) {
        write_filled(value, &DEFAULTS, out);
    }
}

/// Appends the RFC 8785 form of an object of exactly these members, sorted; each absent one has its default.
pub(super) fn write_filled(value: &Value, defaults: &[(&str, &str)], out: &mut Vec<u8>) {
    // Both stand in canonical order, so the members that are given are met one after the other.
    let mut given = value
        .as_object()
        .map_or(&[][..], Object::members)
        .iter()
        .peekable();
    let mut before = b"{\"";
    for (name, default) in defaults {
        out.extend_from_slice(before);
        before = b",\"";
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        match given.next_if(|member| member.name == *name) {
            Some(member) => canonical::write(&member.value, out),
            None => out.extend_from_slice(default.as_bytes()),
        }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;
    use crate::place::{Place, Step};

    /// The finding of a rule about an output: its detail, or nothing.
    pub(super) fn told(rule: &str, output: &str) -> String {
        finding(rule, output).map_or_else(String::new, |finding| finding.detail)
    }

    pub(super) fn finding(rule: &str, output: &str) -> Option<Finding> {
        let rule = Rule::parse(&read(rule.as_bytes()).unwrap(), 0).unwrap();
        let output = read(output.as_bytes()).unwrap();
        rule.check(&output, &mut Selections::new())
    }

    fn vector(name: &str) -> Value {
        read(match name {
            "draft" => include_bytes!("../../../../vectors/invoice-draft.request.json").as_slice(),
            "final" => include_bytes!("../../../../vectors/invoice-final.request.json").as_slice(),
            _ => include_bytes!("../../../../vectors/request-hash.json").as_slice(),
        })
        .unwrap()
    }

    fn findings(request: &Value) -> Vec<Finding> {
        let output = request.get("submitted_output").unwrap();
        let rules = request.get("rules").and_then(Value::as_array).unwrap_or_default();
        let rules: Vec<Rule> = rules
            .iter()
            .enumerate()
            .map(|(n, rule)| Rule::parse(rule, n).unwrap())
            .collect();
        let mut selections = Selections::new();
        rules
            .iter()
            .filter_map(|rule| rule.check(output, &mut selections))
            .collect()
    }

    #[test]
    fn the_invoice_draft_is_told_that_its_lines_do_not_add_up() {
        let expected = Finding {
            check: crate::check::name::CheckName::ConsistencySumEquals,
            field: "line_items[].line_total".to_owned(),
            is_root: false,
            place: Place(vec![Step::Name("line_items".into())]),
            expected: "a sum equal to total (135.0)".to_owned(),
            found: "sum 129.5".to_owned(),
            detail: "values sum to 129.5, expected total (135.0)".to_owned(),
        };
        assert_eq!(findings(&vector("draft")), [expected]);
        assert_eq!(findings(&vector("final")), []);
    }

    #[test]
    fn defaults_are_filled_in_as_the_hash_vectors_have_them() {
        let vectors = vector("request-hash");
        for vector in vectors.as_array().unwrap() {
            let request = vector.get("request").unwrap();
            assert_eq!(findings(request), []);
            let canonical = vector.get("canonical").and_then(Value::as_str).unwrap();
            for rule in request.get("rules").and_then(Value::as_array).unwrap_or_default() {
                let mut filled = Vec::new();
                Rule::write_filled(rule, &mut filled);
                assert!(
                    canonical.contains(std::str::from_utf8(&filled).unwrap()),
                    "{canonical}"
                );
            }
        }
    }

    #[test]
    fn what_is_given_is_hashed_as_given() {
        let rule = r#"{"type":"exists_in","field":"$.a","values":[1.0,{"b":2,"a":null}],"in_field":null,"tolerance":0}"#;
        let mut filled = Vec::new();
        Rule::write_filled(&read(rule.as_bytes()).unwrap(), &mut filled);
        let expected = r#"{"equals":null,"equals_field":null,"field":"$.a","if_present":false,"in_field":null,"other_field":null,"tolerance":0,"type":"exists_in","value":null,"values":[1,{"a":null,"b":2}]}"#;
        assert_eq!(String::from_utf8(filled).unwrap(), expected);
    }
}
