//! Where a place stands in a JSON text: a second look at the bytes, for those who have to show it. Reading never
//! pays for it.

use super::read_nested;
use crate::json::plain::plain_run;
use crate::limits::NESTING_MAX;
use crate::place::{Place, Step};
use std::ops::Range;

/// The bytes of the value at `place` in a text that the strict reader accepted. Where the text has no such value,
/// those of the nearest one around it.
pub fn position(text: &[u8], place: &Place) -> Range<usize> {
    let mut walk = Walk { text, at: 0 };
    walk.skip_space();
    for step in &place.0 {
        let here = walk.at;
        if !walk.enter(step) {
            walk.at = here;
            break;
        }
    }
    let start = walk.at;
    walk.skip_value();
    start..walk.at
}

/// A walk over bytes that are known to be JSON; on others it ends somewhere inside them.
struct Walk<'t> {
    text: &'t [u8],
    at: usize,
}

impl Walk<'_> {
    /// Goes to the child of the value here; false if there is none.
    fn enter(&mut self, step: &Step) -> bool {
        let opening = match step {
            Step::Name(_) => b'{',
            Step::Index(_) => b'[',
        };
        if self.peek() != Some(opening) {
            return false;
        }
        self.at += 1;
        let mut index = 0;
        loop {
            self.skip_space();
            if matches!(self.peek(), None | Some(b'}' | b']')) {
                return false;
            }
            let found = match step {
                Step::Index(sought) => *sought == index,
                Step::Name(sought) => {
                    let start = self.at;
                    self.skip_string();
                    let name = &self.text[start..self.at];
                    self.skip_space();
                    self.at += 1;
                    self.skip_space();
                    is_name(name, sought)
                }
            };
            if found {
                return true;
            }
            self.skip_value();
            self.skip_space();
            if self.peek() != Some(b',') {
                return false;
            }
            self.at += 1;
            index += 1;
        }
    }

    /// Skips the value here, containers without recursion.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => self.skip_word(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            self.at += plain_run(rest);
            match self.peek() {
                Some(b'"') => return self.at += 1,
                Some(b'\\') => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
    }

    /// A number, `true`, `false` or `null`.
    fn skip_word(&mut self) {
        let ends = |byte: &u8| b",]}: \t\n\r".contains(byte);
        let length = self.text[self.at..].iter().position(ends);
        self.at += length.unwrap_or(self.text.len() - self.at).max(1);
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

/// Whether a literal, quotes included, spells this name.
fn is_name(literal: &[u8], name: &str) -> bool {
    if !literal.contains(&b'\\') {
        return literal.len() == name.len() + 2 && &literal[1..literal.len() - 1] == name.as_bytes();
    }
    read_nested(literal, NESTING_MAX, |_| NESTING_MAX).is_ok_and(|value| value.as_str() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, steps: &[Step]) -> String {
        let range = position(text.as_bytes(), &Place(steps.to_vec()));
        let start = range.start;
        format!("{start}:{}", &text[range])
    }

    fn name(name: &str) -> Step {
        Step::Name(name.into())
    }

    #[test]
    fn a_place_is_found_as_it_is_written() {
        let text =
            "\r\n{ \"a\\u002eb\" : [ 1 , [ ] , { \"é\":\"x\\\"]\", \"\\\\\":-1.50e+2 } ] ,\"z\":null}\n";
        let rows = [
            (vec![], "2:{ \"a"),
            (vec![name("a.b")], "17:[ 1 ,"),
            (vec![name("a.b"), Step::Index(0)], "19:1"),
            (vec![name("a.b"), Step::Index(1)], "23:[ ]"),
            (vec![name("a.b"), Step::Index(2), name("é")], "36:\"x\\\"]\""),
            (vec![name("a.b"), Step::Index(2), name("\\")], "49:-1.50e+2"),
            (vec![name("z")], "66:null"),
        ];
        for (steps, expected) in rows {
            let found = at(text, &steps);
            assert!(found.starts_with(expected), "{steps:?}: {found}");
        }
        assert_eq!(at("  17 ", &[]), "2:17");
        assert_eq!(at(" \"\" ", &[]), "1:\"\"");
    }

    #[test]
    fn what_is_absent_is_shown_by_what_is_around_it() {
        let text = r#"{"a":[{"b":1},2],"c":{}}"#;
        let rows = [
            (vec![name("x")], text.len()),
            (vec![name("a"), Step::Index(7), name("b")], 11),
            (vec![name("a"), Step::Index(0), name("z")], 7),
            (vec![name("a"), name("0")], 11),
            (vec![name("c"), name("b")], 2),
            (vec![name("a"), Step::Index(1), name("b")], 1),
        ];
        for (steps, length) in rows {
            assert_eq!(
                position(text.as_bytes(), &Place(steps.clone())).len(),
                length,
                "{steps:?}"
            );
        }
    }

    #[test]
    fn no_bytes_lead_astray() {
        let text = br#"{"a":["\\",{"b\u0041":[1,2]}]}"#;
        for end in 0..=text.len() {
            let place = Place(vec![name("a"), Step::Index(1), name("bA"), Step::Index(1)]);
            assert!(position(&text[..end], &place).end <= end + 2);
        }
    }
}
