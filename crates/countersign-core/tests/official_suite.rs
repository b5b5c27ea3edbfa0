//! The official JSON Schema test suite against the evaluator: all required tests of the five drafts, and the tests
//! of formats with assertion on. What is refused and what is answered differently is listed by name beside this
//! file and compared exactly; `docs/conformance.md` says why.
//!
//! The suite is fetched by `.ci/fetch-suite` and never part of the repository. In CI its absence is a failure.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the suite lies in files, and the environment says where"
)]

#[path = "official_suite/formats.rs"]
mod formats;
#[path = "official_suite/refused.rs"]
mod refused;

use countersign_core::check::budget::Budget;
use countersign_core::check::schema::{Formats, Schema};
use countersign_core::json::{self, Member, Object, Value};
use refused::{Needs, REFUSED};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The drafts with their meta-schema and the number of required tests in the suite of `jsonschema` 4.26.0.
const DRAFTS: [(&str, &str, usize); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#", 610),
    ("draft6", "http://json-schema.org/draft-06/schema#", 829),
    ("draft7", "http://json-schema.org/draft-07/schema#", 913),
    (
        "draft2019-09",
        "https://json-schema.org/draft/2019-09/schema",
        1_227,
    ),
    (
        "draft2020-12",
        "https://json-schema.org/draft/2020-12/schema",
        1_257,
    ),
];

/// The most exceptions among the tests of formats, over all drafts.
const FORMAT_EXCEPTIONS_MAX: usize = 20;

/// One schema of the suite with its tests.
struct Group {
    file: String,
    description: String,
    schema: Value,
    tests: Vec<Test>,
}

struct Test {
    description: String,
    data: Value,
    valid: bool,
}

#[test]
fn every_required_test_is_answered_right_or_refused_by_name() {
    let Some(suite) = suite() else { return };
    let mut refused = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut out_of_reach = BTreeMap::new();
    for (draft, meta_schema, required) in DRAFTS {
        let groups = groups(&suite.join(draft), meta_schema);
        let count: usize = groups.iter().map(|group| group.tests.len()).sum();
        assert_eq!(count, required, "required tests of {draft}");
        for group in &groups {
            if let Ok(schema) = Schema::compile_with(&group.schema, Formats::Annotation) {
                wrong.extend(wrong_answers(&schema, group).map(|test| format!("{draft} {test}")));
            } else {
                refused.insert((draft, group.file.clone(), group.description.clone()));
                *out_of_reach.entry(draft).or_insert(0) += group.tests.len();
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "wrong answers ({}):\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let listed: BTreeSet<_> = REFUSED
        .iter()
        .flat_map(|(draft, file, _, groups)| {
            groups
                .iter()
                .map(|group| (*draft, (*file).to_owned(), (*group).to_owned()))
        })
        .collect();
    let unexpected: Vec<_> = refused.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&refused).collect();
    assert!(
        unexpected.is_empty() && stale.is_empty(),
        "refused unlisted: {unexpected:#?}\nlisted, not refused: {stale:#?}"
    );
    println!("tests whose schema is refused: {out_of_reach:?}");
}

#[test]
fn a_refusal_says_what_it_lacks() {
    let Some(suite) = suite() else { return };
    for (draft, file, needs, groups) in REFUSED {
        let (_, meta_schema, _) = DRAFTS
            .iter()
            .find(|(name, ..)| name == draft)
            .expect("a draft of the list");
        let text = std::fs::read(suite.join(draft).join(file)).unwrap();
        let read = read_groups(file, &text, meta_schema);
        for name in *groups {
            let group = read
                .iter()
                .find(|group| group.description == *name)
                .expect("a group of the file");
            // The reason in the list holds of the schema itself, not only of our answer to it.
            let schema = String::from_utf8(countersign_core::canonical::bytes(&group.schema)).unwrap();
            let shows = match needs {
                Needs::MetaSchema => schema.contains(&format!("\"$ref\":\"{meta_schema}\"")),
                Needs::AnotherDialect => {
                    group.schema.get("$schema").and_then(Value::as_str) != Some(meta_schema)
                }
                Needs::AnotherDocument => schema.contains("\"$ref\":\""),
            };
            assert!(shows, "{draft} {file} {name} does not need {needs:?}");
        }
    }
}

#[test]
fn every_format_test_is_answered_right_but_for_the_listed() {
    let Some(suite) = suite() else { return };
    let mut wrong = BTreeSet::new();
    let mut count = 0;
    for (draft, meta_schema, _) in DRAFTS {
        for group in groups(&suite.join(draft).join("optional/format"), meta_schema) {
            count += group.tests.len();
            let schema = Schema::compile(&group.schema).expect("a schema with one format");
            wrong.extend(wrong_answers(&schema, &group).map(|test| format!("{draft} {test}")));
        }
    }
    assert_eq!(count, formats::TESTS, "tests of formats");
    let listed: BTreeSet<_> = formats::EXCEPTIONS
        .iter()
        .map(|(test, _)| (*test).to_owned())
        .collect();
    let unexpected: Vec<_> = wrong.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&wrong).collect();
    assert!(
        unexpected.is_empty() && stale.is_empty(),
        "wrong, unlisted: {unexpected:#?}\nlisted, not wrong: {stale:#?}"
    );
    assert!(listed.len() <= FORMAT_EXCEPTIONS_MAX && listed.len() == formats::EXCEPTIONS.len());
}

/// The names of the tests of a group that are not answered as the suite says.
fn wrong_answers<'a>(schema: &'a Schema, group: &'a Group) -> impl Iterator<Item = String> + 'a {
    group.tests.iter().filter_map(move |test| {
        let evaluation = schema
            .evaluate(&test.data, &mut Budget::default())
            .expect("a test within the budget");
        let valid = evaluation.findings.total == 0;
        (valid != test.valid)
            .then(|| format!("{} / {} / {}", group.file, group.description, test.description))
    })
}

/// All groups of the files right inside a folder.
fn groups(folder: &Path, meta_schema: &str) -> Vec<Group> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap();
        read_groups(file, &std::fs::read(path).unwrap(), meta_schema)
    };
    files.iter().flat_map(read).collect()
}

