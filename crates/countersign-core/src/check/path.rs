//! Paths: `line_items[].total`, and what it selects (verification.md, section 9).

use crate::json::{Object, Value};
use crate::limits::{PATH_CHARS_MAX, PATH_SEGMENTS_MAX};
use crate::place::{self, Place};
use compact_str::CompactString;
use std::ops::ControlFlow;

/// A path as parsed: the steps from the output's root to the values that it selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    text: CompactString,
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into the member with this name.
    Name(CompactString),
    /// Into the element at this index.
    Index(usize),
    /// Into each element.
    Every,
}

/// Why a text is no path. Says nothing of the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// It has more than [`PATH_CHARS_MAX`] characters, root marker included.
    #[error("is too long (at most {PATH_CHARS_MAX} characters)")]
    TooLong,
    /// It has more than [`PATH_SEGMENTS_MAX`] segments.
    #[error("has too many segments (at most {PATH_SEGMENTS_MAX})")]
    TooManySegments,
    /// It does not follow the grammar.
    #[error("is not a valid path")]
    Malformed,
}

impl BadPath {
    /// What to do about it.
    pub fn fix(self) -> &'static str {
        match self {
            BadPath::TooLong | BadPath::TooManySegments => {
                "Select a value nearer to the root, or check a smaller part of the output."
            }
            BadPath::Malformed => {
                "Join member names by dots; write [] for every element and [0] for one, as in \
                 line_items[].total, and a backslash before a dot, bracket or backslash of a name."
            }
        }
    }
}

impl Path {
    /// Reads a path as a rule or a bound writes it.
    pub fn parse(text: &str) -> Result<Path, BadPath> {
        // A character takes at least one byte, so a short text needs no count.
        if text.len() > PATH_CHARS_MAX && text.chars().count() > PATH_CHARS_MAX {
            return Err(BadPath::TooLong);
        }
        let text = match text.strip_prefix('$') {
            Some("") => {
                return Ok(Path {
                    text: text.into(),
                    steps: Vec::new(),
                });
            }
            Some(indexed) if indexed.starts_with('[') => indexed,
            Some(named) => named.strip_prefix('.').unwrap_or(text),
            None => text,
        };
        let steps = read_steps(text)?;
        Ok(Path {
            text: text.into(),
            steps,
        })
    }

    /// The path without its root marker, otherwise as written; `$` for the root.
    pub fn field(&self) -> &str {
        &self.text
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The place of the first container whose elements the path selects; of the value itself, if it selects one.
    pub(crate) fn container(&self) -> Place {
        let every = self.steps.iter().position(|step| *step == Step::Every);
        self.place(every.unwrap_or(self.steps.len()), Indexes::default())
    }

    /// The place that the first `taken` steps lead to, with these indexes in place of each `[]`.
    pub(crate) fn place(&self, taken: usize, indexes: Indexes<'_>) -> Place {
        let mut indexes = indexes.outermost_first().into_iter();
        let step = |step: &Step| match step {
            Step::Name(name) => place::Step::Name(name.clone()),
            Step::Index(index) => place::Step::Index(*index),
            Step::Every => place::Step::Index(indexes.next().unwrap_or_default()),
        };
        Place(self.steps[..taken].iter().map(step).collect())
    }
}

fn read_steps(text: &str) -> Result<Vec<Step>, BadPath> {
    let mut steps = Vec::with_capacity(4);
    let mut segments = 1;
    let mut rest = text;
    if !rest.starts_with('[') {
        rest = read_name(rest, &mut steps)?;
    }
    loop {
        if let Some(index) = rest.strip_prefix('[') {
            let (digits, after) = index.split_once(']').ok_or(BadPath::Malformed)?;
            steps.push(read_index(digits)?);
            rest = after;
        } else if let Some(named) = rest.strip_prefix('.') {
            segments += 1;
            if segments > PATH_SEGMENTS_MAX {
                return Err(BadPath::TooManySegments);
            }
            rest = read_name(named, &mut steps)?;
        } else if rest.is_empty() {
            return Ok(steps);
        } else {
            return Err(BadPath::Malformed);
        }
    }
}

/// Reads one name of at least one character, up to a `.`, a `[` or the end.
fn read_name<'t>(text: &'t str, steps: &mut Vec<Step>) -> Result<&'t str, BadPath> {
    let mut name = CompactString::default();
    let mut rest = text;
    loop {
        // Byte by byte: a search for characters decodes each.
        let end = rest
            .bytes()
            .position(|byte| matches!(byte, b'.' | b'[' | b']' | b'\\'))
            .unwrap_or(rest.len());
        name.push_str(&rest[..end]);
        rest = &rest[end..];
        let Some(escaped) = rest.strip_prefix('\\') else {
            break;
        };
        match escaped.chars().next() {
            Some(c @ ('.' | '[' | ']' | '\\')) => name.push(c),
            _ => return Err(BadPath::Malformed),
        }
        rest = &escaped[1..];
    }
    if name.is_empty() || rest.starts_with(']') {
        return Err(BadPath::Malformed);
    }
    steps.push(Step::Name(name));
    Ok(rest)
}

