//! Which schemas are refused, where, and what is said.

use super::super::{Schema, SchemaFault};
use super::{D04, D06, D07, D19, D20};
use crate::check::budget::Budget;
use crate::check::invalid::field_inside;
use crate::json::read;

fn faults(schema: &str) -> Vec<SchemaFault> {
    let schema = read(schema.as_bytes()).unwrap_or_else(|fault| panic!("{schema}: {fault:?}"));
    Schema::compile(&schema).err().unwrap_or_default()
}

fn places(schema: &str) -> Vec<String> {
    faults(schema)
        .iter()
        .map(|fault| field_inside("s", &fault.place))
        .collect()
}

#[test]
fn a_value_that_the_meta_schema_refuses_is_a_fault_at_its_place() {
    let rows = [
        (r#"{"type":"nonsense"}"#, "s.type"),
        (r#"{"type":[]}"#, "s.type"),
        (r#"{"type":{}}"#, "s.type"),
        (r#"{"type":["string","text"]}"#, "s.type[1]"),
        (r#"{"type":["string","string"]}"#, "s.type"),
        (r#"{"title":1}"#, "s.title"),
        (r#"{"description":[]}"#, "s.description"),
        (r#"{"$comment":1}"#, "s.$comment"),
        (r#"{"examples":{}}"#, "s.examples"),
        (r#"{"readOnly":"yes"}"#, "s.readOnly"),
        (r#"{"deprecated":1}"#, "s.deprecated"),
        (r#"{"contentEncoding":1}"#, "s.contentEncoding"),
        (r#"{"format":1}"#, "s.format"),
        (r#"{"minLength":-1}"#, "s.minLength"),
        (r#"{"minLength":1.5}"#, "s.minLength"),
        (r#"{"maxItems":"1"}"#, "s.maxItems"),
        (r#"{"minContains":-1}"#, "s.minContains"),
        (r#"{"multipleOf":0}"#, "s.multipleOf"),
        (r#"{"multipleOf":-1}"#, "s.multipleOf"),
        (r#"{"minimum":"1"}"#, "s.minimum"),
        (r#"{"exclusiveMinimum":true}"#, "s.exclusiveMinimum"),
        (r#"{"uniqueItems":1}"#, "s.uniqueItems"),
        (r#"{"pattern":"("}"#, "s.pattern"),
        (r#"{"pattern":1}"#, "s.pattern"),
        (r#"{"required":"a"}"#, "s.required"),
        (r#"{"required":["a",1]}"#, "s.required"),
        (r#"{"required":["a","a"]}"#, "s.required"),
        (r#"{"dependentRequired":{"a":"b"}}"#, "s.dependentRequired.a"),
        (r#"{"dependentRequired":[]}"#, "s.dependentRequired"),
        (r#"{"dependencies":{"a":1}}"#, "s.dependencies.a"),
        (r#"{"dependencies":{"a":["b","b"]}}"#, "s.dependencies.a"),
        (r#"{"enum":{}}"#, "s.enum"),
        (r#"{"properties":[]}"#, "s.properties"),
        (r#"{"properties":{"qty":1}}"#, "s.properties.qty"),
        (
            r#"{"properties":{"qty":{"type":"int"}}}"#,
            "s.properties.qty.type",
        ),
        (r#"{"patternProperties":{"(":{}}}"#, "s.patternProperties"),
        (r#"{"additionalProperties":1}"#, "s.additionalProperties"),
        (r#"{"items":[{}]}"#, "s.items"),
        (r#"{"prefixItems":[]}"#, "s.prefixItems"),
        (r#"{"prefixItems":[{},{"not":3}]}"#, "s.prefixItems[1].not"),
        (r#"{"allOf":[]}"#, "s.allOf"),
        (r#"{"anyOf":{}}"#, "s.anyOf"),
        (r#"{"oneOf":[{},null]}"#, "s.oneOf[1]"),
        (r#"{"not":[]}"#, "s.not"),
        (r#"{"if":1}"#, "s.if"),
        (r#"{"then":1}"#, "s.then"),
        (r#"{"else":1}"#, "s.else"),
        (r#"{"contains":1}"#, "s.contains"),
        (r#"{"propertyNames":1}"#, "s.propertyNames"),
        (r#"{"contentSchema":1}"#, "s.contentSchema"),
        (r#"{"unevaluatedItems":1}"#, "s.unevaluatedItems"),
        (r#"{"$defs":{"a":{"b":1,"type":0}}}"#, "s.$defs.a.type"),
        (r#"{"definitions":{"a":1}}"#, "s.definitions.a"),
        (r#"{"$id":"a#b"}"#, "s.$id"),
        (r#"{"$id":1}"#, "s.$id"),
        (r##"{"$anchor":"#a"}"##, "s.$anchor"),
        (r#"{"$dynamicAnchor":"1"}"#, "s.$dynamicAnchor"),
        (r#"{"$recursiveAnchor":true}"#, "s.$recursiveAnchor"),
        (r#"{"$vocabulary":{"http://x":1}}"#, "s.$vocabulary"),
        (r#"{"$ref":1}"#, "s.$ref"),
        (r#"{"$schema":1}"#, "s.$schema"),
        (
            r#"{"$schema":"https://json-schema.org/draft-07/schema#"}"#,
            "s.$schema",
        ),
        (r#"{"$schema":"http://example.com/mine"}"#, "s.$schema"),
        ("1", "s"),
        ("null", "s"),
        ("[]", "s"),
    ];
    for (schema, place) in rows {
        assert_eq!(places(schema), [place], "{schema}");
    }
}

#[test]
fn each_draft_has_its_own_rules() {
    let refused = [
        (D04, r#""required":[]"#, "s.required"),
        (D04, r#""enum":[]"#, "s.enum"),
        (D06, r#""enum":[1,1.0]"#, "s.enum"),
        (D04, r#""exclusiveMinimum":1,"minimum":0"#, "s.exclusiveMinimum"),
        (D04, r#""exclusiveMaximum":true"#, "s.exclusiveMaximum"),
        (D04, r#""items":true"#, "s.items"),
        (D04, r#""not":false"#, "s.not"),
        (D04, r#""dependencies":{"a":[]}"#, "s.dependencies.a"),
        (D06, r#""const":1,"propertyNames":1"#, "s.propertyNames"),
        (D07, r#""if":1"#, "s.if"),
        (D07, r#""items":[]"#, "s.items"),
        (D19, r#""$recursiveAnchor":"a""#, "s.$recursiveAnchor"),
        (D19, r#""$anchor":"_a""#, "s.$anchor"),
        (D19, r#""additionalItems":1"#, "s.additionalItems"),
        (D20, r#""$anchor":"a:b""#, "s.$anchor"),
        (D07, r#""title":1,"$ref":"x:y""#, "s.$ref"),
    ];
    for (draft, members, place) in refused {
        let told = places(&format!("{{{draft},{members}}}"));
        assert!(told.contains(&place.to_owned()), "{draft} {members}: {told:?}");
    }
    let accepted = [
        (
            D04,
            r#""additionalProperties":false,"additionalItems":true,"$id":1,"const":1,"if":1,"examples":1"#,
        ),
        (
            D04,
            r#""minimum":1,"exclusiveMinimum":true,"id":"not a uri, but a string""#,
        ),
        (D06, r#""required":[],"if":1,"$comment":1,"readOnly":"yes""#),
        (
            D07,
            r#""enum":[1,1],"$defs":1,"dependentRequired":1,"unevaluatedItems":1"#,
        ),
        (D07, r##""$id":"#a","$ref":"#/x","x":{},"definitions":{}"##),
        (
            D19,
            r#""items":[{}],"additionalItems":false,"prefixItems":1,"$anchor":"a:b""#,
        ),
        (
            D20,
            r#""enum":[],"required":[],"additionalItems":1,"$id":"http://x/#","$anchor":"_a""#,
        ),
        (
            D20,
            r#""minLength":2.0,"maxLength":1e20,"default":[],"x":{"type":1},"properties":{"type":{}}"#,
        ),
    ];
    for (draft, members) in accepted {
        assert_eq!(faults(&format!("{{{draft},{members}}}")), [], "{draft} {members}");
    }
}

#[test]
fn no_reference_leaves_the_document() {
    let rows = [
        (r#"{"$ref":"http://127.0.0.1:9/x"}"#, "s.$ref"),
        (r#"{"$ref":"file:///etc/passwd"}"#, "s.$ref"),
        (r#"{"$ref":"other.json"}"#, "s.$ref"),
        (r#"{"$ref":"//host/x"}"#, "s.$ref"),
        (r#"{"$ref":"urn:x:y"}"#, "s.$ref"),
        (
            r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#,
            "s.$ref",
        ),
        // Visited or not.
        (r#"{"$defs":{"a":{"$ref":"b"}}}"#, "s.$defs.a.$ref"),
        (r##"{"$ref":"#/$defs/a"}"##, "s.$ref"),
        (r##"{"$ref":"#a"}"##, "s.$ref"),
        (r##"{"$ref":"#/allOf/01","allOf":[{},{}]}"##, "s.$ref"),
        (r##"{"$ref":"#/allOf/2","allOf":[{},{}]}"##, "s.$ref"),
        (r##"{"$ref":"#/title","title":"a"}"##, "s.$ref"),
        (r##"{"$ref":"#/%","%":{}}"##, "s.$ref"),
        (r##"{"$dynamicRef":"#a"}"##, "s.$dynamicRef"),
        (r#"{"$dynamicRef":"x"}"#, "s.$dynamicRef"),
        // What only a reference makes a schema is looked at as one.
        (r##"{"$ref":"#/x/y","x":{"y":{"type":1}}}"##, "s.x.y.type"),
        (r##"{"$ref":"#/x","x":{"$ref":"#/y","y":{}}}"##, "s.x.$ref"),
        // An identifier in a place that is no schema names nothing.
        (r#"{"$ref":"a","enum":[{"$id":"a"}]}"#, "s.$ref"),
        (r#"{"$ref":"a","x":{"$id":"a"}}"#, "s.$ref"),
        // One name for two schemas.
        (
            r#"{"$ref":"a","$defs":{"x":{"$id":"a","type":"null"},"y":{"$id":"a"}}}"#,
            "s.$ref",
        ),
        (
            r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"null"},"y":{"$anchor":"a"}}}"##,
            "s.$ref",
        ),
        (&format!(r#"{{{D19},"$recursiveRef":"x"}}"#), "s.$recursiveRef"),
        (
            &format!(r#"{{{D07},"$ref":"a","definitions":{{"x":{{"$id":"a","$ref":"b"}}}}}}"#),
            "s.$ref",
        ),
    ];
    for (schema, place) in rows {
        let told = places(schema);
        assert!(told.contains(&place.to_owned()), "{schema}: {told:?}");
    }
}

#[test]
fn references_inside_the_document_lead_where_they_say() {
    // Each leads to a schema that takes null and nothing else.
    let rows = [
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##.to_owned(),
        r##"{"$ref":"#/$defs/a%25b~1c~0d","$defs":{"a%b/c~d":{"type":"null"}}}"##.to_owned(),
        r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"null"}}}"##.to_owned(),
        r##"{"$ref":"#a","$defs":{"x":{"$dynamicAnchor":"a","type":"null"}}}"##.to_owned(),
        r#"{"$ref":"item","$defs":{"x":{"$id":"item","type":"null"}}}"#.to_owned(),
        r#"{"$id":"http://a/b/","$ref":"c/d#e","$defs":{"x":{"$id":"/b/c/d","$defs":{"y":{"$anchor":"e","type":"null"}}}}}"#.to_owned(),
        r#"{"$id":"http://a/b","$ref":"http://a/b#/$defs/x","$defs":{"x":{"type":"null"}}}"#.to_owned(),
        r#"{"$id":"urn:a:b","$ref":"urn:a:b#/$defs/x","$defs":{"x":{"type":"null"}}}"#.to_owned(),
        r##"{"$ref":"#/x/0","x":[{"$ref":"#/x/1"},{"type":"null"}]}"##.to_owned(),
        r##"{"$ref":"x#/y","$defs":{"x":{"$id":"x","y":{"$ref":"#/z"},"z":{"type":"null"}}}}"##.to_owned(),
        format!(r##"{{{D04},"$ref":"#/definitions/a","definitions":{{"a":{{"type":"null"}}}}}}"##),
        format!(r##"{{{D04},"allOf":[{{"$ref":"#a"}}],"definitions":{{"x":{{"id":"#a","type":"null"}}}}}}"##),
        format!(r##"{{{D07},"allOf":[{{"$ref":"#a"}}],"definitions":{{"x":{{"$id":"#a","type":"null"}}}}}}"##),
        format!(r##"{{{D07},"$ref":"#/$defs/x","$defs":{{"x":{{"type":"null"}}}}}}"##),
        format!(r#"{{{D07},"$ref":"y","definitions":{{"x":{{"$id":"y","type":"null"}}}}}}"#),
        r##"{"$dynamicRef":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##.to_owned(),
        r#"{"$ref":"a","$defs":{"a":{"$id":"a","$schema":"http://json-schema.org/draft-04/schema#","const":null}}}"#.to_owned(),
    ];
    for schema in rows {
        let compiled =
            Schema::compile(&read(schema.as_bytes()).unwrap()).unwrap_or_else(|f| panic!("{schema}: {f:?}"));
        for (output, valid) in [("null", true), ("1", false)] {
            let output = read(output.as_bytes()).unwrap();
            assert_eq!(
                compiled.is_valid(&output, &mut Budget::default()),
                Ok(valid),
                "{schema}"
            );
        }
    }
}

#[test]
fn faults_stand_in_order_of_the_text_and_show_no_value() {
    let secret = "hunter2";
    let schema = format!(
        r#"{{"z":1,"type":"{secret}","properties":{{"b":{{"minLength":"{secret}"}},"a":{{"$ref":"{secret}"}}}},"allOf":[{{"pattern":"({secret}"}},{{"title":["{secret}"]}}],"patternProperties":{{"({secret}":true}}}}"#
    );
    let faults = faults(&schema);
    let places: Vec<_> = faults.iter().map(|fault| fault.place.to_string()).collect();
    let expected = [
        "type",
        "properties.b.minLength",
        "properties.a.$ref",
        "allOf[0].pattern",
        "allOf[1].title",
        "patternProperties",
    ];
    assert_eq!(places, expected);
    assert!(faults.is_sorted_by_key(|fault| fault.at));
    let told = format!("{faults:?}");
    assert!(!told.contains(secret), "{told}");
    assert_eq!(faults[0].problem, "is not a valid value for this keyword");
    let fix = r#"Use one of: "array", "boolean", "integer", "null", "number", "object", "string"; or an array of them, each once."#;
    assert_eq!(faults[0].fix, fix);
}

#[test]
fn faults_end_at_fifty() {
    let members = (0..500)
        .map(|n| format!(r#""{}":0"#, 999 - n))
        .collect::<Vec<_>>()
        .join(",");
    let places = places(&format!(r#"{{"properties":{{{members}}}}}"#));
    assert_eq!(
        (places.len(), places[0].as_str(), places[49].as_str()),
        (50, "s.properties.999", "s.properties.950")
    );
}
