//! Random patterns and strings for them, within what ECMA-262 and the oracles' engines read alike.
//!
//! Left out, because the oracles read them otherwise: backreferences (ECMA-262 matches the empty string where a
//! group took no part), `.` before line ends other than LF, letters beyond ASCII beside word boundaries and in
//! patterns with look-around (whose `\w` jsonschema reads as Unicode letters).

use crate::choices::Choices;

/// What literals, classes and strings are made of.
const LETTERS: [&str; 8] = ["a", "b", "c", "A", "1", "_", " ", "-"];

/// A random pattern.
pub(crate) struct Pattern {
    pub(crate) text: String,
    /// Whether it has look-around, which boon refuses.
    pub(crate) looks_around: bool,
    /// Whether strings for it may hold letters beyond ASCII.
    beyond_ascii: bool,
}

/// Draws a pattern.
pub(crate) fn pattern(choices: &mut Choices) -> Pattern {
    let mut pattern = Pattern {
        text: String::new(),
        looks_around: false,
        beyond_ascii: true,
    };
    if choices.percent(30) {
        pattern.text.push('^');
    }
    pattern.alternatives(choices, 0);
    if choices.percent(30) {
        pattern.text.push('$');
    }
    pattern
}

impl Pattern {
    fn alternatives(&mut self, choices: &mut Choices, depth: usize) {
        for index in 0..=[0, 0, 0, 1, 2][choices.below(5)] {
            if index > 0 {
                self.text.push('|');
            }
            for _ in 0..=choices.below(3) {
                self.term(choices, depth);
            }
        }
    }

    fn term(&mut self, choices: &mut Choices, depth: usize) {
        match choices.below(20) {
            0..=7 => self.literal(choices),
            8..=10 => self.class(choices),
            11 => self.text.push('.'),
            12 | 13 => {
                let escape = choices.pick(&[
                    "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\p{L}", "\\P{Lu}", "\\x61", "\\u0062", "\\/",
                ]);
                self.text.push_str(escape);
            }
            14 => {
                let anchor = choices.pick(&["^", "$", "\\b", "\\B"]);
                self.beyond_ascii &= !anchor.eq_ignore_ascii_case("\\b");
                // An assertion takes no quantifier.
                return self.text.push_str(anchor);
            }
            15 if depth < 3 && choices.percent(40) => {
                self.looks_around = true;
                self.beyond_ascii = false;
                let opening = choices.pick(&["(?=", "(?!", "(?<=", "(?<!"]);
                self.text.push_str(opening);
                if opening.contains('<') {
                    // The oracle's engine takes look-behind of one length only.
                    self.literal(choices);
                } else {
                    self.alternatives(choices, depth + 1);
                }
                return self.text.push(')');
            }
            _ if depth < 3 => {
                let opening = choices.pick(&["(", "(?:", "(?<n>"]);
                let named = opening == "(?<n>" && self.text.contains(opening);
                self.text.push_str(if named { "(" } else { opening });
                self.alternatives(choices, depth + 1);
                self.text.push(')');
            }
            _ => self.literal(choices),
        }
        self.quantifier(choices);
    }

    fn literal(&mut self, choices: &mut Choices) {
        let letter = choices.pick(&LETTERS);
        self.text.push_str(if choices.percent(6) { "é" } else { letter });
    }

    fn class(&mut self, choices: &mut Choices) {
        self.text.push_str(if choices.percent(30) { "[^" } else { "[" });
        for _ in 0..=choices.below(3) {
            let part = choices.pick(&[
                "a", "b", "a-c", "0-9", "_", "\\d", "\\s", "\\w", "\\-", "\\]", "A-Z", "é", ".", "\\p{Ll}",
            ]);
            self.text.push_str(part);
        }
        self.text.push(']');
    }

    fn quantifier(&mut self, choices: &mut Choices) {
        if choices.percent(30) {
            let quantifier = choices.pick(&["*", "+", "?", "{2}", "{1,2}", "{0,}", "{0}", "{2,3}"]);
            self.text.push_str(quantifier);
            if choices.percent(20) {
                self.text.push('?');
            }
        }
    }

    /// Draws a string of the letters that patterns are made of.
    pub(crate) fn string(&self, choices: &mut Choices) -> String {
        let letter = |choices: &mut Choices| {
            let plain = choices.pick(&LETTERS);
            match choices.below(12) {
                0 if self.beyond_ascii => "é",
                1 => "\n",
                2 => "]",
                _ => plain,
            }
        };
        (0..choices.below(8)).map(|_| letter(choices)).collect()
    }
}
