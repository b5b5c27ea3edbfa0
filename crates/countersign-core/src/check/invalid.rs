//! A request that is not valid: every problem of it, none of the caller's values.

use crate::limits::NAME_CHARS_MAX;
use crate::place::{Place, Step};
use std::fmt::Write;

/// One thing to mend in a request (section 22).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// Where: contract names and indexes, and member names inside the caller's own documents; `body` for the
    /// whole.
    pub field: String,
    /// What is wrong, to be read after the field: `is not one of the allowed values`.
    pub problem: String,
    /// What to do: `Use one of: …`.
    pub fix: String,
    /// Byte offset in the request's text, for the order of problems.
    pub at: u32,
}

/// The request is not valid: at least one problem, in the order of the request's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request is invalid: {} {}", .0[0].field, .0[0].problem)]
pub struct InvalidRequest(pub Vec<FieldProblem>);

impl FieldProblem {
    /// A problem at a field.
    pub fn new(
        at: u32,
        field: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        FieldProblem {
            field: field.into(),
            problem: problem.into(),
            fix: fix.into(),
            at,
        }
    }
}

/// The field text of a place inside the member `root` of the request: `expected_schema.properties.qty.type`,
/// each name cut at [`NAME_CHARS_MAX`].
pub fn field_inside(root: &str, place: &Place) -> String {
    let mut field = root.to_owned();
    for step in &place.0 {
        // Writing to a String cannot fail.
        let _ = match step {
            Step::Index(index) => write!(field, "[{index}]"),
            Step::Name(name) => write!(field, ".").and_then(|()| write_cut_name(&mut field, name)),
        };
    }
    field
}

/// The field text of a bound: `bounds['items[].price']`, its key cut at [`NAME_CHARS_MAX`]. A key is a path that
/// the caller wrote as a path, so it is shown as written.
pub fn bound_field(key: &str) -> String {
    match key.char_indices().nth(NAME_CHARS_MAX) {
        None => format!("bounds['{key}']"),
        Some((end, _)) => format!("bounds['{}…']", &key[..end]),
    }
}

fn write_cut_name(field: &mut String, name: &str) -> std::fmt::Result {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        None => crate::place::write_name(field, name),
        Some((end, _)) => {
            crate::place::write_name(field, &name[..end])?;
            field.write_char('…')
        }
    }
}
