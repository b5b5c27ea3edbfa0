//! Finds where values stand in a JSON text without reading them. The text is held to the grammar (RFC 8259) and to
//! nothing else: which numbers, names and depths a value may have is for whoever reads it.

use std::ops::Range;

/// A step into a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The member of an object with this name.
    Name(&'static str),
    /// Every element of an array.
    Each,
}

/// The text is not JSON.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotJson;

/// Where the values at the end of each way stand, in the order of the text: the number of the way, and the range.
pub(super) fn skim(text: &str, ways: &[&'static [Step]]) -> Result<Vec<(usize, Range<usize>)>, NotJson> {
    let mut skimmer = Skimmer {
        bytes: text.as_bytes(),
        at: 0,
        found: Vec::new(),
    };
    let ways: Vec<Open> = ways.iter().copied().enumerate().collect();
    skimmer.skip_space();
    skimmer.value(&ways)?;
    skimmer.skip_space();
    if skimmer.at < skimmer.bytes.len() {
        return Err(NotJson);
    }
    Ok(skimmer.found)
}

/// A way that leads on, and what is left of it.
type Open = (usize, &'static [Step]);

struct Skimmer<'a> {
    bytes: &'a [u8],
    at: usize,
    found: Vec<(usize, Range<usize>)>,
}

impl Skimmer<'_> {
    /// A value that ways lead to. The recursion is as deep as the longest way.
    fn value(&mut self, ways: &[Open]) -> Result<(), NotJson> {
        let start = self.at;
        let first = ways.iter().find_map(|(_, way)| way.first());
        match (self.peek(), first) {
            (Some(b'{'), Some(Step::Name(_))) => self.members(ways)?,
            (Some(b'['), Some(Step::Each)) => self.elements(ways)?,
            _ => self.skip()?,
        }
        let ended = ways.iter().filter(|(_, way)| way.is_empty());
        self.found
            .extend(ended.map(|(number, _)| (*number, start..self.at)));
        Ok(())
    }

    fn members(&mut self, ways: &[Open]) -> Result<(), NotJson> {
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            let on: Vec<Open> = ways
                .iter()
                .filter(|(_, way)| matches!(way.first(), Some(Step::Name(wanted)) if is_name(name, wanted)))
                .map(|(number, way)| (*number, &way[1..]))
                .collect();
            self.value(&on)?;
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    fn elements(&mut self, ways: &[Open]) -> Result<(), NotJson> {
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(());
        }
        let on: Vec<Open> = ways
            .iter()
            .filter(|(_, way)| way.first() == Some(&Step::Each))
            .map(|(number, way)| (*number, &way[1..]))
            .collect();
        loop {
            self.value(&on)?;
            if !self.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    /// Behind an element or a member: whether another follows. Stands in front of it then.
    fn goes_on(&mut self, closer: u8) -> Result<bool, NotJson> {
        self.skip_space();
        if self.take(b',') {
            self.skip_space();
            return Ok(true);
        }
        if self.take(closer) {
            Ok(false)
        } else {
            Err(NotJson)
        }
    }

    /// A member's name with its quotes; moves to its value.
    fn name(&mut self) -> Result<&[u8], NotJson> {
        let start = self.at;
        self.string()?;
        let end = self.at;
        self.skip_space();
        if !self.take(b':') {
            return Err(NotJson);
        }
        self.skip_space();
        Ok(&self.bytes[start..end])
    }

    /// Any value. Containers are counted and not entered by recursion: their depth is the caller's.
    fn skip(&mut self) -> Result<(), NotJson> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                Some(opener @ (b'{' | b'[')) => {
                    let closer = opener + 2;
                    self.at += 1;
                    self.skip_space();
                    if !self.take(closer) {
                        open.push(closer);
                        if closer == b'}' {
                            self.name()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => self.word()?,
            }
            // A value has ended, and with it perhaps what it stands in.
            loop {
                let Some(closer) = open.last().copied() else {
                    return Ok(());
                };
                if self.goes_on(closer)? {
                    if closer == b'}' {
                        self.name()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }

    fn string(&mut self) -> Result<(), NotJson> {
        if !self.take(b'"') {
            return Err(NotJson);
        }
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let digits = match self.bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
                        Some(b'u') => 4,
                        _ => return Err(NotJson),
                    };
                    let end = self.at + 2 + digits;
                    let hex = self.bytes.get(self.at + 2..end).ok_or(NotJson)?;
                    if !hex.iter().all(u8::is_ascii_hexdigit) {
                        return Err(NotJson);
                    }
                    self.at = end;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(NotJson),
            }
        }
    }

    fn number(&mut self) -> Result<(), NotJson> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(NotJson) } else { Ok(()) }
    }

    fn word(&mut self) -> Result<(), NotJson> {
        let rest = &self.bytes[self.at..];
        let words: [&[u8]; 3] = [b"null", b"true", b"false"];
        let word = words.into_iter().find(|word| rest.starts_with(word));
        self.at += word.ok_or(NotJson)?.len();
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

/// Whether a name in quotes is this one, however it is spelled.
fn is_name(quoted: &[u8], wanted: &str) -> bool {
    let plain = quoted
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    if !quoted.contains(&b'\\') {
        return plain == Some(wanted.as_bytes());
    }
    let name = countersign_core::json::read(quoted);
    name.is_ok_and(|name| name.as_str() == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGUMENTS: &[Step] = &[Step::Name("params"), Step::Name("arguments")];
    const DATA: &[Step] = &[Step::Name("parts"), Step::Each, Step::Name("data")];

    fn found(text: &str) -> Vec<(usize, &str)> {
        let found = skim(text, &[ARGUMENTS, DATA]).unwrap();
        found
            .into_iter()
            .map(|(way, range)| (way, &text[range]))
            .collect()
    }

    #[test]
    fn values_are_found_as_they_were_written() {
        let rows: &[(&str, &[(usize, &str)])] = &[
            ("1", &[]),
            (r#"{"params":[{"arguments":1}]}"#, &[]),
            (r#"{"arguments":1}"#, &[]),
            (
                r#" { "params" : { "arguments" : { "a" : [1.0, {}] } , "x" : 1 } } "#,
                &[(0, r#"{ "a" : [1.0, {}] }"#)],
            ),
            (r#"{"p\u0061rams":{"argument\u0073":1e999}}"#, &[(0, "1e999")]),
            (
                r#"{"params":{"arguments":1,"arguments":2}}"#,
                &[(0, "1"), (0, "2")],
            ),
            (r#"{"params":{"x":{"arguments":1}}}"#, &[]),
            (
                r#"{"parts":[{"data":"\ud800"},[],{"data":[]},7]}"#,
                &[(1, r#""\ud800""#), (1, "[]")],
            ),
            (r#"{"parts":{"data":1}}"#, &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(found(text), *expected, "{text}");
        }
        let deep = format!(
            r#"{{"params":{{"arguments":{}{}}}}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert_eq!(found(&deep)[0].1.len(), 400_000);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let rows = [
            "",
            " ",
            "{",
            "[",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "tru",
            "01",
            "1.",
            ".5",
            "-",
            "+1",
            "1e",
            "NaN",
            "'a'",
            "\"a",
            "\"\u{1}\"",
            r#""\x""#,
            r#""\u12""#,
            r#""\u12g4""#,
            "1 2",
            "{} x",
            "{\"a\" 1}",
            "{a:1}",
            "[1 2]",
            "\u{FEFF}1",
            "{\"a\":}",
            "[1}",
            "{\"a\":1]",
            "]",
            "{\"a\":[{]}",
            "\u{a0}1",
            "[[1]",
            "{\"a\":1",
        ];
        for row in rows {
            assert_eq!(skim(row, &[]), Err(NotJson), "{row:?}");
            let inside = format!(r#"{{"params":{{"arguments":{row}}}}}"#);
            assert_eq!(skim(&inside, &[ARGUMENTS]), Err(NotJson), "{inside:?}");
        }
    }

    #[test]
    fn grammar_is_all_that_is_asked() {
        for row in [
            r#"{"a":1,"a":2}"#,
            r#""\ud800""#,
            "1e999",
            "-0.0E+1",
            "123456789012345678901234567890",
            "[[],{},\"\u{7f}\",null,true,false]",
        ] {
            assert!(skim(row, &[]).is_ok(), "{row}");
        }
    }
}
