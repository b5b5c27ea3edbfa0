//! The five drafts, and what is different between them for a generator.

/// The five drafts, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl Draft {
    /// The value of `$schema`.
    pub(crate) fn uri(self) -> &'static str {
        match self {
            Draft::D4 => "http://json-schema.org/draft-04/schema#",
            Draft::D6 => "http://json-schema.org/draft-06/schema#",
            Draft::D7 => "http://json-schema.org/draft-07/schema#",
            Draft::D2019 => "https://json-schema.org/draft/2019-09/schema",
            Draft::D2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The name of the member that holds definitions.
    pub(crate) fn definitions(self) -> &'static str {
        if self >= Draft::D2019 {
            "$defs"
        } else {
            "definitions"
        }
    }

    /// The name of the member that holds an identifier.
    pub(crate) fn id(self) -> &'static str {
        if self == Draft::D4 { "id" } else { "$id" }
    }

    /// The formats that this draft defines, with those of the drafts before it. A name that a draft does not know
    /// is asserted here in every draft and by neither oracle, so none is generated.
    pub(crate) fn formats(self) -> &'static [&'static str] {
        const ALL: [&str; 19] = [
            "date-time",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uri",
            "json-pointer",
            "uri-reference",
            "uri-template",
            "date",
            "time",
            "regex",
            "relative-json-pointer",
            "iri",
            "iri-reference",
            "idn-email",
            "idn-hostname",
            "duration",
            "uuid",
        ];
        match self {
            Draft::D4 => &ALL[..6],
            Draft::D6 => &ALL[..9],
            Draft::D7 => &ALL[..17],
            Draft::D2019 | Draft::D2020 => &ALL,
        }
    }
}
