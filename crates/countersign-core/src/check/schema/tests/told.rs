//! Sections 13 and 14: the order of findings and their words.

use super::{D04, D19, evaluate};
use crate::check::name::CheckName;

/// `check at field: expected, found`, one a line.
fn told(schema: &str, output: &str) -> Vec<String> {
    let findings = evaluate(schema, output).findings;
    assert_eq!(findings.total as usize, findings.shown.len());
    let tell = |finding: &crate::check::finding::Finding| {
        assert_eq!(
            finding.detail,
            format!("expected {}, found {}", finding.expected, finding.found)
        );
        let check = finding.check.as_str().strip_prefix("schema:").unwrap();
        format!(
            "{check} at {}: {}, {}",
            finding.field, finding.expected, finding.found
        )
    };
    findings.shown.iter().map(tell).collect()
}

fn check(rows: &[(&str, &str, &[&str])]) {
    for (schema, output, expected) in rows {
        assert_eq!(told(schema, output), *expected, "{schema} on {output}");
    }
}

#[test]
#[allow(clippy::too_many_lines)] // One row a keyword.
fn every_keyword_has_its_words() {
    check(&[
        (r#"{"type":"integer"}"#, "\"a\"", &["type at $: integer, string"]),
        (
            r#"{"type":["string","null"]}"#,
            "1.0",
            &["type at $: string or null, integer"],
        ),
        (
            r#"{"type":["string","null","array"]}"#,
            "1.5",
            &["type at $: string, null or array, number"],
        ),
        (
            r#"{"enum":["USD","EUR"]}"#,
            "\"usd\"",
            &[r#"enum at $: one of "USD", "EUR", "usd""#],
        ),
        (
            r#"{"enum":[1.0,{"a":1},null]}"#,
            "[]",
            &["enum at $: one of 1.0, object, null, array"],
        ),
        (r#"{"const":2}"#, "1", &["const at $: 2, 1"]),
        (
            r#"{"multipleOf":0.01}"#,
            "0.015",
            &["multipleOf at $: a multiple of 0.01, 0.015"],
        ),
        (r#"{"minimum":1}"#, "0", &["minimum at $: >= 1, 0"]),
        (r#"{"maximum":1.0}"#, "2.0", &["maximum at $: <= 1.0, 2.0"]),
        (
            r#"{"exclusiveMinimum":0}"#,
            "0",
            &["exclusiveMinimum at $: > 0, 0"],
        ),
        (
            r#"{"exclusiveMaximum":5}"#,
            "5",
            &["exclusiveMaximum at $: < 5, 5"],
        ),
        (
            &format!(r#"{{{D04},"minimum":1,"exclusiveMinimum":true}}"#),
            "1",
            &["minimum at $: > 1, 1"],
        ),
        (
            &format!(r#"{{{D04},"maximum":1,"exclusiveMaximum":true}}"#),
            "1",
            &["maximum at $: < 1, 1"],
        ),
        (
            r#"{"minLength":2.0}"#,
            "\"é\"",
            &["minLength at $: at least 2 characters, 1"],
        ),
        (
            r#"{"maxLength":3}"#,
            "\"a\u{301}\u{302}\u{303}\"",
            &["maxLength at $: at most 3 characters, 4"],
        ),
        (r#"{"minItems":1}"#, "[]", &["minItems at $: at least 1 items, 0"]),
        (
            r#"{"maxItems":1}"#,
            "[1,2]",
            &["maxItems at $: at most 1 items, 2"],
        ),
        (
            r#"{"minProperties":1}"#,
            "{}",
            &["minProperties at $: at least 1 members, 0"],
        ),
        (
            r#"{"maxProperties":0}"#,
            r#"{"a":1}"#,
            &["maxProperties at $: at most 0 members, 1"],
        ),
        (
            r#"{"pattern":"^[0-9]+$"}"#,
            "\"a\"",
            &[r#"pattern at $: a string matching ^[0-9]+$, "a""#],
        ),
        (
            r#"{"format":"date"}"#,
            "\"a\"",
            &[r#"format at $: format date, "a""#],
        ),
        (
            r#"{"uniqueItems":true}"#,
            "[1,2,1,2]",
            &["uniqueItems at $: unique items, duplicate at [2]"],
        ),
        (
            r#"{"contains":{"type":"null"}}"#,
            "[1]",
            &["contains at $: at least 1 matching items, 0"],
        ),
        (
            r#"{"contains":{"type":"null"},"minContains":3}"#,
            "[null,1,null]",
            &["contains at $: at least 3 matching items, 2"],
        ),
        (
            r#"{"contains":{"type":"null"},"maxContains":1}"#,
            "[null,1,null]",
            &["contains at $: at most 1 matching items, 2"],
        ),
        (
            r#"{"required":["b","a"]}"#,
            "{}",
            &[
                "required at a: a value, nothing",
                "required at b: a value, nothing",
            ],
        ),
        (
            r#"{"dependentRequired":{"a":["b"]}}"#,
            r#"{"a":1}"#,
            &["dependentRequired at b: a value, nothing"],
        ),
        (
            r#"{"dependencies":{"a":["b"]}}"#,
            r#"{"a":1}"#,
            &["dependentRequired at b: a value, nothing"],
        ),
        (
            r#"{"additionalProperties":false}"#,
            r#"{"a":1,"b":1}"#,
            &["additionalProperties at $: no further members, 2"],
        ),
        (
            r#"{"unevaluatedProperties":false}"#,
            r#"{"a":1}"#,
            &["unevaluatedProperties at $: no further members, 1"],
        ),
        (
            r#"{"items":false}"#,
            "[1,2]",
            &["items at $: no further items, 2"],
        ),
        (
            &format!(r#"{{{D19},"items":[true],"additionalItems":false}}"#),
            "[1,2]",
            &["items at $: no further items, 1"],
        ),
        (
            r#"{"prefixItems":[true],"unevaluatedItems":false}"#,
            "[1,2]",
            &["unevaluatedItems at $: no further items, 1"],
        ),
        (
            r#"{"properties":{"a":false}}"#,
            r#"{"a":1}"#,
            &["false at a: nothing, 1"],
        ),
        (
            r#"{"anyOf":[{"type":"null"},false]}"#,
            "1",
            &["anyOf at $: a match of at least one of 2 schemas, no match"],
        ),
        (
            r#"{"oneOf":[{"type":"integer"},true,false]}"#,
            "1",
            &["oneOf at $: exactly one, 2 matches"],
        ),
        (
            r#"{"oneOf":[false]}"#,
            "1",
            &["oneOf at $: exactly one, 0 matches"],
        ),
        (r#"{"not":{}}"#, "1", &["not at $: no match, a match"]),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"abc":1}"#,
            &["maxLength at $: at most 1 characters, 3"],
        ),
        (
            r#"{"propertyNames":{"enum":["a"]}}"#,
            r#"{"b":{},"c":1}"#,
            &[r#"enum at $: one of "a", "b""#, r#"enum at $: one of "a", "c""#],
        ),
    ]);
}

#[test]
fn places_are_concrete() {
    check(&[
        (
            r#"{"properties":{"line_items":{"items":{"properties":{"qty":{"type":"integer"}},"required":["sku"]}}}}"#,
            r#"{"line_items":[{"sku":1},{"qty":"x"}]}"#,
            &[
                "type at line_items[1].qty: integer, string",
                "required at line_items[1].sku: a value, nothing",
            ],
        ),
        (
            r#"{"items":{"required":["a.b"]}}"#,
            "[{}]",
            &[r"required at [0].a\.b: a value, nothing"],
        ),
        (
            r#"{"additionalProperties":{"uniqueItems":true}}"#,
            r#"{"x[0]":[0,0]}"#,
            &[r"uniqueItems at x\[0\]: unique items, duplicate at x\[0\][1]"],
        ),
    ]);
}

#[test]
fn order_is_by_place_then_check_then_way() {
    check(&[
        // Members by UTF-16 code units, elements by index, a container before what is in it, and an absent
        // member where it would stand.
        (
            r#"{"minProperties":9,"properties":{"b":{"minItems":9,"items":{"type":"null"}},"\uFB33":{"type":"null"},"\uD83D\uDE00":{"type":"null"}},"required":["a","c","z"]}"#,
            "{\"\u{FB33}\":1,\"\u{1F600}\":1,\"c\":1,\"b\":[1,2,3,4,5,6,7,8,9,10,11]}",
            &[
                "minProperties at $: at least 9 members, 4",
                "required at a: a value, nothing",
                "type at b[0]: null, integer",
                "type at b[1]: null, integer",
                "type at b[2]: null, integer",
                "type at b[3]: null, integer",
                "type at b[4]: null, integer",
                "type at b[5]: null, integer",
                "type at b[6]: null, integer",
                "type at b[7]: null, integer",
                "type at b[8]: null, integer",
                "type at b[9]: null, integer",
                "type at b[10]: null, integer",
                "required at z: a value, nothing",
                "type at \u{1F600}: null, integer",
                "type at \u{FB33}: null, integer",
            ],
        ),
        // At one place by name of the check.
        (
            r#"{"type":"null","maximum":1,"enum":[1],"not":{},"items":false,"allOf":[false]}"#,
            "2",
            &[
                "enum at $: one of 1, 2",
                "false at $: nothing, 1",
                "maximum at $: <= 1, 2",
                "not at $: no match, a match",
                "type at $: null, integer",
            ],
        ),
        // Of one check at one place by the way through the schema, in canonical order: `$ref` before
        // `additionalProperties` before `allOf` before `properties` before `then`; an array by index.
        (
            r##"{"then":{"properties":{"a":{"minimum":6}}},"if":true,"properties":{"a":{"minimum":5}},"allOf":[{"additionalProperties":{"minimum":3}},{"properties":{"a":{"minimum":4}}}],"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{"minimum":1}},"unevaluatedProperties":{"minimum":2}}}}"##,
            r#"{"a":0,"b":0}"#,
            &[
                "minimum at a: >= 1, 0",
                "minimum at a: >= 3, 0",
                "minimum at a: >= 4, 0",
                "minimum at a: >= 5, 0",
                "minimum at a: >= 6, 0",
                "minimum at b: >= 2, 0",
                "minimum at b: >= 3, 0",
            ],
        ),
        (
            r#"{"if":false,"else":{"minimum":2},"items":true,"allOf":[{"minimum":1}],"minimum":3}"#,
            "0",
            &[
                "minimum at $: >= 1, 0",
                "minimum at $: >= 2, 0",
                "minimum at $: >= 3, 0",
            ],
        ),
        (
            r#"{"properties":{"ab":{"minimum":3}},"patternProperties":{"b":{"minimum":2},"a":{"minimum":1}}}"#,
            r#"{"ab":0}"#,
            &[
                "minimum at ab: >= 1, 0",
                "minimum at ab: >= 2, 0",
                "minimum at ab: >= 3, 0",
            ],
        ),
    ]);
}

#[test]
fn fifty_are_shown_and_all_are_counted() {
    // The check that is told last by its keyword stands first by its place.
    let schema = r#"{"items":{"type":"string"},"prefixItems":[{"uniqueItems":true,"type":"string"}],"contains":false}"#;
    let numbers = vec!["1"; 400].join(",");
    let findings = evaluate(schema, &format!("[[0,0],{numbers}]")).findings;
    assert_eq!((findings.total, findings.shown.len()), (403, 50));
    assert_eq!(findings.shown[0].check, CheckName::SchemaContains);
    assert_eq!(findings.shown[1].field, "[0]");
    assert_eq!(findings.shown[49].field, "[47]");
    let checks = [
        CheckName::SchemaContains,
        CheckName::SchemaType,
        CheckName::SchemaUniqueItems,
    ];
    assert_eq!(findings.checks, checks);

    // A check whose first finding comes after the last one shown is named all the same.
    let schema = r#"{"properties":{"z":{"type":"string"}},"additionalProperties":{"items":{"const":0}}}"#;
    let findings = evaluate(schema, &format!(r#"{{"z":1,"a":[{numbers}]}}"#)).findings;
    assert_eq!((findings.total, findings.shown.len()), (401, 50));
    assert_eq!(findings.checks, [CheckName::SchemaConst, CheckName::SchemaType]);
}

#[test]
fn an_earlier_place_that_is_found_late_is_shown() {
    let schema = r#"{"allOf":[{"items":{"const":0}},{"contains":false},{"prefixItems":[{"type":"null"}]}]}"#;
    let findings = evaluate(schema, &format!("[{}]", vec!["1"; 200].join(","))).findings;
    let shown: Vec<_> = findings.shown[..4]
        .iter()
        .map(|finding| (finding.check.as_str(), finding.field.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("schema:contains", "$"),
            ("schema:const", "[0]"),
            ("schema:type", "[0]"),
            ("schema:const", "[1]")
        ]
    );
    assert_eq!(
        (
            findings.total,
            findings.shown.len(),
            findings.shown[49].field.as_str()
        ),
        (202, 50, "[47]")
    );
}

#[test]
fn texts_do_not_grow_with_what_is_wrong() {
    let long = "n".repeat(10_000);
    let values = (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let schema = format!(
        r#"{{"additionalProperties":{{"enum":[{values}],"pattern":"{long}"}},"required":["{long}"]}}"#
    );
    let findings = evaluate(&schema, &format!(r#"{{"x{long}":"y"}}"#)).findings;
    assert_eq!(findings.total, 3);
    for finding in findings.shown {
        for text in [finding.field, finding.expected, finding.found, finding.detail] {
            assert!(text.chars().count() < 1_000, "{}", finding.check);
        }
    }
}