/// Reads one file with the strict reader: the suite is held to it like any other text.
fn read_groups(file: &str, bytes: &[u8], meta_schema: &str) -> Vec<Group> {
    let read = json::read(bytes).unwrap_or_else(|fault| panic!("{file}: {fault:?}"));
    let text_of = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap().to_owned();
    let test = |case: &Value| Test {
        description: text_of(case, "description"),
        data: case.get("data").unwrap().clone(),
        valid: case.get("valid").and_then(Value::as_bool).unwrap(),
    };
    let group = |group: &Value| Group {
        file: file.to_owned(),
        description: text_of(group, "description"),
        schema: with_draft(group.get("schema").unwrap(), meta_schema),
        tests: group
            .get("tests")
            .and_then(Value::as_array)
            .unwrap()
            .iter()
            .map(test)
            .collect(),
    };
    read.as_array().unwrap().iter().map(group).collect()
}

/// The schema with `$schema` where it has none: the files of drafts 04 to 07 leave it to their folder. A schema
/// that is a boolean means the same in every draft that knows it.
fn with_draft(schema: &Value, meta_schema: &str) -> Value {
    match schema {
        Value::Object(object) if object.get("$schema").is_none() => {
            let named = Member {
                name: "$schema".into(),
                at: 0,
                value: Value::String(meta_schema.into()),
            };
            let members = object.members().iter().cloned().chain([named]).collect();
            Value::Object(Object::new(members).expect("no second $schema"))
        }
        other => other.clone(),
    }
}

/// Where the suite lies; `None`, with one line on standard error, where it was not fetched. In CI that panics.
fn suite() -> Option<PathBuf> {
    let fetched = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/json-schema-suite");
    let suite = std::env::var_os("COUNTERSIGN_JSON_SCHEMA_SUITE").map_or_else(fetched, PathBuf::from);
    if suite.join("draft2020-12").is_dir() {
        return Some(suite);
    }
    let advice = "the official JSON Schema suite was not run: fetch it with .ci/fetch-suite\n";
    assert!(std::env::var_os("CI").is_none(), "{advice}");
    // Past the test harness, which would swallow what eprintln writes.
    std::io::stderr().write_all(advice.as_bytes()).unwrap();
    None
}
