//! What keywords mean where implementations have differed, and what is fixed by section 27.

use super::{D04, D06, D07, D19, evaluate};

fn check(rows: &[(&str, &str, bool)]) {
    for (schema, output, valid) in rows {
        assert_eq!(
            evaluate(schema, output).findings.total == 0,
            *valid,
            "{schema} on {output}"
        );
    }
}

#[test]
fn numbers_are_exact() {
    check(&[
        (r#"{"multipleOf":0.01}"#, "4.02", true),
        (r#"{"multipleOf":0.001}"#, "-0.059", true),
        (r#"{"multipleOf":0.01}"#, "1070468.14", true),
        (r#"{"multipleOf":0.01}"#, "1070468.141", false),
        (r#"{"multipleOf":0.1}"#, "0.3", true),
        (r#"{"maximum":100.25}"#, "100.5", false),
        (r#"{"maximum":100.25}"#, "100.25", true),
        (r#"{"type":"integer"}"#, "1.0", true),
        (r#"{"type":"integer"}"#, "1e3", true),
        (r#"{"type":"integer"}"#, "1.5", false),
        (
            &format!(r#"{{{D04},"type":"integer"}}"#),
            "100000000000000000000",
            true,
        ),
        (&format!(r#"{{{D04},"type":"integer"}}"#), "1.0", true),
        (r#"{"type":"number"}"#, "1", true),
        (r#"{"const":1}"#, "1.0", true),
        (r#"{"const":1}"#, "true", false),
        (r#"{"enum":[0]}"#, "-0", true),
        (r#"{"const":{"a":[1,{"b":2}]}}"#, r#"{"a":[1.0,{"b":2e0}]}"#, true),
        (r#"{"maxLength":1e20}"#, "\"a\"", true),
        (r#"{"minItems":1e20}"#, "[]", false),
    ]);
}

#[test]
fn texts_and_lists() {
    let combined = format!("\"a{}\"", "\u{301}".repeat(10));
    check(&[
        (r#"{"maxLength":3}"#, &combined, false),
        (r#"{"maxLength":1}"#, "\"\u{1F600}\"", true),
        (r#"{"uniqueItems":true}"#, "[[false],[0]]", true),
        (
            r#"{"uniqueItems":true}"#,
            "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]",
            false,
        ),
        (r#"{"uniqueItems":false}"#, "[1,1]", true),
        (r#"{"pattern":"^\\d+$"}"#, "\"১২\"", false),
        (r#"{"pattern":"b"}"#, "\"abc\"", true),
        (r#"{"required":["__proto__"]}"#, "{}", false),
        (
            r#"{"properties":{"a":{}},"additionalProperties":false}"#,
            r#"{"a":1}"#,
            true,
        ),
        (
            r#"{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}"#,
            r#"{"x1":null}"#,
            true,
        ),
        (
            r#"{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}"#,
            r#"{"y":null}"#,
            false,
        ),
    ]);
}

#[test]
fn what_was_evaluated_is_seen_where_it_should_be() {
    let tree = r##"{"$id":"tree","$dynamicAnchor":"node","properties":{"children":{"items":{"$dynamicRef":"#node"}}}}"##;
    let strict = format!(
        r#"{{"$id":"strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,"$defs":{{"t":{tree}}}}}"#
    );
    check(&[
        (
            r##"{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"x":true}}},"unevaluatedProperties":false}"##,
            r#"{"x":1}"#,
            true,
        ),
        (
            r#"{"allOf":[{"properties":{"x":true}},{"unevaluatedProperties":false}]}"#,
            r#"{"x":1}"#,
            false,
        ),
        (
            r#"{"anyOf":[{"properties":{"x":true}},{"properties":{"y":true}}],"unevaluatedProperties":false}"#,
            r#"{"x":1,"y":2}"#,
            true,
        ),
        (
            r#"{"anyOf":[{"properties":{"x":true}},{"properties":{"y":{"type":"null"}}}],"unevaluatedProperties":false}"#,
            r#"{"x":1,"y":2}"#,
            false,
        ),
        (
            r#"{"not":{"properties":{"x":false}},"unevaluatedProperties":false}"#,
            r#"{"x":1}"#,
            false,
        ),
        (
            r#"{"if":{"properties":{"x":{"const":1}},"required":["x"]},"then":{"properties":{"y":true}},"else":{"properties":{"z":true}},"unevaluatedProperties":false}"#,
            r#"{"x":1,"y":2}"#,
            true,
        ),
        (
            r#"{"if":{"properties":{"x":{"const":1}},"required":["x"]},"else":{"properties":{"z":true}},"unevaluatedProperties":false}"#,
            r#"{"x":2,"z":2}"#,
            false,
        ),
        (
            r#"{"dependentSchemas":{"x":{"properties":{"x":true}}},"unevaluatedProperties":false}"#,
            r#"{"x":1}"#,
            true,
        ),
        (
            r#"{"contains":{"type":"null"},"unevaluatedItems":false}"#,
            "[null,null]",
            true,
        ),
        (
            r#"{"contains":{"type":"null"},"unevaluatedItems":false}"#,
            "[null,1]",
            false,
        ),
        (
            &format!(r#"{{{D19},"contains":{{"type":"null"}},"unevaluatedItems":false}}"#),
            "[null]",
            false,
        ),
        (
            r#"{"oneOf":[{"prefixItems":[true]},{"type":"null"}],"unevaluatedItems":false}"#,
            "[1]",
            true,
        ),
        (
            r#"{"oneOf":[{"prefixItems":[true]},{"type":"null"}],"unevaluatedItems":false}"#,
            "[1,2]",
            false,
        ),
        (
            r#"{"unevaluatedProperties":true,"allOf":[{"unevaluatedProperties":{"type":"integer"}}]}"#,
            r#"{"x":1}"#,
            true,
        ),
        (
            r#"{"$dynamicAnchor":"a","unevaluatedProperties":false}"#,
            "{}",
            true,
        ),
        (tree, r#"{"children":[{"daat":1}]}"#, true),
        (&strict, r#"{"children":[{"children":[]}]}"#, true),
        (&strict, r#"{"children":[{"daat":1}]}"#, false),
    ]);
}

#[test]
fn adjacent_keywords_mark_what_they_look_at_even_where_it_fails() {
    // One finding, about the member itself.
    let findings = evaluate(
        r#"{"properties":{"a":{"type":"null"}},"unevaluatedProperties":false}"#,
        r#"{"a":1}"#,
    )
    .findings;
    assert_eq!((findings.total, findings.shown[0].field.as_str()), (1, "a"));
    // Two: the schema of `allOf` failed, so the member counts as unevaluated as well.
    let failing = r#"{"allOf":[{"properties":{"a":{"type":"null"}}}],"unevaluatedProperties":false}"#;
    assert_eq!(evaluate(failing, r#"{"a":1}"#).findings.total, 2);
}

#[test]
fn a_draft_means_what_it_meant() {
    check(&[
        (
            &format!(
                r##"{{{D07},"$ref":"#/definitions/a","minLength":3,"definitions":{{"a":{{"enum":["a","b"]}}}}}}"##
            ),
            "\"b\"",
            true,
        ),
        (&format!(r#"{{{D06},"if":{{}},"then":false}}"#), "1", true),
        (&format!(r#"{{{D07},"if":{{}},"then":false}}"#), "1", false),
        (&format!(r#"{{{D04},"const":2}}"#), "1", true),
        (
            &format!(r#"{{{D07},"items":[{{"type":"null"}}],"additionalItems":{{"type":"string"}}}}"#),
            r#"[null,"a"]"#,
            true,
        ),
        (
            &format!(r#"{{{D07},"items":[{{"type":"null"}}],"additionalItems":{{"type":"string"}}}}"#),
            "[null,1]",
            false,
        ),
        (
            &format!(r#"{{{D07},"dependentRequired":{{"a":["b"]}}}}"#),
            r#"{"a":1}"#,
            true,
        ),
        (
            &format!(r#"{{{D07},"contains":{{"type":"null"}},"minContains":2}}"#),
            "[null]",
            true,
        ),
        (
            &format!(r#"{{{D19},"contains":{{"type":"null"}},"minContains":2}}"#),
            "[null]",
            false,
        ),
        (r#"{"contains":{"type":"null"},"minContains":0}"#, "[]", true),
        // A nested `$schema` does not change the draft.
        (
            r#"{"allOf":[{"$id":"a","$schema":"http://json-schema.org/draft-04/schema#","const":2}]}"#,
            "1",
            false,
        ),
        (
            &format!(r#"{{{D06},"format":"hostname"}}"#),
            "\"ab--cd.example\"",
            true,
        ),
        (&format!(r#"{{{D04},"format":"date"}}"#), "\"x\"", false),
    ]);
}