fn read_index(digits: &str) -> Result<Step, BadPath> {
    if digits.is_empty() {
        return Ok(Step::Every);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadPath::Malformed);
    }
    // What does not fit lies beyond the end of every array, as the largest index does.
    Ok(Step::Index(digits.parse().unwrap_or(usize::MAX)))
}

/// Where a walk along a path ended.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a> {
    /// The value there; nothing when it is missing, as null is.
    pub(crate) value: Option<&'a Value>,
    /// How many steps of the path lead there. An absent member or element has a place of its own; where a
    /// step does not fit what it meets, the walk stops at that.
    pub(crate) taken: usize,
}

/// The indexes that a walk has taken, one for each `[]`. Each lies on the stack of the walk itself, so that
/// nothing is kept until a finding asks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Indexes<'w> {
    last: Option<(&'w Indexes<'w>, usize)>,
}

impl Indexes<'_> {
    fn outermost_first(&self) -> Vec<usize> {
        let mut indexes: Vec<usize> = std::iter::successors(self.last, |(above, _)| above.last)
            .map(|(_, index)| index)
            .collect();
        indexes.reverse();
        indexes
    }
}

/// Walks from `value` along `steps[at..]` and visits every stop in array order, with the indexes taken for each
/// `[]` so far. Ends early when the visitor breaks. `hint` is where the first step found its member last time,
/// if it is one into a member.
pub(crate) fn walk<'a, V>(
    value: &'a Value,
    (steps, at): (&[Step], usize),
    hint: &mut usize,
    indexes: Indexes<'_>,
    visit: &mut V,
) -> ControlFlow<()>
where
    V: FnMut(Stop<'a>, Indexes<'_>) -> ControlFlow<()>,
{
    let mut value = value;
    for (taken, step) in steps.iter().enumerate().skip(at) {
        let next = match (step, value) {
            (Step::Name(name), Value::Object(object)) if taken == at => find(object, name, hint),
            (Step::Name(name), Value::Object(object)) => object.get(name),
            (Step::Index(index), Value::Array(elements)) => elements.get(*index),
            (Step::Every, Value::Array(elements)) => {
                let mut hint = 0;
                for (index, element) in elements.iter().enumerate() {
                    let indexes = Indexes {
                        last: Some((&indexes, index)),
                    };
                    if taken + 1 == steps.len() {
                        visit(Stop::at(element, steps.len()), indexes)?;
                    } else {
                        walk(element, (steps, taken + 1), &mut hint, indexes, visit)?;
                    }
                }
                return ControlFlow::Continue(());
            }
            _ => return visit(Stop { value: None, taken }, indexes),
        };
        match next {
            Some(next) => value = next,
            None => {
                return visit(
                    Stop {
                        value: None,
                        taken: taken + 1,
                    },
                    indexes,
                );
            }
        }
    }
    visit(Stop::at(value, steps.len()), indexes)
}

