//! The groups of required tests whose schemas are refused, by name: they need what is never fetched.

/// Why a group is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// A `$ref` to another document, which the suite serves from its `remotes`.
    AnotherDocument,
    /// A `$ref` to the draft's own meta-schema, which is another document too.
    MetaSchema,
    /// A `$schema` that is none of the five drafts.
    AnotherDialect,
}

/// Draft, file, reason and the descriptions of the groups.
pub(crate) const REFUSED: &[(&str, &str, Needs, &[&str])] = &[
    (
        "draft4",
        "definitions.json",
        Needs::MetaSchema,
        &["validate definition against metaschema"],
    ),
    (
        "draft4",
        "ref.json",
        Needs::MetaSchema,
        &["remote ref, containing refs itself"],
    ),
    (
        "draft4",
        "refRemote.json",
        Needs::AnotherDocument,
        &[
            "remote ref",
            "fragment within remote ref",
            "ref within remote ref",
            "base URI change",
            "base URI change - change folder",
            "base URI change - change folder in subschema",
            "root ref in remote ref",
            "Location-independent identifier in remote ref",
        ],
    ),
    (
        "draft6",
        "definitions.json",
        Needs::MetaSchema,
        &["validate definition against metaschema"],
    ),
    (
        "draft6",
        "ref.json",
        Needs::MetaSchema,
        &["remote ref, containing refs itself"],
    ),
    ("draft6", "refRemote.json", Needs::AnotherDocument, &REMOTE_6_7),
    (
        "draft7",
        "definitions.json",
        Needs::MetaSchema,
        &["validate definition against metaschema"],
    ),
    (
        "draft7",
        "ref.json",
        Needs::MetaSchema,
        &["remote ref, containing refs itself"],
    ),
    ("draft7", "refRemote.json", Needs::AnotherDocument, &REMOTE_6_7),
    (
        "draft2019-09",
        "defs.json",
        Needs::MetaSchema,
        &["validate definition against metaschema"],
    ),
    (
        "draft2019-09",
        "ref.json",
        Needs::MetaSchema,
        &["remote ref, containing refs itself"],
    ),
    (
        "draft2019-09",
        "refRemote.json",
        Needs::AnotherDocument,
        &REMOTE_2019_2020,
    ),
    (
        "draft2019-09",
        "vocabulary.json",
        Needs::AnotherDialect,
        &VOCABULARY,
    ),
    (
        "draft2020-12",
        "defs.json",
        Needs::MetaSchema,
        &["validate definition against metaschema"],
    ),
    (
        "draft2020-12",
        "dynamicRef.json",
        Needs::AnotherDocument,
        &[
            "strict-tree schema, guards against misspelled properties",
            "tests for implementation dynamic anchor and reference link",
            "$ref and $dynamicAnchor are independent of order - $defs first",
            "$ref and $dynamicAnchor are independent of order - $ref first",
            "$ref to $dynamicRef finds detached $dynamicAnchor",
        ],
    ),
    (
        "draft2020-12",
        "ref.json",
        Needs::MetaSchema,
        &["remote ref, containing refs itself"],
    ),
    (
        "draft2020-12",
        "refRemote.json",
        Needs::AnotherDocument,
        &REMOTE_2019_2020,
    ),
    (
        "draft2020-12",
        "vocabulary.json",
        Needs::AnotherDialect,
        &VOCABULARY,
    ),
];

const REMOTE_6_7: [&str; 11] = [
    "remote ref",
    "fragment within remote ref",
    "ref within remote ref",
    "base URI change",
    "base URI change - change folder",
    "base URI change - change folder in subschema",
    "root ref in remote ref",
    "remote ref with ref to definitions",
    "Location-independent identifier in remote ref",
    "retrieved nested refs resolve relative to their URI not $id",
    "$ref to $ref finds location-independent $id",
];

const REMOTE_2019_2020: [&str; 15] = [
    "remote ref",
    "fragment within remote ref",
    "anchor within remote ref",
    "ref within remote ref",
    "base URI change",
    "base URI change - change folder",
    "base URI change - change folder in subschema",
    "root ref in remote ref",
    "remote ref with ref to defs",
    "Location-independent identifier in remote ref",
    "retrieved nested refs resolve relative to their URI not $id",
    "remote HTTP ref with different $id",
    "remote HTTP ref with different URN $id",
    "remote HTTP ref with nested absolute ref",
    "$ref to $ref finds detached $anchor",
];

const VOCABULARY: [&str; 2] = [
    "schema that uses custom metaschema with with no validation vocabulary",
    "ignore unrecognized optional vocabulary",
];
