//! What may follow a backslash, and the names of groups.

use super::BadPattern;
use super::parser::Parser;
use super::property::property;
use super::set::Set;
use std::sync::LazyLock;

static ID_START: LazyLock<Set> = LazyLock::new(|| property("ID_Start").unwrap_or_default());
static ID_CONTINUE: LazyLock<Set> = LazyLock::new(|| property("ID_Continue").unwrap_or_default());

const DIGIT: &[(char, char)] = &[('0', '9')];
/// Word characters: with the `u` flag alone, only those of ASCII.
pub(super) const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
/// `WhiteSpace` and `LineTerminator` of ECMA-262.
const SPACE: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];
const LINE_TERMINATOR: &[(char, char)] = &[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')];

/// The set that an escape names: `d`, `W`, `p{Lu}`; and that of `.`.
pub(super) fn set(name: &str) -> Option<Set> {
    let ranges = |ranges: &[(char, char)]| Set::from_ranges(ranges.iter().copied());
    let property = |name: &str| property(name.get(2..)?.strip_suffix('}')?);
    Some(match name.as_bytes().first()? {
        b'd' => ranges(DIGIT),
        b'D' => ranges(DIGIT).negated(),
        b'w' => ranges(WORD),
        b'W' => ranges(WORD).negated(),
        b's' => ranges(SPACE),
        b'S' => ranges(SPACE).negated(),
        b'.' => ranges(LINE_TERMINATOR).negated(),
        b'p' => property(name)?,
        b'P' => property(name)?.negated(),
        _ => return None,
    })
}

/// The name of the set whose escape comes next, taken; `None` when what comes is no such escape.
pub(super) fn character_class<'a>(parser: &mut Parser<'a>) -> Result<Option<&'a str>, BadPattern> {
    let length = match parser.rest.bytes().next() {
        Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S') => 1,
        Some(b'p' | b'P') => {
            if !parser.rest[1..].starts_with('{') {
                return Err(BadPattern::Syntax);
            }
            1 + parser.rest.find('}').ok_or(BadPattern::Syntax)?
        }
        _ => return Ok(None),
    };
    let (name, rest) = parser.rest.split_at(length);
    parser.rest = rest;
    Ok(Some(name))
}

/// The code point that an escape stands for, from after the backslash.
pub(super) fn character(parser: &mut Parser) -> Result<u32, BadPattern> {
    let c = parser.next().ok_or(BadPattern::Syntax)?;
    Ok(match c {
        't' => 9,
        'n' => 10,
        'v' => 11,
        'f' => 12,
        'r' => 13,
        'c' => match parser.next() {
            Some(letter) if letter.is_ascii_alphabetic() => u32::from(letter) % 32,
            _ => return Err(BadPattern::Syntax),
        },
        '0' if !parser.rest.starts_with(|c: char| c.is_ascii_digit()) => 0,
        'x' => hex(parser, 2)?,
        'u' => unicode(parser)?,
        c if c.is_ascii_punctuation() => u32::from(c),
        _ => return Err(BadPattern::Syntax),
    })
}

/// `\u0041`, `\u{41}` or a surrogate pair, from after the `u`.
fn unicode(parser: &mut Parser) -> Result<u32, BadPattern> {
    if parser.eat("{") {
        let end = parser.rest.find('}').ok_or(BadPattern::Syntax)?;
        let digits = &parser.rest[..end];
        parser.rest = &parser.rest[end + 1..];
        let mut code = 0;
        for c in digits.chars() {
            code = code * 16 + c.to_digit(16).ok_or(BadPattern::Syntax)?;
            if code > 0x0010_ffff {
                return Err(BadPattern::Syntax);
            }
        }
        return if digits.is_empty() {
            Err(BadPattern::Syntax)
        } else {
            Ok(code)
        };
    }
    let lead = hex(parser, 4)?;
    let after_lead = parser.rest;
    if (0xd800..0xdc00).contains(&lead) && parser.eat("\\u") {
        match hex(parser, 4) {
            Ok(trail) if (0xdc00..0xe000).contains(&trail) => {
                return Ok(0x10000 + ((lead - 0xd800) << 10) + (trail - 0xdc00));
            }
            // No pair: what follows is read by itself.
            _ => parser.rest = after_lead,
        }
    }
    Ok(lead)
}

fn hex(parser: &mut Parser, digits: usize) -> Result<u32, BadPattern> {
    let mut code = 0;
    for _ in 0..digits {
        let digit = parser
            .next()
            .and_then(|c| c.to_digit(16))
            .ok_or(BadPattern::Syntax)?;
        code = code * 16 + digit;
    }
    Ok(code)
}

/// The name of a group, from after its `<` to its `>`, both its escapes and itself read.
pub(super) fn group_name(parser: &mut Parser) -> Result<String, BadPattern> {
    let mut name = String::new();
    loop {
        let code = match parser.next().ok_or(BadPattern::Syntax)? {
            '>' if name.is_empty() => return Err(BadPattern::Syntax),
            '>' => return Ok(name),
            '\\' if parser.eat("u") => unicode(parser)?,
            c => u32::from(c),
        };
        let c = char::from_u32(code).ok_or(BadPattern::Syntax)?;
        let fits = match c {
            '$' | '_' => true,
            '\u{200c}' | '\u{200d}' => !name.is_empty(),
            c if c.is_ascii() => c.is_ascii_alphabetic() || (c.is_ascii_digit() && !name.is_empty()),
            c if name.is_empty() => ID_START.contains(c),
            c => ID_CONTINUE.contains(c),
        };
        if !fits {
            return Err(BadPattern::Syntax);
        }
        name.push(c);
    }
}