/// The member with this name. Objects of one array mostly have it at one position.
fn find<'a>(object: &'a Object, name: &str, hint: &mut usize) -> Option<&'a Value> {
    let members = object.members();
    if members.get(*hint).is_none_or(|member| member.name != name) {
        // As in `Object::get`: a few names are compared sooner than they are searched.
        *hint = if members.len() <= 8 {
            members.iter().position(|member| member.name == name)?
        } else {
            object.position(name).ok()?
        };
    }
    Some(&members[*hint].value)
}

impl<'a> Stop<'a> {
    fn at(value: &'a Value, taken: usize) -> Self {
        Stop {
            value: (!value.is_null()).then_some(value),
            taken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn name(name: &str) -> Step {
        Step::Name(name.into())
    }

    #[test]
    fn paths_are_read_by_the_grammar() {
        use Step::{Every, Index};
        let rows: [(&str, &str, Vec<Step>); 24] = [
            ("total", "total", vec![name("total")]),
            ("$.total", "total", vec![name("total")]),
            (
                "line_items[].line_total",
                "line_items[].line_total",
                vec![name("line_items"), Every, name("line_total")],
            ),
            ("1%", "1%", vec![name("1%")]),
            ("BTC.toL", "BTC.toL", vec![name("BTC"), name("toL")]),
            ("$", "$", vec![]),
            ("[].x", "[].x", vec![Every, name("x")]),
            ("$[].x", "[].x", vec![Every, name("x")]),
            ("$.[].x", "[].x", vec![Every, name("x")]),
            ("$[0]", "[0]", vec![Index(0)]),
            ("[][2][]", "[][2][]", vec![Every, Index(2), Every]),
            ("a[007]", "a[007]", vec![name("a"), Index(7)]),
            (
                "a[99999999999999999999]",
                "a[99999999999999999999]",
                vec![name("a"), Index(usize::MAX)],
            ),
            ("$.$", "$", vec![name("$")]),
            ("$.$.a", "$.a", vec![name("$"), name("a")]),
            ("$x", "$x", vec![name("$x")]),
            ("$$", "$$", vec![name("$$")]),
            ("a.$", "a.$", vec![name("a"), name("$")]),
            (r"a\.b", r"a\.b", vec![name("a.b")]),
            (r"\[\]\\", r"\[\]\\", vec![name(r"[]\")]),
            (r"a\[0\][0]", r"a\[0\][0]", vec![name("a[0]"), Index(0)]),
            ("a b\t'\"", "a b\t'\"", vec![name("a b\t'\"")]),
            ("é.😀", "é.😀", vec![name("é"), name("😀")]),
            (r"$.\.", r"\.", vec![name(".")]),
        ];
        for (text, field, steps) in rows {
            let path = Path::parse(text).unwrap_or_else(|bad| panic!("{text} {bad}"));
            assert_eq!((path.field(), path.steps()), (field, &steps[..]), "{text}");
        }
    }

    #[test]
    fn what_the_grammar_does_not_have_is_refused() {
        let rows = [
            "", ".", "$.", "$..a", ".a", "a.", "a..b", "a.[]", "a.[0].b", "a[", "a]", "a[]]", "[", "]",
            "a[]b", "[]a", "a[x]", "a[-1]", "a[+1]", "a[ 1]", "a[1", "a[[1]]", "a[1.5]", "a[*]", "a[٣]",
            r"\", r"a\", r"a\b", r"a.\$", "a].b", "$]", r"a[\]",
        ];
        for text in rows {
            assert_eq!(Path::parse(text), Err(BadPath::Malformed), "{text}");
        }
    }

    #[test]
    fn limits_count_raw_characters_and_the_parts_between_dots() {
        let dotted = |segments: usize| vec!["a[]"; segments].join(".");
        let escaped = vec![r"a\.b"; 32].join(".");
        let rows = [
            ("é".repeat(500), Ok(())),
            ("é".repeat(501), Err(BadPath::TooLong)),
            (format!("$.{}", "a".repeat(498)), Ok(())),
            (format!("$.{}", "a".repeat(499)), Err(BadPath::TooLong)),
            (format!("{}\\", "a".repeat(500)), Err(BadPath::TooLong)),
            (dotted(32), Ok(())),
            (dotted(33), Err(BadPath::TooManySegments)),
            (format!("$.{}", dotted(32)), Ok(())),
            (format!("$[].{}", dotted(31)), Ok(())),
            (format!("$[].{}", dotted(32)), Err(BadPath::TooManySegments)),
            (escaped, Ok(())),
            ("[]".repeat(250), Ok(())),
            ("[]".repeat(251), Err(BadPath::TooLong)),
        ];
        for (text, expected) in rows {
            assert_eq!(Path::parse(&text).map(|_| ()), expected, "{text}");
        }
        assert_eq!(
            BadPath::TooLong.to_string(),
            "is too long (at most 500 characters)"
        );
        assert_eq!(
            BadPath::TooManySegments.to_string(),
            "has too many segments (at most 32)"
        );
    }

    /// The stops of a path, each as its place, with `!` when the value is missing.
    fn stops(output: &str, path: &str) -> String {
        let (output, path) = (read(output.as_bytes()).unwrap(), Path::parse(path).unwrap());
        let mut stops = Vec::new();
        let _ = walk(
            &output,
            (path.steps(), 0),
            &mut 0,
            Indexes::default(),
            &mut |stop, indexes| {
                let missing = if stop.value.is_none() { "!" } else { "" };
                stops.push(format!("{missing}{}", path.place(stop.taken, indexes)));
                ControlFlow::Continue(())
            },
        );
        stops.join(" ")
    }

    #[test]
    fn a_path_selects_values_and_says_what_is_missing_where() {
        let rows = [
            (r#"{"total":1}"#, "total", "total"),
            (r#"{"total":1}"#, "$", "$"),
            ("null", "$", "!$"),
            (r#"{"total":null}"#, "total", "!total"),
            ("{}", "total", "!total"),
            ("5", "total", "!$"),
            ("{}", "order.email", "!order"),
            (r#"{"order":null}"#, "order.email", "!order"),
            (r#"{"order":"x"}"#, "order.email", "!order"),
            (r#"{"order":[]}"#, "order.email", "!order"),
            (r#"{"order":{}}"#, "order.email", "!order.email"),
            (
                r#"{"a":[{"x":1},{"x":null},{},5,{"x":2}]}"#,
                "a[].x",
                "a[0].x !a[1].x !a[2].x !a[3] a[4].x",
            ),
            (r#"{"a":[]}"#, "a[].x", ""),
            (r#"{"a":{}}"#, "a[].x", "!a"),
            (r#"{"a":{}}"#, "a[0]", "!a"),
            (r#"{"a":[1]}"#, "a[1].x", "!a[1]"),
            (r#"{"a":[1]}"#, "a[0]", "a[0]"),
            (
                r#"{"a":[[1,2],[],[3],4]}"#,
                "a[][]",
                "a[0][0] a[0][1] a[2][0] !a[3]",
            ),
            (r#"{"a":[[1,2],[],[3]]}"#, "a[][1]", "a[0][1] !a[1][1] !a[2][1]"),
            (
                r#"[{"x":[{"y":1},{"y":2}]},{"x":[{"y":3}]}]"#,
                "[].x[].y",
                "[0].x[0].y [0].x[1].y [1].x[0].y",
            ),
            (r#"{"a.b":{"[]":1}}"#, r"a\.b.\[\]", r"a\.b.\[\]"),
            (
                r#"{"a":[[[1]],[[null,2]]]}"#,
                "a[][][]",
                "a[0][0][0] !a[1][0][0] a[1][0][1]",
            ),
            (r#"{"":1}"#, "a", "!a"),
        ];
        for (output, path, expected) in rows {
            assert_eq!(stops(output, path), expected, "{path} of {output}");
        }
    }
}
