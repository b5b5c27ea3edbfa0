//! Schemas and outputs that ask for as much as they can, each under 1 MiB.

/// What becomes of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// The schema is refused.
    Refused,
    /// Decided; so many findings.
    Findings(u64),
    /// The evaluations, or the nesting of them, ran out.
    TooComplex,
    /// Too many reference steps.
    References,
    /// Too many steps of patterns.
    Patterns,
}

pub(super) struct Case {
    pub name: &'static str,
    pub schema: String,
    pub output: String,
    pub ends: Ends,
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

/// `levels` objects around a value.
fn nested(levels: usize, before: &str, inner: &str, after: &str) -> String {
    format!("{}{inner}{}", before.repeat(levels), after.repeat(levels))
}

fn case(name: &'static str, schema: String, output: impl Into<String>, ends: Ends) -> Case {
    Case {
        name,
        schema,
        output: output.into(),
        ends,
    }
}

/// `$defs` of `count` schemas, and a reference to the first.
fn chain(count: usize, link: impl Fn(usize) -> String, last: &str) -> String {
    let defs = list(count, |n| format!(r#""d{n}":{}"#, link(n + 1)));
    format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{defs},"d{count}":{last}}}}}"##)
}

#[allow(clippy::too_many_lines)] // One row a case.
pub(super) fn cases() -> Vec<Case> {
    let twice = |n| format!(r##"{{"allOf":[{{"$ref":"#/$defs/d{n}"}},{{"$ref":"#/$defs/d{n}"}}]}}"##);
    let once = |n| format!(r##"{{"$ref":"#/$defs/d{n}"}}"##);
    let listed = |n| format!(r##"{{"allOf":[{{"$ref":"#/$defs/d{n}"}}]}}"##);
    let closed_levels = |levels| {
        nested(
            levels,
            r#"{"unevaluatedProperties":false,"allOf":["#,
            r#"{"properties":{"a":true}}"#,
            "]}",
        )
    };
    let numbers = |count| format!("[{}]", list(count, |n| n.to_string()));
    vec![
        case("references double at every step", chain(40, twice, "{}"), "1", Ends::TooComplex),
        case(
            "and inside not",
            chain(40, |n| format!(r##"{{"not":{{"oneOf":[{{"$ref":"#/$defs/d{n}"}},{{"$ref":"#/$defs/d{n}"}}]}}}}"##), r#"{"type":"string"}"#),
            "1",
            Ends::TooComplex,
        ),
        case("nested unevaluatedProperties, 30 levels", closed_levels(30), r#"{"a":1}"#, Ends::Findings(0)),
        case("nested unevaluatedProperties, a stranger", closed_levels(30), r#"{"b":1}"#, Ends::Findings(30)),
        case(
            "nested unevaluatedProperties on 60,000 members",
            closed_levels(30),
            format!("{{{}}}", list(60_000, |n| format!(r#""m{n}":0"#))),
            Ends::Findings(30),
        ),
        case(
            "unevaluatedProperties by references, 200 levels",
            chain(
                200,
                |n| format!(r##"{{"unevaluatedProperties":false,"properties":{{"p{n}":true}},"anyOf":[{{"$ref":"#/$defs/d{n}"}}]}}"##),
                "{}",
            ),
            r#"{"p1":1}"#,
            Ends::Findings(1),
        ),
        case(
            "properties and allOf both lead to the next definition",
            chain(
                60,
                |n| format!(r##"{{"properties":{{"a":{{"$ref":"#/$defs/d{n}"}}}},"allOf":[{{"$ref":"#/$defs/d{n}"}}]}}"##),
                "{}",
            ),
            nested(60, r#"{"a":"#, "1", "}"),
            Ends::TooComplex,
        ),
        case("a chain of 4,000 references", chain(4_000, once, "{}"), "1", Ends::References),
        case("a chain of 255 references", chain(255, once, "{\"type\":\"null\"}"), "1", Ends::Findings(1)),
        case("a chain of 2,000 references in allOf", chain(2_000, listed, "{}"), "1", Ends::References),
        case(
            "a chain deep in applicators",
            chain(2_000, |n| format!(r##"{{"allOf":[{{"allOf":[{{"allOf":[{{"allOf":[{{"$ref":"#/$defs/d{n}"}}]}}]}}]}}]}}"##), "{}"),
            "1",
            Ends::TooComplex,
        ),
        case(
            "a chain deep in dependentSchemas, each keeping track",
            chain(
                1_000,
                |n| {
                    let reference = format!(r##"{{"$ref":"#/$defs/d{n}"}}"##);
                    nested(5, r#"{"unevaluatedProperties":false,"dependentSchemas":{"a":"#, &reference, "}}")
                },
                "{}",
            ),
            r#"{"a":1}"#,
            Ends::TooComplex,
        ),
        case(
            "a chain deep in if, under a dynamic reference",
            chain(
                1_000,
                |n| {
                    let reference = format!(r##"{{"$ref":"#/$defs/d{n}"}}"##);
                    nested(5, r#"{"unevaluatedItems":false,"if":{"not":true},"else":"#, &reference, "}")
                },
                r##"{"$dynamicAnchor":"x","$dynamicRef":"#x"}"##,
            ),
            "[1]",
            Ends::TooComplex,
        ),
        case("64 levels of not", nested(63, r#"{"not":"#, r#"{"type":"null"}"#, "}"), "1", Ends::Findings(0)),
        case(
            "31 properties in a circle, on 64 levels",
            nested(31, r#"{"minProperties":0,"properties":{"a":"#, r##"{"$ref":"#"}"##, "}}"),
            nested(63, r#"{"a":"#, "{}", "}"),
            Ends::Findings(0),
        ),
        case("a reference to itself", r##"{"$ref":"#"}"##.into(), "1", Ends::References),
        case("an empty reference to itself", r#"{"$ref":""}"#.into(), "1", Ends::References),
        case("a circle of two", r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##.into(), "1", Ends::References),
        case("a circle through anyOf", r##"{"anyOf":[{"$ref":"#"}]}"##.into(), "1", Ends::References),
        case("a circle through not", r##"{"not":{"$ref":"#"}}"##.into(), "1", Ends::References),
        case("a circle through if", r##"{"if":{"$ref":"#"}}"##.into(), "1", Ends::References),
        case("a circle of dynamic references", r##"{"$dynamicAnchor":"a","$dynamicRef":"#a"}"##.into(), "1", Ends::References),
        case(
            "a circle of recursive references",
            r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"allOf":[{"$recursiveRef":"#"}]}"##.into(),
            "1",
            Ends::References,
        ),
        case(
            "an enum of 20,000 objects on 2,000 items",
            format!(r#"{{"items":{{"enum":[{}]}}}}"#, list(20_000, |n| format!(r#"{{"n":{n}}}"#))),
            format!("[{}]", list(2_000, |n| format!(r#"{{"n":{n}.5}}"#))),
            Ends::Findings(2_000),
        ),
        case(
            "one large constant, compared 5,000 times",
            format!(
                r#"{{"allOf":[{}],"$defs":{{"c":{{"const":{}}}}}}}"#,
                list(5_000, |_| r##"{"$ref":"#/$defs/c"}"##.into()),
                numbers(100_000)
            ),
            numbers(100_000),
            Ends::TooComplex,
        ),
        case(
            "200 patternProperties on 20,000 members",
            format!(r#"{{"patternProperties":{{{}}}}}"#, list(200, |n| format!(r#""^x{n}[a-z]*$":false"#))),
            format!("{{{}}}", list(20_000, |n| format!(r#""member{n}":0"#))),
            Ends::TooComplex,
        ),
        case(
            "2,000 patterns",
            format!(r#"{{"allOf":[{}]}}"#, list(2_000, |n| format!(r#"{{"pattern":"^a{n}b{{3,9}}$"}}"#))),
            "\"a\"",
            Ends::Refused,
        ),
        case(
            "200 patterns that are each too large",
            format!(r#"{{"allOf":[{}]}}"#, list(200, |n| format!(r#"{{"pattern":"(((\\w{{1,99}}){{1,99}}){{1,99}}){{{n}}}"}}"#))),
            "\"a\"",
            Ends::Refused,
        ),
        case(
            "200 patterns that are large together",
            format!(r#"{{"allOf":[{}]}}"#, list(200, |n| format!(r#"{{"pattern":"\\p{{L}}{{1,{n}}}[a-z]{{9000}}"}}"#))),
            "\"a\"",
            Ends::Refused,
        ),
        case(
            "nested repeats on a long text",
            r#"{"pattern":"(a+)+$"}"#.into(),
            format!("\"{}!\"", "a".repeat(1_000_000)),
            Ends::Findings(1),
        ),
        case(
            "twenty times anything on a long text",
            r#"{"pattern":"(.*.*.*.*=.*){20}"}"#.into(),
            format!("\"{}\"", "x".repeat(1_000_000)),
            Ends::Findings(1),
        ),
        case(
            "a look-ahead over nested repeats",
            r#"{"pattern":"^(?=(a+)+$)b"}"#.into(),
            format!("\"{}!\"", "a".repeat(40)),
            Ends::Patterns,
        ),
        case(
            "half a million findings",
            r#"{"items":{"type":"string"}}"#.into(),
            format!("[{}]", list(500_000, |_| "0".into())),
            Ends::Findings(500_000),
        ),
        case(
            "60,000 findings at one place",
            format!(r#"{{"allOf":[{}]}}"#, list(60_000, |_| r#"{"type":"null"}"#.into())),
            "1",
            Ends::Findings(60_000),
        ),
        case(
            "absent names, each a finding",
            format!(r#"{{"required":[{}]}}"#, list(100_000, |n| format!("\"{n}\""))),
            "{}",
            Ends::Findings(100_000),
        ),
        case(
            "absent names, asked for again and again",
            format!(
                r#"{{"allOf":[{}],"$defs":{{"r":{{"required":[{}]}}}}}}"#,
                list(10_000, |_| r##"{"$ref":"#/$defs/r"}"##.into()),
                list(60_000, |n| format!("\"{n}\""))
            ),
            "{}",
            Ends::TooComplex,
        ),
        case(
            "findings that come last place first",
            format!(r#"{{"allOf":[{}]}}"#, list(20_000, |n| format!(r#"{{"properties":{{"{}":false}}}}"#, 99_999 - n))),
            format!("{{{}}}", list(20_000, |n| format!(r#""{}":0"#, 80_000 + n))),
            Ends::Findings(20_000),
        ),
        case("140,000 unequal numbers", r#"{"uniqueItems":true}"#.into(), numbers(140_000), Ends::Findings(0)),
        case(
            "40,000 objects, equal but for their end",
            r#"{"uniqueItems":true}"#.into(),
            format!("[{}]", list(40_000, |n| format!(r#"{{"a":[0,{n}]}}"#))),
            Ends::Findings(0),
        ),
        case(
            "properties matched over and over",
            format!(
                r#"{{"allOf":[{}],"$defs":{{"p":{{"properties":{{{}}}}}}}}}"#,
                list(20_000, |_| r##"{"$ref":"#/$defs/p"}"##.into()),
                list(20_000, |n| format!(r#""property{n}":true"#))
            ),
            format!("{{{}}}", list(20_000, |n| format!(r#""property{n}":0"#))),
            Ends::TooComplex,
        ),
        case(
            "contains that looks at all, for all",
            format!(r#"{{"items":{{"contains":{{"const":1}}}},"allOf":[{}]}}"#, list(2_000, |_| r#"{"contains":{"type":"null"}}"#.into())),
            numbers(10_000),
            Ends::TooComplex,
        ),
        case(
            "names matched over and over",
            format!(r#"{{"allOf":[{}]}}"#, list(20_000, |_| r#"{"propertyNames":{"maxLength":9}}"#.into())),
            format!("{{{}}}", list(20_000, |n| format!(r#""m{n}":0"#))),
            Ends::TooComplex,
        ),
        case("300,000 schemas that ask nothing", format!(r#"{{"allOf":[{}]}}"#, list(300_000, |_| "{}".into())), "1", Ends::Findings(0)),
        case("90,000 schemas that ask for something", format!(r#"{{"allOf":[{}]}}"#, list(90_000, |_| r#"{"not":{}}"#.into())), "1", Ends::Findings(90_000)),
        case("500,000 constants", format!(r#"{{"enum":[{}]}}"#, list(500_000, |_| "0".into())), "1", Ends::Findings(1)),
        case(
            "60,000 references to one place",
            format!(r#"{{"anyOf":[{}]}}"#, list(60_000, |_| r##"{"$ref":"#/a"}"##.into())).replacen('{', r#"{"a":{"type":"null"},"#, 1),
            "1",
            Ends::Findings(1),
        ),
        case(
            "70,000 identifiers under a long base",
            format!(r#"{{"$id":"http://x/{}/","anyOf":[{}]}}"#, "y".repeat(100_000), list(70_000, |_| r#"{"$id":"a"}"#.into())),
            "1",
            Ends::Refused,
        ),
        case(
            "50,000 identifiers",
            format!(r#"{{"anyOf":[{}]}}"#, list(50_000, |n| format!(r#"{{"$id":"a{n}"}}"#))),
            "1",
            Ends::Findings(0),
        ),
        case(
            "dynamic references under 900 resources",
            format!(
                r##"{{"allOf":[{{"$ref":"#/$defs/d0"}}],"$defs":{{{},"d300":{{"$id":"r300","allOf":[{}],"$defs":{{"x":{{"$dynamicAnchor":"x"}}}}}}}}}}"##,
                list(300, |n| format!(r#""d{n}":{{"$id":"r{n}","items":{{"$ref":"r{}"}},"allOf":[{{"$ref":"r{}"}}]}}"#, n + 1, n + 1)),
                list(20_000, |_| r##"{"$dynamicRef":"#x"}"##.into())
            ),
            "1",
            Ends::References,
        ),
        case(
            "100,000 faults, last first",
            format!(r#"{{"type":[{}],"$defs":{{{}}}}}"#, list(60_000, |_| "0".into()), list(50_000, |n| format!(r#""{}":0"#, 99_999 - n))),
            "1",
            Ends::Refused,
        ),
        case(
            "60,000 faults in one map",
            format!(r#"{{"properties":{{{}}}}}"#, list(60_000, |n| format!(r#""{}":0"#, 99_999 - n))),
            "1",
            Ends::Refused,
        ),
    ]
}
