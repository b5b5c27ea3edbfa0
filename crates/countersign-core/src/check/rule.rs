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
use crate::json::{Number, Value};
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
    let mut before = b'{';
    for (name, default) in defaults {
        out.push(before);
        before = b',';
        canonical::write_string(name, out);
        out.push(b':');
        match value.get(name) {
            Some(given) => canonical::write(given, out),
            None => out.extend_from_slice(default.as_bytes()),
        }
    }
    out.push(b'}');
}
