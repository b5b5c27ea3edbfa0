//! How values are shown in texts (sections 6, 7 and 14); no more of the output than the contract allows.

use crate::canonical;
use crate::json::{Number, Value};
use crate::limits::{SCALAR_CHARS_MAX, TEXT_CHARS_MAX};
use std::borrow::Cow;

/// Number text: an integer literal as an integer, any other in canonical form with `.0` appended when that
/// has neither `.` nor `e`.
pub fn number(number: Number) -> String {
    let mut text = canonical::number_text(number);
    if !number.is_integer_literal() && !text.contains(['.', 'e']) {
        text.push_str(".0");
    }
    text
}

/// `{x}`: a scalar's literal, or the type name of what is no scalar or longer than
/// [`SCALAR_CHARS_MAX`] characters.
pub fn value(value: &Value) -> String {
    let text = match value {
        Value::Null | Value::Array(_) | Value::Object(_) => return value.type_name().to_owned(),
        Value::Bool(true) => return "true".to_owned(),
        Value::Bool(false) => return "false".to_owned(),
        Value::Number(found) => number(*found),
        Value::String(text) if text.len() > 4 * SCALAR_CHARS_MAX => return value.type_name().to_owned(),
        Value::String(text) => string(text),
    };
    if text.chars().count() > SCALAR_CHARS_MAX {
        value.type_name().to_owned()
    } else {
        text
    }
}

/// A string as its JSON literal.
pub fn string(text: &str) -> String {
    let mut literal = Vec::with_capacity(text.len() + 2);
    canonical::write_string(text, &mut literal);
    String::from_utf8(literal).unwrap_or_default()
}

/// Several alternatives: `a`, `a or b`, `a, b or c`.
pub fn any_of(alternatives: &[&str]) -> String {
    match alternatives {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A text cut to [`TEXT_CHARS_MAX`] characters, the ellipsis included.
pub fn cut(text: Cow<'_, str>) -> Cow<'_, str> {
    // The common case needs no count: a character takes at least one byte.
    if text.len() <= TEXT_CHARS_MAX || text.chars().count() <= TEXT_CHARS_MAX {
        return text;
    }
    text.chars()
        .take(TEXT_CHARS_MAX - 1)
        .chain(['…'])
        .collect::<String>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    #[test]
    fn values_are_shown_by_section_14() {
        let long = format!("\"{}\"", "é".repeat(78));
        let longer = format!("\"{}\"", "é".repeat(79));
        let rows = [
            ("135.0", "135.0"),
            ("129.5", "129.5"),
            ("135", "135"),
            ("1e21", "1e+21"),
            ("1e-06", "0.000001"),
            ("-0", "0"),
            ("true", "true"),
            ("null", "null"),
            ("[]", "array"),
            ("{}", "object"),
            (r#""a\nb""#, r#""a\nb""#),
            (&long, &long),
            (&longer, "string"),
        ];
        for (text, expected) in rows {
            assert_eq!(value(&read(text.as_bytes()).unwrap()), expected);
        }
    }

    #[test]
    fn texts_end_at_300_characters() {
        assert_eq!(cut("é".repeat(300).into()).chars().count(), 300);
        let cut = cut("é".repeat(301).into());
        assert_eq!((cut.chars().count(), cut.chars().last()), (300, Some('…')));
        assert_eq!(any_of(&["string", "null"]), "string or null");
    }
}
