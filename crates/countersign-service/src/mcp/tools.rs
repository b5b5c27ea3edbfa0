//! The one table of hosted tools (interfaces.md 6.1 to 6.3). The tool list, the agent card and the server card are
//! rendered from it.

/// The members of a schema that any value meets, spelled without a bare `{}`.
macro_rules! any_members {
    () => {
        concat!(
            r#""anyOf":[{"type":"object"},{"type":"array"},{"type":"string"},{"type":"number"},"#,
            r#"{"type":"boolean"},{"type":"null"}]"#
        )
    };
}

/// The schema of a tool's answers: what it answers when all is well, or one of the two that every tool has. The
/// branches stay open, so that a new member breaks nobody.
macro_rules! result_of {
    ($success:literal) => {
        concat!(
            r#"{"type":"object","anyOf":["#,
            $success,
            r#",{"title":"Problem","type":"object","required":["code","message","status","retryable","charged","next_actions"],"properties":{"code":{"type":"string"},"message":{"type":"string"},"status":{"type":"integer"},"retryable":{"type":"boolean"},"charged":{"anyOf":[{"type":"boolean"},{"type":"string"}]},"next_actions":{"type":"array","items":{"type":"object"}}}},"#,
            r#"{"title":"PaymentRequired","type":"object","required":["x402Version","resource","accepts"],"properties":{"x402Version":{"type":"integer"},"error":{"type":"string"},"resource":{"type":"object"},"accepts":{"type":"array","items":{"type":"object"}},"extensions":{"type":"object"}}}]}"#
        )
    };
}

/// A tool, as clients see it.
pub(crate) struct HostedTool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// JSON Schema of its arguments, portable: one type a node, no references, no formats.
    pub(crate) input_schema: &'static str,
    /// JSON Schema of whatever it answers: its statement, a problem, or a payment that is asked for. Clients hold
    /// errors against it too.
    pub(crate) output_schema: &'static str,
    /// Whether a call leaves no trace.
    pub(crate) read_only: bool,
    pub(crate) work: Work,
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Check,
    Score,
}

/// Both tools, in the order in which they are listed.
pub(crate) const TOOLS: [HostedTool; 2] = [
    HostedTool {
        name: "verify_schema",
        title: "Verify structured output",
        description: "Checks one JSON output against a JSON Schema, and if you send them against rules (sums, \
                      comparisons, membership, uniqueness) and bounds. Answers with a signed receipt: result is pass \
                      or fail, and a fail names each finding with its place and a hint how to mend it. A fail is an \
                      answer, not an error; mend the output and call again. An error is a problem with code and \
                      fields: what to mend in the call itself. Send detail: compact for the short form. Send integers \
                      beyond 2^53 as strings. Ids that begin with test- are not counted in any record. Free on this \
                      instance.",
        input_schema: VERIFY_SCHEMA_INPUT,
        output_schema: result_of!(
            r#"{"title":"Receipt","type":"object","required":["result","verification_id","task_id","output_hash","schema_hash","rules_hash","verified_at","verify","attestation"],"properties":{"result":{"type":"string","enum":["pass","fail"]},"verification_id":{"type":"string"},"task_id":{"type":"string"},"output_hash":{"type":"string"},"schema_hash":{"type":"string"},"rules_hash":{"type":"string"},"verified_at":{"type":"string"},"verify":{"type":"object"},"attestation":{"type":"object"}}}"#
        ),
        read_only: false,
        work: Work::Check,
    },
    HostedTool {
        name: "get_verification_record",
        title: "Look up an agent's verification record",
        description: "Gives the signed score of an agent, from the checks that named it in agent_id: trust_score with \
                      its 95 % interval, and how many checks it rests on. Compare agents by the lower end of the \
                      interval. Without a counted check trust_score is null and reason is no_data. The id is a label \
                      that callers gave; nobody proved to be that agent. Free on this instance.",
        input_schema: r#"{"type":"object","additionalProperties":false,"required":["agent_id"],"properties":{"agent_id":{"type":"string","minLength":1,"maxLength":200,"description":"Label of the agent, as checks name it."}}}"#,
        output_schema: result_of!(
            r#"{"title":"Score","type":"object","required":["agent_id","sample_size","identity_verified","computed_at","verify","attestation"],"properties":{"agent_id":{"type":"string"},"trust_score":{"anyOf":[{"type":"number"},{"type":"null"}]},"sample_size":{"type":"integer"},"identity_verified":{"type":"boolean"},"computed_at":{"type":"string"},"verify":{"type":"object"},"attestation":{"type":"object"}}}"#
        ),
        read_only: true,
        work: Work::Score,
    },
];

