//! What is not real about one string (verification.md, section 12).

use super::{CHECKS, Fault};
use crate::check::name::CheckName;
use crate::json::plain::is_printable_ascii;

/// The checks that find something in a string, as bits in the order of [`CHECKS`].
pub(super) fn faults(text: &str) -> u8 {
    let trimmed = text.trim();
    let mut faults = bit(CheckName::ContentBlankString, trimmed.is_empty())
        | bit(CheckName::ContentPlaceholder, is_placeholder(text, trimmed));
    // Nearly every string is printable ASCII, and has none of the characters in question.
    if !is_printable_ascii(text) {
        for c in text.chars() {
            faults |= match c {
                _ if is_control(c) => bit(CheckName::ContentControlCharacter, true),
                '\u{FFFD}' => bit(CheckName::ContentReplacementCharacter, true),
                c => bit(CheckName::ContentInvisibleCharacter, is_invisible(c)),
            };
        }
    }
    faults
}

fn bit(check: CheckName, found: bool) -> u8 {
    let index = CHECKS.iter().position(|known| *known == check);
    u8::from(found) << index.unwrap_or_default()
}

/// The texts for a check that finds something in a string.
pub(super) fn fault(check: CheckName, text: &str) -> Fault {
    let code = |is_in: fn(char) -> bool| text.chars().find(|c| is_in(*c)).map_or(0, u32::from);
    let (says, expected) = match check {
        CheckName::ContentControlCharacter => {
            let says = format!("contains a control character (U+{:04X})", code(is_control));
            (says, "no control characters")
        }
        CheckName::ContentInvisibleCharacter => {
            let says = format!("contains an invisible character (U+{:04X})", code(is_invisible));
            (says, "no invisible characters")
        }
        CheckName::ContentReplacementCharacter => (
            "contains a replacement character".to_owned(),
            "no replacement characters",
        ),
        CheckName::ContentPlaceholder => ("is a placeholder".to_owned(), "real content"),
        _ => ("is blank".to_owned(), "real content"),
    };
    Fault {
        check,
        says,
        expected,
    }
}

/// A C0 character other than tab, line feed and carriage return, or DEL.
fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{7F}')
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{180E}'
            | '\u{200B}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}'
            | '\u{FEFF}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

fn is_placeholder(text: &str, trimmed: &str) -> bool {
    const WHOLE: [&str; 4] = ["todo", "tbd", "fixme", "n/a"];
    const BEGINNINGS: [&str; 3] = ["TODO:", "TBD:", "FIXME:"];
    WHOLE.iter().any(|whole| trimmed.eq_ignore_ascii_case(whole))
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || is_one_bracketed(trimmed)
        || has_lorem_ipsum(text.as_bytes())
        || has_filling(text)
}

/// Whether the text is one `<…>` with something, but no bracket, inside.
fn is_one_bracketed(trimmed: &str) -> bool {
    let inner = trimmed.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>']))
}

/// Whether the text has a `{{` and a `}}` behind it.
fn has_filling(text: &str) -> bool {
    // One byte is sought faster than two, and few texts have it.
    text.as_bytes().contains(&b'{') && text.split_once("{{").is_some_and(|(_, rest)| rest.contains("}}"))
}

fn has_lorem_ipsum(text: &[u8]) -> bool {
    const LOREM_IPSUM: &[u8; 11] = b"lorem ipsum";
    // The space and its neighbours first: few places go further.
    text.windows(LOREM_IPSUM.len()).any(|window| {
        window[5] == b' ' && window[6] | 0x20 == b'i' && window.eq_ignore_ascii_case(LOREM_IPSUM)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let found = faults(text);
        let found = (0..CHECKS.len()).filter(|index| found & (1 << index) != 0);
        found
            .map(|index| CHECKS[index].as_str().trim_start_matches("content:"))
            .collect()
    }

    #[test]
    fn strings_that_are_not_real_are_found() {
        let rows: [(&str, &[&str]); 41] = [
            ("", &["blank_string"]),
            (" \t\r\n", &["blank_string"]),
            ("\u{A0}\u{2003}\u{3000}\u{2028}\u{85}", &["blank_string"]),
            ("\u{B}\u{C}", &["blank_string", "control_character"]),
            ("todo", &["placeholder"]),
            (" ToDo\n", &["placeholder"]),
            ("TBD", &["placeholder"]),
            ("fixMe", &["placeholder"]),
            ("n/a", &["placeholder"]),
            ("N/A", &["placeholder"]),
            ("<your name>", &["placeholder"]),
            (" <x> ", &["placeholder"]),
            ("< >", &["placeholder"]),
            ("<br/>", &["placeholder"]),
            ("TODO: write this", &["placeholder"]),
            ("TBD:", &["placeholder"]),
            ("FIXME:x", &["placeholder"]),
            ("Lorem Ipsum dolor", &["placeholder"]),
            ("xLOREM IPSUMx", &["placeholder"]),
            ("é lorem lorem ipsum", &["placeholder"]),
            ("Dear {{name}},", &["placeholder"]),
            ("{{}}", &["placeholder"]),
            ("}} {{ }}", &["placeholder"]),
            ("{{{x}}}", &["placeholder"]),
            ("a\u{0}b", &["control_character"]),
            ("\u{8}", &["control_character"]),
            ("\u{E}", &["control_character"]),
            ("\u{1B}[31m", &["control_character"]),
            ("\u{1F}", &["control_character"]),
            ("x\u{7F}", &["control_character"]),
            ("\u{180E}", &["invisible_character"]),
            ("a\u{200B}", &["invisible_character"]),
            ("\u{200E}\u{200F}", &["invisible_character"]),
            ("\u{202A}", &["invisible_character"]),
            ("\u{202E}", &["invisible_character"]),
            ("\u{2060}", &["invisible_character"]),
            ("\u{2064}\u{2066}\u{2069}", &["invisible_character"]),
            ("\u{FEFF}todo", &["invisible_character"]),
            ("\u{E0000}\u{E007F}", &["invisible_character"]),
            ("\u{FFFD}", &["replacement_character"]),
            (
                "\u{FFFD}\u{1}\u{2063} TODO",
                &[
                    "control_character",
                    "invisible_character",
                    "replacement_character",
                ],
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(names(text), expected, "{text:?}");
        }
    }

    #[test]
    fn real_strings_are_left_alone() {
        let rows = [
            "x",
            ".",
            "-",
            "null",
            "none",
            "todos",
            "to do",
            "todo: later",
            "Todo: x",
            " TODO: x",
            "TODO ist",
            "tbd.",
            "na",
            "n.a.",
            "N/A yet",
            "<>",
            "<a><b>",
            "<b>bold</b>",
            "< < >",
            "a <x>",
            "<x",
            "x>",
            "{x}",
            "{ {x} }",
            "{{x",
            "x}}",
            "}}{{",
            "{{x}",
            "lorem",
            "lorem  ipsum",
            "lorem\u{A0}ipsum",
            "lorem-ipsum",
            "l orem ipsu",
            "a\tb\r\n",
            "\u{80}\u{9F}",
            "a\u{200C}b\u{200D}c",
            "\u{200A}x",
            "\u{2065}",
            "\u{206A}",
            "\u{2029}x",
            "\u{180D}",
            "\u{FFFC}",
            "\u{E0080}",
            "\u{DFFFF}",
            "t\u{F6}do",
            "\u{17F}",
        ];
        for text in rows {
            assert_eq!(names(text), Vec::<&str>::new(), "{text:?}");
        }
    }
}
