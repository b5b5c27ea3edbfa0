//! Section 16: a keyword counts each time its schema is applied, wherever it is written.

use super::{D04, D07, D19, evaluate};
use crate::check::finding::Count;
use crate::json::read;

fn check(rows: &[(&str, &str, u64, u64)]) {
    for (schema, output, passed, total) in rows {
        let count = evaluate(schema, output).count;
        let expected = Count {
            passed: *passed,
            total: *total,
        };
        assert_eq!(count, expected, "{schema} on {output}");
    }
}

#[test]
fn the_golden_request_counts_22() {
    let request = include_str!("../../../../../../vectors/invoice-draft.request.json");
    let request = read(request.as_bytes()).unwrap();
    let [schema, output] = ["expected_schema", "submitted_output"]
        .map(|name| String::from_utf8(crate::canonical::bytes(request.get(name).unwrap())).unwrap());
    check(&[(&schema, &output, 22, 22)]);
}

#[test]
fn assertions_count_by_instance_location() {
    check(&[
        ("{}", "1", 0, 0),
        ("true", "1", 0, 0),
        ("false", "1", 0, 1),
        (r#"{"type":"integer","minimum":3,"maximum":1}"#, "2", 1, 3),
        // A keyword for another type passes and counts.
        (
            r#"{"type":"string","maxItems":1,"minimum":3,"pattern":"a","required":["a"]}"#,
            "2",
            3,
            5,
        ),
        (r#"{"items":{"type":"integer"}}"#, "[]", 0, 0),
        (r#"{"items":{"type":"integer"}}"#, "[1,2,\"\"]", 2, 3),
        (
            r#"{"properties":{"a":{"type":"null"},"b":{"type":"null"}}}"#,
            r#"{"a":1}"#,
            0,
            1,
        ),
        (r#"{"required":["a","b","c"]}"#, r#"{"b":1}"#, 0, 1),
        (
            r#"{"type":["object"],"properties":{"a":{"type":"null"}},"required":["a"],"additionalProperties":false}"#,
            r#"{"a":null}"#,
            4,
            4,
        ),
        (r#"{"enum":[],"const":1}"#, "1", 1, 2),
        (r#"{"uniqueItems":false}"#, "[1,1]", 1, 1),
        (
            r#"{"dependentRequired":{"a":["b"],"c":["d"]}}"#,
            r#"{"a":1,"c":1}"#,
            0,
            1,
        ),
        (r#"{"dependentRequired":{}}"#, "1", 1, 1),
    ]);
}

#[test]
fn what_only_applies_schemas_does_not_count() {
    check(&[
        (r#"{"allOf":[{"type":"null"},{"type":"null"}]}"#, "1", 0, 2),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##,
            "1",
            0,
            1,
        ),
        (
            r#"{"patternProperties":{"a":{"type":"null"},"b":{"type":"null"}}}"#,
            r#"{"ab":1,"a":null}"#,
            1,
            3,
        ),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1,"a":null}"#,
            1,
            2,
        ),
        (
            r#"{"prefixItems":[{"type":"null"},{"type":"null"}],"items":{"type":"null"}}"#,
            "[1,2,3]",
            0,
            3,
        ),
        (
            r#"{"additionalProperties":{"type":"null"}}"#,
            r#"{"a":1,"b":2}"#,
            0,
            2,
        ),
        (
            r#"{"unevaluatedProperties":{"type":"null"}}"#,
            r#"{"a":1,"b":2}"#,
            0,
            2,
        ),
        (r#"{"unevaluatedItems":{"type":"null"}}"#, "[1]", 0, 1),
        (
            r#"{"dependentSchemas":{"a":{"type":"null"},"b":{"type":"null"}}}"#,
            r#"{"a":1}"#,
            0,
            1,
        ),
        (
            r#"{"if":{"type":"integer"},"then":{"minimum":2},"else":{"type":"null"}}"#,
            "1",
            0,
            1,
        ),
        (
            r#"{"if":{"type":"integer"},"then":{"minimum":2},"else":{"type":"null"}}"#,
            "null",
            1,
            1,
        ),
        (r#"{"if":{"type":"integer"}}"#, "1", 0, 0),
        (r#"{"then":{"type":"null"},"else":{"type":"null"}}"#, "1", 0, 0),
        (
            r#"{"title":"a","description":"b","default":1,"examples":[1],"x-own":{"type":"null"}}"#,
            "1",
            0,
            0,
        ),
        (r#"{"format":"nothing we know"}"#, "\"\"", 0, 0),
        (r#"{"format":"date"}"#, "\"\"", 0, 1),
    ]);
}

#[test]
fn what_holds_branches_counts_once() {
    check(&[
        (
            r#"{"anyOf":[{"type":"null"},{"type":"integer","minimum":1}]}"#,
            "1",
            1,
            1,
        ),
        (r#"{"oneOf":[{"type":"null"},{"type":"null"}]}"#, "1", 0, 1),
        (r#"{"not":{"type":"integer"}}"#, "1", 0, 1),
        (
            r#"{"contains":{"type":"null"},"minContains":1,"maxContains":2}"#,
            "[null,1]",
            1,
            1,
        ),
        (r#"{"minContains":1,"maxContains":2}"#, "[]", 0, 0),
        (r#"{"contains":false}"#, "1", 1, 1),
        // Below a branch nothing counts, and nothing is said.
        (
            r#"{"anyOf":[{"properties":{"a":{"type":"null"}}}],"properties":{"a":{"type":"null"}}}"#,
            r#"{"a":1}"#,
            0,
            2,
        ),
    ]);
}

#[test]
fn closing_keywords_count_where_they_are_false() {
    check(&[
        (r#"{"additionalProperties":false}"#, r#"{"a":1,"b":2}"#, 0, 1),
        (r#"{"additionalProperties":true}"#, r#"{"a":1}"#, 0, 0),
        (r#"{"items":false}"#, "[]", 1, 1),
        (r#"{"items":false}"#, "[1]", 0, 1),
        (r#"{"unevaluatedProperties":false}"#, "1", 1, 1),
        (r#"{"unevaluatedItems":false}"#, "[1]", 0, 1),
        (r#"{"properties":{"a":false}}"#, r#"{"a":1,"b":1}"#, 0, 1),
        (r#"{"allOf":[false,true]}"#, "1", 0, 1),
        (
            &format!(r#"{{{D19},"items":[{{}}],"additionalItems":false}}"#),
            "[1]",
            1,
            1,
        ),
        (&format!(r#"{{{D19},"additionalItems":false}}"#), "[1]", 0, 0),
        (
            &format!(r#"{{{D19},"items":{{}},"additionalItems":false}}"#),
            "[1]",
            0,
            0,
        ),
    ]);
}

#[test]
fn older_drafts_count_what_they_have() {
    check(&[
        (
            &format!(r#"{{{D04},"minimum":1,"exclusiveMinimum":true}}"#),
            "1",
            0,
            1,
        ),
        (
            &format!(r#"{{{D04},"maximum":1,"exclusiveMaximum":false}}"#),
            "1",
            1,
            1,
        ),
        (&format!(r#"{{{D04},"const":2,"contains":false}}"#), "[]", 0, 0),
        (
            &format!(r#"{{{D07},"dependencies":{{"a":["b"],"c":{{"type":"null"}}}}}}"#),
            r#"{"a":1,"c":1}"#,
            0,
            2,
        ),
        (
            &format!(r#"{{{D07},"dependencies":{{"c":{{}}}}}}"#),
            r#"{"c":1}"#,
            0,
            0,
        ),
        (r#"{"dependencies":{"a":["b"]}}"#, r#"{"a":1,"b":1}"#, 1, 1),
        // Draft 07 reads nothing beside a reference.
        (
            &format!(
                r##"{{{D07},"$ref":"#/definitions/a","minLength":3,"definitions":{{"a":{{"enum":["a","b"]}}}}}}"##
            ),
            "\"b\"",
            1,
            1,
        ),
        (
            r##"{"$ref":"#/$defs/a","minLength":3,"$defs":{"a":{"enum":["a","b"]}}}"##,
            "\"b\"",
            1,
            2,
        ),
    ]);
}
