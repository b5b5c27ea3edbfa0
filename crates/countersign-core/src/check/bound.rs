//! Bounds: the lowest and highest that a path may have (verification.md, section 11).

use super::comparable::{Comparable, Op};
use super::finding::Finding;
use super::invalid::FieldProblem;
use super::member::{DATE_FIX, Members};
use super::name::CheckName;
use super::offence::Offence;
use super::path::Path;
use super::selection::{Offender, Selections};
use super::{rule, wording};
use crate::json::Value;
use crate::limits::NAME_CHARS_MAX;
use std::cmp::Ordering;

/// A well-formed bound: at least one limit; two are of one kind and not crossed.
#[derive(Clone, Debug)]
pub struct Bound {
    path: Path,
    min: Option<Value>,
    max: Option<Value>,
    if_present: bool,
}

/// The members of a bound in canonical order, each with what `request_hash` has in its place if it is absent.
const DEFAULTS: [(&str, &str); 3] = [("if_present", "false"), ("max", "null"), ("min", "null")];
const MEMBERS_FIX: &str = "Use only 'min', 'max' and 'if_present'.";
const LIMITS_FIX: &str = "Give 'min', 'max' or both, as numbers or as dates.";

impl Bound {
    /// Reads the member `key` of `bounds`, which stands at the offset `at` of the request's text. `Err` holds
    /// every problem of it in the order of the text.
    pub fn parse(key: &str, value: &Value, at: u32) -> Result<Bound, Vec<FieldProblem>> {
        let name = format!("bounds['{}']", cut(key));
        let path =
            Path::parse(key).map_err(|bad| FieldProblem::new(at, name.as_str(), bad.to_string(), bad.fix()));
        let Some(members) = Members::of(value, name.clone()) else {
            let shape = FieldProblem::new(at, name, "must be an object", LIMITS_FIX);
            return Err(path.err().into_iter().chain([shape]).collect());
        };
        let mut members = members.at(at);
        members.refuse_unknown(
            |name| DEFAULTS.iter().any(|(known, _)| *known == name),
            MEMBERS_FIX,
        );
        let (min, max) = (read_limit(&mut members, "min"), read_limit(&mut members, "max"));
        let if_present = members.boolean("if_present");
        if let (Ok(min), Ok(max)) = (min, max)
            && let Err((problem, fix)) = compare_limits(min, max)
        {
            members.refuse_whole(problem, fix);
        }
        let limits = min.ok().zip(max.ok());
        let read = members.finish(limits);
        match (path, read) {
            (Ok(path), Ok((min, max))) => Ok(Bound {
                path,
                min: min.cloned(),
                max: max.cloned(),
                if_present,
            }),
            (path, read) => Err(path
                .err()
                .into_iter()
                .chain(read.err().into_iter().flatten())
                .collect()),
        }
    }

    /// Checks an output: at most one finding, which names the first value outside and counts the others.
    pub fn check<'a>(&'a self, output: &'a Value, selections: &mut Selections<'a>) -> Option<Finding> {
        let limit = |limit: &'a Option<Value>| limit.as_ref().and_then(Comparable::of);
        let (min, max) = (limit(&self.min), limit(&self.max));
        let selection = selections.select(output, &self.path);
        let offenders = selection.offenders(self.if_present, |value| {
            let Some(value) = Comparable::of(value) else {
                return true;
            };
            let misses = |limit: Option<Comparable<'_>>, op: Op| {
                limit.is_some_and(|limit| value.compare(&limit).is_none_or(|order| !op.holds(order)))
            };
            misses(min, Op::Gte) || misses(max, Op::Lte)
        })?;
        let place = selection.place(output, offenders.first);
        let offence = match offenders.first {
            Offender::Missing => Offence::missing(&place),
            Offender::Value(index) => {
                let value = selection.values[index];
                let kind = min.or(max).map(|limit| limit.kind());
                match kind.filter(|kind| Comparable::of(value).is_none_or(|value| value.kind() != *kind)) {
                    Some(kind) => Offence::not_comparable(&place, value, kind),
                    None => Offence::unlike(&place, value, self.expected()),
                }
            }
        };
        Some(offence.finding(CheckName::BoundsRange, &self.path, offenders.count))
    }

    fn expected(&self) -> String {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => format!("{} to {}", wording::value(min), wording::value(max)),
            (Some(min), None) => format!(">= {}", wording::value(min)),
            (None, max) => format!("<= {}", max.as_ref().map(wording::value).unwrap_or_default()),
        }
    }

    /// Appends the RFC 8785 form of a bound as `request_hash` needs it: `value`, which must be one that
    /// [`Bound::parse`] accepts, with every default filled in (section 17).
    pub fn write_filled(value: &Value, out: &mut Vec<u8>) {
        rule::write_filled(value, &DEFAULTS, out);
    }
}

/// A limit that is given and comparable; `Err` when it is refused.
fn read_limit<'v>(members: &mut Members<'v>, name: &str) -> Result<Option<&'v Value>, ()> {
    let given = members.given(name).map(|member| &member.value);
    if given.is_some_and(|value| Comparable::of(value).is_none()) {
        members.refuse(name, "must be a number or an ISO 8601 date", DATE_FIX);
        return Err(());
    }
    Ok(given)
}

/// The problem of two limits together, and what to do about it.
fn compare_limits(min: Option<&Value>, max: Option<&Value>) -> Result<(), (&'static str, &'static str)> {
    let (min, max) = (min.and_then(Comparable::of), max.and_then(Comparable::of));
    match (min, max) {
        (None, None) => Err(("must have 'min' or 'max'", LIMITS_FIX)),
        (Some(min), Some(max)) => match min.compare(&max) {
            None => Err(("must not mix a number and a date", LIMITS_FIX)),
            Some(Ordering::Greater) => Err((
                "must not have 'min' above 'max'",
                "Exchange them, or correct one.",
            )),
            Some(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The key as problems show it.
fn cut(key: &str) -> String {
    match key.char_indices().nth(NAME_CHARS_MAX) {
        None => key.to_owned(),
        Some((end, _)) => format!("{}…", &key[..end]),
    }
}
