//! The disagreements that are settled: why ours stands, and exactly which cases each reason covers.
//! `docs/conformance.md` tells them at length.

use crate::draft::Draft;
use serde_json::Value;

/// The answers to one pair: whether the instance is valid; `None` where the oracle refused the schema.
pub(crate) struct Answers<'a> {
    pub(crate) draft: Draft,
    pub(crate) schema: &'a Value,
    pub(crate) instance: &'a Value,
    pub(crate) ours: bool,
    pub(crate) jsonschema: Option<bool>,
    pub(crate) boon: Option<bool>,
}

/// Who says otherwise.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Oracle {
    Jsonschema,
    Boon,
}

/// A reason for which one oracle may say otherwise, and the cases it covers.
pub(crate) struct Settled {
    pub(crate) oracle: Oracle,
    pub(crate) reason: &'static str,
    covers: fn(&Answers<'_>) -> bool,
}

/// Every settled disagreement. The first that covers a case is counted for it.
pub(crate) const SETTLED: &[Settled] = &[
    Settled {
        oracle: Oracle::Boon,
        reason: "boon refuses look-around and backreferences",
        covers: |a| a.boon.is_none() && (a.mentions("(?") || a.mentions(r"\\1")),
    },
    Settled {
        oracle: Oracle::Boon,
        reason: "boon divides doubles for multipleOf: 0.3 is no multiple of 0.1 there",
        covers: |a| {
            a.asks("multipleOf", |step| {
                step.as_f64().is_some_and(|step| step * 8.0 % 1.0 != 0.0)
            })
        },
    },
    Settled {
        oracle: Oracle::Jsonschema,
        reason: "jsonschema reads 1.0 as no integer in draft-04; here it is one in every draft",
        covers: |a| {
            let whole_double =
                |value: &Value| value.is_f64() && value.as_f64().is_some_and(|n| n.fract() == 0.0);
            a.draft == Draft::D4 && any_value(a.instance, &whole_double)
        },
    },
    Settled {
        oracle: Oracle::Jsonschema,
        reason: "jsonschema is built without its idna feature and asserts neither idn-hostname nor idn-email",
        covers: |a| a.has_format("idn-hostname") || a.has_format("idn-email"),
    },
    Settled {
        oracle: Oracle::Boon,
        reason: "boon reads idn-hostname by UTS 46, which lets symbols pass that IDNA 2008 does not",
        covers: |a| a.has_format("idn-hostname") && a.holds('😀'),
    },
    Settled {
        oracle: Oracle::Boon,
        reason: "boon takes texts that RFC 3987 does not for an iri-reference: spaces, an empty scheme",
        covers: |a| a.has_format("iri-reference"),
    },
    Settled {
        oracle: Oracle::Boon,
        reason: "boon takes texts that RFC 6570 does not for a uri-template: spaces, empty expressions",
        covers: |a| a.has_format("uri-template"),
    },
    Settled {
        oracle: Oracle::Jsonschema,
        reason: "jsonschema lets contains evaluate items in 2019-09; it does so from 2020-12 on",
        covers: |a| {
            let asks = |keyword| a.asks(keyword, |_| true);
            a.draft == Draft::D2019 && asks("contains") && asks("unevaluatedItems")
        },
    },
];

impl Answers<'_> {
    /// The reasons for all that say otherwise; `None` when one of them has none.
    pub(crate) fn settled(&self) -> Option<Vec<&'static str>> {
        [(Oracle::Jsonschema, self.jsonschema), (Oracle::Boon, self.boon)]
            .into_iter()
            .filter(|(_, answer)| *answer != Some(self.ours))
            .map(|(oracle, _)| {
                let mut reasons = SETTLED.iter().filter(|entry| entry.oracle == oracle);
                reasons
                    .find(|entry| (entry.covers)(self))
                    .map(|entry| entry.reason)
            })
            .collect()
    }

    fn mentions(&self, text: &str) -> bool {
        self.schema.to_string().contains(text)
    }

    fn has_format(&self, name: &str) -> bool {
        self.asks("format", |format| format == name)
    }

    /// Whether a string of the instance holds this character.
    fn holds(&self, character: char) -> bool {
        any_value(self.instance, &|value| {
            value.as_str().is_some_and(|text| text.contains(character))
        })
    }

    /// Whether the schema has this keyword anywhere with a value of which `holds` is true.
    fn asks(&self, keyword: &str, holds: impl Fn(&Value) -> bool) -> bool {
        any_value(self.schema, &|value| value.get(keyword).is_some_and(&holds))
    }
}

fn any_value(value: &Value, holds: &dyn Fn(&Value) -> bool) -> bool {
    holds(value)
        || match value {
            Value::Array(elements) => elements.iter().any(|element| any_value(element, holds)),
            Value::Object(members) => members.values().any(|member| any_value(member, holds)),
            _ => false,
        }
}
