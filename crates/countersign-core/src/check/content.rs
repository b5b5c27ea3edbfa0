//! The content check: strings and containers that hold nothing real (verification.md, section 12).
//!
//! Every rule is literal. One pass over the output finds the member paths and what is to be said of each.

mod member_path;
mod text;

use super::finding::{Count, Finding, Findings};
use super::name::CheckName;
use crate::json::Value;
use crate::limits::{LIST_ENTRIES_MAX, PLACE_BYTES_MAX};
use crate::place::{self, Place};
use member_path::{MemberPaths, Spot, Step, spell};

/// What the content check says of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// At most one finding for each check and member path, in the order of their first places.
    pub findings: Findings,
    /// The distinct member paths of the output (section 16); those passed to which no finding belongs.
    pub member_paths: Count,
}

/// What a check of this room says of a value, without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    check: CheckName,
    /// What comes after `value at {place}`: `is blank`.
    says: String,
    expected: &'static str,
}

/// Checks an output. Takes time and memory in proportion to it, whatever it finds.
pub fn check(output: &Value) -> Content {
    let mut pass = Pass {
        paths: MemberPaths::new(),
        open: Vec::new(),
        findings: Findings::default(),
        has_scalar_at_root: false,
    };
    pass.visit(output, Spot::ROOT, &Way::default());
    pass.finish()
}

/// The way from the root to a value, step by step upwards.
#[derive(Clone, Copy, Default)]
struct Way<'w> {
    last: Option<(&'w Way<'w>, Step<'w>)>,
}

impl<'w> Way<'w> {
    fn and(&'w self, step: Step<'w>) -> Way<'w> {
        Way {
            last: Some((self, step)),
        }
    }

    fn steps_up(&self) -> impl Iterator<Item = Step<'w>> {
        std::iter::successors(self.last, |(above, _)| above.last).map(|(_, step)| step)
    }

    fn spelled(&self) -> String {
        spell(self.steps_up().collect())
    }

    fn place(&self) -> Place {
        let mut steps: Vec<Step<'_>> = self.steps_up().collect();
        steps.reverse();
        let mut left = PLACE_BYTES_MAX;
        let steps = steps.into_iter().map_while(|step| match step {
            Step::Name(name) => {
                left = left.checked_sub(name.len())?;
                Some(place::Step::Name(name.into()))
            }
            Step::Index(index) => Some(place::Step::Index(index)),
            Step::Every => None,
        });
        Place(steps.collect())
    }
}

/// A finding that may yet be told of further places.
struct Open {
    path: u32,
    spelled: String,
    place: Place,
    fault: Fault,
    further: u64,
}

struct Pass<'a> {
    paths: MemberPaths<'a>,
    /// The findings that will be shown.
    open: Vec<Open>,
    /// The count and the checks of all findings.
    findings: Findings,
    has_scalar_at_root: bool,
}

impl<'a> Pass<'a> {
    fn visit(&mut self, value: &'a Value, spot: Spot, way: &Way<'_>) {
        match value {
            Value::Array(elements) => {
                let mut inside = None;
                for (index, element) in elements.iter().enumerate() {
                    // Scalars belong to the array's own path: only what may have members needs a spot.
                    let spot = match element {
                        Value::Array(_) | Value::Object(_) => {
                            *inside.get_or_insert_with(|| self.paths.inside(spot))
                        }
                        _ => spot,
                    };
                    self.visit(element, spot, &way.and(Step::Index(index)));
                }
            }
            Value::Object(object) => {
                let mut members = self.paths.members(spot);
                for member in object.members() {
                    let spot = self.paths.member(&mut members, &member.name);
                    let way = way.and(Step::Name(&member.name));
                    if is_empty_container(&member.value) {
                        self.report(EMPTY_CONTAINER, spot, &way, fault_of_empty_container);
                    }
                    self.visit(&member.value, spot, &way);
                }
            }
            scalar => {
                self.has_scalar_at_root |= spot.path == Spot::ROOT.path;
                if let Value::String(text) = scalar {
                    let found = text::faults(text);
                    for index in (0..CHECKS.len()).filter(|index| found & (1 << index) != 0) {
                        self.report(index, spot, way, || text::fault(CHECKS[index], text));
                    }
                }
            }
        }
    }

    /// Adds a finding of the check `CHECKS[check]`, or one more place to the finding that its member path has.
    fn report(&mut self, check: usize, spot: Spot, way: &Way<'_>, fault: impl FnOnce() -> Fault) {
        let marks = self.paths.marks(spot.path);
        let mark = 1 << check;
        if marks.found & mark == 0 {
            marks.found |= mark;
            self.findings.total += 1;
            if !self.findings.checks.contains(&CHECKS[check]) {
                self.findings.checks.push(CHECKS[check]);
            }
            if self.open.len() < LIST_ENTRIES_MAX {
                marks.shown |= mark;
                self.open.push(Open {
                    path: spot.path,
                    spelled: way.spelled(),
                    place: way.place(),
                    fault: fault(),
                    further: 0,
                });
            }
        } else if marks.shown & mark != 0 {
            let is_same = |open: &&mut Open| open.path == spot.path && open.fault.check == CHECKS[check];
            if let Some(open) = self.open.iter_mut().find(is_same) {
                open.further += 1;
            }
        }
    }