/// The tool with this name.
pub(crate) fn tool(name: &str) -> Option<&'static HostedTool> {
    const { &TOOLS }.iter().find(|tool| tool.name == name)
}

/// The schema of the check's arguments.
pub(crate) const VERIFY_SCHEMA_INPUT: &str = concat!(
    r#"{"type":"object","additionalProperties":false,"required":["task_id","expected_schema","submitted_output"],"properties":{"#,
    r#""task_id":{"type":"string","minLength":1,"maxLength":200,"description":"Your id for this task."},"#,
    r#""agent_id":{"type":"string","minLength":1,"maxLength":200,"description":"Label of the agent that produced the output."},"#,
    r#""expected_schema":{"type":"object","additionalProperties":true,"description":"JSON Schema the output must meet."},"#,
    r#""submitted_output":{"description":"The output to check: any JSON value.","#,
    any_members!(),
    r#"},"rules":{"type":"array","maxItems":100,"description":"What must hold between fields. A field is a path such as items[].price.","items":{"type":"object","additionalProperties":false,"required":["type","field"],"properties":{"#,
    r#""type":{"type":"string","enum":["sum_equals","gte","lte","exists_in","unique"]},"#,
    r#""field":{"type":"string"},"equals_field":{"type":"string"},"equals":{"type":"number"},"other_field":{"type":"string"},"#,
    r#""value":{"anyOf":[{"type":"number"},{"type":"string"}]},"in_field":{"type":"string"},"values":{"type":"array","items":{"#,
    any_members!(),
    r#"}},"tolerance":{"type":"number","minimum":0},"if_present":{"type":"boolean"}}}},"#,
    r#""bounds":{"type":"object","description":"Path to its lowest and highest value.","additionalProperties":{"type":"object","additionalProperties":false,"properties":{"#,
    r#""min":{"anyOf":[{"type":"number"},{"type":"string"}]},"max":{"anyOf":[{"type":"number"},{"type":"string"}]},"if_present":{"type":"boolean"}}}},"#,
    r#""enforce_rules":{"type":"boolean","description":"true: a rule or bound that does not hold makes the result fail."},"#,
    r#""strict_content_check":{"type":"boolean","description":"true: content findings make the result fail."},"#,
    r#""detail":{"type":"string","enum":["full","compact"],"description":"compact: the result and what binds it, without the lists."}}}"#
);

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::json::{Value, read};

    /// Every subschema of a schema, the root first.
    fn each_schema(schema: &Value, visit: &mut impl FnMut(&Value)) {
        visit(schema);
        for (name, many) in [
            ("properties", true),
            ("items", false),
            ("additionalProperties", false),
        ] {
            match schema.get(name) {
                Some(Value::Object(members)) if many => {
                    members
                        .members()
                        .iter()
                        .for_each(|member| each_schema(&member.value, visit));
                }
                Some(inner @ Value::Object(_)) => each_schema(inner, visit),
                _ => {}
            }
        }
        let alternatives = schema.get("anyOf").and_then(Value::as_array).unwrap_or_default();
        alternatives
            .iter()
            .for_each(|alternative| each_schema(alternative, visit));
    }

    #[test]
    fn schemas_are_portable() {
        for tool in &TOOLS {
            for text in [tool.input_schema, tool.output_schema] {
                let schema = read(text.as_bytes()).unwrap();
                assert_eq!(schema.get("type").and_then(Value::as_str), Some("object"));
                let mut seen = 0;
                each_schema(&schema, &mut |schema| {
                    seen += 1;
                    let members = schema.as_object().expect("a subschema is an object");
                    assert!(!members.is_empty(), "no bare {{}}");
                    let has = |name: &str| members.member(name).is_some();
                    assert!(has("type") || has("anyOf"), "{schema:?}");
                    assert!(members.get("type").is_none_or(|kind| kind.as_str().is_some()));
                    assert!(!has("$ref") && !has("format"));
                });
                assert!(seen > 1);
            }
        }
    }

    #[test]
    fn every_text_is_short_enough_for_clients() {
        for tool in &TOOLS {
            assert!(tool.description.chars().count() < 1_000, "{}", tool.name);
            assert!(tool.description.contains("Free on this instance."));
            assert!(tool.title.len() < 60);
            assert_eq!(super::tool(tool.name).unwrap().title, tool.title);
        }
        assert!(super::tool("verify").is_none());
    }
}
