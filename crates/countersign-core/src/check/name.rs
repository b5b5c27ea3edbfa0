//! The registry of check names (section 15). Names are never reused.

use std::fmt;

macro_rules! check_names {
    ($($variant:ident $text:literal,)*) => {
        /// The name of a check, as receipts and texts show it. Ordered as its text is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum CheckName { $($variant,)* }

        impl CheckName {
            /// Every name, in order.
            pub const ALL: &'static [CheckName] = &[$(CheckName::$variant,)*];

            /// The name's text: `schema:type`.
            pub fn as_str(self) -> &'static str {
                match self { $(CheckName::$variant => $text,)* }
            }
        }
    };
}

check_names! {
    BoundsRange "bounds:range",
    ConsistencyExistsIn "consistency:exists_in",
    ConsistencyGte "consistency:gte",
    ConsistencyLte "consistency:lte",
    ConsistencySumEquals "consistency:sum_equals",
    ConsistencyUnique "consistency:unique",
    ContentBlankString "content:blank_string",
    ContentControlCharacter "content:control_character",
    ContentEmptyContainer "content:empty_container",
    ContentInvisibleCharacter "content:invisible_character",
    ContentPlaceholder "content:placeholder",
    ContentReplacementCharacter "content:replacement_character",
    SchemaAdditionalProperties "schema:additionalProperties",
    SchemaAnyOf "schema:anyOf",
    SchemaConst "schema:const",
    SchemaContains "schema:contains",
    SchemaDependentRequired "schema:dependentRequired",
    SchemaEnum "schema:enum",
    SchemaExclusiveMaximum "schema:exclusiveMaximum",
    SchemaExclusiveMinimum "schema:exclusiveMinimum",
    SchemaFalse "schema:false",
    SchemaFormat "schema:format",
    SchemaItems "schema:items",
    SchemaMaxItems "schema:maxItems",
    SchemaMaxLength "schema:maxLength",
    SchemaMaxProperties "schema:maxProperties",
    SchemaMaximum "schema:maximum",
    SchemaMinItems "schema:minItems",
    SchemaMinLength "schema:minLength",
    SchemaMinProperties "schema:minProperties",
    SchemaMinimum "schema:minimum",
    SchemaMultipleOf "schema:multipleOf",
    SchemaNot "schema:not",
    SchemaOneOf "schema:oneOf",
    SchemaPattern "schema:pattern",
    SchemaRequired "schema:required",
    SchemaType "schema:type",
    SchemaUnevaluatedItems "schema:unevaluatedItems",
    SchemaUnevaluatedProperties "schema:unevaluatedProperties",
    SchemaUniqueItems "schema:uniqueItems",
}

impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_their_texts() {
        assert!(CheckName::ALL.is_sorted_by(|a, b| a.as_str() < b.as_str() && a < b));
        assert_eq!(CheckName::ALL.len(), 40);
    }
}