    fn finish(self) -> Content {
        let Pass {
            paths,
            open,
            mut findings,
            has_scalar_at_root,
        } = self;
        let close = |Open {
                         path,
                         spelled,
                         place,
                         fault,
                         further,
                     }: Open| {
            let found = format!("value at {spelled} {}", fault.says);
            let detail = if further == 0 {
                found.clone()
            } else {
                format!("{found} (and {further} more)")
            };
            Finding {
                check: fault.check,
                field: paths.field(path),
                is_root: path == 0,
                place,
                expected: fault.expected.to_owned(),
                found,
                detail,
            }
        };
        findings.shown = open.into_iter().map(close).collect();
        let named = paths.count();
        let total = named + u64::from(named == 0 || has_scalar_at_root);
        let member_paths = Count {
            passed: total - paths.count_with_findings(),
            total,
        };
        Content {
            findings,
            member_paths,
        }
    }
}

/// The checks of this room in the order of their names.
const CHECKS: [CheckName; 6] = [
    CheckName::ContentBlankString,
    CheckName::ContentControlCharacter,
    CheckName::ContentEmptyContainer,
    CheckName::ContentInvisibleCharacter,
    CheckName::ContentPlaceholder,
    CheckName::ContentReplacementCharacter,
];
const EMPTY_CONTAINER: usize = 2;

