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
/// the caller wrote as a path, so it is shown as written, but for what would end or break the text: a quote is
/// `\'`, a control character `\u0007`.
pub fn bound_field(key: &str) -> String {
    let mut field = "bounds['".to_owned();
    let (shown, rest) = cut(key);
    for c in shown.chars() {
        // Writing to a String cannot fail.
        let _ = match c {
            '\'' => field.write_str("\\'"),
            c => write_visibly(&mut field, c),
        };
    }
    field + rest + "']"
}

fn write_cut_name(field: &mut String, name: &str) -> std::fmt::Result {
    let (shown, rest) = cut(name);
    let mut spelled = String::with_capacity(shown.len());
    crate::place::write_name(&mut spelled, shown)?;
    for c in spelled.chars() {
        write_visibly(field, c)?;
    }
    field.write_str(rest)
}

/// What is shown of a name, and the ellipsis for the rest.
fn cut(name: &str) -> (&str, &'static str) {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        None => (name, ""),
        Some((end, _)) => (&name[..end], "…"),
    }
}

fn write_visibly(field: &mut String, c: char) -> std::fmt::Result {
    if c.is_control() {
        write!(field, "\\u{:04x}", u32::from(c))
    } else {
        field.write_char(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_text_they_stand_in() {
        let rows = [
            ("a", "bounds['a']", "s.a"),
            ("it's", r"bounds['it\'s']", "s.it's"),
            (
                "a\n\u{7}\u{85}b",
                r"bounds['a\u000a\u0007\u0085b']",
                r"s.a\u000a\u0007\u0085b",
            ),
            (r"a\.b", r"bounds['a\.b']", r"s.a\\\.b"),
        ];
        for (name, bound, inside) in rows {
            assert_eq!(bound_field(name), bound);
            assert_eq!(field_inside("s", &Place(vec![Step::Name(name.into())])), inside);
        }
        let long = "'".repeat(NAME_CHARS_MAX + 1);
        let shown = r"\'".repeat(NAME_CHARS_MAX);
        assert_eq!(bound_field(&long), format!("bounds['{shown}…']"));
    }
}
