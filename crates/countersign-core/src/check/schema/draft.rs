//! The five drafts and their words: which keywords each of them knows.

/// A draft of JSON Schema, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft04,
    Draft06,
    Draft07,
    Draft201909,
    Draft202012,
}

impl Draft {
    /// Every draft with the `$schema` that names it; an empty `#` at its end is optional.
    const NAMED: [(&'static str, Draft); 5] = [
        ("http://json-schema.org/draft-04/schema", Draft::Draft04),
        ("http://json-schema.org/draft-06/schema", Draft::Draft06),
        ("http://json-schema.org/draft-07/schema", Draft::Draft07),
        ("https://json-schema.org/draft/2019-09/schema", Draft::Draft201909),
        ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
    ];

    /// The draft that a `$schema` names. `http` and `https` are different.
    pub(super) fn named(uri: &str) -> Option<Draft> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        Draft::NAMED
            .iter()
            .find(|(name, _)| *name == uri)
            .map(|(_, draft)| *draft)
    }

    /// The five names, quoted and joined, for a fix.
    pub(super) fn names() -> String {
        let quoted: Vec<String> = Draft::NAMED
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        quoted.join(", ")
    }

    /// Drafts up to 07 read nothing beside a `$ref`.
    pub(super) fn ignores_siblings_of_ref(self) -> bool {
        self <= Draft::Draft07
    }
}

macro_rules! words {
    ($($word:ident $text:literal $first:ident $last:ident,)*) => {
        /// A keyword, in canonical order of its spelling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Word { $($word,)* }

        impl Word {
            #[cfg(test)]
            const ALL: &[Word] = &[$(Word::$word,)*];

            /// How it is spelled.
            pub(super) fn as_str(self) -> &'static str {
                match self { $(Word::$word => $text,)* }
            }

            /// The keyword of this spelling that `draft` knows, be it for its meaning or for its shape.
            pub(super) fn named(name: &str, draft: Draft) -> Option<Word> {
                match name {
                    $($text => (Draft::$first..=Draft::$last).contains(&draft).then_some(Word::$word),)*
                    _ => None,
                }
            }
        }
    };
}

// `dependencies` is asserted in every draft (section 27), `definitions` stands in every meta-schema.
words! {
    Anchor "$anchor" Draft201909 Draft202012,
    Comment "$comment" Draft07 Draft202012,
    Defs "$defs" Draft201909 Draft202012,
    DynamicAnchor "$dynamicAnchor" Draft202012 Draft202012,
    DynamicRef "$dynamicRef" Draft202012 Draft202012,
    DollarId "$id" Draft06 Draft202012,
    RecursiveAnchor "$recursiveAnchor" Draft201909 Draft202012,
    RecursiveRef "$recursiveRef" Draft201909 Draft202012,
    Ref "$ref" Draft04 Draft202012,
    SchemaUri "$schema" Draft04 Draft202012,
    Vocabulary "$vocabulary" Draft201909 Draft202012,
    AdditionalItems "additionalItems" Draft04 Draft201909,
    AdditionalProperties "additionalProperties" Draft04 Draft202012,
    AllOf "allOf" Draft04 Draft202012,
    AnyOf "anyOf" Draft04 Draft202012,
    Const "const" Draft06 Draft202012,
    Contains "contains" Draft06 Draft202012,
    ContentEncoding "contentEncoding" Draft07 Draft202012,
    ContentMediaType "contentMediaType" Draft07 Draft202012,
    ContentSchema "contentSchema" Draft201909 Draft202012,
    Definitions "definitions" Draft04 Draft202012,
    Dependencies "dependencies" Draft04 Draft202012,
    DependentRequired "dependentRequired" Draft201909 Draft202012,
    DependentSchemas "dependentSchemas" Draft201909 Draft202012,
    Deprecated "deprecated" Draft201909 Draft202012,
    Description "description" Draft04 Draft202012,
    Else "else" Draft07 Draft202012,
    Enum "enum" Draft04 Draft202012,
    Examples "examples" Draft06 Draft202012,
    ExclusiveMaximum "exclusiveMaximum" Draft04 Draft202012,
    ExclusiveMinimum "exclusiveMinimum" Draft04 Draft202012,
    Format "format" Draft04 Draft202012,
    Id "id" Draft04 Draft04,
    If "if" Draft07 Draft202012,
    Items "items" Draft04 Draft202012,
    MaxContains "maxContains" Draft201909 Draft202012,
    MaxItems "maxItems" Draft04 Draft202012,
    MaxLength "maxLength" Draft04 Draft202012,
    MaxProperties "maxProperties" Draft04 Draft202012,
    Maximum "maximum" Draft04 Draft202012,
    MinContains "minContains" Draft201909 Draft202012,
    MinItems "minItems" Draft04 Draft202012,
    MinLength "minLength" Draft04 Draft202012,
    MinProperties "minProperties" Draft04 Draft202012,
    Minimum "minimum" Draft04 Draft202012,
    MultipleOf "multipleOf" Draft04 Draft202012,
    Not "not" Draft04 Draft202012,
    OneOf "oneOf" Draft04 Draft202012,
    Pattern "pattern" Draft04 Draft202012,
    PatternProperties "patternProperties" Draft04 Draft202012,
    PrefixItems "prefixItems" Draft202012 Draft202012,
    Properties "properties" Draft04 Draft202012,
    PropertyNames "propertyNames" Draft06 Draft202012,
    ReadOnly "readOnly" Draft07 Draft202012,
    Required "required" Draft04 Draft202012,
    Then "then" Draft07 Draft202012,
    Title "title" Draft04 Draft202012,
    Type "type" Draft04 Draft202012,
    UnevaluatedItems "unevaluatedItems" Draft201909 Draft202012,
    UnevaluatedProperties "unevaluatedProperties" Draft201909 Draft202012,
    UniqueItems "uniqueItems" Draft04 Draft202012,
    WriteOnly "writeOnly" Draft07 Draft202012,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_canonical_order() {
        assert!(Word::ALL.is_sorted_by(|a, b| a.as_str() < b.as_str() && a < b));
    }

    #[test]
    fn five_names_with_an_optional_empty_fragment() {
        let rows = [
            ("http://json-schema.org/draft-07/schema#", Some(Draft::Draft07)),
            ("http://json-schema.org/draft-07/schema", Some(Draft::Draft07)),
            (
                "https://json-schema.org/draft/2020-12/schema#",
                Some(Draft::Draft202012),
            ),
            ("https://json-schema.org/draft-07/schema#", None),
            ("http://json-schema.org/draft/2020-12/schema", None),
            ("http://json-schema.org/draft-07/schema##", None),
            ("http://json-schema.org/draft-03/schema#", None),
            ("http://json-schema.org/schema#", None),
            ("", None),
        ];
        for (uri, draft) in rows {
            assert_eq!(Draft::named(uri), draft, "{uri}");
        }
    }

    #[test]
    fn a_draft_knows_its_own_words_only() {
        assert_eq!(Word::named("const", Draft::Draft04), None);
        assert_eq!(Word::named("const", Draft::Draft06), Some(Word::Const));
        assert_eq!(Word::named("if", Draft::Draft06), None);
        assert_eq!(Word::named("$id", Draft::Draft04), None);
        assert_eq!(Word::named("id", Draft::Draft06), None);
        assert_eq!(Word::named("additionalItems", Draft::Draft202012), None);
        assert_eq!(
            Word::named("dependencies", Draft::Draft202012),
            Some(Word::Dependencies)
        );
    }
}