fn is_empty_container(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

fn fault_of_empty_container() -> Fault {
    Fault {
        check: CheckName::ContentEmptyContainer,
        says: "is empty".to_owned(),
        expected: "real content",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn content(output: &str) -> Content {
        check(&read(output.as_bytes()).unwrap())
    }

    fn count(output: &str) -> (u64, u64) {
        let count = content(output).member_paths;
        (count.passed, count.total)
    }

    fn told(output: &str) -> Vec<String> {
        let findings = content(output).findings.shown;
        findings
            .iter()
            .map(|finding| format!("{} {}: {}", finding.check, finding.field, finding.detail))
            .collect()
    }

    #[test]
    fn member_paths_are_counted_once_each() {
        let rows = [
            (
                r#"{"invoice_id":"INV-1","currency":"USD","line_items":[{"sku":"a","qty":3,"line_total":87.0},
                   {"sku":"b","qty":1,"line_total":42.5}],"total":135.0}"#,
                7,
            ),
            (r#"{"ok":true}"#, 1),
            (r#"{"n":1,"name":"x","z":[1e21,1e-6]}"#, 3),
            ("5", 1),
            ("null", 1),
            ("[]", 1),
            ("{}", 1),
            ("[[[]]]", 1),
            ("[{},{}]", 1),
            ("[1,2]", 1),
            (r#"[{"a":1},{"a":2,"b":3}]"#, 2),
            (r#"[1,{"a":2}]"#, 2),
            (r#"[null,{"a":2}]"#, 2),
            (r#"[[],{"a":2}]"#, 1),
            (r#"{"a":{"b":1},"c":[{"b":1}],"d":[[{"b":1}]]}"#, 6),
            (r#"{"a":[1,[2,{"b":3}],{"b":4}]}"#, 3),
            (r#"{"a.b":1,"a":{"b":1}}"#, 3),
            (r#"{"a[]":1,"a":[{"x":1}],"":{"":2}}"#, 5),
        ];
        for (output, expected) in rows {
            assert_eq!(count(output), (expected, expected), "{output}");
        }
    }

    #[test]
    fn a_finding_belongs_to_the_nearest_member_path() {
        let rows: [(&str, &[&str]); 17] = [
            (r#"{"a":"x"}"#, &[]),
            (r#"{"a":""}"#, &["content:blank_string a: value at a is blank"]),
            (r#"" ""#, &["content:blank_string $: value at $ is blank"]),
            (r#"["x",""]"#, &["content:blank_string $: value at [1] is blank"]),
            (
                r#"[["",[""]]]"#,
                &["content:blank_string $: value at [0][0] is blank (and 1 more)"],
            ),
            (
                r#"{"tags":["x","","y",""]}"#,
                &["content:blank_string tags: value at tags[1] is blank (and 1 more)"],
            ),
            (
                r#"{"t":[["todo"]]}"#,
                &["content:placeholder t: value at t[0][0] is a placeholder"],
            ),
            (
                r#"[{"a":""},{"a":"x"},{"a":"","b":""}]"#,
                &[
                    "content:blank_string [].a: value at [0].a is blank (and 1 more)",
                    "content:blank_string [].b: value at [2].b is blank",
                ],
            ),
            (
                r#"{"a":{},"b":[]}"#,
                &[
                    "content:empty_container a: value at a is empty",
                    "content:empty_container b: value at b is empty",
                ],
            ),
            ("{}", &[]),
            ("[]", &[]),
            (r#"{"a":[{},[]]}"#, &[]),
            (
                r#"{"a":[{"b":{}},{"b":[]}]}"#,
                &["content:empty_container a[].b: value at a[0].b is empty (and 1 more)"],
            ),
            (r#"{"todo":1,"":2,"\u0007":null}"#, &[]),
            (
                r#"{"a.b":{"[]":""}}"#,
                &[r"content:blank_string a\.b.\[\]: value at a\.b.\[\] is blank"],
            ),
            (
                r#"{"a":"\u0007\u200b\ufffdTODO: x","b":"\u000b"}"#,
                &[
                    "content:control_character a: value at a contains a control character (U+0007)",
                    "content:invisible_character a: value at a contains an invisible character (U+200B)",
                    "content:replacement_character a: value at a contains a replacement character",
                    "content:blank_string b: value at b is blank",
                    "content:control_character b: value at b contains a control character (U+000B)",
                ],
            ),
            (
                "{\"\u{FB33}\":\"\",\"\u{1F600}\":\"\"}",
                &[
                    "content:blank_string \u{1F600}: value at \u{1F600} is blank",
                    "content:blank_string \u{FB33}: value at \u{FB33} is blank",
                ],
            ),
        ];
        for (output, expected) in rows {
            assert_eq!(told(output), expected, "{output}");
        }
    }

    #[test]
    fn texts_name_what_is_expected_and_repeat_what_was_found() {
        let rows = [
            (r#"{"a":["",""]}"#, "real content", "value at a[0] is blank"),
            (r#"{"a":"n/a"}"#, "real content", "value at a is a placeholder"),
            (r#"{"a":[]}"#, "real content", "value at a is empty"),
            (
                r#"{"a":"\u007f"}"#,
                "no control characters",
                "value at a contains a control character (U+007F)",
            ),
            (
                r#"{"a":"\ufeff"}"#,
                "no invisible characters",
                "value at a contains an invisible character (U+FEFF)",
            ),
            (
                r#"{"a":"\ufffd"}"#,
                "no replacement characters",
                "value at a contains a replacement character",
            ),
        ];
        for (output, expected, found) in rows {
            let finding = &content(output).findings.shown[0];
            assert_eq!(
                (finding.expected.as_str(), finding.found.as_str()),
                (expected, found)
            );
        }
    }

    #[test]
    fn paths_with_findings_do_not_pass() {
        let rows = [
            (r#"{"a":"","b":"x"}"#, (1, 2)),
            (r#"{"a":["todo","\u0007"],"b":{}}"#, (0, 2)),
            (r#"[{"a":""},""]"#, (0, 2)),
            (r#"[{"a":1},""]"#, (1, 2)),
            (r#""""#, (0, 1)),
            (r#"{"a":{"b":"tbd"}}"#, (1, 2)),
        ];
        for (output, expected) in rows {
            assert_eq!(count(output), expected, "{output}");
        }
    }

    #[test]
    fn beyond_fifty_findings_are_counted_only() {
        let members: Vec<String> = (100..300).map(|name| format!("\"{name}\":\"\"")).collect();
        let output = format!("[{{{0}}},{{{0}}},{{\"z\":\"\\u0007\"}}]", members.join(","));
        let content = content(&output);
        assert_eq!((content.findings.total, content.findings.shown.len()), (201, 50));
        assert_eq!(
            content.findings.checks,
            [CheckName::ContentBlankString, CheckName::ContentControlCharacter]
        );
        assert_eq!(
            (content.member_paths.passed, content.member_paths.total),
            (0, 201)
        );
        assert_eq!(content.findings.shown[49].field, "[].149");
        assert_eq!(
            content.findings.shown[49].detail,
            "value at [0].149 is blank (and 1 more)"
        );
    }

    #[test]
    fn texts_stay_short_however_long_the_names() {
        let name = "é".repeat(100_000);
        let finding = &content(&format!(r#"{{"{name}":{{"a":""}}}}"#)).findings.shown[0];
        assert_eq!(
            finding.field.chars().count(),
            301,
            "one more than is shown, so that it is cut"
        );
        assert!(finding.detail.len() < 1000 && finding.found.len() < 1000);
    }

    #[test]
    fn members_in_any_order_and_number_are_told_apart() {
        // Objects that share few members, in turn: every way of finding a member path is taken.
        let object = |from: usize, to: usize| {
            let members: Vec<String> = (from..to).map(|name| format!("\"m{name:03}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        let rows = [
            (vec![object(0, 5), object(3, 9), object(0, 9)], 9),
            (
                vec![object(50, 100), object(0, 100), object(20, 70), object(99, 101)],
                101,
            ),
            ((0..100).map(|name| object(name, name + 1)).rev().collect(), 100),
            (
                (0..40)
                    .map(|name| object(name * 7 % 40, name * 7 % 40 + 3))
                    .collect(),
                42,
            ),
        ];
        for (objects, expected) in rows {
            assert_eq!(count(&format!("[{}]", objects.join(","))), (expected, expected));
        }
    }
}
