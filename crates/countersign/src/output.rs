//! What goes to stdout and stderr. An answer that could not be written is not a pass: its writer fails.

use anyhow::{Context, Result};
use std::io::{Write, stderr, stdout};

/// What is said when stdout refuses.
pub(crate) const UNWRITTEN: &str = "cannot write the answer";

/// Prints JSON on stdout, indented. Only white space is added: every token stays as it was made, so a receipt
/// that is printed here verifies.
pub(crate) fn print_json(json: &[u8]) -> Result<()> {
    write(&indented(json))
}

/// Prints lines on stdout.
pub(crate) fn print(text: &str) -> Result<()> {
    write(&format!("{text}\n"))
}

fn write(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context(UNWRITTEN)
}

/// Prints a line on stderr.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(stderr().lock(), "{text}");
}

fn indented(json: &[u8]) -> String {
    let json = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let mut characters = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    while let Some(c) = characters.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' if matches!(characters.peek(), Some('}' | ']')) => {
                out.push(c);
                out.extend(characters.next());
            }
            '{' | '[' => {
                out.push(c);
                depth += 1;
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_is_added() {
        let json = r#"{"a":[],"b":{"c":1.0,"d":["x,y:{}[]\"\\",true]},"e":{}}"#;
        let expected = "{\n  \"a\": [],\n  \"b\": {\n    \"c\": 1.0,\n    \"d\": [\n      \"x,y:{}[]\\\"\\\\\",\n      true\n    ]\n  },\n  \"e\": {}\n}\n";
        assert_eq!(indented(json.as_bytes()), expected);
    }
}
