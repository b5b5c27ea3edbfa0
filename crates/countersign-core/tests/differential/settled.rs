//! The disagreements that are settled: why ours stands, and exactly which cases each reason covers.
//! `docs/conformance.md` tells them at length.

use crate::schemas::Draft;
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

/// A reason and the cases it covers.
pub(crate) struct Settled {
    pub(crate) reason: &'static str,
    pub(crate) covers: fn(&Answers<'_>) -> bool,
}

/// Every settled disagreement. The first that covers a case is counted for it.
pub(crate) const SETTLED: &[Settled] = &[
    Settled {
        reason: "boon refuses look-around and backreferences",
        covers: |a| a.boon.is_none() && a.jsonschema_agrees() && (a.mentions("(?") || a.mentions(r"\\1")),
    },
    Settled {
        reason: "boon divides doubles for multipleOf: 0.3 is no multiple of 0.1 there",
        covers: |a| {
            a.only_boon()
                && a.asks("multipleOf", |step| {
                    step.as_f64().is_some_and(|n| n * 8.0 % 1.0 != 0.0)
                })
        },
    },
    Settled {
        reason: "jsonschema reads 1.0 as no integer in draft-04; here it is one in every draft",
        covers: |a| a.draft == Draft::D4 && a.only_jsonschema() && holds_whole_double(a.instance),
    },
    Settled {
        reason: "jsonschema is built without its idna feature and asserts neither idn-hostname nor idn-email",
        covers: |a| {
            a.only_jsonschema() && a.asks("format", |name| name == "idn-hostname" || name == "idn-email")
        },
    },
    Settled {
        reason: "boon takes strings with spaces for references (iri-reference)",
        covers: |a| a.only_boon() && a.asks("format", |name| name == "iri-reference"),
    },
    Settled {
        reason: "boon takes an empty expression for a template (uri-template)",
        covers: |a| a.only_boon() && a.asks("format", |name| name == "uri-template"),
    },
    Settled {
        reason: "jsonschema lets contains evaluate items in 2019-09; it does so from 2020-12 on",
        covers: |a| {
            let asks = |keyword| a.asks(keyword, |_| true);
            a.draft == Draft::D2019 && a.only_jsonschema() && asks("contains") && asks("unevaluatedItems")
        },
    },
];

impl Answers<'_> {
    /// Whether all three say the same.
    pub(crate) fn agree(&self) -> bool {
        self.jsonschema_agrees() && self.boon_agrees()
    }

    fn jsonschema_agrees(&self) -> bool {
        self.jsonschema == Some(self.ours)
    }

    fn boon_agrees(&self) -> bool {
        self.boon == Some(self.ours)
    }

    /// Whether boon alone says otherwise.
    fn only_boon(&self) -> bool {
        self.jsonschema_agrees() && self.boon == Some(!self.ours)
    }

    /// Whether jsonschema alone says otherwise; boon agrees, or has refused the schema.
    fn only_jsonschema(&self) -> bool {
        self.jsonschema == Some(!self.ours) && (self.boon_agrees() || self.boon.is_none())
    }

    fn mentions(&self, text: &str) -> bool {
        self.schema.to_string().contains(text)
    }

    /// Whether the schema has this keyword anywhere with a value of which `holds` is true.
    fn asks(&self, keyword: &str, holds: impl Fn(&Value) -> bool) -> bool {
        any_value(self.schema, &|value| value.get(keyword).is_some_and(&holds))
    }
}

/// Whether a whole number is spelled as a double somewhere: `1.0`.
fn holds_whole_double(instance: &Value) -> bool {
    any_value(instance, &|value| {
        value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
    })
}

fn any_value(value: &Value, holds: &dyn Fn(&Value) -> bool) -> bool {
    holds(value)
        || match value {
            Value::Array(elements) => elements.iter().any(|element| any_value(element, holds)),
            Value::Object(members) => members.values().any(|member| any_value(member, holds)),
            _ => false,
        }
}
